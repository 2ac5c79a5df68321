# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of quiet.sh runs this script. CPU 0 does the work. CPU 1 is idle. CPU 2 is isolated.
# The script counts the interrupts of CPUs 1 and 2 while hwheel does something, and prints a
# line for each such phase:
#	lab: phase NAME cpu N interrupts: TOTAL ROW+COUNT...

run=/sys/module/quiet_timers/parameters/run

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

# counts N: the interrupts that CPU N has had, by the row of /proc/interrupts
counts()
{
	awk -v column=$(($1 + 2)) '$column ~ /^[0-9]+$/ { print $1, $column }' /proc/interrupts
}

# begin N: starts to count the interrupts of CPU N
begin()
{
	cpu=$1
	counts "$cpu" >/tmp/before
}

# end NAME: prints the interrupts since begin
end()
{
	counts "$cpu" >/tmp/after
	interrupts=$(awk '
	NR == FNR { before[$1] = $2; next }
	$2 > before[$1] { total += $2 - before[$1]; rows = rows " " $1 "+" $2 - before[$1] }
	END { print total + 0 rows }' /tmp/before /tmp/after)
	log "phase $1 cpu $cpu interrupts: $interrupts"
}

# A CPU that has just done something needs some time to stop its tick
settle()
{
	sleep 0.5
}

# expire NAME KIND CPU: arms timers on CPU, and counts its interrupts while they expire
expire()
{
	begin "$3"
	echo "arm $2 $3" >$run || exit 1
	settle
	end "$1-armed"
	armed=$interrupts
	begin "$3"
	sleep 3
	end "$1-expired"
}

hwheel()
{
	expire "$1" "$2" "$3"
	begin "$3"
	echo cancel >$run
	end "$1-cancelled"
}

# count ROW ROWS: how many interrupts of /proc/interrupts' ROW are among ROWS
count()
{
	echo "$2" | tr ' ' '\n' | grep "^$1:" | cut -d + -f 2 | grep . || echo 0
}

# rounds NAME: runs the function NAME until it says that a round was in order, eight times at
# most. The kernel itself interrupts a CPU now and then, more often on a busy host. What hwheel
# does wrong, it does in each round.
rounds()
{
	for _ in 1 2 3 4 5 6 7 8; do
		"$1" && log "$1" && return
	done
}

# armed_at_once: whether the interrupt that arms timers is the only one of the isolated CPU.
# RCU may interrupt the CPU, too, if a grace period begins meanwhile and the arming takes long.
armed_at_once()
{
	hwheel isolated hwheel 2
	[ "$armed" = '1 CAL:+1' ]
}

# left_asleep: whether deferrable timers leave the idle CPU alone. It may have 50 interrupts of
# each kind more than without timers. A busy CPU now and then wakes an idle CPU, too. When the
# CPU is busy at last, the timers run.
left_asleep()
{
	begin 1
	sleep 3
	end idle-nothing
	nothing=$interrupts
	expire idle-deferrable deferrable 1
	taskset 2 dd if=/dev/zero of=/dev/null bs=4k count=100000 2>/dev/null
	echo cancel >$run
	for row in LOC CAL RES IWI; do
		[ "$(count $row "$interrupts")" -le $(($(count $row "$nothing") + 50)) ] || return
	done
}

taskset -p 1 $$ >/dev/null
insmod hwheel.ko && insmod quiet-timers.ko || exit 1
log loaded
settle
sleep 1

begin 2
sleep 3
end nothing

begin 2
echo create >$run || exit 1
settle
end created

rounds armed_at_once
expire read hwheel 2
begin 2
cat /sys/kernel/debug/hwheel/*/* >/dev/null
settle
end read
echo cancel >$run
begin 2
echo destroy >$run
settle
end destroyed

# Timers of CPU 1 must run on CPU 0, even if CPU 2 takes CPU 1 down. The kernel itself
# interrupts all CPUs then.
echo create >$run
echo 'arm hwheel 1' >$run
taskset 4 sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
settle
begin 2
sleep 3
end offline
echo cancel >$run
echo 1 >/sys/devices/system/cpu/cpu1/online
settle

# Pinned timers must expire on CPU 2, although it is isolated
hwheel pinned pinned 2

# CPU 1 is idle, CPU 0 is busy. Deferrable timers run when CPU 1 has something to do.
while :; do :; done &
busy=$!
sleep 2
for kind in softirq timer_list hrtimer; do
	hwheel idle-$kind $kind 1
done
rounds left_asleep
kill $busy

rmmod quiet_timers && rmmod hwheel && log unloaded
