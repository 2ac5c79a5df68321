# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of trace.sh runs this: a load under each of the bpftrace scripts, then the
# same load under all tracepoints. It prints what the events, the scripts and debugfs
# counted. trace.sh compares the counts.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

up()
{
	echo "lab: $(cut -d ' ' -f 1 /proc/uptime) s: $*"
}

stats()
{
	cat /sys/kernel/debug/hwheel/system/stats
}

# Checks each event of a timer against the timer's previous event. One case can't be
# checked: another CPU arms the timer between expiration and callback. Then the callback
# follows the second arming but belongs to the first. This must be rare.
follow()
{
	awk '
	function bad(what)
	{
		if (nr_bad++ < 10)
			print "bad " what ": " $0
	}
	!match($0, /[0-9.]+: hwheel_[a-z_]+: /) { next }
	{
		split(substr($0, RSTART, RLENGTH), head, ": ")
		stamp = head[1] * 1e9
		event = head[2]
		split("", is)
		n = split(substr($0, RSTART + RLENGTH), pairs, " ")
		for (i = 1; i <= n; i++)
			if (split(pairs[i], pair, "=") == 2)
				is[pair[1]] = pair[2]
		of_timer = "timer" in is
		timer = of_timer ? is["timer"] : ""
		count[event]++
		if (of_timer && is["function"] !~ /^[a-z_]+$/)
			bad("function")
		if ("wheel" in is && is["wheel"] != "system")
			bad("wheel")
		if ("on" in is && is["on"] !~ /^[01]$/)
			bad("CPU")
	}
	event == "hwheel_setup" {
		setup[timer] = is["function"]
		next
	}
	of_timer && setup[timer] != is["function"] { bad("timer, not set up") }
	event == "hwheel_start" {
		older[timer] = newest[timer]
		newest[timer] = is["expires"]
		started[timer]++
		ahead = is["expires"] - is["delay_ns"]
		if (ahead < stamp - 2000)
			bad("delay")
	}
	event == "hwheel_cancel" && !started[timer] { bad("cancel") }
	event == "hwheel_expire_entry" {
		expires = is["expires"]
		if (!started[timer] || expires != newest[timer] && expires != older[timer])
			bad("expires")
		if (is["late_ns"] < 0 && expires == newest[timer] &&
		    older[timer] != "" && older[timer] <= stamp + 2000)
			raced++
		else if (is["late_ns"] !~ /^[0-9]+$/ || stamp + 2000 < expires ||
			 expires + is["late_ns"] < stamp - 2000)
			bad("late")
		if (running[timer]++)
			bad("entry")
	}
	event == "hwheel_expire_exit" && --running[timer] { bad("exit") }
	event == "hwheel_cascade" {
		moved += is["moved"]
		# Levels 5 to 14 are above the geometry. Level 15 is the parking lot
		if (is["level"] < 1 || is["level"] > 15 || is["moved"] < 1 ||
		    is["spoke"] > (is["level"] < 5 ? 15 : is["level"] < 15 ? 127 : 56) ||
		    is["clock"] > stamp + 1e6)
			bad("cascade")
	}
	event == "hwheel_arm" && is["expires"] < 1 { bad("arm") }
	event == "hwheel_budget" && is["over_ns"] !~ /^[0-9]+$/ { bad("budget") }
	END {
		for (event in count)
			print "event", event, count[event]
		print "moved", moved + 0
		if (raced > 3)
			nr_bad += raced
		print "raced", raced + 0
		print "bad", nr_bad + 0
	}' "$1"
}

# Waits for the end of the sessions and of the hog's rounds
cat >load <<'END'
insmod hwheel_sessions.ko sessions=2000 min_ms=10 max_ms=700 traffic_ms=300
taskset 1 insmod trace-hog.ko
until [ "$(cat /sys/module/hwheel_sessions/parameters/done)" = Y ] &&
      [ "$(cat /sys/module/trace_hog/parameters/done)" = Y ]; do
	sleep 1
done
END

unload()
{
	rmmod trace_hog && rmmod hwheel_sessions
}

# scripted NAME ARGUMENTS...: runs the load under a script; prints what the script and debugfs
# counted
scripted()
{
	name=$1
	shift
	up "$name begins"
	echo "lab: $name begin"
	stats | sed 's/^/before /'
	/hw/bpftrace -c '/bin/sh /hw/load' "/hw/hwheel-$name.bt" "$@" 2>&1
	status=$?
	stats | sed 's/^/after /'
	echo "lab: $name end $status"
	up "$name has ended"
	[ $status = 0 ] && unload || exit 1
}

# Debian has these files in these folders
mkdir -p /lib64 /lib/x86_64-linux-gnu
mv ld-linux* /lib64
mv lib*.so* /lib/x86_64-linux-gnu

mount -t tracefs tracefs /sys/kernel/tracing
insmod hwheel.ko spokes=16 || exit 1
log loaded

# The first run adds levels, which moves timers without an event. So moves are not compared with
# debugfs in this run.
if [ -e bpftrace ]; then
	scripted who
	# Let hwheel-late.bt print during the run. Hide the kernel's types (BTF): the script must
	# work without them
	sed -i 's/^interval:s:5$/interval:s:1/' hwheel-late.bt
	[ ! -d /sys/kernel/btf ] || mount -t tmpfs tmpfs /sys/kernel/btf
	scripted late 2000
else
	sh load && unload || exit 1
fi

cd /sys/kernel/tracing || exit 1
echo mono >trace_clock
echo 65536 >buffer_size_kb
echo 1 >events/hwheel/enable
cd /hw || exit 1
up 'events begin'
echo 'lab: events begin'
stats | sed 's/^/before /'
sh load
stats | sed 's/^/after /'
echo 0 >/sys/kernel/tracing/events/hwheel/enable
cat /sys/kernel/tracing/per_cpu/cpu*/stats | sed -n 's/^\(overrun\|dropped events\): /lost /p'
follow /sys/kernel/tracing/trace
echo 'lab: events end'
up 'events have ended'
unload || exit 1

rmmod hwheel || exit 1
log unloaded
