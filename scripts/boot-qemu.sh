#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots an x86 or arm64 kernel in QEMU with a busybox userland, runs SCRIPT there beside
# FILES (in /hw) and powers off. The console is stdout; the exit status is 0 if
# SCRIPT's is.
#
# With BOARD=pc it can sleep: q35 wakes without its ACPI registers.
#
# Usage: [TIMEOUT=seconds] [APPEND='kernel arguments'] \
#	 [MACHINE=aarch64 BUSYBOX=file] [BOARD=pc] [DISK=image] \
#	 boot-qemu.sh VMLINUZ CPUS MEMORY SCRIPT [FILES...]

. "$(dirname "$0")/lab.sh"

vmlinuz=$1 cpus=$2 memory=$3
shift 3

case ${MACHINE:=x86_64} in
x86_64)	need qemu-system-x86; machine=(-M "${BOARD:-q35}" -cpu max) console=ttyS0 ;;
aarch64) need qemu-system-arm; machine=(-M virt -cpu cortex-a72) console=ttyAMA0 ;;
*)	die "MACHINE is x86_64 or aarch64" ;;
esac
guest_image "$lab_work/initrd.gz" "$@"
qemu=("qemu-system-$MACHINE" "${machine[@]}" -accel "tcg,thread=multi"
	-smp "$cpus" -m "$memory" -nodefaults -display none -serial stdio
	-no-reboot -kernel "$vmlinuz" -initrd "$lab_work/initrd.gz"
	-append "console=$console panic=-1 loglevel=5 log_buf_len=4M ${APPEND-}")
# As it is each time, whatever the guest writes to it
[ -z "${DISK-}" ] || qemu+=(-drive "if=virtio,format=raw,snapshot=on,file=$DISK")

# With two simulated CPUs, the QEMU of Debian 12 now and then trips over a
# kernel that patches its own code ("Oops: int3"), mostly while it boots.
# Nothing of ours has breakpoints, so such a run is no test of it.
for _ in 1 2 3; do
	status=0
	guest_run "${qemu[@]}" || status=$?
	case $status in
	2)	say "qemu: the guest died while it booted" ;;
	1)	grep -q 'Oops: int3' "$lab_work/console" || exit 1
		say "qemu: the guest met a breakpoint that nobody set" ;;
	*)	exit $status ;;
	esac
done
exit 1
