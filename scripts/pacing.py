#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The table and the picture of pacing.sh, from the console of its guest.

Usage: pacing.py CONSOLE KERNEL BYTES RATE SVG

Prints a row for each measurement. Draws SVG if the same qdiscs were measured with several
numbers of flows.
"""

import sys

HEADER = '''\
                                     lost  early       gaps between packets, us  CPU time   per 1000 packets
qdisc        flows  Mbit/s error %    packets     mean     sd    p50    p99 us/packet  timer irqs HRTIMER NET_TX'''
ROW = ('{name:<12} {flows:>5} {mbits:>7.3f} {error:>7.2f} {lost:>6} {early:>6} {mean:>8.0f} '
       '{sd:>6.0f} {p50:>6.0f} {p99:>6.0f} {cpu:>9.1f} {irqs:>11.0f} {hrtimer:>7.0f} {net_tx:>6.0f}')
COLORS = {'hwpace': 'tab:blue', '+gap': 'tab:cyan', 'fq': 'tab:orange', 'tbf': 'tab:red'}


def read_rows(path):
    """The rows of the guest. A row has each counter twice: before and after."""
    rows = []
    with open(path, encoding='utf-8', errors='replace') as console:
        for line in console:
            words = line.split()
            if words[:2] != ['row', 'group']:
                continue
            row, counts = {}, {}
            for key, value in zip(words[1::2], words[2::2]):
                if key in row:
                    counts[key] = float(value) - float(row[key])
                row[key] = value
            if row['group'] not in ('rate', 'other', 'timed') or not int(row.get('received', 0)):
                continue
            rows.append(measured(row, counts))
    return rows


def measured(row, counts):
    packets = int(row['received'])
    busy = counts['up'] * int(row['cpus']) - counts['idle']
    found = {key: row[key] for key in ('name', 'lost', 'early')}
    found.update({key: float(row[key]) / 1e3 for key in ('mean', 'sd', 'p50', 'p99')})
    found.update({to: counts[key] * 1e3 / packets for key, to in (
        ('loc', 'irqs'), ('hrtimer', 'hrtimer'), ('net_tx', 'net_tx'))})
    found.update(flows=int(row['flows']), cpus=int(row['cpus']), cpu=busy * 1e4 / packets,
                 mbits=float(row['rate']) / 1e6,
                 error=(float(row['rate']) / float(row['target']) - 1) * 100)
    return found


def draw(rows, title, path):
    import matplotlib                           # slow to load
    matplotlib.use('svg')
    matplotlib.rcParams.update({'svg.hashsalt': 'hwheel', 'svg.fonttype': 'none',
                                'font.size': 8})
    from matplotlib import pyplot

    panels = (('cpu', 'CPU time of a packet, us'), ('irqs', 'timer interrupts per 1000 packets'),
              ('sd', 'standard deviation of the gaps, us'))
    flows = sorted({row['flows'] for row in rows})
    figure = pyplot.figure(figsize=(9.2, 3.2))
    for i, (key, what) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), i + 1)
        for name, color in COLORS.items():
            points = [(flows.index(row['flows']), row[key]) for row in rows if row['name'] == name]
            if points:
                axes.plot(*zip(*points), color=color, marker='.', label=name)
        axes.set(xlabel='flows', title=what, ylim=(0, None))
        axes.set_xticks(range(len(flows)), flows)
        axes.grid(alpha=0.3)
    figure.axes[0].legend()
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, metadata={'Date': None})


def main():
    console, kernel, size, rate, svg = sys.argv[1:]
    rows = read_rows(console)
    if not rows:
        return
    title = f'{kernel}, {rows[0]["cpus"]} CPUs in QEMU, packets of {size} bytes at {rate} Mbit/s'
    print(title)
    print(HEADER)
    for row in rows:
        print(ROW.format(**row))
    compared = [row for row in rows if row['name'] in COLORS]
    if len({row['flows'] for row in compared if row['name'] == 'fq'}) > 1:
        draw(compared, title, svg)


main()
