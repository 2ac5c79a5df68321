#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tables, bench.json and bench.svg from the kernel logs of bench.sh's guests.

Usage: bench.py DIRECTORY NAME=LOG...
       bench.py picture DIRECTORY
       bench.py record DIRECTORY RECORDED
       bench.py recorded RECORDED FOLDER
       bench.py table RECORDED

NAME says where LOG was made:
  uml, uml-smp-CPUS   user-mode Linux
  uml-hz1000          user-mode Linux with 1000 jiffies a second
  years               user-mode Linux in simulated time
  qemu-CPUS           QEMU
  icount              QEMU, where each instruction takes a nanosecond
With logs, BENCH_RUN says which run this is: MACHINE|COMMIT|COMMAND.

picture draws bench.svg from DIRECTORY/bench.json, and prints the tables of README. record keeps what
the documents show of DIRECTORY/bench.json, in the folder RECORDED: in costs.json what a call costs
in user-mode Linux, in lives.json what expiring costs there, and what several CPUs do, in
counted.json how many instructions it takes, and in late.json what was measured in simulated time.
recorded makes the pictures and tables of the documents from that folder in FOLDER, and table prints
README's tables from it.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import sys

RESULT = re.compile(r'hwheel_bench: (\w+=.*)')
NUMBERS = ('tick_ns', 'crosses', 'pending', 'delay_ms', 'cpus', 'wheels')
STATISTICS = ('median', 'min', 'max')

MS, US = 1000000, 1000


#
# Reading
#

def read_log(name, path):
    """The results in a log, as bench.json has them."""
    results = []
    kernel, vcpus = '?', 1
    with open(path, encoding='utf-8', errors='replace') as log:
        for line in log:
            match = RESULT.search(line)
            if not match:
                continue
            found = dict(word.split('=', 1) for word in match[1].split())
            if 'kernel' in found:
                kernel, vcpus = found['kernel'], int(found['cpus'])
                continue
            result = {'where': re.sub(r'-\d+$', '', name), 'kernel': kernel}
            if name == 'years':
                result.update(where='uml', time='simulated')
            if name == 'icount':
                result.update(where='qemu', time='instructions')
            result.update(found)
            result.update({key: int(found[key]) for key in NUMBERS})
            result.update({key: float(found[key]) for key in STATISTICS})
            result['of_cpus'] = vcpus
            results.append(result)
    return results


def read_run(path):
    """An earlier run: its machine, commit, command and results."""
    try:
        with open(path, encoding='utf-8') as file:
            run = json.load(file)
    except OSError as error:
        sys.exit(f"bench.py: can't read {path}: {error.strerror}; make bench writes it")
    if 'results' not in run:
        sys.exit(f'bench.py: {path} is of an older hwheel; make bench writes it anew')
    return run


def write_run(path, run):
    """Writes a run, each result on a line of its own."""
    head = json.dumps({key: run[key] for key in ('machine', 'commit', 'command')}, indent=1)
    rows = ',\n'.join(json.dumps(result) for result in run['results'])
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'{head[:-2]},\n "results": [\n{rows}\n]}}\n')


def select(results, **wanted):
    """The results that have all the wanted values."""
    return [r for r in results
            if all(r.get(key) in value if isinstance(value, (tuple, list, set))
                   else r.get(key) == value for key, value in wanted.items())]


def median(results, **wanted):
    """The median of the one result that is wanted, or None."""
    found = select(results, **wanted)
    return found[0]['median'] if found else None


#
# Tables
#

def count_text(count):
    if count >= 1000000 and not count % 1000000:
        return f'{count // 1000000}M'
    if count >= 1000 and not count % 1000:
        return f'{count // 1000}k'
    return str(count)


def span_text(ns):
    for unit, size in (('d', 86400e9), ('h', 3600e9), ('min', 60e9),
                       ('s', 1e9), ('ms', 1e6), ('us', 1e3)):
        if abs(ns) >= size:
            return f'{ns / size:.4g} {unit}'
    return f'{ns:.4g} ns'


def tick_text(ns):
    return span_text(ns) if ns else ''


def number_text(value, unit):
    if unit == '1/s' and value >= 100000:
        return f'{value / 1e6:.3g}M'
    return f'{value:.0f}' if value >= 99.5 or value == int(value) else f'{value:.1f}'


def cell_text(result):
    """median, and the spread of the rounds"""
    unit = result['unit']
    text = number_text(result['median'], unit)
    if result['min'] == result['max']:
        return text
    low = number_text(result['min'], unit)
    return f'{text} {low}-{number_text(result["max"], unit)}'


def row_name(result):
    words = [result['subject'], tick_text(result['tick_ns']), result['variant']]
    if result['op'] == 'expire' and result['tick_ns']:
        words.append(f'/{result["crosses"]}')
    return ' '.join(word for word in words if word)


def row_key(result):
    return (result['subject'], result['tick_ns'], result['variant'], result['crosses'])


def print_table(title, results, column, column_text, cell=cell_text, note=''):
    """Rows are what was measured; columns are the values of one of its keys."""
    if not results:
        return
    columns = sorted({column(r) for r in results})
    rows = {}
    for result in results:
        rows.setdefault(row_key(result), {})[column(result)] = result
    widths = [max([len(cell(row[c])) for row in rows.values() if c in row] +
                  [len(column_text(c))]) for c in columns]
    print(f'\n{title}')
    if note:
        print(note)
    print(' ' * 30 + ''.join(f'  {column_text(c):>{w}}' for c, w in zip(columns, widths)))
    for row in rows.values():
        name = row_name(next(iter(row.values())))
        print(f'{name:<30}' + ''.join(
            f'  {cell(row[c]) if c in row else "":>{w}}' for c, w in zip(columns, widths)))


def print_by_pending(title, results, note='', **wanted):
    print_table(title, select(results, **wanted), lambda r: r['pending'], count_text, note=note)


def span_cell(result):
    return span_text(result['median'])


def print_percentiles(results):
    names = {'late_p50': '50 %', 'late_p99': '99 %', 'late_p999': '99.9 %', 'late_max': 'max'}
    found = select(results, op=tuple(names), time=None)
    if found:
        print_table(f'Lateness, {count_text(found[0]["pending"])} timers over a minute, real time',
                    found, lambda r: list(names).index(r['op']),
                    lambda i: list(names.values())[i], span_cell)


def print_years(results):
    for op, title in (('late_min', 'least'), ('late_max', 'greatest')):
        found = select(results, time='simulated', op=op)
        for part in (lambda ms: ms < 60000, lambda ms: ms >= 60000):
            print_table(f'Lateness by delay, the {title} of 32 timers, simulated time',
                        [r for r in found if part(r['delay_ms'])],
                        lambda r: r['delay_ms'], lambda ms: span_text(ms * 1e6), span_cell)


def print_where(title, found):
    if not found:
        return
    kernels = ', '.join(sorted({r['kernel'] for r in found}))
    print(f'\n==== {title}: Linux {kernels}; medians, and the spread over the rounds ====')
    for op, title in (('arm', 'Arm'), ('rearm', 'Re-arm'), ('cancel', 'Cancel'),
                      ('mix', 'Busy server: 98 of 100 timers re-armed or cancelled')):
        print_by_pending(f'{title}: ns per operation, by timers pending', found, op=op)
    print_by_pending('Expire: ns per callback when all are due at once', found,
                     '(/n: with a geometry in which a timer comes down n levels)', op='expire')
    print_by_pending('Life: CPU ns from arming to the end of the callback', found, op='life')
    print_by_pending('The same: interrupts of a thousand timers', found, op='life_interrupts')
    print_by_pending('The same: settings of the clock for a thousand timers', found,
                     op='life_settings')
    for op, title in (('life', 'CPU ns of a timer'),
                      ('interrupts', 'interrupts of a thousand timers'),
                      ('settings', 'settings of the clock for a thousand timers')):
        print_table(f'Life of 100k timers on several wheels: {title}, by wheels',
                    select(found, op=f'wheels_{op}'), lambda r: r['wheels'], str)
    print_percentiles(found)
    print_by_pending('Interrupts per second, by number of periodic timers', found,
                     op='interrupts')
    print_table('One timer: interrupts until it has fired, by its delay',
                select(found, op='interrupts_total'),
                lambda r: r['delay_ms'], lambda ms: span_text(ms * 1e6))
    print_table('A crowded spoke: longest lock hold (ns), by timers in it',
                select(found, op='lock_hold'), lambda r: r['pending'], count_text)
    print_table('and greatest lateness (ns) of a 1 ms timer beside it',
                select(found, op='probe_late'), lambda r: r['pending'], count_text)
    print_table('The levels alone: longest hold for list moves (ns); each hold counts with its '
                'best of 7 passes',
                select(found, op='moves_hold'), lambda r: r['pending'], count_text)
    for op, title in (('own', 'timers of their own'), ('handed', 'cancelled by the next CPU'),
                      ('rearmed', 're-armed by the next CPU'),
                      ('beside', 'cancelled by the next CPU, while others expire')):
        for cpus in sorted({r['of_cpus'] for r in found}):
            print_table(f'SMP, {title}: operations a second on a guest of {cpus}, by CPUs used',
                        select(found, op=op, of_cpus=cpus), lambda r: r['cpus'], str)
    for op, title in (('work_queue', 'queue'), ('work_mod', 'mod'), ('work_cancel', 'cancel')):
        print_by_pending(f'Delayed work, {title}: ns per operation, by works pending', found,
                         op=op)
    for op, title in (('sleep_p50', 'median'), ('sleep_max', 'greatest')):
        print_table(f'Sleep: how late the task wakes up, the {title} of 100',
                    select(found, op=op), lambda r: r['delay_ms'],
                    lambda ms: span_text(ms * 1e6), span_cell)
    print_table('Sleep: ns to arm and cancel the timer, without a sleep',
                select(found, op='sleep_cost'), lambda r: r['delay_ms'],
                lambda ms: span_text(ms * 1e6))
    print_table('Memory: bytes of a timer', select(found, op='timer_size'),
                lambda r: r['pending'], lambda n: '')
    print_table('Memory: bytes of a wheel on each CPU', select(found, op='wheel_size'),
                lambda r: r['pending'], lambda n: '')
    print_years(found)


#
# Targets
#

class Targets:
    """The targets, and the worst case measured of each."""

    def __init__(self, results):
        self.results = results
        self.uml = select(results, where='uml', time=None)
        self.rows = []
        self.unmeasured = 0

    def value(self, **wanted):
        return median(self.uml, **wanted)

    def add(self, what, cases, limit, unit='', at_least=False):
        """cases: (value, where it was found); None values were not measured."""
        cases = [case for case in cases if case[0] is not None]
        if not cases:
            self.unmeasured += 1
            return
        worst = (min if at_least else max)(cases)
        good = worst[0] >= limit if at_least else worst[0] <= limit
        sign = '>=' if at_least else '<='
        self.rows.append((what, f'{worst[0]:.4g}{unit}', worst[1], f'{sign} {limit:.4g}{unit}',
                          'ok' if good else 'NO'))

    def against(self, subject, ops, variants, other_variant='relative', pendings=None,
                ticks=(MS, US), found=None):
        """The ratio of hwheel's cost to another subject's, for all ticks and counts."""
        found = self.uml if found is None else found
        for mine in select(found, subject='hwheel', op=ops, variant=variants,
                           tick_ns=ticks):
            if mine['crosses'] or (pendings and mine['pending'] not in pendings):
                continue
            other = median(found, subject=subject, op=mine['op'], variant=other_variant,
                           pending=mine['pending'])
            if other:
                yield mine['median'] / other, self.at(mine)

    @staticmethod
    def at(result, count=True):
        text = f'{result["op"]} {tick_text(result["tick_ns"])} {result["variant"]}'
        return text + (f' {count_text(result["pending"])}' if count else '')

    def operations(self):
        for ops, name, limit in ((('cancel',), 'cancel', 1.1),
                                 (('arm', 'rearm'), 'arm, re-arm', 1.25)):
            self.add(f'{name} absolute at 100k and more / floor', self.against(
                'floor', ops, 'absolute', 'list', (100000, 1000000, 4000000)), limit)
        self.add('arm, re-arm, jiffy of slack / timer_list', self.against(
            'timer_list', ('arm', 'rearm'), 'slack'), 1.0)
        self.add('  the same by absolute time', self.against(
            'timer_list', ('arm', 'rearm'), 'absolute_slack'), 1.0)

        clock = self.value(subject='ktime_get', op='arm')
        timer = self.value(subject='timer_list', op='arm', pending=1000)
        if clock and timer:
            self.add('arm relative at 1k: timer_list + ktime_get', [
                (r['median'], self.at(r)) for r in
                select(self.uml, subject='hwheel', op='arm', variant='relative', pending=1000)],
                clock + timer, ' ns')
        for pending, limit in ((1000, 2.2), (1000000, 6)):
            self.add(f'arm relative at {count_text(pending)}: hrtimer / hwheel', [
                (1 / ratio, at) for ratio, at in
                self.against('hrtimer', 'arm', 'relative', pendings=(pending,))],
                limit, at_least=True)
        self.add('growth 1k to 4M / growth of the floor', self.growth(), 1.0)

    def growth(self):
        def grown(subject, **wanted):
            low = self.value(subject=subject, pending=1000, **wanted)
            high = self.value(subject=subject, pending=4000000, **wanted)
            return high / low if low and high else None

        for mine in select(self.uml, subject='hwheel', op=('arm', 'rearm', 'cancel'),
                           pending=1000):
            floor = grown('floor', op=mine['op'])
            own = grown('hwheel', op=mine['op'], variant=mine['variant'],
                        tick_ns=mine['tick_ns'])
            if own and floor:
                yield own / floor, self.at(mine, False)

    def expiry(self):
        hz1000 = select(self.results, where='uml-hz1000')

        def cases(variant, crosses, found=self.uml, ticks=(MS, US)):
            for mine in select(found, subject='hwheel', op='expire', variant=variant,
                               tick_ns=ticks, crosses=crosses, pending=(100000, 1000000)):
                timer = median(found, subject='timer_list', op='expire', pending=mine['pending'])
                yield mine['median'] / timer, f'{self.at(mine)}, {mine["crosses"]} levels'

        what = 'expire / timer_list, '
        for levels in range(4):
            moved = what + f'exact, moved from level {levels}'
            self.add(moved, cases('absolute', levels), 1.0)
            # There timer_list is as exact as a wheel with a tick of 1 ms
            self.add(moved + ', HZ=1000', cases('absolute', levels, hz1000, (MS,)),
                     1.0 if levels < 2 else 1.2)
        # In the default geometry, a delay of 0.6 s is on level 1 (tick of 1 ms) or 2 (1 us)
        self.add(what + 'slack of a jiffy', cases('slack', (1, 2)), 0.8)
        self.add(what + 'slack of 1/8', cases('eighth', (1, 2)), 0.8)

        for other, name, variant, ticks, limit in (
                ('hrtimer_soft', 'exact', 'absolute', (MS, US), 0.3),
                ('timer_list', 'relative', 'relative', (MS,), 1.2),
                ('timer_list', 'absolute', 'absolute', (MS,), 1.0),
                ('timer_list', 'slack', 'slack', (MS, US), 0.9),
                ('timer_list', 'eighth', 'eighth', (MS, US), 0.9)):
            for tick_ns in ticks:
                self.add(f'life, {name}, {tick_text(tick_ns)} / {other}',
                         self.against(other, 'life', variant,
                                      'relative' if variant == 'relative' else 'absolute',
                                      pendings=(1000000,), ticks=(tick_ns,)), limit)
        for where, found in (
                ('', self.uml),
                (', HZ=1000', hz1000),
                (', instructions', select(self.results, time='instructions'))):
            self.lives(where, found)

    def lives(self, where, found):
        """What a million timers cost at equal exactness"""
        found = select(found, pending=1000000)
        jiffy = jiffy_of(select(found, op='life'))
        for other, other_variant, name, variant, tick_ns, limit in (
                ('timer_list', 'absolute', 'exact', 'absolute', jiffy, 1.0),
                ('timer_list', 'absolute', 'exact, 4096 spokes', 'absolute_wide', jiffy, 1.0),
                ('timer_list', 'absolute', 'slack of 1/8', 'eighth', jiffy, 1.0),
                ('hrtimer_soft', 'whole_ms', 'exact', 'absolute', MS, 0.5),
                ('hrtimer', 'whole_ms', 'in hardirq context', 'absolute_hardirq', MS, 0.5)):
            self.add(f'life, {name}, {tick_text(tick_ns)} / {other} {other_variant}{where}',
                     self.against(other, 'life', variant, other_variant, ticks=(tick_ns,),
                                  found=found), limit)
        # With a slack of 1/8 the wheel is as late as timer_list; without, only up to the gap
        for name, variant in (('exact', 'absolute_gap'), ('slack of 1/8', 'eighth_gap')):
            self.add(f'life, gap of 0.5 ms, {name}, 1 us / timer_list{where}',
                     self.against('timer_list', 'life', variant, 'absolute', ticks=(US,),
                                  found=found), 1.2)
        self.add(f'settings of the clock / interrupts, softirq{where}', [
            (r['median'] / interrupts, tick_text(r['tick_ns'])) for r in
            select(found, subject='hwheel', op='life_settings', variant='absolute')
            for interrupts in [median(found, subject='hwheel', op='life_interrupts',
                                      variant='absolute', tick_ns=r['tick_ns'])]
            if interrupts], 1.05)

    def lateness(self):
        simulated = select(self.results, time='simulated', subject='hwheel')
        # Subtract 1 us: running the 32 callbacks takes that much simulated time
        self.add('simulated time: latest, in ticks less 1 us', [
            ((r['median'] - 1000) / r['tick_ns'], span_text(r['delay_ms'] * 1e6))
            for r in select(simulated, op='late_max')], 1.0)
        self.add('simulated time: earliest', [
            (r['median'], span_text(r['delay_ms'] * 1e6))
            for r in select(simulated, op='late_min')], 0, ' ns', at_least=True)
        self.add('interrupts of a lone timer', [
            (r['median'], span_text(r['delay_ms'] * 1e6))
            for r in select(simulated, op='interrupts_total')], 1)
        self.add('interrupts of an idle wheel', [
            (r['median'], self.at(r)) for r in
            select(self.uml, op='interrupts', pending=0)], 0, ' /s')
        self.add('interrupts of one timer / its expirations', [
            (r['median'] / self.value(op='expirations', pending=1, tick_ns=r['tick_ns'],
                                      variant=r['variant']), self.at(r))
            for r in select(self.uml, op='interrupts', pending=1)], 1)

        for op, name in (('late_p999', '99.9 %'), ('late_max', 'maximum')):
            hrtimer = self.value(subject='hrtimer', op=op)
            self.add(f'minute of a million: {name} / (hrtimer + tick)', [
                (r['median'] / (hrtimer + r['tick_ns']), tick_text(r['tick_ns']))
                for r in select(self.uml, subject='hwheel', op=op)], 1.0)
        counted = select(self.results, time='instructions')
        for op, name, limit in (
                ('lock_hold', 'longest lock hold, a million in a spoke', 10),
                ('moves_hold', '  the levels alone, least of 7 passes', 10),
                ('probe_late', '1 ms timer beside that cascade: late by', 1100)):
            for found, where in ((self.uml, ''), (counted, ', 1 ns an instruction')):
                self.add(name + where, [
                    (r['median'] / 1000, tick_text(r['tick_ns']))
                    for r in select(found, op=op, pending=1000000)], limit, ' us')
        self.add('  the same without the million', [
            (r['median'] / 1000, tick_text(r['tick_ns']))
            for r in select(self.uml, op='probe_late', pending=0)], 1100, ' us')
        self.add('bytes of a timer', [
            (r['median'], '') for r in
            select(self.uml, subject='hwheel', op='timer_size')], 48)

    def smp(self):
        for where in ('qemu', 'uml-smp'):
            found = select(self.results, where=where, time=None)
            for op, name in (('own', 'own timers'), ('handed', 'cancelled on another CPU'),
                             ('rearmed', 're-armed on another CPU'),
                             ('beside', 'cancelled while others expire')):
                for variant in ('relative', 'absolute', 'slack'):
                    self.add(f'{where}, {name}, {variant} / timer_list', [
                        (r['median'] / median(found, subject='timer_list', op=op,
                                              cpus=r['cpus'], of_cpus=r['of_cpus']),
                         f'{r["cpus"]} of {r["of_cpus"]} CPUs')
                        for r in select(found, subject='hwheel', op=op, variant=variant)
                        if r['cpus'] == r['of_cpus']], 1 / 0.9, at_least=True)

    def drivers(self):
        for op, name in (('work_queue', 'queue'), ('work_mod', 'mod'), ('work_cancel', 'cancel')):
            self.add(f'delayed work, {name} / delayed_work', self.against(
                'delayed_work', op, 'work', 'work'), 1.2)
        self.add('sleep, arm and cancel / schedule_hrtimeout', [
            (r['median'] / self.value(subject='schedule_hrtimeout', op='sleep_cost',
                                      delay_ms=r['delay_ms']), self.at(r, count=False))
            for r in select(self.uml, subject='hwheel', op='sleep_cost')], 1.2)
        self.add('sleep, median lateness - schedule_hrtimeout - tick', [
            ((r['median'] - r['tick_ns'] -
              self.value(subject='schedule_hrtimeout', op='sleep_p50',
                         delay_ms=r['delay_ms'])) / 1000, self.at(r, count=False))
            for r in select(self.uml, subject='hwheel', op='sleep_p50')], 50, ' us')

    def show(self):
        self.operations()
        self.expiry()
        self.lateness()
        self.smp()
        self.drivers()
        if not self.rows:
            print('\nNothing was measured that has a target.')
            return
        print('\n==== Targets, the worst case of each ====\n')
        print(f'{"target":<60} {"measured":>9}  {"must be":<11} {"ok":<3} at')
        for what, value, at, limit, good in self.rows:
            print(f'{what:<60} {value:>9}  {limit:<11} {good:<3} {at}')
        met = sum(row[-1] == 'ok' for row in self.rows)
        print(f'\n{met} of {len(self.rows)} met' +
              (f'; {self.unmeasured} were not measured' if self.unmeasured else ''))


#
# Picture
#

# The rows of README's table
SUMMARY = (('timer_list', 'timer_list', 'relative', 0),
           ('hrtimer', 'hrtimer', 'relative', 0),
           ('hwheel_add()', 'hwheel', 'relative', MS),
           ('hwheel_add_at()', 'hwheel', 'absolute', MS))


def print_summary(results):
    """The costs that the picture shows, as README has them."""
    uml = select(results, where='uml', time=None)
    ops, pendings = ('arm', 'rearm', 'cancel'), (1000, 1000000)
    if not select(uml, op=ops, pending=pendings):
        return
    print('\nWhat a call costs, in nanoseconds, by timers pending:\n')
    print(f'{"1,000":>32}{"1,000,000":>31}')
    print(' ' * 17 + (' ' * 5).join(['    arm  re-arm  cancel'] * 2))
    for name, subject, variant, tick_ns in SUMMARY:
        row = f'  {name:<15}'
        for pending in pendings:
            for op, width in zip(ops, (7, 8, 8)):
                cost = median(uml, subject=subject, variant=variant, tick_ns=tick_ns,
                              crosses=0, op=op, pending=pending)
                row += f'{"-" if cost is None else round(cost):>{width}}'
            row += ' ' * 5
        print(row.rstrip())


# The rows of README's second table. A tick of 0: of a jiffy, for hwheel
LIVES = (('timer_list', 'timer_list', 'absolute', 0),
         ('hwheel, a jiffy, exact', 'hwheel', 'absolute', 0),
         ('hwheel, a jiffy, slack of 1/8', 'hwheel', 'eighth', 0),
         ('hwheel, 1 ms, exact', 'hwheel', 'absolute', MS),
         ('hrtimer, on whole milliseconds', 'hrtimer_soft', 'whole_ms', 0))


def jiffy_of(lives):
    """The widest tick of these rows is a jiffy."""
    return max((r['tick_ns'] for r in lives), default=MS)


def print_lives(results):
    """What a timer costs from its arming to the end of its callback, as README has it."""
    places = [select(results, op='life', pending=1000000, **where) for where in
              ({'time': 'instructions'}, {'where': 'uml', 'time': None})]
    if not all(places):
        return
    print('\nFrom arming to the end of the callback, a million timers over four seconds:\n')
    print(f'{"instructions":>48}{"ns":>8}')
    for name, subject, variant, tick_ns in LIVES:
        row = f'  {name:<34}'
        for found, width in zip(places, (12, 8)):
            wide = tick_ns or (jiffy_of(found) if subject == 'hwheel' else 0)
            cost = median(found, subject=subject, variant=variant, tick_ns=wide)
            row += f'{"-" if cost is None else round(cost):>{width}}'
        print(row)


def start_pyplot():
    import matplotlib                           # slow to load
    matplotlib.use('svg')
    # The same results make the same file, and a small one
    matplotlib.rcParams.update({'svg.hashsalt': 'hwheel', 'svg.fonttype': 'none',
                                'font.size': 8})
    from matplotlib import pyplot
    return pyplot


def draw(results, path):
    pyplot = start_pyplot()
    panels = [(draw_panel, found) for draw_panel, found in (
        (draw_cost, select(results, where='uml', time=None, op=('arm', 'cancel'))),
        (draw_lateness, select(results, time='simulated', op='late_max'))) if found]
    figure = pyplot.figure(figsize=(4.6 * max(1, len(panels)), 3.4))
    for i, (draw_panel, found) in enumerate(panels):
        draw_panel(figure.add_subplot(1, len(panels), i + 1), found)
    figure.tight_layout()
    figure.savefig(path, metadata={'Date': None})


# Subject, variant, tick, name and color of each line of the picture
COST_LINES = (
    ('hrtimer', 'relative', 0, 'hrtimer', 'tab:red'),
    ('timer_list', 'relative', 0, 'timer_list', 'tab:orange'),
    ('hwheel', 'relative', MS, 'hwheel, relative', 'tab:cyan'),
    ('hwheel', 'absolute', MS, 'hwheel, absolute', 'tab:blue'),
    ('floor', 'list', 0, 'floor: lock and list', 'tab:gray'),
)


def draw_cost(axes, results):
    for subject, variant, tick_ns, label, color in COST_LINES:
        for op, style in (('arm', '-'), ('cancel', ':')):
            points = sorted((r['pending'], r['median'], r['min'], r['max']) for r in
                            select(results, subject=subject, variant=variant,
                                   tick_ns=tick_ns, op=op))
            if not points:
                continue
            count, middle, low, high = zip(*points)
            axes.plot(count, middle, style, color=color, marker='.',
                      label=label if op == 'arm' else None)
            axes.fill_between(count, low, high, color=color, alpha=0.15, linewidth=0)
    axes.set(xscale='log', yscale='log', xlabel='timers pending', ylabel='ns',
             title='Cost of arm (solid) and cancel (dotted)')
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()


def draw_bars(axes, results):
    """The costs with a million timers pending: what README's table has on its right"""
    ops = ('arm', 'rearm', 'cancel')
    for i, (name, subject, variant, tick_ns) in enumerate(SUMMARY):
        color = {line[:3]: line[4] for line in COST_LINES}[subject, variant, tick_ns]
        costs = [median(results, subject=subject, variant=variant, tick_ns=tick_ns, crosses=0,
                        op=op, pending=1000000) for op in ops]
        bars = axes.bar([x + 0.22 * i for x in range(len(ops))], costs, 0.2, color=color,
                        label=name)
        axes.bar_label(bars, [f'{cost:.0f}' for cost in costs])
    axes.set_yscale('log')
    axes.set_ylim(10, 30000)
    axes.set_xticks([x + 0.33 for x in range(len(ops))], ('arm', 're-arm', 'cancel'))
    axes.set(ylabel='ns', title='What a call costs, a million timers pending')
    axes.legend(ncols=2)


def draw_lateness(axes, results):
    lines = (
        ('timer_list', 0, 'timer_list', 'tab:orange'),
        ('hwheel', MS, 'hwheel, 1 ms tick', 'tab:blue'),
        ('hwheel', 10 * US, 'hwheel, 10 us tick', 'tab:cyan'),
        ('hrtimer', 0, 'hrtimer', 'tab:red'),
    )
    for subject, tick_ns, label, color in lines:
        points = sorted((r['delay_ms'] / 1e3, r['median'] / 1e9) for r in
                        select(results, subject=subject, tick_ns=tick_ns, op='late_max'))
        late = [(delay, value) for delay, value in points if value > 0]
        early = [(delay, -value) for delay, value in points if value < 0]
        if late:
            axes.plot(*zip(*late), color=color, marker='.', label=label)
        if early:
            axes.plot(*zip(*early), 'x', color=color, label=f'{label}: early by')
    axes.set(xscale='log', yscale='log', xlabel='delay, s', ylabel='s',
             title='Greatest lateness')
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()


#
# Recorded runs
#

# The files of a folder of recorded runs, and their results
RECORDED = (('costs', {'where': 'uml', 'time': None, 'op': ('arm', 'rearm', 'cancel')}),
            ('late', {'time': 'simulated', 'op': 'late_max'}),
            ('lives', {'where': ('uml', 'uml-hz1000', 'uml-smp'), 'time': None,
                       'op': ('expire', 'life', 'own', 'handed', 'rearmed', 'beside')}),
            ('counted', {'time': 'instructions',
                         'op': ('life', 'life_interrupts', 'life_settings', 'wheels_life',
                                'wheels_interrupts', 'wheels_settings')}))
TABLES = ('lives', 'counted')           # are shown as tables
NEEDED = ('where', 'time', 'kernel', 'subject', 'op', 'variant', 'unit', 'tick_ns', 'crosses',
          'pending', 'delay_ms', 'cpus', 'of_cpus', 'wheels', 'median', 'min', 'max')


def record(run, folder):
    for name, wanted in RECORDED:
        drawn = {line[:3] for line in COST_LINES}
        found = [{key: r[key] for key in NEEDED if key in r} for r in
                 select(run['results'], **wanted)
                 if name != 'costs' or (r['subject'], r['variant'], r['tick_ns']) in drawn]
        if found:
            write_run(folder / f'{name}.json', {**run, 'results': found})
            print(f'{folder}/{name}.json: {len(found)} results')


def draw_recorded(folder, out):
    """The pictures and tables of the documents, and for each a line that says where it is from."""
    runs = {name: read_run(folder / f'{name}.json') for name, _ in RECORDED}
    results = [result for run in runs.values() for result in run['results']]
    draw(results, out / 'bench.svg')
    draw_front(draw_bars, runs['costs']['results'], out / 'costs.svg')
    draw_front(draw_lateness, runs['late']['results'], out / 'late.svg')
    bpf = read_run(folder / 'bpf.json')
    draw_front(draw_bpf, bpf['results'], out / 'bpf.svg')
    (out / 'bpf.inc').write_text(
        f'Recorded in {bpf["machine"]}, Linux {bpf["results"][0]["kernel"]}, '
        f'hwheel {bpf["commit"]}, by ``{bpf["command"]}``.\n', encoding='utf-8')
    for name, run in runs.items():
        kernels = ', '.join(sorted({r['kernel'] for r in run['results']}))
        text = (f'Recorded on {run["machine"]}, Linux {kernels}, hwheel {run["commit"]}, '
                f'by ``{run["command"]}``')
        if name in TABLES:
            with contextlib.redirect_stdout(io.StringIO()) as tables:
                print_run(run['results'])
            text += '::\n\n' + re.sub('^(?=.)', '\t', tables.getvalue().strip('\n'), flags=re.M)
        else:
            text += ' in user-mode Linux.'
        (out / f'{name}.inc').write_text(f'{text}\n', encoding='utf-8')


def draw_bpf(axes, results):
    """What a packet costs that arms its flow's timer again"""
    for i, (subject, color) in enumerate((('bpf_timer', 'tab:red'), ('hwheel', 'tab:blue'))):
        costs = [r['rearm'] for r in select(results, subject=subject)]
        bars = axes.bar([x + 0.4 * i for x in range(len(costs))], costs, 0.38, color=color,
                        label=subject)
        axes.bar_label(bars, costs)
    flows = [f'{r["flows"]:,} flows' for r in select(results, subject='hwheel')]
    axes.set_xticks([x + 0.2 for x in range(len(flows))], flows)
    axes.set(ylabel='instructions', title='Arming the timer of a flow again')
    axes.legend(ncols=2)


def draw_front(draw_panel, results, path):
    pyplot = start_pyplot()
    figure = pyplot.figure(figsize=(4.6, 2.7))
    draw_panel(figure.add_subplot(), results)
    figure.tight_layout()
    figure.savefig(path, metadata={'Date': None})


def print_run(results):
    """The tables of a run, and how its targets were met"""
    print_where('uml', select(results, where='uml'))
    print_where('uml, HZ=1000', select(results, where='uml-hz1000'))
    print_where('uml-smp', select(results, where='uml-smp'))
    print_where('qemu', select(results, where='qemu', time=None))
    print_where('qemu, where a ns is an instruction', select(results, time='instructions'))
    Targets(results).show()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command, top, results = *sys.argv[1:3], []
    if command == 'picture':
        results = read_run(f'{top}/bench.json')['results']
        print_summary(results)
        print_lives(results)
        draw(results, f'{top}/bench.svg')
        return
    if command == 'record':
        record(read_run(f'{top}/bench.json'), pathlib.Path(sys.argv[3]))
        return
    if command == 'recorded':
        draw_recorded(pathlib.Path(top), pathlib.Path(sys.argv[3]))
        return
    if command == 'table':
        print_summary(read_run(f'{top}/costs.json')['results'])
        print_lives([result for name in TABLES
                     for result in read_run(f'{top}/{name}.json')['results']])
        return
    top = command
    for argument in sys.argv[2:]:
        results += read_log(*argument.split('=', 1))
    if not results:
        sys.exit('bench.py: no results')
    print_run(results)
    print_summary(results)
    print_lives(results)
    run = dict(zip(('machine', 'commit', 'command'), os.environ['BENCH_RUN'].split('|')))
    write_run(f'{top}/bench.json', {**run, 'results': results})
    draw(results, f'{top}/bench.svg')


main()
