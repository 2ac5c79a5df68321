# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guests of bench.sh and bounds.sh run this: one group of measurements after the
# other. The results go to the kernel log.
#
# bench.sh and bounds.sh set $groups, $parameters and $read. If $read is not empty, the
# guest reads $lines lines of each debugfs file meanwhile, and pauses $read seconds after
# each pass.

log()
{
	echo "<6>hwheel_bench: $*" >/dev/kmsg
}

# hrtimers have low resolution until the first tick
sleep 0.1
# insmod waits until all is measured, which is not a fault
hung=/proc/sys/kernel/hung_task_timeout_secs
[ ! -e $hung ] || echo 0 >$hung
insmod hwheel.ko || exit 1
log "kernel=$(uname -r) cpus=$(nproc)"

bytes=$(sed -n 's/^bytes_per_cpu //p' /sys/kernel/debug/hwheel/system/config)
log "subject=hwheel op=wheel_size variant=relative tick_ns=1000000 crosses=0" \
	"pending=0 delay_ms=0 cpus=1 wheels=1 median=$bytes min=$bytes max=$bytes unit=bytes"

# A file may have a line for each of a million timers, so read only $lines lines. The shell
# reads them itself: if it started a program for this, the end of that program's process would
# be measured, too.
read_debugfs()
{
	until [ -e /tmp/measured ]; do
		sleep $read
		for file in /sys/kernel/debug/hwheel/*/*; do
			n=0
			while [ $n -lt $lines ] && read -r _; do
				n=$((n + 1))
			done <$file
		done 2>/dev/null
	done
}

[ -z "$read" ] || read_debugfs &

# Works of the boot go on for seconds. Group life would take them for what timers cost
sleep 5
for group in $groups; do
	echo "bench: $group"
	insmod hwheel_bench.ko what="$group" $parameters || exit 1
	rmmod hwheel_bench || exit 1
done
touch /tmp/measured
wait
rmmod hwheel || exit 1
