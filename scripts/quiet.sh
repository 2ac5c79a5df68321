#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a stock kernel in QEMU with an isolated CPU, and counts the interrupts of that CPU
# while wheels are created and destroyed, while timers that were armed on it expire, while
# debugfs is read, and while another CPU goes offline. Also counts how often timers of several
# kinds wake an idle CPU. Prints a line for each check:
#	quiet: NAME ok|FAILED
# The exit status is 0 if none failed.
#
# Usage: [KERNEL=name] quiet.sh

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

flavour=${KERNEL:-6.12}
log=$lab_work/log console=$lab_work/console

build()
{
	build_modules quiet-build "$headers" "$lab_work/build" || return
	mkdir "$lab_work/module"
	cp "$lab_scripts/guest/quiet-timers.c" "$lab_work/module"
	{ kbuild_probes; echo 'obj-m := quiet-timers.o'; } >"$lab_work/module/Kbuild"
	quiet quiet-module kbuild "$headers" M="$lab_work/module" \
		KCFLAGS="-I$lab_work/build" \
		KBUILD_EXTRA_SYMBOLS="$lab_work/build/Module.symvers" modules
}

boot()
{
	local status=0

	APPEND='isolcpus=2 nohz_full=2 tsc=nowatchdog' TIMEOUT=300 \
		"$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 3 512M "$lab_scripts/guest/quiet.sh" \
		"$lab_work/build/hwheel.ko" "$lab_work/module/quiet-timers.ko" >"$console" ||
		status=$?
	guest_log "$console" >"$log"
	[ "$status" = 0 ] && logged unloaded
}

# phase NAME: prints what the guest counted in this phase: the total, then the rows
phase()
{
	sed -n "s/^lab: phase $1 cpu [0-9]* interrupts: //p" "$log" | grep .
}

# no_interrupts PHASE...: whether none of the phases had an interrupt in any round
no_interrupts()
{
	local name

	for name; do
		[ "$(phase "$name" | sort -u)" = 0 ] || { echo "$name: $(phase "$name")"; return 1; }
	done
}

# timers KIND CPU RESULT: whether the timers of this kind that were armed on CPU ended so in
# each round
timers()
{
	local all="^quiet: timers of $1: armed 1000 on CPU $2,"

	grep -q "$all" "$log" && ! grep "$all" "$log" | grep -v "$all $3, early 0,"
}

# on_housekeepers: whether all timers that the isolated CPU armed expired on other CPUs, and
# nothing else interrupted it when it armed them
on_housekeepers()
{
	timers hwheel 2 'fired 950, there 0, cancelled 50' && logged armed_at_once &&
		no_interrupts isolated-expired isolated-cancelled
}

# offline: whether the timers of a CPU that went offline expired elsewhere, but not on the isolated
# CPU, which took that CPU down
offline()
{
	timers hwheel 1 'fired 950, there 0, cancelled 50' && no_interrupts offline
}

# count PHASE: prints how many timer interrupts the phase had, in the first round
count()
{
	phase "$1" | head -n 1 | grep -o 'LOC:+[0-9]*' | cut -d + -f 2 || echo 0
}

# pinned: whether pinned timers interrupted the isolated CPU. This shows that the guest counts
# interrupts at all. On a busy host one interrupt finds several timers due.
pinned()
{
	timers pinned 2 'fired 950, there 950, cancelled 50' && [ "$(count pinned-expired)" -gt 100 ]
}

# deferrable: whether deferrable timers ran when the CPU was busy, and did not wake it while it was
# idle, neither by timer interrupts nor from other CPUs. Other timers of hwheel must wake it
deferrable()
{
	timers deferrable 1 'fired 950, there 950, cancelled 50' && logged left_asleep &&
		[ "$(count idle-softirq-expired)" -gt $(($(count idle-nothing) + 50)) ]
}

need gcc make
kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
read -r release vmlinuz headers <<<"$kernel"

say "quiet: building the modules for $release"
verdict build build
say "quiet: booting $release with an isolated CPU"
verdict boot boot
sed -n 's/^lab: phase/phase/p; /^quiet: timers/p' "$log"
verdict nothing no_interrupts nothing
verdict created no_interrupts created
verdict expired on_housekeepers
verdict read no_interrupts read-expired read
verdict destroyed no_interrupts destroyed
verdict offline offline
verdict pinned pinned
verdict deferrable deferrable
verdict dmesg clean
keep_console "quiet-$flavour"
exit $failed
