#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Gets the newest stock Debian kernel of a flavour and installs its headers;
# prints one line: RELEASE VMLINUZ HEADERSDIR.
#
# Usage: stock-kernel.sh 6.1|6.12|6.12-rt

. "$(dirname "$0")/lab.sh"

case ${1-} in
6.1)	release='6\.1\.0-[0-9]+-cloud-amd64' ;;
6.12)	release='6\.12\.[0-9]+\+deb12-cloud-amd64' ;;
6.12-rt) release='6\.12\.[0-9]+\+deb12-rt-amd64' ;;
*)	die "usage: stock-kernel.sh 6.1|6.12|6.12-rt" ;;
esac

# newest: the newest image package whose headers are in the archive as well;
# unsigned rather than signed
newest()
{
	comm -12 \
		<(archive_names "^linux-image-$release(-unsigned)?\$" |
			sed 's/^linux-image-//; s/-unsigned$//' | sort -u) \
		<(archive_names "^linux-headers-$release\$" |
			sed 's/^linux-headers-//' | sort -u) |
		sort -V | tail -n 1
}

fill_kernel()
{
	local image=linux-image-$found

	[ -z "$(archive_names "^${image//+/\\+}-unsigned\$")" ] || image+=-unsigned
	archive_extract "$image" "$1" './boot/vmlinuz-*' || return
	mv "$1"/vmlinuz-* "$1/vmlinuz"
}

get_kernel()
{
	found=$(newest)
	[ -n "$found" ] && once "$lab_cache/stock-$found" fill_kernel
}

with_lists get_kernel || die "found no stock $1 kernel with headers"
need "linux-headers-$found"
echo "$found $lab_cache/stock-$found/vmlinuz /usr/src/linux-headers-$found"
