#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs everything that must pass. The last line is
#	N passed, N failed, N skipped
# and the exit status is 0 if something passed and nothing failed.
#
# Usage: [SUITE='name...'|list] check.sh

. "$(dirname "$0")/lab.sh"

# Name, what it does. The suite is the function suite_NAME.
suites=(
	"style		checkpatch, W=1, sparse, kernel-doc, shellcheck, a clean checkout"
	"docs		the documentation builds, and says all there is to say"
	"kunit		the KUnit tests in user-mode Linux"
	"kunit-debug	the same under KASAN, lockdep, debugobjects, kmemleak"
	"kunit-time	the tests that wait for years, in simulated time"
	"leaks		kmemleak after a thousand loads, creates, destroys and unloads"
	"failslab	each allocation of a create fails, one after the other; nothing leaks"
	"bounds		counted by instructions: a search for the latest callback, the longest lock hold"
	"stock-6.1	load, debugfs, sessions, unload on Debian's 6.1 in QEMU, 2 CPUs"
	"stock-6.12	the same on 6.12"
	"stock-6.12-rt	the same on 6.12 PREEMPT_RT"
	"fuzz		the levels in user space under ASan and UBSan, driven by libFuzzer"
	"pacing		the qdisc hwpace on each of them: rates, losses, changes under load"
	"tools		what hwheel-plan, hwheel-top and hwheel-plot print and draw"
	"trace		tracepoints and the bpftrace scripts, compared with debugfs"
	"torture		half a minute of torture on each of them, CPUs coming and going"
	"suspend	a machine that sleeps: timers of both clocks; torture meanwhile"
	"torture-broken	the torture test has to find each of six faults"
	"kasan		KUnit and torture on an SMP kernel with KASAN, lockdep, debugobjects, UBSAN"
	"kcsan		KUnit and torture on an SMP kernel that looks for data races"
	"convert	net/bridge, net/sctp and CAN_BCM moved to hwheel by machine, and used"
	"graft		into a kernel's tree and out again; its KUnit, built in and as modules"
	"packages	Debian's packages: made, installed with DKMS, loaded, removed"
	"proofs		the arithmetic of the levels: proofs, a run over small geometries"
	"readme		each command in README, run on a new Debian, and on its kernel in QEMU"
	"reach		gcc and clang, i386, arm64; what is said when something is missing"
)
results=$lab_work/results failures=$lab_work/failures
export LAB_BUILDS=$lab_work/builds

# result passed|failed|skipped N NAME [FILE]: of N tests of the suite that runs;
# the end of FILE tells about a failure
result()
{
	echo "$1 $suite $2" >>"$results"
	echo "$1: $2 $3"
	[ "$1" != failed ] || {
		echo "$suite: $3, see $log"
		[ ! -s "${4-}" ] || tail -n 20 "$4" | sed 's/^/  | /'
	} >>"$failures"
}

# verdict NAME FILE COMMAND...: a test that is one command; FILE tells about it
verdict()
{
	local name=$1 file=$2

	shift 2
	if "$@"; then
		result passed 1 "$name"
	else
		result failed 1 "$name" "$file"
	fi
}

# try NAME COMMAND...: the same, told about by what the command prints
try()
{
	local out=$lab_work/out

	say "$suite: $1"
	if "${@:2}" >"$out" 2>&1; then
		result passed 1 "$1"
	else
		cat "$out"
		result failed 1 "$1" "$out"
	fi
}

count()
{
	awk -v what="$1" -v suite="${2-}" \
		'$1 == what && (!suite || $2 == suite) { n += $3 } END { print n + 0 }' \
		"$results"
}

counts()
{
	echo "$(count passed "$@") passed, $(count failed "$@") failed," \
		"$(count skipped "$@") skipped"
}

#
# style
#

suite_style()
{
	need gcc make perl sparse shellcheck git
	source=$(linux_source)
	kernel=$("$lab_scripts/stock-kernel.sh" 6.12)
	headers=${kernel##* }
	build=$lab_work/style
	copy_sources "$build"
	cd "$build"
	mapfile -t code < <(find . -name '*.[ch]' | sed 's,^\./,,' | sort)

	try checkpatch checkpatch "${code[@]}"
	try kernel-doc "$source/scripts/kernel-doc" -none -Werror hwheel.h hwheel.c \
		hwheel_jiffies.h
	try shellcheck shellcheck scripts/*.sh scripts/graft .ci/run
	try "one version" one_version
	try clean-checkout clean_checkout
	try W=1 silent '([Ww]arning|WARNING|error):' W=1
	try sparse silent "^$build/.*(warning|error):" C=2 CHECK=sparse
}

# checkpatch FILES...: the compat header alone may ask for the kernel's version,
# the macros of tracepoints have a layout of their own, and only what stands in
# for the kernel's headers may define what they do; a qdisc can't do without
# struct Qdisc
checkpatch()
{
	local file ignore status=0

	for file; do
		ignore=FILE_PATH_CHANGES
		[ "$file" != hwheel_compat.h ] ||
			ignore+=,LINUX_VERSION_CODE,CONSTANT_COMPARISON
		[ "$file" != hwheel_trace.h ] ||
			ignore+=,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
		[ "${file#*include/linux/}" = "$file" ] ||
			ignore+=,COMPLEX_MACRO,MACRO_ARG_REUSE,MEMORY_BARRIER,PREFER_DEFINED_ATTRIBUTE_MACRO
		[ "$file" != samples/hwheel_pace.c ] || ignore+=,CAMELCASE
		# An ACSL annotation is a comment, but one that Frama-C reads
		[ "${file#proofs/}" = "$file" ] || ignore+=,BLOCK_COMMENT_STYLE
		"$source/scripts/checkpatch.pl" --strict --no-tree --quiet --terse \
			--no-summary --show-types --ignore $ignore -f "$file" ||
			status=1
	done
	return $status
}

# one_version: dkms.conf has it, and what can't take it from there says the same
one_version()
{
	{
		sed -n -E 's/^PACKAGE_VERSION="(.*)"/\1/p' dkms.conf
		sed -n -E 's/^MODULE_VERSION\("(.*)"\);/\1/p' hwheel.c
		sed -n -E '1s/.*\((.*)\).*/\1/p' debian/changelog
	} | tee /dev/stderr | uniq -c | grep -qE '^ *3 [0-9.]+$'
}

# silent PATTERN MAKE-ARGUMENTS...: builds, and finds no such line
silent()
{
	make -j "$lab_jobs" -C "$headers" M="$build" "${@:2}" modules \
		>"$lab_work/make" 2>&1 || { cat "$lab_work/make"; return 1; }
	! grep -E "$1" "$lab_work/make"
}

# clean_checkout: git ignores all that a build leaves, and make clean removes it
clean_checkout()
{
	git init -q && git add -A && make KDIR="$headers" >/dev/null || return
	! git status --porcelain | grep -v '^A ' || return
	make -s clean || return
	! git status --porcelain --ignored | grep -v '^A '
}

#
# docs
#

suite_docs()
{
	docs=$lab_work/docs
	try htmldocs "$lab_scripts/htmldocs.sh" "$docs"
	cd "$lab_top"
	try "every call in the API" all_named "$docs/api.html" \
		"$(sed -n 's/^EXPORT_SYMBOL_GPL(\([a-z_]*\));/\1/p' hwheel.c)"
	try "every file and counter in the ABI" all_named \
		Documentation/ABI/testing/debugfs-hwheel \
		"$(sed -n 's/^\t\t{ "\(.*\)",\t*&hwheel_.*_fops },/\1/p' hwheel_debugfs.h)
		$(sed -n 's/^\t\[HWHEEL_.*= "\([a-z_]*\)",/\1/p' hwheel.c)"
	try "every tracepoint" all_named Documentation/debugging.rst \
		"$(sed -n -E 's/^(TRACE_EVENT\(|DEFINE_EVENT\(hwheel_timer, )(hwheel_[a-z_]*),/\2/p' \
			hwheel_trace.h)"
}

# all_named FILE WORDS: each of at least five words is somewhere in the file
all_named()
{
	local word status=0 n=0

	for word in $2; do
		n=$((n + 1))
		grep -qw "$word" "$1" || { echo "$1 does not name $word"; status=1; }
	done
	[ $n -ge 5 ] || { echo "only $n words to look for"; status=1; }
	return $status
}

#
# KUnit
#

suite_kunit()		{ run_kunit uml; }
# Lockdep reports once, and then is off: each deadlock has a boot of its own
suite_kunit-debug()
{
	local context

	run_kunit uml-debug
	for context in softirq hardirq work; do
		APPEND=kunit.filter_glob=hwheel_lockdep boot_kunit lockdep=$context
	done
}
suite_kunit-time()	{ APPEND=time-travel=inf-cpu run_kunit uml years=1; }

suite_leaks()
{
	LOADS=1000 APPEND=kunit.filter_glob=hwheel_create run_kunit uml-debug creates=1000 leave=1
	try "a wheel left behind" grep 'wheel "left" was never destroyed' "$dir/log"
}

suite_failslab()
{
	APPEND=kunit.filter_glob=hwheel_create.test_create_faults run_kunit uml-debug
	try "faults" grep 'allocations failed' "$lab_work/failslab/log"
}

# [CPUS=n] [LOADS=n] run_kunit KERNEL [MODULE-PARAMETERS...]: builds the modules in
# dir and boots them by the command boot
run_kunit()
{
	local variant=$1 kernel image build arch=()

	shift
	dir=$lab_work/$suite
	need gcc make python3
	kernel=$("$lab_scripts/build-kernel.sh" "$variant")
	read -r image build <<<"$kernel"
	source=$(linux_source)
	case $variant in
	uml*)	boot=("$lab_scripts/boot-uml.sh" "$image") arch=(ARCH=um) ;;
	x86*)	boot=("$lab_scripts/boot-qemu.sh" "$image" "$CPUS" 1G) ;;
	esac

	say "$suite: building the modules"
	build_modules "$suite-build" "$build" "$dir" "${arch[@]}"
	boot_kunit "$@"
}

# boot_kunit [MODULE-PARAMETERS...]: the modules in dir, by the command boot
boot_kunit()
{
	local on=${CPUS:+ on $CPUS CPUs} status=0

	say "$suite: booting$on"
	{
		echo "parameters='$*' loads=${LOADS:-0}"
		cat "$lab_scripts/guest-kunit.sh"
	} >"$dir/payload"
	TIMEOUT=${TIMEOUT:-300} "${boot[@]}" "$dir/payload" \
		"$dir"/hwheel.ko "$dir"/hwheel_kunit.ko |
		tee "$dir/console" || status=$?
	verdict "load and unload$on" "$dir/console" [ $status = 0 ]

	guest_log "$dir/console" >"$dir/log"
	sed -n '/lab: kunit begins/,/lab: kunit ends/p' "$dir/log" >"$dir/ktap"
	"$source/tools/testing/kunit/kunit.py" parse "$dir/ktap" |
		tee "$dir/parsed" || :
	kunit_results "$dir/parsed"
	try "kernel log$on" clean_log "$dir/log"
}

# kunit_results FILE: takes the counts of kunit.py's last line, as in
# "Testing complete. Ran 3 tests: passed: 1, failed: 1, crashed: 1"
kunit_results()
{
	local what n
	local -A cases=()

	while read -r what n; do
		cases[$what]=$n
	done < <(sed -n 's/^.*Testing complete\. Ran [0-9]* tests: //p' "$1" |
		tr -d ':' | sed 's/, /\n/g')

	[ -z "${cases[passed]-}" ] || result passed "${cases[passed]}" "KUnit cases"
	[ -z "${cases[skipped]-}" ] || result skipped "${cases[skipped]}" "KUnit cases"
	n=$((${cases[failed]-0} + ${cases[crashed]-0}))
	# Errors are of the output itself: none at all, or cut short
	[ $n != 0 ] || n=${cases[errors]-0}
	[ ${#cases[@]} != 0 ] || n=1
	if [ "$n" != 0 ]; then
		grep -v '\[PASSED\]' "$1" >"$1.bad" || :
		result failed "$n" "KUnit cases" "$1.bad"
	fi
}

clean_log()
{
	! dmesg_dirty "$1"
}

#
# Debug kernels with several CPUs
#

suite_kasan()		{ run_debug x86-kasan; }
suite_kcsan()
{
	run_debug x86-kcsan
	KERNEL=x86-kcsan CPUS=2 TIME=20 BROKEN=data_race \
		try "a race that was put in" "$lab_scripts/torture.sh"
}

# run_debug KERNEL: KUnit and torture, with 2 CPUs and with 4. Left out, as these
# kernels are slow when emulated, and run elsewhere: hwheel_levels, one thread alone
# that has nothing to do with CPUs (kunit-debug has it under KASAN), and the only
# suite whose name ends with an s; the deadlock for lockdep, which needs a boot of its
# own (kunit-debug); and all but a twentieth of the timers and wheels of the tests
# with most (kunit).
run_debug()
{
	local CPUS

	for CPUS in 2 4; do
		export CPUS
		TIMEOUT=600 APPEND='kunit.filter_glob=hwhee*[!s]' \
			run_kunit "$1" creates=20 many=5000
		KERNEL=$1 TIME=20 TORTURE=context=mixed \
			try "torture on $CPUS CPUs" "$lab_scripts/torture.sh"
	done
}

#
# Bounds
#

# A clock that counts instructions, one a nanosecond, shows nothing of the host
suite_bounds()
{
	local bound out=$lab_work/bench

	OUT=$lab_work WHERE=icount WHAT="cascade hold" READ=0.5 "$lab_scripts/bench.sh" |
		tee "$out" || :
	for bound in "longest lock hold, a million in a spoke" "  the levels alone" \
		     "1 ms timer beside that cascade"; do
		verdict "${bound#  }" "$out" \
			grep -E "^$bound.*, 1 ns an instruction .* ok " "$out"
	done

	"$lab_scripts/bounds.sh" | tee "$out" || :
	for bound in softirq hardirq; do
		verdict "search, $bound" "$out" grep -E "^bounds: $bound: .* ok\$" "$out"
	done
}

#
# Stock kernels
#

suite_stock-6.1()	{ run_stock 6.1; }
suite_stock-6.12()	{ run_stock 6.12; }
suite_stock-6.12-rt()	{ run_stock 6.12-rt; }

run_stock()
{
	local name

	KERNEL=$1 SESSIONS=100000 MAX_MS=5000 TRAFFIC_MS=2000 \
		"$lab_scripts/demo.sh" | tee "$lab_work/demo" || :
	for name in load refused parameters sums debugfs sessions unload dmesg; do
		verdict "$name" "$lab_work/demo" \
			grep -qx "demo: $name ok" "$lab_work/demo"
	done
}

#
# Fuzzing
#

suite_fuzz()
{
	local fault

	try kept "$lab_scripts/fuzz.sh" replay
	# gcc-multilib excludes the cross compilers of reach
	need "gcc-$(gcc -dumpversion)-multilib"
	try kept-32-bit "$lab_scripts/fuzz.sh" replay -m32
	for fault in $("$lab_scripts/fuzz.sh" faults); do
		try "$fault" "$lab_scripts/fuzz.sh" fault "$fault"
	done
	TIME=40 try libFuzzer "$lab_scripts/fuzz.sh" run
}

#
# Pacing
#

# At a rate that a simulated machine keeps up with when the real one is busy
suite_pacing()
{
	local RATE=4 TIME=2

	export RATE TIME
	run_pacing 6.12
	QUICK=1 run_pacing 6.1
	QUICK=1 run_pacing 6.12-rt
}

run_pacing()
{
	local name out=$lab_work/pacing-$1

	KERNEL=$1 "$lab_scripts/pacing.sh" | tee "$out" || :
	for name in load options churn rate below limit departure busy unload dmesg; do
		verdict "$1 $name" "$out" grep -qx "pacing: $name ok" "$out"
	done
}

#
# Tools
#

suite_tools()
{
	local class

	need python3 python3-rich python3-matplotlib busybox-static
	for class in Plan Shared Top Keys Plot; do
		try $class /usr/bin/python3 "$lab_scripts/test-tools.py" $class
	done
}

#
# Tracing
#

suite_trace()
{
	run_trace 6.12 who late
	QUICK=1 run_trace 6.1
}

run_trace()
{
	local name out=$lab_work/trace-$1

	KERNEL=$1 "$lab_scripts/trace.sh" | tee "$out" || :
	for name in load events fields counts "${@:2}" unload dmesg; do
		verdict "$1 $name" "$out" grep -qx "trace: $name ok" "$out"
	done
}

#
# Torture
#

suite_torture()
{
	KERNEL=6.1 TIME=30 try 6.1 "$lab_scripts/torture.sh"
	KERNEL=6.12 CPUS=4 UNLOAD=30 try 6.12 "$lab_scripts/torture.sh"
	KERNEL=6.12-rt TIME=30 try 6.12-rt "$lab_scripts/torture.sh"
}

# The machine sleeps, and wakes by its real-time clock
suite_suspend()
{
	local name

	"$lab_scripts/suspend.sh" | tee "$lab_work/suspend" || :
	for name in build boot slept "boottime before" "boottime after" "monotonic before" \
		    "monotonic after" dmesg; do
		verdict "$name" "$lab_work/suspend" \
			grep -qx "suspend: $name ok" "$lab_work/suspend"
	done
	SUSPEND=4 ONOFF=0 TIME=10 try torture "$lab_scripts/torture.sh"
}

suite_torture-broken()
{
	local fault

	for fault in early lose_in_cascade no_wait_in_cancel_sync fire_twice \
		     forget_offline_cpu leak_running; do
		BROKEN=$fault TIME=60 try $fault "$lab_scripts/torture.sh"
	done
}

#
# Drivers that were moved by machine
#

suite_convert()
{
	local name

	"$lab_scripts/convert.sh" | tee "$lab_work/convert" || :
	for name in patches jiffies converts builds "boot of stock" "boot of moved" bridge sctp \
		    timers dmesg can\ {converts,builds,"boot of stock","boot of moved",timers,dmesg} \
		    can; do
		verdict "$name" "$lab_work/convert" \
			grep -qx "convert: $name ok" "$lab_work/convert"
	done
}

#
# Into a kernel's tree
#

suite_graft()
{
	local tree=$lab_work/tree build=$lab_work/kunit modules boot

	need gcc libc6-dev make flex bison bc python3
	source=$(linux_source)
	patch_source "$source"
	# 1.5 GB: as links, if the cache is on the same filesystem
	cp -al "$source" "$tree" 2>/dev/null ||
		{ rm -rf "$tree"; cp -a "$source" "$tree"; }
	tree_state "$tree" >"$lab_work/before"
	tree_state "$source" >"$lab_work/source"

	try "not into headers" refused "not a kernel's source tree" \
		"$lab_scripts/graft" "$lab_top"
	try "put in" "$lab_scripts/graft" "$tree"
	try "links not written to" diff "$lab_work/source" <(tree_state "$source")
	tree_state "$tree" -inum >"$lab_work/grafted"
	"$lab_scripts/graft" "$tree" >/dev/null
	try "again, nothing changes" diff "$lab_work/grafted" <(tree_state "$tree" -inum)

	cd "$tree"
	try ".kunitconfig alone" tools/testing/kunit/kunit.py config \
		--kunitconfig lib/hwheel --build_dir "$lab_work/config"
	say "$suite: building UML with it"
	graft_kunit run --timeout 300 | tee "$lab_work/run" || :
	kunit_results "$lab_work/run"
	say "$suite: building it as modules"
	modules=({HWHEEL,HWHEEL_KUNIT_TEST,HWHEEL_TORTURE_TEST,HWHEEL_BENCH,SAMPLE_HWHEEL}"=m")
	graft_kunit build --kconfig_add CONFIG_SAMPLES=y \
		"${modules[@]/#/--kconfig_add=CONFIG_}" |
		tee "$lab_work/modules" || :
	try "no warnings" no_lines 'lib/hwheel/.*([Ww]arning|error:)' \
		"$lab_work/run" "$lab_work/modules"
	try "all modules" ls "$build"/lib/hwheel/hwheel{,_kunit,_torture,_bench}.ko \
		"$build"/lib/hwheel/samples/hwheel_{hello,sessions}.ko
	boot=("$lab_scripts/boot-uml.sh" "$build/linux") dir=$build/lib/hwheel
	boot_kunit

	cd "$lab_top"
	"$lab_scripts/graft" --undo "$tree"
	try "taken out" diff "$lab_work/before" <(tree_state "$tree")
}

# graft_kunit COMMAND OPTIONS...: with what a busybox userland needs beside
graft_kunit()
{
	tools/testing/kunit/kunit.py "$1" --kunitconfig lib/hwheel \
		--kunitconfig "$lab_scripts/config/common.config" \
		--kunitconfig "$lab_scripts/config/uml.config" \
		--build_dir "$build" --jobs "$lab_jobs" "${@:2}"
}

# tree_state DIR [-inum]: which files there are, and the contents of those that
# graft may change; with -inum also whether they are files of their own
tree_state()
{
	local format='%p'

	[ $# = 1 ] || format+=' %i'
	cd "$1" && find . -name .git -prune -o -printf "$format\n" | sort &&
		find lib include/linux -type f -exec cksum {} + | sort
}

# refused MESSAGE COMMAND...: COMMAND fails and says so
refused()
{
	"${@:2}" 2>&1 | tee "$lab_work/refused"
	[ "${PIPESTATUS[0]}" != 0 ] && grep -qF -e "$1" "$lab_work/refused"
}

no_lines()
{
	! grep -hE "$@"
}

# The larger ones
. "$lab_scripts/suite-packages.sh"
. "$lab_scripts/suite-readme.sh"
. "$lab_scripts/suite-reach.sh"

#
# Proofs
#

suite_proofs()
{
	local part

	for part in lemmas bits wp exhaustive faults; do
		try $part "$lab_scripts/prove.sh" $part
	done
}

#
# All of it
#

# ahead: does what takes minutes, and is wanted late or is not timed. CPUs that are idle
# do it, so that suites in which time matters don't notice. A suite that comes before
# something is made waits; what can't be made is tried again, and told about, there.
ahead()
{
	local variant

	chrt --idle --pid 0 "$BASHPID" >/dev/null || renice -n 19 -p "$BASHPID" >/dev/null
	# Of CPUs that are busy a prover gets next to nothing for a while
	PROVER_TIMEOUT=300 EXHAUSTIVE_TIMEOUT=1200 run_suite proofs
	for variant in x86-kasan x86-kcsan; do
		"$lab_scripts/build-kernel.sh" "$variant" >/dev/null || :
	done
	! debian_may || debian_unpack "$lab_work/debian" || :
	{ i386_tree && i386_kunit build; } || :
}

# run_suite NAME: in a shell and a folder of its own, for a suite may die
run_suite()
{
	local start=$SECONDS status

	suite=$1 log=$lab_cache/log/check-$1.log
	set +e
	(set -e; lab_work+=/$1.suite; mkdir "$lab_work"; "suite_$suite") >"$log" 2>&1
	status=$?
	set -e
	[ $status = 0 ] || result failed 1 "the suite (status $status)" "$log"
	say "$suite: $(counts "$suite") ($((SECONDS - start)) s)"
}

exec 3>&1
export SAY_FD=3
wanted=${SUITE:-}
if [ "$wanted" = list ]; then
	printf '%s\n' "${suites[@]}"
	exit
fi

touch "$results" "$failures"
if [ -z "$wanted" ]; then
	# A process group, which ends as a whole
	set -m
	ahead </dev/null >"$lab_cache/log/check-ahead.log" 2>&1 &
	lab_ahead=$!
	set +m
fi
for name in ${wanted:-$(printf '%s\n' "${suites[@]}" | cut -f 1)}; do
	printf '%s\n' "${suites[@]}" | cut -f 1 | grep -qxF "$name" ||
		die "no suite $name; SUITE=list names them"
	[ -n "$lab_ahead" ] && [ "$name" = proofs ] && continue
	run_suite "$name"
done
if [ -n "$lab_ahead" ]; then
	suite=ahead log=$lab_cache/log/check-ahead.log
	wait "$lab_ahead" || result failed 1 "what is done beside the suites"
	lab_ahead=
fi
cat "$failures"
counts
[ "$(count failed)" = 0 ] && [ "$(count passed)" != 0 ]
