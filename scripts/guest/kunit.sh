# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# What the guests of check.sh's KUnit suites run. check.sh sets $parameters
# and $loads, how often to load and unload the module before.

kmemleak=/sys/kernel/debug/kmemleak
failslab=/sys/kernel/debug/failslab

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

# Before their first tick, hrtimers are still in low resolution
sleep 0.05
[ ! -e $kmemleak ] || echo clear >$kmemleak

n=0
while [ $n -lt $loads ]; do
	insmod hwheel.ko && rmmod hwheel || exit 1
	n=$((n + 1))
done

# For the tests that let allocations fail
if [ -e $failslab ]; then
	echo N >$failslab/ignore-gfp-wait
	echo 0 >$failslab/verbose
fi
insmod hwheel.ko || exit 1
log kunit begins
insmod hwheel_kunit.ko $parameters || exit 1
log kunit ends
rmmod hwheel_kunit || exit 1
# It warns of a wheel that is left
case $parameters in
*leave=1*)
	log hwheel-expect-begin
	rmmod hwheel || exit 1
	log hwheel-expect-end
	;;
*)
	rmmod hwheel || exit 1
	;;
esac

# Only what is older than 5 s is taken for a leak, and unchanged since a scan
if [ -e $kmemleak ]; then
	sleep 6
	echo scan >$kmemleak
	echo scan >$kmemleak
	cat $kmemleak
fi
log unloaded
