#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the tests. There are three sizes. A plain run takes minutes: it has the suites that find
# the most faults per second. FULL=1 adds the suites that must pass before a change lands, and
# ALL=1 all others. Each file in suites/ is a suite. As many suites run at a time as there are
# CPUs: first those of a plain run, the longest first, then the others in the same order. So
# most faults show in the first minutes of every run. The last line is
#	N passed, N failed, N skipped
# The exit status is 0 if a test passed and none failed.
#
# A suite's file begins with
#	# Suite: what it checks, in a line
#	# Takes: N s			roughly, from a warm cache
#	# Takes: N s, alone		no other suite runs meanwhile
#	# When: FULL=1			left out of a plain "make check"; or ALL=1
# The line "When:" is optional. The file also defines the function suite. The function runs in a
# shell of its own, with lab/lab.sh and the functions below. A suite may do more if FULL or ALL
# is set. ALL=1 sets FULL=1, too.
#
# SINCE=commit runs those suites that check what has changed since a commit, uncommitted changes
# included. The file suites/shared/changes tells which suites check a file.
#
# Usage: [SUITE='name...'|list] [SINCE=commit] [FULL=1] [ALL=1] check.sh

. "$(dirname "$0")/lab/lab.sh"

suite_files=$lab_scripts/suites
export LAB_BUILDS=$lab_work/builds
export ALL=${ALL:-}
export FULL=${FULL:-$ALL}
# A plain run takes about this long from a warm cache; new seeds take what is left of it
export CHECK_ENDS=$(($(date +%s) + 150))
changes=$suite_files/shared/changes
queue=()

#
# Functions for suites
#

# result passed|failed|skipped N NAME [FILE]: records N tests of the running suite. After
# a failure, check.sh prints the end of FILE.
result()
{
	echo "$1 $suite $2" >>"$lab_work/results"
	echo "$1: $2 $3"
	[ "$1" != failed ] || {
		echo "$suite: $3: see scripts/suites/$suite.sh and $log"
		[ ! -s "${4-}" ] || tail -n 20 "$4" | sed 's/^/  | /'
	} >>"$lab_work/failures"
}

# verdict NAME FILE COMMAND...: a test that is one command; FILE explains a failure
verdict()
{
	local name=$1 file=$2

	shift 2
	if "$@"; then
		result passed 1 "$name"
	else
		result failed 1 "$name" "$file"
	fi
}

# try NAME COMMAND...: the same; the command's output explains a failure
try()
{
	local out=$lab_work/out

	say "$suite: $1"
	if "${@:2}" >"$out" 2>&1; then
		result passed 1 "$1"
	else
		cat "$out"
		result failed 1 "$1" "$out"
	fi
}

# refused MESSAGE COMMAND...: whether COMMAND fails and prints MESSAGE
refused()
{
	"${@:2}" 2>&1 | tee "$lab_work/refused"
	[ "${PIPESTATUS[0]}" != 0 ] && grep -qF -e "$1" "$lab_work/refused"
}

# runs_32_bit: whether this machine's kernel runs 32-bit programs. Installs what builds them. Not
# gcc-multilib: it conflicts with cross compilers, which this machine may have.
runs_32_bit()
{
	need gcc
	need "gcc-$(gcc -dumpversion)-multilib"
	echo 'int main(void) { return 0; }' | gcc -m32 -x c - -o "$lab_work/m32" && "$lab_work/m32"
}

no_lines()
{
	! grep -hE "$@"
}

# clean_log FILE: of a log that is not clean, prints the first fault
clean_log()
{
	! dmesg_dirty "$1" >"$lab_work/dirty" || { head -n 19 "$lab_work/dirty"; return 1; }
}

#
# Finding and running suites
#

# field NAME SUITE: prints the field NAME from the head of the suite's file
field()
{
	sed -n "/^# $1: */{s///p;q}" "$suite_files/$2.sh"
}

# takes SUITE: prints its seconds
takes()
{
	local seconds

	seconds=$(field Takes "$1")
	echo "${seconds%% *}"
}

# tier SUITE: prints 0 for a suite of a plain run, 1 for one of FULL=1, 2 for one of ALL=1
tier()
{
	case $(field When "$1") in
	'')	echo 0 ;;
	FULL=1)	echo 1 ;;
	ALL=1)	echo 2 ;;
	*)	die "suites/$1.sh: its line \"When:\" is neither FULL=1 nor ALL=1" ;;
	esac
}

# allowed SUITE: whether FULL and ALL allow a suite
allowed()
{
	case $(tier "$1") in
	1)	[ "$FULL" ] ;;
	2)	[ "$ALL" ] ;;
	esac
}

# all_suites: prints their names
all_suites()
{
	basename -s .sh "$suite_files"/*.sh
}

# in_order: reads names of suites, and prints them once, in the order in which they run: first those
# that share the machine, then those that run alone; those of a plain run first; the longest first
in_order()
{
	local name alone

	while read -r name; do
		alone=0
		[[ $(field Takes "$name") != *alone ]] || alone=1
		echo $alone "$(tier "$name")" "$(takes "$name")" "$name"
	done | sort -u -k 1,1n -k 2,2n -k 3,3nr -k 4 | cut -d ' ' -f 4
}

# changed_files COMMIT: prints the files that have changed since then, also those that are not
# committed or not known to git
changed_files()
{
	git -C "$lab_top" rev-parse --quiet --verify "$1^{commit}" >/dev/null ||
		die "SINCE=$1: no such commit in $lab_top"
	{
		git -C "$lab_top" diff --name-only --no-renames "$1"
		git -C "$lab_top" ls-files --others --exclude-standard
	} | sort -u
}

# suites_of FILE: prints the suites that check a file, one a line: those of all rows of
# suites/shared/changes that match the file. A suite's own file is checked by that suite, too.
suites_of()
{
	local pattern names found=

	if [[ $1 = scripts/suites/*.sh && $1 != */shared/* ]]; then
		names=${1##*/}
		echo "${names%.sh}"
	fi
	while read -r pattern names; do
		# shellcheck disable=SC2053,SC2086 # a pattern, words
		if [[ $pattern != \#* && $1 = $pattern ]]; then
			printf '%s\n' $names
			found=1
		fi
	done <"$changes"
	[ "$found" ] || { echo "no row of ${changes#"$lab_top/"} matches $1: add one" >&2; return 1; }
}

# suites_since COMMIT: prints the suites that check the files that have changed since then, and
# that FULL and ALL allow
suites_since()
{
	local file files name names left=

	files=$(changed_files "$1") || return
	[ "$files" ] || die "nothing has changed since $1"
	names=$(for file in $files; do suites_of "$file" || exit; done) || return
	while read -r name; do
		# The file of a suite may be gone
		[ -f "$suite_files/$name.sh" ] || continue
		if allowed "$name"; then
			echo "$name"
		else
			left+=" $name"
		fi
	done < <(sort -u <<<"$names")
	[ -z "$left" ] || say "check: left out without $([ "$FULL" ] && echo ALL || echo FULL)=1:$left"
}

# run_suite NAME: runs it in a shell and a folder of its own, because a suite may die
run_suite()
{
	local start=$SECONDS status

	suite=$1 log=$lab_cache/log/check-$1.log
	lab_work+=/$1.suite
	mkdir "$lab_work"
	touch "$lab_work"/{results,failures}
	set +e
	(
		trap 'times >"$lab_work/times"' EXIT
		set -e
		# shellcheck source=/dev/null
		. "$suite_files/$1.sh"
		suite
	) >"$log" 2>&1
	status=$?
	set -e
	[ $status = 0 ] || result failed 1 "the suite (status $status)" "$log"
	[ -s "$lab_work/results" ] || result failed 1 "no test has run" "$log"
	start=$((SECONDS - start))
	echo "$suite $start $(awk 'END { gsub(/[ms]/, " "); printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4 }' \
		"$lab_work/times")" >"$lab_work/took"
	say "$suite: $(counts "$lab_work/results") ($start s)"
}

# run_suites NAME...: runs as many at a time as there are CPUs. The first is the longest: it gets the
# CPU when it wants it, or it would end long after the others.
run_suites()
{
	local name alone running='' first=$1

	queue=("$@")
	for name; do
		alone=
		[[ $(field Takes "$name") != *alone ]] || alone=1
		while [ ${#lab_groups[@]} -ge "$lab_jobs" ] ||
		      { [ -n "$alone$running" ] && [ ${#lab_groups[@]} != 0 ]; }; do
			wait_suite
		done
		running=$alone
		queue=("${queue[@]:1}")
		say "$name: $(field Suite "$name")"
		# In a process group, so that lab_cleanup() can end all of it
		set -m
		(
			trap - EXIT INT TERM
			[ "$name" = "$first" ] || renice -n 5 $BASHPID >/dev/null
			run_suite "$name"
		) </dev/null &
		set +m
		lab_groups[$!]=$name
	done
	while [ ${#lab_groups[@]} != 0 ]; do
		wait_suite
	done
}

# wait_suite: waits for a suite to end, and says what is still to come
wait_suite()
{
	local pid='' names

	wait -n -p pid "${!lab_groups[@]}" || :
	[ -z "$pid" ] || unset "lab_groups[$pid]"
	names="${lab_groups[*]} ${queue[*]}"
	[ "$names" = " " ] || say "check: after $SECONDS s: runs: ${lab_groups[*]:-nothing};" \
		"to come: ${queue[*]:-nothing}"
}

# count passed|failed|skipped FILE...
count()
{
	awk -v what="$1" '$1 == what { n += $3 } END { print n + 0 }' "${@:2}"
}

counts()
{
	echo "$(count passed "$@") passed, $(count failed "$@") failed," \
		"$(count skipped "$@") skipped"
}

exec 3>&1
export SAY_FD=3
case ${SUITE:=} in
list)
	for name in $(all_suites); do
		printf '%-16s%s%s\n' "$name" "$(field Suite "$name")" \
			"$(field When "$name" | sed 's/.*/ (&)/')"
	done
	exit ;;
esac

for name in $SUITE; do
	[ -f "$suite_files/$name.sh" ] || die "no suite $name; SUITE=list names them"
done
if [ -n "${SINCE-}" ]; then
	found=$(suites_since "$SINCE") || exit
	[ -n "$SUITE$found" ] || die "no suite of a plain run checks what has changed"
	SUITE+=" $found"
fi
mapfile -t suites < <(
	if [ "$SUITE" ]; then
		tr -s ' ' '\n' <<<"$SUITE" | grep .
	else
		for name in $(all_suites); do
			! allowed "$name" || echo "$name"
		done
	fi | in_order
)
seconds=$(for name in "${suites[@]}"; do takes "$name"; done | awk '{ s += $1 } END { print s }')
say "check: about $((seconds / lab_jobs)) s from a warm cache, on $lab_jobs CPUs: ${suites[*]}"
run_suites "${suites[@]}"

echo "elapsed seconds, and seconds of CPU time:"
cat "$lab_work"/*.suite/took | sort -k 2,2nr | awk '{ printf "%8d %8d  %s\n", $2, $3, $1 }'
printf '%8d %8s  all\n' $SECONDS ''
cat "$lab_work"/*.suite/failures
# Print the names of the failed tests again: the explanations above may be long
sed -n 's/^\([^ ]*: .*\): see scripts.*/failed: \1/p' "$lab_work"/*.suite/failures
counts "$lab_work"/*.suite/results
[ "$(count failed "$lab_work"/*.suite/results)" = 0 ] &&
	[ "$(count passed "$lab_work"/*.suite/results)" != 0 ]
