#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a user-mode Linux kernel with a busybox userland, runs SCRIPT there, with FILES in
# /hw, and powers off. The console is stdout. The exit status is 0 if SCRIPT's is. The
# guest's root is an initramfs, so the guest has no access to the host's files.
#
# Usage: [TIMEOUT=seconds] [CPUS=n] [DISK=file] [APPEND='kernel arguments'] \
#	 boot-uml.sh LINUX SCRIPT [FILES...]
#	 CPUS is for kernels that are built for several CPUs. DISK is /dev/ubda in the guest,
#	 which can only read it.

. "$(dirname "$0")/lab.sh"

linux=$1
shift

guest_image "$lab_work/initrd.gz" "$@"
# The guest's memory is a sparse file in TMPDIR; /dev/shm is small in containers
memory=2200000
[ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt $memory ] &&
	TMPDIR=/dev/shm || TMPDIR=$lab_work
export TMPDIR

# The size of the guest's memory depends on gaps in UML's address space, which are random.
# setarch makes them fixed. If a container forbids setarch, they stay random.
fixed=(setarch -R)
"${fixed[@]}" true 2>/dev/null || fixed=()

# With several CPUs use seccomp: ptrace works only from the thread that began it
# shellcheck disable=SC2086 # kernel arguments are words
guest_run "${fixed[@]}" "$linux" mem=2G initrd="$lab_work/initrd.gz" uml_dir="$lab_work" \
	con=null con0=null,fd:1 panic=-1 loglevel=8 log_buf_len=4M \
	${CPUS:+ncpus=$CPUS seccomp=on} ${DISK:+"ubd0r=$DISK"} ${APPEND-}
