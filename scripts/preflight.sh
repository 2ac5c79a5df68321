#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Finds out what would make a build fail, or keep the kernel from loading the modules.
# Prints one line that says what is wrong, and what to do.
#
# Usage: [CC=compiler] [LLVM=...] preflight.sh build KERNELDIR
#	 preflight.sh load

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
			"install linux-headers-$(uname -r), or give KDIR="
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
load)	check_load ;;
*)	die "usage: preflight.sh build KERNELDIR, or preflight.sh load" ;;
esac
