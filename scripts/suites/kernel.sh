# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: subsystems on the newest kernel with hwheel in it, beside the same kernel without
# Takes: 400 s
# When: ALL=1

suite()
{
	local name

	"$lab_scripts/kernel.sh" | tee "$lab_work/kernel" || :
	for name in "boot of "{plain,hwheel} "log of "{plain,hwheel} \
		    "hwheel: "{"as on plain","on wheels"} "simulated time "{of\ plain,of\ hwheel} \
		    "simulated time "{"as on plain","on wheels"} "exact to the tick"; do
		verdict "$name" "$lab_work/kernel" \
			grep -qx "kernel: $name ok" "$lab_work/kernel"
	done
}
