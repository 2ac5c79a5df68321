# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the KUnit tests in user-mode Linux, of the oldest kernel
# Takes: 90 s
# When: FULL=1

. "$lab_scripts/suites/shared/kunit.sh"

# Not in simulated time: there Linux 6.1 warns of its own timer events, and hangs
suite()	{ run_kunit uml-6.1; }
