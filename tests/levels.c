// SPDX-License-Identifier: GPL-2.0
/*
 * Suite hwheel_levels: the layered wheel alone. The tests tell the wheel the time. Worked
 * examples say where a timer must be at each tick; a sorted list says which timer is due
 * next.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>

/* Make crowds, and fans within fans, frequent in the wheels of these tests. */
#define HWHEEL_CROWD	16
#define HWHEEL_CROWD_FAN	8
#define HWHEEL_CROWD_EARLY	64
#define HWHEEL_FANS_KEPT	4
#define HWHEEL_SIFT_NS	320
#define HWHEEL_FAN_BITS	5
#define HWHEEL_ABOVE_BITS	7

#include "module/levels.h"
#include "test.h"

static unsigned int walk_ops = 1000000;
module_param(walk_ops, uint, 0444);
MODULE_PARM_DESC(walk_ops, "operations of the random walk");

/* ------------------------------------------------------------------------ */
/* A wheel without a clock of its own, and timers that note when they fired */

#define NOT_FIRED	(U64_MAX - 1)

struct rig {
	struct kunit		*test;
	struct hwheel_levels	l;
	struct hwheel_geometry	g;
	void			*memory[HWHEEL_ROWS];
	bool			fans;		/* it gets fans when it is reset */
	u64			fired;		/* number of timers that have fired */
	u64			last;		/* tick of the last timer that has fired */
};

struct item {
	struct hwheel_timer	timer;
	u64			fired;		/* tick, or NOT_FIRED */
};

struct place {
	int			level;		/* -1 if the timer is on none */
	int			spoke;
};

#define SPOKES(...)	((const unsigned int []){ __VA_ARGS__, 0 })

/*
 * rig_init() zeroes the memory of all rows. level_init() does not clear the bitmaps of a row. A
 * wheel without timers has only zeroes there. So a test must empty the wheel before a reset.
 */
static void rig_add(struct rig *rig, unsigned int row)
{
	levels_grow(&rig->l, row, level_init(&rig->l, row, rig->memory[row]));
}

static void rig_add_fans(struct rig *rig)
{
	unsigned int i;

	for (i = HWHEEL_FANS; i < HWHEEL_ROWS; i++)
		rig_add(rig, i);
}

/* Add the lowest level that is missing. False if there is none. */
static bool rig_grow(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < rig->l.top; i++)
		if (!(rig->l.exist & BIT(i))) {
			rig_add(rig, i);
			return true;
		}
	return false;
}

/* Reset the wheel to @clock, without levels. */
static void rig_begin_bare(struct rig *rig, u64 clock)
{
	levels_init(&rig->l, &rig->g, rig->memory[HWHEEL_LOT], clock);
	if (rig->fans)
		rig_add_fans(rig);
}

/* Reset the wheel to @clock, with all levels. */
static void rig_begin(struct rig *rig, u64 clock)
{
	rig_begin_bare(rig, clock);
	while (rig_grow(rig))
		;
}

static void rig_init(struct rig *rig, struct kunit *test, u64 tick_ns,
		     const unsigned int *spokes, u64 clock)
{
	unsigned int i;

	memset(rig, 0, sizeof(*rig));
	rig->test = test;
	rig->g.tick_ns = tick_ns;
	while (*spokes)
		rig->g.spokes[rig->g.levels++] = *spokes++;
	KUNIT_ASSERT_NULL(test, hwheel_geometry_fault(&rig->g));

	rig->memory[HWHEEL_LOT] = kunit_kzalloc(test, HWHEEL_LOT_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rig->memory[HWHEEL_LOT]);
	rig_begin_bare(rig, clock);
	for (i = 0; i < HWHEEL_ROWS; i++) {
		if (i == HWHEEL_LOT || !rig->l.level[i].nr)
			continue;
		rig->memory[i] = kunit_kzalloc(test, levels_size(&rig->l, i), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, rig->memory[i]);
	}
	rig_begin(rig, clock);
}

static void rig_free(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < HWHEEL_ROWS; i++)
		if (rig->memory[i])
			kunit_kfree(rig->test, rig->memory[i]);
}

/* Give the wheel fans, and reset it. */
static void rig_fan(struct rig *rig)
{
	rig->fans = true;
	rig_begin(rig, rig->l.clock);
}

/* How many fans are in use? */
static unsigned int rig_fans_used(struct rig *rig)
{
	unsigned int row, i, n = 0;

	for (row = 0; row < HWHEEL_ROWS; row++)
		for (i = 0; rig->l.exist & BIT(row) && i < rig->l.level[row].nr; i++)
			n += !!(rig->l.level[row].spokes[i].more & HWHEEL_HAS_FAN);
	return n;
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

/* Do one step, and pop the timers that are due. Returns false when idle. */
static bool step(struct rig *rig, u64 now)
{
	enum hwheel_step what;
	struct hwheel_timer *timer;
	u64 moved = rig->l.moved;

	what = levels_step(&rig->l, now);
	if (rig->l.moved - moved > HWHEEL_STEP)
		KUNIT_FAIL(rig->test, "%llu timers moved together", rig->l.moved - moved);
	if (what == HWHEEL_DUE) {
		while ((timer = levels_pop(&rig->l, now))) {
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

/* Search each spoke for @item. */
static struct place place(struct rig *rig, const struct item *item)
{
	const struct hwheel_timer *timer;
	struct place p;

	for (p.level = 0; p.level < HWHEEL_ROWS; p.level++) {
		const struct hwheel_level *lv = &rig->l.level[p.level];

		for (p.spoke = 0; lv->spokes && p.spoke < lv->nr; p.spoke++)
			spoke_for_each(timer, &lv->spokes[p.spoke])
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

/*
 * One timer on an empty wheel at tick @clock, armed for @delay_ns later. @level and
 * @spoke are its first place, @fires is the tick at which it fires, and @moves counts
 * its cascades if the wheel advances tick by tick.
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
	{ "512 x 100 ms hashed, 2nd round", 100 * MS, { 512 }, 0, 60000 * MS, 1, 1, 600, 1 },
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
 * The level, by definition, of a timer due at @tick while the wheel is at @clock: the
 * lowest level in which the timer's slot is fewer slots ahead than the level has spokes. Levels
 * above the geometry have 128 spokes.
 */
static int book_level(const struct rig *rig, u64 clock, u64 tick)
{
	u64 width = 1;
	int i;

	for (i = 0; ; i++) {
		unsigned int spokes = i < rig->g.levels ? rig->g.spokes[i] : 128;

		if (div64_u64(tick, width) - div64_u64(clock, width) < spokes)
			return i;
		width *= spokes;
	}
}

/* Advance tick by tick or, where that takes too long, by rounds of level 0. */
static void example_turn(struct rig *rig, struct item *item, const struct example *e)
{
	u64 clock = e->clock, stride = e->fires - clock > 20000 ? e->spokes[0] : 1;
	u64 width[HWHEEL_MAX_LEVELS + 1] = { 1 };
	int i, level = e->level;

	for (i = 0; i < rig->g.levels; i++)	/* no example needs a second level above */
		width[i + 1] = width[i] * e->spokes[i];

	for (;;) {
		clock = (div64_u64(clock, stride) + 1) * stride;
		if (clock >= e->fires)
			break;
		advance(rig, clock);
		/* The timer cascades when the clock reaches its slot, and not before. */
		if (div64_u64(clock, width[level]) == div64_u64(e->fires, width[level]))
			level = book_level(rig, clock, e->fires);
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
				/* Advance in one go: no timer is moved. */
				advance(rig, e->fires);
				KUNIT_EXPECT_EQ_MSG(test, t->fired, e->fires, "%s", e->name);
				KUNIT_EXPECT_EQ_MSG(test, rig->l.moved, 0, "%s", e->name);
			}
			expect_sound(rig);
			if (hwheel_pending(&t->timer))
				levels_del(&rig->l, &t->timer);
		}
	}
}

/* Two timers share a coarse spoke. Each fires at its own tick. */
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

/* A lone timer on a wheel at @clock fires at @tick, and causes one wakeup. */
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
	if (item->fired != tick || rig->l.moved)
		KUNIT_FAIL(rig->test, "clock %llu tick %llu fired %llu moved %llu",
			   clock, tick, item->fired, rig->l.moved);
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
					/* The clock, too, is at, before and after a boundary. */
					clock = round_up(hwt_random_magnitude(1ULL << 42),
							 1ULL << hwt_random_below(36)) +
						hwt_random_below(4);
					clock -= min(clock, 2ULL);
					lone_timer(rig, t, clock, clock + width * k + d);
				}
			}
		}
		for (j = 0; j < 200; j++) {
			clock = hwt_random_magnitude(1ULL << 42);
			lone_timer(rig, t, clock, clock + hwt_random_below(most));
		}
	}
}

static void test_far_hides_nothing(struct kunit *test)
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
		expect_place(rig, &t[0], rig->l.top - 1, -1);
		for (now = 5; now < 45 * reach; now += 1 + hwt_random_below(reach / 2)) {
			near = now + 1 + hwt_random_below(3 * reach);
			add(rig, &t[2], near);
			add(rig, &t[3], near + 1);
			KUNIT_EXPECT_LE(test, levels_wake(&rig->l), near);
			advance(rig, near - 1);
			KUNIT_EXPECT_EQ(test, t[2].fired, NOT_FIRED);
			now = near + hwt_random_below(2);
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
/* Levels that are added one by one */

static const unsigned int growing[][HWHEEL_MAX_LEVELS + 1] = {
	{ 128, 128, 128 },
	{ 10, 60, 5 },
	{ 3, 2, 2, 3, 2 },
	{ 2 },
	{ 2, 2, 2, 2, 2, 2, 2, 2 },
};

/* A wheel at @clock with its first @levels levels */
static struct rig *rig_part(struct kunit *test, const unsigned int *spokes,
			    u64 clock, unsigned int levels)
{
	struct rig *rig = rig_new(test, MS, spokes, clock);

	rig_begin_bare(rig, clock);
	while (levels--)
		rig_grow(rig);
	return rig;
}

/*
 * Timers at all boundaries are armed on a wheel with @levels levels. Each time that the
 * clock advances, the wheel first does @steps steps, then gets one more level. The timers
 * fire at their ticks, in order.
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

/* A wheel asks for the levels that its timer needs, and for no others. */
static void test_grow_on_demand(struct kunit *test)
{
	struct item *t = items_new(test, 1);
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(growing); i++) {
		struct rig *rig = rig_part(test, growing[i], 0, 0);
		u64 reach = rig->l.level[rig->g.levels].width;

		for (j = 0; j < 300; j++) {
			u64 clock = hwt_random_magnitude(1 << 20);
			u64 tick = clock + hwt_random_magnitude(2 * reach);
			int level = book_level(rig, clock, tick);

			rig_begin_bare(rig, clock);
			rig->l.want = note_want;
			wants = 0;
			add(rig, t, tick);
			KUNIT_EXPECT_EQ(test, wants, 1);
			expect_place(rig, t, HWHEEL_LOT, -1);
			KUNIT_EXPECT_EQ_MSG(test, levels_missing(&rig->l), BIT(level),
					    "levels for tick %llu at %llu", tick, clock);
			rig_add(rig, level);
			expect_sound(rig);
			levels_del(&rig->l, &t->timer);
			add(rig, t, tick);
			expect_place(rig, t, level, -1);
			KUNIT_EXPECT_EQ(test, wants, 1);
			expect_sound(rig);
			levels_del(&rig->l, &t->timer);
		}
	}
}

/* ------------------------------------------------------------------------ */
/* Moves, crowds, slack */

static void test_same_spoke_stays(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	struct item *t = items_new(test, 3);
	unsigned int i;

	for (i = 0; i < 3; i++)
		add(rig, &t[i], 43 + i);	/* t[0] is due at the bound, the others later */
	KUNIT_EXPECT_PTR_EQ(test, t[1].timer.entry.next, &t[2].timer.entry);
	mod(rig, &t[1], 46);		/* still later: the timer is not moved */
	KUNIT_EXPECT_PTR_EQ(test, t[1].timer.entry.next, &t[2].timer.entry);
	mod(rig, &t[1], 44);
	KUNIT_EXPECT_PTR_EQ(test, t[1].timer.entry.next, &t[2].timer.entry);
	mod(rig, &t[1], 40);		/* the spoke is due earlier now */
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), 40ULL);
	expect_sound(rig);
	mod(rig, &t[1], 60);
	expect_place(rig, &t[1], 1, 3);
	mod(rig, &t[1], 42);
	expect_sound(rig);
	advance(rig, 100);
	KUNIT_EXPECT_EQ(test, t[1].fired, 42ULL);
	KUNIT_EXPECT_EQ(test, t[0].fired, 43ULL);
	KUNIT_EXPECT_EQ(test, t[2].fired, 45ULL);

	/* The clock enters the slot of two timers. They are re-armed before they cascade. */
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
		add(rig, &t[i], hwt_random_magnitude(1ULL << 22));
		if (i % 256 == 0)
			expect_sound(rig);
	}
	while (n < 4000) {
		i = hwt_random_below(4000);
		if (!hwheel_pending(&t[i].timer))
			continue;
		levels_del(&rig->l, &t[i].timer);
		if (++n % 256 == 0)
			expect_sound(rig);
	}
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), HWHEEL_NEVER);
	for (i = 0; i < HWHEEL_ROWS; i++)
		KUNIT_EXPECT_EQ(test, rig->l.level[i].summary[HWHEEL_OCCUPIED], 0ULL);
}

/*
 * A crowd in one coarse spoke is sifted early. All timers fire in time, also those that
 * join the crowd late.
 */
static void crowd(struct kunit *test, u64 tick_ns, const unsigned int *spokes, u64 begin,
		  u64 width, u64 lead)
{
	enum { CROWD = 20000, OTHERS = 400 };
	struct rig *rig = rig_new(test, tick_ns, spokes, 0);
	struct item *t = items_new(test, CROWD + OTHERS);
	const u64 moves = DIV_ROUND_UP(fls64(width - 1), HWHEEL_FAN_BITS);
	/* 4 times the time to sift twice the crowd, and an eighth of the spoke */
	const u64 most_lead = div64_u64(4ULL * 2 * CROWD * HWHEEL_SIFT_NS * moves, tick_ns) + 2 +
			      width / 8;
	struct hwheel_spoke *spoke;
	u64 wake, wrong = 0, now, moved;
	u64 most = 0;
	unsigned int i;

	for (i = 0; i < CROWD; i++)
		add(rig, &t[i], begin + hwt_random_below(width));
	rig_add_fans(rig);		/* only now, so the crowd has no fan yet */
	spoke = levels_place(&rig->l, begin);
	wake = levels_wake(&rig->l);
	KUNIT_EXPECT_LE(test, wake, begin - lead);
	KUNIT_EXPECT_GE(test, wake, begin - min(begin, most_lead));
	advance(rig, wake);
	expect_sound(rig);
	KUNIT_EXPECT_TRUE(test, list_empty(&spoke->rest));

	/* From now on no due timer waits for more than a few moves. */
	for (i = CROWD; i < CROWD + OTHERS; i++)
		add(rig, &t[i], max(wake + 1, begin + i - CROWD - 200));
	for (now = wake; rig->l.pending && now <= begin + width; now++) {
		moved = rig->l.moved;
		while (levels_due_tick(&rig->l) <= now)
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
	KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U);
	expect_sound(rig);
}

static void test_crowd(struct kunit *test)
{
	/*
	 * To move each timer once takes 6.4 ms. Sifting must begin at least 10 ms ahead. The
	 * spoke is 16 s, 820 ms or 16 ms wide. The last one belongs to a level above the geometry.
	 */
	crowd(test, MS, SPOKES(128, 128, 128), 5 * 16384, 16384, 10);
	crowd(test, 50000, SPOKES(128, 128, 128), 5 * 16384, 16384, 200);
	crowd(test, 1000, SPOKES(128, 128, 128), 5 * 16384, 16384, 10000);
	crowd(test, 1000, SPOKES(2), 4 * 32768, 32768, 10000);
}

/*
 * A crowd is due at two ticks. On the way there, the clock comes into the reach of one level after
 * the other. The crowd must not move once for each level, only once for each fan. A step takes 5
 * ticks here.
 */
static void test_crowd_comes_down(struct kunit *test)
{
	enum { MANY = 1900, DUE = 0xfffe, TIME = 12000, BITS = 9 };
	struct rig *rig = rig_new(test, 1000, SPOKES(2, 2, 2, 2, 2, 2, 2, 2), DUE - TIME);
	struct item *t = items_new(test, MANY);
	u64 now, moved = 0;
	unsigned int i;

	rig_fan(rig);
	for (i = 0; i < MANY; i++)
		add(rig, &t[i], DUE + i % 2);
	for (now = DUE - TIME; now <= DUE + 1; now++) {
		moved = rig->l.moved;
		while (levels_due_tick(&rig->l) <= now)
			step(rig, now);
		KUNIT_EXPECT_LE(test, rig->l.moved - moved, 4ULL * HWHEEL_CROWD);
		if (now % 5 == 0)
			step(rig, now);
		if (now % 256 == 0)
			expect_sound(rig);
	}
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)MANY);
	KUNIT_EXPECT_EQ(test, rig->last, DUE + 1ULL);
	KUNIT_EXPECT_LE(test, rig->l.moved, (BITS / HWHEEL_FAN_BITS + 1ULL) * MANY);
	KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U);
}

/*
 * levels_add() returns the tick by which the wheel must be called. Even if the timer makes a
 * crowd, that tick must not be later than what levels_wake() says. Each level has a width,
 * and so a lead, of its own.
 */
static void test_crowd_wakes(struct kunit *test)
{
	enum { CROWD = 2 * HWHEEL_CROWD };
	struct rig *rig = rig_new(test, 1000, SPOKES(2), 0);
	struct item *t = items_new(test, CROWD);
	unsigned int i;
	int bit;

	rig_fan(rig);
	for (bit = 4; bit < 15; bit += 5) {
		u64 armed = HWHEEL_NEVER;

		for (i = 0; i < CROWD; i++) {
			u64 tick = (1 << bit) + i % 16;

			t[i].timer.expires = tick * rig->g.tick_ns;
			armed = min(armed, levels_add(&rig->l, &t[i].timer, tick));
			KUNIT_EXPECT_LE(test, armed, levels_wake(&rig->l));
		}
		for (i = 0; i < CROWD; i++)
			levels_del(&rig->l, &t[i].timer);
	}
}

static void expect_span(struct rig *rig, struct hwheel_spoke *spoke, u64 begin, u64 width)
{
	u64 got;

	KUNIT_EXPECT_EQ(rig->test, spoke_begin(&rig->l, spoke, &got), begin);
	KUNIT_EXPECT_EQ(rig->test, got, width);
}

/* Check spoke_begin() for spokes of levels, and for spokes of fans. */
static void test_spans(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 3);
	struct item *t = items_new(test, 1);
	struct hwheel_spoke *spoke, *child;

	rig_fan(rig);
	expect_span(rig, &rig->l.level[0].spokes[3], 3, 1);
	expect_span(rig, &rig->l.level[0].spokes[2], 18, 1);
	expect_span(rig, &rig->l.level[2].spokes[2], 512, 256);
	spoke = &rig->l.level[3].spokes[1];
	expect_span(rig, spoke, 4096, 4096);

	/* A fan has 32 spokes */
	KUNIT_EXPECT_TRUE(test, levels_fan(&rig->l, spoke));
	child = fan_at(&rig->l, spoke_fan(spoke), 5000);
	expect_span(rig, child, 4992, 128);
	KUNIT_EXPECT_PTR_EQ(test, spoke_root(&rig->l, child), spoke);
	KUNIT_EXPECT_TRUE(test, levels_fan(&rig->l, child));
	child = fan_at(&rig->l, spoke_fan(child), 5000);
	expect_span(rig, child, 5000, 4);
	KUNIT_EXPECT_TRUE(test, levels_fan(&rig->l, child));
	child = fan_at(&rig->l, spoke_fan(child), 5003);
	expect_span(rig, child, 5003, 1);
	KUNIT_EXPECT_PTR_EQ(test, spoke_root(&rig->l, child), spoke);
	KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 3U);

	/* When the last timer of a fan leaves, the fan is free, and so are those above it. */
	levels_set(&rig->l, HWHEEL_OCCUPIED, spoke);
	levels_set(&rig->l, HWHEEL_OCCUPIED, fan_at(&rig->l, spoke_fan(spoke), 5000));
	levels_set(&rig->l, HWHEEL_OCCUPIED, fan_get(&rig->l, fan_id(child))->parent);
	t->timer.expires = 5003 * MS;
	rig->l.pending++;
	levels_put(&rig->l, &t->timer, child, 5003);
	expect_sound(rig);
	levels_del(&rig->l, &t->timer);
	expect_sound(rig);
	KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U);
}

/* When is a spoke marked as crowded? */
static void test_crowded(struct kunit *test)
{
	enum { CROWD = HWHEEL_CROWD, TICK = 5 * 16384 };
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, CROWD + 2);
	struct hwheel_spoke *spoke = levels_place(&rig->l, TICK);
	unsigned int i;

	/* Timers of one tick are no crowd. One that is due later, or earlier, makes none */
	for (i = 0; i < CROWD; i++)
		add(rig, &t[i], TICK + 5);
	add(rig, &t[CROWD], TICK + 6);
	add(rig, &t[CROWD + 1], TICK + 4);
	KUNIT_EXPECT_FALSE(test, spoke->more & HWHEEL_CROWDED);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), TICK + 4ULL);
	expect_sound(rig);
	for (i = 0; i < CROWD; i++)
		levels_del(&rig->l, &t[i].timer);
	expect_sound(rig);
	levels_del(&rig->l, &t[CROWD].timer);
	levels_del(&rig->l, &t[CROWD + 1].timer);
	expect_sound(rig);

	/* The last of this many timers in @rest makes a crowd. Only one went to @same */
	for (i = 0; i < CROWD + 1; i++) {
		KUNIT_EXPECT_FALSE(test, spoke->more & HWHEEL_CROWDED);
		add(rig, &t[i], TICK + 10 + i);
	}
	KUNIT_EXPECT_TRUE(test, spoke->more & HWHEEL_CROWDED);
	for (i = 1; i < CROWD; i++)
		levels_del(&rig->l, &t[i].timer);
	KUNIT_EXPECT_TRUE(test, spoke->more & HWHEEL_CROWDED);
	levels_del(&rig->l, &t[CROWD].timer);
	KUNIT_EXPECT_FALSE(test, spoke->more & HWHEEL_CROWDED);
	expect_sound(rig);
	advance(rig, TICK + 10 + CROWD);
	KUNIT_EXPECT_EQ(test, rig->fired, 1ULL);
}

/* Timers that slack brings together get @same of their spoke, though another came first. */
static void test_slack_last(struct kunit *test)
{
	enum { MANY = 1000, TICK = 5 * 16384 };
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, MANY + 1);
	struct hwheel_spoke *spoke = levels_place(&rig->l, TICK);
	unsigned int i;

	add(rig, &t[MANY], TICK + 9);
	levels_walk_begin(&rig->l, spoke);
	for (i = 0; i < MANY; i++)
		add(rig, &t[i], TICK);
	KUNIT_EXPECT_FALSE(test, spoke->more & HWHEEL_CROWDED);
	KUNIT_EXPECT_PTR_EQ(test, levels_walk_next(&rig->l), &t[MANY].timer);
	levels_walk_end(&rig->l);
	expect_sound(rig);
	advance(rig, TICK);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)MANY);
	KUNIT_EXPECT_LT(test, rig->l.moved, 1ULL + HWHEEL_CROWD);
	expect_sound(rig);
	advance(rig, TICK + 9);
	KUNIT_EXPECT_EQ(test, rig->fired, MANY + 1ULL);
}

/* level_first() and level_next() find what a look at one spoke after the other finds. */
static void test_first_crowd(struct kunit *test)
{
	enum { SPOKES = HWHEEL_MAX_SPOKES, CROWD = HWHEEL_CROWD + 1, MOST = 4, ROUNDS = 200 };
	struct rig *rig = rig_new(test, MS, SPOKES(SPOKES, SPOKES), 0);
	const struct hwheel_level *lv = &rig->l.level[1];
	struct item *t = items_new(test, MOST * CROWD);
	unsigned int round, crowds, from, i, n;

	for (round = 0; round < ROUNDS; round++) {
		rig_begin(rig, hwt_random_below(4 * SPOKES) * lv->width);
		crowds = 1 + round % MOST;
		for (i = 0; i < crowds * CROWD; i += CROWD) {
			u64 slot = lv->slot + 2 + hwt_random_below(SPOKES - 4);
			unsigned int j;

			for (j = 0; j < CROWD; j++)
				add(rig, &t[i + j], slot * lv->width + j);
			KUNIT_EXPECT_TRUE(test, levels_place(&rig->l, slot * lv->width)->more &
						HWHEEL_CROWDED);
		}
		for (i = lv->pos; !(lv->spokes[i].more & HWHEEL_CROWDED); )
			i = (i + 1) % SPOKES;
		KUNIT_EXPECT_EQ(test, level_first(lv, HWHEEL_CROWDS) - lv->spokes, i);
		for (n = 0; n < 64; n++) {
			from = n % 2 ? hwt_random_below(SPOKES) : SPOKES - 1 - n;
			for (i = from; i < SPOKES && !(lv->spokes[i].more & HWHEEL_CROWDED); )
				i++;
			KUNIT_EXPECT_EQ(test, level_next(lv, HWHEEL_CROWDS, from), i);
		}
		for (i = 0; i < crowds * CROWD; i++)
			levels_del(&rig->l, &t[i].timer);
	}
}

/* Only a crowd needs a fan. */
static void test_few_need_no_fan(struct kunit *test)
{
	enum { FEW = HWHEEL_CROWD, BEGIN = 0x8000, DUE = 0xffe0 };
	struct rig *rig = rig_new(test, MS, SPOKES(2), 0);
	struct item *t = items_new(test, FEW + 1);
	unsigned int i, n, used;
	u64 now;

	rig_fan(rig);
	for (n = FEW; n <= FEW + 1; n++) {
		rig_begin(rig, 100);
		rig->fired = 0;
		rig->last = 0;
		used = 0;
		for (i = 0; i < n; i++)
			add(rig, &t[i], DUE + i);
		for (now = BEGIN - 0x1800; now < DUE + n; now++) {
			advance(rig, now);
			if (now <= BEGIN)
				used = max(used, rig_fans_used(rig));
			if (now == BEGIN)
				now = DUE - 1;
		}
		KUNIT_EXPECT_EQ(test, !!used, n > FEW);
		KUNIT_EXPECT_EQ(test, rig->fired, (u64)n);
		KUNIT_EXPECT_EQ(test, rig->last, now - 1);
	}
}

/*
 * A large crowd gets a fan early if the fan's spokes are single ticks. Only the timers that came
 * before must move. Enough fans are kept for other crowds.
 */
static void test_early_fans(struct kunit *test)
{
	enum { NR = HWHEEL_FAN, LARGE = HWHEEL_CROWD_EARLY + HWHEEL_CROWD_FAN, EACH = 2 * LARGE };
	enum { FANS = HWHEEL_FEW_FANS + 3 * HWHEEL_MANY_FANS, MANY = 2 * FANS };
	struct rig *rig = rig_new(test, MS, SPOKES(NR, MANY, MANY), 0);
	struct item *t = items_new(test, MANY * EACH);
	unsigned int level, i;

	rig_fan(rig);
	for (level = 1; level <= 2; level++) {
		const u64 width = level == 1 ? NR : NR * MANY;
		const unsigned int early = level == 1 ? FANS - HWHEEL_FANS_KEPT : 0;

		rig_begin(rig, 0);
		for (i = 0; i < EACH; i++)
			add(rig, &t[i], width + i % NR);
		KUNIT_EXPECT_EQ(test, rig_fans_used(rig), early ? 1U : 0U);
		expect_sound(rig);
		for (i = 0; i < EACH; i++)
			levels_del(&rig->l, &t[i].timer);
		KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U);

		for (i = 0; i < (MANY - 2) * EACH; i++)
			add(rig, &t[i], (1 + i % (MANY - 2)) * width + hwt_random_below(width));
		KUNIT_EXPECT_EQ(test, rig_fans_used(rig), early);
		expect_sound(rig);
		rig->fired = 0;
		for (i = 0; i < MANY; i++)
			advance(rig, i * width);
		KUNIT_EXPECT_EQ(test, rig->fired, (MANY - 2ULL) * EACH);
		KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U);
		expect_sound(rig);
		if (level == 1)
			KUNIT_EXPECT_LE(test, rig->l.moved, LARGE + early * LARGE +
					(MANY - early) * (u64)EACH);
	}
}

/* There are more crowds than fans. The last one is moved when the clock enters its spoke. */
static void test_no_free_fan(struct kunit *test)
{
	enum { CROWD = HWHEEL_CROWD + 1, CROWDS = HWHEEL_FEW_FANS + 1, FIRST = 40 * 16384 };
	struct rig *rig = rig_new(test, 1000, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, CROWDS * CROWD);
	struct hwheel_spoke *last;
	unsigned int i;

	rig_add(rig, HWHEEL_FANS);
	for (i = 0; i < CROWDS * CROWD; i++)
		add(rig, &t[i], FIRST + i / CROWD * 16384 + 16300 + i % CROWD);
	rig->l.most[levels_moves(16384) - 1].n = 1000000;	/* all are ready at once */
	rig->l.sift_until = 0;
	last = levels_place(&rig->l, FIRST + HWHEEL_FEW_FANS * 16384);
	advance(rig, 16384);
	KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U + HWHEEL_FEW_FANS);
	KUNIT_EXPECT_FALSE(test, list_empty(&last->rest));
	KUNIT_EXPECT_EQ(test, levels_missing(&rig->l), BIT(HWHEEL_FANS + 1));
	KUNIT_EXPECT_GT(test, levels_wake(&rig->l), 16384ULL);
	expect_sound(rig);
	advance(rig, FIRST + CROWDS * 16384);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)CROWDS * CROWD);
	KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U);
	expect_sound(rig);
}

/* Timers above level 0 come before a timer of level 0 that is due at the same tick. */
static void test_higher_first(struct kunit *test)
{
	struct rig *rig = rig_part(test, SPOKES(8), 0, 1);
	struct item *t = items_new(test, 2);

	add(rig, &t[0], 20);			/* parked */
	advance(rig, 15);
	add(rig, &t[1], 20);
	KUNIT_EXPECT_EQ(test, levels_place(&rig->l, 20)->level, 0U);
	KUNIT_EXPECT_EQ(test, levels_first(&rig->l, HWHEEL_NEVER)->level, 0U + HWHEEL_LOT);
	advance(rig, 20);
	KUNIT_EXPECT_EQ(test, rig->fired, 2ULL);

	/* The same in a level */
	rig = rig_new(test, MS, SPOKES(8, 8), 0);
	add(rig, &t[0], 20);
	levels_set_clock(&rig->l, 15);
	add(rig, &t[1], 20);
	KUNIT_EXPECT_EQ(test, levels_place(&rig->l, 20)->level, 0U);
	KUNIT_EXPECT_EQ(test, levels_first(&rig->l, HWHEEL_NEVER)->level, 1U);
	advance(rig, 20);
	KUNIT_EXPECT_EQ(test, rig->fired, 2ULL);
}

/* Levels are missing, and the clock is set back: buckets are joined in one. */
static void test_joined_buckets(struct kunit *test)
{
	struct rig *rig = rig_part(test, SPOKES(2), 74, 0);
	struct item *t = items_new(test, 6);
	unsigned int i;

	add(rig, &t[0], 100);
	add(rig, &t[1], 75);
	add(rig, &t[2], 200);
	expect_place(rig, &t[0], HWHEEL_LOT, 6);
	expect_place(rig, &t[1], HWHEEL_LOT, 1);
	expect_place(rig, &t[2], HWHEEL_LOT, 8);
	levels_set_back(&rig->l, 10);		/* differs from 74 in bit 6 */
	expect_place(rig, &t[0], HWHEEL_LOT, 7);
	expect_place(rig, &t[1], HWHEEL_LOT, 7);
	expect_place(rig, &t[2], HWHEEL_LOT, 8);
	expect_sound(rig);
	add(rig, &t[3], 75);
	expect_place(rig, &t[3], HWHEEL_LOT, 7);
	levels_walk_begin(&rig->l, levels_transit(&rig->l, 7));
	KUNIT_EXPECT_NOT_NULL(test, levels_walk_next(&rig->l));
	levels_set_back(&rig->l, 9);		/* differs from 10 in bit 1 */
	KUNIT_EXPECT_NOT_NULL(test, levels_walk_next(&rig->l));
	levels_set_clock(&rig->l, 70);
	levels_set_back(&rig->l, 9);		/* joins bucket 7 with itself */
	expect_sound(rig);
	levels_walk_end(&rig->l);
	levels_set_clock(&rig->l, 74);
	add(rig, &t[4], 76);
	advance(rig, 75);
	KUNIT_EXPECT_EQ(test, rig->fired, 2ULL);
	advance(rig, 76);
	KUNIT_EXPECT_EQ(test, rig->fired, 3ULL);
	for (i = 0; rig_grow(rig); i++)
		expect_sound(rig);
	advance(rig, 100);
	KUNIT_EXPECT_EQ(test, rig->fired, 4ULL);
	advance(rig, 200);
	KUNIT_EXPECT_EQ(test, rig->fired, 5ULL);
}

/* The same with a crowd that has fewer timers by now. It stays a crowd. */
static void test_joined_crowd(struct kunit *test)
{
	enum { MANY = HWHEEL_CROWD + 8, LEFT = 5 };
	struct rig *rig = rig_part(test, SPOKES(2), 0, 0);
	struct item *t = items_new(test, MANY + 1);
	unsigned int i;

	for (i = 0; i < MANY; i++)
		add(rig, &t[i], 80 + i);
	expect_place(rig, &t[0], HWHEEL_LOT, 7);
	levels_set_clock(&rig->l, 70);
	add(rig, &t[MANY], 71);
	for (i = LEFT; i < MANY; i++)
		levels_del(&rig->l, &t[i].timer);
	expect_sound(rig);
	levels_set_back(&rig->l, 10);
	expect_place(rig, &t[MANY], HWHEEL_LOT, 7);
	expect_sound(rig);
	advance(rig, 80 + MANY);
	KUNIT_EXPECT_EQ(test, rig->fired, LEFT + 1ULL);
	expect_sound(rig);
}

/* A crowd is parked for lack of a level. When the level comes, the crowd leaves in time. */
static void test_parked_crowd(struct kunit *test)
{
	enum { MANY = 1000, DUE = 5 * 16384 };
	struct rig *rig = rig_part(test, SPOKES(128, 128, 128), 0, 2);
	struct item *t = items_new(test, MANY);
	unsigned int i;

	for (i = 0; i < MANY; i++)
		add(rig, &t[i], DUE + i);
	expect_place(rig, &t[MANY - 1], HWHEEL_LOT, 17);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), (u64)DUE);
	rig_grow(rig);
	KUNIT_EXPECT_LT(test, levels_wake(&rig->l), DUE - 8192ULL);
	advance(rig, levels_wake(&rig->l));
	KUNIT_EXPECT_TRUE(test, list_empty(&levels_transit(&rig->l, 17)->rest));
	expect_sound(rig);
	advance(rig, DUE + MANY);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)MANY);
}

/* A timer stays where it is when it is re-armed. The wheel need not be woken earlier. */
static void test_stays(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(8, 8), 0);
	struct item *t = items_new(test, 2);

	add(rig, &t[0], 20);
	add(rig, &t[1], 21);
	KUNIT_EXPECT_EQ(test, levels_mod(&rig->l, &t[1].timer, 21, 22), 22ULL);
	KUNIT_EXPECT_EQ(test, levels_mod(&rig->l, &t[1].timer, 22, 22), 22ULL);
	KUNIT_EXPECT_EQ(test, rig->l.level[1].spokes[2].rests, 1U);	/* not counted again */
	levels_del(&rig->l, &t[0].timer);
	KUNIT_EXPECT_EQ(test, levels_mod(&rig->l, &t[1].timer, 22, 23), 23ULL);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), 20ULL);	/* the spoke keeps its bound */
	levels_del(&rig->l, &t[1].timer);
	add(rig, &t[0], 20);
	add(rig, &t[1], 22);
	KUNIT_EXPECT_EQ(test, levels_mod(&rig->l, &t[1].timer, 22, 18), 18ULL);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), 18ULL);	/* it lowers the bound */
	levels_del(&rig->l, &t[0].timer);
	levels_del(&rig->l, &t[1].timer);
}

/* The clock is set back. A closed level keeps its clock until it is empty. */
static void test_closed_clock(struct kunit *test)
{
	enum { MANY = 3 * HWHEEL_STEP };
	struct rig *rig = rig_new(test, MS, SPOKES(8, 8, 8), 100);
	struct item *t = items_new(test, MANY);
	unsigned int i;

	for (i = 0; i < MANY; i++)
		add(rig, &t[i], 130 + i % 8);			/* level 1 */
	levels_set_back(&rig->l, 10);
	KUNIT_EXPECT_TRUE(test, rig->l.closed & BIT(1));
	step(rig, 60);
	KUNIT_EXPECT_TRUE(test, rig->l.closed & BIT(1));
	KUNIT_EXPECT_EQ(test, rig->l.clock, 60ULL);
	KUNIT_EXPECT_EQ(test, rig->l.level[1].slot, 100ULL / 8);
	advance(rig, 61);
	KUNIT_EXPECT_FALSE(test, rig->l.closed & BIT(1));
	KUNIT_EXPECT_EQ(test, rig->l.level[1].slot, 61ULL / 8);
	advance(rig, 140);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)MANY);
}

/* The clock catches up with a closed level before the level is empty. */
static void test_closed_caught_up(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(8, 8, 8), 100);
	struct item *t = items_new(test, 2);

	add(rig, &t[0], 104);
	levels_set_back(&rig->l, 99);
	KUNIT_EXPECT_TRUE(test, rig->l.closed & BIT(0));
	add(rig, &t[1], 103);
	expect_place(rig, &t[1], HWHEEL_LOT, -1);
	levels_set_clock(&rig->l, 99);
	KUNIT_EXPECT_TRUE(test, rig->l.closed & BIT(0));
	expect_sound(rig);
	levels_set_clock(&rig->l, 101);
	KUNIT_EXPECT_FALSE(test, rig->l.closed & BIT(0));
	expect_place(rig, &t[0], 0, 0);
	expect_sound(rig);
	levels_del(&rig->l, &t[1].timer);
	add(rig, &t[1], 103);
	expect_place(rig, &t[1], 0, 7);
	advance(rig, 103);
	KUNIT_EXPECT_EQ(test, t[1].fired, 103ULL);
	advance(rig, 104);
	KUNIT_EXPECT_EQ(test, t[0].fired, 104ULL);
}

/*
 * The clock is set back while timers are due, some of them half popped, and others that were armed
 * for the past. Each fires at its own tick, or at once.
 */
static void test_set_back_due(struct kunit *test)
{
	enum { MANY = 100, NOW = 1000 };
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 900);
	struct item *t = items_new(test, 2 * MANY);
	struct hwheel_timer *timer;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		add(rig, &t[i], 950 + i / 2);
	KUNIT_EXPECT_EQ(test, (int)levels_step(&rig->l, NOW), (int)HWHEEL_DUE);
	/* The other timer of that tick is about to run */
	timer = levels_pop(&rig->l, NOW);
	KUNIT_ASSERT_NOT_NULL(test, timer);
	KUNIT_EXPECT_EQ(test, rig->l.clock, 950ULL);
	add(rig, container_of(timer, struct item, timer), 950);
	for (i = MANY; i < 2 * MANY; i++)
		add(rig, &t[i], 850 + i);		/* for the past: due at NOW */
	levels_set_back(&rig->l, 940);
	KUNIT_EXPECT_EQ(test, levels_due_tick(&rig->l), 940ULL);
	expect_sound(rig);
	for (i = 940; i <= NOW + MANY; i++) {
		advance(rig, i);
		expect_sound(rig);
	}
	for (i = 0; i < 2 * MANY; i++)
		KUNIT_EXPECT_EQ(test, t[i].fired, levels_tick_up(&rig->l, t[i].timer.expires));
	KUNIT_EXPECT_EQ(test, rig->l.redo, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->l.closed, 0U);

	/* Without timers, nothing is left to be done later, when there are timers again. */
	levels_set_back(&rig->l, 100);
	KUNIT_EXPECT_EQ(test, rig->l.redo, 0ULL);
	KUNIT_EXPECT_EQ(test, rig->l.closed, 0U);
	add(rig, &t[0], 500);
	KUNIT_EXPECT_EQ(test, levels_due_tick(&rig->l), 500ULL);
}

/* The tick at which @spoke, which is not ready yet, will be ready */
static u64 sift_until(struct rig *rig, struct hwheel_spoke *spoke)
{
	u64 first = HWHEEL_NEVER;

	rig->l.sift = NULL;
	rig->l.sift_until = HWHEEL_NEVER;
	spoke_next_sift(&rig->l, spoke, &first);
	KUNIT_EXPECT_NULL(rig->test, rig->l.sift);
	return rig->l.sift_until;
}

/* Sifting begins as early as the comment of levels_lead() says. */
static void test_lead(struct kunit *test)
{
	enum { BITS = 7, NR = 1 << BITS };
	enum { MOVES = DIV_ROUND_UP(BITS, HWHEEL_FAN_BITS) };
	enum { TICKS = 4 };				/* list moves in a tick */
	enum { SMALL = 2 * HWHEEL_CROWD_FAN };
	struct rig *rig = rig_new(test, TICKS * HWHEEL_SIFT_NS, SPOKES(NR, NR, NR), 0);
	const u64 least = 1 + NR / 8;			/* lead of an empty crowd in level 1 */
	const u64 small = 4 * SMALL * MOVES / TICKS + least;	/* of a crowd of SMALL */
	struct hwheel_most *most = &rig->l.most[MOVES - 1];
	struct hwheel_spoke *spoke = &rig->l.level[1].spokes[5], *child;
	u64 begin, since, first;

	KUNIT_EXPECT_EQ(test, levels_lead(&rig->l, NR, 0), least);
	KUNIT_EXPECT_EQ(test, levels_lead(&rig->l, NR * NR, 0), 1ULL + NR * NR / 8);
	KUNIT_EXPECT_EQ(test, levels_lead(&rig->l, NR, SMALL), small);
	most->n = SMALL;
	KUNIT_EXPECT_EQ(test, levels_lead(&rig->l, NR, 0), small);
	KUNIT_EXPECT_EQ(test, levels_lead(&rig->l, NR * NR, 0), 1ULL + NR * NR / 8);
	rig->l.ahead = 7;
	KUNIT_EXPECT_EQ(test, levels_lead(&rig->l, NR, SMALL), small + 7);
	rig->l.ahead = 0;

	/* A crowd is noted again when it has doubled. */
	rig->l.pending = ~0U;
	most->n = 0;
	spoke->rests = 20;
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, most->n, 40ULL);
	spoke->rests = 40;
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, most->n, 40ULL);
	spoke->rests = 41;
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, most->n, 82ULL);
	spoke->rests = ~0U;
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, most->n, 2ULL * ~0U);

	/* Timers that were cancelled do not count, but it remains a crowd. */
	rig->l.pending = 50;
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, spoke->rests, 50U);
	rig->l.pending = 1;
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, spoke->rests, (u32)HWHEEL_CROWD);

	/* The number is halved when a crowd is noted after a turn of the level. */
	KUNIT_EXPECT_GT(test, NR, (int)HWHEEL_FAN);
	spoke->rests = 20;
	most->n = 64;
	since = rig->l.clock;
	most->since = since;
	levels_set_clock(&rig->l, since + NR * NR - 1);
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, most->n, 64ULL);
	levels_set_clock(&rig->l, since + NR * NR);
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, most->n, 32ULL);
	levels_note_crowd(&rig->l, spoke);
	KUNIT_EXPECT_EQ(test, most->n, 32ULL);

	/*
	 * Sifting starts one lead before the first tick of the crowd's spoke. The spoke may be
	 * in a fan.
	 */
	rig_fan(rig);
	levels_set_clock(&rig->l, NR * NR + 10 * NR);
	begin = rig->l.clock + 5 * NR;
	spoke = &rig->l.level[1].spokes[15];
	most->n = 0;
	spoke->rests = SMALL;
	KUNIT_EXPECT_EQ(test, sift_until(rig, spoke), begin - small);
	levels_set_clock(&rig->l, begin - small);
	first = HWHEEL_NEVER;
	spoke_next_sift(&rig->l, spoke, &first);
	KUNIT_EXPECT_PTR_EQ(test, rig->l.sift, spoke);
	KUNIT_EXPECT_EQ(test, first, begin);
	KUNIT_EXPECT_TRUE(test, levels_fan(&rig->l, spoke));
	child = fan_at(&rig->l, spoke_fan(spoke), begin + NR / 2);
	child->rests = SMALL;
	KUNIT_EXPECT_EQ(test, sift_until(rig, child), begin + NR / 2 - 4 * SMALL / TICKS - 1);

	/* Without a free fan, a crowd waits until the clock enters it. */
	rig->l.fans_free = 0;
	spoke = &rig->l.level[1].spokes[16];
	spoke->rests = SMALL;
	KUNIT_EXPECT_EQ(test, sift_until(rig, spoke), begin + NR);
}

/* Of two crowds that are ready, the one that begins first is sifted first. */
static void test_first_deadline(struct kunit *test)
{
	enum { BITS = 7, NR = 1 << BITS, CROWD = HWHEEL_CROWD + 1, FIRST = 3 * NR * NR };
	struct rig *rig = rig_new(test, MS, SPOKES(NR, NR, NR), 0);
	struct item *t = items_new(test, 2 * CROWD);
	struct hwheel_spoke *low, *high;
	unsigned int i;

	rig_fan(rig);
	for (i = 0; i < CROWD; i++)
		add(rig, &t[i], FIRST + i);
	high = levels_place(&rig->l, FIRST);
	KUNIT_EXPECT_EQ(test, high->level, 2);
	levels_set_clock(&rig->l, FIRST - 20 * NR);
	KUNIT_EXPECT_NULL(test, levels_next_sift(&rig->l));
	levels_set_clock(&rig->l, FIRST - 10 * NR);
	for (i = CROWD; i < 2 * CROWD; i++)
		add(rig, &t[i], FIRST - 2 * NR + i);
	low = levels_place(&rig->l, FIRST - 2 * NR);
	KUNIT_EXPECT_EQ(test, low->level, 1);

	KUNIT_EXPECT_PTR_EQ(test, levels_next_sift(&rig->l), high);
	levels_set_clock(&rig->l, FIRST - 2 * NR - levels_lead(&rig->l, NR, low->rests));
	KUNIT_EXPECT_PTR_EQ(test, levels_next_sift(&rig->l), low);
	KUNIT_EXPECT_EQ(test, levels_move_tick(&rig->l), rig->l.clock);
	advance(rig, FIRST + CROWD);
	KUNIT_EXPECT_EQ(test, rig->fired, 2ULL * CROWD);
}

/* Timers that share a tick are moved together, however many they are. */
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
 * Many timers are due at one tick, and few at other ticks of the same spoke. The many stay
 * together, and nobody waits until they have moved.
 */
static void same_tick_others(struct kunit *test, u64 begin)
{
	enum { MANY = 20000 };
	struct rig *rig = rig_new(test, 50 * MS, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, MANY + 1);
	u64 moved;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		add(rig, &t[i], begin + 100);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), begin + 100);
	mod(rig, &t[0], begin + 101);
	KUNIT_EXPECT_EQ(test, levels_wake(&rig->l), begin + 100);
	mod(rig, &t[MANY / 2], begin + 50);
	add(rig, &t[MANY], begin + 98);
	expect_sound(rig);
	KUNIT_EXPECT_EQ(test, rig->l.crowded, 0U);
	for (i = 1; i <= 102; i++) {
		moved = rig->l.moved;
		while (levels_due_tick(&rig->l) <= begin + i)
			step(rig, begin + i);
		KUNIT_EXPECT_LE(test, rig->l.moved - moved, 6ULL);
		advance(rig, begin + i);
	}
	expect_sound(rig);
	KUNIT_EXPECT_EQ(test, t[MANY / 2].fired, begin + 50);
	KUNIT_EXPECT_EQ(test, t[MANY].fired, begin + 98);
	KUNIT_EXPECT_EQ(test, t[1].fired, begin + 100);
	KUNIT_EXPECT_EQ(test, t[0].fired, begin + 101);
	KUNIT_EXPECT_EQ(test, rig->fired, (u64)MANY + 1);
	KUNIT_EXPECT_LE(test, rig->l.moved, 12ULL);
}

static void test_same_tick_others(struct kunit *test)
{
	u64 begin;

	for (begin = 5 * 128; begin <= 5 * 128 * 128 * 128; begin *= 128)
		same_tick_others(test, begin);
}

/*
 * A callback takes so long that meanwhile many timers of one tick are overdue, and a timer for a
 * later tick joins their spoke. They need not move, armed in time or for the past.
 */
static void test_same_tick_overdue(struct kunit *test)
{
	enum { MANY = 1000, BEGIN = 5 * 128, FIRST = 10, TICK = BEGIN + 60, LATER = BEGIN + 66 };
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, MANY + 2);
	struct item *crowd = t + 2;
	unsigned int i, past, wrong;

	rig_fan(rig);
	for (past = 0; past < 2; past++) {
		rig_begin(rig, 0);
		rig->last = 0;
		add(rig, &t[0], FIRST);
		if (past)
			KUNIT_EXPECT_EQ(test, (int)levels_step(&rig->l, TICK), (int)HWHEEL_DUE);
		for (i = 0; i < MANY; i++)
			add(rig, &crowd[i], past ? FIRST + 1 + i % (TICK - FIRST) : TICK);
		KUNIT_EXPECT_EQ(test, (int)levels_step(&rig->l, LATER - 1), (int)HWHEEL_DUE);
		add(rig, &t[1], LATER);
		expect_place(rig, &t[1], 1, 5);
		expect_sound(rig);
		advance(rig, LATER - 1);
		KUNIT_EXPECT_EQ(test, t[1].fired, NOT_FIRED);
		for (wrong = 0, i = 0; i < MANY; i++)
			wrong += crowd[i].fired != TICK;
		KUNIT_EXPECT_EQ(test, wrong, 0U);
		KUNIT_EXPECT_LE(test, rig->l.moved, 1ULL);
		advance(rig, LATER);
		KUNIT_EXPECT_EQ(test, t[1].fired, 0ULL + LATER);
	}
}

/*
 * A crowd was armed for the past, so all its timers count as due at one tick. A timer of an earlier
 * tick comes down from a higher level, and joins them. Their own ticks are before the spoke.
 */
static void test_same_tick_past(struct kunit *test)
{
	enum { MANY = 100, HIGH = 128 * 128, FIRST = HIGH - 100, NOW = HIGH + 700 };
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, MANY + 3);
	struct item *crowd = t + 3;
	unsigned int i;

	rig_fan(rig);
	add(rig, &t[0], FIRST);
	add(rig, &t[1], HIGH + 200);
	add(rig, &t[2], NOW - 10);
	expect_place(rig, &t[2], 2, 1);
	KUNIT_EXPECT_EQ(test, (int)levels_step(&rig->l, NOW), (int)HWHEEL_DUE);
	for (i = 0; i < MANY; i++)
		add(rig, &crowd[i], FIRST + 1 + i);
	expect_place(rig, &crowd[0], 1, 5);
	while (step(rig, NOW))
		expect_sound(rig);
	KUNIT_EXPECT_EQ(test, t[1].fired, HIGH + 200ULL);
	KUNIT_EXPECT_EQ(test, t[2].fired, NOW - 10ULL);
	KUNIT_EXPECT_EQ(test, rig->fired, MANY + 3ULL);
}

/*
 * Three crowds are due at one tick each. They begin in different levels and meet in one
 * spoke. Their ticks are so close that one spoke of a fan covers them. A timer moves at most once
 * for each level.
 */
static void test_same_tick_crowds(struct kunit *test)
{
	enum { MANY = 1000, CROWDS = 3, SLOT = 3 * 2097152, SPOKE = SLOT + 140 * 128 };
	static const u64 ticks[][CROWDS] = {
		{ 20, 21, 20 }, { 20, 22, 20 }, { 21, 22, 21 }, { 20, 20, 20 },
	};
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128, 128), 0);
	struct item *t = items_new(test, CROWDS * MANY);
	unsigned int i, j, wrong;
	u64 now;

	rig_fan(rig);
	for (j = 0; j < ARRAY_SIZE(ticks); j++) {
		rig_begin(rig, 0);
		rig->last = 0;
		for (i = 0; i < CROWDS * MANY; i++) {
			add(rig, &t[i], SPOKE + ticks[j][i / MANY]);
			if (i == MANY - 1)
				advance(rig, SLOT - 10 * 16384);
			if (i == 2 * MANY - 1)
				advance(rig, SPOKE - 127 * 128);
		}
		expect_place(rig, &t[2 * MANY], 1, 12);
		for (now = SPOKE - 127 * 128; now < SPOKE + 30; now++) {
			advance(rig, now);
			if (now % 64 == 0)
				expect_sound(rig);
		}
		for (i = 0, wrong = 0; i < CROWDS * MANY; i++)
			wrong += t[i].fired * MS != t[i].timer.expires;
		KUNIT_EXPECT_EQ(test, wrong, 0U);
		KUNIT_EXPECT_LE(test, rig->l.moved, (3ULL + 2 + 1) * MANY);
		KUNIT_EXPECT_EQ(test, rig_fans_used(rig), 0U);
	}
}

/*
 * Two crowds are due at one tick each. The first does not join the other in the spoke of a lower
 * level. Then the wheel gets fans, and timers of a third tick join.
 */
static void test_same_tick_meets(struct kunit *test)
{
	enum { MANY = 4 * HWHEEL_CROWD, SPOKE = 140 * 128 };
	static const u64 ticks[] = { SPOKE + 20, SPOKE + 40, SPOKE + 46 };
	struct rig *rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
	struct item *t = items_new(test, 3 * MANY);
	unsigned int i;

	for (i = 0; i < MANY; i++)
		add(rig, &t[i], ticks[0]);
	expect_place(rig, &t[0], 2, 1);
	advance(rig, SPOKE - 127 * 128);
	for (; i < 2 * MANY; i++)
		add(rig, &t[i], ticks[1]);
	advance(rig, SPOKE - 128);
	expect_place(rig, &t[0], 2, 1);
	expect_place(rig, &t[MANY], 1, 12);
	expect_sound(rig);

	rig_add_fans(rig);
	for (; i < 3 * MANY; i++)
		add(rig, &t[i], ticks[2]);
	expect_sound(rig);
	advance(rig, SPOKE + 127);
	for (i = 0; i < 3 * MANY; i++)
		KUNIT_EXPECT_EQ(test, t[i].fired, ticks[i / MANY]);
}

/*
 * A timer is re-armed for the past again and again. It delays the other timers by at most two
 * runs of its callback.
 */
static void test_past_fair(struct kunit *test)
{
	enum { OTHERS = 20, TAKES = 3 };
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 100);
	struct item *t = items_new(test, OTHERS + 1);
	struct hwheel_timer *timer;
	unsigned int i, n = 0, calls = 0;
	u64 now = 100, read, latest = 0;

	for (i = 1; i <= OTHERS; i++)
		add(rig, &t[i], 110 + i * 5);
	add(rig, &t[0], 1);
	while (n < OTHERS && now < 1000) {
		read = now;	/* as a run does, and after some of its callbacks */
		if (levels_step(&rig->l, read) != HWHEEL_DUE)
			continue;
		while (n < OTHERS && now < 1000 && (timer = levels_pop(&rig->l, read))) {
			if (timer != &t[0].timer) {
				latest = max(latest, now - levels_due(&rig->l, timer));
				n++;
				continue;
			}
			now += TAKES;
			add(rig, &t[0], 1);
			if (!(++calls % 2))
				read = now;
		}
		expect_sound(rig);
	}
	KUNIT_EXPECT_EQ(test, n, OTHERS);
	KUNIT_EXPECT_LE(test, latest, 2ULL * TAKES);
}

/* The same with parked timers, within one tick */
static void test_past_fair_parked(struct kunit *test)
{
	struct rig *rig = rig_new(test, MS, SPOKES(16, 16, 16), 0);
	struct item *t = items_new(test, 2);
	struct hwheel_timer *timer = NULL;
	unsigned int i;

	rig_begin_bare(rig, 0);
	add(rig, &t[0], 6);
	advance(rig, 4);
	add(rig, &t[1], 6);
	for (i = 0; i < 20 && timer != &t[0].timer; i++) {
		timer = levels_pop(&rig->l, 6);
		if (!timer)
			levels_step(&rig->l, 6);
		else if (timer == &t[1].timer)
			add(rig, &t[1], 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, timer, &t[0].timer);
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

		rig_begin(rig, 0);

		for (j = 0; j < 3000; j++) {
			u64 first = 1 + hwt_random_magnitude(1 << 18);
			u64 last = first + hwt_random_magnitude(2000);
			u64 x, best = first, best_key = 0;
			u64 got = levels_align(&rig->l, first, last);

			/*
			 * The best tick begins the widest slot. Among slots of one width, the
			 * number of the best one has the most trailing zeroes.
			 */
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
		u64 d = i < 5000 ? i + 1 : 1 + hwt_random_magnitude(S64_MAX);

		divisor_init(&div, d);
		for (j = 0; j < 20; j++) {
			u64 x = hwt_random_magnitude(S64_MAX);

			if (j < 10)	/* at, before and after a multiple */
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

/*
 * A walk with pauses sees each timer that is on the wheel during the whole walk. It sees the
 * timer once.
 */
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
		/* Remove every third timer, just ahead of the walk. */
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

	/* When the whole spoke is moved away, the walk ends. */
	rig = rig_new(test, MS, SPOKES(16, 16, 16), 0);
	for (i = 0; i < 10; i++)
		add(rig, &t[i], 600);
	levels_walk_begin(&rig->l, levels_place(&rig->l, 600));
	KUNIT_EXPECT_NOT_NULL(test, levels_walk_next(&rig->l));
	step(rig, 512);
	KUNIT_EXPECT_NULL(test, levels_walk_next(&rig->l));
	levels_walk_end(&rig->l);

	/* When the timers that are due at the bound leave, the walk goes on with the others. */
	rig = rig_new(test, MS, SPOKES(16, 16, 16), 0);
	for (i = 0; i < 10; i++)
		add(rig, &t[i], 600 + i / 5);
	levels_walk_begin(&rig->l, levels_place(&rig->l, 600));
	KUNIT_EXPECT_NOT_NULL(test, levels_walk_next(&rig->l));
	step(rig, 600);
	for (n = 0; levels_walk_next(&rig->l); n++)
		;
	KUNIT_EXPECT_EQ(test, n, 5U);
	levels_walk_end(&rig->l);

	/* A timer that is due earlier joins @rest: the walk sees each once. */
	rig = rig_new(test, MS, SPOKES(16, 16, 16), 0);
	for (i = 0; i < 10; i++)
		add(rig, &t[i], 600 + i / 5);
	levels_walk_begin(&rig->l, levels_place(&rig->l, 600));
	KUNIT_EXPECT_PTR_EQ(test, levels_walk_next(&rig->l), &t[0].timer);
	add(rig, &t[10], 599);
	for (n = 1; (timer = levels_walk_next(&rig->l)); n++)
		KUNIT_EXPECT_PTR_EQ(test, timer, &t[n].timer);
	KUNIT_EXPECT_EQ(test, n, 11U);
	levels_walk_end(&rig->l);
	expect_sound(rig);

	/* The walk's list becomes part of @rest, then others expire: it does not begin anew. */
	rig = rig_new(test, MS, SPOKES(128, 128, 128), 0);
	add(rig, &t[0], 346);
	for (i = 1; i < HWHEEL_CROWD_FAN; i++)
		add(rig, &t[i], 305 + i);
	levels_walk_begin(&rig->l, levels_place(&rig->l, 306));
	add(rig, &t[i++], 356);
	add(rig, &t[i++], 306);
	add(rig, &t[i++], 306);
	for (n = 0; n < HWHEEL_CROWD_FAN / 2; n++)
		KUNIT_EXPECT_NOT_NULL(test, levels_walk_next(&rig->l));
	step(rig, 306);
	while (levels_walk_next(&rig->l))
		n++;
	KUNIT_EXPECT_EQ(test, n, HWHEEL_CROWD_FAN + 1U);
	levels_walk_end(&rig->l);
	expect_sound(rig);
}

/* ------------------------------------------------------------------------ */
/* The random walk, compared with a sorted list */

struct model_timer {
	struct item		item;
	struct list_head	sorted;
	u64			due;		/* its tick, or the floor if that was later */
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
 * The timers that fired must be the first of the sorted list. Timers that are due at the
 * same tick may fire in any order.
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
	struct model_timer *t = &m->timers[hwt_random_below(m->nr)];
	u64 tick;

	switch (hwt_random_below(16)) {
	case 0 ... 5:
		tick = m->now + hwt_random_magnitude(span);
		model_arm(m, t, tick - min(tick, hwt_random_below(3)));
		break;
	case 6 ... 8:	/* near its old tick */
		tick = (t->armed ? t->due : m->now) + hwt_random_below(9);
		model_arm(m, t, tick - min(tick, 4ULL));
		break;
	case 9:		/* aligned, so that some timers share a tick */
		tick = round_up(m->now + hwt_random_magnitude(span), 1ULL << hwt_random_below(16));
		model_arm(m, t, tick);
		break;
	case 10:	/* advance the clock first, as arming does */
		if (list_empty(&m->sorted))
			break;
		tick = list_first_entry(&m->sorted, struct model_timer, sorted)->due;
		tick = min(tick, levels_wake(&m->rig.l));
		if (tick > m->rig.l.clock) {
			tick = m->rig.l.clock + hwt_random_below(tick - m->rig.l.clock + 1);
			levels_set_clock(&m->rig.l, tick);
			m->now = max(m->now, tick);
		}
		break;
	case 11 ... 12:
		model_cancel(m, t);
		break;
	case 13:	/* part of the way */
		m->now += hwt_random_magnitude(span / 8 + 2);
		for (tick = hwt_random_below(8); tick; tick--)
			step(&m->rig, m->now);
		return model_compare(m, false);
	default:
		m->now += hwt_random_magnitude(span / 16 + 2);
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
	m->now = hwt_random_magnitude(most);
	rig_init(&m->rig, test, tick_ns, spokes, m->now);
	if (hwt_random_below(4))
		rig_fan(&m->rig);
	if (hwt_random_below(2))	/* then levels are added on demand, or late */
		rig_begin_bare(&m->rig, m->now);
	m->nr = 1 + hwt_random_below(100);
	m->timers = kunit_kcalloc(test, m->nr, sizeof(*m->timers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->timers);
	/* Up to a few times the reach, but not beyond the end of time. */
	span = 4;
	for (i = 0; i < m->rig.g.levels && span < most; i++)
		span *= spokes[i];
	span = min(span, most);

	for (i = 0; i < ops && !fault && m->now < 6 * most; i++) {
		fault = model_op(m, span);
		if (levels_missing(&m->rig.l) && !hwt_random_below(50))
			rig_add(&m->rig, __ffs64(levels_missing(&m->rig.l)));
		if (!fault && i % 64 == 0)
			fault = levels_check(&m->rig.l);
	}
	if (fault) {
		KUNIT_FAIL(test, "seed=%lu, op %u at tick %llu: %s; tick_ns %llu, spokes",
			   hwt_seed, i, m->now, fault, tick_ns);
		for (; *spokes; spokes++)
			kunit_info(test, "    %u", *spokes);
	}
	rig_free(&m->rig);
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

		/* The seed and the round alone determine each run. */
		prandom_seed_state(&hwt_rnd, hwt_seed + i);
		if (i < ARRAY_SIZE(rows)) {
			random_walk(test, rows[i].spokes, rows[i].tick_ns, walk_ops / n);
			continue;
		}
		do {
			g.tick_ns = 1000 + hwt_random_magnitude(NSEC_PER_SEC);
			g.levels = 1 + hwt_random_below(HWHEEL_MAX_LEVELS);
			for (j = 0; j < g.levels; j++)
				g.spokes[j] = 2 + hwt_random_magnitude(i % 7 ? 70 : 4095);
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
	KUNIT_CASE(test_far_hides_nothing),
	KUNIT_CASE(test_grow_by_steps),
	KUNIT_CASE(test_grow_on_demand),
	KUNIT_CASE(test_same_spoke_stays),
	KUNIT_CASE(test_bits_follow),
	KUNIT_CASE(test_crowd),
	KUNIT_CASE(test_crowd_comes_down),
	KUNIT_CASE(test_crowd_wakes),
	KUNIT_CASE(test_spans),
	KUNIT_CASE(test_crowded),
	KUNIT_CASE(test_slack_last),
	KUNIT_CASE(test_first_crowd),
	KUNIT_CASE(test_few_need_no_fan),
	KUNIT_CASE(test_early_fans),
	KUNIT_CASE(test_no_free_fan),
	KUNIT_CASE(test_higher_first),
	KUNIT_CASE(test_stays),
	KUNIT_CASE(test_joined_buckets),
	KUNIT_CASE(test_joined_crowd),
	KUNIT_CASE(test_parked_crowd),
	KUNIT_CASE(test_closed_clock),
	KUNIT_CASE(test_closed_caught_up),
	KUNIT_CASE(test_set_back_due),
	KUNIT_CASE(test_lead),
	KUNIT_CASE(test_first_deadline),
	KUNIT_CASE(test_same_tick),
	KUNIT_CASE(test_same_tick_others),
	KUNIT_CASE(test_same_tick_overdue),
	KUNIT_CASE(test_same_tick_past),
	KUNIT_CASE(test_same_tick_crowds),
	KUNIT_CASE(test_same_tick_meets),
	KUNIT_CASE(test_past_fair),
	KUNIT_CASE(test_past_fair_parked),
	KUNIT_CASE(test_slack),
	KUNIT_CASE(test_divisors),
	KUNIT_CASE(test_geometry_faults),
	KUNIT_CASE(test_walk),
	KUNIT_CASE(test_random_walk),
	{}
};

static struct kunit_suite hwheel_levels_suite = {
	.name		= "hwheel_levels",
	.suite_init	= hwt_seed_begin,
	.test_cases	= hwheel_levels_cases,
};

kunit_test_suite(hwheel_levels_suite);
