# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: timers for BPF programs on stock kernels in QEMU; a table of flows on a veth
# Takes: 180 s
# When: FULL=1

suite()
{
	local kernel

	for kernel in newest 6.12 newest-rt; do
		run_bpf "$kernel" FUZZ=20
	done
}

# run_bpf KERNEL VARIABLES...
run_bpf()
{
	local name kernel=$1 out=$lab_work/bpf-$1

	shift
	env KERNEL="$kernel" "$@" "$lab_scripts/bpf.sh" | tee "$out" || :
	for name in load tests flows fuzz million gone unload dmesg; do
		verdict "$kernel $name" "$out" grep -qx "bpf: $kernel $name ok" "$out"
	done
}
