#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# shellcheck shell=dash
#
# init of the lab's guests. It runs /payload in /hw, prints the kernel log and the
# payload's exit status, and powers off. Do not run it outside a guest.

/bin/busybox --install -s /bin
export PATH=/bin

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t tmpfs tmpfs /tmp
# KCSAN is off while the kernel boots, because it makes boots slow. KCSAN waits 80 us
# for a race by default. That is too short for a simulated CPU.
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

# The kernel's messages must not come in between
dmesg -n 1
echo 'lab: log begins'
dmesg
echo 'lab: log ends'
echo "lab: end $status"
# Let the console print that before the kernel writes to the console
sleep 1
poweroff -f
