# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: KUnit and torture on an SMP kernel with KASAN, lockdep, debugobjects, UBSAN
# Takes: 400 s
# When: ALL=1

. "$lab_scripts/suites/shared/kunit.sh"
. "$lab_scripts/suites/shared/debug.sh"

suite()
{
	debug_kunit x86-kasan
	debug_torture x86-kasan
}
