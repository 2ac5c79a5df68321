#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Draws the pictures of wheels.rst and tuning.rst into a folder: pictures.py FOLDER TOOLS"""

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


def place(due, now):
    """Level and spoke of a timer due at a tick: the rule of the text, spelt out."""
    for level in range(LEVELS):
        width = SPOKES ** level
        if due // width - now // width < SPOKES:
            return level, due // width % SPOKES
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


def main():
    folder = pathlib.Path(sys.argv[1])
    matplotlib.rcParams['svg.hashsalt'] = 'hwheel'
    clock(folder / 'clock.svg')
    cascade(folder / 'cascade.svg')
    gap(folder / 'gap.svg', sys.argv[2])


main()
