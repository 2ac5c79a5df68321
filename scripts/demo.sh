#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a stock Debian kernel in QEMU, keeps session timeouts on hwheel there, and shows
# how the levels drain. The last line is
#	demo: armed N fired N cancelled N early N lost N max_late_ns N
# The exit status is 0 if the guest ran to its end and all checks passed. The check "sessions"
# passes if no timer was early or lost, none fired twice, and armed = fired + cancelled.
# PLOT=FILE also records and draws the run. A failure to draw does not change the exit status.
#
# Usage: [KERNEL=name] [SESSIONS=n] [MAX_MS=ms] [TRAFFIC_MS=ms] \
#	 [PLOT=FILE.svg] demo.sh

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

flavour=${KERNEL:-6.12}
sessions=${SESSIONS:-1000000}
max_ms=${MAX_MS:-60000}
traffic_ms=${TRAFFIC_MS:-10000}
plot=${PLOT:-}
console=$lab_work/console log=$lab_work/log

# exact: whether the counts say that all timers were exact
exact()
{
	[ "${count[armed]:-0}" -gt 0 ] &&
		[ "${count[armed]}" = $((count[fired] + count[cancelled])) ] &&
		[ "${count[early]:-}/${count[lost]:-}/${count[double]:-0}" = 0/0/0 ]
}

# draw: keeps the recording in the cache, and draws it. need() may end the script, so draw()
# calls need() in a subshell.
draw()
{
	local recording=$lab_cache/log/demo-$flavour.recording

	grep '^hwr2 ' "$console" >"$recording" || return
	(need python3 python3-matplotlib) || return
	/usr/bin/python3 "$lab_top/tools/hwheel-plot" --output "$plot" \
		--title "$sessions sessions on Linux $release" "$recording" &&
		say "demo: drew $plot, from $recording"
}

need gcc make
kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
read -r release vmlinuz headers <<<"$kernel"

say "demo: building the modules for $release"
# In FULL=1 other suites take the same build, and need all of it
less=(CONFIG_HWHEEL_TORTURE_TEST= CONFIG_HWHEEL_BENCH=)
[ -z "${FULL-}" ] || less=()
build_modules "demo-build" "$headers" "$lab_work/build" "${less[@]}"

# A driver of another version of hwheel. If the kernel has MODVERSIONS: one that calls __hwheel_setup()
# with other types
others=("$lab_work/version.ko")
other_version "$lab_work/build/samples/hwheel_rcu.ko" >"$lab_work/version.ko"
if grep -q '^CONFIG_MODVERSIONS=y' "$headers/include/config/auto.conf"; then
	others+=("$lab_work/crc.ko")
	perl -0777 -pe 's/(.{4})(?=\0{4}__hwheel_setup\0{40})/~$1/se' \
		"$lab_work/build/samples/hwheel_rcu.ko" >"$lab_work/crc.ko"
fi

bpf=()
[ ! -e "$lab_work/build/bpf/hwheel_bpf.ko" ] || bpf=("$lab_work/build/bpf/hwheel_bpf.ko")

say "demo: booting $release, then $sessions sessions of up to $((max_ms / 1000)) s"
{
	echo "sessions=$sessions others='${others[*]##*/}'"
	echo "parameters='max_ms=$max_ms traffic_ms=$traffic_ms'"
	echo "recording='$plot'"
	cat "$lab_scripts/guest/demo.sh"
} >"$lab_work/payload"
# An emulated CPU may be five times slower
TIMEOUT=${TIMEOUT:-$((300 + (max_ms + traffic_ms) / 200))} \
	"$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 2G "$lab_work/payload" \
	"$lab_work"/build/hwheel.ko "$lab_work"/build/samples/hwheel_{jobs,rcu,sessions}.ko \
	"${others[@]}" "${bpf[@]}" "$lab_top"/tools/hwheel-{record.sh,report} |
	tee "$console" |
	sed -u -n '/^lab: levels begin$/,/^lab: log begins$/{/^lab: /!{/^hwr2 /!p}}' || failed=1

guest_log "$console" >"$log"
declare -A count=()
read -ra line < <(grep -o 'armed [0-9]* fired [0-9]*.*' "$log" | tail -n 1) || :
for ((i = 0; i + 1 < ${#line[@]}; i += 2)); do
	count[${line[i]}]=${line[i + 1]}
done

sed -n 's/^lab: bytes_per_cpu /demo: bytes of a wheel on a CPU, without levels: /p' "$log"
verdict load logged loaded
verdict refused logged refused
verdict version logged version
verdict parameters logged parameters
verdict sums logged sums
verdict debugfs logged debugfs
verdict report logged report
verdict rcu logged rcu
verdict jobs logged jobs
[ ${#bpf[@]} = 0 ] || verdict bpf logged bpf
verdict sessions exact
verdict unload logged unloaded
verdict dmesg clean
keep_console "demo-$flavour"
[ -z "$plot" ] || draw || say "demo: no plot this time"
printf 'demo:'
for name in armed fired cancelled early lost max_late_ns; do
	printf ' %s %s' $name "${count[$name]:-?}"
done
echo
exit $failed
