# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: checkpatch, W=1, sparse, kernel-doc, shellcheck, pyflakes, a clean checkout
# Takes: 120 s

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
	need gcc make perl sparse shellcheck pyflakes3 git
	source=$(linux_source 6.x)
	# Take a kernel of this release of Debian, whose compiler is on this machine
	FROM=$(debian_codename)
	export FROM
	kernel=$("$lab_scripts/lab/stock-kernel.sh" 6.12) ||
		kernel=$("$lab_scripts/lab/stock-kernel.sh" newest)
	headers=${kernel##* }
	build=$lab_work/style
	copy_sources "$build"
	cd "$build" || return
	mapfile -t code < <(find . -name '*.[ch]' | sed 's,^\./,,' | sort)

	try checkpatch checkpatch "${code[@]}"
	try kernel-doc "$source/scripts/kernel-doc" -none -Werror hwheel*.[ch] module/*.c
	mapfile -t shell < <(grep -rlE '^(#!/bin/(ba)?sh|# shellcheck shell=)' .ci scripts tools | sort)
	try shellcheck shellcheck -x -P scripts "${shell[@]}"
	mapfile -t python < <(grep -rl '^#!/usr/bin/python3' . | sort)
	try pyflakes pyflakes3 "${python[@]}" tools/hwheel_debugfs.py Documentation/conf.py
	try "one version" one_version
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

# checkpatch FILES...: runs the kernel's checkpatch. Exceptions: module/compat.h asks for the
# kernel's version. DECLARE_HWHEEL_DELAYED_WORK() and the wait macros use an argument twice, as
# the kernel's macros of this kind do. Tracepoint macros have a layout of their own. Headers that
# stand in for the kernel's headers, in sim/ and for the tests of hwheel-convert, may define the
# same names. A qdisc needs struct Qdisc. hwheel_each_part() has the name of a member.
checkpatch()
{
	local file ignore status=0

	for file; do
		ignore=FILE_PATH_CHANGES
		[ "$file" != module/compat.h ] ||
			ignore+=,LINUX_VERSION_CODE,CONSTANT_COMPARISON
		[ "$file" != hwheel.h ] || ignore+=,MACRO_ARG_REUSE
		[ "$file" != module/parts.c ] || ignore+=,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
		[ "$file" != module/trace.h ] ||
			ignore+=,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
		[ "${file#*include/linux/}" = "$file" ] ||
			ignore+=,COMPLEX_MACRO,MACRO_ARG_PRECEDENCE,MACRO_ARG_REUSE,MEMORY_BARRIER,PREFER_DEFINED_ATTRIBUTE_MACRO
		[ "${file#sim/}" = "$file" ] || ignore+=,$sim_may
		[ "${file#tools/convert-tests/}" = "$file" ] ||
			ignore+=,CAMELCASE,MACRO_ARG_UNUSED,NEW_TYPEDEFS
		[ "$file" != samples/hwheel_pace.c ] || ignore+=,CAMELCASE
		# Frama-C reads ACSL annotations, which are comments
		[ "${file#proofs/}" = "$file" ] || ignore+=,BLOCK_COMMENT_STYLE
		"$source/scripts/checkpatch.pl" --strict --no-tree --quiet --terse \
			--no-summary --show-types --ignore $ignore -f "$file" ||
			status=1
	done
	return $status
}

# one_version: whether dkms.conf, hwheel.c and debian/changelog have the same version
one_version()
{
	{
		sed -n -E 's/^PACKAGE_VERSION="(.*)"/\1/p' dkms.conf
		sed -n -E 's/^MODULE_VERSION\("(.*)"\);/\1/p' hwheel.c
		sed -n -E '1s/.*\((.*)\).*/\1/p' debian/changelog
	} | tee /dev/stderr | uniq -c | grep -qE '^ *3 [0-9.]+$'
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
