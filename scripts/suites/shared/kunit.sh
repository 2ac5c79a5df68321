# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# KUnit: builds the tests, boots them, counts their results

# [CPUS=n] [LOADS=n] run_kunit KERNEL [MODULE-PARAMETERS...]: builds the modules, and boots a
# guest that loads them
run_kunit()
{
	build_kunit "$1"
	boot_kunit "${@:2}"
}

# run_kunit_quick KERNEL: runs all cases, most of them in simulated time, in which waiting takes
# no time. A case whose name ends with _real_time skips itself there, and runs in a second guest.
# Within a month timers come from each level of the default wheel. FULL=1 lets a year pass, in 20 s.
run_kunit_quick()
{
	local days=30

	[ -z "$FULL" ] || days=365
	build_kunit "$1"
	APPEND=time-travel=inf-cpu boot_kunit days=$days
	APPEND='kunit.filter_glob=*.*_real_time' boot_kunit
}

# build_kunit KERNEL: builds hwheel.ko and hwheel_kunit.ko in the folder dir
build_kunit()
{
	local variant=$1 kernel image build arch=()

	dir=$lab_work/$suite
	need gcc make python3
	kernel=$("$lab_scripts/lab/build-kernel.sh" "$variant")
	read -r image build <<<"$kernel"
	source=$build/source
	case $variant in
	uml*)	boot=("$lab_scripts/lab/boot-uml.sh" "$image") arch=(ARCH=um)
		try "signal frames fit" uml_stack_fits "$build" ;;
	x86*)	boot=("$lab_scripts/lab/boot-qemu.sh" "$image" "$CPUS" 1G) ;;
	esac

	say "$suite: building the modules"
	build_modules "$suite-build" "$build" "$dir" "${arch[@]}" \
		CONFIG_HWHEEL_TORTURE_TEST= CONFIG_HWHEEL_BENCH= CONFIG_SAMPLE_HWHEEL=
}

# boot_kunit [MODULE-PARAMETERS...]: boots a guest with the command in the array boot, and
# the modules in dir. New kernels need kunit.autorun=1 to run KUnit suites.
boot_kunit()
{
	local on=${CPUS:+ on $CPUS CPUs} status=0

	[[ ${APPEND-} != *time-travel* ]] || on+=" in simulated time"
	say "$suite: booting$on"
	{
		echo "parameters='$*' loads=${LOADS:-0}"
		cat "$lab_scripts/guest/kunit.sh"
	} >"$dir/payload"
	TIMEOUT=${TIMEOUT:-900} APPEND="kunit.autorun=1 ${APPEND-}" "${boot[@]}" "$dir/payload" \
		"$dir"/hwheel.ko "$dir"/hwheel_kunit.ko |
		tee "$dir/console" || status=$?
	verdict "load and unload$on" "$dir/console" [ $status = 0 ]

	guest_log "$dir/console" >"$dir/log"
	sed -n '/lab: kunit begins/,/lab: kunit ends/p' "$dir/log" >"$dir/ktap"
	# 6.1 prints no version and no number of suites for modules
	grep -q '^KTAP version' "$dir/ktap" ||
		sed -i "1aKTAP version 1\n1..$(grep -c '^    # Subtest:' "$dir/ktap")" "$dir/ktap"
	"$source/tools/testing/kunit/kunit.py" parse "$dir/ktap" |
		tee "$dir/parsed" || :
	kunit_results "$dir/parsed"
	try "kernel log$on" clean_log "$dir/log"
}

# kunit_results FILE: reads the counts from kunit.py's last line, as in
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
	# kunit.py counts errors if the output is missing or cut short
	[ $n != 0 ] || n=${cases[errors]-0}
	# If no test ran, or all were skipped, the guest has failed
	[ $((${cases[passed]-0} + n)) != 0 ] || n=1
	if [ "$n" != 0 ]; then
		grep -v '\[PASSED\]' "$1" >"$1.bad" || :
		result failed "$n" "KUnit cases" "$1.bad"
	fi
}
