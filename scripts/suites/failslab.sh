# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: each allocation of hwheel_create() fails in turn; nothing leaks
# Takes: 9 s
# When: FULL=1

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	APPEND=kunit.filter_glob=hwheel_create.test_create_faults run_kunit uml-debug
	try "faults" grep 'allocations failed' "$lab_work/failslab/log"
}
