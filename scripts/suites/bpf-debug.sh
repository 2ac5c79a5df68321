# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: timers for BPF programs, and random programs, under KASAN and lockdep; a planted fault
# Takes: 1500 s
# When: ALL=1

suite()
{
	local name out=$lab_work/bpf
	export KERNEL=x86-bpf-kasan

	# With a thread for each CPU, QEMU loses packets on such a slow kernel
	THREAD=single FUZZ=120 "$lab_scripts/bpf.sh" | tee "$out" || :
	for name in load tests flows fuzz gone unload dmesg; do
		verdict "$name" "$out" grep -qx "bpf: $KERNEL $name ok" "$out"
	done
	# One CPU releases timers, and another runs them
	TESTS="-n 2000 -r 15 churn" "$lab_scripts/bpf.sh" | tee "$out" || :
	for name in tests dmesg; do
		verdict "churn, $name" "$out" grep -qx "bpf: $KERNEL $name ok" "$out"
	done
	FAULT=bpf/free_at_once TESTS="-n 2000 -r 15 churn" "$lab_scripts/bpf.sh" 2>&1 | tee "$out" || :
	verdict "free_at_once is caught" "$out" grep -q "KASAN: slab-use-after-free" "$out"
}
