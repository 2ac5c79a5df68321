# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# KUnit and torture on a debug kernel in QEMU, where CPUs come and go

# run_debug KERNEL: with 2 CPUs, and with 4. Left out, as these kernels are slow when
# emulated, and run elsewhere: hwheel_levels, one thread alone that has nothing to do with
# CPUs (kunit-debug has it under KASAN), and the only suite whose name ends with an s; the
# deadlock for lockdep, which needs a boot of its own (kunit-debug); and all but a twentieth
# of the timers and wheels of the tests with most (kunit).
run_debug()
{
	local CPUS

	TIMEOUT=600 APPEND='kunit.filter_glob=hwhee*[!s]' \
		run_kunit_smp "$1" creates=20 many=5000
	for CPUS in 2 4; do
		export CPUS
		KERNEL=$1 TIME=20 TORTURE=context=mixed \
			try "torture on $CPUS CPUs" "$lab_scripts/torture.sh"
	done
}
