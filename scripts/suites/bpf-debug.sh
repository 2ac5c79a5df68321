# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: timers for BPF programs, and random programs, under KASAN and lockdep; planted faults
# Takes: 1800 s
# When: ALL=1

suite()
{
	local fault name out=$lab_work/bpf kernel=x86-bpf-kasan

	KERNEL=$kernel FUZZ=120 "$lab_scripts/bpf.sh" | tee "$out" || :
	for name in load tests flows fuzz gone unload dmesg; do
		verdict "$name" "$out" grep -qx "bpf: $kernel $name ok" "$out"
	done
	# A use after free, and a lock that is taken twice
	for fault in free_at_once release_in_place; do
		FAULT=bpf/$fault KERNEL=$kernel FUZZ=60 "$lab_scripts/bpf.sh" | tee "$out" || :
		verdict "$fault is caught" "$out" grep -qx "bpf: $kernel dmesg FAILED" "$out"
	done
}
