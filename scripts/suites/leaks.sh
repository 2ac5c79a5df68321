# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: kmemleak after a thousand loads, creates, destroys and unloads
# Takes: 70 s
# When: FULL=1

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	LOADS=1000 APPEND=kunit.filter_glob=hwheel_create run_kunit uml-debug creates=1000 leave=1
	try "a wheel left behind" grep 'wheel "left" was never destroyed' "$dir/log"
}
