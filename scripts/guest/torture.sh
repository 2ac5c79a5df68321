# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guest of torture.sh runs this: the torture test, while CPUs go offline and come
# back and the debugfs files are read. torture.sh sets
#	$hwheel, $torture	the parameters of the modules
#	$sysfs			seconds between two CPU hotplugs by the guest; 0: the guest
#				takes no CPU offline
#	$suspend		how many seconds the machine sleeps each time; 0 for never
#	$unload			after how many seconds to remove hwheel_torture during
#				the test; 0 for never

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

finished()
{
	[ "$(cat /sys/module/hwheel_torture/parameters/done 2>/dev/null || echo Y)" = Y ]
}

# Every fourth time, a CPU stays offline long enough for its timers to expire
switch_cpus()
{
	n=0
	while ! finished; do
		for cpu in /sys/devices/system/cpu/cpu[1-9]*; do
			[ -e $cpu/online ] || continue
			sleep $sysfs
			echo 0 >$cpu/online || continue
			n=$((n + 1))
			if [ $((n % 4)) = 0 ]; then
				sleep 15
			else
				sleep $sysfs
			fi
			echo 1 >$cpu/online
			finished && break
		done
	done
}

sleep_often()
{
	while ! finished; do
		sleep 2
		echo 0 >/sys/class/rtc/rtc0/wakealarm
		echo "+$suspend" >/sys/class/rtc/rtc0/wakealarm
		echo mem >/sys/power/state
	done
}

read_debugfs()
{
	while ! finished; do
		cat /sys/kernel/debug/hwheel/*/* >/dev/null 2>&1
		sleep 0.2
	done
}

# hrtimers have low resolution until the first tick
sleep 0.05
insmod hwheel.ko $hwheel || exit 1
insmod hwheel_torture.ko $torture || exit 1
log loaded
rmmod hwheel 2>/dev/null && log "hwheel was removed while it was used"

read_debugfs &
[ "$sysfs" = 0 ] || switch_cpus &
[ "$suspend" = 0 ] || sleep_often &
if [ "$unload" != 0 ]; then
	sleep $unload
	rmmod hwheel_torture || exit 1
fi
until finished; do
	sleep 1
done
# After a failure the module can't be removed, and readers may hang
dmesg | grep -q 'hwheel-torture: End of test: SUCCESS' || exit 3
wait
[ "$unload" != 0 ] || rmmod hwheel_torture || exit 1
rmmod hwheel || exit 1
log unloaded
