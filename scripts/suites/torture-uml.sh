# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: torture at native speed, in user-mode Linux on 2 CPUs and on 4
# Takes: 90 s
# When: FULL=1

suite()
{
	local CPUS

	for CPUS in 2 4; do
		export CPUS
		KERNEL=uml-smp TIME=30 try "$CPUS CPUs" "$lab_scripts/torture.sh"
	done
}
