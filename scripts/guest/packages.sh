# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of the suite packages runs this. It loads hwheel.ko as DKMS installed it, with the
# parameters that modprobe would give it, and a driver that was built against it.

# shellcheck disable=SC2046 # words
insmod hwheel.ko $(cat parameters) || exit 1
insmod hello.ko || exit 1
cd /sys/kernel/debug/hwheel/system || exit 1
for row in tick_ns=100000 spokes=256,128,128,128 levels=4 gap_ns=50000; do
	grep -x "${row%=*} ${row#*=}" config || exit 1
done
grep hello timers || exit 1
# hwheel.ko stays while it has a user
! rmmod hwheel || exit 1
sleep 2
awk '$1 == "expired" && $2 > 0 { found = 1 } END { exit !found }' stats || exit 1
cd /hw || exit 1
rmmod hello && rmmod hwheel || exit 1
# Users and timers come and go
for _ in 1 2 3 4 5 6 7 8 9 10; do
	insmod hwheel.ko && insmod hello.ko && rmmod hello && rmmod hwheel || exit 1
done
