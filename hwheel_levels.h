/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layered wheel: levels of spokes, and where a timer goes in them
 *
 * This part knows no clock, no lock and no hrtimer. Its user passes the time
 * in, serialises the calls, and runs what is due. It is a header of static
 * functions so that the compiler can fold the hot path into its callers.
 *
 * The picture
 * -----------
 *
 * Time is counted in ticks. Level 0 has a spoke for each of the next n[0]
 * ticks, level 1 a spoke for each of the next n[1] runs of n[0] ticks, and so
 * on: the width of a spoke of level i is u[i] = u[i - 1] * n[i - 1] ticks. Cut
 * time into slots of u[i] ticks, numbered from 0; slot s has the spoke
 * s mod n[i], and a level's clock is the slot that the present tick lies in.
 * With 4 spokes a level, at tick 22:
 *
 *	level 0, u = 1	  slots 22 23 24 25		22..25
 *	level 1, u = 4	  slots  5  6  7  8		20..35
 *	level 2, u = 16	  slots  1  2  3  4		16..79
 *			  the clock: first column
 *
 * A timer due at tick e goes to the lowest level in which its slot lies fewer
 * than n[i] slots ahead of the clock: 25 to level 0, 26 to slot 6 of level 1,
 * 36 (slot 9 of level 1 is one too far) to slot 2 of level 2. Hence a spoke
 * never holds timers of two slots, and a timer above level 0 never goes to the
 * slot its level's clock is in: below it there is a finer place for it.
 *
 * With the default geometry, 128 spokes and a tick of 1 ms:
 *
 *	level	spoke		reach
 *	0	1 ms		128 ms
 *	1	128 ms		16.4 s
 *	2	16.4 s		35 min
 *	3	35 min		3.1 days
 *	4	3.1 days	1.1 years
 *
 * Beyond the reach of the top level a timer is parked. The parking lot is a
 * radix heap: bucket b holds the timers for which b is the highest bit in which
 * their tick differs from the clock. Once the clock has got to a bucket's ticks
 * all of them share bit b with it, and each timer goes to a lower bucket or into
 * the levels: at most 54 moves, however far out. (Ahuja, Mehlhorn, Orlin and
 * Tarjan, "Faster algorithms for the shortest path problem", 1990.)
 *
 * Levels cost memory, and most wheels need few. So a wheel begins with its
 * parking lot alone, and its user adds level after level when told that one is
 * wanted (levels_grow()), at any time. Until then what belongs there is parked,
 * which is slower and as exact: a radix heap is a priority queue by itself. What is
 * parked stays so when a level comes; its bucket knows nothing of levels.
 *
 * The two faults of cascading wheels, and what is done about them
 * ---------------------------------------------------------------
 *
 * Hierarchical wheels (Varghese and Lauck, 1987) move timers down a level
 * when the clock gets to their spoke. That cascade is unbounded, and it hides
 * when the next timer is due: all one knows of a coarse spoke is where it
 * starts.
 *
 * Here each spoke keeps the least tick put into it since it was last empty,
 * its bound. No timer in the spoke is due before it. Occupied spokes are found
 * from bitmaps, and the first occupied spoke of each level has the least bound
 * of its level; so a handful of bit searches gives the next tick at which
 * anything can be due. The clock jumps right there. As no bound is passed, no
 * occupied spoke is ever left behind; the clock merely enters some, and an
 * entered spoke is still found by its bound as any other is. So entered spokes
 * can be emptied when there is time for it, a few timers at each call, with
 * everything in order in between: a cascade has no state of its own.
 *
 * A spoke whose timers are all due at the same tick knows it (it is not
 * "mixed"). It moves as a whole, whatever its length, and when it is due it
 * fires from the level that it is in. One timer on a wheel is never cascaded
 * only to be fired, nor are those that slack has brought together.
 *
 * What is due in a spoke that is mixed is found only by moving its timers down.
 * With many of them that takes long, and others are late. So a crowd (HWHEEL_CROWD
 * timers) is sifted ahead of its time, a few timers at a call, while nothing is due:
 * those that have a place in a lower level by then go there, all others to a fan of
 * the spoke, which is up to 64 spokes of equal width that cover the same ticks. A
 * spoke of a fan is as any other: it has a bound, fires when it is due, and if it is a
 * crowd it gets a fan itself. (Tang, Goh and Thng, "Ladder queue: an O(1) priority
 * queue structure for large-scale discrete event simulation", 2005.) Arming knows
 * nothing of fans: newcomers go to the spoke's own lists, and once these are a crowd
 * they are sifted, too.
 *
 * Crowds are sifted in the order in which their spokes begin, and so early that all
 * of them are done by then (levels_lead()); to begin earlier than that would move
 * more timers to fans, and move some that are cancelled in time. A crowd that is due
 * at one tick is not sifted. When a timer comes that is due at another one, the crowd
 * goes to a fan as a whole, in one move (levels_part()).
 *
 * So when a tick is due, what has to be moved before its timers can run is no crowd:
 * the own lists of the spokes that begin there, one of each level and a bucket, and of
 * the first spoke of each one's fan. With n levels that is
 *
 *	n * HWHEEL_CROWD + (n + 1) * HWHEEL_CROWD_FAN
 *
 * timers at most, 416 for 5 levels, however many others there are. It takes two things:
 * fans, which the user makes when told that they are wanted, and enough time to sift.
 *
 * Timers for the past
 * -------------------
 *
 * A timer that is armed for a tick that has passed is due now. If now were the clock,
 * which may be behind the time because much is due, callbacks that arm timers for the
 * past would be followed by these at once, and others never get their turn. So now is
 * the tick that levels_step() was told of last, the floor, behind all that was due
 * before. Such a timer is in the spoke of a later tick than its own.
 *
 * Invariants, checked by levels_check()
 * -------------------------------------
 *
 *  - clock <= bound <= due tick, for each timer in a spoke. Timers that are
 *    overdue when they come count as due at the floor, which is not before the clock.
 *  - Each timer of level i is in the spoke of its slot, and that slot lies 0
 *    to n[i] - 1 slots ahead of the clock's.
 *  - A spoke's bit is set and its bound is a tick if and only if its lists are
 *    not both empty, or it has a fan; a summary bit if and only if its word is not
 *    zero.
 *  - All timers in the lists of a spoke that is not mixed are due at its bound.
 *  - The bound of a spoke with empty lists is that of the first spoke of its fan.
 *  - A spoke's lists are a crowd only if it is known to be crowded, or due at one
 *    tick, or can hold timers of one tick only.
 */
#ifndef _HWHEEL_LEVELS_H
#define _HWHEEL_LEVELS_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/math64.h>

#include "hwheel.h"

/* List moves at most with a lock held, and in one call. */
#define HWHEEL_BATCH		32
#define HWHEEL_STEP		(HWHEEL_BATCH / 2)
/*
 * A spoke is a crowd from this many timers on: in a level or a bucket, and in a fan. Both
 * are powers of two. Arming looks at a spoke each HWHEEL_CROWD timers, which costs it
 * less than two instructions a timer.
 */
#ifndef HWHEEL_CROWD
#define HWHEEL_CROWD		64
#endif
#ifndef HWHEEL_CROWD_FAN
#define HWHEEL_CROWD_FAN	(HWHEEL_CROWD / 4)
#endif
/* What sifting one of a crowd takes at most, breaks for others included. */
#ifndef HWHEEL_SIFT_NS
#define HWHEEL_SIFT_NS		500
#endif
/* Spokes of a fan: at most as many as a word has bits. */
#ifndef HWHEEL_FAN_BITS
#define HWHEEL_FAN_BITS		6
#endif
#define HWHEEL_FAN		BIT(HWHEEL_FAN_BITS)
/*
 * Lists of a spoke. A list is walked one cache miss at a time. With two lists,
 * taken from both ends, four are under way; with three it was no faster.
 * spoke_list(), spoke_end() and levels_unlink() are written for two.
 */
#define HWHEEL_LISTS		2
#define HWHEEL_SPOKE_SIZE	64	/* a cache line, for spoke_of() */
/* A tick that no timer is due at. */
#define HWHEEL_NEVER		U64_MAX

/* Spokes of the parking lot: a bucket a bit, one for now, one in transit. */
#define HWHEEL_PARKED		64
#define HWHEEL_NOW		61	/* due at the clock, while there is no level */
#define HWHEEL_EXPIRED		63	/* due at one tick, about to run */

/*
 * Faults for the torture test to find: built with -DHWHEEL_BROKEN, and chosen
 * by hwheel.ko's parameter broken.
 */
enum hwheel_fault {
	HWHEEL_NO_FAULT,
	HWHEEL_EARLY,
	HWHEEL_LOSE_IN_CASCADE,
	HWHEEL_NO_WAIT_IN_CANCEL_SYNC,
	HWHEEL_FIRE_TWICE,
	HWHEEL_FORGET_OFFLINE_CPU,
	HWHEEL_LEAK_RUNNING,
	HWHEEL_DATA_RACE,		/* for KCSAN to find */
};

#ifdef HWHEEL_BROKEN
static bool hwheel_broken(enum hwheel_fault fault);
#else
static __always_inline bool hwheel_broken(enum hwheel_fault fault)
{
	return false;
}
#endif

/**
 * struct hwheel_geometry - sizes of the levels
 * @tick_ns: nanoseconds a tick
 * @levels: number of levels
 * @spokes: number of spokes of each level
 */
struct hwheel_geometry {
	u64			tick_ns;
	unsigned int		levels;
	unsigned int		spokes[HWHEEL_MAX_LEVELS];
};

/*
 * A spoke. It knows its level and number, and is found from the head of each of
 * its lists, so that the last timer that leaves, whose neighbours both are such
 * a head, can have the bit cleared. Arming writes to one cache line of it.
 */
struct hwheel_spoke {
	struct list_head	timers[HWHEEL_LISTS];
	u64			bound;		/* HWHEEL_NEVER while it is empty */
	u32			added;		/* timers since it was last empty */
	u16			index;
	u8			level;		/* HWHEEL_IN_FAN: of none */
	bool			mixed;		/* timers due at different ticks, or a fan */
	unsigned long		more;		/* its fan, and what it is; 0 for most */
	u64			bits;		/* a word of a bitmap of the level */
} __aligned(HWHEEL_SPOKE_SIZE);

/* In @more, below the address of the fan */
#define HWHEEL_CHILD		BIT(0)	/* it is a spoke of a fan */
#define HWHEEL_CROWDED		BIT(1)	/* it, or one in its fan, is to be sifted */
#define HWHEEL_ONE_TICK		BIT(2)	/* a crowd that is due at one tick; not mixed */
#define HWHEEL_IN_FAN		255

/*
 * The spokes that a crowd is sifted into ahead of its time, each of 2^shift ticks.
 * Each may have a fan, too, but if it is of one tick.
 */
struct hwheel_fan {
	u64			bits;		/* spokes that are occupied */
	u64			crowded;	/* spokes that are to be sifted */
	u64			begin;		/* the first tick */
	unsigned int		shift;
	struct hwheel_spoke	*parent;
	struct hwheel_fan	*next;		/* in the stock */
	struct hwheel_spoke	child[HWHEEL_FAN];
} __aligned(HWHEEL_SPOKE_SIZE);

/* The spoke of which @head is a list. */
static inline struct hwheel_spoke *spoke_of(const struct list_head *head)
{
	return (struct hwheel_spoke *)((unsigned long)head & ~(HWHEEL_SPOKE_SIZE - 1UL));
}

/* Are there no timers in it, nor in its fan? */
static __always_inline bool spoke_empty(const struct hwheel_spoke *spoke)
{
	return spoke->bound == HWHEEL_NEVER;
}

/* Are there none in its own lists? */
static inline bool spoke_bare(const struct hwheel_spoke *spoke)
{
	return list_empty(&spoke->timers[0]) && list_empty(&spoke->timers[1]);
}

static inline struct hwheel_fan *spoke_fan(const struct hwheel_spoke *spoke)
{
	return (struct hwheel_fan *)(spoke->more & ~(HWHEEL_SPOKE_SIZE - 1UL));
}

/* The fan that @child is a spoke of. */
static inline struct hwheel_fan *fan_of(const struct hwheel_spoke *child)
{
	return container_of(child - child->index, struct hwheel_fan, child[0]);
}

/*
 * The list of @spoke for the next timer. The first few all go to one of them, as
 * small spokes with two lists would only be emptied twice as often. They take
 * turns after as many timers as a list's head has bytes, so that the number of
 * timers has the bit that is the offset of the second.
 */
static __always_inline struct list_head *spoke_list(struct hwheel_spoke *spoke)
{
	return (void *)spoke->timers + (spoke->added & sizeof(struct list_head));
}

/* Go through the timers of @spoke, list by list. */
#define spoke_for_each(timer, spoke)						\
	for (unsigned int __list = 0; __list < HWHEEL_LISTS; __list++)		\
		list_for_each_entry(timer, &(spoke)->timers[__list], entry)

/* Division by a constant: a shift for powers of two, else a reciprocal. */
struct hwheel_divisor {
	u64			mul;		/* 0 for a power of two */
	unsigned int		shift;
};

/* One cache line, all of it used by placing a timer but for @width. */
struct hwheel_level {
	struct hwheel_spoke	*spokes;
	u64			summary;	/* a bit per word of the bitmap that is not 0 */
	u64			slot;		/* the clock, in slots */
	struct hwheel_divisor	div;		/* by @width */
	u64			width;		/* ticks a slot */
	u16			nr;		/* spokes */
	u16			open;		/* likewise, 0 if there are none to place in */
	u16			pos;		/* spoke of the clock's slot */
	u64			crowds;		/* as @summary, of the bitmap of crowds */
} ____cacheline_aligned;

/* The timers of a level's largest crowd; see levels_lead(). */
struct hwheel_most {
	u64			now;		/* in this turn of the level */
	u64			before;		/* in the last one */
	u64			since;		/* the slot that this turn began at */
	u64			lead;		/* the last answer of levels_lead() */
};

/**
 * struct hwheel_levels - a layered wheel
 * @clock: the present tick; what is due at or before it may be run
 * @floor: the last tick that a step was told of; what is armed for an earlier one
 *	is due then
 * @pending: number of timers
 * @above: no spoke above level 0 has a bound before this tick
 * @walk: where levels_walk() goes on; moved on when that timer leaves
 * @moved: timers moved by cascades so far
 * @visited: spokes emptied by cascades and expirations so far
 * @stock: fans that are not in use
 * @tick_ns: nanoseconds a tick
 * @tick_div: divides by @tick_ns
 * @last_tick: last tick that begins at or before S64_MAX nanoseconds
 * @nr: number of levels that exist; higher ones are empty and have no spokes
 * @planned: number of levels of the geometry; level[planned] is the parking lot
 * @wanted: number of levels that timers have asked for
 * @pow2: all levels have a power of two spokes
 * @starved: no fan was left in the stock
 * @want: told, with the levels locked, when @wanted is more than @nr or @fans_wanted
 *	more than @fans; or NULL
 * @lowest: by the highest bit in the distance to a timer's tick, the lowest
 *	level that can be its own
 * @level: the levels
 * @fans: number of fans there are
 * @fans_used: of them, in use
 * @fans_wanted: number of fans that there should be
 * @from: spoke of a level that timers were moved from last, or from its fan
 * @walk_root: the spoke whose timers are walked through, those in its fan too
 * @walked: the spoke that @walk is in
 * @walk_at: its first tick
 * @walk_width: its width in ticks
 * @most: of each level, see levels_lead()
 */
struct hwheel_levels {
	u64			clock;		/* a cache line of what changes */
	u64			floor;
	u64			pending;
	u64			above;
	struct list_head	*walk;
	u64			moved;
	u64			visited;
	struct hwheel_fan	*stock;
	u64			tick_ns;	/* and what does not, or seldom */
	struct hwheel_divisor	tick_div;
	u64			last_tick;
	u8			nr;
	u8			planned;
	u8			wanted;
	bool			pow2;
	bool			starved;
	void			(*want)(struct hwheel_levels *l);
	u8			lowest[64];
	struct hwheel_level	level[HWHEEL_MAX_LEVELS + 1];
	unsigned int		fans;
	unsigned int		fans_used;
	unsigned int		fans_wanted;
	const struct hwheel_spoke *from;
	struct hwheel_spoke	*walk_root;
	struct hwheel_spoke	*walked;
	u64			walk_at;
	u64			walk_width;
	struct hwheel_most	most[HWHEEL_MAX_LEVELS + 1];
};

enum hwheel_step {
	HWHEEL_IDLE,	/* nothing to do until levels_wake() */
	HWHEEL_MOVED,	/* some timers moved; call again */
	HWHEEL_DUE,	/* levels_pop() has timers to run; then call again */
};

/*
 * Division by multiplication (Granlund and Montgomery, 1994). For a divisor d
 * with 2^(l-1) < d < 2^l take m = floor(2^(63+l) / d) + 1, which fits 64 bits.
 * m * d exceeds 2^(63+l) by at most d < 2^l, so x * m / 2^(63+l) is off by less
 * than 1/d for every x < 2^63, too little to reach the next integer.
 */
static inline void divisor_init(struct hwheel_divisor *div, u64 d)
{
	unsigned int i, l = fls64(d) - 1;
	u64 rest = 1ULL << l;

	div->mul = 0;
	div->shift = l;
	if (rest == d)
		return;

	for (i = 0; i < 64; i++) {	/* mul = floor(2^(l+64) / d), bit by bit */
		rest <<= 1;
		div->mul <<= 1;
		if (rest >= d) {
			rest -= d;
			div->mul |= 1;
		}
	}
	div->mul++;
}

static __always_inline u64 divisor_div(const struct hwheel_divisor *div, u64 x)
{
	if (div->mul) {
#ifdef __SIZEOF_INT128__	/* one instruction, also where math64.h has none */
		OPTIMIZER_HIDE_VAR(x);	/* gcc that knows it for a s64 takes four */
		x = (__uint128_t)x * div->mul >> 64;
#else
		x = mul_u64_u64_shr(x, div->mul, 64);
#endif
	}
	return x >> div->shift;
}

/* First tick at or after @ns; tick 0 for all instants up to 0. */
static __always_inline u64 levels_tick_up(const struct hwheel_levels *l, s64 ns)
{
	return ns > 0 ? divisor_div(&l->tick_div, ns - 1) + 1 : 0;
}

/* Last tick at or before @ns, likewise. */
static __always_inline u64 levels_tick_down(const struct hwheel_levels *l, s64 ns)
{
	return ns > 0 ? divisor_div(&l->tick_div, ns) : 0;
}

static inline s64 levels_tick_ns(const struct hwheel_levels *l, u64 tick)
{
	return tick > l->last_tick ? S64_MAX : (s64)(tick * l->tick_ns);
}

/* The tick that @timer, which is pending, is due at. */
static __always_inline u64 levels_due(const struct hwheel_levels *l,
				      const struct hwheel_timer *timer)
{
	return levels_tick_up(l, timer->expires);
}

/* The highest bit of @x, which is not 0, counted from 0. */
static __always_inline unsigned long levels_highest(u64 x)
{
#if BITS_PER_LONG == 64		/* fls64() minds 0 */
	return __fls(x);
#else
	return fls64(x) - 1;
#endif
}

static __always_inline u64 level_slot(const struct hwheel_level *lv, u64 tick)
{
	return divisor_div(&lv->div, tick);
}

/* Does the reach of @g, tick times the spokes of all levels, fit S64_MAX ns? */
static inline bool hwheel_geometry_fits(const struct hwheel_geometry *g)
{
	u64 reach = g->tick_ns;
	unsigned int i;

	for (i = 0; i < g->levels; i++) {
		if (reach > div_u64(S64_MAX, g->spokes[i]))
			return false;
		reach *= g->spokes[i];
	}
	return true;
}

/* What is wrong with @g, or NULL if nothing is. */
static inline const char *hwheel_geometry_fault(const struct hwheel_geometry *g)
{
	unsigned int i;

	if (g->tick_ns < HWHEEL_MIN_TICK_NS)
		return "the tick is shorter than 1000 ns";
	if (g->levels < 1 || g->levels > HWHEEL_MAX_LEVELS)
		return "the number of levels is not 1 to 8";
	for (i = 0; i < g->levels; i++)
		if (g->spokes[i] < HWHEEL_MIN_SPOKES ||
		    g->spokes[i] > HWHEEL_MAX_SPOKES)
			return "a level's number of spokes is not 2 to 4096";
	if (!hwheel_geometry_fits(g))
		return "tick times spokes of all levels is over S64_MAX ns; take fewer";
	return NULL;
}

/*
 * Bytes of memory, aligned as spokes are, that a level of @nr spokes or the
 * parking lot takes. Of no less than this does kmalloc() align all it gives.
 */
static inline size_t level_size(unsigned int nr)
{
	return max(nr, 4U) * sizeof(struct hwheel_spoke);
}

/* Let the clock, which never goes back and passes no bound, be @clock. */
static inline void levels_set_clock(struct hwheel_levels *l, u64 clock)
{
	unsigned int i;

	l->clock = clock;
	l->floor = max(l->floor, clock);
	for (i = 0; i <= l->planned; i++) {
		struct hwheel_level *lv = &l->level[i];
		u64 slot = level_slot(lv, clock), ahead = slot - lv->slot;

		if (!ahead)
			break;		/* and so it is in all levels above */
		lv->slot = slot;
		if (ahead < lv->nr) {
			ahead += lv->pos;
			lv->pos = ahead < lv->nr ? ahead : ahead - lv->nr;
		} else if (is_power_of_2(lv->nr)) {
			lv->pos = slot & (lv->nr - 1);
		} else {
			u32 pos;

			div_u64_rem(slot, lv->nr, &pos);
			lv->pos = pos;
		}
	}
}

/*
 * Make the spokes of level @i in @memory, level_size() bytes of zeroes. They are
 * no part of the wheel yet, so this needs no lock, and may take its time.
 */
static inline struct hwheel_spoke *level_init(const struct hwheel_levels *l, unsigned int i,
					      void *memory)
{
	struct hwheel_spoke *spokes = memory;
	unsigned int j, k;

	for (j = 0; j < l->level[i].nr; j++) {
		for (k = 0; k < HWHEEL_LISTS; k++)
			INIT_LIST_HEAD(&spokes[j].timers[k]);
		spokes[j].bound = HWHEEL_NEVER;
		spokes[j].level = i;
		spokes[j].index = j;
	}
	return spokes;
}

/*
 * Make an empty wheel of @g, with the parking lot in @memory
 * (level_size(HWHEEL_PARKED) bytes of zeroes) and without levels.
 */
static inline void levels_init(struct hwheel_levels *l,
			       const struct hwheel_geometry *g, void *memory,
			       u64 clock)
{
	unsigned int i, j;
	u64 width = 1;

	memset(l, 0, sizeof(*l));
	l->planned = g->levels;
	l->tick_ns = g->tick_ns;
	l->last_tick = div64_u64(S64_MAX, g->tick_ns);
	divisor_init(&l->tick_div, g->tick_ns);
	l->pow2 = true;

	for (i = 0; i <= l->planned; i++) {
		struct hwheel_level *lv = &l->level[i];

		lv->nr = i < l->planned ? g->spokes[i] : HWHEEL_PARKED;
		lv->width = width;
		divisor_init(&lv->div, width);
		width *= lv->nr;
		l->pow2 &= is_power_of_2(lv->nr);
	}
	l->level[l->planned].spokes = level_init(l, l->planned, memory);

	for (i = 0; i < ARRAY_SIZE(l->lowest); i++) {
		for (j = 0; j < l->planned; j++)
			if (1ULL << i < l->level[j + 1].width)
				break;
		l->lowest[i] = j;
	}
	levels_set_clock(l, clock);
}

static inline struct hwheel_level *levels_parked(struct hwheel_levels *l)
{
	return &l->level[l->planned];
}

static inline struct hwheel_spoke *levels_transit(struct hwheel_levels *l,
						  unsigned int which)
{
	return &levels_parked(l)->spokes[which];
}

/* Has @lv been made? Asked without the lock, too, by those who only look. */
static inline bool level_exists(const struct hwheel_level *lv)
{
	return smp_load_acquire(&lv->spokes);	/* and with them what they hold */
}

static inline bool level_occupied(const struct hwheel_level *lv,
				  unsigned int spoke)
{
	return lv->spokes[spoke / 64].bits & BIT_ULL(spoke % 64);
}

/*
 * The first occupied spoke at or after spoke @from, going round. There must be
 * one.
 */
static inline struct hwheel_spoke *level_first(const struct hwheel_level *lv,
					       unsigned int from)
{
	unsigned int word = from / 64;
	u64 bits = lv->spokes[word].bits & (~0ULL << (from % 64));

	if (!bits) {
		u64 words = word < 63 ? lv->summary & (~0ULL << (word + 1)) : 0;

		word = __ffs64(words ? words : lv->summary);
		bits = lv->spokes[word].bits;
	}
	return &lv->spokes[word * 64 + __ffs64(bits)];
}

/*
 * A level's bitmap of crowds: its words are behind those of the first bitmap, in the
 * spokes that follow.
 */
static inline u64 *level_crowds(const struct hwheel_level *lv, unsigned int spoke)
{
	return &lv->spokes[DIV_ROUND_UP(lv->nr, 64) + spoke / 64].bits;
}

/* The first spoke in it at or after spoke @from, going round. There must be one. */
static inline struct hwheel_spoke *level_first_crowd(const struct hwheel_level *lv,
						     unsigned int from)
{
	u64 bits = *level_crowds(lv, from) & (~0ULL << (from % 64));
	unsigned int word = from / 64;

	if (!bits) {
		u64 words = word < 63 ? lv->crowds & (~0ULL << (word + 1)) : 0;

		word = __ffs64(words ? words : lv->crowds);
		bits = *level_crowds(lv, word * 64);
	}
	return &lv->spokes[word * 64 + __ffs64(bits)];
}

/* The slot of level @lv that spoke number @index stands for at present. */
static inline u64 level_slot_of(const struct hwheel_level *lv, unsigned int index)
{
	return lv->slot + index - lv->pos + (index < lv->pos ? lv->nr : 0);
}

/* The spoke that stands for the slot @ahead slots ahead of the clock's. */
static __always_inline struct hwheel_spoke *level_ahead(const struct hwheel_level *lv,
							u64 ahead)
{
	ahead += lv->pos;
	ahead = ahead < lv->open ? ahead : ahead - lv->open;
	OPTIMIZER_HIDE_VAR(ahead);	/* else gcc finds two addresses, to take one */
	return &lv->spokes[ahead];
}

/* The lowest level that can be that of a timer due in @distance ticks. */
static __always_inline struct hwheel_level *levels_lowest(struct hwheel_levels *l,
							  u64 distance)
{
	return &l->level[l->lowest[levels_highest(distance | 1)]];
}

/*
 * The bucket of a timer due at @tick: the highest bit in which that differs from
 * the clock, or -1 if they are the same.
 */
static inline int levels_bucket(const struct hwheel_levels *l, u64 tick)
{
	return fls64(tick ^ l->clock) - 1;
}

/* The bucket that a timer due at @tick, beyond the levels there are, goes to. */
static inline struct hwheel_spoke *levels_park(struct hwheel_levels *l, u64 tick)
{
	int bucket = levels_bucket(l, tick);

	if (l->nr < l->planned) {
		u8 wanted = max(levels_lowest(l, tick - l->clock) - l->level, l->nr) + 1;

		WRITE_ONCE(l->wanted, clamp(wanted, l->wanted, l->planned));
		if (l->want)
			l->want(l);
	}
	return levels_transit(l, bucket < 0 ? HWHEEL_NOW : bucket);
}

/* Likewise, of a timer that has its place in no level below @lv. */
static noinline struct hwheel_spoke *levels_place_above(struct hwheel_levels *l,
							const struct hwheel_level *lv,
							u64 tick)
{
	for (; lv < &l->level[l->nr]; lv++) {
		u64 ahead = level_slot(lv, tick) - lv->slot;

		if (ahead < lv->nr)
			return level_ahead(lv, ahead);
	}
	return levels_park(l, tick);
}

/*
 * The spoke that a timer due at @tick has its place in, and its level. Whether
 * the distance to @tick spans n or n + 1 slots depends on where in its slot the
 * clock is, so one more level may have to be looked at than @lowest says; with
 * levels of only 2 or 3 spokes two more.
 */
static __always_inline struct hwheel_spoke *
levels_find(struct hwheel_levels *l, u64 *due, const struct hwheel_level **level)
{
	const struct hwheel_level *lv;
	struct hwheel_spoke *spoke;
	u64 tick = *due, ahead, distance = tick - l->floor;

	/* The floor is the clock, or behind it, so this is the level or one below it */
	if (likely((s64)distance >= 0)) {
		lv = levels_lowest(l, distance);
		OPTIMIZER_HIDE_VAR(lv);	/* gcc would find it anew for each of its members */
		ahead = level_slot(lv, tick) - lv->slot;
		if (likely(ahead < lv->open)) {
			*level = lv;
			return level_ahead(lv, ahead);
		}
	} else {			/* overdue; behind all that is due by now */
		lv = l->level;
		tick = l->floor;
		*due = tick;
	}
	spoke = levels_place_above(l, lv, tick);
	*level = &l->level[spoke->level];
	return spoke;
}

/* The same of a timer that was armed before, and is due at @tick or was then overdue. */
static inline struct hwheel_spoke *levels_place(struct hwheel_levels *l, u64 tick)
{
	const struct hwheel_level *lv;
	u64 ahead;

	tick = max(tick, l->clock);
	lv = levels_lowest(l, tick - l->clock);
	ahead = level_slot(lv, tick) - lv->slot;
	return likely(ahead < lv->open) ? level_ahead(lv, ahead) :
					  levels_place_above(l, lv, tick);
}

static inline void levels_mark(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	struct hwheel_level *lv = &l->level[spoke->level];

	lv->spokes[spoke->index / 64].bits |= BIT_ULL(spoke->index % 64);
	lv->summary |= BIT_ULL(spoke->index / 64);
}

static inline void levels_unmark(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	struct hwheel_level *lv = &l->level[spoke->level];
	u64 *bits = &lv->spokes[spoke->index / 64].bits;

	spoke->bound = HWHEEL_NEVER;
	*bits &= ~BIT_ULL(spoke->index % 64);
	if (!*bits)
		lv->summary &= ~BIT_ULL(spoke->index / 64);
}

/*
 * list_add_tail() and list_del(), but without the checks of CONFIG_DEBUG_LIST, which
 * Debian's kernels have, and which there are none of for timer_list's hlists. They
 * read both neighbours, and so wait for two cache lines that else are only written
 * to, and cost 29 instructions.
 */
static __always_inline void spoke_link(struct list_head *entry, struct list_head *head)
{
	struct list_head *last = head->prev;

	head->prev = entry;
	WRITE_ONCE(entry->next, head);
	entry->prev = last;
	WRITE_ONCE(last->next, entry);
}

static __always_inline void spoke_unlink(struct list_head *next, struct list_head *prev)
{
	next->prev = prev;
	WRITE_ONCE(prev->next, next);
}

/* ------------------------------------------------------------------------ */
/* Fans */

/* The spoke of a level, or bucket, that @spoke is, or that it is below. */
static inline struct hwheel_spoke *spoke_root(struct hwheel_spoke *spoke)
{
	while (spoke->more & HWHEEL_CHILD)
		spoke = fan_of(spoke)->parent;
	return spoke;
}

/* The first tick of @spoke, which is in a level, a bucket or a fan, and its width. */
static inline u64 spoke_begin(const struct hwheel_levels *l, const struct hwheel_spoke *spoke,
			      u64 *width)
{
	const struct hwheel_level *lv;

	if (spoke->more & HWHEEL_CHILD) {
		const struct hwheel_fan *fan = fan_of(spoke);

		*width = 1ULL << fan->shift;
		return fan->begin + ((u64)spoke->index << fan->shift);
	}
	if (spoke->level == l->planned) {
		*width = 1ULL << spoke->index;
		return spoke->bound >> spoke->index << spoke->index;
	}
	lv = &l->level[spoke->level];
	*width = lv->width;
	return level_slot_of(lv, spoke->index) * lv->width;
}

/* In @fan, in which there are timers, the first spoke that has some. */
static inline struct hwheel_spoke *fan_first(struct hwheel_fan *fan)
{
	return &fan->child[__ffs64(fan->bits)];
}

/* The first spoke below @spoke, or itself, that has timers in its own lists. */
static inline struct hwheel_spoke *spoke_find_own(struct hwheel_spoke *spoke)
{
	while (spoke_bare(spoke))
		spoke = fan_first(spoke_fan(spoke));
	return spoke;
}

/* Let there be a bit for @spoke, or none, among those that are to be sifted. */
static inline void levels_set_crowded(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				      bool crowded)
{
	u64 bit = BIT_ULL(spoke->index % 64), *bits, *summary = NULL;

	if (spoke->more & HWHEEL_CHILD) {
		bits = &fan_of(spoke)->crowded;
	} else {
		bits = level_crowds(&l->level[spoke->level], spoke->index);
		summary = &l->level[spoke->level].crowds;
	}
	if (crowded) {
		*bits |= bit;
		spoke->more |= HWHEEL_CROWDED;
	} else {
		*bits &= ~bit;
		spoke->more &= ~HWHEEL_CROWDED;
	}
	if (summary) {
		bit = BIT_ULL(spoke->index / 64);
		*summary = *bits ? *summary | bit : *summary & ~bit;
	}
}

/* How many timers in its own lists make @spoke a crowd? */
static inline unsigned int levels_few(const struct hwheel_spoke *spoke)
{
	return spoke->more & HWHEEL_CHILD ? HWHEEL_CROWD_FAN : HWHEEL_CROWD;
}

/* Is @spoke, or one in its fan, to be sifted? Tell those above it. */
static inline void levels_note_crowd(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	for (;;) {
		const struct hwheel_fan *fan = spoke_fan(spoke);
		bool crowded = spoke->added >= levels_few(spoke) || (fan && fan->crowded);

		if (crowded == !!(spoke->more & HWHEEL_CROWDED))
			return;
		levels_set_crowded(l, spoke, crowded);
		if (!(spoke->more & HWHEEL_CHILD))
			return;
		spoke = fan_of(spoke)->parent;
	}
}

/* The number of fans that should be in the stock. */
static inline unsigned int levels_stock(const struct hwheel_levels *l)
{
	return 8 + min(l->pending / 4096, 1024ULL);
}

/* Ask for fans if the stock runs low. */
static inline void levels_want_fans(struct hwheel_levels *l)
{
	if (l->fans - l->fans_used >= levels_stock(l))
		return;
	WRITE_ONCE(l->fans_wanted, l->fans_used + 2 * levels_stock(l));
	if (l->want)
		l->want(l);
}

/* Give @spoke a fan, over @width ticks from @begin; NULL if there is none. */
static inline struct hwheel_fan *levels_fan(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					    u64 begin, u64 width)
{
	struct hwheel_fan *fan = l->stock;

	l->fans_used += !!fan;
	l->starved = !fan;
	levels_want_fans(l);
	if (!fan)
		return NULL;
	l->stock = fan->next;
	fan->begin = begin;
	fan->shift = fls64((width - 1) >> HWHEEL_FAN_BITS);
	fan->parent = spoke;
	spoke->more |= (unsigned long)fan;
	return fan;
}

/*
 * Where in @spoke's fan a timer due at @tick has its place; NULL if @spoke has none
 * and there is none in the stock.
 */
static inline struct hwheel_spoke *levels_fan_place(struct hwheel_levels *l,
						    struct hwheel_spoke *spoke, u64 tick)
{
	struct hwheel_fan *fan = spoke_fan(spoke);
	u64 begin, width;

	if (!fan) {
		begin = spoke_begin(l, spoke, &width);
		fan = levels_fan(l, spoke, begin, width);
		if (!fan)
			return NULL;
	}
	for (;;) {
		spoke = &fan->child[(tick - fan->begin) >> fan->shift];
		fan = spoke_fan(spoke);
		if (!fan)
			return spoke;
		spoke->bound = min(spoke->bound, tick);
	}
}

/*
 * The own lists of @spoke, which has a fan or is in one, or is crowded, have become
 * empty. What is empty now, and fans of which all is empty, go; and bounds rise.
 */
static noinline void levels_bare(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	for (;;) {
		struct hwheel_fan *fan = spoke_fan(spoke);

		spoke->added = 0;
		spoke->more &= ~HWHEEL_ONE_TICK;
		if (fan && !fan->bits) {
			fan->next = l->stock;
			l->stock = fan;
			l->fans_used--;
			spoke->more &= HWHEEL_CHILD | HWHEEL_CROWDED;
			fan = NULL;
		}
		levels_note_crowd(l, spoke);
		if (fan) {
			u64 bound = fan_first(fan)->bound;

			if (spoke->bound == bound && !spoke->mixed)
				return;
			spoke->bound = bound;
			spoke->mixed = false;
			if (!(spoke->more & HWHEEL_CHILD))
				return;
		} else {
			if (!(spoke->more & HWHEEL_CHILD)) {
				levels_unmark(l, spoke);
				return;
			}
			spoke->bound = HWHEEL_NEVER;
			fan_of(spoke)->bits &= ~BIT_ULL(spoke->index);
			if (unlikely(l->walked == spoke)) {
				l->walked = NULL;	/* the walk of it is over */
				l->walk = NULL;
			}
		}
		spoke = fan_of(spoke)->parent;
		if (!spoke_bare(spoke))
			return;
	}
}

/* The own lists of @spoke have become empty. */
static __always_inline void levels_emptied(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	if (unlikely(spoke->more))
		levels_bare(l, spoke);
	else
		levels_unmark(l, spoke);
}

/*
 * Make @n fans in @memory, sizeof(struct hwheel_fan) each. As with level_init(), this
 * needs no lock.
 */
static inline void fans_init(void *memory, unsigned int n)
{
	struct hwheel_fan *fan = memory;
	unsigned int i, j;

	memset(memory, 0, n * sizeof(*fan));
	for (; n; n--, fan++) {
		fan->next = n > 1 ? fan + 1 : NULL;
		for (i = 0; i < HWHEEL_FAN; i++) {
			struct hwheel_spoke *spoke = &fan->child[i];

			for (j = 0; j < HWHEEL_LISTS; j++)
				INIT_LIST_HEAD(&spoke->timers[j]);
			spoke->bound = HWHEEL_NEVER;
			spoke->level = HWHEEL_IN_FAN;
			spoke->index = i;
			spoke->more = HWHEEL_CHILD;
		}
	}
}

/* Put @n fans from fans_init() into the stock. */
static inline void levels_add_fans(struct hwheel_levels *l, void *memory, unsigned int n)
{
	struct hwheel_fan *fans = memory;

	fans[n - 1].next = l->stock;
	l->stock = fans;
	l->fans += n;
	l->starved = false;
}

/* ------------------------------------------------------------------------ */
/* Timers come and go */

/* Something due at @tick is, or may be, in @spoke, which is occupied. */
static __always_inline void levels_widen(struct hwheel_spoke *spoke, u64 tick)
{
	bool other = tick != spoke->bound;

	spoke->bound = min(tick, spoke->bound);
	spoke->mixed |= other;
}

static __always_inline void levels_insert(struct hwheel_levels *l,
					  struct hwheel_timer *timer,
					  struct hwheel_spoke *spoke, u64 tick)
{
	if (spoke_empty(spoke)) {
		spoke->bound = tick;
		spoke->mixed = false;
		spoke->added = 1;
		levels_mark(l, spoke);
	} else {
		levels_widen(spoke, tick);
		spoke->added++;
	}
	spoke_link(&timer->entry, spoke_list(spoke));
}

/*
 * Take @timer, which is pending, out of its spoke, to be put into another.
 * All the while it looks pending to those who look without the lock.
 */
static __always_inline void levels_unlink(struct hwheel_levels *l,
					  struct hwheel_timer *timer)
{
	struct list_head *next = timer->entry.next, *prev = timer->entry.prev;

	if (unlikely(l->walk == &timer->entry))
		l->walk = next;
	spoke_unlink(next, prev);
	if (next == prev) {	/* both are a head: this was the last one in its list */
		struct hwheel_spoke *spoke = spoke_of(next);

		if (list_empty(&spoke->timers[next == &spoke->timers[0]]))
			levels_emptied(l, spoke);
	}
}

/* Take @timer off the wheel, to be added to another one. */
static __always_inline void levels_leave(struct hwheel_levels *l,
					 struct hwheel_timer *timer)
{
	levels_unlink(l, timer);
	l->pending--;
}

/* Take @timer off the wheel. */
static __always_inline void levels_del(struct hwheel_levels *l,
				       struct hwheel_timer *timer)
{
	levels_leave(l, timer);
	WRITE_ONCE(timer->entry.next, NULL);
}

/* Let the bit of @spoke, which was empty, be set. */
static inline void levels_occupy(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	if (spoke->more & HWHEEL_CHILD)
		fan_of(spoke)->bits |= BIT_ULL(spoke->index);
	else
		levels_mark(l, spoke);
}

/* Can @spoke hold timers that are due at different ticks? */
static inline bool levels_mixes(const struct hwheel_levels *l, const struct hwheel_spoke *spoke)
{
	if (spoke->more & HWHEEL_CHILD)
		return fan_of(spoke)->shift;
	if (spoke->level == l->planned)
		return spoke->index && spoke->index < HWHEEL_NOW;
	return spoke->level;
}

/*
 * How many ticks before they begin the crowds of level @i, in spokes of @width ticks, are
 * sifted: as many as the largest of them needs, so that the one that begins first comes
 * first.
 *
 * A crowd that takes little of the time that its spoke is wide is begun four times that
 * before the spoke begins; most of it has its place in the level below then. One that
 * takes more may be one of many in a row, so the sum of all must be reckoned with; and
 * each may have to be moved once for every HWHEEL_FAN that its spoke is wide.
 */
static inline u64 levels_lead(struct hwheel_levels *l, unsigned int i, u64 width)
{
	const struct hwheel_level *lv = &l->level[i];
	struct hwheel_most *most = &l->most[i];
	u64 need, ticks;

	if (lv->slot - most->since >= lv->nr && i < l->planned) {
		most->before = most->now;	/* those of the turn before last are over */
		most->now = 0;
		most->since = lv->slot;
	}
	need = levels_tick_down(l, max(most->now, most->before) * HWHEEL_SIFT_NS) + 1;
	ticks = 4 * need;
	if (need > width / 8)
		ticks = levels_tick_down(l, l->pending * HWHEEL_SIFT_NS *
					    (fls64(width) / HWHEEL_FAN_BITS + 1)) + 1;
	most->lead = ticks;
	return ticks;
}

/* @spoke is a crowd. Count on twice as many, not to be told of each timer that joins it. */
static inline void levels_note_most(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	struct hwheel_most *most = &l->most[spoke_root(spoke)->level];

	if (spoke->added > most->now)
		most->now = 2ULL * spoke->added;
}

/*
 * Timers have come to @spoke, so many that they are a crowd. One that is due at one tick
 * keeps its count just below that, so that whatever comes next is looked at, too.
 */
static inline void levels_joined(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	if (spoke->added < levels_few(spoke) || !levels_mixes(l, spoke))
		return;
	if (spoke->mixed) {
		levels_note_crowd(l, spoke);
		levels_note_most(l, spoke);
	} else {
		spoke->more |= HWHEEL_ONE_TICK;
		spoke->added = HWHEEL_CROWD - 1;
		levels_want_fans(l);	/* for when others come */
	}
}

/* Move all of @from's own timers to the end of @to's, which may be empty. */
static inline void levels_splice(struct hwheel_levels *l,
				 struct hwheel_spoke *from,
				 struct hwheel_spoke *to)
{
	unsigned int i;

	if (unlikely(l->walked == from))	/* the walk of it is over */
		l->walk = &from->timers[HWHEEL_LISTS - 1];
	if (spoke_empty(to)) {
		to->bound = from->bound;
		to->mixed = from->mixed;
		to->added = from->added;
		to->more |= from->more & HWHEEL_ONE_TICK;
		levels_occupy(l, to);
	} else {
		levels_widen(to, from->bound);
		to->mixed |= from->mixed;
		to->added += from->added;
	}
	for (i = 0; i < HWHEEL_LISTS; i++)
		list_splice_tail_init(&from->timers[i], &to->timers[i]);
	levels_emptied(l, from);
	levels_joined(l, to);
	l->visited++;
}

/*
 * Where below @spoke a crowd that is due at @tick has its place, with no others; NULL if
 * there is no fan for it.
 */
static inline struct hwheel_spoke *levels_crowd_place(struct hwheel_levels *l,
						      struct hwheel_spoke *spoke, u64 tick)
{
	do {
		spoke = levels_fan_place(l, spoke, tick);
	} while (spoke && !spoke_empty(spoke) && (spoke->mixed || spoke->bound != tick));
	return spoke;
}

/*
 * A timer of @spoke, which is not empty: the first or the last one of each of
 * its lists by turns, so that as many cache misses as can be are under way. A
 * spoke's timers are in no order anyway.
 */
static __always_inline struct hwheel_timer *spoke_end(struct hwheel_spoke *spoke,
						      unsigned int turn)
{
	struct list_head *list = &spoke->timers[turn % 2];

	if (unlikely(list_empty(list)))
		list = &spoke->timers[!(turn % 2)];
	return list_entry(turn / 2 % 2 ? list->prev : list->next, struct hwheel_timer, entry);
}

/* Put @timer, due at @tick, into @spoke, which it has not been in. */
static __always_inline void levels_put(struct hwheel_levels *l, struct hwheel_timer *timer,
				       struct hwheel_spoke *spoke, u64 tick)
{
	if (spoke_empty(spoke)) {
		spoke->bound = tick;
		spoke->mixed = false;
		spoke->added = 1;
		levels_occupy(l, spoke);
	} else {
		levels_widen(spoke, tick);
		spoke->added++;
	}
	spoke_link(&timer->entry, spoke_list(spoke));
}

/*
 * @timer, due at @tick, has joined a crowd that is due at one other tick. Nobody is to
 * wait for that crowd to be moved one by one: it goes to a place of its own. If there is
 * none, it is a crowd like any other from here on.
 */
static noinline void levels_part(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				 struct hwheel_timer *timer, u64 tick)
{
	struct hwheel_spoke *to = NULL;
	u64 old;

	spoke_unlink(timer->entry.next, timer->entry.prev);
	old = levels_due(l, spoke_end(spoke, 0));
	if (old >= l->floor)	/* else that may not be its turn, as it came overdue */
		to = levels_crowd_place(l, spoke, old);
	if (to) {
		spoke->bound = old;
		spoke->mixed = false;
		levels_splice(l, spoke, to);
		levels_put(l, timer, spoke, tick);
		return;
	}
	spoke_link(&timer->entry, &spoke->timers[0]);
	spoke->more &= ~HWHEEL_ONE_TICK;
	spoke->added = l->pending;	/* no more than that */
	if (spoke->added >= levels_few(spoke)) {
		levels_note_crowd(l, spoke);
		levels_note_most(l, spoke);
	}
}

/* @timer, due at @tick, is moved to @spoke. */
static __always_inline void levels_put_moved(struct hwheel_levels *l,
					     struct hwheel_timer *timer,
					     struct hwheel_spoke *spoke, u64 tick)
{
	levels_put(l, timer, spoke, tick);
	if (likely(spoke->added % HWHEEL_CROWD_FAN))
		return;
	if (spoke->more & HWHEEL_ONE_TICK && spoke->mixed)
		levels_part(l, spoke, timer, tick);
	else
		levels_joined(l, spoke);
}

/*
 * The first spoke that is to be sifted in or below @root, which is crowded, and the tick
 * at which that begins.
 */
static inline u64 spoke_next_sift(struct hwheel_levels *l, struct hwheel_spoke *root,
				  struct hwheel_spoke **which)
{
	struct hwheel_spoke *spoke = root;
	u64 width, begin = spoke_begin(l, root, &width);
	u64 lead = levels_lead(l, root->level, width);

	while (spoke->added < levels_few(spoke))
		spoke = &spoke_fan(spoke)->child[__ffs64(spoke_fan(spoke)->crowded)];
	*which = spoke;
	if (spoke != root)
		begin = spoke_begin(l, spoke, &width);
	return begin - min(begin, lead);
}

/* The same of level @i. Buckets may begin within one that the clock has entered. */
static inline u64 level_next_sift(struct hwheel_levels *l, unsigned int i,
				  struct hwheel_spoke **which)
{
	const struct hwheel_level *lv = &l->level[i];
	u64 bits, least = HWHEEL_NEVER;

	if (likely(!lv->crowds) || unlikely(l->starved))
		return HWHEEL_NEVER;
	if (i < l->planned)
		return spoke_next_sift(l, level_first_crowd(lv, lv->pos), which);
	for (bits = *level_crowds(lv, 0); bits; bits &= bits - 1) {
		struct hwheel_spoke *spoke;
		u64 tick = spoke_next_sift(l, &lv->spokes[__ffs64(bits)], &spoke);

		if (tick < least) {
			least = tick;
			*which = spoke;
		}
	}
	return least;
}

/* The same of all levels. */
static inline u64 levels_next_sift(struct hwheel_levels *l, struct hwheel_spoke **which)
{
	u64 least = HWHEEL_NEVER;
	unsigned int i;

	for (i = 1; i <= l->planned; i++) {
		struct hwheel_spoke *spoke;
		u64 tick = level_next_sift(l, i, &spoke);

		if (tick < least) {
			least = tick;
			*which = spoke;
		}
	}
	return least;
}

/* Is @spoke known to be a crowd of no less than its size? */
static __always_inline bool levels_known(const struct hwheel_levels *l,
					 const struct hwheel_spoke *spoke)
{
	return (spoke->more & (HWHEEL_CROWDED | HWHEEL_ONE_TICK)) == HWHEEL_CROWDED &&
	       spoke->added <= l->most[spoke->level].now;
}

/* @timer, due at @tick, has joined a crowd in @spoke; else as levels_added(). */
static noinline u64 levels_crowd(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				 struct hwheel_timer *timer, u64 tick)
{
	const struct hwheel_most *most = &l->most[spoke->level];
	bool known = spoke->added <= most->now;
	u64 begin, width;

	if (spoke->more & HWHEEL_ONE_TICK && spoke->mixed)
		levels_part(l, spoke, timer, tick);
	else
		levels_joined(l, spoke);
	if (!(spoke->more & HWHEEL_CROWDED))
		return tick;
	if (known) {
		begin = spoke_begin(l, spoke, &width);
		return min(tick, begin - min(begin, most->lead));
	}
	levels_want_fans(l);
	return min(tick, level_next_sift(l, spoke->level, &spoke));
}

/*
 * The tick by which the levels want to be looked at when @timer, due at @tick, has
 * been put into @spoke: @tick, or earlier when it has joined a crowd.
 */
static __always_inline u64 levels_added(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					struct hwheel_timer *timer, u64 tick)
{
	if (likely(spoke->added % HWHEEL_CROWD) || levels_known(l, spoke))
		return tick;
	return levels_crowd(l, spoke, timer, tick);
}

/* Add @timer, due at @tick. Returns as levels_added() does. */
static __always_inline u64 levels_add(struct hwheel_levels *l,
				      struct hwheel_timer *timer, u64 tick)
{
	const struct hwheel_level *lv;
	struct hwheel_spoke *spoke = levels_find(l, &tick, &lv);

	l->pending++;
	levels_insert(l, timer, spoke, tick);
	return levels_added(l, spoke, timer, tick);
}

/*
 * Is @timer, due at @old, all right for @tick where it is? It is in the spoke
 * that @old has its place in now, or in one further up that covers the same
 * slot and that nobody has had the time to empty. If @tick has the same place,
 * @spoke, it may stay; which of the spokes it is in can't be told, so all of
 * them learn about @tick. (With a fan, or anything parked or in transit, it can be
 * too far from its place for that; and what is due at one tick may be a crowd.)
 */
static noinline bool levels_stays(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				  u64 old, u64 tick)
{
	unsigned int i;

	if (old == tick)
		return true;
	if (old < l->floor || spoke != levels_place(l, old) || levels_parked(l)->summary)
		return false;
	for (i = spoke->level; i < l->nr; i++) {
		const struct hwheel_level *lv = &l->level[i];
		u64 ahead = level_slot(lv, tick) - lv->slot;

		if (ahead >= lv->nr)
			continue;
		spoke = level_ahead(lv, ahead);
		if (spoke->more & ~HWHEEL_CROWDED)
			return false;
		if (!spoke_empty(spoke))
			levels_widen(spoke, tick);
	}
	return true;
}

/*
 * Let @timer, which is pending and due at @old, be due at @tick. Returns as
 * levels_added() does.
 */
static __always_inline u64 levels_mod(struct hwheel_levels *l,
				      struct hwheel_timer *timer, u64 old, u64 tick)
{
	const struct hwheel_level *lv;
	struct hwheel_spoke *spoke;

	if (old == tick)
		return tick;
	spoke = levels_find(l, &tick, &lv);
	if (unlikely(level_slot(lv, old) == level_slot(lv, tick)) &&
	    levels_stays(l, spoke, old, tick))
		return tick;
	levels_unlink(l, timer);
	levels_insert(l, timer, spoke, tick);
	return levels_added(l, spoke, timer, tick);
}

/*
 * The occupied spoke with the least bound, or NULL if no timer is pending.
 *
 * Mostly it is one of level 0, and the others need not be looked at: after a
 * look at all of them nothing above level 0 can be due before the least bound
 * found there, nor, whatever is added later, before the next slot of level 1.
 */
static inline struct hwheel_spoke *levels_first(struct hwheel_levels *l)
{
	const struct hwheel_level *lv = &l->level[0];
	struct hwheel_spoke *first = NULL, *spoke;
	unsigned int i;
	u64 bits, bound;

	if (lv->summary) {
		first = level_first(lv, lv->pos);
		if (first->bound < l->above)
			return first;
	}

	l->above = l->nr ? (lv[1].slot + 1) * lv[1].width : 0;
	bound = first ? first->bound : HWHEEL_NEVER;
	for (i = 1; i < l->nr; i++) {
		lv = &l->level[i];
		if (!lv->summary)
			continue;
		spoke = level_first(lv, lv->pos);
		l->above = min(l->above, spoke->bound);
		if (spoke->bound < bound || !first) {
			first = spoke;
			bound = spoke->bound;
		}
	}
	lv = levels_parked(l);
	for (bits = lv->spokes[0].bits; bits; bits &= bits - 1) {
		spoke = &lv->spokes[__ffs64(bits)];
		l->above = min(l->above, spoke->bound);
		if (spoke->bound < bound || !first) {
			first = spoke;
			bound = spoke->bound;
		}
	}
	return first;
}

/*
 * The tick at which levels_step() wants to be called next; HWHEEL_NEVER if
 * there are no timers. That is at once with timers left to pop.
 */
static inline u64 levels_wake(struct hwheel_levels *l)
{
	const struct hwheel_spoke *first;
	struct hwheel_spoke *sift;

	if (!spoke_empty(levels_transit(l, HWHEEL_EXPIRED)))
		return l->clock;
	first = levels_first(l);
	if (!first)
		return HWHEEL_NEVER;
	return min(first->bound, levels_next_sift(l, &sift));
}

/* Is anything due at @tick, or left to pop? Or may it be: so bounds say. */
static inline bool levels_ripe(struct hwheel_levels *l, u64 tick)
{
	const struct hwheel_spoke *first;

	if (!spoke_empty(levels_transit(l, HWHEEL_EXPIRED)))
		return true;
	first = levels_first(l);
	return first && first->bound <= tick;
}

/*
 * A spoke above level 0 that has timers in its own lists and that the clock has
 * entered, the highest first; or NULL.
 */
static inline struct hwheel_spoke *levels_entered(struct hwheel_levels *l)
{
	const struct hwheel_level *lv = levels_parked(l);
	struct hwheel_spoke *spoke;
	unsigned int i;
	u64 bits;

	for (bits = lv->spokes[0].bits & (BIT_ULL(HWHEEL_NOW) - 1); bits; bits &= bits - 1) {
		spoke = &lv->spokes[__ffs64(bits)];
		if (levels_bucket(l, spoke->bound) < spoke->index && !spoke_bare(spoke))
			return spoke;
	}
	for (i = l->nr; i-- > 1;) {
		lv = &l->level[i];
		spoke = &lv->spokes[lv->pos];
		if (level_occupied(lv, lv->pos) && !spoke_bare(spoke))
			return spoke;
	}
	return NULL;
}

/*
 * Where a timer in @spoke's own lists that is due at @tick goes: to its place in the
 * levels or, if that is @root, which @spoke is or is below, to @spoke's fan. NULL if
 * there is no fan to be had.
 */
static __always_inline struct hwheel_spoke *levels_below(struct hwheel_levels *l,
							 struct hwheel_spoke *spoke,
							 struct hwheel_spoke *root, u64 tick)
{
	struct hwheel_spoke *place = levels_place(l, tick);

	return likely(place != root) ? place : levels_fan_place(l, spoke, tick);
}

/*
 * Move the timers of @spoke, which are due at one tick, to @to, all of them at once.
 * Crowds that are due at one tick are kept from others. False if @spoke is no crowd and
 * would get into one.
 */
static noinline bool levels_cascade_whole(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					  struct hwheel_spoke *to)
{
	u64 tick = spoke->bound;

	if (!spoke_empty(to) && (to->mixed || to->bound != tick) && levels_mixes(l, to)) {
		struct hwheel_spoke *place;

		if (!(spoke->more & HWHEEL_ONE_TICK) && to->more & HWHEEL_ONE_TICK)
			return false;
		if (to->more & HWHEEL_ONE_TICK) {
			place = levels_crowd_place(l, to, to->bound);
			if (place)
				levels_splice(l, to, place);
		}
		if (spoke->more & HWHEEL_ONE_TICK) {
			place = levels_crowd_place(l, to, tick);
			if (place) {
				levels_widen(to, tick);
				to = place;
			}
		}
	}
	l->moved++;
	levels_splice(l, spoke, to);
	return true;
}

/*
 * Move up to HWHEEL_STEP timers of @spoke's own lists down, or all of them at once if
 * they are due at one tick. False if there is no fan for them.
 */
static inline bool levels_cascade(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	struct hwheel_spoke *root = spoke_root(spoke), *to;
	unsigned int n;

	l->from = root;
	if (!spoke->mixed) {
		to = levels_below(l, spoke, root, spoke->bound);
		if (!to)
			return false;
		if (levels_cascade_whole(l, spoke, to))
			return true;
	}
	for (n = 0; n < HWHEEL_STEP && !spoke_bare(spoke); n++) {
		struct hwheel_timer *timer = spoke_end(spoke, n);
		u64 tick = max(levels_due(l, timer), l->clock);

		if (hwheel_broken(HWHEEL_LOSE_IN_CASCADE)) {
			levels_del(l, timer);
			return true;
		}
		to = levels_below(l, spoke, root, tick);
		if (!to)
			break;
		if (unlikely(l->walk == &timer->entry))
			l->walk = timer->entry.next;
		spoke_unlink(timer->entry.next, timer->entry.prev);
		levels_put_moved(l, timer, to, tick);
	}
	l->moved += n;
	if (n && spoke_bare(spoke)) {
		levels_emptied(l, spoke);
		l->visited++;
	}
	return n;
}

/*
 * Add the next level, with its @spokes from level_init(). What is parked stays where
 * it is until its bucket is entered, or sifted.
 */
static inline void levels_grow(struct hwheel_levels *l, struct hwheel_spoke *spokes)
{
	smp_store_release(&l->level[l->nr].spokes, spokes);	/* for level_exists() */
	l->level[l->nr].open = l->level[l->nr].nr;
	l->nr++;
	l->above = 0;
}

/**
 * levels_step - do a bounded amount of what is to be done at a tick
 * @l: the levels
 * @now: the present tick
 *
 * Timers that are due are done before everything else, in the order of their
 * ticks. What is added when its tick has passed is due behind all that is due by
 * then, so that callbacks which arm timers for the past hold up nobody else.
 * Between two calls anything may be added, removed and changed.
 *
 * Return: HWHEEL_DUE when there are timers to pop and run; HWHEEL_MOVED when
 * some were moved and there may be more to do; HWHEEL_IDLE when all is done.
 */
static inline enum hwheel_step levels_step(struct hwheel_levels *l, u64 now)
{
	struct hwheel_spoke *expired = levels_transit(l, HWHEEL_EXPIRED);
	struct hwheel_spoke *spoke;

	l->floor = max(l->floor, now);
	if (!spoke_empty(expired))
		return HWHEEL_DUE;

	spoke = levels_first(l);
	if (spoke && spoke->bound <= now) {
		if (spoke->bound > l->clock)
			levels_set_clock(l, spoke->bound);
		spoke = spoke_find_own(spoke);
		if (!spoke->level || !spoke->mixed ||
		    spoke == levels_transit(l, HWHEEL_NOW)) {
			levels_splice(l, spoke, expired);
			return HWHEEL_DUE;
		}
		levels_cascade(l, spoke);
		return HWHEEL_MOVED;
	}

	/* Nothing is due, so there is time for what will be. */
	if (now > l->clock)
		levels_set_clock(l, now);
	if (!spoke)
		return HWHEEL_IDLE;

	spoke = levels_entered(l);
	if (!spoke && levels_next_sift(l, &spoke) > l->clock)
		return HWHEEL_IDLE;
	return levels_cascade(l, spoke) ? HWHEEL_MOVED : HWHEEL_IDLE;
}

/* Take the next timer that is due off the wheel; NULL if there is none left. */
static inline struct hwheel_timer *levels_pop(struct hwheel_levels *l)
{
	struct hwheel_spoke *expired = levels_transit(l, HWHEEL_EXPIRED);
	struct hwheel_timer *timer;

	if (spoke_empty(expired))
		return NULL;
	timer = spoke_end(expired, l->pending);
	levels_del(l, timer);
	return timer;
}

/* Any timer, or NULL if none is pending: for those who take them all away. */
static inline struct hwheel_timer *levels_any(struct hwheel_levels *l)
{
	struct hwheel_spoke *spoke = levels_first(l);

	return spoke ? spoke_end(spoke_find_own(spoke), 0) : NULL;
}

/*
 * The most coarsely aligned tick from @first, which is not 0, to @last, which is no
 * less: a multiple of the widest slot that has one there, and of the greatest power
 * of two among those. Timers with slack meet in such ticks.
 */
static noinline u64 levels_align_slow(const struct hwheel_levels *l, u64 first, u64 last)
{
	unsigned int i = READ_ONCE(l->planned);

	while (i--) {
		const struct hwheel_level *lv = &l->level[i];
		u64 slot = level_slot(lv, last);
		u64 differ = slot ^ level_slot(lv, first - 1);	/* the first not to be taken */

		if (differ)
			return (slot >> levels_highest(differ) << levels_highest(differ)) *
			       lv->width;
	}
	return last;	/* a wheel that is just being made again: nothing is armed there */
}

static __always_inline u64 levels_align(const struct hwheel_levels *l, u64 first, u64 last)
{
	unsigned int bit;

	if (unlikely(!l->pow2))
		return levels_align_slow(l, first, last);
	bit = levels_highest((first - 1) ^ last);
	return last >> bit << bit;
}

/**
 * levels_walk_begin - look at the timers of a spoke, with pauses
 * @l: the levels; one walk at a time
 * @spoke: any of its spokes
 *
 * Between calls of levels_walk_next() the lock may be dropped: timers that
 * leave take the walk on to their neighbours. Those that are moved within the spoke
 * meanwhile, into its fan, may be seen twice.
 */
static inline void levels_walk_begin(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	l->walk_root = spoke;
	l->walked = spoke;
	l->walk = spoke->timers[0].next;
	l->walk_at = 0;
	l->walk_width = HWHEEL_NEVER;
}

/*
 * The first spoke of @fan, or below it, with timers in its own lists that begins behind
 * @at or, narrower than @width, there; or NULL. Fans are no deeper than ticks have bits.
 */
static inline struct hwheel_spoke *fan_after(struct hwheel_fan *fan, u64 at, u64 width)
{
	u64 bits;

	for (bits = fan->bits; bits; bits &= bits - 1) {
		unsigned int i = __ffs64(bits);
		struct hwheel_spoke *spoke = &fan->child[i];
		u64 begin = fan->begin + ((u64)i << fan->shift);

		if (!spoke_bare(spoke) &&
		    (begin > at || (begin == at && 1ULL << fan->shift < width)))
			return spoke;
		if (spoke_fan(spoke)) {
			spoke = fan_after(spoke_fan(spoke), at, width);
			if (spoke)
				return spoke;
		}
	}
	return NULL;
}

/* The next timer of the walk; NULL at the end. */
static inline struct hwheel_timer *levels_walk_next(struct hwheel_levels *l)
{
	struct hwheel_timer *timer;

	for (;;) {
		struct hwheel_fan *fan = spoke_fan(l->walk_root);

		while (l->walk && spoke_of(l->walk) == l->walked)	/* a list's head */
			l->walk = l->walk == &l->walked->timers[HWHEEL_LISTS - 1] ?
				  NULL : l->walk[1].next;
		if (l->walk)
			break;
		l->walked = fan ? fan_after(fan, l->walk_at, l->walk_width) : NULL;
		if (!l->walked)
			return NULL;
		l->walk_at = spoke_begin(l, l->walked, &l->walk_width);
		l->walk = l->walked->timers[0].next;
	}
	timer = list_entry(l->walk, struct hwheel_timer, entry);
	l->walk = l->walk->next;
	return timer;
}

static inline void levels_walk_end(struct hwheel_levels *l)
{
	l->walk = NULL;
	l->walked = NULL;
}

/* The timers of @spoke itself; those that were overdue count as due at the floor. */
static inline const char *levels_check_own(const struct hwheel_levels *l,
					   struct hwheel_spoke *spoke, u64 *pending)
{
	bool transit = spoke->level == l->planned && spoke->index >= HWHEEL_NOW;
	const struct hwheel_timer *timer;
	u64 begin, width;

	begin = spoke_begin(l, spoke, &width);
	if (spoke->more & HWHEEL_ONE_TICK && (spoke->mixed || spoke_bare(spoke)) && !transit)
		return "a crowd of one tick is none";
	spoke_for_each(timer, spoke) {
		u64 tick = levels_due(l, timer);

		++*pending;
		if (tick < l->floor && spoke->bound <= l->floor)
			continue;
		if (transit && tick <= l->clock)
			continue;
		if (tick < spoke->bound)
			return "a timer is due before its spoke's bound";
		if (!spoke->mixed && tick != spoke->bound)
			return "a spoke is mixed and does not know";
		if (!transit && tick - begin >= width)
			return "a timer is in another slot's spoke";
	}
	return NULL;
}

static inline const char *levels_check_fan(const struct hwheel_levels *l,
					   struct hwheel_spoke *parent, u64 *pending)
{
	struct hwheel_fan *fan = spoke_fan(parent);
	u64 crowded = 0, begin, width;
	const char *fault = NULL;
	unsigned int i;

	begin = spoke_begin(l, parent, &width);
	if (fan->parent != parent || fan->begin != begin ||
	    (u64)HWHEEL_FAN << fan->shift < width)
		return "a fan is not its spoke's";
	if (spoke_bare(parent) && (!fan->bits || fan_first(fan)->bound != parent->bound))
		return "a bound is not that of the fan";
	for (i = 0; i < HWHEEL_FAN && !fault; i++) {
		struct hwheel_spoke *spoke = &fan->child[i];

		if (!(spoke->more & HWHEEL_CHILD) || spoke->index != i)
			return "a spoke of a fan has another one's number";
		if (!!(fan->bits & BIT_ULL(i)) == spoke_empty(spoke) ||
		    spoke_empty(spoke) != (spoke_bare(spoke) && !spoke_fan(spoke)))
			return "a bit in a fan is not its spoke's";
		if (spoke->more & HWHEEL_CROWDED)
			crowded |= BIT_ULL(i);
		if (spoke_empty(spoke))
			continue;
		if (spoke->bound < parent->bound || spoke->bound < l->clock)
			return "a bound in a fan is less than it can be";
		fault = levels_check_own(l, spoke, pending);
		if (!fault && spoke_fan(spoke))
			fault = levels_check_fan(l, spoke, pending);
	}
	if (!fault && (crowded != fan->crowded ||
		       (crowded && !(parent->more & HWHEEL_CROWDED))))
		return "a crowd in a fan is not known of";
	return fault;
}

/**
 * levels_check - walk the whole structure and compare it with its rules
 * @l: the levels
 *
 * Return: NULL, or what is wrong.
 */
static inline const char *levels_check(struct hwheel_levels *l)
{
	const char *fault = NULL;
	u64 pending = 0;
	unsigned int i, j;
	u32 pos;

	if (l->floor < l->clock)
		return "the floor is behind the clock";
	for (i = 0; i <= l->planned; i++) {
		const struct hwheel_level *lv = &l->level[i];
		u64 summary = 0, crowds = 0;

		div_u64_rem(lv->slot, lv->nr, &pos);
		if (lv->slot != div64_u64(l->clock, lv->width))
			return "a level's clock is not the wheel's";
		if (lv->pos != pos)
			return "a level's position is not its clock's";
		if (i >= l->nr && i < l->planned) {
			if (lv->summary)
				return "a level that is not there is occupied";
			continue;
		}

		for (j = 0; j < lv->nr; j++) {
			struct hwheel_spoke *spoke = &lv->spokes[j];
			bool now = i == l->planned ? j == HWHEEL_EXPIRED || j == HWHEEL_NOW :
				   !i && j == lv->pos;
			bool empty, crowded = spoke->more & HWHEEL_CROWDED;

			if (spoke->level != i || spoke->index != j || spoke->more & HWHEEL_CHILD)
				return "a spoke has another one's number";
			empty = spoke_bare(spoke) && !spoke_fan(spoke);
			if (level_occupied(lv, j) == empty || spoke_empty(spoke) != empty)
				return "a bit is not its spoke's";
			if (crowded == !(*level_crowds(lv, j) & BIT_ULL(j % 64)) ||
			    (crowded && empty))
				return "a crowd is not its spoke's";
			if (spoke_empty(spoke))
				continue;
			summary |= BIT_ULL(j / 64);
			crowds |= (u64)crowded << j / 64;
			if (spoke->bound < l->clock && !now)
				return "a bound is behind the clock";
			if (i && spoke->bound < l->above && !now)
				return "a bound above level 0 is not known of";
			fault = levels_check_own(l, spoke, &pending);
			if (!fault && spoke_fan(spoke))
				fault = levels_check_fan(l, spoke, &pending);
			if (fault)
				return fault;
		}
		if (lv->summary != summary || lv->crowds != crowds)
			return "a summary is not its bitmap's";
	}
	return pending == l->pending ? NULL : "a timer is lost";
}

#endif /* _HWHEEL_LEVELS_H */
