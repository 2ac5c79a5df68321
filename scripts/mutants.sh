#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Makes mutants of the sources of hwheel.ko: copies with one small fault each. Runs tests on
# each mutant until one of them fails. The tests run in user space, in this order:
#	- the fuzzer's kept inputs, and the simulator's kept programs of KIND=plain, both compiled
#	  without optimization
#	- the KUnit cases of the levels
#	- the kept programs of KIND=rt and KIND=race
#	- seeds of the simulator
#	- all states of small geometries (this takes the longest)
# Prints which mutants survive, and a score.
#
# Usage: [VARIABLE=value...] mutants.sh
#
# COUNT=n		takes a sample of n mutants (default: all of them)
# SEED=n		another seed takes another sample
# FILE='name...'	takes the mutants of these files; FUNCTION='name...': of these functions
# SINCE=commit		takes the mutants of the lines that have changed since a commit
# ONLY=text		takes one mutant. text is what LIST=1 prints for it after the line
#			number
# SEEDS=n		runs n seeds of KIND=plain (default 1000), n / 4 of KIND=rt, and n / 8 of
#			KIND=race, see sim.sh
# JOBS=n		mutants at a time (default: as many as there are CPUs)
# LEAST=percent		fails if the score is less
# TESTS=none		runs no test, so all mutants survive
# LIST=1		prints the mutants
#
# A line of sim/equivalent names a mutant that no test can catch, and says why.

. "$(dirname "$0")/lab/lab.sh"

need gcc python3
# Keep the mutants in memory if possible: each of them is a few files that are soon deleted
[ ! -w /dev/shm ] || fast=$(mktemp -d /dev/shm/hwheel.XXXXXX)
trap 'rm -rf "${fast-}"; lab_cleanup' EXIT

python3 -B "$lab_scripts/mutants.py" --top "$lab_top" --dir "${fast:-$lab_work}" \
	--log "$lab_cache/log/mutants.log" --jobs "${JOBS:-$lab_jobs}" \
	${COUNT:+--count "$COUNT"} ${SEED:+--seed "$SEED"} ${SEEDS:+--seeds "$SEEDS"} \
	${FILE:+--file "$FILE"} ${FUNCTION:+--function "$FUNCTION"} ${SINCE:+--since "$SINCE"} \
	${ONLY:+--only "$ONLY"} ${TESTS:+--tests "$TESTS"} ${LEAST:+--least "$LEAST"} \
	${LIST:+--list}
