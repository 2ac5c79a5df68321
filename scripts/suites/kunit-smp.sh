# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the KUnit tests in user-mode Linux on 2 CPUs and on 4
# Takes: 160 s

. "$lab_scripts/suites/shared/kunit.sh"

suite()	{ run_kunit_smp uml-smp; }
