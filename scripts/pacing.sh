#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a stock Debian kernel in QEMU and sends packets through the qdisc hwpace
# (samples/hwheel_pace.c) and through fq and tbf at the same rate. Then sends packets that have
# departure times, through hwpace, fq and etf. Prints one table: the measured rates, the gaps
# between packets and the cost of a packet. Draws pacing.svg. The exit status is 0 if hwpace kept
# its rate within 2 %, lost nothing, and survived all that can be done to a qdisc.
#
# Usage: [KERNEL=name] [RATE=Mbit/s] [TIME=seconds] [BYTES=n] [FLOWS='n...'] \
#	 [GAP=us] [QUICK=1] [OUT=folder] pacing.sh
#	 GAP is for the rows "+gap": hwpace with a gap of GAP us
#	 QUICK leaves out fq, tbf and etf
#	 OUT is the folder for pacing.svg; the default is the project's folder

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

flavour=${KERNEL:-newest}
rate=${RATE:-20}
time=${TIME:-5}
bytes=${BYTES:-1000}
flows=${FLOWS:-1 16 256 1024}
gap_us=${GAP:-2000}
mkdir -p "${OUT:=$lab_top}" || die "OUT=$OUT: can't make this folder"
console=$lab_work/console log=$lab_work/log

# rows GROUP N CONDITION: whether there are N rows of GROUP, and CONDITION (of awk) holds
# for all of them. Prints the rows for which CONDITION does not hold.
rows()
{
	awk -v group="$1" -v wanted="$2" '
	function abs(x) { return x < 0 ? -x : x }
	$1 == "row" && $3 == group {
		for (i = 2; i < NF; i += 2)
			value[$i] = $(i + 1)
		rate = value["rate"]; target = value["target"]
		sent = value["sent"]; lost = value["lost"]; early = value["early"]
		reordered = value["reordered"]
		tc_sent = value["tc_sent"]; dropped = value["tc_dropped"]
		n++
		if (!('"$3"')) {
			print
			bad = 1
		}
	}
	END { exit bad || n != wanted }' "$console"
}

need gcc make iproute2 python3 python3-matplotlib
kernel=$("$lab_scripts/lab/stock-kernel.sh" "$flavour")
read -r release vmlinuz headers <<<"$kernel"
modules=$(stock_modules "$release" sch_fq sch_tbf sch_etf)

say "pacing: building the modules for $release"
build_modules "pacing-build" "$headers" "$lab_work/build"
quiet pacing-plugin make -C "$lab_work/build" install-tc TC_LIB_DIR="$lab_work"
gcc -O2 -Wall -static -pthread -o "$lab_work/pacing-load" \
	"$lab_scripts/guest/pacing-load.c" -lm
mapfile -t modules <<<"$modules"
mapfile -t libraries < <(ldd "$(command -v tc)" "$(command -v ip)" |
	grep -o '/[^ ]*' | grep -v ':$' | sort -u)

say "pacing: booting $release"
{
	echo "rate=$rate time=$time bytes=$bytes quick=${QUICK-}"
	echo "flows='$flows' gap_us=$gap_us"
	cat "$lab_scripts/guest/pacing.sh"
} >"$lab_work/payload"
TIMEOUT=${TIMEOUT:-$((300 + 30 * (time + 4)))} \
	"$lab_scripts/lab/boot-qemu.sh" "$vmlinuz" 2 1G "$lab_work/payload" \
	"$lab_work"/build/hwheel.ko "$lab_work"/build/samples/hwheel_pace.ko \
	"$lab_work/q_hwpace.so" "$lab_work/pacing-load" \
	"${modules[@]}" "$(command -v tc)" "$(command -v ip)" \
	"${libraries[@]}" >"$console" || failed=1

guest_log "$console" >"$log"
# Debian's python3 has its matplotlib; another python3 may be first in PATH
/usr/bin/python3 -B "$lab_scripts/pacing.py" "$console" "$release" "$bytes" "$rate" \
	"$OUT/pacing.svg" || failed=1
verdict load logged loaded
verdict options logged options
verdict churn logged churn
verdict rate rows rate $((2 * $(wc -w <<<"$flows") + 2)) 'abs(rate / target - 1) <= 0.02 && !lost && !dropped &&
	!reordered && tc_sent == sent && sent'
verdict below rows below 1 '!lost && !dropped && tc_sent == sent && sent'
verdict limit rows limit 1 'lost && lost == dropped && tc_sent == sent - lost'
verdict departure rows timed 1 '!early && !lost && !reordered && sent'
verdict busy logged busy
verdict unload logged unloaded
verdict dmesg clean
keep_console "pacing-$flavour"
exit $failed
