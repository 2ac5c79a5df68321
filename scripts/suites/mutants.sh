# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: mutants of the lines that changed last; if those are few, also a sample of all
# Takes: 120 s
# When: FULL=1

# A mutant that the first test must catch
planted='module/levels_place.h levels_leave: l->pending--; => ;'

suite()
{
	local mutants=$lab_scripts/mutants.sh

	export JOBS=${JOBS:-1}
	ONLY=$planted try "a planted mutant is caught" says "1 caught, 0 survived" "$mutants"
	ONLY=$planted TESTS=none try "without tests it lives" \
		says "0 caught, 1 survived, score 0.0 %" "$mutants"
	ONLY=$planted TESTS=none LEAST=1 try "a low score fails" refused "score 0.0 %" "$mutants"
	ONLY=none try "no such mutant" refused "there is no such mutant: none" "$mutants"
	# The score of a few mutants says little. If they are few, LEAST is for a sample of all
	# mutants.
	if [ "$(SINCE=HEAD~1 LIST=1 "$mutants" | wc -l)" -ge 16 ]; then
		SINCE=HEAD~1 COUNT=16 SEEDS=300 LEAST=50 try "of lines that changed" "$mutants"
	else
		SINCE=HEAD~1 SEEDS=300 try "of lines that changed" "$mutants"
		COUNT=16 SEEDS=300 LEAST=50 try "of all" "$mutants"
	fi
}

# says TEXT COMMAND...: whether COMMAND succeeds and prints TEXT
says()
{
	"${@:2}" | tee "$lab_work/said"
	grep -qF -e "$1" "$lab_work/said"
}
