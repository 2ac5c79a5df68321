#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds Debian's newest kernel for user-mode Linux as it is (plain), and with hwheel in it
# (hwheel): tools/graft puts hwheel into the source, and patches/ moves subsystems to hwheel.
# Boots both kernels, runs the same tests of these subsystems, and compares what the tests
# print. In simulated time it measures how late the subsystems' timeouts are. With BENCH=1 it
# measures instead what a request of io_uring costs, on both kernels by turns. Prints a line
# for each check:
#	kernel: NAME ok|FAILED
# The exit status is 0 if none failed.
#
# Usage: [KERNELS='name...'] kernel.sh
#	 BENCH=1 [TURNS=n] [ROUNDS=n] kernel.sh
#	 KERNELS are kernels of scripts/lab/kernels/ without "uml-", to compare with plain. The
#	 default is hwheel. TURNS is how often BENCH boots each kernel, ROUNDS how often
#	 it measures in a boot.

. "$(dirname "$0")/lab/lab.sh"
. "$(dirname "$0")/lab/verdicts.sh"

kernels=${KERNELS:-hwheel} turns=${TURNS:-3} rounds=${ROUNDS:-300}

# Tests of liburing that use timeouts and cancel requests, and need no network
tests_of_liburing="7ad0e4b2f83c b5837bd5311d cancel-race defer defer-tw-timeout
	files-exit-hang-timeout hardlink io-cancel link link-timeout link_drain min-timeout
	min-timeout-wait poll-cancel poll-cancel-all poll-cancel-ton poll-link
	poll-mshot-update skip-cqe submit-link-fail sync-cancel teardowns timens-abs-timer
	timeout timeout-new wait-timeout"

# fill_liburing DIR: builds liburing's tests there, static
fill_liburing()
{
	local build=$lab_work/liburing name

	say "kernel: building tests of liburing (about 20 s)"
	cp -r "$source" "$build" && cd "$build" || return
	quiet liburing-configure ./configure --cc=gcc || return
	quiet liburing make -j "$lab_jobs" -C src || return
	for name in $tests_of_liburing; do
		quiet "liburing-$name" gcc -O2 -s -static -D_GNU_SOURCE -Isrc/include \
			-include config-host.h -o "$1/liburing-$name" "test/$name.c" \
			test/helpers.c src/liburing.a -lpthread || return
	done
}

# boot NAME COMMAND [APPEND]: boots the kernel uml-NAME, which runs COMMAND. What the guest
# prints goes to $lab_work/NAME.out, and its kernel log to $lab_work/NAME.log.
boot()
{
	local console=$lab_cache/log/kernel-$1.log status=0 CPUS=

	# Races need a second CPU
	case $1 in
	*smp*)	CPUS=2 ;;
	esac
	{
		echo "command='$2'"
		cat "$lab_scripts/guest/kernel.sh"
	} >"$lab_work/payload"
	say "kernel: booting uml-$1: $2"
	TIMEOUT=${TIMEOUT:-300} CPUS=$CPUS APPEND=${3-} \
		"$lab_scripts/lab/boot-uml.sh" "${image[$1]}" \
		"$lab_work/payload" "$lab_work"/uring-{load,test} "$liburing"/liburing-* \
		>"$console" || status=$?
	guest_log "$console" >"$lab_work/$1.log"
	sed '1,/^lab: payload begins$/d; /^lab: log begins$/,$d' "$console" >"$lab_work/$1.out"
	[ $status = 0 ] && return
	tail -n 15 "$console" >&2
	say "kernel: the guest's console is in $console"
	return 1
}

# clean NAME: whether the kernel's log is as it should be
clean()
{
	! dmesg_dirty "$lab_work/$1.log"
}

# said NAME: prints what must be the same on all kernels; whether the tests came to their end
said()
{
	grep -v '^#' "$lab_work/$1.out" | tee "$lab_work/said"
	[ "$(tail -n 1 "$lab_work/said")" = ended ] && ! grep -q 'EARLY\|LATE' "$lab_work/said"
}

# same NAME: whether the tests printed the same as on the kernel plain
same()
{
	said plain >"$lab_work/plain.said" && said "$1" >"$lab_work/$1.said" &&
		diff "$lab_work/plain.said" "$lab_work/$1.said"
}

# on_the_wheel NAME: whether the timeouts of the tests were on a wheel, and not so on plain
on_the_wheel()
{
	! grep '^# wheel:' "$lab_work/plain.out" &&
		[ "$(grep -c '^# wheel: \(added\|cancelled\|expired\) [1-9]' \
			"$lab_work/$1.out")" = 3 ]
}

# exact NAME: whether timeouts in simulated time are at most a tick late, 1 us. The other
# clocks have hrtimers.
exact()
{
	cat "$lab_work/$1.out"
	said "$1" >/dev/null && awk '
		/ late by / {
			n++
			most = /^monotonic/ ? 1000 : 0
			if ($6 > most || $11 > most)
				bad = 1
		}
		END { exit bad || n != 3 }' "$lab_work/$1.out"
}

tests()
{
	local name

	for name in plain $kernels; do
		verdict "boot of $name" boot "$name" tests
		verdict "log of $name" clean "$name"
	done
	for name in $kernels; do
		verdict "$name: io_uring as on plain" same "$name"
		verdict "$name: on the wheel" on_the_wheel "$name"
	done
	# Simulated time excludes several CPUs
	for name in $kernels; do
		[ "$name" = hwheel ] || continue
		verdict "simulated time" boot "$name" "./uring-test exact" time-travel=inf-cpu
		verdict "exact to the tick" exact "$name"
	done
}

# bench: prints the medians of all boots, and whether hwheel gains what it should. A request
# with a linked timeout may take at most this, relative to plain: 1 with 1,000 requests
# pending, 0.65 with 100,000 and 0.45 with 500,000.
bench()
{
	local name turn

	for ((turn = 1; turn <= turns; turn++)); do
		for name in plain hwheel; do
			boot "$name" "./uring-load $rounds 1000 100000 500000" >&2 || return
			sed "s/^uring: /$name /" "$lab_work/$name.out"
		done
	done >"$lab_work/measured"
	cp "$lab_work/measured" "$lab_cache/log/kernel-bench.log"
	awk '
	function median(list, n, x, i, j, sorted)
	{
		n = split(list, sorted)
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && sorted[j - 1] + 0 > sorted[j] + 0; j--) {
				x = sorted[j]
				sorted[j] = sorted[j - 1]
				sorted[j - 1] = x
			}
		return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
	}
	function check(what, got, most)
	{
		printf "kernel: %s: %.2f, at most %.2f %s\n", what, got, most,
			got <= most ? "ok" : "FAILED"
		failed = failed || !(got <= most)
	}
	$2 == "pending" { ns[$1, $3, $5] = ns[$1, $3, $5] " " $9 }
	END {
		print "ns for a request of io_uring, medians:"
		printf "%10s%22s%33s\n", "", "no linked timeout", "with a linked timeout"
		printf "%10s%11s%11s%11s%11s%11s\n", "pending", "plain", "hwheel", "plain",
			"hwheel", "ratio"
		split("1000 100000 500000", pending)
		split("1 0.65 0.45", most)
		for (i = 1; i <= 3; i++) {
			p = pending[i]
			plain = median(ns["plain", p, 1])
			hwheel[i] = median(ns["hwheel", p, 1])
			ratio[i] = plain ? hwheel[i] / plain : 99
			printf "%10d%11d%11d%11d%11d%11.2f\n", p,
				median(ns["plain", p, 0]), median(ns["hwheel", p, 0]),
				plain, hwheel[i], ratio[i]
		}
		for (i = 1; i <= 3; i++)
			check(pending[i] " pending, relative to plain", ratio[i], most[i])
		check("500000 pending, relative to 1000",
			hwheel[1] ? hwheel[3] / hwheel[1] : 99, 1.2)
		exit failed
	}' "$lab_work/measured"
}

need gcc libc6-dev
source=$(debian_source liburing-dev)
liburing=$lab_cache/liburing-$(build_key "$source" "$tests_of_liburing" \
	"$(declare -f fill_liburing)")
once "$liburing" fill_liburing || die "no tests of liburing"
declare -A image
[ -z "${BENCH-}" ] || kernels=hwheel
for name in plain $kernels; do
	kernel=$("$lab_scripts/lab/build-kernel.sh" "uml-$name")
	read -r "image[$name]" _ <<<"$kernel"
done
for name in load test; do
	gcc -O2 -Wall -Wextra -static -o "$lab_work/uring-$name" \
		"$lab_scripts/guest/uring-$name.c"
done
if [ -n "${BENCH-}" ]; then
	bench
else
	tests
	exit $failed
fi
