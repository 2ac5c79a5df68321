#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds Documentation/ into Documentation/output/. A warning is an error. The kernel's
# own extensions for Sphinx make the API's pages from the kernel-doc comments. This script
# also draws the pictures, those of costs and lateness from Documentation/recorded/. performance.rst
# shows bench.svg of "make bench" instead if there is one, and pacing.rst pacing.svg of
# "make pacing", kernel.rst kernel.svg of "BENCH=1 make kernel", and converting.rst the tables of
# "make convert-all".
#
# Usage: [KERNEL_SOURCE=FOLDER] htmldocs.sh [FOLDER]

. "$(dirname "$0")/lab/lab.sh"

out=${1:-$lab_top/Documentation/output}
need python3-sphinx python3-matplotlib graphviz perl
source=${KERNEL_SOURCE:-$(linux_source newest)}
docs=$lab_work/Documentation
cp -r "$lab_top/Documentation" "$docs"
# where.rst shows it
cp "$lab_scripts/suites/shared/changes" "$docs"
rm -rf "$docs/output"
chmod -R u+w "$docs"

export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$docs/pictures.py" "$docs" "$lab_top/tools"
/usr/bin/python3 "$lab_scripts/bench.py" recorded "$docs/recorded" "$docs"
for picture in bench pacing kernel; do
	made="make $picture"
	[ $picture != kernel ] || made="BENCH=1 make kernel"
	if [ -f "$lab_top/$picture.svg" ]; then
		cp "$lab_top/$picture.svg" "$docs"
		printf '%s\n' ".. figure:: $picture.svg" '' "   Drawn by *$made*."
	elif [ $picture = bench ]; then
		printf '%s\n' '.. figure:: bench.svg' '' '   Drawn from the recorded run.'
	else
		echo ".. note:: *$made* draws the figure that belongs here."
	fi >"$docs/$picture.inc"
done
for inc in converted converted-work; do
	if [ -f "$lab_top/$inc.inc" ]; then
		cp "$lab_top/$inc.inc" "$docs"
	else
		move=
		[ "$inc" = converted ] || move='MOVE=work '
		echo ".. note:: *${move}make convert-all* prints the table that belongs here." \
			>"$docs/$inc.inc"
	fi
done

rm -rf "$out"
KERNEL_SOURCE=$source HWHEEL_SOURCE=$lab_top \
	/usr/bin/python3 -m sphinx -q -W --keep-going -b html "$docs" "$out"
say "htmldocs: $out/index.html"
