# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: KUnit in user-mode Linux under KASAN, lockdep, debugobjects, kmemleak
# Takes: 130 s
# When: FULL=1

. "$lab_scripts/suites/shared/kunit.sh"

# Lockdep reports one deadlock and turns itself off, so each deadlock needs a boot
suite()
{
	local deadlock

	run_kunit uml-debug
	for deadlock in softirq hardirq work synchronize destroy; do
		APPEND=kunit.filter_glob=hwheel_lockdep boot_kunit lockdep=$deadlock
	done
}
