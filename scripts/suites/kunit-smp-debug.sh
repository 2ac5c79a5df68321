# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: KUnit on 2 CPUs and on 4 under KASAN, lockdep, debugobjects, UBSAN
# Takes: 200 s

. "$lab_scripts/suites/shared/kunit.sh"

# Of the tests with most timers and wheels a tenth
suite()	{ run_kunit_smp uml-smp-debug creates=20 many=10000; }
