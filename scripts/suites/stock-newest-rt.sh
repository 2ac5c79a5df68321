# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: load, debugfs, sessions, unload on Debian's newest PREEMPT_RT in QEMU, 2 CPUs
# Takes: 60 s
# When: FULL=1

. "$lab_scripts/suites/shared/stock.sh"

suite()	{ run_stock newest-rt; }
