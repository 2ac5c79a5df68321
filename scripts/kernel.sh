#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds Debian's newest kernel for user-mode Linux as it is (plain), and with hwheel in it
# (hwheel): tools/graft puts hwheel into the source, and patches/ moves subsystems to hwheel.
# Boots both kernels, runs the same tests of these subsystems, and compares what the tests
# print. Measures in simulated time how late the subsystems' timers are. With BENCH=1 it only
# measures what their timers cost, on both kernels in turns. Prints a line for each check:
#	kernel: NAME ok|FAILED
# The exit status is 0 if none failed.
#
# Usage: [KERNELS='name...'] [QUICK=1] kernel.sh
#	 BENCH=1 [TURNS=n] [ROUNDS=n] [OUT=folder] kernel.sh
#	 SELFTESTS=1|REGEX [KERNELS=name] [PACKETDRILL=FILE] kernel.sh
#	 WHOLE=1 [TURNS=n] kernel.sh
#	 HOSTILE=1 [TURNS=n] [TIMERS=n] kernel.sh
#	 PACKAGES=debian|FILE kernel.sh
#	KERNELS		compared with plain. The default is hwheel; hwheel-smp has KASAN and
#			lockdep. x86-hwheel, x86-hwheel-kasan and x86-hwheel-kcsan boot in QEMU.
#			scripts/lab/kernels/ describes them; names of UML's kernels have the prefix
#			"uml-" there
#	QUICK		only the tests in simulated time, which test each subsystem, and only on
#			hwheel: it compares nothing, and needs one kernel
#	BENCH		boots each kernel TURNS times, and measures ROUNDS times in each boot. OUT is
#			the folder for kernel.svg; the default is the project's folder
#	SELFTESTS	runs the kernel's own tests of networks and timers on plain-net and on
#			hwheel-net, or on KERNELS=x86-hwheel-kasan. The guests have a Debian on a
#			disk. REGEX runs only the tests whose names match, 1 all
#	PACKETDRILL	also packetdrill's tests. FILE is that program, which Debian does not have
#	WHOLE		compares how much CPU time plain-net and hwheel-net take for a boot, and
#			for building liburing
#	HOSTILE		compares how much CPU time others get, and how late they wake up, while
#			programs without privileges arm TIMERS timers (default a million) in the past
#			or every nanosecond
#	PACKAGES	builds Debian packages of the kernel with hwheel in it, into build/, and
#			boots their kernel in QEMU. FILE is the configuration to begin with, as a
#			kernel's /boot/config-*. debian takes that of Debian's newest kernel for
#			clouds: building it takes hours on two cores

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

kernels=${KERNELS:-hwheel} turns=${TURNS:-3} rounds=${ROUNDS:-300} packetdrill=()

# Tests of liburing that use timeouts or timerfd, or cancel requests
tests_of_liburing="7ad0e4b2f83c accept-link b5837bd5311d cancel-race connect defer
	defer-tw-timeout files-exit-hang-timeout futex hardlink io-cancel iowait link
	link-timeout link_drain min-timeout min-timeout-wait poll-cancel poll-cancel-all
	poll-cancel-ton poll-link read-before-exit skip-cqe
	submit-link-fail sync-cancel teardowns timens-abs-timer timeout timeout-new
	timerfd-short-read wait-timeout waitid"

# The kernel's own tests, in tools/testing/selftests/
selftests="timens/timerfd timens/timer timers/nanosleep"

# fill_liburing DIR: builds liburing's tests there, static
fill_liburing()
{
	local build=$lab_work/liburing name

	say "kernel: building tests of liburing (about 20 s)"
	cp -r "$liburing" "$build" && cd "$build" || return
	quiet liburing-configure ./configure --cc=gcc || return
	quiet liburing make -j "$lab_jobs" -C src || return
	for name in $tests_of_liburing; do
		quiet "liburing-$name" gcc -O2 -s -static -D_GNU_SOURCE -Isrc/include \
			-include config-host.h -o "$1/liburing-$name" "test/$name.c" \
			test/helpers.c src/liburing.a -lpthread || return
	done
}

# build_programs DIR: builds the programs that the guests run
build_programs()
{
	local name tests

	mkdir "$1"
	for name in {uring,timerfd,ipvs,tcp}-{load,test} {tcp-wire,wireguard}-test \
		    {server,hostile}-load; do
		gcc -O2 -Wall -Wextra -static -o "$1/$name" "$lab_scripts/guest/$name.c"
	done
	tests=$(linux_source newest)/tools/testing/selftests
	for name in $selftests; do
		quiet "selftest-${name#*/}" gcc -O2 -static -D_GNU_SOURCE -I"$tests" \
			-I"$tests/../../include" -o "$1/selftest-${name#*/}" \
			"$tests/$name.c" -lpthread -lrt
	done
}

# What the kernel's tests of networks run, and what a build in the guest takes
disk_packages="ethtool gcc iperf3 iproute2 iptables iputils-arping iputils-ping ipvsadm jq libc6-dev
	make ncat ndisc6 net-tools netsniff-ng nftables procps python3-minimal socat tcpdump"
# Of these the newest kernel's tests use options that older releases do not have
disk_newest="iproute2 wireguard-tools"

# fill_disk DIR: makes a disk with a Debian, the kernel's own tests, and liburing
fill_disk()
{
	local root=$lab_work/debian tests DEBIAN=trixie name install

	install="apt-get install -y --no-install-recommends"
	tests=$source/tools/testing/selftests
	debian_unpack "$root" "$install ${disk_packages//[$'\n\t']/ } &&
		update-alternatives --set iptables /usr/sbin/iptables-legacy &&
		echo '$(debian_sources sid)' >>/etc/apt/sources.list && apt-get update &&
		$install -t sid $disk_newest &&
		rm -rf /var/lib/apt/lists/*" || return
	say "kernel: making a disk"
	mkdir "$root/selftests" &&
		cp -r "$tests"/{kselftest,net,timers,wireguard} "$root/selftests" &&
		cp -r "$tests/../../include" "$root/selftests/include" &&
		cp -r "$liburing" "$root/liburing" || return
	for name in net/sctp_hello timers/{nsleep-lat,posix_timers,set-timer-lat,threadtest} \
		    timers/inconsistency-check; do
		quiet "selftest-${name#*/}" gcc -O2 -static -D_GNU_SOURCE -I"$tests" \
			-I"$tests/../../include" -o "$root/selftests/$name" "$tests/$name.c" \
			-lpthread -lrt || return
	done
	quiet mksquashfs mksquashfs "$root" "$1/disk" -comp zstd -Xcompression-level 3 || return
	rm -rf "$root"
}

# selftests KERNEL: runs the kernel's own tests on plain-net and KERNEL at the same time, and
# compares what they say
selftests()
{
	local plain which=$SELFTESTS name=$1

	[ "$which" != 1 ] || which=.
	# In a process group, so that lab_cleanup() can end all of it
	set -m
	(trap - EXIT INT TERM; boot plain-net "debian tests $which") </dev/null &
	set +m
	plain=$!
	lab_groups[plain]=plain
	verdict "selftests on $name" boot "$name" "debian tests $which"
	verdict "selftests on plain-net" wait $plain
	unset "lab_groups[$plain]"
	verdict "selftests of plain-net: ended" said plain-net plain
	verdict "selftests of $name: ended" said "$name" other
	verdict "selftests: as on plain-net" selftests_same
	[ -z "${PACKETDRILL-}" ] || [ "$which" != . ] ||
		verdict "packetdrill" grep -q '^packetdrill/.*: passed' "$lab_work/other.said"
	verdict "log of $name" clean "$name"
	[ "$which" = . ] || return 0
	verdict "selftests on wheels" on_wheels "$name" tcp wireguard
	# ipvs.sh ends before its connections' timers expire
	verdict "selftests on the wheel of IPVS" grep -q '^# wheel ip_vs: added [1-9]' \
		"$lab_work/$name.out"
}

# selftests_same: names the tests that did not pass on both kernels. Succeeds if each test did the
# same on both, and one passed.
selftests_same()
{
	awk -F ': ' '
	NF < 2 { next }
	FNR == NR { plain[$1] = $2; next }
	{
		if ($2 != plain[$1])
			printf "kernel: %s: %s, and %s on plain-net\n", $1, $2, plain[$1]
		else if ($2 != "passed")
			printf "kernel: %s: %s on both\n", $1, $2
		else
			passed++
	}
	END { print "kernel: " passed + 0 " selftests passed on both"; exit !passed }' \
		"$lab_work"/{plain,other}.said && diff "$lab_work"/{plain,other}.said
}

# cpu_time COMMAND...: runs COMMAND, and sets $cpu to the CPU time that it took, in seconds
cpu_time()
{
	local TIMEFORMAT='%U %S' status=0

	{ time "$@" 2>&3 || status=$?; } 3>&2 2>"$lab_work/cpu"
	cpu=$(awk '{ print $1 + $2 }' "$lab_work/cpu")
	return $status
}

# whole: compares CPU time, of boots and of builds in the guest. The shortest of several counts:
# a busy host makes them longer.
whole()
{
	local name turn cpu

	echo 'exit 0' >"$lab_work/nothing"
	for ((turn = 1; turn <= 3 * turns; turn++)); do
		for name in plain hwheel; do
			cpu_time "$lab_scripts/lab/boot-uml.sh" "${image[$name-net]}" \
				"$lab_work/nothing" >"$lab_work/console"
			grep -q 'lab: end 0' "$lab_work/console" || return
			echo "$name boot $cpu"
		done
	done >"$lab_work/measured"
	for ((turn = 1; turn <= turns; turn++)); do
		for name in plain hwheel; do
			cpu_time boot $name-net "debian build" || return
			echo "$name build $cpu"
		done
	done >>"$lab_work/measured"
	cp "$lab_work/measured" "$lab_cache/log/kernel-whole.log"
	awk '
	!($1 $2 in least) || $3 < least[$1 $2] { least[$1 $2] = $3 }
	END {
		split("boot build", whats)
		for (i = 1; i <= 2; i++) {
			w = whats[i]
			p = least["plain" w]; h = least["hwheel" w]
			ratio = p ? h / p : 99
			printf "kernel: CPU time of a %s: plain %.3f s, hwheel %.3f s, ", w, p, h
			printf "ratio %.3f, at most 1.01 %s\n", ratio, ratio <= 1.01 ? "ok" : "FAILED"
			failed = failed || !(ratio <= 1.01)
		}
		exit failed
	}' "$lab_work/measured"
}

# fill_packages DIR: builds the packages there
fill_packages()
{
	local tree=$lab_work/tree make

	say "kernel: building packages (with Debian's configuration, hours on two cores)"
	make=(make -j "$lab_jobs" -C "$tree" O="$lab_work/packages/build")
	graft_source "$source" "$tree" && mkdir -p "$lab_work/packages/build" || return
	# No debugging information: it takes most of the time and space. Debian's keys are not here
	cat "$config" - >"$lab_work/packages/build/.config" <<-'end'
	CONFIG_HWHEEL=y
	CONFIG_LOCALVERSION="-hwheel"
	CONFIG_DEBUG_INFO_NONE=y
	# CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT is not set
	CONFIG_SYSTEM_TRUSTED_KEYS=""
	CONFIG_SYSTEM_REVOCATION_KEYS=""
	end
	quiet kernel-config "${make[@]}" olddefconfig &&
		DEB_BUILD_OPTIONS=parallel=$lab_jobs quiet kernel-packages "${make[@]}" \
			bindeb-pkg && mv "$lab_work"/packages/*.deb "$1"
}

# packages: builds the packages, and boots the kernel of the one with the image
packages()
{
	local config=$PACKAGES source dir deb headers

	need build-essential bc bison cpio debhelper flex kmod libdw-dev libelf-dev libssl-dev rsync
	source=$(linux_source newest)
	if [ "$config" = debian ]; then
		read -r _ _ headers < <("$lab_scripts/lab/stock-kernel.sh" newest)
		config=$headers/.config
	fi
	[ -r "$config" ] || die "PACKAGES=$PACKAGES: no such file, and not debian"
	dir=$lab_cache/kernel-packages-$(build_key "$source" "$(cat "$config")" "$(graft_key)" \
		"$(declare -f fill_packages)")
	once "$dir" fill_packages || die "no packages"
	mkdir -p "$lab_top/build"
	cp "$dir"/*.deb "$lab_top/build"
	for deb in "$dir"/*.deb; do
		echo "build/${deb##*/}"
		case $deb in
		*/linux-image-*-dbg_*) ;;
		*/linux-image-*)	dpkg-deb -x "$deb" "$lab_work/installed" ;;
		esac
	done
	image[x86-packages]=$(echo "$lab_work"/installed/boot/vmlinuz-*)
	verdict "boot of the package" boot x86-packages installed
	verdict "log of the package" clean x86-packages
	verdict "the package: on wheels" on_wheels x86-packages io_uring timerfd
}

# boot NAME COMMAND [APPEND]: boots a kernel, which runs COMMAND. What the guest prints goes to
# $lab_work/NAME.out
boot()
{
	local console=$lab_cache/log/kernel-$1.log status=0 CPUS='' machine slow=1 limit=1200
	local files=("$lab_work"/programs/* "$tests_built"/* "${wg[@]}")

	# Races need a second CPU
	case $1 in
	x86*)
		machine=("$lab_scripts/lab/boot-qemu.sh" "${image[$1]}" 2 2G) slow=5
		[[ $1 != *-k?san ]] || slow=20
		;;
	*smp*)	machine=("$lab_scripts/lab/boot-uml.sh" "${image[$1]}") CPUS=2 ;;
	*)	machine=("$lab_scripts/lab/boot-uml.sh" "${image[$1]}") ;;
	esac
	# The kernel's own tests take a long time
	[ "${2%% *}" != debian ] || files=("$lab_scripts/guest/selftests.sh" "${packetdrill[@]}") \
		limit=7200
	{
		echo "export SLOW=$slow"
		echo "command='$2'"
		cat "$lab_scripts"/guest/{wireguard,kernel}.sh
	} >"$lab_work/$1.payload"
	say "kernel: booting $1: $2"
	TIMEOUT=${TIMEOUT:-$((limit * slow))} CPUS=$CPUS APPEND=${3-} \
		"${machine[@]}" "$lab_work/$1.payload" "${files[@]}" >"$console" || status=$?
	# Leave out the kernel's messages, which may come between the lines
	sed '1,/^lab: payload begins$/d; /^lab: log begins$/,$d; /^\[ *[0-9.]*\] /d' \
		"$console" >"$lab_work/$1.out"
	[ $status = 0 ] && return
	tail -n 15 "$console" >&2
	say "kernel: the guest's console is in $console"
	return 1
}

# clean NAME: whether the kernel's log is as it should be, from the start of the boot on
clean()
{
	sed 's/^\[ *[0-9.]*\] //' "$lab_cache/log/kernel-$1.log" >"$lab_work/log" || return
	! dmesg_dirty "$lab_work/log"
}

# said NAME AS: writes the lines that must be the same on all kernels to $lab_work/AS.said.
# Succeeds if the tests ended, and none of the lines says EARLY or LATE.
said()
{
	local said=$lab_work/$2.said

	grep -v '^#\|^exact ' "$lab_work/$1.out" >"$said"
	[ "$(tail -n 1 "$said")" = ended ] && ! grep 'EARLY\|LATE' "$said"
}

# same NAME: whether the tests printed the same as on the kernel plain. Kernels in QEMU run
# on another machine than plain. There a test that plain skips does not count.
same()
{
	local skipped=$lab_work/skipped said

	said plain plain && said "$1" other || return
	: >"$skipped"
	[[ $1 != x86* ]] || sed -n 's/: skipped$/: /p' "$lab_work/plain.said" >"$skipped"
	for said in plain other; do
		grep -vFf "$skipped" "$lab_work/$said.said" >"$lab_work/$said.counted"
	done
	diff "$lab_work"/{plain,other}.counted
}

# on_wheels NAME WHEEL...: whether timers of the tests were on each of these wheels, and expired
on_wheels()
{
	local name=$1 wheel

	for wheel in "${@:2}"; do
		[ "$(grep -c "^# wheel $wheel: \(added\|expired\) [1-9]" \
			"$lab_work/$name.out")" = 2 ] || return
	done
}

# exact: prints how late timers were in simulated time, in ns. Succeeds if timers of the kernel
# hwheel were in time. A test needs 1 us to see a timer. A timer may be later by
#	a tick of its wheel (1 us; ip_vs and wireguard: 1 ms)
#	0 on clocks that have no wheel: these timers are still hrtimers
#	3 ticks for TCP, because a probe re-arms its timer if there was traffic
#	100 us more with ip_vs and in FIN_WAIT2, because these tests look every 100 us.
#	wireguard has the limit of ip_vs. WireGuard's keys get another 1 ms, because that test
#	looks every millisecond
# A timer may seem to be up to 10 ms early: TCP counts from the beginning of the present jiffy,
# which may have begun 10 ms ago.
exact()
{
	local said=("$lab_work/hwheel.out")

	[ -n "${QUICK-}" ] || said=("$lab_work/plain.out" "${said[@]}")
	awk '
	!/^exact / { next }
	{
		late = $(NF - 1)
		sub(/^exact /, "")
		sub(/: late by .*/, "")
	}
	FILENAME ~ /plain.out$/ { compare = 1; plain[$0] = late; next }
	{
		tick = /boottime|realtime/ ? 0 : 1000
		if (/^tcp/)
			tick = /half closed/ ? 101000 : 3000
		else if (/^ip_vs|^wireguard/)
			tick = /keys/ ? 2100000 : 1100000
		n[$1]++
		bad = bad || (compare && !($0 in plain)) || late + 0 > tick + 1000 ||
			late + 0 < -10000000
		printf "%-50s %shwheel %8.0f ns\n", $0,
			compare ? sprintf("plain %12.0f ns, ", plain[$0]) : "", late
	}
	END { exit bad || !n["io_uring"] || !n["timerfd"] || !n["tcp"] ||
			!n["ip_vs"] || !n["wireguard"] }' \
		"${said[@]}"
}

# tests: what make kernel does by default
tests()
{
	[ -n "${QUICK-}" ] || real_time
	# UML has simulated time only with one CPU
	if [[ " $kernels " = *" hwheel "* ]]; then
		simulated_time
	elif [ -n "${QUICK-}" ]; then
		die "QUICK=1 has no tests for KERNELS='$KERNELS', only for hwheel"
	fi
}

real_time()
{
	local name

	for name in $kernels; do
		verdict "boot of $name" boot "$name" tests
		verdict "log of $name" clean "$name"
	done
	for name in ${kernels#plain}; do
		verdict "$name: as on plain" same "$name"
		verdict "$name: on wheels" on_wheels "$name" io_uring timerfd
	done
}

simulated_time()
{
	local name names="plain hwheel"

	[ -z "${QUICK-}" ] || names=hwheel
	for name in $names; do
		verdict "simulated time of $name" boot "$name" simulated time-travel=inf-cpu
		verdict "simulated time: log of $name" clean "$name"
	done
	verdict "simulated time: in time" said hwheel hwheel
	[ -n "${QUICK-}" ] || verdict "simulated time as on plain" same hwheel
	verdict "simulated time on wheels" on_wheels hwheel io_uring timerfd tcp ip_vs \
		wireguard
	verdict "exact to the tick" exact
}

# bench: prints the medians of all boots, and draws kernel.svg. Succeeds if hwheel's costs are
# within the limits of kernel.py.
bench()
{
	local name turn

	for ((turn = 1; turn <= turns; turn++)); do
		for name in plain hwheel; do
			boot "$name" "load $rounds" \
				"seccomp=on ip_vs.conn_tab_bits=20" >&2 || return
			sed -n "/pending/s/^/$name /p" "$lab_work/$name.out"
		done
		paced plain plain && paced hwheel hwheel && paced gap hwheel tcp_gap_us=2000 ||
			return
	done >"$lab_work/measured"
	cp "$lab_work/measured" "$lab_cache/log/kernel-bench.log"
	# Debian's python3 has its matplotlib; another python3 may be first in PATH
	/usr/bin/python3 -B "$lab_scripts/kernel.py" "$lab_work/measured" "$OUT/kernel.svg"
}

# hostile: boots both kernels TURNS times, and prints a line for each way to be hostile. Succeeds if
# others are no worse off than on plain, and no kernel has complained of a stall.
hostile()
{
	local name turn

	for ((turn = 1; turn <= turns; turn++)); do
		for name in plain hwheel; do
			boot "$name" "hostile ${TIMERS:-1000000}" seccomp=on >&2 || return
			guest_log "$lab_cache/log/kernel-$name.log" >"$lab_work/log"
			if dmesg_dirty "$lab_work/log" >&2; then
				say "kernel: $name has complained in its log"
				return 1
			fi
			sed -n "s/^hostile: /$name /p" "$lab_work/$name.out"
		done
	done >"$lab_work/measured"
	cp "$lab_work/measured" "$lab_cache/log/kernel-hostile.log"
	/usr/bin/python3 -B "$lab_scripts/kernel.py" "$lab_work/measured"
}

# paced ROW KERNEL [APPEND]: measures TCP's pacing: boots KERNEL twice, to send for 20 s and to end
# at once
paced()
{
	local cpu idle

	cpu_time boot "$2" "./tcp-load 0 1000" "seccomp=on ${3-}" >&2 || return
	idle=$cpu
	cpu_time boot "$2" "./tcp-load 20 1000" "seccomp=on ${3-}" >&2 || return
	[ "$2" = plain ] || on_wheels "$2" tcp || return
	sed -n "s/^paced: /$1 paced: idle $idle cpu $cpu /p" "$lab_work/$2.out"
}

need gcc wireguard-tools
# wg with its libraries
mapfile -t wg < <(command -v wg; ldd "$(command -v wg)" | grep -o '/[^ ]*')
liburing=$(debian_source liburing-dev)
tests_built=$lab_cache/liburing-$(build_key "$liburing" "$tests_of_liburing" \
	"$(declare -f fill_liburing)")
once "$tests_built" fill_liburing || die "no tests of liburing"
build_programs "$lab_work/programs"
declare -A image
if [ -n "${PACKAGES-}" ]; then
	packages
	exit $failed
fi
[ -z "${BENCH-}${HOSTILE-}" ] || kernels=hwheel
[ -n "${QUICK-}" ] || kernels="plain $kernels"
if [ -n "${SELFTESTS-}" ]; then
	# The guests' shells must not take it for anything else
	if [ -n "${SELFTESTS//[A-Za-z0-9_.\/|^\$()+-]/}" ] ||
	   ! echo | grep -qE -e "$SELFTESTS|"; then
		die "SELFTESTS=$SELFTESTS: not 1, and no regex of letters, digits and _./|^\$()+-"
	fi
	if [ -n "${PACKETDRILL-}" ]; then
		packetdrill=("$lab_work/packetdrill")
		if [ ! -f "$PACKETDRILL" ] || [ ! -x "$PACKETDRILL" ]; then
			die "PACKETDRILL=$PACKETDRILL: no such program"
		fi
		cp "$PACKETDRILL" "${packetdrill[0]}"
	fi
fi
if [ -n "${SELFTESTS-}${WHOLE-}" ]; then
	kernels="plain-net ${KERNELS:-hwheel-net}"
	need squashfs-tools
	source=$(linux_source newest)
	DISK=$lab_cache/disk-$(build_key "$source" "$liburing" "$disk_packages $disk_newest" \
		"$(declare -f fill_disk)")
	once "$DISK" fill_disk || die "no disk"
	export DISK=$DISK/disk
fi
for name in $kernels; do
	case $name in
	x86*)	kernel=$name ;;
	*)	kernel=uml-$name ;;
	esac
	kernel=$("$lab_scripts/lab/build-kernel.sh" "$kernel")
	read -r "image[$name]" _ <<<"$kernel"
done
if [ -n "${SELFTESTS-}" ]; then
	selftests "${KERNELS:-hwheel-net}"
	exit $failed
elif [ -n "${WHOLE-}" ]; then
	verdict "CPU time of the whole" whole
	exit $failed
elif [ -n "${HOSTILE-}" ]; then
	hostile
elif [ -n "${BENCH-}" ]; then
	mkdir -p "${OUT:=$lab_top}" || die "OUT=$OUT: can't make this folder"
	need python3 python3-matplotlib
	bench
else
	tests
	exit $failed
fi
