#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
#
# The guest of the suite boot runs this each time it has booted, as a service of systemd.
# suites/boot.sh has prepared the guest's disk. ~/lab has
#	versions	sets $old and $new, versions of hwheel. $old is installed
#	packages/	the Debian packages of $new
#	driver/		the source of the driver boot_timers, and boot_timers.ko for $old
#	before		the names of the files before hwheel was installed
# Prints "lab: NAME ok" or "lab: NAME FAILED" for each step.

wheel=/sys/kernel/debug/hwheel/system
fired=/sys/module/boot_timers/parameters/fired
release=$(uname -r)
lab=/root/lab

# Programs must not take the console for a terminal
step()
{
	name=$1
	shift
	result=ok
	"$@" >/tmp/step 2>&1 || result=FAILED failed=1
	cat /tmp/step
	echo "lab: $name $result"
}

# The parameters of /etc/modprobe.d/hwheel.conf
parameters()
{
	for row in tick_ns=100000 spokes=256,128,128,128 levels=4 gap_ns=50000; do
		grep -x "${row%=*} ${row#*=}" $wheel/config || return
	done
}

# Nothing but systemd-modules-load.service loads hwheel.ko here. On a busy host systemd may call the
# service too slow.
loaded_at_boot()
{
	systemctl --no-pager status systemd-modules-load.service
	parameters
}

# Whether the loaded hwheel.ko is the installed one
newest_is_loaded()
{
	[ "$(cat /sys/module/hwheel/srcversion)" = "$(modinfo -F srcversion hwheel)" ]
}

# Whether the driver's timers fire. The machine may be slow
fires()
{
	before=$(cat $fired) || return
	for _ in $(seq 60); do
		sleep 1
		[ $(($(cat $fired) - before)) -lt 5 ] || return 0
	done
	return 1
}

# Whether the driver's timers are there
pends()
{
	[ "$(grep -c boot_lazy $wheel/timers)" = 500 ] &&
		[ "$(grep -c boot_lazy $wheel/../boot/timers)" = 500 ]
}

# hwheel.ko stays while a driver uses it
in_use()
{
	! modprobe -r hwheel && fires && pends
}

old_driver()
{
	insmod $lab/driver/boot_timers.ko && in_use
}

install()
{
	cd $lab/packages && apt-get install -y ./*.deb && ! dpkg --audit | grep . || return
	[ "$(dkms status hwheel | grep -c .)" = 1 ] &&
		dkms status hwheel | grep "^hwheel/$new, $release, .*: installed$" &&
		[ "$(modinfo -F version hwheel)" = "$new" ]
}

# The old module goes on, and the tools tell that they are newer
old_goes_on()
{
	! newest_is_loaded && in_use && hwheel-top --once --interval 0 | grep "hwheel is .*$new"
}

new_module()
{
	rmmod boot_timers && modprobe -r hwheel && modprobe hwheel && newest_is_loaded &&
		parameters && grep -x "version $new" $wheel/config
}

# The kernel refuses a driver of another version: it names that version, or, if it is of 0.1, calls
# that have gone since
old_and_new()
{
	echo '<6>hwheel-expect-begin' >/dev/kmsg
	! insmod $lab/driver/boot_timers.ko
	status=$?
	echo '<6>hwheel-expect-end' >/dev/kmsg
	return $status
}

# As for a driver that is installed: modprobe loads hwheel.ko, too, and depmod finds it
new_driver()
{
	make -C /lib/modules/"$release"/build M=$lab/driver \
		HWHEEL=/var/lib/dkms/hwheel/kernel-"$release"-x86_64 clean modules &&
		install_driver && modprobe -r hwheel && modprobe boot_timers && in_use && parameters
}

install_driver()
{
	mkdir -p /lib/modules/"$release"/extra &&
		cp $lab/driver/boot_timers.ko /lib/modules/"$release"/extra && depmod
}

tools()
{
	hwheel-top --json --interval 0 | python3 -c '
import json, sys
rates = json.load(sys.stdin)
print(rates["wheel"])' | grep -x system || return
	hwheel-plan --tick 1ms --range 1d || return
	rm -f /tmp/report
	hwheel-report /tmp/report && grep "$new" /tmp/report && grep "$release" /tmp/report
}

# The hook of systemd-sleep sets the alarm. systemctl returns before the machine sleeps.
sleeps()
{
	systemctl suspend || return
	for _ in $(seq 300); do
		[ "$(cat /sys/power/suspend_stats/success)" = 0 ] || break
		sleep 1
	done
	[ "$(cat /sys/power/suspend_stats/success)" = 1 ] && fires && pends && parameters
}

# modprobe also removes hwheel.ko when its last user goes
unload()
{
	for _ in 1 2 3 4 5; do
		modprobe -r boot_timers && [ ! -e /sys/module/hwheel ] && modprobe boot_timers &&
			parameters || return
	done >/dev/null
	modprobe -r boot_timers && [ ! -e /sys/module/hwheel ]
}

# Also what the user has made goes
purge()
{
	apt-get purge -y hwheel-dkms hwheel-doc hwheel-tools || return
	rm -r /etc/modules-load.d/hwheel.conf /etc/modprobe.d/hwheel.conf \
		/lib/modules/"$release"/extra && depmod || return
	! modprobe hwheel && ! grep -l hwheel /lib/modules/"$release"/modules.*
}

# A system that runs makes files of its own
nothing_left()
{
	sh $lab/files / >$lab/after
	diff $lab/before $lab/after
}

first_boot()
{
	step "the old version: loaded at boot" loaded_at_boot
	step "the old version: a driver" old_driver
	step "upgrade: apt install" install
	step "upgrade: the old module goes on" old_goes_on
	step "upgrade: modprobe again" new_module
	step "upgrade: the new module and an old driver" old_and_new
	step "upgrade: the driver is built again" new_driver
}

second_boot()
{
	step "loaded at boot" loaded_at_boot
	step "the new version" newest_is_loaded
	step "a driver" modprobe boot_timers
	step "tools" tools
	step "suspend and resume" sleeps
	step "in use" in_use
	step "modprobe -r" unload
	step "purge" purge
	step "nothing left" nothing_left
}

# end STATUS: prints the logs of all boots, and stops the machine
end()
{
	dmesg -n 1
	echo 'lab: log begins'
	cat $lab/log
	dmesg
	echo 'lab: log ends'
	echo "lab: end $1"
	sleep 1
	systemctl poweroff --force --force
}

exec >/dev/console 2>&1 </dev/null
export HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C
failed=
echo '<6>lab: payload begins' >/dev/kmsg
echo 'lab: payload begins'
# shellcheck source=/dev/null
. $lab/versions
case $(cat $lab/boots 2>/dev/null) in
'')	echo begun >$lab/boots
	first_boot
	dmesg >$lab/log
	echo "one$failed" >$lab/boots
	systemctl reboot ;;
one*)	failed=$(sed 's/one//' $lab/boots)
	echo begun >$lab/boots
	second_boot
	end "${failed:-0}" ;;
*)	# The kernel died
	touch $lab/log
	end 1 ;;
esac
