# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: kept programs on a simulated kernel, then two minutes of new ones
# Takes: 180 s

suite()
{
	local kind out=$lab_work/sim

	TIME=${TIME:-120} "$lab_scripts/sim.sh" check | tee "$out" || :
	for kind in asan race rt plain; do
		verdict "kept programs, $kind" "$out" grep "^sim: kept programs, $kind: ok\$" "$out"
	done
	verdict "new seeds" "$out" grep "^sim: new seeds: ok\$" "$out"
}
