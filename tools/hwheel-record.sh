#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Prints snapshots of a wheel's debugfs files for hwheel-top --replay and hwheel-plot. It
# needs no Python, only a POSIX shell, sed and sleep; those of busybox will do. Each
# line begins with hwr2, and ends with " ;". A line of a file has the file's name after hwr2. The
# last line has the number of lines. So other output may come in between, as on a serial console.
#
# Usage: hwheel-record.sh [-i SECONDS] [-n SNAPSHOTS] [WHEEL]

usage()
{
	cat <<-END
	usage: hwheel-record.sh [-i SECONDS] [-n SNAPSHOTS] [WHEEL]

	Prints snapshots of WHEEL (default: system, the module's own) to stdout, a
	recording for hwheel-top --replay and hwheel-plot. Needs root.

	  -i SECONDS    time between two snapshots (default: 1)
	  -n SNAPSHOTS  stop after this many snapshots (default: when the wheel is gone)
	  -h, --help    this help

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
	sed "s/^/hwr2 $1 /; s/\$/ ;/"
}

# The lines of all files, in one variable. If the wheel goes away meanwhile, prints nothing.
snapshot()
{
	read -r seconds _ </proc/uptime
	text=$(for file in config levels spokes stats lateness users; do
		mark $file <"$dir/$file" || exit
	done 2>/dev/null) || return
	lines=$(printf '%s\n' "$text" | sed -n '$=')
	printf 'hwr2 begin %s %s ;\n%s\nhwr2 end %s ;\n' "$wheel" "$seconds" "$text" "$lines" ||
		fail "can't write the recording"
}

interval=1 count=0
[ "${1-}" != --help ] || { usage; exit; }
while getopts i:n:h option; do
	case $option in
	i)	interval=$OPTARG ;;
	n)	count=$OPTARG ;;
	h)	usage; exit ;;
	*)	usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
wheel=${1:-system}
top=${HWHEEL_DEBUGFS:-/sys/kernel/debug/hwheel}
dir=$top/$wheel

case $interval in
''|*[!0-9.]*|*.*.*|.)	status=2 fail "-i $interval: not a number of seconds" ;;
esac
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
