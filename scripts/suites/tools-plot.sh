# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: hwheel-plot; broken files, full disks and signals, for all tools
# Takes: 20 s
# When: FULL=1
#
# In a plain run of "make check" on a new machine, installing matplotlib alone would take a tenth
# of the time.

suite()
{
	local class

	need python3 python3-rich python3-matplotlib busybox-static
	for class in Plot Strangers Ends Fuzz; do
		try $class /usr/bin/python3 "$lab_top/tools/test-tools.py" $class
	done
}
