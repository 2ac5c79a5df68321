# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2016,SC2154
#
# Suite: Debian 13 with systemd: upgrade from the version before, boot, suspend, unload, purge
# Takes: 400 s
# When: ALL=1
#
# Installs the packages of hwheel's previous version in a Debian 13 as a user does it, with files
# in modules-load.d and modprobe.d, and boots it in QEMU. There guest/boot.sh upgrades to this
# version, reboots, and does the rest.
#
# With ALL=1 only, because the guest compiles hwheel.ko, and each step waits for systemd. The suite
# packages, with FULL=1, installs, configures and purges the same packages in a chroot, in less time.

suite()
{
	local found release root=$lab_work/root old new name status=0
	export DEBIAN=trixie

	if ! command -v dpkg-query >/dev/null || ! debian_may; then
		result skipped 1 "needs Debian, and root that may mount filesystems"
		return
	fi
	need dpkg-dev e2fsprogs git make
	new=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$lab_top/debian/changelog")
	old=$(sed -n 's/^hwheel (\(.*\)).*/\1/p' "$lab_top/debian/changelog" | sed -n 2p)
	copy_sources "$lab_work/new"
	try "$new: make deb" make -C "$lab_work/new" deb
	boot_previous "$old" "$lab_work/old"
	try "$old: make deb" make -C "$lab_work/old" deb

	found=$(debian_stock 6.12)
	read -r release _ <<<"$found"
	# What the packages depend on is there, since the guest has no network
	debian_unpack "$root" "apt-get install -y --no-install-recommends dbus dkms \
		initramfs-tools kmod libjs-sphinxdoc python3-rich systemd-sysv udev \
		linux-image-$release linux-headers-$release && rm -r /var/lib/apt/lists/*"
	boot_prepare
	try "$old: apt install" boot_install
	boot_disk "$lab_work/disk"
	say "$suite: booting $release"
	BOARD=pc DISK=$lab_work/disk INITRD=$root/boot/initrd.img-$release REBOOT=1 \
		TIMEOUT=${TIMEOUT:-2400} APPEND="root=/dev/vda rw fsck.mode=skip systemd.show_status=0" \
		"$lab_scripts/lab/boot-qemu.sh" "$root/boot/vmlinuz-$release" 2 1G \
		>"$lab_work/console" || status=$?
	cat "$lab_work/console"
	verdict "boots and ends" "$lab_work/console" [ $status = 0 ]
	while read -r name; do
		sed -n "/^lab: payload begins/h; /^lab: /!H; /^lab: $name /{H;x;p}; /^lab: /h" \
			"$lab_work/console" >"$lab_work/step"
		verdict "$name" "$lab_work/step" grep -qx "lab: $name ok" "$lab_work/step"
	done < <(sed -n 's/^\tstep "\([^"]*\)".*/\1/p' "$lab_scripts/guest/boot.sh")
	guest_log "$lab_work/console" >"$lab_work/log"
	try "kernel log" clean_log "$lab_work/log"
}

# boot_previous VERSION DIR: puts the last sources of that version into DIR. They are in git's
# history. A clone without history gets the sources of today, with the number of that version.
boot_previous()
{
	local git=(git -C "$lab_top") commit line="PACKAGE_VERSION=\"$1\"" file

	mkdir "$2"
	# The last commit that put that number into dkms.conf or took it away
	commit=$("${git[@]}" log -1 --format=%H -S "$line" -- dkms.conf) || :
	for commit in ${commit:+"$commit" "$commit^"}; do
		if "${git[@]}" show "$commit:dkms.conf" 2>/dev/null | grep -x "$line"; then
			say "$suite: $1 is $("${git[@]}" log -1 --format='%h: %s' "$commit")"
			"${git[@]}" archive "$commit" | tar -C "$2" -x
			return
		fi
	done
	result skipped 1 "$1 as it was: this clone has no history. Today's sources are called $1 instead"
	copy_sources "$2"
	for file in dkms.conf hwheel.h hwheel.c tools/hwheel_debugfs.py; do
		sed -i -E "s/^(PACKAGE_VERSION=\").*\"/\1$1\"/
			s/^(#define HWHEEL_MAJOR	).*/\1${1%.*}/; s/^(#define HWHEEL_MINOR	).*/\1${1#*.}/
			s/hwheel_version_[0-9]+_[0-9]+/hwheel_version_${1/./_}/
			s/^(HWHEEL = ').*'/\1$1'/" "$2/$file"
	done
	sed -i '1,/^ -- /d' "$2/debian/changelog"
	sed -i '1{/^$/d}' "$2/debian/changelog"
}

# boot_prepare: puts guest/boot.sh and what it needs into the root
boot_prepare()
{
	local units=$root/etc/systemd/system lab=$root/root/lab

	mkdir -p "$lab"/{packages,old,driver} "$units/multi-user.target.wants"
	printf 'old=%s\nnew=%s\n' "$old" "$new" >"$lab/versions"
	cp "$lab_work"/new/build/*.deb "$lab/packages"
	cp "$lab_work"/old/build/*.deb "$lab/old"
	cp "$lab_scripts/guest/boot-timers.c" "$lab/driver/boot_timers.c"
	cat >"$lab/driver/Kbuild" <<-'END'
	obj-m := boot_timers.o
	ccflags-y := -I$(HWHEEL)
	KBUILD_EXTRA_SYMBOLS := $(HWHEEL)/Module.symvers
	END
	# The names of all files, without those that a system makes that runs
	cat >"$lab/files" <<-'END'
	cd "$1" && find . -xdev \( -path ./root/lab -o -path ./dev -o -path ./proc -o -path ./run \
		-o -path ./sys -o -path ./tmp -o -path ./var/cache -o -path ./var/lib/dpkg \
		-o -path ./var/lib/apt -o -path ./var/lib/systemd -o -path ./var/log \
		-o -path ./var/tmp -o -path './var/lib/dkms/mok.*' -o -path ./lost+found \
		-o -path './*/.updated' \) -prune -o -print | sort
	END
	install -m 755 "$lab_scripts/guest/boot.sh" "$lab/boot"
	cat >"$units/lab.service" <<-'END'
	[Unit]
	After=multi-user.target
	[Service]
	ExecStart=/root/lab/boot
	TimeoutStartSec=infinity
	END
	ln -s ../lab.service "$units/multi-user.target.wants"
	# The real-time clock wakes the machine
	cat >"$lab/wake" <<-'END'
	#!/bin/sh
	[ "$1" != pre ] || echo +10 >/sys/class/rtc/rtc0/wakealarm
	END
	install -D -m 755 "$lab/wake" "$root/usr/lib/systemd/system-sleep/lab"
}

# boot_install: installs the old version in the root, as a user does it, and a driver
boot_install()
{
	local etc=$root/etc examples=$lab_top/samples/etc

	sh "$root/root/lab/files" "$root" >"$root/root/lab/before"
	chroot_run "$root" "cd /root/lab/old && apt-get install -y ./*.deb &&
		dkms autoinstall -k $release && dkms status -k $release | grep '^hwheel/$old,' &&
		make -C /lib/modules/$release/build M=/root/lab/driver \
			HWHEEL=/var/lib/dkms/hwheel/kernel-$release-x86_64 modules" || return
	cp "$examples/hwheel-load.conf" "$etc/modules-load.d/hwheel.conf" &&
		sed 's/^#options/options/' "$examples/hwheel-modprobe.conf" \
			>"$etc/modprobe.d/hwheel.conf"
}

# boot_disk FILE: makes a disk that has the root
boot_disk()
{
	truncate -s $(($(du -sm "$root" | cut -f 1) * 5 / 4 + 400))M "$1"
	quiet boot-disk mkfs.ext4 -q -O ^has_journal -d "$root" "$1"
}
