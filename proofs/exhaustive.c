// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the layered wheel with plain division in every state of small geometries. This
 * is a program for user space that includes the module's own code.
 *
 * Usage: exhaustive [CROWD]
 *	  checks with HWHEEL_CROWD from 2 to CROWD; default: 4. The far runs and the long
 *	  runs take 2 and 64 instead
 *
 * Each part prints how many states it checked. At the first wrong state, the program
 * prints that state and exits with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/math.h>

static unsigned int crowd_size, above_bits = 7;
static unsigned long long sift_ns;
#define HWHEEL_ABOVE_BITS above_bits
#define HWHEEL_CROWD crowd_size
#define HWHEEL_CROWD_FAN crowd_size
#define HWHEEL_CROWD_EARLY (2 * crowd_size)
#define HWHEEL_FANS_KEPT 1
#define HWHEEL_FAN_BITS 2	/* so that fans have fans */
#define HWHEEL_SIFT_NS sift_ns	/* a tick */
#include "module/levels.h"

#define MAX_SPOKES	5	/* of the geometries that are checked */
#define MAX_TIMERS	64
#define MAX_MOVES	54	/* of one timer; see the parking lot in module/levels.h */
#define LAST_TICK	((u64)S64_MAX / HWHEEL_MIN_TICK_NS + 1)

static struct hwheel_geometry geometry;
static struct hwheel_levels levels;
static void *memory;
static u64 states;
static unsigned int most_moves;

#define fail(format, ...)							\
	do {									\
		unsigned int __i;						\
										\
		printf("exhaustive: tick %llu ns, spokes", geometry.tick_ns);	\
		for (__i = 0; __i < geometry.levels; __i++)			\
			printf(" %u", geometry.spokes[__i]);			\
		printf(", clock %llu: " format "\n", levels.clock, __VA_ARGS__);\
		exit(1);							\
	} while (0)

static void done(const char *part)
{
	printf("exhaustive: %-12s %12llu states\n", part, states);
	fflush(stdout);
	states = 0;
}

/* Bytes of memory for the rows below @row */
static size_t size_below(unsigned int row)
{
	size_t size = 0;

	while (row--)
		size += levels_size(&levels, row);
	return round_up(size, HWHEEL_SPOKE_SIZE);
}

static void add_row(unsigned int row)
{
	levels_grow(&levels, row, level_init(&levels, row, memory + size_below(row)));
}

/* Add the lowest level that is missing. False if there is none */
static bool add_level(void)
{
	unsigned int i;

	for (i = 0; i < levels.top; i++)
		if (!(levels.exist & BIT(i))) {
			add_row(i);
			return true;
		}
	return false;
}

/* Make an empty wheel of @geometry, with its lowest @nr levels. */
static void make_some(u64 clock, unsigned int nr)
{
	struct hwheel_spoke *lot;

	free(memory);
	lot = aligned_alloc(HWHEEL_SPOKE_SIZE, HWHEEL_LOT_SIZE);
	if (!lot)
		exit(2);
	memset(lot, 0, HWHEEL_LOT_SIZE);
	levels_init(&levels, &geometry, lot, clock);	/* now the sizes are known */
	memory = aligned_alloc(HWHEEL_SPOKE_SIZE, size_below(HWHEEL_ROWS));
	if (!memory)
		exit(2);
	memset(memory, 0, size_below(HWHEEL_ROWS));
	levels_init(&levels, &geometry, memory + size_below(HWHEEL_LOT), clock);
	free(lot);
	add_row(HWHEEL_FANS);
	while (nr--)
		add_level();
}

static void make(u64 clock)
{
	make_some(clock, HWHEEL_LOT);
}

/* Go to the next geometry of 1 to @deepest levels with 2 to @most spokes */
static bool next_geometry(unsigned int deepest, unsigned int most)
{
	unsigned int i;

	for (i = 0; i < geometry.levels; i++) {
		if (++geometry.spokes[i] <= most)
			return true;
		geometry.spokes[i] = 2;
	}
	if (geometry.levels == deepest)
		return false;
	geometry.spokes[geometry.levels++] = 2;
	return true;
}

static void first_geometry(u64 tick_ns)
{
	memset(&geometry, 0, sizeof(geometry));
	geometry.tick_ns = tick_ns;
	sift_ns = tick_ns;
	geometry.levels = 1;
	geometry.spokes[0] = 2;
}

/* Number of spokes of level @i, by definition. The highest level may have fewer. */
static unsigned int spokes(unsigned int i)
{
	return i < geometry.levels ? geometry.spokes[i] : 1U << above_bits;
}

/* Width in ticks of a slot of level @i, by definition. */
static u64 width(unsigned int i)
{
	u64 ticks = 1;

	while (i--)
		ticks *= spokes(i);
	return ticks;
}

static u64 reach(void)
{
	return width(geometry.levels);
}

static unsigned int highest_bit(u64 x)
{
	unsigned int bit = 0;

	while (x >>= 1)
		bit++;
	return bit;
}

static u64 random_state = 88172645463325252ULL;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/*
 * Division, ticks, the reach
 */

static void check_divisor(u64 d)
{
	static const u64 around[] = { 0, 1, 2, 3, 4095, 4096, 1ULL << 31, 1ULL << 32, 1ULL << 52 };
	struct hwheel_divisor div;
	unsigned int i;
	u64 x, last = S64_MAX / d * d;
	int j;

	divisor_init(&div, d);
	for (i = 0; i < 2 * ARRAY_SIZE(around) + 16; i++) {
		if (i < ARRAY_SIZE(around))
			x = around[i] <= S64_MAX / d ? around[i] * d : 0;
		else if (i < 2 * ARRAY_SIZE(around))
			x = around[i - ARRAY_SIZE(around)] <= S64_MAX / d ?
				last - around[i - ARRAY_SIZE(around)] * d : last;
		else
			x = (random_u64() >> 1) / d * d;
		for (j = -1; j <= 1; j++) {
			u64 y = (x + j) & S64_MAX;

			if (divisor_div(&div, y) != y / d)
				fail("%llu / %llu is not %llu", y, d, divisor_div(&div, y));
			states++;
		}
	}
}

static void check_divisors(void)
{
	unsigned int bit;
	int i;
	u64 d;

	for (d = 1; d <= 1 << 16; d++)
		check_divisor(d);
	for (bit = 17; bit < 63; bit++)
		for (i = -64; i <= 64; i++)
			check_divisor((1ULL << bit) + i);
	for (i = 0; i < 1 << 16; i++)
		check_divisor((random_u64() >> (random_u64() % 63 + 1)) | 1);
	done("division");
}

static void check_tick(u64 tick_ns, s64 ns)
{
	u64 up = levels_tick_up(&levels, ns), down = levels_tick_down(&levels, ns);
	u64 rest = ns > 0 ? ns % tick_ns : 0, least = ns > 0 ? ns / tick_ns : 0;
	s64 back = levels_tick_ns(&levels, up);
	__int128 exact = (__int128)up * tick_ns;

	if (down != least || up != least + !!rest)
		fail("%lld ns is tick %llu to %llu", ns, down, up);
	if (back != (exact > S64_MAX ? S64_MAX : (s64)exact))
		fail("tick %llu is %lld ns", up, back);
	if (up > LAST_TICK)
		fail("%lld ns is tick %llu", ns, up);
	states++;
}

static void check_ticks(void)
{
	static const u64 ticks[] = { 1000, 1001, 1023, 1024, 1025, 3333, 999999, 1000000,
		1048576, 1000000007, 3600000000000ULL, S64_MAX / 2 };
	unsigned int i;
	s64 ns;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		first_geometry(ticks[i]);
		make(0);
		for (ns = -3000; ns < 300000; ns++) {
			check_tick(ticks[i], ns);
			check_tick(ticks[i], S64_MAX - ns - 3000);
			check_tick(ticks[i], (s64)(random_u64() >> 1) / ticks[i] * ticks[i] +
				   ns % 3);
		}
	}
	done("ticks");
}

static void check_fit(void)
{
	unsigned __int128 product = geometry.tick_ns;
	unsigned int i;

	for (i = 0; i < geometry.levels; i++)
		if (product <= S64_MAX)		/* else it stays too large */
			product *= geometry.spokes[i];
	if (hwheel_geometry_fits(&geometry) ? product > S64_MAX : product <= S64_MAX)
		fail("the reach is %s S64_MAX", product <= S64_MAX ? "within" : "over");
	states++;
}

static void check_fits(void)
{
	unsigned int i, j;

	for (i = HWHEEL_MIN_SPOKES; i <= HWHEEL_MAX_SPOKES; i++)
		for (j = 0; j < 3; j++) {	/* around the longest tick that fits */
			first_geometry(S64_MAX / i - 1 + j);
			geometry.spokes[0] = i;
			check_fit();
		}
	for (i = 0; i < 3000000; i++) {
		first_geometry(1000 + (i % 3 ? random_u64() % 100 : random_u64() >> (i % 50 + 4)));
		geometry.levels = 1 + random_u64() % HWHEEL_MAX_LEVELS;
		for (j = 0; j < geometry.levels; j++)
			geometry.spokes[j] = 2 + random_u64() % (i % 2 ? 4095 : 150);
		check_fit();
	}
	done("reach");
}

/*
 * Where a timer goes
 */

static void check_place(u64 tick)
{
	struct hwheel_spoke *spoke = levels_place(&levels, tick);
	u64 clock = levels.clock, w = 1, slot, now;
	unsigned int i;

	for (i = 0; ; w *= spokes(i++)) {
		slot = tick / w;
		now = clock / w;
		if (slot - now < spokes(i))
			break;
	}
	if (i >= levels.top)
		fail("tick %llu is beyond level %u", tick, levels.top - 1);
	if (!(levels.exist & BIT(i))) {
		unsigned int bucket = tick == clock ? 0 : highest_bit(tick ^ clock) + 1;

		if (spoke->level != HWHEEL_LOT || spoke->index != bucket)
			fail("tick %llu goes to level %u, spoke %u", tick, spoke->level,
			     spoke->index);
		if (levels_missing(&levels) != BIT(i))
			fail("tick %llu wants levels %x", tick, levels_missing(&levels));
		levels.wanted = 0;
	} else {
		if (spoke->level != i || spoke->index != slot % levels.level[i].nr)
			fail("tick %llu goes to spoke %u of level %u", tick, spoke->index,
			     spoke->level);
		if (level_slot_of(&levels.level[i], spoke->index) != slot)
			fail("spoke %u of level %u is not slot %llu", spoke->index, i, slot);
		if (i ? slot * w <= clock || slot * w > tick : slot != tick)
			fail("tick %llu goes to slot %llu of level %u", tick, slot, i);
		if (levels_missing(&levels))
			fail("tick %llu wants levels %x", tick, levels_missing(&levels));
	}
	states++;
}

static void check_clock(u64 clock)
{
	unsigned int i;

	for (i = 0; i < levels.top; i++) {
		const struct hwheel_level *lv = &levels.level[i];
		u64 slot = clock / width(i);

		if (lv->slot != slot || lv->pos != slot % lv->nr)
			fail("level %u is at slot %llu, spoke %u", i, lv->slot, lv->pos);
	}
	states++;
}

static void check_clocks(void)
{
	struct hwheel_levels from;
	u64 clock, to;

	first_geometry(1000);
	do {
		make(0);
		for (clock = 0; clock < 2 * reach() + 2; clock++) {
			levels_set_clock(&levels, clock);
			from = levels;
			for (to = clock; to < 4 * reach() + 2; to++) {
				levels_set_clock(&levels, to);
				check_clock(to);
				levels = from;
			}
		}
	} while (next_geometry(3, MAX_SPOKES));
	done("clock");
}

static void check_places_from(u64 clock)
{
	unsigned int bit;
	u64 tick;
	int i;

	for (tick = clock; tick < clock + 5 * reach(); tick++)
		check_place(tick);
	for (bit = highest_bit(tick); bit < 54; bit++)
		for (i = -2; i <= 2; i++)
			if ((1ULL << bit) + i >= clock && (1ULL << bit) + i <= LAST_TICK)
				check_place((1ULL << bit) + i);
}

/* Check the places of timers when all, some or none of the levels exist */
static void check_places(void)
{
	unsigned int nr;
	u64 clock;

	first_geometry(1000);
	do {
		for (nr = 0; nr <= geometry.levels + 1; nr++)
			for (clock = 0; clock < 2 * reach() + 2; clock++) {
				make_some(clock, nr <= geometry.levels ? nr : HWHEEL_LOT);
				check_places_from(clock);
			}
	} while (next_geometry(3, MAX_SPOKES));
	done("place");
}

/* As check_places(), for random geometries of any size, at random times */
static void check_far_places(void)
{
	unsigned int i, j;

	for (i = 0; i < 100000; i++) {
		do {
			first_geometry(1000 + random_u64() % 2 * (random_u64() % 1000000));
			geometry.levels = 1 + random_u64() % HWHEEL_MAX_LEVELS;
			for (j = 0; j < geometry.levels; j++)
				geometry.spokes[j] = 2 + random_u64() % (random_u64() % 4095 + 1) %
					(i % 2 ? 4095 : 60);
		} while (hwheel_geometry_fault(&geometry));
		make_some((random_u64() >> (random_u64() % 52 + 1)) % (S64_MAX / geometry.tick_ns),
			  i % 4 ? HWHEEL_LOT : random_u64() % geometry.levels);
		check_clock(levels.clock);
		for (j = 0; j < 50; j++) {
			u64 ahead = random_u64() >> (random_u64() % 63);

			if (j % 2)
				ahead = width(random_u64() % (geometry.levels + 1)) *
					(ahead % 4096) + random_u64() % 3 - 1;
			check_place(levels.clock + ahead % (S64_MAX / geometry.tick_ns + 2 -
							    levels.clock));
		}
	}
	done("far places");
}

/* The first bit set, wrapping round */

static void check_first(struct hwheel_level *lv, unsigned int from)
{
	unsigned int want = from;

	while (!level_bit(lv, HWHEEL_OCCUPIED, want))
		want = (want + 1) % lv->nr;
	lv->pos = from;
	if (level_first(lv, HWHEEL_OCCUPIED) != &lv->spokes[want])
		fail("%u spokes: from %u on the first one is not %u, but %ld", lv->nr, from, want,
		     (long)(level_first(lv, HWHEEL_OCCUPIED) - lv->spokes));
	states++;
}

static void check_bits(void)
{
	static const unsigned int sizes[] = { 63, 64, 65, 127, 128, 129, 191, 1000, 4032, 4095,
		4096 };
	static struct hwheel_spoke spokes[HWHEEL_MAX_SPOKES];
	struct hwheel_level lv = { .spokes = spokes };
	unsigned int i, a, b, from, step;
	u64 *first = &spokes[0].bits;

	for (lv.nr = 2; lv.nr <= 12; lv.nr++)
		for (*first = 1; *first < 1ULL << lv.nr; ++*first)
			for (lv.summary[0] = 1, from = 0; from < lv.nr; from++)
				check_first(&lv, from);

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		lv.nr = sizes[i];
		step = lv.nr < 200 ? 1 : 61;	/* coprime to 64: all remainders occur */
		for (a = 0; a < lv.nr; a += step)
			for (b = a; b < lv.nr; b += step) {
				memset(spokes, 0, DIV_ROUND_UP(lv.nr, 64) * sizeof(*spokes));
				spokes[a / 64].bits |= 1ULL << a % 64;
				spokes[b / 64].bits |= 1ULL << b % 64;
				lv.summary[0] = 1ULL << a / 64 | 1ULL << b / 64;
				for (from = 0; from < lv.nr; from += step)
					check_first(&lv, from);
				check_first(&lv, a);
				check_first(&lv, (a + 1) % lv.nr);
				check_first(&lv, lv.nr - 1);
			}
	}
	done("bit search");
}

/*
 * Slack
 */

static u64 multiple_within(u64 of, u64 first, u64 last)
{
	u64 tick = last / of * of;

	return tick >= first ? tick : 0;
}

static void check_align(u64 first, u64 last)
{
	u64 got = levels_align(&levels, first, last), want = 0, w;
	unsigned int i = geometry.levels - 1;

	while (!multiple_within(width(i), first, last))
		i--;
	for (w = width(i); multiple_within(w, first, last); w *= 2)
		want = multiple_within(w, first, last);
	if (got != want)
		fail("%llu to %llu: aligned is %llu, not %llu", first, last, want, got);
	states++;
}

static void check_aligns(void)
{
	u64 first, last;

	first_geometry(1000);
	do {
		make(0);
		for (first = 1; first < 3 * reach() + 2; first++)
			for (last = first; last < 4 * reach() + 2; last++)
				check_align(first, last);
	} while (next_geometry(3, MAX_SPOKES));
	done("slack");
}

/*
 * Timers, from arming to expiration
 */

static struct hwheel_timer timers[MAX_TIMERS];
static u64 due[MAX_TIMERS];
static unsigned int moves[MAX_TIMERS], rank[MAX_TIMERS];
static const struct hwheel_spoke *held[MAX_TIMERS];	/* the spoke that held it last */

/*
 * A stage is an arming, a step or an expiration. The first level is added before stage
 * grow_from, then one level every grow_every stages.
 */
static unsigned int stage, last_stage, grow_from, grow_every;

/* The spoke that holds @timer */
static const struct hwheel_spoke *spoke_with(const struct hwheel_timer *timer)
{
	const char *start = memory, *end = start + size_below(HWHEEL_ROWS);
	const struct list_head *entry = &timer->entry;

	do {
		entry = entry->next;
	} while ((const char *)entry < start || (const char *)entry >= end);
	return spoke_of(entry);
}

/* The right level of a timer due at @tick, whether it exists or not */
static unsigned int right_level(u64 tick)
{
	unsigned int i;

	for (i = 0; tick / width(i) - levels.clock / width(i) >= spokes(i); )
		i++;
	return i;
}

/*
 * The rank of timer @i in @spoke. Each move brings it to a lower rank: from a level to its fan, to
 * a lower level, or to a bucket because its right level is missing; from a bucket to a lower one,
 * or to that level.
 */
static unsigned int rank_of(unsigned int i, struct hwheel_spoke *spoke)
{
	unsigned int depth = 0;

	for (; spoke->more & HWHEEL_CHILD; spoke = fan_get(&levels, fan_id(spoke))->parent)
		depth++;
	if (spoke->level == HWHEEL_LOT)
		return right_level(max(due[i], levels.clock)) * 128 + 65 + spoke->index;
	return spoke->level * 128 + 64 - depth;
}

/* Called before each operation on the wheel: adds a level if it is time for one */
static void next_stage(void)
{
	while (stage >= grow_from + levels.nr * grow_every && add_level())
		if (levels_check(&levels))
			fail("%s, with a new level", levels_check(&levels));
	last_stage = max(last_stage, ++stage);
}

static void arm(unsigned int i, u64 tick)
{
	next_stage();
	due[i] = tick;
	timers[i].expires = tick * geometry.tick_ns;
	levels_add(&levels, &timers[i], tick);
	held[i] = spoke_with(&timers[i]);
	rank[i] = rank_of(i, (struct hwheel_spoke *)held[i]);
	moves[i] = 0;
}

/* After a step, check that each timer that has moved went down */
static void follow(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct hwheel_spoke *spoke;
		unsigned int now;

		if (!timers[i].entry.next)
			continue;
		spoke = (struct hwheel_spoke *)spoke_with(&timers[i]);
		if (spoke == held[i] ||
		    (spoke->level == HWHEEL_LOT && spoke->index == HWHEEL_EXPIRED))
			continue;
		now = rank_of(i, spoke);
		if (now >= rank[i])
			fail("tick %llu moved up from rank %u to %u", due[i], rank[i], now);
		held[i] = spoke;
		rank[i] = now;
		if (++moves[i] > most_moves)
			most_moves = moves[i];
		if (moves[i] > MAX_MOVES)
			fail("tick %llu moved %u times", due[i], moves[i]);
	}
}

/* Run all @n timers that are armed. @whole: check the whole structure at each step. */
static void run(unsigned int n, bool whole)
{
	bool complete = (levels.exist & (BIT(HWHEEL_LOT) - 1)) == BIT(levels.top) - 1;
	u64 now = levels.clock, least, wake, moved, steps = 0;
	unsigned int i, left = n;

	while (left) {
		for (least = HWHEEL_NEVER, i = 0; i < n; i++)
			if (timers[i].entry.next)
				least = min(least, due[i]);
		wake = levels_first(&levels, HWHEEL_NEVER)->bound;
		if (wake > least || (wake != least && complete))
			fail("the least bound is %llu, not %llu", wake, least);
		wake = levels_wake(&levels);
		if (wake > least || (wake != least && crowd_size > n && complete))
			fail("the next expiration is %llu, not %llu", wake, least);
		if (wake > now)
			now = wake;

		for (;;) {
			enum hwheel_step step;
			struct hwheel_timer *timer;

			next_stage();
			moved = levels.moved;
			step = levels_step(&levels, now);
			if (step == HWHEEL_IDLE)
				break;
			if (step == HWHEEL_MOVED && moved == levels.moved)
				fail("a step at %llu moved nothing", now);
			if (++steps > 1000)
				fail("at %llu the steps do not end", now);
			follow(n);
			if (whole && levels_check(&levels))
				fail("%s", levels_check(&levels));
			if (step == HWHEEL_MOVED)
				continue;
			if (levels_wake(&levels) > now)
				fail("a timer due at %llu was delayed", now);
			while ((timer = levels_pop(&levels, now))) {
				i = timer - timers;
				if (due[i] != now)
					fail("tick %llu fires at %llu", due[i], now);
				left--;
				next_stage();
			}
		}
		if (++steps > 1000)
			fail("at %llu the steps do not end", now);
	}
	if (levels.pending || levels_first(&levels, HWHEEL_NEVER) ||
	    levels_wake(&levels) != HWHEEL_NEVER)
		fail("%llu timers are left", levels.pending);
	states++;
}

/* Check all sets of timers that include one at tick @first, on the @empty wheel */
static void check_run(unsigned int n, const struct hwheel_levels *empty, u64 first, u64 end)
{
	u64 clock = empty->clock, last = n > 1 ? end - 1 : clock, second, third;

	for (second = clock; second <= last; second++)
		for (third = n > 2 ? clock : last; third <= last; third++) {
			levels = *empty;
			stage = 0;
			arm(0, first);
			if (n > 1)
				arm(1, second);
			if (n > 2)
				arm(2, third);
			run(n, n != 2);
		}
}

/*
 * Check every set of @n timers that are due within about @turns times the reach. Do so at every
 * clock within the reach. Arm the timers in every order.
 */
static void check_runs_from(unsigned int nr, unsigned int n, unsigned int deepest,
			    unsigned int most, u64 turns)
{
	struct hwheel_levels empty;
	u64 clock, first, end;

	above_bits = 2;		/* few spokes, and few ticks: levels_check() looks at all of them */
	first_geometry(S64_MAX >> 11);
	do {
		for (clock = 0; clock < reach() + 2; clock++) {
			make_some(clock, nr);
			empty = levels;
			end = clock + turns * reach() + 2;
			for (first = clock; first < end; first++)
				check_run(n, &empty, first, end);
		}
	} while (next_geometry(deepest, most));
	above_bits = 7;
}

static void check_runs(unsigned int n, unsigned int deepest, unsigned int most, u64 turns)
{
	check_runs_from(HWHEEL_LOT, n, deepest, most, turns);
}

/*
 * The wheel begins without levels. The first level is added before each possible stage in
 * turn. The other levels follow at once, or 1 to 3 stages apart.
 */
static void check_growing(void)
{
	last_stage = 0;
	for (grow_from = 0; grow_from <= last_stage; grow_from++)
		for (grow_every = 0; grow_every < 4; grow_every++) {
			check_runs_from(0, 1, 3, 3, 5);
			check_runs_from(0, 2, 2, 3, 2);
			check_runs_from(0, 2, 3, 2, 2);
			check_runs_from(0, 3, 1, 3, 2);
		}
	grow_from = 0;
	done("growing");
}

/* One timer, due around each power of two, up to the last tick */
static void check_far_runs(void)
{
	struct hwheel_levels empty;
	unsigned int bit;
	u64 clock;
	int i;

	first_geometry(1000);
	do {
		for (clock = 0; clock < 2 * reach(); clock++) {
			make(clock);
			empty = levels;
			for (bit = 8; bit < 54; bit++)
				for (i = -1; i <= 1; i++) {
					u64 tick = (1ULL << bit) + i;

					if (tick < clock || tick > LAST_TICK - 1)
						continue;
					levels = empty;
					arm(0, tick);
					run(1, true);
				}
		}
	} while (next_geometry(3, 4));
	done("far runs");
}

/*
 * The case with the most moves: a timer at tick 11...1 in binary, and others at 10...0,
 * 110...0 and so on. Each of the others makes the clock enter a bucket, or a spoke, that holds the
 * first timer. All levels exist, or none.
 */
static void check_long_runs(unsigned int nr)
{
	unsigned int bit, n;
	u64 top, tick;

	first_geometry(1000);
	do {
		for (bit = 2; bit < 54; bit++) {
			make_some(0, nr);
			top = min((1ULL << bit) - 1, LAST_TICK - 1);
			n = 0;
			arm(n++, top);
			for (tick = 1ULL << (bit - 1); tick < top; tick |= tick >> 1)
				arm(n++, tick);
			run(n, true);
		}
	} while (next_geometry(8, 2));
	done("long runs");
}

int main(int argc, char **argv)
{
	unsigned int largest = argc > 1 ? atoi(argv[1]) : 4;

	crowd_size = 1024;
	check_divisors();
	check_ticks();
	check_fits();
	check_clocks();
	check_places();
	check_far_places();
	check_bits();
	check_aligns();
	for (crowd_size = 2; crowd_size <= largest; crowd_size++) {
		check_runs(1, 3, MAX_SPOKES, 9);
		done("one timer");
		check_runs(2, 3, 4, 2);
		done("two timers");
		check_runs(3, 2, 3, 3);
		check_runs(3, 3, 2, 3);
		done("three timers");
		check_growing();
	}
	for (crowd_size = 2; crowd_size <= 1024; crowd_size *= 32) {
		check_far_runs();
		check_long_runs(HWHEEL_LOT);
		grow_from = -1U / 2;
		check_long_runs(0);
		grow_from = 0;
	}
	printf("exhaustive: at most %u moves of one timer\n", most_moves);
	return 0;
}
