#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots an x86 or arm64 kernel in QEMU with a busybox userland, runs SCRIPT there beside
# FILES (in /hw) and powers off. The console is stdout; the exit status is 0 if
# SCRIPT's is.
#
# With BOARD=pc it can sleep: q35 wakes without its ACPI registers. With ICOUNT=n
# the guest's time is the number of its instructions, in units of 2^n ns, whatever
# else the host does meanwhile; and time in which it idles takes none.
#
# Usage: [TIMEOUT=seconds] [APPEND='kernel arguments'] \
#	 [MACHINE=aarch64 BUSYBOX=file] [BOARD=pc] [DISK=image] [ICOUNT=n] \
#	 boot-qemu.sh VMLINUZ CPUS MEMORY SCRIPT [FILES...]

. "$(dirname "$0")/lab.sh"

vmlinuz=$1 cpus=$2 memory=$3
shift 3

# The QEMU of Debian 12 can leave the operand of an add as the flags after a
# cmpxchg16b that follows it. If an interrupt saves those, the kernel goes on with
# whatever they mean, such as single steps. Its allocator can do without.
case ${MACHINE:=x86_64} in
x86_64)	need qemu-system-x86; machine=(-M "${BOARD:-q35}" -cpu "max,cx16=off") console=ttyS0 ;;
aarch64) need qemu-system-arm; machine=(-M virt -cpu cortex-a72) console=ttyAMA0 ;;
*)	die "MACHINE is x86_64 or aarch64" ;;
esac
guest_image "$lab_work/initrd.gz" "$@"
# The console stays on while the guest suspends: what it dies of then is to be seen
arguments="no_console_suspend panic=-1 loglevel=5 log_buf_len=4M"
thread=multi
[ -z "${ICOUNT-}" ] || thread=single
qemu=("qemu-system-$MACHINE" "${machine[@]}" -accel "tcg,thread=$thread"
	-smp "$cpus" -m "$memory" -nodefaults -display none -serial stdio
	-no-reboot -kernel "$vmlinuz" -initrd "$lab_work/initrd.gz"
	-append "console=$console $arguments ${APPEND-}")
[ -z "${ICOUNT-}" ] || qemu+=(-icount "shift=$ICOUNT,sleep=off")
# As it is each time, whatever the guest writes to it
[ -z "${DISK-}" ] || qemu+=(-drive "if=virtio,format=raw,snapshot=on,file=$DISK")

# Now and then the QEMU of Debian 12 trips over itself when it simulates several
# CPUs: a kernel that patches its own code dies of a breakpoint ("Oops: int3"),
# mostly while it boots. Nothing of ours sets breakpoints, so such a run is no test
# of it.
qemu_tripped()
{
	case $1 in
	2)	say "qemu: the guest died while it booted" ;;
	*)	[ "$1" = 1 ] && grep -q 'Oops: int3' "$lab_work/console" || return 1
		say "qemu: the guest met a breakpoint that nobody set" ;;
	esac
	echo "lab: that run does not count"
}

# Into a file goes only the run that counts
if [ -f /dev/stdout ]; then
	run=$lab_work/run
else
	run=/dev/stdout
fi
for _ in 1 2 3; do
	status=0
	guest_run "${qemu[@]}" >"$run" || status=$?
	qemu_tripped $status >>"$run" || break
	[ $status != 0 ] || status=1
done
[ "$run" = /dev/stdout ] || cat "$run"
exit $((status != 0))
