# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: KUnit on a 32-bit big-endian kernel, powerpc in QEMU
# Takes: 500 s
# When: ALL=1
#
# hwheel is built into Debian's newest kernel with Debian's cross compiler. The kernel's kunit.py knows
# the machine. The tree and its objects stay in the cache.

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	local source dir option

	need bc bison flex gcc gcc-powerpc-linux-gnu libelf-dev make python3 \
		qemu-system-ppc
	source=$(linux_source newest)
	dir=$lab_cache/powerpc-$(build_key "$source" "$(powerpc-linux-gnu-gcc --version)")
	once "$dir" endian_fill
	say "$suite: building it into a kernel for powerpc (the first time about 5 min)"
	endian_kunit | tee "$lab_work/kunit" || :
	kunit_results "$lab_work/kunit"
	for option in PPC32=y CPU_BIG_ENDIAN=y HIGH_RES_TIMERS=y; do
		try $option grep -x "CONFIG_$option" "$dir/build/.config"
	done
	try "no warnings" no_lines 'lib/hwheel/.*([Ww]arning|error:)' "$lab_work/kunit"
}

endian_fill()
{
	patch_source "$source" && link_tree "$source" "$1/tree"
}

# endian_kunit: builds hwheel anew each time, so that the compiler prints all its warnings
endian_kunit()
{
	(
		flock 9
		"$lab_top/tools/graft" "$dir/tree" >/dev/null && cd "$dir/tree" || exit
		rm -rf "$dir/build/lib/hwheel"
		tools/testing/kunit/kunit.py run --arch powerpc32 --cross_compile powerpc-linux-gnu- \
			--kunitconfig lib/hwheel --build_dir "$dir/build" --jobs "$lab_jobs" \
			--timeout 1800 2>&1
	) 9>>"$dir.lock"
}
