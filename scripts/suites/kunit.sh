# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the KUnit tests in user-mode Linux, of the newest kernel
# Takes: 75 s

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	try "sizes of stacks" stack_sizes
	run_kunit uml
}

# Signal frames of CPUs with AMX, with AVX-512, and without either
stack_sizes()
{
	local frame sizes=

	for frame in 11952 3376 928; do
		sizes+="$(stack_order $frame) "
	done
	[ "$sizes" = "5 3 2 " ] || { echo "$sizes"; return 1; }
	mkdir "$lab_work/small"
	echo CONFIG_KERNEL_STACK_ORDER=2 >"$lab_work/small/.config"
	uml_stack_fits "$lab_work/small" 2048 && ! uml_stack_fits "$lab_work/small" 11952
}
