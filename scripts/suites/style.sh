# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: checkpatch, kernel-doc, shellcheck, pyflakes; with FULL=1 W=1, sparse, a clean checkout
# Takes: 20 s
#
# Without FULL=1, and in a clone, checkpatch and shellcheck read only the files that differ from
# the branch that was cloned.

# sim/ stands in for the kernel. Its headers define what modules only use: IS_ENABLED(),
# LINUX_VERSION_CODE, EXPORT_SYMBOL_GPL(), spinlock_t and other types, struct
# file_operations, and READ_ONCE(), which is volatile
sim_may=CONST_STRUCT,EXPORT_SYMBOL,IS_ENABLED_CONFIG,LINUX_VERSION_CODE,NEW_TYPEDEFS,VOLATILE
# Stubs ignore arguments. The stub of module_init() has a return inside the macro
sim_may+=,MACRO_ARG_UNUSED,MACRO_WITH_FLOW_CONTROL
# The oracle's functions for tracepoints are weak, because not every tracepoint has one
sim_may+=,WEAK_DECLARATION
# Macros of race.c define the sanitizer's functions, one for each size
sim_may+=,COMPLEX_MACRO,MACRO_ARG_REUSE

suite()
{
	need perl python3 shellcheck pyflakes3
	# The suite kunit takes this source, too
	source=$(linux_source newest)
	build=$lab_work/style
	copy_sources "$build"
	cd "$build" || return
	mapfile -t files < <(find . -type f -printf '%P\n')
	# What hwheel-convert must get right are drivers as strangers write them
	mapfile -t code < <(printf '%s\n' "${files[@]}" | grep '\.[ch]$' |
		grep -v '^tools/convert-tests/' | sort)

	passed=$({
		cat "$source/scripts/checkpatch.pl" scripts/lab/*.sh scripts/suites/{style,shared/*}.sh
		shellcheck --version
	} | sha256sum)
	passed=$lab_cache/passed/${passed:0:16}
	mkdir -p "$passed"
	export -f checkpatch_one shellcheck_one
	export source sim_may
	since=$([ "$FULL" ] || git -C "$lab_top" merge-base HEAD origin/HEAD 2>/dev/null) || :
	try checkpatch each checkpatch_one "${code[@]}"
	rm -f .checkpatch-camelcase.*		# checkpatch's own notes
	try kernel-doc "$source/scripts/kernel-doc" -none -Werror hwheel*.[ch] module/*.c
	mapfile -t shell < <(grep -rlE '^(#!/bin/(ba)?sh|# shellcheck shell=)' .ci debian scripts tools | sort)
	try shellcheck each shellcheck_one "${shell[@]}"
	mapfile -t python < <(grep -rl '^#!/usr/bin/python3' . | sort)
	try pyflakes pyflakes3 "${python[@]}" tools/hwheel_debugfs.py Documentation/conf.py
	try "one version" one_version
	try "another kernel builds anew" other_kernel
	try "suites of each file" changes_whole
	try "equivalent mutants" mutants_there
	try "the simulator's faults fit" "$lab_scripts/sim.sh" fits
	try "the fuzzer's faults fit" "$lab_scripts/fuzz.sh" fits
	[ -z "$FULL" ] || style_builds
}

# style_builds: builds the modules for a kernel of this release of Debian, whose compiler is on this
# machine
style_builds()
{
	local kernel headers

	need gcc make sparse git
	kernel=$("$lab_scripts/lab/stock-kernel.sh" own)
	headers=${kernel##* }
	try clean-checkout clean_checkout
	try W=1 silent '([Ww]arning|WARNING|error):' W=1
	try sparse silent "^$build/.*(warning|error):" C=2 CHECK=sparse
	left_out
}

# left_out: builds hwheel.ko without each part that may be left out, and without all of them
left_out()
{
	local parts part

	read -ra parts <<<"$(sed -n 's/^HWHEEL_PARTS ?= //p' Kbuild)"
	try "parts that may be left out" [ ${#parts[@]} = "$(grep -c '^#ifdef CONFIG_HWHEEL_' \
		<(sed '/hwheel_all_parts/q' hwheel.c))" ]
	for part in "${parts[@]}"; do
		try "without $part" silent '([Ww]arning|WARNING|error):' W=1 HWHEEL_EXTRAS= \
			HWHEEL_PARTS="${parts[*]/$part}"
	done
	try "without all of them" silent '([Ww]arning|WARNING|error):' W=1 HWHEEL_EXTRAS= \
		HWHEEL_PARTS=
}

# each FUNCTION FILES...: calls FUNCTION for each file, on all CPUs. Leaves out the files that have
# passed in an earlier run, if neither they nor the checkers have changed; and those that have not
# changed since the commit $since, if there is one.
each()
{
	local hash file key

	sha256sum "${@:2}" | while read -r hash file; do
		key=$passed/$1-${file//\//_}-${hash:0:16}
		[ -e "$key" ] || printf '%s\n' "$file" "$key"
	done | if [ "$since" ]; then
		changed_files "$since" >"$lab_work/differ"
		while read -r file && read -r key; do
			! grep -qxF "$file" "$lab_work/differ" || printf '%s\n' "$file" "$key"
		done
	else
		cat
	fi | xargs -r -P "$lab_jobs" -n 2 bash -c "$1 \"\$1\" && touch \"\$2\"" each
}

# checkpatch_one FILE: runs the kernel's checkpatch. Exceptions: module/compat.h asks for the
# kernel's version. DECLARE_HWHEEL_DELAYED_WORK() and the wait macros use an argument twice, as
# the kernel's macros of this kind do. Tracepoint macros have a layout of their own. Headers that
# stand in for the kernel's headers may define the same names. A qdisc needs struct Qdisc.
# hwheel_each_part() has the name of a member. Old kernels have no kzalloc_obj().
checkpatch_one()
{
	local file=$1 ignore=FILE_PATH_CHANGES,ALLOC_WITH_SIZEOF

	# A member that GENRADIX() declares
	[ "$file" != module/debugfs.c ] || ignore+=,LINE_SPACING,SPACING
	[ "$file" != module/compat.h ] || ignore+=,LINUX_VERSION_CODE,CONSTANT_COMPARISON
	[ "$file" != hwheel.h ] || ignore+=,MACRO_ARG_REUSE
	[ "$file" != module/parts.c ] || ignore+=,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
	[ "$file" != module/trace.h ] || ignore+=,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
	[ "${file#*include/linux/}" = "$file" ] ||
		ignore+=,COMPLEX_MACRO,MACRO_ARG_PRECEDENCE,MACRO_ARG_REUSE,MEMORY_BARRIER,PREFER_DEFINED_ATTRIBUTE_MACRO
	[ "${file#sim/}" = "$file" ] || ignore+=,$sim_may
	[ "$file" != samples/hwheel_pace.c ] || ignore+=,CAMELCASE
	# BPF programs declare kfuncs, and share variables with user space
	[[ $file != bpf/*.bpf.h ]] || ignore+=,AVOID_EXTERNS,BIT_MACRO,SPACING,VOLATILE
	[[ $file != @(samples/bpf|scripts/guest/bpf-)* ]] ||
		ignore+=,BIT_MACRO,LINE_SPACING,MACRO_ARG_REUSE,VOLATILE
	# Frama-C reads ACSL annotations, which are comments
	[ "${file#proofs/}" = "$file" ] || ignore+=,BLOCK_COMMENT_STYLE
	"$source/scripts/checkpatch.pl" --strict --no-tree --quiet --terse \
		--no-summary --show-types --ignore $ignore -f "$file"
}

shellcheck_one()
{
	shellcheck -x -P scripts "$1"
}

# changes_whole: whether suites/shared/changes has a row for each file, each of its rows matches a
# file and names suites that exist, and each suite is in a row
changes_whole()
{
	local file pattern names name status=0

	for file in "${files[@]}"; do
		suites_of "$file" >/dev/null || status=1
	done
	grep -v '^#' "$changes" | tr -s '\t ' '\n' >"$lab_work/named"
	for name in $(all_suites); do
		grep -qx "$name" "$lab_work/named" || { echo "no row names the suite $name"; status=1; }
	done
	while read -r pattern names; do
		[ "${pattern#\#}" = "$pattern" ] || continue
		# shellcheck disable=SC2053 # a pattern
		for file in "${files[@]}" ''; do
			[[ $file != $pattern ]] || break
		done
		[ "$file" ] || { echo "no file matches $pattern"; status=1; }
		for name in $names; do
			[ -f "$suite_files/$name.sh" ] || { echo "no suite $name"; status=1; }
		done
	done <"$changes"
	return $status
}

# mutants_there: whether each line of sim/equivalent names a mutant
mutants_there()
{
	LIST=1 "$lab_scripts/mutants.sh" >"$lab_work/mutants" && return
	grep sim/equivalent "$lab_work/mutants"
	return 1
}

# one_version: whether all files that have hwheel's version have the same
one_version()
{
	{
		sed -n -E 's/^PACKAGE_VERSION="(.*)"/\1/p' dkms.conf
		sed -n -E 's/^#define HWHEEL_M(AJ|IN)OR\t//p' hwheel.h | paste -sd .
		sed -n -E 's/^extern const char hwheel_version_([0-9]+)_([0-9]+).*/\1.\2/p' hwheel.h
		sed -n -E '1s/.*\((.*)\).*/\1/p' debian/changelog
		sed -n -E "s/^HWHEEL = '(.*)'.*/\1/p" tools/hwheel_debugfs.py
		sed -n -E '/^Version /{s///p;q}' Documentation/news.rst
	} | tee /dev/stderr | uniq -c | grep -qE '^ *6 [0-9]+\.[0-9]+$'
}

# other_kernel: whether make removes what it has built for another kernel, and nothing else
other_kernel()
{
	local dir

	touch stale.o build.txt
	for dir in "$lab_work/one" "$lab_work/two"; do
		mkdir -p "$dir"
		make other-kernel KDIR="$dir" && [ ! -e stale.o ] && [ -e build.txt ] &&
			touch stale.o && make other-kernel KDIR="$dir" && [ -e stale.o ] || return
	done
	rm stale.o build.txt .kdir
}

# silent PATTERN MAKE-ARGUMENTS...: whether a build succeeds and prints no such line
silent()
{
	make -j "$lab_jobs" -C "$headers" M="$build" "${@:2}" modules \
		>"$lab_work/make" 2>&1 || { cat "$lab_work/make"; return 1; }
	! grep -E "$1" "$lab_work/make"
}

# clean_checkout: whether git ignores all files that a build makes, and make clean
# removes them
clean_checkout()
{
	git init -q && git add -A && make KDIR="$headers" >/dev/null || return
	! git status --porcelain | grep -v '^A ' || return
	make -s clean || return
	! git status --porcelain --ignored | grep -v '^A '
}
