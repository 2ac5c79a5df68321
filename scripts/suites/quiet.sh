# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: hwheel interrupts no isolated CPU, and deferrable wheels wake no idle CPU, in QEMU
# Takes: 110 s
# When: FULL=1

suite()
{
	local kernel

	for kernel in 6.1 newest ${ALL:+6.12 6.12-rt newest-rt}; do
		run_quiet "$kernel"
	done
}

run_quiet()
{
	local name out=$lab_work/quiet-$1

	KERNEL=$1 "$lab_scripts/quiet.sh" | tee "$out" || :
	for name in build boot nothing created expired "read" destroyed offline pinned deferrable \
		    dmesg; do
		verdict "$1 $name" "$out" grep -qx "quiet: $name ok" "$out"
	done
}
