# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: timers for BPF programs on the newest stock kernel in QEMU; a table of flows on a veth
# Takes: 60 s

suite()
{
	if [ -n "${FULL:-}${ALL:-}" ]; then
		run_bpf newest
		run_bpf 6.12
		run_bpf newest-rt
	else
		QUICK=1 run_bpf newest
	fi
}

run_bpf()
{
	local name out=$lab_work/bpf-$1

	KERNEL=$1 "$lab_scripts/bpf.sh" | tee "$out" || :
	for name in load tests flows ${FULL:+million} gone unload dmesg; do
		verdict "$1 $name" "$out" grep -qx "bpf: $1 $name ok" "$out"
	done
}
