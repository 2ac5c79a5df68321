#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Proves the arithmetic of module/levels*.h, as Documentation/proofs.rst tells:
# Frama-C's WP on the code, z3 and cvc5 on the lemmas, z3 on facts about bits, a run over
# all states of small geometries. For WP and the lemmas it prints each goal that needed a
# prover, with the prover and its time. It proves a copy of the
# module's own code, into which annotate.awk puts loop annotations.
#
# Usage: prove.sh lemmas|bits|wp|exhaustive|faults...

. "$(dirname "$0")/lab/lab.sh"

proofs=$lab_top/proofs
levels=$lab_top/module		# the folder of levels*.h
wheel=$proofs/wheel.h
bits=$proofs/bits.smt2
limit=${PROVER_TIMEOUT:-30}	# for machines that are busy; most goals take 0.1 s

# File, its functions, the number of goals (so that none gets lost unseen), options
goals=(
	"init.c		divisor_init							93	-wp-split"
	"divide.c	divisor_div							16"
	"ticks.c	levels_tick_up,levels_tick_down,levels_tick_ns,level_slot,level_slot_of,level_ahead	65"
)

# Faults: the part that must notice the fault, and its goal; the edit; what the edit does.
# The edit is of a copy of wheel.h for lemmas, of bits.smt2 for bits, and of
# module/levels*.h for the others.
faults=(
	"lemmas distant_is_far	/axiom distant_is_far/,/;$/ s/w \* n <= t - c/w * n - 1 <= t - c/	a distance of one tick less is far, too"
	"lemmas ahead_starts_after	/axiom ahead_starts_after/,/;$/ s/c < (t/c + 1 < (t/	a slot ahead starts two ticks after the clock"
	"bits	/(assert (not (= (bvult (bvxor x y)/ s/bvult/bvule/	a bucket holds the next power of two"
	"ticks.c levels_tick_up_ensures	/ns - 1) + 1 : 0/ s/ns - 1) + 1/ns - 1)/	levels_tick_up() rounds down"
	"ticks.c levels_tick_ns_ensures	/return tick > l->last_tick/ s/>/>=/	the last tick counts as too late"
	"ticks.c level_ahead	/ahead < lv->open ?/ s/</<=/	a spoke behind the last one"
	"init.c divisor_init_loop_invariant_remainder	/if (rest >= d) {/ s/>=/>/	a remainder equal to d is not reduced"
	"divide.c divisor_div_assert_scaled	/x, div->mul, 64/ s/div->mul/div->mul - 1/	the reciprocal is rounded down"
	"exhaustive	/div->mul++;/ d	the reciprocal is rounded down"
	"exhaustive	/likely(ahead < lv->open/ s/ahead < lv->open/lv->open \&\& ahead <= lv->open/	a spoke one turn too far ahead"
	"exhaustive	/^\t\tif (ahead >= lv->nr/ s/>=/>/	the same above the first level looked at"
	"exhaustive	/return fls64(tick ^ l->clock/ s/);/) + 1;/	a bucket one too high"
	"exhaustive	/1ULL << i < l->level/ s/1ULL/2ULL/	lowest[] one too high"
	"exhaustive	/levels_want(l, lv - l->level)/ s/- l->level/- l->level + 1/	a level one too high is asked for"
	"exhaustive	/^\tif (i < l->top \&\& !(l->closed/,/lv->open = lv->nr/ d	levels_grow() adds a level without opening it"
	"exhaustive	/word < 63/ s/(word + 1)/(word + 2)/	the bit search leaves out a word"
	"exhaustive	/^static inline u64 levels_due_tick/,/^}/ s/>> HWHEEL_STRAY/>> HWHEEL_STRAY >> 2/	timers that are left to pop have to wait"
	"exhaustive	/^static inline struct hwheel_spoke .fan_first/,/^}/ s/HWHEEL_FAN_IDS . HWHEEL_FAN)/HWHEEL_FAN_IDS * HWHEEL_FAN + 1)/	a fan's first spoke does not count"
	"exhaustive	/^static __always_inline bool levels_put/,/^}/ s/min(spoke->bound, tick)/spoke_bare(spoke) ? tick : spoke->bound/	a timer that is due earlier than others does not lower the bound"
	"exhaustive	/differ = slot ^ level_slot(lv, first - 1)/ s/first - 1/first - (first == last)/	slack leaves out its first tick"
	"exhaustive	/levels_highest((first - 1) ^ last)/ s/(first - 1)/first/	the same with powers of two"
	"exhaustive	/reach > div_u64/ s/>/>=/	a reach of just S64_MAX is refused"
	"exhaustive	/l->above = min(l->above, spoke->bound)/ s/min/max/	timers above level 0 seem to be due later"
	"exhaustive	/^static noinline unsigned int levels_empty/,/^}/ s/max(levels_due(l, timer), l->clock)/levels_due(l, timer) + 1/	a timer is placed one tick late when it moves"
)

# Why3 of Debian 12 has no driver for cvc5. The driver for cvc4 works with cvc5, too.
provers()
{
	local drivers=$lab_work/drivers

	need frama-c-base why3 z3 cvc5 gcc
	mkdir -p "$drivers"
	cp /usr/share/why3/drivers/*.gen "$drivers"
	sed 's/ALL_SUPPORTED/ALL/' /usr/share/why3/drivers/cvc4_17.drv >"$drivers/cvc5.drv"
	export WHY3CONFIG=$lab_work/why3.conf
	rm -f "$WHY3CONFIG"
	why3 config detect >"$lab_work/why3" 2>&1 || { cat "$lab_work/why3"; return 1; }
	cat >>"$WHY3CONFIG" <<-END

		[prover]
		name = "CVC5"
		version = "1.0.3"
		shortcut = "cvc5"
		command = "$(command -v cvc5) --stats --tlimit=%t000 --lang=smt2 %f"
		command_steps = "$(command -v cvc5) --stats --rlimit=%S --lang=smt2 %f"
		driver = "$drivers/cvc5.drv"
		editor = ""
		in_place = false
		interactive = false
	END
}

prove_lemmas()
{
	need python3 z3 cvc5
	python3 "$proofs/lemmas.py" "$proofs/arith.h $proofs/division.h $wheel" \
		"$limit" z3 cvc5
}

# Each check-sat of bits.smt2 asks whether a fact can be false
prove_bits()
{
	need z3
	z3 -T:"$limit" "$bits" | tee "$lab_work/bits"
	! grep -qvx -e unsat -e 'bits_.*' "$lab_work/bits" &&
		[ "$(grep -cx unsat "$lab_work/bits")" = "$(grep -c '^(check-sat)' "$bits")" ]
}

prove_wp()
{
	local dir=$lab_work/wp line row status=0

	provers || return
	mkdir -p "$dir/module"
	cp "$levels"/levels*.h "$dir/module"
	awk -v annotations="$proofs/loops.acsl" -f "$proofs/annotate.awk" <"$levels/levels.h" \
		>"$dir/module/levels.h" || return
	for line in "${goals[@]}"; do
		read -ra row <<<"$line"
		wp "${row[@]}" || status=1
	done
	return $status
}

# wp FILE FUNCTIONS GOALS [OPTIONS...]: prints a line for each goal that needed a prover
wp()
{
	local log=$lab_work/wp.log

	(cd "$proofs" && frama-c -machdep gcc_x86_64 -warn-unsigned-overflow \
		-cpp-extra-args="-I$lab_work/wp -I. -I$lab_top/fuzz/include -I$lab_top -U__SIZEOF_INT128__" \
		-wp -wp-rte -wp-fct "$2" -wp-prover z3,cvc5 -wp-timeout "$limit" \
		-wp-par 2 -wp-cache none "${@:4}" "$1") >"$log" 2>&1 || { cat "$log"; return 1; }
	sed -n 's/^\[wp\] \[\(Z3\|CVC5\) [^]]*\] Goal typed_\([^ ]*\) : Valid.*(\([^()]*s\)).*/\2 \1 \3/p
		s/^\[wp\] \[Failed\] Goal typed_/- unproved: /p' "$log"
	sed -n "s/^\[wp\] \(Proved goals:.*\)/$1: \1/p; s/^  \(Qed:.*\)/$1: \1/p" "$log"
	grep -qE "^\[wp\] Proved goals: +$3 / $3\$" "$log"
}

prove_exhaustive()
{
	local dir=$lab_work/exhaustive

	need gcc
	mkdir -p "$dir/module"
	cp "$levels"/levels*.h "$dir/module"
	gcc -std=gnu11 -O2 -Wall -I"$dir" -I"$lab_top/fuzz/include" -I"$lab_top" \
		-o "$dir/exhaustive" "$proofs/exhaustive.c" || return
	timeout 900 "$dir/exhaustive"
}

# same A B: whether two files, or the levels*.h of two folders, are the same
same()
{
	[ ! -d "$1" ] || { set -- <(cat "$1"/levels*.h) <(cat "$2"/levels*.h); }
	cmp -s "$1" "$2"
}

# Each of the faults must be noticed
prove_faults()
{
	local row what goal edit name file status=0 log=$lab_work/fault.log
	local all=("${goals[@]}") original=([0]="$levels" [1]="$wheel" [2]="$bits") usual=$limit

	for row in "${faults[@]}"; do
		IFS=$'\t' read -r what edit name <<<"$row"
		read -r what goal <<<"$what"
		levels=${original[0]} wheel=${original[1]} bits=${original[2]}
		limit=5		# for goals that the fault makes wrong
		case $what in
		lemmas)	file=wheel ;;
		bits)	file=bits limit=$usual ;;	# z3 finds a counterexample at once
		*)	file=levels ;;
		esac
		rm -rf "$lab_work/fault"
		if [ $file = levels ]; then
			mkdir "$lab_work/fault"
			cp "$levels"/levels*.h "$lab_work/fault"
			sed -i "$edit" "$lab_work"/fault/*
		else
			sed "$edit" "${!file}" >"$lab_work/fault"
		fi
		if same "$lab_work/fault" "${!file}"; then
			echo "fault: $name: its line is not there any more"
			status=1
			continue
		fi
		printf -v $file %s "$lab_work/fault"
		mapfile -t goals < <(printf '%s\n' "${all[@]}" | grep "^$what")
		if prove_"${what/*.c/wp}" >"$log" 2>&1; then
			echo "fault: $name: not noticed by $what"
			status=1
		elif grep -m 1 -E "^(- unproved: $goal|lemma_$goal .*\(sat\)|sat\$|exhaustive: tick )" \
			"$log" >"$log.why"; then
			echo "fault: $name: $what: $(cat "$log.why")"
		else
			echo "fault: $name: $what failed for another reason:"
			tail -n 5 "$log"
			status=1
		fi
	done
	return $status
}

[ $# != 0 ] || die "usage: prove.sh lemmas|bits|wp|exhaustive|faults..."
for part; do
	"prove_$part" || die "$part: failed"
done
