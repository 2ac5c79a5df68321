# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: net/bridge, net/sctp and CAN_BCM moved to hwheel by machine, and used
# Takes: 200 s

suite()
{
	local name

	"$lab_scripts/convert.sh" | tee "$lab_work/convert" || :
	for name in patches jiffies converts builds "boot of stock" "boot of moved" bridge sctp \
		    timers dmesg can\ {converts,builds,"boot of stock","boot of moved",timers,dmesg} \
		    can; do
		verdict "$name" "$lab_work/convert" \
			grep -qx "convert: $name ok" "$lab_work/convert"
	done
}
