# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the output of hwheel-plan, hwheel-top, hwheel-plot and hwheel-record.sh
# Takes: 30 s

suite()
{
	local class

	need python3 python3-rich python3-matplotlib busybox-static
	for class in Plan Shared Top Keys Plot Strangers Ends Fuzz; do
		try $class /usr/bin/python3 "$lab_top/tools/test-tools.py" $class
	done
}
