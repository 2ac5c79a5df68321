# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of the suite small runs this.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

insmod hwheel.ko || exit 1
# The kernel can't compare CRCs. It refuses a driver of another version of hwheel all the same.
log hwheel-expect-begin
insmod version.ko 2>/dev/null && exit 1
log hwheel-expect-end
dmesg | grep -q 'hwheel_rcu: Unknown symbol hwheel_version_9_' && log version
# The module tests itself. It does not load if a test fails.
insmod hwheel_rcu.ko && log rcu
insmod hwheel_sessions.ko sessions=1000 max_ms=3000 traffic_ms=1000 || exit 1
until [ "$(cat /sys/module/hwheel_sessions/parameters/done)" = Y ]; do
	sleep 1
done
# Without MODULE_UNLOAD the modules stay
! rmmod hwheel_sessions 2>/dev/null
