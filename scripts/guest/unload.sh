# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# The guest of the suite unload runs this. In each of $rounds rounds it loads hwheel.ko and the
# torture test. Meanwhile drivers come and go, with timers pending, and a task reads debugfs. Then
# it unloads everything.
#
# wheels=0: else torture destroys wheels with pending timers, of which hwheel warns.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

read_debugfs()
{
	while [ ! -e /tmp/ended ]; do
		cat /sys/kernel/debug/hwheel/*/* >/dev/null 2>&1
	done
}

# driver NAME [PARAMETERS...]: hwheel.ko must stay while the driver uses it
driver()
{
	name=hwheel_$1
	shift
	insmod "$name.ko" "$@" || return
	if rmmod hwheel 2>/dev/null; then
		log "hwheel was removed while $name used it"
		return 1
	fi
	rmmod "$name"
}

# A file in debugfs that is open keeps hwheel.ko, too
unload()
{
	for _ in $(seq 100); do
		! rmmod hwheel 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# hrtimers have low resolution until the first tick
sleep 0.05
read_debugfs &
round=1
while [ $round -le "$rounds" ]; do
	insmod hwheel.ko tick_ns=100000 && insmod hwheel_torture.ko wheels=0 || exit 1
	for _ in 1 2; do
		driver hello && driver jobs && driver rcu run_ms=100 &&
			driver sessions sessions=10000 min_ms=1 max_ms=60000 || exit 1
	done
	rmmod hwheel_torture || exit 1
	dmesg | grep 'hwheel-torture: End of test: ' | grep -c SUCCESS | grep -qx $round || exit 1
	unload || exit 1
	log "round $round"
	round=$((round + 1))
done
touch /tmp/ended
wait
# What was left behind would run now
sleep 2
