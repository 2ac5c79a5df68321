# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: subsystems on the newest kernel with hwheel in it
# Takes: 70 s
# When: ALL=1
#
# With SUITE=kernel alone it tests the subsystems in simulated time only. ALL=1 also runs tests of
# liburing and of the kernel, and compares all with the same kernel without hwheel.

suite()
{
	local name names

	names=("simulated time"{" of hwheel",": log of hwheel",": in time"," on wheels"}
		"exact to the tick")
	[ -z "$ALL" ] || names+=("simulated time"{" of plain",": log of plain"," as on plain"}
		"boot of "{plain,hwheel} "log of "{plain,hwheel} "hwheel: "{"as on plain","on wheels"})
	QUICK=$([ -n "$ALL" ] || echo 1) "$lab_scripts/kernel.sh" | tee "$lab_work/kernel" || :
	for name in "${names[@]}"; do
		verdict "$name" "$lab_work/kernel" \
			grep -qx "kernel: $name ok" "$lab_work/kernel"
	done
}
