#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Measures hwheel, timer_list and hrtimer. WHERE picks from
#	uml		user-mode Linux, at native speed
#	years		the same, over years of simulated time
#	uml-hz1000	the costs of expiring in user-mode Linux with 1000 jiffies a second
#	uml-smp		user-mode Linux on 2 and on 4 CPUs, if the machine has as many
#	qemu		QEMU on 2 and on 4 CPUs
#	icount		QEMU with a clock that counts instructions
# Prints tables, writes bench.json and draws bench.svg.
#
# Usage: [KERNEL=name] [WHERE='uml years uml-hz1000 uml-smp qemu icount'] [WHAT='group...'] \
#	 [QUICK=1] [ROUNDS=n] [READ=seconds] [OUT=folder] bench.sh
#	 WHAT picks groups of measurements for uml, uml-hz1000 and icount. With READ, the guest reads
#	 1000 lines of each debugfs file meanwhile, and pauses READ seconds after each pass. OUT is
#	 the folder for bench.json and bench.svg; the default is the project's folder. KERNEL is
#	 newest, or a series such as 6.12. If WHERE has only qemu or icount, KERNEL may be
#	 any name that lab/stock-kernel.sh takes.
#
#	 [OUT=folder] bench.sh picture
#	 draws bench.svg from the bench.json of an earlier run, and prints README's tables
#
#	 [OUT=folder] bench.sh record
#	 keeps what the documents show of that run in Documentation/recorded/

. "$(dirname "$0")/lab/lab.sh"

kernel=${KERNEL:-newest}
where=${WHERE:-uml years uml-hz1000 uml-smp qemu icount}
quick=${QUICK:-}
rounds=${ROUNDS:-${quick:+2}}
parameters="rounds=${rounds:-5}"
mkdir -p "${OUT:=$lab_top}" || die "OUT=$OUT: can't make this folder"
logs=()

# measure NAME GROUPS PARAMETERS COMMAND...: boots a guest that measures. Keeps the guest's
# kernel log in the cache.
measure()
{
	local name=$1 log=$lab_cache/log/bench-$1.log start=$SECONDS status=0

	{
		echo "groups='$2'"
		echo "parameters='$3' read=${READ:-} lines=1000"
		cat "$lab_scripts/guest/bench.sh"
	} >"$lab_work/payload"
	shift 3
	"$@" | tee "$lab_work/console" |
		sed -u -n "s/^bench: /$name: measuring /p" >&2 || status=$?
	guest_log "$lab_work/console" >"$log"
	if [ $status != 0 ] || dmesg_dirty "$log" || grep -q 'hwheel_bench: .*failed' "$log"; then
		tail -n 15 "$lab_work/console" >&2
		die "$name did not end well; its log is in $log"
	fi
	say "$name: done ($((SECONDS - start)) s)"
	logs+=("$name=$log")
}

# modules NAME KERNELDIR [MAKE-ARGUMENTS...]
modules()
{
	say "$1: building the modules"
	build_modules "bench-build-$1" "$2" "$lab_work/$1" "${@:3}"
}

boot_uml()
{
	TIMEOUT=${TIMEOUT:-7200} "$lab_scripts/lab/boot-uml.sh" "$linux" \
		"$lab_work/payload" "$lab_work/$uml"/hwheel.ko \
		"$lab_work/$uml"/hwheel_bench.ko
}

boot_qemu()
{
	TIMEOUT=${TIMEOUT:-7200} "$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" "$1" 2G \
		"$lab_work/payload" "$lab_work"/qemu/hwheel.ko \
		"$lab_work"/qemu/hwheel_bench.ko
}

# build_uml VARIANT
build_uml()
{
	local found series=

	uml=$1
	case $kernel in
	newest)	;;
	*[!0-9.]*) die "KERNEL=$kernel: user-mode Linux takes newest, or a series as 6.12" ;;
	*)	series=$kernel ;;
	esac
	found=$(SERIES=$series "$lab_scripts/lab/build-kernel.sh" "$uml")
	read -r linux build <<<"$found"
	[ -d "$lab_work/$uml" ] || modules "$uml" "$build" ARCH=um
}

where_uml()
{
	local pending=1000,100000,1000000,4000000 late_s=60

	[ -z "$quick" ] || pending=1000,100000 late_s=5
	build_uml uml
	measure uml "${WHAT:-core expire mix life late wakeups cascade hold memory smp work sleep}" \
		"$parameters pending=$pending late_s=$late_s" boot_uml
}

where_years()
{
	build_uml uml
	APPEND=time-travel=inf-cpu measure years "years lone" "pending=1000" boot_uml
}

where_uml-hz1000()
{
	build_uml uml-hz1000
	measure uml-hz1000 "${WHAT:-expire life}" "$parameters pending=100000,1000000" boot_uml
}

where_uml-smp()
{
	local cpus

	if [[ $kernel = [0-9]* ]] && ! printf '6.19\n%s\n' "$kernel" | sort -VC; then
		say "uml-smp: left out, as user-mode Linux $kernel has one CPU"
		return
	fi
	build_uml uml-smp
	for cpus in 2 4; do
		# The host would stop CPUs of the guest that hold a lock, and others would spin
		if [ "$lab_jobs" -lt $cpus ]; then
			say "uml-smp: $cpus CPUs are left out, as this machine has $lab_jobs"
			continue
		fi
		CPUS=$cpus measure uml-smp-$cpus smp "$parameters pending=1000" boot_uml
	done
}

build_qemu()
{
	local found

	[ ! -d "$lab_work/qemu" ] || return 0
	found=$("$lab_scripts/lab/stock-kernel.sh" "$kernel")
	read -r _ vmlinuz headers <<<"$found"
	modules qemu "$headers"
}

where_qemu()
{
	build_qemu
	measure qemu-2 "core expire mix smp" "$parameters pending=1000,100000" boot_qemu 2
	measure qemu-4 smp "$parameters pending=1000" boot_qemu 4
}

# The host's load has no influence here, so one round is enough
where_icount()
{
	build_qemu
	ICOUNT=0 measure icount "${WHAT:-core life wheels cascade hold}" "rounds=1 pending=1000,1000000" \
		boot_qemu 1
}

# bench_run: prints what is kept of a run beside its results: MACHINE|COMMIT|COMMAND
bench_run()
{
	local commit word command=

	commit=$(git -C "$lab_top" describe --always --abbrev=12 --dirty 2>/dev/null) || :
	for word in "KERNEL=${KERNEL-}" "WHERE=${WHERE-}" "WHAT=${WHAT-}" "QUICK=${QUICK-}" \
		    "ROUNDS=${ROUNDS-}"; do
		[ ! "${word#*=}" ] || printf -v word '%s="%s"' "${word%%=*}" "${word#*=}"
		[ ! "${word#*=}" ] || command+="$word "
	done
	echo "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)," \
		"$lab_jobs CPUs|${commit:-unknown}|${command}make bench"
}

need python3 python3-matplotlib
case ${1-} in
picture) exec /usr/bin/python3 "$lab_scripts/bench.py" picture "$OUT" ;;
record)	exec /usr/bin/python3 "$lab_scripts/bench.py" record "$OUT" "$lab_top/Documentation/recorded" ;;
'')	need gcc make ;;
*)	die "no command $1; see the head of bench.sh" ;;
esac
for name in $where; do
	case $name in
	uml|years|uml-hz1000|uml-smp|qemu|icount) "where_$name" ;;
	*)	die "WHERE=$name: not one of uml, years, uml-hz1000, uml-smp, qemu and icount" ;;
	esac
done
[ ${#logs[@]} != 0 ] || die "there is nothing to measure"
# Debian's python3 has its matplotlib; another python3 may be first in PATH
BENCH_RUN="$(bench_run)" \
/usr/bin/python3 "$lab_scripts/bench.py" "$OUT" "${logs[@]}"
