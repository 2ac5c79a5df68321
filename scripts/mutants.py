#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Mutates the sources of hwheel.ko by machine, and runs the tests that run in user space on
each mutant. scripts/mutants.sh says how to call it.

The mutator works on the tokens of the functions, not on a syntax tree: half of the
expressions are arguments of macros (min(), READ_ONCE(), WARN_ONCE()), and a syntax tree
has only their expansions. The compiler refuses mutants that make no sense.
"""

import argparse
import collections
import concurrent.futures
import glob
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

# Tracepoints, and new names on old kernels
LEFT_OUT = {'module/trace.h', 'module/compat.h'}


def files_of(top):
    """The files that are mutated."""
    return ['hwheel.c', 'hwheel_jiffies.h'] + \
        sorted(set(glob.glob('module/*.[ch]', root_dir=top)) - LEFT_OUT)


#
# Tokens
#

TOKEN = re.compile(r'''
    (?P<space>\s+|/\*.*?\*/|//[^\n]*)
  | (?P<line>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|[0-9]+[uUlL]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
''', re.X | re.S | re.M)

Token = collections.namedtuple('Token', 'kind text start end')
Mutant = collections.namedtuple('Mutant', 'file function operator line last edit key')

# Tests, not code of the module
SKIPPED = re.compile(r'levels_check')
OPENING = {'(': ')', '[': ']', '{': '}'}
KEYWORDS = {'return', 'case', 'sizeof', 'typeof', 'goto', 'else', 'do'}
TYPES = {'const', 'static', 'struct', 'enum', 'unsigned', 'u8', 'u16', 'u32', 'u64', 's64',
         'bool', 'int', 'long', 'char', 'void', 'size_t', 'ktime_t', 'loff_t', 'union'}
LOCK = re.compile(r'(raw_spin_|spin_|mutex_|cpus_read_|local_irq_|hwheel_(un)?lock(?!dep))\w*$')
# Functions and macros whose result stays the same if their arguments are swapped
SYMMETRIC = {'strcmp', 'min', 'max', 'min_t', 'max_t', 'MINMAX', 'READ_ONCE', 'hwheel_deadline'}
BINARY = {
    '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['/'],
    '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='], '>=': ['>', '<'],
    '==': ['!='], '!=': ['=='], '&&': ['||'], '||': ['&&'],
    '&': ['|'], '|': ['&'], '^': ['|'], '<<': ['>>'], '>>': ['<<'],
    '+=': ['-='], '-=': ['+='], '|=': ['&='], '&=': ['|='], '<<=': ['>>='], '>>=': ['<<='],
}
KINDS = {'+': 'arithmetic', '-': 'arithmetic', '*': 'arithmetic', '/': 'arithmetic',
         '%': 'arithmetic', '+=': 'arithmetic', '-=': 'arithmetic',
         '<': 'comparison', '<=': 'comparison', '>': 'comparison', '>=': 'comparison',
         '==': 'comparison', '!=': 'comparison', '&&': 'logic', '||': 'logic'}


def tokens_of(text):
    tokens = []
    for match in TOKEN.finditer(text):
        if match.lastgroup not in ('space', 'line'):
            tokens.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
    return tokens


class Source:
    """A file: its functions, and their mutants."""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.tokens = tokens_of(text)
        self.pair = self.pairs()
        self.edits = []
        self.function = None
        self.find_functions()

    def pairs(self):
        """The index of the other bracket, for each bracket."""
        pair, stack = {}, []
        for i, token in enumerate(self.tokens):
            if token.kind != 'op':
                continue
            if token.text in OPENING:
                stack.append(i)
            elif token.text in OPENING.values():
                pair[i] = stack.pop()
                pair[pair[i]] = i
        return pair

    def is_text(self, i, *texts):
        return 0 <= i < len(self.tokens) and self.tokens[i].text in texts

    def part(self, first, last):
        """The text from token FIRST to token LAST."""
        return self.text[self.tokens[first].start:self.tokens[last].end]

    #
    # Functions and statements
    #

    def find_functions(self):
        i = begin = 0
        while i < len(self.tokens):
            text = self.tokens[i].text
            if text == '{':
                if self.is_text(i - 1, ')'):
                    opening = next(j for j in range(begin, i) if self.is_text(j, '('))
                    self.function = self.tokens[opening - 1].text
                    if not SKIPPED.match(self.function):
                        self.block(i)
                        self.expressions(i, self.pair[i])
                i = begin = self.pair[i] + 1
            elif text in '([':
                i = self.pair[i] + 1
            else:
                i += 1
                if text == ';':
                    begin = i

    def block(self, i):
        """Mutates the statements of the block that begins at token I. Returns its end."""
        end, statements = self.pair[i], []
        i += 1
        while i < end:
            first = i
            i, kind = self.statement(i)
            statements.append((first, i - 1, kind))
        for before, after in zip(statements, statements[1:]):
            self.swap(before, after)
        return end + 1

    def swap(self, before, after):
        """Swaps two statements, if one of them locks or unlocks."""
        locks = [self.tokens[s[0]].text for s in (before, after)
                 if s[2] == 'plain' and LOCK.match(self.tokens[s[0]].text)]
        if not locks or 'declaration' in (before[2], after[2]) or 'label' in (before[2], after[2]):
            return
        if any(self.part(s[0], s[1]).count('\n') > 2 for s in (before, after)):
            return
        first, last = self.tokens[before[0]].start, self.tokens[after[1]].end
        between = self.text[self.tokens[before[1]].end:self.tokens[after[0]].start]
        if '#' in between:
            return
        self.edit('lock', first, last, self.part(after[0], after[1]) + between +
                  self.part(before[0], before[1]))

    def semicolon(self, i):
        while not self.is_text(i, ';'):
            i = self.pair[i] + 1 if self.tokens[i].text in OPENING else i + 1
        return i

    def statement(self, i):
        """Returns the token after the statement at token I, and its kind."""
        token = self.tokens[i]
        text = token.text
        if text == '{':
            return self.block(i), 'block'
        if text == ';':
            return i + 1, 'empty'
        if text in ('if', 'while', 'switch', 'for'):
            close = self.pair[i + 1]
            if text in ('if', 'while'):
                self.condition(text, i + 2, close - 1)
            elif text == 'for':
                first = self.semicolon(i + 2) + 1
                last = self.semicolon(first) - 1
                if last >= first:
                    self.condition(text, first, last)
            i, _ = self.statement(close + 1)
            if text == 'if' and self.is_text(i, 'else'):
                i, _ = self.statement(i + 1)
            return i, 'compound'
        if text == 'do':
            i, _ = self.statement(i + 1)
            self.condition('while', i + 2, self.pair[i + 1] - 1)
            return self.pair[i + 1] + 2, 'compound'
        if text in ('case', 'default'):
            while not self.is_text(i, ':'):
                i += 1
            return i + 1, 'label'
        if token.kind == 'word' and self.is_text(i + 1, ':') and not self.is_text(i + 2, ':'):
            return i + 2, 'label'
        if (token.kind == 'word' and self.is_text(i + 1, '(') and
                (self.is_text(self.pair[i + 1] + 1, '{') or
                 self.tokens[self.pair[i + 1] + 1].kind == 'word')):
            return self.statement(self.pair[i + 1] + 1)[0], 'compound'	# a macro's loop
        end = self.semicolon(i)
        if text == 'return':
            self.returned(i + 1, end - 1)
            if end == i + 1:
                self.edit('statement', token.start, self.tokens[end].end, ';')
            return end + 1, 'return'
        if text in TYPES or (token.kind == 'word' and self.tokens[i + 1].kind == 'word' and
                             text not in ('goto', 'fallthrough')):
            return end + 1, 'declaration'
        self.edit('lock' if LOCK.match(text) else 'statement', token.start,
                  self.tokens[end].end, ';')
        return end + 1, 'jump' if text in ('break', 'continue', 'goto') else 'plain'

    def condition(self, what, first, last):
        start, end = self.tokens[first].start, self.tokens[last].end
        text = self.text[start:end]
        self.edit('condition', start, end, '0')
        if what == 'if':
            self.edit('condition', start, end, '1')
            self.edit('condition', start, end, f'!({text})')

    def returned(self, first, last):
        if last < first:
            return
        start, end = self.tokens[first].start, self.tokens[last].end
        text = self.text[start:end]
        for value in '0', '1':
            if text not in ('0', '1', 'true', 'false', 'NULL') or \
                    value != {'true': '1', 'false': '0', 'NULL': '0'}.get(text, text):
                self.edit('return', start, end, value)

    #
    # Expressions
    #

    def is_operand(self, i):
        """Does an operand end with token I?"""
        token = self.tokens[i]
        return (token.kind in ('number', 'string') or token.text in (')', ']') or
                (token.kind == 'word' and token.text not in KEYWORDS))

    def left(self, i, stops):
        """The first token of the operand that ends before operator I."""
        while True:
            i -= 1
            text = self.tokens[i].text
            if text in (')', ']', '}'):
                i = self.pair[i]
            elif text in stops or text in OPENING or text in KEYWORDS:
                return i + 1

    def right(self, i, stops):
        """The last token of the operand that begins after operator I."""
        i += 1
        while True:
            text = self.tokens[i].text
            if text in OPENING:
                i = self.pair[i]
            elif text in stops or text in (')', ']', '}'):
                return i - 1
            i += 1

    def expressions(self, first, last):
        for i in range(first, last):
            token = self.tokens[i]
            if token.kind == 'number':
                self.constant(token)
            elif token.kind == 'word':
                if token.text in ('true', 'false'):
                    self.edit('constant', token.start, token.end,
                              'false' if token.text == 'true' else 'true')
                if self.is_text(i + 1, '(') and token.text not in SYMMETRIC:
                    self.arguments(i + 1)
            elif token.kind == 'op':
                self.operator(i)

    def constant(self, token):
        digits = token.text.rstrip('uUlL')
        suffix = token.text[len(digits):]
        value = int(digits, 8 if re.match('0[0-9]', digits) else 0)
        for other in (value + 1, value - 1):
            if other >= 0:
                self.edit('constant', token.start, token.end, f'{other}{suffix}')

    def arguments(self, opening):
        starts, i = [opening + 1], opening + 1
        while i < self.pair[opening]:
            if self.tokens[i].text in OPENING:
                i = self.pair[i]
            elif self.is_text(i, ','):
                starts.append(i + 1)
            i += 1
        starts.append(self.pair[opening] + 1)
        for a, b, c in zip(starts, starts[1:], starts[2:]):
            one, other = self.part(a, b - 2), self.part(b, c - 2)
            if one == other or '"' in one + other:
                continue
            between = self.text[self.tokens[b - 2].end:self.tokens[b].start]
            self.edit('arguments', self.tokens[a].start, self.tokens[c - 2].end,
                      other + between + one)

    def operator(self, i):
        token = self.tokens[i]
        text, start, end = token.text, token.start, token.end
        after = self.tokens[i + 1]
        if text == '!':
            self.edit('condition', start, end, '')
        elif text == '~':
            self.edit('bits', start, end, '')
        elif text in ('++', '--'):
            self.edit('arithmetic', start, end, '--' if text == '++' else '++')
        elif text == '?':
            self.choice(i)
        elif text in BINARY and self.is_operand(i - 1):
            for other in BINARY[text]:
                self.edit(KINDS.get(text, 'bits'), start, end, other)
            if text in ('&&', '||', '|'):
                stops = {',', ';', '?', ':', '=', '||', '|=', '&='}
                if text != '||':
                    stops.add('&&')
                if text == '|':
                    stops |= {'|', '==', '!=', '<', '>', '<=', '>='}
                kind = 'flag' if text == '|' else 'logic'
                first, last = self.left(i, stops), self.right(i, stops)
                self.edit(kind, start, self.tokens[last].end, '')
                self.edit(kind, self.tokens[first].start, after.start, '')

    def choice(self, i):
        stops = {',', ';', ':'}
        colon = i + 1
        depth = 0
        while depth or not self.is_text(colon, ':'):
            depth += self.is_text(colon, '?') - self.is_text(colon, ':')
            colon = self.pair[colon] + 1 if self.tokens[colon].text in OPENING else colon + 1
        last = self.right(colon, stops - {':'})
        if colon == i + 1:
            self.edit('choice', self.tokens[i].start, self.tokens[last].end, '')
            self.edit('choice', self.tokens[i].start, self.tokens[i].start, '&& 0 ')
            return
        yes, no = self.part(i + 1, colon - 1), self.part(colon + 1, last)
        self.edit('choice', self.tokens[i + 1].start, self.tokens[colon - 1].end, no)
        self.edit('choice', self.tokens[colon + 1].start, self.tokens[last].end, yes)

    def edit(self, operator, start, end, text):
        self.edits.append((self.function, operator, start, end, text))

    #
    # Mutants
    #

    def mutants(self):
        """Yields all mutants. Their keys do not depend on line numbers."""
        seen, keys = set(), collections.Counter()
        for function, operator, start, end, text in self.edits:
            if (start, end, text) in seen:
                continue
            seen.add((start, end, text))
            first = self.text.rfind('\n', 0, start) + 1
            last = self.text.find('\n', end)
            before = squeeze(self.text[first:last])
            after = squeeze(self.text[first:start] + text + self.text[end:last])
            key = f'{self.name} {function}: {before} => {after}'
            keys[key] += 1
            if keys[key] > 1:
                key += f' ({keys[key]})'
            yield Mutant(self.name, function, operator, self.text.count('\n', 0, start) + 1,
                         self.text.count('\n', 0, end) + 1, (start, end, text), key)


def squeeze(text):
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    text = re.sub(r'/\*.*|^.*\*/', ' ', text, flags=re.S)
    return ' '.join(text.split())


#
# Tests
#

class Unbuilt(Exception):
    """The compiler refuses the mutant."""


class Broken(Exception):
    """A test is of no use: the code itself fails it, or it does not include the mutants."""


def cpu_seconds(pid):
    """The CPU time of a process and of its children that have ended."""
    with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
        times = file.read().rpartition(')')[2].split()[11:15]
    return sum(int(ticks) for ticks in times) / os.sysconf('SC_CLK_TCK')


class Bench:
    """Builds and tests mutants. Objects that do not depend on a mutant are built once."""

    SIM = ('calls', 'kernel', 'main', 'oracle', 'program', 'race', 'sleep', 'work')
    # Built with -O0: compiling takes longer than these programs' tests
    QUICK = ('replay', 'first')

    def __init__(self, options):
        self.options = options
        self.top = options.top
        self.dir = options.dir
        self.known = {}		# what a test said about an object
        self.original = {}	# hashes of objects
        self.included = {}	# files of the module that each program includes
        self.took = {}		# seconds that each test took with the original
        self.lock = threading.Lock()
        self.locks = collections.defaultdict(threading.Lock)
        self.flags = {kind: self.ask('sim.sh', 'flags', kind)
                      for kind in ('plain', 'rt', 'race')}
        self.flags['first'] = self.flags['plain']
        self.fuzz = self.ask('fuzz.sh', 'flags')
        # Name, program, its arguments: fast ones first
        self.tests = [('corpus', 'replay', [f'{self.top}/fuzz/corpus.txt']),
                      ('kept plain', 'first', ['first', *self.ask('sim.sh', 'kept', 'plain')]),
                      ('levels', 'kunit', [])]
        for kind in ('rt', 'race'):
            self.tests.append((f'kept {kind}', kind,
                               ['first', *self.ask('sim.sh', 'kept', kind)]))
        for kind, share in (('plain', 1), ('rt', 4), ('race', 8)):
            self.tests.append((f'seeds {kind}', kind,
                               ['some', '1', str(options.seeds // share)]))
        self.tests.append(('exhaustive', 'exhaustive', ['2']))
        if options.tests == 'none':
            self.tests = [('none', 'plain', [])]

    def ask(self, script, *arguments):
        return subprocess.run([f'{self.top}/scripts/{script}', *arguments], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.split('\n')[:-1]

    def gcc(self, *arguments):
        done = subprocess.run(['gcc', *arguments], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Unbuilt(done.stderr)

    def parts(self, program):
        """The parts of a program besides the module. Builds them when they are first needed."""
        if program in self.flags:
            flags = [flag for flag in self.flags[program] if not flag.startswith('-fsanitize')]
            names = [f'sim/{name}' for name in self.SIM]
        else:
            flags = self.fuzz
            names = {'replay': ['fuzz/replay'], 'kunit': ['fuzz/kunit'],
                     'exhaustive': []}[program]
        parts = []
        for name in names:
            parts.append(f'{self.dir}/{program}-{os.path.basename(name)}.o')
            if program not in self.original:
                self.gcc(*flags, '-g0', f'-I{self.top}', '-c', f'{self.top}/{name}.c',
                         '-o', parts[-1])
        return parts

    def hash_of_original(self, program):
        with self.locks[program]:
            if program not in self.original:
                self.parts(program)
                self.original[program] = self.object(program, self.top,
                                                     f'{self.dir}/original')
                self.check_mutable(program)
            return self.original[program]

    def command(self, program, src):
        """gcc's arguments for the part of a program that includes the module."""
        strict = ['-g0', '-Werror=int-conversion', '-Werror=incompatible-pointer-types',
                  '-Werror=implicit-function-declaration', '-Werror=format', f'-I{src}',
                  '-fsanitize=bounds,shift', '-fsanitize-undefined-trap-on-error',
                  f'-ffile-prefix-map={src}=.', f'-ffile-prefix-map={self.top}=.']
        level = '-O0' if program in self.QUICK else '-O2' if program == 'exhaustive' else '-O1'
        if program in self.flags:
            return [*self.flags[program], level, *strict, f'{self.top}/sim/wheel.c']
        # A file includes the headers of its own folder first
        name = {'replay': 'fuzz/fuzz_levels.c', 'kunit': 'tests/levels.c',
                'exhaustive': 'proofs/exhaustive.c'}[program]
        return [*self.fuzz, level, *strict, '-iquote', src, f'{self.top}/{name}']

    def object(self, program, src, out):
        """Compiles the part of a program that includes the module. Returns its hash."""
        os.makedirs(out, exist_ok=True)
        path = f'{out}/{program}.o'
        self.gcc(*self.command(program, src), '-c', '-o', path)
        # Without debug information (-g0) the same code makes the same file. So hash the file.
        with open(path, 'rb') as file:
            return hashlib.sha256(file.read()).hexdigest()

    def link(self, program, out):
        options = ['-no-pie'] if program in self.flags else []
        self.gcc(f'{out}/{program}.o', *self.parts(program), *options, '-o', f'{out}/{program}')

    def check_original(self, name, program, arguments):
        """Raises Broken if the original fails the test: such a test would catch all mutants."""
        out = f'{self.dir}/original'
        with self.locks[program]:
            if name in self.took:
                return
            if not os.path.exists(f'{out}/{program}'):
                self.link(program, out)
            begin = time.monotonic()
            found = self.fails([f'{out}/{program}', *arguments], self.options.timeout)
            if found:
                raise Broken(f'{name} fails without a mutation: {found}')
            self.took[name] = time.monotonic() - begin

    def fails(self, command, most):
        """Returns None if the test passes, else what it printed first. A test that takes more
        than @most seconds of CPU time hangs. The machine may be busy with other work, so much
        more time may pass."""
        if self.options.tests == 'none':
            command = ['true']
        with tempfile.TemporaryFile('w+', dir=self.dir, errors='replace') as out:
            test = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                    start_new_session=True,
                                    env={**os.environ, 'SIM_SECONDS': '5'})
            end = time.monotonic() + 100 * most
            while test.poll() is None:
                if cpu_seconds(test.pid) > most or time.monotonic() > end:
                    os.killpg(test.pid, signal.SIGKILL)
                    test.wait()
                    return 'it hangs'
                time.sleep(0.01)
            if not test.returncode:
                return None
            out.seek(0)
            words = [line for line in out.read().split('\n') if line]
        return words[0] if words else f'status {test.returncode}'

    def sources(self, program):
        """The files of the module that a program includes."""
        with self.lock:
            if program not in self.included:
                rule = subprocess.run(['gcc', *self.command(program, self.top), '-MM'],
                                      check=True, stdout=subprocess.PIPE, text=True).stdout
                paths = {os.path.relpath(word, self.top) for word in rule.split()}
                self.included[program] = paths & set(files_of(self.top))
            return self.included[program]

    def check_mutable(self, program):
        """Raises Broken if the program does not include the mutated sources: it would catch no
        mutant."""
        for name in self.sources(program):
            src = self.source(name, '#error mutated')
            try:
                self.object(program, src, src)
            except Unbuilt:
                continue
            finally:
                shutil.rmtree(src)
            raise Broken(f'{program} does not include the mutants of {name}')

    def source(self, changed, text):
        """A folder with the sources, one of which has another text."""
        src = tempfile.mkdtemp(dir=self.dir)
        os.mkdir(f'{src}/module')
        for path in glob.glob('hwheel*.[ch]', root_dir=self.top) + \
                glob.glob('module/*', root_dir=self.top):
            if path != changed:
                os.symlink(f'{self.top}/{path}', f'{src}/{path}')
        with open(f'{src}/{changed}', 'w', encoding='utf-8') as file:
            file.write(text)
        return src

    def judge(self, mutant, text):
        """Returns what became of the mutant, and which test caught it."""
        start, end, new = mutant.edit
        # WARN_ONCE() has __LINE__ in it: keep the numbers of the lines that follow
        new += '\n' * (text.count('\n', start, end) - new.count('\n'))
        src = self.source(mutant.file, text[:start] + new + text[end:])
        try:
            return self.judge_in(src, mutant.file)
        except Unbuilt:
            return 'unbuilt', ''
        finally:
            shutil.rmtree(src)

    def judge_in(self, src, changed):
        built, same = {}, True
        for name, program, arguments in self.tests:
            if changed not in self.sources(program):
                continue
            if program not in built:
                original = self.hash_of_original(program)
                built[program] = self.object(program, src, src)
                if built[program] != original:
                    # Without optimization the same code is written in many ways
                    same &= program in self.QUICK
                    self.link(program, src)
            if built[program] == self.original[program]:
                continue
            with self.lock:
                found = self.known.get((name, built[program]), '')
            if found == '':
                self.check_original(name, program, arguments)
                # A mutant hangs if it takes more than 5 s + 10 * (time of the original)
                found = self.fails([f'{src}/{program}', *arguments], 5 + 10 * self.took[name])
                with self.lock:
                    self.known[name, built[program]] = found
            if found:
                return 'caught', f'{name}: {found}'
        return 'same' if same else 'survived', ''


#
# Which mutants
#

def changed_lines(top, since):
    """The lines of each file that changed since a commit."""
    lines = collections.defaultdict(set)
    name = None
    diff = subprocess.run(['git', '-C', top, 'diff', '-M', '-U0', since], check=True,
                          stdout=subprocess.PIPE, text=True, errors='replace').stdout
    for line in diff.split('\n'):
        if line.startswith('+++ '):
            name = line[6:]
        match = re.match(r'@@ -\S+ \+(\d+)(?:,(\d+))? @@', line)
        if match:
            first, count = int(match[1]), int(match[2] or 1)
            lines[name].update(range(first, first + count))
    return lines


def read_equivalent(path):
    """The mutants that no test can catch, with the reason."""
    entries = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            line = line.rstrip('\n')
            if not line or line.startswith('#'):
                continue
            key, _, reason = line.rpartition(' # ')
            if not key or not reason:
                sys.exit(f'mutants: {path}: no reason: {line}')
            entries[key] = reason
    return entries


def choose(options, mutants):
    if options.only:
        return [m for m in mutants if options.only == m.key]
    if options.file:
        mutants = [m for m in mutants if m.file in options.file.split()]
    if options.function:
        mutants = [m for m in mutants if m.function in options.function.split()]
    if options.since:
        lines = changed_lines(options.top, options.since)
        mutants = [m for m in mutants if lines[m.file] & set(range(m.line, m.last + 1))]
    if options.count:
        mutants = list(mutants)
        random.Random(options.seed).shuffle(mutants)
    return mutants[:options.count or None]


#
# Results
#

def score(results):
    caught = sum(1 for _, what, _ in results if what == 'caught')
    survived = sum(1 for _, what, _ in results if what == 'survived')
    if not caught + survived:
        return f'{caught:6} {survived:9}       -'
    return f'{caught:6} {survived:9} {100 * caught / (caught + survived):6.1f}%'


def table(title, results, column):
    print(f'\n{title:22} {"caught":>6} {"survived":>9} {"score":>7}')
    for name in sorted({column(r[0]) for r in results}):
        print(f'{name:22} {score([r for r in results if column(r[0]) == name])}')


def report(results):
    counts = collections.Counter(what for _, what, _ in results)
    tests = collections.Counter(how.split(':')[0] for _, what, how in results if what == 'caught')
    table('file', results, lambda m: m.file)
    table('operator', results, lambda m: m.operator)
    print('\ncaught by: ' + ', '.join(f'{name} {n}' for name, n in tests.most_common()))
    counted = counts['caught'] + counts['survived']
    print(f'mutants: {len(results)} made, {counts["unbuilt"]} do not compile, '
          f'{counts["same"]} are the same code, {counts["equivalent"]} are listed as equivalent')
    rate = f'{100 * counts["caught"] / counted:.1f} %' if counted else 'none'
    print(f'mutants: {counts["caught"]} caught, {counts["survived"]} survived, score {rate}')
    return 100 * counts['caught'] / counted if counted else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--top', required=True)
    parser.add_argument('--dir', required=True)
    parser.add_argument('--log', required=True)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--count', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--seeds', type=int, default=1000)
    parser.add_argument('--timeout', type=int, default=120)
    parser.add_argument('--file', default='')
    parser.add_argument('--function', default='')
    parser.add_argument('--since', default='')
    parser.add_argument('--only', default='')
    parser.add_argument('--tests', default='')
    parser.add_argument('--least', type=float, default=0)
    parser.add_argument('--list', action='store_true')
    options = parser.parse_args()

    texts = {}
    mutants = []
    for name in files_of(options.top):
        with open(f'{options.top}/{name}', encoding='utf-8') as file:
            texts[name] = file.read()
        mutants += Source(name, texts[name]).mutants()
    equivalent = read_equivalent(f'{options.top}/sim/equivalent')
    stale = set(equivalent) - {m.key for m in mutants}
    for key in sorted(stale):
        print(f'mutants: sim/equivalent: there is no such mutant: {key}')
    if stale:
        return 1
    mutants = choose(options, mutants)
    if options.list:
        for mutant in mutants:
            print(f'{mutant.operator:12} {mutant.line:5} {mutant.key}')
        return 0
    if options.only and not mutants:
        print(f'mutants: there is no such mutant: {options.only}')
        return 1

    try:
        return judge_all(options, mutants, texts, equivalent)
    except Broken as error:
        print(f'mutants: {error}')
        return 1


def judge_all(options, mutants, texts, equivalent):
    """Prints what becomes of the mutants; returns the exit status."""
    bench = Bench(options)
    results = []

    def one(mutant):
        if mutant.key in equivalent:
            return mutant, 'equivalent', equivalent[mutant.key]
        return (mutant, *bench.judge(mutant, texts[mutant.file]))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, \
            open(options.log, 'w', encoding='utf-8') as log:
        for mutant, what, how in pool.map(one, mutants):
            results.append((mutant, what, how))
            log.write(f'{what}\t{mutant.operator}\t{mutant.line}\t{mutant.key}\t{how}\n')
            log.flush()
            if what == 'survived':
                print(f'survived: {mutant.file}:{mutant.line}: {mutant.operator}\n'
                      f'  {mutant.key}', flush=True)
    rate = report(results)
    return rate is not None and rate < options.least


if __name__ == '__main__':
    sys.exit(main())
