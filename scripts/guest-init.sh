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
[ -e /dev/null ] || mount -t devtmpfs devtmpfs /dev 2>/dev/null

cd /hw || poweroff -f
echo 'lab: payload begins'
echo '<6>lab: payload begins' >/dev/kmsg
sh /payload
status=$?

echo 'lab: log begins'
dmesg
echo 'lab: log ends'
echo "lab: end $status"
# Let the console take that before the kernel writes to it
sleep 1
poweroff -f
