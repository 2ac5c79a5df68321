# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# What the guest of check.sh's suite readme runs: the user's machine, from its
# disk, where /root/steps says what to do. suite-readme.sh sets $modules, which
# the disk needs.

for module in $modules; do
	insmod "$module" || exit 1
done
until [ -b /dev/vda ]; do
	sleep 0.1
done
mkdir /disk
mount -t ext4 /dev/vda /disk || exit 1
mount -t proc proc /disk/proc
mount -t sysfs sysfs /disk/sys
mount -t debugfs debugfs /disk/sys/kernel/debug
mount -t tracefs tracefs /disk/sys/kernel/tracing
mount -t devtmpfs devtmpfs /disk/dev
mount -t tmpfs tmpfs /disk/tmp

# The kernel loads modules from the disk, too
mkdir -p /sbin
printf '#!/bin/sh\nexec /bin/chroot /disk /sbin/modprobe "$@"\n' >/sbin/modprobe
chmod +x /sbin/modprobe

export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
/bin/ip link set lo up
# By its path: busybox has a sh of its own, with programs of its own
exec /bin/chroot /disk /bin/sh /root/steps
