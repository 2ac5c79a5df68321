# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of the suite packages runs this. It loads hwheel.ko as DKMS installed it, and
# a driver that was built against it.

insmod hwheel.ko || exit 1
insmod hello.ko || exit 1
cd /sys/kernel/debug/hwheel/system || exit 1
grep -x 'tick_ns 1000000' config || exit 1
grep hello timers || exit 1
sleep 2
awk '$1 == "expired" && $2 > 0 { found = 1 } END { exit !found }' stats || exit 1
cd /
rmmod hello && rmmod hwheel
