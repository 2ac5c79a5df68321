# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154,SC2086
#
# The guest of bpf.sh runs this with BENCH=1, in QEMU with a clock that counts instructions. bpf.sh sets
# $flows, a list of numbers of flows, $packets, and $idle, how many seconds to watch an idle table.

mkdir -p /lib64 /lib/x86_64-linux-gnu
mv ld-linux* /lib64
mv lib*.so* /lib/x86_64-linux-gnu
chmod +x bench_*

insmod hwheel.ko && insmod hwheel_bpf.ko || exit 1
# Leave out what the kernel does after a boot, and when the wheel allocates its levels
sleep 20
./bench_flows -p 10000 1000 >/dev/null
for n in $flows; do
	for variant in flows_sweep flows flows_timer; do
		echo "bench $variant $(./bench_$variant -p $packets -i $idle $n)"
		sleep 3		# the kernel frees the table
	done
done
for variant in flows flows_timer; do
	echo "late $variant $(./bench_$variant -l 10000)"
done
