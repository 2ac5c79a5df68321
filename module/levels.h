/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layered wheel: levels of spokes, and where a timer goes in them
 *
 * This file reads no clock, takes no lock and uses no hrtimer. Its user passes in the
 * time, serialises the calls, and runs the timers that are due. All functions are static
 * and stand in a header, so that the compiler can inline the hot path into its callers.
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
 * The parking lot
 * ---------------
 *
 * A timer beyond the reach of the top level is parked. The parking lot is a radix heap
 * (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path problem",
 * 1990). Bucket b holds the timers whose tick differs from the clock in bit b, and in no
 * higher bit. So bucket b covers 2^b ticks. When the clock enters them, the clock and all
 * timers of the bucket agree in bit b. Then each timer goes to a lower bucket or into a
 * level. A parked timer moves at most 54 times, however far away its tick is, because the
 * number of a tick has at most 54 bits (S64_MAX / HWHEEL_MIN_TICK_NS).
 *
 * Levels cost memory, and most wheels need few. So a wheel begins with only its parking
 * lot. It tells its user when a timer wants a level that does not exist. The user can
 * then add level after level at any time (levels_grow()). Until then the parking lot
 * takes the timers of the missing levels. A parked timer is exact, too, because a radix
 * heap is a priority queue by itself. Parking is only slower. When a level comes, parked
 * timers stay in their buckets: buckets do not depend on levels.
 *
 * Two problems of cascading wheels, and their solution
 * ----------------------------------------------------
 *
 * When the clock reaches a spoke, a hierarchical wheel (Varghese and Lauck, 1987) moves
 * the timers of the spoke down a level. Such a cascade has two problems. The number of
 * moves has no limit. And the wheel does not know when its next timer is due: of a coarse
 * spoke it knows only where the spoke begins.
 *
 * Here each spoke has a bound: the earliest due tick of all timers that were put into the
 * spoke since it was last empty. No timer in the spoke is due before the bound. Bitmaps
 * tell which spokes are occupied. In each level, the first occupied spoke has the least
 * bound of that level. So a few bit searches give the next tick at which a timer can be
 * due, and the clock jumps there at once.
 *
 * The clock passes no bound. So it never leaves an occupied spoke behind. But it may enter
 * an occupied spoke. The bound of an entered spoke counts like any other bound. So
 * levels_step() can empty entered spokes while nothing is due, a few timers per call. A
 * cascade has no state of its own: between two calls all invariants hold.
 *
 * A spoke is "mixed" if its timers may be due at different ticks. A spoke that is not
 * mixed moves as a whole in one step, however many timers it has. (There is one exception,
 * for spokes with few timers: see levels_cascade_whole().) When it is due, it fires
 * from its present level. So neither a single timer nor timers that slack has brought
 * together in one tick need to cascade before they fire.
 *
 * Crowds and fans
 * ---------------
 *
 * To find the due timers of a mixed spoke, its timers must move down. If there are many,
 * this takes long and makes other timers late. The timers of a spoke are a crowd if the spoke
 * has taken HWHEEL_CROWD timers or more since it was empty. (Cancelled timers count, too: so
 * cancelling need not count down.) levels_step() sifts a crowd before its spoke begins: a
 * few timers per call, while nothing is due. Each of these timers goes
 *
 * - to a lower level, if that level already reaches the timer's tick, and its spokes are not
 *   wider than those of the fan;
 * - otherwise to the fan of the spoke. A fan is up to 128 spokes of equal width that
 *   together cover the ticks of the spoke. (Tang, Goh and Thng, "Ladder queue: an O(1)
 *   priority queue structure for large-scale discrete event simulation", 2005.)
 *
 * A spoke of a fan is like any other spoke: it has a bound, it fires when it is due, and
 * it gets a fan of its own if its timers are a crowd. In a fan, HWHEEL_CROWD_FAN timers
 * are a crowd. Arming does not use fans. A new timer goes to the spoke's own lists, those
 * outside of its fan. When these lists are a crowd again, they are sifted again.
 *
 * Each crowd has a tick at which it becomes ready to be sifted (levels_lead()). Of the crowds
 * that are ready, the one whose spoke begins first is sifted first. A crowd becomes ready early
 * enough to finish all crowds in time, but not much earlier. An earlier start would take more
 * fans. It would also move timers that are cancelled soon after, and those moves would be for
 * nothing.
 *
 * A crowd that is due at one tick is not sifted. When a timer with another tick joins it,
 * the crowd moves to a fan as a whole, in one move (levels_part()).
 *
 * So when a tick is due, few timers have to move before the timers of that tick can run.
 * The timers that have to move are in the own lists of the spokes that begin at that
 * tick. None of these lists is a crowd. With n levels these spokes are
 *
 * - one spoke in each of the n - 1 levels above 0, and one bucket: n spokes;
 * - one spoke in the fan of each of these: n spokes of fans;
 * - one spoke in the fan of each bucket that the clock entered earlier, and that still has
 *   timers: b spokes of fans. Each of these buckets is half as wide as the one before, or less.
 *
 * Together they have at most
 *
 *	n * HWHEEL_CROWD + (n + b) * HWHEEL_CROWD_FAN
 *
 * timers: 240 + 16 * b for 5 levels, whatever the number of other timers. Without parked timers,
 * b is 0. This limit needs two things: fans, which the user makes when the wheel asks for them,
 * and enough time to sift.
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
 * floor.
 *
 * The clock is set back
 * ---------------------
 *
 * Somebody may set a clock of wall time back, by any amount and at any time. This can make two
 * things wrong:
 *
 * - The clock of a level, from which its slots are counted, may be ahead of the wheel's
 *   clock. The buckets, too, are those of the old clock.
 * - A timer that was armed for the past is in the spoke of the old floor. The tick of that
 *   spoke may now be far ahead. But the timer is due earlier: at its own tick, or now if
 *   its tick has passed.
 *
 * To move all timers would take too long. So levels_set_back() closes each occupied level
 * whose clock is ahead, or that has timers which were due by the old floor. A closed level
 * takes no timers and keeps its clock. Its timers fire as ever: each bound is still right,
 * except the bounds of timers for the past. New timers go to the levels that are open, or
 * else to the parking lot. While nothing is due, levels_step() empties the closed levels,
 * a few timers per call. Each timer moves once. An empty level opens again, with the
 * wheel's clock.
 *
 * The contents of all buckets go to the attic, with two splices for each bucket, one for
 * each list. The attic is a second set of buckets. It counts as a closed level while it is
 * occupied. While the attic is occupied, buckets get no fans. So a bucket and its spoke in
 * the attic never both have a fan, and setting the clock back again never merges two fans.
 *
 * After the clock was set back, l->redo is the old floor. A bound at or before l->redo may
 * be that of timers for the past. Spokes of closed levels with such a bound come before all
 * other work: their timers get new places by their own ticks.
 *
 * No timer fires early: a spoke fires as a whole only if all its timers are due at or
 * before its bound, and the bound is not after the present tick. Setting the clock back
 * changes neither the timers nor the bound of a level's spoke, and a spoke of the attic
 * never fires as a whole. Timers in HWHEEL_NOW and HWHEEL_EXPIRED are due by the old clock.
 * They may not be due by the new one, so they get new places by their own ticks.
 *
 * Invariants, checked by levels_check()
 * -------------------------------------
 *
 * - For each timer in a spoke: clock <= bound <= due tick. A timer that was overdue when
 *   it was added counts as due at the floor. The floor is not before the clock. Timers in
 *   transit, that is in HWHEEL_NOW or HWHEEL_EXPIRED, are exempt. In closed levels the old
 *   floor counts.
 * - Each timer of level i is in the spoke of its slot. The slot is 0 to n[i] - 1 slots
 *   ahead of the level's clock. Unless the level is closed, the level's clock is the slot
 *   of the wheel's clock.
 * - A spoke is occupied if its lists are not both empty, or if it has a fan. If and only
 *   if the spoke is occupied, its bit is set and its bound is a tick. If and only if a
 *   word of the bitmap is not zero, its summary bit is set.
 * - If a spoke is not mixed, all timers in its lists are due at its bound.
 * - If the lists of a spoke are empty, its bound is that of the first spoke of its fan.
 * - If the lists of a spoke are a crowd, then the spoke is marked as crowded, or the crowd
 *   is due at one tick, or the spoke can only hold timers of one tick. This does not hold
 *   for the attic and for closed levels.
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
/*
 * A spoke that has taken this many timers is a crowd. HWHEEL_CROWD is for levels and buckets,
 * HWHEEL_CROWD_FAN for fans. Both are powers of two. Arming checks a spoke at every
 * HWHEEL_CROWD-th timer, which costs less than two instructions per timer.
 */
#ifndef HWHEEL_CROWD
#define HWHEEL_CROWD		32
#endif
#ifndef HWHEEL_CROWD_FAN
#define HWHEEL_CROWD_FAN	(HWHEEL_CROWD / 2)
#endif
/*
 * The most ns that one move of a timer takes while a crowd is sifted, including rests. 32 moves
 * take 4.3 us at an instruction per ns (make check SUITE=bounds), and a rest takes as long.
 */
#ifndef HWHEEL_SIFT_NS
#define HWHEEL_SIFT_NS		320
#endif
/*
 * log2 of the spokes of a fan. A fan has as many spokes as a level of the default geometry. So
 * with that geometry, a timer moves no more often through fans than through levels.
 */
#ifndef HWHEEL_FAN_BITS
#define HWHEEL_FAN_BITS		7
#endif
#define HWHEEL_FAN		BIT(HWHEEL_FAN_BITS)
#define HWHEEL_FAN_WORDS	DIV_ROUND_UP(HWHEEL_FAN, 64)
/*
 * Lists of a spoke. Each step along a list waits for a cache miss. Taking timers from
 * both ends of two lists keeps four misses in flight; three lists were no faster.
 * spoke_list(), spoke_end() and levels_unlink() are written for two lists.
 */
#define HWHEEL_LISTS		2
#define HWHEEL_SPOKE_SIZE	64	/* a cache line, for spoke_of() */
/* No timer is due at this tick */
#define HWHEEL_NEVER		U64_MAX

/* Spokes of the parking lot: one bucket per bit, and two special ones */
#define HWHEEL_PARKED		64
#define HWHEEL_NOW		61	/* due at the clock, while level 0 is missing or closed */
#define HWHEEL_EXPIRED		63	/* in transit: due at one tick, about to run */

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
 * A spoke knows its level and its number. The address of a list head gives the spoke. This
 * is needed when a timer leaves: if both of its neighbours are the same list head, it was
 * the last timer in that list. Then the spoke's bit may have to be cleared. A spoke is one
 * cache line.
 */
struct hwheel_spoke {
	struct list_head	timers[HWHEEL_LISTS];
	u64			bound;		/* HWHEEL_NEVER while it is empty */
	u32			added;		/* timers added since it was empty */
	u16			index;
	u8			level;		/* HWHEEL_IN_FAN: in no level */
	bool			mixed;		/* its own timers may be due at different ticks */
	unsigned long		more;		/* its fan and flags; 0 for most */
	u64			bits;		/* a word of a bitmap of its level */
} __aligned(HWHEEL_SPOKE_SIZE);

/* Flags in @more, in the low bits of the fan's address */
#define HWHEEL_CHILD		BIT(0)	/* this spoke belongs to a fan */
#define HWHEEL_CROWDED		BIT(1)	/* sift it, or a spoke in its fan */
#define HWHEEL_ONE_TICK		BIT(2)	/* a crowd that is due at one tick; not mixed */
#define HWHEEL_IN_FAN		255	/* no flag: the @level of a spoke in a fan */

/*
 * The spokes into which a crowd is sifted. Each is 2^shift ticks wide. If it is wider
 * than one tick it may have a fan, too.
 */
struct hwheel_fan {
	u64			bits[HWHEEL_FAN_WORDS];		/* occupied spokes */
	u64			crowded[HWHEEL_FAN_WORDS];	/* spokes to be sifted */
	u64			begin;		/* the first tick */
	unsigned int		shift;
	struct hwheel_spoke	*parent;
	struct hwheel_fan	*next;		/* the next one in the stock */
	struct hwheel_spoke	child[HWHEEL_FAN];
} __aligned(HWHEEL_SPOKE_SIZE);

/* The spoke that has the list @head */
static inline struct hwheel_spoke *spoke_of(const struct list_head *head)
{
	return (struct hwheel_spoke *)((unsigned long)head & ~(HWHEEL_SPOKE_SIZE - 1UL));
}

/* Are the own lists of @spoke empty, and has it no fan? */
static __always_inline bool spoke_empty(const struct hwheel_spoke *spoke)
{
	return spoke->bound == HWHEEL_NEVER;
}

/* Are the own lists of @spoke empty? Its fan may hold timers. */
static inline bool spoke_bare(const struct hwheel_spoke *spoke)
{
	return list_empty(&spoke->timers[0]) && list_empty(&spoke->timers[1]);
}

static inline struct hwheel_fan *spoke_fan(const struct hwheel_spoke *spoke)
{
	return (struct hwheel_fan *)(spoke->more & ~(HWHEEL_SPOKE_SIZE - 1UL));
}

/* The fan to which @child belongs */
static inline struct hwheel_fan *fan_of(const struct hwheel_spoke *child)
{
	return container_of(child - child->index, struct hwheel_fan, child[0]);
}

/*
 * The list of @spoke to which the next timer goes. The list changes after every 16 timers.
 * A list head has 16 bytes (on 64-bit), so @added & 16 is the offset of the list in
 * @timers: 0 or 16. A small spoke uses only one list: if it used both, a list would become
 * empty more often, which makes levels_unlink() slower.
 */
static __always_inline struct list_head *spoke_list(struct hwheel_spoke *spoke)
{
	return (void *)spoke->timers + (spoke->added & sizeof(struct list_head));
}

/* Iterate over the timers of @spoke, list by list */
#define spoke_for_each(timer, spoke)						\
	for (unsigned int __list = 0; __list < HWHEEL_LISTS; __list++)		\
		list_for_each_entry(timer, &(spoke)->timers[__list], entry)

/* Division by a constant: a shift for a power of two, else a reciprocal */
struct hwheel_divisor {
	u64			mul;		/* 0 for a power of two */
	unsigned int		shift;
};

/* One cache line. Placing a timer uses all members but @width, @nr and @crowds. */
struct hwheel_level {
	struct hwheel_spoke	*spokes;
	u64			summary;	/* one bit per word of the bitmap */
	u64			slot;		/* the clock: a slot */
	struct hwheel_divisor	div;		/* by @width */
	u64			width;		/* ticks per slot */
	u16			nr;		/* spokes */
	u16			open;		/* @nr, or 0 while it is closed or does not exist */
	u16			pos;		/* the spoke of the clock */
	u64			crowds;		/* as @summary, for crowds */
} ____cacheline_aligned;

/*
 * The size of a level's largest crowd, in timers. The number may be too large: it counts
 * timers that were cancelled, and levels_note_most() may double it. A round of a level is
 * as many slots as it has spokes.
 */
struct hwheel_most {
	u32			now;		/* in this round */
	u32			before;		/* in the round before */
	u32			all;		/* twice the timers pending when @now was stored */
	u32			all_before;	/* the same for @before */
	u64			since;		/* the slot at which this round began */
};

/**
 * struct hwheel_levels - a layered wheel
 * @clock: the tick that the wheel has reached. Timers due at or before it may run. While
 *	much is due, the clock is behind the time
 * @floor: the latest tick that is known to have come. A timer armed for an earlier tick
 *	counts as due at the floor
 * @pending: number of timers
 * @above: no spoke above level 0 has a bound before this tick
 * @walk: next entry that levels_walk_next() looks at. When that timer leaves, @walk
 *	moves on to its neighbour
 * @moved: list moves by cascades so far
 * @visited: spokes emptied by cascades and expirations so far
 * @stock: fans that are not in use
 * @tick_ns: nanoseconds per tick
 * @tick_div: divides by @tick_ns
 * @last_tick: last tick that begins at or before S64_MAX nanoseconds
 * @nr: number of levels that exist. Higher levels are empty and have no spokes
 * @planned: number of levels of the geometry. level[planned] is the parking lot
 * @wanted: number of levels that timers have asked for
 * @pow2: the number of spokes of each level is a power of two
 * @starved: the wheel has no fans yet, or the stock was empty when a fan was needed
 * @closed: one bit for each closed level, and for the attic while it is occupied
 * @want: called with the levels locked when @wanted exceeds @nr or @fans_wanted exceeds
 *	@fans; or NULL
 * @lowest: the lowest level that can be the right one for a timer, indexed by the
 *	highest bit of the distance to its tick
 * @level: the levels, the parking lot and the attic
 * @fans: number of fans that exist
 * @fans_used: number of fans in use
 * @fans_wanted: number of fans that should exist
 * @from: where levels_cascade() last took timers from: a spoke of a level, or a bucket.
 *	For a fan: the spoke or bucket at the top of the fans
 * @walk_root: the spoke whose timers the walk visits, including those in its fan
 * @walked: the spoke that @walk is in
 * @walk_at: first tick of @walked
 * @walk_width: width of @walked in ticks
 * @ahead: levels_step() may be called this many ticks late, so crowds are sifted this
 *	much earlier
 * @redo: while a level is closed: the latest floor from which the clock was set back
 * @most: for each level, see levels_lead()
 */
struct hwheel_levels {
	u64			clock;		/* this cache line changes often */
	u64			floor;
	u64			pending;
	u64			above;
	struct list_head	*walk;
	u64			moved;
	u64			visited;
	struct hwheel_fan	*stock;
	u64			tick_ns;	/* from here on: changes seldom or never */
	struct hwheel_divisor	tick_div;
	u64			last_tick;
	u8			nr;
	u8			planned;
	u8			wanted;
	bool			pow2;
	bool			starved;
	u16			closed;
	void			(*want)(struct hwheel_levels *l);
	u8			lowest[64];
	struct hwheel_level	level[HWHEEL_MAX_LEVELS + 2];
	unsigned int		fans;
	unsigned int		fans_used;
	unsigned int		fans_wanted;
	const struct hwheel_spoke *from;
	struct hwheel_spoke	*walk_root;
	struct hwheel_spoke	*walked;
	u64			walk_at;
	u64			walk_width;
	u64			ahead;
	u64			redo;
	struct hwheel_most	most[HWHEEL_MAX_LEVELS + 2];
};

enum hwheel_step {
	HWHEEL_IDLE,	/* nothing to do until the tick of levels_wake() */
	HWHEEL_MOVED,	/* some timers were moved; call again */
	HWHEEL_DUE,	/* pop and run timers with levels_pop(), then call again */
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
#ifdef CONFIG_X86_64
		/* With a product of 128 bits in C, gcc aligns the stack: 4 more instructions */
		u64 low = x;

		asm("mulq %2" : "+a" (low), "=d" (x) : "rm" (div->mul) : "cc");
#elif defined(__SIZEOF_INT128__)	/* inline, also where mul_u64_u64_shr() is a call */
		OPTIMIZER_HIDE_VAR(x);	/* gcc multiplies more often if it knows that x was s64 */
		x = (__uint128_t)x * div->mul >> 64;
#else
		x = mul_u64_u64_shr(x, div->mul, 64);
#endif
	}
	return x >> div->shift;
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

/* The number of the highest bit set in @x. @x must not be 0. Bits count from 0. */
static __always_inline unsigned long levels_highest(u64 x)
{
#if BITS_PER_LONG == 64		/* fls64() also checks for 0 */
	return __fls(x);
#else
	return fls64(x) - 1;
#endif
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
		if (g->spokes[i] < HWHEEL_MIN_SPOKES ||
		    g->spokes[i] > HWHEEL_MAX_SPOKES)
			return "a level's number of spokes is not 2 to 4096";
	if (!hwheel_geometry_fits(g))
		return "tick times spokes of all levels is over S64_MAX ns; take fewer";
	return NULL;
}

/*
 * Bytes of memory for a level of @nr spokes, or for the parking lot. The memory must be
 * aligned like a spoke. kmalloc() may not align small memory enough, so the result is at
 * least the size of 4 spokes.
 */
static inline size_t level_size(unsigned int nr)
{
	return max(nr, 4U) * sizeof(struct hwheel_spoke);
}

/* Set the clock of @lv to @slot, however far away that is. */
static inline void level_set_slot(struct hwheel_level *lv, u64 slot)
{
	u32 pos;

	div_u64_rem(slot, lv->nr, &pos);
	lv->slot = slot;
	lv->pos = pos;
}

/*
 * Set the clock to @clock. The clock never passes a bound, and only levels_set_back() sets
 * it back.
 */
static inline void levels_set_clock(struct hwheel_levels *l, u64 clock)
{
	unsigned int i;

	l->clock = clock;
	l->floor = max(l->floor, clock);
	for (i = 0; i <= l->planned; i++) {
		struct hwheel_level *lv = &l->level[i];
		u64 slot = level_slot(lv, clock), ahead = slot - lv->slot;

		if (unlikely(l->closed & BIT(i)))
			continue;	/* it keeps its clock */
		if (!ahead)
			break;		/* then no higher level's clock moves either */
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
 * Make the spokes of level @i in @memory: level_size() bytes of zeroes. The spokes do not
 * belong to the wheel yet. So this needs no lock.
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
 * Make an empty wheel of geometry @g, without levels. @memory is for the parking lot:
 * level_size(HWHEEL_PARKED) bytes of zeroes.
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
	l->starved = true;

	for (i = 0; i <= l->planned; i++) {
		struct hwheel_level *lv = &l->level[i];

		lv->nr = i < l->planned ? g->spokes[i] : HWHEEL_PARKED;
		lv->width = width;
		divisor_init(&lv->div, width);
		width *= lv->nr;
		l->pow2 &= is_power_of_2(lv->nr);
	}
	l->level[l->planned].spokes = level_init(l, l->planned, memory);
	l->level[l->planned + 1].nr = HWHEEL_PARKED;	/* the attic, without spokes */
	l->level[l->planned + 1].width = width;

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

static inline struct hwheel_level *levels_attic(struct hwheel_levels *l)
{
	return &l->level[l->planned + 1];
}

/*
 * Give the wheel an attic, which it needs if its clock can be set back. @memory is
 * level_size(HWHEEL_PARKED) bytes of zeroes.
 */
static inline void levels_add_attic(struct hwheel_levels *l, void *memory)
{
	levels_attic(l)->spokes = level_init(l, l->planned + 1, memory);
}

/* Is level @i closed? */
static inline bool levels_closed(const struct hwheel_levels *l, unsigned int i)
{
	return unlikely(l->closed & BIT(i));
}

static inline struct hwheel_spoke *levels_transit(struct hwheel_levels *l,
						  unsigned int which)
{
	return &levels_parked(l)->spokes[which];
}

/* Does level @lv exist? Readers may call this without the lock. */
static inline bool level_exists(const struct hwheel_level *lv)
{
	return smp_load_acquire(&lv->spokes);	/* pairs with levels_grow() */
}

static inline bool level_occupied(const struct hwheel_level *lv,
				  unsigned int spoke)
{
	return lv->spokes[spoke / 64].bits & BIT_ULL(spoke % 64);
}

/* The first occupied spoke at or after spoke @from, wrapping round. There must be one. */
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
 * The word for @spoke in a level's bitmap of crowds. The spokes hold the words of two
 * bitmaps: first those of the occupied spokes, then those of the crowds.
 */
static inline u64 *level_crowds(const struct hwheel_level *lv, unsigned int spoke)
{
	return &lv->spokes[DIV_ROUND_UP(lv->nr, 64) + spoke / 64].bits;
}

/* The first crowded spoke at or after spoke @from, wrapping round. There must be one. */
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

/* The slot of level @lv that uses spoke @index at present */
static inline u64 level_slot_of(const struct hwheel_level *lv, unsigned int index)
{
	return lv->slot + index - lv->pos + (index < lv->pos ? lv->nr : 0);
}

/* The spoke for the slot that is @ahead slots ahead of the clock */
static __always_inline struct hwheel_spoke *level_ahead(const struct hwheel_level *lv,
							u64 ahead)
{
	ahead += lv->pos;
	ahead = ahead < lv->open ? ahead : ahead - lv->open;
	OPTIMIZER_HIDE_VAR(ahead);	/* else gcc computes both addresses */
	return &lv->spokes[ahead];
}

/* The lowest level that can be the right one for a timer due in @distance ticks */
static __always_inline struct hwheel_level *levels_lowest(struct hwheel_levels *l,
							  u64 distance)
{
	return &l->level[l->lowest[levels_highest(distance | 1)]];
}

/*
 * The bucket of a timer due at @tick: the highest bit in which @tick and the clock
 * differ. -1 if they are equal.
 */
static inline int levels_bucket(const struct hwheel_levels *l, u64 tick)
{
	return fls64(tick ^ l->clock) - 1;
}

/* The bucket for a timer due at @tick. No existing level has a place for the timer. */
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

/*
 * The spoke for a timer due at @tick, from level @lv upwards. No lower level has a place
 * for the timer. If lower levels are closed, @tick may be in the slot that is a level's
 * clock. A timer in that slot could not move down. So this parks the timer.
 */
static noinline struct hwheel_spoke *levels_place_above(struct hwheel_levels *l,
							const struct hwheel_level *lv,
							u64 tick)
{
	for (; lv < &l->level[l->nr]; lv++) {
		u64 ahead = level_slot(lv, tick) - lv->slot;

		if (ahead < lv->open && (ahead || lv == l->level))
			return level_ahead(lv, ahead);
	}
	return levels_park(l, tick);
}

/*
 * The spoke for a timer due at @due, and the spoke's level. An overdue timer is due at the
 * floor instead. The level that @lowest gives may be too low, for these reasons:
 *
 * - @lowest knows only the highest bit of the distance. If the reach of a level is not a power
 *   of two ticks, the reach may be less than the distance.
 * - The clock is near the end of its slot: the timer may be one slot further ahead.
 * - The clock is behind the floor.
 *
 * In most cases the next level is right, but a still higher one may be.
 */
static __always_inline struct hwheel_spoke *
levels_find(struct hwheel_levels *l, u64 *due, const struct hwheel_level **level)
{
	const struct hwheel_level *lv;
	struct hwheel_spoke *spoke;
	u64 tick = *due, ahead, distance = tick - l->floor;

	/* The floor is not before the clock, so this level is right or too low */
	if (likely((s64)distance >= 0)) {
		lv = levels_lowest(l, distance);
		OPTIMIZER_HIDE_VAR(lv);	/* else gcc computes lv for each member again */
		ahead = level_slot(lv, tick) - lv->slot;
		if (likely(ahead < lv->open)) {
			*level = lv;
			return level_ahead(lv, ahead);
		}
	} else {			/* overdue: due at the floor */
		lv = l->level;
		tick = l->floor;
		*due = tick;
	}
	spoke = levels_place_above(l, lv, tick);
	*level = &l->level[spoke->level];
	return spoke;
}

/* As levels_find(), for a timer that moves. @tick is not before the clock. */
static inline struct hwheel_spoke *levels_place(struct hwheel_levels *l, u64 tick)
{
	const struct hwheel_level *lv = levels_lowest(l, tick - l->clock);
	u64 ahead = level_slot(lv, tick) - lv->slot;

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
 * As list_add_tail() and list_del(), without the checks of CONFIG_DEBUG_LIST. Debian's
 * kernels have these checks; for the hlists of timer_list the kernel has none. The checks
 * read both neighbours: they wait for two cache lines that are otherwise only written to,
 * and they cost 29 instructions.
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

/*
 * If @spoke is in a fan: the spoke of a level, or the bucket, at the top of the fans.
 * Else: @spoke.
 */
static inline struct hwheel_spoke *spoke_root(struct hwheel_spoke *spoke)
{
	while (spoke->more & HWHEEL_CHILD)
		spoke = fan_of(spoke)->parent;
	return spoke;
}

/*
 * The first tick of @spoke. Sets @width to its width in ticks. @spoke belongs to a level,
 * the parking lot, the attic or a fan.
 */
static inline u64 spoke_begin(const struct hwheel_levels *l, const struct hwheel_spoke *spoke,
			      u64 *width)
{
	const struct hwheel_level *lv;

	if (spoke->more & HWHEEL_CHILD) {
		const struct hwheel_fan *fan = fan_of(spoke);

		*width = 1ULL << fan->shift;
		return fan->begin + ((u64)spoke->index << fan->shift);
	}
	if (spoke->level >= l->planned) {
		*width = 1ULL << spoke->index;
		return spoke->bound >> spoke->index << spoke->index;
	}
	lv = &l->level[spoke->level];
	*width = lv->width;
	return level_slot_of(lv, spoke->index) * lv->width;
}

/* The first bit set in @bits, a bitmap of a fan, at or after @from. HWHEEL_FAN: none */
static inline unsigned int fan_bit(const u64 *bits, unsigned int from)
{
	u64 mask = ~0ULL << (from % 64);
	unsigned int i;

	for (i = from / 64; i < HWHEEL_FAN_WORDS; i++, mask = ~0ULL)
		if (bits[i] & mask)
			return i * 64 + __ffs64(bits[i] & mask);
	return HWHEEL_FAN;
}

/* log2 of the width of the spokes in a fan that covers @width ticks */
static inline unsigned int fan_shift(u64 width)
{
	return fls64((width - 1) >> HWHEEL_FAN_BITS);
}

static inline bool fan_empty(const struct hwheel_fan *fan)
{
	return fan_bit(fan->bits, 0) == HWHEEL_FAN;
}

static inline bool fan_crowded(const struct hwheel_fan *fan)
{
	return fan_bit(fan->crowded, 0) != HWHEEL_FAN;
}

/* The first occupied spoke of @fan. There must be one. */
static inline struct hwheel_spoke *fan_first(struct hwheel_fan *fan)
{
	return &fan->child[fan_bit(fan->bits, 0)];
}

/* @spoke if it has timers in its own lists, else the first such spoke in its fans */
static inline struct hwheel_spoke *spoke_find_own(struct hwheel_spoke *spoke)
{
	while (spoke_bare(spoke))
		spoke = fan_first(spoke_fan(spoke));
	return spoke;
}

/* Set or clear the bit of @spoke in the bitmap of spokes to be sifted */
static inline void levels_set_crowded(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				      bool crowded)
{
	u64 bit = BIT_ULL(spoke->index % 64), *bits, *summary = NULL;

	if (spoke->more & HWHEEL_CHILD) {
		bits = &fan_of(spoke)->crowded[spoke->index / 64];
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

/* If its own lists have taken this many timers, @spoke is a crowd */
static inline unsigned int levels_few(const struct hwheel_spoke *spoke)
{
	return spoke->more & HWHEEL_CHILD ? HWHEEL_CROWD_FAN : HWHEEL_CROWD;
}

/* Note whether @spoke or its fan must be sifted. Update the spokes above it. */
static inline void levels_note_crowd(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	for (;;) {
		const struct hwheel_fan *fan = spoke_fan(spoke);
		bool crowded = spoke->added >= levels_few(spoke) || (fan && fan_crowded(fan));

		if (crowded == !!(spoke->more & HWHEEL_CROWDED))
			return;
		levels_set_crowded(l, spoke, crowded);
		if (!(spoke->more & HWHEEL_CHILD))
			return;
		spoke = fan_of(spoke)->parent;
	}
}

/* The number of fans that the stock should have */
static inline unsigned int levels_stock(const struct hwheel_levels *l)
{
	return 4 + min(l->pending / 8192, 512ULL);
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

/*
 * Give @spoke a fan for the @width ticks from @begin on. NULL if the stock is empty, or if
 * buckets get no fans because the attic is occupied.
 */
static inline struct hwheel_fan *levels_fan(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					    u64 begin, u64 width)
{
	struct hwheel_fan *fan = l->stock;

	if (levels_closed(l, l->planned + 1) && spoke_root(spoke)->level == l->planned)
		return NULL;
	l->fans_used += !!fan;
	l->starved = !fan;
	levels_want_fans(l);
	if (!fan)
		return NULL;
	l->stock = fan->next;
	fan->begin = begin;
	fan->shift = fan_shift(width);
	fan->parent = spoke;
	spoke->more |= (unsigned long)fan;
	return fan;
}

/* @spoke is a crowd that is due at one tick. From now on, treat it like any other crowd. */
static inline void levels_mix(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	spoke->more &= ~HWHEEL_ONE_TICK;
	spoke->added = l->pending;	/* an upper limit: levels_joined() has reset the count */
}

/*
 * A timer due at @tick goes to the fan of @spoke. If that lowers the bound, the bound is no
 * longer the tick of @spoke's own timers.
 */
static inline void levels_pass(struct hwheel_levels *l, struct hwheel_spoke *spoke, u64 tick)
{
	if (tick >= spoke->bound)
		return;
	spoke->bound = tick;
	if (spoke_bare(spoke))
		return;
	spoke->mixed = true;
	if (spoke->more & HWHEEL_ONE_TICK) {
		levels_mix(l, spoke);
		levels_note_crowd(l, spoke);
	}
}

/*
 * The spoke for a timer due at @tick in the fan of @spoke. If @spoke has no fan it gets
 * one. NULL if levels_fan() gives none.
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
		levels_pass(l, spoke, tick);
	}
}

/*
 * The own lists of @spoke have become empty, and it has a fan, is in a fan, is crowded,
 * or was a crowd of one tick. Free every fan that is empty now, clear the bits of empty
 * spokes, and raise the bounds of the spokes above.
 */
static noinline void levels_bare(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	for (;;) {
		struct hwheel_fan *fan = spoke_fan(spoke);

		spoke->added = 0;
		spoke->more &= ~HWHEEL_ONE_TICK;
		if (fan && fan_empty(fan)) {
			fan->next = l->stock;
			l->stock = fan;
			l->starved = false;
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
			fan_of(spoke)->bits[spoke->index / 64] &= ~BIT_ULL(spoke->index % 64);
			if (unlikely(l->walked == spoke)) {
				l->walked = NULL;	/* the walk of this spoke is over */
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
 * Make @n fans in @memory, sizeof(struct hwheel_fan) bytes each. Needs no lock, as with
 * level_init().
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

/* Put @n fans into the stock. @memory is from fans_init(). */
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

/* From now on @spoke, which is occupied, may have a timer that is due at @tick. */
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
 * Take @timer, which is pending, out of its spoke. The caller puts the timer into another
 * spoke, or marks it as not pending. Until then readers without the lock see it as pending.
 */
static __always_inline void levels_unlink(struct hwheel_levels *l,
					  struct hwheel_timer *timer)
{
	struct list_head *next = timer->entry.next, *prev = timer->entry.prev;

	if (unlikely(l->walk == &timer->entry))
		l->walk = next;
	spoke_unlink(next, prev);
	if (next == prev) {	/* both are the head: the list is empty now */
		struct hwheel_spoke *spoke = spoke_of(next);

		if (list_empty(&spoke->timers[next == &spoke->timers[0]]))
			levels_emptied(l, spoke);
	}
}

/*
 * Take @timer out of @l. The caller adds it to the levels of another base, or marks it as not
 * pending.
 */
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

/* Set the bit of @spoke, which was empty */
static inline void levels_occupy(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	if (spoke->more & HWHEEL_CHILD)
		fan_of(spoke)->bits[spoke->index / 64] |= BIT_ULL(spoke->index % 64);
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

/* The most ns that it takes to sift a timer of a spoke that is @width ticks wide */
static inline u64 levels_sift_ns(u64 width)
{
	return HWHEEL_SIFT_NS * DIV_ROUND_UP(fls64(width - 1), HWHEEL_FAN_BITS);
}

/*
 * The lead of level @i, in ticks: a crowd is ready to be sifted this long before its spoke
 * begins. @width is the width of a spoke of the level, or of the bucket. @own is the width of
 * the crowd's spoke: the same, or less if the crowd is in a fan. All crowds of a level get the
 * lead that the largest one needs, so that the crowd that begins first is ready first. The lead
 * of a crowd in a fan counts only the moves that its timers still have to make. With a longer
 * lead, crowds far ahead would get fans too early, and these fans would take much memory.
 *
 * Of all crowds that are ready, the one that begins first is sifted first (earliest deadline
 * first: Liu and Layland, "Scheduling algorithms for multiprogramming in a hard-real-time
 * environment", 1973). So a crowd waits for the crowds of other levels that begin before it.
 *
 * Let need be the time to sift the largest crowd. Each timer may have to move once for every
 * HWHEEL_FAN_BITS bits of @width, through fans inside fans. The lead is the sum of
 *
 * - 4 * need. If need is @width / 8 or more, there may be many such crowds in a row: then
 *   instead the time to sift twice the pending timers,
 * - for the crowds of lower levels that begin before: the width of a spoke of the level below,
 *   or @width / 8 if that is less,
 * - l->ahead.
 *
 * This is enough if all levels have need below @width / 8, and 16 spokes or more. The parking
 * lot counts as a level here: each bucket begins at least its own width before the next one.
 * With earliest deadline first, all crowds are finished in time if each interval that ends when
 * a crowd begins is long enough. Let D be the length of the interval. It is long enough if
 * sifting the crowds that both become ready and begin in the interval takes at most D. Only
 * levels with a lead of at most D have such crowds. Let k be the highest of these levels. Take
 * the worst case: in each level j, whose spokes are width[j] wide, each spoke has a crowd that
 * takes need[j]. Then the crowds take at most the sum of
 *
 *	need[j] + D * need[j] / width[j]	for all j from 1 to k
 *
 * - The first terms below k are at most width[j] / 8 each, so together at most
 *   width[k - 1] / 4. The lead of k is at least 4 * need[k] + width[k - 1]. So all first terms
 *   together are at most a fourth of this lead. The lead is at most D, so they are at most D / 4.
 * - The second terms are at most D / 8 each.
 *
 * So the sum is at most D for up to 6 levels. For 8 levels it is at most D * 5 / 4. This is
 * enough, too, if a move takes at most 4/5 of HWHEEL_SIFT_NS.
 *
 * The proof assumes that each crowd has the lead of its level, as if @own were @width. But in
 * each level only the first crowd is looked at. If that crowd is in a fan, its lead may be
 * shorter than that of a crowd behind it, which then waits. The shortest lead is that of a
 * crowd with one move left. It is still 4 times the time for one move of each timer of the
 * largest crowd, which is enough to sift a crowd whose timers have 4 moves left.
 */
static inline u64 levels_lead(struct hwheel_levels *l, unsigned int i, u64 width, u64 own)
{
	const struct hwheel_level *lv = &l->level[i];
	struct hwheel_most *most = &l->most[i];
	u64 n;

	if (lv->slot - most->since >= lv->nr && i < l->planned) {
		most->before = most->now;	/* only the last round is remembered */
		most->all_before = most->all;
		most->now = 0;
		most->all = 0;
		most->since = lv->slot;
	}
	n = max(most->now, most->before);
	if (n * levels_sift_ns(width) < width * l->tick_ns / 8)
		n *= 4;
	else
		n = max(most->all, most->all_before);
	return levels_tick_down(l, n * levels_sift_ns(own)) + 1 +
	       min(lv[-1].width, width / 8) + l->ahead;
}

/*
 * @spoke is a crowd. Store twice its size in most->now. So the next store comes only when the
 * size has doubled.
 */
static inline void levels_note_most(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	struct hwheel_most *most = &l->most[spoke_root(spoke)->level];

	if (spoke->added > most->now) {
		most->now = min(2ULL * spoke->added, 0ULL + ~0U);
		most->all = min(2 * l->pending, 0ULL + ~0U);
	}
}

/*
 * Timers have joined @spoke, and it may be a crowd now. A crowd that is due at one tick
 * keeps its count at HWHEEL_CROWD - 1. So the next timer that joins it is looked at, too.
 * In spokes that can't mix, the count means nothing.
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
		levels_want_fans(l);	/* needed when timers of other ticks join */
	}
}

/*
 * Move all of @from's own timers to the end of @to's lists. @to may be empty. If it is not,
 * a crowd that is due at one tick may join only timers that are due at that tick.
 */
static inline void levels_splice(struct hwheel_levels *l,
				 struct hwheel_spoke *from,
				 struct hwheel_spoke *to)
{
	unsigned int i;

	if (unlikely(l->walked == from))	/* the walk of this spoke is over */
		l->walk = &from->timers[HWHEEL_LISTS - 1];
	if (spoke_empty(to)) {
		to->bound = from->bound;
		to->mixed = from->mixed;
		to->added = from->added;
		levels_occupy(l, to);
	} else {
		levels_widen(to, from->bound);
		to->mixed |= from->mixed;
		to->added += from->added;
	}
	/* Also if @to was occupied: it may have only a fan, and no timers in its own lists */
	to->more |= from->more & HWHEEL_ONE_TICK;
	for (i = 0; i < HWHEEL_LISTS; i++)
		list_splice_tail_init(&from->timers[i], &to->timers[i]);
	levels_emptied(l, from);
	levels_joined(l, to);
	l->visited++;
}

/*
 * A spoke in the fans below @spoke for a crowd that is due at @tick: a spoke without
 * timers of other ticks. NULL if levels_fan() gives none.
 */
static inline struct hwheel_spoke *levels_crowd_place(struct hwheel_levels *l,
						      struct hwheel_spoke *spoke, u64 tick)
{
	for (;;) {
		spoke = levels_fan_place(l, spoke, tick);
		if (!spoke || spoke_empty(spoke) || (!spoke->mixed && spoke->bound == tick))
			return spoke;
		levels_pass(l, spoke, tick);
	}
}

/*
 * A timer of @spoke's own lists, which must not both be empty. @turn chooses the list, and
 * whether to take its first or its last timer. A caller that counts @turn up or down uses
 * all four ends, and so keeps as many cache misses in flight as possible. The timers of a
 * spoke are in no order.
 */
static __always_inline struct hwheel_timer *spoke_end(struct hwheel_spoke *spoke,
						      unsigned int turn)
{
	struct list_head *list = &spoke->timers[turn % 2];

	if (unlikely(list_empty(list)))
		list = &spoke->timers[!(turn % 2)];
	return list_entry(turn / 2 % 2 ? list->prev : list->next, struct hwheel_timer, entry);
}

/* Put @timer, due at @tick, into @spoke. The timer comes from another spoke. */
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
 * @timer, due at @tick, has joined a crowd whose timers are all due at another tick. Move
 * the crowd as a whole to a place of its own: if its timers moved one by one, others
 * would be late. If there is no such place, treat the crowd like any other from now on.
 *
 * The crowd's tick is the bound, unless @timer has lowered that. Then it is the tick of any timer
 * of the crowd, if that tick is not before the floor. Else the crowd may have been overdue when
 * it was armed, and it counts as due at a later tick.
 */
static noinline void levels_part(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				 struct hwheel_timer *timer, u64 tick)
{
	bool later = tick > spoke->bound;
	struct hwheel_spoke *to = NULL;
	u64 old;

	spoke_unlink(timer->entry.next, timer->entry.prev);
	old = later ? spoke->bound : levels_due(l, spoke_end(spoke, 0));
	if (later || old >= l->floor)
		to = levels_crowd_place(l, spoke, old);
	if (to) {
		spoke->bound = old;
		spoke->mixed = false;
		levels_splice(l, spoke, to);
		levels_put(l, timer, spoke, tick);
		return;
	}
	spoke_link(&timer->entry, &spoke->timers[0]);
	levels_mix(l, spoke);
	if (spoke->added >= levels_few(spoke)) {
		levels_note_crowd(l, spoke);
		levels_note_most(l, spoke);
	}
}

/* Move @timer, due at @tick, to @spoke */
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

/* What is to be sifted next. A crowd is ready when its lead has begun: see levels_lead() */
struct hwheel_sift {
	struct hwheel_spoke	*spoke;		/* the ready crowd that begins first, or NULL */
	u64			begin;		/* the tick at which @spoke begins */
	u64			start;		/* the earliest tick at which a crowd is ready */
};

static inline struct hwheel_sift levels_no_sift(void)
{
	return (struct hwheel_sift){ NULL, HWHEEL_NEVER, HWHEEL_NEVER };
}

/*
 * @root is crowded: a crowd is in its own lists, or in a spoke of its fans. Update @next for the
 * first such crowd.
 */
static inline void spoke_next_sift(struct hwheel_levels *l, struct hwheel_spoke *root,
				   struct hwheel_sift *next)
{
	struct hwheel_spoke *spoke = root;
	u64 width, own, begin, lead, start;

	while (spoke->added < levels_few(spoke))
		spoke = &spoke_fan(spoke)->child[fan_bit(spoke_fan(spoke)->crowded, 0)];
	spoke_begin(l, root, &width);
	begin = spoke_begin(l, spoke, &own);
	lead = levels_lead(l, root->level, width, own);
	start = begin - min(begin, lead);
	next->start = min(next->start, start);
	if (start <= l->clock && begin < next->begin) {
		next->spoke = spoke;
		next->begin = begin;
	}
}

/*
 * As spoke_next_sift(), for all spokes of level @i. In a level, the first crowd from the
 * clock on begins first. So only that crowd is looked at. Buckets are not in the order in
 * which they begin: a bucket can begin inside another bucket that the clock has entered.
 * So all crowded buckets are looked at.
 */
static inline void level_next_sift(struct hwheel_levels *l, unsigned int i,
				   struct hwheel_sift *next)
{
	const struct hwheel_level *lv = &l->level[i];
	u64 bits;

	if (likely(!lv->crowds))
		return;
	levels_want_fans(l);		/* ask again: there may have been no memory */
	if (unlikely(l->starved))
		return;
	if (i < l->planned)
		spoke_next_sift(l, level_first_crowd(lv, lv->pos), next);
	else
		for (bits = *level_crowds(lv, 0); bits; bits &= bits - 1)
			spoke_next_sift(l, &lv->spokes[__ffs64(bits)], next);
}

/* As level_next_sift(), for all levels */
static inline struct hwheel_sift levels_next_sift(struct hwheel_levels *l)
{
	struct hwheel_sift next = levels_no_sift();
	unsigned int i;

	for (i = 1; i <= l->planned; i++)
		level_next_sift(l, i, &next);
	return next;
}

/*
 * Is @spoke marked as crowded, and is a crowd of its size noted already? The mark alone is
 * not enough. If @spoke's own lists have just become a crowd, the mark may be for a crowd in
 * the fan, which begins later.
 */
static __always_inline bool levels_known(const struct hwheel_levels *l,
					 const struct hwheel_spoke *spoke)
{
	return (spoke->more & (HWHEEL_CROWDED | HWHEEL_ONE_TICK)) == HWHEEL_CROWDED &&
	       spoke->added > HWHEEL_CROWD && spoke->added <= l->most[spoke->level].now;
}

/*
 * @timer, due at @tick, has joined a crowd in @spoke. Returns what levels_added()
 * returns.
 */
static noinline u64 levels_crowd(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				 struct hwheel_timer *timer, u64 tick)
{
	struct hwheel_sift next = levels_no_sift();

	if (likely(levels_known(l, spoke)))
		return tick;
	if (spoke->more & HWHEEL_ONE_TICK && spoke->mixed)
		levels_part(l, spoke, timer, tick);
	else
		levels_joined(l, spoke);
	if (!(spoke->more & HWHEEL_CROWDED))
		return tick;
	level_next_sift(l, spoke->level, &next);
	return min(tick, next.start);
}

/*
 * @timer, due at @tick, has been put into @spoke. Returns the tick by which levels_step()
 * must be called: @tick, or an earlier tick if @timer joined a crowd.
 */
static __always_inline u64 levels_added(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					struct hwheel_timer *timer, u64 tick)
{
	if (likely(spoke->added % HWHEEL_CROWD))
		return tick;
	return levels_crowd(l, spoke, timer, tick);
}

/* Add @timer, due at @tick. Returns what levels_added() returns. */
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
 * A timer is due at @old, and is re-armed for @tick. @spoke is the right spoke for @tick.
 * May the timer stay in its spoke?
 *
 * It may, if @spoke is also the right spoke for @old. Then the timer is in @spoke, or in a
 * spoke of a higher level that covers the same slot and has not been emptied yet. Nobody
 * knows which of these spokes holds the timer. So this widens all of them to @tick.
 *
 * It may not in these cases:
 *
 * - The timer can be in yet another spoke: one of these spokes has a fan, any timer is
 *   parked or in transit, a level is closed, or @old is before the floor.
 * - One of these spokes is a crowd that is due at one tick. Such a crowd must not mix.
 */
static noinline bool levels_stays(struct hwheel_levels *l, struct hwheel_spoke *spoke,
				  u64 old, u64 tick)
{
	unsigned int i;

	if (old == tick)
		return true;
	if (old < l->floor || l->closed || spoke != levels_place(l, old) ||
	    levels_parked(l)->summary)
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
 * Re-arm @timer, which is pending and due at @old, for @tick. Returns what levels_added()
 * returns.
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

/* The occupied spoke of the attic with the least bound. NULL if the attic is empty. */
static noinline struct hwheel_spoke *attic_first(struct hwheel_levels *l)
{
	const struct hwheel_level *lv = levels_attic(l);
	struct hwheel_spoke *first = NULL;
	u64 bits = lv->summary ? lv->spokes[0].bits : 0;

	for (; bits; bits &= bits - 1) {
		struct hwheel_spoke *spoke = &lv->spokes[__ffs64(bits)];

		if (!first || spoke->bound < first->bound)
			first = spoke;
	}
	return first;
}

/*
 * The occupied spoke with the least bound. NULL if no timer is pending.
 *
 * In most cases it is in level 0, and no other level is looked at. l->above allows this:
 * nothing above level 0 is due before that tick. When all levels have been looked at,
 * l->above is set to the lesser of two ticks: the least bound above level 0, and the beginning
 * of the next slot of level 1. Timers added later above level 0 are not due before that
 * slot.
 *
 * If bounds are equal, level 0 and bucket HWHEEL_NOW come last. They take the timers that
 * callbacks arm for the past, and these must not keep others of the same tick waiting.
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
	lv = levels_parked(l);
	for (bits = lv->spokes[0].bits; bits; bits &= ~BIT_ULL(i)) {
		i = levels_highest(bits);
		spoke = &lv->spokes[i];
		l->above = min(l->above, spoke->bound);
		if (spoke->bound <= bound) {
			first = spoke;
			bound = spoke->bound;
		}
	}
	for (i = 1; i < l->nr; i++) {
		lv = &l->level[i];
		if (!lv->summary)
			continue;
		spoke = level_first(lv, lv->pos);
		l->above = min(l->above, spoke->bound);
		if (spoke->bound <= bound) {
			first = spoke;
			bound = spoke->bound;
		}
	}
	if (unlikely(l->closed)) {
		l->above = 0;
		spoke = attic_first(l);
		if (spoke && spoke->bound <= bound)
			first = spoke;
	}
	return first;
}

/*
 * Open the closed levels that are empty. Of the others, returns the occupied spoke with the
 * least bound. NULL if no level is closed any more.
 */
static noinline struct hwheel_spoke *levels_stray(struct hwheel_levels *l)
{
	struct hwheel_spoke *first = NULL, *spoke;
	unsigned int i;

	for (i = 0; i <= l->planned + 1; i++) {
		struct hwheel_level *lv = &l->level[i];

		if (!levels_closed(l, i))
			continue;
		if (lv->summary) {
			spoke = i < l->planned ? level_first(lv, lv->pos) : attic_first(l);
			if (!first || spoke->bound < first->bound)
				first = spoke;
			continue;
		}
		l->closed &= ~BIT(i);
		if (i < l->planned) {
			level_set_slot(lv, level_slot(lv, l->clock));
			lv->open = lv->nr;
		}
	}
	return first;
}

/*
 * As levels_stray(), but NULL unless the spoke may have timers for the past: see "The clock
 * is set back".
 */
static inline struct hwheel_spoke *levels_redo(struct hwheel_levels *l)
{
	struct hwheel_spoke *spoke = l->closed ? levels_stray(l) : NULL;

	return spoke && spoke->bound <= l->redo ? spoke : NULL;
}

/*
 * The first tick at which a timer may be due: the first bound. It is the present clock if timers
 * are left to pop, or if a closed level may have timers for the past. HWHEEL_NEVER if there are no
 * timers.
 */
static inline u64 levels_due_tick(struct hwheel_levels *l)
{
	const struct hwheel_spoke *first;

	if (!spoke_empty(levels_transit(l, HWHEEL_EXPIRED)) ||
	    unlikely(l->closed && levels_redo(l)))
		return l->clock;
	first = levels_first(l);
	return first ? first->bound : HWHEEL_NEVER;
}

/*
 * The tick at which levels_step() has something to move ahead of time, if nothing is due. It is the
 * present clock if a closed level is to be emptied. There are timers.
 */
static inline u64 levels_move_tick(struct hwheel_levels *l)
{
	return unlikely(l->closed) ? l->clock : levels_next_sift(l).start;
}

/* The tick at which levels_step() must be called next. HWHEEL_NEVER if there are no timers. */
static inline u64 levels_wake(struct hwheel_levels *l)
{
	u64 due = levels_due_tick(l);

	return due == HWHEEL_NEVER ? due : min(due, levels_move_tick(l));
}

/*
 * The first spoke above level 0 that the clock has entered and that has timers in its own
 * lists: the lowest such bucket, or else the spoke of the highest such level. NULL if there
 * is none.
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

/* The width in ticks of @spoke, which levels_place() gives */
static __always_inline u64 levels_width(const struct hwheel_levels *l,
					const struct hwheel_spoke *spoke)
{
	if (likely(spoke->level < l->planned))
		return l->level[spoke->level].width;
	return spoke->index < HWHEEL_NOW ? 1ULL << spoke->index : 1;
}

/*
 * The width of the spokes in the fan of @spoke, if its timers may go there although levels_place()
 * gives another spoke. Else HWHEEL_NEVER: @spoke is no crowd, or @root is in a closed level,
 * which all timers must leave.
 */
static inline u64 levels_fan_width(const struct hwheel_levels *l, const struct hwheel_spoke *spoke,
				   const struct hwheel_spoke *root)
{
	u64 width;

	if (spoke->added < levels_few(spoke) || levels_closed(l, root->level))
		return HWHEEL_NEVER;
	spoke_begin(l, spoke, &width);
	return 1ULL << fan_shift(width);
}

/*
 * The new spoke of a timer that is in the own lists of @spoke and due at @tick. @root is
 * spoke_root(@spoke). In most cases levels_place() gives the new spoke. In two cases the
 * timer goes to the fan of @spoke instead:
 *
 * - levels_place() gives @root again. If levels_fan() gives none, this returns NULL.
 * - levels_place() gives a spoke that is wider than the spokes of the fan, which are @fine
 *   ticks wide: see levels_fan_width(). So a crowd moves as far down as it can. Otherwise it
 *   could move from bucket to bucket, for example, once for each bit of its ticks. If no fan is
 *   left, the timer goes to the wider spoke.
 */
static __always_inline struct hwheel_spoke *levels_below(struct hwheel_levels *l,
							 struct hwheel_spoke *spoke,
							 struct hwheel_spoke *root, u64 tick,
							 u64 fine)
{
	struct hwheel_spoke *place = levels_place(l, tick), *fan;

	if (likely(place != root) && (likely(levels_width(l, place) <= fine) || l->starved))
		return place;
	fan = levels_fan_place(l, spoke, tick);
	return fan || place == root ? fan : place;
}

/*
 * Move all timers of @spoke, which are due at one tick, to @to at once. A crowd that is
 * due at one tick must not mix with other timers: it moves to a spoke in a fan of @to.
 * Returns false if @to is such a crowd, due at another tick, and @spoke is no crowd. Then the
 * caller must move @spoke's timers one by one.
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
			else
				levels_mix(l, to);
		}
		if (spoke->more & HWHEEL_ONE_TICK) {
			place = levels_crowd_place(l, to, tick);
			if (place) {
				levels_widen(to, tick);
				to = place;
			} else {
				levels_mix(l, spoke);
			}
		}
	}
	l->moved++;
	levels_splice(l, spoke, to);
	return true;
}

/*
 * Move timers of @spoke's own lists down: all at once if they are due at one tick, else
 * up to HWHEEL_STEP of them. False if levels_fan() gives none.
 */
static inline bool levels_cascade(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	struct hwheel_spoke *root = spoke_root(spoke), *to;
	u64 fine = levels_fan_width(l, spoke, root);
	unsigned int n;

	l->from = root;
	if (!spoke->mixed) {
		to = levels_below(l, spoke, root, spoke->bound, fine);
		if (!to)
			return false;
		if (levels_cascade_whole(l, spoke, to))
			return true;
	}
	for (n = 0; n < HWHEEL_STEP && !spoke_bare(spoke); n++) {
		struct hwheel_timer *timer = spoke_end(spoke, n);
		u64 tick = max(levels_due(l, timer), l->clock);

		to = levels_below(l, spoke, root, tick, fine);
		if (!to)
			break;
		if (unlikely(l->walk == &timer->entry))
			l->walk = timer->entry.next;
		spoke_unlink(timer->entry.next, timer->entry.prev);
		levels_put_moved(l, timer, to, tick);
	}
	l->moved += n;
	if (spoke_bare(spoke)) {
		levels_emptied(l, spoke);
		l->visited++;
	}
	return n;
}

/*
 * Give timers of @spoke new places by their own ticks. @spoke is in a closed level, so none
 * of them stays. If its bound is at or before l->redo, it may have timers for the past. These
 * are not due at that bound, so the spoke counts as mixed.
 */
static inline void levels_rearrange(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	spoke = spoke_find_own(spoke);
	if (spoke->bound <= l->redo) {
		if (spoke->more & HWHEEL_ONE_TICK)
			levels_mix(l, spoke);
		spoke->mixed = true;
	}
	levels_cascade(l, spoke);
}

/* Move all timers of the bucket @from, and its fan, to the attic. */
static inline void levels_stow(struct hwheel_levels *l, struct hwheel_spoke *from)
{
	struct hwheel_spoke *to = &levels_attic(l)->spokes[from->index];
	struct hwheel_fan *fan = spoke_fan(from);
	unsigned int i;

	if (unlikely(l->walked == from))	/* the walk of this spoke is over */
		l->walk = &from->timers[HWHEEL_LISTS - 1];
	if (spoke_empty(to)) {
		to->mixed = false;
		levels_mark(l, to);
	}
	to->bound = min(to->bound, from->bound);
	to->mixed |= !spoke_bare(from);
	to->added = l->pending;		/* an upper limit */
	for (i = 0; i < HWHEEL_LISTS; i++)
		list_splice_tail_init(&from->timers[i], &to->timers[i]);
	if (from->more & HWHEEL_CROWDED)
		levels_set_crowded(l, from, false);
	if (fan) {
		fan->parent = to;
		to->more |= (unsigned long)fan;
		if (fan_crowded(fan))
			levels_set_crowded(l, to, true);
	}
	from->more = 0;
	from->added = 0;
	levels_unmark(l, from);
	l->closed |= BIT(l->planned + 1);
}

/*
 * The clock was set back: the present tick is @now, which is before the floor. Takes at
 * most two splices for each bucket. See "The clock is set back".
 */
static inline void levels_set_back(struct hwheel_levels *l, u64 now)
{
	u64 floor = l->floor, bits = levels_parked(l)->spokes[0].bits;
	unsigned int i;

	l->redo = l->closed ? max(l->redo, floor) : floor;
	l->floor = now;
	l->clock = min(l->clock, now);
	l->above = 0;
	for (; bits; bits &= bits - 1)
		levels_stow(l, &levels_parked(l)->spokes[__ffs64(bits)]);
	for (i = 0; i <= l->planned; i++) {
		struct hwheel_level *lv = &l->level[i];
		u64 slot = level_slot(lv, l->clock);

		if (levels_closed(l, i))
			continue;
		if (lv->summary &&
		    (slot != lv->slot || level_first(lv, lv->pos)->bound <= floor)) {
			l->closed |= BIT(i);
			lv->open = 0;
		} else if (slot != lv->slot) {
			level_set_slot(lv, slot);
		}
	}
}

/*
 * Add the next level. @spokes is from level_init(). Parked timers stay in their buckets
 * until the clock enters the bucket, or the bucket is sifted.
 */
static inline void levels_grow(struct hwheel_levels *l, struct hwheel_spoke *spokes)
{
	smp_store_release(&l->level[l->nr].spokes, spokes);	/* see level_exists() */
	l->level[l->nr].open = l->level[l->nr].nr;
	l->nr++;
}

/**
 * levels_step - do one bounded step of the work at a tick
 * @l: the levels
 * @now: the present tick
 *
 * Due timers come first, in the order of their ticks. Only levels_redo() comes before them. A
 * timer that is armed for a tick that has passed counts as due at the floor. So callbacks
 * that arm timers for the past do not hold up other timers. Between two calls, timers may
 * be added, removed and changed.
 *
 * Return: HWHEEL_DUE if there are timers to pop and run; HWHEEL_MOVED if some were
 * moved and there may be more to do; HWHEEL_IDLE if nothing is left to do.
 */
static inline enum hwheel_step levels_step(struct hwheel_levels *l, u64 now)
{
	struct hwheel_spoke *expired = levels_transit(l, HWHEEL_EXPIRED);
	struct hwheel_spoke *spoke;

	l->floor = max(l->floor, now);
	if (!spoke_empty(expired))
		return HWHEEL_DUE;
	if (unlikely(l->closed)) {
		spoke = levels_redo(l);
		if (spoke) {
			levels_rearrange(l, spoke);
			return HWHEEL_MOVED;
		}
	}

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

	/* Nothing is due, so there is time to prepare what will be due */
	if (now > l->clock)
		levels_set_clock(l, now);
	if (!spoke)
		return HWHEEL_IDLE;

	spoke = levels_entered(l);
	if (!spoke)
		spoke = levels_next_sift(l).spoke;
	if (spoke && levels_cascade(l, spoke))
		return HWHEEL_MOVED;
	if (likely(!l->closed))
		return HWHEEL_IDLE;
	spoke = levels_stray(l);
	if (!spoke)
		return HWHEEL_IDLE;
	levels_rearrange(l, spoke);
	return HWHEEL_MOVED;
}

/* Take the next due timer off the wheel. NULL if none is left. */
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

/* Any timer, for callers that remove all of them. NULL if none is pending. */
static inline struct hwheel_timer *levels_any(struct hwheel_levels *l)
{
	struct hwheel_spoke *spoke = levels_first(l);

	return spoke ? spoke_end(spoke_find_own(spoke), 0) : NULL;
}

/*
 * Of the ticks from @first to @last, the one at which the widest slot begins. If several slots of
 * that width begin in that range, take the slot whose number has the most zero bits at its end.
 * Timers with slack meet in such ticks. @first must not be 0, and @last must not be less than
 * @first.
 */
static noinline u64 levels_align_slow(const struct hwheel_levels *l, u64 first, u64 last)
{
	unsigned int i = READ_ONCE(l->planned);

	while (i--) {
		const struct hwheel_level *lv = &l->level[i];
		u64 slot = level_slot(lv, last);
		u64 differ = slot ^ level_slot(lv, first - 1);	/* - 1, so that @first counts */

		if (differ)
			return (slot >> levels_highest(differ) << levels_highest(differ)) *
			       lv->width;
	}
	/* The wheel is being created again: the timer will not be armed, any tick will do */
	return last;
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
 * levels_walk_begin - begin to walk through the timers of a spoke
 * @l: the levels; one walk at a time
 * @spoke: any of its spokes
 *
 * The caller may drop the lock between calls of levels_walk_next(). If the walk's next
 * timer leaves then, the walk goes on with the timer's neighbour. A timer that moves
 * within the spoke meanwhile, to its fan, may be seen twice.
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
 * The next spoke of a walk in @fan and the fans below it. It has timers in its own lists.
 * It begins after tick @at, or at @at and is narrower than @width. NULL if there is none.
 * The recursion is at most as deep as a tick has bits.
 */
static inline struct hwheel_spoke *fan_after(struct hwheel_fan *fan, u64 at, u64 width)
{
	u64 passed = at > fan->begin ? (at - fan->begin) >> fan->shift : 0;
	unsigned int i = passed < HWHEEL_FAN ? passed : HWHEEL_FAN;

	/* Spokes that end before @at are not looked at, so a call takes few steps */
	for (i = fan_bit(fan->bits, i); i < HWHEEL_FAN; i = fan_bit(fan->bits, i + 1)) {
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

/* The next timer of the walk. NULL at its end. */
static inline struct hwheel_timer *levels_walk_next(struct hwheel_levels *l)
{
	struct hwheel_timer *timer;

	for (;;) {
		struct hwheel_fan *fan = spoke_fan(l->walk_root);

		while (l->walk && spoke_of(l->walk) == l->walked)	/* a list head */
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

/* Check the timers in the own lists of @spoke. Overdue ones count as due at the floor. */
static inline const char *levels_check_own(const struct hwheel_levels *l,
					   struct hwheel_spoke *spoke, u64 *pending)
{
	bool attic = spoke->level > l->planned && spoke->level != HWHEEL_IN_FAN;
	bool transit = spoke->level == l->planned && spoke->index >= HWHEEL_NOW;
	unsigned int root = spoke_root(spoke)->level;
	u64 floor = l->closed ? max(l->floor, l->redo) : l->floor;
	const struct hwheel_timer *timer;
	u64 begin, width, n = 0;

	begin = spoke_begin(l, spoke, &width);
	if (spoke->more & HWHEEL_ONE_TICK && (spoke->mixed || spoke_bare(spoke)) && !transit)
		return "a spoke is wrongly marked as a crowd of one tick";
	if (spoke->mixed && spoke->added >= levels_few(spoke) && levels_mixes(l, spoke) &&
	    !(spoke->more & HWHEEL_CROWDED) && root <= l->planned && !levels_closed(l, root))
		return "a crowd is not marked";
	spoke_for_each(timer, spoke) {
		u64 tick = levels_due(l, timer);

		++*pending;
		if (++n > spoke->added && !(spoke->more & HWHEEL_ONE_TICK) &&
		    levels_mixes(l, spoke))
			return "a spoke has more timers than it has counted";
		if (tick < floor && spoke->bound <= floor)
			continue;
		if (transit && tick <= l->clock)
			continue;
		if (tick < spoke->bound)
			return "a timer is due before its spoke's bound";
		if (!spoke->mixed && tick != spoke->bound)
			return "a spoke is mixed but not marked so";
		if (!transit && !attic && tick - begin >= width)
			return "a timer is in another slot's spoke";
	}
	return NULL;
}

static inline const char *levels_check_fan(const struct hwheel_levels *l,
					   struct hwheel_spoke *parent, u64 *pending)
{
	struct hwheel_fan *fan = spoke_fan(parent);
	u64 crowded[HWHEEL_FAN_WORDS] = {}, begin, width;
	const char *fault = NULL;
	unsigned int i;

	begin = spoke_begin(l, parent, &width);
	if (parent->level == l->planned + 1)
		begin = fan->begin;	/* other timers may have joined it in the attic */
	if (fan->parent != parent || fan->begin != begin ||
	    (u64)HWHEEL_FAN << fan->shift < width)
		return "a fan does not match its spoke";
	if (spoke_bare(parent) && (fan_empty(fan) || fan_first(fan)->bound != parent->bound))
		return "a bound differs from that of the fan";
	for (i = 0; i < HWHEEL_FAN && !fault; i++) {
		struct hwheel_spoke *spoke = &fan->child[i];

		if (!(spoke->more & HWHEEL_CHILD) || spoke->index != i)
			return "a spoke of a fan has a wrong number";
		if ((fan_bit(fan->bits, i) == i) == spoke_empty(spoke) ||
		    spoke_empty(spoke) != (spoke_bare(spoke) && !spoke_fan(spoke)))
			return "a bit in a fan does not match its spoke";
		if (spoke->more & HWHEEL_CROWDED)
			crowded[i / 64] |= BIT_ULL(i % 64);
		if (spoke_empty(spoke))
			continue;
		if (spoke->bound < parent->bound || spoke->bound < l->clock)
			return "a bound in a fan is too early";
		fault = levels_check_own(l, spoke, pending);
		if (!fault && spoke_fan(spoke))
			fault = levels_check_fan(l, spoke, pending);
	}
	if (!fault && (memcmp(crowded, fan->crowded, sizeof(crowded)) ||
		       (fan_crowded(fan) && !(parent->more & HWHEEL_CROWDED))))
		return "a crowd in a fan is not marked";
	return fault;
}

/* Check the clock of level @i, of the parking lot, or of the attic, and if it is marked right */
static inline const char *levels_check_clock(const struct hwheel_levels *l, unsigned int i)
{
	const struct hwheel_level *lv = &l->level[i];
	u32 pos;

	div_u64_rem(lv->slot, lv->nr, &pos);
	if (i <= l->planned && !levels_closed(l, i) &&
	    lv->slot != div64_u64(l->clock, lv->width))
		return "a level's clock differs from the wheel's";
	if (lv->pos != pos)
		return "a level's position does not match its clock";
	if (i < l->nr && lv->open != (levels_closed(l, i) ? 0 : lv->nr))
		return "a level is open but marked as closed, or the reverse";
	if (i > l->planned && lv->summary && !levels_closed(l, i))
		return "the attic is occupied but not marked so";
	return NULL;
}

/* Check the spokes of level @i, of the parking lot, or of the attic */
static inline const char *levels_check_spokes(const struct hwheel_levels *l, unsigned int i,
					      u64 *pending)
{
	const struct hwheel_level *lv = &l->level[i];
	u64 summary = 0, crowds = 0;
	const char *fault = NULL;
	unsigned int j;

	for (j = 0; j < lv->nr && !fault; j++) {
		struct hwheel_spoke *spoke = &lv->spokes[j];
		bool now = i >= l->planned && (j == HWHEEL_EXPIRED || j == HWHEEL_NOW);
		bool empty, crowded = spoke->more & HWHEEL_CROWDED;

		if (spoke->level != i || spoke->index != j || spoke->more & HWHEEL_CHILD)
			return "a spoke has a wrong level or number";
		empty = spoke_bare(spoke) && !spoke_fan(spoke);
		if (level_occupied(lv, j) == empty || spoke_empty(spoke) != empty)
			return "a bit does not match its spoke";
		if (crowded == !(*level_crowds(lv, j) & BIT_ULL(j % 64)) || (crowded && empty))
			return "a bit for crowds does not match its spoke";
		if (spoke_empty(spoke))
			continue;
		summary |= BIT_ULL(j / 64);
		crowds |= (u64)crowded << j / 64;
		if (spoke->bound < l->clock && !now)
			return "a bound is before the clock";
		if (i && spoke->bound < l->above && !now)
			return "a bound above level 0 is before l->above";
		fault = levels_check_own(l, spoke, pending);
		if (!fault && spoke_fan(spoke))
			fault = levels_check_fan(l, spoke, pending);
	}
	if (!fault && (lv->summary != summary || lv->crowds != crowds))
		return "a summary does not match its bitmap";
	return fault;
}

/**
 * levels_check - check the whole structure against its invariants
 * @l: the levels
 *
 * Return: NULL, or what is wrong.
 */
static inline const char *levels_check(struct hwheel_levels *l)
{
	const struct hwheel_fan *fan = l->stock;
	const char *fault = NULL;
	u64 pending = 0;
	unsigned int i;

	if (l->floor < l->clock)
		return "the floor is before the clock";
	if (fan && l->starved)
		return "the stock has a fan, but counts as empty";
	for (i = l->fans_used; fan && i < l->fans; i++)
		fan = fan->next;
	if (fan || i != l->fans)
		return "the stock has more or less fans than it counts";
	for (i = 0; i <= l->planned + 1 && !fault; i++) {
		fault = levels_check_clock(l, i);
		if (fault)
			return fault;
		if (l->level[i].spokes && (i < l->nr || i >= l->planned))
			fault = levels_check_spokes(l, i, &pending);
		else if (l->level[i].summary)
			fault = "a level that does not exist is occupied";
	}
	if (!fault && pending != l->pending)
		fault = "a timer is lost";
	return fault;
}

#endif /* _HWHEEL_LEVELS_H */
