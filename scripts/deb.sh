#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the Debian packages from a copy of the checkout, into build/.
#
# Usage: deb.sh

. "$(dirname "$0")/lab/lab.sh"

out=$lab_top/build
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$lab_top/dkms.conf")
logged=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$lab_top/debian/changelog")
[ "$version" = "$logged" ] ||
	die "dkms.conf has version $version, debian/changelog $logged:" \
		"begin an entry for $version there"

need build-essential debhelper dh-dkms dh-python fakeroot graphviz help2man python3 \
	python3-docutils python3-matplotlib python3-sphinx xz-utils
source=$(linux_source newest)
copy_sources "$lab_work/hwheel"
say "deb: building the packages"
(cd "$lab_work/hwheel" && KERNEL_SOURCE=$source quiet deb dpkg-buildpackage -us -uc \
	-Ppkg.hwheel.kernel-source)
mkdir -p "$out"
rm -f "$out"/hwheel*_*
mv "$lab_work"/hwheel*_* "$out"
ls "$out"/*.deb
