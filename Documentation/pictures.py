#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Draws the pictures of index.rst, wheels.rst and tuning.rst: pictures.py FOLDER TOOLS"""

import math
import pathlib
import runpy
import sys

import matplotlib
matplotlib.use('svg')
from matplotlib import pyplot  # pylint: disable=wrong-import-position

SPOKES = 16
LEVELS = 3
FREE, HAND, TIMER = '#f4f1ea', '#9db4c0', '#d1495b'
LINE = '#253237'


def place(due, now, spokes=SPOKES):
    """Level and spoke of a timer due at a tick: the rule of the text, spelt out."""
    for level in range(LEVELS):
        width = spokes ** level
        if due // width - now // width < spokes:
            return level, due // width % spokes
    raise ValueError(due)


def draw_level(axes, level, y, now, timer=None):
    """A row of spokes with the clock's one darker, and the timer's if it is here."""
    width = SPOKES ** level
    for spoke in range(SPOKES):
        colour = FREE
        if spoke == now // width % SPOKES:
            colour = HAND
        if timer == (level, spoke):
            colour = TIMER
        axes.add_patch(pyplot.Rectangle((spoke, y), 0.92, 0.8, facecolor=colour,
                                        edgecolor=LINE, linewidth=0.8))
        axes.text(spoke + 0.46, y + 0.4, spoke, ha='center', va='center', fontsize=8,
                  color='white' if colour == TIMER else LINE)
    axes.text(-0.3, y + 0.4, f'level {level}\n{width} ms per spoke', ha='right',
              va='center', fontsize=9, color=LINE)


def new_picture(height):
    figure, axes = pyplot.subplots(figsize=(9, height))
    axes.set_xlim(-3.6, SPOKES + 0.2)
    axes.axis('off')
    return figure, axes


def save(figure, axes, top, path):
    axes.set_ylim(-0.4, top)
    figure.savefig(path, bbox_inches='tight', metadata={'Date': None})
    pyplot.close(figure)


def clock(path):
    """Three levels, and what one spoke of a level holds of the level below."""
    figure, axes = new_picture(3)
    for level in range(LEVELS):
        draw_level(axes, level, 1.6 * level, now=0)
    for level in range(1, LEVELS):
        y = 1.6 * level
        for x in (0, SPOKES - 0.08):
            axes.plot([0 if x == 0 else 0.92, x], [y, y - 0.8], color=LINE,
                      linewidth=0.8, linestyle=':')
    save(figure, axes, 1.6 * LEVELS, path)


def cascade(path, due=303):
    """The timer's place at each instant at which its level's clock gets to it."""
    steps = [0, 256, 288, due]
    figure, axes = new_picture(8.5)
    y = 0
    for now in reversed(steps):
        for level in range(LEVELS):
            draw_level(axes, level, y + level, now, place(due, now))
        text = f'at {now} ms' + (': it expires' if now == due else '')
        axes.text(-0.3, y + LEVELS + 0.25, text, ha='right', va='center', fontsize=11,
                  weight='bold', color=LINE)
        y += LEVELS + 1.3
    save(figure, axes, y, path)


def gap(path, tools):
    """Interrupts and lateness by the gap, for some rates, as hwheel-plan --rate has them"""
    sys.path.insert(0, tools)
    effect = runpy.run_path(f'{tools}/hwheel-plan')['gap_effect']
    gaps = [10 ** (e / 10) for e in range(30, 75)]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3))
    for rate, colour in ((1000, HAND), (10000, LINE), (100000, TIMER)):
        points = [effect(1000, rate, round(g)) for g in gaps]
        left.loglog([g / 1000 for g in gaps], [point[0] for point in points], color=colour,
                    label=f'{rate:,} expirations/s')
        right.loglog([g / 1000 for g in gaps], [max(point[1], 1) / 1000 for point in points],
                     color=colour)
    left.set_title('interrupts/s', fontsize=9)
    left.legend(fontsize=8)
    right.set_title('us late on average', fontsize=9)
    right.set_ylim(0.1)
    for axes in (left, right):
        axes.set_xlabel('gap_ns / 1000', fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, bbox_inches='tight', metadata={'Date': None})
    pyplot.close(figure)


class Turning:
    """Two levels that turn, as an SVG that moves: the inner one is level 0."""

    SPOKES = 8
    TICKS = SPOKES ** 2
    SECONDS = 24
    RADII = (30, 70, 110)

    def __init__(self):
        self.lines = []

    def point(self, level, spoke):
        """The middle of a spoke"""
        angle = 2 * math.pi * (spoke + 0.5) / self.SPOKES
        radius = (self.RADII[level] + self.RADII[level + 1]) / 2
        return radius * math.sin(angle), -radius * math.cos(angle)

    def sector(self, level):
        """The path of spoke 0"""
        low, high = self.RADII[level:level + 2]
        x, y = math.sin(2 * math.pi / self.SPOKES), -math.cos(2 * math.pi / self.SPOKES)
        return (f'M0,{-low} L0,{-high} A{high},{high} 0 0 1 {high * x:.2f},{high * y:.2f} '
                f'L{low * x:.2f},{low * y:.2f} A{low},{low} 0 0 0 0,{-low}')

    def animate(self, name, values, kind='animate', more=''):
        """Value n holds from tick n on."""
        changes = [n for n, value in enumerate(values) if not n or value != values[n - 1]]
        times = ';'.join(f'{n / len(values):.4g}' for n in changes)
        texts = ';'.join(str(values[n]) for n in changes)
        return (f'<{kind} attributeName="{name}" {more} values="{texts}" keyTimes="{times}" '
                f'calcMode="discrete" dur="{self.SECONDS}s" repeatCount="indefinite"/>')

    def level(self, level):
        step = 360 / self.SPOKES
        for spoke in range(self.SPOKES):
            self.lines.append(f'<path d="{self.sector(level)}" fill="{FREE}" stroke="{LINE}" '
                              f'transform="rotate({spoke * step:g})"/>')
        turns = [f'{now // self.SPOKES ** level % self.SPOKES * step:g}'
                 for now in range(self.TICKS)]
        self.lines.append(f'<path d="{self.sector(level)}" fill="{HAND}" stroke="{LINE}">' +
                          self.animate('transform', turns, 'animateTransform',
                                       'type="rotate"') + '</path>')

    def timer(self, due, nth):
        """The timer is red in the tick in which it expires, and then it is gone."""
        points = []
        for now in range(self.TICKS):
            x, y = self.point(*place(due, min(now, due), self.SPOKES))
            points.append((f'{x + 7 * (nth % 3 - 1):.4g}', f'{y + 7 * (nth // 3 % 3 - 1):.4g}'))
        there = [1 if now <= due else 0 for now in range(self.TICKS)]
        colours = [TIMER if now == due else LINE for now in range(self.TICKS)]
        self.lines.append(f'<circle cx="{points[0][0]}" cy="{points[0][1]}" r="3" fill="{LINE}">' +
                          self.animate('cx', [x for x, _ in points]) +
                          self.animate('cy', [y for _, y in points]) +
                          self.animate('fill', colours) + self.animate('opacity', there) +
                          '</circle>')

    def save(self, path):
        for level in (1, 0):
            self.level(level)
        for nth, due in enumerate((3, 6, 9, 12, 17, 18, 23, 25, 30, 33, 38, 41, 44, 46, 49, 52,
                                   55, 57, 58, 62)):
            self.timer(due, nth)
        size = self.RADII[-1] + 4
        path.write_text('\n'.join(
            [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * size}" height="{2 * size}" '
             f'viewBox="{-size} {-size} {2 * size} {2 * size}">', *self.lines, '</svg>', '']),
            encoding='utf-8')


def main():
    folder = pathlib.Path(sys.argv[1])
    matplotlib.rcParams['svg.hashsalt'] = 'hwheel'
    clock(folder / 'clock.svg')
    cascade(folder / 'cascade.svg')
    gap(folder / 'gap.svg', sys.argv[2])
    Turning().save(folder / 'turning.svg')


main()
