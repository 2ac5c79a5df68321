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
	log "phase $1 cpu $cpu interrupts: $(awk '
	NR == FNR { before[$1] = $2; next }
	$2 > before[$1] { total += $2 - before[$1]; rows = rows " " $1 "+" $2 - before[$1] }
	END { print total + 0 rows }' /tmp/before /tmp/after)"
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

hwheel isolated hwheel 2
hwheel again hwheel 2
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

# Timers of CPU 1 must move to CPU 0, even if CPU 2 takes CPU 1 down. The kernel itself
# interrupts all CPUs then.
echo create >$run
echo 'arm hwheel 1' >$run
taskset 4 sh -c 'echo 0 >/sys/devices/system/cpu/cpu1/online'
settle
log "migrated to CPU 2: $(awk '$1 == "migrated" { n += $5; all += $2 }
	END { print n + 0, "of", all + 0 }' /sys/kernel/debug/hwheel/*/stats)"
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
begin 1
sleep 3
end idle-nothing
for kind in softirq timer_list hrtimer deferrable; do
	hwheel idle-$kind $kind 1
done
begin 1
sleep 3
end idle2-nothing
expire idle2-deferrable deferrable 1
taskset 2 dd if=/dev/zero of=/dev/null bs=4k count=100000 2>/dev/null
echo cancel >$run
kill $busy

rmmod quiet_timers && rmmod hwheel && log unloaded
