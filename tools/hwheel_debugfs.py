# SPDX-License-Identifier: GPL-2.0
"""Code that hwheel's tools share: debugfs files, recordings of them, durations.

A snapshot is the text of the files of /sys/kernel/debug/hwheel/<wheel>/, except
timers, at one time. A recording is a series of snapshots in one of two forms. Each
line tells which form it has:

JSON lines, as hwheel-top --record writes them. Each line is an object with one
snapshot:

	{"version": 1, "wheel": "system", "time_ns": 5000000000, "taken_ns": 6000000000,
	 "files": {"config": "# name value\\n...", "levels": "...", ...}}

Marked lines, as hwheel-record.sh prints them. Each begins with the mark, and ends
with " ;". Before each line of a file stands the file's name. Lines without the mark are
ignored, so the log of a serial console that also has kernel messages is a recording, too:

	hwr2 begin system 6.00 ;
	hwr2 config # name value ;
	hwr2 config name system ;
	...
	hwr2 end 43 ;

The last line has the number of the lines between. So a message inside a line does no harm
but to its snapshot. Version 1, hwr1, had no " ;" and no number.

The recording has a clock of its own: taken_ns, or the seconds after the wheel's name, is the
time since boot. It goes on in suspend, and nobody can set it. time_ns is the time of the wheel's
clock; in marked lines it is in the file config, as now_ns.

A snapshot that is broken or has no end is left out, and the user is told.
"""

import collections
import json
import os
import re
import signal
import statistics
import sys
import time
from fractions import Fraction

HWHEEL = '1.0'          # the version of hwheel whose files these tools know
VERSION = 1             # of JSON lines
MARK = re.compile(r'hwr([12]) ')
END = ' ;'
DEBUGFS = '/sys/kernel/debug/hwheel'
FILES = ('config', 'levels', 'spokes', 'stats', 'lateness', 'users')


class Error(Exception):
    """An error that the user can fix; its text says how."""


def printable(text, room=None):
    """The text on one line, without control characters, and with what any encoding has."""
    text = ''.join(char if char.isprintable() else '?' for char in str(text))
    return text if room is None or len(text) <= room else text[:room - 3] + '...'


def warn(text):
    sys.stderr.write(f'{os.path.basename(sys.argv[0])}: {printable(text)}\n')


def parse_arguments(parser):
    """As parse_args(). Some versions of it take "--option=--" for an empty list."""
    args = parser.parse_args()
    for name, found in vars(args).items():
        if found == []:
            parser.error(f"--{name.replace('_', '-')}: it needs a value")
    return args


def run_tool(main, status=1):
    """Runs a tool. Whatever happens, it ends with what it has to say on one line."""
    name = os.path.basename(sys.argv[0])
    if sys.stderr is None:      # else print() takes stdout instead
        sys.stderr = open(os.devnull, 'w', encoding='utf-8')
    if sys.stdout is None:
        sys.exit(f'{name}: stdout is closed')
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors='backslashreplace' if stream is not sys.stdin else 'replace')
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            main()
        finally:
            sys.stdout.flush()
        return
    except Error as problem:
        print(f'{name}: {printable(problem)}', file=sys.stderr)
    except BrokenPipeError:
        status = 1
    except KeyboardInterrupt:
        status = 130
    except MemoryError:
        print(f'{name}: not enough memory', file=sys.stderr)
    except OSError as error:
        print(f"{name}: {error.filename or 'stdout'}: {error.strerror}", file=sys.stderr)
    # Python would flush stdout again, and tell if that fails
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(status)


#
# Durations
#

UNITS = {'ns': 1, 'us': 10 ** 3, 'ms': 10 ** 6, 's': 10 ** 9, 'min': 60 * 10 ** 9,
         'h': 3600 * 10 ** 9, 'd': 86400 * 10 ** 9, 'y': 365 * 86400 * 10 ** 9}
PART = re.compile(r'([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*(ns|us|ms|s|min|h|d|y)(?![a-z])\s*')


def parse_duration(text):
    """Nanoseconds in 1ms, 1.5h, 1h30min or, without a unit, 1000000."""
    text = text.strip()
    if re.fullmatch('[0-9]{1,30}', text):
        return int(text)
    ns, end = Fraction(0), 0
    for part in PART.finditer(text):
        if part.start() != end:
            break
        ns += Fraction(part[1]) * UNITS[part[2]]
        end = part.end()
    if not text or end != len(text):
        raise Error(f"'{printable(text, 60)}' is no duration; write it as 1ms, 2.5s or 1h30min, "
                    f"with the units {' '.join(UNITS)}")
    if ns.denominator != 1:
        raise Error(f"'{printable(text, 60)}' is not a whole number of nanoseconds")
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

def parse_table(text, name=''):
    """The rows of a file as dictionaries; numbers become int, '-' None.

    The last column takes the rest of its row, such as the [module] of a callback.
    """
    lines = text.split('\n')
    if not lines[0].startswith('#') or lines.pop():
        raise Error(f'{name} is cut short')
    columns = lines[0][1:].split()
    rows = []
    for line in lines[1:]:
        words = line.split(None, len(columns) - 1)
        if len(words) != len(columns):
            raise Error(f"{name} has the row '{printable(line, 60)}'")
        rows.append({column: value(word) for column, word in zip(columns, words)})
    return rows


def value(word):
    if word == '-':
        return None
    if re.fullmatch(r'-?[0-9]{1,20}', word):
        return int(word)
    return printable(word.strip())


def number_in(found, allowed):
    """Is this a number in this range? Python looks for anything else number by number."""
    return type(found) is int and found in allowed


# The columns that each file has at least, and what their values may be
COUNT = range(1 << 64)
TIME = range(-(1 << 63), 1 << 63)
CPU = range(1 << 16)
# Rows of the file levels from here on are no levels: the parking lot, then rows of fans
PARKED, FANS = 15, 16
SPOKE = range(4096)
COLUMNS = {
    'config': {'name': None, 'value': None},
    'levels': {'cpu': CPU, 'level': range(32), 'tick_ns': range(1, 1 << 63),
               'spokes': range(1, 4097), 'interval_ns': range(1, 1 << 63), 'clock_ns': TIME,
               'occupied': COUNT, 'timers': COUNT, 'next_ns': TIME},
    'spokes': {'cpu': CPU, 'level': range(32), 'spoke': SPOKE, 'timers': COUNT},
    'stats': {'counter': None, 'total': COUNT},
    'lateness': {'up_to_ns': range(1, 1 << 64), 'timers': COUNT},
    'users': {'function': None, 'pending': COUNT, 'armed': COUNT, 'expired': COUNT,
              'max_late_ns': COUNT},
}
# The columns of "users" that only older hwheels have
ONLY_OLD = ('armed', 'expired', 'max_late_ns')
MAY_BE_NONE = ('next_ns', *ONLY_OLD)


def other_version(files):
    """What to tell the user if hwheel is of another version than the tools, or ''."""
    config = files.get('config')
    found = re.search(r'^version (\S+)$', config or '', re.M)
    version = printable(found[1], 20) if found else 'older than 1.0'
    return '' if version == HWHEEL or not config else (
        f'hwheel is {version}, these tools are {HWHEEL}: they show what they know')


class Snapshot:
    """A wheel's files at one time.

    time_ns is the time of the wheel's clock, and taken_ns that of the recording's clock. If
    is_now is false, time_ns is not known, and is the latest clock of the levels instead: the
    wheel's clock may be later.
    """

    def __init__(self, wheel, time_ns, files, taken_ns=None):
        self.wheel = wheel
        self.files = files
        self.taken_ns = taken_ns
        self._rows = {}
        self.other_version = other_version(files)
        try:
            self.check()
        except Error as error:
            raise Error(f'{error} ({self.other_version})' if self.other_version else
                        str(error)) from None
        now_ns = self.config.get('now_ns')
        self.time_ns = time_ns if now_ns is None else now_ns
        self.is_now = self.time_ns is not None
        if not self.is_now:
            self.time_ns = max((row['clock_ns'] for row in self.rows('levels')), default=0)

    def rows(self, name):
        if name not in self._rows:
            self._rows[name] = parse_table(self.files.get(name, ''), name)
        return self._rows[name]

    @property
    def config(self):
        return {row['name']: row['value'] for row in self.rows('config')}

    @property
    def can_be_set(self):
        """Can somebody set the wheel's clock?"""
        return self.config.get('clock') not in ('monotonic', 'boottime')

    @property
    def cpus(self):
        """All CPUs. Before a timer was armed on a CPU, it has no levels."""
        found = {row['cpu'] for row in self.rows('levels')}
        header = self.files['stats'].partition('\n')[0]
        return sorted(found | {int(n) for n in re.findall(r'\bcpu([0-9]{1,5})\b', header)})

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
                           if row['level'] < PARKED else None)
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
        """The row of each callback. Only old recordings have more than pending."""
        users = {}
        for row in self.rows('users'):
            # Several callbacks may have the same name
            pending = row['pending'] + users.get(row['function'], {'pending': 0})['pending']
            users[row['function']] = {**dict.fromkeys(ONLY_OLD), **row, 'pending': pending}
        return users

    def check(self):
        """Raises an Error unless the files are those of a wheel."""
        for name, columns in COLUMNS.items():
            if not self.files.get(name):
                raise Error(f'{name} is missing')
            header = self.files[name].partition('\n')[0]
            for column in columns:
                if column not in header.split() and column not in ONLY_OLD:
                    raise Error(f'{name} has no column {column}')
            for row in self.rows(name):
                for column, value_ in row.items():
                    allowed = columns.get(column, COUNT if name == 'stats' else None)
                    if allowed is not None and not number_in(value_, allowed) and not (
                            value_ is None and column in MAY_BE_NONE):
                        raise Error(f"{name} has {printable(value_, 40)} as a {column}")
        config = self.config
        for name, allowed in (('levels', range(1, 9)), ('tick_ns', range(1, 1 << 63)),
                              ('now_ns', TIME)):
            if not number_in(config.get(name, 0 if name == 'now_ns' else None), allowed):
                raise Error(f"config has {printable(config.get(name), 40)} as {name}")
        for up_to in self.lateness():
            if up_to & (up_to - 1) and up_to != (1 << 64) - 1:
                raise Error(f'lateness has {up_to} as up_to_ns')
        sizes, seen = {}, set()
        for row in self.rows('levels'):
            place = row['cpu'], row['level']
            size = row['tick_ns'], row['spokes']
            if place in seen or sizes.setdefault(row['level'], size) != size:
                raise Error(f"levels has two kinds of level {row['level']}")
            seen.add(place)
        for row in self.rows('spokes'):
            if row['level'] in sizes and row['spoke'] >= sizes[row['level']][1]:
                raise Error(f"spokes has {row['spoke']} as a spoke of level {row['level']}")


def lateness_between(before, after):
    """The lateness of the callbacks that ran between two snapshots."""
    earlier, later = before.lateness() if before else {}, after.lateness()
    if any(later.get(up_to, 0) < timers for up_to, timers in earlier.items()):
        earlier = {}        # the wheel was made anew
    return {up_to: timers - earlier.get(up_to, 0) for up_to, timers in later.items()
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
    except OSError as error:
        raise Error(f"can't read {debugfs}: {error.strerror}") from None
    names = [name for name in names if os.path.isdir(os.path.join(debugfs, name))]
    if not names:
        raise Error(f'{debugfs} has no wheels')
    return sorted(names, key=lambda name: (name != 'system', name))


def why_no_folder(debugfs):
    if debugfs != DEBUGFS:
        return f'there is no folder {debugfs}; --debugfs takes the one that has the wheels'
    root = os.path.dirname(debugfs)
    with open('/proc/mounts', encoding='utf-8', errors='replace') as mounts:
        if not any(line.split()[1] == root for line in mounts):
            return f"debugfs isn't mounted: mount -t debugfs none {root}"
    return "hwheel isn't loaded: modprobe hwheel, or insmod hwheel.ko"


def read_wheel(debugfs, wheel):
    """A snapshot of a wheel."""
    folder = os.path.join(debugfs, wheel)
    files = {}
    try:
        for name in FILES:
            with open(os.path.join(folder, name), encoding='utf-8', errors='replace',
                      newline='\n') as file:
                files[name] = file.read()
    except PermissionError:
        raise Error(f"can't read {folder}/{name}: " + (
            'only root may; run this with sudo' if os.geteuid() else
            'this kernel, or its security module, does not allow it')) from None
    except OSError as error:
        raise Error(f"there is no wheel '{wheel}' in {debugfs} "
                    f"({folder}/{name}: {error.strerror})") from None
    taken_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    try:
        snapshot = Snapshot(wheel, 0, files, taken_ns)
    except Error as error:
        raise Error(f"the files of wheel '{wheel}' are not those of hwheel: {error}") from None
    if 'now_ns' not in snapshot.config:
        clock = {'boottime': time.CLOCK_BOOTTIME, 'realtime': time.CLOCK_REALTIME,
                 'tai': time.CLOCK_TAI}.get(snapshot.config.get('clock'), time.CLOCK_MONOTONIC)
        snapshot.time_ns = time.clock_gettime_ns(clock)
    return snapshot


#
# Recordings
#

def format_snapshot(snapshot):
    """A line of a recording."""
    return json.dumps({'version': VERSION, 'wheel': snapshot.wheel,
                       'time_ns': snapshot.time_ns, 'taken_ns': snapshot.taken_ns,
                       'files': snapshot.files}) + '\n'


def read_recording(lines, name):
    """The snapshots of a recording. Tells the user which of them are broken."""
    found, broken = [], []
    marked = None           # MarkedLines of the snapshot that has begun
    for number, line in enumerate(lines, 1):
        try:
            # A console may put text before a mark, but not before an object
            mark = MARK.search(line)
            if line.startswith('{'):
                found.append(parse_object(line))
            elif mark:
                word, _, rest = line[mark.end():].rstrip('\r\n').partition(' ')
                if word == 'begin':
                    if marked:
                        broken.append((marked.number, 'it has no end'))
                    marked = MarkedLines(number, int(mark[1]))
                    marked.begin(rest)
                elif marked and word == 'end':
                    begun, marked = marked, None
                    found.append(begun.end(rest))
                elif marked:
                    marked.add(word, rest)
            elif newer := re.match(r'hwr([0-9]+) begin ', line):
                raise Error(f'it is of version {newer[1]}; this program knows version 2')
        except Error as error:
            broken.append((number, str(error)))
    if marked:
        broken.append((marked.number, 'it has no end'))
    if not found and broken:
        raise Error(f'{name} holds no whole snapshot; line {broken[0][0]}: {broken[0][1]}')
    if not found:
        raise Error(f'{name} holds no recording; make one with hwheel-top --record '
                    'or hwheel-record.sh')
    for number, why in broken[:3]:
        warn(f'{name}, line {number}: a snapshot is left out: {why}')
    if len(broken) > 3:
        warn(f'{name}: {len(broken) - 3} more snapshots are left out')
    add_clock(found, name)
    return found


class MarkedLines:
    """A snapshot in marked lines, so far."""

    def __init__(self, number, version):
        self.number, self.version = number, version
        self.wheel, self.taken_ns, self.files, self.count, self.why = '', 0, {}, 0, None

    def whole(self, rest):
        """Takes the end off a line."""
        if self.version == 1:
            return rest
        if not rest.endswith(END):
            self.why = self.why or f"a line ends with '{printable(rest[-20:])}'"
        return rest.removesuffix(END)

    def begin(self, rest):
        # The name may have blanks
        self.wheel, _, seconds = self.whole(rest).rpartition(' ')
        if re.fullmatch(r'[0-9]{1,15}(?:\.[0-9]{1,9})?', seconds):
            self.taken_ns = int(Fraction(seconds) * 10 ** 9)
        else:
            self.why = f"'{printable(seconds, 40)}' is no time"

    def add(self, file, rest):
        if file not in FILES:
            self.why = self.why or f"it has a line of '{printable(file, 40)}'"
        self.files.setdefault(file, []).append(self.whole(rest) + '\n')
        self.count += 1

    def end(self, rest):
        rest = self.whole(rest)
        if self.version > 1 and rest != str(self.count):
            self.why = self.why or f'it has {self.count} lines, not {printable(rest, 20)}'
        if self.why:
            raise Error(self.why)
        snapshot = Snapshot(self.wheel, None,
                            {file: ''.join(rows) for file, rows in self.files.items()},
                            self.taken_ns)
        # Version 1 has no time of the wheel's clock. Without a suspend it is the time since boot
        if not snapshot.is_now and not snapshot.can_be_set:
            due = min((row['next_ns'] for row in snapshot.rows('levels')
                       if row['next_ns'] is not None), default=self.taken_ns)
            if due > self.taken_ns - 10 ** 9:
                snapshot.time_ns, snapshot.is_now = self.taken_ns, True
        return snapshot


def add_clock(snapshots, name):
    """Old recordings have only the time of the wheel's clock. Somebody may have set that clock."""
    guesses = 0
    for wheel in {snapshot.wheel for snapshot in snapshots if snapshot.taken_ns is None}:
        mine = [snapshot for snapshot in snapshots if snapshot.wheel == wheel]
        if not mine[0].can_be_set:
            for snapshot in mine:
                snapshot.taken_ns = snapshot.time_ns
            continue
        spans = [after.time_ns - before.time_ns for before, after in zip(mine, mine[1:])]
        usual = int(statistics.median([span for span in spans if span > 0] or [10 ** 9]))
        mine[0].taken_ns = 0
        for before, after, span in zip(mine, mine[1:], spans):
            guess = not usual // 8 <= span <= usual * 8
            guesses += guess
            after.taken_ns = before.taken_ns + (usual if guess else span)
    if guesses:
        warn(f"{name}: the wheel's clock was set while it was recorded, and the recording has no "
             f'clock of its own; {guesses} intervals are guesses')


def parse_object(line):
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise Error('not a snapshot, or cut short') from None
    if not isinstance(found, dict) or found.get('version') != VERSION:
        version = found.get('version') if isinstance(found, dict) else None
        raise Error('not a snapshot' if version is None else
                    f'it is of version {printable(version, 20)}; this program knows version '
                    f'{VERSION}')
    wheel, files = found.get('wheel'), found.get('files')
    time_ns, taken_ns = found.get('time_ns'), found.get('taken_ns')
    if not isinstance(wheel, str) or not number_in(time_ns, TIME) or \
            taken_ns is not None and not number_in(taken_ns, TIME) or \
            not isinstance(files, dict) or \
            not all(isinstance(text, str) for text in files.values()):
        raise Error('a snapshot needs wheel, time_ns and files')
    return Snapshot(wheel, time_ns, files, taken_ns)


def open_recording(path):
    """All snapshots of a file; '-' is stdin."""
    return with_lines(path, read_recording)


def with_lines(path, read):
    """What read(lines, name) makes of a file; '-' is stdin."""
    if path == '-':
        if sys.stdin is None:
            raise Error("can't read stdin: it is closed")
        return read(sys.stdin, 'stdin')
    try:
        with open(path, encoding='utf-8', errors='replace', newline='\n') as file:
            return read(file, path)
    except (OSError, ValueError) as error:
        # ValueError: the name has a NUL
        raise Error(f"can't read {path}: {getattr(error, 'strerror', error)}") from None
