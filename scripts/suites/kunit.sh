# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: KUnit in user-mode Linux, of the newest kernel
# Takes: 35 s

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	try "sizes of stacks" stack_sizes
	run_kunit_quick uml
}

# The numbers are sizes of signal frames on CPUs with AMX, with AVX-512, and without either.
# uml_stack_fits() must refuse a kernel with the default stack, and one that has room only for
# the FP state of Linux 6.1. Both are too small for AMX.
stack_sizes()
{
	local frame sizes=

	for frame in 11952 3376 928; do
		sizes+="$(stack_order $frame) "
	done
	[ "$sizes" = "5 3 2 " ] || { echo "$sizes"; return 1; }
	stack_check "$(uml_config)" &&
		stack_check "$(uml_config)" "$(uml_sizes | cut -d ' ' -f 1)" &&
		! stack_check CONFIG_KERNEL_STACK_ORDER=2 &&
		! stack_check "$(uml_config)" 2696
}

# stack_check CONFIG [BYTES]: whether uml_stack_fits() accepts a kernel with this
# configuration, and BYTES for an FP state
stack_check()
{
	local build=$lab_work/stack

	mkdir -p "$build/include/generated"
	echo "$1" >"$build/.config"
	echo "${2:+#define HOST_FP_SIZE $(($2 / 8)) /* DEFINE */}" \
		>"$build/include/generated/user_constants.h"
	uml_stack_fits "$build"
}
