# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the simulator's kept programs: hwheel on a simulated kernel
# Takes: 25 s

suite()
{
	local kind out=$lab_work/sim

	"$lab_scripts/sim.sh" check | tee "$out" || :
	for kind in asan race rt plain; do
		verdict "kept programs, $kind" "$out" grep "^sim: kept programs, $kind: ok\$" "$out"
	done
}
