#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Gets the newest stock Debian kernel of a name, and its headers. Prints one line:
# RELEASE VMLINUZ HEADERSDIR. It installs the headers on this machine if this machine's apt
# has them, else in a chroot of the release of Debian that has them. kbuild() in lab.sh
# builds modules with either.
#
# Usage: [FROM=release] stock-kernel.sh NAME
#	 NAME is a series, such as 6.1 or 7.3; newest (from 7.0 on); or lts (the newest
#	 longterm series after 6.12). NAME-rt is the same with PREEMPT_RT. FROM=bookworm,
#	 or another release of Debian, takes only that release's kernels. own is one that
#	 this machine's apt has, so its headers need no chroot: 6.12, newest or 6.1. The exit
#	 status is 2 if there is no such kernel.

. "$(dirname "$0")/lab.sh"

[[ ${1-} =~ ^(([0-9]+\.[0-9]+|newest|lts)(-rt)?|own)$ ]] ||
	die "${1-}: no such kernel. Give a series as 6.1, or newest, or lts; each may end with -rt; or own"
if [ "$1" = own ]; then
	lists 1440
	for name in 6.12 newest 6.1; do
		! found=$(FROM=own stock_release_get $name) || break
	done
	[ -n "$found" ] || { say "this machine's apt has no 6.12, newest or 6.1 kernel"; exit 2; }
else
	found=$(stock_release "$1") || exit 2
fi
read -r release suite <<<"$found"
vmlinuz=$(stock_vmlinuz "$release") || die "found no image of $release"
ROOT=
[ "$suite" = own ] || ROOT=$(builder "$suite")
need "linux-headers-$release" binutils make ${ROOT:+ccache}
echo "$release $vmlinuz $ROOT/usr/src/linux-headers-$release"
