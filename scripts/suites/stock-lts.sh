# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: load, debugfs, sessions, unload on the newest longterm kernel after 6.12
# Takes: 13 s
# When: FULL=1

. "$lab_scripts/suites/shared/stock.sh"

suite()
{
	if (stock_release lts); then
		run_stock lts
	else
		result skipped 1 "Debian has no headers of another longterm kernel"
	fi
}
