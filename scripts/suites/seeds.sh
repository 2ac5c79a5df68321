# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: new seeds for the simulator, in the seconds that the other suites leave
# Takes: 20 s

# A plain run has few seconds left, or none if its cache was empty. The seeds of FULL=1 take
# a minute, those of ALL=1 two.
suite()
{
	local left=$((CHECK_ENDS - $(date +%s)))

	[ -z "$FULL" ] || left=60
	[ -z "$ALL" ] || left=120
	TIME=$((left < 15 ? 15 : left)) "$lab_scripts/sim.sh" seeds | tee "$lab_work/sim" || :
	verdict "new seeds" "$lab_work/sim" grep "^sim: new seeds: ok\$" "$lab_work/sim"
}
