# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: half a minute of torture on stock kernels while CPUs go offline and come back
# Takes: 220 s

suite()
{
	local kernel

	KERNEL=6.1 TIME=30 try 6.1 "$lab_scripts/torture.sh"
	KERNEL=6.12 CPUS=4 UNLOAD=30 try 6.12 "$lab_scripts/torture.sh"
	for kernel in 6.12-rt newest ${ALL:+newest-rt}; do
		KERNEL=$kernel TIME=30 try "$kernel" "$lab_scripts/torture.sh"
	done
}
