# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of clock.sh runs this. It sets the clock back and forth while timers are pending.
# clock-timers.c has room for 16 calls of arm (ROUNDS).

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

# arm FIRST STEP: arms timers for the multiples of STEP ms, the first about FIRST ms from now
arm()
{
	echo "$1 $2" >/sys/module/clock_timers/parameters/arm
}

# step MS: sets the clock forward or back, while no timer expires
step()
{
	echo "$1" >/sys/module/clock_timers/parameters/step
}

# tai SECONDS: sets the offset of CLOCK_TAI from UTC, while no timer expires
tai()
{
	echo 60 >/sys/module/clock_timers/parameters/quiet && ./set-clock tai "$1"
}

# hrtimers have low resolution until the first tick
sleep 0.05
insmod hwheel.ko && insmod clock-timers.ko || exit 1

# Some are due soon, some in an hour, and some are due already
arm 100 40 && arm 3600110 40 && arm -5000 200 || exit 1
sleep 0.5
# Set the clock back by an hour and a bit. Pending timers wait longer. New timers expire before
# the pending ones.
step -3600310 && arm 10 40 && sleep 1.5 || exit 1
# Set the clock forward to the same time again, then by another hour, then back and forth
step 3600320 && arm 50 40 && sleep 1.5 || exit 1
step 3600000 && sleep 1 || exit 1
arm 5 400 && arm 31536000050 400 || exit 1
for by in -10 20 -300 100 -31536000000 -1000000 500000 31536500000 2500; do
	step $by && sleep 0.2 || exit 1
done
sleep 3
# Set the offset of CLOCK_TAI forward and back
arm 100 200 && tai 37 && sleep 0.5 && tai 10 && sleep 2 || exit 1
# 500 ppm faster, then slower
./set-clock slew 500 && sleep 1 && ./set-clock slew -500 && sleep 1 && ./set-clock slew 0 || exit 1
# A leap second: it comes after two seconds. There are timers
# before it, in it, at its end, and later.
./set-clock leap 2 && arm 0 100 && arm 30 80 && sleep 8 || exit 1
log "date $(date -u)"
rmmod clock_timers && rmmod hwheel && log unloaded
