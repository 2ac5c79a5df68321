# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: half a minute of torture on stock kernels while CPUs go offline and come back
# Takes: 160 s
# When: FULL=1

suite()
{
	local kernel

	KERNEL=newest CPUS=4 UNLOAD=30 try newest "$lab_scripts/torture.sh"
	for kernel in 6.1 6.12-rt ${ALL:+6.12 newest-rt}; do
		KERNEL=$kernel TIME=30 try "$kernel" "$lab_scripts/torture.sh"
	done
}
