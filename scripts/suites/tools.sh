# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the output of hwheel-plan, hwheel-top, hwheel-record.sh and hwheel-report
# Takes: 20 s

suite()
{
	local class

	need python3 python3-rich busybox-static dash
	for class in Plan Shared Top Keys Report; do
		try $class /usr/bin/python3 "$lab_top/tools/test-tools.py" $class
	done
}
