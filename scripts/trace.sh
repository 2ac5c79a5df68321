#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a stock Debian kernel in QEMU and runs a load on hwheel there: with all
# tracepoints on, and under hwheel-who.bt and hwheel-late.bt. The exit status is 0 if
# their counts agree with debugfs and with the load's own.
#
# Usage: [KERNEL=name] [QUICK=1] trace.sh
#	 QUICK leaves out the bpftrace scripts

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

flavour=${KERNEL:-6.12}
console=$lab_work/console log=$lab_work/log
rounds=20 hog_us=20000	# as trace-hog.c has them

# section NAME: reads what the guest printed between its lines "NAME begin" and
# "NAME end". Sets value[] to the differences of its statistics (after - before), to the
# counts of the events, and to a script's counts for each callback.
section()
{
	local key n

	sed -n "/^lab: $1 begin/,/^lab: $1 end/p" "$console" >"$lab_work/$1"
	value=()
	# A script prints several times; the last one counts
	while IFS=$'\t' read -r key n; do
		value[$key]=$n
	done < <(awk '
		$1 == "before" { before[$2] = $3 }
		$1 == "after" && $2 != "#" { printf "%s\t%.0f\n", $2, $3 - before[$2] }
		$1 == "event" { printf "%s\t%d\n", $2, $3 }
		$1 == "moved" || $1 == "bad" { printf "%s\t%d\n", $1, $2 }
		$1 == "lost" { lost += $NF }
		/^@.*\]: / { split($0, pair, "]: "); printf "%s]\t%s\n", pair[1], pair[2] }
		END { printf "lost\t%d\n", lost }' "$lab_work/$1")
}

# same NAME NUMBER NUMBER: whether the numbers are the same; prints them if not
same()
{
	[ "$2" = "$3" ] && return
	echo "$1: $2 and $3"
	return 1
}

# sum NAME: the sum of a script's counts for all callbacks
sum()
{
	local key n=0

	for key in "${!value[@]}"; do
		[ "${key#"@$1["}" = "$key" ] || n=$((n + value[$key]))
	done
	echo "$n"
}

# by_kind: whether each kind of event was seen, and none was lost
by_kind()
{
	local event status=0

	for event in "${events[@]}"; do
		[ "${value[$event]:-0}" -gt 0 ] || { echo "no $event"; status=1; }
	done
	[ ${#events[@]} -ge 8 ] && same lost "${value[lost]:-none}" 0 && return "$status"
}

# by_count: whether the events are as many as debugfs counted
by_count()
{
	same armed "${value[hwheel_start]:-0}" $((${value[added]:-0} + ${value[rearmed]:-0})) &&
		same cancelled "${value[hwheel_cancel]:-0}" "${value[cancelled]:-0}" &&
		same expired "${value[hwheel_expire_entry]:-0}" "${value[expired]:-0}" &&
		same ended "${value[hwheel_expire_exit]:-0}" "${value[expired]:-0}" &&
		same cascaded "${value[moved]:-0}" "${value[cascaded]:-0}" &&
		same budget "${value[hwheel_budget]:-0}" "${value[budget_overruns]:-0}"
}

# near NAME NUMBER NUMBER: whether the numbers are the same. If the script printed during the
# load, they may differ by 1 %.
near()
{
	grep -q '^So far' "$lab_work/who" && [ $(($2 * 100)) -le $(($3 * 101)) ] &&
		[ $(($2 * 100)) -ge $(($3 * 99)) ] && return
	same "$@"
}

# who: whether the script's counts are right for the load as a whole, for the sessions,
# and for the hog, whose numbers are known
who()
{
	near armed "$(sum armed)" $((${value[added]:-0} + ${value[rearmed]:-0})) &&
		near cancelled "$(sum cancelled)" "${value[cancelled]:-0}" &&
		near expired "$(sum expired)" "${value[expired]:-0}" &&
		near rearmed "$(sum rearmed)" "${value[rearmed]:-0}" &&
		[ "${value['@armed[session_expired]']:-0}" -ge 2000 ] &&
		near hog "${value['@armed[hog_runs]']:-0}" "$rounds" &&
		near victim "${value['@armed[victim_runs]']:-0}" $((3 * rounds)) &&
		near "victim's" "${value['@rearmed[victim_runs]']:-0}" $((2 * rounds)) &&
		near decoy "${value['@cancelled[decoy_runs]']:-0}" "$rounds" &&
		in_rows who 'delay_us[decoy_runs]' 16M 100 &&
		in_rows who 'delay_us[hog_runs]' 8K 75
}

# in_rows SECTION NAME FROM PERCENT: whether PERCENT of the counts of the last histogram NAME are in
# rows that begin at FROM, a regular expression. A few of the hog's delays may be shorter: if the
# host holds up the guest between hwheel_add() and the tracepoint, the tracepoint sees less delay.
in_rows()
{
	awk -v name="@$2: " -v from="^[[]$3,\$" -v percent="$4" '
		index($0, name) == 1	{ here = 1; all = there = 0; next }
		!/^\[/			{ here = 0 }
		here			{ sub(/\|.*/, ""); all += $NF; if ($1 ~ from) there += $NF }
		END			{
			print name there + 0 " of " all + 0
			exit !all || there * 100 < all * percent
		}
	' "$lab_work/$1"
}

# late: whether the script blamed the hog for the late victim, at least three times out of four. It
# may blame another callback, because the host has preempted the guest during that callback.
late()
{
	local key n average blamed=0 hog=0

	for key in "${!value[@]}"; do
		[ "${key#@held_up_by\[victim_runs, }" != "$key" ] || continue
		read -r _ n _ average _ < <(tr -d , <<<"${value[$key]}")
		blamed=$((blamed + n))
		[ "$average" -ge "$hog_us" ] || { echo "took $average us"; return 1; }
		[ "$key" != '@held_up_by[victim_runs, hog_runs]' ] || hog=$n
	done
	echo "held up $blamed times, $hog times by the hog"
	[ "$blamed" -le "$rounds" ] && [ "$hog" -ge $((rounds * 3 / 4)) ] &&
		[ -z "${value['@held_up_else[victim_runs]']-}" ] &&
		grep -q '^So far' "$lab_work/late" &&
		grep -q '^@late_us\[session_expired\]:' "$lab_work/late" &&
		in_rows late 'late_us[victim_runs]' '(8|16|32|64|128|256|512)K' 100 &&
		in_rows late 'late_us[victim_runs]' '(8|16|32|64)K' 75 &&
		! grep -E '^@(began|ended|longest|culprit|threshold)' "$lab_work/late"
}

need gcc make bpftrace
kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
read -r release vmlinuz headers <<<"$kernel"
mapfile -t events < <(sed -n -E \
	's/^(TRACE_EVENT\(|DEFINE_EVENT\([a-z_]*, )(hwheel_[a-z_]*),/\2/p' \
	"$lab_top/module/trace.h")

say "trace: building the modules for $release"
build_modules trace-build "$headers" "$lab_work/build"
mkdir "$lab_work/hog"
cp "$lab_scripts/guest/trace-hog.c" "$lab_work/hog"
printf '%s\n' "obj-m := trace-hog.o" "ccflags-y := -I$lab_work/build" \
	>"$lab_work/hog/Kbuild"
quiet trace-hog kbuild "$headers" M="$lab_work/hog" \
	KBUILD_EXTRA_SYMBOLS="$lab_work/build/Module.symvers" modules

files=("$lab_work"/build/hwheel.ko "$lab_work"/build/samples/hwheel_sessions.ko
	"$lab_work"/hog/trace-hog.ko)
if [ -z "${QUICK-}" ]; then
	mapfile -t libraries < <(ldd "$(command -v bpftrace)" |
		grep -o '/[^ ]*' | grep -v ':$' | sort -u)
	files+=("$(command -v bpftrace)" "${libraries[@]}" "$lab_top"/tools/hwheel-*.bt)
	export PACK=cat	# 200 MB
fi

say "trace: booting $release"
TIMEOUT=${TIMEOUT:-600} "$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 2G \
	"$lab_scripts/guest/trace.sh" "${files[@]}" >"$console" || failed=1

guest_log "$console" >"$log"
declare -A value=()
verdict load logged loaded
section events
verdict events by_kind
verdict fields same bad "${value[bad]:-none}" 0
verdict counts by_count
if [ -z "${QUICK-}" ]; then
	section who
	verdict who who
	section late
	verdict late late
fi
verdict unload logged unloaded
verdict dmesg clean
keep_console "trace-$flavour"
exit $failed
