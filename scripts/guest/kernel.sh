# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# The guests of kernel.sh run this: $command, which kernel.sh sets. Behind what it prints
# comes what the wheel has counted, if there is one.

# tests: runs all tests. liburing's expect a host that is not busy: one that fails is run
# again.
tests()
{
	./uring-test set || return
	for test in liburing-*; do
		n=0 result=
		while [ "$result" != passed ] && [ "$result" != skipped ] && [ $n -lt 3 ]; do
			timeout 60 "./$test" >/tmp/out 2>&1
			case $? in
			0)	result=passed ;;
			77)	result=skipped ;;
			143)	result="stopped after 60 s" ;;
			*)	result=failed ;;
			esac
			[ "$result" = passed ] || sed "s/^/# $test: /" /tmp/out | tail -n 5
			n=$((n + 1))
		done
		echo "$test: $result"
	done
	echo ended
}

# hrtimers have low resolution until the first tick
sleep 0.1
$command || exit
stats=/sys/kernel/debug/hwheel/io_uring/stats
[ ! -e $stats ] || awk '{ print "# wheel: " $1 " " $2 }' $stats
