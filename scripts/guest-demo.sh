# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# What the guest of demo.sh runs: keeps sessions on the module's wheel and
# shows its levels once a second. demo.sh sets $sessions, $parameters, and
# $recording to have snapshots of the wheel printed in the end.

show_levels()
{
	awk -v seconds="$1" -v sessions="$sessions" '
	function span(ns)
	{
		if (ns < 1e6)
			return sprintf("%.4g us", ns / 1e3)
		if (ns < 1e9)
			return sprintf("%.4g ms", ns / 1e6)
		if (ns < 3600e9)
			return sprintf("%.4g s", ns / 1e9)
		if (ns < 86400e9)
			return sprintf("%.4g h", ns / 3600e9)
		return sprintf("%.4g d", ns / 86400e9)
	}
	/^#/ { next }
	{ level = $2; tick[level] = $3; spokes[level] = $4; timers[level] += $8 }
	END {
		for (level in timers)
			total += timers[level]
		printf "%d s: %d timers\n", seconds, total
		for (level = 0; level in timers; level++) {
			bar = ""
			for (n = timers[level] * 40 / sessions; n > 0; n--)
				bar = bar "#"
			printf " level %d %8s x %-4d %8d%s\n", level,
				span(tick[level]), spokes[level], timers[level],
				bar ? " " bar : ""
		}
	}' /sys/kernel/debug/hwheel/system/levels
}

# Every file is root's alone and has its header and rows of as many columns; the
# name of a callback may be followed by that of its module.
check_debugfs()
{
	for file in config levels spokes timers stats lateness; do
		mode=$(stat -c %a $file)
		awk -v mode="$mode" '
		NR == 1 { bad = $1 != "#"; columns = NF - 1 }
		NR > 1 && NF != columns && !($NF ~ /^\[/ && NF == columns + 1) { bad = 1 }
		END { exit bad || NR < 2 || mode != "400" }' $file || {
			log "debugfs: $file is not as it should be"
			return 1
		}
	done
}

uptime()
{
	cut -d . -f 1 /proc/uptime
}

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

insmod hwheel.ko || exit 1
insmod hwheel_sessions.ko sessions="$sessions" $parameters || exit 1
log loaded

(cd /sys/kernel/debug/hwheel/system && check_debugfs) && log debugfs

echo "lab: levels begin"
start=$(uptime)
until [ "$(cat /sys/module/hwheel_sessions/parameters/done)" = Y ]; do
	show_levels $(($(uptime) - start))
	if [ -n "$recording" ]; then
		sh hwheel-record.sh -i 0.25 -n 4 >>/tmp/recording
		sleep 0.25
	else
		sleep 1
	fi
done
show_levels $(($(uptime) - start))
sleep 1

rmmod hwheel_sessions || exit 1
rmmod hwheel || exit 1
log unloaded
[ -z "$recording" ] || cat /tmp/recording
