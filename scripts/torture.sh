#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs hwheel_torture.ko while CPUs go offline and come back and a task reads debugfs. The
# kernel is one of
#	a stock Debian kernel, in QEMU
#	an x86 kernel of lab/kernels/, in QEMU
#	a UML kernel of lab/kernels/, at native speed; there, CPUs stay online
# Prints the test's last line. The exit status is 0 if that line says SUCCESS, each kind of
# event has happened, the modules could be removed and the kernel log is clean.
#
# BROKEN=name plants a fault of tests/faults/ in a copy of the sources. Then the exit
# status is 0 if the test says FAILURE. For data_race it is 0 if KCSAN reports the race.
#
# Usage: [KERNEL=name|uml-smp|x86-kasan|...] [CPUS=2] \
#	 [TIME=seconds] [BROKEN=name] [ONOFF=seconds] [SYSFS=seconds] \
#	 [SUSPEND=seconds] [UNLOAD=seconds] [SEED=n] \
#	 [HWHEEL='hwheel parameters'] [TORTURE='hwheel_torture parameters'] \
#	 torture.sh
#	 [VMLINUZ=file HEADERS=folder] torture.sh: on a kernel that you built

. "$(dirname "$0")/lab/lab.sh"

flavour=${KERNEL:-6.12}
cpus=${CPUS:-2}
time=${TIME:-60}
broken=${BROKEN:-}
# Seconds between two CPU hotplugs by hwheel_torture (onoff), or by the guest (sysfs)
onoff=${ONOFF-2} sysfs=${SYSFS-0}
[ "${flavour#uml}" = "$flavour" ] || onoff=0 sysfs=0
# How many seconds the machine sleeps each time, after 2 seconds awake; 0: it does not
# sleep. A busy host needs a second to suspend the machine, and the alarm must come after
# that. Set ONOFF=0, too: CPUs that the module has taken offline would not come
# back.
suspend=${SUSPEND-0}
# If not 0, the guest removes the module after this many seconds, during the test
unload=${UNLOAD-0}
[ "$unload" = 0 ] || time=$unload
name=torture-$flavour-$cpus${broken:+-$broken}
console=$lab_work/console log=$lab_work/log failed=0 arch=()

need gcc make
if [ -n "${VMLINUZ-}" ]; then
	kernel="$flavour $VMLINUZ ${HEADERS-}"
elif [[ $flavour = @(uml|x86)* ]]; then
	kernel=$("$lab_scripts/lab/build-kernel.sh" "$flavour")
	kernel="$flavour $kernel"
else
	kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
fi
read -r release vmlinuz headers <<<"$kernel"
case $flavour in
uml*)	arch=(ARCH=um) boot=(env CPUS="$cpus" "$lab_scripts/lab/boot-uml.sh" "$vmlinuz") ;;
*)	boot=("$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" "$cpus" "${MEMORY:-1G}") ;;
esac

say "torture: building the modules for $release"
plant=$broken build_modules "$name-build" "$headers" "$lab_work/build" "${arch[@]}"

say "torture: booting $release with $cpus CPUs, then $time s${broken:+ of $broken}"
{
	echo "hwheel='${HWHEEL-}'"
	echo "torture='seconds=$((unload ? 0 : time)) onoff=$onoff seed=${SEED:-0} ${TORTURE-}'"
	echo "sysfs=$sysfs suspend=$suspend unload=$unload"
	cat "$lab_scripts/guest/torture.sh"
} >"$lab_work/payload"
[ "$suspend" = 0 ] || export BOARD=pc
# At the end, timers that are due may need some time to fire
TIMEOUT=${TIMEOUT:-$((180 + time * (3 + suspend) / 2))} \
	"${boot[@]}" "$lab_work/payload" "$lab_work"/build/hwheel.ko \
	"$lab_work"/build/hwheel_torture.ko >"$console" || failed=1

guest_log "$console" >"$log"
cp "$console" "$lab_cache/log/$name.log"

# happened NAME: whether the test's last line counts at least one NAME
happened()
{
	grep -q "^hwheel-torture: End of test: SUCCESS.* $1 [1-9]" "$log" ||
		{ say "torture: $1: none"; failed=1; }
}

if [ "$broken" = data_race ]; then
	dmesg_dirty "$log" | grep 'BUG: KCSAN: data-race in .*hwheel_race \[hwheel\]' ||
		failed=1
elif [ -n "$broken" ]; then
	# After the FAILURE the guest may hang or crash
	grep -q '^hwheel-torture: End of test: FAILURE' "$log" && failed=0 || failed=1
else
	grep -q '^hwheel-torture: End of test: SUCCESS' "$log" || failed=1
	# Each of these must have happened at least once
	for what in events fired cancelled replaced waited ordered task softirq hardirq \
		    balanced cascaded worked; do
		happened $what
	done
	[ "$cpus" = 1 ] || [ "$onoff$sysfs" = 00 ] || happened hotplugs
	grep -q '^lab: unloaded$' "$log" || failed=1
	! grep '^lab: hwheel was removed' "$log" || failed=1
	[ "$suspend" = 0 ] ||
		[ "$(grep -c '^PM: suspend exit' "$log")" -ge 3 ] || failed=1
	! dmesg_dirty "$log" || failed=1
fi
if [ $failed != 0 ]; then
	grep -m 1 -A 30 '^Kernel panic' "$log" >&2 || tail -n 15 "$log" >&2
	say "torture: the guest's console is in $lab_cache/log/$name.log"
fi
grep '^hwheel-torture: End of test:' "$log" || echo "hwheel-torture: no End of test"
exit $failed
