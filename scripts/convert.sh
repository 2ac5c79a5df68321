#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Converts net/bridge and net/sctp of a stock kernel to hwheel with hwheel-convert, and
# drivers/net/bonding, which uses delayed work. Builds them for that kernel. Boots the kernel in
# QEMU, once with its own modules and once with the converted ones, and compares what they do.
# Does the same with net/can/bcm.c, which uses hrtimer, on the stock PREEMPT_RT kernel, which
# has CAN. Converts and builds the newest kernel's bonding, too.
# Prints a line for each check:
#	convert: NAME ok|FAILED
# The exit status is 0 if none failed. The script deletes the converted copies at the end.
# Debian's linux-source stays in the cache.
#
# Usage: convert.sh

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

tests=$lab_top/tools/convert-tests
# These functions compare jiffies. They seem to allow for the very time that they were armed for:
# sctp_generate_heartbeat_event() then waits for another jiffy, bonding allows for half an interval,
# and the bridge only reports such times. Not each function that a pattern names was read. The
# guests show that the three still work.
compares=(--compares 'sctp_*' --compares 'bond_*' --compares 'br_*')
converter=$lab_top/tools/hwheel-convert tree=$lab_work/tree

# small: converts small drivers. The drivers in api/ use most of the APIs of timers. The drivers
# in classes/ have code that hwheel-convert once converted wrongly. Those in strangers/ have code
# that drivers outside of the kernel have. The drivers in work/ have delayed work.
small()
{
	local part

	cp -r "$tests"/{api,classes,strangers,work} "$lab_work"
	for part in api classes strangers work; do
		# hwheel-convert takes the compiler's options from this file
		echo "savedcmd := gcc -nostdinc -I$tests/include" >"$lab_work/$part/.driver.o.cmd"
	done
	(cd "$lab_work/api" && "$converter" --tick 0 . >report || echo "status $?" >>report)
	(cd "$lab_work/classes" && "$converter" . >report || echo "status $?" >>report)
	(cd "$lab_work/strangers" && "$converter" . >report || echo "status $?" >>report)
	(cd "$lab_work/work" && "$converter" --move work . >report || echo "status $?" >>report)
}

# as_expected FILE...: whether the converted files are as expected, and the report's lines on
# the first file, too
as_expected()
{
	local file wanted dir=$lab_work/${1%/*} expected=$tests/${1%/*}

	for file in "${@##*/}"; do
		# Where nothing is converted, the file is as it was
		[ -e "$expected/$file.moved" ] && wanted=$file.moved || wanted=$file
		diff -u "$expected/$wanted" "$dir/$file" || return
	done
	diff <(grep "^${1##*/}:" "$expected/report.moved") <(grep "^${1##*/}:" "$dir/report")
}

# complete: whether all reports are exactly as expected. Status 1 says that something is left.
complete()
{
	local part

	for part in api classes strangers work; do
		{ cat "$tests/$part/report.moved"; echo "status 1"; } |
			diff - "$lab_work/$part/report" || return
	done
}

# together: whether each choice of --move converts its part of a driver that has both timers
# and delayed work, and sets delayed work up on the wheel of --wheel. If a driver has a workqueue
# with WQ_BH, work on its workqueues stays.
together()
{
	local move dir=$lab_work/together

	for move in timers work all "work --wheel d->wheel" "work bh.h"; do
		rm -rf "$dir"
		mkdir "$dir"
		cp "$tests"/work/{device.[ch],away.c,table.h} "$lab_work/work/.driver.o.cmd" "$dir"
		echo '#define DEVICE_FLAGS WQ_BH' >"$dir/bh.h"
		# Status 1 says that something is left
		# shellcheck disable=SC2086 # words
		(cd "$dir" && "$converter" --move $move device.[ch] away.c; :) | tail -n 1
		grep -o 'HWHEEL_INIT_.*' "$dir/device.c" || :
	done | diff "$tests/work/together" -
}

# missing: whether a timer stays if a header that was not named uses it, or if hwheel.h itself
# needs the header that declares it. With all of its files, the first driver is converted.
missing()
{
	local dir=$lab_work/missing

	cp -r "$tests/missing" "$dir"
	cp "$lab_work/api/.driver.o.cmd" "$dir"
	(cd "$dir" && { "$converter" part.c; "$converter" core.c linux/sched.h; :; }) |
		diff "$dir/report" - && (cd "$dir" && "$converter" part.c part.h)
}

# nothing: whether a folder without a driver is an error
nothing()
{
	local dir=$lab_work/nothing status=0

	mkdir "$dir"
	"$converter" "$dir" >"$lab_work/out" 2>&1 || status=$?
	[ "$status" = 2 ] && grep -qx "hwheel-convert: no .c and no .h file in $dir" "$lab_work/out"
}

# line_ends: whether files whose lines end with CR and LF, and that begin with a byte order mark, are
# converted like others, and keep both
line_ends()
{
	local dir=$lab_work/ends file

	mkdir "$dir"
	cp "$lab_work/api/.driver.o.cmd" "$dir"
	for file in "$tests"/api/*.[ch]; do
		dos <"$file" >"$dir/${file##*/}"
	done
	(cd "$dir" && "$converter" --tick 0 . >report || echo "status $?" >>report)
	diff "$lab_work/api/report" "$dir/report" || return
	for file in "$tests"/api/*.[ch]; do
		[ ! -e "$file.moved" ] || dos <"$file.moved" | diff - "$dir/${file##*/}" || return
	done
	# A file of both kinds keeps each line's end
	sed '2!s/$/\r/' "$tests/classes/branch.c" >"$dir/branch.c"
	(cd "$dir" && "$converter" branch.c) >/dev/null &&
		sed '2!s/$/\r/' "$tests/classes/branch.c.moved" | diff - "$dir/branch.c"
}

dos()
{
	printf '\357\273\277'
	sed 's/$/\r/'
}

# compiler_errors: whether nothing is written if the compiler finds errors, unless
# --despite-errors says so
compiler_errors()
{
	local dir=$lab_work/generated status=0

	cp -r "$tests/generated" "$dir"
	cp "$lab_work/api/.driver.o.cmd" "$dir"
	(cd "$dir" && "$converter" driver.c >out 2>&1) || status=$?
	[ "$status" = 2 ] && grep -q "nothing is written: .*'generated.h' file not found" "$dir/out" &&
		cmp "$tests/generated/driver.c" "$dir/driver.c" || return
	# The compiler has not understood the line with the type
	(cd "$dir" && "$converter" --despite-errors driver.c >out 2>&1) || status=$?
	[ "$status" = 1 ] && grep -q '^driver.c:17: left: .*: mod_timer: not compiled' "$dir/out"
}

# looked_at: whether --compares converts the callbacks that it names, and no others
looked_at()
{
	local dir=$lab_work/looked

	mkdir "$dir"
	cp "$lab_work/api/.driver.o.cmd" "$tests/classes/deadline.c" "$dir"
	! (cd "$dir" && "$converter" --compares deadline_strict --compares '*_[cp]*' deadline.c \
		>report) && ! grep -q 'deadline_\(strict\|copied\|called\|passed\)' "$dir/report" &&
		[ "$(grep -c 'compares jiffies$' "$dir/report")" = 3 ]
}

# printed: whether --diff prints what patch(1) takes, for any bytes and line ends; and ends
# quietly if the reader has gone
printed()
{
	local dir=$lab_work/printed

	mkdir "$dir"
	cp "$lab_work/api/.driver.o.cmd" "$dir"
	dos <"$tests/generated/driver.c" | sed '/generated.h/d; s/generated_t/struct generated/' \
		>"$dir/driver.c"
	printf '/* the end */' >>"$dir/driver.c"
	cp "$dir/driver.c" "$dir/copy.c"
	(cd "$dir" && LC_ALL=C "$converter" --diff driver.c) >"$dir/diff" &&
		cmp "$dir/driver.c" "$dir/copy.c" &&
		(cd "$dir" && "$converter" driver.c) >/dev/null &&
		patch --binary "$dir/copy.c" "$dir/diff" && cmp "$dir/driver.c" "$dir/copy.c" || return
	cp "$tests/api/timer_list.c" "$tests"/api/*.h "$dir"
	(cd "$dir" && { "$converter" --diff --tick 0 timer_list.c ./*.h || :; } |
		head -n 1) >"$dir/out" 2>&1
	[ "$(wc -l <"$dir/out")" = 1 ] && grep -q '^timer_list.c: rewritten: ' "$dir/out"
}

# whole: whether all files are written, or none, if the disk is full. ulimit makes it full.
whole()
{
	local dir=$lab_work/whole status=0 last

	cp -r "$tests/api" "$dir"
	cp "$lab_work/api/.driver.o.cmd" "$dir"
	# The last file is too large
	last=$(find "$dir" -name '*.c' -printf '%s %p\n' | sort -n | tail -n 1)
	(cd "$dir" && ulimit -f $((${last%% *} / 1024 - 1)) &&
		"$converter" --tick 0 . 2>&1 >/dev/null | cat >"$lab_work/out"
		exit "${PIPESTATUS[0]}") || status=$?
	rm "$dir/.driver.o.cmd"
	[ "$status" = 2 ] && grep -qx 'hwheel-convert: .*File too large' "$lab_work/out" &&
		[ "$(wc -l <"$lab_work/out")" = 1 ] && diff -r "$tests/api" "$dir"
}

# counted: whether the check of convert-all.sh finds a call, a flag or a name that is lost
counted()
{
	/usr/bin/python3 -B - "$lab_scripts/convert-all.py" "$lab_work" <<-'END'
	import importlib.machinery
	import re
	import sys

	all_ = importlib.machinery.SourceFileLoader("all", sys.argv[1]).load_module()

	def wrong(before, after, move="timers"):
	    return all_.Worker.wrong(move, {"a.c": before}, {"a.c": after})

	text = "mod_timer(t, 3); timer_delete(t); timer_setup(t, f, TIMER_DEFERRABLE);"
	assert not wrong(text, text)
	assert not wrong(text, text.replace("mod_timer", "hwheel_add"))
	assert wrong(text, text.replace("mod_timer(t, 3);", ""))
	assert wrong(text, text.replace("timer_delete(t);", "// timer_delete(t);"))
	assert wrong(text, text.replace("TIMER_DEFERRABLE", "0"))
	assert not wrong("enum hrtimer_restart (*f)(struct hrtimer *t);", "void (*f)(void *t);")
	assert wrong("hrtimer_restart(t);", "")
	assert wrong("hrtimer_setup(t, f, CLOCK_TAI, m);", "hwheel_setup(t, w, f, 0);")

	text = "schedule_delayed_work(w, HZ); cancel_delayed_work(w);"
	moved = "hwheel_queue_delayed_work(system_percpu_wq, w, hwheel_jiffies(HZ)); " \
	    "hwheel_cancel_delayed_work(w);"
	assert not wrong(text, text, "work")
	assert not wrong(text, moved, "work")
	assert wrong(text, moved.replace("system_percpu_wq", "wq"), "work")
	assert wrong(text, moved.replace("hwheel_jiffies(HZ)", "HZ"), "work")
	assert wrong(text, moved.replace("hwheel_cancel_delayed_work(w);", ""), "work")
	assert wrong("INIT_DEFERRABLE_WORK(w, f);", "HWHEEL_INIT_DELAYED_WORK(w, h, f);", "work")

	# Drivers are built with a copy of hwheel.h. In the copy, each private member of a timer and
	# of delayed work has another name: hidden_...
	all_.hide(sys.argv[2])
	header = all_.bare(all_.read(sys.argv[2] + "/hwheel.h"))
	members = re.findall(r"(\w+)(?:\)\([^)]*\))?;", re.search(
	    r"struct hwheel_timer {(.*?)}", header, re.S)[1])
	assert len(members) == 6 and members.pop() == "lockdep_map" and \
	    all(m.startswith("hidden_") for m in members), members
	members = re.findall(r"(\w+);", re.search(
	    r"struct hwheel_delayed_work {(.*?)}", header, re.S)[1])
	assert len(members) == 5 and members.pop(0) == "work" and \
	    all(m.startswith("hidden_") for m in members), members
	members = re.findall(r"\n\t\t\.(\w+)\s*=", header)
	assert len(members) == 5 and members.count("work") == 1 and \
	    sum(m.startswith("hidden_") for m in members) == 4, members
	END
}

# jiffies: tests the arithmetic of hwheel_jiffies.h
jiffies()
{
	local dir=$lab_work/jiffies name

	mkdir -p "$dir/linux"
	for name in compiler jiffies limits math64 minmax; do
		: >"$dir/linux/$name.h"
	done
	gcc -O2 -Wall -Wextra -Wno-unused-parameter -fsanitize=undefined -I"$dir" -I"$lab_top" \
		-o "$dir/jiffies" "$tests/jiffies.c" && "$dir/jiffies"
}

# take: copies net/bridge, net/sctp and their headers, laid out as in the kernel's tree
take()
{
	local name

	mkdir -p "$tree/net" "$tree/include/net" "$tree/include/trace/events"
	cp -r "$source"/net/{bridge,sctp} "$tree/net"
	cp -r "$source/include/net/sctp" "$tree/include/net"
	# This header includes a header of net/bridge by a relative path
	cp "$source/include/trace/events/bridge.h" "$tree/include/trace/events"
	# These are in other modules than bridge.ko, and have no timers
	rm -r "$tree"/net/bridge/netfilter "$tree"/net/bridge/br_netfilter*
	sed -i '/br_netfilter\|netfilter\//d' "$tree/net/bridge/Makefile"
	for name in bridge sctp; do
		# shellcheck disable=SC2016 # make's variable
		sed -i '1i LINUXINCLUDE := -I$(src)/../../include $(LINUXINCLUDE)' \
			"$tree/net/$name/Makefile"
	done
	echo 'obj-m += net/bridge/ net/sctp/' >"$tree/Kbuild"
}

# converts: whether all timers but those of other code (bridge.stays) are converted if --also
# gives the patches bridge.cocci and sctp.cocci. Without these patches, the report must name
# the places that the patches change, and the timers of other code (bridge.left).
converts()
{
	local copy=$lab_work/unhelped status=0

	cp -r "$tree" "$copy"
	convert "$copy" >"$lab_work/report" || status=$?
	[ "$status" = 1 ] || return
	unconverted "$lab_work/report" | diff "$tests/bridge.left" - || return

	# With the patches, the only timers that stay are those of other code
	convert "$tree" --also "$tests/bridge.cocci" --also "$tests/sctp.cocci" \
		>"$lab_work/report" &&
		unconverted "$lab_work/report" | diff "$tests/bridge.stays" - && return
	cat "$lab_work/report"
	return 1
}

# convert TREE ARGUMENTS...: converts the folders in TREE
convert()
{
	options "$1"/net/{bridge,sctp} &&
		"$converter" --kernel "$headers" "--cflags=-I$1/include" "${compares[@]}" \
			"${@:2}" "$1/net" "$1/include"
}

# options FOLDER...: hwheel-convert can't run kbuild in a builder, a chroot (see builder() in
# lab.sh). So if the kernel's headers are in a builder, puts a file with kbuild's options into
# each FOLDER.
options()
{
	local root folder probe=$lab_work/probe

	root=$(kbuild_root "$headers")
	[ -n "$root" ] || return 0
	mkdir -p "$probe"
	: >"$probe/probe.c"
	echo 'obj-m := probe.o' >"$probe/Kbuild"
	quiet convert-options kbuild "$headers" M="$probe" probe.i || return
	for folder; do
		sed -E "s,(-I|-include )/,\\1$root/,g" "$probe/.probe.i.cmd" \
			>"$folder/.probe.i.cmd"
	done
}

# unconverted REPORT: prints each reason why something was not converted, and its file
unconverted()
{
	sed -nE 's/^.*\/([^/]*):[0-9]+: (stays|left): [^:]*: /\1: /p' "$1" | sort -u
}

# can_converts: as converts, for bcm.c's hrtimers
can_converts()
{
	local dir=$lab_work/can copy=$lab_work/can-unhelped status=0 before after

	mkdir "$dir" "$copy"
	cp "$source/net/can/bcm.c" "$dir"
	cp "$source/net/can/bcm.c" "$copy"
	printf 'obj-m := can-bcm.o\ncan-bcm-y := bcm.o\n' >"$dir/Kbuild"

	options "$dir" "$copy" || return
	"$converter" --kernel "$headers" --tick 0 "$copy" >"$lab_work/report" || status=$?
	[ "$status" = 1 ] || return
	unconverted "$lab_work/report" | diff "$tests/bcm.left" - || return

	before=$(uses "$hrtimer" "$dir/bcm.c")
	"$converter" --kernel "$headers" --tick 0 --also "$tests/bcm.cocci" "$dir" \
		>"$lab_work/report" ||
		{ cat "$lab_work/report"; return 1; }
	after=$(uses "$hrtimer" "$dir/bcm.c")
	echo "convert: uses of hrtimer in net/can/bcm.c: $before, then $after"
	[ "$before" -ge 30 ] && [ "$after" = 0 ]
}

# uses PATTERN FILE...: counts the words of C that match, but not those in comments
uses()
{
	local file pattern=$1

	shift
	for file; do
		gcc -w -fpreprocessed -dD -E -P "$file" | { grep -oE "\<($pattern)\>" || :; }
	done | wc -l
}

hrtimer='struct hrtimer|hrtimer_[a-z_]+|HRTIMER_[A-Z_]+'
delayed_work='struct delayed_work|(queue|mod|cancel)_delayed_work(_sync)?|INIT_DELAYED_WORK'

# bond_take DIR: copies drivers/net/bonding and its headers, laid out as in the kernel's tree
bond_take()
{
	mkdir -p "$1/drivers/net" "$1/include/net"
	cp -r "$source/drivers/net/bonding" "$1/drivers/net"
	cp "$source"/include/net/bond*.h "$1/include/net"
	# shellcheck disable=SC2016 # make's variable
	sed -i '1i LINUXINCLUDE := -I$(src)/../../../include $(LINUXINCLUDE)' \
		"$1/drivers/net/bonding/Makefile"
	echo 'obj-m += drivers/net/bonding/' >"$1/Kbuild"
}

# bond_converts DIR: whether all delayed work of bonding is converted
bond_converts()
{
	local dir=$1 before after

	before=$(uses "$delayed_work" "$dir"/{drivers/net/bonding,include/net}/*.[ch])
	options "$dir/drivers/net/bonding" || return
	"$converter" --kernel "$headers" "--cflags=-I$dir/include" "${compares[@]}" \
		--move work "$dir" \
		>"$lab_work/report" ||
		{ cat "$lab_work/report"; return 1; }
	after=$(uses "$delayed_work" "$dir"/{drivers/net/bonding,include/net}/*.[ch])
	echo "convert: uses of delayed work in drivers/net/bonding: $before, then $after"
	[ "$before" -ge 40 ] && [ "$after" = 0 ]
}

# builds NAME DIR HWHEEL: whether the modules in DIR build without a warning
builds()
{
	quiet "convert-$1" kbuild "$headers" -j "$lab_jobs" M="$2" KCFLAGS="-I$3" \
		KBUILD_EXTRA_SYMBOLS="$3/Module.symvers" modules || return
	! grep -E 'warning:|WARNING' "$lab_cache/log/convert-$1.log"
}

# same bridge|sctp|bond|can: whether both guests ran to the end, and the converted modules behaved
# as the stock modules. The converted modules must never be early. They may be later than the
# stock modules, but not by more than within(). The stock modules are the measure, because they
# may be late, too, on a busy machine.
same()
{
	local which guest=

	[ "$1" != can ] || guest=can-
	for which in stock moved; do
		grep -qx "lab: $1 ended" "$lab_work/$guest$which.log" || return
		sed -n "s/^lab: measured /$which /p" "$lab_work/$guest$which.log"
	done >"$lab_work/measured"
	awk -v what="$1" '
	function bad(why)
	{
		print "convert: " name ": " why
		failed = 1
	}
	function apart(a, b)
	{
		return a > b ? a - b : b - a
	}
	# By how much a measurement of the converted modules may be greater. Polling
	# takes time. A bridge sends an STP hello each second, so the last hello that
	# arrives may come up to 1 s before the link is cut. Aged entries
	# are collected now and then. Times of can are in us. A time whose name ends in
	# _least is the minimum of several, and may be greater by a few ticks.
	function within(name)
	{
		if (what == "can")
			return name ~ /_least$/ ? 5000 : name ~ /_all$|_first$/ ? 1000000 : 0
		return name ~ /^lost/ ? 2000 : name ~ /^fdb/ ? 3000 : 1000
	}
	BEGIN {
		# Names, and the least that each may be
		if (what == "bridge")
			split("stp_listening 0 stp_learning 2000 stp_forwarding 4000 " \
			      "stp_blocking 0 stp_host 4000 topology_calm 8000 " \
			      "fdb_aged 3000 mdb_aged 3000 lost_listening 4000 " \
			      "lost_learning 6000 lost_forwarding 8000", list)
		else if (what == "can")
			split("fast_least 20000 fast_all 600000 " \
			      "slow_least 100000 slow_all 800000 expired 1 after_delete 0 " \
			      "timeout_first 500000 timeout_least 500000 timeout_only 1 " \
			      "throttle_least 200000 throttle_messages 4 throttle_last 60",
			      list)
		else if (what == "bond")
			# Polls are 100 ms apart, and the link may fail just before a poll
			split("bond_down 400 bond_up 900", list)
		else
			split("idle_ms 1900 beat_chunks 4 dead_ms 1400 echo_ms 0 " \
			      "echo_expired 1", list)
	}
	{ did[$1, $2] = $3 }
	END {
		for (i = 1; i in list; i += 2) {
			name = list[i]
			stock = did["stock", name]
			moved = did["moved", name]
			printf "convert: %s: stock %s, moved %s\n", name, stock, moved
			if (stock == "" || moved == "")
				bad("missing")
			else if (moved < list[i + 1])
				bad("too early")
			# Do not compare echo: it is random which messages get lost
			else if (name == "beat_chunks" && apart(stock, moved) > 3 ||
				 name !~ /^echo|chunks$|messages$/ && moved - stock > within(name))
				bad("differs")
		}
		exit failed
	}' "$lab_work/measured"
}

timers()
{
	[ "$(grep -c '^lab: timers: [^n]' "$lab_work/moved.log")" = 3 ]
}

can_timers()
{
	[ "$(grep -c '^lab: timers: bcm_' "$lab_work/can-moved.log")" = 3 ]
}

clean()
{
	local name

	for name in bridge bonding; do
		grep -qx "lab: $name removed" "$lab_work/stock.log" &&
			grep -qx "lab: $name removed" "$lab_work/moved.log" || return
	done
	! dmesg_dirty "$lab_work/moved.log" && ! dmesg_dirty "$lab_work/stock.log"
}

can_clean()
{
	grep -qx 'lab: can removed' "$lab_work/can-stock.log" &&
		grep -qx 'lab: can removed' "$lab_work/can-moved.log" &&
		! dmesg_dirty "$lab_work/can-moved.log" && ! dmesg_dirty "$lab_work/can-stock.log"
}

# boot stock|moved|can-stock|can-moved FILES...: keeps the kernel's log. The guest's clock counts
# instructions, so the host's load has no influence. What stock modules do depends on nothing of
# hwheel, so the cache keeps it.
boot()
{
	local which=$1 log=$lab_cache/log/convert-$1.log status=0 guest=convert.sh kept files

	shift
	[ "${which#can-}" = "$which" ] || guest=can.sh
	{
		printf "which=%s modules='" "$which"
		printf '%s\n' "$@" | sed -n 's,^.*/\([^/]*\.ko\)$,\1,p' | tr '\n' ' '
		echo "'"
		cat "$lab_scripts/guest/$guest"
	} >"$lab_work/payload"
	files=("$lab_work/payload" "$@" "$lab_work"/{sctp,can}-load "${userland[@]}")
	kept=$lab_cache/convert-$which-$(cat "$vmlinuz" "$lab_scripts/guest/init.sh" "${files[@]}" |
		sha256sum | cut -c -12)
	if [ -f "$kept" ]; then
		cp "$kept" "$log"
	else
		say "convert: booting $release, $which modules (about 40 s)"
		TIMEOUT=${TIMEOUT:-1200} ICOUNT=3 "$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 1G \
			"${files[@]}" >"$log" || status=$?
	fi
	guest_log "$log" >"$lab_work/$which.log"
	if [ "$status" = 0 ]; then
		[[ $which != *stock ]] || cp "$log" "$kept"
		return
	fi
	tail -n 15 "$lab_work/$which.log" >&2
	say "convert: the guest's console is in $log"
	return 1
}

# forms_build: whether forms.c is converted as a whole, and builds, as it is and converted
forms_build()
{
	local dir=$lab_work/forms

	mkdir "$dir"
	cp "$tests/forms/forms.c" "$dir/forms_before.c"
	cp "$tests/forms/forms.c" "$dir/forms_after.c"
	echo 'obj-m := forms_before.o forms_after.o' >"$dir/Kbuild"
	options "$dir" || return
	"$converter" --kernel "$headers" --tick 0 --move all "$dir/forms_after.c" \
		>"$lab_work/report" || { cat "$lab_work/report"; return 1; }
	builds forms-build "$dir" "$lab_work/build"
}

# forms_boot: runs both in one guest, three times each. Its clock counts instructions, of both CPUs.
# So the host's load has no influence, but one CPU's work makes the other's timers late.
forms_boot()
{
	say "convert: booting $release, forms.c as it is and moved (about 40 s)"
	cp "$lab_scripts/guest/forms.sh" "$lab_work/payload"
	TIMEOUT=${TIMEOUT:-1200} ICOUNT=3 "$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 1G \
		"$lab_work/payload" "$lab_work/build/hwheel.ko" \
		"$lab_work"/forms/forms_{before,after}.ko >"$lab_cache/log/convert-forms.log" || return
	guest_log "$lab_cache/log/convert-forms.log" >"$lab_work/forms.log"
	grep -qx 'lab: forms ended 3' "$lab_work/forms.log" && ! dmesg_dirty "$lab_work/forms.log"
}

# forms: whether both modules said the same. Values whose names begin with n_ may differ. Those that
# begin with us_ are microseconds late: never less than 0, and the least of hwheel's at most a jiffy
# of 4 ms and a tick more than the least of the kernel's, or than 2 jiffies.
forms()
{
	awk '
	/^lab: forms: / { which = $3; split("", nr); next }
	!/^forms: / { next }
	{
		name = $2
		sub(/=.*/, "", name)
		# Two kinds may have a case of one name
		name = name " " ++nr[which, name]
		for (i = 2; i <= NF; i++)
			if (split($i, pair, "=") == 2) {
				key = name SUBSEP pair[1]
				keys[key]
				times[which, key]++
				if (!((which, key) in did))
					did[which, key] = pair[2]
				else if (pair[1] ~ /^us_/)
					did[which, key] = least(did[which, key], pair[2])
				else if (pair[1] !~ /^n_/ && did[which, key] != pair[2])
					did[which, key] = did[which, key] "," pair[2]
			}
		if (which == "forms_before")
			cases++
	}
	function least(x, y)
	{
		return y + 0 < x + 0 ? y : x
	}
	function bad(why)
	{
		print "convert: forms: " part[1] ": " part[2] ": " why ", before " a ", after " b
		failed = 1
	}
	END {
		for (key in keys) {
			split(key, part, SUBSEP)
			a = did["forms_before", part[1], part[2]]
			b = did["forms_after", part[1], part[2]]
			if (times["forms_before", key] != 3 || times["forms_after", key] != 3)
				bad("missing")
			else if (part[2] ~ /^us_/) {
				print "convert: forms: " part[1] ": us late: before " a ", after " b
				# timer_list may be early, by a jiffy: the time
				# counts from a jiffy that has begun before
				if (b < 0)
					bad("early")
				else if (b > (a > 8000 ? a : 8000) + 5000)
					bad("late")
			} else if (part[2] !~ /^n_/ && a != b)
				bad("differs")
		}
		print "convert: forms: " cases " lines compared"
		exit failed || cases < 72
	}' "$lab_work/forms.log"
}

need python3-clang coccinelle gcc make iproute2 patch
kernel=$("$lab_scripts/lab/stock-kernel.sh" 6.12)
read -r release vmlinuz headers <<<"$kernel"
source=$(linux_source 6.12)
stock=$(stock_modules "$release" bridge sctp veth sch_netem bonding)
bond=$lab_work/bond newest=$lab_work/bond-newest

say "convert: moving net/bridge and net/sctp to hwheel"
small
verdict timer_list as_expected api/timer_list.c api/driver.h
verdict hrtimer as_expected api/hrtimer.c
verdict "class: include in a macro" as_expected classes/macro.h classes/macro.c
verdict "class: hardirq context" as_expected classes/hard.c
verdict "class: timers of others" as_expected classes/foreign.c
verdict "class: guards" as_expected classes/guard.c
verdict "class: members" as_expected classes/members.c
verdict "class: clocks" as_expected classes/clock.c
verdict "class: prototypes" as_expected classes/prototype.h classes/prototype.c
verdict "class: ticks" as_expected classes/tick.c
verdict "class: NULL" as_expected classes/null.c
verdict "class: names" as_expected classes/names.c
verdict "class: types" as_expected classes/types.c
verdict "class: configuration" as_expected classes/configured.c
verdict "class: flags" as_expected classes/flag.c
verdict "class: deadlines" as_expected classes/deadline.c
verdict "class: calls of callbacks" as_expected classes/itself.c
verdict "class: constants" as_expected classes/never.c
verdict "class: types in macros" as_expected classes/alias.c
verdict "class: branches" as_expected classes/branch.c
verdict "class: versions" as_expected classes/version.c
verdict "class: deadlines looked at" looked_at
verdict "class: errors of the compiler" compiler_errors
verdict "class: line ends" line_ends
verdict "class: printed" printed
verdict "class: whole" whole
verdict "strangers: deadlines" as_expected strangers/deadline.c
verdict "strangers: hardirq context" as_expected strangers/hard.c
verdict "strangers: lost types" as_expected strangers/anywhere.c
verdict "strangers: names" as_expected strangers/named.c
verdict "strangers: #if inside" as_expected strangers/inside.c
verdict "strangers: pairs" as_expected strangers/pair.c
verdict "strangers: headers" as_expected strangers/code.h strangers/code.c strangers/unused.h
verdict "strangers: open braces" as_expected strangers/open.c
verdict "strangers: text" as_expected strangers/text.c
verdict "strangers: moments" as_expected strangers/moment.c
verdict "strangers: types" as_expected strangers/spelled.c
verdict "strangers: nothing" nothing
verdict "delayed work" as_expected work/device.c work/device.h work/away.c
verdict "delayed work: stays" as_expected work/stays.c work/stays.h
verdict "delayed work: left" as_expected work/left.c
verdict "timers and delayed work" together
verdict "missing files" missing
verdict reports complete
verdict counted counted
verdict jiffies jiffies
take
verdict converts converts
bond_take "$bond"
verdict "delayed work converts" bond_converts "$bond"

say "convert: building the modules for $release"
build_modules convert-hwheel "$headers" "$lab_work/build"
verdict builds builds build "$tree" "$lab_work/build"
verdict "forms build" forms_build
verdict "forms boot" forms_boot
verdict forms forms
verdict "delayed work builds" builds bond-build "$bond" "$lab_work/build"
for file in sctp can; do
	gcc -O2 -Wall -Wextra -static -o "$lab_work/$file-load" "$lab_scripts/guest/$file-load.c"
done

userland=()
for file in ip tc bridge; do
	userland+=("$(PATH=/usr/sbin:/sbin:/usr/bin:/bin command -v $file)")
done
while read -r file; do
	userland+=("$file")
done < <(ldd "${userland[@]}" | grep -o '/[^ ]* (0x' | cut -d ' ' -f 1 | sort -u)

mapfile -t modules <<<"$stock"
verdict "boot of stock" boot stock "${modules[@]}"
modules=("${modules[@]/*\/bridge.ko/$tree/net/bridge/bridge.ko}")
modules=("${modules[@]/*\/bonding.ko/$bond/drivers/net/bonding/bonding.ko}")
modules=("$lab_work/build/hwheel.ko" "${modules[@]/*\/sctp.ko/$tree/net/sctp/sctp.ko}")
verdict "boot of moved" boot moved "${modules[@]}"
verdict bridge same bridge
verdict sctp same sctp
verdict bonding same bond
verdict timers timers
verdict dmesg clean

kernel=$("$lab_scripts/lab/stock-kernel.sh" 6.12-rt)
read -r release vmlinuz headers <<<"$kernel"
stock=$(stock_modules "$release" can-bcm can-raw vcan)

say "convert: moving net/can/bcm.c to hwheel, building it for $release"
verdict "can converts" can_converts
build_modules convert-hwheel-rt "$headers" "$lab_work/build-rt"
verdict "can builds" builds can-build "$lab_work/can" "$lab_work/build-rt"
mapfile -t modules <<<"$stock"
verdict "can boot of stock" boot can-stock "${modules[@]}"
modules=("$lab_work/build-rt/hwheel.ko" "${modules[@]/*\/can-bcm.ko/$lab_work/can/can-bcm.ko}")
verdict "can boot of moved" boot can-moved "${modules[@]}"
verdict can same can
verdict "can timers" can_timers
verdict "can dmesg" can_clean

kernel=$("$lab_scripts/lab/stock-kernel.sh" newest)
read -r release vmlinuz headers <<<"$kernel"
source=$(linux_source newest)
say "convert: moving drivers/net/bonding to hwheel, building it for $release"
bond_take "$newest"
verdict "newest converts" bond_converts "$newest"
build_modules convert-hwheel-newest "$headers" "$lab_work/build-newest"
verdict "newest builds" builds newest-build "$newest" "$lab_work/build-newest"
exit $failed
