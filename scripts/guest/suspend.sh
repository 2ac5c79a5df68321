# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# The guest of suspend.sh runs this script. The script suspends the guest while timers are
# pending, and the real-time clock wakes the guest. suspend.sh sets these variables:
#	before, after	the delays in ms of timers that are armed before the sleep, and of
#			timers that are armed after it
#	asleep		how long to sleep, in s
#	awake		how long to wait after the sleep, in s

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

rtc()
{
	cat /sys/class/rtc/rtc0/since_epoch
}

# hrtimers have low resolution until the first tick
sleep 0.05
insmod hwheel.ko || exit 1
insmod suspend-timers.ko before="$before" after="$after" || exit 1
log "sleeps at $(rtc)"
echo "+$asleep" >/sys/class/rtc/rtc0/wakealarm && echo mem >/sys/power/state || exit 1
log "wakes at $(rtc)"
sleep "$awake"
rmmod suspend-timers && rmmod hwheel && log unloaded
