# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the qdisc hwpace on stock kernels: rates, losses, changes under load
# Takes: 100 s
# When: FULL=1

suite()
{
	# A guest of QEMU keeps up with 4 Mbit/s even if the host is busy. A busy host may hold up
	# the guest for tens of milliseconds. TIME must be much longer than that
	local RATE=4 TIME=8 FLOWS='1 16' OUT=$lab_work kernel

	export RATE TIME FLOWS OUT
	run_pacing 6.12
	for kernel in 6.12-rt ${ALL:+6.1 newest newest-rt}; do
		QUICK=1 run_pacing "$kernel"
	done
}

run_pacing()
{
	local name out=$lab_work/pacing-$1

	KERNEL=$1 "$lab_scripts/pacing.sh" | tee "$out" || :
	for name in load options churn rate below limit departure busy unload dmesg; do
		verdict "$1 $name" "$out" grep -qx "pacing: $name ok" "$out"
	done
}
