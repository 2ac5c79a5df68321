# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the KUnit tests in user-mode Linux on 4 CPUs; with ALL=1 also on 2
# Takes: 150 s
# When: FULL=1

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	local CPUS

	for CPUS in ${ALL:+2} 4; do
		export CPUS
		run_kunit uml-smp
	done
}
