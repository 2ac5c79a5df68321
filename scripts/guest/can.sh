# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guest of convert.sh runs this script on PREEMPT_RT. The script uses the kernel's CAN
# broadcast manager, or the one that was moved to hwheel. It prints each measurement as a line
#	lab: measured NAME NUMBER
# convert.sh sets $which (can-stock or can-moved) and $modules, in the order in which
# the guest must load them.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

# Debian's iproute2, with its libraries
ip()
{
	/hw/ld-linux-x86-64.so.2 --library-path /hw /hw/ip "$@"
}

# shown CALLBACK: waits until the wheel has a timer with this callback
shown()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		grep -q "[ ]$1\>" /sys/kernel/debug/hwheel/system/timers && {
			log "timers: $1"
			return
		}
		usleep 50000
	done
	log "timers: no $1"
	return 1
}

# use WHAT CALLBACK
use()
{
	/hw/can-load $1 >/tmp/$1 2>/tmp/$1.err &
	[ $which = can-stock ] || shown $2
	wait $! || {
		log "can-load $1: $(cat /tmp/$1.err)"
		return 1
	}
	while read -r name value; do
		log "measured $name $value"
	done </tmp/$1
}

for module in $modules; do
	insmod $module || exit 1
done
ip link add vcan0 type vcan && ip link set vcan0 up || exit 1
use send bcm_tx_timeout_handler && use watch bcm_rx_timeout_handler &&
	use throttle bcm_rx_thr_handler && log "can ended"
# Removed sockets and devices may have left work behind
sleep 1
rmmod can_bcm || exit 1
[ $which = can-stock ] || rmmod hwheel || exit 1
log "can removed"
