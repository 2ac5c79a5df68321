# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest of convert.sh runs this script. It loads tools/convert-tests/forms/forms.c, as it is
# and moved to hwheel. The modules print what happens.

for module in forms_before hwheel forms_after; do
	echo "<6>lab: forms: $module" >/dev/kmsg
	insmod $module.ko || exit 1
done
rmmod forms_after && rmmod forms_before && rmmod hwheel && echo "<6>lab: forms ended" >/dev/kmsg
