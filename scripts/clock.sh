#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sets the clock of a guest back and forth while timers of CLOCK_REALTIME and CLOCK_TAI are
# pending: steps forward and back, by milliseconds and by a year, the offset of CLOCK_TAI,
# other speeds of the clock, and a leap second. An hrtimer is armed for the same instant as
# each timer. Prints a line for each check:
#	clock: NAME ok|FAILED
# The exit status is 0 if none failed.
#
# Usage: [KERNEL=name|uml] [CPUS=2] clock.sh
#	 A stock kernel runs in QEMU. User-mode Linux runs in simulated time.

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

flavour=${KERNEL:-6.12} cpus=${CPUS:-2}
log=$lab_work/log console=$lab_cache/log/clock-$flavour.log
# By how many ns a timer may fire before or after its hrtimer, the twin. In QEMU a busy host may
# hold up the timer or the twin. In simulated time nothing holds them up. But a kernel with one CPU
# tells nobody that the clock was set: hrtimers and hwheel learn this at the next jiffy, which
# is 10 ms in UML, or in their next interrupt.
before=500000000 after=500000000

build()
{
	build_modules clock-build "$headers" "$lab_work/build" "${arch[@]}" || return
	mkdir "$lab_work/module"
	cp "$lab_scripts/guest/clock-timers.c" "$lab_work/module"
	{ kbuild_probes; echo 'obj-m := clock-timers.o'; } >"$lab_work/module/Kbuild"
	quiet clock-module kbuild "$headers" M="$lab_work/module" "${arch[@]}" \
		KCFLAGS="-I$lab_work/build" \
		KBUILD_EXTRA_SYMBOLS="$lab_work/build/Module.symvers" modules &&
		gcc -O2 -Wall -static -o "$lab_work/set-clock" "$lab_scripts/guest/set-clock.c"
}

boot()
{
	local status=0

	TIMEOUT=200 "${boot[@]}" "$lab_scripts/guest/clock.sh" "$lab_work/build/hwheel.ko" \
		"$lab_work/module/clock-timers.ko" "$lab_work/set-clock" \
		>"$console" || status=$?
	guest_log "$console" >"$log"
	[ "$status" = 0 ] && grep -qx 'lab: unloaded' "$log"
}

# kept NAME: whether each timer of this wheel fired if and only if its twin fired, no timer
# was early, and none was far from its twin
kept()
{
	awk -v name="$1" -v before="$before" -v after="$after" '
	/^clock: wheel / && $3 == name {
		print
		ok = $5 > 0 && $7 > $5 / 2 && $9 == 0 && $11 == 0 && $13 < before && $15 < after
		if (name == "real-softirq")
			ok = ok && $17 > 0
		n++
	}
	END { exit !(n == 1 && ok) }' "$log"
}

need gcc make
case $flavour in
uml*)	kernel=$("$lab_scripts/lab/build-kernel.sh" "$flavour")
	read -r image headers <<<"$kernel"
	release=$flavour arch=(ARCH=um) before=12000000 after=12000000
	boot=(env APPEND=time-travel=inf-cpu "$lab_scripts/lab/boot-uml.sh" "$image") ;;
*)	kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
	read -r release image headers <<<"$kernel"
	arch=()
	boot=("$lab_scripts/lab/boot-qemu.sh" "$image" "$cpus" 512M) ;;
esac

say "clock: building the modules for $release"
verdict build build
say "clock: booting $release"
verdict boot boot
for name in real-softirq real-hardirq real-work tai-softirq tai-hardirq tai-work; do
	verdict "$name" kept $name
done
verdict dmesg clean
[ $failed = 0 ] || say "clock: the guest's console is in $console"
exit $failed
