# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: hwheel-convert converts net/bridge, net/sctp, net/can/bcm.c and bonding; they work
# Takes: 220 s
# When: FULL=1

# The headers with hidden members, which convert-all.sh compiles drivers with, can be compiled.
hidden_members()
{
	local folder=$lab_work/hidden flags

	mkdir -p "$folder"
	/usr/bin/python3 "$lab_scripts/convert-all.py" --hide "$folder" || return
	echo '#include "hwheel_jiffies.h"' >"$folder/all.c"
	mapfile -t flags < <("$lab_scripts/sim.sh" flags plain)
	gcc -fsyntax-only "${flags[@]}" "$folder/all.c"
}

suite()
{
	local name

	need python3 python3-clang python3-rich
	try "hidden members" hidden_members
	# The same drivers each time. "TIME=600 tools/test-tools.py Convert" looks for new finds
	SEED=1 try fuzz /usr/bin/python3 "$lab_top/tools/test-tools.py" Convert
	"$lab_scripts/convert.sh" | tee "$lab_work/convert" || :
	for name in timer_list hrtimer "class: "{"include in a macro","hardirq context"} \
		    "class: "{"timers of others",guards,members,clocks,prototypes,ticks,NULL,names,types,configuration} \
		    "class: "{flags,deadlines,"deadlines looked at","calls of callbacks",constants,"types in macros"} \
		    "class: "{branches,versions,"errors of the compiler","line ends",printed,whole} \
		    "strangers: "{deadlines,"hardirq context","lost types",names,"#if inside",pairs} \
		    "strangers: "{headers,"open braces",text,moments,types,nothing} \
		    "delayed work"{,": stays",": left"," converts"," builds"} "timers and delayed work" \
		    forms{," build"," boot"} "missing files" reports counted jiffies converts builds \
		    "boot of stock" "boot of moved" bridge sctp bonding timers dmesg \
		    can\ {converts,builds,"boot of stock","boot of moved",timers,dmesg} \
		    can newest\ {converts,builds}; do
		verdict "$name" "$lab_work/convert" \
			grep -qx "convert: $name ok" "$lab_work/convert"
	done
}
