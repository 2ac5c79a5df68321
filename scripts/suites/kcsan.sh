# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: KUnit and torture on an SMP kernel with KCSAN, which finds data races
# Takes: 120 s
# When: ALL=1

. "$lab_scripts/suites/shared/kunit.sh"
. "$lab_scripts/suites/shared/debug.sh"

suite()
{
	debug_kunit x86-kcsan
	debug_torture x86-kcsan
	KERNEL=x86-kcsan CPUS=2 TIME=20 BROKEN=data_race \
		try "a race that was put in" "$lab_scripts/torture.sh"
}
