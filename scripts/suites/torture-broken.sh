# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the torture test must find each of seven planted faults
# Takes: 70 s
# When: FULL=1

suite()
{
	local fault

	for fault in early lose_in_cascade no_wait_in_cancel_sync no_wait_in_synchronize \
		     fire_twice leak_running; do
		KERNEL=uml-smp BROKEN=$fault TIME=60 try $fault "$lab_scripts/torture.sh"
	done
	# UML's CPUs can't go offline
	BROKEN=forget_offline_cpu TIME=60 try forget_offline_cpu "$lab_scripts/torture.sh"
}
