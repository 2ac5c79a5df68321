# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2013,SC2016,SC2088,SC2154
#
# Suite: each command in README and its pages, run on a new Debian, and on its kernel in QEMU
# Takes: 300 s
# When: FULL=1
#
# The suite does what README says, and the pages that README_PAGES names, on two machines with a new
# Debian. The release is DEBIAN, or that of this machine. Both machines have a clone of the checkout
# in ~/hwheel, and run the commands there. Below, README means README with these pages.
#	visitor		has git and make; the commands install the rest
#	user		has a stock kernel, builds for it, and boots it in QEMU
#
# The items of README are: each line of an indented block, up to a tab; each text in
# double quotes (in a page, each command between double backquotes); each block of C or Kbuild. Each
# item must be in the table below, and each row of the table in README.
#
# Where		where the suite runs the command:
#		visitor, user	on the machine of this name
#		guest		in the user's kernel, which the suite boots
#		apt		on the user's machine, before all others
#		driver		on the user's machine, in the folder of README's driver
#		guest-driver	in the guest, in the folder of README's driver
#		live		in the guest, until SIGINT interrupts the command
#		suite		nowhere: the suite of the same name runs the command's script
#		packages	nowhere: the suite packages runs the command
#		boot		nowhere: the guest of the suite boot runs the command, with -y
#		For the others see the code below.
# What		in README's own words. TREE is a kernel's source tree
# Arguments	arguments with which the command ends sooner, or -. README names all of them
# Sign		%pattern in the command's output, a file that the command makes, or !file that
#		it removes; or -
README_PAGES="install testing pacing"

readme_table()
{
	cat <<-'END'
	visitor		make demo			SESSIONS=20000 MAX_MS=5000	demo.svg
	prints		demo: armed N fired N cancelled N early N lost N max_late_ns N	-	-
	visitor		make check			SUITE=tools	%^[1-9][0-9]* passed, 0 failed
	visitor		make check FULL=1		SUITE=tools	%^[1-9][0-9]* passed, 0 failed
	visitor		make check ALL=1		SUITE=list	%^readme
	visitor		make check SUITE=list		-		%^readme
	visitor		make help			-		%^make htmldocs
	visitor		make torture			TIME=5		%End of test: SUCCESS
	visitor		make fuzz			TIME=3		-
	visitor		make bench			QUICK=1 WHERE=uml WHAT=core	bench.svg
	visitor		make picture			-		bench.svg
	suite		make kernel			-		-
	suite		make pacing			-		-
	suite		make bpf			-		-
	visitor		make htmldocs			-		Documentation/output/index.html
	visitor		make deb			-		build/hwheel-dkms_*.deb
	apt		apt-get install make gcc xz-utils linux-headers-$(uname -r)	-	-
	user		make				-		hwheel.ko
	driver		C 1				-		session.c
	driver		Kbuild 1			-		Kbuild
	driver		make -C /lib/modules/$(uname -r)/build M=$PWD HWHEEL=$HOME/hwheel	-	session.ko
	user		make install HWHEEL_EXTRAS=	-		/lib/modules/*/updates/hwheel.ko*
	user		make install			-		/lib/modules/*/updates/hwheel.ko*
	user		apt-get install dkms		-		-
	user		make dkms			-		/var/lib/dkms/hwheel/kernel-*/Module.symvers
	boot		apt-get install ./*.deb		-		-
	packages	make uninstall			-		-
	packages	make dkms-remove		-		-
	efi		mokutil --import /var/lib/dkms/mok.pub	-	/var/lib/dkms/mok.pub
	user		tools/graft TREE		-		~/linux/lib/hwheel/hwheel.c
	user		tools/graft --undo TREE	-		!~/linux/lib/hwheel
	user		apt-get install python3-rich bpftrace	-	/usr/bin/bpftrace
	guest		insmod hwheel.ko		-		/sys/kernel/debug/hwheel/system/config
	guest		insmod samples/hwheel_hello.ko	-		/sys/module/hwheel_hello/refcnt
	guest		dmesg | tail			-		%hwheel_hello:
	guest-driver	insmod session.ko		-		%session .* idle
	guest		tc qdisc add dev lo root hwpace rate 100mbit	-	/sys/module/hwheel_pace/refcnt
	usage		tc qdisc add dev lo root hwpace help	-	%^Usage:.* hwpace
	guest		tc qdisc del dev lo root	-		-
	live		tools/hwheel-top		-		%level 0
	live		tools/hwheel-who.bt		-		%@armed\[
	live		tools/hwheel-late.bt		-		%@late_us\[
	again		modprobe hwheel			-		/sys/module/hwheel/refcnt
	removal		modprobe -r hwheel		-		!/sys/module/hwheel
	refusal		Invalid module format		-		-
	END
}

suite()
{
	local found vmlinuz visit visitor=$lab_work/visitor user=$lab_work/user
	local standard="apt-get install -y ca-certificates git make"

	dir=$lab_work/readme readme=$lab_work/readme/text
	mkdir "$dir"
	readme_text >"$readme"
	readme_items >"$dir/items"
	readme_table | tr -s '\t' >"$dir/table"
	try "README and the table are the same" readme_same
	try "arguments that README names" readme_arguments
	try "files that README names" readme_files
	try "commands are in quotes" readme_quotes
	try "commands that other suites run" readme_suites

	if ! command -v dpkg-query >/dev/null || ! debian_may; then
		result skipped 1 "needs Debian, and root that may mount filesystems"
		return
	fi
	found=$(debian_stock 6.12 newest)
	read -r release _ <<<"$found"
	vmlinuz=$(stock_vmlinuz "$release")

	# The visitor's machine has never asked the archive for its lists
	debian_unpack "$visitor" "$standard && rm -r /var/lib/apt/lists/*"
	# The user's machine has what every Debian that boots has. Nobody is there to
	# answer questions. Its uname must print the release of the user's kernel.
	debian_unpack "$user" "$standard kmod iproute2 mokutil &&
		echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/answers &&
		printf '#!/bin/sh\n[ \"\$1\" = -r ] && echo $release || /bin/uname \"\$@\"\n' \
			>/usr/local/bin/uname && chmod +x /usr/local/bin/uname &&
		$(readme_rows apt | cut -f 2)"
	readme_clone "$visitor"
	readme_clone "$user"
	readme_tree "$user/root/linux"

	# Run both machines at the same time, since both mostly wait
	readme_visit "$visitor" "$lab_work/visit" &
	visit=$!
	readme_run "$user" apt user driver efi
	readme_guest "$user" "$vmlinuz" || result failed 1 "the user's kernel"
	wait "$visit" || result failed 1 "the visitor"
}

# readme_visit MACHINE FOLDER: runs the visitor's rows, with FOLDER as lab_work
readme_visit()
{
	local lab_work=$2

	mkdir "$lab_work"
	readme_run "$1" visitor prints
}

# readme_text: prints README, and the pages in README's form
readme_text()
{
	local page

	cat "$lab_top/README"
	for page in $README_PAGES; do
		echo
		sed -E 's/"//g
			s/``((make|insmod|modprobe|apt-get|mokutil|tools\/|tc|Invalid module) ?[^`]*)``/"\1"/g
			s/``//g; s/^(.*) ?::$/\1/' "$lab_top/Documentation/$page.rst"
	done
}

# readme_items: prints README's items; writes its C and Kbuild blocks to files
readme_items()
{
	awk -v dir="$dir" '
	function item(text)
	{
		gsub(/[ \t]+/, " ", text)
		if (!seen[text]++)
			print text
	}
	function prose(	part, n, i)
	{
		n = split(text, part, "\"")
		for (i = 2; i <= n; i += 2)
			item(part[i])
		if (n % 2 == 0)
			item("an odd quotation mark in: " text)
		text = ""
	}
	# A block may have empty lines
	/^$/ { empty = empty "\n"; next }
	!/^\t/ { file = block = ""; text = text " " $0; empty = ""; next }
	!block {
		prose()
		block = 1
		if (/^\t#include/)
			file = "C " ++c
		else if (/^\tobj-/)
			file = "Kbuild " ++kbuild
		if (file)
			item(file)
	}
	{ sub(/^\t/, "") }
	file { print empty $0 >(dir "/" file) }
	{ empty = "" }
	!file && !/^\t/ { sub(/\t.*/, ""); item($0) }
	END { prose() }' "$readme"
}

# readme_rows WHERE...: prints these rows of the table, in their order
readme_rows()
{
	awk -F '\t' -v where=" $* " 'index(where, " " $1 " ")' "$dir/table"
}

readme_same()
{
	diff <(sort "$dir/items") <(awk -F '\t' '{ print $2 }' "$dir/table" | sort) |
		sed -n 's/^</the table has no:/p; s/^>/README has no:/p' | tee "$dir/differ"
	[ ! -s "$dir/differ" ] && [ "$(wc -l <"$dir/items")" -ge 30 ]
}

readme_arguments()
{
	local word status=0

	for word in $(awk -F '\t' '$3 != "-" { print $3 }' "$dir/table"); do
		grep -q "\<${word%%=*}=" "$readme" ||
			{ echo "README does not name ${word%%=*}="; status=1; }
	done
	return $status
}

# For a module X.ko, look for its source X.c
readme_files()
{
	local file status=0

	for file in $(grep -oE '\<(scripts|tools|samples|Documentation)/[A-Za-z0-9_./-]*[A-Za-z0-9]' \
		      "$readme" | sed 's/\.ko$/.c/'); do
		[ -e "$lab_top/$file" ] || { echo "there is no $file"; status=1; }
	done
	return $status
}

# readme_quotes: whether each command in README's prose is in quotes
readme_quotes()
{
	local targets

	targets=$(make -s -f - targets <<-'END'
	include Makefile
	targets: ; @echo $(filter-out targets,$(.PHONY)) | tr ' ' '|'
	END
	) || return
	! grep -v '^	' "$readme" | tr '\n' ' ' | sed 's/"[^"]*"//g' |
		grep -oE "make ($targets)\>|(insmod|rmmod) [^ ]*[a-z]\.ko|modprobe h|apt-get [iu]|mokutil --"
}

readme_suites()
{
	local name

	for name in $(readme_rows suite | cut -f 2 | sed 's/^make //'); do
		grep -F "/$name.sh" "$suite_files/$name.sh" || return
	done
	readme_rows packages | cut -f 2 | while read -r name; do
		grep -F "try \"$name\"" "$suite_files/packages.sh" || return
	done
	readme_rows boot | cut -f 2 | while read -r name; do
		grep -F "${name/install/install -y}" "$lab_scripts/guest/boot.sh" || return
	done
}

# readme_clone MACHINE: clones the checkout as it is, with changes not yet committed
readme_clone()
{
	local git=(git -C "$1/root/checkout" -c user.name=check -c user.email=check)

	copy_sources "$1/root/checkout"
	"${git[@]}" init -q && "${git[@]}" add -A && "${git[@]}" commit -qm checkout &&
		chroot_run "$1" "git clone -q ~/checkout ~/hwheel"
}

# readme_tree DIR: copies the files of a kernel's tree that graft may touch
readme_tree()
{
	local source

	source=$(linux_source 6.x)
	mkdir -p "$1/include/linux" "$1/lib"
	cp "$source"/{Kbuild,Makefile} "$1"
	cp "$source"/lib/{Kconfig,Makefile} "$1/lib"
}

# readme_run MACHINE WHERE...: runs these rows on the machine
readme_run()
{
	local machine=$1 where item arguments sign

	shift
	while IFS=$'\t' read -r where item arguments sign; do
		[ "$arguments" != - ] || arguments=
		try "$where: $item" readme_row
	done < <(readme_rows "$@")
}

readme_row()
{
	local folder="~/hwheel" out=$lab_work/printed command="${item/TREE/\~/linux} $arguments"

	case $where in
	prints)	# N stands for a number; make demo has run
		grep -xE "${item// N/ [0-9]+}" "$lab_work/demo"
		return ;;
	driver)	folder="~/driver"
		mkdir -p "$machine/root/driver"
		[ ! -e "$dir/$item" ] || {
			cp "$dir/$item" "$machine/root/driver/$sign"
			return
		} ;;
	efi)	# This machine has no firmware that takes the key
		command="$item 2>&1 | grep 'EFI variables are not supported'" ;;
	esac
	# Share the lab's cache, but not its logs: do not fetch and build kernels again
	mkdir -p "$machine/var/log/lab"
	BIND="$lab_cache $machine/var/log/lab:$lab_cache/log" chroot_run "$machine" \
		"export XDG_CACHE_HOME=${lab_cache%/*}
		cd $folder && { $command; } && $(readme_left)" 2>&1 </dev/null | tee "$out"
	[ "${PIPESTATUS[0]}" = 0 ] || return
	[ "$item" != "make demo" ] || cp "$out" "$lab_work/demo"
	readme_printed "$out"
}

# readme_left: prints a command that checks the file that a row's command makes
readme_left()
{
	case $sign in
	-|%*)	echo : ;;
	!*)	echo "[ ! -e ${sign#!} ]" ;;
	*)	echo "ls -d $sign" ;;
	esac
}

# readme_printed FILE: whether FILE has the row's sign
readme_printed()
{
	[ "${sign#%}" = "$sign" ] || grep -qE "${sign#%}" "$1" ||
		{ echo "it did not print ${sign#%}"; return 1; }
}

#
# The user's kernel
#

# readme_guest MACHINE VMLINUZ: boots VMLINUZ from a disk with a copy of the machine, and
# runs the rows there, one after the other
readme_guest()
{
	local machine=$1 vmlinuz=$2 where item arguments sign row files status=0
	local names=() signs=() image=$lab_work/disk console=$lab_work/console
	local wheel=/sys/kernel/debug/hwheel/system

	need e2fsprogs
	while IFS=$'\t' read -r where item arguments sign; do
		case $where in
		driver)	readme_step "cd ~/driver; $item && sleep 3 && dmesg | tail" ;;
		# SIGINT ends these commands, as when a user interrupts them. Timers must fire
		# meanwhile. On a busy host bpftrace may need a minute to begin.
		live)	readme_step "while sleep 2; do
				rmmod hwheel_hello; insmod samples/hwheel_hello.ko
			done &
			for seconds in 25 150; do
				timeout -s INT \$seconds $item >/tmp/live; status=\$?
				grep -qE '${sign#%}' /tmp/live && break
			done
			cat /tmp/live; kill \$!; wait; [ \$status = 124 ]" ;;
		# tc prints its help and fails
		usage)	readme_step "! $item" ;;
		again)	readme_step "! ls $wheel ||
				rmmod session hwheel_hello hwheel_pace hwheel; $item" ;;
		*)	readme_step "$item" ;;
		esac
	done < <(readme_rows guest guest-driver usage live again | sed 's/^guest-//')
	sign=- item="parameters' defaults"
	readme_step "$(readme_defaults | sed -E "s,(.*) (.*),grep -E '^\1 \2(\,\2)*\$' $wheel/config \&\&,") :"
	[ "$(readme_defaults | wc -l)" = 4 ] || die "README: not 4 parameters with a default"
	item="hwheel-top and debugfs say the same"
	readme_step "sh scripts/guest/top.sh"
	IFS=$'\t' read -r where item arguments sign < <(readme_rows removal)
	readme_step "rmmod hwheel_sessions; $item"
	IFS=$'\t' read -r where item arguments sign < <(readme_rows refusal)
	readme_step "sed '/vermagic=/ s/ SMP / UMP /' hwheel.ko >/tmp/hwheel.ko
		insmod /tmp/hwheel.ko 2>&1 | grep '$item' &&
		dmesg | tail | grep 'version magic'"

	truncate -s $(($(du -sm "$machine" | cut -f 1) * 5 / 4 + 200))M "$image"
	quiet readme-disk mkfs.ext4 -q -O ^has_journal -d "$machine" "$image" || return
	mapfile -t files < <(stock_modules "$release" virtio_blk)
	{
		echo "modules='${files[*]##*/}'"
		cat "$lab_scripts/guest/readme.sh"
	} >"$lab_work/payload"
	say "$suite: booting $release"
	DISK=$image TIMEOUT=${TIMEOUT:-900} "$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 1G \
		"$lab_work/payload" "${files[@]}" >"$console" || status=$?
	cat "$console"
	verdict "guest: boots and ends" "$console" [ $status = 0 ]
	for row in "${!names[@]}"; do
		sign=${signs[row]}
		sed -n "/^lab: row $row begins/,/^lab: row $row ends/p" "$console" \
			>"$lab_work/row"
		verdict "guest: ${names[row]}" "$lab_work/row" readme_stepped "$lab_work/row"
	done
	guest_log "$console" >"$lab_work/log"
	try "guest: kernel log" clean_log "$lab_work/log"
}

# The parameters of README and their defaults
readme_defaults()
{
	awk '/^- /			{ name = $2 }
		/^- [a-z_]+: /,/^$/	{ if (match($0, /The default is [0-9]+/))
						print name, substr($0, RSTART + 15, RLENGTH - 15) }
	' "$readme" | tr -d :
}

# readme_step COMMAND: adds COMMAND to those that the guest runs, in ~/hwheel
readme_step()
{
	local row=${#names[@]}

	names+=("$item") signs+=("$sign")
	cat >>"$machine/root/steps" <<-END
	echo "lab: row $row begins"
	(
		cd ~/hwheel && { $1; } && $(readme_left)
	) >/tmp/row 2>&1 </dev/null
	status=\$?
	cat /tmp/row
	echo "lab: row $row ends \$status"
	END
}

readme_stepped()
{
	grep -qx "lab: row [0-9]* ends 0" "$1" && readme_printed "$1"
}
