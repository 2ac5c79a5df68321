#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots stock Debian kernels in QEMU, and tests timers for BPF programs there: hwheel_bpf.ko with the
# programs of guest/bpf-test.c; the sample samples/bpf/flows, attached to a veth, with real
# packets; and a million flows of the sample. Each flow must end at its time, and nothing may be
# left. For each kernel it prints lines
#	bpf: KERNEL NAME ok|FAILED
#
# With BENCH=1 it measures instead: what a packet costs that arms the timer of its flow again, with
# hwheel, with bpf_timer, and with a sweep from user space. A clock that counts instructions
# measures, so the host's load has no influence.
#
# A KERNEL whose name begins with x86 is one of lab/build-kernel.sh, such as x86-bpf-kasan. It is
# slow, so it gets few timers.
#
# Usage: [KERNEL='name...'] [QUICK=1] [TESTS='argument...'] [FUZZ=seconds] [FAULT=name] bpf.sh
#	 QUICK has fewer timers, and leaves out the million flows. TESTS are arguments of bpf-test;
#	 then no flows are tested. FUZZ is for how long random programs run. FAULT plants one of
#	 tests/faults/. Ten million timers expire while maps come and go with
#	 TESTS='-n 200000 -r 100 lives'
#	 BENCH=1 [KERNEL=name] [FLOWS='n...'] [PACKETS=n] [RECORD=1] bpf.sh
#	 RECORD keeps what the documents show in Documentation/recorded/

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

programs=$lab_work/programs console=$lab_work/console log=$lab_work/log
quick=${QUICK:-}

# build_programs: builds the BPF programs and their loaders. They are built in a chroot of Debian 13, as
# libbpf and bpftool of Debian 12 do not know the struct_ops of modules. They run on all kernels
build_programs()
{
	local kernel headers source=$lab_work/source

	kernel=$("$lab_scripts/lab/stock-kernel.sh" newest)
	headers=${kernel##* }
	root=$(builder trixie)
	ROOT=$root need bpftool clang-19 gcc iproute2 libbpf-dev make
	[ -e "$headers/vmlinux" ] || die "the headers of ${kernel%% *} have no vmlinux"
	copy_sources "$source"
	cp "$headers/vmlinux" "$lab_work/vmlinux"
	say "bpf: building the programs"
	BIND=$lab_work quiet bpf-programs chroot_run "$root" "make -j $lab_jobs \
		-C $source/scripts/guest -f bpf.mk O=$programs VMLINUX=$lab_work/vmlinux \
		CLANG=clang-19"
	# Of the chroot, too: all programs of a guest share the libraries
	cp -L "$root/usr/bin/ip" "$programs/ip"
	cp "$root/usr/sbin/bpftool" "$programs/bpftool"
	mapfile -t libraries < <(BIND=$lab_work chroot_run "$root" \
		"ldd $programs/bpf-test $programs/ip $programs/bpftool" |
		grep -o '/[^ ]*' | grep -v ':$' | sort -u | sed "s,^,$root,")
}

# build_kernel NAME: sets release and vmlinuz, and builds the modules
build_kernel()
{
	local kernel headers plant=${FAULT:-}

	case $1 in
	x86*)	kernel="$1 $("$lab_scripts/lab/build-kernel.sh" "$1")" ;;
	*)	kernel=$("$lab_scripts/lab/stock-kernel.sh" "$1") ;;
	esac
	read -r release vmlinuz headers <<<"$kernel"
	ROOT=$(kbuild_root "$headers") need gcc
	say "bpf: building the modules for $release"
	build_modules "bpf-build-$1" "$headers" "$lab_work/build-$1"
	modules=("$lab_work/build-$1"/{hwheel.ko,bpf/hwheel_bpf.ko})
}

# boot CPUS SCRIPT VARIABLES FILES...: boots a guest
boot()
{
	{ echo "$3" && cat "$lab_scripts/guest/$2"; } >"$lab_work/payload"
	"$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" "$1" 3G "$lab_work/payload" \
		"${modules[@]}" "${libraries[@]}" "${@:4}" >"$console"
}

# passed N: whether bpf-test ran N tests, or more, and none failed
passed()
{
	! grep -q '^bpf: .* FAILED' "$console" &&
		[ "$(grep -c '^bpf: .* ok' "$console")" -ge "$1" ]
}

test_kernel()
{
	local name=$1 tests=${TESTS:-} flows=2000 million=1000000 least=17 veth=() status=0

	build_kernel "$name"
	case $name in
	x86*)	quick=1 ;;			# it has veth
	*)	veth=("$(stock_modules "$release" veth)") ;;
	esac
	[ -z "$quick" ] || flows=500 million='' tests=${tests:--n 2000 -r 1}
	[ -z "${TESTS:-}" ] || flows='' million='' least=1
	say "bpf: booting $release"
	# A guest of two CPUs on a busy host takes minutes
	TIMEOUT=${TIMEOUT:-1800} boot 2 bpf.sh \
		"tests='${tests:--n 20000}' flows=$flows fuzz='${FUZZ:-}' million=$million" \
		"$programs"/{bpf-test,bpf-fuzz,bpf-refuse.bpf.o,bpf-send,flows,bench_flows,ip,bpftool} \
		"${veth[@]}" || status=$?
	guest_log "$console" >"$log"
	grep -E '^(bpf|  |flows:|flows |sent )' "$console" || :
	verdict "$name load" logged loaded
	verdict "$name tests" passed $least
	[ -z "$flows" ] || verdict "$name flows" logged flows
	[ -z "${FUZZ:-}" ] || verdict "$name fuzz" logged fuzzed
	[ -z "$million" ] || verdict "$name million" logged million
	verdict "$name gone" logged "no users"
	verdict "$name unload" logged unloaded
	verdict "$name dmesg" clean
	keep_console "bpf-$name"
}

measure()
{
	local packets=${PACKETS:-200000} flows=${FLOWS:-1000 100000 1000000} commit

	build_kernel "${KERNEL:-newest}"
	say "bpf: measuring on $release"
	# In Linux 7.x a bpf_timer takes a CPU with cmpxchg16b
	CPU=max ICOUNT=0 TIMEOUT=${TIMEOUT:-3600} boot 1 bpf-bench.sh \
		"flows='$flows' packets=$packets idle=10" \
		"$programs"/bench_{flows,flows_timer,flows_sweep} || failed=1
	guest_log "$console" >"$log"
	verdict dmesg clean
	commit=$(git -C "$lab_top" describe --always --abbrev=12 --dirty 2>/dev/null) || :
	BENCH_RUN="QEMU that counts instructions|$commit|BENCH=1 make bpf" \
		/usr/bin/python3 -B "$lab_scripts/bpf.py" "$console" "$release" \
		${RECORD:+"$lab_top/Documentation/recorded/bpf.json"} || failed=1
	keep_console bpf-bench
}

build_programs
if [ -n "${BENCH:-}" ]; then
	need python3
	measure
else
	for name in ${KERNEL:-newest 6.12 newest-rt}; do
		test_kernel "$name"
	done
fi
exit $failed
