#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Takes the drivers of the newest kernel that use timer_list or hrtimer; with MOVE=work, those
# that use delayed work. Converts each of them to hwheel, and builds it. The configuration is
# x86-64 with everything as a module; kernel/time and the scheduler are left out. Prints a line
# for each driver, and at the end
#	convert-all: N of N drivers
# with a table: how many drivers were converted and built, were left alone, need a human, were
# built but are wrong, or do not build. The exit status is 0 if no driver is of the last two
# kinds.
#
# Results stay in the cache, so that a run that was interrupted goes on. They count until the
# kernel, its configuration, the compiler, hwheel-convert, hwheel.h, hwheel_jiffies.h or
# convert-all.py changes. The script prints the name of their folder. Each file in it has the
# report of a driver.
#
# Usage: [MOVE=work] [SAMPLE=n] [SEED=n] [ONLY=regex] [AGAIN=1] [JOBS=n] convert-all.sh
#	MOVE		timers (the default) or work
#	SAMPLE, SEED	only n drivers, chosen at random by a seed. The default seed is 1
#	ONLY		only drivers whose names match, such as net/bridge
#	AGAIN		converts also drivers that have a result already
#	JOBS		how many drivers at a time; the default is one for each CPU. 0 converts
#			none, and prints the table of the present results
# Without SAMPLE and ONLY, the table is written to converted.inc, or with MOVE=work to
# converted-work.inc, and the documentation shows it.

. "$(dirname "$0")/lab/lab.sh"

move=${MOVE:-timers}
all=$lab_scripts/convert-all.py config=$lab_scripts/convert/config

# Makes a tree that has kbuild's commands for each file with timers or delayed work. The tree's
# files are hard links to those of the source. Nothing changes these files.
fill_tree()
{
	local kbuild=(make -j "$lab_jobs" -C "$1")

	say "convert-all: preparing a tree (about 30 min on one core)"
	cp -al "$source/." "$1" || return
	quiet convert-all-config "${kbuild[@]}" KCONFIG_ALLCONFIG="$config" allmodconfig || return
	quiet convert-all-prepare "${kbuild[@]}" prepare || return
	quiet convert-all-files /usr/bin/python3 "$all" --prepare "$1"
}

need python3-clang gcc make flex bison bc libelf-dev libssl-dev
source=$(linux_source newest)
key=$(cat "$config" <(declare -f fill_tree) <(gcc --version) | sha256sum)
tree=$lab_cache/allmodconfig-${source##*/linux-source-}-${key:0:12}
once "$tree" fill_tree || die "no tree to convert in"

key=$(cd "$lab_top" && cat tools/hwheel-convert hwheel.h hwheel_jiffies.h "$all" | sha256sum)
results=$tree.results/$move-${key:0:12}
say "convert-all: results are in $results"
inc=converted.inc
[ "$move" = timers ] || inc=converted-$move.inc
arguments=(--move "$move" --results "$results" --jobs "${JOBS:-$lab_jobs}")
[ -z "${SAMPLE-}" ] || arguments+=(--sample "$SAMPLE" --seed "${SEED:-1}")
[ -z "${ONLY-}" ] || arguments+=(--only "$ONLY")
[ -z "${AGAIN-}" ] || arguments+=(--again)
[ -n "${SAMPLE-}${ONLY-}" ] || arguments+=(--inc "$lab_top/$inc")
/usr/bin/python3 "$all" "${arguments[@]}" "$tree"
