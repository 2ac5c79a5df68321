#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds a kernel from one of Debian's kernel sources and prints one line: IMAGE
# BUILDDIR. Modules can be built against BUILDDIR, unless the kernel is grafted.
#
# Each kernel is a file in kernels/. The kernel has the file's name, which begins with
# uml (user-mode Linux) or x86. The file sets
#	series		of Debian's linux-source: newest, oldest, or a number such as 6.12
#	parts		of the configuration: names of files in config/, without .config
#	took		how long a build took
#	btf		y: modules get type information (BTF), which takes the kernel's own
#	hz		user-mode Linux has 100 jiffies a second; this replaces that number
#	grafted		y: tools/graft puts hwheel into the source, and patches/*.patch are applied
#	converted	of a grafted source: folders that hwheel-convert converts. It takes the options
#			of the kernel that is named in the file as options_of.
#
# Usage: [SERIES=number] build-kernel.sh KERNEL|list
#	 SERIES replaces the series of the file

. "$(dirname "$0")/lab.sh"

kernels=$lab_scripts/lab/kernels name=${1:-none} series='' parts='' took='' grafted='' btf='' hz=''
converted='' options_of=''
[ "$name" != list ] || { ls "$kernels"; exit; }
[ -f "$kernels/$name" ] || die "no kernel $name; build-kernel.sh list names them"
# shellcheck source=/dev/null
. "$kernels/$name"
series=${SERIES:-$series}

case $name in
uml*)	make=(make ARCH=um) image=linux packages=() ;;
x86*)	make=(make ARCH=x86) image=arch/x86/boot/bzImage packages=(libelf-dev) ;;
esac
[ -z "$btf" ] || packages+=(pahole zlib1g-dev)
need gcc make flex bison bc "${packages[@]}"
source=$(linux_source "$series")
wanted=$lab_work/wanted
for part in $parts; do
	cat "$lab_scripts/lab/config/$part.config"
done >"$wanted"
[ "${name#uml}" = "$name" ] || uml_config >>"$wanted"

fill_kernel()
{
	local tree=$source build lost

	say "kernel $name: building (about $took)"
	patch_source "$source" || return
	if [ -n "$grafted" ]; then
		tree=$lab_work/tree
		graft_source "$source" "$tree" || return
	fi
	build=("${make[@]}" -j "$lab_jobs" -C "$tree" O="$1")
	quiet "$name-config" "${build[@]}" \
		KCONFIG_ALLCONFIG="$wanted" allnoconfig || return
	lost=$(grep '^CONFIG' "$wanted" | grep -vxFf "$1/.config") &&
		die "not in the kernel's configuration:" "$lost"
	quiet "$name" "${build[@]}" "${image##*/}" modules || return

	# Keep only the files that modules are built against
	[ -s "$1/Module.symvers" ] || return
	find "$1" \( -name '*.o' -o -name '*.a' \) -delete || return
	rm -f "$1/vmlinux"
	# From 6.13 on, this Makefile has the path of its own folder
	sed -i "s,^export KBUILD_OUTPUT = .*,export KBUILD_OUTPUT = $dir," "$1/Makefile"
}

# fill_hz TREE: makes a tree of links to the kernel's source, in which user-mode Linux has
# $hz jiffies a second
fill_hz()
{
	link_tree "$source" "$1/linux" || return
	sed -i "/^config HZ$/,/default/s/default .*/default $hz/" "$1/linux/arch/um/Kconfig"
}

# fill_kernel() removes vmlinux. The image is made from a stripped copy, which has the BTF
fill_btf()
{
	fill_kernel "$1" && cp "$1/arch/x86/boot/compressed/vmlinux.bin" "$1/vmlinux"
}

# convert_tree TREE: converts the folders $converted of a grafted source
convert_tree()
{
	local tree=$1 folder files=() patches=() file

	for file in "$tests"/{bridge,sctp}.cocci; do
		patches+=(--also "$file")
	done
	for folder in $converted; do
		# The converter writes to its files, and the tree's are links
		cp -r "$tree/$folder" "$lab_work/folder" && rm -r "${tree:?}/$folder" &&
			mv "$lab_work/folder" "$tree/$folder" || return
		files+=("$tree/$folder"/*.[ch])
	done
	quiet "$name-convert" "$lab_top/tools/hwheel-convert" --kernel "$options_dir" \
		"--cflags=-I$tree/include" "${patches[@]}" "${files[@]}" || return
	sed -i 's,#include "\(hwheel[a-z_]*\.h\)",#include <linux/\1>,' "${files[@]}"
}

# shellcheck disable=SC2034 # fill_kernel() reads both
fill_converted()
{
	local tree=$lab_work/converted

	graft_source "$source" "$tree" && convert_tree "$tree" || return
	local source=$tree grafted=
	fill_kernel "$1"
}

if [ -n "$hz" ]; then
	once "$source-hz$hz" fill_hz || die "no source for kernel $name"
	source+=-hz$hz/linux
fi
if [ -n "$converted" ]; then
	need python3-clang coccinelle
	tests=$lab_top/tools/convert-tests
	found=$("$lab_scripts/lab/build-kernel.sh" "$options_of")
	read -r _ options_dir <<<"$found"
fi

converted_key()
{
	declare -f convert_tree
	echo "$converted"
	cat "$lab_top/tools/hwheel-convert" "$tests"/{bridge,sctp}.cocci
}

dir=$lab_cache/$name-$(build_key "$source" "$(cat "$wanted")" "$(declare -f fill_kernel)" \
	"$([ -z "$grafted" ] || graft_key; [ -z "$converted" ] || converted_key)")

fill=fill_kernel
[ -z "$btf" ] || fill=fill_btf
[ -z "$converted" ] || fill=fill_converted
once "$dir" $fill || die "no kernel $name"
echo "$dir/$image $dir"
