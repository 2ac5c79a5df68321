#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the tests. With ALL=1 it also runs the suites that take long. Each file in suites/ is a
# suite. As many suites run at a time as there are CPUs. The longest begin first. The last line is
#	N passed, N failed, N skipped
# The exit status is 0 if a test passed and none failed.
#
# A suite's file begins with
#	# Suite: what it checks, in a line
#	# Takes: N s			roughly, from a warm cache
#	# Takes: N s, alone		no other suite runs meanwhile
#	# When: ALL=1			left out of a plain "make check"
# The line "When:" is optional. The file also defines the function suite. The function runs in a
# shell of its own, with lab/lab.sh and the functions below.
#
# Usage: [SUITE='name...'|list] [ALL=1] check.sh

. "$(dirname "$0")/lab/lab.sh"

suite_files=$lab_scripts/suites
export LAB_BUILDS=$lab_work/builds
export ALL=${ALL:-}

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

no_lines()
{
	! grep -hE "$@"
}

clean_log()
{
	! dmesg_dirty "$1"
}

#
# Finding and running suites
#

# field NAME SUITE: prints the field NAME from the head of the suite's file
field()
{
	sed -n "/^# $1: */{s///p;q}" "$suite_files/$2.sh"
}

# wanted_suites [NAME...]: prints these suites, or else all that ALL allows: first those that
# share the machine, then those that run alone; the longest first
wanted_suites()
{
	local file name

	for file in "$suite_files"/*.sh; do
		name=$(basename "$file" .sh)
		if [ $# = 0 ]; then
			[ -n "$ALL" ] || [ "$(field When "$name")" != ALL=1 ] || continue
		else
			[[ " $* " = *" $name "* ]] || continue
		fi
		case $(field Takes "$name") in
		*alone)	echo 1 "$(field Takes "$name" | cut -d ' ' -f 1)" "$name" ;;
		*)	echo 0 "$(field Takes "$name" | cut -d ' ' -f 1)" "$name" ;;
		esac
	done | sort -k 1,1n -k 2,2nr | cut -d ' ' -f 3
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

# run_suites NAME...: runs as many at a time as there are CPUs
run_suites()
{
	local pid name alone running=

	for name; do
		case $(field Takes "$name") in
		*alone)	alone=1 ;;
		*)	alone= ;;
		esac
		while [ ${#lab_groups[@]} -ge "$lab_jobs" ] ||
		      { [ -n "$alone$running" ] && [ ${#lab_groups[@]} != 0 ]; }; do
			wait_suite
		done
		running=$alone
		# In a process group, so that lab_cleanup() can end all of it
		set -m
		(trap - EXIT INT TERM; run_suite "$name") </dev/null &
		set +m
		lab_groups[$!]=$name
	done
	while [ ${#lab_groups[@]} != 0 ]; do
		wait_suite
	done
}

wait_suite()
{
	local pid=

	wait -n -p pid "${!lab_groups[@]}" || :
	[ -z "$pid" ] || unset "lab_groups[$pid]"
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
	for file in "$suite_files"/*.sh; do
		name=$(basename "$file" .sh)
		printf '%-16s%s%s\n' "$name" "$(field Suite "$name")" \
			"$(field When "$name" | sed 's/.*/ (&)/')"
	done
	exit ;;
esac

for name in $SUITE; do
	[ -f "$suite_files/$name.sh" ] || die "no suite $name; SUITE=list names them"
done
# shellcheck disable=SC2046,SC2086 # names are words
run_suites $(wanted_suites $SUITE)

echo "elapsed seconds, and seconds of CPU time:"
cat "$lab_work"/*.suite/took | sort -k 2,2nr | awk '{ printf "%8d %8d  %s\n", $2, $3, $1 }'
cat "$lab_work"/*.suite/failures
# Print the names of the failed tests again: the explanations above may be long
sed -n 's/^\([^ ]*: .*\): see scripts.*/failed: \1/p' "$lab_work"/*.suite/failures
counts "$lab_work"/*.suite/results
[ "$(count failed "$lab_work"/*.suite/results)" = 0 ] &&
	[ "$(count passed "$lab_work"/*.suite/results)" != 0 ]
