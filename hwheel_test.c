// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of hwheel: the layered wheel alone, with the time passed in, and
 * the running module through its API, in each context that callbacks can have.
 *
 * The wheel's results are checked against nothing cleverer than a sorted list,
 * or than looking into each spoke for a timer.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kmsg_dump.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#undef HWHEEL_BROKEN		/* faults are for hwheel.ko */
/* Let the wheels of these tests have crowds all the time, and fans in fans. */
#define HWHEEL_CROWD	16
#define HWHEEL_FAN_BITS	3

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

static unsigned int creates = 50;
module_param(creates, uint, 0444);
MODULE_PARM_DESC(creates, "wheels created and destroyed one after the other");

static unsigned int many = 100000;
module_param(many, uint, 0444);
MODULE_PARM_DESC(many, "timers of the tests with most; a hundredth as many wheels");

static char *lockdep = "";
module_param(lockdep, charp, 0444);
MODULE_PARM_DESC(lockdep, "context (softirq, hardirq, work) in which to have lockdep report a deadlock, after which it switches itself off");

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "create a wheel that is never destroyed");

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
	void			*memory;	/* for the levels, as for the lot */
	void			*fans;		/* memory of RIG_FANS */
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

#define MS	((s64)NSEC_PER_MSEC)
#define SPOKES(...)	((const unsigned int []){ __VA_ARGS__, 0 })

#define RIG_FANS	4096

/* Memory of level @i, or of the parking lot, which is one more; all are zeroes. */
static void *rig_memory(struct rig *rig, unsigned int i)
{
	void *memory = rig->memory;

	while (i--)
		memory += level_size(rig->g.spokes[i]);
	return memory;
}

/* Let another level be there, if one is planned. */
static bool rig_grow(struct rig *rig)
{
	if (rig->l.nr == rig->g.levels)
		return false;
	levels_grow(&rig->l, level_init(&rig->l, rig->l.nr, rig_memory(rig, rig->l.nr)));
	return true;
}

/* Begin anew at @clock, without levels. */
static void rig_begin_bare(struct rig *rig, u64 clock)
{
	levels_init(&rig->l, &rig->g, rig_memory(rig, rig->g.levels), clock);
	if (rig->fans) {
		fans_init(rig->fans, RIG_FANS);
		levels_add_fans(&rig->l, rig->fans, RIG_FANS);
	}
}

/* Begin anew at @clock, with all levels there. */
static void rig_begin(struct rig *rig, u64 clock)
{
	rig_begin_bare(rig, clock);
	while (rig_grow(rig))
		;
}

static void rig_init(struct rig *rig, struct kunit *test, u64 tick_ns,
		     const unsigned int *spokes, u64 clock)
{
	memset(rig, 0, sizeof(*rig));
	rig->test = test;
	rig->g.tick_ns = tick_ns;
	while (*spokes)
		rig->g.spokes[rig->g.levels++] = *spokes++;
	KUNIT_ASSERT_NULL(test, hwheel_geometry_fault(&rig->g));

	rig->memory = kunit_kzalloc(test, (size_t)rig_memory(rig, rig->g.levels) +
				    level_size(HWHEEL_PARKED), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rig->memory);
	rig_begin(rig, clock);
}

/* Let there be fans. */
static void rig_fan(struct rig *rig)
{
	rig->fans = kunit_kmalloc_array(rig->test, RIG_FANS, sizeof(struct hwheel_fan),
					GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(rig->test, rig->fans);
	rig_begin(rig, rig->l.clock);
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
	if (rig->l.moved - moved > HWHEEL_STEP)
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

	for (p.level = 0; p.level <= rig->l.planned; p.level++) {
		const struct hwheel_level *lv = &rig->l.level[p.level];

		for (p.spoke = 0; lv->spokes && p.spoke < lv->nr; p.spoke++)
			spoke_for_each(timer, &lv->spokes[p.spoke])
				if (timer == &item->timer)
					return p;	/* not of those in fans */
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

/*
 * One timer on an otherwise empty wheel that stands at tick @clock, armed for
 * @delay_ns later: the place that it is put into, the tick that it fires at,
 * and how often it is moved on the way if the wheel turns tick by tick.
 */
static const struct example {
	const char		*name;
	u64			tick_ns;
	unsigned int		spokes[HWHEEL_MAX_LEVELS + 1];
	u64			clock;
	u64			delay_ns;
	int			level;
	int			spoke;
	u64			fires;
	unsigned int		moves;
} examples[] = {
#define TICK_10MS	(10 * MS)
#define SEC		((u64)NSEC_PER_SEC)
#define VL_CLOCK	(11 * 86400 + 10 * 3600 + 24 * 60 + 30)
	{ "16 spokes, 3 ticks", MS, { 16, 16, 16 }, 0, 3 * MS, 0, 3, 3, 0 },
	{ "16 spokes, 5 ticks", MS, { 16, 16, 16 }, 3, 5 * MS, 0, 8, 8, 0 },
	{ "16 spokes, round the end", MS, { 16, 16, 16 }, 3, 15 * MS, 0, 2, 18, 0 },
	{ "16 spokes, 40 ticks", MS, { 16, 16, 16 }, 3, 40 * MS, 1, 2, 43, 1 },
	{ "16 spokes, 300 ticks", MS, { 16, 16, 16 }, 3, 300 * MS, 2, 1, 303, 2 },
	{ "3 spokes, 2 ticks", MS, { 3, 3, 3 }, 0, 2 * MS, 0, 2, 2, 0 },
	{ "3 spokes, 3 ticks", MS, { 3, 3, 3 }, 0, 3 * MS, 1, 1, 3, 0 },
	{ "3 spokes, 8 ticks", MS, { 3, 3, 3 }, 0, 8 * MS, 1, 2, 8, 1 },
	{ "3 spokes, 9 ticks", MS, { 3, 3, 3 }, 0, 9 * MS, 2, 1, 9, 0 },
	{ "3 spokes, 26 ticks", MS, { 3, 3, 3 }, 0, 26 * MS, 2, 2, 26, 2 },
	{ "3 spokes, turned once", MS, { 3, 3, 3 }, 1, 2 * MS, 0, 0, 3, 0 },
	{ "3 spokes, second level", MS, { 3, 3, 3 }, 3, 6 * MS, 1, 0, 9, 0 },
	{ "3 spokes, its last", MS, { 3, 3, 3 }, 3, 8 * MS, 1, 0, 11, 1 },
	{ "3 spokes, below it", MS, { 3, 3, 3 }, 3, 2 * MS, 0, 2, 5, 0 },
	{ "10 x 1 s, 2 s", SEC, { 10, 10, 10 }, 0, 2 * SEC, 0, 2, 2, 0 },
	{ "10 x 1 s, 9 s later", SEC, { 10, 10, 10 }, 2, 9 * SEC, 0, 1, 11, 0 },
	{ "10 x 1 s, 15 s", SEC, { 10, 10, 10 }, 0, 15 * SEC, 1, 1, 15, 1 },
	{ "10 x 20 ms, 5 ms", 20 * MS, { 10, 10 }, 0, 5 * MS, 0, 1, 1, 0 },
	{ "10 x 20 ms, 23 ms", 20 * MS, { 10, 10 }, 0, 23 * MS, 0, 2, 2, 0 },
	{ "10 x 20 ms, 230 ms", 20 * MS, { 10, 10 }, 0, 230 * MS, 1, 1, 12, 1 },
	{ "75 spokes, 2 min 4.3 s", 100 * MS, { 10, 60, 5 }, 0, 124300 * MS, 2, 2, 1243, 2 },
	{ "75 spokes, 5 min less 1", 100 * MS, { 10, 60, 5 }, 0, 299900 * MS, 2, 4, 2999, 2 },
	{ "clock face, 59 s", SEC, { 60, 60, 12 }, 0, 59 * SEC, 0, 59, 59, 0 },
	{ "clock face, a minute", SEC, { 60, 60, 12 }, 0, 60 * SEC, 1, 1, 60, 0 },
	{ "clock face, 59:59", SEC, { 60, 60, 12 }, 0, 3599 * SEC, 1, 59, 3599, 1 },
	{ "clock face, an hour", SEC, { 60, 60, 12 }, 0, 3600 * SEC, 2, 1, 3600, 0 },
	{ "clock face, 11:59:59", SEC, { 60, 60, 12 }, 0, 43199 * SEC, 2, 11, 43199, 2 },
	{ "clock face, on the hour", SEC, { 60, 60, 12 }, 3599, SEC, 0, 0, 3600, 0 },
	{ "20 x 1 ms overflowing, 18 ms", MS, { 20, 20, 20 }, 0, 18 * MS, 0, 18, 18, 0 },
	{ "20 x 1 ms overflowing, 20 ms", MS, { 20, 20, 20 }, 0, 20 * MS, 1, 1, 20, 0 },
	{ "20 x 1 ms overflowing, 350 ms", MS, { 20, 20, 20 }, 0, 350 * MS, 1, 17, 350, 1 },
	{ "20 x 1 ms overflowing, 450 ms", MS, { 20, 20, 20 }, 0, 450 * MS, 2, 1, 450, 2 },
	{ "512 x 100 ms hashed, 5 s", 100 * MS, { 512 }, 0, 5000 * MS, 0, 50, 50, 0 },
	{ "512 x 100 ms hashed, all round", 100 * MS, { 512 }, 7, 51100 * MS, 0, 6, 518, 0 },
	{ "512 x 100 ms hashed, 2nd round", 100 * MS, { 512 }, 0, 60000 * MS, 1, 9, 600, 1 },
	{ "day, hour, minute, second", SEC, { 60, 60, 24, 100 }, VL_CLOCK, 3045 * SEC,
	  1, 15, VL_CLOCK + 3045, 1 },
	{ "256,64,64,64,64: 255", TICK_10MS, { 256, 64, 64, 64, 64 }, 0, 255 * TICK_10MS,
	  0, 255, 255, 0 },
	{ "256,64,64,64,64: 256", TICK_10MS, { 256, 64, 64, 64, 64 }, 0, 256 * TICK_10MS,
	  1, 1, 256, 0 },
	{ "256,64,64,64,64: 300", TICK_10MS, { 256, 64, 64, 64, 64 }, 0, 300 * TICK_10MS,
	  1, 1, 300, 1 },
	{ "256,64,64,64,64: 16383", TICK_10MS, { 256, 64, 64, 64, 64 }, 0, 16383 * TICK_10MS,
	  1, 63, 16383, 1 },
	{ "256,64,64,64,64: 16645", TICK_10MS, { 256, 64, 64, 64, 64 }, 0, 16645 * TICK_10MS,
	  2, 1, 16645, 2 },
	{ "256,64,64,64,64: 1064965", TICK_10MS, { 256, 64, 64, 64, 64 }, 0,
	  1064965 * TICK_10MS, 3, 1, 1064965, 2 },
	{ "256,64,64,64,64: all five", TICK_10MS, { 256, 64, 64, 64, 64 }, 0,
	  68174085 * TICK_10MS, 4, 1, 68174085, 4 },
};

/*
 * The level of a timer due at @tick, at @clock, by the book: the lowest in which
 * its slot is less than a turn ahead.
 */
static int book_level(const struct rig *rig, u64 clock, u64 tick)
{
	u64 width = 1;
	int i;

	for (i = 0; i < rig->g.levels; i++) {
		if (div64_u64(tick, width) - div64_u64(clock, width) < rig->g.spokes[i])
			break;
		width *= rig->g.spokes[i];
	}
	return i;
}

/* Turn the wheel tick by tick, or where that takes long by turns of level 0. */
static void example_turn(struct rig *rig, struct item *item, const struct example *e)
{
	u64 clock = e->clock, stride = e->fires - clock > 20000 ? e->spokes[0] : 1;
	u64 width[HWHEEL_MAX_LEVELS + 1] = { 1 };
	int i, level = e->level;

	for (i = 0; i < rig->g.levels; i++)
		width[i + 1] = width[i] * e->spokes[i];

	for (;;) {
		clock = (div64_u64(clock, stride) + 1) * stride;
		if (clock >= e->fires)
			break;
		advance(rig, clock);
		/* It goes down when the wheel gets to its slot, and not before. */
		if (level < rig->g.levels &&
		    div64_u64(clock, width[level]) == div64_u64(e->fires, width[level]))
			level = book_level(rig, clock, e->fires);
		else if (level == rig->g.levels)
			level = place(rig, item).level;
		if (stride == 1 && place(rig, item).level != level) {
			KUNIT_FAIL(rig->test, "%s: level %d at tick %llu, should be %d",
				   e->name, place(rig, item).level, clock, level);
			break;
		}
	}
	advance(rig, e->fires - 1);
	KUNIT_EXPECT_EQ_MSG(rig->test, item->fired, NOT_FIRED, "%s", e->name);
	advance(rig, e->fires);
	KUNIT_EXPECT_EQ_MSG(rig->test, item->fired, e->fires, "%s", e->name);
	KUNIT_EXPECT_EQ_MSG(rig->test, rig->l.moved, e->moves, "%s", e->name);
}

static void test_examples(struct kunit *test)
{
	struct item *t = items_new(test, 1);
	const struct example *e;

	for (e = examples; e < examples + ARRAY_SIZE(examples); e++) {
		struct rig *rig = rig_new(test, e->tick_ns, e->spokes, e->clock);
		unsigned int turn;

		for (turn = 0; turn < 2; turn++) {
			struct place p;

			rig_begin(rig, e->clock);
			rig->last = 0;
			add_ns(rig, t, e->clock * e->tick_ns + e->delay_ns);
			p = place(rig, t);
			KUNIT_EXPECT_EQ_MSG(test, p.level, e->level, "%s", e->name);
			KUNIT_EXPECT_EQ_MSG(test, p.spoke, e->spoke, "%s", e->name);
			KUNIT_EXPECT_EQ_MSG(test, p.level,
					    book_level(rig, e->clock, e->fires),
					    "%s", e->name);
			KUNIT_EXPECT_EQ_MSG(test, levels_wake(&rig->l), e->fires,
					    "%s", e->name);
			if (turn) {
				example_turn(rig, t, e);
			} else {
				/* In one go: from where it was, nothing else looked at. */
				advance(rig, e->fires);
				KUNIT_EXPECT_EQ_MSG(test, t->fired, e->fires, "%s", e->name);
				KUNIT_EXPECT_EQ_MSG(test, rig->l.visited, 1, "%s", e->name);
				KUNIT_EXPECT_EQ_MSG(test, rig->l.moved, 0, "%s", e->name);
			}
			expect_sound(rig);
			if (hwheel_pending(&t->timer))
				levels_del(&rig->l, &t->timer);
		}
	}
}

/* Two that share a coarse spoke are due at their own ticks. */
static void test_coarse_spoke_shared(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	struct item *t = items_new(test, 2);

	add(rig, &t[0], 305);
	add(rig, &t[1], 303);
	advance(rig, 400);
	KUNIT_EXPECT_EQ(test, t[1].fired, 303ULL);
	KUNIT_EXPECT_EQ(test, t[0].fired, 305ULL);
	expect_sound(rig);
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
	rig_begin(rig, clock);
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
		u64 reach = rig->l.level[rig->l.planned].width;

		add_ns(rig, &t[0], KTIME_MAX);
		add(rig, &t[1], 5 + 40 * reach + 3);
		expect_place(rig, &t[0], rig->l.planned, -1);
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
/* Levels that come one by one */

static const unsigned int growing[][HWHEEL_MAX_LEVELS + 1] = {
	{ 128, 128, 128 },
	{ 10, 60, 5 },
	{ 3, 2, 2, 3, 2 },
	{ 2 },
	{ 2, 2, 2, 2, 2, 2, 2, 2 },
};

/* A wheel at @clock with @levels of its levels. */
static struct rig *rig_part(struct kunit *test, const unsigned int *spokes,
			    u64 clock, unsigned int levels)
{
	struct rig *rig = rig_new(test, MS, spokes, clock);

	rig_begin_bare(rig, clock);
	while (rig->l.nr < levels)
		rig_grow(rig);
	return rig;
}

/*
 * Timers at all boundaries, armed with @levels there, and then one more level
 * comes at each of some ticks; each fires at its own tick, in order.
 */
static void grow_by_steps(struct kunit *test, const unsigned int *spokes,
			  unsigned int levels, unsigned int steps)
{
	struct rig *rig = rig_part(test, spokes, 5, levels);
	u64 width = 1, now, wrong = 0;
	struct item *t = items_new(test, 7 * (HWHEEL_MAX_LEVELS + 1));
	unsigned int i, n = 0;
	int d;

	for (i = 0; i <= rig->g.levels; i++) {
		for (d = -3; d <= 3; d++)
			add(rig, &t[n++], max_t(s64, 5 + width + d, 0));
		width *= spokes[i] ?: 1;
	}
	expect_sound(rig);
	for (now = 5; rig->l.pending;
	     now = max(now + 1, min(levels_wake(&rig->l), now + width / 3))) {
		for (i = 0; i < steps && rig->l.pending; i++)
			step(rig, now);
		if (rig_grow(rig))
			expect_sound(rig);
		advance(rig, now);
		if (now > 4 * width + 20) {
			KUNIT_FAIL(test, "%llu timers do not fire", rig->l.pending);
			break;
		}
	}
	for (i = 0; i < n; i++)
		wrong += t[i].fired != max(levels_tick_up(&rig->l, t[i].timer.expires), 5ULL);
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "%u levels of %u, %u steps", levels, spokes[0], steps);
	KUNIT_EXPECT_EQ(test, rig->fired, n);
	expect_sound(rig);
}

static void test_grow_by_steps(struct kunit *test)
{
	unsigned int i, levels, steps;

	for (i = 0; i < ARRAY_SIZE(growing); i++)
		for (levels = 0; levels < HWHEEL_MAX_LEVELS && growing[i][levels]; levels++)
			for (steps = 0; steps < 3; steps++)
				grow_by_steps(test, growing[i], levels, steps);
}

static unsigned int wants;

static void note_want(struct hwheel_levels *l)
{
	wants++;
}

/* One timer has all the levels made that it needs, and no more. */
static void test_grow_on_demand(struct kunit *test)
{
	struct item *t = items_new(test, 1);
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(growing); i++) {
		struct rig *rig = rig_part(test, growing[i], 0, 0);
		u64 reach = rig->l.level[rig->g.levels].width;

		for (j = 0; j < 300; j++) {
			u64 clock = random_magnitude(1 << 20);
			u64 tick = clock + random_magnitude(2 * reach);
			int level = min_t(int, book_level(rig, clock, tick), rig->g.levels - 1);

			rig_begin_bare(rig, clock);
			rig->l.want = note_want;
			wants = 0;
			add(rig, t, tick);
			KUNIT_EXPECT_EQ(test, wants, 1);
			expect_place(rig, t, rig->g.levels, -1);
			while (rig->l.nr < rig->l.wanted) {
				rig_grow(rig);
				expect_sound(rig);
				levels_del(&rig->l, &t->timer);
				add(rig, t, tick);
			}
			KUNIT_EXPECT_EQ_MSG(test, rig->l.nr, level + 1,
					    "levels for tick %llu at %llu", tick, clock);
			expect_place(rig, t, book_level(rig, clock, tick), -1);
			expect_sound(rig);
			levels_del(&rig->l, &t->timer);
		}
	}
}

/* ------------------------------------------------------------------------ */
/* Moves, crowds, slack */

static void test_same_spoke_stays(struct kunit *test)
{
	enum { OTHERS = 2 };
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	struct item *t = items_new(test, 1 + OTHERS);
	unsigned int i;

	for (i = 0; i <= OTHERS; i++)
		add(rig, &t[i], 43 + !!i);
	KUNIT_EXPECT_PTR_EQ(test, t[0].timer.entry.next, &t[1].timer.entry);
	mod(rig, &t[0], 46);		/* in the same spoke: stays before it */
	KUNIT_EXPECT_PTR_EQ(test, t[0].timer.entry.next, &t[1].timer.entry);
	mod(rig, &t[0], 40);		/* also when the spoke is due earlier now */
	KUNIT_EXPECT_PTR_EQ(test, t[0].timer.entry.next, &t[1].timer.entry);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), 40ULL);
	mod(rig, &t[0], 60);
	expect_place(rig, &t[0], 1, 3);
	mod(rig, &t[0], 42);
	expect_sound(rig);
	advance(rig, 100);
	KUNIT_EXPECT_EQ(test, t[0].fired, 42ULL);
	for (i = 1; i <= OTHERS; i++)
		KUNIT_EXPECT_EQ(test, t[i].fired, 44ULL);

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
	for (i = 0; i <= rig->l.planned; i++)
		KUNIT_EXPECT_EQ(test, rig->l.level[i].summary, 0ULL);
}

/*
 * A crowd in one coarse spoke is sifted early, and beside it all keep time, also those
 * that join it late.
 */
static void crowd(struct kunit *test, u64 tick_ns, const unsigned int *spokes, u64 begin,
		  u64 width, u64 lead)
{
	enum { CROWD = 20000, OTHERS = 400 };
	struct rig *rig = rig_new(test, tick_ns, spokes, 0);
	struct item *t = items_new(test, CROWD + OTHERS);
	struct hwheel_spoke *spoke;
	u64 wake, wrong = 0, now, moved;
	u64 most = 0;
	unsigned int i;

	rig_fan(rig);
	for (i = 0; i < CROWD; i++)
		add(rig, &t[i], begin + random_below(width));
	spoke = levels_place(&rig->l, begin);
	wake = levels_wake(&rig->l);
	KUNIT_EXPECT_LE(test, wake, begin - lead);
	KUNIT_EXPECT_GE(test, wake, begin - min(begin, 8 * lead + 10));
	advance(rig, wake);
	expect_sound(rig);
	KUNIT_EXPECT_TRUE(test, spoke_bare(spoke));
	KUNIT_EXPECT_FALSE(test, rig->l.starved);

	/* From now on nothing that is due has to wait for more than a few moves. */
	for (i = CROWD; i < CROWD + OTHERS; i++)
		add(rig, &t[i], max(wake + 1, begin + i - CROWD - 200));
	for (now = wake; rig->l.pending && now <= begin + width; now++) {
		moved = rig->l.moved;
		while (levels_ripe(&rig->l, now))
			step(rig, now);
		most = max(most, rig->l.moved - moved);
		for (i = 0; i < 8; i++)
			step(rig, now);
		if (now % 4096 == 0)
			expect_sound(rig);
	}
	KUNIT_EXPECT_LE(test, most, 2ULL * HWHEEL_CROWD * (rig->g.levels + 1));
	for (i = 0; i < CROWD + OTHERS; i++)
		wrong += t[i].fired * tick_ns != t[i].timer.expires;
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)CROWD + OTHERS);
	KUNIT_EXPECT_EQ(test, rig->l.fans_used, 0U);
	expect_sound(rig);
}

static void test_crowd(struct kunit *test)
{
	/* 20 ms of work for a spoke of 16 s, of 820 ms, of 16 ms; for a bucket of 16 ms */
	crowd(test, MS, SPOKES(128, 128, 128), 5 * 16384, 16384, 10);
	crowd(test, 50000, SPOKES(128, 128, 128), 5 * 16384, 16384, 200);
	crowd(test, 1000, SPOKES(128, 128, 128), 5 * 16384, 16384, 10000);
	crowd(test, 1000, SPOKES(2), 4 * 16384, 65536, 10000);
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

/*
 * Nobody waits for a crowd that is due at one tick: neither one of it that is armed again
 * for another tick of the same spoke, nor others that come to it.
 */
static void test_same_tick_parts(struct kunit *test)
{
	enum { MANY = 20000 };
	static const u64 begins[] = { 5 * 128, 5 * 16384, 5 * 2097152 };
	unsigned int i, j;

	for (j = 0; j < ARRAY_SIZE(begins); j++) {
		struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
		struct item *t = items_new(test, MANY + 1);
		const u64 begin = begins[j];

		rig_fan(rig);
		for (i = 0; i < MANY; i++)
			add(rig, &t[i], begin + 100);
		mod(rig, &t[MANY / 2], begin + 50);
		mod(rig, &t[0], begin + 99);
		mod(rig, &t[MANY - 1], begin + 101);
		add(rig, &t[MANY], begin + 98);
		expect_sound(rig);
		advance(rig, begin + 99);
		expect_sound(rig);
		KUNIT_EXPECT_EQ(test, t[MANY / 2].fired, begin + 50);
		KUNIT_EXPECT_EQ(test, t[MANY].fired, begin + 98);
		KUNIT_EXPECT_EQ(test, t[0].fired, begin + 99);
		advance(rig, begin + 200);
		KUNIT_EXPECT_EQ(test, rig->fired, (u64)MANY + 1);
		KUNIT_EXPECT_EQ(test, t[MANY - 1].fired, begin + 101);
		KUNIT_EXPECT_LE(test, rig->l.moved, 20ULL);
		KUNIT_EXPECT_EQ(test, rig->l.fans_used, 0U);
	}
}

/*
 * A timer that is always armed again for the past holds up others for no longer than it
 * takes itself, however much that is.
 */
static void test_past_fair(struct kunit *test)
{
	enum { OTHERS = 20, TAKES = 3 };
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 100);
	struct item *t = items_new(test, OTHERS + 1);
	struct hwheel_timer *timer;
	unsigned int i, n = 0;
	u64 now = 100, latest = 0;

	for (i = 1; i <= OTHERS; i++)
		add(rig, &t[i], 110 + i * 5);
	add(rig, &t[0], 1);
	while (n < OTHERS && now < 1000) {
		if (levels_step(&rig->l, now) != HWHEEL_DUE)
			continue;
		while ((timer = levels_pop(&rig->l))) {
			if (timer != &t[0].timer) {
				latest = max(latest, now - levels_due(&rig->l, timer));
				n++;
				continue;
			}
			now += TAKES;
			add(rig, &t[0], 1);
		}
		expect_sound(rig);
	}
	KUNIT_EXPECT_EQ(test, n, OTHERS);
	KUNIT_EXPECT_LE(test, latest, 2ULL * TAKES);
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

		/* A wheel that is just being made again: anything but a crash */
		rig->l.planned = 0;
		rig->l.pow2 = false;
		KUNIT_EXPECT_EQ(test, levels_align(&rig->l, 5, 9), 9ULL);
		rig_begin(rig, 0);

		for (j = 0; j < 3000; j++) {
			u64 first = 1 + random_magnitude(1 << 18);
			u64 last = first + random_magnitude(2000);
			u64 x, best = first, best_key = 0;
			u64 got = levels_align(&rig->l, first, last);

			/* Widest slot first, then most trailing zeroes. */
			for (x = first; x <= last; x++) {
				u64 key = 0;

				for (k = 0; k < rig->l.planned; k++) {
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
		if (++n % 2 && spoke_of(timer->entry.next) != rig->l.walked) {
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
	u64			due;		/* not before the floor it was armed at */
	bool			past;		/* it was armed for the past */
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
	t->due = max(tick, m->rig.l.floor);
	t->past = tick < t->due;
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
		if (t->item.fired == NOT_FIRED) {
			if (t->due < m->rig.last)
				return "a timer was passed over";
			continue;
		}
		if (t->item.fired > t->due || (t->item.fired < t->due && !t->past))
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
	if (random_below(4))
		rig_fan(&m->rig);
	if (random_below(2))	/* else levels come when they are wanted, or late */
		rig_begin_bare(&m->rig, m->now);
	m->nr = 1 + random_below(100);
	m->timers = kunit_kcalloc(test, m->nr, sizeof(*m->timers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->timers);
	/* Up to a few times the reach, but not beyond the end of time. */
	span = min(m->rig.l.level[m->rig.l.planned].width * 4, most);

	for (i = 0; i < ops && !fault && m->now < 6 * most; i++) {
		fault = model_op(m, span);
		if (m->rig.l.wanted > m->rig.l.nr && !random_below(50))
			rig_grow(&m->rig);
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
	if (m->rig.fans)
		kunit_kfree(test, m->rig.fans);
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
	KUNIT_CASE(test_examples),
	KUNIT_CASE(test_coarse_spoke_shared),
	KUNIT_CASE(test_beyond_one_level),
	KUNIT_CASE(test_clock_face),
	KUNIT_CASE(test_boundaries),
	KUNIT_CASE(test_parked_hides_nothing),
	KUNIT_CASE(test_grow_by_steps),
	KUNIT_CASE(test_grow_on_demand),
	KUNIT_CASE(test_same_spoke_stays),
	KUNIT_CASE(test_bits_follow),
	KUNIT_CASE(test_crowd),
	KUNIT_CASE(test_same_tick),
	KUNIT_CASE(test_same_tick_parts),
	KUNIT_CASE(test_past_fair),
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

/* ------------------------------------------------------------------------ */
/* The running module: timers that take notes */

#define SECS(n)		((s64)(n) * NSEC_PER_SEC)
#define HOUR		SECS(3600)
#define DAY		SECS(86400)

/* Of the system wheel, if the module was loaded without parameters. */
#define SYSTEM_TICK_NS	NSEC_PER_MSEC
#define SUITE_TICK_NS	SYSTEM_TICK_NS
/* Until a test gives up waiting; hosts may be loaded. */
#define WAIT_MS		60000
/* What simulated time takes for itself: its clock has a resolution of 256 ns. */
#define GRAIN_NS	2000

/* Wait for @cond; false, and a failed test, if it does not come true. */
#define wait_for(test, cond)						\
({									\
	ktime_t give_up = ktime_add_ms(ktime_get(), WAIT_MS);		\
	bool came_true;							\
									\
	while (!(came_true = (cond)) &&					\
	       ktime_before(ktime_get(), give_up))			\
		usleep_range(500, 1000);				\
	if (!came_true)							\
		KUNIT_FAIL(test, "waited %d s in vain for " #cond,	\
			   WAIT_MS / 1000);				\
	came_true;							\
})

/* What is logged from here to the other is expected, and no fault. */
static void expect_begin(void)
{
	pr_info("hwheel-expect-begin\n");
}

static void expect_end(void)
{
	pr_info("hwheel-expect-end\n");
}

/* Lines of the kernel log that hold @what, and @name if it is not NULL. */
static unsigned int logged(const char *what, const char *name)
{
	struct kmsg_dump_iter iter;
	static char line[512];
	unsigned int n = 0;
	size_t len;

	kmsg_dump_rewind(&iter);
	while (kmsg_dump_get_line(&iter, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		n += strstr(line, what) && (!name || strstr(line, name));
	}
	return n;
}

/*
 * Each place warns once in the life of hwheel.ko; so, after something that is to
 * be warned of, the log must hold the warning. It has the name of the callback.
 */
static void expect_warned(struct kunit *test, const char *what, const char *name)
{
	KUNIT_EXPECT_EQ_MSG(test, logged(what, name), 1, "warnings \"%s\"", what);
}

/* Where callbacks of the suite that runs are run, and a wheel that has them there. */
static enum hwheel_context suite_context;
static struct hwheel *suite_wheel;

static bool in_suite_context(void)
{
	switch (suite_context) {
	case HWHEEL_SOFTIRQ:
		return in_serving_softirq() && !in_hardirq() && !irqs_disabled();
	case HWHEEL_HARDIRQ:
		return in_hardirq() && irqs_disabled();
	default:
		might_sleep();
		return in_task() && !preempt_count() && !irqs_disabled();
	}
}

static unsigned long held_flags;

/* Keep callbacks of the suite's wheels from running on this CPU, which is kept. */
static void hold(void)
{
	if (suite_context == HWHEEL_SOFTIRQ) {
		local_bh_disable();
	} else if (suite_context == HWHEEL_WORK) {
		preempt_disable();	/* it would take another task */
	} else {
		unsigned long flags;

		local_irq_save(flags);
		held_flags = flags;
	}
}

static void unhold(void)
{
	if (suite_context == HWHEEL_SOFTIRQ)
		local_bh_enable();
	else if (suite_context == HWHEEL_WORK)
		preempt_enable();
	else
		local_irq_restore(held_flags);
}

/**
 * struct probe - a timer that takes notes
 * @timer: the timer
 * @act: what its callback does after that, or NULL; it may free the probe
 * @wheel: its wheel
 * @tick_ns: of @wheel
 * @other: for @act
 * @from: the least and
 * @to: the greatest instant that it may have been armed for
 * @expires: what it was armed for, as its callback found it
 * @began: when its callback began
 * @n: for @act
 * @shared: it may be armed while its callback begins
 * @fault: the first thing that its callback found to be wrong
 * @runs: of the callback
 * @order: of that run among all probes' since api_init()
 * @ret: for @act
 */
struct probe {
	struct hwheel_timer	timer;
	void			(*act)(struct probe *p);
	struct hwheel		*wheel;
	u64			tick_ns;
	struct probe		*other;
	ktime_t			from;
	ktime_t			to;
	ktime_t			expires;
	ktime_t			began;
	u64			n;
	bool			shared;
	const char		*fault;
	unsigned int		runs;
	int			order;
	int			ret;
	int			cpu;		/* that it ran on */
};

/* What a test has made, for api_exit(), however the test ends. */
static struct {
	struct {
		struct probe	*p;
		size_t		n;
	} probes[32];
	unsigned int		nr_probes;
	struct hwheel		*wheels[8];
	unsigned int		nr_wheels;
} made;

static atomic_t probes_run;

static void probe_run(struct hwheel_timer *timer)
{
	struct probe *p = hwheel_container_of(p, timer, timer);

	p->began = hwheel_now(p->wheel);
	p->expires = hwheel_expires(timer);
	if (!p->shared && (p->began < p->expires || p->began < p->from))
		p->fault = "it ran early";
	else if (!p->shared && hwheel_pending(timer))
		p->fault = "it was pending when its callback began";
	else if (!in_suite_context())
		p->fault = "it ran in another context than its wheel's";
	p->order = atomic_inc_return(&probes_run);
	p->cpu = raw_smp_processor_id();
	WRITE_ONCE(p->runs, p->runs + 1);
	if (p->act)
		p->act(p);
}

static unsigned int runs(const struct probe *p)
{
	return READ_ONCE(p->runs);
}

static void probe_setup(struct probe *p, struct hwheel *wheel, u64 tick_ns,
			unsigned int flags)
{
	memset(p, 0, sizeof(*p));
	p->wheel = wheel;
	p->tick_ns = tick_ns;
	hwheel_setup(&p->timer, wheel, probe_run, flags);
}

/* @n probes that are set up on @wheel; api_exit() shuts them down. */
static struct probe *probes_new(struct kunit *test, struct hwheel *wheel,
				u64 tick_ns, size_t n)
{
	struct probe *p;
	size_t i;

	KUNIT_ASSERT_LT(test, made.nr_probes, ARRAY_SIZE(made.probes));
	p = kvcalloc(n, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < n; i++)
		probe_setup(&p[i], wheel, tick_ns, 0);
	made.probes[made.nr_probes].p = p;
	made.probes[made.nr_probes++].n = n;
	return p;
}

static struct probe *probe_new(struct kunit *test, struct hwheel *wheel, u64 tick_ns)
{
	return probes_new(test, wheel, tick_ns, 1);
}

/* A wheel as @config says, with a name of its own; api_exit() destroys it. */
static struct hwheel *wheel_make(struct kunit *test, struct hwheel_config config)
{
	struct hwheel *wheel;
	static u32 number;
	char name[16];

	KUNIT_ASSERT_LT(test, made.nr_wheels, ARRAY_SIZE(made.wheels));
	snprintf(name, sizeof(name), "kunit-%u", number++);
	config.name = name;
	config.context = suite_context;
	wheel = hwheel_create(&config);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(wheel));
	made.wheels[made.nr_wheels++] = wheel;
	return wheel;
}

static struct hwheel *wheel_new(struct kunit *test, u64 tick_ns)
{
	return wheel_make(test, (struct hwheel_config){ .tick_ns = tick_ns });
}

/* Each arming ended in one expiration or cancellation, if none is pending. */
static void expect_balance(struct kunit *test, const struct hwheel *wheel)
{
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "added"),
			hwheel_count(wheel, "expired") +
			hwheel_count(wheel, "cancelled"));
}

/* Destroy the wheel that was made last; its timers have been shut down. */
static void wheel_destroy(struct kunit *test)
{
	struct hwheel *wheel = made.wheels[--made.nr_wheels];

	expect_balance(test, wheel);
	hwheel_destroy(wheel);
}

static int api_init(struct kunit *test)
{
	atomic_set(&probes_run, 0);
	return 0;
}

static void api_exit(struct kunit *test)
{
	while (made.nr_probes) {
		struct probe *p = made.probes[--made.nr_probes].p;
		size_t i, n = made.probes[made.nr_probes].n, faults = 0;

		for (i = 0; i < n; i++) {
			hwheel_shutdown_sync(&p[i].timer);
			if (p[i].fault && !faults++)
				KUNIT_FAIL(test, "%zu: %s: from %lld, expires %lld, began %lld",
					   i, p[i].fault, p[i].from,
					   p[i].expires, p[i].began);
		}
		kvfree(p);
	}
	while (made.nr_wheels)
		wheel_destroy(test);
	expect_balance(test, suite_wheel);
	expect_balance(test, hwheel_system);
}

/* @delay after @now; an instant that can't be told is as late as can be. */
static ktime_t later(ktime_t now, ktime_t delay)
{
	return delay > KTIME_MAX - now ? KTIME_MAX : now + delay;
}

/* Arm, and note what for. None of it is for probes that may fire meanwhile. */
static bool probe_add_range(struct probe *p, ktime_t delay, ktime_t slack)
{
	bool ret;

	p->from = later(hwheel_now(p->wheel), delay);
	ret = hwheel_add_range(&p->timer, delay, slack);
	p->to = later(later(hwheel_now(p->wheel), delay), slack);
	return ret;
}

static bool probe_add(struct probe *p, ktime_t delay)
{
	bool ret;

	p->from = later(hwheel_now(p->wheel), delay);
	ret = hwheel_add(&p->timer, delay);
	p->to = later(hwheel_now(p->wheel), delay);
	return ret;
}

static bool probe_add_at(struct probe *p, ktime_t expires, ktime_t slack)
{
	p->from = expires;
	p->to = later(expires, slack);
	return hwheel_add_at(&p->timer, expires, slack);
}

/* Arm on the CPU that calls, for smp_call_function_single(). */
static void call_add_at_0(void *p)
{
	probe_add_at(p, 0, 0);
}

static void call_add_soon(void *p)
{
	probe_add(p, 100 * MS);
}

static void call_add_far(void *p)
{
	probe_add(p, HOUR);
}

/*
 * In simulated time nothing is late by more than a tick, but that in hardirq
 * context there are breaks between batches of list moves, and that in process
 * context the clock goes on when it is read.
 */
static ktime_t late_allowed(const struct probe *p)
{
	static const ktime_t more[] = {
		[HWHEEL_SOFTIRQ] = GRAIN_NS,
		[HWHEEL_HARDIRQ] = 10 * MS,
		[HWHEEL_WORK]	 = 100 * MS,
	};

	return p->tick_ns + more[suite_context];
}

static ktime_t probe_late(const struct probe *p)
{
	return p->began - max(p->expires, p->from);
}

/* What is wrong with a probe that should have run once, or NULL. */
static const char *probe_fault(const struct probe *p)
{
	if (p->fault)
		return p->fault;
	if (!runs(p))
		return "it has not run";
	if (runs(p) != 1)
		return "it ran more than once";
	if (hwheel_pending(&p->timer))
		return "it is pending";
	if (p->expires < p->from)
		return "it was armed for an instant before its window";
	if (p->expires > p->to)
		return "it was armed for an instant after its window";
	if (years && probe_late(p) >= late_allowed(p))
		return "it was more than a tick late";
	return NULL;
}

static void fail_probe(struct kunit *test, const struct probe *p, const char *fault)
{
	KUNIT_FAIL(test, "%s: tick %llu, window %lld to %lld, expires %lld, began %lld, runs %u",
		   fault, p->tick_ns, p->from, p->to, p->expires, p->began, runs(p));
}

/* Have @n probes run once each, as they should? Waits for those to come. */
static void expect_once(struct kunit *test, const struct probe *p, size_t n)
{
	ktime_t late = 0;
	size_t i, faults = 0;

	for (i = 0; i < n; i++)
		if (!runs(&p[i]) && !wait_for(test, runs(&p[i])))
			break;
	msleep(20);	/* for those that run again */
	for (i = 0; i < n; i++) {
		const char *fault = probe_fault(&p[i]);

		late = max(late, probe_late(&p[i]));
		if (fault && faults++ < 3)
			fail_probe(test, &p[i], fault);
	}
	if (faults > 3)
		KUNIT_FAIL(test, "%zu of %zu probes failed", faults, n);
	kunit_info(test, "%zu timers, tick %llu ns: at most %lld ns late",
		   n, p->tick_ns, late);
}

/* The tick that @p was due at. */
static u64 tick_of(const struct probe *p)
{
	return DIV_ROUND_UP_ULL(p->expires, p->tick_ns);
}

static int compare_order(const void *a, const void *b)
{
	return (*(const struct probe **)a)->order - (*(const struct probe **)b)->order;
}

/* Have @n probes run in the order of their ticks? */
static void expect_order(struct kunit *test, struct probe *p, size_t n)
{
	struct probe **sorted = kunit_kzalloc(test, n * sizeof(*sorted), GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, sorted);
	for (i = 0; i < n; i++)
		sorted[i] = &p[i];
	sort(sorted, n, sizeof(*sorted), compare_order, NULL);
	for (i = 1; i < n; i++) {
		if (tick_of(sorted[i - 1]) <= tick_of(sorted[i]))
			continue;
		KUNIT_FAIL(test, "run %zu was for tick %llu, the next for %llu",
			   i - 1, tick_of(sorted[i - 1]), tick_of(sorted[i]));
		break;
	}
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* At how many different ticks have @n probes run? */
static size_t distinct_ticks(struct kunit *test, const struct probe *p, size_t n)
{
	u64 *ticks = kunit_kzalloc(test, n * sizeof(*ticks), GFP_KERNEL);
	size_t i, distinct = 1;

	KUNIT_ASSERT_NOT_NULL(test, ticks);
	for (i = 0; i < n; i++)
		ticks[i] = tick_of(&p[i]);
	sort(ticks, n, sizeof(*ticks), compare_u64, NULL);
	for (i = 1; i < n; i++)
		distinct += ticks[i] != ticks[i - 1];
	return distinct;
}

/* ------------------------------------------------------------------------ */
/* Arming */

static void test_random_delays(struct kunit *test)
{
	static const struct hwheel_config configs[] = {
		{ .tick_ns = 1000 },
		{ .tick_ns = 100000 },
		{ .tick_ns = 20 * MS, .levels = 3, .spokes = { 10, 60, 5 } },
	};
	struct probe *p[ARRAY_SIZE(configs) + 1];
	const unsigned int n = 300;
	unsigned int i, j;

	p[0] = probes_new(test, suite_wheel, SUITE_TICK_NS, n);
	for (j = 0; j < ARRAY_SIZE(configs); j++)
		p[j + 1] = probes_new(test, wheel_make(test, configs[j]),
				      configs[j].tick_ns, n);

	for (i = 0; i < n; i++) {
		for (j = 0; j < ARRAY_SIZE(p); j++) {
			struct probe *q = &p[j][i];
			ktime_t delay = random_magnitude(300 * MS);
			ktime_t slack = random_magnitude(50 * MS);
			bool ret;

			if (i % 3 == 0)
				ret = probe_add(q, delay);
			else if (i % 3 == 1)
				ret = probe_add_range(q, delay, slack);
			else
				ret = probe_add_at(q, hwheel_now(q->wheel) + delay + 1,
						   i % 2 ? slack : 0);
			KUNIT_EXPECT_FALSE(test, ret);
		}
	}
	for (j = 0; j < ARRAY_SIZE(p); j++)
		expect_once(test, p[j], n);
}

enum state { FRESH, PENDING, FIRED, CANCELLED, SHUT_DOWN, SET_UP_AGAIN, STATES };
enum op {
	ADD, ADD_RANGE, ADD_AT, ADD_ON, REDUCE, MOD_PENDING, CANCEL, TRY_CANCEL,
	CANCEL_SYNC, SHUTDOWN, SHUTDOWN_SYNC, OPS
};

static const char * const state_names[STATES] = {
	"fresh", "pending", "fired", "cancelled", "shut down", "set up again",
};

static int probe_op(struct probe *p, enum op op)
{
	struct hwheel_timer *timer = &p->timer;

	switch (op) {
	case ADD:
		return hwheel_add(timer, HOUR);
	case ADD_RANGE:
		return hwheel_add_range(timer, HOUR, SECS(1));
	case ADD_AT:
		return hwheel_add_at(timer, hwheel_now(p->wheel) + HOUR, 0);
	case ADD_ON:
		return hwheel_add_on(timer, HOUR, 0);
	case REDUCE:
		return hwheel_reduce(timer, HOUR);
	case MOD_PENDING:
		return hwheel_mod_pending(timer, HOUR);
	case CANCEL:
		return hwheel_cancel(timer);
	case TRY_CANCEL:
		return hwheel_try_cancel(timer);
	case CANCEL_SYNC:
		return hwheel_cancel_sync(timer);
	case SHUTDOWN:
		return hwheel_shutdown(timer);
	case SHUTDOWN_SYNC:
		return hwheel_shutdown_sync(timer);
	default:
		return -2;
	}
}

static void probe_bring(struct kunit *test, struct probe *p, enum state state)
{
	probe_setup(p, p->wheel, p->tick_ns, 0);
	if (state == PENDING || state == CANCELLED)
		hwheel_add(&p->timer, 2 * HOUR);
	if (state == FIRED) {
		hwheel_add(&p->timer, 0);
		wait_for(test, runs(p));
	}
	if (state == CANCELLED)
		hwheel_cancel(&p->timer);
	if (state == SHUT_DOWN || state == SET_UP_AGAIN)
		hwheel_shutdown(&p->timer);
	if (state == SET_UP_AGAIN)
		hwheel_setup(&p->timer, p->wheel, probe_run, 0);
}

static void test_returns(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probe_new(test, wheel, MS);
	unsigned int state, op;

	for (state = 0; state < STATES; state++) {
		for (op = 0; op < OPS; op++) {
			bool before = state == PENDING, after = false;
			unsigned int ran;
			ktime_t now;

			if (op <= REDUCE)
				after = state != SHUT_DOWN;
			else if (op == MOD_PENDING)
				after = before;

			probe_bring(test, p, state);
			ran = runs(p);
			KUNIT_EXPECT_EQ(test, hwheel_pending(&p->timer), before);
			now = hwheel_now(wheel);
			KUNIT_EXPECT_EQ_MSG(test, probe_op(p, op), before,
					    "%s, op %u", state_names[state], op);
			KUNIT_EXPECT_EQ_MSG(test, hwheel_pending(&p->timer), after,
					    "%s, op %u", state_names[state], op);
			if (after) {
				KUNIT_EXPECT_GE(test, hwheel_expires(&p->timer), now + HOUR);
				KUNIT_EXPECT_LE(test, hwheel_expires(&p->timer),
						hwheel_now(wheel) + HOUR + SECS(1));
				KUNIT_EXPECT_LE(test, hwheel_remaining(&p->timer),
						HOUR + SECS(1));
			}
			/* Shut down is what it is; all others can be armed. */
			KUNIT_EXPECT_EQ(test, hwheel_add(&p->timer, HOUR), after);
			KUNIT_EXPECT_EQ_MSG(test, hwheel_pending(&p->timer),
					    state != SHUT_DOWN && op < SHUTDOWN,
					    "%s, op %u", state_names[state], op);
			hwheel_shutdown_sync(&p->timer);
			KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
			KUNIT_EXPECT_EQ(test, runs(p), ran);
		}
	}
}

static void test_looking(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probe_new(test, wheel, MS);
	ktime_t expires, remaining, before, after;

	probe_add(p, HOUR);
	expires = hwheel_expires(&p->timer);
	KUNIT_EXPECT_GE(test, expires, p->from);
	KUNIT_EXPECT_LE(test, expires, p->to);

	before = hwheel_now(wheel);
	remaining = hwheel_remaining(&p->timer);
	after = hwheel_now(wheel);
	KUNIT_EXPECT_LE(test, remaining, expires - before);
	KUNIT_EXPECT_GE(test, remaining, expires - after);

	/* The last expiration of one that is not pending. */
	hwheel_cancel(&p->timer);
	KUNIT_EXPECT_EQ(test, hwheel_expires(&p->timer), expires);

	probe_add(p, MS);
	wait_for(test, runs(p));
	KUNIT_EXPECT_GE(test, hwheel_expires(&p->timer), p->from);
	KUNIT_EXPECT_LE(test, hwheel_expires(&p->timer), p->to);
	KUNIT_EXPECT_LE(test, hwheel_remaining(&p->timer), 0);

	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "added"), 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "cancelled"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "no such counter"), U64_MAX);
}

/* All calls that arm, with @time as their delay, instant or interval. */
enum { ARM_ADD, ARM_RANGE, ARM_AT, ARM_AT_SLACK, ARM_ON, ARM_REDUCE, ARM_MOD, ARM_FORWARD, ARMS };

static void probe_arm(struct probe *p, unsigned int how, ktime_t time)
{
	struct hwheel_timer *timer = &p->timer;

	switch (how) {
	case ARM_ADD:
		hwheel_add(timer, time);
		break;
	case ARM_RANGE:
		hwheel_add_range(timer, time, 10);
		break;
	case ARM_AT:
		hwheel_add_at(timer, time, 0);
		break;
	case ARM_AT_SLACK:
		hwheel_add_at(timer, time, -5);
		break;
	case ARM_ON:
		hwheel_add_on(timer, time, raw_smp_processor_id());
		break;
	case ARM_REDUCE:
		hwheel_reduce(timer, time);
		break;
	case ARM_MOD:
		hwheel_add(timer, HOUR);
		hwheel_mod_pending(timer, time);
		break;
	case ARM_FORWARD:
		hwheel_add_at(timer, hwheel_now(p->wheel), 0);
		hwheel_forward(timer, time);
		break;
	}
}

static void test_past(struct kunit *test)
{
	static const ktime_t times[] = { 0, -1, -SECS(1), -HOUR, KTIME_MIN + 1, KTIME_MIN };
	const unsigned int n = ARRAY_SIZE(times) * ARMS;
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, n);
	unsigned int i, early = 0, lost = 0;

	expect_begin();		/* intervals below 1 */
	hold();
	for (i = 0; i < n; i++)
		probe_arm(&p[i], i % ARMS, times[i / ARMS]);
	mdelay(3);
	for (i = 0; i < n; i++) {
		early += runs(&p[i]);
		lost += !hwheel_pending(&p[i].timer);
	}
	unhold();
	expect_end();
	KUNIT_EXPECT_EQ_MSG(test, early, 0, "ran inside the caller");
	KUNIT_EXPECT_EQ_MSG(test, lost, 0, "not pending");

	for (i = 0; i < n; i++)
		wait_for(test, runs(&p[i]));
	msleep(20);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ_MSG(test, runs(&p[i]), 1, "probe %u", i);
}

/* What is overdue while a wheel's clock is at tick 0 is due at once, too. */
static void test_tick_0(struct kunit *test)
{
	struct probe *p = probes_new(test, wheel_new(test, HOUR), HOUR, 2);

	if (ktime_get() > HOUR)
		kunit_skip(test, "tick 0 has passed");
	hwheel_add(&p[1].timer, 0);	/* due at tick 1 */
	hwheel_add_at(&p[0].timer, 0, 0);
	wait_for(test, runs(&p[0]));
	KUNIT_EXPECT_EQ(test, runs(&p[0]), 1);
	KUNIT_EXPECT_EQ(test, runs(&p[1]), 0);
}

static void act_past(struct probe *p)
{
	if (!runs(p->other))
		hwheel_add_at(&p->timer, p->n ? p->expires : 0, 0);
}

/*
 * Callbacks that are due again, for the past or for the same instant, until others
 * that come to be due have run: one right away, some at a time, one by a cascade.
 */
static void test_past_again(struct kunit *test)
{
	struct hwheel *wheel = wheel_make(test, (struct hwheel_config){
		.tick_ns = MS, .spokes = { 8 } });
	struct probe *p = probes_new(test, wheel, MS, 14);
	unsigned int i;

	if (years)
		kunit_skip(test, "in simulated time callbacks take none");
	for (i = 0; i < 2; i++) {
		p[i].act = act_past;
		p[i].n = i;
		p[i].shared = true;
		p[i].other = &p[13];
	}
	hold();
	for (i = 2; i < 14; i++)
		probe_add(&p[i], i / 3 * i * MS);
	hwheel_add_at(&p[0].timer, 0, 0);
	hwheel_add(&p[1].timer, MS);
	unhold();
	expect_once(test, &p[2], 12);
	KUNIT_EXPECT_GT(test, runs(&p[0]), 1);
	KUNIT_EXPECT_GT(test, runs(&p[1]), 1);
}

static void test_far(struct kunit *test)
{
	static const s64 ticks[] = { MS, 1000, NSEC_PER_SEC };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		struct hwheel *wheel = wheel_new(test, ticks[i]);
		struct probe *p = probes_new(test, wheel, ticks[i], 8);
		struct probe *huge = probes_new(test, wheel, ticks[i], 2 * ARMS);
		ktime_t now = hwheel_now(wheel);

		for (j = 0; j < 2 * ARMS; j++) {
			hold();
			probe_arm(&huge[j], j / 2, KTIME_MAX - j % 2);
			unhold();
			KUNIT_EXPECT_GE_MSG(test, hwheel_expires(&huge[j].timer),
					    KTIME_MAX - 1, "how %u", j / 2);
		}

		probe_add(&p[0], KTIME_MAX);
		probe_add(&p[1], KTIME_MAX - 1);
		probe_add_at(&p[2], KTIME_MAX, 0);
		probe_add_at(&p[3], KTIME_MAX - 1, 0);
		probe_add_range(&p[4], KTIME_MAX, KTIME_MAX);
		probe_add_at(&p[5], now + HOUR, KTIME_MAX);
		probe_add_range(&p[6], KTIME_MAX - HOUR, 2 * HOUR);
		for (j = 0; j < 7; j++) {
			ktime_t expires = hwheel_expires(&p[j].timer);

			KUNIT_EXPECT_TRUE(test, hwheel_pending(&p[j].timer));
			KUNIT_EXPECT_GE_MSG(test, expires, p[j].from, "probe %u", j);
			KUNIT_EXPECT_LE_MSG(test, expires, p[j].to, "probe %u", j);
		}
		probe_add(&p[7], 5 * MS);
		wait_for(test, runs(&p[7]));
		KUNIT_EXPECT_TRUE(test, !probe_fault(&p[7]));
		msleep(30);
		for (j = 0; j < 7; j++) {
			KUNIT_EXPECT_EQ_MSG(test, runs(&p[j]), 0, "probe %u", j);
			KUNIT_EXPECT_TRUE_MSG(test, hwheel_pending(&p[j].timer), "probe %u", j);
		}

		for (j = 0; j < 2 * ARMS; j++) {
			KUNIT_EXPECT_EQ_MSG(test, runs(&huge[j]), 0, "how %u", j / 2);
			KUNIT_EXPECT_TRUE_MSG(test, hwheel_cancel(&huge[j].timer),
					      "how %u", j / 2);
		}

		/* From so far away it can be had back, or given up. */
		hold();
		KUNIT_EXPECT_TRUE(test, probe_add(&p[0], 2 * MS));
		unhold();
		for (j = 1; j < 7; j++)
			KUNIT_EXPECT_TRUE_MSG(test, hwheel_cancel(&p[j].timer), "probe %u", j);
		expect_once(test, p, 1);
		for (j = 1; j < 7; j++)
			KUNIT_EXPECT_EQ_MSG(test, runs(&p[j]), 0, "probe %u", j);
	}
}

struct from_hrtimer {
	struct hrtimer		hrtimer;
	struct probe		*p;
	bool			in_hardirq;
	bool			in_softirq;
};

static enum hrtimer_restart arm_from_hrtimer(struct hrtimer *hrtimer)
{
	struct from_hrtimer *from = container_of(hrtimer, struct from_hrtimer, hrtimer);

	from->in_hardirq = in_hardirq();
	from->in_softirq = in_serving_softirq();
	probe_add(from->p, 2 * MS);
	return HRTIMER_NORESTART;
}

static void act_add_other(struct probe *p)
{
	p->ret = probe_add(p->other, 2 * MS);
}

static void act_add_once_more(struct probe *p)
{
	p->act = NULL;
	p->ret = probe_add(p, 2 * MS);
}

static void test_contexts(struct kunit *test)
{
	static struct from_hrtimer hard, soft;
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, 8);
	unsigned long flags;

	probe_add(&p[0], 2 * MS);

	local_bh_disable();
	probe_add(&p[1], 2 * MS);
	local_bh_enable();

	local_irq_save(flags);
	probe_add(&p[2], 2 * MS);
	local_irq_restore(flags);

	hard.p = &p[3];
	hrtimer_setup(&hard.hrtimer, arm_from_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	hrtimer_start(&hard.hrtimer, MS, HRTIMER_MODE_REL_HARD);
	soft.p = &p[4];
	hrtimer_setup(&soft.hrtimer, arm_from_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_start(&soft.hrtimer, MS, HRTIMER_MODE_REL_SOFT);

	p[5].act = act_add_other;
	p[5].other = &p[6];
	probe_add(&p[5], MS);
	p[7].act = act_add_once_more;
	probe_add(&p[7], MS);

	wait_for(test, runs(&p[7]) == 2);
	expect_once(test, p, 7);
	KUNIT_EXPECT_EQ(test, runs(&p[7]), 2);
	KUNIT_EXPECT_TRUE(test, hard.in_hardirq);
	KUNIT_EXPECT_TRUE(test, soft.in_softirq);
	KUNIT_EXPECT_EQ(test, p[5].ret, false);
	KUNIT_EXPECT_EQ(test, p[7].ret, false);
	hrtimer_cancel(&hard.hrtimer);
	hrtimer_cancel(&soft.hrtimer);
}

static void test_reduce(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probe_new(test, wheel, MS);
	struct hwheel_timer *timer = &p->timer;
	ktime_t expires;

	KUNIT_EXPECT_FALSE(test, hwheel_reduce(timer, HOUR));
	expires = hwheel_expires(timer);
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, 2 * HOUR));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, KTIME_MAX));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, HOUR / 2));
	KUNIT_EXPECT_LE(test, hwheel_expires(timer), hwheel_now(wheel) + HOUR / 2);
	KUNIT_EXPECT_GE(test, hwheel_remaining(timer), HOUR / 2 - SECS(60));

	/* In a coarse spoke, all but the last tick of it. */
	KUNIT_EXPECT_TRUE(test, hwheel_add_at(timer, expires, 0));
	hold();
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, 3 * MS));
	p->from = 0;
	p->to = hwheel_expires(timer);
	unhold();
	expect_once(test, p, 1);

	KUNIT_EXPECT_FALSE(test, hwheel_mod_pending(timer, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(timer));
	hwheel_add(timer, HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_mod_pending(timer, 2 * HOUR));
	KUNIT_EXPECT_GE(test, hwheel_remaining(timer), HOUR + 1);
	KUNIT_EXPECT_TRUE(test, hwheel_mod_pending(timer, MS));
	wait_for(test, runs(p) == 2);
}

/* ------------------------------------------------------------------------ */
/* Callbacks that do things */

static void act_rearm(struct probe *p)
{
	if (runs(p) < p->n)
		probe_add(p, MS / 2);
}

static void test_rearm(struct kunit *test)
{
	static const s64 ticks[] = { MS, 1000, 3 * MS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		struct probe *p = probe_new(test, wheel_new(test, ticks[i]), ticks[i]);

		p->act = act_rearm;
		p->n = 50;
		probe_add(p, 0);
		wait_for(test, runs(p) >= 50);
		msleep(20);
		KUNIT_EXPECT_EQ(test, runs(p), 50);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
		KUNIT_EXPECT_EQ(test, hwheel_count(p->wheel, "expired"), 50);
	}
}

static void act_cancel_other(struct probe *p)
{
	p->ret = hwheel_cancel(&p->other->timer);
}

/* Pairs that are due at the same tick: the first to run cancels the other. */
static void test_cancel_other(struct kunit *test)
{
	/* Near, and far enough to come from a coarse spoke. */
	static const s64 delays[] = { 3 * MS, 200 * MS };
	const unsigned int n = 50;
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, n);
	unsigned int i, j;

	for (j = 0; j < ARRAY_SIZE(delays); j++) {
		ktime_t expires;

		hold();
		expires = hwheel_now(suite_wheel) + delays[j];
		for (i = 0; i < n; i++) {
			probe_setup(&p[i], suite_wheel, SUITE_TICK_NS, 0);
			p[i].act = act_cancel_other;
			p[i].other = &p[i ^ 1];
			probe_add_at(&p[i], expires, 0);
		}
		unhold();
		for (i = 0; i < n; i += 2)
			wait_for(test, runs(&p[i]) || runs(&p[i + 1]));
		msleep(20);
		for (i = 0; i < n; i += 2) {
			KUNIT_EXPECT_EQ(test, runs(&p[i]) + runs(&p[i + 1]), 1);
			KUNIT_EXPECT_EQ(test, p[i].ret + p[i + 1].ret, 1);
		}
	}
}

static void act_cancel(struct probe *p)
{
	p->ret = hwheel_cancel(&p->timer);
}

static void act_shutdown(struct probe *p)
{
	p->ret = hwheel_shutdown(&p->timer) | hwheel_add(&p->timer, 0) |
		 hwheel_pending(&p->timer);
}

static void act_add_cancel(struct probe *p)
{
	p->ret = !hwheel_add(&p->timer, MS) && hwheel_cancel(&p->timer);
}

static void act_add_shutdown(struct probe *p)
{
	p->ret = !hwheel_add(&p->timer, MS) && hwheel_shutdown(&p->timer);
}

static void act_shutdown_setup(struct probe *p)
{
	hwheel_shutdown(&p->timer);
	hwheel_setup(&p->timer, p->wheel, probe_run, 0);
	p->act = NULL;
	p->ret = probe_add(p, MS);
}

static atomic_t freed;

static void act_free(struct probe *p)
{
	kfree(p);
	atomic_inc(&freed);
}

static void test_own_end(struct kunit *test)
{
	static void (*const acts[])(struct probe *p) = {
		act_cancel, act_shutdown, act_add_cancel, act_add_shutdown,
		act_shutdown_setup,
	};
	static const int rets[] = { 0, 0, 1, 1, 0 };
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, ARRAY_SIZE(acts));
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		p[i].act = acts[i];
		probe_add(&p[i], MS);
	}
	atomic_set(&freed, 0);
	for (i = 0; i < 20; i++) {
		struct probe *q = kzalloc(sizeof(*q), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, q);
		probe_setup(q, suite_wheel, SUITE_TICK_NS, 0);
		q->act = act_free;
		hwheel_add(&q->timer, i * MS / 4);
	}
	wait_for(test, atomic_read(&freed) == 20);
	wait_for(test, runs(&p[4]) == 2);
	msleep(20);
	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		KUNIT_EXPECT_EQ_MSG(test, runs(&p[i]), i == 4 ? 2 : 1, "act %u", i);
		KUNIT_EXPECT_EQ_MSG(test, p[i].ret, rets[i], "act %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, hwheel_pending(&p[i].timer), "act %u", i);
	}
	KUNIT_EXPECT_FALSE(test, hwheel_add(&p[1].timer, 0));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p[1].timer));
}

static void act_try_cancel(struct probe *p)
{
	p->ret = hwheel_try_cancel(&p->timer) == -1;
	hwheel_add(&p->timer, HOUR);
	p->ret += hwheel_try_cancel(&p->timer) == -1;
	p->ret += hwheel_pending(&p->timer);
}

static void act_cancel_sync(struct probe *p)
{
	expect_begin();
	hwheel_add(&p->timer, MS);
	p->ret = hwheel_cancel_sync(&p->timer);
	p->ret += !hwheel_pending(&p->timer);
	p->ret += !hwheel_cancel_sync(&p->timer);
	hwheel_add(&p->timer, MS);
	p->ret += hwheel_shutdown_sync(&p->timer);
	p->ret += !hwheel_add(&p->timer, MS);
	p->ret += !hwheel_pending(&p->timer);
	expect_end();
}

static void test_wait_for_itself(struct kunit *test)
{
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, 2);

	p[0].act = act_try_cancel;
	probe_add(&p[0], MS);
	wait_for(test, runs(&p[0]));
	/* It has begun, and may take long to end. */
	KUNIT_EXPECT_TRUE(test, hwheel_cancel_sync(&p[0].timer));
	KUNIT_EXPECT_EQ(test, p[0].ret, 3);
	hwheel_add(&p[0].timer, HOUR);
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p[0].timer), 1);
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p[0].timer), 0);

	/* Once for each call that warns once. */
	p[1].act = act_cancel_sync;
	probe_add(&p[1], MS);
	wait_for(test, runs(&p[1]));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&p[1].timer));
	msleep(20);
	KUNIT_EXPECT_EQ(test, p[1].ret, 6);
	KUNIT_EXPECT_EQ(test, runs(&p[1]), 1);
	expect_warned(test, "waits for itself", "callback probe_run");
}

static void act_rearm_always(struct probe *p)
{
	udelay(1);
	hwheel_add(&p->timer, p->n);
}

static int rearm_thread(void *data)
{
	struct probe *p = data;

	while (!kthread_should_stop()) {
		hwheel_add(&p->timer, p->n);
		usleep_range(50, 100);
	}
	return 0;
}

static void test_sync(struct kunit *test)
{
	struct hwheel *wheel = wheel_make(test, (struct hwheel_config){
		.tick_ns = 1000, .budget_ns = 100000 });
	static const ktime_t delays[] = { 0, 1000, 50000, MS };
	struct probe *p = probe_new(test, wheel, 1000);
	struct task_struct *thread;
	unsigned int i, ran;

	for (i = 0; i < 2 * ARRAY_SIZE(delays); i++) {
		bool shutdown = i % 2;

		probe_setup(p, wheel, 1000, 0);
		p->act = act_rearm_always;
		p->n = delays[i / 2];
		hwheel_add(&p->timer, p->n);
		/* Not between its end and its being armed again, on another CPU. */
		wait_for(test, runs(p) >= 10 && hwheel_pending(&p->timer));
		if (shutdown)
			hwheel_shutdown_sync(&p->timer);
		else
			hwheel_cancel_sync(&p->timer);
		ran = runs(p);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
		KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&p->timer));
		msleep(20);
		KUNIT_EXPECT_EQ_MSG(test, runs(p), ran, "it ran on, delay %llu", p->n);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));

		hwheel_add(&p->timer, p->n);
		if (shutdown)
			KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
		else
			wait_for(test, runs(p) > ran);
		hwheel_shutdown_sync(&p->timer);
	}

	/* While another task goes on arming it. */
	probe_setup(p, wheel, 1000, 0);
	p->n = 20000;
	p->shared = true;
	thread = kthread_run(rearm_thread, p, "hwheel-rearm");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	wait_for(test, runs(p) >= 10);
	hwheel_shutdown_sync(&p->timer);
	ran = runs(p);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
	KUNIT_EXPECT_EQ(test, runs(p), ran);
	kthread_stop(thread);
}

#define SENT		8
#define SENT_US		20	/* that a callback of theirs takes */

static void act_dawdle(struct probe *p)
{
	udelay(SENT_US);
}

static int send_thread(void *data)
{
	struct probe *p = data, *sent = p->other;
	unsigned int i, own;

	for (i = p->n; !kthread_should_stop(); i++) {
		hwheel_add_on(&sent[i / 4 % SENT].timer, 0, i % num_online_cpus());
		/* So that the first CPU's lock mostly is one to wait for */
		for (own = p->n ? 0 : 20; own; own--)
			hwheel_add(&p->timer, HOUR);
		if (!(i % 64))
			cond_resched();
	}
	return 0;
}

/*
 * All CPUs send timers about while they run, and elsewhere while a run waits for
 * the lock of where one was sent at first. Lockdep, if it is there, is to agree.
 */
static void test_sent_about(struct kunit *test)
{
	struct task_struct *thread[4];
	unsigned int i, n = min_t(unsigned int, num_online_cpus(), ARRAY_SIZE(thread));
	struct hwheel *wheel = wheel_new(test, 1000);
	struct probe *p = probes_new(test, wheel, 1000, SENT + n);
	unsigned int ran = 0;
	int cpu;

	if (n == 1)
		kunit_skip(test, "there is but one CPU");
	for (i = 0; i < SENT; i++) {
		p[i].act = act_dawdle;
		p[i].shared = true;
	}
	i = 0;
	for_each_online_cpu(cpu) {
		p[SENT + i].n = i;
		p[SENT + i].other = p;
		thread[i] = kthread_create(send_thread, &p[SENT + i], "hwheel-send");
		if (IS_ERR(thread[i])) {
			KUNIT_FAIL(test, "no thread: %ld", PTR_ERR(thread[i]));
			break;
		}
		kthread_bind(thread[i], cpu);
		wake_up_process(thread[i]);
		if (++i == n)
			break;
	}
	msleep(1000);
	while (i--)
		kthread_stop(thread[i]);
	for (i = 0; i < SENT + n; i++) {
		hwheel_cancel_sync(&p[i].timer);
		ran += runs(&p[i]);
	}
	KUNIT_EXPECT_GT(test, ran, 0);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "migrated"), 0);
	expect_balance(test, wheel);
}

/* ------------------------------------------------------------------------ */
/* Periods */

/*
 * Forward @p by @interval and see whether @p is armed for the first of its
 * expiration plus n times @interval that is after now, in the arithmetic of
 * u64, which holds any difference of two instants.
 */
static bool forward_is_right(struct probe *p, ktime_t interval, u64 *n)
{
	ktime_t old = hwheel_expires(&p->timer), new, before, after;

	before = hwheel_now(p->wheel);
	*n = hwheel_forward(&p->timer, interval);
	after = hwheel_now(p->wheel);
	new = hwheel_expires(&p->timer);

	if ((u64)new - (u64)old != *n * (u64)interval)
		return false;		/* not on the grid */
	if (new <= before)
		return false;		/* not after now */
	return !*n || new - interval <= after;	/* nor the first that is */
}

static void act_forward(struct probe *p)
{
	u64 n;

	if (runs(p) >= 20)
		return;
	if (!forward_is_right(p, p->to, &n))
		p->ret++;
	p->n += n;
}

static void test_forward(struct kunit *test)
{
	static const struct {
		s64 tick_ns, interval;
	} rows[] = {
		{ MS, 5 * MS },
		{ MS, 5 * MS + 12345 },
		{ 20 * MS, 3 * MS },
		{ 20 * MS, 20 * MS },
		{ 1000, 777777 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hwheel *wheel = wheel_new(test, rows[i].tick_ns);
		struct probe *p = probe_new(test, wheel, rows[i].tick_ns);
		ktime_t start;

		p->act = act_forward;
		p->to = rows[i].interval;
		start = hwheel_now(wheel) + MS;
		hwheel_add_at(&p->timer, start, 0);
		wait_for(test, runs(p) >= 20);
		KUNIT_EXPECT_EQ_MSG(test, p->ret, 0, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, hwheel_expires(&p->timer),
				    start + (s64)p->n * rows[i].interval,
				    "row %u drifts", i);
		KUNIT_EXPECT_GE(test, p->n, 19);
		if (years && rows[i].interval >= rows[i].tick_ns)
			KUNIT_EXPECT_EQ_MSG(test, p->n, 19, "row %u misses periods", i);
		hwheel_shutdown_sync(&p->timer);
		wheel_destroy(test);
		probe_setup(p, suite_wheel, SUITE_TICK_NS, 0);
	}
}

static void test_forward_missed(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probe_new(test, wheel, MS);
	struct hwheel_timer *timer = &p->timer;
	ktime_t expires, before;
	unsigned int i;
	u64 n;

	/* Ten and a half periods ago. */
	hold();
	hwheel_add_at(timer, hwheel_now(wheel) - 10 * HOUR - HOUR / 2, 0);
	KUNIT_EXPECT_TRUE(test, forward_is_right(p, HOUR, &n));
	KUNIT_EXPECT_EQ(test, n, 11);
	unhold();
	KUNIT_EXPECT_TRUE(test, hwheel_pending(timer));

	/* Random ones; instants before the clock's first are instants, too. */
	for (i = 0; i < 1000; i++) {
		ktime_t interval = 1 + random_magnitude(DAY);
		bool right;

		hold();
		expires = hwheel_now(wheel) - random_magnitude(DAY);
		hwheel_add_at(timer, expires, 0);
		hwheel_cancel(timer);
		right = forward_is_right(p, interval, &n) && hwheel_cancel(timer);
		unhold();
		KUNIT_EXPECT_TRUE_MSG(test, right, "%lld forward by %lld gave %llu and %lld",
				      expires, interval, n, hwheel_expires(timer));
		if (!right)
			break;
	}

	/* Still to come: pending or not, that is what it is armed for. */
	hwheel_add(timer, HOUR);
	expires = hwheel_expires(timer);
	KUNIT_EXPECT_EQ(test, hwheel_forward(timer, SECS(1)), 0);
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(timer));
	KUNIT_EXPECT_EQ(test, hwheel_forward(timer, SECS(1)), 0);
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_pending(timer));

	/* A period of no length is taken for one of 1 ns. */
	expect_begin();
	for (i = 0; i < 2; i++) {
		hold();
		before = hwheel_now(wheel);
		hwheel_add_at(timer, before - 1000, 0);
		n = hwheel_forward(timer, i ? -5 : 0);
		expires = hwheel_expires(timer);
		KUNIT_EXPECT_EQ(test, expires, before - 1000 + (s64)n);
		KUNIT_EXPECT_GT(test, expires, before);
		KUNIT_EXPECT_LE(test, expires, hwheel_now(wheel) + 1);
		hwheel_cancel(timer);
		unhold();
	}
	expect_end();
	expect_warned(test, "forwarded by", "callback probe_run");

	hwheel_shutdown(timer);
	hwheel_forward(timer, HOUR);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(timer));
}

/* From instants so long ago that differences do not fit an s64. */
static void test_forward_ages(struct kunit *test)
{
	static const ktime_t ages[] = {
		0, -1, -HOUR, -KTIME_MAX / 2, KTIME_MIN + 1, KTIME_MIN,
	};
	static const ktime_t intervals[] = { 1, 3 * MS, DAY, KTIME_MAX };
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probe_new(test, wheel, MS);
	struct hwheel_timer *timer = &p->timer;
	unsigned int i, j;
	u64 n;

	for (i = 0; i < ARRAY_SIZE(ages); i++) {
		for (j = 0; j < ARRAY_SIZE(intervals); j++) {
			hold();
			hwheel_add_at(timer, ages[i], 0);
			KUNIT_EXPECT_LT(test, hwheel_remaining(timer), 0);
			KUNIT_EXPECT_TRUE_MSG(test, forward_is_right(p, intervals[j], &n),
					      "%lld forward by %lld gave %llu and %lld",
					      ages[i], intervals[j], n,
					      hwheel_expires(timer));
			hwheel_cancel(timer);
			unhold();
		}
	}
}

/* ------------------------------------------------------------------------ */
/* Order, slack, interrupts, budget */

static void test_order(struct kunit *test)
{
	const unsigned int n = 1000;
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, n);
	unsigned int i;
	ktime_t base;
	bool slow;

	/* One that is armed when its tick has passed can't be in order. */
	hold();
	base = hwheel_now(suite_wheel) + 300 * MS;
	for (i = 0; i < n; i++)
		probe_add_at(&p[i], base + random_below(300 * MS), 0);
	slow = hwheel_now(suite_wheel) > base;
	unhold();
	expect_once(test, p, n);
	if (slow)
		kunit_skip(test, "the host is too slow");
	expect_order(test, p, n);
}

static void test_slack_meets(struct kunit *test)
{
	const unsigned int n = 100;
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, n + 1);
	size_t distinct;
	unsigned int i;

	hold();
	for (i = 0; i < n; i++)
		probe_add_range(&p[i], (100 + random_below(50)) * MS, 200 * MS);
	unhold();
	expect_once(test, p, n);
	distinct = distinct_ticks(test, p, n);
	KUNIT_EXPECT_GT(test, distinct, 0);
	KUNIT_EXPECT_LE(test, distinct, 3);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts"),
			distinct + hwheel_count(wheel, "budget_overruns"));
	if (years)
		KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), distinct);

	/* Less than none is none. */
	probe_add_at(&p[n], hwheel_now(wheel) + HOUR + 1, -HOUR);
	KUNIT_EXPECT_EQ(test, hwheel_expires(&p[n].timer), p[n].from);
	probe_add_range(&p[n], HOUR, KTIME_MIN);
	KUNIT_EXPECT_GE(test, hwheel_expires(&p[n].timer), p[n].from);
	KUNIT_EXPECT_LE(test, hwheel_expires(&p[n].timer), hwheel_now(wheel) + HOUR);
	/* Less than a tick picks no instant that is outside of it. */
	probe_add_at(&p[n], hwheel_now(wheel) + HOUR + 1, 10);
	KUNIT_EXPECT_GE(test, hwheel_expires(&p[n].timer), p[n].from);
	KUNIT_EXPECT_LE(test, hwheel_expires(&p[n].timer), p[n].to);
}

static void test_quiet(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, 10);
	unsigned int i;

	msleep(300);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), 0);

	for (i = 0; i < 10; i++)
		probe_add(&p[i], 100 * MS * (i + 1));
	expect_once(test, p, 10);
	msleep(200);
	/*
	 * A host that sleeps for a while makes two of them one. And a run that
	 * ends while another CPU is adding a level may be followed by one in vain.
	 */
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts"),
			10 + hwheel_count(wheel, "idle_interrupts"));
	if (years)
		KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), 10);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "idle_interrupts"), num_online_cpus() > 1);
}

/* Have the lowest level of @p's wheel made, which may cost interrupts. */
static void level_made(struct kunit *test, struct probe *p)
{
	int cpu;

	for_each_online_cpu(cpu) {
		unsigned int n = runs(p);

		hwheel_add_on(&p->timer, 10 * MS, cpu);
		wait_for(test, runs(p) > n);
		msleep(50);
	}
}

static void test_quiet_cancelled(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, 4);
	u64 interrupts, idle;

	level_made(test, &p[3]);
	interrupts = hwheel_count(wheel, "interrupts");
	idle = hwheel_count(wheel, "idle_interrupts");

	/* The earliest of two, and the only one. */
	hold();
	probe_add(&p[0], 20 * MS);
	probe_add(&p[1], 60 * MS);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(&p[0].timer));
	unhold();
	expect_once(test, &p[1], 1);
	idle = hwheel_count(wheel, "idle_interrupts") - idle;
	KUNIT_EXPECT_LE(test, idle, 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), interrupts + 1 + idle);

	interrupts = hwheel_count(wheel, "interrupts");
	idle = hwheel_count(wheel, "idle_interrupts");
	probe_add(&p[2], 300 * MS);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(&p[2].timer));
	msleep(600);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts"), interrupts + 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts") - interrupts,
			hwheel_count(wheel, "idle_interrupts") - idle);
	KUNIT_EXPECT_EQ(test, runs(&p[0]) + runs(&p[2]), 0);
}

/* Put off again and again, as timeouts are: one interrupt at most per delay. */
static void test_quiet_put_off(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probe_new(test, wheel, MS);
	ktime_t start = ktime_get(), end;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		hwheel_add(&p->timer, SECS(100));
		usleep_range(900, 1000);
	}
	end = ktime_get();
	if (end - start > SECS(99))
		kunit_skip(test, "the host is too slow");
	KUNIT_EXPECT_EQ(test, runs(p), 0);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), 0);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "rearmed"), 99);
}

/* Hosts may mistake how fast a loop is; in simulated time, loops take none. */
static void busy(ktime_t ns)
{
	ktime_t end = ktime_get() + ns;
	u32 rest;

	if (years) {
		mdelay(div_u64_rem(ns, NSEC_PER_MSEC, &rest));
		udelay(rest / NSEC_PER_USEC);
	} else {
		while (ktime_get() < end)
			cpu_relax();
	}
}

/* More than any budget. */
static void act_spend(struct probe *p)
{
	busy(5 * MS);
}

/* A callback that took long is followed by no interrupt but the next timer's. */
static void test_quiet_spent(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, 3);
	u64 interrupts, idle;

	level_made(test, p);
	interrupts = hwheel_count(wheel, "interrupts");
	idle = hwheel_count(wheel, "idle_interrupts");
	p[1].act = act_spend;
	hold();
	probe_add(&p[1], 10 * MS);
	probe_add(&p[2], 100 * MS);
	unhold();
	expect_once(test, p + 1, 2);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts"), interrupts + 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "idle_interrupts"), idle);
}

static void act_rearm_soon(struct probe *p)
{
	busy(60 * NSEC_PER_USEC);
	if (runs(p) < p->n)
		hwheel_add(&p->timer, 2 * NSEC_PER_USEC);
}

/* Each run keeps to the budget; all of them, in interrupts without pause, don't. */
static void test_overdrawn(struct kunit *test)
{
	struct hwheel *wheel = wheel_make(test, (struct hwheel_config){
		.tick_ns = NSEC_PER_USEC, .budget_ns = 200 * NSEC_PER_USEC });
	struct probe *p = probe_new(test, wheel, NSEC_PER_USEC);

	if (years)
		kunit_skip(test, "nothing takes any time");
	if (suite_context != HWHEEL_HARDIRQ)
		kunit_skip(test, "others have the CPU between runs");
	p->act = act_rearm_soon;
	p->n = 100;
	hwheel_add(&p->timer, 0);
	wait_for(test, runs(p) >= p->n);
	hwheel_cancel_sync(&p->timer);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "budget_overruns"), 0);
}

/*
 * Something that has to wait for as long as callbacks of this suite's context
 * have the CPU, begun again each millisecond.
 */
struct other {
	struct hrtimer		hrtimer;
	struct work_struct	work;
	int			all;	/* of the probes */
	unsigned int		n;	/* how often it ran, and some had run, not all */
	ktime_t			last;
	ktime_t			gap;	/* the longest between two of those */
};

static void other_run(struct other *other)
{
	int run = atomic_read(&probes_run);
	ktime_t now = ktime_get();

	if (!run || run >= other->all)
		return;
	if (other->n++)
		other->gap = max(other->gap, now - other->last);
	other->last = now;
}

static void other_work(struct work_struct *work)
{
	other_run(container_of(work, struct other, work));
}

static enum hrtimer_restart other_hrtimer(struct hrtimer *hrtimer)
{
	struct other *other = container_of(hrtimer, struct other, hrtimer);

	if (suite_context == HWHEEL_WORK)
		queue_work_on(raw_smp_processor_id(), system_percpu_wq, &other->work);
	else
		other_run(other);
	hrtimer_forward_now(hrtimer, MS);
	return HRTIMER_RESTART;
}

static void other_begin(struct other *other, int all)
{
	bool hard = suite_context == HWHEEL_HARDIRQ;

	memset(other, 0, sizeof(*other));
	other->all = all;
	INIT_WORK(&other->work, other_work);
	hrtimer_setup(&other->hrtimer, other_hrtimer, CLOCK_MONOTONIC,
		      hard ? HRTIMER_MODE_REL_PINNED_HARD : HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_start(&other->hrtimer, MS,
		      hard ? HRTIMER_MODE_REL_PINNED_HARD : HRTIMER_MODE_REL_PINNED_SOFT);
}

static void other_end(struct other *other)
{
	hrtimer_cancel(&other->hrtimer);
	cancel_work_sync(&other->work);
}

static void act_delay(struct probe *p)
{
	busy(50000);
}

static void act_brief(struct probe *p)
{
	busy(1000);
}

/* A crowd at one tick, and some behind it: none lost, in order, others go on. */
static void budget(struct kunit *test, unsigned int n, ktime_t budget_ns, ktime_t ahead,
		   void (*act)(struct probe *p))
{
	struct hwheel *wheel = wheel_make(test, (struct hwheel_config){
		.budget_ns = budget_ns });
	struct probe *p = probes_new(test, wheel, MS, n);
	static struct other other;
	unsigned int i, lost = 0;
	ktime_t due;

	hold();
	other_begin(&other, n);
	due = hwheel_now(wheel) + ahead;
	for (i = 0; i < n; i++) {
		p[i].act = act;
		probe_add_at(&p[i], i < n - n / 4 ? due : due + (1 + i % 30) * MS, 0);
	}
	unhold();
	wait_for(test, atomic_read(&probes_run) >= n);
	other_end(&other);

	for (i = 0; i < n; i++)
		lost += runs(&p[i]) != 1;
	KUNIT_EXPECT_EQ(test, lost, 0);
	expect_order(test, p, n);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "budget_overruns"), 0);
	KUNIT_EXPECT_GT_MSG(test, other.n, 0, "all others had to wait");
	kunit_info(test, "%u timers, %llu overruns; meanwhile a 1 ms timer ran %u times, at most %lld ns apart",
		   n, hwheel_count(wheel, "budget_overruns"), other.n, other.gap);
}

/* 1400 callbacks of 50 us take 70 ms. */
static void test_budget(struct kunit *test)
{
	budget(test, 1400, MS, 100 * MS, act_delay);
}

static void test_budget_mass(struct kunit *test)
{
	budget(test, many, 200000, SECS(1), act_brief);
}

/*
 * The budgets that are default. Callbacks take 50 us; three are over 100 us, and
 * 40 are 2 ms, if after each 8th the clock is looked at. They may take longer, but
 * no run is cut short before its budget is used up.
 */
static void test_budget_default(struct kunit *test)
{
	const bool hard = suite_context == HWHEEL_HARDIRQ;
	const unsigned int n = 160;
	unsigned int i, j;
	u64 overruns;

	for (j = 0; j < 10; j++) {
		struct hwheel *wheel = wheel_new(test, MS);
		struct probe *p = probes_new(test, wheel, MS, n);
		ktime_t due, last = 0;

		atomic_set(&probes_run, 0);
		hold();
		due = hwheel_now(wheel) + 10 * MS;
		for (i = 0; i < n; i++) {
			p[i].act = act_delay;
			probe_add_at(&p[i], due, 0);
		}
		unhold();
		wait_for(test, atomic_read(&probes_run) == n);
		for (i = 0; i < n; i++) {
			hwheel_shutdown_sync(&p[i].timer);
			last = max(last, p[i].began);
		}
		overruns = hwheel_count(wheel, "budget_overruns");
		KUNIT_EXPECT_GE(test, overruns, n / (hard ? 3 : 40) - 1);
		KUNIT_EXPECT_LE(test, overruns * (hard ? MS / 10 : 2 * MS), last - due);
		wheel_destroy(test);
		kvfree(p);
		made.nr_probes--;
	}
}

static void act_50_us(struct probe *p)
{
	busy(50000);
}

/*
 * What a run over its budget leaves comes after a break, and not with the next
 * timer, half a second later. All are due in one slot of level 1, so the earliest
 * is one of level 0, and the levels above are not looked at.
 */
static void test_budget_left(struct kunit *test)
{
	const ktime_t slot = 128 * 10 * MS;
	const unsigned int n = 20;
	struct hwheel *wheel = wheel_make(test, (struct hwheel_config){
		.tick_ns = 10 * MS, .budget_ns = MS / 10 });
	struct probe *p = probes_new(test, wheel, 10 * MS, n + 3);
	ktime_t now, last = 0;
	unsigned int i;

	level_made(test, &p[n + 2]);
	while (hwheel_now(wheel) % slot > slot / 3)
		msleep(20);
	hold();
	now = hwheel_now(wheel);
	probe_add_at(&p[n], now + 50 * MS, 0);
	for (i = 0; i < n; i++) {
		p[i].act = act_50_us;
		probe_add_at(&p[i], now + 100 * MS, 0);
	}
	probe_add_at(&p[n + 1], now + 600 * MS, 0);
	unhold();
	wait_for(test, runs(&p[n + 1]));
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, runs(&p[i]), 1);
		last = max(last, p[i].began);
	}
	KUNIT_EXPECT_LT(test, last, p[n + 1].began - 100 * MS);
	KUNIT_EXPECT_GE(test, hwheel_count(wheel, "budget_overruns"), 1);
}

/* Armed while one is overdue, so long that the base's clock is far behind. */
static void test_held_off(struct kunit *test)
{
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, 3);

	level_made(test, &p[2]);
	hold();
	hwheel_add(&p[0].timer, 20 * MS);
	busy(120 * MS);
	hwheel_add(&p[1].timer, 10 * MS);
	unhold();
	wait_for(test, runs(&p[0]) && runs(&p[1]));
	KUNIT_EXPECT_LT(test, p[0].order, p[1].order);
}

static void act_long(struct probe *p)
{
	busy(50 * MS);
}

/* One takes 50 ms, the others come all the same, and can be armed meanwhile. */
static void test_long_callback(struct kunit *test)
{
	const unsigned int n = 100;
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, n);
	ktime_t due;
	unsigned int i;

	if (years)
		kunit_skip(test, "timers are to be late");
	p[0].act = act_long;
	hold();
	due = hwheel_now(wheel) + 20 * MS;
	for (i = 0; i < n / 2; i++)
		probe_add_at(&p[i], due + i * MS, 0);
	unhold();
	wait_for(test, runs(&p[0]));
	for (; i < n; i++)
		probe_add(&p[i], i % 10 * MS);
	expect_once(test, p, n);
	expect_order(test, p, n / 2);
	KUNIT_EXPECT_GE(test, hwheel_count(wheel, "max_late_ns"), 40 * MS);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "budget_overruns"), 0);
}

static void test_thousands(struct kunit *test)
{
	const unsigned int n = many;
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, n);
	unsigned int i;

	for (i = 0; i < n; i++)
		probe_add(&p[i], random_below(NSEC_PER_SEC));
	expect_once(test, p, n);
	KUNIT_EXPECT_EQ(test, atomic_read(&probes_run), n);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "added"), n);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), n);
	kunit_info(test, "max_late_ns %llu, max_locked_ns %llu, cascaded %llu, interrupts %llu",
		   hwheel_count(wheel, "max_late_ns"),
		   hwheel_count(wheel, "max_locked_ns"),
		   hwheel_count(wheel, "cascaded"),
		   hwheel_count(wheel, "interrupts"));
}

/* ------------------------------------------------------------------------ */
/* Wheels */

static void test_create_errors(struct kunit *test)
{
	static const struct {
		struct hwheel_config config;
		int err;
		const char *says;
	} rows[] = {
		{ { .name = NULL }, -EINVAL, "a name is" },
		{ { .name = "" }, -EINVAL, "a name is" },
		{ { .name = "12345678901234567890123456789012" }, -EINVAL, "a name is" },
		{ { .name = "a/b" }, -EINVAL, "a name is" },
		{ { .name = "/" }, -EINVAL, "a name is" },
		{ { .name = "." }, -EINVAL, "a name is" },
		{ { .name = ".." }, -EINVAL, "a name is" },
		{ { .name = "bad", .spokes = { 1 } }, -EINVAL, "number of spokes" },
		{ { .name = "bad", .spokes = { 4097 } }, -EINVAL, "number of spokes" },
		{ { .name = "bad", .spokes = { 64, 64, 1 } }, -EINVAL, "number of spokes" },
		{ { .name = "bad", .levels = 9 }, -EINVAL, "number of levels" },
		{ { .name = "bad", .levels = UINT_MAX }, -EINVAL, "number of levels" },
		{ { .name = "bad", .tick_ns = 999 }, -EINVAL, "shorter than" },
		{ { .name = "bad", .tick_ns = 1 }, -EINVAL, "shorter than" },
		{ { .name = "bad", .tick_ns = U64_MAX, .levels = 1 }, -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .tick_ns = S64_MAX, .levels = 1, .spokes = { 2 } },
		  -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .levels = 8, .spokes = { 4096 } }, -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .tick_ns = NSEC_PER_SEC, .levels = 5 },
		  -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .clock = 99 }, -EINVAL, "clock" },
		{ { .name = "bad", .clock = -1 }, -EINVAL, "clock" },
		{ { .name = "bad", .clock = CLOCK_MONOTONIC_RAW }, -EINVAL, "clock" },
		{ { .name = "bad", .context = 99 }, -EINVAL, "no context" },
		{ { .name = "bad", .context = -1 }, -EINVAL, "no context" },
		{ { .name = "bad", .flags = HWHEEL_UNBOUND }, -EINVAL, "flags" },
		{ { .name = "bad", .context = HWHEEL_WORK, .flags = 2 }, -EINVAL, "flags" },
		{ { .name = "system" }, -EEXIST, "there is one" },
		{ { .name = "1234567890123456789012345678901" }, 0 },
		{ { .name = "good", .levels = 1, .spokes = { 2 }, .tick_ns = 1000 }, 0 },
		{ { .name = "good", .levels = 1, .spokes = { 4096 } }, 0 },
		{ { .name = "good", .levels = 8, .spokes = { 2, 3, 4, 5, 6, 7, 8, 9 } }, 0 },
		{ { .name = "good", .tick_ns = HOUR }, 0 },
		{ { .name = "good", .clock = CLOCK_MONOTONIC }, 0 },
		{ { .name = "good", .clock = CLOCK_BOOTTIME }, 0 },
		{ { .name = "good", .budget_ns = U64_MAX }, 0 },
	};
	struct hwheel *wheel;
	unsigned int i, lines;

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(hwheel_create(NULL)), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		lines = logged("hwheel: wheel \"", rows[i].says);
		wheel = hwheel_create(&rows[i].config);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(wheel), rows[i].err, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, logged("hwheel: wheel \"", rows[i].says) - lines,
				    !!rows[i].err, "row %u: a line with \"%s\"", i, rows[i].says);
		KUNIT_EXPECT_TRUE(test, wheel);
		/* An ERR_PTR is all right. */
		hwheel_destroy(wheel);
	}
	hwheel_destroy(NULL);

	/* A name is free again when its wheel is gone, and not before. */
	for (i = 0; i < 2; i++) {
		const struct hwheel_config config = { .name = "twice" };

		wheel = hwheel_create(&config);
		KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(wheel));
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(hwheel_create(&config)), -EEXIST);
		hwheel_destroy(wheel);
	}
}

static void test_come_and_go(struct kunit *test)
{
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, 20);
	unsigned int i, j;

	for (i = 0; i < 50; i++) {
		s64 tick_ns = i % 2 ? 1000 : MS;
		struct hwheel *wheel = wheel_new(test, tick_ns);

		for (j = 0; j < 20; j++) {
			probe_setup(&p[j], wheel, tick_ns, 0);
			probe_add(&p[j], j < 10 ? j * 100000 : HOUR);
		}
		for (j = 0; j < 10; j++)
			wait_for(test, runs(&p[j]));
		for (j = 0; j < 20; j++) {
			KUNIT_EXPECT_EQ(test, hwheel_shutdown_sync(&p[j].timer), j >= 10);
			KUNIT_EXPECT_EQ(test, runs(&p[j]), j < 10);
			KUNIT_EXPECT_TRUE(test, !p[j].fault);
			probe_setup(&p[j], suite_wheel, SUITE_TICK_NS, 0);
		}
		wheel_destroy(test);
	}
}

static void test_several(struct kunit *test)
{
	static const s64 ticks[] = { 1000, MS, NSEC_PER_SEC };
	struct probe *p[ARRAY_SIZE(ticks)];
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		p[i] = probes_new(test, wheel_new(test, ticks[i]), ticks[i], 100);
	for (j = 0; j < 100; j++)
		for (i = 0; i < ARRAY_SIZE(ticks); i++)
			probe_add(&p[i][j], random_magnitude(SECS(1)));
	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		expect_once(test, p[i], 100);
		KUNIT_EXPECT_EQ(test, hwheel_count(p[i]->wheel, "expired"), 100);
	}
}

/* Arm all @n, half of them for @delay and half for later. How long that took. */
static ktime_t arm_doomed(struct probe *doomed, unsigned int n, ktime_t delay)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		probe_add(&doomed[i], delay + (i % 2 ? random_magnitude(KTIME_MAX / 2) : 0));
	return ktime_get() - (doomed[0].from - delay);
}

static void test_destroy_pending(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, 1), *doomed;
	unsigned int i, n = 200, ran = 0;
	ktime_t delay = 30 * MS, end;

	doomed = kunit_kzalloc(test, n * sizeof(*doomed), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, doomed);
	for (i = 0; i < n; i++)
		probe_setup(&doomed[i], wheel, MS, 0);
	/* They take about as long to destroy, and none is to be due by then. */
	while (arm_doomed(doomed, n, delay) > delay / 4 && delay < SECS(10)) {
		for (i = 0; i < n; i++)
			hwheel_cancel_sync(&doomed[i].timer);
		atomic_set(&probes_run, 0);
		for (i = 0; i < n; i++)
			WRITE_ONCE(doomed[i].runs, 0);
		delay *= 2;
	}
	made.nr_wheels--;
	expect_begin();
	hwheel_destroy(wheel);
	end = ktime_get();
	expect_end();
	expect_warned(test, "timers pending, one with", "callback probe_run");
	for (i = 0; i < n; i++)
		ran += runs(&doomed[i]);
	if (end < doomed[0].from)
		KUNIT_EXPECT_EQ(test, ran, 0);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&doomed[i].timer));
	kunit_kfree(test, doomed);

	/* Who wrote to them would be found out by now, or by KASAN. */
	probe_add(p, 2 * delay);
	expect_once(test, p, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&probes_run), ran + 1);
	if (ran)
		kunit_skip(test, "the host is too slow");
}

/* A CPU that keeps interrupts off until it is told, or for 3 s. */
static struct deaf {
	bool			deaf, hear, gave_up;
} deaf;

static void call_deaf(void *unused)
{
	ktime_t end = ktime_get() + SECS(3);

	WRITE_ONCE(deaf.deaf, true);
	while (!READ_ONCE(deaf.hear) && ktime_get() < end)
		cpu_relax();
	if (ktime_get() >= end)
		WRITE_ONCE(deaf.gave_up, true);
	/* Pairs with the acquire in test_destroy_deaf(). */
	smp_store_release(&deaf.deaf, false);
}

/*
 * Destruction waits for no other CPU: neither on behalf of a wheel that was not used
 * there, nor for the interrupt that a timer which was sent there has caused. When that
 * comes at last, the wheel may be gone, or have another life.
 */
static void test_destroy_deaf(struct kunit *test)
{
	struct hwheel_config config = { .name = "kunit-deaf", .context = suite_context };
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, 2);
	struct hwheel *wheel, *heir = NULL;
	unsigned int cpu, i;
	u64 interrupts;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is but one CPU");
	for (i = 0; i < 2; i++) {
		wheel = hwheel_create(&config);
		KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(wheel));
		probe_setup(&p[0], wheel, MS, 0);

		migrate_disable();
		cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
		deaf = (struct deaf){};
		smp_call_function_single(cpu, call_deaf, NULL, false);
		while (!READ_ONCE(deaf.deaf))
			cpu_relax();
		hwheel_destroy(hwheel_create(&(struct hwheel_config){ .name = "kunit-unused" }));
		hwheel_add_on(&p[0].timer, MS, cpu);
		hwheel_shutdown_sync(&p[0].timer);
		interrupts = hwheel_count(wheel, "interrupts");
		hwheel_destroy(wheel);
		if (i)
			heir = hwheel_create(&config);
		WRITE_ONCE(deaf.hear, true);
		migrate_enable();

		/* Pairs with the release in call_deaf(). */
		while (smp_load_acquire(&deaf.deaf))
			cpu_relax();
		KUNIT_EXPECT_FALSE(test, deaf.gave_up);
		msleep(50);
		if (!i)
			KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), interrupts);
		probe_setup(&p[0], suite_wheel, SUITE_TICK_NS, 0);
	}
	KUNIT_ASSERT_PTR_EQ(test, heir, wheel);
	KUNIT_EXPECT_EQ(test, hwheel_count(heir, "interrupts"), 0);
	probe_setup(&p[1], heir, MS, 0);
	probe_add(&p[1], 10 * MS);
	expect_once(test, &p[1], 1);
	probe_setup(&p[1], suite_wheel, SUITE_TICK_NS, 0);
	hwheel_destroy(heir);
}

static void act_destroy(struct probe *p)
{
	expect_begin();
	hwheel_destroy(p->wheel);
	expect_end();
}

static void test_destroy_by_callback(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, 2);

	p[0].act = act_destroy;
	probe_add(&p[0], MS);
	probe_add(&p[1], 5 * MS);
	/* The wheel goes on as if nothing had happened. */
	expect_once(test, p, 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), 2);
	expect_warned(test, "from one of its callbacks", "act_destroy");
}

static void test_destroy_twice(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS);

	wheel_destroy(test);
	expect_begin();
	hwheel_destroy(wheel);
	expect_end();
	expect_warned(test, "once more", "test_destroy_twice");
}

/* The module's own wheel stays, and goes on. */
static void test_destroy_system(struct kunit *test)
{
	struct probe *p = probe_new(test, hwheel_system, SYSTEM_TICK_NS);

	probe_add(p, MS);
	expect_begin();
	hwheel_destroy(hwheel_system);
	expect_end();
	expect_warned(test, "the module's own wheel", "test_destroy_system");
	expect_once(test, p, 1);
	probe_add(p, MS);
	wait_for(test, runs(p) == 2);
}

/* Timers whose wheel is gone can be cancelled, and not armed. */
static void expect_gone(struct kunit *test, struct probe *p)
{
	unsigned int i;

	for (i = 0; i < ARMS; i++) {
		probe_arm(p, i, MS);
		KUNIT_EXPECT_FALSE_MSG(test, hwheel_pending(&p->timer), "how %u", i);
	}
	KUNIT_EXPECT_FALSE(test, hwheel_cancel(&p->timer));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), 0);
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&p->timer));
	KUNIT_EXPECT_FALSE(test, hwheel_shutdown(&p->timer));
	KUNIT_EXPECT_FALSE(test, hwheel_shutdown_sync(&p->timer));
}

static void test_gone(struct kunit *test)
{
	struct hwheel *wheel = wheel_new(test, MS), *heir;
	struct probe *p = probes_new(test, wheel, MS, 2), *q;

	probe_add(&p[0], HOUR);
	hwheel_cancel(&p[0].timer);
	wheel_destroy(test);
	expect_begin();
	expect_gone(test, &p[0]);
	expect_end();
	expect_warned(test, "armed, and its wheel is gone", "callback probe_run");

	/* Another one has taken over its memory. */
	heir = wheel_new(test, MS);
	KUNIT_EXPECT_PTR_EQ(test, heir, wheel);
	q = probe_new(test, heir, MS);
	probe_add(q, 100 * MS);
	expect_begin();
	expect_gone(test, &p[1]);
	expect_end();
	expect_once(test, q, 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(heir, "added"), 1);
	KUNIT_EXPECT_EQ(test, runs(&p[0]) + runs(&p[1]), 0);

	probe_setup(&p[1], heir, MS, 0);
	probe_add(&p[1], MS);
	expect_once(test, &p[1], 1);
}

/* ------------------------------------------------------------------------ */
/* Levels on demand */

static void test_levels_made(struct kunit *test)
{
	static const struct {
		ktime_t delay;
		u64 levels;
	} rows[] = {
		{ 100 * MS, 1 }, { SECS(1), 2 }, { SECS(60), 3 }, { HOUR, 4 },
		{ 10 * DAY, 5 }, { 1000 * DAY, 5 }, { KTIME_MAX, 5 },
	};
	struct probe *p = probe_new(test, suite_wheel, SUITE_TICK_NS);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hwheel *wheel = wheel_new(test, MS);

		KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "levels_added"), 0);
		probe_setup(p, wheel, MS, HWHEEL_PINNED);
		probe_add(p, rows[i].delay);
		wait_for(test, hwheel_count(wheel, "levels_added") >= rows[i].levels);
		msleep(20);
		KUNIT_EXPECT_EQ_MSG(test, hwheel_count(wheel, "levels_added"), rows[i].levels,
				    "row %u", i);
		/* A host that sleeps lets the first one run. */
		if (!hwheel_pending(&p->timer)) {
			hwheel_cancel_sync(&p->timer);
			WRITE_ONCE(p->runs, 0);
		}
		probe_add(p, 5 * MS);
		expect_once(test, p, 1);
		KUNIT_EXPECT_EQ_MSG(test, hwheel_count(wheel, "levels_added"), rows[i].levels,
				    "row %u, after a nearer one", i);
		probe_setup(p, suite_wheel, SUITE_TICK_NS, 0);
		wheel_destroy(test);
	}
}

static void act_note_interrupts(struct probe *p)
{
	p->n = hwheel_count(p->wheel, "interrupts");
}

/*
 * A crowd that is parked before its level exists, and then has a spoke that is
 * to be emptied ahead of its time: there is an interrupt for that, too.
 */
static void test_levels_crowd(struct kunit *test)
{
	const unsigned int n = 3000;
	unsigned int i, round, in_time = 0;
	u64 most = 0;

	/* A host that sleeps for 30 ms makes two interrupts one, as a slow run does. */
	for (round = 0; round < 5 && most < 2; round++) {
		struct hwheel *wheel = wheel_new(test, MS);
		struct probe *p = probes_new(test, wheel, MS, n);
		u64 ahead = 0, seen;
		ktime_t due, now, looked = 0;

		hold();
		due = div_u64(hwheel_now(wheel) + 600 * MS, 128 * MS) * 128 * MS + 30 * MS;
		for (i = 0; i < n; i++)
			probe_add_at(&p[i], due + i % 90 * MS, 0);
		p->act = act_note_interrupts;
		unhold();
		for (;;) {
			seen = hwheel_count(wheel, "interrupts");
			now = hwheel_now(wheel);
			if (now >= due)
				break;
			ahead = seen;
			looked = now;
			usleep_range(500, 1000);
		}
		expect_once(test, p, n);
		most = max3(most, p->n, ahead + 1);
		in_time += looked > due - 10 * MS;
	}
	if (most < 2 && in_time < 3)
		kunit_skip(test, "the host is too slow");
	KUNIT_EXPECT_GE(test, most, 2);
}

/* All that come before the first level does. */
static void test_levels_parked(struct kunit *test)
{
	const unsigned int n = 10000;
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, n);
	unsigned int i;
	ktime_t base;
	u64 levels;
	bool slow;

	hold();
	base = hwheel_now(wheel) + 500 * MS;
	for (i = 0; i < n; i++)
		probe_add_at(&p[i], base + random_below(500 * MS), 0);
	slow = hwheel_now(wheel) > base;
	levels = hwheel_count(wheel, "levels_added");
	unhold();
	KUNIT_EXPECT_EQ(test, levels, 0);
	expect_once(test, p, n);
	KUNIT_EXPECT_GE(test, hwheel_count(wheel, "levels_added"), 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), n);
	if (!slow)
		expect_order(test, p, n);
}

static enum hrtimer_restart arm_far_from_hrtimer(struct hrtimer *hrtimer)
{
	struct from_hrtimer *from = container_of(hrtimer, struct from_hrtimer, hrtimer);
	unsigned int i;

	from->in_hardirq = in_hardirq();
	for (i = 0; i < from->p->n; i++)
		probe_add(&from->p[i], i % 2 ? i * 20 * MS : i * MS);
	return HRTIMER_NORESTART;
}

static void test_levels_from_hardirq(struct kunit *test)
{
	static struct from_hrtimer from;
	struct hwheel *wheel = wheel_new(test, MS);
	struct probe *p = probes_new(test, wheel, MS, 20);

	from.p = p;
	p->n = 20;
	hrtimer_setup(&from.hrtimer, arm_far_from_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	hrtimer_start(&from.hrtimer, MS, HRTIMER_MODE_REL_HARD);
	expect_once(test, p, 20);
	KUNIT_EXPECT_TRUE(test, from.in_hardirq);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), 20);
	hrtimer_cancel(&from.hrtimer);
}

static s64 free_bytes(void)
{
	struct sysinfo si;

	si_meminfo(&si);
	return (s64)si.freeram * si.mem_unit;
}

/* What a wheel may take beside its bases: its files in debugfs, mostly. */
#define WHEEL_BYTES	12288
/* What each base may take: its parking lot is 4 KiB, a level 8 KiB. */
#define BASE_BYTES	12288

/* The least time that hwheel_setup() takes in memory that holds @byte. */
static s64 setup_ns(struct kunit *test, int byte)
{
	struct hwheel_timer *timer = kunit_kmalloc(test, sizeof(*timer), GFP_KERNEL);
	s64 least = S64_MAX;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, timer);
	for (i = 0; i < 1000; i++) {
		ktime_t begin;

		memset(timer, byte, sizeof(*timer));
		begin = ktime_get();
		hwheel_setup(timer, suite_wheel, probe_run, 0);
		least = min_t(s64, least, ktime_get() - begin);
	}
	return least;
}

static void test_thousand_wheels(struct kunit *test)
{
	const unsigned int n = many / 100;
	const s64 most = n * (WHEEL_BYTES + (s64)BASE_BYTES * num_possible_cpus());
	struct hwheel **wheels = kunit_kcalloc(test, n, sizeof(*wheels), GFP_KERNEL);
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, n);
	ktime_t begin = ktime_get();
	unsigned int i, round;
	s64 before, bytes = 0;
	char name[24];

	KUNIT_ASSERT_NOT_NULL(test, wheels);
	before = free_bytes();
	for (round = 0; round < 3; round++) {
		for (i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "kunit-many-%u", i);
			wheels[i] = hwheel_create(&(struct hwheel_config){
				.name = name, .context = suite_context });
			if (IS_ERR(wheels[i])) {
				KUNIT_FAIL(test, "wheel %u: %pe", i, wheels[i]);
				continue;
			}
			probe_setup(&p[i], wheels[i], MS, 0);
			probe_add(&p[i], i % 100 * MS);
		}
		expect_once(test, p, n);
		if (!round)
			bytes = before - free_bytes();
		/*
		 * Whatever the memory of a timer held, no wheel is looked at for it. Of
		 * few wheels that would not show.
		 */
		if (!round && n >= 1000)
			KUNIT_EXPECT_LT(test, setup_ns(test, 0xa5),
					setup_ns(test, 0) + 2 * n);
		for (i = 0; i < n; i++) {
			hwheel_shutdown_sync(&p[i].timer);
			hwheel_destroy(wheels[i]);
			probe_setup(&p[i], suite_wheel, SUITE_TICK_NS, 0);
		}
	}
	kunit_info(test, "%u wheels, 3 times: %lld ns, %lld bytes, afterwards %lld bytes", n,
		   ktime_get() - begin, bytes, before - free_bytes());
	KUNIT_EXPECT_LT(test, ktime_get() - begin, SECS(60));
	/* Of a few wheels, what others take and free meanwhile would be too much. */
	if (n >= 1000 && !IS_ENABLED(CONFIG_KASAN) && !IS_ENABLED(CONFIG_PROVE_LOCKING)) {
		KUNIT_EXPECT_LT(test, bytes, most);
		KUNIT_EXPECT_LT(test, before - free_bytes(), most / 2);
	}
}

/* ------------------------------------------------------------------------ */
/* Mistakes, and what comes of them */

/* Calls without a timer, or without a wheel. */
static void test_null(struct kunit *test)
{
	unsigned int i;

	expect_begin();
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, hwheel_add(NULL, MS));
		KUNIT_EXPECT_FALSE(test, hwheel_add_range(NULL, MS, MS));
		KUNIT_EXPECT_FALSE(test, hwheel_add_at(NULL, 0, 0));
		KUNIT_EXPECT_FALSE(test, hwheel_add_on(NULL, MS, 0));
		KUNIT_EXPECT_FALSE(test, hwheel_add_on(NULL, MS, -1));
		KUNIT_EXPECT_FALSE(test, hwheel_mod_pending(NULL, MS));
		KUNIT_EXPECT_FALSE(test, hwheel_reduce(NULL, MS));
		KUNIT_EXPECT_EQ(test, hwheel_forward(NULL, MS), 0);
		KUNIT_EXPECT_EQ(test, hwheel_forward(NULL, -1), 0);
		KUNIT_EXPECT_FALSE(test, hwheel_cancel(NULL));
		KUNIT_EXPECT_EQ(test, hwheel_try_cancel(NULL), 0);
		KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(NULL));
		KUNIT_EXPECT_FALSE(test, hwheel_shutdown(NULL));
		KUNIT_EXPECT_FALSE(test, hwheel_shutdown_sync(NULL));
		KUNIT_EXPECT_FALSE(test, hwheel_pending(NULL));
		KUNIT_EXPECT_EQ(test, hwheel_expires(NULL), 0);
		KUNIT_EXPECT_EQ(test, hwheel_remaining(NULL), 0);
		hwheel_setup(NULL, suite_wheel, probe_run, 0);
		hwheel_setup_on_stack(NULL, suite_wheel, probe_run, 0);
		hwheel_destroy_on_stack(NULL);
		hwheel_destroy(NULL);
		KUNIT_EXPECT_GT(test, hwheel_now(NULL), 0);
		KUNIT_EXPECT_EQ(test, hwheel_count(NULL, "added"), U64_MAX);
		KUNIT_EXPECT_EQ(test, hwheel_count(suite_wheel, NULL), U64_MAX);
	}
	expect_end();
	expect_warned(test, "used a timer that is NULL", "hwheel_add");
	expect_warned(test, "set up a timer that is NULL", NULL);
	expect_warned(test, "asked for the time of wheel", "test_null");
}

/*
 * Set up while they are pending, among others in their spoke (1, 3) and alone (5,
 * 6), for the wheel that they are on (1, 5) and for another one.
 */
static void test_set_up_pending(struct kunit *test)
{
	struct hwheel *other = wheel_new(test, 10 * MS);
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, 7);
	unsigned int i, ran = 0;
	ktime_t due;

	expect_begin();
	hold();
	due = hwheel_now(p->wheel) + 300 * MS;
	for (i = 0; i < 5; i++)
		probe_add_at(&p[i], due, 0);
	probe_add_at(&p[5], due + 10 * MS, 0);
	probe_add_at(&p[6], due + 20 * MS, 0);
	for (i = 1; i < 7; i += 2) {
		hwheel_setup(&p[i].timer, i == 3 ? other : p->wheel, probe_run, 0);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p[i].timer));
	}
	hwheel_setup(&p[6].timer, other, probe_run, 0);
	unhold();
	expect_end();
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_TIMERS))
		KUNIT_EXPECT_GE(test, logged("ODEBUG: init active", "probe_run"), 1);
	else
		expect_warned(test, "set up while pending", "callback probe_run");

	for (i = 0; i < 6; i += 2)
		expect_once(test, &p[i], 1);
	for (i = 1; i < 7; i += i < 5 ? 2 : 1)
		ran += runs(&p[i]);
	KUNIT_EXPECT_EQ(test, ran, 0);
	KUNIT_EXPECT_EQ(test, hwheel_count(p->wheel, "cancelled"), 4);
	probe_add(&p[1], MS);
	expect_once(test, &p[1], 1);
	hwheel_add(&p[3].timer, MS);
	wait_for(test, runs(&p[3]));
	KUNIT_EXPECT_EQ(test, hwheel_count(other, "expired"), 1);
}

/* One with an odd callback, and neighbours, all due at one tick. */
static void expect_odd_harmless(struct kunit *test, void (*act)(struct probe *p))
{
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, 5);
	unsigned int i;
	ktime_t due;

	expect_begin();
	hold();
	due = hwheel_now(p->wheel) + 20 * MS;
	for (i = 0; i < 5; i++)
		probe_add_at(&p[i], due, 0);
	p[2].act = act;
	unhold();
	expect_once(test, p, 5);
	/* They have run, but may still be warned of. */
	for (i = 0; i < 5; i++)
		hwheel_cancel_sync(&p[i].timer);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	expect_end();
	KUNIT_EXPECT_EQ(test, logged("sleeping function called from invalid context", NULL), 0);
}

static void act_preempt_off(struct probe *p)
{
	preempt_disable();
}

static void test_odd_preemption(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "the kernel does not count");
	expect_odd_harmless(test, act_preempt_off);
	expect_warned(test, "returned with preempt_count", "callback probe_run");
}

/* Behind lockdep's back, which would take it for its own end. */
static void act_irqs_switched(struct probe *p)
{
	if (suite_context == HWHEEL_HARDIRQ)
		raw_local_irq_enable();
	else
		raw_local_irq_disable();
}

static void test_odd_interrupts(struct kunit *test)
{
	if (suite_context == HWHEEL_HARDIRQ && IS_ENABLED(CONFIG_TRACE_IRQFLAGS))
		kunit_skip(test, "lockdep would switch itself off");
	expect_odd_harmless(test, act_irqs_switched);
	expect_warned(test, suite_context == HWHEEL_HARDIRQ ? "has switched interrupts on" :
							     "has switched interrupts off",
		      "callback probe_run");
}

static void test_debug_garbage(struct kunit *test)
{
	struct probe *q;

	if (!IS_ENABLED(CONFIG_DEBUG_OBJECTS_TIMERS))
		kunit_skip(test, "needs CONFIG_DEBUG_OBJECTS_TIMERS");
	q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q);
	memset(&q->timer, 0x5a, sizeof(q->timer));
	expect_begin();
	KUNIT_EXPECT_FALSE(test, hwheel_add(&q->timer, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&q->timer));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&q->timer));
	expect_end();
	KUNIT_EXPECT_EQ(test, logged("ODEBUG: assert_init not available", "hwheel_timer"), 1);
}

static void test_debug_freed(struct kunit *test)
{
	struct probe *p, *q;
	ktime_t due;

	if (!IS_ENABLED(CONFIG_DEBUG_OBJECTS_TIMERS))
		kunit_skip(test, "needs CONFIG_DEBUG_OBJECTS_TIMERS");
	p = probes_new(test, wheel_new(test, MS), MS, 2);
	q = kzalloc(sizeof(*q), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q);
	probe_setup(q, p->wheel, MS, 0);
	hold();
	due = hwheel_now(p->wheel) + 300 * MS;
	probe_add_at(&p[0], due, 0);
	hwheel_add_at(&q->timer, due, 0);
	probe_add_at(&p[1], due, 0);
	unhold();
	expect_begin();
	kfree(q);
	expect_end();
	KUNIT_EXPECT_EQ(test, logged("ODEBUG: free active", "probe_run"), 1);
	expect_once(test, p, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&probes_run), 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(p->wheel, "cancelled"), 1);
}

/* ------------------------------------------------------------------------ */
/* What only one context has */

static void test_softirqs_held_off(struct kunit *test)
{
	struct probe *p = probe_new(test, wheel_new(test, MS), MS);
	unsigned int i, ran;

	local_bh_disable();
	probe_add(p, MS);
	for (i = 0; i < 100000 && !runs(p); i++)
		busy(20000);
	ran = runs(p);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, ran, 1);
	expect_once(test, p, 1);
}

static atomic_t sleeping;

static void act_sleep(struct probe *p)
{
	if (atomic_inc_return(&sleeping) != 1)
		p->fault = "it ran while another one slept";
	usleep_range(500, 1000);
	atomic_dec(&sleeping);
}

static void test_sleep(struct kunit *test)
{
	const unsigned int n = 60;
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, n);
	unsigned int i;
	ktime_t due;

	hold();
	due = hwheel_now(p->wheel) + 20 * MS;
	for (i = 0; i < n; i++) {
		p[i].act = act_sleep;
		probe_add_at(&p[i], due + (n - i) / 3 * MS, 0);
	}
	unhold();
	expect_once(test, p, n);
	expect_order(test, p, n);
}

static struct completion go_on;

static void act_sleep_long(struct probe *p)
{
	wait_for_completion(&go_on);
	msleep(100);
	WRITE_ONCE(p->n, ktime_get());
}

static struct waiter {
	struct completion	done;
	struct probe		*p;
	unsigned int		before;		/* callbacks that had come by then */
	bool			ret;
	ktime_t			returned;
} waiter;

static int waiter_thread(void *unused)
{
	waiter.before = runs(waiter.p);
	waiter.ret = hwheel_cancel_sync(&waiter.p->timer);
	waiter.returned = ktime_get();
	complete(&waiter.done);
	return 0;
}

static void test_sync_sleeps(struct kunit *test)
{
	struct probe *p = probe_new(test, wheel_new(test, MS), MS);
	struct task_struct *task;

	p->act = act_sleep_long;
	init_completion(&go_on);
	probe_add(p, MS);
	wait_for(test, runs(p));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), -1);

	/* Who can't wait is not made to. */
	expect_begin();
	local_bh_disable();
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&p->timer));
	local_bh_enable();
	expect_end();
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), -1);
	expect_warned(test, "where one can't wait", "callback probe_run");

	waiter.p = p;
	init_completion(&waiter.done);
	task = kthread_run(waiter_thread, NULL, "hwheel-waiter");
	complete(&go_on);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	/* One that is not woken is not waited for. */
	if (!wait_for_completion_timeout(&waiter.done, msecs_to_jiffies(20000))) {
		KUNIT_FAIL(test, "a waiter was not woken");
		return;
	}
	KUNIT_EXPECT_FALSE(test, waiter.ret);
	KUNIT_EXPECT_NE(test, p->n, 0);
	KUNIT_EXPECT_GE(test, waiter.returned, (ktime_t)p->n);
	KUNIT_EXPECT_LT(test, waiter.returned, (ktime_t)p->n + SECS(5));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), 0);
}

/* The first time it is armed meanwhile: by the test, or, if @p->n, right here. */
static void act_armed_meanwhile(struct probe *p)
{
	if (runs(p) > 1)
		return;
	if (p->n) {
		hwheel_add_on(&p->timer, 0, p->ret);
		hwheel_add(&p->timer, 100 * MS);
	} else {
		wait_for_completion(&go_on);
	}
}

/* One that is armed while its callback runs stays, unless it was sent away last. */
static void test_which_cpu_next(struct kunit *test)
{
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, 3);
	int cpu = cpumask_first(cpu_online_mask), other;
	unsigned int i;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is but one CPU");
	other = cpumask_any_but(cpu_online_mask, cpu);
	for (i = 0; i < 3; i++) {
		init_completion(&go_on);
		p[i].act = act_armed_meanwhile;
		p[i].shared = true;
		p[i].n = i == 2;
		p[i].ret = other;
		smp_call_function_single(cpu, call_add_at_0, &p[i], true);
		wait_for(test, runs(&p[i]) == 1);
		KUNIT_EXPECT_EQ(test, p[i].cpu, cpu);
		if (i == 1)
			hwheel_add_on(&p[i].timer, HOUR, cpu);
		if (i < 2)
			smp_call_function_single(other, call_add_soon, &p[i], true);
		if (i == 1)
			hwheel_add_on(&p[i].timer, 0, other);
		complete(&go_on);
		wait_for(test, runs(&p[i]) == 2);
		KUNIT_EXPECT_EQ_MSG(test, p[i].cpu, i == 1 ? other : cpu, "%u", i);
	}
}

static void act_again(struct probe *p)
{
	hwheel_forward(&p->timer, MS);
	busy(3 * MS / 2);
}

/*
 * One that is due again whenever it returns, so that the run is ready for the next
 * one long before those who wait have woken up.
 */
static void test_sync_again(struct kunit *test)
{
	struct hwheel *wheel = wheel_make(test, (struct hwheel_config){
		.tick_ns = MS, .budget_ns = SECS(60) });
	struct probe *p = probe_new(test, wheel, MS);
	unsigned int i, least = UINT_MAX;
	struct task_struct *task;

	p->act = act_again;
	p->shared = true;
	waiter.p = p;
	/* The host may run others before the waiter has begun, but not each time. */
	for (i = 0; i < 5; i++) {
		unsigned int n = runs(p);

		probe_add(p, MS);
		wait_for(test, runs(p) > n + 3);
		init_completion(&waiter.done);
		task = kthread_run(waiter_thread, NULL, "hwheel-waiter");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		if (!wait_for_completion_timeout(&waiter.done, msecs_to_jiffies(5000))) {
			KUNIT_FAIL(test, "it is still waited for");
			hwheel_shutdown_sync(&p->timer);
			wait_for_completion(&waiter.done);
			return;
		}
		least = min(least, runs(p) - waiter.before);
	}
	KUNIT_EXPECT_LE(test, least, 2);
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), 0);
}

static void act_unbound(struct probe *p)
{
	if (strncmp(current->comm, "kworker/u", 9))
		p->fault = "it ran on a worker that is bound to its CPU";
}

static void test_unbound(struct kunit *test)
{
	const unsigned int n = 300;
	struct hwheel *wheel = wheel_make(test, (struct hwheel_config){
		.flags = HWHEEL_UNBOUND });
	struct probe *p = probes_new(test, wheel, MS, n);
	unsigned int i;

	for (i = 0; i < n; i++) {
		p[i].act = i % 10 ? act_unbound : act_delay;
		probe_add(&p[i], random_magnitude(300 * MS));
	}
	expect_once(test, p, n);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), n);
}

static atomic_t inner_runs;

static void inner_run(struct hwheel_timer *timer)
{
	atomic_inc(&inner_runs);
}

/* Makes a wheel of each context, has a timer run on it, and destroys it. */
static void act_wheels(struct probe *p)
{
	enum hwheel_context context;

	for (context = HWHEEL_SOFTIRQ; context <= HWHEEL_WORK; context++) {
		struct hwheel_timer timer;
		struct hwheel *wheel;
		unsigned int i;

		wheel = hwheel_create(&(struct hwheel_config){
			.name = "kunit-inner", .context = context });
		if (IS_ERR(wheel)) {
			p->fault = "it could not make a wheel";
			return;
		}
		hwheel_setup_on_stack(&timer, wheel, inner_run, 0);
		hwheel_add(&timer, MS);
		for (i = 0; i < WAIT_MS && atomic_read(&inner_runs) <= p->ret; i++)
			usleep_range(500, 1000);
		hwheel_destroy_on_stack(&timer);
		hwheel_destroy(wheel);
		p->ret++;
	}
}

static void test_wheels_by_callback(struct kunit *test)
{
	struct probe *p = probe_new(test, wheel_new(test, MS), MS);

	atomic_set(&inner_runs, 0);
	p->act = act_wheels;
	probe_add(p, MS);
	wait_for(test, READ_ONCE(p->ret) == 3);
	expect_once(test, p, 1);
	KUNIT_EXPECT_EQ(test, p->ret, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&inner_runs), 3);
}

/* ------------------------------------------------------------------------ */
/* Timers of all kinds */

static void expect_unusable(struct kunit *test, struct probe *p)
{
	unsigned int op;

	for (op = 0; op < OPS; op++) {
		KUNIT_EXPECT_EQ_MSG(test, probe_op(p, op), 0, "op %u", op);
		KUNIT_EXPECT_FALSE_MSG(test, hwheel_pending(&p->timer), "op %u", op);
	}
	KUNIT_EXPECT_EQ(test, hwheel_forward(&p->timer, SECS(1)), 0);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
	KUNIT_EXPECT_EQ(test, hwheel_remaining(&p->timer), 0);
	KUNIT_EXPECT_EQ(test, runs(p), 0);
}

static void test_not_set_up(struct kunit *test)
{
	struct probe *p = probe_new(test, suite_wheel, SUITE_TICK_NS);

	expect_begin();
	memset(&p->timer, 0, sizeof(p->timer));
	expect_unusable(test, p);
	hwheel_setup(&p->timer, NULL, probe_run, 0);
	expect_unusable(test, p);
	hwheel_setup(&p->timer, ERR_PTR(-ENOMEM), probe_run, 0);
	expect_unusable(test, p);
	hwheel_setup(&p->timer, suite_wheel, NULL, 0);
	expect_unusable(test, p);
	hwheel_setup(&p->timer, suite_wheel, probe_run, BIT(31));
	expect_unusable(test, p);
	hwheel_setup(&p->timer, suite_wheel, probe_run, HWHEEL_PINNED | BIT(1));
	expect_unusable(test, p);
	expect_end();
	expect_warned(test, "used before hwheel_setup()", "callback");
	expect_warned(test, "timer set up with wheel", "callback probe_run");

	hwheel_setup(&p->timer, suite_wheel, probe_run, 0);
	probe_add(p, MS);
	expect_once(test, p, 1);
}

static atomic_t static_runs;

static void static_run(struct hwheel_timer *timer)
{
	atomic_inc(&static_runs);
}

static DEFINE_HWHEEL_TIMER(static_timer, static_run);
static DEFINE_HWHEEL_TIMER(static_timer_idle, static_run);

static void test_static(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&static_timer_idle));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel(&static_timer_idle));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&static_timer_idle), 0);
	KUNIT_EXPECT_FALSE(test, hwheel_shutdown_sync(&static_timer_idle));
	KUNIT_EXPECT_FALSE(test, hwheel_add(&static_timer_idle, 0));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&static_timer_idle));
	hwheel_setup(&static_timer_idle, hwheel_system, static_run, 0);

	atomic_set(&static_runs, 0);
	KUNIT_EXPECT_FALSE(test, hwheel_add(&static_timer, HOUR));
	KUNIT_EXPECT_TRUE(test, hwheel_add(&static_timer, MS));
	wait_for(test, atomic_read(&static_runs) == 1);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&static_timer));
	hwheel_cancel_sync(&static_timer);
	KUNIT_EXPECT_EQ(test, atomic_read(&static_runs), 1);
}

static void act_long_life(struct probe *p)
{
	if (suite_context == HWHEEL_WORK)
		msleep(50);
	p->n = 1;
}

static void test_on_stack(struct kunit *test)
{
	struct probe p = { .wheel = suite_wheel, .tick_ns = SUITE_TICK_NS };

	hwheel_setup_on_stack(&p.timer, suite_wheel, probe_run, 0);
	probe_add(&p, MS);
	wait_for(test, runs(&p));
	hwheel_destroy_on_stack(&p.timer);
	KUNIT_EXPECT_TRUE(test, !probe_fault(&p));

	hwheel_setup_on_stack(&p.timer, suite_wheel, probe_run, 0);
	probe_add(&p, 10 * MS);
	hwheel_destroy_on_stack(&p.timer);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p.timer));
	msleep(30);
	KUNIT_EXPECT_EQ(test, runs(&p), 1);

	/* Its stack is left when the callback has returned, and not before. */
	hwheel_setup_on_stack(&p.timer, suite_wheel, probe_run, 0);
	p.act = act_long_life;
	probe_add(&p, MS);
	wait_for(test, runs(&p) == 2);
	hwheel_destroy_on_stack(&p.timer);
	KUNIT_EXPECT_EQ(test, p.n, 1);
}

static void test_clocks(struct kunit *test)
{
	struct hwheel *boottime, *monotonic, *asked;
	ktime_t before, now, after;
	struct probe *p;
	unsigned int i;

	boottime = wheel_make(test, (struct hwheel_config){ .clock = CLOCK_BOOTTIME });
	monotonic = wheel_make(test, (struct hwheel_config){});
	asked = wheel_make(test, (struct hwheel_config){ .clock = CLOCK_MONOTONIC });
	for (i = 0; i < 2; i++) {
		before = ktime_get();
		now = hwheel_now(i ? asked : monotonic);
		after = ktime_get();
		KUNIT_EXPECT_GE(test, now, before);
		KUNIT_EXPECT_LE(test, now, after);
	}
	before = ktime_get_boottime();
	now = hwheel_now(boottime);
	after = ktime_get_boottime();
	KUNIT_EXPECT_GE(test, now, before);
	KUNIT_EXPECT_LE(test, now, after);

	p = probes_new(test, boottime, MS, 100);
	for (i = 0; i < 100; i++)
		probe_add(&p[i], random_magnitude(100 * MS));
	expect_once(test, p, 100);
}

static void test_pinned_and_on(struct kunit *test)
{
	struct probe *p = probes_new(test, suite_wheel, SUITE_TICK_NS, 4);

	hwheel_setup(&p[0].timer, suite_wheel, probe_run, HWHEEL_PINNED);
	probe_add(&p[0], MS);

	p[1].from = hwheel_now(suite_wheel) + MS;
	KUNIT_EXPECT_FALSE(test, hwheel_add_on(&p[1].timer, MS, 0));
	p[1].to = hwheel_now(suite_wheel) + MS;

	/* CPUs that can't be: a warning, and it is armed all the same. */
	expect_begin();
	p[2].from = hwheel_now(suite_wheel) + MS;
	KUNIT_EXPECT_FALSE(test, hwheel_add_on(&p[2].timer, MS, nr_cpu_ids));
	p[2].to = hwheel_now(suite_wheel) + MS;
	p[3].from = hwheel_now(suite_wheel) + MS;
	KUNIT_EXPECT_FALSE(test, hwheel_add_on(&p[3].timer, HOUR, -1));
	KUNIT_EXPECT_TRUE(test, hwheel_add_on(&p[3].timer, HOUR, INT_MIN));
	KUNIT_EXPECT_TRUE(test, hwheel_add_on(&p[3].timer, MS, INT_MAX));
	p[3].to = hwheel_now(suite_wheel) + MS;
	expect_end();
	expect_warned(test, "which can not be", "callback probe_run");
	expect_once(test, p, 4);
}

static void act_go(struct probe *p)
{
	if (p->cpu != p->n && runs(p) < 2)
		hwheel_add_on(&p->timer, MS, p->n);
}

/* The CPU that a callback runs on: who armed it last, on which, from where? */
static void test_which_cpu(struct kunit *test)
{
	static const char * const ways[] = {
		"armed there",
		"sent there",
		"pending elsewhere, sent there",
		"pending elsewhere, re-armed there",
		"pinned, pending, re-armed elsewhere",
		"pinned, has run, armed again elsewhere",
		"sends itself there",
		"pinned, sent there, re-armed elsewhere",
	};
	const unsigned int nr = ARRAY_SIZE(ways);
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, nr * nr_cpu_ids), *q;
	unsigned int other, way;
	int cpu;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is but one CPU");
	for_each_online_cpu(cpu) {
		other = cpumask_any_but(cpu_online_mask, cpu);
		q = &p[nr * cpu];
		for (way = 0; way < nr; way++)
			q[way].n = cpu;
		smp_call_function_single(cpu, call_add_soon, &q[0], true);

		/* The window of one that is sent begins before it is */
		for (way = 1; way < 3; way++) {
			if (way == 2)
				smp_call_function_single(other, call_add_far, &q[way], true);
			q[way].from = hwheel_now(q->wheel) + 100 * MS;
			hwheel_add_on(&q[way].timer, 100 * MS, cpu);
			q[way].to = hwheel_now(q->wheel) + 100 * MS;
		}

		smp_call_function_single(other, call_add_far, &q[3], true);
		smp_call_function_single(cpu, call_add_soon, &q[3], true);

		hwheel_setup(&q[4].timer, q->wheel, probe_run, HWHEEL_PINNED);
		smp_call_function_single(cpu, call_add_far, &q[4], true);
		smp_call_function_single(other, call_add_soon, &q[4], true);

		/* The instant that a timer has that was never armed */
		hwheel_setup(&q[5].timer, q->wheel, probe_run, HWHEEL_PINNED);
		smp_call_function_single(cpu, call_add_at_0, &q[5], true);
		wait_for(test, runs(&q[5]) == 1);
		smp_call_function_single(other, call_add_soon, &q[5], true);

		q[6].act = act_go;
		q[6].shared = true;
		smp_call_function_single(other, call_add_soon, &q[6], true);

		hwheel_setup(&q[7].timer, q->wheel, probe_run, HWHEEL_PINNED);
		smp_call_function_single(other, call_add_far, &q[7], true);
		hwheel_add_on(&q[7].timer, HOUR, cpu);
		smp_call_function_single(other, call_add_soon, &q[7], true);
	}
	for_each_online_cpu(cpu) {
		q = &p[nr * cpu];
		expect_once(test, q, 5);
		wait_for(test, runs(&q[5]) == 2);
		wait_for(test, runs(&q[6]) == 2);
		expect_once(test, &q[7], 1);
		for (way = 0; way < nr; way++)
			KUNIT_EXPECT_EQ_MSG(test, q[way].cpu, cpu, "%s", ways[way]);
	}
}

/* The CPU that is about to come is ready for timers, but not yet for others'. */
static struct probe *for_coming;

static int cpu_comes(unsigned int cpu)
{
	hwheel_add_on(&for_coming->timer, SECS(1), cpu);
	return 0;
}

/*
 * Sent to a CPU that is just coming, a timer stays here. Else that CPU's wheel would
 * be driven from here, and what is due then would run here, too.
 */
static void test_coming_cpu(struct kunit *test)
{
	struct probe *p = probes_new(test, wheel_new(test, 500 * MS), 500 * MS, 2);
	unsigned int cpu = num_online_cpus() - 1;
	int state;

	if (!cpu || remove_cpu(cpu))
		kunit_skip(test, "no CPU goes offline here");
	for_coming = &p[0];
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "hwheel_kunit:prepare",
					  cpu_comes, NULL);
	KUNIT_EXPECT_GT(test, state, 0);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	hwheel_add_on(&p[1].timer, hwheel_remaining(&p[0].timer), cpu);
	wait_for(test, runs(&p[0]) && runs(&p[1]));
	KUNIT_EXPECT_NE(test, p[0].cpu, cpu);
	KUNIT_EXPECT_EQ(test, p[1].cpu, cpu);
	if (state > 0)
		cpuhp_remove_state_nocalls(state);
}

/*
 * Sent to a CPU that is offline, without a warning; to one that is online again;
 * and to one that goes.
 */
static void test_offline_cpu(struct kunit *test)
{
	struct probe *p = probes_new(test, wheel_new(test, MS), MS, 3);
	unsigned int cpu = num_online_cpus() - 1, i;
	bool gone;

	if (!cpu || remove_cpu(cpu))
		kunit_skip(test, "no CPU goes offline here");
	KUNIT_EXPECT_FALSE(test, cpu_online(cpu));
	for (i = 0; i < 3; i++) {
		const ktime_t delay = (i + 1) * 300 * MS;

		p[i].from = hwheel_now(p->wheel) + delay;
		hwheel_add_on(&p[i].timer, delay, cpu);
		p[i].to = hwheel_now(p->wheel) + delay;
		if (!i)
			KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
		else
			expect_once(test, p, i);
	}
	KUNIT_EXPECT_NE(test, p[0].cpu, cpu);
	KUNIT_EXPECT_EQ(test, p[1].cpu, cpu);
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	/* Not before the timer was due, on a slow machine */
	gone = hwheel_now(p->wheel) < p[2].from;
	expect_once(test, &p[2], 1);
	if (gone)
		KUNIT_EXPECT_NE(test, p[2].cpu, cpu);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
}

/* The cases of all contexts, and some more; each suite needs its own array. */
#define DEFINE_CASES(name, ...)					\
static struct kunit_case name[] = {				\
	__VA_ARGS__,						\
	KUNIT_CASE(test_random_delays),				\
	KUNIT_CASE(test_returns),				\
	KUNIT_CASE(test_looking),				\
	KUNIT_CASE(test_past),					\
	KUNIT_CASE(test_tick_0),				\
	KUNIT_CASE(test_past_again),				\
	KUNIT_CASE(test_far),					\
	KUNIT_CASE(test_contexts),				\
	KUNIT_CASE(test_reduce),				\
	KUNIT_CASE(test_rearm),					\
	KUNIT_CASE(test_cancel_other),				\
	KUNIT_CASE(test_own_end),				\
	KUNIT_CASE(test_wait_for_itself),			\
	KUNIT_CASE(test_sync),					\
	KUNIT_CASE(test_sent_about),				\
	KUNIT_CASE(test_forward),				\
	KUNIT_CASE(test_forward_missed),			\
	KUNIT_CASE(test_forward_ages),				\
	KUNIT_CASE(test_order),					\
	KUNIT_CASE(test_slack_meets),				\
	KUNIT_CASE(test_quiet),					\
	KUNIT_CASE(test_quiet_cancelled),			\
	KUNIT_CASE(test_quiet_put_off),				\
	KUNIT_CASE(test_quiet_spent),				\
	KUNIT_CASE(test_overdrawn),				\
	KUNIT_CASE(test_budget),				\
	KUNIT_CASE(test_budget_mass),				\
	KUNIT_CASE(test_budget_default),			\
	KUNIT_CASE(test_budget_left),				\
	KUNIT_CASE(test_held_off),				\
	KUNIT_CASE(test_long_callback),				\
	KUNIT_CASE(test_thousands),				\
	KUNIT_CASE(test_levels_made),				\
	KUNIT_CASE(test_levels_crowd),				\
	KUNIT_CASE(test_levels_parked),				\
	KUNIT_CASE(test_levels_from_hardirq),			\
	KUNIT_CASE(test_thousand_wheels),			\
	KUNIT_CASE(test_come_and_go),				\
	KUNIT_CASE(test_several),				\
	KUNIT_CASE(test_destroy_pending),			\
	KUNIT_CASE(test_destroy_deaf),				\
	KUNIT_CASE(test_destroy_by_callback),			\
	KUNIT_CASE(test_not_set_up),				\
	KUNIT_CASE(test_on_stack),				\
	KUNIT_CASE(test_clocks),				\
	KUNIT_CASE(test_pinned_and_on),				\
	KUNIT_CASE(test_which_cpu),				\
	KUNIT_CASE(test_coming_cpu),				\
	KUNIT_CASE(test_offline_cpu),				\
	KUNIT_CASE(test_set_up_pending),			\
	KUNIT_CASE(test_gone),					\
	KUNIT_CASE(test_destroy_twice),				\
	KUNIT_CASE(test_null),					\
	KUNIT_CASE(test_odd_preemption),			\
	KUNIT_CASE(test_odd_interrupts),			\
	{}							\
}

static int suite_begin(struct kunit_suite *suite, enum hwheel_context context)
{
	suite_context = context;
	suite_wheel = hwheel_system;
	if (context != HWHEEL_SOFTIRQ)
		suite_wheel = hwheel_create(&(struct hwheel_config){
			.name = suite->name, .context = context });
	return PTR_ERR_OR_ZERO(suite_wheel) ?: test_seed(suite);
}

static int softirq_begin(struct kunit_suite *suite)
{
	return suite_begin(suite, HWHEEL_SOFTIRQ);
}

static int hardirq_begin(struct kunit_suite *suite)
{
	return suite_begin(suite, HWHEEL_HARDIRQ);
}

static int work_begin(struct kunit_suite *suite)
{
	return suite_begin(suite, HWHEEL_WORK);
}

static void suite_end(struct kunit_suite *suite)
{
	if (suite_wheel != hwheel_system)
		hwheel_destroy(suite_wheel);
}

DEFINE_CASES(hwheel_cases,
	     KUNIT_CASE(test_create_errors),
	     KUNIT_CASE(test_destroy_system),
	     KUNIT_CASE(test_static),
	     KUNIT_CASE(test_debug_garbage),
	     KUNIT_CASE(test_debug_freed));

DEFINE_CASES(hwheel_hardirq_cases,
	     KUNIT_CASE(test_softirqs_held_off));

DEFINE_CASES(hwheel_work_cases,
	     KUNIT_CASE(test_sleep),
	     KUNIT_CASE(test_which_cpu_next),
	     KUNIT_CASE(test_sync_sleeps),
	     KUNIT_CASE(test_sync_again),
	     KUNIT_CASE(test_unbound),
	     KUNIT_CASE(test_wheels_by_callback));

static struct kunit_suite hwheel_suite = {
	.name		= "hwheel",
	.suite_init	= softirq_begin,
	.suite_exit	= suite_end,
	.init		= api_init,
	.exit		= api_exit,
	.test_cases	= hwheel_cases,
};

static struct kunit_suite hwheel_hardirq_suite = {
	.name		= "hwheel_hardirq",
	.suite_init	= hardirq_begin,
	.suite_exit	= suite_end,
	.init		= api_init,
	.exit		= api_exit,
	.test_cases	= hwheel_hardirq_cases,
};

static struct kunit_suite hwheel_work_suite = {
	.name		= "hwheel_work",
	.suite_init	= work_begin,
	.suite_exit	= suite_end,
	.init		= api_init,
	.exit		= api_exit,
	.test_cases	= hwheel_work_cases,
};

/* ------------------------------------------------------------------------ */
/* A year of simulated time */

#define YEAR		(365 * DAY)
#define YEAR_TIMERS	300

/* A timer of the kernel's own, armed beside one of hwheel's. */
struct stock {
	struct timer_list	timer;
	ktime_t			delay;		/* of both */
	ktime_t			from;
	ktime_t			began;
};

/*
 * All that waits for long is armed here at once, and lasts a year together.
 * KUnit itself ends a case after 300 s, also of simulated time, but leaves the
 * suite's beginning alone.
 */
static struct {
	struct probe		*probes;	/* on the system wheel */
	struct stock		*stock;		/* one for each of them */
	struct hwheel		*lone;		/* one timer, a day away */
	struct hwheel		*ten;		/* ten timers, a second apart */
	struct probe		on_lone;
	struct probe		on_ten[10];
	u64			interrupts;	/* of the system wheel */
	u64			idle_interrupts;
} year;

static void stock_run(struct timer_list *timer)
{
	struct stock *stock = container_of(timer, struct stock, timer);

	stock->began = ktime_get();
}

static void year_delays(void)
{
	/* The first ones make the table. */
	static const ktime_t rows[] = {
		MS, 10 * MS, 100 * MS, SECS(1), SECS(10), SECS(60), SECS(600), HOUR,
		6 * HOUR, DAY, 7 * DAY, 30 * DAY, 100 * DAY, YEAR,
	};
	static const u64 decades[] = { 1, 2, 5 };
	unsigned int i, j, n = 0;
	u64 width;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		year.stock[n++].delay = rows[i];
	for (width = MS; width <= YEAR; width *= 2)
		year.stock[n++].delay = width;
	for (width = MS; width <= YEAR; width *= 10)
		for (i = 0; i < ARRAY_SIZE(decades); i++)
			if (width * decades[i] <= YEAR)
				year.stock[n++].delay = width * decades[i];
	/* Where the default levels end. */
	for (i = 0, width = 128 * MS; i < 4; i++, width *= 128)
		for (j = 0; j < 3; j++)
			year.stock[n++].delay = width + j * MS - MS;
	while (n < YEAR_TIMERS)
		year.stock[n++].delay = MS + random_magnitude(YEAR - MS);
}

static struct hwheel *year_wheel(const char *name)
{
	return hwheel_create(&(struct hwheel_config){ .name = name });
}

static void year_table(void)
{
	unsigned int i;

	pr_info("hwheel_kunit: %20s %16s %20s %8s\n", "delay_ns", "hwheel_late_ns",
		"timer_list_late_ns", "%");
	for (i = 0; i < 14; i++) {
		const struct probe *p = &year.probes[i];
		const struct stock *stock = &year.stock[i];
		s64 late = stock->began - stock->from - stock->delay;
		s64 permille = div64_s64(late, div64_s64(stock->delay, 1000));

		pr_info("hwheel_kunit: %20lld %16lld %20lld %6s%lld.%lld\n",
			stock->delay, p->began - p->from, late,
			permille < 0 ? "-" : "", abs(permille) / 10, abs(permille) % 10);
	}
}

static int year_pass(void)
{
	ktime_t span = YEAR + SECS(1);
	unsigned int i;

	year.probes = kvcalloc(YEAR_TIMERS, sizeof(*year.probes), GFP_KERNEL);
	year.stock = kvcalloc(YEAR_TIMERS, sizeof(*year.stock), GFP_KERNEL);
	year.lone = year_wheel("kunit-lone");
	year.ten = year_wheel("kunit-ten");
	if (!year.probes || !year.stock || IS_ERR(year.lone) || IS_ERR(year.ten))
		return -ENOMEM;
	year_delays();

	year.interrupts = hwheel_count(hwheel_system, "interrupts");
	year.idle_interrupts = hwheel_count(hwheel_system, "idle_interrupts");
	probe_setup(&year.on_lone, year.lone, MS, 0);
	probe_add(&year.on_lone, DAY);
	for (i = 0; i < 10; i++) {
		probe_setup(&year.on_ten[i], year.ten, MS, 0);
		probe_add(&year.on_ten[i], SECS(i + 1));
	}
	for (i = 0; i < YEAR_TIMERS; i++) {
		struct stock *stock = &year.stock[i];
		u64 delay = stock->delay;

		timer_setup(&stock->timer, stock_run, 0);
		probe_setup(&year.probes[i], hwheel_system, SYSTEM_TICK_NS, 0);
		probe_add(&year.probes[i], delay);
		stock->from = ktime_get();
		mod_timer(&stock->timer, jiffies + div_u64(delay + TICK_NSEC - 1, TICK_NSEC));
	}

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&span, HRTIMER_MODE_REL);

	year.interrupts = hwheel_count(hwheel_system, "interrupts") - year.interrupts;
	year.idle_interrupts = hwheel_count(hwheel_system, "idle_interrupts") -
			       year.idle_interrupts;
	for (i = 0; i < YEAR_TIMERS; i++) {
		hwheel_shutdown_sync(&year.probes[i].timer);
		timer_shutdown_sync(&year.stock[i].timer);
	}
	hwheel_shutdown_sync(&year.on_lone.timer);
	for (i = 0; i < 10; i++)
		hwheel_shutdown_sync(&year.on_ten[i].timer);
	year_table();
	return 0;
}

static void year_end(struct kunit_suite *suite)
{
	hwheel_destroy(year.lone);
	hwheel_destroy(year.ten);
	kvfree(year.stock);
	kvfree(year.probes);
	memset(&year, 0, sizeof(year));
}

static int year_begin(struct kunit_suite *suite)
{
	int err;

	err = suite_begin(suite, HWHEEL_SOFTIRQ);
	if (err || !years)
		return err;
	err = year_pass();
	if (err)
		year_end(suite);
	return err;
}

static int year_case_init(struct kunit *test)
{
	if (!years)
		kunit_skip(test, "needs years=1 and simulated time");
	return 0;
}

static void test_year_exact(struct kunit *test)
{
	unsigned int i;
	ktime_t most = 0;

	for (i = 0; i < YEAR_TIMERS; i++) {
		const struct probe *p = &year.probes[i];
		const char *fault = probe_fault(p);

		if (fault)
			fail_probe(test, p, fault);
		most = max(most, p->began - p->from);
	}
	kunit_info(test, "%u timers, 1 ms to 1 year: at most %lld ns late", YEAR_TIMERS, most);
}

/* One interrupt for each tick that something was due at, and no more. */
static void test_year_interrupts(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, year.interrupts,
			distinct_ticks(test, year.probes, YEAR_TIMERS));
	KUNIT_EXPECT_EQ(test, year.idle_interrupts, 0);
}

static void test_year_lone(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, !probe_fault(&year.on_lone));
	KUNIT_EXPECT_EQ(test, hwheel_count(year.lone, "interrupts"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(year.lone, "idle_interrupts"), 0);
	/* Made for it while it was parked; its one way was down to its spoke. */
	KUNIT_EXPECT_EQ(test, hwheel_count(year.lone, "levels_added"), 4);
	KUNIT_EXPECT_LE(test, hwheel_count(year.lone, "cascaded"), 4);
}

static void test_year_ten(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, !probe_fault(&year.on_ten[i]));
	KUNIT_EXPECT_EQ(test, hwheel_count(year.ten, "interrupts"), 10);
	KUNIT_EXPECT_EQ(test, hwheel_count(year.ten, "idle_interrupts"), 0);
}

static struct kunit_case hwheel_time_cases[] = {
	KUNIT_CASE(test_year_exact),
	KUNIT_CASE(test_year_interrupts),
	KUNIT_CASE(test_year_lone),
	KUNIT_CASE(test_year_ten),
	{}
};

static struct kunit_suite hwheel_time_suite = {
	.name		= "hwheel_time",
	.suite_init	= year_begin,
	.suite_exit	= year_end,
	.init		= year_case_init,
	.test_cases	= hwheel_time_cases,
};

/* ------------------------------------------------------------------------ */
/* Wheels made and destroyed: without memory, and very often */

#define FAULTS_MAX	500

/*
 * Create a wheel, with the @nth allocation failing if @nth is not 0. @left
 * becomes 0 if that allocation was come to.
 */
static struct hwheel *create_failing(unsigned int nth, unsigned int *left)
{
	static unsigned int number;
	struct hwheel *wheel;
	char name[24];

	snprintf(name, sizeof(name), "kunit-failing-%u", number++);
	*left = nth;
#ifdef CONFIG_FAILSLAB
	current->fail_nth = nth;
#endif
	wheel = hwheel_create(&(struct hwheel_config){ .name = name });
#ifdef CONFIG_FAILSLAB
	*left = current->fail_nth;
	current->fail_nth = 0;
#endif
	return wheel;
}

/*
 * Let each allocation of hwheel_create() fail in turn, until there is none left
 * to fail; failslab's ignore-gfp-wait has to be off. A wheel that was destroyed
 * is used again, so this comes before all other tests, and before each attempt
 * the wheel of the last one is taken.
 */
static void test_create_faults(struct kunit *test)
{
	unsigned int n, left = 0, failed = 0, whole = 0;
	struct hwheel *wheel, **taken;

	taken = kunit_kcalloc(test, FAULTS_MAX, sizeof(*taken), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, taken);
	for (n = 0; n < FAULTS_MAX && !left; n++) {
		taken[n] = create_failing(0, &left);
		KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(taken[n]));
		wheel = create_failing(n + 1, &left);
		KUNIT_EXPECT_NOT_NULL(test, wheel);
		if (IS_ERR(wheel)) {
			KUNIT_EXPECT_EQ(test, PTR_ERR(wheel), -ENOMEM);
			KUNIT_EXPECT_EQ(test, left, 0);
			failed++;
		} else if (!left) {
			whole++;	/* it could do without */
		}
		hwheel_destroy(wheel);
	}
	KUNIT_EXPECT_NE(test, left, 0);
	for (n = 0; n < FAULTS_MAX; n++)
		hwheel_destroy(taken[n]);

	if (!failed && !whole)
		kunit_skip(test, "no failslab, or its ignore-gfp-wait is on");
	/* The wheel, and the parking lot of each CPU */
	KUNIT_EXPECT_GE(test, failed, 1 + num_possible_cpus());
	kunit_info(test, "%u allocations failed, %u times the wheel could do without\n",
		   failed + whole, whole);
}

/*
 * What is destroyed is used again. As no wheel is ever freed, kmemleak would
 * not see if it were not.
 */
static void test_create_often(struct kunit *test)
{
	struct hwheel *wheel, *last = NULL;
	unsigned int i, left, others = 0;
	struct hwheel_timer timer;

	for (i = 0; i < creates; i++) {
		wheel = create_failing(0, &left);
		KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(wheel));
		hwheel_setup_on_stack(&timer, wheel, probe_run, 0);
		hwheel_add(&timer, HOUR);
		hwheel_destroy_on_stack(&timer);
		hwheel_destroy(wheel);
		others += wheel != last;
		last = wheel;
	}
	KUNIT_EXPECT_EQ(test, others, 1);

	if (leave) {
		wheel = hwheel_create(&(struct hwheel_config){ .name = "left" });
		KUNIT_EXPECT_FALSE(test, IS_ERR(wheel));
	}
}

static struct kunit_case hwheel_create_cases[] = {
	KUNIT_CASE(test_create_faults),
	KUNIT_CASE(test_create_often),
	{}
};

static struct kunit_suite hwheel_create_suite = {
	.name		= "hwheel_create",
	.test_cases	= hwheel_create_cases,
};

/* ------------------------------------------------------------------------ */
/* The last one: lockdep reports once, and is then of no use any more */

static DEFINE_SPINLOCK(deadly_softirq);
static DEFINE_RAW_SPINLOCK(deadly_hardirq);
static DEFINE_MUTEX(deadly_work);

static void act_lock(struct probe *p)
{
	switch (suite_context) {
	case HWHEEL_SOFTIRQ:
		spin_lock(&deadly_softirq);
		spin_unlock(&deadly_softirq);
		break;
	case HWHEEL_HARDIRQ:
		raw_spin_lock(&deadly_hardirq);
		raw_spin_unlock(&deadly_hardirq);
		break;
	case HWHEEL_WORK:
		mutex_lock(&deadly_work);
		mutex_unlock(&deadly_work);
		break;
	}
}

static void sync_under_lock(struct probe *p)
{
	unsigned long flags;

	switch (suite_context) {
	case HWHEEL_SOFTIRQ:
		spin_lock_bh(&deadly_softirq);
		hwheel_cancel_sync(&p->timer);
		spin_unlock_bh(&deadly_softirq);
		break;
	case HWHEEL_HARDIRQ:
		raw_spin_lock_irqsave(&deadly_hardirq, flags);
		hwheel_cancel_sync(&p->timer);
		raw_spin_unlock_irqrestore(&deadly_hardirq, flags);
		break;
	case HWHEEL_WORK:
		mutex_lock(&deadly_work);
		hwheel_cancel_sync(&p->timer);
		mutex_unlock(&deadly_work);
		break;
	}
}

static void test_sync_under_lock(struct kunit *test)
{
	struct probe *p;

	if (!*lockdep || !IS_ENABLED(CONFIG_PROVE_LOCKING))
		kunit_skip(test, "needs lockdep=context and CONFIG_PROVE_LOCKING");
	p = probe_new(test, wheel_new(test, MS), MS);
	p->act = act_lock;
	probe_add(p, MS);
	expect_once(test, p, 1);
	KUNIT_EXPECT_EQ(test, logged("possible circular locking", NULL), 0);
	expect_begin();
	sync_under_lock(p);
	expect_end();
	KUNIT_EXPECT_EQ(test, logged("possible circular locking", NULL), 1);
	KUNIT_EXPECT_GE(test, logged("deadly", lockdep), 1);
}

static struct kunit_case hwheel_lockdep_cases[] = {
	KUNIT_CASE(test_sync_under_lock),
	{}
};

static int lockdep_begin(struct kunit_suite *suite)
{
	return suite_begin(suite, !strcmp(lockdep, "hardirq") ? HWHEEL_HARDIRQ :
				  !strcmp(lockdep, "work") ? HWHEEL_WORK : HWHEEL_SOFTIRQ);
}

static struct kunit_suite hwheel_lockdep_suite = {
	.name		= "hwheel_lockdep",
	.suite_init	= lockdep_begin,
	.suite_exit	= suite_end,
	.init		= api_init,
	.exit		= api_exit,
	.test_cases	= hwheel_lockdep_cases,
};

kunit_test_suites(&hwheel_create_suite, &hwheel_levels_suite, &hwheel_suite,
		  &hwheel_hardirq_suite, &hwheel_work_suite, &hwheel_time_suite,
		  &hwheel_lockdep_suite);

MODULE_DESCRIPTION("KUnit tests of hwheel");
MODULE_LICENSE("GPL");
