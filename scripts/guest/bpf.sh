# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154,SC2086
#
# The guest of bpf.sh runs this. First it tests hwheel_bpf.ko. Then it attaches the sample to a
# veth, and sends packets of many flows. Then it runs random programs. Then it opens $million
# flows, and lets them end. At last it removes all. bpf.sh sets $tests, the arguments of bpf-test;
# $flows; $fuzz, the arguments of bpf-fuzz; and $million. If one of them is empty, that part is
# left out.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

# Without a path, busybox would run its own applet
ip()
{
	/prog/ip "$@"
}

# no_users: whether hwheel_bpf.ko has no users any more. The kernel frees maps and programs in
# its own time
no_users()
{
	for _ in $(seq 60); do
		[ "$(grep -vc '^#' /sys/kernel/debug/hwheel_bpf/users)" != 0 ] || return 0
		sleep 1
	done
	cat /sys/kernel/debug/hwheel_bpf/users
	return 1
}

# try NAME COMMAND...: logs NAME if COMMAND succeeds. As long as the part before has timers in
# maps, its id can't have another wheel
try()
{
	name=$1
	shift
	no_users && "$@" && log "$name"
}

# real_packets: sends packets through a veth whose other end has the sample. No flow is idle for as
# long as its timeout while there are packets, unless the host holds up the guest. Then the flow
# ends and begins again. So compare sums of packets, and check each end
real_packets()
{
	ip link add veth0 type veth peer name veth1 &&
		ip link set veth0 up && ip link set veth1 up || return
	flows -e -t new=1200 -t replied=1800 -t tcp-new=1500 -t tcp-open=2400 -t tcp-closing=900 \
		-t icmp=700 veth0 >/tmp/flows &
	loader=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		! grep -q attached /tmp/flows || break
		sleep 1
	done
	cat /sys/kernel/debug/hwheel_bpf/users
	bpf-send veth1 $flows 10 100 >/tmp/sent
	sleep 5
	bpftool link show
	bpftool map show name flows
	cat /sys/kernel/debug/hwheel_bpf/users
	kill $loader
	wait $loader
	cat /tmp/sent
	tail -n 1 /tmp/flows
	ip link del veth0
	awk '
	FNR == NR { flows = $3; packets = $5; next }
	$1 == "ended" {
		ends++
		seen += $7
		timeouts[$11]++
		late = $13
		if (late < 0)
			early++
		if (late > max)
			max = late
	}
	$1 == "packets" { total = $2; created = $4; ended = $6 }
	END {
		for (t in timeouts) {
			kinds++
			printf "flows: timeout %d ms: %d flows ended\n", t / 1000000, timeouts[t]
		}
		printf "flows: sent %d seen %d created %d ended %d early %d max_late_ns %d\n",
			packets, seen, created, ended, early, max
		# Other packets, of IPv6, are no flows of ours
		exit !(flows && ends >= flows && seen == packets && total == packets &&
			created == ended && ended == ends && !early && kinds == 5 &&
			max < 2000000000)
	}' /tmp/sent /tmp/flows
}

# million_flows: each must end
million_flows()
{
	bench_flows -e $million | tee /tmp/million
	[ "$(cat /tmp/million)" = "flows $million created $million ended $million" ]
}

# The programs are linked to libraries, whose files are in /hw
mkdir -p /lib64 /lib/x86_64-linux-gnu /sys/fs/cgroup /prog
mv ld-linux* /lib64
mv lib*.so* /lib/x86_64-linux-gnu
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for program in bpf-test bpf-fuzz bpf-send flows bench_flows ip bpftool; do
	[ ! -e $program ] || { mv $program /prog && chmod +x /prog/$program; }
done
PATH=/prog:$PATH

insmod hwheel.ko && insmod hwheel_bpf.ko || exit 1
log loaded
[ ! -e veth.ko ] || insmod veth.ko || exit 1
[ -z "$tests" ] || try tested bpf-test $tests
[ -z "$flows" ] || try flows real_packets
[ -z "$fuzz" ] || try fuzzed bpf-fuzz $fuzz
[ -z "$million" ] || try million million_flows
no_users && log "no users"
# The kernel still holds references for a moment
for _ in 1 2 3 4 5 6 7 8 9 10; do
	rmmod hwheel_bpf 2>/dev/null && break
	sleep 1
done
[ ! -e /sys/module/hwheel_bpf ] && rmmod hwheel && log unloaded
