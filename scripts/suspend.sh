#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Suspends a stock kernel in QEMU (ACPI S3; its real-time clock wakes it) while timers
# are pending on each CPU. Their wheels are of CLOCK_BOOTTIME, which counts the time
# asleep, and of CLOCK_MONOTONIC, which does not. Prints a line for each check:
#	suspend: NAME ok|FAILED
# The exit status is 0 if none failed.
#
# Usage: [KERNEL=name] [CPUS=2] suspend.sh

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

flavour=${KERNEL:-6.12} cpus=${CPUS:-2}
log=$lab_work/log console=$lab_cache/log/suspend-$flavour.log
# Seconds of sleep. Then two lists of delays in ms: of timers that are armed before the sleep,
# and of timers that are armed after it
asleep=10 before=4000,14000 after=0,1000
# Seconds after the sleep until the last timer of CLOCK_BOOTTIME has fired, even on a slow machine
awake=8

build()
{
	build_modules suspend-build "$headers" "$lab_work/build" || return
	mkdir "$lab_work/module"
	cp "$lab_scripts/guest/suspend-timers.c" "$lab_work/module"
	echo 'obj-m := suspend-timers.o' >"$lab_work/module/Kbuild"
	quiet suspend-module kbuild "$headers" M="$lab_work/module" \
		KCFLAGS="-I$lab_work/build" \
		KBUILD_EXTRA_SYMBOLS="$lab_work/build/Module.symvers" modules
}

boot()
{
	local status=0

	{
		echo "before=$before after=$after asleep=$asleep awake=$awake"
		cat "$lab_scripts/guest/suspend.sh"
	} >"$lab_work/payload"
	BOARD=pc TIMEOUT=200 "$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" "$cpus" 512M \
		"$lab_work/payload" "$lab_work/build/hwheel.ko" \
		"$lab_work/module/suspend-timers.ko" >"$console" || status=$?
	guest_log "$console" >"$log"
	[ "$status" = 0 ] && grep -qx 'lab: unloaded' "$log"
}

# slept: whether the machine slept, with all CPUs but one offline. CLOCK_BOOTTIME must
# agree with the real-time clock. CLOCK_MONOTONIC must have stood still most of the time.
slept()
{
	[ "$(grep -c '^smpboot: CPU [0-9]* is now offline' "$log")" = $((cpus - 1)) ] || return
	awk -v wanted="$asleep" '
	/^lab: sleeps at/ { rtc -= $4 }
	/^lab: wakes at/ { rtc += $4 }
	/^suspend: sleep / { mono -= $3 / 1e9; boot -= $4 / 1e9 }
	/^suspend: awake / { mono += $3 / 1e9; boot += $4 / 1e9 }
	END {
		printf "suspend: asleep for %.1f of %.1f s, %d s by the real-time clock\n",
		       boot - mono, boot, rtc
		exit !(boot - mono > wanted / 2 && boot - rtc < 3 && rtc - boot < 3)
	}' "$log"
}

# kept CLOCK WHEN: whether each timer of this clock, armed before or after the sleep,
# fired once, or is pending because its time has not come. It must not be early.
# It may be up to 2 s late, because the host may be busy. The lateness of a timer that
# expired during the sleep counts from the resume. Only the sleep may move a timer to
# another CPU.
kept()
{
	awk -v clock="$1" -v when="$2" -v cpus="$cpus" \
	    -v delays="$(tr -cd , <<<"${!2}" | wc -c)" '
	BEGIN { boot = clock == "boottime" }
	/^suspend: awake / { awake = boot ? $4 : $3 }
	/^suspend: end / { end = boot ? $4 : $3 }
	$2 == "timer" && index($3, clock "-") == 1 && $4 == when {
		due = (boot ? $13 : $12) + $5 * 1e6
		fired = boot ? $16 : $15
		n++
		if (due > end && $10 == 0) {
			pending++
			next
		}
		late = (fired - (due < awake && when == "before" ? awake : due)) / 1e6
		if (late > max)
			max = late
		if ($10 != 1 || fired < due || late > 2000 || when == "after" && $7 != $8) {
			print
			bad = 1
		}
	}
	END {
		printf "suspend: %s %s: %d timers, %d still pending, at most %.1f ms late\n",
		       clock, when, n, pending, max
		# The longest delay of CLOCK_MONOTONIC is still pending on each CPU, in each context
		exit bad || n != 3 * cpus * (delays + 1) ||
		     pending != (!boot && when == "before" ? 3 * cpus : 0)
	}' "$log"
}

need gcc make
kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
read -r release vmlinuz headers <<<"$kernel"

say "suspend: building the modules for $release"
verdict build build
say "suspend: booting $release, to sleep for $asleep s"
verdict boot boot
verdict slept slept
for clock in boottime monotonic; do
	for when in before after; do
		verdict "$clock $when" kept $clock $when
	done
done
verdict dmesg clean
[ $failed = 0 ] || say "suspend: the guest's console is in $console"
exit $failed
