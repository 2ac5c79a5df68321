# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: hwheel-convert converts 40 drivers of the newest kernel, chosen by a seed; they build
# Takes: 1200 s
# When: ALL=1

suite()
{
	local seed=${SEED:-$(date +%j)}

	try "40 drivers of seed $seed" env SAMPLE=40 SEED="$seed" "$lab_scripts/convert-all.sh"
}
