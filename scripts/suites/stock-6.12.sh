# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: load, debugfs, sessions, unload on Debian's 6.12 in QEMU, 2 CPUs
# Takes: 30 s
# When: FULL=1

. "$lab_scripts/suites/shared/stock.sh"

suite()
{
	local bytes

	run_stock 6.12
	bytes=$(/usr/bin/python3 -B -c 'import runpy, sys
sys.path.insert(0, sys.argv[1])
print(runpy.run_path(sys.argv[1] + "/hwheel-plan")["memory_per_cpu"](()))' "$lab_top/tools")
	verdict "memory, as hwheel-plan has it" "$lab_work/demo" \
		grep -qx "demo: bytes of a wheel on a CPU, without levels: $bytes" "$lab_work/demo"
}
