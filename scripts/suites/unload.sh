# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: hwheel and its drivers are loaded and unloaded, over and over, beside torture
# Takes: 120 s
# When: FULL=1

suite()
{
	local kernel

	for kernel in newest ${ALL:+6.1 6.12-rt}; do
		unload_boot "$kernel" 4
		verdict "$kernel" "$lab_work/log" [ "$status" = 0 ]
		try "$kernel: 4 rounds" grep -x "lab: round 4" "$lab_work/log"
		try "$kernel: kernel log" clean_log "$lab_work/log"
	done
	# The hrtimer of a wheel must not outlive the module
	plant=leave_hrtimer unload_boot newest 2
	try "leave_hrtimer is found" dmesg_dirty "$lab_work/log"
}

# unload_boot KERNEL ROUNDS: sets status
unload_boot()
{
	local kernel dir=$lab_work/$1${plant-} release vmlinuz headers

	status=0
	kernel=$("$lab_scripts/lab/stock-kernel.sh" "$1")
	read -r release vmlinuz headers <<<"$kernel"
	build_modules unload-build "$headers" "$dir"
	{
		echo "rounds=$2"
		cat "$lab_scripts/guest/unload.sh"
	} >"$lab_work/payload"
	say "$suite: booting $release${plant:+ with the fault $plant}"
	"$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 1G "$lab_work/payload" "$dir"/hwheel.ko \
		"$dir"/hwheel_torture.ko "$dir"/samples/hwheel_{hello,jobs,rcu,sessions}.ko \
		>"$lab_work/console" || status=$?
	guest_log "$lab_work/console" >"$lab_work/log"
}
