# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: hwheel.c on a simulated kernel: kept programs, and new seeds for two minutes
# Takes: 150 s

suite()
{
	local kind out=$lab_work/sim

	TIME=${TIME:-120} "$lab_scripts/sim.sh" check | tee "$out" || :
	for kind in asan race rt plain; do
		verdict "kept programs, $kind" "$out" grep "^sim: kept programs, $kind: ok\$" "$out"
		verdict "new seeds, $kind" "$out" grep "^sim: new seeds, $kind: ok\$" "$out"
	done
}
