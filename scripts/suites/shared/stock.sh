# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# The demo on a stock kernel
#
# [SESSIONS=n] [MAX_MS=ms] run_stock NAME

run_stock()
{
	local name

	KERNEL=$1 SESSIONS=${SESSIONS:-100000} MAX_MS=${MAX_MS:-5000} TRAFFIC_MS=2000 \
		"$lab_scripts/demo.sh" | tee "$lab_work/demo" || :
	for name in load refused version parameters sums debugfs report rcu jobs sessions unload \
		    dmesg $(sed -n 's/^demo: \(bpf\) .*/\1/p' "$lab_work/demo"); do
		verdict "$name" "$lab_work/demo" \
			grep -qx "demo: $name ok" "$lab_work/demo"
	done
}
