// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of hwheel: the layered wheel alone, with the time passed in, and
 * the running module through its API.
 *
 * The wheel's results are checked against nothing cleverer than a sorted list,
 * or than looking into each spoke for a timer.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timer.h>

/* Let the wheels of these tests have crowds all the time. */
#define HWHEEL_CROWD	16

#include "hwheel.h"
#include "hwheel_compat.h"
#include "hwheel_levels.h"

static bool years;
module_param(years, bool, 0444);
MODULE_PARM_DESC(years, "let a year of simulated time pass (UML with time-travel=inf-cpu)");

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of all random choices; 0 takes a new one and prints it");

static unsigned int walk_ops = 1000000;
module_param(walk_ops, uint, 0444);
MODULE_PARM_DESC(walk_ops, "operations of the random walk");

static struct rnd_state rnd;

static u64 random_u64(void)
{
	return (u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd);
}

/* From 0 to @below - 1. */
static u64 random_below(u64 below)
{
	u64 n = random_u64();

	return n - div64_u64(n, below) * below;
}

/* From 0 up, each magnitude up to that of @most as likely as any other. */
static u64 random_magnitude(u64 most)
{
	return random_below(most) >> random_below(fls64(most));
}

static int test_seed(struct kunit_suite *suite)
{
	if (!seed)
		seed = get_random_u32() | 1;
	prandom_seed_state(&rnd, seed);
	pr_info("hwheel_kunit: %s: seed=%lu\n", suite->name, seed);
	return 0;
}

/* ------------------------------------------------------------------------ */
/* A wheel without time, and timers that remember when they fired */

#define NOT_FIRED	(U64_MAX - 1)

struct rig {
	struct kunit		*test;
	struct hwheel_levels	l;
	struct hwheel_geometry	g;
	void			*memory;
	u64			fired;		/* timers that have */
	u64			last;		/* tick of the last that has */
};

struct item {
	struct hwheel_timer	timer;
	u64			fired;		/* tick, or NOT_FIRED */
};

struct place {
	int			level;		/* -1 if the timer is on none */
	int			spoke;
};

#define MS	NSEC_PER_MSEC
#define SPOKES(...)	((const unsigned int []){ __VA_ARGS__, 0 })

static void rig_init(struct rig *rig, struct kunit *test, u64 tick_ns,
		     const unsigned int *spokes, u64 clock)
{
	memset(rig, 0, sizeof(*rig));
	rig->test = test;
	rig->g.tick_ns = tick_ns;
	while (*spokes)
		rig->g.spokes[rig->g.levels++] = *spokes++;
	KUNIT_ASSERT_NULL(test, hwheel_geometry_fault(&rig->g));

	rig->memory = kunit_kzalloc(test, levels_size(&rig->g), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rig->memory);
	levels_init(&rig->l, &rig->g, rig->memory, clock);
}

static struct rig *rig_new(struct kunit *test, u64 tick_ns,
			   const unsigned int *spokes, u64 clock)
{
	struct rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rig);
	rig_init(rig, test, tick_ns, spokes, clock);
	return rig;
}

static struct item *items_new(struct kunit *test, size_t n)
{
	struct item *items = kunit_kzalloc(test, n * sizeof(*items), GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, items);
	for (i = 0; i < n; i++)
		items[i].fired = NOT_FIRED;
	return items;
}

static void add_ns(struct rig *rig, struct item *item, ktime_t expires)
{
	item->fired = NOT_FIRED;
	item->timer.expires = expires;
	levels_add(&rig->l, &item->timer, levels_due(&rig->l, &item->timer));
}

static void add(struct rig *rig, struct item *item, u64 tick)
{
	add_ns(rig, item, tick * rig->g.tick_ns);
}

static void mod(struct rig *rig, struct item *item, u64 tick)
{
	u64 old = levels_due(&rig->l, &item->timer);

	item->timer.expires = tick * rig->g.tick_ns;
	levels_mod(&rig->l, &item->timer, old, tick);
}

/* One step, and what it says is due is popped. Returns false when idle. */
static bool step(struct rig *rig, u64 now)
{
	enum hwheel_step what;
	struct hwheel_timer *timer;
	u64 moved = rig->l.moved;

	what = levels_step(&rig->l, now);
	if (rig->l.moved - moved > HWHEEL_BATCH)
		KUNIT_FAIL(rig->test, "%llu timers moved at a time", rig->l.moved - moved);
	if (what == HWHEEL_DUE) {
		while ((timer = levels_pop(&rig->l))) {
			struct item *item = container_of(timer, struct item, timer);

			if (item->fired != NOT_FIRED)
				KUNIT_FAIL(rig->test, "a timer fired twice");
			item->fired = rig->l.clock;
			rig->fired++;
			if (rig->last > item->fired)
				KUNIT_FAIL(rig->test, "%llu fired after %llu",
					   item->fired, rig->last);
			rig->last = item->fired;
		}
	}
	return what != HWHEEL_IDLE;
}

static void advance(struct rig *rig, u64 now)
{
	while (step(rig, now))
		;
}

static void expect_sound(struct rig *rig)
{
	KUNIT_EXPECT_STREQ(rig->test, levels_check(&rig->l) ?: "sound", "sound");
}

/* Look for @item in each list there is. */
static struct place place(struct rig *rig, const struct item *item)
{
	const struct hwheel_timer *timer;
	struct place p;

	for (p.level = 0; p.level <= rig->l.nr; p.level++) {
		const struct hwheel_level *lv = &rig->l.level[p.level];

		for (p.spoke = 0; p.spoke < lv->nr; p.spoke++)
			list_for_each_entry(timer, &lv->spokes[p.spoke].timers, entry)
				if (timer == &item->timer)
					return p;
	}
	p.level = -1;
	p.spoke = -1;
	return p;
}

static void expect_place(struct rig *rig, const struct item *item, int level, int spoke)
{
	struct place p = place(rig, item);

	KUNIT_EXPECT_EQ_MSG(rig->test, p.level, level, "level of a timer for %lld ns",
			    item->timer.expires);
	if (spoke >= 0)
		KUNIT_EXPECT_EQ_MSG(rig->test, p.spoke, spoke,
				    "spoke of a timer for %lld ns", item->timer.expires);
}

/* ------------------------------------------------------------------------ */
/* The worked examples */

static void test_16_spokes(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 0);
	struct item *t = items_new(test, 5);

	add(rig, &t[0], 3);
	expect_place(rig, &t[0], 0, 3);
	advance(rig, 3);
	KUNIT_EXPECT_EQ(test, t[0].fired, 3ULL);

	add(rig, &t[1], 3 + 5);
	expect_place(rig, &t[1], 0, 8);
	add(rig, &t[2], 3 + 15);
	expect_place(rig, &t[2], 0, 2);
	add(rig, &t[3], 3 + 40);
	expect_place(rig, &t[3], 1, 2);
	add(rig, &t[4], 3 + 300);
	expect_place(rig, &t[4], 2, 1);
	expect_sound(rig);

	advance(rig, 255);
	KUNIT_EXPECT_EQ(test, t[1].fired, 8ULL);
	KUNIT_EXPECT_EQ(test, t[2].fired, 18ULL);
	KUNIT_EXPECT_EQ(test, t[3].fired, 43ULL);
	expect_place(rig, &t[4], 2, 1);
	rig->l.visited = 0;
	advance(rig, 256);
	expect_place(rig, &t[4], 1, 2);
	advance(rig, 287);
	expect_place(rig, &t[4], 1, 2);
	advance(rig, 288);
	expect_place(rig, &t[4], 0, 15);
	advance(rig, 302);
	KUNIT_EXPECT_EQ(test, t[4].fired, NOT_FIRED);
	advance(rig, 303);
	KUNIT_EXPECT_EQ(test, t[4].fired, 303ULL);
	KUNIT_EXPECT_EQ(test, rig->l.visited, 3ULL);
	expect_sound(rig);
}

static void test_16_spokes_in_one_go(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	struct item *t = items_new(test, 2);

	add(rig, &t[0], 303);
	expect_place(rig, &t[0], 2, 1);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), 303ULL);
	advance(rig, 303);
	KUNIT_EXPECT_EQ(test, t[0].fired, 303ULL);
	/* From where it was, and nothing else was looked at. */
	KUNIT_EXPECT_EQ(test, rig->l.visited, 1ULL);
	KUNIT_EXPECT_EQ(test, rig->l.moved, 0ULL);

	/* Two that share a coarse spoke are due at their own ticks. */
	rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	add(rig, &t[0], 305);
	add(rig, &t[1], 303);
	advance(rig, 400);
	KUNIT_EXPECT_EQ(test, t[1].fired, 303ULL);
	KUNIT_EXPECT_EQ(test, t[0].fired, 305ULL);
	expect_sound(rig);
}

static void test_3_spokes(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(3, 3, 3), 0);
	struct item *t = items_new(test, 32);
	int i;

	for (i = 1; i <= 26; i++) {
		add(rig, &t[i], i);
		expect_place(rig, &t[i], i <= 2 ? 0 : i <= 8 ? 1 : 2, -1);
	}
	expect_sound(rig);

	rig = rig_new(test, MS, SPOKES(3, 3, 3), 1);
	add(rig, &t[0], 3);
	expect_place(rig, &t[0], 0, 0);

	rig = rig_new(test, MS, SPOKES(3, 3, 3), 3);
	for (i = 9; i <= 11; i++) {
		add(rig, &t[i], i);
		expect_place(rig, &t[i], 1, 0);
	}
	add(rig, &t[5], 5);
	expect_place(rig, &t[5], 0, 2);
	expect_sound(rig);
}

static void test_10_seconds(struct kunit *test)
{
	struct rig *rig = rig_new(test, NSEC_PER_SEC, SPOKES(10, 10, 10), 0);
	struct item *t = items_new(test, 3);

	add(rig, &t[0], 2);
	expect_place(rig, &t[0], 0, 2);
	add(rig, &t[2], 15);
	expect_place(rig, &t[2], 1, 1);
	advance(rig, 2);
	KUNIT_EXPECT_EQ(test, t[0].fired, 2ULL);
	add(rig, &t[1], 2 + 9);
	expect_place(rig, &t[1], 0, 1);
	advance(rig, 9);
	expect_place(rig, &t[2], 1, 1);
	advance(rig, 10);
	expect_place(rig, &t[2], 0, 5);
	advance(rig, 14);
	KUNIT_EXPECT_EQ(test, t[1].fired, 11ULL);
	KUNIT_EXPECT_EQ(test, t[2].fired, NOT_FIRED);
	advance(rig, 15);
	KUNIT_EXPECT_EQ(test, t[2].fired, 15ULL);
	expect_sound(rig);
}

static void test_10_times_20ms(struct kunit *test)
{
	static const struct { int delay, due, level; } rows[] = {
		{ 5, 20, 0 }, { 23, 40, 0 }, { 230, 240, 1 },
	};
	struct rig *rig = rig_new(test, 20 * MS, SPOKES(10, 10), 0);
	struct item *t = items_new(test, ARRAY_SIZE(rows));
	unsigned int i, ms;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		add_ns(rig, &t[i], rows[i].delay * MS);
		expect_place(rig, &t[i], rows[i].level, -1);
	}
	for (ms = 0; ms <= 300; ms++) {
		advance(rig, levels_tick_down(&rig->l, ms * MS));
		for (i = 0; i < ARRAY_SIZE(rows); i++)
			KUNIT_EXPECT_EQ(test, t[i].fired != NOT_FIRED, ms >= rows[i].due);
	}
}

static void test_75_spokes(struct kunit *test)
{
	struct rig *rig = rig_new(test, 100 * MS, SPOKES(10, 60, 5), 0);
	struct item *t = items_new(test, 1);

	/* 2 min 4 s 300 ms is 1243 ticks: 2 * 600 + 4 * 10 + 3 */
	add(rig, t, 1243);
	expect_place(rig, t, 2, 2);
	advance(rig, 1199);
	expect_place(rig, t, 2, 2);
	advance(rig, 1200);
	expect_place(rig, t, 1, 4);
	advance(rig, 1239);
	expect_place(rig, t, 1, 4);
	advance(rig, 1240);
	expect_place(rig, t, 0, 3);
	advance(rig, 1242);
	KUNIT_EXPECT_EQ(test, t->fired, NOT_FIRED);
	advance(rig, 1243);
	KUNIT_EXPECT_EQ(test, t->fired, 1243ULL);
}

static void test_beyond_one_level(struct kunit *test)
{
	static const u64 due[] = { 8, 10, 200 };
	struct rig *rig = rig_new(test, 50 * MS, SPOKES(8), 0);
	struct item *t = items_new(test, ARRAY_SIZE(due));
	unsigned int i;
	u64 now;

	for (i = 0; i < ARRAY_SIZE(due); i++) {
		add(rig, &t[i], due[i]);
		expect_place(rig, &t[i], 1, -1);
	}
	for (now = 0; now <= 210; now++) {
		advance(rig, now);
		expect_sound(rig);
	}
	for (i = 0; i < ARRAY_SIZE(due); i++)
		KUNIT_EXPECT_EQ(test, t[i].fired, due[i]);
}

static void test_clock_face(struct kunit *test)
{
	static const u64 clocks[] = { 0, 1, 59, 60, 3599, 3601, 43199 };
	struct item *t = items_new(test, 43200);
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct rig *rig = rig_new(test, NSEC_PER_SEC, SPOKES(60, 60, 12), clocks[i]);
		u64 wrong = 0;

		for (j = 0; j < 43200; j++)
			add(rig, &t[j], clocks[i] + j + 1);
		expect_sound(rig);
		if (i % 2) {
			advance(rig, clocks[i] + 43200);
		} else {
			for (j = 0; j < 43200; j++)
				advance(rig, clocks[i] + j + 1);
		}
		for (j = 0; j < 43200; j++)
			wrong += t[j].fired != clocks[i] + j + 1;
		KUNIT_EXPECT_EQ(test, wrong, 0ULL);
		expect_sound(rig);
	}
}

/* ------------------------------------------------------------------------ */
/* Exactness */

/* A timer due at @tick, alone on a wheel at @clock, fires then and wakes once. */
static void lone_timer(struct rig *rig, struct item *item, u64 clock, u64 tick)
{
	levels_init(&rig->l, &rig->g, rig->memory, clock);
	rig->last = 0;
	add(rig, item, tick);
	if (levels_check(&rig->l) || levels_wake(&rig->l) != tick) {
		KUNIT_FAIL(rig->test, "clock %llu tick %llu: %s, wake %llu", clock, tick,
			   levels_check(&rig->l), levels_wake(&rig->l));
		levels_del(&rig->l, &item->timer);
		return;
	}
	advance(rig, tick);
	if (item->fired != tick || rig->l.visited != 1)
		KUNIT_FAIL(rig->test, "clock %llu tick %llu fired %llu visited %llu",
			   clock, tick, item->fired, rig->l.visited);
}

static void test_boundaries(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128, 128, 128), 0);
	const u64 most = 400ULL * 24 * 3600 * 1000;
	struct item *t = items_new(test, 1);
	u64 clock, width;
	int i, j, k, d;

	for (i = 0; i < 50; i++) {
		for (width = 1, j = 0; j <= 5; j++, width *= 128) {
			for (k = 1; k <= 128; k = k < 4 ? k + 1 : k * 2 - (k == 64)) {
				for (d = -2; d <= 2; d++) {
					if (width * k + d > most)
						continue;
					/* From clocks at, before and after boundaries too. */
					clock = round_up(random_magnitude(1ULL << 42),
							 1ULL << random_below(36)) +
						random_below(4);
					clock -= min(clock, 2ULL);
					lone_timer(rig, t, clock, clock + width * k + d);
				}
			}
		}
		for (j = 0; j < 200; j++) {
			clock = random_magnitude(1ULL << 42);
			lone_timer(rig, t, clock, clock + random_below(most));
		}
	}
}

static void test_parked_hides_nothing(struct kunit *test)
{
	static const unsigned int geometries[][HWHEEL_MAX_LEVELS + 1] = {
		{ 8 },
		{ 2, 2 },
		{ 10, 60, 5 },
		{ 3, 7 },
	};
	struct item *t = items_new(test, 4);
	unsigned int i;
	u64 now, near;

	for (i = 0; i < ARRAY_SIZE(geometries); i++) {
		struct rig *rig = rig_new(test, MS, geometries[i], 5);
		u64 reach = rig->l.level[rig->l.nr].width;

		add_ns(rig, &t[0], KTIME_MAX);
		add(rig, &t[1], 5 + 40 * reach + 3);
		expect_place(rig, &t[0], rig->l.nr, -1);
		for (now = 5; now < 45 * reach; now += 1 + random_below(reach / 2)) {
			near = now + 1 + random_below(3 * reach);
			add(rig, &t[2], near);
			add(rig, &t[3], near + 1);
			KUNIT_EXPECT_LE(test, levels_wake(&rig->l), near);
			advance(rig, near - 1);
			KUNIT_EXPECT_EQ(test, t[2].fired, NOT_FIRED);
			now = near + random_below(2);
			advance(rig, now);
			KUNIT_EXPECT_EQ(test, t[2].fired, near);
			if (hwheel_pending(&t[3].timer))
				levels_del(&rig->l, &t[3].timer);
			expect_sound(rig);
		}
		KUNIT_EXPECT_EQ(test, t[1].fired, 5 + 40 * reach + 3);
		KUNIT_EXPECT_EQ(test, t[0].fired, NOT_FIRED);
		KUNIT_EXPECT_EQ(test, rig->l.pending, 1ULL);
		advance(rig, levels_tick_up(&rig->l, KTIME_MAX) - 1);
		KUNIT_EXPECT_EQ(test, t[0].fired, NOT_FIRED);
		advance(rig, levels_tick_up(&rig->l, KTIME_MAX));
		KUNIT_EXPECT_EQ(test, t[0].fired, levels_tick_up(&rig->l, KTIME_MAX));
	}
}

/* ------------------------------------------------------------------------ */
/* Moves, crowds, slack */

static void test_same_spoke_stays(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	struct item *t = items_new(test, 3);
	struct hwheel_spoke *spoke;

	add(rig, &t[0], 43);
	add(rig, &t[1], 44);
	spoke = levels_place(&rig->l, 43);
	KUNIT_EXPECT_PTR_EQ(test, spoke->timers.next, &t[0].timer.entry);
	mod(rig, &t[0], 46);		/* in the same spoke: stays first in it */
	KUNIT_EXPECT_PTR_EQ(test, spoke->timers.next, &t[0].timer.entry);
	mod(rig, &t[0], 40);		/* also when the spoke is due earlier now */
	KUNIT_EXPECT_PTR_EQ(test, spoke->timers.next, &t[0].timer.entry);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), 40ULL);
	mod(rig, &t[0], 60);
	expect_place(rig, &t[0], 1, 3);
	mod(rig, &t[0], 42);
	expect_sound(rig);
	advance(rig, 100);
	KUNIT_EXPECT_EQ(test, t[0].fired, 42ULL);
	KUNIT_EXPECT_EQ(test, t[1].fired, 44ULL);

	/* Entered but not yet emptied: neither place nor bound must be missed. */
	rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	add(rig, &t[0], 300);
	add(rig, &t[1], 310);
	levels_set_clock(&rig->l, 257);
	mod(rig, &t[1], 299);
	mod(rig, &t[0], 301);
	add(rig, &t[2], 290);
	expect_sound(rig);
	advance(rig, 400);
	KUNIT_EXPECT_EQ(test, t[2].fired, 290ULL);
	KUNIT_EXPECT_EQ(test, t[1].fired, 299ULL);
	KUNIT_EXPECT_EQ(test, t[0].fired, 301ULL);
}

static void test_bits_follow(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(4096, 100, 2), 0);
	struct item *t = items_new(test, 4000);
	unsigned int i, n = 0;

	for (i = 0; i < 4000; i++) {
		add(rig, &t[i], random_magnitude(1ULL << 22));
		if (i % 256 == 0)
			expect_sound(rig);
	}
	while (n < 4000) {
		i = random_below(4000);
		if (!hwheel_pending(&t[i].timer))
			continue;
		levels_del(&rig->l, &t[i].timer);
		if (++n % 256 == 0)
			expect_sound(rig);
	}
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), HWHEEL_NEVER);
	for (i = 0; i <= rig->l.nr; i++)
		KUNIT_EXPECT_EQ(test, rig->l.level[i].summary, 0ULL);
}

/* A crowd in one coarse spoke goes down early, and beside it all keep time. */
static void test_crowd(struct kunit *test)
{
	enum { CROWD = 20000, OTHERS = 400 };
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, CROWD + OTHERS);
	const u64 begin = 5 * 16384;
	unsigned int i, steps = 0;
	u64 wake, wrong = 0;

	for (i = 0; i < CROWD; i++)
		add(rig, &t[i], begin + random_below(16384));
	wake = levels_wake(&rig->l);
	KUNIT_EXPECT_EQ(test, wake, begin - 128);
	advance(rig, wake);
	expect_sound(rig);
	/* What is left in the spoke belongs to the last 128 ticks of it. */
	for (i = 0; i < CROWD; i++)
		if (t[i].timer.expires < (s64)((begin + 16384 - 128) * MS))
			wrong += place(rig, &t[i]).level > 1 && ++steps < 100;
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);

	/* Now in the middle of it: a step moves a few, and others are served. */
	for (i = CROWD; i < CROWD + OTHERS; i++)
		add(rig, &t[i], wake + 1 + i - CROWD);
	for (; wake < begin + 20000; wake += 1) {
		step(rig, wake);
		step(rig, wake);
		if (wake % 1000 == 0)
			expect_sound(rig);
	}
	advance(rig, begin + 20000);
	for (i = 0; i < CROWD + OTHERS; i++)
		wrong += t[i].fired * MS != t[i].timer.expires;
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)CROWD + OTHERS);
}

/* A million may share a tick; they go where they go in one piece. */
static void test_same_tick(struct kunit *test)
{
	enum { MANY = 20000 };
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128, 128), 0);
	struct item *t = items_new(test, MANY);
	unsigned int i;

	for (i = 0; i < MANY; i++)
		add(rig, &t[i], 3000000);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), 3000000ULL);
	advance(rig, 2999999);
	KUNIT_EXPECT_LE(test, rig->l.moved, 3ULL);
	expect_sound(rig);
	advance(rig, 3000000);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)MANY);
}

static void test_slack(struct kunit *test)
{
	static const unsigned int geometries[][HWHEEL_MAX_LEVELS + 1] = {
		{ 128, 128, 128 },
		{ 10, 60, 5 },
		{ 60, 60, 12 },
		{ 3, 4, 5, 6 },
	};
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(geometries); i++) {
		struct rig *rig = rig_new(test, MS, geometries[i], 0);

		for (j = 0; j < 3000; j++) {
			u64 first = 1 + random_magnitude(1 << 18);
			u64 last = first + random_magnitude(2000);
			u64 x, best = first, best_key = 0;
			u64 got = levels_align(&rig->l, first, last);

			/* Widest slot first, then most trailing zeroes. */
			for (x = first; x <= last; x++) {
				u64 key = 0;

				for (k = 0; k < rig->l.nr; k++) {
					u64 slot = div64_u64(x, rig->l.level[k].width);

					if (slot * rig->l.level[k].width == x)
						key = k * 64 + __ffs64(slot);
				}
				if (rig->l.pow2)
					key = __ffs64(x);
				if (key > best_key) {
					best_key = key;
					best = x;
				}
			}
			if (got != best)
				KUNIT_FAIL(test, "%llu to %llu: %llu, should be %llu",
					   first, last, got, best);
		}
	}
}

static void test_divisors(struct kunit *test)
{
	struct hwheel_divisor div;
	unsigned int i, j;

	for (i = 0; i < 20000; i++) {
		u64 d = i < 5000 ? i + 1 : 1 + random_magnitude(S64_MAX);

		divisor_init(&div, d);
		for (j = 0; j < 20; j++) {
			u64 x = random_magnitude(S64_MAX);

			if (j < 10)	/* at and beside a multiple */
				x = div64_u64(x, d) * d + j % 3 - 1;
			x &= S64_MAX;
			if (j == 19)
				x = S64_MAX;
			if (divisor_div(&div, x) != div64_u64(x, d))
				KUNIT_FAIL(test, "%llu / %llu = %llu", x, d,
					   divisor_div(&div, x));
		}
	}
}

static void test_geometry_faults(struct kunit *test)
{
	static const struct {
		struct hwheel_geometry	g;
		bool			bad;
	} rows[] = {
		{ { 1000, 1, { 2 } }, false },
		{ { 999, 1, { 2 } }, true },
		{ { 0, 1, { 2 } }, true },
		{ { 1000, 0, { 2 } }, true },
		{ { 1000, 9, { 2 } }, true },
		{ { 1000, 2, { 2, 1 } }, true },
		{ { 1000, 2, { 4096, 4096 } }, false },
		{ { 1000, 2, { 4097, 2 } }, true },
		{ { 1000, 8, { 128, 128, 128, 128, 128, 128, 128, 16 } }, false },
		{ { 1000, 8, { 128, 128, 128, 128, 128, 128, 128, 17 } }, true },
		{ { S64_MAX / 2, 1, { 2 } }, false },
		{ { S64_MAX / 2 + 1, 1, { 2 } }, true },
		{ { U64_MAX, 1, { 2 } }, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, !!hwheel_geometry_fault(&rows[i].g), rows[i].bad,
				    "row %u", i);
}

/* A walk with pauses sees each timer that was there all the time, once. */
static void test_walk(struct kunit *test)
{
	enum { N = 1000 };
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 0);
	struct item *t = items_new(test, N);
	u8 *seen = kunit_kzalloc(test, N, GFP_KERNEL);
	struct hwheel_timer *timer;
	unsigned int i, n = 0, wrong = 0;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < N; i++)
		add(rig, &t[i], 600 + i % 100);
	levels_walk_begin(&rig->l, levels_place(&rig->l, 600));
	while ((timer = levels_walk_next(&rig->l))) {
		seen[container_of(timer, struct item, timer) - t]++;
		/* Every third one leaves, just ahead of the walk. */
		if (++n % 2 && timer->entry.next != &rig->l.walked->timers) {
			timer = list_next_entry(timer, entry);
			levels_del(&rig->l, timer);
			seen[container_of(timer, struct item, timer) - t] += 10;
		}
	}
	levels_walk_end(&rig->l);
	for (i = 0; i < N; i++)
		wrong += seen[i] != (hwheel_pending(&t[i].timer) ? 1 : 10);
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	expect_sound(rig);

	/* When the spoke is taken away as a whole, the walk is over. */
	rig = rig_new(test, MS, SPOKES(16, 16, 16), 0);
	for (i = 0; i < 10; i++)
		add(rig, &t[i], 600);
	levels_walk_begin(&rig->l, levels_place(&rig->l, 600));
	KUNIT_EXPECT_NOT_NULL(test, levels_walk_next(&rig->l));
	step(rig, 512);
	KUNIT_EXPECT_NULL(test, levels_walk_next(&rig->l));
	levels_walk_end(&rig->l);
}

/* ------------------------------------------------------------------------ */
/* The random walk, beside a sorted list */

struct model_timer {
	struct item		item;
	struct list_head	sorted;
	u64			due;		/* not before the clock it was armed at */
	bool			armed;
};

struct model {
	struct rig		rig;
	struct list_head	sorted;
	struct model_timer	*timers;
	unsigned int		nr;
	u64			now;
	u64			fired;
};

static void model_arm(struct model *m, struct model_timer *t, u64 tick)
{
	struct model_timer *other;

	if (t->armed) {
		list_del(&t->sorted);
		mod(&m->rig, &t->item, tick);
	} else {
		add(&m->rig, &t->item, tick);
	}
	t->due = max(tick, m->rig.l.clock);
	t->armed = true;
	list_for_each_entry_reverse(other, &m->sorted, sorted)
		if (other->due <= t->due)
			break;
	list_add(&t->sorted, &other->sorted);
}

static void model_cancel(struct model *m, struct model_timer *t)
{
	if (t->armed) {
		list_del(&t->sorted);
		levels_del(&m->rig.l, &t->item.timer);
		t->armed = false;
	}
}

/*
 * All that fired must have been the first of the sorted list, in any order
 * where they are due at the same tick.
 */
static const char *model_compare(struct model *m, bool all)
{
	struct model_timer *t, *next;

	list_for_each_entry_safe(t, next, &m->sorted, sorted) {
		if (t->due > m->rig.last)
			break;
		if (t->item.fired == NOT_FIRED) {
			if (t->due < m->rig.last)
				return "a timer was passed over";
			continue;
		}
		if (t->item.fired != t->due)
			return "a timer fired at another tick than its own";
		list_del(&t->sorted);
		t->armed = false;
		m->fired++;
	}
	if (m->fired != m->rig.fired)
		return "a timer fired that is not the next";
	if (!all || list_empty(&m->sorted))
		return NULL;
	t = list_first_entry(&m->sorted, struct model_timer, sorted);
	if (t->due <= m->now)
		return "a timer that is due did not fire";
	if (levels_wake(&m->rig.l) > t->due)
		return "the wheel would wake too late";
	return NULL;
}

static const char *model_op(struct model *m, u64 span)
{
	struct model_timer *t = &m->timers[random_below(m->nr)];
	u64 tick;

	switch (random_below(16)) {
	case 0 ... 5:
		tick = m->now + random_magnitude(span);
		model_arm(m, t, tick - min(tick, random_below(3)));
		break;
	case 6 ... 8:	/* near where it is */
		tick = (t->armed ? t->due : m->now) + random_below(9);
		model_arm(m, t, tick - min(tick, 4ULL));
		break;
	case 9:		/* aligned, so that some meet */
		tick = round_up(m->now + random_magnitude(span), 1ULL << random_below(16));
		model_arm(m, t, tick);
		break;
	case 10:	/* on a clock that is brought on beforehand, as arming does */
		if (list_empty(&m->sorted))
			break;
		tick = list_first_entry(&m->sorted, struct model_timer, sorted)->due;
		tick = min(tick, levels_wake(&m->rig.l));
		if (tick > m->rig.l.clock) {
			tick = m->rig.l.clock + random_below(tick - m->rig.l.clock + 1);
			levels_set_clock(&m->rig.l, tick);
			m->now = max(m->now, tick);
		}
		break;
	case 11 ... 12:
		model_cancel(m, t);
		break;
	case 13:	/* part of the way */
		m->now += random_magnitude(span / 8 + 2);
		for (tick = random_below(8); tick; tick--)
			step(&m->rig, m->now);
		return model_compare(m, false);
	default:
		m->now += random_magnitude(span / 16 + 2);
		advance(&m->rig, m->now);
		return model_compare(m, true);
	}
	return NULL;
}

static void random_walk(struct kunit *test, const unsigned int *spokes, u64 tick_ns,
			unsigned int ops)
{
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	const char *fault = NULL;
	u64 span, most;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	INIT_LIST_HEAD(&m->sorted);
	most = div64_u64(S64_MAX, tick_ns) / 8;
	m->now = random_magnitude(most);
	rig_init(&m->rig, test, tick_ns, spokes, m->now);
	m->nr = 1 + random_below(100);
	m->timers = kunit_kcalloc(test, m->nr, sizeof(*m->timers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->timers);
	/* Up to a few times the reach, but not beyond the end of time. */
	span = min(m->rig.l.level[m->rig.l.nr].width * 4, most);

	for (i = 0; i < ops && !fault && m->now < 6 * most; i++) {
		fault = model_op(m, span);
		if (!fault && i % 64 == 0)
			fault = levels_check(&m->rig.l);
	}
	if (fault) {
		KUNIT_FAIL(test, "seed=%lu, op %u at tick %llu: %s; tick_ns %llu, spokes",
			   seed, i, m->now, fault, tick_ns);
		for (; *spokes; spokes++)
			kunit_info(test, "    %u", *spokes);
	}
	kunit_kfree(test, m->rig.memory);
	kunit_kfree(test, m->timers);
	kunit_kfree(test, m);
}

static void test_random_walk(struct kunit *test)
{
	static const struct {
		u64			tick_ns;
		unsigned int		spokes[HWHEEL_MAX_LEVELS + 1];
	} rows[] = {
		{ MS,		{ 16, 16, 16 } },
		{ MS,		{ 3, 3, 3 } },
		{ NSEC_PER_SEC,	{ 10, 10, 10 } },
		{ 20 * MS,	{ 10, 10 } },
		{ 100 * MS,	{ 10, 60, 5 } },
		{ 50 * MS,	{ 8 } },
		{ NSEC_PER_SEC,	{ 60, 60, 12 } },
		{ MS,		{ 128, 128, 128, 128, 128 } },
		{ 1000,		{ 2, 2, 2, 2, 2, 2, 2, 2 } },
		{ 1000,		{ 2 } },
	};
	unsigned int n = ARRAY_SIZE(rows) * 10, i, j;

	for (i = 0; i < n; i++) {
		unsigned int spokes[HWHEEL_MAX_LEVELS + 1] = {};
		struct hwheel_geometry g = {};

		/* Everything hangs on the seed and the round. */
		prandom_seed_state(&rnd, seed + i);
		if (i < ARRAY_SIZE(rows)) {
			random_walk(test, rows[i].spokes, rows[i].tick_ns, walk_ops / n);
			continue;
		}
		do {
			g.tick_ns = 1000 + random_magnitude(NSEC_PER_SEC);
			g.levels = 1 + random_below(HWHEEL_MAX_LEVELS);
			for (j = 0; j < g.levels; j++)
				g.spokes[j] = 2 + random_magnitude(i % 7 ? 70 : 4095);
		} while (hwheel_geometry_fault(&g));
		memcpy(spokes, g.spokes, g.levels * sizeof(*spokes));
		random_walk(test, spokes, g.tick_ns, walk_ops / n);
	}
}

static struct kunit_case hwheel_levels_cases[] = {
	KUNIT_CASE(test_16_spokes),
	KUNIT_CASE(test_16_spokes_in_one_go),
	KUNIT_CASE(test_3_spokes),
	KUNIT_CASE(test_10_seconds),
	KUNIT_CASE(test_10_times_20ms),
	KUNIT_CASE(test_75_spokes),
	KUNIT_CASE(test_beyond_one_level),
	KUNIT_CASE(test_clock_face),
	KUNIT_CASE(test_boundaries),
	KUNIT_CASE(test_parked_hides_nothing),
	KUNIT_CASE(test_same_spoke_stays),
	KUNIT_CASE(test_bits_follow),
	KUNIT_CASE(test_crowd),
	KUNIT_CASE(test_same_tick),
	KUNIT_CASE(test_slack),
	KUNIT_CASE(test_divisors),
	KUNIT_CASE(test_geometry_faults),
	KUNIT_CASE(test_walk),
	KUNIT_CASE(test_random_walk),
	{}
};

static struct kunit_suite hwheel_levels_suite = {
	.name		= "hwheel_levels",
	.suite_init	= test_seed,
	.test_cases	= hwheel_levels_cases,
};

kunit_test_suites(&hwheel_levels_suite);

MODULE_DESCRIPTION("KUnit tests of hwheel");
MODULE_LICENSE("GPL");
