# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the latest callback and the longest lock hold, counted in instructions
# Takes: 180 s
# When: FULL=1

# The clock counts instructions, one a nanosecond, so the host's load does not matter
suite()
{
	local bound out=$lab_work/bench

	KERNEL=6.12 OUT=$lab_work WHERE=icount WHAT="cascade hold" READ=0.5 "$lab_scripts/bench.sh" |
		tee "$out" || :
	for bound in "longest lock hold, a million in a spoke" "  the levels alone" \
		     "1 ms timer beside that cascade"; do
		verdict "${bound#  }" "$out" \
			grep -E "^$bound.*, 1 ns an instruction .* ok " "$out"
	done

	"$lab_scripts/bounds.sh" | tee "$out" || :
	for bound in softirq hardirq; do
		verdict "search, $bound" "$out" grep -E "^bounds: $bound: .* ok\$" "$out"
	done
}
