# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2016,SC2154
#
# Suite: hwheel-drgn reads the memory of stock kernels that died with many timers pending
# Takes: 100 s
# When: ALL=1
#
# The kernel and drgn are those of Debian 13: Debian 12's drgn finds no modules after Linux 6.3.

suite()
{
	local kernel release vmlinuz headers root symbols

	if ! debian_may; then
		result skipped 1 "a chroot needs root that may mount filesystems"
		return
	fi
	kernel=$(FROM=trixie "$lab_scripts/lab/stock-kernel.sh" 6.12)
	read -r release vmlinuz headers <<<"$kernel"
	root=$(kbuild_root "$headers")
	ROOT=$root need python3-drgn
	symbols=$(dump_symbols)
	build_modules dump-build "$headers" "$lab_work/build"
	stock_modules "$release" qemu_fw_cfg >/dev/null

	# Nothing expires: the dump has what debugfs showed before
	dump_boot still 1000000 'min_ms=600000 max_ms=900000 traffic_ms=100'
	dump_list still levels
	dump_list still timers
	try "levels as in debugfs" diff <(dump_shown still levels) "$lab_work/levels"
	try "spokes as in debugfs" diff \
		<(dump_shown still spokes | awk '!/^#/ { print $1, $2, $3, $5 }') \
		<(awk '!/^#/ { if (key && key != $1 " " $2 " " $3) { print key, n; n = 0 }
			key = $1 " " $2 " " $3; n++ } END { print key, n }' "$lab_work/timers")
	try "names of callbacks" diff <(dump_shown still users | tail -n +2) \
		<(awk '!/^#/ { n[$6 $7]++ } END { for (name in n) print name, n[name] }' \
			"$lab_work/timers")

	# In the midst of expirations, with crowds in fans
	dump_boot busy 300000 'min_ms=4000 max_ms=6000 traffic_ms=100'
	dump_list busy wheels
	dump_list busy timers
	try "all timers that are pending" diff \
		<(awk '!/^#/ { print $5, $6 }' "$lab_work/wheels") \
		<(awk '!/^#/ { n[$1]++ } END { for (cpu in n) print cpu, n[cpu] }' \
			"$lab_work/timers" | sort -n)
	try "times that can be" awk '!/^#/ && ($5 < -3e9 || $5 > 7e9) { print; bad = 1 }
		END { exit bad || NR < 1000 }' "$lab_work/timers"
	try "no dump, said" refused "hwheel-drgn: " dump_drgn --core /etc/passwd
	try "no symbols of hwheel.ko, said" refused "no debugging symbols of hwheel.ko" \
		dump_drgn --core "$lab_work/busy" --symbols "$symbols"
}

# dump_symbols: prints the kernel's file with debugging symbols
dump_symbols()
{
	local dir=$lab_cache/stock-$release-symbols

	dump_symbols_fill()
	{
		archive_extract "linux-image-$release-dbg" "$1" '*/boot/vmlinux-*' &&
			mv "$1"/vmlinux-* "$1/vmlinux"
	}
	with_lists once "$dir" dump_symbols_fill && echo "$dir/vmlinux"
}

# dump_boot NAME SESSIONS PARAMETERS: boots a guest that crashes with timers pending. Its memory
# goes to the file NAME, its console to NAME.console.
dump_boot()
{
	{
		echo "parameters='sessions=$2 $3' name=$1"
		cat "$lab_scripts/guest/dump.sh"
	} >"$lab_work/payload"
	TIMEOUT=200 DUMP=$lab_work/$1 \
		"$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 1G "$lab_work/payload" \
		"$lab_work"/build/{hwheel,samples/hwheel_sessions}.ko \
		"$lab_work/stock-modules/qemu_fw_cfg.ko" >"$lab_work/$1.console" || :
	try "$1: a dump" test -s "$lab_work/$1"
}

# dump_shown NAME FILE: prints what that guest's debugfs showed
dump_shown()
{
	sed -n "s/^lab: $2: //p" "$lab_work/$1.console"
}

# dump_list NAME WHAT: lists WHAT of a dump in the file WHAT
dump_list()
{
	try "$1: $2" dump_drgn --core "$lab_work/$1" --symbols "$symbols" \
		--symbols "$lab_work/build/hwheel.ko" "$2"
	mv "$lab_work/out" "$lab_work/$2"
}

# dump_drgn ARGUMENTS...: runs hwheel-drgn where drgn is
dump_drgn()
{
	local command

	printf -v command '%q ' "$lab_top/tools/hwheel-drgn" "$@"
	if [ -n "$root" ]; then
		BIND="$lab_work $lab_top $lab_cache" chroot_run "$root" "$command"
	else
		sh -c "$command"
	fi
}
