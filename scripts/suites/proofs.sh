# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: all states of small geometries; with FULL=1 proofs of the arithmetic; ALL=1 planted faults
# Takes: 45 s

suite()
{
	local part

	for part in exhaustive ${FULL:+lemmas bits wp} ${ALL:+faults}; do
		try "$part" "$lab_scripts/prove.sh" "$part"
	done
}
