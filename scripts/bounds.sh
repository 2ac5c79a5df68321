#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Searches for the arrangement of timers in which callbacks begin latest, on Debian's 6.12 in
# QEMU. QEMU's clock counts the guest's instructions, one per nanosecond. Each round has a
# wheel with a geometry, a budget and an arrangement of timers: most often a crowd, of which some
# timers are re-armed. Meanwhile the guest reads 300 lines of each debugfs file. See the group
# bounds of tests/bench.c.
#
# Prints a line for each round, and the worst round of each context. The exit status is 0
# if no callback was later than LATE ns, and no lock was held for more than LOCKED ns. The
# lateness of a callback counts from the tick of its timer. For each callback since
# the wheel was last idle, 1 us (2 us in hardirq context) is subtracted.
#
# Usage: [TIME=seconds] [SEED=n] [LATE=ns] [LOCKED=ns] bounds.sh [CONTEXT...]
#	 Without TIME, the rounds are always the same. With TIME, new rounds run until
#	 the time is up. CONTEXT is softirq, hardirq or work. The default is softirq and
#	 hardirq.

. "$(dirname "$0")/lab/lab.sh"

late=${LATE:-100000}
locked=${LOCKED:-10000}
contexts=("$@")
[ $# != 0 ] || contexts=(softirq hardirq)
lines=$lab_work/lines

# rounds PARAMETERS...: runs these rounds in a guest. If a bound is missed, runs them again, in up to
# two other guests. A lateness that hwheel causes is seen there, too. But in some guests the kernel's
# page allocator, __rmqueue_pcplist(), keeps interrupts off for half a millisecond.
rounds()
{
	local times

	for times in 1 2 3; do
		run_rounds "$@" >"$lab_work/rounds"
		if [ $times = 3 ] || good "$lab_work/rounds"; then
			tee -a "$lines" <"$lab_work/rounds"
			return
		fi
		sed 's/^/again: /' "$lab_work/rounds"
	done
}

# good FILE: whether no round has missed a bound
good()
{
	awk -v late="$late" -v locked="$locked" '
		{
			for (i = 3; i <= NF; i++) {
				split($i, a, "=")
				bad = bad || a[1] == "late" && a[2] > late + 0 ||
				      a[1] == "locked" && a[2] > locked + 0
			}
		}
		END { exit bad }' "$1"
}

# run_rounds PARAMETERS...: boots a guest that runs these rounds, and prints their lines
run_rounds()
{
	local log=$lab_work/console status=0

	{
		echo "groups=bounds parameters='rounds=1 pending=1000 $*' read=0.1 lines=300"
		cat "$lab_scripts/guest/bench.sh"
	} >"$lab_work/payload"
	ICOUNT=0 TIMEOUT=${TIMEOUT:-3600} "$lab_scripts/lab/boot-qemu.sh" \
		"$vmlinuz" 1 2G "$lab_work/payload" "$lab_work"/modules/hwheel.ko \
		"$lab_work"/modules/hwheel_bench.ko >"$log" || status=$?
	guest_log "$log" >"$log.kernel"
	if [ $status != 0 ] || dmesg_dirty "$log.kernel"; then
		tail -n 20 "$log" >&2
		die "the guest did not end well"
	fi
	sed -n 's/^.*hwheel_bench: bound //p' "$log.kernel"
}

# number CONTEXT: prints its number for hwheel_bench.ko's parameter bound_context
number()
{
	case $1 in
	softirq) echo 0 ;;
	hardirq) echo 1 ;;
	work)	 echo 2 ;;
	*)	 die "no context $1" ;;
	esac
}

# worst CONTEXT: prints the greatest lateness and lock hold of its rounds
worst()
{
	awk -v context="$1" -v late="$late" -v locked="$locked" '
		$2 != context { next }
		{
			n++
			for (i = 3; i <= NF; i++) {
				split($i, a, "=")
				if (a[1] == "late" && a[2] + 0 >= most) { most = a[2] + 0; round = $1 }
				if (a[1] == "locked" && a[2] + 0 > hold) hold = a[2] + 0
			}
		}
		END {
			bad = !n || most > late || hold > locked
			printf "bounds: %s: %d rounds, latest %d ns (%s), longest lock hold %d ns: %s\n",
				context, n, most, round, hold, bad ? "FAILED" : "ok"
			exit bad
		}' "$lines"
}

need gcc make
kernel=$("$lab_scripts/lab/stock-kernel.sh" 6.12)
read -r _ vmlinuz headers <<<"$kernel"
say "bounds: building the modules"
build_modules bounds-build "$headers" "$lab_work/modules"
: >"$lines"

seed=${SEED:-1}
for context in "${contexts[@]}"; do
	context_number=$(number "$context")
	if [ -z "${TIME-}" ]; then
		rounds "bound_context=$context_number seed=$seed bound_rounds=20 bound_timers=60000"
		rounds "bound_context=$context_number seed=$seed bound_rounds=1 bound_timers=1000000 bound_how=0 bound_all=1"
		rounds "bound_context=$context_number seed=$seed bound_rounds=10 bound_timers=1000 bound_how=5"
		rounds "bound_context=$context_number seed=$seed bound_rounds=2 bound_timers=250000 bound_how=4 bound_all=1"
		continue
	fi
	end=$((SECONDS + TIME / ${#contexts[@]}))
	while [ $SECONDS -lt $end ]; do
		seed=$((seed + 100))
		rounds "bound_context=$context_number seed=$seed bound_rounds=10 bound_timers=1000000"
	done
done
status=0
for context in "${contexts[@]}"; do
	worst "$context" || status=1
done
exit $status
