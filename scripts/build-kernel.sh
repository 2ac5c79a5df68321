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

# The size of the host's FP state. Up to 6.12, UML has 2696 bytes for it, and
# user space dies on CPUs that have more (AMX).
xstate_size()
{
	gcc -x c - -o "$lab_work/xstate" <<-'EOF'
	#include <cpuid.h>
	#include <stdio.h>

	int main(void)
	{
		unsigned int a, b = 0, c, d;

		__get_cpuid_count(0xd, 0, &a, &b, &c, &d);
		printf("%u\n", b < 2696 ? 2696 : b);
		return 0;
	}
	EOF
	"$lab_work/xstate"
}

# patch_source: a larger FP state; and no limit of 300 s for a KUnit case, since
# simulated time may pass by years in one. The guest's own limit remains.
patch_source()
{
	sed -i "s/(HOST_FP_SIZE, [0-9]*)/(HOST_FP_SIZE, $xstate)/" \
		"$source/arch/x86/um/user-offsets.c" &&
		sed -i 's/return 300 \* msecs_to_jiffies(.*/return MAX_SCHEDULE_TIMEOUT;/' \
			"$source/lib/kunit/try-catch.c"
}

fill_kernel()
{
	local build=("${make[@]}" -j "$lab_jobs" -C "$source" O="$1")
	local wanted=$lab_work/wanted lost

	say "kernel $variant: building ($took)"
	patch_source || return
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
xstate=$(xstate_size)
key=$(cat "${fragments[@]}" "$0" <(echo "$source $xstate") | sha256sum)
dir=$lab_cache/$variant-${key:0:12}

once "$dir" fill_kernel || die "no kernel $variant"
echo "$dir/$image $dir"
