# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the arithmetic of the levels: proofs, a run over small geometries
# Takes: 220 s

suite()
{
	local part

	for part in lemmas bits wp exhaustive faults; do
		try $part "$lab_scripts/prove.sh" $part
	done
}
