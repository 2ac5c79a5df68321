# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: timers of wall time, beside hrtimers, while the clock is set back and forth
# Takes: 80 s
# When: FULL=1

suite()
{
	local kernel name

	for kernel in uml 6.12 ${ALL:+6.1 6.12-rt newest}; do
		KERNEL=$kernel "$lab_scripts/clock.sh" | tee "$lab_work/clock" || :
		for name in build boot real-softirq real-hardirq real-work tai-softirq \
			    tai-hardirq tai-work dmesg; do
			verdict "$kernel $name" "$lab_work/clock" \
				grep -qx "clock: $name ok" "$lab_work/clock"
		done
	done
}
