// SPDX-License-Identifier: GPL-2.0
/*
 * Programs: what tasks, interrupts and callbacks do to hwheel
 *
 * A program is text. Its first lines describe the world ("cpus 4"). Each other line is an
 * operation. It consists of
 *
 *  - the number of the actor: the task that does the operation,
 *  - the context: t for task, s for softirq, h for hardirq,
 *  - the name of the operation, and its arguments.
 *
 * An actor does its lines in order. You may delete any line: operations that make no
 * sense without it do nothing.
 */
#include <stdlib.h>
#include <unistd.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sched/isolation.h>
#include <linux/slab.h>

#include "program.h"

#define MAX_ACTORS	32

enum how {			/* what a callback does */
	HOW_NOTHING, HOW_ADD, HOW_FORWARD, HOW_PAST, HOW_CANCEL, HOW_ARM, HOW_FREE,
	HOW_SLEEP, HOW_RUN, HOW_ON, HOW_SHUTDOWN, HOW_SETUP, HOW_MOD, HOW_RANGE, HOW_TRY,
	HOW_RUN_PAST, HOW_SETCLOCK, HOW_SLEEP_ON_WHEEL, HOWS
};

static void actor_op(const struct op *op);

/* The same function under several names, so that the file "users" has several rows */
static void callback_0(struct hwheel_timer *timer);
static void callback_1(struct hwheel_timer *timer);
static void callback_2(struct hwheel_timer *timer);

void (*const sim_callbacks[])(struct hwheel_timer *timer) = {
	callback_0, callback_1, callback_2
};

/* ------------------------------------------------------------------------ */
/* Slots: which actor may use a timer when */

static struct slot *get(long long nr)
{
	struct slot *slot = &sim_slots[(unsigned long long)nr % sim_nr_slots];

	if (slot->busy || !slot->object || !slot->set_up)
		return NULL;
	slot->users++;
	return slot;
}

static void put(struct slot *slot)
{
	slot->users--;
}

/* Get a slot for one user alone, to set up or free its timer. */
static struct slot *get_alone(long long nr)
{
	struct slot *slot = &sim_slots[(unsigned long long)nr % sim_nr_slots];

	if (slot->busy || slot->users)
		return NULL;
	if (slot->set_up && wheel_is_there(slot) && wheel_is_dead(slot))
		return NULL;		/* it may be pending on a wheel that is being destroyed */
	slot->busy = true;
	return slot;
}

/*
 * Make a call for @slot, in a callback of @mine or in none. While a wheel is destroyed, only its
 * own callbacks may use its timers. hwheel_destroy() must wait for the calls of others.
 */
static bool arm_in(const struct mwheel *mine, struct slot *slot, enum sim_kind kind, s64 a, s64 b)
{
	struct hwheel_timer *timer = slot->timer;
	struct mwheel *w = slot->wheel;
	struct sim_call call;
	s64 ret = 0;

	if (mine == w ? !wheel_is_there(slot) : wheel_is_dead(slot))
		return false;
	w->setups += w != mine;
	call_begin(&call, kind, slot);
	call.delay = a;
	call.slack = kind == CALL_RANGE || kind == CALL_AT ? b : 0;
	switch (kind) {
	case CALL_ADD:
		ret = hwheel_add(timer, a);
		break;
	case CALL_RANGE:		/* there are two calls that do the same */
		ret = a % 2 ? hwheel_add_mode(timer, a, b, 0) : hwheel_add_range(timer, a, b);
		break;
	case CALL_AT:
		ret = a % 2 ? hwheel_add_mode(timer, a, b, HWHEEL_MODE_ABS) :
			      hwheel_add_at(timer, a, b);
		break;
	case CALL_ON:
		call.on = (unsigned long long)b % sim_world.cpus;
		call_meant(slot, call.on);
		ret = hwheel_add_on(timer, a, call.on);
		break;
	case CALL_MOD:
		ret = hwheel_mod_pending(timer, a);
		break;
	case CALL_REDUCE:
		ret = hwheel_reduce(timer, a);
		break;
	case CALL_FORWARD:
		call.delay = max(a, (s64)1);
		ret = hwheel_add_forward(timer, call.delay);
		break;
	case CALL_CANCEL:
		ret = hwheel_cancel(timer);
		break;
	case CALL_TRY:
		ret = hwheel_try_cancel(timer);
		break;
	case CALL_CANCEL_SYNC:
		ret = hwheel_cancel_sync(timer);
		break;
	case CALL_SHUTDOWN:
		ret = hwheel_shutdown(timer);
		break;
	case CALL_SHUTDOWN_SYNC:
		ret = hwheel_shutdown_sync(timer);
		break;
	case CALL_PENDING:
		ret = hwheel_pending(timer);
		break;
	case CALL_EXPIRES:
		ret = hwheel_expires(timer);
		break;
	case CALL_REMAINING:
		ret = hwheel_remaining(timer);
		break;
	case CALL_RUNNING:
		ret = hwheel_running(timer);
		break;
	default:
		break;
	}
	call_end(&call, ret);
	w->setups -= w != mine;
	return ret;
}

static bool arm(struct slot *slot, enum sim_kind kind, s64 a, s64 b)
{
	return arm_in(NULL, slot, kind, a, b);
}

/* The wheel's clock plus @ahead */
static s64 at(const struct slot *slot, s64 ahead)
{
	s64 sum;

	if (!slot->wheel)
		return ahead;
	return __builtin_add_overflow(sim_clock(slot->wheel), ahead, &sum) ? KTIME_MAX : sum;
}

/* The caller has @slot alone. No callback of @slot is running, unless it is the caller. */
static void setup(struct slot *slot, struct mwheel *w, bool pinned)
{
	unsigned int wheel_life = w->life;
	struct sim_call call;

	if (w->state != LIVE_WHEEL)
		return;
	if (!slot->object) {
		slot->object = malloc(sizeof(*slot->object));
		memset(slot->object, sim_rnd(2) ? 0 : 0x5a, sizeof(*slot->object));
		memset(&slot->object->timer.entry, 0, sizeof(slot->object->timer.entry));
		slot->object->slot = slot;
		slot->timer = &slot->object->timer;
	}
	slot->object->slot = slot;
	call_begin(&call, CALL_SETUP, slot);
	call.wheel = w;
	w->setups++;
	hwheel_setup(slot->timer, w->wheel, sim_callbacks[slot->nr % SIM_CALLBACKS],
		     pinned ? HWHEEL_PINNED : 0);
	w->setups--;
	call_end(&call, 0);
	if (slot->pending)
		sim_find("timer %d was set up and is pending", slot->nr);
	slot_set_up(slot, w, wheel_life, pinned);
}

static void free_object(struct slot *slot)
{
	memset(slot->object, 0x6b, sizeof(*slot->object));
	free(slot->object);
	slot->object = NULL;
	slot_free(slot);
}

/* ------------------------------------------------------------------------ */
/* Callbacks */

static void callback(struct hwheel_timer *timer)
{
	struct object *object = container_of(timer, struct object, timer);
	struct slot *slot = object->slot, *other;
	unsigned long long writes = sim_writes;
	struct mwheel *w = slot->wheel;
	struct sim_cpu *cpu = sim_cpu;
	int how = slot->how, base = slot->due_cpu;
	u64 life = slot->life;
	s64 a = slot->a, b = slot->b;

	w->begun[base]++;
	oracle_callback(slot);
	busy_begin();
	if (sim_world.verbose)
		sim_log("timer %d runs", slot->nr);
	if (how >= HOW_ADD && how != HOW_SLEEP && how != HOW_RUN && how != HOW_SLEEP_ON_WHEEL &&
	    slot->left-- <= 0) {
		slot->left = 0;
		how = HOW_NOTHING;
	}
	sim_step(50);
	switch (how) {
	case HOW_ADD:
		arm_in(w, slot, CALL_ADD, a, 0);
		break;
	case HOW_FORWARD:
		arm_in(w, slot, CALL_FORWARD, a, 0);
		break;
	case HOW_RUN_PAST:
		sim_run(b);
		arm_in(w, slot, CALL_AT, at(slot, -a), 0);
		break;
	case HOW_PAST:
		arm_in(w, slot, CALL_AT, b ? 0 : at(slot, -a), 0);
		break;
	case HOW_MOD:
	case HOW_CANCEL:
	case HOW_ARM:
		other = get(a);
		if (other) {
			arm_in(w, other, how == HOW_MOD ? CALL_MOD :
			       how == HOW_ARM ? CALL_ADD : CALL_CANCEL, b, 0);
			put(other);
		}
		break;
	case HOW_FREE:
		if (slot->busy || slot->users)
			break;
		slot->busy = true;
		arm_in(w, slot, CALL_SHUTDOWN, 0, 0);
		oracle_callback_end(slot, life);
		free_object(slot);
		slot->busy = false;
		break;
	case HOW_SLEEP:
	case HOW_SLEEP_ON_WHEEL:
		if (!in_interrupt() && !irqs_disabled()) {
			if (how == HOW_SLEEP || w == sim_wheels)
				sim_sleep(a);
			else
				sim_sleep_on_wheel(a, 0);
			break;
		}
		fallthrough;
	case HOW_RUN:
		sim_run(min(a, (s64)20000000));
		break;
	case HOW_ON:
		arm_in(w, slot, CALL_ON, b, a);
		break;
	case HOW_SHUTDOWN:
		arm_in(w, slot, CALL_SHUTDOWN, 0, 0);
		break;
	case HOW_SETUP:
		/* Only debugobjects mends the mistake to set up a timer that is pending */
		if (slot->busy || slot->users || (slot->pending && sim_world.no_debug_objects))
			break;
		slot->busy = true;
		if (slot->wheel && slot->wheel->state == LIVE_WHEEL) {
			oracle_callback_end(slot, life);
			setup(slot, slot->wheel, slot->pinned);
			life = slot->life - 1;
		}
		slot->busy = false;
		break;
	case HOW_RANGE:
		arm_in(w, slot, CALL_RANGE, a, b);
		break;
	case HOW_TRY:
		arm_in(w, slot, CALL_TRY, 0, 0);
		break;
	case HOW_SETCLOCK:
		if (!in_interrupt() && !irqs_disabled())
			sim_set_clock(a);
		break;
	}
	busy_end();
	/*
	 * The oracle limits the moves of an interrupt. The callback's own moves do not
	 * count, and hwheel may move another batch before each callback.
	 */
	if (irqs_disabled())
		cpu->off_writes += sim_writes - writes + 12 + 3 * 32;
	oracle_callback_end(slot, life);
	w->ended[base]++;
}

static void callback_0(struct hwheel_timer *timer)
{
	callback(timer);
}

static void callback_1(struct hwheel_timer *timer)
{
	callback(timer);
}

static void callback_2(struct hwheel_timer *timer)
{
	callback(timer);
}

/* ------------------------------------------------------------------------ */
/* Operations */

static struct mwheel *wheel(long long nr)
{
	return &sim_wheels[(unsigned long long)nr % SIM_WHEELS];
}

static void do_setup(const struct op *op)
{
	struct mwheel *w = wheel(op->arg[1]);
	struct slot *slot = get_alone(op->arg[0]);

	if (!slot)
		return;
	if (w->state == LIVE_WHEEL) {
		if (slot->object && slot->set_up)
			arm(slot, CALL_SHUTDOWN_SYNC, 0, 0);
		setup(slot, w, op->arg[2]);
	}
	slot->busy = false;
}

/* A user's mistake, which debugobjects mends: set up a timer that may be pending */
static void do_resetup(const struct op *op)
{
	struct slot *slot = get_alone(op->arg[0]);

	if (!slot)
		return;
	if (!sim_world.no_debug_objects && slot->object && slot->set_up && !slot->running &&
	    !slot->popped && slot->wheel->state == LIVE_WHEEL &&
	    sim_wheels[0].state == LIVE_WHEEL) {
		struct mwheel *w = wheel(op->arg[1]);

		/* Not shortly before its callback begins: that would be another mistake. */
		if (w->state == LIVE_WHEEL && slot->pending && slot->expires > at(slot, 1000000000))
			setup(slot, w, op->arg[2]);
	}
	slot->busy = false;
}

static void do_free(const struct op *op)
{
	struct slot *slot = get_alone(op->arg[0]);

	if (!slot)
		return;
	if (slot->object && slot->set_up) {
		arm(slot, CALL_SHUTDOWN_SYNC, 0, 0);	/* does nothing if the wheel is gone */
		free_object(slot);
	}
	slot->busy = false;
}

static void simple(const struct op *op, enum sim_kind kind)
{
	struct slot *slot = get(op->arg[0]);

	if (!slot)
		return;
	arm(slot, kind, op->arg[1], op->arg[2]);
	put(slot);
}

static void do_add(const struct op *op)		{ simple(op, CALL_ADD); }
static void do_range(const struct op *op)	{ simple(op, CALL_RANGE); }
static void do_on(const struct op *op)		{ simple(op, CALL_ON); }
static void do_mod(const struct op *op)		{ simple(op, CALL_MOD); }
static void do_reduce(const struct op *op)	{ simple(op, CALL_REDUCE); }
static void do_forward(const struct op *op)	{ simple(op, CALL_FORWARD); }
static void do_cancel(const struct op *op)	{ simple(op, CALL_CANCEL); }
static void do_try(const struct op *op)		{ simple(op, CALL_TRY); }
static void do_csync(const struct op *op)	{ simple(op, CALL_CANCEL_SYNC); }
static void do_shut(const struct op *op)	{ simple(op, CALL_SHUTDOWN); }
static void do_ssync(const struct op *op)	{ simple(op, CALL_SHUTDOWN_SYNC); }
static void do_pending(const struct op *op)	{ simple(op, CALL_PENDING); }
static void do_expires(const struct op *op)	{ simple(op, CALL_EXPIRES); }
static void do_remaining(const struct op *op)	{ simple(op, CALL_REMAINING); }
static void do_running(const struct op *op)	{ simple(op, CALL_RUNNING); }

static void do_at(const struct op *op)
{
	struct slot *slot = get(op->arg[0]);

	if (!slot)
		return;
	arm(slot, CALL_AT, at(slot, op->arg[1]), op->arg[2]);
	put(slot);
}

static void do_abs(const struct op *op)
{
	simple(op, CALL_AT);
}

static void do_cb(const struct op *op)
{
	struct slot *slot = &sim_slots[(unsigned long long)op->arg[0] % sim_nr_slots];
	unsigned int i;

	for (i = 0; i < max(op->arg[1], 1LL) && slot < sim_slots + sim_nr_slots; i++, slot++) {
		slot->how = (unsigned long long)op->arg[2] % HOWS;
		slot->a = op->arg[3];
		slot->b = op->arg[4];
		slot->left = min(op->arg[5], 200LL);
	}
}

/* A number for timer @i of a crowd. It looks random, but is the same in each run. */
static long long spread(const struct op *op, unsigned int i)
{
	unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ULL ^ op->arg[0];

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	return op->arg[3] > 0 ? (x >> 20) % op->arg[3] : 0;
}

/* crowd SLOT N DELAY SPREAD SLACK WHEEL PINNED: arm N timers; set them up if necessary */
static void do_crowd(const struct op *op)
{
	unsigned int i;

	for (i = 0; i < op->arg[1] && i < sim_nr_slots; i++) {
		long long nr = (op->arg[0] + i) % sim_nr_slots;
		struct op one = { .n = 3, .arg = { nr, op->arg[5], op->arg[6] } };
		struct slot *slot;

		if (!sim_slots[nr].set_up || sim_slots[nr].shut)
			do_setup(&one);
		slot = get(nr);
		if (!slot)
			continue;
		if (op->arg[4])
			arm(slot, CALL_RANGE, op->arg[2] + spread(op, i), op->arg[4]);
		else
			arm(slot, CALL_ADD, op->arg[2] + spread(op, i), 0);
		put(slot);
	}
}

/* crowdat SLOT N AHEAD SPREAD ALIGN OFFSET: arm N timers within SPREAD of one instant */
static void do_crowdat(const struct op *op)
{
	s64 when = 0;
	unsigned int i;

	for (i = 0; i < op->arg[1] && i < sim_nr_slots; i++) {
		struct slot *slot = get(op->arg[0] + i);

		if (!slot)
			continue;
		if (!when) {
			when = at(slot, op->arg[2]);
			if (op->arg[4] > 0)
				when = when / op->arg[4] * op->arg[4] + op->arg[5];
		}
		arm(slot, CALL_AT, when + spread(op, i), 0);
		put(slot);
	}
}

static void do_crowdcancel(const struct op *op)
{
	unsigned int i;

	for (i = 0; i < op->arg[1] && i < sim_nr_slots; i++) {
		struct slot *slot = get(op->arg[0] + i);

		if (!slot)
			continue;
		arm(slot, CALL_CANCEL, 0, 0);
		put(slot);
	}
}

static void note_set(struct hwheel *wheel)
{
	int i;

	for (i = 0; i < SIM_WHEELS; i++)
		if (sim_wheels[i].wheel == wheel)
			sim_wheels[i].told++;
}

/* wheel NR TICK CONTEXT CLOCK BUDGET FLAGS LEVELS SPOKES0 ... SPOKES5 GAP */
static void do_wheel(const struct op *op)
{
	static const unsigned int clocks[] = { 0, HWHEEL_BOOTTIME, HWHEEL_TAI, HWHEEL_REALTIME };
	const unsigned int clock = clocks[(unsigned long long)op->arg[3] % 4];
	struct mwheel *w = wheel(op->arg[0]);
	struct sim_call call;
	struct hwheel *new;
	long failed = sim_allocs_failed;
	unsigned int sets;
	int i;

	if (w == sim_wheels || w->state != NO_WHEEL || w->wheel)
		return;
	snprintf(w->name, sizeof(w->name), "w%d", (int)(w - sim_wheels));
	w->config = (struct hwheel_config){
		.name = w->name, .tick_ns = op->arg[1],
		.context = (unsigned long long)op->arg[2] % 3,
		.budget_ns = op->arg[4], .levels = op->arg[6], .gap_ns = op->arg[13],
		.flags = clock,
		.clock_set = clock & (HWHEEL_TAI | HWHEEL_REALTIME) ? note_set : NULL,
	};
	if (op->arg[5] & 1 && w->config.context == HWHEEL_WORK)
		w->config.wq = system_dfl_wq;
	if (op->arg[5] & 2 && w->config.context != HWHEEL_HARDIRQ && clock != HWHEEL_BOOTTIME)
		w->config.flags |= HWHEEL_DEFERRABLE;
	for (i = 0; i < 6; i++)
		w->config.spokes[i] = op->arg[7 + i];
	w->wheel = (void *)1;		/* no other actor may create it */
	sets = sim_sets;
	call_begin(&call, CALL_CREATE, NULL);
	new = hwheel_create(&w->config);
	call_end(&call, 0);
	w->wheel = NULL;
	if (IS_ERR(new)) {
		if (PTR_ERR(new) == -ENOMEM && sim_allocs_failed == failed)
			sim_find("hwheel_create returned -ENOMEM, but there was memory");
		if (PTR_ERR(new) != -ENOMEM && PTR_ERR(new) != -EINVAL)
			sim_find("hwheel_create returned %ld", PTR_ERR(new));
		return;
	}
	oracle_new_wheel(w);
	w->sets = sets;
	/* hwheel may have held the locks of the new wheel, which the oracle did not know yet */
	if (sets != sim_sets)
		memset(w->held, 0xff, sizeof(w->held));
	w->wheel = new;
	w->state = LIVE_WHEEL;
}

/* hwheel_destroy() takes at most this long, apart from its waits for callbacks and work */
#define DESTROY_NS	100000000

static void do_destroy(const struct op *op)
{
	struct mwheel *w = wheel(op->arg[0]);
	struct sim_call call;
	u64 cancelled;

	if (w == sim_wheels || w->state != LIVE_WHEEL)
		return;
	w->state = CLOSING_WHEEL;
	work_leaves(w);
	while (w->setups) {	/* until nobody sets up a timer for @w, or waits or sleeps on @w */
		wake_sleepers(w);
		sim_sleep(1000);
	}
	work_leaves(w);			/* somebody may have set up more meanwhile */
	cancelled = w->cancelled;
	call_begin(&call, CALL_DESTROY, NULL);
	call.wheel = w;
	hwheel_destroy(w->wheel);
	if (w->cancelled - cancelled < call.cancels)
		sim_find("hwheel_destroy cancelled timers of another wheel");
	if (sim_last_suspend < call.time &&
	    sim_time - call.time > DESTROY_NS + oracle_held_up(call.time))
		sim_find("hwheel_destroy took %llu ns", sim_time - call.time);
	call_end(&call, 0);
	if (w->pending)
		sim_find("%s was destroyed, but %llu timers are pending", w->name, w->pending);
	w->wheel = NULL;
	w->state = NO_WHEEL;
}

static void do_synchronize(const struct op *op)
{
	struct mwheel *w = wheel(op->arg[0]);

	if (w->state != LIVE_WHEEL)
		return;
	w->setups++;			/* nobody may destroy the wheel meanwhile */
	call_synchronize(w);
	w->setups--;
}

static void do_down(const struct op *op)
{
	sim_cpu_down((unsigned long long)op->arg[0] % sim_world.cpus);
}

static void do_up(const struct op *op)
{
	sim_cpu_up((unsigned long long)op->arg[0] % sim_world.cpus);
}

static void do_suspend(const struct op *op)
{
	sim_suspend(op->arg[0]);
	sim_suspends++;
	sim_last_suspend = sim_time;
	sim_set_clock(op->arg[0]);	/* timekeeping does the same when it resumes */
}

static void do_setclock(const struct op *op)
{
	sim_set_clock(op->arg[0]);
}

static void do_oom(const struct op *op)
{
	sim_fail_allocs(op->arg[0], op->arg[1]);
}

static void do_read(const struct op *op)
{
	static const char *const files[] = {
		"timers", "levels", "spokes", "stats", "lateness", "config", "users" };

	unsigned int file = (unsigned long long)op->arg[1] % ARRAY_SIZE(files);
	char *text = oracle_read(wheel(op->arg[0]), files[file],
				 64 + (unsigned long long)op->arg[2] % 8192);
	char *line = text, *end;
	unsigned int i;

	/* Each row must be a timer, whatever other actors do meanwhile. */
	for (; !file && line && (end = strchr(line, '\n')); line = end + 1) {
		const char *word = line;

		*end = 0;
		if (*line == '#')
			continue;
		for (i = 1; i < 6 && word; i++)
			word = strchr(word + 1, ' ');
		for (i = 0; i < SIM_USERS && word; i++)
			if (sim_named(word + 1) == (unsigned long)sim_user(i))
				break;
		if (i == SIM_USERS || !word)
			sim_find("file timers of %s has a row that is no timer: %s",
				 wheel(op->arg[0])->name, line);
	}
	if (file == 2 && text && strstr(text, " 0\n"))
		sim_find("file spokes of %s has a row without timers", wheel(op->arg[0])->name);
	free(text);
}

static void do_sleep(const struct op *op)
{
	sim_sleep(max(op->arg[0], 0LL));
}

/* Sleep until shortly before a timer expires. */
static void do_sleepto(const struct op *op)
{
	struct slot *slot = get(op->arg[0]);
	u64 ns = 0;

	if (!slot)
		return;
	if (slot->pending && slot->expires - op->arg[1] > sim_clock(slot->wheel))
		ns = slot->expires - op->arg[1] - sim_clock(slot->wheel);
	put(slot);
	sim_sleep(min(ns, 100ULL * NSEC_PER_SEC));
}

/* tickto WHEEL NS: sleep until NS before the next tick */
static void do_tickto(const struct op *op)
{
	struct mwheel *w = wheel(op->arg[0]);
	s64 ns;

	if (w->state != LIVE_WHEEL)
		return;
	ns = w->tick - sim_clock(w) % w->tick - op->arg[1];
	sim_sleep(clamp(ns, (s64)0, 100 * (s64)NSEC_PER_SEC));
}

static void do_run(const struct op *op)
{
	sim_run(min(op->arg[0], 20000000LL));
}

static void do_known(const struct op *op)
{
	known_calls();
}

enum {
	ANYWHERE, IN_TASK, NOT_HARDIRQ
};

static const struct {
	const char	*name;
	void		(*fn)(const struct op *op);
	int		where;
	enum feature	feature;	/* FEATURES: none */
} ops[] = {
	{ "setup",	do_setup,	IN_TASK,	SETUPS },
	{ "resetup",	do_resetup,	IN_TASK,	SETUPS },
	{ "free",	do_free,	IN_TASK,	SETUPS },
	{ "add",	do_add,	ANYWHERE,	ARMS },
	{ "range",	do_range,	ANYWHERE,	ARMS },
	{ "at",	do_at,	ANYWHERE,	ARMS },
	{ "abs",	do_abs,	ANYWHERE,	ARMS },
	{ "on",	do_on,	ANYWHERE,	MOVES },
	{ "mod",	do_mod,	ANYWHERE,	ARMS },
	{ "reduce",	do_reduce,	ANYWHERE,	ARMS },
	{ "forward",	do_forward,	ANYWHERE,	ARMS },
	{ "cancel",	do_cancel,	ANYWHERE,	CANCELS },
	{ "try",	do_try,	ANYWHERE,	CANCELS },
	{ "csync",	do_csync,	NOT_HARDIRQ,	WAITS },
	{ "shut",	do_shut,	ANYWHERE,	CANCELS },
	{ "ssync",	do_ssync,	NOT_HARDIRQ,	WAITS },
	{ "pending",	do_pending,	ANYWHERE,	FEATURES },
	{ "expires",	do_expires,	ANYWHERE,	FEATURES },
	{ "remaining", do_remaining,	ANYWHERE,	FEATURES },
	{ "running",	do_running,	ANYWHERE,	FEATURES },
	{ "synchronize", do_synchronize,	IN_TASK,	WAITS },
	{ "cb",	do_cb,	ANYWHERE,	FEATURES },
	{ "crowd",	do_crowd,	IN_TASK,	CROWDS },
	{ "crowdat",	do_crowdat,	ANYWHERE,	CROWDS },
	{ "crowdcancel", do_crowdcancel,	ANYWHERE,	CROWDS },
	{ "wheel",	do_wheel,	IN_TASK,	WHEELS },
	{ "destroy",	do_destroy,	IN_TASK,	WHEELS },
	{ "down",	do_down,	IN_TASK,	HOTPLUG },
	{ "up",	do_up,	IN_TASK,	HOTPLUG },
	{ "suspend",	do_suspend,	IN_TASK,	SUSPEND },
	{ "setclock", do_setclock,	IN_TASK,	CLOCK },
	{ "oom",	do_oom,	IN_TASK,	MEMORY },
	{ "read",	do_read,	IN_TASK,	READS },
	{ "sleep",	do_sleep,	IN_TASK,	FEATURES },
	{ "sleepto",	do_sleepto,	IN_TASK,	FEATURES },
	{ "run",	do_run,	ANYWHERE,	FEATURES },
	{ "known",	do_known,	IN_TASK,	FEATURES },
	{ "hsleep",	do_hsleep,	IN_TASK,	SLEEPS },
	{ "hschedule", do_hschedule,	IN_TASK,	SLEEPS },
	{ "hwait",	do_hwait,	IN_TASK,	SLEEPS },
	{ "post",	do_post,	ANYWHERE,	SLEEPS },
	{ "wake",	do_wake,	ANYWHERE,	SLEEPS },
	{ "wakeat",	do_wakeat,	IN_TASK,	SLEEPS },
	{ "signal",	do_signal,	ANYWHERE,	SLEEPS },
	{ "tickto",	do_tickto,	IN_TASK,	FEATURES },
	{ "dsetup",	do_dsetup,	IN_TASK,	WORKS },
	{ "dqueue",	do_dqueue,	ANYWHERE,	WORKS },
	{ "dmod",	do_dmod,	ANYWHERE,	WORKS },
	{ "dcancel",	do_dcancel,	ANYWHERE,	WORKS },
	{ "dsync",	do_dsync,	IN_TASK,	WORKS },
	{ "dflush",	do_dflush,	IN_TASK,	WORKS },
	{ "ddisable", do_ddisable,	ANYWHERE,	WORKS },
	{ "ddsync",	do_ddsync,	IN_TASK,	WORKS },
	{ "denable",	do_denable,	ANYWHERE,	WORKS },
	{ "dpending", do_dpending,	ANYWHERE,	WORKS },
	{ "dfree",	do_dfree,	IN_TASK,	WORKS },
	{ "dsleepto", do_dsleepto,	IN_TASK,	FEATURES },
};

static const struct slot *slot_named(const struct op *op)
{
	return &sim_slots[(unsigned long long)op->arg[0] % sim_nr_slots];
}

static bool may_be_softirq(const struct op *op)
{
	const struct slot *slot = slot_named(op);

	return !SIM_RT && !wheel_is_dead(slot) && slot->wheel->config.context != HWHEEL_WORK;
}

const char *const feature_names[FEATURES] = {
	"arms", "moves", "cancels", "waits", "setups", "hotplug", "wheels", "clock", "suspend",
	"memory", "reads", "sleeps", "works", "crowds",
	"isolated", "hardirq", "process", "deferrable", "wall", "gap"
};

unsigned int sim_met[FEATURES][FEATURES];
static unsigned int under_way[OPERATIONS];

static unsigned int wheel_features(const struct mwheel *w)
{
	if (w->state != LIVE_WHEEL)
		return 0;
	return (w->config.context == HWHEEL_HARDIRQ) << HARDIRQ |
	       (w->config.context == HWHEEL_WORK) << PROCESS |
	       !!(w->config.flags & HWHEEL_DEFERRABLE) << DEFERRABLE |
	       !!(w->config.flags & (HWHEEL_REALTIME | HWHEEL_TAI)) << WALL |
	       !!w->config.gap_ns << GAP;
}

/* An operation of @feature begins. What does it meet? A global operation meets all wheels. */
static void note_met(enum feature feature, const struct op *op)
{
	unsigned int i, met = (sim_world.nohz_full | sim_world.isolcpus) ? 1 << ISOLATED : 0;

	if (feature < HOTPLUG || feature == CROWDS) {
		if (slot_named(op)->wheel)
			met |= wheel_features(slot_named(op)->wheel);
	} else {
		for (i = 0; i < SIM_WHEELS; i++)
			met |= wheel_features(&sim_wheels[i]);
	}
	if (sim_alloc_fails)
		met |= 1 << MEMORY;
	for (i = 0; i < FEATURES; i++)
		if (met & 1 << i || (i < OPERATIONS && under_way[i])) {
			sim_met[feature][i]++;
			if (i != feature)
				sim_met[i][feature]++;
		}
}

static void actor_op(const struct op *op)
{
	enum feature feature = ops[op->what].feature;
	unsigned long long writes;
	char context = op->context;

	if (ops[op->what].where == IN_TASK ||
	    (ops[op->what].where == NOT_HARDIRQ && (context == 'h' || !may_be_softirq(op))))
		context = 't';
	if (sim_world.verbose) {
		char text[200];
		int i, n = snprintf(text, sizeof(text), "%d %c %s", op->actor, context,
				    ops[op->what].name);

		for (i = 0; i < op->n; i++)
			n += snprintf(text + n, sizeof(text) - n, " %lld", op->arg[i]);
		sim_log("%s", text);
	}
	if (feature < FEATURES) {
		note_met(feature, op);
		under_way[feature]++;
	}
	if (context == 's') {
		local_bh_disable();
		busy_begin();
		ops[op->what].fn(op);
		busy_end();
		local_bh_enable();
	} else if (context == 'h') {
		sim_irq_enter();
		busy_begin();
		writes = sim_writes;
		ops[op->what].fn(op);
		sim_cpu->off_writes += sim_writes - writes;
		busy_end();
		sim_irq_exit();
	} else {
		ops[op->what].fn(op);
	}
	if (feature < FEATURES)
		under_way[feature]--;
}

/* ------------------------------------------------------------------------ */
/* A run */

static const struct program *program;
static int actors_left;
static wait_queue_head_t actors_done = { { &actors_done.waiting, &actors_done.waiting } };
static void actor(void *arg)
{
	int nr = (long)arg, i;

	for (i = 0; i < program->nr; i++)
		if (program->ops[i].actor == nr)
			actor_op(&program->ops[i]);
	actors_left--;
	wake_up_all(&actors_done);
}

static u64 next_due(u64 *last)
{
	u64 first = SIM_NEVER;
	unsigned int i;

	*last = 0;
	if (work_under_way())
		first = 0;
	for (i = 0; i < sim_all_slots; i++) {
		const struct slot *slot = &sim_slots[i];
		u64 due;

		if (slot->popped || slot->running)
			first = 0;
		if (!slot->pending)
			continue;
		due = slot->expires <= sim_clock(slot->wheel) ? sim_time : sim_time +
		      ((u64)slot->expires - (u64)sim_clock(slot->wheel)) + slot->wheel->tick;
		first = min(first, due);
		if (due < sim_time + 30ULL * 24 * 3600 * 1000000000)
			*last = max(*last, due);
	}
	return first;
}

static void compare_all(void)
{
	u64 last;
	int i;

	sim_fail_allocs(0, 0);
	sim_world.drops = 0;		/* nothing should happen between two reads */
	if (next_due(&last) < sim_time + 5000000000ULL)
		return;
	sim_sleep(2000000000);
	if (next_due(&last) < sim_time + 2000000000ULL)
		return;
	for (i = 0; i < SIM_WHEELS; i++)
		if (sim_wheels[i].state == LIVE_WHEEL)
			oracle_compare(&sim_wheels[i]);
}

static unsigned long long world_number(const struct program *p, const char *name,
				       unsigned long long otherwise)
{
	size_t n = strlen(name);
	int i;

	for (i = 0; i < p->nr_world; i++)
		if (!strncmp(p->world[i], name, n) && p->world[i][n] == ' ')
			return strtoull(p->world[i] + n, NULL, 0);
	return otherwise;
}

/*
 * Is a deferrable wheel still at work? It runs only in a timer tick of a CPU. An idle CPU has few
 * of these. A small budget lets only a few timers of a crowd run in each.
 */
static bool still_at_work(const struct mwheel *w)
{
	unsigned int cpu;

	for (cpu = 0; cpu < sim_world.cpus && w->config.flags & HWHEEL_DEFERRABLE; cpu++)
		if (w->called_at[cpu] + NSEC_PER_SEC > sim_time)
			return true;
	return false;
}

/* Timers that are due have had 5 seconds to run. */
static void check_overdue(void)
{
	unsigned int i;

	for (i = 0; i < sim_all_slots; i++) {
		const struct slot *slot = &sim_slots[i];
		u64 most = 5 * NSEC_PER_SEC;

		/* Hardirqs may take all of a CPU. Its softirqs and threads have to wait then. */
		if (slot->pending && slot->wheel->config.context != HWHEEL_HARDIRQ)
			most += oracle_held_up(slot->armed_at);
		if (slot->pending && !still_at_work(slot->wheel) &&
		    slot->armed_at + most < sim_time &&
		    (u64)slot->expires + slot->wheel->tick + most < (u64)sim_clock(slot->wheel))
			sim_find("timer %u is due, and does not run", i);
	}
}

/*
 * "most COUNTER N" and "least COUNTER N": bounds on a counter of wheel 1 at the end. They are
 * not checked if race.c has held up a CPU (KIND=race).
 */
static void check_bounds(void)
{
	struct hwheel *wheel = sim_wheels[1].wheel;
	unsigned long long n, count;
	char how[32], name[32];
	int i;

	for (i = 0; i < program->nr_world && wheel && !sim_world.holds; i++) {
		if (sscanf(program->world[i], "%31s %31s %llu", how, name, &n) != 3 ||
		    (strcmp(how, "most") && strcmp(how, "least")))
			continue;
		if (!strcmp(name, "bytes"))
			count = peek_bytes(wheel);
		else if (!strcmp(name, "allocs_failed"))
			count = sim_allocs_failed;
		else
			count = hwheel_count(wheel, name);
		if (*how == 'm' ? count > n : count < n)
			sim_find("%s is %llu, at %s %llu is right", name, count, how, n);
	}
}

static void sim_main(void *arg)
{
	bool seen[MAX_ACTORS] = { };
	unsigned int leave;
	struct sim_call call;
	int i, err, rounds;
	u64 last;

	sim_fail_allocs(0, 0);
	for (i = 0; i < program->nr_world; i++) {
		char name[32], value[32];
		unsigned int n = 0;

		if (sscanf(program->world[i], "param %31s %u %31s", name, &n, value) == 3)
			sim_set_param(name, n, strdup(value));
		if (sscanf(program->world[i], "oom %u %31s", &n, value) == 2)
			sim_fail_allocs(n, atoi(value));
	}
	snprintf(sim_wheels[0].name, sizeof(sim_wheels[0].name), "system");
	err = sim_module_init();
	if (err != -(int)world_number(program, "fails", 0))
		sim_find("loading the module returns %d", err);
	if (!err) {
		oracle_new_wheel(&sim_wheels[0]);
		sim_wheels[0].wheel = hwheel_system;
		sim_wheels[0].state = LIVE_WHEEL;
		for (i = 0; i < program->nr_world; i++) {
			unsigned long long n;
			unsigned int at;

			if (sscanf(program->world[i], "param tick_ns 0 %llu", &n) == 1)
				sim_wheels[0].tick = n;
			/* With bad parameters the wheel takes the defaults, as if built in */
			if (sscanf(program->world[i], "param levels 0 %llu", &n) == 1 &&
			    n <= HWHEEL_MAX_LEVELS)
				sim_wheels[0].config.levels = n;
			if (sscanf(program->world[i], "param spokes %u %llu", &at, &n) == 2)
				sim_wheels[0].config.spokes[at] = n;
		}
	} else {
		sim_check_left();
		program_done();
	}
	for (i = 0; i < program->nr; i++) {
		int nr = program->ops[i].actor;

		if (nr < MAX_ACTORS && !seen[nr]) {
			seen[nr] = true;
			actors_left++;
			sim_spawn("actor", nr % sim_world.cpus, actor, (void *)(long)nr);
		}
	}
	wait_event(actors_done, !actors_left);
	compare_all();
	/* Until all timers have run, except those that expire in more than 30 days */
	for (rounds = 0; rounds < 300; rounds++) {
		u64 first = next_due(&last);

		if (first >= sim_time + 30ULL * 24 * 3600 * 1000000000)
			break;
		sim_sleep(rounds < 200 || last < sim_time ? 20000000 : last - sim_time + 20000000);
		if (rounds == 100)
			compare_all();
		if (rounds >= 20 && rounds < 200 && first > sim_time)
			sim_sleep(first - sim_time);
	}
	check_overdue();
	check_works();
	compare_all();
	check_bounds();
	leave = world_number(program, "leave", 0);
	for (i = 0; i < (int)sim_nr_slots && !leave; i++) {
		struct op op = { .arg = { i } };

		if (sim_rnd(2) || sim_slots[i].wheel == sim_wheels)
			do_free(&op);
	}
	for (i = 0; i < SIM_WORKS; i++) {
		struct op op = { .arg = { i } };

		do_dfree(&op);
	}
	for (i = 1; i < SIM_WHEELS && !leave; i++) {
		struct op op = { .arg = { i } };

		do_destroy(&op);
	}
	if (!err) {
		call_begin(&call, CALL_OTHER, NULL);
		if (!leave)
			last_kick();
		sim_wheels[0].state = CLOSING_WHEEL;
		sim_module_exit();
		call_end(&call, 0);
		if (sim_left != leave)
			sim_find("%u warnings of what is left, not %u", sim_left, leave);
		sim_check_left();
	}
	program_done();
}

void program_run(const struct program *p)
{
	program = p;
	sim_world.seed = world_number(p, "seed", 1);
	sim_world.cpus = clamp(world_number(p, "cpus", 2), 1ULL, (unsigned long long)SIM_CPUS);
	sim_world.start = world_number(p, "start", 1000000000);
	sim_world.ranks = world_number(p, "ranks", 0);
	sim_world.jitter = sim_world.ranks ? 0 : world_number(p, "jitter", 0);
	sim_world.stall = world_number(p, "stall", 0);
	sim_world.stall_ns = world_number(p, "stall_ns", 0);
	sim_world.late_irq = world_number(p, "late_irq", 0);
	sim_world.absent = world_number(p, "absent", 0);
	sim_world.drops = world_number(p, "drops", 0);
	sim_world.drops_ns = world_number(p, "drops_ns", 0);
	if (sim_world.drops) {
		sim_world.holds = true;
		sim_world.stall_ns = max(sim_world.stall_ns, sim_world.drops_ns);
	}
	sim_world.migrate = world_number(p, "migrate", 0);
	sim_world.no_debug_objects = world_number(p, "no_debug_objects", 0);
	/* CPU 0 is never isolated */
	sim_world.nohz_full = world_number(p, "nohz_full", 0) & ~1ULL;
	sim_world.isolcpus = world_number(p, "isolcpus", 0) & ~1ULL;
	housekeeping_overridden.enabled = sim_world.nohz_full | sim_world.isolcpus;
	sim_wall_off = world_number(p, "wall", 0);
	sim_world.no_cpuhp = world_number(p, "no_cpuhp", 0);
	sim_late_ns = world_number(p, "late_ns", 0);
	oracle_slots(clamp(world_number(p, "slots", 64), 1ULL, 2000000ULL));
	sim_start(sim_main, NULL);
}

/* ------------------------------------------------------------------------ */
/* Text */

void program_write(const struct program *p, FILE *file)
{
	int i, j;

	for (i = 0; i < p->nr_world; i++)
		fprintf(file, "%s\n", p->world[i]);
	for (i = 0; i < p->nr; i++) {
		fprintf(file, "%d %c %s", p->ops[i].actor, p->ops[i].context,
			ops[p->ops[i].what].name);
		for (j = 0; j < p->ops[i].n; j++)
			fprintf(file, " %lld", p->ops[i].arg[j]);
		fprintf(file, "\n");
	}
}

static struct op *new_op(struct program *p)
{
	if (p->nr == p->room) {
		p->room = p->room * 2 + 64;
		p->ops = realloc(p->ops, p->room * sizeof(*p->ops));
	}
	p->ops[p->nr] = (struct op){ };
	return &p->ops[p->nr++];
}

static int op_called(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(ops[i].name, name))
			return i;
	return -1;
}

bool program_read(struct program *p, FILE *file)
{
	char line[400], name[32], context;
	int nr, at, what;

	memset(p, 0, sizeof(*p));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n#")] = 0;
		if (sscanf(line, " %31s", name) != 1)
			continue;
		if (sscanf(line, "%d %c %31s%n", &nr, &context, name, &at) == 3) {
			struct op *op;
			char *s = line + at, *end;

			what = op_called(name);
			if (what < 0 || nr < 0 || nr >= MAX_ACTORS) {
				fprintf(stderr, "sim: bad line: %s\n", line);
				return false;
			}
			op = new_op(p);
			op->actor = nr;
			op->context = context;
			op->what = what;
			while (op->n < OP_ARGS) {
				long long arg = strtoll(s, &end, 0);

				if (end == s)
					break;
				op->arg[op->n++] = arg;
				s = end;
			}
		} else if (p->nr_world < (int)ARRAY_SIZE(p->world)) {
			snprintf(p->world[p->nr_world++], sizeof(p->world[0]), "%.63s", line);
		}
	}
	return true;
}

/* ------------------------------------------------------------------------ */
/* Random programs. The generator has random numbers of its own: a run does not use them. */

static unsigned long long gen;

static unsigned long long rnd(unsigned long long n)
{
	gen ^= gen << 13;
	gen ^= gen >> 7;
	gen ^= gen << 17;
	return n ? (gen * 0x2545f4914f6cdd1dULL >> 16) % n : 0;
}

static bool one_in(unsigned int n)
{
	return !rnd(n);
}

static void emit(struct program *p, int actor, char context, const char *name, int n,
		 const long long *arg)
{
	struct op *op = new_op(p);

	op->actor = actor;
	op->context = context;
	op->what = op_called(name);
	op->n = n;
	memcpy(op->arg, arg, n * sizeof(*arg));
}

#define EMIT(p, actor, context, name, ...)					\
	do {									\
		const long long __arg[] = { __VA_ARGS__ };			\
										\
		emit(p, actor, context, name, ARRAY_SIZE(__arg), __arg);	\
	} while (0)

static void world(struct program *p, const char *name, unsigned long long value)
{
	snprintf(p->world[p->nr_world++], sizeof(p->world[0]), "%s %llu", name, value);
}

static long long gen_tick(void)
{
	static const long long ticks[] = {
		0, 1000, 1000, 1000000, 1000000, 10000, 4000000, 3333, 1000000000,
		60000000000, 3600000000000
	};

	return ticks[rnd(ARRAY_SIZE(ticks))];
}

/* Most delays are a few dozen ticks, so that timers share spokes */
static bool dense;
static bool sets;			/* somebody sets the clock */

static long long gen_delay(long long tick)
{
	if (!tick)
		tick = 1000000;
	if (dense && !one_in(8))
		return rnd(rnd(2) ? 12 : 80) * tick - rnd(2);
	switch (rnd(12)) {
	case 0:
		return 0;
	case 1:
		return -(long long)rnd(1000000000);
	case 2:
		return rnd(tick * 3);
	case 3:
	case 4:
		return rnd(tick * 200);
	case 5:
		return rnd(1000000);
	case 6:
		return rnd(10) * tick;
	case 7:
		return 1LL << rnd(40);
	case 8:
		return one_in(4) ? KTIME_MAX - (long long)rnd(2) : 1LL << rnd(62);
	case 9:
		return rnd(3600000000000);
	default:
		return rnd(5000000);
	}
}

/* The features of a program whose features meet often; 0: of another program */
static unsigned int meet;

static bool meets(enum feature feature)
{
	return meet & 1 << feature;
}

static void gen_wheel(struct program *p, int actor, int nr, long long *ticks, bool small)
{
	long long levels = one_in(3) ? 0 : 1 + rnd(small ? 5 : 8), tick = gen_tick();
	long long budget = one_in(2) ? 0 : one_in(2) ? 1 + rnd(20000) : 10000 + rnd(3000000);
	long long gap = !one_in(4) ? 0 : one_in(20) ? rnd(1000000001) : rnd(2000000);
	long long spokes[6], clock, context = rnd(3);
	int i, pow2 = rnd(2), deferrable = one_in(8);

	for (i = 0; i < 6; i++) {
		spokes[i] = one_in(4) && !dense ? 0 : 2 + rnd(dense ? 4 : one_in(4) ? 200 : 12);
		if (one_in(40))
			spokes[i] = 4096;
		if (pow2 && spokes[i])
			spokes[i] = 1LL << (1 + rnd(7));
	}
	/* hwheel refuses a wheel whose reach is too far. This should be rare. */
	while (levels > 1 && tick > 1000000 && levels * 7 > 63 - 64 + __builtin_clzll(tick))
		levels--;
	ticks[nr] = tick;
	clock = one_in(4) ? 1 : one_in(3) ? 2 + rnd(2) : 0;
	if (meets(HARDIRQ) && !one_in(4))
		context = HWHEEL_HARDIRQ;
	if (meets(PROCESS) && !one_in(4))
		context = HWHEEL_WORK;
	if (meets(DEFERRABLE) && !one_in(4)) {
		deferrable = 1;
		if (context == HWHEEL_HARDIRQ)
			context = HWHEEL_SOFTIRQ;
		if (clock == 1)
			clock = 0;
	}
	if ((meets(WALL) || meets(CLOCK)) && !one_in(4))
		clock = 2 + rnd(2);
	if (meets(GAP) && !one_in(4))
		gap = rnd(2000000);
	EMIT(p, actor, 't', "wheel", nr, tick, context, clock, budget, rnd(2) | deferrable << 1,
	     levels, spokes[0], spokes[1], spokes[2], spokes[3], spokes[4], spokes[5], gap);
}

static void gen_cb(struct program *p, int actor, long long slot, long long n, long long tick,
		   long long slots)
{
	long long how = rnd(HOWS), a = 0, b = 0, left = 1 + rnd(one_in(4) ? 60 : 5);

	if (one_in(3))
		how = HOW_NOTHING;
	switch (how) {
	case HOW_ADD:
	case HOW_RANGE:
		a = gen_delay(tick);
		b = gen_delay(tick);
		break;
	case HOW_FORWARD:
		a = 1 + rnd(one_in(2) ? 1000000 : 3 * (tick ?: 1000000));
		break;
	case HOW_PAST:
		a = rnd(10000000);
		b = rnd(2);
		break;
	case HOW_RUN_PAST:
		a = rnd(10000000);
		b = rnd(one_in(4) ? 1000000 : 20000);
		break;
	case HOW_CANCEL:
	case HOW_ARM:
	case HOW_MOD:
		a = rnd(slots);
		b = gen_delay(tick);
		break;
	case HOW_SETCLOCK:
		if (!sets)
			how = HOW_NOTHING;
		a = (one_in(2) ? 1 : -1) * gen_delay(tick);
		break;
	case HOW_SLEEP:
	case HOW_SLEEP_ON_WHEEL:
	case HOW_RUN:
		a = rnd(one_in(5) ? 1000000 : 10000);
		break;
	case HOW_ON:
		a = rnd(8);
		b = gen_delay(tick);
		break;
	}
	EMIT(p, actor, 't', "cb", slot, n, how, a, b, left);
}

/* An operation of a task that sleeps, or of somebody who ends its sleep */
static void gen_sleep(struct program *p, int actor, char context, unsigned int wheels,
		      long long tick)
{
	long long delay = one_in(3) ? gen_delay(tick) : (long long)rnd(one_in(2) ? 20000 : 4000000);
	unsigned int n = rnd(8);

	if (one_in(4)) {			/* begin to sleep shortly before a tick */
		EMIT(p, actor, 't', "tickto", 0, rnd(3000));
		EMIT(p, actor, 't', "hsleep", 1 + rnd(100), rnd(3));
		return;
	}
	switch (rnd(11)) {
	case 0:
		EMIT(p, actor, 't', "hsleep", delay, rnd(3));
		break;
	case 1:
	case 2:
	case 3:
		EMIT(p, actor, 't', "hschedule", rnd(wheels), delay,
		     one_in(3) ? gen_delay(tick) : 0, one_in(10) ? 0 : 1 + rnd(3));
		break;
	case 4:
	case 5:
		EMIT(p, actor, 't', "hwait", rnd(4), delay, rnd(3));
		break;
	case 6:
		EMIT(p, actor, context, "post", rnd(4));
		break;
	case 7:
		EMIT(p, actor, context, "wake", n);
		break;
	case 8:
	case 9:
		EMIT(p, actor, 't', "wakeat", n, (long long)rnd(3000) - 1000);
		break;
	default:
		EMIT(p, actor, context, "signal", n, rnd(2));
	}
}

static void gen_dsetup(struct program *p, int actor, long long nr, long long works,
		       unsigned int wheels, long long tick)
{
	long long how = one_in(4) ? WORK_FREE : rnd(WORK_HOWS);
	long long a = rnd(one_in(3) ? 1000000 : 20000), b = rnd(4);

	if (one_in(3))
		how = WORK_NOTHING;
	if (how == WORK_QUEUE || how == WORK_MOD)
		a = gen_delay(tick);
	if (how >= WORK_QUEUE_OTHER) {
		a = rnd(works);
		b = gen_delay(tick);
	}
	EMIT(p, actor, 't', "dsetup", nr, rnd(wheels), how, a, b, 1 + rnd(one_in(4) ? 60 : 5));
}

/* An operation of delayed work */
static void gen_work(struct program *p, int actor, char context, long long works,
		     unsigned int wheels, long long tick, unsigned int cpus)
{
	static const char *const others[] = {
		"dcancel", "dcancel", "dsync", "dsync", "dflush", "dflush", "ddisable", "ddsync",
		"denable", "denable", "denable", "dpending", "dfree" };
	long long delay = one_in(3) ? gen_delay(tick) : (long long)rnd(one_in(2) ? 20000 : 4000000);
	long long nr = rnd(works);
	const char *name;

	if (one_in(3))			/* shortly before or after the timer expires */
		EMIT(p, actor, 't', "dsleepto", nr, (long long)rnd(3000) - 1000);
	if (one_in(2)) {
		name = one_in(3) ? "dmod" : "dqueue";
		EMIT(p, actor, context, name, nr, delay, rnd(4),
		     one_in(2) ? -1 : (long long)rnd(cpus), one_in(4) ? gen_delay(tick) : 0);
		return;
	}
	if (one_in(6)) {
		gen_dsetup(p, actor, nr, works, wheels, tick);
		EMIT(p, actor, context, "dqueue", nr, delay, rnd(4), -1, 0);
		return;
	}
	name = others[rnd(ARRAY_SIZE(others))];
	EMIT(p, actor, context, name, nr);
	if (!strcmp(name, "dfree"))
		gen_dsetup(p, actor, nr, works, wheels, tick);
}

void program_generate(struct program *p, unsigned long long seed)
{
	unsigned int actors, cpus, n, i, slots, wheels, nr_wheels = 0;
	static const char *const asking[] = { "pending", "expires", "remaining", "running" };
	bool hotplug, oom, suspend, churn, crowd, mistakes, reads, few, fight, parked;
	unsigned int sleeps;		/* one in this many operations; 0: none */
	unsigned int works;		/* items of delayed work */
	long long ticks[SIM_WHEELS] = { };

	p->nr = 0;
	p->nr_world = 0;
	gen = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < 8; i++)
		rnd(1);
	cpus = one_in(4) ? 1 : 2 + rnd(one_in(3) ? 7 : 3);
	actors = one_in(5) ? 1 : 1 + rnd(2 * cpus);
	few = one_in(3);
	fight = one_in(5);
	dense = one_in(4);
	parked = !fight && one_in(8);
	crowd = !fight && !parked && one_in(5);
	hotplug = one_in(4) && cpus > 1;
	oom = one_in(8);
	suspend = one_in(8);
	churn = one_in(4);
	mistakes = one_in(8);
	reads = one_in(3);
	sets = one_in(4);
	meet = 0;
	if (one_in(3)) {
		while (__builtin_popcount(meet) < 2 || one_in(3))
			meet |= 1 << (WAITS + rnd(FEATURES - WAITS));
		cpus = max(cpus, 2U);
		actors = max(actors, 2U);
		fight = false;
		parked = false;
		few = true;
		crowd = meets(CROWDS);
		hotplug = meets(HOTPLUG);
		oom = meets(MEMORY);
		suspend = meets(SUSPEND);
		churn = meets(WHEELS);
		reads = meets(READS);
		sets = meets(CLOCK);
	}
	sleeps = meet ? 4 * meets(SLEEPS) : crowd || !one_in(3) ? 0 : 2 + rnd(8);
	works = meet ? meets(WORKS) * (1 + rnd(2)) :
		crowd || !one_in(3) ? 0 : 1 + rnd(one_in(2) ? 2 : SIM_WORKS);
	slots = fight ? 1 + rnd(3) : few ? 1 + rnd(4) : 1 + rnd(200);
	if (crowd)
		slots = 1100 + rnd(4000);

	world(p, "seed", seed);
	world(p, "cpus", cpus);
	world(p, "slots", slots);
	world(p, "jitter", one_in(4) ? 0 : 1ULL << rnd(10));
	if (one_in(3)) {
		world(p, "stall", 20 + rnd(one_in(2) ? 200 : 5000));
		world(p, "stall_ns", 100 + rnd(1ULL << rnd(20)));
	}
	if (one_in(4))
		world(p, "late_irq", 1 + rnd(1ULL << rnd(20)));
	if (one_in(4))
		world(p, "absent", 1);
	world(p, "start", one_in(3) ? rnd(100000000) :
	      one_in(2) ? rnd(1000000000000) : rnd(1ULL << 58));
	if (one_in(3))
		world(p, "migrate", 1);
	if (one_in(4) && cpus > 1)
		world(p, "ranks", 16U << rnd(12));
	if (meet) {
		world(p, "drops", 1 + rnd(20));
		world(p, "drops_ns", 1 + rnd(1ULL << rnd(24)));
	}
	if (meet ? meets(ISOLATED) : one_in(4) && cpus > 1) {
		world(p, "nohz_full", rnd(1U << cpus) | (meet ? 2 : 0));
		world(p, "isolcpus", one_in(2) ? rnd(1U << cpus) : 0);
	}
	if (one_in(2))
		world(p, "wall", rnd(1ULL << (20 + rnd(42))));
	if (mistakes)
		world(p, "no_debug_objects", rnd(2));

	wheels = 1 + rnd(one_in(3) ? 6 : 2);
	for (i = 1; i <= wheels; i++)
		gen_wheel(p, 0, i, ticks, crowd);
	nr_wheels = wheels + 1;
	if (parked)				/* no memory for levels for some seconds */
		EMIT(p, 0, 't', "oom", 0, 2 + rnd(4));
	for (i = 0; i < slots && !crowd; i++)
		EMIT(p, 0, 't', "setup", i, one_in(6) ? 0 : rnd(nr_wheels), one_in(4));
	for (i = 0; i < works; i++)
		gen_dsetup(p, 0, i, works, nr_wheels, ticks[rnd(nr_wheels)]);
	if (fight && one_in(2))
		EMIT(p, 0, 't', "cb", 0, slots, HOW_ADD, rnd(3000), 0, 200);
	else if (fight || one_in(2))
		EMIT(p, 0, 't', "cb", 0, slots, HOW_RUN, rnd(fight ? 20000 : 3000), 0, 0);
	n = few ? 40 + rnd(200) : 100 + rnd(1500);
	if (crowd)
		n = 20 + rnd(100);
	if (crowd && one_in(4)) {		/* only crowds */
		for (i = 0; i < 1 + rnd(3); i++)
			EMIT(p, rnd(actors), 't', "crowd", i * (slots / 4), slots / 4,
			     rnd(1 << 30), rnd(300 * (ticks[1] ?: 1000000)), 0, 1, 0);
		n = 0;
	}
	if (actors > 1 && !one_in(4))		/* all begin at about the same time */
		for (i = 1; i < actors; i++)
			EMIT(p, i, 't', "sleep", 20000 + slots * 600);
	for (i = 0; i < n; i++) {
		unsigned int a = rnd(actors), w = rnd(nr_wheels);
		long long slot = rnd(slots), tick = ticks[w];
		char context = "tttttsh"[rnd(7)];

		if (hotplug && one_in(meet ? 5 : n / 8 + 1)) {
			EMIT(p, a, 't', one_in(2) ? "down" : "up", rnd(cpus));
			continue;
		}
		if (oom && one_in(meet ? 5 : n / 6 + 1)) {
			EMIT(p, a, 't', "oom", rnd(4), 1 + rnd(4));
			if (one_in(2)) {
				EMIT(p, a, 't', "add", slot, 2 + rnd(1000000000));
				EMIT(p, a, 't', "sleep", 1500000000 + rnd(1000000000));
				EMIT(p, a, 't', "add", slot, 2 + rnd(100000000000));
			}
			continue;
		}
		if (sleeps && one_in(sleeps)) {
			gen_sleep(p, a, context, nr_wheels, tick);
			continue;
		}
		if (works && one_in(3)) {
			gen_work(p, a, context, works, nr_wheels, tick, cpus);
			continue;
		}
		if (parked && !one_in(4)) {
			tick = tick ?: 1000000;
			if (one_in(3))
				EMIT(p, a, 't', "sleep", rnd(20) * tick & 0xffffffff);
			else
				EMIT(p, a, context, "crowdat", slot, 1 + rnd(4), rnd(64) * tick,
				     rnd(3) * tick, tick, 0);
			continue;
		}
		if (fight && !one_in(4)) {
			static const char *const fights[] = {
				"add", "add", "on", "on", "cancel", "cancel", "try", "mod",
				"reduce", "csync", "pending", "running", "synchronize", "sleep",
				"run", "sleepto" };
			const char *name = fights[rnd(ARRAY_SIZE(fights))];

			if (!strcmp(name, "synchronize"))
				EMIT(p, a, 't', name, w);
			else if (!strcmp(name, "sleep") || !strcmp(name, "run"))
				EMIT(p, a, 't', name, rnd(20000));
			else if (!strcmp(name, "sleepto"))
				EMIT(p, a, 't', name, slot, rnd(2000));
			else
				EMIT(p, a, context, name, slot, rnd(one_in(2) ? 1 : 30000),
				     rnd(cpus));
			continue;
		}
		if (suspend && one_in(meet ? 5 : n / 4 + 1)) {
			EMIT(p, a, 't', "suspend", rnd(1ULL << rnd(45)));
			continue;
		}
		if (churn && one_in(meet ? 5 : n / 8 + 1)) {
			w = 1 + rnd(wheels);
			EMIT(p, a, 't', "destroy", w);
			gen_wheel(p, a, w, ticks, crowd);
			continue;
		}
		if (meets(WAITS) && one_in(5)) {
			if (one_in(4))
				EMIT(p, a, 't', "synchronize", w);
			else
				EMIT(p, a, context, one_in(4) ? "ssync" : "csync", slot);
			continue;
		}
		if (meets(SETUPS) && one_in(5)) {
			EMIT(p, a, 't', one_in(3) ? "free" : "setup", slot, w, one_in(2));
			continue;
		}
		if (reads && one_in(meet ? 5 : 12)) {
			EMIT(p, a, 't', "read", w, rnd(7), rnd(8192));
			continue;
		}
		if (sets && one_in(meet ? 5 : n / 8 + 1)) {
			EMIT(p, a, 't', "setclock", (one_in(2) ? 1 : -1) * gen_delay(tick));
			continue;
		}
		if (crowd && reads && one_in(3)) {
			if (one_in(2))
				EMIT(p, a, 't', "sleepto", slot, rnd(1 << rnd(18)));
			EMIT(p, a, 't', "read", w, rnd(3), rnd(8192));
			continue;
		}
		if (crowd && one_in(6)) {
			long long many = 200 + rnd(slots);

			switch (rnd(4)) {
			case 0:
			case 1:
				EMIT(p, a, 't', "crowd", slot, many,
				     gen_delay(tick) & 0xffffffffffff,
				     one_in(3) ? 0 : rnd(200 * (tick ?: 1000000)),
				     one_in(4) ? rnd(50 * (tick ?: 1000000)) : 0, w, one_in(4));
				break;
			case 2:
				EMIT(p, a, context, "crowdat", slot, many,
				     rnd(400 * (tick ?: 1000000)),
				     one_in(2) ? 0 : rnd(300 * (tick ?: 1000000)),
				     one_in(2) ? 128 * (tick ?: 1000000) : 0,
				     rnd(128 * (tick ?: 1000000)));
				break;
			default:
				EMIT(p, a, context, "crowdcancel", slot, many);
			}
			continue;
		}
		switch (rnd(mistakes ? 26 : 25)) {
		case 0:
		case 1:
		case 2:
		case 3:
			EMIT(p, a, context, "add", slot, gen_delay(tick));
			break;
		case 4:
			EMIT(p, a, context, "range", slot, gen_delay(tick),
			     one_in(3) ? gen_delay(tick) : (long long)rnd(20 * (tick ?: 1000000)));
			break;
		case 5:
		case 6:
			EMIT(p, a, context, "at", slot, gen_delay(tick),
			     one_in(2) ? 0 : gen_delay(tick));
			break;
		case 7:
			EMIT(p, a, context, "abs", slot, one_in(2) ? 0 : gen_delay(tick), rnd(2));
			break;
		case 8:
		case 9:
			EMIT(p, a, context, "on", slot, gen_delay(tick), rnd(cpus));
			break;
		case 10:
			EMIT(p, a, context, "mod", slot, gen_delay(tick));
			break;
		case 11:
			EMIT(p, a, context, "reduce", slot, gen_delay(tick));
			break;
		case 12:
			EMIT(p, a, context, "forward", slot, 1 + rnd(3 * (tick ?: 1000000)));
			break;
		case 13:
			EMIT(p, a, context, "cancel", slot);
			break;
		case 14:
			EMIT(p, a, context, "try", slot);
			break;
		case 15:
			EMIT(p, a, context, "csync", slot);
			break;
		case 16:
			EMIT(p, a, context, one_in(2) ? "shut" : "ssync", slot);
			EMIT(p, a, 't', "setup", slot, w, one_in(4));
			break;
		case 17:
			EMIT(p, a, context, asking[rnd(ARRAY_SIZE(asking))], slot);
			if (one_in(4))
				EMIT(p, a, 't', "synchronize", w);
			break;
		case 18:
			gen_cb(p, a, slot, one_in(8) ? rnd(slots) : 1, tick, slots);
			break;
		case 19:
			EMIT(p, a, 't', "setup", slot, w, one_in(4));
			break;
		case 20:
			EMIT(p, a, 't', "free", slot);
			EMIT(p, a, 't', "setup", slot, w, one_in(4));
			break;
		case 21:
			EMIT(p, a, context, "run", rnd(one_in(8) ? 300000 : 5000));
			break;
		case 22:
		case 23:
		case 24:
			EMIT(p, a, 't', "sleep",
			     dense || one_in(4) ? gen_delay(tick) & 0xfffffffff :
			     (long long)rnd(one_in(2) ? 3000000 : 20000));
			break;
		case 25:
			EMIT(p, a, 't', "resetup", slot, w, one_in(4));
			break;
		}
	}
}
