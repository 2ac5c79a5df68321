#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs hwheel_torture.ko with CPUs that go and come and readers of debugfs: in QEMU,
# on a stock Debian kernel or on an x86 one of build-kernel.sh's; or on a UML kernel
# of build-kernel.sh's, at native speed, where CPUs stay. Shows the test's last line,
# and ends with status 0 if that says SUCCESS, the modules could be removed and the
# kernel log is clean.
#
# With BROKEN=name hwheel.ko is built with faults to choose from (see
# hwheel_broken() in hwheel_levels.h) and loaded with that one; then all is well
# if the test says FAILURE, or, for data_race, if KCSAN reports it.
#
# Usage: [KERNEL=name|uml-smp|x86-kasan|...] [CPUS=2] \
#	 [TIME=seconds] [BROKEN=name] [ONOFF=seconds] [SYSFS=seconds] \
#	 [SUSPEND=seconds] [UNLOAD=seconds] [SEED=n] \
#	 [HWHEEL='hwheel parameters'] [TORTURE='hwheel_torture parameters'] \
#	 torture.sh
#	 [VMLINUZ=file HEADERS=folder] torture.sh: a kernel that was built here

. "$(dirname "$0")/lab/lab.sh"

flavour=${KERNEL:-6.12}
cpus=${CPUS:-2}
time=${TIME:-60}
broken=${BROKEN:-}
# CPUs go and come by the module, or by sysfs
onoff=${ONOFF-2} sysfs=${SYSFS-0}
[ "${flavour#uml}" = "$flavour" ] || onoff=0 sysfs=0
# How long the machine sleeps at a time, after 2 seconds awake; 0 for not at all. A
# busy host takes a second to get there, and then the alarm must not have passed.
# CPUs that the module has taken off line would stay away, so ONOFF=0 with it.
suspend=${SUSPEND-0}
# The test does not end by itself, but after so long when its module is removed
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
build_modules "$name-build" "$headers" "$lab_work/build" "${arch[@]}" \
	${broken:+KCFLAGS=-DHWHEEL_BROKEN}

say "torture: booting $release with $cpus CPUs, then $time s${broken:+ of $broken}"
{
	echo "hwheel='${HWHEEL-} ${broken:+broken=$broken}'"
	echo "torture='seconds=$((unload ? 0 : time)) onoff=$onoff seed=${SEED:-0} ${TORTURE-}'"
	echo "sysfs=$sysfs suspend=$suspend unload=$unload"
	cat "$lab_scripts/guest/torture.sh"
} >"$lab_work/payload"
[ "$suspend" = 0 ] || export BOARD=pc
# While the guest stops, timers that are due may need some time to fire
TIMEOUT=${TIMEOUT:-$((180 + time * (3 + suspend) / 2))} \
	"${boot[@]}" "$lab_work/payload" "$lab_work"/build/hwheel.ko \
	"$lab_work"/build/hwheel_torture.ko >"$console" || failed=1

guest_log "$console" >"$log"
cp "$console" "$lab_cache/log/$name.log"

# happened NAME: it did, as the test's last line says
happened()
{
	grep -q "^hwheel-torture: End of test: SUCCESS.* $1 [1-9]" "$log" ||
		{ say "torture: $1: none"; failed=1; }
}

if [ "$broken" = data_race ]; then
	dmesg_dirty "$log" | grep 'BUG: KCSAN: data-race in.*hwheel_run.*\[hwheel\]' ||
		failed=1
elif [ -n "$broken" ]; then
	# It may have hung afterwards, or crashed; who cares
	grep -q '^hwheel-torture: End of test: FAILURE' "$log" && failed=0 || failed=1
else
	grep -q '^hwheel-torture: End of test: SUCCESS' "$log" || failed=1
	# A test in which nothing happens finds nothing
	for what in events fired cancelled replaced waited ordered task softirq hardirq \
		    balanced cascaded; do
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
	tail -n 15 "$log" >&2
	say "torture: the guest's console is in $lab_cache/log/$name.log"
fi
grep '^hwheel-torture: End of test:' "$log" || echo "hwheel-torture: no End of test"
exit $failed
