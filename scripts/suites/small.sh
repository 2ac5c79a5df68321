# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the smallest kernel: no SMP, HIGH_RES_TIMERS, DEBUG_FS, MODULE_UNLOAD, MODVERSIONS
# Takes: 60 s
# When: FULL=1
#
# KUnit's cases need HIGH_RES_TIMERS, so the samples test hwheel here.

suite()
{
	local kernel image build dir=$lab_work/small status=0 name

	need gcc make perl
	kernel=$("$lab_scripts/lab/build-kernel.sh" uml-small)
	read -r image build <<<"$kernel"
	try "three options are missing" [ "$("$lab_scripts/preflight.sh" options "$build" 2>&1 |
		grep -c '^hwheel: this kernel has no ')" = 3 ]
	build_modules small-build "$build" "$dir" ARCH=um \
		CONFIG_HWHEEL_TORTURE_TEST= CONFIG_HWHEEL_BENCH=
	other_version "$dir/samples/hwheel_rcu.ko" >"$dir/version.ko"
	"$lab_scripts/lab/boot-uml.sh" "$image" "$lab_scripts/guest/small.sh" "$dir/hwheel.ko" \
		"$dir/version.ko" "$dir"/samples/hwheel_{rcu,sessions}.ko >"$dir/console" || status=$?
	guest_log "$dir/console" >"$dir/log"
	verdict "the guest" "$dir/console" [ $status = 0 ]
	for name in version rcu; do
		try $name grep -x "lab: $name" "$dir/log"
	done
	try sessions grep -E 'fired [1-9].* early 0 lost 0 double 0' "$dir/log"
	try "kernel log" clean_log "$dir/log"
}
