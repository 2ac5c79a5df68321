# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: hwheel-convert converts 60 drivers of the newest kernel, chosen by a seed; they build
# Takes: 1800 s
# When: ALL=1

suite()
{
	local seed=${SEED:-$(date +%j)}

	try "40 drivers of seed $seed" env SAMPLE=40 SEED="$seed" "$lab_scripts/convert-all.sh"
	try "20 drivers with delayed work, of seed $seed" \
		env MOVE=work SAMPLE=20 SEED="$seed" "$lab_scripts/convert-all.sh"
}
