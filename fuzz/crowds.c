// SPDX-License-Identifier: GPL-2.0
/*
 * Large crowds in simulated time: do their timers fire in time? Callbacks take no time. Time
 * passes while the wheel moves timers, while it rests, and while it has nothing to do. After
 * some moves the program leaves the CPU to others for as long as the moves took, or until a
 * timer is due, as module/run.c does. Beside the crowd of the last case, small crowds come all the
 * time. A timer may be late by the moves that Documentation/late.rst allows, and by no more.
 *
 * Prints a row for each case: how late the latest timer was, how often a timer moved, and how
 * much memory the fans took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "module/levels.h"

#define BESIDE		40
#define BESIDE_EVERY_NS	4096000ULL	/* in a level of spokes as wide as this, each has a crowd */
#define BESIDE_NS	(2000 * BESIDE_EVERY_NS)
#define LEVELS		5
#define SPOKES		128
#define MOVE_NS		100
#define BATCH_NS	50000		/* after moves for this long, a rest follows */
/* The term "moves" of Documentation/late.rst, with its numbers */
#define MOST_NS		((LEVELS * 32 + LEVELS * 16) * MOVE_NS)

static const struct crowds {
	const char	*what;
	u64		timers;
	u64		tick_ns;
	u64		from_ms;	/* the timers are due at random times, beginning here, */
	u64		span_ms;	/* in this span */
	unsigned int	wide;		/* spokes of each of two levels; small crowds come, too */
} cases[] = {
	{ "crowds of one level",		1000000, 1000000,  2000,  4000 },
	{ "the same, tick 1 us",		1000000,    1000,  2000,  4000 },
	{ "crowds of two levels",		1000000, 1000000, 20000, 30000 },
	{ "the same, more",			3000000, 1000000, 20000, 30000 },
	{ "the same, tick 1 us",		3000000,    1000, 20000, 30000 },
	{ "more than the estimate allows",	5000000, 1000000, 20000, 30000 },
	{ "crowds of three levels",		2000000,   20000, 20000, 60000 },
	{ "a burst",				 100000,    1000,  2000,     1 },
	{ "beside small crowds, 4096 spokes",	  30000,    1000, 16753,     3, 4096 },
};

static u64 random_below(u64 below)
{
	static u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % below;
}

static void *zeroes(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) & ~63UL);

	if (!memory)
		abort();
	return memset(memory, 0, bytes);
}

/* Add row @i. */
static void add_row(struct hwheel_levels *l, unsigned int i, void **memory)
{
	memory[i] = zeroes(levels_size(l, i));
	levels_grow(l, i, level_init(l, i, memory[i]));
}

static void make(struct hwheel_levels *l, const struct crowds *c, void **memory)
{
	struct hwheel_geometry g = { .tick_ns = c->tick_ns, .levels = c->wide ? 2 : LEVELS };
	unsigned int i;

	for (i = 0; i < g.levels; i++)
		g.spokes[i] = c->wide ?: SPOKES;
	memset(memory, 0, HWHEEL_ROWS * sizeof(*memory));
	memory[HWHEEL_LOT] = zeroes(HWHEEL_LOT_SIZE);
	levels_init(l, &g, memory[HWHEEL_LOT], 0);
}

/* Give the wheel what it has asked for. */
static void grow(struct hwheel_levels *l, void **memory)
{
	while (levels_missing(l))
		add_row(l, __ffs64(levels_missing(l)), memory);
}

/* Fire what is due. Returns how late it is, or U64_MAX if it is early. */
static u64 fire(struct hwheel_levels *l, u64 now)
{
	struct hwheel_timer *timer;
	u64 most = 0;

	while ((timer = levels_pop(l, now / l->tick_ns))) {
		u64 due = levels_due(l, timer) * l->tick_ns;

		if (now < due)
			return U64_MAX;
		most = max(most, now - due);
	}
	return most;
}

/* Bytes of the fans that exist */
static u64 fan_bytes(const struct hwheel_levels *l)
{
	u64 bytes = 0;
	unsigned int i;

	for (i = HWHEEL_FANS; i < HWHEEL_ROWS; i++)
		if (l->exist & BIT(i))
			bytes += levels_size(l, i);
	return bytes;
}

/*
 * Returns how late the latest timer was, in ns. @timers are those of the small crowds that come
 * until @until.
 */
static u64 run(struct hwheel_levels *l, void **memory, struct hwheel_timer *timers, u64 until)
{
	u64 now = 0, moving = 0, latest = 0, come = 0, moved, next;
	unsigned int i;

	while (l->pending) {
		for (; come < min(until, now + 1); come += BESIDE_EVERY_NS) {
			for (i = 0; i < BESIDE; i++, timers++) {
				timers->expires = come + BESIDE_NS + (i + 1) * 1000;
				levels_add(l, timers, levels_due(l, timers));
			}
		}
		grow(l, memory);
		moved = l->moved;
		switch (levels_step(l, now / l->tick_ns)) {
		case HWHEEL_DUE:
			latest = max(latest, fire(l, now));
			break;
		case HWHEEL_MOVED:
			now += (l->moved - moved) * MOVE_NS;
			moving += (l->moved - moved) * MOVE_NS;
			if (moving < BATCH_NS)
				break;
			next = levels_first(l, HWHEEL_NEVER)->bound * l->tick_ns;
			now = max(now, min(next, now + moving));
			moving = 0;
			break;
		case HWHEEL_IDLE:
			now = max(now + 1, levels_wake(l) * l->tick_ns);
			if (come < until)
				now = min(now, come);
			moving = 0;
		}
	}
	return latest;
}

int main(void)
{
	static struct hwheel_levels l;
	void *memory[HWHEEL_ROWS];
	struct hwheel_timer *t, *beside;
	int status = 0;
	unsigned int i;
	u64 n, late, until;

	printf("%-32s %9s %9s %9s %9s %9s\n", "", "timers", "tick, ns", "late, us", "moves",
	       "fans, kB");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct crowds *c = &cases[i];

		make(&l, c, memory);
		t = zeroes(c->timers * sizeof(*t));
		until = c->wide ? c->from_ms * 1000000 : 0;
		beside = zeroes((until / BESIDE_EVERY_NS + 1) * BESIDE * sizeof(*beside));
		for (n = 0; n < c->timers; n++) {
			t[n].expires = (c->from_ms + random_below(c->span_ms)) * 1000000ULL +
				       random_below(1000000);
			levels_add(&l, &t[n], levels_due(&l, &t[n]));
			grow(&l, memory);
		}
		late = run(&l, memory, beside, until);
		printf("%-32s %9llu %9llu %9.1f %9.2f %9.0f%s\n", c->what,
		       (unsigned long long)c->timers, (unsigned long long)c->tick_ns, late / 1e3,
		       (double)l.moved / c->timers, fan_bytes(&l) / 1e3,
		       late > MOST_NS ? "  TOO LATE" : "");
		status |= late > MOST_NS;
		for (n = 0; n < HWHEEL_ROWS; n++)
			free(memory[n]);
		free(t);
		free(beside);
	}
	return status;
}
