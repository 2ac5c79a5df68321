# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# What the guests of bounds.sh run, which sets $parameters.

# Before their first tick, hrtimers are still in low resolution
sleep 0.1
insmod hwheel.ko || exit 1

# Of a file with a line for each of a million timers, some
read_debugfs()
{
	until [ -e /tmp/measured ]; do
		sleep 0.1
		for file in /sys/kernel/debug/hwheel/*/*; do
			n=0
			while [ $n -lt 300 ] && read -r _; do
				n=$((n + 1))
			done <$file
		done 2>/dev/null
	done
}

read_debugfs &
insmod hwheel_bench.ko $parameters || exit 1
touch /tmp/measured
wait
rmmod hwheel_bench || exit 1
rmmod hwheel || exit 1
