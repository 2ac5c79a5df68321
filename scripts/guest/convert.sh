# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guest of convert.sh runs this. It uses the kernel's bridge, bonding and SCTP, or those that
# were moved to hwheel, and prints each measurement as a line
#	lab: measured NAME NUMBER
# Times are in ms, and count from before the command that starts the timer.
# convert.sh sets $which (stock or moved) and $modules, in the order in which the guest
# must load them.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

cut="/hw/ld-linux-x86-64.so.2 --library-path /hw /hw/tc -n c qdisc add dev c0 root netem loss 100%"

# Debian's iproute2, with its libraries
debian()
{
	/hw/ld-linux-x86-64.so.2 --library-path /hw "$@"
}

ip()
{
	debian /hw/ip "$@"
}

bridge()
{
	debian /hw/bridge "$@"
}

uptime_ms()
{
	read -r up _ </proc/uptime
	up=${up%.*}${up#*.}0
	echo $up
}

# until_ms NAME START COMMAND...: logs the time from START to COMMAND's success
until_ms()
{
	name=$1 start=$2
	shift 2
	while ! "$@"; do
		[ $(($(uptime_ms) - start)) -lt 30000 ] || {
			log "$name: not within 30 s"
			return 1
		}
		usleep 20000
	done
	log "measured $name $(($(uptime_ms) - start))"
}

# state NETNS PORT STATE: whether the port has this state: listening, learning,
# forwarding or blocking
state()
{
	bridge -n $1 -d link show dev $2 | grep -q " state $3 "
}

entry()
{
	bridge -n near fdb show br br0 dynamic | grep -q 02:00:00:00:00:07
}

group()
{
	bridge -n near mdb show dev br0 | grep -q 239.7.7.7
}

gone()
{
	! "$@"
}

# shown_once CALLBACK: looks several times. A timer that re-arms itself is not there meanwhile.
shown_once()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		grep -q "[ ]$1\>" /sys/kernel/debug/hwheel/system/timers && return
		usleep 50000
	done
	return 1
}

# shown CALLBACK...: whether the wheel has timers with these callbacks
shown()
{
	for callback; do
		shown_once "$callback" || {
			log "timers: no $callback"
			return 1
		}
	done
	log "timers: $*"
}

# Two bridges, two links between them, and a host. br0 is the root. The spanning tree
# must block one of the links.
use_bridge()
{
	for ns in near far host; do
		ip netns add $ns || return
		ip netns exec $ns /bin/sh -c \
			'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
	done
	ip -n near link add br0 type bridge stp_state 1 priority 4096 forward_delay 200 \
		hello_time 100 max_age 600 ageing_time 300 mcast_membership_interval 300 &&
	ip -n far link add br1 type bridge stp_state 1 priority 8192 forward_delay 200 \
		hello_time 100 max_age 600 || return
	for line in a b; do
		ip link add ${line}0 netns near type veth peer name ${line}1 netns far &&
		ip -n near link set ${line}0 master br0 up &&
		ip -n far link set ${line}1 master br1 up || return
	done
	ip link add h0 netns near type veth peer name h1 netns host &&
	ip -n host link set h1 address 02:00:00:00:00:07 up &&
	ip -n host addr add 10.2.0.1/24 dev h1 &&
	ip -n near link set h0 master br0 up &&
	ip -n far link set br1 up || return

	start=$(uptime_ms)
	ip -n near link set br0 up || return
	until_ms stp_listening $start state near a0 listening &&
	until_ms stp_learning $start state near a0 learning &&
	until_ms stp_forwarding $start state near a0 forwarding &&
	until_ms stp_blocking $start state far b1 blocking &&
	until_ms stp_host $start state near h0 forwarding || return

	# That was a topology change. For a while, entries age more quickly after it.
	until_ms topology_calm $start calm || return
	start=$(uptime_ms)
	ip netns exec host /bin/ping -c 1 -W 1 10.2.0.9 >/dev/null
	entry || { log "nothing learned"; return 1; }
	until_ms fdb_aged $start gone entry || return

	start=$(uptime_ms)
	bridge -n near mdb add dev br0 port h0 grp 239.7.7.7 temp && group || return
	until_ms mdb_aged $start gone group || return
	[ $which = stock ] || shown br_hello_timer_expired br_message_age_timer_expired || return

	# The far bridge no longer hears the root on one link, and takes the other
	start=$(uptime_ms)
	ip -n near link set a0 nomaster || return
	until_ms lost_listening $start state far b1 listening &&
	until_ms lost_learning $start state far b1 learning &&
	until_ms lost_forwarding $start state far b1 forwarding || return

	for ns in near far host; do
		ip netns del $ns
	done
}

# Whether the root has seen no topology change for max_age + forward_delay
calm()
{
	ip -n near -d link show br0 | grep -q ' topology_change 0 '
}

use_sctp()
{
	ip netns add c && ip netns add s || return
	for ns in c s; do
		# An association ends with its third T3-rtx, after 200 + 400 + 800 ms
		ip netns exec $ns /bin/sh -c '
			cd /proc/sys/net/sctp &&
			echo 200 >rto_min && echo 200 >rto_initial && echo 1000 >rto_max &&
			echo 1000 >hb_interval && echo 3 >association_max_retrans' || return
	done
	ip link add c0 netns c type veth peer name s0 netns s &&
	ip -n c addr add 10.1.0.1/24 dev c0 && ip -n s addr add 10.1.0.2/24 dev s0 &&
	ip -n c link set c0 up && ip -n s link set s0 up || return

	/hw/sctp-load idle 2 >/tmp/idle || return
	/hw/sctp-load beat 6 >/tmp/beat &
	sleep 2
	[ $which = stock ] || shown sctp_generate_heartbeat_event || return
	wait $! || return
	# A heartbeat that is lost after the cut would count, too, and end the association sooner
	for ns in c s; do
		ip netns exec $ns /bin/sh -c 'echo 3600000 >/proc/sys/net/sctp/hb_interval'
	done
	/hw/sctp-load dead "$cut" >/tmp/dead || return

	debian /hw/tc -n c qdisc replace dev c0 root netem loss 10% &&
	debian /hw/tc -n s qdisc replace dev s0 root netem loss 10% || return
	for ns in c s; do
		ip netns exec $ns /bin/sh -c 'echo 20 >/proc/sys/net/sctp/association_max_retrans'
	done
	start=$(uptime_ms)
	/hw/sctp-load echo 100 >/tmp/echo || return
	log "measured echo_ms $(($(uptime_ms) - start))"
	while read -r name value; do
		log "measured $name $value"
	done <<-END
	$(cat /tmp/idle /tmp/beat /tmp/dead /tmp/echo)
	END
	ip netns del c
	ip netns del s
}

# active PORT: whether the bond uses this port
active()
{
	ip -n bond -d link show bond7 | grep -q " active_slave $1 "
}

# A bond of two links. It polls their state every 100 ms.
use_bond()
{
	ip netns add bond || return
	for line in a b; do
		ip link add ${line}0 netns bond type veth peer name ${line}1 netns bond &&
		ip -n bond link set ${line}1 up || return
	done
	ip -n bond link add bond7 type bond mode active-backup miimon 100 downdelay 500 \
		updelay 1000 &&
	ip -n bond link set a0 master bond7 && ip -n bond link set b0 master bond7 &&
	ip -n bond link set bond7 type bond primary a0 &&
	ip -n bond link set bond7 up || return
	start=$(uptime_ms)
	until_ms bond_begin $start active a0 || return
	[ $which = stock ] || shown bond_mii_monitor || return

	start=$(uptime_ms)
	ip -n bond link set a1 down || return
	until_ms bond_down $start active b0 || return
	start=$(uptime_ms)
	ip -n bond link set a1 up || return
	until_ms bond_up $start active a0 || return
	ip netns del bond
}

mkdir -p /run
for module in $modules; do
	insmod $module || exit 1
done
use_bridge &
bridging=$!
use_sctp && log "sctp ended"
use_bond && log "bond ended"
wait $bridging && log "bridge ended"
# Removed sockets and devices may have left work behind
sleep 1
rmmod bridge || exit 1
log "bridge removed"
rmmod bonding || exit 1
log "bonding removed"
# SCTP can't be unloaded, nor can hwheel, which it uses
