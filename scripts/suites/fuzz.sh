# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the fuzzer's kept inputs for the levels; with FULL=1 planted faults and libFuzzer, too
# Takes: 20 s

suite()
{
	local fault

	try kept "$lab_scripts/fuzz.sh" replay
	try crowds "$lab_scripts/fuzz.sh" crowds
	[ "$FULL" ] || return 0
	if runs_32_bit; then
		try kept-32-bit "$lab_scripts/fuzz.sh" replay -m32
	else
		result skipped 1 "kept-32-bit: this machine's kernel runs no 32-bit programs"
	fi
	for fault in $("$lab_scripts/fuzz.sh" faults); do
		try "$fault" "$lab_scripts/fuzz.sh" fault "$fault"
	done
	TIME=40 try libFuzzer "$lab_scripts/fuzz.sh" run
}
