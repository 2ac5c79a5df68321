#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds a user-mode Linux kernel, against which modules can be built too, from
# Debian's newest kernel source, and prints one line: LINUX BUILDDIR.
#
# Usage: uml-kernel.sh plain|debug

. "$(dirname "$0")/lab.sh"

config=$lab_scripts/config
case ${1-} in
plain)	fragments=("$config/uml.config") took="about 1 min" ;;
debug)	fragments=("$config/uml.config" "$config/debug.config") took="about 2 min" ;;
*)	die "usage: uml-kernel.sh plain|debug" ;;
esac
variant=$1

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
	local build=(make -j "$lab_jobs" ARCH=um -C "$source" O="$1")
	local wanted=$lab_work/wanted lost

	say "uml $variant: building ($took)"
	patch_source || return
	cat "${fragments[@]}" >"$wanted" || return
	quiet "uml-$variant-config" "${build[@]}" \
		KCONFIG_ALLCONFIG="$wanted" allnoconfig || return
	lost=$(grep '^CONFIG' "$wanted" | grep -vxFf "$1/.config") &&
		die "not in the kernel's configuration:" "$lost"
	quiet "uml-$variant" "${build[@]}" all || return

	# What is left is what modules are built against
	[ -s "$1/Module.symvers" ] || return
	find "$1" \( -name '*.o' -o -name '*.a' \) -delete || return
	rm -f "$1/vmlinux"
}

need gcc libc6-dev make flex bison bc
source=$(linux_source)
xstate=$(xstate_size)
key=$(cat "${fragments[@]}" "$0" <(echo "$source $xstate") | sha256sum)
dir=$lab_cache/uml-$variant-${key:0:12}

once "$dir" fill_kernel || die "no uml $variant kernel"
echo "$dir/linux $dir"
