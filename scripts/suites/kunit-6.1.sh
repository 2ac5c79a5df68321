# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the KUnit tests in user-mode Linux, of the oldest kernel
# Takes: 40 s
# When: FULL=1

. "$lab_scripts/suites/shared/kunit.sh"

suite()	{ run_kunit_quick uml-6.1; }
