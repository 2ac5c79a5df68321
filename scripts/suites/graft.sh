# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: tools/graft, and tools/graft --undo; with ALL=1 KUnit in the tree, built in and as modules
# Takes: 20 s
# When: FULL=1
#
# Suite reach runs KUnit built into a tree that tools/graft made, for i386.

. "$lab_scripts/suites/shared/kunit.sh"

suite()
{
	local tree=$lab_work/tree build=$lab_work/kunit

	need gcc make flex bison bc python3
	source=$(linux_source 6.x)
	patch_source "$source"
	link_tree "$source" "$tree"
	tree_state "$tree" >"$lab_work/before"
	tree_state "$source" >"$lab_work/source"

	try "not into headers" refused "not a kernel's source tree" \
		"$lab_top/tools/graft" "$lab_top"
	try "put in" "$lab_top/tools/graft" "$tree"
	try "links not written to" diff "$lab_work/source" <(tree_state "$source")
	tree_state "$tree" -inum >"$lab_work/grafted"
	"$lab_top/tools/graft" "$tree" >/dev/null
	try "again, nothing changes" diff "$lab_work/grafted" <(tree_state "$tree" -inum)

	cd "$tree" || return
	try ".kunitconfig alone" tools/testing/kunit/kunit.py config \
		--kunitconfig lib/hwheel --build_dir "$lab_work/config"
	try "links, and after a build" /usr/bin/python3 "$lab_top/tools/test-tools.py" Graft
	[ -z "$ALL" ] || graft_run
	cd "$lab_top" || return
	"$lab_top/tools/graft" --undo "$tree"
	try "taken out" diff "$lab_work/before" <(tree_state "$tree")
}

# graft_run: runs KUnit built into the kernel, and as modules
graft_run()
{
	local modules boot

	say "$suite: building UML with it"
	graft_kunit run --timeout 900 | tee "$lab_work/run" || :
	kunit_results "$lab_work/run"
	try "signal frames fit" uml_stack_fits "$build"
	say "$suite: building it as modules"
	modules=({HWHEEL,HWHEEL_KUNIT_TEST,HWHEEL_TORTURE_TEST,HWHEEL_BENCH,SAMPLE_HWHEEL}"=m")
	graft_kunit build --kconfig_add CONFIG_SAMPLES=y \
		"${modules[@]/#/--kconfig_add=CONFIG_}" |
		tee "$lab_work/modules" || :
	try "no warnings" no_lines 'lib/hwheel/.*([Ww]arning|error:)' \
		"$lab_work/run" "$lab_work/modules"
	try "all modules" ls "$build"/lib/hwheel/hwheel{,_kunit,_torture,_bench}.ko \
		"$build"/lib/hwheel/samples/hwheel_{hello,jobs,rcu,sessions}.ko
	boot=("$lab_scripts/lab/boot-uml.sh" "$build/linux") dir=$build/lib/hwheel
	boot_kunit
}

# graft_kunit COMMAND OPTIONS...: adds the options that a busybox userland needs
graft_kunit()
{
	tools/testing/kunit/kunit.py "$1" --kunitconfig lib/hwheel \
		--kunitconfig "$lab_scripts/lab/config/common.config" \
		--kunitconfig "$lab_scripts/lab/config/uml.config" \
		--kconfig_add "$(uml_config)" \
		--build_dir "$build" --jobs "$lab_jobs" "${@:2}"
}

# tree_state DIR [-inum]: prints the names of all files, and checksums of those that
# graft may change; with -inum also inode numbers
tree_state()
{
	local format='%p'

	[ $# = 1 ] || format+=' %i'
	cd "$1" && find . -name .git -prune -o -printf "$format\n" | sort &&
		find lib include/linux -type f -exec cksum {} + | sort
}
