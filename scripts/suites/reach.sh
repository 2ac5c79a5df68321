# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: builds by gcc and clang, for i386 and arm64; messages when something is missing
# Takes: 190 s
# When: FULL=1
#
# Builds with other compilers and for other architectures, and checks the messages on a
# machine that lacks something.

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	need gcc make
	reach_errors
	reach_compilers
	reach_i386
	reach_arm64
}

# Each mistake makes one line that says what to do
reach_errors()
{
	local fake=$lab_work/fake make=(make -C "$lab_work/errors") command

	copy_sources "$lab_work/errors"
	mkdir -p "$fake"/{bin,all,old/include/{config,linux},sys/kernel/security}
	touch "$fake/old/Makefile" "$fake/old/include/linux/hrtimer.h"

	try "no headers" refused "install linux-headers-" "${make[@]}" KDIR=/nowhere
	try "not configured" refused "modules_prepare" "${make[@]}" KDIR="$fake/old"
	echo 5.10.0-1-amd64 >"$fake/old/include/config/kernel.release"
	try "old kernel" refused "needs 6.1 or later" "${make[@]}" KDIR="$fake/old"
	printf '%s\n' '#define LINUX_VERSION_CODE 330240' \
		'#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))' \
		>"$fake/old/include/linux/version.h"
	try "old kernel, kbuild alone" refused "needs Linux 6.1 or later" \
		gcc -fsyntax-only -nostdinc -I "$fake/old/include" \
		"$lab_work/errors/module/compat.h"
	reach_vendor "$fake/vendor"
	reach_options "$fake/new"
	echo 6.1.0-1-amd64 >"$fake/old/include/config/kernel.release"
	try "no compiler" refused "install gcc" \
		"${make[@]}" KDIR="$fake/old" CC=/nowhere/gcc
	printf '#!/bin/sh\necho 4.9.2\n' >"$fake/bin/old-gcc"
	chmod +x "$fake/bin/old-gcc"
	try "old compiler" refused "install a newer one" \
		"${make[@]}" KDIR="$fake/old" CC="$fake/bin/old-gcc"

	echo '[none] integrity confidentiality' >"$fake/sys/kernel/security/lockdown"
	try "Secure Boot is off" says 0 mokutil env SYS="$fake/sys" "$lab_scripts/preflight.sh" load
	echo 'none [integrity] confidentiality' >"$fake/sys/kernel/security/lockdown"
	try "Secure Boot is on" says 1 mokutil env SYS="$fake/sys" "$lab_scripts/preflight.sh" load

	# A machine without QEMU whose user is not root, and machines that are no Debian
	printf '#!/bin/sh\nexit 1\n' >"$fake/bin/dpkg-query"
	printf '#!/bin/sh\necho 1000\n' >"$fake/bin/id"
	chmod +x "$fake/bin"/*
	try "no QEMU, not root" refused "please install qemu-system-x86" \
		env PATH="$fake/bin:$PATH" "$lab_scripts/lab/boot-qemu.sh" vmlinuz 1 1G script
	printf '#!/bin/sh\necho 0\n' >"$fake/bin/id"
	for command in /bin/* /usr/bin/*; do
		ln -sf "$command" "$fake/all"
	done
	rm "$fake"/all/apt-*
	try "no QEMU, no apt" refused "needs Debian 12, 13 or testing" \
		env PATH="$fake/bin:$fake/all" "$lab_scripts/lab/boot-qemu.sh" vmlinuz 1 1G script
	echo 'ID=ubuntu VERSION_ID=24.04 PRETTY_NAME="Ubuntu 24.04 LTS"' >"$fake/os-release"
	try "Ubuntu" foreign "$fake/bin:$PATH"
	try "Ubuntu with all packages" foreign "$PATH"
}

# reach_options TREE: what preflight.sh says of kernels that lack an option, or are new. TREE gets
# the configuration of such a kernel.
reach_options()
{
	local config=$1/include/config
	local options=("$lab_scripts/preflight.sh" options "$1")

	mkdir -p "$config"
	echo 7.3.1-1-amd64 >"$config/kernel.release"
	printf 'CONFIG_%s=y\n' IRQ_WORK HIGH_RES_TIMERS DEBUG_FS MODULE_UNLOAD >"$config/auto.conf"
	try "options: nothing to say" says 0 . "${options[@]}"
	echo 99.1.0 >"$config/kernel.release"
	try "options: newer kernel" says 1 'Linux 99\.1 is newer than' "${options[@]}"
	echo 6.1.0 >"$config/kernel.release"
	echo CONFIG_IRQ_WORK=y >"$config/auto.conf"
	try "options: three are missing" says 3 \
		'no (HIGH_RES_TIMERS|DEBUG_FS|MODULE_UNLOAD): ' "${options[@]}"
	: >"$config/auto.conf"
	try "options: one that hwheel needs" refused "no IRQ_WORK" "${options[@]}"
}

# reach_vendor TREE: a vendor's 6.12 has hrtimer_setup() of 6.13, and no hrtimer_init(). TREE gets
# headers that say so.
reach_vendor()
{
	local headers=$1/include/linux found

	mkdir -p "$headers/sched"
	sed 's/330240/396288/' "$fake/old/include/linux/version.h" >"$headers/version.h"
	echo 'struct hrtimer; void hrtimer_setup(struct hrtimer *timer);' >"$headers/hrtimer.h"
	printf '%s\n' '#define bool _Bool' 'enum { HK_TYPE_DOMAIN, HK_TYPE_TICK };' \
		'bool housekeeping_test_cpu(int cpu, int type);' >"$headers/sched/isolation.h"
	touch "$headers/timer.h" "$headers/workqueue.h"
	found=$(make -s -f - srctree="$1" src=. <<-END
	include $lab_top/Kbuild
	.DEFAULT_GOAL := print
	print: ; @echo \$(subdir-ccflags-y)
	END
	)
	try "vendor: what Kbuild finds" [ "$found" = -DHWHEEL_HAVE_HRTIMER_SETUP ]
	try "vendor: compat.h" gcc -fsyntax-only -nostdinc -I "$1/include" "$found" \
		"$lab_work/errors/module/compat.h"
}

# foreign PATH: whether make demo fails on another distribution and prints one line
foreign()
{
	refused "this machine is Ubuntu 24.04 LTS" \
		env PATH="$1" OS_RELEASE="$fake/os-release" "${make[@]}" -s demo &&
		[ "$(grep -vc '^make: ' "$lab_work/refused")" = 1 ]
}

# says LINES REGEX COMMAND...: whether COMMAND succeeds and prints LINES lines that match REGEX
says()
{
	"${@:3}" >"$lab_work/said" 2>&1 || return
	cat "$lab_work/said"
	[ "$(grep -cE "$2" "$lab_work/said")" = "$1" ]
}

reach_compilers()
{
	local flavour kernel

	clang_for_gcc "$lab_work/clang"
	for flavour in 6.1 6.12 6.12-rt newest; do
		kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
		# Install the compilers in the chroot that has the headers, if they are in a
		# chroot. W=1 runs kernel-doc, which is in Perl or Python
		ROOT=$(kbuild_root "${kernel##* }") need gcc clang-19 perl python3
		try "$flavour gcc" reach_build "${kernel##* }" W=1
		try "$flavour clang" reach_build "${kernel##* }" W=1 CC="$lab_work/clang"
	done
}

# clang_for_gcc FILE: makes a clang that accepts the flags of a kernel that gcc built.
# It leaves out the warnings of W=1 that the kernel's own headers (vmstat.h) cause.
clang_for_gcc()
{
	cat >"$1" <<-'END'
	#!/bin/bash
	for arg; do
		shift
		case $arg in
		-fconserve-stack|-mrecord-mcount|-mindirect-branch*) ;;
		-mpreferred-stack-boundary=*|-fmin-function-alignment=*) ;;
		-fsanitize=bounds-strict) ;;
		*) set -- "$@" "$arg" ;;
		esac
	done
	exec clang-19 "$@" -mretpoline-external-thunk \
		-Wno-unknown-warning-option -Wno-enum-enum-conversion
	END
	chmod +x "$1"
}

# reach_build HEADERS MAKE-ARGUMENTS...: builds; fails on a warning about our files
reach_build()
{
	local dir=$lab_work/reach

	rm -rf "$dir"
	copy_sources "$dir"
	kbuild "$1" -j "$lab_jobs" M="$dir" "${@:2}" modules >"$lab_work/make" 2>&1 ||
		{ cat "$lab_work/make"; return 1; }
	! grep -E "^(WARNING|$dir/.*([Ww]arning|error):)|modpost:" "$lab_work/make" || return
	ls "$dir"/hwheel{,_torture,_bench}.ko "$dir"/samples/hwheel_{hello,rcu,sessions}.ko
}

# 32 bit: built into user-mode Linux. The tree and its objects stay in the cache. A machine that
# can't run that kernel builds hwheel's folder alone, and looks for what a kernel could not link.
reach_i386()
{
	local dir

	i386_tree
	if runs_32_bit; then
		i386_kunit run --jobs "$lab_jobs" --timeout 900 | tee "$lab_work/i386" || :
		kunit_results "$lab_work/i386"
	else
		try "i386: builds" i386_folder
		cp "$lab_work/out" "$lab_work/i386"
		result skipped 1 "i386: this machine's kernel runs no 32-bit programs"
	fi
	try "i386: 32 bit" grep -x 'CONFIG_64BIT=n\|# CONFIG_64BIT is not set\|CONFIG_X86_32=y' \
		"$dir/build/.config"
	try "i386: no warnings" no_lines 'lib/hwheel/.*([Ww]arning|error:)' \
		"$lab_work/i386"
	try "i386: no divisions of 64 bits" i386_divides
}

# i386_folder: builds lib/hwheel/
i386_folder()
{
	i386_kunit config && i386_make make -C "$dir/tree" ARCH=um SUBARCH=i386 O="$dir/build" \
		-j "$lab_jobs" lib/hwheel/
}

# i386_divides: whether no object calls the compiler's functions for divisions of 64 bits, which
# no kernel has
i386_divides()
{
	nm "$dir"/build/lib/hwheel/*.o >"$lab_work/symbols" &&
		grep -q ' T hwheel_add$' "$lab_work/symbols" &&
		no_lines ' U __u?(div|mod|divmod)di' "$lab_work/symbols"
}

# i386_tree: makes the folder dir. gcc-multilib would also make the link /usr/include/asm, but
# that package conflicts with cross compilers. C_INCLUDE_PATH replaces the link.
i386_tree()
{
	need gcc make flex bison bc python3
	need "gcc-$(gcc -dumpversion)-multilib"
	source=$(linux_source 6.x)
	dir=$lab_cache/uml-i386-$(build_key "$source")
	once "$dir" i386_fill
}

# i386_kunit config|run [OPTIONS...]: runs kunit.py in the grafted tree
i386_kunit()
{
	say "i386: building it into UML (the first time about 3 min)"
	i386_make tools/testing/kunit/kunit.py "$1" --kunitconfig lib/hwheel \
		--kconfig_add "$(uml_config)" --make_options SUBARCH=i386 \
		--build_dir "$dir/build" "${@:2}"
}

# i386_make COMMAND...: builds with a command in the grafted tree. Builds hwheel anew each time, so
# that the compiler prints all its warnings.
i386_make()
{
	(
		flock 9
		"$lab_top/tools/graft" "$dir/tree" >/dev/null && cd "$dir/tree" || exit
		rm -rf "$dir/build/lib/hwheel"
		C_INCLUDE_PATH=/usr/include/$(gcc -dumpmachine) "$@" 2>&1
	) 9>>"$dir.lock"
}

i386_fill()
{
	patch_source "$source" && cp -al "$source" "$1/tree"
}

# arm64: takes Debian's kernel of the same version as the x86 kernel, because the headers for
# arm64 use the programs of the x86 headers to build a module. Always builds in a builder.
reach_arm64()
{
	local found release dir headers root status=0

	found=$(DEBIAN=trixie debian_stock 6.12)
	read -r release _ <<<"$found"
	root=$(builder trixie)
	ROOT=$root need "linux-headers-$release" make perl gcc-aarch64-linux-gnu
	headers=/usr/src/linux-headers-$release
	release=${release%-amd64}-arm64
	dir=$lab_cache/arm64-$release
	once "$dir" arm64_fill || {
		result skipped 1 "arm64: no $release in the archive"
		return
	}
	cp -a "$dir/usr/src/." "$root/usr/src"
	ln -sfn "$headers/scripts" "$root/usr/src/linux-headers-$release/scripts"
	ln -sfn "$headers/tools" "$root/usr/src/linux-headers-$release/tools"

	try "arm64 gcc" reach_build "$root/usr/src/linux-headers-$release" W=1 \
		ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-
	{
		echo "sessions=10000 parameters='max_ms=2000 traffic_ms=1000'"
		cat "$lab_scripts/guest/demo.sh"
	} >"$lab_work/payload"
	say "$suite: arm64: booting"
	MACHINE=aarch64 BUSYBOX=$dir/usr/bin/busybox "$lab_scripts/lab/boot-qemu.sh" \
		"$dir/vmlinuz" 2 1G "$lab_work/payload" "$lab_work/reach/hwheel.ko" \
		"$lab_work"/reach/samples/hwheel_{rcu,sessions}.ko >"$lab_work/console" || status=$?
	cat "$lab_work/console"
	guest_log "$lab_work/console" >"$lab_work/log"
	verdict "arm64: load and unload" "$lab_work/console" [ $status = 0 ]
	try "arm64: debugfs" grep -x 'lab: debugfs' "$lab_work/log"
	try "arm64: rcu" grep -x 'lab: rcu' "$lab_work/log"
	try "arm64: sessions" grep -E 'fired [1-9].* early 0 lost 0' "$lab_work/log"
	try "arm64: kernel log" clean_log "$lab_work/log"
}

# Uses apt's lists of packages for arm64
arm64_fill()
{
	# shellcheck disable=SC2034 # lists_fetch() uses it
	local lab_arch=arm64 lab_lists=$lab_cache/apt-arm64 package

	lists 60
	say "arm64: downloading $release"
	mkdir "$lab_work/debs" || return
	for package in busybox-static "linux-headers-$release"; do
		(cd "$lab_work/debs" && archive arm64-download -c "$lab_lists/conf" \
			download "$package") || return
	done
	for package in "$lab_work"/debs/*.deb; do
		dpkg -x "$package" "$1" || return
	done
	archive_extract "$(stock_package binary "$release")" "$1" '*/vmlinuz*' &&
		mv "$1"/vmlinuz-* "$1/vmlinuz"
}
