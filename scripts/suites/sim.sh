# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: kept programs on a simulated kernel; with ALL=1 also new seeds
# Takes: 16 s

suite()
{
	local kind out=$lab_work/sim

	TIME=${TIME:-$([ "$ALL" ] && echo 120 || echo 0)} "$lab_scripts/sim.sh" check | tee "$out" || :
	for kind in asan race rt plain; do
		verdict "kept programs, $kind" "$out" grep "^sim: kept programs, $kind: ok\$" "$out"
	done
	[ -z "$ALL" ] || verdict "new seeds" "$out" grep "^sim: new seeds: ok\$" "$out"
}
