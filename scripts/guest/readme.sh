# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# The guest of the suite readme runs this. It mounts the disk of the user's machine and
# runs /root/steps there. suites/readme.sh sets $modules, which the disk needs.

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
# udev would make this link; bpftrace needs it
ln -s /proc/self/fd /disk/dev/fd
mount -t tmpfs tmpfs /disk/tmp

# The kernel, too, must load modules from the disk
mkdir -p /sbin
printf '#!/bin/sh\nexec /bin/chroot /disk /sbin/modprobe "$@"\n' >/sbin/modprobe
chmod +x /sbin/modprobe

export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
/bin/ip link set lo up
# With a path, since busybox would run its own sh
exec /bin/chroot /disk /bin/sh /root/steps
