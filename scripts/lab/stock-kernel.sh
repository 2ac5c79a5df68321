#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Gets the newest stock Debian kernel of a name, and its headers; prints one line:
# RELEASE VMLINUZ HEADERSDIR. The headers are installed on this machine if its own
# apt has them, or else in a chroot of the Debian that has; kbuild() in lab.sh
# builds modules by either.
#
# Usage: [FROM=release] stock-kernel.sh NAME
#	 NAME is a series of kernels, as 6.1 or 7.3; newest, from 7.0 on; or lts, the
#	 newest with support for years beside 6.1 and 6.12; and each with -rt behind it,
#	 for PREEMPT_RT. With FROM=bookworm, or another, it is one of that Debian.
#	 Status 2 says that there is none.

. "$(dirname "$0")/lab.sh"

[[ ${1-} =~ ^([0-9]+\.[0-9]+|newest|lts)(-rt)?$ ]] ||
	die "${1-}: no such kernel; a series, as 6.1 or 7.3; newest; or lts; and each with -rt"
found=$(stock_release "$1") || exit 2
read -r release suite <<<"$found"
vmlinuz=$(stock_vmlinuz "$release") || die "found no image of $release"
ROOT=
[ "$suite" = own ] || ROOT=$(builder "$suite")
need "linux-headers-$release" binutils make
echo "$release $vmlinuz $ROOT/usr/src/linux-headers-$release"
