#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs hwheel.c on a simulated kernel, in user space. A seed makes a random program, and
# an oracle watches it; sim/kernel.c and sim/oracle.c tell how. If the oracle finds a bug,
# sim.sh shrinks the program. The short program is a text file, and can be replayed.
#
# Usage: [TIME=seconds] [SEED=n] sim.sh [run]
#					runs new seeds on all CPUs until TIME is up, or you
#					interrupt it. A CPU stops when the oracle finds a
#					bug there
#	 sim.sh check			replays the programs of sim/kept
#	 [TIME=seconds] sim.sh seeds	runs new seeds of all kinds on one CPU (default 120 s)
#	 sim.sh replay FILE		prints all that happens in a program; GDB=1: under
#					gdb, which stops at the bug
#	 sim.sh shrink FILE		shortens a program that fails
#	 sim.sh show SEED		prints the program of a seed
#	 sim.sh fault NAME		plants a fault, and runs sim/kept and then seeds from
#					SEED on (default 1), until the fault is found or
#					TIME is up (default 60 s)
#	 sim.sh faults			the same for all faults, also those of torture.sh
#	 sim.sh fits			tells which of these faults do not fit the sources any more
#	 sim.sh met			runs sim/kept, and seeds from SEED on for TIME (default
#					60 s); prints how often each two features met
#	 sim.sh flags KIND		prints gcc's options for a kind, one a line
#	 sim.sh kept KIND		prints the files of sim/kept that are for a kind
#
# KIND=plain; KIND=rt: as on PREEMPT_RT; KIND=asan: with sanitizers; KIND=race: looks for
# data races. Without KIND, run takes all of them by turns.
# HWHEEL_SRC=folder: takes hwheel.c from this folder.

. "$(dirname "$0")/lab/lab.sh"

src=${HWHEEL_SRC:-$lab_top}
found=$lab_cache/sim
kinds=(plain rt plain asan plain race)

# -O1: compiling takes longer than most runs. One level for all commands: a find may come again only
# with the same code
flags=(-O1 -std=gnu11 -g -fno-pie -no-pie -Wall -Wno-format -Wno-unused-function
	-DCONFIG_SMP=1 -DCONFIG_MODULES=1 -DCONFIG_DEBUG_OBJECTS_TIMERS=1
	-I"$lab_top/sim/include" -I"$lab_top/fuzz/include" -I"$lab_top/sim")
read -ra parts <<<"$(sed -n 's/^HWHEEL_PARTS ?= //p' "$lab_top/Kbuild")"
parts=("${parts[@]/#/-DCONFIG_HWHEEL_}")
flags+=("${parts[@]/%/=1}")
# The simulator's kernel has all that the newest has
mapfile -t -O "${#flags[@]}" flags < <(sed -n 's/.*(call hwheel-has,\([A-Z_]*\),.*/-DHWHEEL_HAVE_\1/p' \
	"$lab_top/Kbuild")

# Name, file, edit of the file. There are two kinds of faults: faults that at most one other
# test found, and faults that hwheel once had.
faults=(
	"splice-walk	module/levels_step.h	/void levels_walk_past/,/^}/s/if (unlikely(l->walked == spoke.*/if (0) {/"
	"hardirq-goes-on	module/run.c	/^hwheel_process(/,/^}/s/if (context == HWHEEL_HARDIRQ)/if (0)/"
	"spent-no-decay	module/run.c	/bool hwheel_overdrawn/,/^}/s/base->spent -= .*/;/"
	"rest-deaf	module/drive.c	/^static noinline ktime_t hwheel_next_run/,/^}/s/min(fire, move)/max(fire, move)/"
	"remaining-clock	module/query.c	/^ktime_t hwheel_remaining/,/^}/s/hwheel_clock(base->wheel)/ktime_get()/"
	"want-no-retry	module/grow.c	/^static void hwheel_grow/,/^}/s/queue_delayed_work(.*/;/"
	"destroy-waits	module/wheels.c	/^static void hwheel_stop_base/,/^}/s/cancel_delayed_work_sync(.*;/;/"
	"rewound	module/debugfs.c	s/reader->spoke = NULL;.*a reader that.*/;/"
	"served-home	module/cpus.c	/^static void hwheel_serve/,/^}/s/hwheel_arm_again(base);/;/"
	"max-summed	module/query.c	/u64 hwheel_total/,/^}/s/which < HWHEEL_MAXIMA ?/1 ?/"
	"late-bucket-low	module/run.c	s/base->late\[fls64(late)\]++/base->late[late ? fls64(late) - 1 : 0]++/"
	"timers-last-lot	module/debugfs.c	/hwheel_spoke .hwheel_next_spoke/,/^}/s/while ((cpu = .*/while ((cpu = div64_u64(*n, each)) < nr_cpu_ids \&\& *n < nr_cpu_ids * each - HWHEEL_PARKED - (HWHEEL_FEW_FANS + 3 * HWHEEL_MANY_FANS) * HWHEEL_FAN) {/"
	"added-once	module/levels_place.h	/bool levels_put/,/^}/s/!((spoke->rests + 1) % HWHEEL_CROWD_FAN)/spoke->rests + 1 == HWHEEL_CROWD_FAN/"
	"catch-up-early	module/drive.c	/void hwheel_catch_up/,/^}/s/levels_tick_down(levels, now)/levels_tick_up(levels, now)/"
	"catch-up-0	module/drive.c	/void hwheel_catch_up/,/^}/s/tick < base->armed/tick <= base->armed/"
	"dest-kept	module/run.c	/int hwheel_remove_locked(/,/^}/s/base->dest = NULL;/;/"
	"hardirq-break	module/run.c	/^static u64 hwheel_pause/,/^}/s/= HWHEEL_URGENT_NS,/= budget >> 3,/"
	"parked-no-lead	module/levels_place.h	/u64 levels_move_tick/,/^}/s/\*level_word(.*CROWDS, 0)/0/"
	"parked-any	module/levels_place.h	/u64 bucket_start/,/^}/s/return levels_place/return levels_missing(l) \& (BIT(HWHEEL_LOT) - 1) || levels_place/"
	"tick-0		module/drive.c	/void hwheel_arm_hrtimer/,/^}/s/(base, tick);/(base, max(tick, 1ULL));/"
	"budget-moves	module/run.c	/^static u64 hwheel_pause/,/^}/s/ripe || .* ? 0 : moving/0/"
	"two-batches	module/run.c	/^hwheel_process(/,/^}/s/work + HWHEEL_STEP <= HWHEEL_BATCH/work < HWHEEL_BATCH/"
	"past-first	module/levels_place.h	/^levels_find/,/^}/s/tick = l->floor;/tick = l->clock;/"
	"send-offline	module/cpus.c	/^hwheel_other_target/,/^}/s/ \&\& cpu_online(cpu)//"
	"rest-unknown	module/drive.c	/^static void hwheel_arm_hrtimer/,/^}/s/max(base->fire_from, base->move_from)/base->fire_from/"
	"again-skipped	module/drive.c	/^static void hwheel_arm_hrtimer/,/^}/s/if (armed \&\& expires ==/if (expires ==/"
	"waiter-alone	module/run.c	/^static void hwheel_cancel_running/,/^}/s/hwheel_remove_locked(base, timer)/0/"
	"waiter-moved	module/cpus.c	s/!base->waiters) {/1) {/"
	"waiter-early	module/run.c	/void hwheel_call(/,/^}/{/WRITE_ONCE(base->running, NULL);/d;s/if (off && context.*{/WRITE_ONCE(base->running, NULL); &/}"
	"stats-zero	module/debugfs.c	s/memset(.base->count.HWHEEL_MAXIMA., 0,/memset(base->count, 0,/"
	"fans-once	module/levels_place.h	/void levels_find_sift/,/^}/s/levels_want_fans(l, 0);/;/"
	"strays-late	module/levels_step.h	/^static inline enum hwheel_step levels_step/,/^}/s/if (unlikely(l->closed) .*/if (0)/"
	"join-any	module/levels_step.h	/unsigned int levels_lower(/,/^}/s/to->key != spoke->key/0/"
	"redo-none	module/levels_step.h	/^static inline void levels_set_back/,/^}/s/l->redo = .*/;/"
	"gap-none	module/run.c	/^static bool hwheel_end_run/,/^}/s/base->fire_from = now + gap;/;/"
	"gap-always	module/drive.c	/^static noinline ktime_t hwheel_next_run/,/^}/s/(&base->levels)), base->fire_from)/(\&base->levels)), base->fire_from + base->wheel->gap_ns)/"
	"isolated-arms	module/cpus.c	/^hwheel_other_target(/,/^}/s/return hwheel_home(base);/return this_cpu_ptr(base->wheel->bases);/"
	"isolated-lowest	module/cpus.c	/^static struct hwheel_base .hwheel_home/,/^}/s/housekeeping_any_cpu(HK_TYPE_DOMAIN)/cpu/"
	"isolated-serves	module/drive.c	/^static int hwheel_server/,/^}/s/hwheel_home(base)->cpu/smp_processor_id()/"
	"sync-no-wait	module/cancel.c	/^void hwheel_synchronize/,/^}/s/u64 n = hwheel_callback(base);/u64 n = 0;/"
	"set-untold	module/wall_time.c	/^static int hwheel_timekeeping/,/^}/s/if (was_set)/if (0)/"
	"set-empty	module/wall_time.c	/^static void hwheel_base_set/,/^}/s/if (!base->closing) {/if (!base->closing \&\& base->levels.pending) {/"
	"set-not-back	module/drive.c	/void hwheel_new_offset/,/^}/s/levels_set_back(levels, tick);/;/"
	"set-not-armed	module/drive.c	/void hwheel_new_offset/,/^}/s/hwheel_arm_again(base);/;/"
	"served-run	module/cpus.c	/^static void hwheel_serve/,/^}/s/hrtimer_cancel(.*/;/"
	"entry-late	module/deferrable.c	/void hwheel_start_entry/,/^}/s:way - way / 8:way:"
	"entry-once	module/deferrable.c	/void hwheel_entry_expired/,/^}/s/hwheel_start_hrtimer(.*/;/"
	"entry-here	module/deferrable.c	/void hwheel_start_entry/,/^}/s/cpu_online(base->cpu) ? base->cpu : //"
	"entry-unclaimed	module/deferrable.c	/void hwheel_entry_expired/,/^}/s/base->armed = 0;/;/"
	"entry-twice	module/deferrable.c	/void hwheel_entry_expired/,/^}/s/!timer_pending(entry)/1/"
	"users-full	module/debugfs.c	/^static void hwheel_see_user/,/^}/s/ \&\& i < HWHEEL_MOST_USERS)/)/"
	"sleeper-kept	module/sleep.c	/void hwheel_wake_sleeper/,/^}/s/WRITE_ONCE(sleeper->task, NULL);/;/"
	"sleeper-woken	module/sleep.c	/void hwheel_wake_sleeper/,/^}/{s/WRITE_ONCE(.*/wake_up_process(task);/;t;s/wake_up_process(task);/WRITE_ONCE(sleeper->task, NULL);/}"
	"sleeper-no-wait	module/sleep.c	/^int hwheel_schedule_hrtimeout/,/^}/s/hwheel_destroy_on_stack(/hwheel_shutdown(/"
	"sleep-unset	module/sleep.c	/^int __hwheel_sleep/,/^}/{/^		set_current_state/d;s/^		schedule();/set_current_state(state); schedule();/}"
	"sleep-signal	module/sleep.c	/^int __hwheel_sleep/,/^}/s/if (signal_pending_state(.*/if (0) {/"
	"sleep-killable	hwheel.h	/int hwheel_sleep_killable/,/^}/s/TASK_KILLABLE/TASK_INTERRUPTIBLE/"
	"schedule-early	module/sleep.c	/^int hwheel_schedule_hrtimeout/,/^}/{s/hwheel_destroy_on_stack.*/delay = READ_ONCE(sleeper.task) ? -EINTR : 0; &/;s/return READ_ONCE.*/return delay;/}"
	"work-not-stopped	module/delayed_work.c	/^bool __hwheel_mod_delayed_work/,/^}/s/hwheel_work_stop(.*/hwheel_work_queued(dwork);/"
	"work-disabled	module/delayed_work.c	/^bool __hwheel_queue_delayed_work/,/^}/s/!dwork->disabled \&\& //"
	"work-mod-disabled	module/delayed_work.c	/^bool __hwheel_mod_delayed_work/,/^}/s/if (likely(!dwork->disabled))/if (1)/"
	"work-callback	module/delayed_work.c	/^bool hwheel_disable_delayed_work_sync/,/^}/s/hwheel_cancel_sync(.*/;/"
	"work-left-behind	module/delayed_work.c	/^hwheel_work_disarm/,/^}/s/hwheel_try_cancel(&dwork->timer) >= 0/(hwheel_cancel(\&dwork->timer), 1)/"
	"work-interrupted	module/run.c	/void hwheel_call/,/^}/s/HWHEEL_HARDIRQ || (!plain .*/HWHEEL_HARDIRQ;/"
	"work-irqs-off	module/run.c	/void hwheel_call/,/^}/s/if (off && context != HWHEEL_HARDIRQ)/if (0)/"
	"work-function	module/delayed_work.c	/^bool hwheel_disable_delayed_work_sync/,/^}/s/cancel_work_sync(.*/;/"
	"work-armed-again	module/delayed_work.c	/^bool __hwheel_mod_delayed_work/,/^}/s/HWHEEL_MODE_PENDING/0/"
	"work-unlocked	module/delayed_work.c	/^void __hwheel_work_expired/,/^}/{s/^.wq = dwork->wq;/;/;s/raw_spin_lock_irqsave.*/wq = dwork->wq; dwork->wq = NULL; &/}"
	"work-touched	module/delayed_work.c	/^void __hwheel_work_expired/,/^}/{s/dwork->wq = NULL;/;/;s/queue_work_on(.*/& dwork->wq = NULL;/}"
	"work-wrong-wq	module/delayed_work.c	/^bool hwheel_flush_delayed_work/,/^}/s/dwork->cpu, wq,/dwork->cpu, system_percpu_wq,/"
	"work-cpu	module/delayed_work.c	/void hwheel_work_start/,/^}/s/dwork->cpu = cpu;/dwork->cpu = WORK_CPU_UNBOUND;/"
	"work-flush-armed	module/delayed_work.c	/^bool hwheel_flush_delayed_work/,/^}/s/hwheel_work_disarm(.*/dwork->wq; dwork->wq = NULL;/"
	"work-stays	module/delayed_work.c	/bool hwheel_work_stop/,/^}/s/(hwheel_work_queued.*/false;/"
	"work-enabled	hwheel.h	/bool hwheel_cancel_delayed_work_sync/,/^}/s/hwheel_enable_delayed_work(.*/;/"
	"walk-locked	module/debugfs.c	/^static u64 hwheel_walk/,/^}/s/if (n % .*/if (1)/"
	"spokes-repeat	module/wheels.c	/void hwheel_plan/,/^}/s/config->spokes\[i\] ?: spokes/config->spokes[i] ?: HWHEEL_SPOKES/"
)

# flags KIND
flags()
{
	printf '%s\n' "${flags[@]}"
	case $1 in
	rt) echo -DCONFIG_PREEMPT_RT=1 ;;
	esac
	sanitizers "$1"
}

# sanitizers KIND
sanitizers()
{
	case $1 in
	asan) printf '%s\n' -fsanitize=address -fsanitize=undefined -fno-sanitize=alignment \
		-fno-sanitize-recover=all -fsanitize-recover=address ;;
	race) printf '%s\n' -fsanitize=thread --param=tsan-distinguish-volatile=1 ;;
	esac
}

# build KIND OUTPUT [OPTIONS...]: compiles hwheel with the kind's sanitizers. Of these the
# simulator itself gets only ASan, which must know how the simulator switches stacks.
build()
{
	local kind=$1 output=$2 options plain name job jobs=() status=0

	shift 2
	need gcc ccache
	mapfile -t options < <(flags "$kind")
	plain=("${options[@]}")
	case $kind in
	asan) plain+=(-fno-sanitize=undefined) ;;
	race) mapfile -t plain < <(flags plain) ;;
	esac
	for name in wheel calls kernel main oracle program race sleep work; do
		[ $name = wheel ] || options=("${plain[@]}")
		ccache gcc "$@" "${options[@]}" -I"$src" -c "$lab_top/sim/$name.c" \
			-o "$output.$name.o" &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || status=1
	done
	[ $status = 0 ] || return
	# sim/race.c stands in for the run time of the thread sanitizer
	mapfile -t options < <(sanitizers "${kind/race/plain}")
	gcc -no-pie "${options[@]}" "$output".*.o -o "$output"
}

# prepare KIND: builds $lab_work/sim-KIND
prepare()
{
	mkdir -p "$found"
	build "$1" "$lab_work/sim-$1"
}

first_seed()
{
	echo "${SEED:-$(($(date +%s) % 1000000 * 1000000))}"
}

# kept KIND: prints the programs of sim/kept that are for this kind
kept()
{
	grep -L '^kind ' "$lab_top"/sim/kept/*
	grep -l "^kind $1\$" "$lab_top"/sim/kept/* || :
}

# seeds_by_turns SEED SECONDS: runs new seeds on one CPU; the kinds take turns
seeds_by_turns()
{
	local seed=$1 end=$((SECONDS + $2)) most=$(($2 / ${#kinds[@]})) left slice kind

	most=$((most < 1 ? 1 : most > 20 ? 20 : most))
	while true; do
		for kind in "${kinds[@]}"; do
			left=$((end - SECONDS))
			[ $left -gt 0 ] || return 0
			slice=$((left < most ? left : most))
			"$lab_work/sim-$kind" seeds "$seed" $slice "$found" || return 1
			seed=$((seed + 1000000))
		done
	done
}

run()
{
	local seed job kind status=0 jobs=()

	[ -z "${KIND-}" ] || kinds=("$KIND")
	for kind in "${kinds[@]}"; do
		[ -x "$lab_work/sim-$kind" ] || prepare "$kind"
	done
	seed=$(first_seed)
	say "sim: ${TIME:-many} s on $lab_jobs CPUs; a find goes to $found"
	for ((job = 0; job < lab_jobs; job++)); do
		seeds_by_turns $((seed + job * 1000000000000)) "${TIME:-1000000000}" &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || status=1
	done
	return $status
}

# tell NAME COMMAND...: runs COMMAND, and prints a line that the suite sim looks for
tell()
{
	if "${@:2}"; then
		echo "sim: $1: ok"
	else
		echo "sim: $1: failed"
		return 1
	fi
}

check()
{
	local kind job jobs=() status=0

	for kind in asan race rt plain; do
		check_kind "$kind" >"$lab_work/check-$kind" &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || status=1
	done
	cat "$lab_work"/check-*
	return $status
}

check_kind()
{
	local files

	prepare "$1"
	mapfile -t files < <(kept "$1")
	tell "kept programs, $1" "$lab_work/sim-$1" run "${files[@]}"
}

# seeds: new seeds of all kinds on one CPU. It takes the objects of a check.
seeds()
{
	local kind

	for kind in "${kinds[@]}"; do
		[ -x "$lab_work/sim-$kind" ] || prepare "$kind"
	done
	tell "new seeds" seeds_by_turns "$(first_seed)" "${TIME:-120}"
}

replay()
{
	prepare "${KIND:-plain}"
	if [ "${GDB-}" ]; then
		need gdb
		SIM_ABORT=1 gdb -q -ex 'break sim_find' -ex run --args \
			"$lab_work/sim-${KIND:-plain}" replay "$1"
	else
		"$lab_work/sim-${KIND:-plain}" replay "$1"
	fi
}

# plant NAME: makes the copy $copy with this fault of the table above, or of tests/faults/
plant()
{
	local entry file edit

	rm -rf "$copy"
	mkdir -p "$copy"
	cp -r "$src"/hwheel*.[ch] "$src"/module "$copy"
	if entry=$(printf '%s\n' "${faults[@]}" | grep "^$1[[:space:]]"); then
		read -r _ file edit <<<"$entry"
		sed -i "$edit" "$copy/$file"
		! cmp -s "$copy/$file" "$src/$file" || die "fault $1 does not fit $file any more"
	else
		plant_fault "$1" "$copy"
	fi
}

# fault NAME: whether the oracle finds this fault
fault()
{
	local kind=plain copy=$lab_work/faulty begin files

	plant "$1"
	[ "$1" != data_race ] || kind=race
	src=$copy build $kind "$lab_work/sim"
	begin=$(date +%s%N)
	mapfile -t files < <(kept "$kind")
	if "$lab_work/sim" run "${files[@]}" >"$lab_work/out" &&
	   "$lab_work/sim" seeds "${SEED:-1}" "${TIME:-60}" >"$lab_work/out"; then
		echo "fault $1 was not found"
		return 1
	fi
	echo "fault $1: found after $((($(date +%s%N) - begin) / 1000000)) ms:" \
		"$(sed 's/^sim: //;q' "$lab_work/out")"
}

# met: how often an operation met each other feature: it began while an operation of the other was
# under way, or on a wheel or in a world that has the other
met()
{
	local files

	prepare plain
	mapfile -t files < <(kept plain)
	SIM_MET=1 "$lab_work/sim-plain" run "${files[@]}"
	SIM_MET=1 "$lab_work/sim-plain" seeds "$(first_seed)" "${TIME:-60}"
}

# for_faults COMMAND...: calls COMMAND NAME for all faults; fails if one of the calls does
for_faults()
{
	local name status=0

	while read -r name; do
		("$@" "$name" </dev/null) || status=1
	done < <(printf '%s\n' "${faults[@]}" | cut -f 1
		 cd "$lab_top/tests/faults" && printf '%s\n' *.patch | sed 's/\.patch$//')
	return $status
}

case ${1:-run} in
run|check|seeds)
	"${1:-run}" ;;
replay|fault|flags|kept|met)
	"$@" ;;
shrink|show)
	prepare "${KIND:-plain}"
	"$lab_work/sim-${KIND:-plain}" "$@" ;;
faults)
	for_faults "$0" fault ;;
fits)
	copy=$lab_work/faulty
	for_faults plant ;;
*)
	die "no command $1; see the head of sim.sh" ;;
esac
