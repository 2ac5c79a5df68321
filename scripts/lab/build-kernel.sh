#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds a kernel, against which modules can be built too, from one of Debian's
# kernel sources, and prints one line: IMAGE BUILDDIR.
#
# Usage: build-kernel.sh KERNEL|list

. "$(dirname "$0")/lab.sh"

# Name, which begins with uml or x86; source; parts of the configuration; how long it
# takes. A new kernel is one more line.
kernels=(
	"uml		newest	common uml uml-time		1 min"
	"uml-6.1	oldest	common uml uml-time		1 min"
	"uml-debug	newest	common uml uml-time debug leaks	2 min"
	"uml-smp	newest	common uml smp			1 min"
	"x86-kasan	newest	common x86 smp debug x86-kasan	5 min"
	"x86-kcsan	newest	common x86 smp kcsan		4 min"
)

while IFS=$'\t' read -r name series parts took; do
	[ "$name" = "${1-}" ] && break
done < <(printf '%s\n' "${kernels[@]}" | tr -s '\t')
if [ "${1-}" = list ]; then
	printf '%s\n' "${kernels[@]%%$'\t'*}"
	exit
elif [ "$name" != "${1-}" ]; then
	die "usage: build-kernel.sh ${kernels[*]%%$'\t'*}"
fi

case $name in
uml*)	make=(make ARCH=um) image=linux packages=() ;;
x86*)	make=(make ARCH=x86) image=arch/x86/boot/bzImage packages=(libelf-dev) ;;
esac
need gcc libc6-dev make flex bison bc "${packages[@]}"
source=$(linux_source "$series")
wanted=$lab_work/wanted
for part in $parts; do
	cat "$lab_scripts/lab/config/$part.config"
done >"$wanted"
[ "${name#uml}" = "$name" ] || uml_config >>"$wanted"

fill_kernel()
{
	local build=("${make[@]}" -j "$lab_jobs" -C "$source" O="$1") lost

	say "kernel $name: building (about $took)"
	patch_source "$source" || return
	quiet "$name-config" "${build[@]}" \
		KCONFIG_ALLCONFIG="$wanted" allnoconfig || return
	lost=$(grep '^CONFIG' "$wanted" | grep -vxFf "$1/.config") &&
		die "not in the kernel's configuration:" "$lost"
	quiet "$name" "${build[@]}" "${image##*/}" modules || return

	# What is left is what modules are built against
	[ -s "$1/Module.symvers" ] || return
	find "$1" \( -name '*.o' -o -name '*.a' \) -delete || return
	rm -f "$1/vmlinux"
	# From 6.13 on it says where it is
	sed -i "s,^export KBUILD_OUTPUT = .*,export KBUILD_OUTPUT = $dir," "$1/Makefile"
}

key=$(cat "$wanted" <(declare -f fill_kernel patch_source) \
	<(echo "$source" "$(host_sizes)") | sha256sum)
dir=$lab_cache/$name-${key:0:12}

once "$dir" fill_kernel || die "no kernel $name"
echo "$dir/$image $dir"
