#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Finds out what would make a build fail, or keep the kernel from loading the modules.
# Prints one line that says what is wrong, and what to do. Prints a line, too, for each option that
# the kernel lacks: see Documentation/options.rst.
#
# Usage: [CC=compiler] [LLVM=...] preflight.sh build KERNELDIR
#	 preflight.sh options KERNELDIR
#	 preflight.sh load

# The newest series of Linux with which hwheel was tested
tested=7.3

die()
{
	echo "hwheel: $*" >&2
	exit 1
}

# at_least VERSION MINIMUM
at_least()
{
	[ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

check_build()
{
	dir=$1
	case ${LLVM-} in
	'')	cc=${CC:-gcc} ;;
	-*)	cc=${CC:-clang$LLVM} ;;
	*/)	cc=${CC:-${LLVM}clang} ;;
	*)	cc=${CC:-clang} ;;
	esac

	[ -e "$dir/Makefile" ] ||
		die "no kernel headers in $dir:" \
			"install linux-headers-$(uname -r) or, in a chroot," \
			"linux-headers-amd64, and give KDIR=/lib/modules/RELEASE/build"
	release=$(cat "$dir/include/config/kernel.release" 2>/dev/null) ||
		die "$dir is not configured:" \
			"run \"make modules_prepare\" there, or give the KDIR= of a kernel that was built"
	at_least "$release" 6.1 ||
		die "$dir is of Linux $release; hwheel needs 6.1 or later:" \
			"install a newer kernel and its headers, or give KDIR="
	command -v "${cc%% *}" >/dev/null ||
		die "no compiler ${cc%% *}: install gcc, or give CC="
	version=$($cc -dumpfullversion -dumpversion) || exit
	if $cc --version | grep -q clang; then
		minimum=11
	else
		minimum=5.1
	fi
	at_least "$version" $minimum ||
		die "$cc is of version $version; Linux needs $minimum or later:" \
			"install a newer one, or give CC="
	check_options "$dir"
}

# option NAME: whether the kernel has the option
option()
{
	grep -qE "^CONFIG_$1=[ym]\$" "$config"
}

# without OPTION MESSAGE...: prints MESSAGE if the kernel lacks the option
without()
{
	option "$1" || { shift; echo "hwheel: this kernel has $*" >&2; }
}

# check_options KERNELDIR: DKMS runs this, too
check_options()
{
	release=$(cat "$1/include/config/kernel.release") || exit
	series=$(echo "$release" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
	at_least $tested "$series" ||
		echo "hwheel: Linux $series is newer than $tested, the newest with which" \
			"this hwheel was tested; trying it" >&2

	config=$1/include/config/auto.conf
	[ -e "$config" ] || return 0
	option IRQ_WORK ||
		die "this kernel has no IRQ_WORK, which hwheel needs:" \
			"take a kernel with SMP or PRINTK"
	without HIGH_RES_TIMERS "no HIGH_RES_TIMERS: timers expire at jiffies only"
	without MODULE_UNLOAD "no MODULE_UNLOAD: you can't unload hwheel"
	without DEBUG_FS "no DEBUG_FS: you can't look into wheels"
}

# Never fails: the modules may be for another machine, or may get signed later
check_load()
{
	sys=${SYS-/sys}

	if grep -q Y "$sys/module/module/parameters/sig_enforce" 2>/dev/null ||
	   grep -qE '\[(integrity|confidentiality)\]' "$sys/kernel/security/lockdown" 2>/dev/null
	then
		echo "hwheel: this kernel takes signed modules only (Secure Boot):" \
			"\"make dkms\" has DKMS sign them; enrol its key once, with" \
			"\"mokutil --import /var/lib/dkms/mok.pub\" and a reboot" >&2
	fi
}

case ${1-} in
build)	check_build "$2" ;;
options) check_options "$2" ;;
load)	check_load ;;
*)	die "usage: preflight.sh build|options KERNELDIR, or preflight.sh load" ;;
esac
