#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a user-mode Linux kernel with a busybox userland, runs SCRIPT there
# beside FILES (in /hw) and powers off. The console is stdout; the exit status
# is 0 if SCRIPT's is. The guest's root is an initramfs: it has no way to the
# host's files.
#
# Usage: [TIMEOUT=seconds] [APPEND='kernel arguments'] \
#	 boot-uml.sh LINUX SCRIPT [FILES...]

. "$(dirname "$0")/lab.sh"

linux=$1
shift

guest_image "$lab_work/initrd.gz" "$@"
# The guest's memory is a sparse file in TMPDIR; /dev/shm is small in containers
memory=2200000
[ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt $memory ] &&
	TMPDIR=/dev/shm || TMPDIR=$lab_work
export TMPDIR

# shellcheck disable=SC2086 # kernel arguments are words
guest_run "$linux" mem=2G initrd="$lab_work/initrd.gz" uml_dir="$lab_work" \
	con=null con0=null,fd:1 panic=-1 loglevel=8 log_buf_len=4M ${APPEND-}
