# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Runs in the Debian of the disk that kernel.sh makes: the kernel's own tests of what
# patches/ moves. Prints a line for each test.
#
# Usage: selftests.sh tests REGEX	only the tests whose names match
#	 selftests.sh build		compiles liburing three times

export HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# try NAME SECONDS COMMAND...: runs a test, up to $tries times until it passes: a busy host holds
# the guest up. kernel.sh sets SLOW: in QEMU, a test may take that many times as long.
tries=3
try()
{
	local name=$1 seconds=$(($2 * ${SLOW:-1})) result=failed n

	shift 2
	[[ $name =~ $wanted ]] || return 0
	for ((n = 1; n <= tries; n++)); do
		timeout "$seconds" "$@" >/tmp/out 2>&1 </dev/null
		case $? in
		0)	result=passed ;;
		4)	result=skipped ;;
		124)	result=stopped ;;
		*)	result=failed ;;
		esac
		[ "$result" = failed ] || break
		echo "# $name, try $n:"
		grep -i "fail\|error\|cannot\|skip" /tmp/out | cut -c 1-200 | tail -n 8 | sed 's/^/# /'
		tail -n 12 /tmp/out | cut -c 1-200 | sed "s/^/# /"
	done
	[ "$result" != skipped ] || tail -n 3 /tmp/out | sed "s/^/# $name: /"
	echo "$name: $result"
}

build()
{
	for _ in 1 2 3; do
		rm -rf /tmp/liburing && cp -r /liburing /tmp/liburing && cd /tmp/liburing &&
			./configure --cc=gcc >/dev/null && make -s -C src >/dev/null || return
	done
	echo ended
}

tests()
{
	local test

	try wireguard/netns.sh 900 bash wireguard/netns.sh
	cd net || return
	try netfilter/ipvs.sh 300 bash -c 'cd netfilter && bash ./ipvs.sh'
	try sctp_vrf.sh 300 bash ./sctp_vrf.sh
	cd packetdrill || return
	if command -v packetdrill >/dev/null; then
		# These tests expect HZ=1000, and user-mode Linux has HZ=100. So take the tolerance
		# of the kernel's own runner for slow machines, 14 ms. But a failure stays a failure.
		sed -i 's/failfunc=ktap_test_xfail/:/' ksft_runner.sh
		export KSFT_MACHINE_SLOW=1
		tries=10
		# Those that wait for TCP's timers, or depend on how long something takes
		for test in *.pkt; do
			case $test in
			*rto*|*rxmt*|*rexmit*|*retrans*|*timeout*|*slow-start*|*recover*|*prr*|\
			*limited*|*nagle*|*tcp_info*|*close*|*dsack*|*fin_*|*inq*)
				try "packetdrill/$test" 120 bash ./ksft_runner.sh "$test" ;;
			esac
		done
	else
		echo "# no packetdrill"
	fi
	tries=3
	cd ../../timers || return
	for test in nsleep-lat posix_timers set-timer-lat threadtest inconsistency-check; do
		try timers/$test 300 ./$test
	done
	cd ../net || return
	for test in test_bridge_backup_port test_bridge_neigh_suppress bridge_stp_mode \
		    vlan_bridge_binding; do
		try $test.sh 300 bash ./$test.sh
	done
	cd forwarding || return
	for test in bridge_activity_notify bridge_fdb_learning_limit bridge_igmp bridge_mdb \
		    bridge_mdb_host bridge_mdb_max bridge_mdb_port_down bridge_mld \
		    bridge_sticky_fdb bridge_vlan_aware bridge_vlan_mcast bridge_vlan_unaware; do
		try forwarding/$test.sh 1200 bash ./$test.sh
	done
	echo ended
}

wanted=${2-}
cd /selftests && ip link set lo up && "$1"
