#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots an x86 or arm64 kernel in QEMU with a busybox userland, runs SCRIPT there, with
# FILES in /hw, and powers off. The console is stdout. The exit status is 0 if SCRIPT's is.
#
# With BOARD=pc the guest can suspend. The default, q35, loses its ACPI registers when it
# suspends. With ICOUNT=n the guest's clock counts the guest's instructions, 2^n ns each.
# So the host's load has no influence. The clock jumps over the time in which the guest
# idles. With DUMP=FILE, boot-qemu.sh writes the guest's memory to FILE when the kernel has died.
# With THREAD=single all CPUs of the guest run in one thread.
# With INITRD=FILE the guest boots that initramfs, and takes all else from DISK. With REBOOT=1 the
# guest may boot again, and finds what it has written to the disk.
#
# Usage: [TIMEOUT=seconds] [APPEND='kernel arguments'] \
#	 [MACHINE=aarch64 BUSYBOX=file] [BOARD=pc] [CPU=model] [DISK=image] [ICOUNT=n] \
#	 [DUMP=file] [THREAD=single] boot-qemu.sh VMLINUZ CPUS MEMORY SCRIPT [FILES...]
#	 INITRD=file DISK=image [REBOOT=1] boot-qemu.sh VMLINUZ CPUS MEMORY

. "$(dirname "$0")/lab.sh"

vmlinuz=$1 cpus=$2 memory=$3
shift 3

# QEMU in Debian 12 has a bug: after an add and a cmpxchg16b, the flags may hold the
# add's operand. If an interrupt saves such flags, the kernel continues with wrong flags. For
# instance, it begins to single-step. The kernel's allocator works without cmpxchg16b, too.
case ${MACHINE:=x86_64} in
x86_64)	need qemu-system-x86; machine=(-M "${BOARD:-q35}" -cpu "${CPU:-max,cx16=off}") console=ttyS0
	# On a busy host the clocksource watchdog can mark the TSC as unstable. Then reading
	# the clock costs more. In Linux 7.x the watchdog also waits for another CPU. It
	# measures this wait with a clock that may stand still while the kernel boots. So the
	# watchdog was seen to wait for ever.
	machine_arguments=tsc=nowatchdog ;;
aarch64) need qemu-system-arm; machine=(-M virt -cpu cortex-a72) console=ttyAMA0
	machine_arguments= ;;
*)	die "MACHINE is x86_64 or aarch64" ;;
esac
initrd=${INITRD:-$lab_work/initrd.gz}
[ -n "${INITRD-}" ] || guest_image "$initrd" "$@"
# The console stays on during a suspend, so that it shows why a guest dies
arguments="no_console_suspend unknown_nmi_panic panic=-1 loglevel=5 log_buf_len=4M $machine_arguments"
thread=${THREAD:-multi}
[ -z "${ICOUNT-}" ] || thread=single
qemu=("qemu-system-$MACHINE" "${machine[@]}"
	-smp "$cpus" -m "$memory" -nodefaults -display none -serial stdio
	-monitor "unix:$lab_work/monitor,server=on,wait=off"
	-kernel "$vmlinuz" -initrd "$initrd"
	-append "console=$console $arguments ${APPEND-}")
[ -n "${REBOOT-}" ] || qemu+=(-no-reboot)
[ -z "${ICOUNT-}" ] || qemu+=(-icount "shift=$ICOUNT,sleep=off")
# Drop the guest's writes, so that the disk is the same each time
[ -z "${DISK-}" ] || qemu+=(-drive "if=virtio,format=raw,snapshot=on,file=$DISK")
# The device tells QEMU where the kernel is in the memory; the guest loads its driver, qemu_fw_cfg
if [ -n "${DUMP-}" ]; then
	qemu+=(-device vmcoreinfo)
	/usr/bin/python3 "$lab_scripts/lab/dump.py" "$lab_work/console" "$lab_work/monitor" "$DUMP" &
fi

# QEMU in Debian 12 has a bug with several CPUs: at times a kernel that patches its own code
# dies of a breakpoint ("Oops: int3"), mostly while it boots. Such a run says nothing about
# hwheel, and is repeated, on one thread, which has no such bug.
qemu_tripped()
{
	case $1 in
	2)	say "qemu: the guest died while it booted" ;;
	*)	[ "$1" = 1 ] && grep -q 'Oops: int3' "$lab_work/console" || return 1
		say "qemu: the guest met a breakpoint that nobody set" ;;
	esac
	echo "lab: that run does not count"
}

# If stdout is a file, it gets only the run that counts
if [ -f /dev/stdout ]; then
	run=$lab_work/run
else
	run=/dev/stdout
fi
for _ in 1 2 3; do
	status=0
	guest_run "${qemu[@]}" -accel "tcg,thread=$thread" >"$run" || status=$?
	qemu_tripped $status >>"$run" || break
	thread=single
	[ $status != 0 ] || status=1
done
[ "$run" = /dev/stdout ] || cat "$run"
exit $((status != 0))
