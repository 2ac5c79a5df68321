# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: io_uring on the newest kernel with hwheel in it, beside the same kernel without
# Takes: 30 s

suite()
{
	local name

	"$lab_scripts/kernel.sh" | tee "$lab_work/kernel" || :
	for name in "boot of "{plain,hwheel} "log of "{plain,hwheel} \
		    "hwheel: "{"io_uring as on plain","on the wheel"} \
		    "simulated time" "exact to the tick"; do
		verdict "$name" "$lab_work/kernel" \
			grep -qx "kernel: $name ok" "$lab_work/kernel"
	done
}
