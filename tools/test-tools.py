#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of hwheel-plan, hwheel-top, hwheel-plot, hwheel-record.sh, hwheel-report and hwheel-convert.

Debugfs folders, recordings and expected cascades come from a simple wheel of a few
dozen lines: Wheel, below. At each tick it moves the timers one by one, as hwheel's rules
say. The tests compare the tools' output with this wheel.

The class Fuzz mutates recordings, debugfs files, traces and delays. A tool must then end with a
right answer or one clear line. TIME=seconds is how long it does so with each of them; the
default is half a second. SEED=n, printed at a failure, does the same again. The class Convert
does so with drivers, for 3 seconds: what hwheel-convert makes of a driver must compile.

Usage: [TIME=seconds] [SEED=n] test-tools.py [-v] [CLASS[.TEST]...]
"""

import collections
import contextlib
import fcntl
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import xml.etree.ElementTree
from fractions import Fraction
from unittest import mock

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)
import hwheel_debugfs as hw     # noqa: E402

# Do not ignore SIGINT: a script that a shell runs in the background ignores it, and the tools
# would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores that

# The user's settings must not change the tools' output
ENVIRONMENT = {'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8', 'TERM': 'xterm-256color',
               'HOME': os.environ.get('HOME', '/'), 'PYTHONDONTWRITEBYTECODE': '1'}


def load(name):
    """A tool as a module."""
    path = os.path.join(TOOLS, name)
    loader = importlib.machinery.SourceFileLoader(name.replace('-', '_'), path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def run(tool, *args, stdin='', env=None, **kwargs):
    """Runs a tool; its output is text."""
    if 'stdout' not in kwargs:
        kwargs['stdout'] = subprocess.PIPE
    return subprocess.run([os.path.join(TOOLS, tool), *args], input=stdin, text=True,
                          stderr=subprocess.PIPE, timeout=60, check=False,
                          env={**ENVIRONMENT, **(env or {})}, **kwargs)


#
# A wheel
#

# Spokes of the parking lot and of the four rows of fans, which are no levels
OTHER_ROWS = {15: 57, 16: 384, 17: 1920, 18: 1920, 19: 1920}


class Timer:
    def __init__(self, due, function='tick_fn'):
        self.due = due
        self.function = function
        self.moves = 0


class Base:
    """The timers of one CPU. At each tick, step() empties the spokes that cascade, and
    moves their timers one by one."""

    def __init__(self, n, clock):
        self.planned = len(n)
        self.n = n = (*n, 128, 128, 128)    # levels above the geometry
        self.u = [1]
        for spokes in n:
            self.u.append(self.u[-1] * spokes)
        self.clock = clock
        self.held = collections.defaultdict(list)   # by level and spoke
        self.count = collections.Counter()
        self.armed = collections.Counter()          # by callback
        self.expired = collections.Counter()

    def place(self, due):
        for level, spokes in enumerate(self.n):
            slot = due // self.u[level]
            if slot - self.clock // self.u[level] < spokes:
                return level, slot % spokes
        raise AssertionError('no level reaches the timer')

    def add(self, timer):
        self.held[self.place(timer.due)].append(timer)
        self.count['added'] += 1
        self.armed[timer.function] += 1

    def empty(self, where):
        for timer in self.held.pop(where, ()):
            timer.moves += 1
            self.count['cascaded'] += 1
            self.held[self.place(timer.due)].append(timer)

    def step(self):
        self.clock += 1
        for level in range(len(self.n) - 1, 0, -1):
            self.empty((level, self.clock // self.u[level] % self.n[level]))
        fired = self.held.pop((0, self.clock % self.n[0]), [])
        assert all(timer.due == self.clock for timer in fired)
        self.count['expired'] += len(fired)
        self.expired.update(timer.function for timer in fired)


class Wheel:
    """Bases, and their debugfs files."""

    def __init__(self, name='system', n=(8, 8, 8), cpus=2, tick_ns=10 ** 6, clock=0):
        self.name = name
        self.n = n
        self.tick_ns = tick_ns
        self.bases = [Base(n, clock) for _ in range(cpus)]
        self.counts_users = True
        self.late = collections.Counter()

    @property
    def now_ns(self):
        return self.bases[0].clock * self.tick_ns

    def step(self, ticks):
        for _ in range(ticks):
            for base in self.bases:
                before = base.count['expired']
                base.step()
                self.late[1 << 14 + base.clock % 3] += base.count['expired'] - before

    def held(self):
        """(cpu, level, spoke, timers) of all that is occupied."""
        return [(cpu, level, spoke, timers) for cpu, base in enumerate(self.bases)
                for (level, spoke), timers in sorted(base.held.items()) if timers]

    def timers(self, cpu=None, level=None):
        return sum(len(timers) for c, l, _, timers in self.held()
                   if cpu in (None, c) and level in (None, l))

    def users(self):
        """(function, pending, armed, expired, max_late_ns)"""
        pending = collections.Counter(t.function for h in self.held() for t in h[3])
        for function in sorted(set().union(*(base.armed for base in self.bases))):
            armed = sum(base.armed[function] for base in self.bases)
            expired = sum(base.expired[function] for base in self.bases)
            yield (function.replace(' ', ''), pending[function],
                   *((armed, expired, 1000 * len(function)) if self.counts_users
                     else ('-', '-', '-')))

    def files(self):
        tick, base = self.tick_ns, self.bases[0]
        config = [('version', hw.HWHEEL), ('name', self.name), ('tick_ns', tick),
                  ('levels', len(self.n)), ('spokes', ','.join(map(str, self.n))),
                  ('clock', 'monotonic'), ('context', 'softirq'), ('budget_ns', 2000000), ('bytes_per_cpu', 4096)]
        levels, spokes, timers = [], [], []
        for cpu, base in enumerate(self.bases):
            for level in (*range(len(base.n)), *OTHER_ROWS):
                mine = [(spoke, held) for c, l, spoke, held in self.held()
                        if (c, l) == (cpu, level)]
                if level >= len(self.n) and not mine:
                    continue
                other = level in OTHER_ROWS
                width = tick if other else base.u[level] * tick
                due = [timer.due for _, held in mine for timer in held]
                levels.append((cpu, level, width,
                               OTHER_ROWS[level] if other else base.n[level],
                               (1 << 63) - 1 if other else width * base.n[level],
                               base.clock * tick // width * width, len(mine), len(due),
                               min(due) * tick if due else '-'))
                for spoke, held in mine:
                    spokes.append((cpu, level, spoke, min(t.due for t in held) * tick,
                                   len(held)))
                    timers += [(cpu, level, spoke, t.due * tick, t.due * tick - self.now_ns,
                                t.function) for t in held]
        stats = [('counter', 'total', *(f'cpu{cpu}' for cpu in range(len(self.bases))))]
        for name in ('added', 'rearmed', 'cancelled', 'expired', 'cascaded', 'migrated',
                     'interrupts', 'idle_interrupts', 'budget_overruns', 'max_late_ns'):
            each = [base.count[name] for base in self.bases]
            stats.append((name, sum(each), *each))
        return {'config': table('name value', config),
                'levels': table('cpu level tick_ns spokes interval_ns clock_ns occupied '
                                'timers next_ns', levels),
                'spokes': table('cpu level spoke expiration_ns timers', spokes),
                'timers': table('cpu level spoke expires_ns remaining_ns function', timers),
                'stats': table(' '.join(stats[0]), stats[1:]),
                'lateness': table('up_to_ns timers', sorted(self.late.items())),
                'users': table('function pending armed expired max_late_ns', self.users())}

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        for name, text in self.files().items():
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)

    def snapshot(self, taken_ns=None):
        files = self.files()
        del files['timers']
        return hw.Snapshot(self.name, self.now_ns, files,
                           self.now_ns if taken_ns is None else taken_ns)


def table(columns, rows):
    return f'# {columns}\n' + ''.join(' '.join(map(str, row)) + '\n' for row in rows)


def busy_wheel(**kwargs):
    """A wheel with timers of two callbacks in all levels. Each call makes the same wheel."""
    wheel = Wheel(**kwargs)
    reach = 1
    for n in wheel.n:
        reach *= n
    rng = random.Random(1)
    for cpu, base in enumerate(wheel.bases):
        for i in range(120 + 40 * cpu):
            due = base.clock + rng.randrange(1, reach * 7 // 8)
            base.add(Timer(due, 'conn_timeout [demo]' if i % 3 else 'lease_end'))
    return wheel


# $1 is a call of Python's library, the rest a command
KILLED = '''
import importlib, os, runpy, signal, sys
module, name = sys.argv[1].split('.')
module = importlib.import_module(module)
call = getattr(module, name)

def killed(*args, **kwargs):
    result = call(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGTERM)
    return result

setattr(module, name, killed)
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name='__main__')
'''


class Test(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        return path

    def ok(self, *args, **kwargs):
        done = run(*args, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ''), args)
        return done.stdout

    def fails(self, status, pattern, tool, *args, **kwargs):
        done = run(tool, *args, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, '')
        self.assertRegex(done.stderr, rf'\A{tool}: .*{pattern}.*\n\Z')

    def killed_after(self, call, tool, *args):
        """Runs a tool. It gets SIGTERM whenever it has made this call. It says nothing."""
        done = subprocess.run(
            [sys.executable, '-c', KILLED, call, os.path.join(TOOLS, tool), *args], text=True,
            capture_output=True, timeout=60, check=False, env={**ENVIRONMENT, 'PYTHONPATH': TOOLS})
        self.assertEqual(done.stderr, '')
        self.assertIn(done.returncode, (128 + signal.SIGTERM, -signal.SIGTERM))

    def plotted(self, *args):
        """Runs hwheel-plot in this process, which saves time. Returns its status and stderr."""
        err, status = io.StringIO(), 0
        with contextlib.redirect_stderr(err), mock.patch('signal.signal'), \
                mock.patch('sys.argv', ['hwheel-plot', *args]):
            try:
                plot.main()
            except hw.Error as error:
                hw.warn(error)
                status = 1
            if 'matplotlib.pyplot' in sys.modules:
                sys.modules['matplotlib.pyplot'].close('all')
        return status, err.getvalue()

    def recording(self, wheel, snapshots, ticks):
        lines, kept = [], []
        for n in range(snapshots):
            if n:
                wheel.step(ticks)
            kept.append(wheel.snapshot())
            lines.append(hw.format_snapshot(kept[-1]))
        return kept, self.path('run.jsonl', ''.join(lines))


#
# hwheel-plan
#

plan, plot, top = load('hwheel-plan'), load('hwheel-plot'), load('hwheel-top')

# Levels and spokes that 1 ms ticks need
RANGES = ('30s', '1d', '30d', '1y')
TABLE = {32: ((3, 96), (6, 192), (7, 224), (7, 224)),
         64: ((3, 192), (5, 320), (6, 384), (6, 384)),
         128: ((3, 384), (4, 512), (5, 640), (5, 640)),
         256: ((2, 512), (4, 1024), (4, 1024), (5, 1280)),
         512: ((2, 1024), (3, 1536), (4, 2048), (4, 2048))}


class Plan(Test):
    def first_line(self, *args, **kwargs):
        return self.ok('hwheel-plan', *args, **kwargs).splitlines()[0]

    def test_table(self):
        for spokes, row in TABLE.items():
            for longest, (levels, total) in zip(RANGES, row):
                self.assertEqual(self.first_line('--tick', '1ms', '--spokes', str(spokes),
                                                 '--range', longest),
                                 f'{levels} levels, {total} spokes')

    def test_list(self):
        text = self.ok('hwheel-plan', '--tick', '100ms', '--spokes', '10,60,5',
                       '--range', '5min')
        self.assertEqual(text.splitlines()[0], '3 levels, 75 spokes')
        self.assertRegex(text, r'one level alone +would need 3,000 spokes')
        rows = [line.split(None, 2) for line in text.splitlines()[3:6]]
        self.assertEqual([(row[0], row[1], row[2].replace(' ', '')) for row in rows],
                         [('0', '10', '100ms1s'), ('1', '60', '1s1min'), ('2', '5', '1min5min')])

    def test_the_last_of_a_list_repeats(self):
        self.assertEqual(self.first_line('--tick', '1s', '--spokes', '60,24', '--range', '1d'),
                         '4 levels, 132 spokes')

    def test_memory_is_what_a_stock_kernel_says(self):
        self.assertEqual(plan.memory_per_cpu([128] * 5), 47296)
        self.assertIn('47,296 bytes', self.ok('hwheel-plan', '--range', '1y'))

    def brute_force(self, n, longest):
        """Returns, for each delay, the mean number of moves over all phases of the clock."""
        moves = collections.Counter()
        phases = Base(n, 0).u[len(n)]
        for clock in range(phases):
            base = Base(n, clock)
            timers = {d: Timer(clock + d) for d in range(1, longest + 1)}
            for timer in timers.values():
                base.add(timer)
            for _ in range(longest):
                base.step()
            self.assertEqual(base.count['expired'], longest)
            for d, timer in timers.items():
                moves[d] += timer.moves
        return {d: Fraction(moves[d], phases) for d in range(1, longest + 1)}

    def test_cascades(self):
        for n, longest in (((4, 3, 2), 60), ((2, 2), 21), ((5,), 37), ((2, 3, 2, 2), 40),
                           ((3, 4), 50), ((8, 4), 70)):
            geometry = plan.Geometry(10 ** 6, n)
            expected = self.brute_force(n, longest)
            for d, moves in expected.items():
                self.assertEqual(geometry.cascades({d: 1}), moves, (n, d))
            for end in range(1, geometry.reach + 1):
                self.assertEqual(geometry.spread_cascades(end),
                                 sum(expected[d] for d in range(1, end + 1)) / end, (n, end))
            delays = {d: 1 + d % 4 for d in expected}
            self.assertEqual(geometry.cascades(delays),
                             sum(expected[d] * times for d, times in delays.items())
                             / sum(delays.values()), n)

    def test_distances(self):
        for tick_ns in (1, 2, 7):
            for ns in range(3 * tick_ns):
                expected = collections.Counter(-(-(at + ns) // tick_ns) for at in range(tick_ns))
                self.assertEqual(plan.distances({ns: 1}, tick_ns), expected)
        # 128 spokes reach 127 ticks; a timer of 127 ms is 128 ticks away
        for delay, cascades in (('126ms', 0), ('127ms', 1)):
            self.assertIn(f'cascades per timer  {cascades}.00', self.ok(
                'hwheel-plan', '--tick', '1ms', '--spokes', '128', '--delays', '-',
                stdin=delay + '\n'))

    def test_gaps(self):
        """Compares gap_effect() with a simulation of random expirations."""
        draw = random.Random(1)
        for tick_ns, rate, gap_ns in ((1000, 100000, 0), (1000, 100000, 50000),
                                      (10 ** 6, 700, 2500000), (1000, 20, 10 ** 7)):
            at, free, end, runs, late, timers = 0, 0, 0, 0, 0, 40000
            for _ in range(timers):
                at += draw.expovariate(rate / 1e9)
                due = -int(-at // tick_ns) * tick_ns
                if due > end:       # due after the last run
                    end = max(due, free)
                    free = end + -(-gap_ns // tick_ns) * tick_ns
                    runs += 1
                late += end - due
            per_second, mean = plan.gap_effect(tick_ns, rate, gap_ns)
            self.assertAlmostEqual(runs / at * 1e9 / per_second, 1, delta=0.03)
            self.assertAlmostEqual(late / timers, mean, delta=max(1, mean * 0.05))
        text = self.ok('hwheel-plan', '--tick', '1us', '--range', '1s', '--rate', '100000')
        rows = re.findall(r'^ +(\d+) +([\d,]+) +([\d.]+ \S+)$', text, re.M)
        self.assertEqual(rows[0], ('0', '95,163', '0 ns'))
        self.assertIn(('1000000', '1,000', '500 us'), rows)
        self.fails(2, '--rate 0', 'hwheel-plan', '--range', '1s', '--rate', '0')

    def test_forms_of_delays(self):
        ns = [1500000, 20000000, 3600000000000, 20000000]
        texts = {
            'list': '1.5ms\n20ms\n1h\n\n20000000\n',
            'timers': '# cpu level spoke expires_ns remaining_ns function\n'
                      + ''.join(f'0 1 2 99 {n} f [m]\n' for n in ns),
            'trace': '# tracer: nop\n' + ''.join(
                f'  <idle>-0 [000] d.h. 1.5: hwheel_start: timer=x delay_ns={n} flags=0\n'
                '   <idle>-0 [000] d.h. 1.6: hwheel_cancel: timer=x\n' for n in ns),
            'trace-cmd': 'cpus=2\n' + ''.join(f'a-1 [0] 1.5: hwheel_start: delay_ns={n}\n'
                                              for n in ns)}
        found = {name: self.ok('hwheel-plan', '--delays', '-', stdin=text)
                 for name, text in texts.items()}
        self.assertEqual(len(set(found.values())), 1, found)
        self.assertEqual(found['list'], self.ok('hwheel-plan', '--delays',
                                                self.path('list', texts['list'])))
        self.assertRegex(found['list'], r'delays +4: least 1.5 ms, median 20 ms, most 1 h')

    def test_proposal(self):
        delays = ''.join(f'{n * 7}ms\n' for n in range(1, 5000))
        text = self.ok('hwheel-plan', '--delays', '-', stdin=delays)
        rows = re.findall(r'^ *(\d+) +(\d+) +([\d,]+) +([\d.]+) +([\d.]+)(  least)?$', text,
                          re.M)
        self.assertEqual([int(row[0]) for row in rows], [1 << bits for bits in range(2, 13)])
        for row in rows:
            self.assertAlmostEqual(float(row[3]) + int(row[2].replace(',', '')) / 32768,
                                   float(row[4]), delta=0.02)
        least = min(rows, key=lambda row: float(row[4]))
        self.assertEqual([row for row in rows if row[5]], [least])
        self.assertIn(f'proposal: --spokes {least[0]}, {least[1]} levels', text)
        self.assertEqual(text.splitlines()[0],
                         f'{least[1]} levels, {int(least[0]) * int(least[1])} spokes')

    def test_beyond_the_reach(self):
        text = self.ok('hwheel-plan', '--spokes', '16', '--range', '1s', '--delays', '-',
                       stdin='1ms\n1min\n1min\n')
        self.assertRegex(text, r'beyond the reach +2: levels above take 8,192 bytes each')
        self.assertTrue(text.startswith('3 levels, 48 spokes\n'))

    def test_overdue_counts_as_now(self):
        text = self.ok('hwheel-plan', '--delays', '-',
                       stdin='# remaining_ns function\n-5 f\n1000000 f\n')
        self.assertIn('least 0 ns', text)

    def test_errors(self):
        for pattern, args, stdin in (
                ('give --range', [], ''),
                ("'5 parsec' is no duration", ['--range', '5 parsec'], ''),
                ("'1.0000000001s' is not a whole", ['--range', '1.0000000001s'], ''),
                ('--tick 999ns: .* 1 us or more', ['--tick', '999ns', '--range', '1s'], ''),
                ('--range 0s: it has to be', ['--range', '0s'], ''),
                ("--spokes 12x: '12x' is no number", ['--spokes', '12x', '--range', '1s'], ''),
                ('2 to 4096 spokes, not 1', ['--spokes', '1', '--range', '1s'], ''),
                ('2 to 4096 spokes, not 4097', ['--spokes', '8,4097', '--range', '1s'], ''),
                ('that is 9 levels', ['--spokes', '2,2,2,2,2,2,2,2,2', '--range', '1s'], ''),
                ('not 30 d; take 16 spokes or more', ['--spokes', '2', '--range', '30d'], ''),
                ('beyond what 64 bits hold', ['--spokes', '4096', '--range', '290y'], ''),
                ("stdin, line 2: 'soon' is no duration", ['--delays', '-'], '1ms\nsoon\n'),
                ('stdin holds no delays; it is empty', ['--delays', '-'], ''),
                ('has no remaining_ns', ['--delays', '-'], '# a remaining_ns\n1\n'),
                ("can't read /nowhere", ['--delays', '/nowhere'], '')):
            self.fails(2, pattern, 'hwheel-plan', *args, stdin=stdin)


#
# What they share
#

class Shared(Test):
    def test_durations(self):
        for text, ns in (('7', 7), ('1ms', 10 ** 6), ('1.5 us', 1500), ('1h30min', 54 * 10 ** 11),
                         ('2d', 1728 * 10 ** 11), ('1y', 31536 * 10 ** 12), ('0s', 0),
                         ('0.000000001s', 1)):
            self.assertEqual(hw.parse_duration(text), ns, text)
        for text in ('', 'ms', '-1s', '1m', '1msec', '1s2', '.5s'):
            self.assertRaises(hw.Error, hw.parse_duration, text)
        for ns, text in ((0, '0 ns'), (999, '999 ns'), (1000, '1 us'), (16384000000, '16.4 s'),
                         (2097152000000, '35 min'), (128 * 10 ** 6, '128 ms'), (-1500, '-1.5 us'),
                         (34359738368 * 10 ** 6, '1.09 y')):
            self.assertEqual(hw.format_ns(ns), text)

    def test_table(self):
        rows = hw.parse_table('# cpu next_ns function\n0 5 f [module]\n1 - g\n')
        for text in ('', '# cpu next_ns function\n1 2\n', '# cpu\n1'):
            self.assertRaises(hw.Error, hw.parse_table, text)
        self.assertEqual(rows, [{'cpu': 0, 'next_ns': 5, 'function': 'f [module]'},
                                {'cpu': 1, 'next_ns': None, 'function': 'g'}])

    def test_all_cpus(self):
        snapshot = busy_wheel().snapshot()
        for level in snapshot.levels():
            mine = [one for cpu in (0, 1) for one in snapshot.levels(cpu)
                    if one['level'] == level['level']]
            self.assertEqual(len(mine), 2)
            for key, join in (('timers', sum), ('occupied', sum), ('clock_ns', max),
                              ('next_ns', min)):
                self.assertEqual(level[key], join(one[key] for one in mine), key)

    def test_quantiles(self):
        histogram = {1024: 50, 2048: 49, 4096: 1}
        self.assertEqual([hw.quantile(histogram, part) for part in (0.5, 0.51, 0.99, 1)],
                         [1024, 2048, 2048, 4096])
        self.assertIsNone(hw.quantile({}, 0.5))

    def test_no_folder(self):
        with mock.patch('os.listdir', side_effect=PermissionError):
            self.assertRaisesRegex(hw.Error, 'only root may', hw.find_wheels, hw.DEBUGFS)
        with mock.patch('os.listdir', side_effect=FileNotFoundError):
            for mounts, pattern in (('proc /proc proc rw 0 0\n', "isn't mounted: mount -t"),
                                    ('d /sys/kernel/debug debugfs rw 0 0\n', "isn't loaded")):
                with mock.patch('builtins.open', mock.mock_open(read_data=mounts)):
                    self.assertRaisesRegex(hw.Error, pattern, hw.find_wheels, hw.DEBUGFS)

    def test_recordings(self):
        one = hw.format_snapshot(busy_wheel().snapshot())
        other = json.loads(one)
        other['version'] = 2
        for pattern, text in (('holds no recording', 'nothing\n'),
                              ('line 1: not a snapshot, or cut short', one[:50]),
                              ('line 1: it is of version 2', json.dumps(other)),
                              ('line 1: it is of version 7', 'hwr7 begin system 1\n'),
                              ('line 2: config is missing',
                               'hwr1 begin system 1\nhwr1 end\n')):
            self.assertRaisesRegex(hw.Error, pattern, hw.read_recording,
                                   text.splitlines(True), 'it')


#
# hwheel-top
#

ESCAPE = re.compile(r'\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])')


class Top(Test):
    def setUp(self):
        super().setUp()
        self.wheel = busy_wheel(n=(16, 8, 200))
        self.wheel.step(9)
        self.wheel.write(self.path('wheels/system'))
        self.debugfs = ['--debugfs', self.path('wheels')]

    def rings(self, text):
        """Returns (line of the level, its ring) for each level."""
        lines = text.splitlines()
        return [(line, lines[n + 1]) for n, line in enumerate(lines)
                if line.startswith('level ')]

    def check_frame(self, text, width, cpu=None, marks='·┃'):
        """Checks that the rings show the timers of the wheel."""
        self.assertLessEqual(max(map(len, text.splitlines())), width)
        rings = self.rings(text)
        self.assertEqual(len(rings), len(self.wheel.n))
        for level, (line, ring) in enumerate(rings):
            held = [h for h in self.wheel.held() if h[1] == level and cpu in (None, h[0])]
            self.assertIn(f' {sum(len(h[3]) for h in held):,} in ', line)
            self.assertIn(f' {len(held)} spokes', line)
            n = self.wheel.n[level]
            each = -(-n // (width - 3))
            clock = self.wheel.bases[0].clock // self.wheel.bases[0].u[level] % n
            ring = ring[2:]
            self.assertEqual(ring.index(marks[1]), clock // each)
            ring = ring.replace(marks[1], '')
            self.assertEqual(len(ring), -(-n // each))
            occupied = {spoke // each for _, _, spoke, _ in held}
            self.assertEqual({i for i, c in enumerate(ring) if c != marks[0]}, occupied)
            # The more timers, the higher the character
            cells = collections.Counter()
            for _, _, spoke, timers in held:
                cells[spoke // each] += len(timers)
            by_height = sorted((ring[i], cells[i]) for i in cells) if marks[0] == '·' else []
            for (low, few), (high, many) in zip(by_height, by_height[1:]):
                self.assertTrue(low == high or few < many, by_height)

    def test_once(self):
        text = self.ok('hwheel-top', *self.debugfs, '--once', '--interval', '0')
        self.assertNotIn('\x1b', text)
        self.check_frame(text, 80)
        self.assertIn('wheel system  all 2 CPUs  tick 1 ms  monotonic  softirq', text)
        self.assertIn(f'timers {self.wheel.timers()} ', text)
        users = sorted(self.wheel.users(), key=lambda row: -row[1])
        rows = re.findall(r'^ +(\d+) +- +- +(\S+ us)  (\S+)$', text, re.M)
        self.assertEqual(rows, [(str(row[1]), hw.format_ns(row[4]), row[0]) for row in users])
        self.assertEqual(len(rows), 2)

    def test_without_counting(self):
        self.wheel.counts_users = False
        self.wheel.write(self.path('wheels/system'))
        text = self.ok('hwheel-top', *self.debugfs, '--once', '--interval', '0')
        rows = re.findall(r'^ +(\d+) +- +- +-  (\S+)$', text, re.M)
        self.assertEqual(sorted(rows), sorted((str(row[1]), row[0])
                                              for row in self.wheel.users()))
        for sort in ('pending', 'armed', 'late', 'name'):
            found = json.loads(self.ok('hwheel-top', *self.debugfs, '--json', '--interval', '0',
                                       '--sort', sort))['callbacks']
            self.assertEqual([row['armed'] for row in found], [None, None])

    def test_only_pending(self):
        self.wheel.write(self.path('wheels/system'))
        with open(self.path('wheels/system/users'), 'w', encoding='utf-8') as file:
            file.write('# function pending\n' +
                       ''.join(f'{row[0]} {row[1]}\n' for row in self.wheel.users()))
        text = self.ok('hwheel-top', *self.debugfs, '--once', '--interval', '0')
        rows = re.findall(r'^ +(\d+) +- +- +-  (\S+)$', text, re.M)
        self.assertEqual(sorted(rows), sorted((str(row[1]), row[0])
                                              for row in self.wheel.users()))

    def test_width_and_cpu(self):
        text = self.ok('hwheel-top', *self.debugfs, '--once', '--interval', '0', '--cpu', '1',
                       env={'COLUMNS': '120'})
        self.check_frame(text, 120, 1)
        self.assertIn('CPU 1 of 2', text)

    def test_ascii(self):
        text = self.ok('hwheel-top', *self.debugfs, '--once', '--interval', '0',
                       env={'PYTHONIOENCODING': 'ascii'})
        self.assertTrue(text.isascii())
        self.check_frame(text, 80, marks='.|')

    def test_json(self):
        for cpu, args in ((None, []), (0, ['--cpu', '0'])):
            found = json.loads(self.ok('hwheel-top', *self.debugfs, '--json', '--interval', '0',
                                       *args))
            with open(self.path('wheels/system/levels'), encoding='utf-8') as file:
                rows = [line.split() for line in file][1:]
            rows = [row for row in rows if cpu is None or row[0] == str(cpu)]
            self.assertEqual(found['timers'], sum(int(row[7]) for row in rows))
            self.assertEqual(found['timers'], self.wheel.timers(cpu))
            self.assertEqual(sum(c['pending'] for c in found['callbacks']),
                             self.wheel.timers())
            self.assertEqual(found['next_ns'], min(int(row[8]) for row in rows
                                                    if row[8] != '-'))
            for level in found['levels']:
                self.assertEqual(level['timers'], self.wheel.timers(cpu, level['level']))
                self.assertEqual(sum(level['timers_by_spoke'].values()), level['timers'])
            self.assertEqual(found['stats']['added'], 280 if cpu is None else 120)
            self.assertIsNone(found['rates']['expired'])

    def test_rates_and_lateness(self):
        kept, path = self.recording(self.wheel, 3, 50)
        found = json.loads(self.ok('hwheel-top', '--replay', path, '--json'))
        self.assertEqual(found['interval_ns'], 50 * 10 ** 6)
        for rate, counter in (('expired', 'expired'), ('cascaded', 'cascaded')):
            n = kept[2].stats()[counter] - kept[1].stats()[counter]
            self.assertGreater(n, 0)
            self.assertAlmostEqual(found['rates'][rate], n / 0.05)
        self.assertEqual(len(found['callbacks']), 2)
        for row in found['callbacks']:
            old, new = (one.users()[row['function']] for one in kept[1:])
            self.assertEqual({key: row[key] for key in new}, new)
            self.assertAlmostEqual(row['rates']['expired'],
                                   (new['expired'] - old['expired']) / 0.05)
            self.assertEqual(row['rates']['armed'], 0)
        self.assertGreater(sum(row['rates']['expired'] for row in found['callbacks']), 0)
        shown = self.ok('hwheel-top', '--replay', path, '--once')
        for row in found['callbacks']:
            self.assertRegex(shown, rf"\n +{row['pending']} +0 +{row['rates']['expired']:.0f}"
                             rf" +{row['max_late_ns'] // 1000} us  {re.escape(row['function'])}\n")
        old, new = kept[1].lateness(), kept[2].lateness()
        late = sorted(up_to for up_to in new
                      for _ in range(new[up_to] - old.get(up_to, 0)))
        self.assertEqual(found['lateness'], {
            'timers': len(late), 'median_ns': late[-(-len(late) // 2) - 1],
            'p99_ns': late[-(-len(late) * 99 // 100) - 1], 'max_ns': late[-1]})

    def test_sort(self):
        for sort, key in (('pending', lambda c: -c['pending']), ('armed', lambda c: -c['armed']),
                          ('late', lambda c: -c['max_late_ns']),
                          ('name', lambda c: c['function'])):
            found = json.loads(self.ok('hwheel-top', *self.debugfs, '--json', '--interval', '0',
                                       '--sort', sort))['callbacks']
            self.assertEqual(found, sorted(found, key=key))
            self.assertEqual(len(found), 2)

    def test_other_rows(self):
        base = self.wheel.bases[0]
        base.add(Timer(10 ** 6))
        base.held[15, 3] = [Timer(10 ** 6)]
        base.held[16, 130] = [Timer(10 ** 6)] * 2
        base.held[17, 1900] = [Timer(10 ** 6)] * 3
        self.wheel.write(self.path('wheels/system'))
        text = self.ok('hwheel-top', *self.debugfs, '--once', '--interval', '0')
        self.assertRegex(text, r'level 3 .* 1 in +1 spokes')
        self.assertRegex(text, r'fans finer spokes of crowds: 5 ')
        self.assertRegex(text, r'parked until a level comes, or in transit: 1 ')
        levels = {level['level']: level for level in json.loads(self.ok(
            'hwheel-top', *self.debugfs, '--json', '--interval', '0'))['levels']}
        self.assertEqual([n for n, level in levels.items() if level['parked']], [15])
        self.assertEqual([n for n, level in levels.items() if level['fans']], [16, 17])
        self.assertEqual([n for n, level in levels.items() if level['hand'] is None],
                         [15, 16, 17])

    def test_record_and_replay(self):
        """The wheel turns meanwhile: turn() moves the link 'live/system' to the next state."""
        for n in range(8):
            self.wheel.step(300)
            self.wheel.write(self.path(f'states/{n}'))
        link, stop = self.path('live/system'), threading.Event()
        os.mkdir(self.path('live'))
        os.symlink(self.path('states/0'), link)

        def turn():
            n = 0
            while not stop.wait(0.05):
                n = (n + 1) % 8
                os.symlink(self.path(f'states/{n}'), link + '.new')
                os.rename(link + '.new', link)

        thread = threading.Thread(target=turn)
        thread.start()
        try:
            live = self.ok('hwheel-top', '--debugfs', self.path('live'), '--interval', '80ms',
                           '--count', '5', '--record', self.path('run'))
        finally:
            stop.set()
            thread.join()
        self.assertEqual(live.count('hwheel-top '), 5)
        self.assertGreater(len(set(re.findall('^timers .*$', live, re.M))), 1)
        self.assertEqual(self.ok('hwheel-top', '--replay', self.path('run')), live)
        last = live[live.rindex('hwheel-top '):]
        self.assertEqual(self.ok('hwheel-top', '--replay', self.path('run'), '--once'), last)

    def record_sh(self, shell, *args):
        return subprocess.run([*shell, os.path.join(TOOLS, 'hwheel-record.sh'), *args],
                              text=True, capture_output=True, timeout=60, check=False,
                              env={**ENVIRONMENT, 'HWHEEL_DEBUGFS': self.path('wheels')})

    def test_record_sh(self):
        want = json.loads(self.ok('hwheel-top', *self.debugfs, '--json', '--interval', '0'))
        for shell in (['dash'], ['busybox', 'sh']):
            done = self.record_sh(shell, '-n', '2', '-i', '0.01')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            # As on a console: a time stands before each line, and other messages between the
            # lines
            noisy = re.sub('^', '[ 1.0] ', done.stdout, flags=re.M).replace(
                '\n', '\r\nrandom: crng init done\r\n')
            for text in (done.stdout, noisy):
                found = json.loads(self.ok('hwheel-top', '--replay', '-', '--json', stdin=text))
                for row in found['callbacks'] + want['callbacks']:
                    row.pop('rates', None)      # WANT is of one snapshot and has none
                for key in ('config', 'levels', 'stats', 'callbacks', 'timers'):
                    self.assertEqual(found[key], want[key], key)
            # A snapshot without an end is left out
            cut = done.stdout[:done.stdout.rindex('hwr2 end')]
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(len(hw.read_recording(cut.splitlines(True), 'it')), 1)
        for status, args, pattern in ((1, ['nowhere'], 'no wheel nowhere'),
                                      (2, ['-n', 'x'], 'not a number'), (2, ['-q'], 'usage')):
            done = self.record_sh(['dash'], *args)
            self.assertEqual(done.returncode, status)
            self.assertIn(pattern, done.stderr)

    def test_errors(self):
        os.mkdir(self.path('empty'))
        self.wheel.write(self.path('broken/system'))
        self.path('broken/system/config', 'rubbish\n')
        self.wheel.write(self.path('part/system'))
        os.remove(self.path('part/system/stats'))
        for pattern, args in (
                ('there is no folder .*nowhere', ['--debugfs', self.path('nowhere')]),
                ('has no wheels', ['--debugfs', self.path('empty')]),
                ("no wheel 'other'; there is system", [*self.debugfs, '--wheel', 'other']),
                ('has no CPU 7; it has 0, 1', [*self.debugfs, '--cpu', '7', '--once']),
                ('are not those of hwheel', ['--debugfs', self.path('broken'), '--once']),
                ('part/system/stats: No such file', ['--debugfs', self.path('part'), '--once']),
                ("can't read /nowhere", ['--replay', '/nowhere']),
                ("can't write /nowhere/x", [*self.debugfs, '--record', '/nowhere/x'])):
            self.fails(1, pattern, 'hwheel-top', *args)


class Keys(Test):
    """hwheel-top in a terminal."""

    def start(self, *args, env=None, size=(40, 80)):
        wheel = busy_wheel(n=(16, 8, 8))
        wheel.write(self.path('wheels/system'))
        busy_wheel(name='pace', n=(32, 4)).write(self.path('wheels/pace'))
        self.master, self.slave = os.openpty()
        self.addCleanup(os.close, self.master)
        self.addCleanup(os.close, self.slave)
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [os.path.join(TOOLS, 'hwheel-top'), '--debugfs', self.path('wheels'), '--interval',
             '200ms', *args], stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env={**ENVIRONMENT, **(env or {})}, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(self.end)
        self.output = ''

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.output += os.read(self.master, 65536).decode(errors='replace')

    def expect(self, text):
        """Waits until the tool has written this text, and forgets its output so far."""
        end = time.monotonic() + 20
        while text not in ESCAPE.sub('', self.output):
            self.assertLess(time.monotonic(), end, f'{text!r} not in {self.output[-3000:]!r}')
            self.assertIsNone(self.process.poll(), self.output[-3000:])
            self.read(0.5)
        self.output = ''

    def frames(self, n):
        """Waits for n frames, and returns the last one that is complete."""
        self.output, end = '', time.monotonic() + 20
        while self.output.count('\x1b[H') <= n:
            self.assertLess(time.monotonic(), end, repr(self.output[-2000:]))
            self.read(0.5)
        return self.output.split('\x1b[H')[n - 1 or 1]

    def quiet(self):
        """Waits until nothing is written any more."""
        end = time.monotonic() + 20
        while select.select([self.master], [], [], 0.5)[0]:
            self.assertLess(time.monotonic(), end)
            self.read(0)
        self.output = ''

    def press(self, key, text):
        os.write(self.master, key.encode())
        self.expect(text)

    def ends(self, status):
        end = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.1)
        self.read(0.1)
        self.assertEqual(self.process.returncode, status, self.output[-2000:])
        self.assertEqual(termios.tcgetattr(self.slave), self.before)
        self.assertIn('\x1b[?1049l', self.output)    # the screen is as it was
        self.assertIn('\x1b[?25h', self.output)      # and has its cursor

    def test_keys(self):
        self.start()
        self.expect('wheel system  all 2 CPUs')
        self.press('c', 'CPU 0 of 2')
        self.press('c', 'CPU 1 of 2')
        self.press('c', 'all 2 CPUs')
        self.press('C', 'CPU 1 of 2')
        self.press('w', 'wheel pace  CPU 1')
        self.press('W', 'wheel system  CPU 1')
        self.press('s', '(by armed')
        self.press('s', '(by late')
        self.press('s', '(by name')
        self.press(' ', 'paused')
        os.write(self.master, b't')
        time.sleep(0.3)
        self.read(0.5)
        self.output = ''
        os.write(self.master, b'c')
        self.expect('all 2 CPUs')
        self.assertNotIn('callback (', self.output)
        os.write(self.master, b'q')
        self.ends(0)

    def test_paused_stands_still(self):
        self.start()
        self.expect('wheel system')
        self.press(' ', 'paused')
        self.quiet()
        self.read(0.7)
        self.assertEqual(self.output, '')
        self.press(' ', 'wheel system')
        os.write(self.master, b'q')
        self.ends(0)

    def test_interrupt(self):
        self.start()
        self.expect('wheel system')
        os.write(self.master, b'\x03')
        self.ends(130)

    def test_terminate(self):
        self.start()
        self.expect('wheel system')
        self.process.send_signal(signal.SIGTERM)
        self.ends(143)

    def test_resize(self):
        self.start(size=(12, 100))
        self.expect('space pause')
        self.resize(30, 50)
        self.frames(3)      # one may have been under way
        frame = ESCAPE.sub('', self.frames(2)).splitlines()
        self.assertEqual(len(frame), 30)
        self.assertLessEqual(max(map(len, frame)), 50)
        os.write(self.master, b'q')
        self.ends(0)

    def test_colour(self):
        for env, coloured in (({}, True), ({'NO_COLOR': '1'}, False)):
            self.start(env=env)
            self.expect('wheel system')
            self.frames(2)
            self.assertEqual(bool(re.search(r'\x1b\[[0-9;]*3[0-9]m', self.output)), coloured)
            os.write(self.master, b'q')
            self.ends(0)

    def test_replay(self):
        self.start()
        _, path = self.recording(busy_wheel(), 4, 20)
        self.end()
        self.start('--replay', path, '--interval', '10ms')
        self.expect('end of the recording')
        self.press('c', 'CPU 0 of 2')
        os.write(self.master, b'q')
        self.ends(0)


#
# hwheel-plot
#

SVG = '{http://www.w3.org/2000/svg}'


class Plot(Test):
    N, SNAPSHOTS, TICKS = (8, 8, 4), 24, 6

    def setUp(self):
        super().setUp()
        self.kept, self.run = self.recording(
            busy_wheel(n=self.N, clock=3), self.SNAPSHOTS, self.TICKS)
        self.svg = self.path('run.svg')

    def draw(self, *args, path=None):
        self.assertEqual(self.plotted('--output', self.svg, *args, path or self.run), (0, ''))
        return xml.etree.ElementTree.parse(self.svg).getroot()

    @staticmethod
    def groups(root):
        return {group.get('id'): group for group in root.iter(SVG + 'g') if group.get('id')}

    @staticmethod
    def labels(root):
        return [''.join(text.itertext()).strip() for text in root.iter(SVG + 'text')]

    @staticmethod
    def points(path):
        return [tuple(map(float, pair)) for pair
                in re.findall(r'[ML] (\S+) (\S+)', path.get('d'))]

    def box(self, root, path):
        """The left, bottom, width and height of the axes that a path is in."""
        name = re.search(r'#(\w+)', path.get('clip-path'))[1]
        clip = next(c for c in root.iter(SVG + 'clipPath') if c.get('id') == name)
        x, y, width, height = (float(clip.find(SVG + 'rect').get(key))
                               for key in ('x', 'y', 'width', 'height'))
        return x, y + height, width, height

    def cells(self, root, level):
        """The shade of each (snapshot, spoke) that is drawn."""
        found = {}
        for name, group in self.groups(root).items():
            match = re.fullmatch(rf'level-{level}-shade-(\d+)', name)
            for path in group.iter(SVG + 'path') if match else ():
                left, bottom, width, height = self.box(root, path)
                xs, ys = zip(*self.points(path))
                xs = [round((x - left) / width * self.SNAPSHOTS, 3) for x in (min(xs), max(xs))]
                ys = [round((bottom - y) / height * self.N[level], 3)
                      for y in (max(ys), min(ys))]
                for number in xs + ys:
                    self.assertEqual(number, int(number))
                for n in range(int(xs[0]), int(xs[1])):
                    for spoke in range(int(ys[0]), int(ys[1])):
                        self.assertNotIn((n, spoke), found)
                        found[n, spoke] = int(match[1])
        return found

    def check_cells(self, root, cpu=None):
        """The picture shows the timers of the snapshots. Spokes with more timers are darker."""
        total = 0
        timers_of = collections.defaultdict(set)
        for level in range(len(self.N)):
            held = {(n, spoke): timers for n, snapshot in enumerate(self.kept)
                    for (where, spoke), timers in snapshot.spokes(cpu).items()
                    if where == level}
            drawn = self.cells(root, level)
            self.assertEqual(set(drawn), set(held), f'level {level}')
            for cell, shade in drawn.items():
                timers_of[shade].add(held[cell])
            total += len(held)
        self.assertGreater(total, 100)
        order = sorted(timers_of)
        for low, high in zip(order, order[1:]):
            self.assertLess(max(timers_of[low]), min(timers_of[high]))
        self.assertGreater(len(order), 2)

    def test_occupancy(self):
        self.check_cells(self.draw())
        self.check_cells(self.draw('--cpu', '1'), 1)

    def test_cascades_are_steps(self):
        """Where timers of level 2 cascade, the hand of level 2 moves on by a spoke."""
        group = self.groups(self.draw())['level-2-hand']
        path = next(group.iter(SVG + 'path'))
        root = xml.etree.ElementTree.parse(self.svg).getroot()
        left, bottom, width, height = self.box(root, path)
        steps = []
        for (x, y), (_, later) in zip(self.points(path), self.points(path)[1:]):
            if abs(later - y) > 0.01:
                steps.append((round((x - left) / width * self.SNAPSHOTS),
                              round((bottom - later) / height * self.N[2] - 0.5, 3)))
        hands = [next(row['hand'] for row in s.levels() if row['level'] == 2) for s in self.kept]
        self.assertEqual(steps, [(n, hands[n]) for n in range(1, len(hands))
                                 if hands[n] != hands[n - 1]])
        self.assertGreaterEqual(len(steps), 2)
        drawn = self.cells(root, 2)
        for n, spoke in steps:
            self.assertIn((n - 1, spoke), drawn)
            self.assertNotIn((n, spoke), drawn)

    def test_labels(self):
        labels = self.labels(self.draw('--title', 'A run <of> it'))
        for label in ('A run <of> it', 'wheel system, 2 CPUs, tick 1 ms', 'time (s)',
                      'timers a second', 'rates', 'lateness of callbacks', 'callbacks', 'armed',
                      'expired', 'cascaded', 'timers in a spoke', 'hand, at the clock',
                      'level 0: 8 spokes of 1 ms, 8 ms around',
                      'level 1: 8 spokes of 8 ms, 64 ms around',
                      'level 2: 4 spokes of 64 ms, 256 ms around'):
            # All timers were armed before the first snapshot
            (self.assertNotIn if label == 'armed' else self.assertIn)(label, labels)

    def test_rates_and_lateness(self):
        groups = self.groups(self.draw())
        self.assertIn('rate-expired', groups)
        self.assertNotIn('rate-armed', groups)
        path = next(groups['rate-cascaded'].iter(SVG + 'path'))
        points = self.points(path)
        levels = [here for here, there in zip(points, points[1:]) if there[0] > here[0]]
        counts = [s.stats()['cascaded'] for s in self.kept]
        self.assertEqual(len(levels), len(counts) - 1)
        rates = [b - a for a, b in zip(counts, counts[1:])]
        order = sorted(range(len(rates)), key=lambda n: rates[n])
        for low, high in zip(order, order[1:]):     # in SVG, y grows downwards
            self.assertEqual(rates[low] == rates[high],
                             abs(levels[low][1] - levels[high][1]) < 1e-3)
            self.assertGreaterEqual(levels[low][1], levels[high][1] - 1e-3)
        late = hw.lateness_between(self.kept[0], self.kept[-1])
        self.assertEqual({name for name in groups if name.startswith('late-')},
                         {f'late-{up_to}' for up_to in late})

    def test_same_again(self):
        self.draw()
        with open(self.svg, encoding='utf-8') as file:
            first = file.read()
        self.draw()
        with open(self.svg, encoding='utf-8') as file:
            self.assertEqual(file.read(), first)
        self.assertNotRegex(first, r'dc:date|20\d\d-\d\d-\d\d')
        self.assertNotIn('mathdefault', first)

    def test_trace(self):
        trace = self.path('trace', '# tracer: nop\n' + ''.join(
            f'  a-1  [000] d.h2.  7.{n:06}: hwheel_{event}: timer=1 late_ns={n}\n'
            for n in range(1000, 9000, 40) for event in ('start', 'expire_entry')))
        root = self.draw(path=trace)
        groups = self.groups(root)
        self.assertEqual({name for name in groups if name.startswith(('rate-', 'late-'))},
                         {'rate-armed', 'rate-expired', 'late-1024', 'late-2048', 'late-4096',
                          'late-8192', 'late-16384'})
        self.assertIn('trace of 400 events', self.labels(root))

    def test_cascades_of_a_trace(self):
        """A cascade counts as often as it moves a timer."""
        trace = self.path('trace', '# tracer: nop\n' + ''.join(
            f'  a-1  [000] d.h2.  7.{n:06}: hwheel_cascade: clock=1 moved={1 + 8 * (n > 5000)}\n'
            for n in range(1000, 9000, 10)))
        points = self.points(next(self.groups(self.draw(path=trace))['rate-cascaded']
                                  .iter(SVG + 'path')))
        few, many = points[len(points) // 4][1], points[3 * len(points) // 4][1]
        self.assertGreater(few, many + 10)              # in SVG, y grows downwards

    def test_errors(self):
        _, both = self.kept, self.path('both')
        with open(both, 'w', encoding='utf-8') as file:
            file.write(hw.format_snapshot(self.kept[0]))
            file.write(hw.format_snapshot(busy_wheel(name='pace').snapshot()))
        for pattern, args in (("can't read /nowhere", ['/nowhere']),
                              ('holds no recording', [self.path('none', 'nothing\n')]),
                              ('the wheels pace, system; pick one', [both]),
                              ("has no wheel 'x'", ['--wheel', 'x', self.run]),
                              ('has no CPU 5; it has 0, 1', ['--cpu', '5', self.run]),
                              ("can't write /nowhere/x", ['--output', '/nowhere/x', self.run])):
            self.fails(1, pattern, 'hwheel-plot', *args)


#
# What others have made
#

CONFIG = """\
# name value
version 1.0
name {name}
tick_ns 1000000
levels 5
spokes 128,128,128,128,128
clock {clock}
context softirq
budget_ns 2000000
gap_ns 0
"""
LEVELS = '# cpu level tick_ns spokes interval_ns clock_ns occupied timers next_ns\n'


def small(name='system', clock='monotonic', now=None, levels='0 0 1000000 128 128000000 {} 1 2 {}'):
    """The files of a wheel with two CPUs. Only CPU 0 has a level."""
    if now is None:
        levels = ''
    return {'config': CONFIG.format(name=name, clock=clock),
            'levels': LEVELS + (levels.format(now, now + 5000000) + '\n' if levels else ''),
            'spokes': '# cpu level spoke expiration_ns timers\n' +
                      (f'0 0 5 {now + 5000000} 2\n' if levels else ''),
            'stats': '# counter total cpu0 cpu1\nadded 9 9 0\nexpired 7 7 0\n',
            'lateness': '# up_to_ns timers\n1048576 7\n',
            'users': '# function pending armed expired max_late_ns\nlease 2 - - -\n'}


def marked(files, wheel, seconds, version=2):
    """A snapshot in marked lines, as hwheel-record.sh of this version prints it."""
    lines = [f'{file} {line}' for file, text in files.items() for line in text.splitlines()]
    lines = [f'begin {wheel} {seconds}', *lines, f'end {len(lines)}' if version > 1 else 'end']
    return ''.join(f'hwr{version} {line}{" ;" * (version > 1)}\n' for line in lines)


class Strangers(Test):
    """Wheels, recordings and traces that tools did not understand."""

    def folder_of(self, name, files):
        os.makedirs(self.path(f'wheels/{name}'), exist_ok=True)
        for file, text in files.items():
            self.path(f'wheels/{name}/{file}', text)
        return ['--debugfs', self.path('wheels')]

    def frame(self, *args, stdin=''):
        """What hwheel-top shows, in this process."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch('sys.stdin', io.StringIO(stdin)), \
                mock.patch('sys.argv', ['hwheel-top', *args, '--once', '--interval', '0']), \
                mock.patch.dict('os.environ', COLUMNS='100'):
            top.main()
        return out.getvalue()

    def draw(self, path, stderr='', status=0):
        done = self.plotted('--output', self.path('x.svg'), path)
        self.assertEqual(done[0], status, done[1])
        self.assertRegex(done[1], rf'\A{stderr}\Z')
        if not status:
            xml.etree.ElementTree.parse(self.path('x.svg'))

    def test_no_timer_yet(self):
        where = self.folder_of('system', small())
        self.assertIn('no timer was armed yet', self.frame(*where))
        busy = small(now=41 * 10 ** 9)
        text = marked(small(), 'system', 40) + marked(busy, 'system', 41.5)
        self.assertIn('timers 2 ', self.frame('--replay', self.path('run', text)))
        self.draw(self.path('run'))
        self.draw(self.path('run', marked(small(), 'system', 1)))

    def test_other_version(self):
        for version, named in (('version 1.0\n', None), ('', 'older than 1.0'),
                               ('version 2.3\nnew thing\n', '2.3')):
            files = small(now=41 * 10 ** 9)
            files['config'] = files['config'].replace('version 1.0\n', version)
            said = f'hwheel is {named}, these tools are 1.0: they show what they know'
            frame = self.frame(*self.folder_of('system', files))
            self.assertIn('timers 2 ', frame)
            self.assertEqual(said in frame, named is not None)
            self.draw(self.path('run', marked(files, 'system', 41.5)),
                      f'hwheel-plot: {said}\n' if named else '')
        # A file that the tools can't read at all
        files['spokes'] = '# cpu ring\n'
        self.fails(1, r'spokes has no column level \(hwheel is 2\.3, ', 'hwheel-top',
                   *self.folder_of('system', files), '--once')

    def test_cpu_without_a_level(self):
        where = self.folder_of('system', small(now=41 * 10 ** 9))
        self.assertIn('no timer was armed yet on this CPU', self.frame(*where, '--cpu', '1'))
        self.assertIn('timers 2 ', self.frame(*where, '--cpu', '0'))
        self.fails(1, 'no CPU 2; it has 0, 1', 'hwheel-top', *where, '--cpu', '2', '--once')
        self.path('run', marked(small(now=41 * 10 ** 9), 'system', 41.5))
        self.assertEqual(self.plotted('--cpu', '1', self.path('run')), (0, ''))

    def test_message_in_a_line(self):
        for version in (1, 2):
            parts = [marked(small(now=n * 10 ** 9), 'system', n, version) for n in (41, 42, 43)]
            parts[1] = parts[1].replace(' 128 1280', ' 128 [   41.1] usb 1-1: new\n1280')
            self.path('run', ''.join(parts))
            done = run('hwheel-top', '--replay', self.path('run'), '--json')
            self.assertEqual(json.loads(done.stdout)['interval_ns'], 2 * 10 ** 9)
            self.assertRegex(done.stderr, r'\Ahwheel-top: \S+, line \d+: a snapshot is left out: '
                                          r'[^\n]*\n\Z')
            self.draw(self.path('run'), r'hwheel-plot: .* left out: .*\n')
        # With version 1, nobody can see that a number lacks its last digits
        parts[1] = marked(small(now=42 * 10 ** 9), 'system', 42).replace(
            '0 0 5 42005000000 2 ;', '0 0 5 42005000000[ 42.0] x: y\n 2 ;')
        self.draw(self.path('run', ''.join(parts)), r'hwheel-plot: .* left out: .*\n')

    def test_blank_in_the_name(self):
        files = small('my wheel', now=41 * 10 ** 9)
        for version in (1, 2):
            self.path('run', marked(files, 'my wheel', 41.5, version))
            self.assertIn('wheel my wheel  ', self.frame('--replay', self.path('run'),
                                                         '--wheel', 'my wheel'))
        self.folder_of('my wheel', files)
        done = subprocess.run([os.path.join(TOOLS, 'hwheel-record.sh'), '-n', '1', 'my wheel'],
                              env={**ENVIRONMENT, 'HWHEEL_DEBUGFS': self.path('wheels')},
                              capture_output=True, text=True, timeout=60, check=True)
        self.assertIn('wheel my wheel  ', self.frame('--replay', '-', stdin=done.stdout))

    def set_back(self, **kwargs):
        """A recording of a wheel of wall time. The clock is set back by an hour, then forward."""
        lines, wheel = [], small('leases', 'realtime')
        for n in range(10):
            now = (18 * 10 ** 17) + n * 10 ** 9 - (3600 * 10 ** 9 if 4 <= n < 7 else 0)
            wheel = small('leases', 'realtime', now)
            wheel['stats'] = f'# counter total cpu0\nexpired {1000 * n} {1000 * n}\n'
            found = {'version': 1, 'wheel': 'leases', 'time_ns': now, 'files': wheel}
            if kwargs:
                found['taken_ns'] = (500 + n) * 10 ** 9
            lines.append(json.dumps(found) + '\n')
        return self.path('run', ''.join(lines))

    def test_clock_that_is_set(self):
        frames = self.ok('hwheel-top', '--replay', self.set_back(taken=True))
        rates = re.findall(r'^ +(\S+) +(\S+) +(\S+) +\S+ +\S+ +\S+$', frames, re.M)
        self.assertEqual({rate[2] for rate in rates}, {'expired/s', '-', '1,000'})
        # An old recording has no clock of its own
        done = run('hwheel-top', '--replay', self.set_back())
        self.assertEqual(done.stdout, frames)
        self.assertRegex(done.stderr, r"\A.*clock was set .* 2 intervals are guesses\n\Z")
        snapshots = self.quietly(hw.open_recording, self.path('run'))
        self.assertEqual([s.taken_ns for s in snapshots], [n * 10 ** 9 for n in range(10)])

    def quietly(self, call, *args):
        with contextlib.redirect_stderr(io.StringIO()):
            return call(*args)

    def test_own_now(self):
        now = 18 * 10 ** 17
        where = self.folder_of('leases', small('leases', 'realtime', now))
        for shell in (['dash'], ['busybox', 'sh']):
            for row, text in (('', 'within 5 ms'), (f'now_ns {now + 10 ** 6}\n', 'in 4 ms')):
                files = small('leases', 'realtime', now)
                self.folder_of('leases', {**files, 'config': files['config'] + row})
                done = subprocess.run(
                    [*shell, os.path.join(TOOLS, 'hwheel-record.sh'), '-n', '1', 'leases'],
                    env={**ENVIRONMENT, 'HWHEEL_DEBUGFS': where[1]}, capture_output=True,
                    text=True, timeout=60, check=True)
                self.assertIn(f'next {text} ', self.frame('--replay', '-', stdin=done.stdout))
        self.assertIn('next in 4 ms ', self.frame(*where))
        # After a suspend of an hour, a wheel of CLOCK_MONOTONIC
        suspended = marked(small(now=41 * 10 ** 9), 'system', 3641.5, 1)
        self.assertIn('next within 5 ms ', self.frame('--replay', '-', stdin=suspended))

    def test_timer_for_ever(self):
        rows = '# cpu level spoke expires_ns remaining_ns function\n' + ''.join(
            f'0 0 {n} 1 {n}000000 f\n' for n in range(1, 9))
        want = self.ok('hwheel-plan', '--delays', '-', stdin=rows)
        text = self.ok('hwheel-plan', '--delays', '-', stdin=rows +
                       '0 5 62 9223372036854775807 9223371995650775807 wake [hwheel]\n')
        self.assertEqual(text.splitlines()[:9], want.splitlines()[:9])
        self.assertRegex(text, r'longer than any +1: no such levels reach them')
        text = self.ok('hwheel-plan', '--delays', '-', stdin='9223371995650775807\n')
        self.assertRegex(text, r'longer than any +1:')

    def test_cut_short(self):
        kept, path = self.recording(busy_wheel(), 3, 20)
        with open(path, encoding='utf-8') as file:
            whole = file.read()
        self.path('run', whole[:-100])
        self.draw(self.path('run'), r'hwheel-plot: \S+, line 3: .* left out: .*cut short\n')
        found = self.quietly(hw.open_recording, self.path('run'))
        self.assertEqual([s.files for s in found], [s.files for s in kept[:2]])
        for text in ('# expires_ns remaining_ns function\n1 5000000 f\n1 700',
                     'a-1 [0] 1.5: hwheel_start: delay_ns=5000000\n'
                     'a-1 [0] 1.5: hwheel_start: delay_ns=700'):
            done = run('hwheel-plan', '--delays', '-', stdin=text)
            self.assertRegex(done.stdout, r'delays +1: least 5 ms, .* most 5 ms')
            self.assertRegex(done.stderr, r'\Ahwheel-plan: stdin, line .*: it is cut short, .*\n\Z')

    def test_two_boots_in_one_log(self):
        text = ''.join(marked(small(now=n * 10 ** 9), 'system', n) for n in (7, 8, 9, 2, 3))
        self.draw(self.path('run', text), r'hwheel-plot: .* 2 recordings, .* with 3 snapshots\n')

    def test_two_wheels_in_one_recording(self):
        """The other wheel changes nothing in the picture."""
        mine, both = [], []
        for n in range(7, 12):
            for name, seconds, expired in (('system', n, 100 * n), ('bpf-1', n + 0.5, 7000 * n)):
                files = small(name, now=n * 10 ** 9)
                files['stats'] = f'# counter total cpu0 cpu1\nexpired {expired} {expired} 0\n'
                both.append(marked(files, name, seconds))
            mine.append(both[-2])
        pictures = []
        for snapshots in (mine, both):
            self.assertEqual(self.plotted('--output', self.path('x.svg'), '--wheel', 'system',
                                          self.path('run', ''.join(snapshots))), (0, ''))
            with open(self.path('x.svg'), encoding='utf-8') as file:
                pictures.append(file.read())
        self.assertEqual(*pictures)

    def test_a_wheel_made_anew(self):
        text = []
        for n, (expired, late) in enumerate(((70, '1024 1000'), (90, '1024 1200'), (95, '1024 1250'),
                                             (5, '1024 500\n1073741824 10'),
                                             (9, '1024 600\n1073741824 20'))):
            files = small(now=(40 + n) * 10 ** 9)
            files['stats'] = f'# counter total cpu0 cpu1\nexpired {expired} {expired} 0\n'
            files['lateness'] = f'# up_to_ns timers\n{late}\n'
            text.append(marked(files, 'system', 40 + n))
        path = self.path('run', ''.join(text))
        self.draw(path, r'hwheel-plot: .* 2 recordings, .* with 3 snapshots\n')
        before, after = hw.open_recording(path)[2:4]
        self.assertEqual(hw.lateness_between(before, after), {1024: 500, 1 << 30: 10})

    def test_timers_in_no_level(self):
        """The picture shows levels only, and says how many timers are elsewhere."""
        files = small(now=41 * 10 ** 9)
        files['levels'] += f'0 16 1000000 384 {(1 << 63) - 1} 41000000000 1 5 41005000000\n'
        self.draw(self.path('run', marked(files, 'system', 41)))
        with open(self.path('x.svg'), encoding='utf-8') as file:
            self.assertIn('up to 5 timers in fans or parked, not shown', file.read())

    def test_callbacks_of_one_name(self):
        files = small(now=41 * 10 ** 9)
        files['users'] = '# function pending\nlease 2\nlease 40\nother 1\n'
        path = self.path('run', marked(files, 'system', 41))
        self.assertEqual({name: row['pending'] for name, row
                          in hw.open_recording(path)[0].users().items()},
                         {'lease': 42, 'other': 1})

    def test_greatest_lateness(self):
        files = small(now=41 * 10 ** 9)
        for up_to, said in (((1 << 64) - 1, ''), (1, ''),
                            (3, 'hwheel-plot: .* lateness has 3 as up_to_ns\n')):
            files['lateness'] = f'# up_to_ns timers\n{up_to} 7\n'
            self.draw(self.path('run', marked(files, 'system', 41)), said, 1 if said else 0)

    def test_closed_streams(self):
        for closed, tool, status, said in (
                ('<&-', 'hwheel-plan --delays -', 2, "can't read stdin: it is closed"),
                ('2>&-', 'hwheel-plan --tick x', 2, ''),
                ('>&-', 'hwheel-convert', 2, '')):
            with self.subTest(closed):
                done = subprocess.run(f'{TOOLS}/{tool} {closed}', shell=True, text=True,
                                      capture_output=True, timeout=60, check=False)
                self.assertEqual(done.returncode, status, done)
                self.assertIn(said, done.stderr)
                self.assertNotIn('Traceback', done.stderr)
                self.assertEqual(done.stdout, '')

    def test_trace_clocks(self):
        row = 'a-1 [000] d..1. {}: hwheel_start: timer=1 function=cb expires_ns=1 delay_ns=1\n'
        for clock in ('8123456789012', '1f3a', '0x1f3a'):
            self.draw(self.path('trace', row.format(clock)),
                      r'hwheel-plot: .* does not count seconds, .*\n', 1)
        for lost, said in (('[LOST 7 EVENTS]', '7'), ('[7 EVENTS DROPPED]', '7'),
                           ('[LOST EVENTS]', 'an unknown number of'),
                           ('[EVENTS DROPPED]', 'an unknown number of')):
            text = row.format('1.5') + f'CPU:0 {lost}\n' + row.format('1.7')
            self.draw(self.path('trace', text), rf'hwheel-plot: .* lacks {said} events .*\n')

    def test_names(self):
        """Names with any characters do no harm to the terminal or the picture."""
        name = 'a$\x1b[31m$é\u202e'
        self.path('run', json.dumps({'version': 1, 'wheel': name, 'time_ns': 1,
                                     'files': small(name, now=41)}) + '\n')
        for locale in ('C', 'C.UTF-8'):
            text = self.ok('hwheel-top', '--replay', self.path('run'), '--once',
                           env={'LC_ALL': locale})
            self.assertNotIn('\x1b', text)
        self.draw(self.path('run'))
        self.assertEqual(self.plotted('--title', '$\\frac$ \x01 <', self.path('run')), (0, ''))
        xml.etree.ElementTree.parse(self.path('run.svg'))

    def test_output_is_input(self):
        _, path = self.recording(busy_wheel(), 2, 20)
        done = run('hwheel-plot', '--output', path, path)
        self.assertEqual(done.returncode, 2)
        self.assertIn('would write over FILE', done.stderr)


class Ends(Test):
    """How tools end: with a full disk, a closed pipe, when they are killed."""

    def setUp(self):
        super().setUp()
        self.wheel = busy_wheel(n=(16, 8, 200))
        self.wheel.write(self.path('wheels/system'))
        _, self.run = self.recording(self.wheel, 20, 3)
        self.debugfs = ['--debugfs', self.path('wheels')]
        self.env = {'HWHEEL_DEBUGFS': self.path('wheels')}
        self.commands = (('hwheel-plan', '--delays', self.path('wheels/system/timers')),
                         ('hwheel-top', '--replay', self.run),
                         ('hwheel-record.sh', '-n', '3', '-i', '0.01'),
                         ('hwheel-report', '-'),
                         ('hwheel-plot', '--output', '/dev/stdout', self.run))

    def test_full_disk(self):
        for command in self.commands:
            with open('/dev/full', 'w', encoding='utf-8') as full:
                done = run(*command, stdout=full, env=self.env)
            self.assertNotIn(done.returncode, (0, 120), command)
            lines = [line for line in done.stderr.splitlines()
                     if not re.search('I/O error|write error', line)]
            self.assertLessEqual(len(lines), 1, done.stderr)
            self.assertIn(command[0], done.stderr)
        self.fails(1, "can't write /dev/full: No space left", 'hwheel-top', *self.debugfs,
                   '--record', '/dev/full', '--once')
        self.fails(1, "can't write /dev/full: No space left", 'hwheel-plot', '--output',
                   '/dev/full', self.run)

    def test_closed_pipe(self):
        for command in self.commands:
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, 'w') as closed:
                done = run(*command, stdout=closed, env=self.env)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertEqual(done.stderr if command[0] != 'hwheel-plot' else '', '')
            self.assertNotIn('Traceback', done.stderr)

    def test_killed(self):
        """Whenever that is, there is no traceback, and the picture is whole or absent."""
        for signal_ in (signal.SIGTERM, signal.SIGHUP):
            for wait in (0.1, 0.3, 0.5, 0.7):
                for command in (('hwheel-plot', '--output', self.path('x.svg'), self.run),
                                ('hwheel-top', *self.debugfs, '--interval', '10ms')):
                    with subprocess.Popen([os.path.join(TOOLS, command[0]), *command[1:]],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                          text=True, env=ENVIRONMENT) as process:
                        time.sleep(wait)
                        process.send_signal(signal_)
                        try:
                            self.assertEqual(process.communicate(timeout=60)[1], '')
                        finally:
                            process.kill()
                    if os.path.exists(self.path('x.svg')):
                        xml.etree.ElementTree.parse(self.path('x.svg'))
                        os.unlink(self.path('x.svg'))

    def test_killed_while_it_writes(self):
        for call in ('tempfile.mkstemp', 'os.replace'):
            os.mkdir(self.path(call))
            picture = self.path(f'{call}/x.svg')
            self.killed_after(call, 'hwheel-plot', '--output', picture, self.run)
            self.assertEqual(os.listdir(self.path(call)), ['x.svg'])
            xml.etree.ElementTree.parse(picture)

    def test_narrow_and_locales(self):
        for locale in ('C', 'C.UTF-8'):
            for columns in ('1', '20') if locale == 'C' else ('20',):
                env = {'LC_ALL': locale, 'COLUMNS': columns}
                for command in self.commands[:-1]:
                    done = run(*command, env={**self.env, **env})
                    self.assertEqual((done.returncode, done.stderr), (0, ''), command)
                    if command[0] == 'hwheel-top':
                        self.assertLessEqual(max(map(len, done.stdout.splitlines())),
                                             max(20, int(columns)))


#
# hwheel-report
#

LOG = """\
[    0.000000] Command line: root=UUID=12345678-aaaa ip=192.0.2.7
[    1.000000] somebody else: 0xffff888012345678
[    2.000000] hwheel: wheel "system": 16777216 ns of alice@myhost.example at ffffffffc0a01234
[    3.000000] ------------[ cut here ]------------
[    3.000001] WARNING: CPU: 0 PID: 77 at other.c:1 other+0x1/0x2
[    3.000002] Modules linked in: other hwheel(O)
[    3.000003] ---[ end trace 0000000000000000 ]---
[    4.000000] ------------[ cut here ]------------
[    4.000001] CPU: 1 UID: 1001 PID: 78 Comm: insmod Not tainted myhost
[    4.000002] RSP: 0018:ffffc900000a3e50 EFLAGS: 00010246 R13: 000055d0a1b2c3d4
[    4.000003]  hwheel_add+0x52/0x90 [hwheel] in /home/alice/x.c from 2001:db8:0:1::7
[    4.000004] Modules linked in: other hwheel(O)
[    4.000005] ---[ end trace 0000000000000000 ]---
[    5.000000] a line between
[    6.000000] BUG: unable to handle page fault for address: ffffc90000123456
[    6.000001]  levels_step+0x10/0x20 [hwheel]
"""


class Report(Test):
    shells = (['dash'], ['busybox', 'sh'])

    def setUp(self):
        super().setUp()
        busy_wheel().write(self.path('root/sys/kernel/debug/hwheel/system'))
        busy_wheel().write(self.path('root/sys/kernel/debug/hwheel/my wheel'))
        for name, text in (('sys/module/hwheel/version', '0.1'),
                           ('sys/module/hwheel/parameters/tick_ns', '1000000'),
                           ('sys/module/hwheel/holders/driver', ''),
                           ('sys/devices/system/cpu/online', '0-1'),
                           ('proc/cmdline', 'root=/dev/alice nohz_full=1 quiet'),
                           ('proc/sys/kernel/osrelease', '6.1.0-7'),
                           ('proc/sys/kernel/hostname', 'myhost'),
                           ('boot/config-6.1.0-7', 'CONFIG_HZ=250\nCONFIG_HZ_250=y\n'
                            '# CONFIG_KASAN is not set\nCONFIG_USB=y\n'), ('log', LOG)):
            os.makedirs(os.path.dirname(self.path(f'root/{name}')), exist_ok=True)
            self.path(f'root/{name}', text + '\n')

    def report(self, *args, shell=('dash',)):
        return subprocess.run([*shell, os.path.join(TOOLS, 'hwheel-report'), *args], text=True,
                              capture_output=True, timeout=60, check=False, cwd=self.folder,
                              env={**ENVIRONMENT, 'HWHEEL_ROOT': self.path('root')})

    def parts(self, text):
        """The parts by their titles."""
        return dict(part.partition('\n')[::2] for part in re.split('^== ', text, flags=re.M))

    def test_whole(self):
        for shell in self.shells:
            done = self.report('-', shell=shell)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            parts = self.parts(done.stdout)
            for line in ('loaded 0.1', 'parameter tick_ns 1000000', 'used by driver ',
                         'kernel osrelease 6.1.0-7'):
                self.assertIn(line, parts['versions'].splitlines())
            self.assertEqual(parts['options of the kernel'].split('\n'),
                             ['CONFIG_HZ=250', '# CONFIG_KASAN is not set', '', ''])
            self.assertIn('argument nohz_full=1\n', parts['machine'])
            for name in ('system', 'my wheel'):
                for file in ('config', 'levels', 'stats', 'lateness', 'users'):
                    with open(self.path(f'root/sys/kernel/debug/hwheel/{name}/{file}'),
                              encoding='utf-8') as found:
                        self.assertEqual(parts[f'wheel {name}: {file}'].rstrip('\n'),
                                         found.read().rstrip('\n'))
            self.assertIn('/sys/devices/system/cpu/possible\n', parts['could not be read'])
            self.assertTrue(done.stdout.endswith('== end\n'))

    def test_log(self):
        self.path('root/sys/kernel/debug/hwheel/my wheel/users',
                  '# callback pending\n0xffffffffc0a01234 3\n')
        for shell in self.shells:
            text = self.report('-', shell=shell).stdout
            lines = self.parts(text)["the kernel's log: lines that name hwheel"].strip()
            self.assertEqual([line[5:13] for line in lines.splitlines()],
                             ['2.000000', *(f'4.00000{n}' for n in range(6)), '6.000000',
                              '6.000001'])
            self.assertIn(' 16777216 ns ', lines)
            self.assertIn(' hwheel_add+0x52/0x90 [hwheel] ', lines)
            for secret in ('alice/', 'myhost', 'c0a01234', 'c900000a', '55d0a1b2', '1001',
                           '2001:db8', '192.0.2', 'dev/alice', 'UUID'):
                self.assertNotIn(secret, text)

    def test_nothing_there(self):
        shutil.rmtree(self.path('root'))
        for shell in self.shells:
            done = self.report('-', shell=shell)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            lacking = self.parts(done.stdout)['could not be read']
            for what in ("the kernel's log", "the kernel's configuration", '/proc/cmdline',
                         '/sys/kernel/debug: only root may'):
                self.assertIn(what, lacking)
            self.assertNotIn(self.folder, done.stdout)

    def test_file(self):
        done = self.report()
        self.assertRegex(done.stdout, r'\AWrote hwheel-report\.txt\. .*\n\Z')
        with open(self.path('hwheel-report.txt'), encoding='utf-8') as file:
            self.assertEqual(self.parts(file.read()).keys(),
                             self.parts(self.report('-').stdout).keys())
        os.symlink('nowhere', self.path('link'))
        for args, status, message in (((), 1, 'exists'), (('/dev/full',), 1, 'exists'),
                                      (('link',), 1, "can't write"),
                                      (('/no/such',), 1, "can't write"),
                                      (('-x',), 2, 'usage'), (('a', 'b'), 2, 'usage')):
            done = self.report(*args)
            self.assertEqual((done.returncode, done.stdout), (status, ''))
            self.assertIn(message, done.stderr)


#
# graft
#

class Graft(Test):
    def checkout(self, git):
        """A copy of the sources, after a build."""
        top = os.path.dirname(TOOLS)
        copy = self.path('hwheel')
        for name in ('module', 'tests', 'samples'):
            shutil.copytree(os.path.join(top, name), os.path.join(copy, name),
                            ignore=lambda _, names: [n for n in names if n.endswith('.mod.c')])
        os.mkdir(os.path.join(copy, 'tools'))
        for name in ('Kbuild', 'Kconfig', 'hwheel.c', 'hwheel.h', 'hwheel_jiffies.h',
                     'tools/graft', 'tools/kunitconfig'):
            shutil.copy(os.path.join(top, name), os.path.join(copy, name))
        if git:
            for words in (['init', '-q'], ['add', '.']):
                subprocess.run(['git', *words], cwd=copy, check=True)
        for name in ('hwheel.mod.c', 'samples/hwheel_hello.mod.c', 'module/x.mod.c'):
            self.path('hwheel/' + name, 'int x;\n')
        return os.path.join(copy, 'tools/graft')

    def tree(self):
        """A kernel tree of links to another one."""
        for name, text in (('Kbuild', ''), ('Makefile', 'VERSION = 7\nPATCHLEVEL = 3\n'),
                           ('lib/Kconfig', 'menu "x"\nendmenu\n'), ('lib/Makefile', 'obj-y :=\n'),
                           ('include/linux/x.h', '')):
            for folder in ('linux', 'tree'):
                os.makedirs(os.path.dirname(self.path(f'{folder}/{name}')), exist_ok=True)
            self.path(f'linux/{name}', text)
            os.symlink(os.path.relpath(self.path(f'linux/{name}'),
                                       os.path.dirname(self.path(f'tree/{name}'))),
                       self.path(f'tree/{name}'))
        return self.path('tree')

    def state(self, folder):
        found = {}
        for where, folders, files in os.walk(self.path(folder)):
            for name in folders + files:
                path = os.path.join(where, name)
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, encoding='utf-8') as file:
                        found[path] = file.read()
        return found

    def graft(self, graft, *args, status=0):
        done = subprocess.run([graft, *args], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def check(self, git):
        graft, tree = self.checkout(git), self.tree()
        before = self.state('linux'), self.state('tree')
        self.graft(graft, tree)
        grafted = self.state('tree')
        self.assertEqual([path for path in grafted if path.endswith('.mod.c')], [])
        self.assertIn(os.path.join(tree, 'lib/hwheel/module/run.c'), grafted)
        self.assertIn('source "lib/hwheel/Kconfig"', grafted[os.path.join(tree, 'lib/Kconfig')])
        self.graft(graft, tree)
        self.assertEqual(self.state('tree'), grafted)
        self.assertEqual(self.state('linux'), before[0])
        self.graft(graft, '--undo', tree)
        self.assertEqual((self.state('linux'), self.state('tree')), before)
        return graft, tree

    def test_with_git(self):
        graft, tree = self.check(True)
        # What the user has changed meanwhile stays
        self.graft(graft, tree)
        with open(self.path('tree/lib/Makefile'), 'a', encoding='utf-8') as file:
            file.write('obj-y += mine.o\n')
        self.assertIn('Makefile was a link', self.graft(graft, '--undo', tree))
        with open(self.path('tree/lib/Makefile'), encoding='utf-8') as file:
            self.assertEqual(file.read(), 'obj-y :=\nobj-y += mine.o\n')

    def test_without_git(self):
        self.check(False)

    def test_folder_of_another_tree(self):
        graft, tree = self.checkout(False), self.tree()
        shutil.rmtree(self.path('tree/lib'))
        os.symlink('../linux/lib', self.path('tree/lib'))
        before = self.state('linux')
        self.assertIn('is a link to another tree', self.graft(graft, tree, status=1))
        self.assertEqual(self.state('linux'), before)


#
# Mutations
#

MESSAGES = ('[   41.123456] usb 1-1: new device', 'x', '\x00\xff', ' ;', 'hwr2 end 3 ;', '0', '-',
            '9' * 30, '9' * 5000, '\u0663', '[' * 3000, '{}', 'hwr1 begin a 1', 'nan', '1e400',
            '\ud800')


class Fuzz(Test):
    """A tool ends with a right answer or one clear line."""

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        self.draws = random.Random(self.seed)
        wheel, self.kept = busy_wheel(n=(16, 8, 200)), []
        for _ in range(4):
            wheel.step(40)
            self.kept.append(wheel.snapshot())
        self.json = ''.join(map(hw.format_snapshot, self.kept))
        self.marked, self.old = (''.join(marked(
            {**s.files, 'config': s.files['config'] + f'now_ns {s.time_ns}\n'}, s.wheel,
            s.taken_ns / 10 ** 9, version) for s in self.kept) for version in (2, 1))
        self.timers = wheel.files()['timers']
        self.trace = '# tracer: nop\n' + ''.join(
            f'  a-1  [000] d.h2.  7.{n:06}: hwheel_{event}: timer=1 late_ns={n} moved=2 '
            f'delay_ns={n}000\n' for n in range(1000, 9000, 200)
            for event in ('start', 'expire_entry', 'cascade'))

    def mutated(self, text):
        draws = self.draws
        for _ in range(draws.choice((1, 1, 1, 2, 5))):
            at, end = sorted(draws.randrange(len(text) + 1) for _ in range(2))
            kind = draws.randrange(8)
            if kind == 0:
                text = text[:at]
            elif kind == 1:
                text = text[:at] + draws.choice(MESSAGES) + text[at:]
            elif kind == 2:
                text = text[:at] + text[min(end, at + draws.randrange(1, 40)):]
            elif kind == 3:
                text = text[:at] + chr(draws.randrange(256)) + text[at + 1:]
            elif kind == 4:
                text = text[:end] + text[at:]
            elif kind == 5:
                numbers = list(re.finditer(r'-?\d+', text))
                if numbers:
                    number = draws.choice(numbers)
                    text = text[:number.start()] + draws.choice(
                        ('0', '-1', '1', str(1 << 63), str((1 << 64) + 1), '9' * 40, '', '-')) + \
                        text[number.end():]
            elif kind == 6:
                lines = text.splitlines(True)
                draws.shuffle(lines)
                text = ''.join(lines)
            elif lines := text.splitlines(True):
                del lines[draws.randrange(len(lines))]
                text = ''.join(lines)
        return text

    @contextlib.contextmanager
    def attempt(self, text):
        """Only an Error of one line may come out, and warnings of a line each."""
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
                yield
        except hw.Error as error:
            self.assertTrue(hw.printable(error).strip())
            self.assertLess(len(str(error)), 1000)
        except BaseException:
            print(f'SEED={self.seed}', repr(text[:2000]), file=sys.stderr)
            raise
        self.assertNotIn('Traceback', err.getvalue())
        self.assertLess(err.getvalue().count('\n'), 12)
        self.assertLess(len(err.getvalue()), 3000)

    def each(self):
        end = time.monotonic() + float(os.environ.get('TIME', 0.5))
        n = 0
        while time.monotonic() < end:
            n += 1
            yield n
        self.assertGreater(n, 0)
        if 'TIME' in os.environ:
            print(f'{self.id()}: {n} tries', file=sys.stderr)

    def show(self, snapshots, text):
        import rich.cells
        import rich.console
        with self.attempt(text):
            view = top.View(self.draws.choice((None, None, 0, 1)))
            for snapshot in snapshots():
                view.feed(snapshot)
            json.dumps(view.summary())
            for width, height in ((20, 3), (80, None)):
                out = io.StringIO()
                screen = top.Screen(rich.console.Console(
                    width=width, file=out, force_terminal=False))
                for line in screen.frame(view, height=height):
                    screen.console.print(line)
                # No line is wider, and nothing drives the terminal
                for line in out.getvalue().split('\n'):
                    self.assertLessEqual(rich.cells.cell_len(line), width)
                    self.assertNotRegex(line, '[\0-\x1f\x7f-\x9f]')

    def test_recordings(self):
        for _ in self.each():
            text = self.mutated(self.draws.choice((self.json, self.marked, self.old)))
            self.show(lambda: hw.read_recording(io.StringIO(text, newline='\n'), 'it'), text)

    def test_messages(self):
        """A message at any place of a console changes no snapshot that is kept."""
        wanted = {s.taken_ns: s.files for s in
                  hw.read_recording(self.marked.splitlines(True), 'it')}
        for _ in self.each():
            text = self.marked
            for _ in range(self.draws.randrange(1, 4)):
                at = self.draws.randrange(len(text) + 1)
                text = text[:at] + self.draws.choice(('[ 41.1] usb 1-1: x', '0', '')) + '\n' + \
                    text[at:]
            with self.attempt(text):
                for found in hw.read_recording(text.splitlines(True), 'it'):
                    self.assertIn(found.taken_ns, wanted)
                    self.assertEqual(found.files, wanted[found.taken_ns])

    def test_cuts(self):
        """What is kept of a recording, or of delays, that is cut short is as it was."""
        for _ in self.each():
            for whole in (self.json, self.marked):
                text = whole[:self.draws.randrange(len(whole))]
                with self.attempt(text):
                    found = hw.read_recording(text.splitlines(True), 'it')
                    self.assertEqual([s.rows('spokes') for s in found],
                                     [s.rows('spokes') for s in self.kept[:len(found)]])
                    self.assertEqual([s.taken_ns for s in found],
                                     [s.taken_ns for s in self.kept[:len(found)]])
            for whole in (self.timers, self.trace):
                text = whole[:self.draws.randrange(len(whole))]
                all_ = plan.read_delays(whole.splitlines(True), 'it')
                with self.attempt(text):
                    self.assertFalse(plan.read_delays(text.splitlines(True), 'it') - all_)

    def test_debugfs(self):
        files = {**self.kept[-1].files, 'timers': self.timers}
        folder = self.path('wheels/system')
        os.makedirs(folder)
        for _ in self.each():
            name = self.draws.choice(sorted(files))
            text = self.mutated(files[name])
            for file, content in files.items():
                path = os.path.join(folder, file)
                if os.path.isdir(path):
                    os.rmdir(path)
                with open(path, 'wb') as out:
                    out.write((text if file == name else content).encode(errors='replace'))
            if not self.draws.randrange(9):
                path = os.path.join(folder, name)
                os.unlink(path)
                self.draws.choice((lambda: None, lambda: os.mkdir(path)))()
            self.show(lambda: [hw.read_wheel(self.path('wheels'), 'system')], text)
            if not self.draws.randrange(20):
                done = run('hwheel-record.sh', '-n', '1',
                           env={'HWHEEL_DEBUGFS': self.path('wheels')})
                self.assertLess(done.stderr.count('\n'), 2, done.stderr)
                self.show(lambda: hw.read_recording(done.stdout.splitlines(True), 'it'), text)

    def test_pictures(self):
        for n in self.each():
            text = self.mutated(self.draws.choice((self.json, self.marked, self.trace,
                                                   self.trace)))
            with self.attempt(text):
                found = plot.read_run(io.StringIO(text, newline='\n'), 'it', None,
                                           self.draws.choice((None, None, 1)))
                # This takes a second
                if 'TIME' in os.environ and not n % 10:
                    plot.draw(found, None, self.path('x.svg'))
                    xml.etree.ElementTree.parse(self.path('x.svg'))

    def test_delays(self):
        texts = (self.timers, self.trace, '1.5ms\n20ms\n1h\n\n20000000\n')
        for _ in self.each():
            text = self.mutated(self.draws.choice(texts))
            arguments = ['hwheel-plan', '--delays', self.path('delays'), '--tick',
                         self.draws.choice(('1us', '1ms', '1h', '292y'))]
            with open(arguments[2], 'wb') as file:
                file.write(text.encode(errors='replace'))
            with self.attempt(text), mock.patch('sys.argv', arguments):
                plan.main()

    def test_arguments(self):
        draws = self.draws
        parts = ('1', '-', '.', 'ms', 'h', '9' * 40, '1' * 5000, ',', ' ', 'nan', '\u0663', 'y', '0',
                 '2', '4096', '\x00', '--')
        for _ in self.each():
            words = [''.join(draws.choice(parts) for _ in range(draws.randrange(1, 4)))
                     for _ in range(3)]
            with self.attempt(str(words)), mock.patch('sys.argv', [
                    'hwheel-plan', f'--range={words[0]}', f'--tick={words[1]}',
                    f'--spokes={words[2]}']):
                try:
                    plan.main()
                except SystemExit as end:       # a message of argparse
                    self.assertEqual(end.code, 2)


class Convert(Test):
    """hwheel-convert ends with a right answer or one clear line. A driver that the compiler takes
    compiles after the conversion, too: with other types, so a call that is half converted does
    not."""

    # Calls that mutations exchange for one another, and what they put in for an expression
    CALLS = ('mod_timer', 'add_timer', 'del_timer', 'del_timer_sync', 'timer_pending',
             'timer_shutdown', 'hrtimer_cancel', 'hrtimer_active', 'hrtimer_forward_now',
             'hrtimer_is_queued', 'schedule_delayed_work', 'cancel_delayed_work', 'from_timer',
             'timer_setup', 'mod_timer_pending', 'flush_delayed_work', 'kfree', 'jiffies')
    VALUES = ('0', '-1', 'jiffies', '(jiffies + HZ)', 'jiffies ? 1 : 2', '(unsigned long)-1', 'NULL',
              '({ 3; })', 'HZ, 7', "','", '(void *)0', 'msecs_to_jiffies(-1)', '0x7fffffffffffffff',
              'READ_ONCE(jiffies)', '*(&jiffies)', 'sizeof(struct timer_list)', '1 / 0', '9' * 30)
    PIECES = ('#if 0\n', '#if 1\n', '#ifdef NOWHERE\n', '#else\n', '#endif\n', '#elif 1\n', '/*', '*/',
              '//', '\\\n', '\r\n', '\r', '\0', '\xff', '"', "'", '{', '}', '(', ')', ';', '\f', '\t',
              "#error can't\n", '??/\n', '%:', '__attribute__((unused)) ', '(void *)', '&', '*',
              'static ', 'const ', 'volatile ', '#include __FILE__\n', '#line 3 "x.c"\n',
              '#define mod_timer(t, x) mod_timer(t, x)\n', '#define timer timer\n', 'L"',
              '_Pragma("once")', 'label: ', 'if (jiffies) ', 'else ', 'do ', 'return ', 'switch (1) ',
              'case 1: ', 'goto out;\n', 'typedef ', 'extern ', '\xef\xbb\xbf')

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
        self.draws = random.Random(self.seed)
        tests = os.path.join(TOOLS, 'convert-tests')
        self.include = os.path.join(tests, 'include')
        self.drivers = []
        for part in ('api', 'classes', 'strangers', 'work', 'missing'):
            for folder, _, names in os.walk(os.path.join(tests, part)):
                self.drivers += [os.path.join(folder, name) for name in sorted(names)
                                 if name.endswith(('.c', '.h'))]
        self.assertGreater(len(self.drivers), 40)
        self.drivers.sort()
        self.tool = load('hwheel-convert')
        self.assertTrue(self.tool.clang)

    def text(self, path):
        with open(path, encoding='latin-1', newline='') as file:
            return file.read()

    def mutated(self, text):
        draws = self.draws
        for _ in range(draws.choice((0, 1, 1, 1, 2, 2, 5))):
            lines = text.splitlines(True) or ['']
            at = draws.randrange(len(lines))
            end = min(len(lines), at + draws.randrange(1, 8))
            kind = draws.randrange(13)
            words = list(re.finditer(r'\w+', text))
            if kind == 0:
                lines[at:at] = [draws.choice(self.PIECES)]
            elif kind == 1:
                lines[at:end] = [draws.choice(('#if 0\n', '#if 1\n', '#ifdef NOWHERE\n'))] + \
                    lines[at:end] + draws.choice((['#endif\n'], ['#else\n'] + lines[at:end] +
                                                  ['#endif\n']))
            elif kind == 2:
                del lines[at:end]
            elif kind == 3:
                lines[at:at] = lines[at:end]
            elif kind == 4:
                other = self.text(draws.choice(self.drivers)).splitlines(True)
                begin = draws.randrange(len(other))
                lines[at:at] = other[begin:begin + draws.choice((1, 3, 1000))]
            elif kind == 5:
                draws.shuffle(lines[at:end])
                lines[at:end] = [' '.join(line.rstrip('\n') for line in lines[at:end]) + '\n']
            text = ''.join(lines)
            if kind < 6 or not words:
                continue
            word = draws.choice(words)
            begin, end = word.span()
            if kind == 6:
                text = text[:begin] + draws.choice(self.CALLS) + text[end:]
            elif kind == 7:
                text = text[:begin] + draws.choice(self.VALUES) + text[end:]
            elif kind == 8:
                text = text[:begin] + draws.choice(self.PIECES) + text[begin:]
            elif kind == 9:
                text = text[:begin] + draws.choice(('(', '((', '(/* ( */')) + word.group() + ')' + \
                    text[end:]
            elif kind == 10:
                text = text[:end] + draws.choice((' ', '\n', '/* , */', '\\\n', ' // x\n')) + text[end:]
            elif kind == 11:
                # A macro with this name or for this word
                new = draws.choice((word.group(), 'M'))
                text = f'#define {new} {word.group()}\n' + text[:begin] + new + text[end:]
            elif text:
                place = draws.randrange(len(text))
                text = text[:place] + chr(draws.randrange(256)) + text[place + 1:]
        return text

    def compiles(self, path):
        clang = self.tool.clang
        unit = clang.Index.create().parse(path, [
            '-nostdinc', '-I' + self.include, '-ferror-limit=0', '-Wno-everything', *(
                '-Werror=' + kind for kind in (
                    'incompatible-pointer-types', 'int-conversion', 'return-type', 'macro-redefined',
                    'implicit-function-declaration', 'incompatible-function-pointer-types'))])
        return [self.tool.message(d) for d in unit.diagnostics if d.severity >= 3]

    def convert(self, arguments):
        """Runs the tool here. Returns its exit status and what it prints."""
        out = io.TextIOWrapper(io.BytesIO(), encoding='utf-8', errors='backslashreplace')

        def too_long(*_):
            raise AssertionError('hwheel-convert hangs')

        before = {number: signal.getsignal(number)
                  for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(60)
        try:
            with contextlib.redirect_stdout(out), \
                    mock.patch('sys.argv', ['hwheel-convert', *arguments]):
                status, error = self.tool.main(), ''
        except SystemExit as end:
            self.assertIsInstance(end.code, str)
            status, error = 2, end.code
        finally:
            signal.alarm(0)
            for number, handler in before.items():
                signal.signal(number, handler)
        out.flush()
        return status, out.buffer.getvalue().decode('latin-1'), error

    def check(self, folder, names):
        """Converts a driver. names: the driver's files."""
        def state():
            return {name: self.text(os.path.join(folder, name)) for name in os.listdir(folder)
                    if not os.path.isdir(os.path.join(folder, name))}

        sources = [os.path.join(folder, name) for name in names if name.endswith('.c')]
        good = not any(self.compiles(path) for path in sources)
        before = state()
        options = ['--move', self.draws.choice(('timers', 'work', 'all', 'all')),
                   *self.draws.choice(([], [], ['--tick', '0'], ['--compares', '*'],
                                       ['--despite-errors']))]
        dry = self.draws.random() < 0.2
        status, out, error = self.convert(
            options + ['--diff'] * dry + [os.path.join(folder, name) for name in names])
        after = state()
        changed = {name for name in before if before[name] != after.get(name)}
        self.assertEqual(set(before), set(after))
        self.assertNotIn('Traceback', out + error)
        if status == 2 or dry:
            self.assertFalse(changed)
        if status == 2:
            self.assertRegex(error, r'\Ahwheel-convert: \S')
            self.assertLess(error.count('\n'), 4)
            self.assertFalse(good, error)
            return
        if dry:
            return
        rewritten = {os.path.basename(line.split(': rewritten: ')[0])
                     for line in out.splitlines() if ': rewritten: ' in line}
        self.assertEqual(changed, rewritten)
        last = re.match(r'hwheel-convert: (\d+) uses in (\d+) files rewritten; of the groups of '
                        r'[a-z ]+ \d+ rewritten, (\d+) stay, (\d+) left\Z', out.splitlines()[-1])
        self.assertTrue(last, out)
        self.assertEqual(status, int(int(last[4]) > 0))
        self.assertEqual(int(last[2]), len(rewritten))
        self.assertEqual(int(last[4]) > 0, bool(re.search(r':\d+: left: ', out)))
        for line in out.splitlines():
            self.assertTrue(len(line) < 400 or ': rewritten: ' in line, line)
        if good:
            for path in sources:
                self.assertEqual(self.compiles(path), [])

    def test_stub(self):
        """The stub of hwheel.h declares what hwheel.h has."""
        for name in ('hwheel.h', 'hwheel_jiffies.h'):
            stub, real = (self.text(os.path.join(folder, name))
                          for folder in (self.include, os.path.dirname(TOOLS)))
            names = set(re.findall(r'\b\w*(?:hwheel|HWHEEL)_\w+(?=\()', stub))
            self.assertGreater(len(names), 7)
            for call in names:
                self.assertRegex(real, rf'\b{call}\(')

    def test_killed(self):
        """Whenever that is, there is no traceback, and all files are converted, or none is."""
        def state():
            return {name: self.text(self.path(f'd/{name}')) for name in os.listdir(self.path('d'))}

        api, command = os.path.join(TOOLS, 'convert-tests', 'api'), [
            os.path.join(TOOLS, 'hwheel-convert'), '--tick', '0', self.path('d')]
        after = None
        for signal_ in (0, signal.SIGTERM, signal.SIGHUP):
            shutil.rmtree(self.path('d'), ignore_errors=True)
            shutil.copytree(api, self.path('d'), ignore=shutil.ignore_patterns('*moved'))
            for n in range(6):
                shutil.copy(os.path.join(api, 'hrtimer.c'), self.path(f'd/{n}.c'))
            with open(self.path('d/.x.o.cmd'), 'w', encoding='utf-8') as file:
                file.write(f'savedcmd := gcc -nostdinc -I{self.include}\n')
            before, wait = state(), 0.2
            while state() == before:
                with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      text=True) as process:
                    if signal_:
                        time.sleep(wait)
                        process.send_signal(signal_)
                    self.assertEqual(process.communicate(timeout=60)[1], '')
                self.assertIn(process.returncode, (1, 128 + signal_, -signal_))
                wait *= 1.1
            after = after or state()
            self.assertEqual(state(), after)
        shutil.rmtree(self.path('d'))
        for call in ('tempfile.mkstemp', 'os.replace'):
            os.mkdir(self.path('d'))
            for name, text in before.items():
                self.path(f'd/{name}', text)
            self.killed_after(call, 'hwheel-convert', *command[1:])
            self.assertEqual(state(), before)
            shutil.rmtree(self.path('d'))

    def test_fuzz(self):
        end = time.monotonic() + float(os.environ.get('TIME', 3))
        tries = 0
        while time.monotonic() < end:
            folder = self.path(f'd{tries}')
            os.mkdir(folder)
            source = self.draws.choice(self.drivers)
            shutil.copytree(os.path.dirname(source), folder, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns('*.moved', '*.c', 'report'))
            shutil.copy(source, folder)
            name = os.path.basename(source)
            names = sorted({name, *self.draws.choice((
                [], [n for n in os.listdir(folder) if n.endswith('.h')]))})
            for name in names:
                text = self.mutated(self.text(os.path.join(folder, name)))
                if not self.draws.randrange(12):
                    text = text.replace('\n', '\r\n')
                with open(os.path.join(folder, name), 'w', encoding='latin-1', newline='') as file:
                    file.write(text)
            with open(os.path.join(folder, '.x.o.cmd'), 'w', encoding='utf-8') as file:
                file.write(f'savedcmd := gcc -nostdinc -I{self.include}\n')
            try:
                self.check(folder, names)
            except BaseException:
                kept = tempfile.mkdtemp(prefix='hwheel-convert.')
                shutil.copytree(folder, kept, dirs_exist_ok=True)
                print(f'SEED={self.seed}, try {tries}: the driver is in {kept}', file=sys.stderr)
                raise
            shutil.rmtree(folder)
            tries += 1
        self.assertGreater(tries, 0)
        if 'TIME' in os.environ:
            print(f'{self.id()}: {tries} tries', file=sys.stderr)


if __name__ == '__main__':
    unittest.main()
