# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Torture on a debug kernel in QEMU, where CPUs come and go

# run_debug KERNEL: with 2 CPUs, and with 4
run_debug()
{
	local CPUS

	for CPUS in 2 4; do
		export CPUS
		KERNEL=$1 TIME=20 TORTURE=context=mixed \
			try "torture on $CPUS CPUs" "$lab_scripts/torture.sh"
	done
}
