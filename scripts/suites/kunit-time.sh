# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the KUnit tests that wait for years, in simulated time
# Takes: 17 s

. "$lab_scripts/suites/shared/kunit.sh"

suite()	{ APPEND=time-travel=inf-cpu run_kunit uml years=1; }
