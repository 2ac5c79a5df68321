#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds a kernel, against which modules can be built too, from Debian's newest
# kernel source, and prints one line: IMAGE BUILDDIR.
#
# Usage: build-kernel.sh uml|uml-debug|x86-kasan|x86-kcsan

. "$(dirname "$0")/lab.sh"

variant=${1-} parts=()
case $variant in
uml)		parts=(common uml) took="about 1 min" ;;
uml-debug)	parts=(common uml debug) took="about 2 min" ;;
x86-kasan)	parts=(common x86 debug x86-kasan) took="about 5 min" ;;
x86-kcsan)	parts=(common x86 kcsan) took="about 4 min" ;;
*)		die "usage: build-kernel.sh uml|uml-debug|x86-kasan|x86-kcsan" ;;
esac
case $variant in
uml*)	make=(make ARCH=um) image=linux packages=() ;;
x86*)	make=(make ARCH=x86) image=arch/x86/boot/bzImage packages=(libelf-dev) ;;
esac
fragments=("${parts[@]/#/$lab_scripts/config/}")
fragments=("${fragments[@]/%/.config}")

fill_kernel()
{
	local build=("${make[@]}" -j "$lab_jobs" -C "$source" O="$1")
	local wanted=$lab_work/wanted lost

	say "kernel $variant: building ($took)"
	patch_source "$source" || return
	cat "${fragments[@]}" >"$wanted" || return
	quiet "$variant-config" "${build[@]}" \
		KCONFIG_ALLCONFIG="$wanted" allnoconfig || return
	lost=$(grep '^CONFIG' "$wanted" | grep -vxFf "$1/.config") &&
		die "not in the kernel's configuration:" "$lost"
	quiet "$variant" "${build[@]}" "${image##*/}" modules || return

	# What is left is what modules are built against
	[ -s "$1/Module.symvers" ] || return
	find "$1" \( -name '*.o' -o -name '*.a' \) -delete || return
	rm -f "$1/vmlinux"
}

need gcc libc6-dev make flex bison bc "${packages[@]}"
source=$(linux_source)
key=$(cat "${fragments[@]}" "$0" <(
	declare -f patch_source
	echo "$source $(xstate_size)"
) | sha256sum)
dir=$lab_cache/$variant-${key:0:12}

once "$dir" fill_kernel || die "no kernel $variant"
echo "$dir/$image $dir"
