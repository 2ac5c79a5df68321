# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: timers of both clocks across a suspend; torture while the machine suspends
# Takes: 90 s
# When: FULL=1

suite()
{
	local name

	"$lab_scripts/suspend.sh" | tee "$lab_work/suspend" || :
	for name in build boot slept "boottime before" "boottime after" "monotonic before" \
		    "monotonic after" dmesg; do
		verdict "$name" "$lab_work/suspend" \
			grep -qx "suspend: $name ok" "$lab_work/suspend"
	done
	SUSPEND=4 ONOFF=0 TIME=10 try torture "$lab_scripts/torture.sh"
}
