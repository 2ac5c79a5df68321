# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guest of the suite dump runs this. It keeps many timers pending, shows them, and crashes.
# The suite sets $parameters and $name.

insmod qemu_fw_cfg.ko || exit 1
insmod hwheel.ko || exit 1
insmod hwheel_sessions.ko $parameters || exit 1
cd /sys/kernel/debug/hwheel/system || exit 1
sleep 4
if [ $name = still ]; then
	for file in levels spokes users; do
		sed "s/^/lab: $file: /" $file
	done
fi
# The guest stays when its kernel has died
echo 0 >/proc/sys/kernel/panic
echo c >/proc/sysrq-trigger
sleep 60
