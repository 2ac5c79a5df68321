# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: load, debugfs, samples, unload on a kernel of this release of Debian in QEMU, 2 CPUs
# Takes: 60 s

. "$lab_scripts/suites/shared/stock.sh"

suite()	{ SESSIONS=20000 MAX_MS=3000 run_stock own; }
