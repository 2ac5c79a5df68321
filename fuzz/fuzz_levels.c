// SPDX-License-Identifier: GPL-2.0
/*
 * The layered wheel in user space. A line of text says what the program does with the
 * wheel. After each word of the line, the program compares the wheel with an array of
 * timers that it searches from end to end. If anything differs, it prints what differs,
 * and aborts.
 *
 * A line is a list of words. A word is one letter, and numbers with commas between them.
 * The program skips letters that it does not know. It replaces numbers that are missing
 * or out of range. So every line of text is a valid input, and old lines stay valid when
 * letters are added. The first words make the wheel:
 *
 *	gT,N,N,...	tick in nanoseconds, number of spokes of each level
 *	cT		first value of the clock
 *	bN		number of levels at the beginning; default: all of them
 *	fN		number of rows of fans at the beginning; default: all
 *
 * The other words use it. WHICH is the number of a timer. WHERE is one of these, and +N
 * or -N may follow it:
 *
 *	N		a tick, counted from the clock
 *	LEVEL:N		the first tick of a slot of level LEVEL. This slot is N slots
 *			ahead of the clock's slot. A slot of the level after the last one
 *			of the geometry is as wide as the reach of the geometry.
 *
 * The words are
 *
 *	aWHERE,N,STEP	add N timers, STEP ticks apart
 *	sWHERE,SLACK	add a timer with SLACK ticks of slack
 *	mWHICH,WHERE,N	re-arm the timer, and N - 1 others, for WHERE
 *	dWHICH,N	cancel the timer, and N - 1 others
 *	lWHICH,N	take the timer and N - 1 others off the wheel and add them again
 *	yN		cancel any N timers
 *	oWHERE		move all timers to another wheel, whose clock is at WHERE
 *	qWHERE		if there are no timers: let a single timer fire at WHERE
 *	rWHERE		set the time to WHERE, and run until nothing is left to do
 *	pN,WHERE	set the time to WHERE, and do N steps, each of which runs at most
 *			one timer
 *	wN		N times: set the time to the next wakeup of the wheel, and run
 *	uN		add the N lowest levels that are missing
 *	iN		add level N, if it is missing
 *	jN		add N of the rows that the wheel has asked for
 *	kN		add N rows of fans
 *	tWHERE		set the time back to WHERE
 *	eWHERE		move the clock forward, if there is nothing to do before WHERE
 *	vLEVEL,SPOKE	begin a walk
 *	nN		look at the next N timers of that walk
 *	x		check the whole structure
 */
#include <stdio.h>
#include <stdlib.h>
#include <linux/math.h>

/* Here a few timers make a crowd, fans are small, and sifting a timer takes less time */
#define HWHEEL_CROWD	4
#define HWHEEL_CROWD_FAN	4
#define HWHEEL_CROWD_EARLY	8
#define HWHEEL_FANS_KEPT	2
#define HWHEEL_FAN_BITS	2
#define HWHEEL_SIFT_NS	300
#define HWHEEL_ABOVE_BITS	7

#include "fuzz.h"
#include "module/levels.h"

#define MAX_ITEMS	300
#define MAX_OPERANDS	10
/* Beyond any tick. s64 can hold the sum of several. */
#define FAR		(S64_MAX / 4)

struct operand {
	s64			level;		/* -1: none was named */
	s64			n;
	s64			plus;
};

struct word {
	char			letter;
	unsigned int		given;
	struct operand		operand[MAX_OPERANDS];
};

enum walked {
	WALK_ANY,		/* added during the walk, or may have moved */
	WALK_EXPECTED,
	WALK_SEEN,
};

/* A timer. Its memory is freed when it leaves the wheel, so that ASan sees later uses. */
struct item {
	struct hwheel_timer	timer;
	unsigned int		index;
	u64			due;		/* tick, by plain division */
	u64			turn;		/* as @due; if overdue when armed: the floor */
	enum walked		walked;
};

struct wheel {
	struct hwheel_levels	l;
	void			*memory[HWHEEL_ROWS];
};

#define FAN_ROWS	(HWHEEL_ROWS - HWHEEL_FANS)

static struct hwheel_geometry geometry;
static u64 start;
static unsigned int begin;	/* number of levels at the beginning */
static unsigned int fans;	/* number of rows of fans at the beginning */
static struct wheel *wheel;
static struct item *items[MAX_ITEMS];
static unsigned int nr_items;
static u64 now;			/* tick; the wheel's clock may be behind it */
static u64 told;		/* the last time that was passed to the wheel */
static u64 armed;		/* when to wake the wheel, as in hwheel.c; 0 in a run */
static u64 last_turn;		/* turn of the timer that fired last */
static unsigned int seq, unchecked;
static bool walking;

bool fuzz_verbose;

static void fail(const char *what)
{
	fprintf(stderr, "fuzz_levels: %s", what);
	if (wheel)
		fprintf(stderr, " (clock %llu, now %llu, armed %llu, %u timers)",
			wheel->l.clock, now, armed, nr_items);
	fprintf(stderr, "\n");
	abort();
}

static void check(bool good, const char *what)
{
	if (!good)
		fail(what);
}

/* ------------------------------------------------------------------------ */
/* Arithmetic with plain division */

static u64 tick_up(s64 ns)
{
	return ns > 0 ? (ns - 1) / geometry.tick_ns + 1 : 0;
}

static u64 last_tick(void)
{
	return tick_up(S64_MAX);
}

/*
 * Width in ticks of a slot of level @i. For the level after the last: the wheel's reach.
 */
static u64 width(unsigned int i)
{
	u64 ticks = 1;

	while (i--)
		ticks *= geometry.spokes[i];
	return ticks;
}

static u64 clamp_tick(s64 tick)
{
	return tick < 0 ? 0 : min(tick, last_tick());
}

static u64 where(const struct operand *o)
{
	s64 tick = wheel->l.clock + o->n;

	if (o->level >= 0) {
		s64 ticks = width(o->level % (geometry.levels + 1));
		s64 n = o->n > FAR / ticks ? FAR / ticks : o->n;

		n = n < -FAR / ticks ? -FAR / ticks : n;
		tick = ((s64)wheel->l.clock / ticks + n) * ticks;
	}
	return clamp_tick(tick + o->plus);
}

/* An instant whose tick is @tick: the first such instant, the last, or any other */
static s64 instant(u64 tick)
{
	u64 part = 0;

	if (++seq % 3 == 0)
		part = geometry.tick_ns - 1;
	else if (seq % 3 == 1)
		part = seq * 0x9e3779b9ULL % geometry.tick_ns;
	if (!tick)
		return -(s64)part;
	return min((tick - 1) * geometry.tick_ns + 1 + part, S64_MAX);
}

static u64 number(const struct operand *o, u64 most)
{
	return o->n < 1 ? 1 : min(o->n, most);
}

/* ------------------------------------------------------------------------ */
/* The wheel, and its invariants */

static void *zeroes(size_t size)
{
	void *memory = aligned_alloc(HWHEEL_SPOKE_SIZE, round_up(size, HWHEEL_SPOKE_SIZE));

	check(memory, "no memory");
	memset(memory, 0, size);
	return memory;
}

static void wheel_add(struct wheel *w, unsigned int row)
{
	if (w->l.exist & BIT(row))
		return;
	w->memory[row] = zeroes(levels_size(&w->l, row));
	levels_grow(&w->l, row, level_init(&w->l, row, w->memory[row]));
	check(w->l.exist & BIT(row), "the wheel did not get a row");
}

/* Add up to @n missing rows from @row to @end */
static void wheel_add_some(struct wheel *w, unsigned int n, unsigned int row, unsigned int end)
{
	for (; n && row < end; row++)
		if (!(w->l.exist & BIT(row))) {
			wheel_add(w, row);
			n--;
		}
}

/* The wheel asks for levels and fans. The line decides whether and when they come. */
static void want(struct hwheel_levels *l)
{
	check(levels_missing(l), "the wheel wants nothing");
	check(!(l->wanted >> l->top & (BIT(HWHEEL_LOT - l->top + 1) - 1)),
	      "the wheel wants a level that is not needed");
}

static struct wheel *wheel_new(u64 clock)
{
	struct wheel *new = calloc(1, sizeof(*new));

	check(new, "no memory");
	new->memory[HWHEEL_LOT] = zeroes(HWHEEL_LOT_SIZE);
	levels_init(&new->l, &geometry, new->memory[HWHEEL_LOT], clock);
	new->l.want = want;
	wheel_add_some(new, begin, 0, new->l.top);
	wheel_add_some(new, fans, HWHEEL_FANS, HWHEEL_ROWS);
	return new;
}

static void wheel_free(struct wheel *old)
{
	unsigned int i;

	for (i = 0; i < HWHEEL_ROWS; i++)
		free(old->memory[i]);
	free(old);
}

static unsigned int spokes(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < HWHEEL_ROWS; i++)
		if (wheel->l.exist & BIT(i))
			n += wheel->l.level[i].nr;
	return n;
}

static u64 first_turn(void)
{
	u64 least = HWHEEL_NEVER;
	unsigned int i;

	for (i = 0; i < nr_items; i++)
		least = min(least, items[i]->turn);
	return least;
}

/* The result of levels_wake(). The wheel is not changed. */
static u64 wake(void)
{
	struct hwheel_levels copy = wheel->l;

	return levels_wake(&copy);
}

static void check_structure(void)
{
	const char *fault = levels_check(&wheel->l);
	unsigned int i;

	unchecked = 0;
	if (fault)
		fail(fault);
	for (i = 0; i < nr_items; i++) {
		const struct list_head *entry = &items[i]->timer.entry;

		check(entry->next->prev == entry && entry->prev->next == entry,
		      "a list is broken");
	}
}

static void check_word(void)
{
	u64 least = first_turn();

	check(wheel->l.pending == nr_items, "the number of timers is wrong");
	check(armed <= least, "the wheel would wake too late");
	check(wake() <= least, "levels_wake() is too late");
	check((wake() == HWHEEL_NEVER) == !nr_items, "a wheel without timers would wake");

	/*
	 * Checking the structure looks at every spoke, so do it less often with many
	 * spokes
	 */
	unchecked += 64;
	if (unchecked > spokes())
		check_structure();
}

/* ------------------------------------------------------------------------ */
/* Timers */

static struct item *item_of(struct hwheel_timer *timer)
{
	struct item *item = container_of(timer, struct item, timer);

	check(item->index < nr_items && items[item->index] == item,
	      "a timer that is not pending was found");
	return item;
}

/* @item has just been armed */
static void armed_now(struct item *item)
{
	unsigned int i;

	/* Arming may have moved a crowd */
	for (i = 0; i < nr_items; i++)
		items[i]->walked = WALK_ANY;
	item->turn = max(item->due, max(told, wheel->l.clock));
	item->walked = WALK_ANY;
}

/*
 * @item has been added. Check that it is the last timer in a list of the right spoke, or of its
 * fan: a spoke of the lowest level that reaches its tick. If that level is missing, it is parked,
 * and the wheel has asked for the level. Closed levels take no timers, so do not check while a
 * level is closed.
 */
static void added(struct item *item)
{
	const struct hwheel_levels *l = &wheel->l;
	unsigned int i;

	armed_now(item);
	for (i = 0; i < l->top && !l->closed; i++) {
		unsigned int n = i < geometry.levels ? geometry.spokes[i] : l->level[i].nr;
		u64 ticks = i <= geometry.levels ? width(i) : l->level[i].width;
		u64 slot = item->turn / ticks;
		struct hwheel_spoke *spoke = spoke_of(item->timer.entry.next);

		if (slot - l->clock / ticks < n) {
			check(l->exist & BIT(i) ? spoke_root(&wheel->l, spoke) ==
						  &l->level[i].spokes[slot % n] :
						  spoke->level == HWHEEL_LOT,
			      "a timer is not in its spoke");
			check((l->exist | l->wanted) & BIT(i), "a missing level is not asked for");
			return;
		}
	}
	check(l->closed, "no level reaches a timer");
}

static void add(s64 expires)
{
	struct item *item;
	u64 due, wake, before = levels_wake(&wheel->l);
	const struct hwheel_spoke *spoke;

	if (nr_items == MAX_ITEMS)
		return;
	item = calloc(1, sizeof(*item));
	check(item, "no memory");
	item->index = nr_items;
	items[nr_items++] = item;

	item->due = tick_up(expires);
	item->timer.expires = expires;
	due = levels_due(&wheel->l, &item->timer);
	check(due == item->due, "a tick differs from plain division");
	wake = levels_add(&wheel->l, &item->timer, due);
	spoke = spoke_of(item->timer.entry.next);
	if (armed && !wheel->l.closed) {
		check(wake >= min(armed, levels_wake(&wheel->l)), "a needless wakeup is asked for");
		/* The size of a crowd is looked at for every HWHEEL_CROWD_FAN-th timer */
		check(min(wake, before) <= levels_wake(&wheel->l) ||
		      spoke->rests % HWHEEL_CROWD_FAN || spoke->level == HWHEEL_LOT,
		      "a crowd would be sifted too late");
	}
	armed = min(armed, wake);
	added(item);
}

static void mod(struct item *item, s64 expires)
{
	u64 old = levels_due(&wheel->l, &item->timer);
	u64 due = tick_up(expires);

	item->timer.expires = expires;
	armed = min(armed, levels_mod(&wheel->l, &item->timer, old, due));
	item->due = due;
	if (due != old)
		armed_now(item);
}

/* @item has left the wheel */
static void item_free(struct item *item)
{
	check(!item->timer.entry.next, "a timer looks pending after it left the wheel");
	items[item->index] = items[--nr_items];
	items[item->index]->index = item->index;
	free(item);
}

static void del(struct item *item)
{
	levels_del(&wheel->l, &item->timer);
	item_free(item);
}

/* Take any @n timers off the wheel, as hwheel_destroy() does */
static void del_any(unsigned int n)
{
	struct hwheel_timer *timer;

	while (n-- && (timer = levels_any(&wheel->l)))
		del(item_of(timer));
	check(!nr_items == !levels_any(&wheel->l), "levels_any() and the number of timers differ");
}

/* ------------------------------------------------------------------------ */
/* Slack */

/*
 * How coarsely @tick is aligned. Let i be the highest level in which a slot begins at @tick,
 * and z the number of zero bits at the end of that slot's number. Returns 64 * i + z. But if
 * each level's number of spokes is a power of two, returns the number of zero bits at the end
 * of @tick.
 */
static u64 roundness(u64 tick)
{
	bool pow2 = true;
	unsigned int i;

	for (i = 0; i < geometry.levels; i++)
		pow2 &= is_power_of_2(geometry.spokes[i]);
	i = pow2 ? 0 : geometry.levels - 1;
	while (tick % width(i))
		i--;
	return i * 64 + __ffs64(tick / width(i));
}

static void check_align(u64 first, u64 last, u64 got)
{
	u64 tick, unit, best;
	unsigned int i;

	check(got >= first && got <= last, "slack picked a tick outside the window");
	best = roundness(got);
	for (tick = first; tick <= last && tick - first < 300; tick++)
		check(tick == got || roundness(tick) < best,
		      "slack did not find the most coarsely aligned tick");
	/*
	 * If the window has a multiple of a unit, the greatest multiple that is not after
	 * @last is in the window
	 */
	for (i = 0; i < geometry.levels; i++)
		for (unit = width(i); unit <= last; unit *= 2) {
			tick = last / unit * unit;
			check(tick < first || roundness(tick) <= best,
			      "slack did not find the most coarsely aligned tick of many");
		}
}

/* ------------------------------------------------------------------------ */
/* Time */

static void pop(struct hwheel_timer *timer)
{
	struct item *item = item_of(timer);

	u64 clock = wheel->l.clock;

	check(item->due <= now, "a timer fired early");
	/*
	 * A timer that was overdue when armed may fire before its turn, together with
	 * other timers
	 */
	check(item->turn == clock || (item->due < item->turn && clock < item->turn),
	      "a timer fired when it was not its turn");
	check(clock >= last_turn, "timers fired out of order");
	last_turn = clock;
	item_free(item);
}

/* Take one step, and pop up to @pops due timers. False if idle. */
static bool step(unsigned int pops)
{
	struct hwheel_levels *l = &wheel->l;
	u64 clock = l->clock, moved = l->moved;
	struct hwheel_timer *timer;
	enum hwheel_step what;
	unsigned int i;

	for (i = 0; i < nr_items; i++)
		items[i]->walked = WALK_ANY;

	told = now;
	what = levels_step(l, now);
	check(l->clock >= clock, "the clock went back");
	check(l->clock <= now || l->clock == clock, "the clock is ahead of time");
	check(l->moved - moved <= HWHEEL_STEP, "too many timers moved at once");
	check(what != HWHEEL_MOVED || l->moved != moved, "nothing was moved, but the run goes on");

	if (what == HWHEEL_IDLE) {
		check(l->clock >= now, "idle, but the clock is behind the time");
		check(first_turn() > now, "idle, but a timer is due");
		check(!levels_pop(l, now), "idle, but a timer was popped");
		return false;
	}
	if (what == HWHEEL_DUE) {
		timer = levels_pop(l, now);
		check(timer, "HWHEEL_DUE, but no timer is due");
		while (timer) {
			pop(timer);
			timer = --pops ? levels_pop(l, now) : NULL;
		}
	}
	return true;
}

static void go_to(u64 tick)
{
	now = max(now, tick);
	armed = 0;
}

static void end_run(void)
{
	armed = levels_wake(&wheel->l);
	check(armed > now, "the wheel would wake again and again");
}

/* Run until nothing is left to do. A timer moves down at most about 60 times. */
static void run(u64 tick)
{
	unsigned int steps = 100 * (nr_items + 1);

	go_to(tick);
	while (step(MAX_ITEMS))
		check(--steps, "the steps do not end");
	end_run();
}

/* ------------------------------------------------------------------------ */
/* Walks */

static void walk_end(void)
{
	if (walking)
		levels_walk_end(&wheel->l);
	walking = false;
}

/* The walk must see all timers of @spoke */
static void walk_expect(struct hwheel_spoke *spoke)
{
	struct hwheel_timer *timer;

	spoke_for_each(timer, spoke)
		item_of(timer)->walked = WALK_EXPECTED;
}

static void walk_begin(u64 level, u64 index)
{
	unsigned int i = level % (wheel->l.top + 1 + FAN_ROWS);
	struct hwheel_level *lv = &wheel->l.level[i < wheel->l.top ? i :
						  i - wheel->l.top + HWHEEL_LOT];
	struct hwheel_spoke *spoke;

	if (!level_exists(lv))
		return;
	spoke = &lv->spokes[index % lv->nr];
	walk_end();
	for (i = 0; i < nr_items; i++)
		items[i]->walked = WALK_ANY;
	walk_expect(spoke);
	levels_walk_begin(&wheel->l, spoke);
	walking = true;
}

static void walk_next(void)
{
	struct hwheel_timer *timer = levels_walk_next(&wheel->l), *same;
	struct item *item;
	unsigned int i;

	if (!timer) {
		for (i = 0; i < nr_items; i++)
			check(items[i]->walked != WALK_EXPECTED, "a walk missed a timer");
		walk_end();
		return;
	}
	item = item_of(timer);
	check(item->walked != WALK_SEEN, "a walk saw a timer twice");
	if (item->walked == WALK_EXPECTED)
		item->walked = WALK_SEEN;
	spoke_for_each(same, wheel->l.walked)
		if (same == timer)
			return;
	fail("a walk left its spoke");
}

/* ------------------------------------------------------------------------ */
/* Words */

static void do_add(const struct word *w)
{
	unsigned int i, n = number(&w->operand[1], 100);
	s64 first = where(&w->operand[0]), apart = w->operand[2].n;

	apart = apart < -FAR / 100 ? -FAR / 100 : apart;
	apart = apart > FAR / 100 ? FAR / 100 : apart;
	for (i = 0; i < n; i++)
		add(instant(clamp_tick(first + i * apart)));
}

static void do_slack(const struct word *w)
{
	const struct hwheel_levels *l = &wheel->l;
	s64 expires = instant(where(&w->operand[0]));
	s64 slack = min(min(number(&w->operand[1], FAR), last_tick()) * geometry.tick_ns - 1,
			S64_MAX);
	u64 first = tick_up(expires), last;

	if (expires > S64_MAX - slack)
		slack = S64_MAX - expires;
	last = expires + slack < 0 ? 0 : (expires + slack) / geometry.tick_ns;
	check(first == levels_tick_up(l, expires), "a tick differs from plain division");
	check(last == levels_tick_down(l, expires + slack), "a tick differs from plain division");
	if (first && first <= last) {
		u64 tick = levels_align(l, first, last);

		check_align(first, last, tick);
		expires = levels_tick_ns(l, tick);
		check(tick_up(expires) == tick, "an aligned instant is on another tick");
	}
	add(expires);
}

static void do_mod(const struct word *w)
{
	unsigned int i, n = number(&w->operand[2], 100);
	u64 tick = where(&w->operand[1]);

	for (i = 0; i < n && nr_items; i++)
		mod(items[(u64)(w->operand[0].n + i) % nr_items], instant(tick));
}

static void do_del(const struct word *w)
{
	unsigned int n = number(&w->operand[1], 100);

	while (n-- && nr_items)
		del(items[(u64)w->operand[0].n % nr_items]);
}

static void do_leave(const struct word *w)
{
	unsigned int i, n = number(&w->operand[1], 100);

	for (i = 0; i < n && nr_items; i++) {
		struct item *item = items[(u64)(w->operand[0].n + i) % nr_items];

		levels_leave(&wheel->l, &item->timer);
		armed = min(armed, levels_add(&wheel->l, &item->timer, item->due));
		added(item);
	}
}

static void do_any(const struct word *w)
{
	del_any(number(&w->operand[0], MAX_ITEMS));
}

static void do_other(const struct word *w)
{
	struct wheel *from = wheel;
	struct hwheel_timer *timer;

	walk_end();
	wheel = wheel_new(where(&w->operand[0]));
	told = 0;
	now = max(now, wheel->l.clock);
	armed = HWHEEL_NEVER;
	last_turn = 0;
	while ((timer = levels_any(&from->l))) {
		struct item *item = item_of(timer);

		levels_leave(&from->l, timer);
		armed = min(armed, levels_add(&wheel->l, timer, item->due));
		added(item);
	}
	check(!from->l.pending, "some timers did not move");
	wheel_free(from);
}

static void do_alone(const struct word *w)
{
	u64 tick = where(&w->operand[0]);

	if (nr_items)
		return;
	run(wheel->l.clock);
	add(instant(tick));
	tick = items[0]->turn;
	check(armed == tick && wake() == tick, "a single timer wakes the wheel at a wrong time");
	go_to(tick);
	step(1);
	check(!nr_items, "a single timer did not fire at its time");
	run(tick);
}

static void do_run(const struct word *w)
{
	run(where(&w->operand[0]));
}

static void do_part(const struct word *w)
{
	unsigned int n = number(&w->operand[0], 100);

	go_to(w->given > 1 ? where(&w->operand[1]) : now);
	while (n--)
		if (!step(1)) {
			end_run();
			return;
		}
}

static void do_wake(const struct word *w)
{
	unsigned int n = number(&w->operand[0], 100);

	for (; n && armed != HWHEEL_NEVER; n--) {
		bool fresh = armed == wake() && !wheel->l.closed;

		go_to(armed);
		/* Or it may find that a level is missing */
		check(step(1) || !fresh || levels_missing(&wheel->l),
		      "the wheel was woken, but had nothing to do");
		run(now);
	}
}

/* After this each timer is due at its own tick, or now if that tick has passed. */
static void do_set_back(const struct word *w)
{
	u64 tick = where(&w->operand[0]);
	unsigned int i;

	if (tick >= now)
		return;
	now = tick;
	if (tick >= wheel->l.floor)
		return;
	levels_set_back(&wheel->l, tick);
	check(wheel->l.clock <= now, "the clock was not set back");
	told = tick;
	last_turn = 0;
	for (i = 0; i < nr_items; i++) {
		items[i]->turn = max(items[i]->due, tick);
		items[i]->walked = WALK_ANY;
	}
	if (armed)
		armed = levels_wake(&wheel->l);
}

static void do_clock(const struct word *w)
{
	u64 tick = where(&w->operand[0]);

	if (tick <= wheel->l.clock || tick > armed)
		return;
	levels_set_clock(&wheel->l, tick);
	now = max(now, tick);
}

static void do_grow(const struct word *w)
{
	wheel_add_some(wheel, number(&w->operand[0], HWHEEL_LOT), 0, wheel->l.top);
}

static void do_level(const struct word *w)
{
	wheel_add(wheel, (u64)w->operand[0].n % wheel->l.top);
}

static void do_wanted(const struct word *w)
{
	unsigned int n = number(&w->operand[0], HWHEEL_ROWS);

	for (; n && levels_missing(&wheel->l); n--)
		wheel_add(wheel, __ffs64(levels_missing(&wheel->l)));
	armed = min(armed, wake());
}

static void do_fans(const struct word *w)
{
	wheel_add_some(wheel, number(&w->operand[0], FAN_ROWS), HWHEEL_FANS, HWHEEL_ROWS);
	armed = min(armed, wake());
}

static void do_walk(const struct word *w)
{
	walk_begin(w->operand[0].n, w->operand[1].n);
}

static void do_next(const struct word *w)
{
	unsigned int n = number(&w->operand[0], MAX_ITEMS);

	while (n-- && walking)
		walk_next();
}

static void do_check(const struct word *w)
{
	check_structure();
	if (armed)
		armed = levels_wake(&wheel->l);
}

static const struct {
	char	letter;
	void	(*run)(const struct word *w);
} words[] = {
	{ 'a', do_add },
	{ 's', do_slack },
	{ 'm', do_mod },
	{ 'd', do_del },
	{ 'l', do_leave },
	{ 'y', do_any },
	{ 'o', do_other },
	{ 'q', do_alone },
	{ 'r', do_run },
	{ 'p', do_part },
	{ 'w', do_wake },
	{ 'u', do_grow },
	{ 'i', do_level },
	{ 'j', do_wanted },
	{ 'k', do_fans },
	{ 't', do_set_back },
	{ 'e', do_clock },
	{ 'v', do_walk },
	{ 'n', do_next },
	{ 'x', do_check },
};

/* Must hwheel refuse @g? Computed with division only. */
static bool refused(const struct hwheel_geometry *g)
{
	u64 room = S64_MAX / (g->tick_ns ? g->tick_ns : 1);
	bool bad = g->tick_ns < 1000 || !g->levels || g->levels > 8;
	unsigned int i;

	for (i = 0; i < g->levels && !bad; i++) {
		bad = g->spokes[i] < 2 || g->spokes[i] > 4096;
		room /= bad ? 1 : g->spokes[i];
	}
	return bad || !room;
}

static void do_geometry(const struct word *w)
{
	struct hwheel_geometry *g = &geometry;
	unsigned int i;

	memset(g, 0, sizeof(*g));
	g->tick_ns = w->operand[0].n;
	g->levels = w->given - 1;
	for (i = 0; i < HWHEEL_MAX_LEVELS && i < g->levels; i++)
		g->spokes[i] = w->operand[i + 1].n;
	check(refused(g) == !!hwheel_geometry_fault(g), "hwheel_geometry_fault() is wrong");

	g->tick_ns = max(min(g->tick_ns, S64_MAX / 2), HWHEEL_MIN_TICK_NS);
	g->levels = max(min(g->levels, HWHEEL_MAX_LEVELS), 1);
	for (i = 0; i < g->levels; i++)
		g->spokes[i] = max(min(g->spokes[i], HWHEEL_MAX_SPOKES), HWHEEL_MIN_SPOKES);
	while (refused(g) && g->levels > 1)
		g->levels--;
	while (refused(g))
		g->spokes[0]--;
}

/* ------------------------------------------------------------------------ */
/* Reading */

static bool digit(const char *p)
{
	return *p >= '0' && *p <= '9';
}

static s64 read_number(const char **p)
{
	bool minus = **p == '-';
	s64 n = 0;

	if (**p == '-' || **p == '+')
		(*p)++;
	for (; digit(*p); (*p)++)
		n = n < FAR / 10 ? n * 10 + **p - '0' : FAR;
	return minus ? -n : n;
}

static void read_operand(const char **p, struct operand *o)
{
	o->n = read_number(p);
	if (**p == ':') {
		(*p)++;
		o->level = o->n < 0 ? 0 : o->n;
		o->n = read_number(p);
	}
	if (**p == '+' || **p == '-')
		o->plus = read_number(p);
}

/* Read the next word of a line that ends with 0. False at its end. */
static bool read_word(const char **p, struct word *w)
{
	unsigned int i;

	while (**p && (**p < 'a' || **p > 'z'))
		(*p)++;
	if (!**p)
		return false;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < MAX_OPERANDS; i++)
		w->operand[i].level = -1;
	w->letter = *(*p)++;
	do {
		read_operand(p, &w->operand[w->given++]);
	} while (*(*p)++ == ',' && w->given < MAX_OPERANDS);
	(*p)--;
	return true;
}

static void do_word(const struct word *w)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].letter == w->letter)
			break;
	if (i == ARRAY_SIZE(words))
		return;
	words[i].run(w);
	check_word();
	if (fuzz_verbose)
		printf("%c: clock %llu now %llu armed %lld timers %u\n", w->letter,
		       wheel->l.clock, now, (s64)armed, nr_items);
}

static void do_line(const char *p)
{
	static const struct hwheel_geometry usual = { 1000, 3, { 4, 4, 4 } };
	struct word w;
	bool more;

	geometry = usual;
	start = 0;
	begin = HWHEEL_LOT;
	fans = FAN_ROWS;
	while ((more = read_word(&p, &w))) {
		if (w.letter == 'g')
			do_geometry(&w);
		else if (w.letter == 'c')
			start = w.operand[0].n;
		else if (w.letter == 'b')
			begin = max(w.operand[0].n, 0);
		else if (w.letter == 'f')
			fans = clamp(w.operand[0].n, 0, FAN_ROWS);
		else
			break;
	}
	start = clamp_tick(start);

	wheel = wheel_new(start);
	now = start;
	told = 0;
	armed = HWHEEL_NEVER;
	last_turn = 0;
	seq = 0;
	unchecked = 0;
	for (; more; more = read_word(&p, &w))
		do_word(&w);

	check_structure();
	walk_end();
	while (armed != HWHEEL_NEVER)
		run(armed);
	check(!nr_items, "some timers never fired");
	wheel_free(wheel);
	wheel = NULL;
}

/* libFuzzer calls this. The input is @data up to its first end of line. */
int fuzz_one(const unsigned char *data, size_t size)
{
	char line[FUZZ_LINE];
	size_t n;

	for (n = 0; n < size && n < sizeof(line) - 1 && data[n] && data[n] != '\n'; n++)
		line[n] = data[n];
	line[n] = '\0';
	do_line(line);
	return 0;
}
