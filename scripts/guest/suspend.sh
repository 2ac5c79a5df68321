# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# What the guest of suspend.sh runs: sleeps while timers are pending, and lets
# the real-time clock wake it. suspend.sh sets $before and $after, the delays of
# the timers in ms, and how long to sleep and to wait afterwards: $asleep and
# $awake, in s.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

rtc()
{
	cat /sys/class/rtc/rtc0/since_epoch
}

# Before their first tick, hrtimers are still in low resolution
sleep 0.05
insmod hwheel.ko || exit 1
insmod suspend-timers.ko before="$before" after="$after" || exit 1
log "sleeps at $(rtc)"
echo "+$asleep" >/sys/class/rtc/rtc0/wakealarm && echo mem >/sys/power/state || exit 1
log "wakes at $(rtc)"
sleep "$awake"
rmmod suspend-timers && rmmod hwheel && log unloaded
