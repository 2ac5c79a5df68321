# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: subsystems on the newest kernel with hwheel in it, beside the same kernel without
# Takes: 120 s
# When: FULL=1
#
# A plain check tests the subsystems in simulated time only, in about a minute. With ALL=1 it also
# runs tests of liburing and of the kernel.

suite()
{
	local name names

	names=("simulated time of "{plain,hwheel} "simulated time: log of "{plain,hwheel}
		"simulated time "{"as on plain","on wheels"} "exact to the tick")
	[ -z "$ALL" ] || names+=("boot of "{plain,hwheel} "log of "{plain,hwheel}
		"hwheel: "{"as on plain","on wheels"})
	QUICK=$([ -n "$ALL" ] || echo 1) "$lab_scripts/kernel.sh" | tee "$lab_work/kernel" || :
	for name in "${names[@]}"; do
		verdict "$name" "$lab_work/kernel" \
			grep -qx "kernel: $name ok" "$lab_work/kernel"
	done
}
