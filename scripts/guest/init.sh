#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# shellcheck shell=dash
#
# init of the lab's guests: runs /payload in /hw, shows the kernel log, says how
# the payload ended, and powers off. Not for use outside a guest.

/bin/busybox --install -s /bin
export PATH=/bin

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t tmpfs tmpfs /tmp
# From here on, for boots are slow under KCSAN. And in the 80 us for which it
# mostly waits for a race a simulated CPU gets nowhere.
if [ -e /sys/kernel/debug/kcsan ]; then
	echo 1000 >/sys/module/kcsan/parameters/udelay_task
	echo 500 >/sys/module/kcsan/parameters/udelay_interrupt
	echo 2000 >/sys/module/kcsan/parameters/skip_watch
	echo on >/sys/kernel/debug/kcsan
fi
[ -e /dev/null ] || mount -t devtmpfs devtmpfs /dev 2>/dev/null

cd /hw || poweroff -f
echo 'lab: payload begins'
echo '<6>lab: payload begins' >/dev/kmsg
sh /payload
status=$?

# What the kernel says meanwhile is not to go between
dmesg -n 1
echo 'lab: log begins'
dmesg
echo 'lab: log ends'
echo "lab: end $status"
# Let the console take that before the kernel writes to it
sleep 1
poweroff -f
