# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# Part of guest/kernel.sh: two devices of WireGuard. wg0 is in this network namespace, wg1 in
# another one. $other is the PID of a process there. The sockets of both stay in this
# namespace, on the loopback device. kernel.sh has put wg here, with the libraries that it needs.

# there COMMAND...: runs COMMAND in the other namespace
there()
{
	nsenter -t "$other" -n "$@"
}

# wireguard_up: makes the devices. $wg1_key is the public key of wg1.
wireguard_up()
{
	if [ ! -e /lib64 ]; then
		mkdir -p /lib64 /lib/x86_64-linux-gnu && mv ld-linux* /lib64 &&
			mv libc.so* /lib/x86_64-linux-gnu || return
	fi
	unshare -n sleep 1000000000 &
	other=$!
	wg0=$(./wg genkey) && wg1=$(./wg genkey) || return
	wg0_key=$(echo "$wg0" | ./wg pubkey) && wg1_key=$(echo "$wg1" | ./wg pubkey) || return
	echo "$wg0" >/tmp/wg0
	echo "$wg1" >/tmp/wg1
	ip link add wg0 type wireguard && ip link add wg1 type wireguard &&
		ip link set wg1 netns "$other" &&
		./wg set wg0 listen-port 1001 private-key /tmp/wg0 \
			peer "$wg1_key" endpoint 127.0.0.1:1002 allowed-ips 10.1.0.0/24 &&
		there ./wg set wg1 listen-port 1002 private-key /tmp/wg1 \
			peer "$wg0_key" endpoint 127.0.0.1:1001 allowed-ips 10.1.0.0/24 &&
		ip address add 10.1.0.1/24 dev wg0 && there ip address add 10.1.0.2/24 dev wg1 &&
		ip link set wg0 up && there ip link set wg1 up
}

# wireguard_down: removes them. Timers may be armed.
wireguard_down()
{
	ip link del wg0 && there ip link del wg1
	kill "$other"
}

# wireguard_pings TIMES: makes and removes devices, and pings through them meanwhile
wireguard_pings()
{
	n=0
	while [ $n -lt "$1" ]; do
		wireguard_up || return
		./wg set wg0 peer "$wg1_key" persistent-keepalive 1
		ping -q -c 3 -i 0.2 -w 10 10.1.0.2 | sed -n 's/^\(.* received\).*/wireguard: \1/p'
		./wg set wg0 peer "$wg1_key" remove
		there ping -q -c 1 -w 1 10.1.0.1 | sed -n 's/^\(.* received\).*/wireguard, no peer: \1/p'
		wireguard_down || return
		n=$((n + 1))
	done
}

# wireguard_test: runs wireguard-test
wireguard_test()
{
	wireguard_up && ./wireguard-test "$other" "$wg1_key" && wireguard_down
}
