# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guests of the KUnit suites run this. suites/shared/kunit.sh sets $parameters, and
# $loads: how often to load and unload the module first.

kmemleak=/sys/kernel/debug/kmemleak
failslab=/sys/kernel/debug/failslab

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

# hrtimers have low resolution until the first tick
sleep 0.05
[ ! -e $kmemleak ] || echo clear >$kmemleak

n=0
while [ $n -lt $loads ]; do
	insmod hwheel.ko && rmmod hwheel || exit 1
	n=$((n + 1))
done

# For the tests in which allocations fail
if [ -e $failslab ]; then
	echo N >$failslab/ignore-gfp-wait
	echo 0 >$failslab/verbose
fi
insmod hwheel.ko || exit 1
log kunit begins
insmod hwheel_kunit.ko $parameters || exit 1
log kunit ends
rmmod hwheel_kunit || exit 1
# hwheel.ko warns of a wheel that nobody destroyed
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

# kmemleak reports only memory that is older than 5 s and unchanged since a scan
if [ -e $kmemleak ]; then
	sleep 6
	echo scan >$kmemleak
	echo scan >$kmemleak
	cat $kmemleak
fi
log unloaded
