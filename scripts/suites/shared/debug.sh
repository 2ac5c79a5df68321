# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# KUnit and torture on a debug kernel in QEMU, while CPUs go offline and come back

# debug_kunit KERNEL: KUnit on 2 CPUs, with ALL=1 also on 4. These kernels are slow when
# emulated. So some tests run only in other suites:
#	hwheel_levels, which has one thread (kunit-debug runs it under KASAN). The glob leaves
#		out suites whose names end with s.
#	the deadlocks for lockdep: each of them needs a boot of its own (kunit-debug)
# Here the largest tests have fewer timers and wheels. Suite kunit has all of them.
debug_kunit()
{
	local CPUS

	for CPUS in 2 ${ALL:+4}; do
		export CPUS
		TIMEOUT=600 APPEND='kunit.filter_glob=hwhee*[!s]' \
			run_kunit "$1" creates=20 many=5000
	done
}

# debug_torture KERNEL: torture on 4 CPUs, with ALL=1 also on 2
debug_torture()
{
	local CPUS

	for CPUS in ${ALL:+2} 4; do
		export CPUS
		KERNEL=$1 TIME=20 TORTURE=context=mixed \
			try "torture on $CPUS CPUs" "$lab_scripts/torture.sh"
	done
}
