# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: tracepoints and bpftrace scripts agree with debugfs
# Takes: 70 s
# When: FULL=1

suite()
{
	local kernel

	run_trace 6.12 who late
	for kernel in 6.1 ${ALL:+newest 6.12-rt newest-rt}; do
		QUICK=1 run_trace "$kernel"
	done
}

run_trace()
{
	local name out=$lab_work/trace-$1

	KERNEL=$1 "$lab_scripts/trace.sh" | tee "$out" || :
	for name in load events fields counts "${@:2}" unload dmesg; do
		verdict "$1 $name" "$out" grep -qx "trace: $name ok" "$out"
	done
}
