/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layered wheel: levels of spokes, and where a timer goes in them
 *
 * This file and the three that it includes read no clock, take no lock and use no hrtimer. Their
 * user passes in the time, serialises the calls, and runs the timers that are due. All functions
 * are static and stand in headers, so that the compiler can inline the hot path into its callers.
 *
 *	levels.h	the structures, ticks and slots, the clock, bitmaps
 *	levels_place.h	where a timer goes; fans; arming, cancelling; what is to be sifted
 *	levels_step.h	what is due next; how timers move; the clock is set back
 *	levels_check.h	a walk through a spoke, and a check of all invariants
 *
 * Levels, spokes and slots
 * ------------------------
 *
 * Time is counted in ticks. Level i has n[i] spokes. Each of them is u[i] ticks wide:
 *
 *	u[0] = 1
 *	u[i] = u[i - 1] * n[i - 1]
 *
 * For each level, cut time into slots of u[i] ticks, and number the slots from 0: tick e
 * is in slot e / u[i]. Slot s uses spoke s mod n[i]. The clock of a level is the slot of
 * the present tick. For example, with 4 spokes per level, at tick 22:
 *
 *	level 0, u = 1	  slots 22 23 24 25		22..25
 *	level 1, u = 4	  slots  5  6  7  8		20..35
 *	level 2, u = 16	  slots  1  2  3  4		16..79
 *			  (the first slot of each row is the level's clock)
 *
 * A timer due at tick e goes to the lowest level i in which its slot is fewer than n[i]
 * slots ahead of the level's clock. In the example:
 *
 *	tick 25		slot 25 of level 0
 *	tick 26		slot 6 of level 1: in level 0 it is 4 slots ahead, one too many
 *	tick 36		slot 2 of level 2: in level 1 it is 4 slots ahead, one too many
 *
 * Two facts follow:
 *
 * - A spoke never holds timers of two slots.
 * - Above level 0, a timer never goes to the slot that is its level's clock. A lower
 *   level has a finer place for the timer.
 *
 * With the default geometry, 128 spokes per level and a tick of 1 ms:
 *
 *	level	spoke		reach
 *	0	1 ms		128 ms
 *	1	128 ms		16.4 s
 *	2	16.4 s		35 min
 *	3	35 min		3.1 days
 *	4	3.1 days	1.1 years
 *
 * The levels of the geometry are followed by others, of 128 spokes each, up to the last tick. So
 * there is a level for every timer. Levels cost memory, and most wheels need few. So a wheel begins
 * without levels. It tells its user which level a timer wants, and the user can add that level at
 * any time (levels_grow()).
 *
 * A spoke
 * -------
 *
 * When the clock reaches a spoke, a hierarchical wheel (Varghese and Lauck, 1987) moves
 * the timers of the spoke down a level. Such a cascade has two problems. The number of
 * moves has no limit. And the wheel does not know when its next timer is due: of a coarse
 * spoke it knows only where the spoke begins.
 *
 * Here a spoke has two lists and two ticks:
 *
 *	key	the tick of the timer that came when both lists were empty
 *	same	timers that are due at @key
 *	rest	all others
 *	bound	none of the timers is due before this tick
 *
 * A timer that is due earlier than all others only lowers the bound. When the clock reaches the
 * bound, and @key is the bound, the timers of @same leave in one splice, however many they are.
 * Then, or if @key is later, @rest is emptied, a few timers per call: those that are due now
 * expire, the others move to finer spokes.
 *
 * Bitmaps tell which spokes have timers. In each level, the first spoke with timers is due first.
 * So a few bit searches give the next tick at which a timer can be due, and the clock jumps there
 * at once. The clock never leaves a spoke with timers behind. But it may enter one. While nothing
 * is due, levels_step() moves the timers of entered spokes down, a few timers per call. A cascade
 * has no state of its own: between two calls all invariants hold. A timer that is alone, or timers
 * that slack has brought together in one tick, need not move before they fire. (If one timer of
 * another tick came first, and theirs is the earliest tick, those that come later go to @same: see
 * levels_put_many(). Behind several such timers they stay in @rest, and are sifted as a crowd.)
 *
 * Crowds and fans
 * ---------------
 *
 * If there are many timers in @rest, to move them takes long and makes other timers late. They are
 * a crowd if @rest has taken HWHEEL_CROWD timers or more since it was empty. (Cancelled timers
 * count, too: so cancelling need not count down. Lists of unknown length that are joined when the
 * clock is set back count as all timers that are pending.) levels_step() sifts a crowd before its
 * spoke begins: a few timers per call, while nothing is due. They go to the fan of the spoke. A fan
 * is up to 128 spokes of equal width that together cover the ticks of the spoke. (Tang, Goh and
 * Thng, "Ladder queue: an O(1) priority queue structure for large-scale discrete event simulation",
 * 2005.)
 *
 * A spoke of a fan is like any other spoke, and may get a fan of its own. In a fan,
 * HWHEEL_CROWD_FAN timers are a crowd. If a spoke has a fan, new timers go there, too. So if a
 * spoke of the fan is a single tick, a crowd of HWHEEL_CROWD_EARLY timers gets it at once: timers
 * that come later need not move at all. Wider spokes get no early fan. Their timers are farther
 * away, and many are cancelled before they would move.
 *
 * All fans are in four rows of spokes, which exist on demand like levels. Few crowds need a fan at
 * a time: in each level, the spoke that the clock has entered and the one that is sifted next, and
 * as many in each of their fans. Without a free fan, a crowd waits until the clock enters its
 * spoke. Then lower levels reach all its timers. So a crowd gets no early fan unless
 * HWHEEL_FANS_KEPT others remain.
 *
 * A second bitmap tells which spokes have a crowd. Each crowd has a tick at which it becomes ready
 * to be sifted: its lead before the spoke begins (levels_lead()). Of the crowds that are ready, the
 * one whose spoke begins first is sifted first (earliest deadline first: Liu and Layland,
 * "Scheduling algorithms for multiprogramming in a hard-real-time environment", 1973). Spokes of
 * one width have the same lead, that of the largest crowd seen in the last turn or two of their
 * level. So in a level, and in a fan, only the first crowd is looked at. The lead is early enough
 * to finish all crowds in time, but not much earlier: an earlier start would also move timers that
 * are cancelled soon after, and take fans for longer.
 *
 * So when a tick is due, few timers have to move before the timers of that tick can run: those that
 * were left in @rest of the spokes that the clock is in. None of them is a crowd. With n levels
 * these spokes are one in each level, and one in its fan. Together they have at most
 *
 *	n * HWHEEL_CROWD + n * HWHEEL_CROWD_FAN
 *
 * timers in @rest: 240 for 5 levels, whatever the number of other timers. This limit needs two
 * things: levels and fans, which the user makes when the wheel asks for them, and enough time to
 * sift.
 *
 * The parking lot
 * ---------------
 *
 * While the right level of a timer is missing or closed, the timer is parked. The parking lot is a
 * radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path problem",
 * 1990). Bucket b holds the timers whose tick differs from the clock in bit b - 1, and in no higher
 * bit; bucket 0 is for the clock itself. A bucket is a spoke like any other, but it gets no fan.
 * When the clock has entered a bucket, its timers go to lower buckets, or to levels. So a parked
 * timer moves at most 54 times, the number of bits of a tick (S64_MAX / HWHEEL_MIN_TICK_NS). It is
 * exact, because a radix heap is a priority queue by itself. When a level comes, parked timers stay
 * until the clock enters their bucket. Only a crowd moves ahead of time: to levels that exist,
 * where it can be sifted.
 *
 * Timers for the past
 * -------------------
 *
 * A timer that is armed for a tick that has passed is due now. "Now" is not the clock:
 * the clock may be behind the time while much is due. If "now" were the clock, a timer
 * that a callback arms for the past would run right after that callback. Callbacks that
 * keep doing so would shut out all other timers. So "now" is the floor: the latest tick
 * that the user has passed in as the present tick. The timer goes to the spoke of the floor,
 * not to that of its own tick. So it runs behind all timers that are due at ticks before the
 * floor, unless that spoke is emptied earlier.
 *
 * The clock is set back
 * ---------------------
 *
 * Somebody may set a clock of wall time back, by any amount and at any time. Then three things are
 * wrong, and levels_set_back() mends them in a bounded time:
 *
 * - A timer that was armed for the past is in the spoke of the old floor, but is due earlier: at
 *   its own tick, or now. Timers that are about to run (HWHEEL_EXPIRED) may not be due any more. So
 *   levels_step() first takes all timers that were due by the old floor out of their spokes, as
 *   whole lists. They are strays (HWHEEL_STRAY). Then it places each by its own tick, a few per
 *   call. The clock does not advance meanwhile. Strays that are due at the clock expire.
 * - Buckets belong to a clock. Let d be the highest bit in which the old and the new clock differ.
 *   From buckets above d nothing changes. The timers of all lower buckets now differ from the clock
 *   in bit d. They are joined in the bucket of d. That bucket is empty, or the old clock had
 *   entered it, and its timers belong there again.
 * - The clock of a level, from which its slots are counted, may be ahead of the wheel's clock. If
 *   such a level has timers, it is closed: it keeps its clock, and takes no timers. Its timers fire
 *   as ever, because each bound is still right. While nothing is due, levels_step() empties closed
 *   levels, a few timers per call. A level opens again when it is empty, or when the wheel's clock
 *   has caught up with it.
 *
 * Why no step goes on for ever
 * ----------------------------
 *
 * levels_step() returns HWHEEL_MOVED only if it has moved something, and each move brings a timer
 * nearer to its end: to the expired timers; from a stray or from a closed level to an open level or
 * a bucket; from a level to a fan of its spoke, to a lower level, or to a bucket; from a bucket to
 * a lower bucket or to a level. A timer goes back from a bucket to a level only if the level came
 * or opened meanwhile, and then to no higher level than it came from. A step that finds nothing to
 * move in one place looks at the next. levels_move_tick() names the present clock only if there is
 * something that surely moves: see bucket_start(), and spoke_next_sift() for crowds without a fan.
 *
 * Invariants, checked by levels_check()
 * -------------------------------------
 *
 * - For each timer in a spoke: clock <= bound <= due tick. Those of @same are due at @key. If @rest
 *   is empty, @key is the bound. A timer that was overdue when it was added counts as due at the
 *   floor. The floor is not before the clock. Timers in transit (HWHEEL_EXPIRED, HWHEEL_STRAY) are
 *   exempt. After the clock was set back, the old floor counts until the strays are collected.
 * - Each timer of level i is in the spoke of its slot. The slot is 0 to n[i] - 1 slots
 *   ahead of the level's clock. The level's clock is the slot of the wheel's clock. If the level is
 *   closed, its clock is ahead of that.
 * - A bucket is not lower than that of its timers' ticks.
 * - The bound is a tick if and only if the lists are not both empty. If and only if the spoke has
 *   timers or a fan, its bit is set. If and only if a word of a bitmap is not zero, its summary bit
 *   is set.
 * - If and only if @rest has taken enough timers to be a crowd since it was empty, the spoke is
 *   marked as crowded.
 * - A fan in use has timers, and belongs to one spoke of a level or of another fan.
 * - Before @sift_until, no crowd of an open level is ready and begins earlier than @sift. @most of
 *   a crowd in an open level is at least half of the crowd.
 */
#ifndef _HWHEEL_LEVELS_H
#define _HWHEEL_LEVELS_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/math64.h>

#include "hwheel.h"

/* The most list moves under one lock hold (BATCH) and in one levels_step() (STEP) */
#define HWHEEL_BATCH		32
#define HWHEEL_STEP		(HWHEEL_BATCH / 2)
/* Tests define all of these themselves, or none */
#ifndef HWHEEL_CROWD
/*
 * A spoke with this many timers in @rest is a crowd: HWHEEL_CROWD in a level, HWHEEL_CROWD_FAN in
 * a fan
 */
#define HWHEEL_CROWD		32
#define HWHEEL_CROWD_FAN	(HWHEEL_CROWD / 2)
/*
 * A crowd with so many timers in @rest gets a fan early if more than HWHEEL_FANS_KEPT are free.
 * That must not be 0: @sift may be waiting for the last one.
 */
#define HWHEEL_CROWD_EARLY	1024
#define HWHEEL_FANS_KEPT	12
/*
 * The most ns that one move of a timer takes while a crowd is sifted, including rests. 32 moves
 * take 4.6 us at an instruction per ns (make check SUITE=bounds), and a rest takes as long.
 */
#define HWHEEL_SIFT_NS		320
/*
 * log2 of the spokes of a fan. A fan has as many spokes as a level of the default geometry. So
 * with that geometry, a timer moves no more often through fans than through levels.
 */
#define HWHEEL_FAN_BITS		7
/* log2 of the spokes of a level above the geometry */
#define HWHEEL_ABOVE_BITS	7
#endif
#define HWHEEL_FAN		BIT(HWHEEL_FAN_BITS)
/* There are four rows of fans: a small one for the first crowds, and three large ones */
#define HWHEEL_FEW_FANS		3
#define HWHEEL_MANY_FANS	15
#define HWHEEL_FAN_IDS		16	/* fans have numbers up to 62, for HWHEEL_HAS_FAN */
#define HWHEEL_SPOKE_SIZE	64	/* a cache line, for spoke_of() */
/* No timer is due at this tick */
#define HWHEEL_NEVER		U64_MAX
/* A tick has at most this many bits: S64_MAX / HWHEEL_MIN_TICK_NS */
#define HWHEEL_TICK_BITS	54

/* Rows: first the levels, then the parking lot and four rows of fans */
#define HWHEEL_LOT		15	/* 8 levels of 2 spokes, and 7 above them */
#define HWHEEL_FANS		16
#define HWHEEL_ROWS		20

/* Spokes of the parking lot: one bucket per bit of a tick, one for no bit, and two others */
#define HWHEEL_BUCKETS		(HWHEEL_TICK_BITS + 1)
#define HWHEEL_STRAY		HWHEEL_BUCKETS	/* to be placed anew: the clock was set back */
#define HWHEEL_EXPIRED		(HWHEEL_BUCKETS + 1)	/* due at one tick, about to run */
#define HWHEEL_PARKED		(HWHEEL_BUCKETS + 2)
#define HWHEEL_LOT_SIZE		(HWHEEL_PARKED * sizeof(struct hwheel_spoke))

/**
 * struct hwheel_geometry - sizes of the levels
 * @tick_ns: nanoseconds per tick
 * @levels: number of levels
 * @spokes: number of spokes of each level
 */
struct hwheel_geometry {
	u64			tick_ns;
	unsigned int		levels;
	unsigned int		spokes[HWHEEL_MAX_LEVELS];
};

/*
 * A spoke has two lists. A spoke knows its level and its number. The address of a list head
 * gives the spoke. This is needed when a timer leaves: if both of its neighbours are the same
 * list head, it was the last timer in that list. A spoke is one cache line.
 */
struct hwheel_spoke {
	struct list_head	same;		/* timers due at @key */
	struct list_head	rest;		/* all others */
	u64			bound;		/* HWHEEL_NEVER while both lists are empty */
	u64			key;
	u32			rests;		/* timers added to @rest since it was empty */
	u16			index;
	u8			level;		/* number of its row */
	u8			more;		/* its fan and flags; 0 for most */
	u64			bits;		/* a word of a bitmap of its row */
} __aligned(HWHEEL_SPOKE_SIZE);

/* @more: the number of the spoke's fan plus 1, and flags */
#define HWHEEL_HAS_FAN		(BIT(6) - 1)
#define HWHEEL_CHILD		BIT(6)	/* this spoke belongs to a fan */
#define HWHEEL_CROWDED		BIT(7)	/* @rest is a crowd */

/*
 * A fan: HWHEEL_FAN spokes in a row of fans, each of them 2^shift ticks wide. They stand for
 * finer spokes of @parent.
 */
struct hwheel_fan {
	u64			begin;		/* the first tick */
	struct hwheel_spoke	*spokes;
	struct hwheel_spoke	*parent;
	unsigned int		shift;
};

/* The spoke that has the list @head */
static inline struct hwheel_spoke *spoke_of(const struct list_head *head)
{
	return (struct hwheel_spoke *)((unsigned long)head & ~(HWHEEL_SPOKE_SIZE - 1UL));
}

/* Are the lists of @spoke empty? Its fan may hold timers. */
static __always_inline bool spoke_bare(const struct hwheel_spoke *spoke)
{
	return spoke->bound == HWHEEL_NEVER;
}

/* Iterate over the timers of @spoke, list by list */
#define spoke_for_each(timer, spoke)						\
	for (struct list_head *__list = &(spoke)->same, *__end = __list + 2;	\
	     __list < __end; __list++)						\
		list_for_each_entry(timer, __list, entry)

/* Division by a constant: a shift for a power of two, else a reciprocal */
struct hwheel_divisor {
	u64			mul;		/* 0 for a power of two */
	unsigned int		shift;
};

/* A row of spokes has two bitmaps */
enum hwheel_map {
	HWHEEL_OCCUPIED,	/* spokes with timers, or with a fan */
	HWHEEL_CROWDS,		/* spokes with a crowd */
};

/*
 * A level, or another row of spokes. On 64-bit it is as large as a cache line. Placing a timer uses
 * all members but @width and @nr.
 */
struct hwheel_level {
	struct hwheel_spoke	*spokes;	/* NULL: the row is missing */
	u64			summary[2];	/* one bit per word of the bitmap */
	u64			slot;		/* the clock: a slot */
	struct hwheel_divisor	div;		/* by @width */
	u64			width;		/* ticks per slot */
	u16			nr;		/* spokes */
	u16			open;		/* @nr, or 0 while it is closed or missing */
	u16			pos;		/* the spoke of the clock */
};

/* The largest crowd of spokes of about the same width: see levels_lead() */
struct hwheel_most {
	u64			n;		/* its timers: half as many to twice as many */
	u64			since;		/* the tick at which @n was halved */
};

/**
 * struct hwheel_levels - a layered wheel
 * @clock: the tick that the wheel has reached. Timers due at or before it may run. While
 *	much is due, the clock is behind the time
 * @floor: the latest tick that is known to have come. A timer armed for an earlier tick
 *	counts as due at the floor
 * @above: no spoke above level 0 has a bound before this tick, except in the fan @near, or below it
 * @walk: next entry that levels_walk_next() looks at. When that timer leaves, @walk
 *	moves on to its neighbour
 * @moved: timers and whole lists that were moved so far, without those that were due then
 * @exist: rows that exist, one bit each
 * @closed: levels that are closed. The bit of the lot: timers must be placed anew
 * @tick_ns: nanoseconds per tick
 * @tick_div: divides by @tick_ns
 * @last_tick: last tick that begins at or before S64_MAX nanoseconds
 * @nr: the levels that exist are below this one
 * @planned: number of levels of the geometry
 * @top: number of levels, with those above the geometry
 * @pow2: the number of spokes of each level of the geometry is a power of two
 * @wanted: rows that timers have asked for. Who gives up a missing one clears its bit
 * @want: called with the levels locked when a row is wanted that is missing; or NULL
 * @lowest: the lowest level that can be the right one for a timer, indexed by the
 *	highest bit of the distance to its tick
 * @level: the levels, the parking lot and the rows of fans
 * @fans_free: fans that exist and are not in use, one bit each. Row n begins with bit
 *	n * HWHEEL_FAN_IDS
 * @crowded: rows with a crowd, one bit each
 * @from: where timers were moved from last: a spoke of a level, or a bucket.
 *	For a fan: the spoke at the top of the fans
 * @walked: the spoke that @walk is in
 * @walk_rest: the walk has come to the spoke's @rest
 * @near: the number of a fan plus 1: levels_first() looks there first. 0: none
 * @ahead: levels_step() may be called this many ticks late, so crowds are sifted this
 *	much earlier
 * @redo: the floor from which the clock was set back, while a spoke may have a bound at or
 *	before it; else 0
 * @most: indexed by the number of fans between a spoke and single ticks, minus 1
 * @sift: the crowd to be sifted next, or NULL: see levels_next_sift()
 * @sift_until: @sift holds until this tick. 0: it must be found again
 * @pending: number of timers. It comes last, for struct hwheel_base
 */
struct hwheel_levels {
	u64			clock;		/* up to @closed: changes in most runs */
	u64			floor;
	u64			above;
	struct list_head	*walk;
	u64			moved;
	u32			exist;
	u32			closed;
	u64			tick_ns;	/* from here on: changes seldom or never */
	struct hwheel_divisor	tick_div;
	u64			last_tick;
	u8			nr;
	u8			planned;
	u8			top;
	bool			pow2;
	bool			walk_rest;
	u8			near;
	u32			wanted;
	void			(*want)(struct hwheel_levels *l);
	u8			lowest[64];
	struct hwheel_level	level[HWHEEL_ROWS];
	u64			fans_free;
	u32			crowded;
	const struct hwheel_spoke *from;
	struct hwheel_spoke	*walked;
	u64			ahead;
	u64			redo;
	struct hwheel_most	most[DIV_ROUND_UP(HWHEEL_TICK_BITS + 2, HWHEEL_FAN_BITS)];
	struct hwheel_spoke	*sift;
	u64			sift_until;
	u64			pending;
};

enum hwheel_step {
	HWHEEL_IDLE,	/* nothing to do until the tick of levels_wake() */
	HWHEEL_MOVED,	/* some timers were moved; call again */
	HWHEEL_DUE,	/* pop and run timers until levels_pop() has none, then call again */
};

/*
 * Division by multiplication (Granlund and Montgomery, 1994). For a divisor d with
 * 2^l < d < 2^(l+1), let m = floor(2^(64+l) / d) + 1. It fits in 64 bits. m * d exceeds
 * 2^(64+l) by at most d, and d < 2^(l+1). So for every x < 2^63, x * m / 2^(64+l) exceeds
 * x / d by less than 1/d. That is too little to reach the next integer.
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
	if (likely(div->mul)) {
#ifdef __SIZEOF_INT128__	/* inline, also where mul_u64_u64_shr() is a call */
		OPTIMIZER_HIDE_VAR(x);	/* gcc multiplies more often if it knows that x was s64 */
		x = (__uint128_t)x * div->mul >> 64;
#else
		x = mul_u64_u64_shr(x, div->mul, 64);
#endif
	}
	return x >> (div->shift & 63);	/* 63: see levels_highest() */
}

/* First tick at or after @ns. All instants up to 0 give tick 0. */
static __always_inline u64 levels_tick_up(const struct hwheel_levels *l, s64 ns)
{
	return ns > 0 ? divisor_div(&l->tick_div, ns - 1) + 1 : 0;
}

/* Last tick at or before @ns. All instants up to 0 give tick 0. */
static __always_inline u64 levels_tick_down(const struct hwheel_levels *l, s64 ns)
{
	return ns > 0 ? divisor_div(&l->tick_div, ns) : 0;
}

static inline s64 levels_tick_ns(const struct hwheel_levels *l, u64 tick)
{
	return tick > l->last_tick ? S64_MAX : (s64)(tick * l->tick_ns);
}

/* The tick at which @timer, which is pending, is due */
static __always_inline u64 levels_due(const struct hwheel_levels *l,
				      const struct hwheel_timer *timer)
{
	return levels_tick_up(l, timer->expires);
}

/*
 * The number of the highest bit set in @x. @x must not be 0. Bits count from 0. "& 63" changes
 * nothing, but it tells the compiler the range. So the compiler leaves out the checks of
 * CONFIG_UBSAN, which Debian's kernels have.
 */
static __always_inline unsigned long levels_highest(u64 x)
{
	return (BITS_PER_LONG == 64 ? __fls(x) : fls64(x) - 1) & 63;	/* fls64() checks for 0 */
}

static __always_inline u64 level_slot(const struct hwheel_level *lv, u64 tick)
{
	return divisor_div(&lv->div, tick);
}

/*
 * Is the reach of @g at most S64_MAX ns? The reach is the tick times the spokes of all
 * levels.
 */
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

/* Say what is wrong with @g. NULL if nothing is. */
static inline const char *hwheel_geometry_fault(const struct hwheel_geometry *g)
{
	unsigned int i;

	if (g->tick_ns < HWHEEL_MIN_TICK_NS)
		return "the tick is shorter than 1000 ns";
	if (g->levels < 1 || g->levels > HWHEEL_MAX_LEVELS)
		return "the number of levels is not 1 to 8";
	for (i = 0; i < g->levels; i++)
		if (g->spokes[i] < HWHEEL_MIN_SPOKES || g->spokes[i] > HWHEEL_MAX_SPOKES)
			return "a level's number of spokes is not 2 to 4096";
	if (!hwheel_geometry_fits(g))
		return "tick times spokes of all levels is over S64_MAX ns; take fewer";
	return NULL;
}

/*
 * Bytes of memory for row @i. All fans are behind the spokes of their first row. The memory must be
 * aligned like a spoke. kmalloc() may not align small memory enough, so the result is at least the
 * size of 4 spokes.
 */
static inline size_t levels_size(const struct hwheel_levels *l, unsigned int i)
{
	unsigned int nr = l->level[i].nr;

	return max(nr, 4U) * sizeof(struct hwheel_spoke) +
	       (i == HWHEEL_FANS ? (HWHEEL_ROWS - HWHEEL_FANS) * HWHEEL_FAN_IDS *
				   sizeof(struct hwheel_fan) : 0);
}

/* Set the clock of @lv to @slot, however far away that is. */
static inline void level_set_slot(struct hwheel_level *lv, u64 slot)
{
	u32 pos = lv->pos + (slot - lv->slot);

	if (slot - lv->slot >= lv->nr)
		div_u64_rem(slot, lv->nr, &pos);
	else if (pos >= lv->nr)
		pos -= lv->nr;
	lv->slot = slot;
	lv->pos = pos;
}

/* From now on closed level @i takes timers again. Its clock is right. */
static inline void levels_open(struct hwheel_levels *l, unsigned int i)
{
	l->closed &= ~BIT(i);
	l->sift_until = 0;
	l->level[i].open = l->exist & BIT(i) ? l->level[i].nr : 0;
}

/*
 * Set the clock to @clock. The clock never passes a bound, and only levels_set_back() sets
 * it back. A closed level keeps its clock until the wheel's clock has caught up with it.
 */
static inline void levels_set_clock(struct hwheel_levels *l, u64 clock)
{
	unsigned int i;

	l->clock = clock;
	l->floor = max(l->floor, clock);
	for (i = 0; i < l->top; i++) {
		struct hwheel_level *lv = &l->level[i];
		u64 slot = level_slot(lv, clock);

		if (unlikely(l->closed & BIT(i))) {
			if (slot < lv->slot)
				continue;
			levels_open(l, i);
		} else if (slot == lv->slot) {
			break;		/* then no higher level's clock moves either */
		}
		level_set_slot(lv, slot);
	}
}

/*
 * Make the spokes of row @i in @memory: levels_size() bytes of zeroes. The spokes do not
 * belong to the wheel yet. So this needs no lock.
 */
static inline struct hwheel_spoke *level_init(const struct hwheel_levels *l, unsigned int i,
					      void *memory)
{
	struct hwheel_spoke *spokes = memory;
	unsigned int j;

	for (j = 0; j < l->level[i].nr; j++) {
		INIT_LIST_HEAD(&spokes[j].same);
		INIT_LIST_HEAD(&spokes[j].rest);
		spokes[j].bound = HWHEEL_NEVER;
		spokes[j].level = i;
		spokes[j].index = j;
		spokes[j].more = i >= HWHEEL_FANS ? HWHEEL_CHILD : 0;
	}
	return spokes;
}

/* Add row @i. @spokes is from level_init(). Parked timers stay in their buckets. */
static inline void levels_grow(struct hwheel_levels *l, unsigned int i, struct hwheel_spoke *spokes)
{
	struct hwheel_level *lv = &l->level[i];

	smp_store_release(&lv->spokes, spokes);		/* see level_exists() */
	WRITE_ONCE(l->exist, l->exist | BIT(i));	/* see levels_missing() */
	if (i >= HWHEEL_FANS) {
		l->fans_free |= (BIT_ULL(lv->nr / HWHEEL_FAN) - 1) <<
				(i - HWHEEL_FANS) * HWHEEL_FAN_IDS;
		l->sift_until = 0;
	}
	if (i < l->top) {
		l->nr = max(l->nr, (u8)(i + 1));
		lv->open = lv->nr;	/* closed levels have timers, so they exist already */
	}
}

/*
 * Make an empty wheel of geometry @g, without levels. @memory is for the parking lot:
 * HWHEEL_LOT_SIZE bytes of zeroes.
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

	for (i = 0; i < l->planned || width <= l->last_tick + 1; i++) {
		struct hwheel_level *lv = &l->level[i];

		lv->nr = BIT(HWHEEL_ABOVE_BITS);
		if (i < l->planned) {
			lv->nr = g->spokes[i];
			l->pow2 &= is_power_of_2(lv->nr);
		} else if (width > (l->last_tick + 1) >> HWHEEL_ABOVE_BITS) {
			/* The highest level need not turn */
			lv->nr = max(div64_u64(l->last_tick + 1, width) + 1, 2ULL);
		}
		lv->width = width;
		divisor_init(&lv->div, width);
		width *= lv->nr;
	}
	l->top = i;
	for (i = HWHEEL_LOT; i < HWHEEL_ROWS; i++) {
		l->level[i].width = 1;
		l->level[i].nr = HWHEEL_MANY_FANS * HWHEEL_FAN;
	}
	l->level[HWHEEL_LOT].nr = HWHEEL_PARKED;
	l->level[HWHEEL_FANS].nr = HWHEEL_FEW_FANS * HWHEEL_FAN;
	levels_grow(l, HWHEEL_LOT, level_init(l, HWHEEL_LOT, memory));

	for (i = 0; i < ARRAY_SIZE(l->lowest); i++) {
		for (j = 0; j < l->top - 1; j++)
			if (1ULL << i < l->level[j + 1].width)
				break;
		l->lowest[i] = j;
	}
	levels_set_clock(l, clock);
}

/* Spoke @which of the parking lot */
static inline struct hwheel_spoke *levels_transit(struct hwheel_levels *l, unsigned int which)
{
	return &l->level[HWHEEL_LOT].spokes[which];
}

/* Does row @lv exist? Readers may call this without the lock. */
static inline bool level_exists(const struct hwheel_level *lv)
{
	return smp_load_acquire(&lv->spokes);	/* pairs with levels_grow() */
}

/* Row @i is wanted. If it is missing, ask for it once. */
static inline void levels_want(struct hwheel_levels *l, unsigned int i)
{
	if ((l->exist | l->wanted) & BIT(i))
		return;
	WRITE_ONCE(l->wanted, l->wanted | BIT(i));
	if (l->want)
		l->want(l);
}

/* Rows that are wanted and missing. Readers may call this without the lock. */
static inline u32 levels_missing(const struct hwheel_levels *l)
{
	return READ_ONCE(l->wanted) & ~READ_ONCE(l->exist);
}

#include "levels_place.h"
#include "levels_step.h"
#include "levels_check.h"

#endif /* _HWHEEL_LEVELS_H */
