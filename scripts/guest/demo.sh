# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guest of demo.sh runs this. It keeps sessions on the module's wheel and prints the
# wheel's levels once a second. demo.sh sets $sessions, $parameters and $others. If $recording
# is not empty, the guest prints snapshots of the wheel at the end.

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
		for (level = 0; level < 32; level++) {
			if (!(level in timers))
				continue
			bar = ""
			for (n = timers[level] * 40 / sessions; n > 0; n--)
				bar = bar "#"
			printf " level %d %8s x %-4d %8d%s\n", level,
				span(tick[level]), spokes[level], timers[level],
				bar ? " " bar : ""
		}
	}' /sys/kernel/debug/hwheel/system/levels
}

# Only root may read the files. Each has a header, and each row has as many columns as
# the header. The name of a module may follow that of a callback.
check_debugfs()
{
	for file in config levels spokes timers stats lateness users; do
		mode=$(stat -c %a $file)
		awk -v mode="$mode" '
		NR == 1 { bad = $1 != "#"; columns = NF - 1 }
		NR > 1 && NF != columns && !($NF ~ /^\[/ && NF == columns + 1) { bad = 1 }
		END { exit bad || NR < 2 || mode != "400" }' $file || {
			log "debugfs: $file has a wrong mode, header or row"
			return 1
		}
	done
}

# hwheel.ko refuses bad parameters with a line in the log, and leaves nothing behind.
check_refused()
{
	for bad in tick_ns=999 levels=9 spokes=128,1 gap_ns=1000000001; do
		! insmod hwheel.ko $bad 2>/dev/null || return 1
	done
	# busybox tries twice: by finit_module() and by init_module()
	[ "$(dmesg | sed -n 's/.*hwheel: wheel "system": //p' | sort -u | wc -l)" = 4 ]
}

# The kernel refuses drivers of another version of hwheel, and says why.
check_version()
{
	[ -e version.ko ] || return 1
	echo "<6>hwheel-expect-begin" >/dev/kmsg
	for other in $others; do
		insmod $other 2>/dev/null && return 1
	done
	echo "<6>hwheel-expect-end" >/dev/kmsg
	dmesg | grep -q 'hwheel_rcu: Unknown symbol hwheel_version_9_[0-9]* (err -2)' &&
		{ [ ! -e crc.ko ] ||
			dmesg | grep -q 'hwheel_rcu: disagrees about version of symbol __hwheel_setup$'; }
}

# The wheel has the parameters that were given.
check_parameters()
{
	grep -qx 'tick_ns 20000000' config && grep -qx 'levels 3' config &&
		grep -qx 'spokes 10,60,60' config
}

counts()
{
	grep -E '^(added|rearmed|cancelled|expired|cascaded) ' stats
}

# All files agree on the timers, and with the clock.
check_sums()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		counts=$(counts)
		for file in levels spokes timers lateness users; do
			cat $file >/tmp/$file
		done
		cat stats >/tmp/stats
		[ "$(counts)" != "$counts" ] || break
	done
	awk -v uptime="$(uptime)" '
	FNR == 1 { file = FILENAME; sub(".*/", "", file); next }
	file == "levels" { levels += $8; of_level[$1, $2] += $8; occupied += $7 }
	file == "spokes" {
		spokes += $5; of_level[$1, $2] -= $5; occupied--
		bound[$1, $2, $3] = $4; of_spoke[$1, $2, $3] = $5
	}
	file == "timers" {
		timers++; of_spoke[$1, $2, $3]--
		now = ($4 - $5) / 1e9
		if (now < uptime - 9 || now > uptime + 9)
			bad = bad " remaining_ns"
		if (bound[$1, $2, $3] >= $4 + 20000000)
			bad = bad " expiration_ns"
		exact += bound[$1, $2, $3] >= $4
	}
	file == "lateness" { late += $2 }
	file == "users" {
		used += $2
		if ($1 ~ /^session_expired\[hwheel_sessions\]$/)
			sessions += $2
		if ($1 == "other")
			bad = bad " users"
	}
	file == "stats" { stats[$1] = $2 }
	END {
		pending = stats["added"] - stats["cancelled"] - stats["expired"]
		for (i in of_level)
			if (of_level[i])
				bad = bad " level"
		for (i in of_spoke)
			if (of_spoke[i])
				bad = bad " spoke"
		if (!timers || levels != timers || spokes != timers || pending != timers)
			bad = bad " pending"
		if (!late || late != stats["expired"] || occupied || !exact)
			bad = bad " sums"
		if (used != timers || !sessions)
			bad = bad " users"
		if (bad)
			print "debugfs:" bad, levels, spokes, timers, pending, late, occupied, exact,
				used, sessions
		exit bad != ""
	}' /tmp/levels /tmp/spokes /tmp/timers /tmp/lateness /tmp/users /tmp/stats
}

# Delayed work has the name of its own function, not __hwheel_work_expired(). Its timer is pending
# only while the module tests itself, which ends before insmod does. On a busy host nobody may look
# meanwhile: then load the module again. It does not load if its test fails.
check_jobs()
{
	[ -e hwheel_jobs.ko ] || return 1
	tries=0 found=
	until [ -n "$found" ] || [ $tries = 20 ]; do
		[ $tries = 0 ] || rmmod hwheel_jobs || return 1
		: >/tmp/loaded
		(insmod hwheel_jobs.ko; echo $? >/tmp/loaded) &
		until [ -s /tmp/loaded ]; do
			awk '$1 == "jobs_poll[hwheel_jobs]" && $2 { found = 1 }
			/hwheel_work_expired/ { bad = 1 }
			END { exit bad || !found }' /sys/kernel/debug/hwheel/system/users &&
				found=1
		done
		grep -qx 0 /tmp/loaded || return 1
		tries=$((tries + 1))
	done
	[ -n "$found" ]
}

# hwheel-report runs in busybox's shell. Its file has the wheel and the log, and no address.
check_report()
{
	sh hwheel-report /tmp/report && grep -q '^loaded [0-9]' /tmp/report &&
		grep -qx 'tick_ns 1000000' /tmp/report &&
		grep -q 'hwheel: wheel "system": ' /tmp/report &&
		grep -qx '== end' /tmp/report && ! grep -E 'ffff[0-9a-f]{8}' /tmp/report
}

uptime()
{
	cut -d . -f 1 /proc/uptime
}

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

check_refused && log refused
insmod hwheel.ko tick_ns=20000000 levels=3 spokes=10,60 || exit 1
insmod hwheel_sessions.ko sessions=1000 max_ms=300000 traffic_ms=1000 || exit 1
sleep 6
(cd /sys/kernel/debug/hwheel/system && check_parameters) && log parameters
(cd /sys/kernel/debug/hwheel/system && check_sums) && log sums
# These sessions live for minutes. On a busy host those below may be over before anybody looks
(cd /sys/kernel/debug/hwheel/system && check_debugfs) && log debugfs
rmmod hwheel_sessions && rmmod hwheel || exit 1

insmod hwheel.ko || exit 1
log "$(grep ^bytes_per_cpu /sys/kernel/debug/hwheel/system/config)"
check_version && log version
# The module tests itself. It does not load if a test fails.
insmod hwheel_rcu.ko && rmmod hwheel_rcu && log rcu
check_jobs && rmmod hwheel_jobs && log jobs
# It registers with BPF, if this kernel can have it
if [ -e hwheel_bpf.ko ] && insmod hwheel_bpf.ko; then
	grep -q '^# id' /sys/kernel/debug/hwheel_bpf/users && rmmod hwheel_bpf && log bpf
fi
insmod hwheel_sessions.ko sessions="$sessions" $parameters || exit 1
log loaded

check_report && log report

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
