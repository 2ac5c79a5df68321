# SPDX-License-Identifier: GPL-2.0
"""Code that hwheel's tools share: debugfs files, recordings of them, durations.

A snapshot is the text of the files of /sys/kernel/debug/hwheel/<wheel>/, except
timers, at one time. A recording is a series of snapshots in one of two forms. Each
line tells which form it has:

JSON lines, as hwheel-top --record writes them. Each line is an object with one
snapshot:

	{"version": 1, "wheel": "system", "time_ns": 5000000000,
	 "files": {"config": "# name value\\n...", "levels": "...", ...}}

Marked lines, as hwheel-record.sh prints them. Each begins with the mark. Before
each line of a file stands the file's name. Lines without the mark are ignored,
so the log of a serial console that also has kernel messages is a recording, too:

	hwr1 begin system 5.00
	hwr1 config # name value
	hwr1 config name system
	...
	hwr1 end

time_ns is the time of the wheel's clock. Marked lines have the time since boot, in
seconds. A snapshot without an end is dropped.
"""

import collections
import errno
import json
import os
import re
import sys
import time
from fractions import Fraction

VERSION = 1
MARK = f'hwr{VERSION} '
DEBUGFS = '/sys/kernel/debug/hwheel'
FILES = ('config', 'levels', 'spokes', 'stats', 'lateness', 'users')


class Error(Exception):
    """An error that the user can fix; its text says how."""


#
# Durations
#

UNITS = {'ns': 1, 'us': 10 ** 3, 'ms': 10 ** 6, 's': 10 ** 9, 'min': 60 * 10 ** 9,
         'h': 3600 * 10 ** 9, 'd': 86400 * 10 ** 9, 'y': 365 * 86400 * 10 ** 9}
PART = re.compile(r'(\d+(?:\.\d+)?)\s*(ns|us|ms|s|min|h|d|y)(?![a-z])\s*')


def parse_duration(text):
    """Nanoseconds in 1ms, 1.5h, 1h30min or, without a unit, 1000000."""
    text = text.strip()
    if re.fullmatch('[0-9]+', text):
        return int(text)
    ns, end = Fraction(0), 0
    for part in PART.finditer(text):
        if part.start() != end:
            break
        ns += Fraction(part[1]) * UNITS[part[2]]
        end = part.end()
    if not text or end != len(text):
        raise Error(f"'{text}' is no duration; write it as 1ms, 2.5s or 1h30min, "
                    f"with the units {' '.join(UNITS)}")
    if ns.denominator != 1:
        raise Error(f"'{text}' is not a whole number of nanoseconds")
    return int(ns)


def format_ns(ns):
    """About three digits and a unit: 128 ms, 16.4 s."""
    sign = '-' if ns < 0 else ''
    ns = abs(ns)
    scale, unit = 1, 'ns'
    for name, size in UNITS.items():
        if ns >= size:
            scale, unit = size, name
    value = ns / scale
    digits = 0 if value >= 99.95 or ns % scale == 0 else 1 if value >= 9.995 else 2
    number = f'{value:.{digits}f}'
    if '.' in number:
        number = number.rstrip('0').rstrip('.')
    return f'{sign}{number} {unit}'


#
# The files
#

def parse_table(text):
    """The rows of a file as dictionaries; numbers become int, '-' None.

    The last column takes the rest of its row, such as the [module] of a callback.
    A row that is too short is left out.
    """
    lines = text.splitlines()
    if not lines or not lines[0].startswith('#'):
        return []
    columns = lines[0][1:].split()
    rows = []
    for line in lines[1:]:
        words = line.split(None, len(columns) - 1)
        if len(words) == len(columns):
            rows.append({column: value(word) for column, word in zip(columns, words)})
    return rows


def value(word):
    if word == '-':
        return None
    try:
        return int(word)
    except ValueError:
        return word.strip()


class Snapshot:
    """A wheel's files at one time. Rows are parsed when they are needed."""

    def __init__(self, wheel, time_ns, files):
        self.wheel = wheel
        self.time_ns = time_ns
        self.files = files
        self._rows = {}

    def rows(self, name):
        if name not in self._rows:
            self._rows[name] = parse_table(self.files.get(name, ''))
        return self._rows[name]

    @property
    def config(self):
        return {row['name']: row['value'] for row in self.rows('config')}

    @property
    def nr_levels(self):
        """The number of levels; a row with this level has the parked timers."""
        return self.config['levels']

    @property
    def cpus(self):
        return sorted({row['cpu'] for row in self.rows('levels')})

    def levels(self, cpu=None):
        """Each level's values on a CPU, or on all CPUs together.

        For all CPUs, the hand is that of the CPU whose clock is latest.
        """
        levels = {}
        for row in self.rows('levels'):
            if cpu is not None and row['cpu'] != cpu:
                continue
            known = levels.setdefault(row['level'], dict(row, cpu=cpu))
            if known.get('cpus') is None:
                known['cpus'] = 1
                continue
            known['cpus'] += 1
            known['timers'] += row['timers']
            known['occupied'] += row['occupied']
            known['clock_ns'] = max(known['clock_ns'], row['clock_ns'])
            known['next_ns'] = min((ns for ns in (known['next_ns'], row['next_ns'])
                                    if ns is not None), default=None)
        for row in levels.values():
            row['hand'] = (row['clock_ns'] // row['tick_ns'] % row['spokes']
                           if row['level'] < self.nr_levels else None)
        return [levels[number] for number in sorted(levels)]

    def spokes(self, cpu=None):
        """Timers by (level, spoke)."""
        timers = collections.Counter()
        for row in self.rows('spokes'):
            if cpu is None or row['cpu'] == cpu:
                timers[row['level'], row['spoke']] += row['timers']
        return timers

    def stats(self, cpu=None):
        column = 'total' if cpu is None else f'cpu{cpu}'
        return {row['counter']: row.get(column, 0) for row in self.rows('stats')}

    def lateness(self):
        """For each up_to_ns, a power of two: the callbacks that were late by less."""
        return {row['up_to_ns']: row['timers'] for row in self.rows('lateness')}

    def users(self):
        """The row of each callback. If hwheel does not count, all but pending is None."""
        return {row['function']: row for row in self.rows('users')}

    def check(self):
        """Raises an Error unless the files are those of a wheel."""
        config = self.config
        if not isinstance(config.get('levels'), int) or not self.rows('levels'):
            raise Error(f"the files of wheel '{self.wheel}' are not those of hwheel: "
                        'config or levels lacks its rows')
        for name, columns in (('levels', ('cpu', 'level', 'tick_ns', 'spokes', 'interval_ns',
                                          'clock_ns', 'occupied', 'timers', 'next_ns')),
                              ('spokes', ('cpu', 'level', 'spoke', 'timers'))):
            for row in self.rows(name)[:1]:
                missing = [column for column in columns if column not in row]
                if missing:
                    raise Error(f"{name} of wheel '{self.wheel}' has no column {missing[0]}")


def lateness_between(before, after):
    """The lateness of the callbacks that ran between two snapshots."""
    earlier = before.lateness() if before else {}
    return {up_to: timers - earlier.get(up_to, 0)
            for up_to, timers in after.lateness().items()
            if timers > earlier.get(up_to, 0)}


def quantile(histogram, part):
    """The bucket in which this part of a lateness histogram ends. None if it is empty."""
    total, seen = sum(histogram.values()), 0
    for up_to in sorted(histogram):
        seen += histogram[up_to]
        if seen >= part * total:
            return up_to
    return None


#
# Reading debugfs
#

def find_wheels(debugfs):
    """Names of the wheels in there, the module's own first."""
    try:
        names = os.listdir(debugfs)
    except PermissionError:
        raise Error(f"can't read {debugfs}: only root may; run this with sudo") from None
    except NotADirectoryError:
        raise Error(f'{debugfs} is not a folder') from None
    except FileNotFoundError:
        raise Error(why_no_folder(debugfs)) from None
    names = [name for name in names if os.path.isdir(os.path.join(debugfs, name))]
    if not names:
        raise Error(f'{debugfs} has no wheels')
    return sorted(names, key=lambda name: (name != 'system', name))


def why_no_folder(debugfs):
    if debugfs != DEBUGFS:
        return f'there is no folder {debugfs}; --debugfs takes the one that has the wheels'
    root = os.path.dirname(debugfs)
    with open('/proc/mounts', encoding='utf-8') as mounts:
        if not any(line.split()[1] == root for line in mounts):
            return f"debugfs isn't mounted: mount -t debugfs none {root}"
    return "hwheel isn't loaded: modprobe hwheel, or insmod hwheel.ko"


def read_wheel(debugfs, wheel):
    """A snapshot of a wheel."""
    folder = os.path.join(debugfs, wheel)
    files = {}
    try:
        for name in FILES:
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                files[name] = file.read()
    except PermissionError:
        raise Error(f"can't read {folder}/{name}: only root may; run this with sudo") from None
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.EIO):
            raise
        raise Error(f"there is no wheel '{wheel}' in {debugfs} "
                    f"({folder}/{name}: {error.strerror})") from None
    snapshot = Snapshot(wheel, 0, files)
    clock = {'boottime': time.CLOCK_BOOTTIME, 'realtime': time.CLOCK_REALTIME,
             'tai': time.CLOCK_TAI}.get(snapshot.config.get('clock'), time.CLOCK_MONOTONIC)
    snapshot.time_ns = time.clock_gettime_ns(clock)
    snapshot.check()
    return snapshot


#
# Recordings
#

def format_snapshot(snapshot):
    """A line of a recording."""
    return json.dumps({'version': VERSION, 'wheel': snapshot.wheel,
                       'time_ns': snapshot.time_ns, 'files': snapshot.files}) + '\n'


def read_recording(lines, name):
    """The snapshots of a recording, one by one."""
    wheel, files, found = None, {}, False
    for number, line in enumerate(lines, 1):
        # A console may put text before a mark, but not before an object
        start = line.find(MARK)
        if line.startswith('{'):
            snapshot = parse_object(line, f'{name}, line {number}')
        elif start >= 0:
            word, _, rest = line[start + len(MARK):].rstrip('\r\n').partition(' ')
            if word == 'begin':
                wheel, _, seconds = rest.partition(' ')
                begun, files = seconds, {}
            elif word != 'end':
                files.setdefault(word, []).append(rest + '\n')
            if word != 'end' or wheel is None:
                continue
            try:
                time_ns = int(Fraction(begun) * 10 ** 9)
            except ValueError:
                raise Error(f"{name}, line {number}: '{begun}' is no time") from None
            snapshot = Snapshot(wheel, time_ns,
                                {file: ''.join(rows) for file, rows in files.items()})
            wheel = None
        else:
            newer = re.match(r'hwr(\d+) begin ', line)
            if newer:
                raise Error(f'{name}, line {number}: a recording of version {newer[1]}; '
                            f'this program knows version {VERSION}')
            continue
        snapshot.check()
        found = True
        yield snapshot
    if not found:
        raise Error(f'{name} holds no recording; make one with hwheel-top --record '
                    'or hwheel-record.sh')


def parse_object(line, where):
    try:
        found = json.loads(line)
        version = found['version']
    except (ValueError, KeyError):
        raise Error(f'{where}: not a snapshot, or cut short') from None
    if version != VERSION:
        raise Error(f'{where}: a recording of version {version}; '
                    f'this program knows version {VERSION}')
    try:
        return Snapshot(str(found['wheel']), int(found['time_ns']), dict(found['files']))
    except (KeyError, TypeError, ValueError):
        raise Error(f'{where}: a snapshot needs wheel, time_ns and files') from None


def open_recording(path):
    """All snapshots of a file; '-' is stdin."""
    try:
        if path == '-':
            return list(read_recording(sys.stdin, 'stdin'))
        with open(path, encoding='utf-8', errors='replace') as file:
            return list(read_recording(file, path))
    except OSError as error:
        raise Error(f"can't read {path}: {error.strerror}") from None
