# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2016,SC2154
#
# Suite: Debian's packages: made, installed with DKMS, loaded, removed; packages for others: made
# Takes: 150 s
# When: FULL=1
#
# Installs the Debian packages in a chroot that has only their dependencies and the
# headers of some kernels. Then boots these kernels in QEMU and loads the modules.

suite()
{
	local name found releases=() root=$lab_work/debian release later tests

	command -v dpkg-query >/dev/null || {
		result skipped 1 "not a Debian machine"
		return
	}
	# The stock kernels of this release of Debian
	for name in 6.1 6.12 newest; do
		found=$(debian_stock $name) || continue
		releases+=("${found%% *}")
		stock_vmlinuz "${found%% *}"
	done
	[ ${#releases[@]} != 0 ]

	need binutils dpkg-dev lintian make rpm rpmlint xz-utils zstd
	copy_sources "$lab_work/source"
	cd "$lab_work/source" || return
	try "no dkms, said" refused "apt-get install dkms" \
		env PATH=/nowhere "$(command -v make)" SHELL=/bin/sh dkms
	sed -i '1s/(.*)/(0.0)/' debian/changelog
	try "versions differ, said" refused "begin an entry for" make deb
	cp "$lab_top/debian/changelog" debian/changelog
	try "make deb" make deb
	try lintian lintian --allow-root --pedantic --display-info \
		--fail-on error,warning,info,pedantic build/*.changes
	cp -r build "$lab_work/deb"
	try "make rpm" make rpm
	try rpmlint rpmlint --strict -c scripts/packages/rpmlint.toml build/*.rpm
	try "make arch" make arch
	try "the same sources in all packages" packages_same build
	make -s clean
	try "make clean" [ ! -e build ]

	if ! debian_may; then
		result skipped 1 "installing needs root that may mount filesystems"
		return
	fi
	later=$(debian_later "$(debian_codename)")
	debian_unpack "$root" "echo '$later' >>/etc/apt/sources.list && apt-get update &&
		apt-get install -y --no-install-recommends dkms libjs-sphinxdoc man-db python3 \
			${releases[*]/#/linux-headers-} &&
		for release in ${releases[*]}; do depmod \$release || exit 1; done"
	mkdir "$root/deb" "$root/driver"
	cp "$lab_work"/deb/*.deb "$root/deb"
	cp -r "$lab_top/debian/tests" "$root/deb"
	sed 's,"\.\./hwheel\.h","hwheel.h",' "$lab_top/samples/hwheel_hello.c" \
		>"$root/driver/hello.c"
	cat >"$root/driver/Kbuild" <<-'END'
	obj-m := hello.o
	ccflags-y := -I$(HWHEEL)
	KBUILD_EXTRA_SYMBOLS := $(HWHEEL)/Module.symvers
	END

	chroot_files "$root" >"$lab_work/before"
	try install chroot_run "$root" \
		"dpkg -i /deb/*.deb && dpkg --audit && ! dpkg --audit | grep ."
	try programs chroot_run "$root" 'ls /usr/bin/hwheel-* &&
		for program in /usr/bin/hwheel-*; do
			$program --help >/dev/null || exit 1
			ls /usr/share/man/man1/${program##*/}.1.gz || exit 1
		done'
	try "manual pages" chroot_run "$root" 'for page in 4/hwheel.4 9/hwheel_add.9; do
			ls /usr/share/man/man$page.gz || exit 1
		done'
	# Each parameter, as the example for modprobe.d has it
	chroot_run "$root" "sed 's/^#options/options/' \
		/usr/share/doc/hwheel-dkms/examples/hwheel-modprobe.conf >/etc/modprobe.d/hwheel.conf"
	for release in "${releases[@]}"; do
		try "$release: DKMS" chroot_run "$root" "
			dkms autoinstall -k $release
			cat /var/lib/dkms/hwheel/*/$release/*/log/make.log
			dkms status -k $release | grep '^hwheel/.*: installed\$' &&
			modinfo -k $release hwheel | grep 'vermagic: *$release ' &&
			ls /lib/modules/$release/updates/dkms | grep -vx 'hwheel\.ko.*' |
				wc -l | grep -x 0"
		try "$release: modprobe.d" chroot_run "$root" \
			"modprobe -S $release -nv hwheel"
		sed -n 's/^insmod [^ ]*//p' "$lab_work/out" >"$lab_work/parameters"
		try "$release: a driver" chroot_run "$root" "
			make -C /lib/modules/$release/build M=/driver clean modules \
				HWHEEL=/var/lib/dkms/hwheel/kernel-$release-x86_64 &&
			mv /driver/hello.ko /lib/modules/$release"
		try "$release: in QEMU" packages_boot "$root/lib/modules/$release" \
			"$lab_cache/stock-$release/vmlinuz"
		rm -f "$root/lib/modules/$release/hello.ko"
	done
	mapfile -t tests < <(sed -n 's/^Tests: //p' "$lab_top/debian/tests/control")
	for name in "${tests[@]}"; do
		try "autopkgtest: $name" chroot_run "$root" "/deb/tests/$name"
	done
	rm -rf "$root/driver" "$root/etc/modprobe.d/hwheel.conf" && mkdir "$root/driver"
	try purge chroot_run "$root" "dpkg --purge hwheel-dkms hwheel-doc hwheel-tools"
	try "nothing left" diff "$lab_work/before" <(chroot_files "$root")

	copy_sources "$root/driver/source"
	release=${releases[-1]}
	# Run make dkms twice, with a change in between. The second run must build the change.
	try "make dkms" chroot_run "$root" "
		cd /driver/source && make='make dkms KDIR=/lib/modules/$release/build' &&
		\$make && echo 'MODULE_INFO(again, \"yes\");' >>hwheel.c && \$make &&
		dkms status | grep '^hwheel/.*: installed\$' &&
		modinfo -k $release -F again hwheel | grep yes"
	try "make dkms-remove" chroot_run "$root" "make -C /driver/source dkms-remove"
	try "make dkms-remove leaves nothing" diff "$lab_work/before" <(chroot_files "$root")
	try "make install" chroot_run "$root" "make -C /driver/source install \
		KDIR=/lib/modules/$release/build && modprobe -S $release -nv hwheel_hello"
	try "make uninstall" chroot_run "$root" "make -C /driver/source uninstall \
		KDIR=/lib/modules/$release/build && ! modprobe -S $release -n hwheel"
	try "make uninstall leaves nothing" diff "$lab_work/before" <(chroot_files "$root")
}

# packages_same DIR: whether the packages of each distribution have the same files in /usr/src
packages_same()
{
	local file

	for file in "$1"/hwheel-dkms*.{deb,noarch.rpm,pkg.tar*}; do
		mkdir "$lab_work/${file##*/}" && case $file in
		*.deb)	dpkg-deb -x "$file" "$lab_work/${file##*/}" ;;
		*)	bsdtar -C "$lab_work/${file##*/}" -xf "$file" ;;
		esac || return
		(cd "$lab_work/${file##*/}/usr/src" && find . -type f -exec sha256sum {} + |
			sort | tee /dev/stderr | sha256sum)
	done >"$lab_work/sums"
	[ "$(wc -l <"$lab_work/sums")" = 3 ] && [ "$(uniq "$lab_work/sums" | wc -l)" = 1 ]
}

# packages_boot MODULES VMLINUZ: boots VMLINUZ, and loads the modules of the folder MODULES
# there. DKMS has compressed hwheel.ko as that kernel's own modules are compressed.
packages_boot()
{
	local status=0

	rm -f "$lab_work"/hwheel.ko*
	cp "$1"/updates/dkms/hwheel.ko* "$1/hello.ko" "$lab_work" || return
	module_plain "$lab_work"/hwheel.ko*
	# hwheel-drgn needs them
	readelf -SW "$lab_work/hwheel.ko" | grep -F .debug_info || return
	TIMEOUT=120 "$lab_scripts/lab/boot-qemu.sh" "$2" 2 512M \
		"$lab_scripts/guest/packages.sh" "$lab_work/hwheel.ko" \
		"$lab_work/hello.ko" "$lab_work/parameters" >"$lab_work/console" || status=$?

	guest_log "$lab_work/console" >"$lab_work/log"
	cat "$lab_work/log"
	[ $status = 0 ] && ! dmesg_dirty "$lab_work/log"
}

# chroot_files DIR: prints the names of all files, except temporary files, those of this suite,
# and those that dpkg and DKMS keep
chroot_files()
{
	(cd "$1" && find . \( -path ./proc -o -path ./dev -o -path ./deb \
		-o -path ./driver -o -path ./var/cache -o -path ./var/lib/dpkg \
		-o -path ./var/log -o -path './var/lib/dkms/mok.*' \
		-o -path ./tmp \) -prune -o -print | sort)
}
