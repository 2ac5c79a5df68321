#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a user-mode Linux kernel with a busybox userland, runs SCRIPT there
# beside FILES (in /hw) and powers off. The console is stdout; the exit status
# is 0 if SCRIPT's is. The guest's root is an initramfs: it has no way to the
# host's files.
#
# Usage: [TIMEOUT=seconds] [CPUS=n] [APPEND='kernel arguments'] \
#	 boot-uml.sh LINUX SCRIPT [FILES...]
#	 CPUS is for kernels that are built for several.

. "$(dirname "$0")/lab.sh"

linux=$1
shift

guest_image "$lab_work/initrd.gz" "$@"
# The guest's memory is a sparse file in TMPDIR; /dev/shm is small in containers
memory=2200000
[ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt $memory ] &&
	TMPDIR=/dev/shm || TMPDIR=$lab_work
export TMPDIR

# UML gives the guest some memory more for each gap in its own, and those are random.
# A container may forbid what setarch does; then let them be.
fixed=(setarch -R)
"${fixed[@]}" true 2>/dev/null || fixed=()

# With several CPUs user space can't be traced, as ptrace wants the thread that began it
# shellcheck disable=SC2086 # kernel arguments are words
guest_run "${fixed[@]}" "$linux" mem=2G initrd="$lab_work/initrd.gz" uml_dir="$lab_work" \
	con=null con0=null,fd:1 panic=-1 loglevel=8 log_buf_len=4M \
	${CPUS:+ncpus=$CPUS seccomp=on} ${APPEND-}
