# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# The guests of kernel.sh run this. It runs $command, which kernel.sh sets. Then it prints the
# counters of the subsystems' wheels, if there are any.

# try TEST: runs a test of another project. Some of these tests expect that the host never holds
# up the guest for more than a millisecond. So a test that fails runs again. It runs at most ten
# times in all. kernel.sh sets SLOW: in QEMU, a test may take that many times as long.
try()
{
	n=0 result=failed seconds=$((60 * ${SLOW:-1}))
	while [ "$result" = failed ] && [ $n -lt 10 ]; do
		timeout $seconds "./$1" >/tmp/out 2>&1
		case $? in
		0)	result=passed ;;
		4|77)	result=skipped ;;
		143)	result=stopped ;;
		esac
		[ "$result" = passed ] || tail -n 5 /tmp/out | sed "s/^/# $1: /"
		n=$((n + 1))
	done
	echo "$1: $result"
}

# tests: runs the tests that do not need simulated time
tests()
{
	./uring-test && ./timerfd-test && wireguard_pings 3 || return
	for test in liburing-* selftest-*; do
		try "$test"
	done
	echo ended
}

# installed: runs the tests that need no module
installed()
{
	./uring-test && ./timerfd-test && echo ended
}

# simulated: runs the tests that need simulated time
simulated()
{
	./uring-test simulated && ./timerfd-test simulated && ./tcp-test && ./tcp-wire-test &&
		./ipvs-test && wireguard_test && echo ended
}

# load ROUNDS: measures what the subsystems' timers cost
load()
{
	./uring-load "$1" 1000 100000 500000 && ./timerfd-load "$1" 1000 100000 &&
		./ipvs-load "$1" 1000 100000 1000000 && ./server-load "$1" 1000 100000
}

# hostile TIMERS: measures what others suffer
hostile()
{
	echo 4000000 >/proc/sys/fs/file-max && echo 4000000 >/proc/sys/fs/nr_open || return
	for tasks in 1 8; do
		for kind in timerfd uring; do
			for how in past soon periodic; do
				./hostile-load $kind $how $tasks "$1" 3 || return
			done
		done
	done
}

# debian WHAT...: runs selftests.sh in the Debian of the disk. What it writes stays in memory.
debian()
{
	disk=/dev/ubda
	[ -e $disk ] || disk=/dev/vda
	mkdir /disk /top /debian &&
		mount -t squashfs -o ro $disk /disk && mount -t tmpfs top /top &&
		mkdir /top/upper /top/work &&
		mount -t overlay -o lowerdir=/disk,upperdir=/top/upper,workdir=/top/work debian \
			/debian || return
	mount -t proc proc /debian/proc && mount -t sysfs sysfs /debian/sys &&
		mount -t devtmpfs dev /debian/dev && mount -t tmpfs tmp /debian/tmp &&
		mount -t tmpfs run /debian/run &&
		mount -t cgroup2 cgroup2 /debian/sys/fs/cgroup || return
	[ -e /debian/dev/fd ] || ln -s /proc/self/fd /debian/dev/fd
	mkdir -p /debian/usr/local/bin
	[ ! -e packetdrill ] || cp packetdrill /debian/usr/local/bin || return
	cp selftests.sh /debian && chroot /debian /bin/bash /selftests.sh "$@"
}

ip link set lo up
ip address add 10.0.0.1/32 dev lo
# hrtimers have low resolution until the first tick
sleep 0.1
$command || exit
for wheel in io_uring timerfd tcp ip_vs wireguard; do
	stats=/sys/kernel/debug/hwheel/$wheel/stats
	[ ! -e $stats ] || awk -v wheel=$wheel '{ print "# wheel " wheel ": " $1 " " $2 }' $stats
done
