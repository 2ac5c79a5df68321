# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: KUnit and torture on an SMP kernel that looks for data races
# Takes: 420 s

. "$lab_scripts/suites/shared/kunit.sh"
. "$lab_scripts/suites/shared/debug.sh"

# There is no KCSAN in UML. Left out, as this kernel is slow when emulated, and run
# elsewhere: hwheel_levels, one thread alone that has nothing to do with CPUs, and the
# only suite whose name ends with an s; and all but a twentieth of the timers and wheels
# of the tests with most.
suite()
{
	TIMEOUT=600 APPEND='kunit.filter_glob=hwhee*[!s]' \
		run_kunit_smp x86-kcsan creates=20 many=5000
	run_debug x86-kcsan
	KERNEL=x86-kcsan CPUS=2 TIME=20 BROKEN=data_race \
		try "a race that was put in" "$lab_scripts/torture.sh"
}
