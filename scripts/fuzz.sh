#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fuzzes the levels of a wheel, module/levels*.h, in user space, under ASan and UBSan. The kept
# inputs are the lines of fuzz/corpus.txt; fuzz/fuzz_levels.c tells what they mean. A run keeps
# new inputs in the cache.
#
# Usage: [TIME=seconds] fuzz.sh [run]	libFuzzer looks for new inputs until it finds
#					a fault, TIME is up, or you interrupt it
#	 fuzz.sh replay [gcc-options]	builds with gcc, runs the kept inputs, then the
#					levels' KUnit cases
#	 fuzz.sh fault NAME		plants a fault, which the kept inputs, the crowds or
#					the KUnit cases must find
#	 fuzz.sh faults			prints the names of these faults
#	 fuzz.sh fits			fails if one of them does not fit the source any more
#	 fuzz.sh crowds			runs millions of timers in simulated time: are those of
#					large crowds late?
#	 fuzz.sh cover			prints how much of module/levels*.h the kept inputs
#					reach, and which lines they do not reach
#	 fuzz.sh keep			merges what runs found into fuzz/corpus.txt
#	 fuzz.sh flags			prints gcc's options, one a line

. "$(dirname "$0")/lab/lab.sh"

corpus=$lab_top/fuzz/corpus.txt
found=$lab_cache/fuzz
flags=(-std=gnu11 -g -Wall -Wextra -Wno-unused-parameter -Wno-unused-function
	-Wno-sign-compare -I"$lab_top/fuzz/include" -I"$lab_top")
sanitize=(-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)

# Name, and the edit of module/levels*.h. The crowds must find the faults whose names begin with
# "late-", and tests/levels.c those that begin with "test-". The kept inputs must find all others.
faults=(
	"slot-too-far		/^levels_find(/,/^}/s/ahead < lv->open/ahead <= lv->open/"
	"level-too-high		s/l->lowest\[i\] = j;/l->lowest[i] = j + 1;/"
	"bound-not-lowered	/bool levels_put/,/^}/s/spoke->bound = min/if (spoke_bare(spoke)) &/"
	"bound-not-raised	/void levels_left/,/^}/s/spoke->bound = spoke->key;/;/"
	"same-not-emptied	/bool levels_put_many/,/^}/s/list_splice_init(.*/;/"
	"same-not-counted	/bool levels_put_many/,/^}/s/spoke->rests += .*/;/"
	"same-early		/bool spoke_whole/,/^}/s/spoke->key == spoke->bound \&\& //"
	"near-too-long		s/l->above = min(l->above, fan->begin + width);/;/"
	"near-below-fan		/hwheel_spoke \*levels_first(/,/^}/s/near->more \& HWHEEL_HAS_FAN/0/"
	"test-floor-in-pop	/hwheel_timer \*levels_pop_next/,/^}/s/l->floor = .*/;/"
	"pop-before-strays	/hwheel_timer \*levels_pop_next/,/^}/s/ || l->closed.*)\$/)/"
	"lost-in-sift		/unsigned int levels_sift/,/^}/s/u64 tick = .*;/& if (n == 7) { levels_del(l, timer); continue; }/"
	"same-joins-any		/unsigned int levels_lower(/,/^}/s/to->key != spoke->key/0/"
	"bit-not-cleared	/void levels_clear/,/^}/s/\*bits &= .*/;/"
	"summary-not-cleared	/void levels_clear/,/^}/s/lv->summary.*/;/"
	"clock-past-bound	s/levels_set_clock(l, spoke->bound)/levels_set_clock(l, now)/"
	"batch-unbounded	s/n < HWHEEL_STEP \&\& !list/!list/"
	"late-unordered		/void spoke_next_sift/,/^}/{s/if (begin >= \*first)/if (0)/; s/} else {/} else if (start < *first) {/; s/first = begin/first = start/}"
	"late-no-lead		/u64 levels_lead/,/^}/s/4 \* max(most, size)/0/"
	"late-not-sifted	/void levels_find_sift/,/^}/s/| BIT(HWHEEL_LOT))/| BIT(HWHEEL_LOT) | BIT(HWHEEL_FANS))/"
	"lost-in-cascade	/unsigned int levels_empty/,/^}/s/if (!to)$/if (n == 7) { levels_del(l, timer); break; } &/"
	"fires-early		s/ns - 1) + 1 : 0/ns) : 0/"
	"divisor-inexact	s/div->mul++;/;/"
	"walk-dangles		s/l->walk = next;/;/"
	"walk-follows-same	/void levels_walk_past/,/^}/s/(both || !l->walk_rest)/both/"
	"walk-follows-both	/void levels_walk_past/,/^}/s/(both || !l->walk_rest)/!both/"
	"align-one-less		s/slot ^ level_slot(lv, first - 1);/slot ^ level_slot(lv, first);/"
	"align-pow2-one-less	s/levels_highest((first - 1) ^ last)/levels_highest(first ^ last)/"
	"park-too-low		s/return fls64(tick ^ l->clock);/return fls64(tick ^ l->clock) \/ 2;/"
	"expired-forgotten	/^static inline u64 levels_due_tick/,/^}/s/>> HWHEEL_STRAY/>> HWHEEL_STRAY >> 2/"
	"past-comes-first	/^levels_find(/,/^}/s/tick = l->floor;/tick = l->clock;/"
	"floor-stays		/enum hwheel_step levels_step/,/^}/s/l->floor = .*/;/"
	"stays-in-fan		/bool levels_stays/,/^}/s/!(spoke->more & HWHEEL_HAS_FAN) \&\&//"
	"stays-in-same		/bool levels_stays/,/^}/s/spoke->key != old \&\& //"
	"test-stays-bound	/bool levels_stays/,/^}/s/ \&\& spoke->bound <= tick//"
	"stays-while-closed	/bool levels_stays/,/^}/s/l->closed || //"
	"fan-bit-stays		/void levels_bare/,/^}/s/levels_clear(.*/;/"
	"fan-kept		/void levels_bare/,/^}/s/l->fans_free |= .*/;/"
	"fan-too-narrow		/unsigned int fan_shift/,/^}/s/>> HWHEEL_FAN_BITS)/>> HWHEEL_FAN_BITS >> 1)/"
	"crowd-bit-stays	/void levels_rest_emptied/,/^}/s/levels_clear(.*/;/"
	"early-in-bucket	/bool levels_fan_early/,/^}/s/spoke->level == HWHEEL_LOT/0/"
	"early-in-vain		/bool levels_put(struct/,/^}/s/unlikely(spoke->more & HWHEEL_HAS_FAN)/0/"
	"test-early-takes-all	/bool levels_fan_early/,/^}/s/HWHEEL_FANS_KEPT/0/"
	"test-early-far		/bool levels_fan_early/,/^}/s/ \&\& width <= HWHEEL_FAN//"
	"sift-vanished		/void levels_rest_emptied/,/^}/s/l->sift_until = 0;/;/"
	"sift-fan-again		/void levels_bare/,/^}/s/l->sift_until = 0;/;/"
	"sift-more-fans		/void levels_grow/,/^}/s/l->sift_until = 0;/;/"
	"sift-larger		/bool levels_note_crowd/,/^}/{/earlier = true/{n;s/.*/;/}}"
	"sift-halved		/bool levels_note_crowd/,/^}/{/most->since = /{n;s/.*/;/}}"
	"sift-another		/bool levels_note_crowd/,/^}/s/levels_sift_too(l, spoke);/;/"
	"sift-opened		/void levels_open(/,/^}/s/l->sift_until = 0;/;/"
	"sift-set-back		/^static inline void levels_set_back/,/^}/s/l->sift_until = 0;/;/"
	"late-turn-too-short	/bool levels_note_crowd/,/^}/s/ \&\& age >= levels_turn(l, moves)//"
	"turn-set-back		/^static inline void levels_set_back/,/^}/s/since = now/since += 0/"
	"gathered-from-fan	/void levels_gather/,/^}/s/spoke_root(l, from)/from/"
	"crowd-grows-late	/bool levels_note_crowd/,/^}/s/earlier = true/;/"
	"crowd-stays-entered	/unsigned int levels_lower_entered/,/^}/s/spoke->more & HWHEEL_CROWDED/0/"
	"parked-wakes		/u64 bucket_start/,/^}/s/== HWHEEL_LOT/== HWHEEL_ROWS/"
	"parked-crowd-stays	/unsigned int levels_lower_parked/,/^}/s/bucket->more & HWHEEL_CROWDED/0/"
	"bucket-not-woken	/u64 levels_insert/,/^}/s/levels_move_tick(l)/(levels_next_sift(l) ? l->clock : l->sift_until)/"
	"missing-not-asked	/hwheel_spoke \*levels_place_above/,/^}/s/levels_want(.*/;/"
	"above-level-0-missing	/hwheel_spoke \*levels_first/,/^}/s/lv->open \&\& likely(!l->closed)/likely(!l->closed)/"
	"above-while-closed	/hwheel_spoke \*levels_first/,/^}/s/lv->open \&\& likely(!l->closed)/lv->open/"
	"missing-in-slot	/^levels_find(/,/^}/s/\*level = &l->level\[spoke->level\];/*level = lv;/"
	"set-back-open		/^static inline void levels_set_back/,/^}/s/lv->open = 0;/;/"
	"set-back-no-redo	/^static inline void levels_set_back/,/^}/s/l->redo = .*/;/"
	"set-back-redo		/^static inline void levels_set_back/,/^}/s/max(l->redo, l->floor)/l->floor/"
	"set-back-parked	/^static inline void levels_set_back/,/^}/s/levels_gather(l, &lot->spokes\[__ffs64.*/;/"
	"test-walk-anew		/bool levels_put_many/,/^}/s/l->walk_rest |= .*/;/"
	"test-slack-last	/bool levels_put_many/,/^}/s/spoke->key = spoke->bound;/;/"
	"test-cancelled-count	/bool levels_note_crowd/,/^}/s/spoke->rests = max(.*/;/"
	"test-set-back-empty	/^static inline void levels_set_back/,/^}/s/if (l->pending)/if (1)/"
	"test-past-again	/timer .levels_pop_next/,/^}/s/spoke->bound >= now/0/"
	"test-past-wins-ties	/hwheel_spoke \*levels_first/,/^}/{s/bits &= bits - 1/bits \&= ~BIT_ULL(i)/; s/levels_look(l, &lv->spokes\[__ffs64(bits)\]/i = levels_highest(bits), levels_look(l, \&lv->spokes[i]/}"
	"set-back-clock		/^static inline void levels_set_back/,/^}/s/l->clock = now;/;/"
	"set-back-expired	/^static inline void levels_set_back/,/^}/s/levels_gather(l, &lot->spokes\[HWHEEL_EXPIRED.*/;/"
	"gathered-not-counted	/void levels_gather/,/^}/s/to->rests = .*/;/"
	"redo-for-good		/bool levels_replace/,/^}/s/l->redo = 0;/;/"
	"closed-old-slot	/hwheel_spoke \*levels_place_above/,/^}/s/unlikely(l->closed) ? .* : //"
	"closed-not-caught-up	/void levels_set_clock/,/^}/s/if (slot < lv->slot)/if (1)/"
	"closed-for-good	/void levels_reopen/,/^}/s/ || lv->summary/ || 1 || lv->summary/"
	"closed-may		/unsigned int levels_lower_closed/,/^}/s/HWHEEL_MUST/HWHEEL_MAY/"
)

# build_replay OUTPUT [GCC-OPTIONS...]
build_replay()
{
	gcc "${@:2}" "${flags[@]}" "${sanitize[@]}" "$lab_top/fuzz/replay.c" \
		"$lab_top/fuzz/fuzz_levels.c" -o "$1"
}

# build_crowds [GCC-OPTIONS...]
build_crowds()
{
	gcc "$@" "${flags[@]}" -O2 "$lab_top/fuzz/crowds.c" -o "$lab_work/crowds"
}

crowds()
{
	need gcc
	build_crowds
	"$lab_work/crowds"
}

# build_kunit [GCC-OPTIONS...]
build_kunit()
{
	gcc "$@" "${flags[@]}" -O1 "$lab_top/fuzz/kunit.c" "$lab_top/tests/levels.c" \
		-o "$lab_work/kunit"
}

build_fuzzer()
{
	need clang libclang-rt-dev
	clang "${flags[@]}" "${sanitize[@]}" -O1 -fsanitize=fuzzer \
		-Dfuzz_one=LLVMFuzzerTestOneInput \
		"$lab_top/fuzz/fuzz_levels.c" -o "$lab_work/fuzzer"
}

# inputs FILE DIR: makes a file of each line
inputs()
{
	mkdir -p "$2"
	(cd "$2" && split -l 1 -a 5 -d "$1" kept-)
}

run()
{
	local new=$found/inputs log=$lab_cache/log/fuzz.log crash status=0

	build_fuzzer
	inputs "$corpus" "$lab_work/kept"
	mkdir -p "$new"
	touch "$lab_work/begun"
	say "fuzz: ${TIME:-many} s; new inputs go to $new, libFuzzer's words to $log"
	trap : INT
	"$lab_work/fuzzer" -only_ascii=1 -max_len=400 -timeout=20 \
		${TIME:+"-max_total_time=$TIME"} -artifact_prefix="$found/" \
		-print_final_stats=1 "$new" "$lab_work/kept" \
		>"$log" 2>&1 </dev/null || status=$?
	[ $status != 72 ] || status=0		# it was interrupted
	grep -aE '^(fuzz_levels:|==[0-9]+==ERROR|SUMMARY:|stat::(number_of|new))' "$log" || :
	while read -r crash; do
		build_replay "$found/replay"
		echo "fuzz: found $crash; to run it again: $found/replay -v $crash"
		status=1
	done < <(find "$found" -maxdepth 1 -type f -newer "$lab_work/begun" \
		\( -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' -o -name 'leak-*' \))
	return $status
}

replay()
{
	need gcc
	build_replay "$lab_work/replay" "$@"
	"$lab_work/replay" "$corpus"
	build_kunit "$@"
	"$lab_work/kunit" "${SEED:-$RANDOM}"
}

# plant NAME: makes the copy $copy with this fault
plant()
{
	local entry

	entry=$(printf '%s\n' "${faults[@]}" | grep "^$1[[:space:]]") || die "no fault $1"
	mkdir -p "$copy/module"
	cp "$lab_top/hwheel.h" "$copy"
	cp "$lab_top"/module/levels*.h "$copy/module"
	sed -i "${entry#*[[:space:]]}" "$copy"/module/levels*.h
	! cat "$copy"/module/levels*.h | cmp -s - <(cat "$lab_top"/module/levels*.h) ||
		die "fault $1 does not fit module/levels*.h any more"
}

# fault NAME: whether the kept inputs, or the crowds, find this fault
fault()
{
	local copy=$lab_work/faulty

	need gcc
	plant "$1"
	case $1 in
	late-*)
		build_crowds -I"$copy"
		"$lab_work/crowds" >"$lab_work/out" || { grep 'TOO LATE' "$lab_work/out"; return; }
		echo "fault $1 was not found"
		return 1 ;;
	test-*)
		build_kunit -I"$copy"
		"$lab_work/kunit" 1 >"$lab_work/out" || { grep 'not so:' "$lab_work/out"; return; }
		echo "fault $1 was not found"
		return 1 ;;
	esac
	build_replay "$lab_work/replay" -I"$copy"
	if timeout 30 "$lab_work/replay" "$corpus" >"$lab_work/out" 2>&1; then
		echo "fault $1 was not found"
		return 1
	fi
	grep -E '^fuzz_levels:|runtime error|ERROR: AddressSanitizer' "$lab_work/out" | head -n 1
}

cover()
{
	need clang libclang-rt-dev llvm
	clang "${flags[@]}" -fprofile-instr-generate -fcoverage-mapping \
		"$lab_top/fuzz/replay.c" "$lab_top/fuzz/fuzz_levels.c" -o "$lab_work/cover"
	LLVM_PROFILE_FILE=$lab_work/raw "$lab_work/cover" "$corpus"
	llvm-profdata merge "$lab_work/raw" -o "$lab_work/profile"
	llvm-cov report "$lab_work/cover" -instr-profile "$lab_work/profile" \
		"$lab_top"/module/levels*.h
	echo "Lines that were not reached:"
	llvm-cov show "$lab_work/cover" -instr-profile "$lab_work/profile" \
		"$lab_top"/module/levels*.h | grep -E '^ *[0-9]+\| *0\|' || echo none
}

# words FILE: prints the part of an input that has a meaning
words()
{
	local number='[-+]?[0-9]*' operand letters

	operand="$number(:$number)?([-+][0-9]*)?"
	letters=gcbf$(sed -n "s/^\t{ '\(.\)', do_.*/\1/p" "$lab_top/fuzz/fuzz_levels.c" | tr -d '\n')
	head -n 1 "$1" | tr -d '\0' | grep -aoE "[a-z]$operand(,$operand)*" |
		grep "^[$letters]" | tr '\n' ' ' | sed 's/ $/\n/'
}

# keep: keeps the fewest inputs that reach all code that the present inputs reach
keep()
{
	local input

	build_fuzzer
	inputs "$corpus" "$lab_work/kept"
	mkdir -p "$found/inputs" "$lab_work/least"
	quiet fuzz-merge "$lab_work/fuzzer" -merge=1 "$lab_work/least" \
		"$lab_work/kept" "$found/inputs"
	for input in "$lab_work"/least/*; do
		words "$input" || :	# it has none
	done | sort -u >"$lab_work/corpus"
	cp "$lab_work/corpus" "$corpus"
	say "fuzz: $(wc -l <"$corpus") inputs, $(wc -c <"$corpus") bytes"
}

case ${1:-run} in
run|cover|keep)
	"${1:-run}" ;;
replay|fault|crowds)
	"$@" ;;
faults)
	printf '%s\n' "${faults[@]}" | cut -f 1 ;;
fits)
	copy=$lab_work/faulty
	for entry in "${faults[@]}"; do
		plant "${entry%%[[:space:]]*}"
	done ;;
flags)
	printf '%s\n' "${flags[@]}" ;;
*)
	die "no command $1; see the head of fuzz.sh" ;;
esac
