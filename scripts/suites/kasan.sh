# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: torture on an SMP kernel with KASAN, lockdep, debugobjects, UBSAN in QEMU
# Takes: 300 s
# When: ALL=1

. "$lab_scripts/suites/shared/debug.sh"

suite()	{ run_debug x86-kasan; }
