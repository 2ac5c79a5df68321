# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of convert.sh runs this script. It loads tools/convert-tests/forms/forms.c, as it is
# and moved to hwheel, three times each. The modules print what happens.

insmod hwheel.ko || exit 1
for round in 1 2 3; do
	for module in forms_before forms_after; do
		echo "<6>lab: forms: $module" >/dev/kmsg
		insmod $module.ko && rmmod $module || exit 1
	done
done
rmmod hwheel && echo "<6>lab: forms ended $round" >/dev/kmsg
