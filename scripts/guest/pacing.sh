# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2086,SC2154
#
# The guest of pacing.sh runs this. First it checks the options, and tries all operations while
# there is traffic. Then it measures traffic through hwpace, fq, tbf and etf, one after the other.
# At the end it empties and removes a qdisc that has packets. pacing.sh sets $rate in Mbit/s, $time
# in seconds, $bytes of a packet, $flows (a list of numbers of flows), and $gap_us. If $quick is
# not empty, fq, tbf and etf are left out.

log()
{
	echo "<6>lab: $*" >/dev/kmsg
}

# Without a path, busybox would run its own applet
tc()
{
	/hw/tc "$@"
}

ip()
{
	/hw/ip "$@"
}

# qdisc KIND...: makes it the root qdisc of the loopback device, with new counters
qdisc()
{
	tc qdisc del dev lo root 2>/dev/null
	tc qdisc add dev lo root "$@" || echo "no qdisc $*"
}

# Prints names and values: time and idle time in 1/100 s, counts of interrupts and softirqs
counters()
{
	awk 'FILENAME == "/proc/uptime" { printf "up %d idle %d", $1 * 100, $2 * 100 }
	     $1 == "LOC:" { for (n = 0; $(n + 2) ~ /^[0-9]+$/; n++) loc += $(n + 2) }
	     $1 == "HRTIMER:" || $1 == "NET_TX:" {
		sum = 0
		for (i = 2; i <= NF; i++)
			sum += $i
		printf " %s %d", tolower(substr($1, 1, length($1) - 1)), sum
	     }
	     END { printf " loc %d cpus %d\n", loc, n }' \
		/proc/uptime /proc/interrupts /proc/softirqs
}

# row GROUP NAME TARGET LOAD-ARGUMENTS...: runs traffic through the present qdisc, which
# must send TARGET Mbit/s. Prints what pacing-load found, the counters before and after,
# and how much the qdisc reports as sent.
row()
{
	group=$1 name=$2 target=$3
	shift 3
	before=$(counters)
	load=$(pacing-load "$@")
	after=$(counters)
	echo "row group $group name $name flows $5 target ${target}000000 $load" \
		"$(echo "$before"; echo "$after")" \
		"$(tc -s qdisc show dev lo | awk '
			/ Sent / { sent = $4; dropped = $7 + 0 }
			END { print "tc_sent", sent, "tc_dropped", dropped }')" |
		tr '\n' ' '
	echo
}

shown()
{
	tc qdisc show dev lo | grep -q "qdisc hwpace .* root refcnt 2 $1 *\$"
}

refused()
{
	! "$@" 2>/dev/null
}

check_options()
{
	tc qdisc add dev lo root hwpace rate 100mbit &&
		shown "rate 100Mbit limit 1000p flows 1024" &&
		tc qdisc change dev lo root hwpace rate 50mbit maxrate 20mbit \
			burst 5kb limit 500 slack 100us &&
		shown "rate 50Mbit maxrate 20Mbit burst 5120b limit 500p flows 1024 slack 100us" &&
		refused tc qdisc change dev lo root hwpace flows 5 &&
		refused tc qdisc change dev lo root hwpace rate 0 &&
		tc qdisc replace dev lo root hwpace rate 30mbit maxrate 0 &&
		shown "rate 30Mbit burst 5120b limit 500p flows 1024 slack 100us" &&
		tc -j qdisc show dev lo | grep -q '"options":{"rate":3750000,' &&
		tc qdisc del dev lo root &&
		refused tc qdisc add dev lo root hwpace &&
		refused tc qdisc add dev lo root hwpace limit 5 &&
		refused tc qdisc add dev lo root hwpace rate 1mbit flows 65537 &&
		refused shown ''
}

# Tries all operations on the qdisc while there is traffic.
check_churn()
{
	tc qdisc del dev lo root 2>/dev/null
	pacing-load greedy 600 $bytes 1000000 8 >/dev/null &
	load=$! status=0
	for _ in 1 2 3 4; do
		tc qdisc add dev lo root hwpace rate ${rate}mbit &&
			tc qdisc change dev lo root hwpace rate 1mbit maxrate 500kbit &&
			tc qdisc replace dev lo root hwpace rate 80mbit maxrate 0 burst 9kb &&
			tc qdisc replace dev lo root fq &&
			tc qdisc replace dev lo root hwpace rate 1gbit flows 3 slack 1ms &&
			tc qdisc replace dev lo root pfifo &&
			tc qdisc replace dev lo root hwpace rate 8kbit limit 100 &&
			tc -s qdisc show dev lo >/dev/null &&
			ip link set lo down &&
			ip link set lo up &&
			tc qdisc del dev lo root || status=1
	done
	kill $load || status=1
	wait $load
	return $status
}

# numbers: the qdisc's statistics, as names and values
numbers()
{
	tc -s qdisc show dev lo | tr -d '(,' | awk '
		$1 == "Sent" { printf "sent=%d dropped=%d ", $4, $7 }
		$1 == "backlog" { printf "backlog=%d ", $3 }
		$1 == "busy_flows" { printf "busy=%d horizon=%d\n", $2, $4 }'
}

timers()
{
	grep -c hwpace_expired /sys/kernel/debug/hwheel/hwpace/timers
}

# While there is a qdisc, neither module can be unloaded. Of 100 packets of 100 flows,
# at four a second, the qdisc queues only those that leave within ten seconds. COMMAND
# removes or empties the qdisc. After it, the timers must be gone, too.
check_busy()	# COMMAND...
{
	sent=0 dropped=0 backlog=0
	qdisc hwpace rate $((bytes * 32))bit
	pacing-load paced 0.1 $bytes $((bytes * 8000)) 100 >/dev/null 2>&1 &
	load=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.2
		eval "$(numbers)"
		[ $((sent + dropped + backlog)) -lt 100 ] || break
	done
	# The number of timers falls with time
	pending=$(timers)
	echo "sent $sent dropped $dropped horizon $horizon backlog $backlog" \
		"busy $busy timers $pending"
	[ $((sent + horizon + backlog)) = 100 ] && [ $dropped = $horizon ] &&
		[ $horizon -ge 50 ] && [ $backlog -ge 5 ] &&
		[ $busy -ge 1 ] && [ $busy -le $backlog ] &&
		[ $pending -ge 1 ] && [ $pending -le $busy ] &&
		refused rmmod hwheel_pace && refused rmmod hwheel
	status=$?
	"$@" && [ "$(timers)" = 0 ] || status=1
	kill $load
	wait $load
	return $status
}

# Debian has these files in these folders
mkdir -p /lib64 /lib/x86_64-linux-gnu/ /usr/lib/x86_64-linux-gnu/tc
mv q_hwpace.so /usr/lib/x86_64-linux-gnu/tc
mv ld-linux* /lib64
mv lib*.so* /lib/x86_64-linux-gnu
mv pacing-load /bin

for module in sch_fq sch_tbf sch_etf hwheel hwheel_pace; do
	insmod $module.ko || exit 1
done
log loaded
ip link set lo mtu 1500 up
pacing-load hold &
holder=$!

check_options && log options
check_churn && log churn

# With these limits the sockets' buffers are full before the queue is full
for n in $flows; do
	qdisc hwpace rate ${rate}mbit limit 100000
	row rate hwpace $rate greedy $time $bytes $((rate * 1000000)) $n
done
tc qdisc del dev lo root
rmmod hwheel_pace && insmod hwheel_pace.ko gap_ns=$((gap_us * 1000)) || exit 1
for n in $flows; do
	qdisc hwpace rate ${rate}mbit limit 100000
	row rate +gap $rate greedy $time $bytes $((rate * 1000000)) $n
done
tc qdisc del dev lo root
rmmod hwheel_pace && insmod hwheel_pace.ko || exit 1
if [ -z "$quick" ]; then
	for n in $flows; do
		qdisc fq maxrate $((rate * 1000000 / n))bit quantum $bytes \
			initial_quantum $bytes limit 100000 flow_limit 100000
		row other fq $rate greedy $time $bytes $((rate * 1000000)) $n
	done
	# tbf's manual asks for a burst of rate / HZ. Debian's HZ is 250.
	for n in $flows; do
		qdisc tbf rate ${rate}mbit burst $((rate * 1000000 / 8 / 250)) limit 100mb
		row other tbf $rate greedy $time $bytes $((rate * 1000000)) $n
	done
	qdisc fq limit 100000 flow_limit 100000
	row other fq-timed $((rate / 2)) timed $time $bytes $((rate * 500000)) 4
	# etf sends a packet up to delta before its time, and drops it after its time
	qdisc etf clockid CLOCK_TAI delta 5000000
	row other etf-timed $((rate / 2)) timed-tai $time $bytes $((rate * 500000)) 4
fi
qdisc hwpace rate 1gbit flows 65536 limit 100000 \
	maxrate $((rate * 1000 / 4))kbit
row rate maxrate $rate greedy $time $bytes $((rate * 1000000)) 4
qdisc handle 1: tbf rate 1gbit burst 100kb limit 100mb
tc qdisc add dev lo parent 1: hwpace rate ${rate}mbit limit 100000
row rate child $rate greedy $time $bytes $((rate * 1000000)) 2
time=$(((time + 1) / 2))
qdisc hwpace rate ${rate}mbit limit 100000
row below below $((rate * 9 / 10)) paced $time $bytes $((rate * 900000)) 4
qdisc hwpace rate ${rate}mbit limit 50
row limit limit $rate paced $time $bytes $((rate * 1500000)) 4
qdisc hwpace rate ${rate}mbit limit 100000
row timed timed $((rate / 2)) timed $time $bytes $((rate * 500000)) 4

check_busy ip link set lo down && ip link set lo up &&
	check_busy tc qdisc del dev lo root && log busy
tc qdisc del dev lo root 2>/dev/null
kill $holder

rmmod hwheel_pace || exit 1
rmmod hwheel || exit 1
log unloaded
