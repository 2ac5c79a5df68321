# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# What the guests of bench.sh run: one group of measurements after the other.
# bench.sh sets $groups, $parameters and $read, the pause between two looks at
# debugfs if there are to be any. The results are in the kernel log.

log()
{
	echo "<6>hwheel_bench: $*" >/dev/kmsg
}

# Before their first tick, hrtimers are still in low resolution
sleep 0.1
insmod hwheel.ko || exit 1
log "kernel=$(uname -r) cpus=$(nproc)"

bytes=$(sed -n 's/^bytes_per_cpu //p' /sys/kernel/debug/hwheel/system/config)
log "subject=hwheel op=wheel_size variant=relative tick_ns=1000000 crosses=0" \
	"pending=0 delay_ms=0 cpus=1 median=$bytes min=$bytes max=$bytes unit=bytes"

# Of a file with a line for each of a million timers, some. By the shell itself:
# what the kernel does when processes end is not to be measured.
read_debugfs()
{
	until [ -e /tmp/measured ]; do
		sleep $read
		for file in /sys/kernel/debug/hwheel/*/*; do
			n=0
			while [ $n -lt 1000 ] && read -r _; do
				n=$((n + 1))
			done <$file
		done 2>/dev/null
	done
}

[ -z "$read" ] || read_debugfs &

for group in $groups; do
	echo "bench: $group"
	insmod hwheel_bench.ko what="$group" $parameters || exit 1
	rmmod hwheel_bench || exit 1
done
touch /tmp/measured
wait
rmmod hwheel || exit 1
