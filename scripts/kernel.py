#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The tables, verdicts and picture of "BENCH=1 make kernel".

Usage: kernel.py MEASURED SVG

MEASURED has a line for each boot and load:
    plain|hwheel LOAD: pending N WORD 0|1 min_ns N median_ns N
The load's timers are used in lines with 1, and not used in lines with 0. Prints the medians of all
boots. Draws SVG. The exit status is 0 if hwheel's costs are within the limits.
"""

import collections
import statistics
import sys

# For each load: its title, what it is without and with timers, and for each number of pending
# timers how much it may cost with hwheel, relative to plain
LOADS = {
    'uring:': ('a request of io_uring', 'no linked timeout', 'with a linked timeout',
               {1000: 1, 100000: 0.65, 500000: 0.45}),
    'timerfd:': ('timerfd_settime()', 'gettime', 'settime', {1000: 1, 100000: 1}),
    'ip_vs:': ('a packet through IPVS', 'past IPVS', 'through IPVS',
               {1000: 1, 100000: 1, 1000000: 1}),
    'server:': ('a request of a server', 'no linked timeout', 'with a linked timeout',
                {1000: 1, 100000: 1}),
}
FLAT = 1.2      # the most that io_uring may cost with 500,000 pending, relative to 1,000


def read(path):
    """(kernel, load, pending, with timers) -> the median of all boots"""
    found = collections.defaultdict(list)
    with open(path, encoding='utf-8') as file:
        for line in file:
            words = line.split()
            if len(words) == 10 and words[2] == 'pending':
                found[words[0], words[1], int(words[3]), int(words[5])].append(int(words[9]))
    return {key: statistics.median(values) for key, values in found.items()}


def check(what, got, most):
    print(f'kernel: {what}: {got:.2f}, at most {most:.2f} {"ok" if got <= most else "FAILED"}')
    return got <= most


def table(found, load):
    _, without, with_timers, limits = LOADS[load]
    print(f'\n{load:<10}{without:>22}{with_timers:>33}')
    print(f'{"pending":>10}' + f'{"plain":>11}{"hwheel":>11}' * 2 + f'{"ratio":>11}')
    good = []
    for pending, most in limits.items():
        ns = [found.get((kernel, load, pending, timers), 0)
              for timers in (0, 1) for kernel in ('plain', 'hwheel')]
        ratio = ns[3] / ns[2] if ns[2] and ns[3] else 99
        print(f'{pending:>10}' + ''.join(f'{x:>11.0f}' for x in ns) + f'{ratio:>11.2f}')
        good.append((f'{load} with {pending} pending, relative to plain', ratio, most))
    return [check(*verdict) for verdict in good]


def draw(found, path):
    import matplotlib                           # slow to load
    matplotlib.use('svg')
    # The same results make the same file, and a small one
    matplotlib.rcParams.update({'svg.hashsalt': 'hwheel', 'svg.fonttype': 'none',
                                'font.size': 8})
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(2.4 * len(LOADS), 2.8))
    for i, (load, (title, _, _, limits)) in enumerate(LOADS.items()):
        axes = figure.add_subplot(1, len(LOADS), i + 1)
        for kernel, color, shift in ('plain', 'tab:orange', -0.2), ('hwheel', 'tab:blue', 0.2):
            us = [found.get((kernel, load, pending, 1), 0) / 1e3 for pending in limits]
            axes.bar([n + shift for n in range(len(us))], us, 0.4, color=color, label=kernel)
        axes.set(title=f'{title}, us', xlabel='pending')
        axes.set_xticks(range(len(limits)), [f'{pending:,}' for pending in limits])
        axes.grid(alpha=0.3, axis='y')
    figure.axes[0].legend()
    figure.tight_layout()
    figure.savefig(path, metadata={'Date': None})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = read(sys.argv[1])
    print('Nanoseconds, medians')
    good = table(found, 'uring:')
    few, many = (found.get(('hwheel', 'uring:', n, 1), 0) for n in (1000, 500000))
    good.append(check('uring: with 500000 pending, relative to 1000',
                      many / few if few and many else 99, FLAT))
    for load in 'timerfd:', 'ip_vs:', 'server:':
        good += table(found, load)
    draw(found, sys.argv[2])
    sys.exit(not all(good))


main()
