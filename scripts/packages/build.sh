#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds a package of hwheel.ko for DKMS from a copy of the checkout, into build/. Debian has
# rpmbuild and makepkg, too, so it builds both on Debian.
#
# Usage: build.sh rpm|arch

. "$(dirname "$0")/../lab/lab.sh"

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$lab_top/dkms.conf")
maintainer=$(sed -n 's/^M:[[:blank:]]*//p' "$lab_top/MAINTAINERS" | head -n 1)
released=$(sed -n 's/^ -- .*>  //p' "$lab_top/debian/changelog" | head -n 1)
out=$lab_top/build

# recipe FILE: copies it, and fills in what differs from version to version
recipe()
{
	sed "s/@VERSION@/$version/g; s/@MAINTAINER@/$maintainer/
		s/@DATE@/$(date -u -d "$released" '+%a %b %d %Y')/" \
		"$lab_scripts/packages/$1" >"$lab_work/$1"
}

rpm_package()
{
	command -v rpmbuild >/dev/null || need rpm
	recipe hwheel-dkms.spec
	quiet rpm rpmbuild -ba --define "_topdir $lab_work/rpm" --define "_sourcedir $lab_work" \
		--define "packager $maintainer" --nodeps "$lab_work/hwheel-dkms.spec"
	packages=("$lab_work"/rpm/{RPMS/noarch,SRPMS}/*.rpm)
}

# makepkg does not run as root
arch_package()
{
	local as=()

	command -v makepkg >/dev/null ||
		need makepkg pacman-package-manager libarchive-tools fakeroot file
	recipe PKGBUILD
	mkdir -p "$lab_work/arch"
	mv "$lab_work/PKGBUILD" "$lab_work"/*.tar.gz "$lab_work/arch"
	if [ "$(id -u)" = 0 ]; then
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		chown -R 65534:65534 "$lab_work"
	fi
	(cd "$lab_work/arch" && quiet arch "${as[@]}" env HOME="$lab_work/arch" \
		makepkg --nodeps --force)
	packages=("$lab_work"/arch/*.pkg.tar*)
}

case ${1-} in
rpm|arch) ;;
*)	die "usage: build.sh rpm|arch" ;;
esac
command -v make >/dev/null || need make
copy_sources "$lab_work/hwheel-$version"
tar -C "$lab_work" -czf "$lab_work/hwheel-$version.tar.gz" "hwheel-$version"
say "$1: building the package"
"$1_package"
mkdir -p "$out"
cp "${packages[@]}" "$out"
printf '%s\n' "${packages[@]/#*\//$out/}"
