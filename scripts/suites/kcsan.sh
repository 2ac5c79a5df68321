# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: torture on an SMP kernel with KCSAN, which finds data races; with ALL=1 KUnit, too
# Takes: 120 s
# When: FULL=1

. "$lab_scripts/suites/shared/kunit.sh"
. "$lab_scripts/suites/shared/debug.sh"

suite()
{
	[ -z "$ALL" ] || debug_kunit x86-kcsan
	debug_torture x86-kcsan
	KERNEL=x86-kcsan CPUS=2 TIME=20 BROKEN=data_race \
		try "a race that was put in" "$lab_scripts/torture.sh"
}
