#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Prints snapshots of a wheel's debugfs files for hwheel-top --replay and hwheel-plot. It
# needs no Python, only a POSIX shell, sed, sleep and awk; those of busybox will do. Each
# line begins with hwr1 and the name of its file, so that other output may come in between,
# as on a serial console.
#
# Usage: hwheel-record.sh [-i SECONDS] [-n SNAPSHOTS] [-c] [WHEEL]

usage()
{
	cat <<-END
	usage: hwheel-record.sh [-i SECONDS] [-n SNAPSHOTS] [-c] [WHEEL]

	Prints snapshots of WHEEL (default: system, the module's own) to stdout, a
	recording for hwheel-top --replay and hwheel-plot. Needs root.

	  -i SECONDS    time between two snapshots (default: 1)
	  -n SNAPSHOTS  stop after so many (default: when the wheel is gone)
	  -c            record callbacks, too: reads the wheel's timers, however many
	  -h            this help

	HWHEEL_DEBUGFS names another folder than /sys/kernel/debug/hwheel.
	END
}

fail()
{
	echo "hwheel-record.sh: $*" >&2
	exit "${status:-1}"
}

mark()
{
	sed "s/^/hwr1 $1 /"
}

snapshot()
{
	read -r seconds _ </proc/uptime
	echo "hwr1 begin $wheel $seconds"
	for file in config levels spokes stats lateness; do
		mark $file <"$dir/$file" || return
	done
	[ -z "$callbacks" ] || sum_up <"$dir/timers" | mark callbacks
	echo "hwr1 end"
}

# For each CPU and callback: the number of timers, and the earliest expiration. The
# earliest is also kept as text, since the awk of busybox may print large numbers as 1e+18.
sum_up()
{
	echo '# cpu function timers soonest_ns'
	awk '!/^#/ && NF >= 6 {
		key = $1 " " $6 $7
		if (!timers[key]++ || $5 + 0 < least[key] + 0)
			least[key] = $5
	}
	END { for (key in timers) print key, timers[key], least[key] }' | sort
}

interval=1 count=0 callbacks=
while getopts i:n:ch option; do
	case $option in
	i)	interval=$OPTARG ;;
	n)	count=$OPTARG ;;
	c)	callbacks=y ;;
	h)	usage; exit ;;
	*)	usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
wheel=${1:-system}
top=${HWHEEL_DEBUGFS:-/sys/kernel/debug/hwheel}
dir=$top/$wheel

case $count in
''|*[!0-9]*)	status=2 fail "-n $count: not a number of snapshots" ;;
esac
[ -x "${top%/*}" ] ||
	fail "can't look into ${top%/*}: only root may, and debugfs has to be mounted there"
[ -d "$top" ] || fail "there is no $top: load hwheel, with modprobe or insmod"
[ -r "$dir/levels" ] || fail "there is no wheel $wheel in $top"

n=0
while [ -r "$dir/levels" ] && snapshot; do
	n=$((n + 1))
	[ $n != "$count" ] || exit 0
	sleep "$interval" || exit
done
[ $n != 0 ]
