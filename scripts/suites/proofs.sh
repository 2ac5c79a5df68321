# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the arithmetic of the levels: proofs, small geometries; with ALL=1 planted faults
# Takes: 60 s

suite()
{
	local part

	for part in lemmas bits wp exhaustive ${ALL:+faults}; do
		try "$part" "$lab_scripts/prove.sh" "$part"
	done
}
