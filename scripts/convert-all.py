#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Convert each driver of a kernel that uses timers, or delayed work, and build it. See
convert-all.sh.

A driver is a module of kbuild, or what one folder builds into the kernel, with the headers
that declare its timers, or its delayed work. Modules that share such a header are one driver,
unless the header is in include/.
"""

import argparse
import collections
import hashlib
import json
import multiprocessing
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
CONVERTER = TOP / "tools/hwheel-convert"

# What hwheel-convert moves: the types, the words of a declaration, and the calls
TYPES = {"timers": r"timer_list|hrtimer", "work": r"delayed_work"}
DECLARED = {"timers": r"DEFINE_TIMER", "work": r"DECLARE_DELAYED_WORK|DECLARE_DEFERRABLE_WORK"}
CALLS = {
    "timers": r"(?:add|mod|del)_timer\w*|from_timer|hrtimer_\w+|"
              r"timer_(?:setup|delete|shutdown|pending|reduce|container_of)\w*",
    "work": r"(?:queue|schedule|mod|cancel|flush|disable|enable|to)_delayed_work\w*|"
            r"delayed_work_pending|INIT_(?:DELAYED|DEFERRABLE)_WORK\w*",
}
CALL = {what: r"\b(?:%s)\s*\(" % calls for what, calls in CALLS.items()}
TYPE = {what: re.compile(r"\bstruct\s+(?:%s)\b|\b(?:%s)\b" % (TYPES[what], DECLARED[what]))
        for what in TYPES}
USED = {what: re.compile(TYPE[what].pattern + "|" + CALL[what]) for what in TYPES}
ASIDE = ("kernel/time/", "kernel/sched/")
ROOTS = ("init arch/x86 kernel certs mm fs ipc security crypto io_uring block drivers sound "
         "net lib virt").split()

# Calls whose number must be the same before and after the conversion. Each pair has a pattern of
# the kernel's calls, and one of hwheel's. After the conversion, calls of both count.
FAMILIES = {
    "timers": {
        "set up": (r"(?:hr)?timer_setup(?:_on_stack)?|DEFINE_TIMER|"
                   r"hrtimer_init(?:_on_stack)?",
                   r"hwheel_setup(?:_on_stack)?|DEFINE_HWHEEL_TIMER"),
        "arm": (r"mod_timer(?:_pending)?|timer_reduce|add_timer(?:_on|_local|_global)?|"
                r"hrtimer_start(?:_range_ns)?|(?<!enum )hrtimer_restart|"
                r"hrtimer_forward(?:_now)?|hrtimer_(?:set|add)_expires(?:_ns)?",
                r"hwheel_(?:add\w*|mod_pending|reduce|forward)"),
        "cancel": (r"timer_(?:delete|shutdown)(?:_sync)?|timer_delete_sync_try|"
                   r"hrtimer_(?:try_to_)?cancel",
                   r"hwheel_(?:try_)?(?:cancel|shutdown)(?:_sync)?"),
        "ask": (r"timer_pending|hrtimer_is_queued", r"hwheel_pending"),
    },
    "work": {
        "set up": (r"INIT_DELAYED_WORK(?:_ONSTACK)?|DECLARE_DELAYED_WORK",
                   r"HWHEEL_INIT_DELAYED_WORK(?:_ONSTACK)?|DECLARE_HWHEEL_DELAYED_WORK"),
        "queue": (r"(?:queue|schedule)_delayed_work(?:_on)?",
                  r"hwheel_queue_delayed_work(?:_on)?"),
        "change": (r"mod_delayed_work(?:_on)?", r"hwheel_mod_delayed_work(?:_on)?"),
        "cancel": (r"(?:cancel|disable)_delayed_work(?:_sync)?",
                   r"hwheel_(?:cancel|disable)_delayed_work(?:_sync)?"),
        "enable": (r"enable_delayed_work", r"hwheel_enable_delayed_work"),
        "flush": (r"flush_delayed_work", r"hwheel_flush_delayed_work"),
        "ask": (r"delayed_work_pending", r"hwheel_delayed_work_pending"),
        "find": (r"to_delayed_work", r"to_hwheel_delayed_work"),
    },
}
# Things that hwheel_system, the wheel of converted timers, does not have. Code with them must
# stay as it is.
STAYS = re.compile(r"\b(?:TIMER_DEFERRABLE|TIMER_IRQSAFE|HRTIMER_MODE_\w+_HARD|"
                   r"CLOCK_(?:REALTIME|BOOTTIME|TAI)|hrtimer_active|"
                   r"(?:INIT|DECLARE)_DEFERRABLE_WORK)\b")
# After the conversion, the code itself names the workqueue of schedule_delayed_work()
SCHEDULES = re.compile(r"\b(?:schedule_delayed_work(?:_on)?\s*\(|system_percpu_wq\b)")


def bare(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", " ", text, flags=re.S)


def read(path):
    return pathlib.Path(path).read_text(encoding="latin-1")


#
# The drivers of a tree
#

def objects(tree):
    """{source file: (kind, object)}: the object that the file becomes a part of."""
    found, todo, seen = {}, list(ROOTS), set()
    while todo:
        folder = os.path.normpath(todo.pop())
        if folder in seen:
            continue
        seen.add(folder)
        ran = subprocess.run(["make", "-s", "-rR", "-C", tree, "-f",
                              TOP / "scripts/convert/objects.mk", "DIR=" + folder],
                             stdout=subprocess.PIPE, text=True, check=True)
        for line in ran.stdout.splitlines():
            words = line.split()
            if len(words) == 1:
                todo.append(os.path.join(folder, words[0]))
                continue
            names = [os.path.normpath(os.path.join(folder, word)) for word in words[1:]]
            for name in names[1:] or names:
                found.setdefault(name[:-2] + ".c", (words[0], names[0]))
    return found


def write_commands(tree, names):
    """Makes kbuild write its command for each file. Removes the preprocessed files."""
    wanted = [name[:-2] + ".i" for name in names]
    subprocess.run(["make", "-k", "-C", tree, "-j", str(os.cpu_count())] + wanted, check=False)
    for name in wanted:
        pathlib.Path(tree, name).unlink(missing_ok=True)


def prepare(tree):
    """Finds the files that the configuration builds, and have to do with timers or delayed work.
    Writes users.json: for each of these files, its object."""
    used = re.compile("|".join(pattern.pattern for pattern in USED.values()))
    found = {name: where for name, where in objects(tree).items()
             if not name.startswith(ASIDE) and os.path.exists(os.path.join(tree, name))}
    files = {name for name in found if used.search(bare(read(os.path.join(tree, name))))}
    write_commands(tree, files)
    # Other files may call functions that take timers, or use their members
    functions, members = set(), set()
    for header in includers(tree, files):
        for move in TYPES:
            words, more = timers_of(bare(read(os.path.join(tree, header))), move)
            functions |= more
            members |= words
    others = {name for name in found.keys() - files
              if has_users(bare(read(os.path.join(tree, name))), functions, members)}
    write_commands(tree, others)
    pathlib.Path(tree, "users.json").write_text(json.dumps(
        {name: found[name] for name in sorted(files | others)}, indent=0))


def has_users(code, functions, members):
    """Whether the code calls one of the functions, or uses members of one of the timers"""
    return not functions.isdisjoint(re.findall(r"\b(\w+)\s*\(", code)) or not members.isdisjoint(
        re.findall(r"(?:->|\.)\s*(\w+)\s*\.\s*(?:expires|function|timer|work)\b", code))


def includers(tree, names):
    """{header: the files among these that include it}. Leaves out the headers of the APIs, of
    machines, and those that are generated."""
    found = collections.defaultdict(set)
    for name in names:
        if command_of(tree, name).exists():
            for header in re.findall(r"^  (?:\$\(wildcard )?(\S+\.[ch])\b",
                                     read(command_of(tree, name)), re.M):
                found[os.path.normpath(header)].add(name)
    return {header: names for header, names in found.items()
            if os.path.exists(os.path.join(tree, header)) and not re.search(
                r"linux/(?:(?:hr)?timer|workqueue)|generated/|^arch/", header)}


def timers_of(code, move):
    """The members of a header's structures that are timers or delayed work, and its functions
    that take such."""
    words = set()
    for several in re.findall(r"\bstruct\s+(?:%s)\b([^;{}()]*);" % TYPES[move], code):
        words.update(re.findall(r"\w+", several))
    return words, set(re.findall(r"\b(\w+)\s*\([^()]*\bstruct\s+(?:%s)\b" % TYPES[move], code))


def command_of(tree, name):
    path = pathlib.Path(tree, name)
    return path.with_name(".%s.i.cmd" % path.stem)


def drivers(tree, move):
    """{name: (its .c files, its headers)}"""
    built = {name: where for name, where in json.loads(read(tree + "/users.json")).items()
             if command_of(tree, name).exists()}
    code = {name: bare(read(os.path.join(tree, name))) for name in built}
    files = {name for name in built if USED[move].search(code[name])}
    units = {}
    for name, (kind, thing) in built.items():
        units[name] = thing[:-2] if kind == "m" else os.path.dirname(name) + "/"
    headers, others = {}, set()
    for header, names in includers(tree, built).items():
        text = bare(read(os.path.join(tree, header)))
        words, functions = timers_of(text, move)
        if not header.startswith("include/") and re.search(CALL[move], text):
            headers[header] = {units[name] for name in names & files}
        if not words and not functions:
            continue
        use = re.compile(r"%s[^;]*(?:->|\.|,)\s*(?:%s)\b|\b(?:%s)\s*\(" % (
            CALL[move], "|".join(words or "^"), "|".join(functions or "^")))
        more = {name for name in names - files if has_users(code[name], functions, words)}
        others |= more
        users = {name for name in names & files if use.search(code[name])} | more
        headers.setdefault(header, set()).update(units[name] for name in users)
    units = {name: units[name] for name in files | others}
    # Modules that share a header outside include/ are one driver
    merged = {unit: unit for unit in units.values()}

    def find(unit):
        while merged[unit] != unit:
            unit = merged[unit]
        return unit
    for header, users in headers.items():
        if not header.startswith("include/"):
            for unit in users:
                merged[find(unit)] = find(min(users))
    found = collections.defaultdict(lambda: ([], []))
    for name, unit in units.items():
        found[find(unit)][0].append(name)
    for header, users in headers.items():
        users = {find(unit) for unit in users}
        if len(users) == 1:
            found[users.pop()][1].append(header)
    return {unit: both for unit, both in found.items() if not files.isdisjoint(both[0])}


#
# One driver
#

class Worker:
    """Converts drivers in a tree of its own, which shares its files with the prepared one."""

    def __init__(self, tree, pristine, hidden, move):
        self.tree, self.pristine, self.hidden, self.move = tree, pristine, hidden, move
        self.journal = pathlib.Path(tree, "converted.json")
        if self.journal.exists():
            self.restore(json.loads(self.journal.read_text()))

    def own(self, names):
        """Makes copies of these files, so that the converter may write to them."""
        self.journal.write_text(json.dumps(names))
        for name in names:
            path = os.path.join(self.tree, name)
            os.unlink(path)
            shutil.copy(os.path.join(self.pristine, name), path)

    def restore(self, names):
        for name in names:
            path = os.path.join(self.tree, name)
            pathlib.Path(path).unlink(missing_ok=True)
            os.link(os.path.join(self.pristine, name), path)
        self.journal.unlink()

    def compile(self, name, tree):
        """Exit status and messages of the compiler."""
        text = read(command_of(tree, name)).split(":=", 1)[1].split("\n", 1)[0]
        words = [word for word in shlex.split(text.split(" ; ")[0])
                 if not word.startswith("-Wp,-MMD")]
        words[words.index("-E")] = "-c"
        with tempfile.NamedTemporaryFile(suffix=".o") as out:
            words[words.index("-o") + 1] = out.name
            words.insert(1, "-I" + self.hidden)
            ran = subprocess.run(words, cwd=tree, stdout=subprocess.PIPE, check=False,
                                 stderr=subprocess.STDOUT, encoding="latin-1")
        return ran.returncode, ran.stdout

    def builds(self, name):
        """Messages of the compiler that only the converted file causes."""
        status, messages = self.compile(name, self.tree)
        lines = re.findall(r"^\S+:\d+:\d+: ((?:error|warning|fatal error): .*)$", messages, re.M)
        if status == 0 and not lines:
            return []
        was, before = self.compile(name, self.pristine)
        if was:
            return None
        return [line for line in lines if line not in before] or \
            ([messages[-500:]] if status else [])

    def run(self, unit, sources, headers):
        began = time.monotonic()
        names = sources + headers
        self.own(names)
        try:
            result = self.convert(unit, sources, names)
        finally:
            self.restore(names)
        result["seconds"] = round(time.monotonic() - began, 1)
        return result

    def convert(self, unit, sources, names):
        before = {name: read(os.path.join(self.tree, name)) for name in names}
        ran = subprocess.run([CONVERTER, "--move", self.move, "--kernel", self.tree] + names,
                             cwd=self.tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             encoding="latin-1", check=False)
        after = {name: read(os.path.join(self.tree, name)) for name in names}
        changed = [name for name in names if after[name] != before[name]]
        kinds = {word for text in before.values() for word in re.findall(
            r"\bstruct\s+(%s)\b" % TYPES[self.move], bare(text))}
        result = {"driver": unit, "kinds": sorted(kinds), "files": len(names), "report": ran.stdout.splitlines(),
                  "changed": changed, "errors": [], "wrong": []}
        # If the compiler has found errors, nothing was written
        not_read = "nothing is written: the compiler found" in ran.stdout
        if ran.returncode not in (0, 1) and not not_read:
            result["errors"].append("hwheel-convert failed")
        # A header changes what all sources see
        for name in sources if set(changed) - set(sources) else changed:
            messages = self.builds(name)
            result["errors"] += ["%s: %s" % (name, line) for line in messages or []]
        result["wrong"] = self.wrong(self.move, before, after)
        groups = re.search(r"groups of [a-z ]+ (\d+) rewritten, (\d+) stay, (\d+) left",
                           ran.stdout)
        result["groups"] = [int(n) for n in groups.groups()] if groups else [0, 0, 0]
        seen = sum(result["groups"])
        if not seen and not not_read and any(TYPE[self.move].search(bare(text)) and re.search(
                r"\b(?:%s)\s*\(" % "|".join(was for was, _ in FAMILIES[self.move].values()),
                bare(text)) for text in before.values()):
            result["wrong"].append("it uses %s, and hwheel-convert has seen none" % self.move)
        result["verdict"] = \
            "not built" if result["errors"] else \
            "wrong" if result["wrong"] else \
            "human" if result["groups"][2] or not_read else \
            "right" if changed else \
            "alone" if seen else "none"
        return result

    @staticmethod
    def wrong(move, before, after):
        """Finds calls that the conversion has lost, and words of STAYS that it has lost.
        This check is simpler than the converter. The build finds uses of a timer's members,
        because the members have other names there: see hide()."""
        old, new = ("\n".join(map(bare, texts.values())) for texts in (before, after))
        found = []
        for family, (was, now) in FAMILIES[move].items():
            count = [len(re.findall(r"\b(?:%s)\s*\(" % pattern, text))
                     for pattern, text in ((was, old), (was + "|" + now, new))]
            if count[0] != count[1]:
                found.append("%s: %d calls before, %d after" % (family, *count))
        count = [collections.Counter(STAYS.findall(text)) for text in (old, new)]
        if count[0] != count[1]:
            found.append("lost: %s" % dict(count[0] - count[1]))
        count = [len(SCHEDULES.findall(text)) for text in (old, new)]
        if move == "work" and count[0] != count[1]:
            found.append("the kernel's workqueue: %d uses before, %d after" % tuple(count))
        for call in re.findall(r"\bhwheel_(?:queue|mod)_delayed_work\w*\s*\([^;]*;", new):
            if not re.search(r",\s*(?:0|(?:hwheel_jiffies|[mn]s_to_ktime)\(.*\))\)",
                             call, re.S):
                found.append("not a delay: " + re.sub(r"\s+", " ", call))
        return found


def work(task):
    unit, sources, headers, path = task
    result = work.worker.run(unit, sources, headers)
    pathlib.Path(path + ".new").write_text(json.dumps(result, indent=1))
    os.rename(path + ".new", path)
    return result


def start(trees, pristine, hidden, move):
    tree = trees.get()
    if not os.path.isdir(tree):
        subprocess.run(["cp", "-al", pristine, tree + ".new"], check=True)
        os.rename(tree + ".new", tree)
    work.worker = Worker(tree, pristine, hidden, move)


def hide(folder):
    """Writes headers in which the private members of timers and of delayed work have other
    names. So a driver that uses such a member does not build."""
    private = {"hwheel_timer": ("entry", "expires", "function", "base", "flags", "life"),
               "hwheel_delayed_work": ("timer", "wq", "cpu", "disabled")}
    for name in ("hwheel.h", "hwheel_jiffies.h"):
        text = read(TOP / name)
        if name == "hwheel.h":
            for kind, members in private.items():
                for member in members:
                    text = re.sub(r"(struct %s {[^}]*?[\s*(])%s(\)\(|;)" % (kind, member),
                                  r"\1hidden_%s\2" % member, text, count=1)
                    text = re.sub(r"(#define (?:__HWHEEL_TIMER_INITIALIZER|"
                                  r"DECLARE_HWHEEL_DELAYED_WORK)\([^}]*?\.)%s(\s*=)" % member,
                                  r"\1hidden_%s\2" % member, text, count=1)
            text = re.sub(r"\b((?:__)?dwork)->(%s)\b" % "|".join(private["hwheel_delayed_work"]),
                          r"\1->hidden_\2", text)
        text = re.sub(r"timer->(entry|expires|function)\b", r"timer->hidden_\1", text)
        pathlib.Path(folder, name).write_text(text)


#
# The table
#

VERDICTS = {
    "right": "converted and built",
    "alone": "left alone, with the reason",
    "human": "left for a human, with the reason",
    "wrong": "built and wrong",
    "not built": "not built",
}
NONE = "has nothing to convert, only names like those of the kernel's calls"


REASONS = (
    ("deferrable", r"TIMER_DEFERRABLE|DEFERRABLE_WORK"),
    ("interrupts are off in its callback", r"TIMER_IRQSAFE|relies on interrupts that are off|"
     r"in an interrupt handler"),
    ("hardirq mode", r"must run in hardirq context"),
    ("another clock", r"CLOCK_\w+|its clock is not constant"),
    ("may be armed for a tick or less", r"no longer than a tick"),
    ("declared by others, or passed to them", r"is not the driver's|hwheel.h needs"),
    ("its function is not in the driver's files", r"is not a function of the driver"),
    ("defined in another file", r"is defined in another file"),
    ("its work item is used in another way", r"its \.work is used|its work item is used|"
     r"whose delayed work|its \.work$"),
    ("its timer is used", r"its \.(?:timer|wq|cpu)"),
    ("its function is in a variable", r"its function is in a variable"),
    ("a workqueue with WQ_BH", r"WQ_BH"),
    ("not compiled, as configured", r"not compiled"),
    ("in a macro", r"in a macro|the macro"),
    ("its callback compares jiffies", r"compares jiffies"),
    (".expires is a flag, or compared for equality", r"\.expires is (?:compared|initialized)"),
    ("the driver calls its callback itself", r"the driver calls|after it has set the time|"
     r"for another timer"),
    (".expires is set apart from arming", r"\.expires is (?:set|added)|can't be joined with a statement"),
    (".function is read or changed", r"\.function is"),
    ("no callback, or perhaps none", r"NULL"),
    ("hrtimer_active()", r"hrtimer_active"),
    ("a callback of hrtimer without a clear result", r"its callback|outside of a callback"),
    ("another use", r""),
)


def reasons(results, verb):
    """For each reason: how many drivers have a line with this verb and reason."""
    count = collections.Counter()
    for result in results:
        texts = {line.split(": ", 3)[3] for line in result["report"]
                 if re.search(r"^\S+:\d+: %s: .*?: " % verb, line)}
        count.update({next(name for name, pattern in REASONS if re.search(pattern, text))
                      for text in texts})
    return count.most_common()


def table(results, total, move):
    """The lines of the result."""
    kinds = TYPES[move].split("|")
    columns = [("all", results)] + [
        (kind, [result for result in results if kind in result["kinds"]])
        for kind in kinds if len(kinds) > 1]
    head = " ".join("%16s" % name for name, _ in columns)
    lines = ["%d of %d drivers" % (len(results), total), "%-40s %s" % ("", head)]

    def row(words, verdicts):
        lines.append("%-40s %s" % (words, " ".join("%7d (%4.1f %%)" % (
            n := sum(result["verdict"] in verdicts for result in some),
            100 * n / max(1, len(some))) for _, some in columns)))
    for verdict, words in VERDICTS.items():
        row(words, [verdict])
    row("need no human", ["right", "alone"])
    groups = [sum(result["groups"][i] for result in results) for i in range(3)]
    uses = sum(int(number) for result in results for line in result["report"][-1:]
               for number in re.findall(r": (\d+) uses", line))
    lines.append("groups of %s: %d converted, %d stay, %d left; %d uses rewritten" % (
        {"timers": "timers", "work": "delayed work"}[move], *groups, uses))
    lines.append("files: %d of %d rewritten" % (
        sum(len(result["changed"]) for result in results),
        sum(result["files"] for result in results)))
    for verb in ("stays", "left"):
        lines += ["drivers with a line of \"%s\", by reason:" % verb]
        lines += ["%6d  %s" % (n, name) for name, n in reasons(results, verb)]
    return lines


def run(tasks, options):
    """Converts the drivers of these tasks. Yields the results."""
    with tempfile.TemporaryDirectory() as hidden:
        hide(hidden)
        trees = multiprocessing.Queue()
        for number in range(options.jobs):
            trees.put("%s.work%d" % (options.tree, number))
        with multiprocessing.Pool(options.jobs, start,
                                  (trees, options.tree, hidden, options.move)) as pool:
            yield from pool.imap_unordered(work, tasks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--hide", action="store_true", help="only writes the headers that "
                        "hide() makes, to the folder that is named for the tree")
    parser.add_argument("--move", choices=TYPES, default="timers")
    parser.add_argument("--results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", help="a regular expression of drivers")
    parser.add_argument("--inc", help="writes the table to this file")
    parser.add_argument("--again", action="store_true", help="also those that have a result")
    parser.add_argument("tree")
    options = parser.parse_args()
    if options.hide:
        hide(options.tree)
        return 0
    if options.prepare:
        prepare(options.tree)
        return 0

    found = drivers(options.tree, options.move)
    names = sorted(found)
    if options.sample:
        names = sorted(random.Random(options.seed).sample(names, min(options.sample, len(names))))
    if options.only:
        names = [name for name in names if re.search(options.only, name)]
    os.makedirs(options.results, exist_ok=True)
    results, tasks = [], []
    for name in names:
        path = os.path.join(options.results, hashlib.sha256(name.encode()).hexdigest()[:16])
        if os.path.exists(path) and not options.again:
            results.append(json.loads(read(path)))
        else:
            tasks.append((name, sorted(found[name][0]), sorted(found[name][1]), path))
    if options.jobs and tasks:
        # In random order, so that the results of an interrupted run are a fair sample
        random.Random(options.seed).shuffle(tasks)
        for result in run(tasks, options):
            results.append(result)
            print("convert-all: %s: %s (%s s)" % (
                result["driver"], VERDICTS.get(result["verdict"], NONE), result["seconds"]),
                  flush=True)
            for line in result["errors"] + result["wrong"]:
                print("convert-all:\t%s" % line, flush=True)
    # A driver with nothing to convert, only with names like those of calls, does not count
    total = len(found) - sum(result["verdict"] == "none" for result in results)
    lines = table([result for result in results if result["verdict"] != "none"], total,
                  options.move)
    print("\n".join("convert-all: " + line for line in lines))
    if options.inc:
        pathlib.Path(options.inc).write_text(
            "Printed by *%smake convert-all* for Linux %s:\n\n::\n\n%s\n" % (
                "MOVE=work " * (options.move == "work"),
                read(options.tree + "/include/config/kernel.release").strip(),
                "\n".join("\t" + line for line in lines)))
    bad = sum(result["verdict"] in ("wrong", "not built") for result in results)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
