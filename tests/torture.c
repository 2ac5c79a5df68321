// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_torture - tries to break hwheel, and reports it if hwheel breaks
 *
 * Threads, timer callbacks, hard and soft hrtimers and irq_works of all CPUs call the API
 * on the same timers, in random order. Meanwhile CPUs go offline and come online,
 * and wheels are created and destroyed. The first violation of a guarantee of hwheel.h
 * ends the test. The last line in the log is one of
 *
 *	hwheel-torture: End of test: SUCCESS ... counts
 *	hwheel-torture: End of test: FAILURE: first violation; ... counts
 *
 * After a failure the module stays loaded, as it can free nothing safely.
 *
 * How it finds violations
 * -----------------------
 *
 * The test relies on the return values of the API, and on clocks that hwheel does not
 * touch. It counts lateness, but does not fail for it: emulated CPUs may pause for any
 * time. A timer is lost if the monitor has seen the same arming overdue more than LOST_SCANS
 * times, a second apart.
 *
 * Private timers. Each has a struct slot, which stays when the timer is freed. Any context may
 * arm and cancel the timer, under the lock of the slot. So the slot knows what each call must
 * return. A run dequeues a timer before the timer's callback takes this lock, so the slot
 * keeps two armings:
 *
 *	live	the last arming; it was not cancelled, and no callback for it has
 *		taken the lock
 *	passed	an earlier arming that has fired, and whose callback waits for the
 *		lock. The live arming becomes passed when a call finds the timer
 *		not pending
 *
 * If there is a live arming, but a call finds the timer not pending, then the timer has
 * fired. That is a violation in two cases:
 *
 *  - The timer was not due yet.
 *  - There is a passed arming, too: the callbacks of a timer must not overlap.
 *
 * Other violations are:
 *
 *  - A call finds the timer pending, but there is no live arming.
 *  - A callback runs without an arming, before its time, inside another callback of the
 *    timer, in a freed timer, or after a _sync call has returned.
 *
 * A _sync call marks the slot. Then only the callback may arm the timer. After the call,
 * each arming must have ended in a callback, in a cancel, or in a later arming.
 *
 * Shared timers have no lock. The test counts their armings and cancels by return values.
 * shared_fire() counts the callbacks. Now and then the test closes a timer to all users, and
 * checks that armed = cancelled + fired. A callback is early if it runs before every time for
 * which a call may have armed the timer: see shared_fire(). hwheel_add_forward() does not return
 * whether it replaced an arming. So the test checks less for timers that are forwarded
 * ("loose").
 *
 * Delayed work. One caller at a time uses an item, and others leave it alone meanwhile. So the
 * return values tell how often the item was queued, and how many of these queueings a call has
 * cancelled. After a call that waits, each queueing must have ended in a run or in a cancel.
 *
 * Order. On one base, timers must run in the order of their ticks. So the test remembers the
 * latest tick that has run on each base. If a timer of an earlier tick runs now, the order is
 * broken. There are two exceptions: the timer was armed after its tick, or it has moved. Then
 * it may not have been on this base when the later tick ran.
 */
#define pr_fmt(fmt) "hwheel-torture: " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "hwheel.h"
#include "module/compat.h"

#define SHARED_EVERY	32	/* private timers per shared timer */
#define LOST_SCANS	10	/* an overdue timer counts as lost after more looks than this */
#define STUCK_SCANS	20	/* a wait counts as stuck after more looks than this */
#define BATCH		256	/* events of a thread between two naps */
#define CLOSERS		4	/* threads in _sync for one timer */
#define QUIET_POLLS	4000	/* up to 1 ms each; within them a callback must have ended */
#define BRIEF_TIMERS	48	/* on a wheel that is soon destroyed */
#define CROWD_NS	(512 * NSEC_PER_MSEC)

static int threads = -1;
module_param(threads, int, 0444);
MODULE_PARM_DESC(threads, "number of threads; -1: one per online CPU");

static unsigned int timers = 4096;
module_param(timers, uint, 0444);
MODULE_PARM_DESC(timers, "number of private timers; there is one shared timer per 32 of them");

static unsigned int seconds;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "length of the test in seconds; 0: until rmmod");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "seed of the random numbers; 0: a random seed");

static unsigned long long tick_ns = 100000;
module_param(tick_ns, ullong, 0444);
MODULE_PARM_DESC(tick_ns, "tick of the main wheel in ns");

static unsigned int spokes[HWHEEL_MAX_LEVELS] = { 16, 12, 8, 8 };
module_param_array(spokes, uint, NULL, 0444);
MODULE_PARM_DESC(spokes, "spokes per level of the main wheel");

static unsigned int levels = 4;
module_param(levels, uint, 0444);
MODULE_PARM_DESC(levels, "number of levels of the main wheel");

static char *context = "mixed";
module_param(context, charp, 0444);
MODULE_PARM_DESC(context, "where callbacks run: softirq, hardirq, work, unbound, deferrable, or mixed");

static unsigned int onoff;
module_param(onoff, uint, 0444);
MODULE_PARM_DESC(onoff, "seconds between taking a CPU offline or online; 0: never");

static bool wheels = true;
module_param(wheels, bool, 0444);
MODULE_PARM_DESC(wheels, "create and destroy wheels during the test");

static unsigned int stat_interval = 10;
module_param(stat_interval, uint, 0444);
MODULE_PARM_DESC(stat_interval, "seconds between two lines of counts; 0: no such lines");

static char *variant = "mixed";
module_param(variant, charp, 0444);
MODULE_PARM_DESC(variant, "mix of events: mixed, private, shared, waiters, crowd");

static bool done;
module_param(done, bool, 0444);
MODULE_PARM_DESC(done, "read only: the test has ended");

/* ------------------------------------------------------------------------ */
/* Events */

enum event {
	OP_ADD,
	OP_ADD_RANGE,
	OP_ADD_AT,
	OP_ADD_ON,
	OP_MOD_PENDING,
	OP_REDUCE,
	OP_FORWARD,
	OP_CANCEL,
	OP_TRY_CANCEL,
	OP_SHUTDOWN,
	OP_LOOK,
	OP_ANYWHERE,			/* events before this one do not sleep */
	OP_CANCEL_SYNC = OP_ANYWHERE,
	OP_SHUTDOWN_SYNC,		/* and set the timer up again */
	OP_FREE,			/* and set up a timer in other memory */
	OPS
};

static const char * const op_names[OPS] = {
	[OP_ADD]		= "add",
	[OP_ADD_RANGE]		= "add_range",
	[OP_ADD_AT]		= "add_at",
	[OP_ADD_ON]		= "add_on",
	[OP_MOD_PENDING]	= "mod_pending",
	[OP_REDUCE]		= "reduce",
	[OP_FORWARD]		= "forward",
	[OP_CANCEL]		= "cancel",
	[OP_TRY_CANCEL]		= "try_cancel",
	[OP_SHUTDOWN]		= "shutdown",
	[OP_LOOK]		= "look",
	[OP_CANCEL_SYNC]	= "cancel_sync",
	[OP_SHUTDOWN_SYNC]	= "shutdown_sync",
	[OP_FREE]		= "free",
};

/* Other counts */
enum count {
	ARMED = OPS,
	FIRED,
	CANCELLED,		/* armings that a cancel ended */
	REPLACED,		/* armings that a new arming ended */
	WAITED,			/* _sync calls that met a running callback */
	SYNCHRONIZED,		/* hwheel_synchronize() calls that met one */
	ORDERED,		/* callbacks whose order could be checked */
	IN_TASK,
	IN_SOFTIRQ,
	IN_HARDIRQ,
	IN_WORK,
	BALANCED,		/* checks that the counts of a shared timer balance */
	HOTPLUGS,		/* CPUs taken offline */
	WHEELS,			/* made and destroyed */
	PENDING_AT_DESTROY,
	WORKED,			/* runs of delayed work */
	COUNTS
};

static const char * const count_names[COUNTS - OPS] = {
	[ARMED - OPS]			= "armed",
	[FIRED - OPS]			= "fired",
	[CANCELLED - OPS]		= "cancelled",
	[REPLACED - OPS]		= "replaced",
	[WAITED - OPS]			= "waited",
	[SYNCHRONIZED - OPS]		= "synchronized",
	[ORDERED - OPS]			= "ordered",
	[IN_TASK - OPS]			= "task",
	[IN_SOFTIRQ - OPS]		= "softirq",
	[IN_HARDIRQ - OPS]		= "hardirq",
	[IN_WORK - OPS]			= "work",
	[BALANCED - OPS]		= "balanced",
	[HOTPLUGS - OPS]		= "hotplugs",
	[WHEELS - OPS]			= "wheels",
	[PENDING_AT_DESTROY - OPS]	= "pending_at_destroy",
	[WORKED - OPS]			= "worked",
};

struct counts {
	u64			n[COUNTS];
};

static DEFINE_PER_CPU(struct counts, counts);

#define count_event(which)	this_cpu_inc(counts.n[which])

/* A variant is a mix of events */
struct variant {
	const char		*name;
	unsigned int		shared;		/* per cent of the events */
	unsigned int		crowd;		/* per cent of the delays */
	unsigned int		busy;		/* callbacks that take long, per mille */
	u8			weight[OPS];
};

static const struct variant variants[] = {
	{
		.name = "mixed", .shared = 25, .crowd = 15, .busy = 20,
		.weight = { 20, 10, 12, 10, 8, 8, 6, 8, 6, 1, 6, 6, 2, 2 },
	}, {
		.name = "private", .shared = 0, .crowd = 15, .busy = 8,
		.weight = { 20, 10, 12, 10, 8, 8, 6, 8, 6, 1, 6, 3, 1, 1 },
	}, {
		.name = "shared", .shared = 85, .crowd = 5, .busy = 8,
		.weight = { 20, 10, 12, 20, 8, 8, 6, 12, 6, 1, 6, 4, 1, 1 },
	}, {
		.name = "waiters", .shared = 40, .crowd = 0, .busy = 60,
		.weight = { 20, 4, 4, 20, 4, 4, 4, 2, 8, 2, 2, 20, 8, 8 },
	}, {
		.name = "crowd", .shared = 5, .crowd = 85, .busy = 1,
		.weight = { 20, 10, 20, 2, 8, 4, 2, 4, 4, 0, 4, 1, 0, 0 },
	},
};

static const struct variant *mix = &variants[0];
static unsigned int total_weight, anywhere_weight;

/* ------------------------------------------------------------------------ */
/* The verdict */

static bool stopping;		/* no more events */
static atomic_t failed = ATOMIC_INIT(0);
static atomic_t ended = ATOMIC_INIT(0);
static bool failure_told;	/* @failure is complete */
static char failure[256];
static ktime_t started;
static atomic64_t max_late_ns = ATOMIC64_INIT(0);

static bool over(void)
{
	return READ_ONCE(stopping) || atomic_read(&failed);
}

static __printf(1, 2) void violation(const char *fmt, ...)
{
	va_list args;

	if (atomic_xchg(&failed, 1))
		return;
	va_start(args, fmt);
	vsnprintf(failure, sizeof(failure), fmt, args);
	va_end(args);
	smp_store_release(&failure_told, true);	/* pairs with end_of_test() */
	pr_err("first violation: %s\n", failure);
}

static void note_lateness(s64 ns)
{
	s64 max = atomic64_read(&max_late_ns);

	while (ns > max && !atomic64_try_cmpxchg(&max_late_ns, &max, ns))
		;
}

/* ------------------------------------------------------------------------ */
/* Wheels */

/*
 * The latest tick that has run on a base, and the numbers of callbacks of private timers
 * there. @base only identifies the base.
 */
struct order {
	void			*base;
	u64			tick;
	unsigned int		begun;
	unsigned int		ended;
};

struct wheel {
	struct hwheel		*wheel;
	clockid_t		clock;
	u64			tick_ns;
	enum hwheel_context	context;
	char			name[HWHEEL_NAME_MAX + 1];
	struct order		*orders;	/* nr_cpu_ids of them */
};

enum { MAIN_WHEEL, SMALL_WHEEL, LARGE_WHEEL, SYSTEM_WHEEL, WHEELS_KEPT };

static const struct {
	const char		*name;
	enum hwheel_context	context;
	unsigned int		flags;
	bool			unbound;	/* on a workqueue that is not bound to CPUs */
} contexts[] = {
	{ "softirq",	HWHEEL_SOFTIRQ },
	{ "hardirq",	HWHEEL_HARDIRQ },
	{ "work",	HWHEEL_WORK },
	{ "unbound",	HWHEEL_WORK, 0, true },
	{ "deferrable",	HWHEEL_SOFTIRQ, HWHEEL_DEFERRABLE },
};

static int the_context;			/* of all wheels; -1 for mixed */

static struct wheel kept[WHEELS_KEPT];

/*
 * Many timers are armed as a crowd: they are due within about 64 ms after the clock of their
 * wheel reads @crowd_at.
 */
static s64 crowd_at;

static atomic_t hotplug_epoch = ATOMIC_INIT(0);

static s64 wheel_clock(const struct wheel *w)
{
	return w->clock == CLOCK_BOOTTIME ? ktime_get_boottime() : ktime_get();
}

static u64 tick_up(const struct wheel *w, s64 ns)
{
	return ns > 0 ? div64_u64((u64)ns + w->tick_ns - 1, w->tick_ns) : 0;
}

/*
 * The struct order of @base. It needs no lock: runs of one base do not overlap, so only one
 * run at a time writes to it.
 */
static struct order *wheel_order(struct wheel *w, void *base)
{
	unsigned int i;

	for (i = 0; i < nr_cpu_ids; i++) {
		struct order *o = &w->orders[i];
		void *old = READ_ONCE(o->base);

		if (!old)
			old = cmpxchg(&o->base, NULL, base) ?: base;
		if (old == base)
			return o;
	}
	violation("more bases than CPUs on wheel %s", w->name);
	return &w->orders[0];
}

/* The base of a timer; opaque here */
static void *timer_base(const struct hwheel_timer *timer)
{
	return READ_ONCE(timer->base);
}

/* Create a wheel. If the parameter context is mixed, @nr chooses the wheel's context. */
static int wheel_create(struct wheel *w, struct hwheel_config *config, unsigned int nr)
{
	if (the_context >= 0)
		nr = the_context;
	config->context = contexts[nr % ARRAY_SIZE(contexts)].context;
	config->flags |= contexts[nr % ARRAY_SIZE(contexts)].flags;
	config->wq = contexts[nr % ARRAY_SIZE(contexts)].unbound ? system_dfl_wq : NULL;
	if (config->flags & HWHEEL_DEFERRABLE)
		config->flags &= ~HWHEEL_BOOTTIME;
	w->orders = kcalloc(nr_cpu_ids, sizeof(*w->orders), GFP_KERNEL);
	if (!w->orders)
		return -ENOMEM;
	w->wheel = hwheel_create(config);
	if (IS_ERR(w->wheel)) {
		int err = PTR_ERR(w->wheel);

		w->wheel = NULL;
		kfree(w->orders);
		w->orders = NULL;
		return err;
	}
	w->clock = config->flags & HWHEEL_BOOTTIME ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	w->tick_ns = config->tick_ns;
	w->context = config->context;
	strscpy(w->name, config->name, sizeof(w->name));
	return 0;
}

static void wheel_destroy(struct wheel *w)
{
	hwheel_destroy(w->wheel);
	kfree(w->orders);
	w->wheel = NULL;
	w->orders = NULL;
}

/* ------------------------------------------------------------------------ */
/* Chance */

/* A random number from 0 to n - 1, evenly distributed */
static u32 below(struct rnd_state *rnd, u32 n)
{
	return ((u64)prandom_u32_state(rnd) * n) >> 32;
}

static bool percent(struct rnd_state *rnd, unsigned int n)
{
	return below(rnd, 100) < n;
}

static s64 add_saturated(s64 a, s64 b)
{
	s64 sum;

	if (check_add_overflow(a, b, &sum))
		return b > 0 ? S64_MAX : S64_MIN;
	return sum;
}

static s64 random_delay(struct rnd_state *rnd, const struct wheel *w)
{
	s64 fine = below(rnd, w->tick_ns);

	if (percent(rnd, mix->crowd))
		return READ_ONCE(crowd_at) + below(rnd, 64 * NSEC_PER_MSEC) + fine -
			wheel_clock(w);
	switch (below(rnd, 16)) {
	case 0:
		return 0;
	case 1:
		return below(rnd, 16) ? -(s64)below(rnd, NSEC_PER_SEC) : S64_MIN;
	case 2 ... 3:
		return below(rnd, 4) * w->tick_ns + fine;
	case 4:
		return below(rnd, 64) * w->tick_ns;
	case 5 ... 8:
		return below(rnd, 20 * NSEC_PER_MSEC);
	case 9 ... 11:
		return below(rnd, NSEC_PER_SEC);
	case 12 ... 14:
		return (s64)below(rnd, 5000) * NSEC_PER_MSEC + fine;
	default:
		return below(rnd, 8) ? S64_MAX >> below(rnd, 34) : S64_MAX;
	}
}

static s64 random_slack(struct rnd_state *rnd)
{
	switch (below(rnd, 4)) {
	case 0:
		return below(rnd, 2) ? 0 : -1;
	case 1:
		return below(rnd, NSEC_PER_MSEC);
	case 2:
		return below(rnd, 200 * NSEC_PER_MSEC);
	default:
		return below(rnd, 8) ? below(rnd, 20 * NSEC_PER_MSEC) : S64_MAX;
	}
}

static enum event random_op(struct rnd_state *rnd, bool may_sleep)
{
	int n = below(rnd, may_sleep ? total_weight : anywhere_weight);
	enum event op;

	for (op = 0; op < OPS - 1; op++) {
		n -= mix->weight[op];
		if (n < 0)
			break;
	}
	return op;
}

/* ------------------------------------------------------------------------ */
/* Arming */

/*
 * One arming call, and the range of times for which it may arm. The wheel reads its clock
 * between @before and @after.
 */
struct plan {
	enum event		op;
	const struct wheel	*wheel;
	s64			delay;
	s64			slack;
	int			cpu;
	s64			before;
	s64			after;
	s64			from;
	s64			to;
	u64			periods;
};

static void plan_arming(struct plan *p, enum event op, const struct wheel *w,
			struct rnd_state *rnd)
{
	p->op = op;
	p->wheel = w;
	p->delay = random_delay(rnd, w);
	p->slack = op == OP_ADD_RANGE || op == OP_ADD_AT ? random_slack(rnd) : 0;
	p->cpu = below(rnd, nr_cpu_ids);
	while (!cpu_possible(p->cpu))
		p->cpu = below(rnd, nr_cpu_ids);
	if (op == OP_FORWARD)
		p->delay = max(p->delay, 1LL);

	p->before = wheel_clock(w);
	p->from = add_saturated(p->before, p->delay);
	if (op == OP_FORWARD)
		p->from = p->before;
}

/* Return: what the call returned; for OP_FORWARD false, and @p->periods is what it returned. */
static bool arm_as_planned(struct plan *p, struct hwheel_timer *timer)
{
	bool ret = false;

	switch (p->op) {
	case OP_ADD:
		ret = hwheel_add(timer, p->delay);
		break;
	case OP_ADD_RANGE:
		ret = hwheel_add_range(timer, p->delay, p->slack);
		break;
	case OP_ADD_AT:
		ret = hwheel_add_at(timer, p->from, p->slack);
		break;
	case OP_ADD_ON:
		ret = hwheel_add_on(timer, p->delay, p->cpu);
		break;
	case OP_MOD_PENDING:
		ret = hwheel_mod_pending(timer, p->delay);
		break;
	case OP_REDUCE:
		ret = hwheel_reduce(timer, p->delay);
		break;
	default:
		p->periods = hwheel_add_forward(timer, p->delay);
	}

	p->after = wheel_clock(p->wheel);
	p->to = p->op == OP_ADD_AT ? p->from : add_saturated(p->after, p->delay);
	if (p->slack > 0)
		p->to = add_saturated(p->to, p->slack);
	if (p->from < 0)		/* hwheel treats all times before 0 as 0 */
		p->to = max(p->to, 0LL);
	return ret;
}

/* ------------------------------------------------------------------------ */
/* Private timers */

#define MAGIC		0x68776865656c2121ULL
#define POISON		0x6b

/* The part of a slot that is freed and allocated */
struct victim {
	struct hwheel_timer	timer;
	u64			magic;		/* MAGIC until it is freed */
	struct slot		*slot;
	atomic_t		inside;		/* callbacks that run now, 0 or 1 */
	u32			begun;		/* callbacks that have begun */
};

/* One arming. */
struct due {
	s64			expires;
	s64			armed_at;
	void			*base;
	int			epoch;
	bool			ordered;	/* check the order of its callback */
};

/* A private timer: the part that stays */
struct slot {
	/*
	 * Guards all members below, and all API calls except those that wait. A raw lock,
	 * taken with interrupts off, because hardirqs take it. The wheel's locks nest
	 * inside it.
	 */
	raw_spinlock_t		lock;
	int			index;		/* -1 on a short-lived wheel */
	struct victim		*victim;
	struct wheel		*wheel;
	struct due		live_due;
	struct due		passed_due;
	bool			live;
	bool			passed;
	bool			shut;		/* shut down, not set up again */
	bool			shutting;	/* shutdown_sync or hwheel_destroy() begun */
	bool			dead;		/* its wheel is destroyed */
	bool			plain;		/* its callback does nothing */
	u8			closers;	/* threads in a _sync call */
	u8			late_scans;
	u8			stuck_scans;
	u64			armed;
	u64			fired;
	u64			ended;		/* cancelled or replaced */
	u64			scanned;	/* @armed at the monitor's last look */
	struct victim		*grave;		/* replaced and poisoned, not yet freed */
};

static struct slot *slots;

static void private_fire(struct hwheel_timer *timer);

/*
 * Each private timer is in a class. A callback waits only for callbacks of higher classes, so
 * callbacks can't deadlock. Each class has a lock class, so that lockdep knows the order. Timers
 * of short-lived wheels are in a class of their own, for which no callback waits.
 */
#define CLASSES		4
#define NO_CLASS	-1U	/* below the first class */

static struct lock_class_key class_keys[CLASSES + 1];

static unsigned int slot_class(const struct slot *s)
{
	return s->index < 0 ? CLASSES : s->index / DIV_ROUND_UP(timers, CLASSES);
}

static void victim_setup(struct victim *v, struct slot *s, struct wheel *w,
			 unsigned int flags)
{
	v->magic = MAGIC;
	v->slot = s;
	v->begun = 0;
	atomic_set(&v->inside, 0);
	__hwheel_setup(&v->timer, w->wheel, private_fire, flags, "private",
		       &class_keys[slot_class(s)]);
}

static void slot_init(struct slot *s, int index, struct victim *v, struct wheel *w)
{
	raw_spin_lock_init(&s->lock);
	s->index = index;
	s->victim = v;
	s->wheel = w;
	victim_setup(v, s, w, 0);
}

/* hwheel must not write to a timer that was freed properly */
static void victim_free(struct victim *v)
{
	if (v && memchr_inv(v, POISON, offsetof(struct victim, slot)))
		violation("a freed timer was written to");
	kfree(v);
}

/*
 * Replace the slot's victim by @new. The slot is locked, and the victim neither pending
 * nor about to run. All old victims are poisoned. Half of them are kept, which shows late
 * callbacks and late writes. The others are freed, for KASAN. Return: the memory to free
 * after the lock is dropped.
 */
static struct victim *slot_replace(struct slot *s, struct victim *new,
				   struct rnd_state *rnd)
{
	struct victim *old = s->victim, *grave = s->grave;

	memset(old, POISON, offsetof(struct victim, slot));
	s->victim = new;
	if (below(rnd, 2))
		return old;
	s->grave = old;
	return grave;
}

static struct wheel *random_wheel(const struct slot *s, struct rnd_state *rnd)
{
	static const u8 dice[] = {
		MAIN_WHEEL, MAIN_WHEEL, SMALL_WHEEL, LARGE_WHEEL, SYSTEM_WHEEL
	};

	return s->index < 0 ? s->wheel : &kept[dice[below(rnd, ARRAY_SIZE(dice))]];
}

static void slot_setup(struct slot *s, struct rnd_state *rnd)
{
	s->wheel = random_wheel(s, rnd);
	s->shut = false;
	s->shutting = false;
	victim_setup(s->victim, s, s->wheel, below(rnd, 4) ? 0 : HWHEEL_PINNED);
}

/* A call at or before @now did not find the timer pending. */
static void slot_gone(struct slot *s, s64 now, enum event op)
{
	if (!s->live)
		return;
	if (now < s->live_due.expires)
		violation("%s: timer for %lld not pending at %lld, wheel %s: lost",
			  op_names[op], s->live_due.expires, now, s->wheel->name);
	else if (s->passed)
		violation("%s: timer not pending while its last callback runs: lost",
			  op_names[op]);
	s->live = false;
	s->passed = true;
	s->passed_due = s->live_due;
}

/* A call found the timer pending and ended that arming */
static void slot_ended(struct slot *s, enum event op)
{
	if (!s->live)
		violation("%s: timer pending after it fired or was cancelled",
			  op_names[op]);
	s->live = false;
	s->ended++;
}

/* Check @expires after @p has armed a timer whose expiration was @old. */
static void check_expires(const struct plan *p, s64 old, s64 expires)
{
	bool good = expires >= p->from && expires <= p->to;

	if (p->op == OP_FORWARD) {
		if (expires == old)
			good = expires > p->before && !p->periods;
		else
			good = expires > p->before && expires <= p->to && p->periods &&
				(expires == S64_MAX ||
				 (u64)expires - old == p->periods * p->delay);
	}
	if (!good)
		violation("%s: for %lld, not %lld to %lld; delay %lld slack %lld was %lld n %llu",
			  op_names[p->op], expires, p->from, p->to, p->delay, p->slack,
			  old, p->op == OP_FORWARD ? p->periods : 0);
}

/* @own: the timer's own callback arms it */
static void private_arm(struct slot *s, enum event op, struct rnd_state *rnd, bool own)
{
	struct hwheel_timer *timer = &s->victim->timer;
	s64 old = hwheel_expires(timer), expires;
	struct wheel *w = s->wheel;
	struct plan plan;
	bool pending;

	/* hwheel_add_forward() would not return whether it replaced an arming */
	if (op == OP_FORWARD && s->live)
		op = OP_ADD;

	plan_arming(&plan, op, w, rnd);
	pending = arm_as_planned(&plan, timer);
	expires = hwheel_expires(timer);

	if (s->shut) {
		if (pending || hwheel_pending(timer) || expires != old)
			violation("%s: armed a timer that had been shut down",
				  op_names[op]);
		return;
	}
	if (own && s->shutting && expires == old && s->live)
		return;		/* arming has no effect: a waiter shuts the timer down */
	if (own && !hwheel_pending(timer) && op != OP_MOD_PENDING) {
		/* Arming must work, unless the timer is being shut down */
		if (pending || (!s->shutting && s->index >= 0))
			violation("%s: no effect in the timer's own callback", op_names[op]);
		if (s->live)
			violation("%s: timer not pending in its own callback: lost",
				  op_names[op]);
		return;
	}

	if (!pending)
		slot_gone(s, plan.after, op);
	else if (!s->live)
		violation("%s: timer pending after it fired or was cancelled",
			  op_names[op]);

	if (op == OP_MOD_PENDING && !pending) {
		if (expires != old)
			violation("%s: changed the time of a timer that was not pending",
				  op_names[op]);
		return;
	}
	if (op == OP_REDUCE && pending && expires == old) {
		if (plan.to < old)
			violation("reduce: timer left at %lld, not moved to the earlier %lld",
				  old, plan.to);
		return;
	}
	if (op == OP_REDUCE && pending && expires > old)
		violation("reduce: timer moved from %lld to the later %lld", old, expires);
	check_expires(&plan, old, expires);

	if (pending) {
		s->ended++;
		count_event(REPLACED);
	}
	count_event(ARMED);
	s->armed++;
	s->live = true;
	s->live_due.expires = expires;
	s->live_due.base = timer_base(timer);
	s->live_due.epoch = atomic_read(&hotplug_epoch);
	/*
	 * Do not check the order after OP_ADD_ON: if the callback is running, the timer stays on
	 * its old base until the callback has ended. Meanwhile a later tick may run on the new
	 * base.
	 */
	s->live_due.ordered = op != OP_ADD_ON && expires > plan.after;
	s->live_due.armed_at = plan.after;
}

static void private_cancel(struct slot *s, enum event op)
{
	struct hwheel_timer *timer = &s->victim->timer;
	s64 now;

	if (op == OP_SHUTDOWN ? hwheel_shutdown(timer) : hwheel_cancel(timer)) {
		slot_ended(s, op);
		count_event(CANCELLED);
	} else {
		now = wheel_clock(s->wheel);
		slot_gone(s, now, op);
	}
	if (op == OP_SHUTDOWN)
		s->shut = true;
	if (hwheel_pending(timer))
		violation("%s: timer is pending after it", op_names[op]);
}

static void private_try_cancel(struct slot *s)
{
	struct victim *v = s->victim;
	bool inside = atomic_read(&v->inside);
	u32 begun = READ_ONCE(v->begun);
	int ret;

	ret = hwheel_try_cancel(&v->timer);
	smp_rmb();	/* the reads below come after those of hwheel_try_cancel() */
	/* Was the timer in the same callback all the time? */
	inside = inside && atomic_read(&v->inside) && begun == READ_ONCE(v->begun);

	if (ret >= 0 && (inside || s->passed))
		violation("try_cancel: %d while the callback runs", ret);
	if (ret > 0) {
		slot_ended(s, OP_TRY_CANCEL);
		count_event(CANCELLED);
	} else if (!ret && s->live) {
		violation("try_cancel: not pending, not running, for %lld at %lld, wheel %s: lost",
			  s->live_due.expires, wheel_clock(s->wheel), s->wheel->name);
	}
}

static void private_look(struct slot *s)
{
	const struct hwheel_timer *timer = &s->victim->timer;
	unsigned int i;

	/* Long enough to see a timer that moves from spoke to spoke */
	for (i = 0; i < 50; i++) {
		bool pending = hwheel_pending(timer);
		s64 now = wheel_clock(s->wheel);

		if (pending && !s->live) {
			violation("look: timer pending after it fired or was cancelled");
			break;
		}
		if (!pending && s->live && now < s->live_due.expires) {
			violation("look: timer for %lld not pending at %lld, wheel %s: lost",
				  s->live_due.expires, now, s->wheel->name);
			break;
		}
	}
}

/*
 * Every 8th timer is left alone until its callback, if it is due within 5 seconds. Other
 * timers are soon re-armed, and that would hide a timer which hwheel has lost.
 */
static bool slot_waits(const struct slot *s)
{
	return s->index % 8 == 7 && s->live &&
	       s->live_due.expires < wheel_clock(s->wheel) + 5 * (s64)NSEC_PER_SEC;
}

static bool slot_usable(const struct slot *s)
{
	return !s->closers && !s->dead && !slot_waits(s) && !over();
}

/* Any event that does not wait, in any context. */
static void private_event(struct slot *s, enum event op, struct rnd_state *rnd)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&s->lock, flags);
	if (!slot_usable(s))
		goto out;
	count_event(op);
	if (op < OP_CANCEL)
		private_arm(s, op, rnd, false);
	else if (op == OP_TRY_CANCEL)
		private_try_cancel(s);
	else if (op == OP_LOOK)
		private_look(s);
	else
		private_cancel(s, op);
out:
	raw_spin_unlock_irqrestore(&s->lock, flags);
}

/* May a _sync be called here for a timer of @w? */
static bool may_wait(const struct wheel *w)
{
	switch (w->context) {
	case HWHEEL_HARDIRQ:
		return !in_hardirq();
	case HWHEEL_WORK:
		return in_task();
	default:
		/* On PREEMPT_RT the waiter takes a lock that a run holds across callbacks. */
		return in_task() || (in_serving_softirq() && !in_hardirq() &&
				     !IS_ENABLED(CONFIG_PREEMPT_RT));
	}
}

/*
 * Events that wait for a callback. @new replaces a timer that is freed. If @force is set, always
 * wait. Callers set @force when the timer gets no more events.
 */
static void private_sync(struct slot *s, enum event op, struct victim *new,
			 struct rnd_state *rnd, bool force)
{
	struct victim *v, *garbage = new;
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(&s->lock, flags);
	if (!force && (s->closers >= CLOSERS || s->dead || slot_waits(s) || over() ||
		       !may_wait(s->wheel))) {
		raw_spin_unlock_irqrestore(&s->lock, flags);
		kfree(new);
		return;
	}
	v = s->victim;
	s->closers++;
	s->stuck_scans = 0;
	s->shutting |= op != OP_CANCEL_SYNC;
	count_event(op);
	if (atomic_read(&v->inside))
		count_event(WAITED);
	raw_spin_unlock_irqrestore(&s->lock, flags);

	pending = op == OP_CANCEL_SYNC ? hwheel_cancel_sync(&v->timer) :
					 hwheel_shutdown_sync(&v->timer);
	/* Nobody arms the timer while there are closers */
	if (atomic_read(&v->inside))
		violation("%s: returned while the callback runs", op_names[op]);
	if (hwheel_running(&v->timer))
		violation("%s: hwheel_running() is true after it", op_names[op]);
	if (hwheel_pending(&v->timer))
		violation("%s: timer is pending after it", op_names[op]);

	raw_spin_lock_irqsave(&s->lock, flags);
	s->closers--;
	if (pending) {
		slot_ended(s, op);
		count_event(CANCELLED);
	}
	if (s->passed)
		violation("%s: returned before the callback, for %lld, had run",
			  op_names[op], s->passed_due.expires);
	if (!s->closers) {
		if (s->live)
			violation("%s: timer for %lld neither pending nor fired: lost",
				  op_names[op], s->live_due.expires);
		if (s->armed != s->fired + s->ended)
			violation("%s: armed %llu, fired %llu, cancelled %llu", op_names[op],
				  s->armed, s->fired, s->ended);
		if (atomic_read(&failed))
			goto unlock;
		if (op == OP_FREE && new) {
			garbage = slot_replace(s, new, rnd);
			slot_setup(s, rnd);
		} else if (s->shutting || s->shut) {
			slot_setup(s, rnd);
		}
	}
unlock:
	raw_spin_unlock_irqrestore(&s->lock, flags);
	if (garbage == new)
		kfree(garbage);
	else
		victim_free(garbage);
}

/* Check that a callback runs in the order of ticks. */
static void check_order(struct wheel *w, const struct due *due, void *base)
{
	struct order *order = wheel_order(w, base);
	u64 tick = tick_up(w, due->expires);

	if (due->ordered && due->base == base &&
	    due->epoch == atomic_read(&hotplug_epoch)) {
		count_event(ORDERED);
		if (tick < order->tick)
			violation("order: tick %llu after tick %llu on one CPU, wheel %s",
				  tick, order->tick, w->name);
	}
	order->tick = max(order->tick, tick);
}

static void check_context(const struct wheel *w)
{
	bool good;

	switch (w->context) {
	case HWHEEL_SOFTIRQ:
		good = in_serving_softirq() && !in_hardirq() && !irqs_disabled();
		break;
	case HWHEEL_HARDIRQ:
		good = in_hardirq() && irqs_disabled();
		break;
	default:
		good = in_task() && !irqs_disabled() && !preempt_count();
	}
	if (!good)
		violation("callback in the wrong context, preempt_count %08x, wheel %s",
			  preempt_count(), w->name);
}

/*
 * A callback acts on its own timer. Return: true if it has shut the timer down, and
 * replaced it or set it up again.
 */
static bool private_own_event(struct slot *s, struct victim **new,
			      struct rnd_state *rnd)
{
	struct victim *v = s->victim;
	u32 dice = below(rnd, 100);

	if (dice < 55) {
		enum event op = below(rnd, OP_CANCEL);

		count_event(op);
		private_arm(s, op, rnd, true);
		return false;
	}
	if (dice < 60) {
		count_event(OP_CANCEL);
		private_cancel(s, OP_CANCEL);
		return false;
	}
	if (dice > 66 || s->closers)
		return false;

	/* No _sync call waits for this callback, so it may shut down and replace its timer. */
	count_event(OP_SHUTDOWN);
	private_cancel(s, OP_SHUTDOWN);
	if (s->passed) {
		violation("a second callback of a timer begins before the first has ended");
		return false;
	}
	if (*new) {
		count_event(OP_FREE);
		*new = slot_replace(s, *new, rnd);
		slot_setup(s, rnd);
		return true;
	}
	if (dice < 64) {
		atomic_dec(&v->inside);
		slot_setup(s, rnd);
		return true;
	}
	return false;
}

static DEFINE_PER_CPU(struct rnd_state, soft_rnd);
static DEFINE_PER_CPU(struct rnd_state, hard_rnd);
/* Index of the slot whose callback runs on a CPU, plus 1; or 0. Waiters prefer this slot. */
static DEFINE_PER_CPU(unsigned int, hot_slot);

static void any_event(struct rnd_state *rnd, unsigned int above);

/*
 * The random state for a callback. In process context, several callbacks may share a CPU.
 * So each of them gets a state of its own, @own.
 */
static struct rnd_state *callback_rnd(struct rnd_state *own)
{
	if (in_hardirq())
		return raw_cpu_ptr(&hard_rnd);
	if (in_serving_softirq())
		return raw_cpu_ptr(&soft_rnd);
	prandom_seed_state(own, get_random_u32());
	return own;
}

/* Delay a callback; sleep if that is allowed */
static void dawdle(struct rnd_state *rnd)
{
	unsigned int us = below(rnd, 200);

	if (in_task() && below(rnd, 2))
		usleep_range(us, 5 * us);
	else
		udelay(us);
}

/*
 * On PREEMPT_RT the allocator takes sleeping locks. CONFIG_PROVE_RAW_LOCK_NESTING reports
 * this on other kernels, too.
 */
static bool may_allocate(void)
{
	return !in_hardirq() || !(IS_ENABLED(CONFIG_PREEMPT_RT) ||
				  IS_ENABLED(CONFIG_PROVE_RAW_LOCK_NESTING));
}

static void private_fire(struct hwheel_timer *timer)
{
	struct victim *v = hwheel_container_of(v, timer, timer), *new = NULL;
	struct rnd_state own, *rnd = callback_rnd(&own);
	bool gone = false, traded = false, act;
	s64 mono, boot, now;
	void *base = timer_base(timer);
	struct order *order;
	struct slot *s = v->slot;
	unsigned long flags;
	struct due due = { .armed_at = S64_MAX };

	if (READ_ONCE(v->magic) != MAGIC) {
		violation("callback of a timer that has been freed");
		return;
	}
	if (atomic_inc_return(&v->inside) != 1)
		violation("two callbacks of a timer run at the same time");
	if (!hwheel_running(timer))
		violation("hwheel_running() is false in the callback");
	order = wheel_order(s->wheel, base);
	WRITE_ONCE(order->begun, order->begun + 1);
	/* Read the clocks before taking the lock: a wait would hide an early callback. */
	mono = ktime_get();
	boot = ktime_get_boottime();
	WRITE_ONCE(v->begun, v->begun + 1);
	check_context(s->wheel);
	count_event(FIRED);
	this_cpu_write(hot_slot, s->index + 1);
	if (below(rnd, 1000) < mix->busy)
		dawdle(rnd);
	act = !s->plain && !over();
	if (act && s->index >= 0 && !below(rnd, 16) && may_allocate())
		new = kmalloc(sizeof(*new), GFP_ATOMIC | __GFP_NOWARN);

	raw_spin_lock_irqsave(&s->lock, flags);
	if (s->victim != v)
		violation("callback of a timer that was freed");
	else if (s->dead)
		violation("callback after the wheel was destroyed");

	now = s->wheel->clock == CLOCK_BOOTTIME ? boot : mono;
	if (s->passed) {
		s->passed = false;
		due = s->passed_due;
	} else if (s->live) {
		s->live = false;
		due = s->live_due;
	} else {
		violation("callback without an arming: fired twice, or cancelled, wheel %s",
			  s->wheel->name);
		goto unlock;
	}
	s->fired++;
	if (now < due.expires)
		violation("early: callback for %lld at %lld, wheel %s", due.expires, now,
			  s->wheel->name);
	check_order(s->wheel, &due, base);

	if (act && s->victim == v && !s->dead && !atomic_read(&failed)) {
		struct victim *old = new;

		gone = private_own_event(s, &new, rnd);
		traded = new != old;
	}
unlock:
	raw_spin_unlock_irqrestore(&s->lock, flags);

	note_lateness(now - max(due.expires, due.armed_at));
	if (act && !below(rnd, 4))
		any_event(rnd, slot_class(s));
	this_cpu_write(hot_slot, 0);
	WRITE_ONCE(order->ended, order->ended + 1);
	if (!gone)
		atomic_dec(&v->inside);
	if (traded)
		victim_free(new);
	else
		kfree(new);
}

/* ------------------------------------------------------------------------ */
/* Shared timers */

struct shared {
	struct hwheel_timer	timer;
	struct wheel		*wheel;
	atomic_t		users;		/* users in a call, except the callback */
	atomic_t		closing;
	atomic_t		inside;
	bool			shutting;	/* shutdown_sync runs; no users */
	bool			loose;		/* may be forwarded */
	atomic64_t		armed;
	atomic64_t		cancelled;
	atomic64_t		fired;
	atomic64_t		earliest[3];
};

static struct shared *shareds;
static unsigned int nr_shared;

static void note_earliest(struct shared *sh, s64 from)
{
	s64 old = atomic64_read(&sh->earliest[0]);

	while (from < old && !atomic64_try_cmpxchg(&sh->earliest[0], &old, from))
		;
}

static void shared_arm(struct shared *sh, enum event op, struct rnd_state *rnd)
{
	struct plan plan;
	bool pending;

	if (op == OP_FORWARD && !sh->loose)
		op = OP_REDUCE;
	plan_arming(&plan, op, sh->wheel, rnd);
	note_earliest(sh, plan.from);
	pending = arm_as_planned(&plan, &sh->timer);

	if (op == OP_MOD_PENDING && !pending)
		return;
	if (op == OP_REDUCE && pending)
		return;		/* no change, or a new arming replaces the old one */
	/* The shutdown has begun, and nobody else cancels. So arming had no effect. */
	if (!pending && READ_ONCE(sh->shutting) && !hwheel_pending(&sh->timer))
		return;
	atomic64_inc(&sh->armed);
	count_event(ARMED);
	if (pending) {
		atomic64_inc(&sh->cancelled);
		count_event(REPLACED);
	}
}

static void shared_cancelled(struct shared *sh, bool pending)
{
	if (pending) {
		atomic64_inc(&sh->cancelled);
		count_event(CANCELLED);
	}
}

/*
 * A callback cannot know which call armed it. So before a call arms, it notes the time in
 * earliest[0]. A callback is early if it runs before all noted times.
 *
 * How long must a note be kept? Say that callback k sees no call under way. Then all calls
 * that made the present notes have returned. Of their armings at most one is still pending,
 * because an arming replaces the one before. If that one fires, its callback is callback k + 1.
 * No later callback needs these notes. But a call may begin while callback k looks. So the
 * test keeps the notes for callback k + 2, too.
 */
static void shared_fire(struct hwheel_timer *timer)
{
	struct shared *sh = hwheel_container_of(sh, timer, timer);
	struct rnd_state own, *rnd = callback_rnd(&own);
	s64 now, earliest = S64_MAX;
	unsigned int i;

	if (atomic_inc_return(&sh->inside) != 1)
		violation("two callbacks of a shared timer run at the same time");
	now = wheel_clock(sh->wheel);
	check_context(sh->wheel);
	count_event(FIRED);
	atomic64_inc(&sh->fired);

	for (i = 0; i < ARRAY_SIZE(sh->earliest); i++)
		earliest = min_t(s64, earliest, atomic64_read(&sh->earliest[i]));
	if (now < earliest)
		violation("early: shared at %lld, before %lld, wheel %s, armed %lld for %lld",
			  now, earliest, sh->wheel->name, atomic64_read(&sh->armed),
			  hwheel_expires(timer));
	if (!atomic_read(&sh->users)) {
		/*
		 * A call that begins now may make its note before or after this shift. In both
		 * cases the next two callbacks see the note.
		 */
		smp_mb();
		atomic64_set(&sh->earliest[2], atomic64_read(&sh->earliest[1]));
		atomic64_set(&sh->earliest[1],
			     atomic64_xchg(&sh->earliest[0], S64_MAX));
	}

	if (below(rnd, 1000) < 4 * mix->busy)
		dawdle(rnd);
	if (!over()) {
		if (percent(rnd, 50))
			shared_arm(sh, below(rnd, OP_CANCEL), rnd);
		if (percent(rnd, 5))
			shared_cancelled(sh, hwheel_cancel(&sh->timer));
		if (percent(rnd, 10))
			any_event(rnd, CLASSES);
	}
	atomic_dec(&sh->inside);
}

static void shared_setup(struct shared *sh, struct rnd_state *rnd)
{
	unsigned int i;

	sh->wheel = &kept[below(rnd, WHEELS_KEPT)];
	sh->loose = below(rnd, 4) == 0;
	sh->shutting = false;
	hwheel_setup(&sh->timer, sh->wheel->wheel, shared_fire,
		     below(rnd, 4) ? 0 : HWHEEL_PINNED);
	atomic64_set(&sh->armed, 0);
	atomic64_set(&sh->cancelled, 0);
	atomic64_set(&sh->fired, 0);
	for (i = 0; i < ARRAY_SIZE(sh->earliest); i++)
		atomic64_set(&sh->earliest[i], S64_MAX);
}

/* Close the timer to all users, end it, and check that armed = cancelled + fired */
static void shared_close(struct shared *sh, bool shut, struct rnd_state *rnd)
{
	s64 armed, gone;

	if (atomic_cmpxchg(&sh->closing, 0, 1))
		return;
	while (atomic_read(&sh->users)) {
		if (atomic_read(&failed))
			return;
		usleep_range(50, 100);
	}

	WRITE_ONCE(sh->shutting, shut);
	if (atomic_read(&sh->inside))
		count_event(WAITED);
	shared_cancelled(sh, shut ? hwheel_shutdown_sync(&sh->timer) :
				    hwheel_cancel_sync(&sh->timer));
	if (atomic_read(&sh->inside))
		violation("_sync of a shared timer returned while its callback runs");
	if (hwheel_pending(&sh->timer))
		violation("_sync of a shared timer left it pending");
	count_event(BALANCED);
	armed = atomic64_read(&sh->armed);
	gone = atomic64_read(&sh->cancelled) + atomic64_read(&sh->fired);
	if (sh->loose ? armed < gone : armed != gone)
		violation("shared timer: armed %lld times, fired %lld, cancelled %lld, wheel %s",
			  armed, atomic64_read(&sh->fired), atomic64_read(&sh->cancelled),
			  sh->wheel->name);

	if (atomic_read(&failed))
		return;
	if (shut) {
		hwheel_add(&sh->timer, 0);
		if (hwheel_pending(&sh->timer))
			violation("armed a shared timer that had been shut down");
	}
	shared_setup(sh, rnd);
	atomic_set_release(&sh->closing, 0);
}

static void shared_event(struct shared *sh, enum event op, struct rnd_state *rnd)
{
	count_event(op);
	if (op == OP_SHUTDOWN_SYNC || op == OP_FREE) {
		shared_close(sh, op == OP_SHUTDOWN_SYNC, rnd);
		return;
	}
	atomic_inc(&sh->users);
	smp_mb__after_atomic();		/* pairs with shared_close()'s cmpxchg */
	if (atomic_read(&sh->closing) || over())
		goto out;

	switch (op) {
	case OP_CANCEL:
	case OP_SHUTDOWN:		/* only shared_close() shuts down */
		shared_cancelled(sh, hwheel_cancel(&sh->timer));
		break;
	case OP_TRY_CANCEL:
		shared_cancelled(sh, hwheel_try_cancel(&sh->timer) > 0);
		break;
	case OP_CANCEL_SYNC:
		if (atomic_read(&sh->inside))
			count_event(WAITED);
		shared_cancelled(sh, hwheel_cancel_sync(&sh->timer));
		break;
	case OP_LOOK:
		hwheel_remaining(&sh->timer);
		hwheel_pending(&sh->timer);
		break;
	default:
		shared_arm(sh, op, rnd);
	}
out:
	smp_mb__before_atomic();	/* a closer that sees users == 0 sees the writes above */
	atomic_dec(&sh->users);
}

/* ------------------------------------------------------------------------ */
/* A timer that is armed all the time; by its callback even while its wheel is destroyed */

static struct {
	struct hwheel_timer	timer;
	bool			gone;		/* its wheel is gone for good */
	atomic_t		open;		/* it may be armed */
	atomic_t		users;
} doomed;

static void doomed_fire(struct hwheel_timer *timer)
{
	if (READ_ONCE(doomed.gone))
		violation("doomed: callback after the wheel was destroyed");
	count_event(FIRED);
	hwheel_add(timer, 0);
}

static void doomed_begin(const struct wheel *w)
{
	WRITE_ONCE(doomed.gone, false);
	hwheel_setup(&doomed.timer, w->wheel, doomed_fire, 0);
	atomic_set_release(&doomed.open, 1);
}

/* Runs on all CPUs, in hardirq context */
static void doomed_event(struct rnd_state *rnd)
{
	atomic_inc(&doomed.users);
	smp_mb__after_atomic();		/* pairs with doomed_close()'s cmpxchg */
	if (atomic_read(&doomed.open) && !over()) {
		if (below(rnd, 2))
			hwheel_add(&doomed.timer, below(rnd, NSEC_PER_MSEC));
		else
			hwheel_add_on(&doomed.timer, below(rnd, NSEC_PER_MSEC),
				      raw_smp_processor_id());
	}
	smp_mb__before_atomic();	/* as in shared_event() */
	atomic_dec(&doomed.users);
}

/* The timer's wheel is about to be destroyed. From here on only the callback arms the timer */
static void doomed_close(void)
{
	atomic_cmpxchg(&doomed.open, 1, 0);
	while (atomic_read(&doomed.users))
		cpu_relax();
}

/* The timer's wheel has just been destroyed */
static void doomed_end(void)
{
	WRITE_ONCE(doomed.gone, true);
	usleep_range(1000, 3000);
	if (hwheel_pending(&doomed.timer))
		violation("doomed: armed after the wheel was destroyed");
}

/* ------------------------------------------------------------------------ */
/* Delayed work */

#define JOBS		16

static struct job {
	struct hwheel_delayed_work dwork;
	const struct wheel	*wheel;
	struct workqueue_struct	*wq;
	atomic_t		taken;		/* somebody uses it */
	atomic_t		running;
	atomic_t		runs;
	/* These two: only for the caller that has taken the job */
	unsigned int		queued;
	unsigned int		cancelled;
	s64			not_before;	/* it must not run earlier, on its wheel's clock */
} jobs[JOBS];

static struct workqueue_struct *jobs_wq;	/* ordered */

static void job_run(struct work_struct *work)
{
	struct job *j = container_of(to_hwheel_delayed_work(work), struct job, dwork);
	s64 early = READ_ONCE(j->not_before) - wheel_clock(j->wheel);

	if (atomic_inc_return(&j->running) != 1)
		violation("delayed work runs twice at a time, wheel %s", j->wheel->name);
	if (early > 0)
		violation("delayed work runs %lld ns early, wheel %s", early, j->wheel->name);
	count_event(WORKED);
	atomic_inc(&j->runs);
	atomic_dec(&j->running);
}

/* @j is about to be queued. If it is pending for an earlier time, it may run then. */
static void job_may_run(struct job *j, s64 delay)
{
	WRITE_ONCE(j->not_before, min(j->not_before, wheel_clock(j->wheel) + delay));
}

/* A call that waits has returned */
static void job_is_idle(struct job *j, const char *call)
{
	unsigned int runs = atomic_read(&j->runs);

	if (hwheel_delayed_work_pending(&j->dwork) || atomic_read(&j->running))
		violation("delayed work: pending or running after %s, wheel %s", call,
			  j->wheel->name);
	if (j->queued != runs + j->cancelled)
		violation("delayed work: queued %u, has run %u, cancelled %u, after %s, wheel %s",
			  j->queued, runs, j->cancelled, call, j->wheel->name);
}

static void job_event(struct rnd_state *rnd, bool may_wait)
{
	struct job *j = &jobs[below(rnd, JOBS)];
	s64 delay = below(rnd, 4) ? below(rnd, 20 * NSEC_PER_MSEC) : 0;

	if (atomic_cmpxchg(&j->taken, 0, 1))
		return;
	switch (below(rnd, may_wait ? 6 : 3)) {
	case 0:
		job_may_run(j, delay);
		j->queued += hwheel_queue_delayed_work(j->wq, &j->dwork, delay);
		break;
	case 1:
		job_may_run(j, delay);
		j->queued += !hwheel_mod_delayed_work(j->wq, &j->dwork, delay);
		break;
	case 2:
		j->cancelled += hwheel_cancel_delayed_work(&j->dwork);
		break;
	case 3:
		j->cancelled += hwheel_cancel_delayed_work_sync(&j->dwork);
		job_is_idle(j, "cancel_sync");
		WRITE_ONCE(j->not_before, wheel_clock(j->wheel) + delay);
		j->queued++;
		if (!hwheel_queue_delayed_work(j->wq, &j->dwork, delay))
			violation("delayed work: idle, and can't be queued");
		break;
	case 4:
		job_may_run(j, 0);
		hwheel_flush_delayed_work(&j->dwork);
		job_is_idle(j, "flush");
		break;
	case 5:
		j->cancelled += hwheel_disable_delayed_work_sync(&j->dwork);
		job_is_idle(j, "disable_sync");
		if (hwheel_mod_delayed_work(j->wq, &j->dwork, delay) ||
		    hwheel_queue_delayed_work(j->wq, &j->dwork, delay))
			violation("delayed work: disabled, and was queued");
		job_is_idle(j, "disable");
		if (!hwheel_enable_delayed_work(&j->dwork))
			violation("delayed work: still disabled");
		break;
	}
	atomic_set_release(&j->taken, 0);
}

static int __init create_jobs(void)
{
	unsigned int i;

	jobs_wq = alloc_ordered_workqueue("hwheel_torture", WQ_MEM_RECLAIM);
	if (!jobs_wq)
		return -ENOMEM;
	for (i = 0; i < JOBS; i++) {
		struct job *j = &jobs[i];

		j->wheel = &kept[i % WHEELS_KEPT];
		j->wq = i < JOBS / 2 ? jobs_wq : system_dfl_wq;
		HWHEEL_INIT_DELAYED_WORK(&j->dwork, j->wheel->wheel, job_run);
	}
	return 0;
}

static void finish_jobs(void)
{
	unsigned int i;

	for (i = 0; i < JOBS && !atomic_read(&failed); i++) {
		jobs[i].cancelled += hwheel_cancel_delayed_work_sync(&jobs[i].dwork);
		job_is_idle(&jobs[i], "the last cancel_sync");
	}
}

/* ------------------------------------------------------------------------ */
/* The contexts that cause events */

/* A slot whose callback runs or ran just now, else any slot */
static struct slot *random_slot(struct rnd_state *rnd, unsigned int looks)
{
	while (looks--) {
		int cpu = below(rnd, nr_cpu_ids);
		unsigned int hot = 0;

		if (cpu_possible(cpu))
			hot = READ_ONCE(*per_cpu_ptr(&hot_slot, cpu));
		if (hot)
			return &slots[hot - 1];
		cpu_relax();
	}
	return &slots[below(rnd, timers)];
}

/*
 * An event in a callback of hwheel, or in hardirq or softirq context. It may wait for
 * callbacks of classes higher than @above. The callback of a private timer passes its own
 * class. So callbacks can't deadlock. CLASSES: do not wait. NO_CLASS: the caller is no
 * callback of hwheel, and may wait for any callback.
 */
static void any_event(struct rnd_state *rnd, unsigned int above)
{
	unsigned int first = (above + 1) * DIV_ROUND_UP(timers, CLASSES);

	count_event(in_hardirq() ? IN_HARDIRQ : in_task() ? IN_WORK : IN_SOFTIRQ);
	if (percent(rnd, 2)) {
		job_event(rnd, false);
	} else if (percent(rnd, mix->shared)) {
		shared_event(&shareds[below(rnd, nr_shared)], random_op(rnd, false), rnd);
	} else if (first < timers && percent(rnd, 5)) {
		private_sync(&slots[first + below(rnd, timers - first)], OP_CANCEL_SYNC,
			     NULL, rnd, false);
	} else {
		private_event(random_slot(rnd, 1), random_op(rnd, false), rnd);
	}
}

static void waiting_event(enum event op, struct rnd_state *rnd)
{
	struct victim *new = NULL;

	if (percent(rnd, mix->shared)) {
		shared_event(&shareds[below(rnd, nr_shared)], op, rnd);
		return;
	}
	if (op == OP_FREE)
		new = kmalloc(sizeof(*new), GFP_KERNEL | __GFP_NOWARN);
	/* Find a callback to wait for */
	private_sync(random_slot(rnd, 100), op, new, rnd, false);
}

/* Callbacks that began before hwheel_synchronize() must have ended when it returns. */
static void synchronize_event(struct rnd_state *rnd)
{
	struct wheel *w = &kept[below(rnd, WHEELS_KEPT)];
	struct order *o = &w->orders[below(rnd, nr_cpu_ids)];
	unsigned int looks, begun, ended;

	for (looks = 0; looks < 100; looks++) {
		ended = READ_ONCE(o->ended);
		begun = READ_ONCE(o->begun);
		if (begun != ended)
			break;
		cpu_relax();
	}
	if (begun != ended)
		count_event(SYNCHRONIZED);
	hwheel_synchronize(w->wheel);
	ended = READ_ONCE(o->ended);
	if ((int)(ended - begun) < 0)
		violation("synchronize: returned while callback %u runs, %u have ended, wheel %s",
			  begun, ended, w->name);
}

static void task_event(struct rnd_state *rnd)
{
	enum event op = random_op(rnd, true);

	count_event(IN_TASK);
	if (op >= OP_ANYWHERE) {
		/* On PREEMPT_RT an urgent thread may preempt the callback for which it waits */
		bool urgent = !below(rnd, 4);

		if (urgent)
			sched_set_fifo_low(current);
		switch (below(rnd, 8)) {
		case 0:
			synchronize_event(rnd);
			break;
		case 1:
			job_event(rnd, true);
			break;
		default:
			waiting_event(op, rnd);
		}
		if (urgent)
			sched_set_normal(current, 0);
	} else if (percent(rnd, mix->shared)) {
		shared_event(&shareds[below(rnd, nr_shared)], op, rnd);
	} else {
		private_event(random_slot(rnd, 1), op, rnd);
	}
}

/* Sleep for @timeout jiffies. Return: true to carry on. */
static bool nap(long timeout)
{
	/* Set the state first, so that no wakeup by kthread_stop() is lost */
	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_timeout(timeout);
	__set_current_state(TASK_RUNNING);
	return !kthread_should_stop();
}

/* As nap(), but with a random delay on a wheel. The wheel must not wake the task early. */
static bool nap_on_wheel(struct rnd_state *rnd)
{
	struct wheel *w = &kept[below(rnd, WHEELS_KEPT)];
	s64 delay = below(rnd, 20 * NSEC_PER_MSEC), from = wheel_clock(w);

	set_current_state(TASK_INTERRUPTIBLE);
	if (kthread_should_stop())
		delay = 0;
	if (!hwheel_schedule_hrtimeout(w->wheel, delay, below(rnd, NSEC_PER_MSEC)) &&
	    wheel_clock(w) < from + delay)
		violation("hwheel_schedule_hrtimeout() returned early, wheel %s", w->name);
	return !kthread_should_stop();
}

static atomic_t busy;		/* threads at work */

/* A thread waits for kthread_stop() when its work is done. */
static int park(void)
{
	atomic_dec(&busy);
	while (nap(MAX_SCHEDULE_TIMEOUT))
		;
	return 0;
}

struct worker {
	struct task_struct	*task;
	struct rnd_state	rnd;
};

static struct worker *workers;
static unsigned int nr_workers;
static struct task_struct *wheel_task, *onoff_task, *monitor_task;

static int worker_thread(void *data)
{
	struct worker *w = data;
	unsigned int i;

	while (!over()) {
		int cpu = below(&w->rnd, nr_cpu_ids);

		/* Do not stay bound to the CPU: that would hinder hotplug */
		if (cpu_online(cpu) &&
		    !set_cpus_allowed_ptr(current, cpumask_of(cpu)))
			set_cpus_allowed_ptr(current, cpu_possible_mask);
		for (i = 0; i < BATCH && !over(); i++)
			task_event(&w->rnd);
		if (!(below(&w->rnd, 2) ? nap_on_wheel(&w->rnd) : nap(1)))
			return 0;
	}
	return park();
}

static DEFINE_PER_CPU(struct hrtimer, hard_timer);
static DEFINE_PER_CPU(struct hrtimer, soft_timer);
static DEFINE_PER_CPU(struct irq_work, hard_work);

static void end_of_test(void);

static void hard_events(unsigned int n)
{
	struct rnd_state *rnd = this_cpu_ptr(&hard_rnd);

	while (n-- && !over())
		any_event(rnd, CLASSES);
}

static void hard_work_run(struct irq_work *work)
{
	hard_events(2);
}

/*
 * A hard hrtimer. It causes events. It also logs the last line if all threads hang in a
 * _sync call that does not return.
 */
static enum hrtimer_restart hard_timer_run(struct hrtimer *timer)
{
	static atomic_t ticks_since = ATOMIC_INIT(0);
	struct rnd_state *rnd = this_cpu_ptr(&hard_rnd);

	if (atomic_read(&failed) && atomic_inc_return(&ticks_since) == 4096)
		end_of_test();
	hard_events(below(rnd, 4));
	doomed_event(rnd);
	if (below(rnd, 2))
		irq_work_queue(this_cpu_ptr(&hard_work));
	hrtimer_forward_now(timer, NSEC_PER_MSEC + below(rnd, 4 * NSEC_PER_MSEC));
	return HRTIMER_RESTART;
}

/* This is no callback of hwheel, so it may wait for any callback of hwheel */
static enum hrtimer_restart soft_timer_run(struct hrtimer *timer)
{
	struct rnd_state *rnd = this_cpu_ptr(&soft_rnd);
	unsigned int n = below(rnd, 4);

	while (n-- && !over())
		any_event(rnd, NO_CLASS);
	hrtimer_forward_now(timer, NSEC_PER_MSEC + below(rnd, 4 * NSEC_PER_MSEC));
	return HRTIMER_RESTART;
}

static int torture_cpu_online(unsigned int cpu)
{
	struct hrtimer *timer = this_cpu_ptr(&hard_timer);

	prandom_seed_state(this_cpu_ptr(&soft_rnd), (u64)seed * 3 + 2 * cpu + 1000);
	prandom_seed_state(this_cpu_ptr(&hard_rnd), (u64)seed * 3 + 2 * cpu + 1001);
	*this_cpu_ptr(&hard_work) = IRQ_WORK_INIT_HARD(hard_work_run);
	hrtimer_setup(timer, hard_timer_run, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, NSEC_PER_MSEC, HRTIMER_MODE_REL_PINNED_HARD);
	timer = this_cpu_ptr(&soft_timer);
	hrtimer_setup(timer, soft_timer_run, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_start(timer, NSEC_PER_MSEC, HRTIMER_MODE_REL_PINNED_SOFT);
	return 0;
}

/* Runs before the CPU is offline */
static int torture_cpu_offline(unsigned int cpu)
{
	atomic_inc(&hotplug_epoch);
	hrtimer_cancel(this_cpu_ptr(&soft_timer));
	hrtimer_cancel(this_cpu_ptr(&hard_timer));
	irq_work_sync(this_cpu_ptr(&hard_work));
	if (!over())
		count_event(HOTPLUGS);
	return 0;
}

/* Takes CPUs offline and online. Every fourth time a CPU stays offline for long. */
static int onoff_thread(void *unused)
{
	struct rnd_state rnd;
	unsigned int n = 0;
	bool stay = true;

	prandom_seed_state(&rnd, (u64)seed + 500);
	while (stay && !over()) {
		unsigned int cpu = 1 + below(&rnd, nr_cpu_ids - 1);

		stay = nap(msecs_to_jiffies(onoff * 500 + below(&rnd, onoff * 1000)));
		if (!stay || over() || !cpu_online(cpu) || remove_cpu(cpu))
			continue;
		stay = nap(msecs_to_jiffies(++n % 4 ? below(&rnd, onoff * 1000) :
					    (LOST_SCANS + 5) * 1000));
		if (add_cpu(cpu))
			pr_warn("CPU %u does not come online again\n", cpu);
	}
	return stay ? park() : 0;
}

/* ------------------------------------------------------------------------ */
/* Short-lived wheels */

struct brief {
	struct wheel		wheel;
	struct slot		slots[BRIEF_TIMERS];
	struct victim		victims[BRIEF_TIMERS];
};

static int brief_create(struct brief *b, unsigned int n, struct rnd_state *rnd)
{
	struct hwheel_config config = {};
	char name[HWHEEL_NAME_MAX + 1];
	unsigned int i;
	int err;

	memset(b, 0, sizeof(*b));
	snprintf(name, sizeof(name), "torture-%u", n);
	config.name = name;
	config.tick_ns = 1000ULL << below(rnd, 10);
	config.levels = 1 + below(rnd, 5);
	config.flags = below(rnd, 4) ? 0 : HWHEEL_BOOTTIME;
	config.gap_ns = below(rnd, 3) ? 0 : below(rnd, 2000000);
	for (i = 0; i < config.levels; i++)
		config.spokes[i] = 2 + below(rnd, below(rnd, 2) ? 200 : 8);
	err = wheel_create(&b->wheel, &config, n);
	for (i = 0; !err && i < BRIEF_TIMERS; i++)
		slot_init(&b->slots[i], -1, &b->victims[i], &b->wheel);
	return err;
}

/*
 * Arm the only timer of a wheel. If the timer is due in more than 2 ms, cancel it. Otherwise it
 * must expire. In both cases hwheel_try_cancel() must then soon return 0. Poll the timer instead
 * of waiting for it: the wait might never end.
 */
static void brief_quiet(struct slot *s, struct rnd_state *rnd)
{
	struct victim *v = s->victim;
	unsigned int polls = 0;
	unsigned long flags;
	bool waiting;
	int ret;

	s->plain = true;
	raw_spin_lock_irqsave(&s->lock, flags);
	private_arm(s, OP_ADD, rnd, false);
	if (s->live_due.expires > wheel_clock(s->wheel) + 2 * (s64)NSEC_PER_MSEC)
		private_cancel(s, OP_CANCEL);
	waiting = s->live || s->passed;
	raw_spin_unlock_irqrestore(&s->lock, flags);

	for (; waiting && polls < 4 * QUIET_POLLS && !over(); polls++) {
		usleep_range(100, 1000);
		raw_spin_lock_irqsave(&s->lock, flags);
		waiting = s->live || s->passed;
		raw_spin_unlock_irqrestore(&s->lock, flags);
	}
	if (over())
		return;
	if (waiting) {
		violation("timer for %lld, the only one of its wheel, not fired at %lld: lost",
			  s->live_due.expires, wheel_clock(s->wheel));
		return;
	}
	polls = 0;
	while ((ret = hwheel_try_cancel(&v->timer)) && polls++ < QUIET_POLLS && !over())
		usleep_range(100, 1000);
	if (ret && !over())
		violation("try_cancel: %d long after the callback returned", ret);
	s->plain = false;
}

/* Destroy a wheel while timers are pending on it */
static void brief_destroy(struct brief *b)
{
	unsigned long flags;
	unsigned int i;

	/* From here on, arming in callbacks may have no effect */
	for (i = 0; i < BRIEF_TIMERS; i++) {
		raw_spin_lock_irqsave(&b->slots[i].lock, flags);
		b->slots[i].shutting = true;
		raw_spin_unlock_irqrestore(&b->slots[i].lock, flags);
	}
	doomed_close();
	/* hwheel warns of the timers that are pending */
	pr_info("hwheel-expect-begin\n");
	wheel_destroy(&b->wheel);
	pr_info("hwheel-expect-end\n");
	doomed_end();
	for (i = 0; i < BRIEF_TIMERS; i++) {
		struct slot *s = &b->slots[i];

		if (atomic_read(&s->victim->inside))
			violation("callback still runs after the wheel was destroyed");
		if (hwheel_pending(&s->victim->timer))
			violation("timer still pending after the wheel was destroyed");
		raw_spin_lock_irqsave(&s->lock, flags);
		if (s->passed)
			violation("wheel destroyed before a callback that had begun has run");
		if (s->live)
			count_event(PENDING_AT_DESTROY);
		if (s->armed != s->fired + s->ended + s->live)
			violation("destroyed: armed %llu, fired %llu, cancelled %llu, pending %d",
				  s->armed, s->fired, s->ended, s->live);
		s->dead = true;
		raw_spin_unlock_irqrestore(&s->lock, flags);
	}
	count_event(WHEELS);
	/* Give late callbacks time to find a dead slot */
	usleep_range(1000, 3000);
}

static void nothing_fire(struct hwheel_timer *timer)
{
}

static unsigned long wheel_steps;	/* progress of wheel_thread() */

static void step(void)
{
	WRITE_ONCE(wheel_steps, wheel_steps + 1);
}

static int wheel_thread(void *unused)
{
	struct rnd_state rnd;
	unsigned int n, i;
	struct brief *b;
	int err;

	prandom_seed_state(&rnd, (u64)seed + 600);
	for (n = 0; !over(); n++) {
		step();
		b = kvzalloc(sizeof(*b), GFP_KERNEL);
		err = b ? brief_create(b, n, &rnd) : -ENOMEM;
		if (err) {
			kvfree(b);
			if (err != -ENOMEM)
				violation("wheel_create: error %d", err);
			if (!nap(HZ / 10))
				return 0;
			continue;
		}
		for (i = 0; i < BRIEF_TIMERS / 3 && !over(); i++) {
			step();
			brief_quiet(&b->slots[i], &rnd);
		}
		doomed_begin(&b->wheel);
		for (i = 0; i < 6 * BRIEF_TIMERS && !over(); i++) {
			struct slot *s = &b->slots[below(&rnd, BRIEF_TIMERS)];

			step();
			if (below(&rnd, 8))
				private_event(s, random_op(&rnd, false), &rnd);
			else
				private_sync(s, OP_CANCEL_SYNC + below(&rnd, 2), NULL, &rnd,
					     false);
			if (!below(&rnd, 16))
				usleep_range(100, 1000);
		}
		for (i = 0; i < BRIEF_TIMERS && n % 2 && !atomic_read(&failed); i++) {
			step();
			private_sync(&b->slots[i], OP_SHUTDOWN_SYNC, NULL, &rnd, true);
		}
		if (atomic_read(&failed))
			break;			/* and leave the wheel as it is */
		step();
		brief_destroy(b);
		if (atomic_read(&failed))
			break;
		kvfree(b);
		if (!nap(1))
			return 0;
	}
	return park();
}

/* ------------------------------------------------------------------------ */
/* The monitor */

/* Look at one slot, about once a second. */
static void scan_slot(struct slot *s)
{
	s64 now, expires = 0;
	bool overdue = false;

	raw_spin_lock_irq(&s->lock);
	now = wheel_clock(s->wheel);
	if (s->passed) {
		expires = s->passed_due.expires;
		overdue = true;
	} else if (s->live) {
		expires = s->live_due.expires;
		overdue = now > expires;
	}
	if (!overdue || s->scanned != s->armed)
		s->late_scans = 0;
	else
		s->late_scans++;
	s->scanned = s->armed;
	if (s->late_scans > LOST_SCANS)
		violation("timer for %lld not fired at %lld, wheel %s: lost", expires, now,
			  s->wheel->name);

	/* If the callback itself takes that long, hwheel is not the cause */
	if (s->closers && !atomic_read(&s->victim->inside))
		s->stuck_scans++;
	else
		s->stuck_scans = 0;
	if (s->stuck_scans > STUCK_SCANS)
		violation("_sync does not return, and no callback runs");
	raw_spin_unlock_irq(&s->lock);
}

/* The same for the thread that creates and destroys wheels */
static void scan_wheel_thread(void)
{
	static unsigned long seen;
	static unsigned int stuck;

	if (!wheel_task)
		return;
	stuck = seen == READ_ONCE(wheel_steps) ? stuck + 1 : 0;
	seen = READ_ONCE(wheel_steps);
	if (stuck > STUCK_SCANS)
		violation("hwheel_destroy, or a _sync call before it, does not return");
}

static void scan_slots(void)
{
	unsigned int i;

	for (i = 0; i < timers && !atomic_read(&failed); i++) {
		scan_slot(&slots[i]);
		if (i % BATCH == 0)
			cond_resched();
	}
}

static u64 counted(unsigned int which)
{
	u64 n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += per_cpu(counts, cpu).n[which];
	return n;
}

/* Print the counts from @first to @last. Return: @buf. */
static const char *show_counts(char *buf, size_t size, unsigned int first,
			       unsigned int last)
{
	unsigned int i;
	size_t len = 0;

	*buf = '\0';
	for (i = first; i <= last; i++)
		len += scnprintf(buf + len, size - len, "%s%s %llu", len ? " " : "",
				 i < OPS ? op_names[i] : count_names[i - OPS], counted(i));
	return buf;
}

static u64 count_cascaded(void)
{
	u64 n = 0;
	unsigned int i;

	for (i = 0; i < WHEELS_KEPT; i++)
		n += kept[i].wheel ? hwheel_count(kept[i].wheel, "cascaded") : 0;
	return n;
}

static char line[640];		/* used by the monitor, except for the last line */

static void show_statistics(void)
{
	pr_info("%lld s: %s cascaded %llu max_late_ns %lld\n",
		ktime_ms_delta(ktime_get(), started) / MSEC_PER_SEC,
		show_counts(line, sizeof(line), ARMED, COUNTS - 1), count_cascaded(),
		atomic64_read(&max_late_ns));
}

static u64 cascaded_at_end;

/* Context: any */
static void end_of_test(void)
{
	static char last[640];
	u64 events = 0;
	unsigned int i;
	bool bad;

	if (atomic_xchg(&ended, 1))
		return;
	for (i = 0; i < OPS; i++)
		events += counted(i);
	show_counts(last, sizeof(last), ARMED, COUNTS - 1);
	bad = atomic_read(&failed);
	/* Pairs with violation(), which may not have ended yet */
	for (i = 0; bad && !smp_load_acquire(&failure_told) && i < 200000; i++)
		udelay(5);
	pr_alert("End of test: %s%s; seed %u seconds %lld events %llu %s cascaded %llu max_late_ns %lld\n",
		 bad ? "FAILURE: " : "SUCCESS", bad ? failure : "", seed,
		 ktime_ms_delta(ktime_get(), started) / MSEC_PER_SEC, events, last,
		 cascaded_at_end ?: count_cascaded(), atomic64_read(&max_late_ns));
	WRITE_ONCE(done, true);
}

/* Count the timers that are due now or soon, or whose callback is about to run. */
static unsigned int count_due(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < timers; i++) {
		struct slot *s = &slots[i];

		raw_spin_lock_irq(&s->lock);
		n += s->passed || (s->live && s->live_due.expires <
				   wheel_clock(s->wheel) + 2 * (s64)NSEC_PER_SEC);
		raw_spin_unlock_irq(&s->lock);
		if (i % BATCH == 0)
			cond_resched();
	}
	return n;
}

static int torture_cpuhp_state;

/* Wait until all other threads are done, or until a scan reports that one of them hangs. */
static void finish_threads(void)
{
	WRITE_ONCE(stopping, true);
	while (atomic_read(&busy) > 1 && !atomic_read(&failed)) {	/* 1: this thread */
		schedule_timeout_uninterruptible(HZ);
		scan_slots();
		scan_wheel_thread();
	}
}

static void stop_events(void)
{
	unsigned int i;
	int cpu;

	WRITE_ONCE(stopping, true);
	if (onoff_task)
		kthread_stop(onoff_task);
	for (i = 0; i < nr_workers; i++)
		kthread_stop(workers[i].task);
	nr_workers = 0;
	if (wheel_task)
		kthread_stop(wheel_task);
	onoff_task = NULL;
	wheel_task = NULL;
	if (torture_cpuhp_state)
		cpuhp_remove_state(torture_cpuhp_state);
	torture_cpuhp_state = 0;
	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&hard_work, cpu));
}

/* No event arms timers any more. Let due timers fire, shut down the rest, and count. */
static void finish_timers(void)
{
	struct rnd_state rnd;
	unsigned int i, looks;

	prandom_seed_state(&rnd, seed);
	for (looks = 0; looks < 2 * LOST_SCANS && !atomic_read(&failed); looks++) {
		scan_slots();
		if (!count_due())
			break;
		schedule_timeout_uninterruptible(HZ);
	}
	for (i = 0; i < timers && !atomic_read(&failed); i++)
		private_sync(&slots[i], OP_SHUTDOWN_SYNC, NULL, &rnd, true);
	for (i = 0; i < nr_shared && !atomic_read(&failed); i++)
		shared_close(&shareds[i], true, &rnd);
	finish_jobs();
	/* Give a late callback time to run */
	schedule_timeout_uninterruptible(HZ / 10);
}

static void free_all(void)
{
	unsigned int i;

	cascaded_at_end = count_cascaded();
	for (i = 0; i < WHEELS_KEPT; i++) {
		if (i != SYSTEM_WHEEL && kept[i].wheel)
			wheel_destroy(&kept[i]);
	}
	if (jobs_wq)
		destroy_workqueue(jobs_wq);
	kfree(kept[SYSTEM_WHEEL].orders);
	kept[SYSTEM_WHEEL].orders = NULL;
	for (i = 0; slots && i < timers; i++) {
		kfree(slots[i].victim);
		victim_free(slots[i].grave);
	}
	kvfree(slots);
	kvfree(shareds);
	kfree(workers);
	slots = NULL;
	shareds = NULL;
	workers = NULL;
}

static int monitor_thread(void *unused)
{
	unsigned int n = 0;
	bool stay = true;

	while (stay && !over()) {
		/* One to two CROWD_NS from now: many timers join before it is due */
		WRITE_ONCE(crowd_at,
			   (div_s64(ktime_get(), CROWD_NS) + 2) * (s64)CROWD_NS);
		stay = nap(HZ / 4);
		if (++n % 4)
			continue;
		scan_slots();
		scan_wheel_thread();
		if (seconds && ktime_ms_delta(ktime_get(), started) >= 1000LL * seconds)
			break;
		if (stat_interval && n % (4 * stat_interval) == 0)
			show_statistics();
	}
	if (!atomic_read(&failed))
		finish_threads();
	if (!atomic_read(&failed))
		stop_events();
	if (!atomic_read(&failed))
		finish_timers();
	if (atomic_read(&failed))
		__module_get(THIS_MODULE);
	else
		free_all();
	end_of_test();
	return stay ? park() : 0;
}

/* ------------------------------------------------------------------------ */
/* The module */

static int __init check_params(void)
{
	unsigned int i;

	mix = NULL;
	for (i = 0; i < ARRAY_SIZE(variants); i++)
		if (!strcmp(variants[i].name, variant))
			mix = &variants[i];
	if (!mix) {
		pr_err("there is no variant %s\n", variant);
		return -EINVAL;
	}
	the_context = ARRAY_SIZE(contexts);
	while (--the_context >= 0 && strcmp(contexts[the_context].name, context))
		;
	if (the_context < 0 && strcmp(context, "mixed")) {
		pr_err("there is no context %s\n", context);
		return -EINVAL;
	}
	for (i = 0; i < OPS; i++) {
		total_weight += mix->weight[i];
		if (i < OP_ANYWHERE)
			anywhere_weight += mix->weight[i];
	}
	if (timers < SHARED_EVERY || timers > 1000000) {
		pr_err("timers is %u, must be from %u to 1000000\n", timers, SHARED_EVERY);
		return -EINVAL;
	}
	if (done) {
		pr_err("the parameter done is read only\n");
		return -EINVAL;
	}
	if (!seed)
		seed = get_random_u32() ?: 1;
	if (threads < 0)
		threads = num_online_cpus();
	if (nr_cpu_ids < 2)
		onoff = 0;
	return 0;
}

/*
 * The tick of a wheel in ns, or a multiple of it: both are good enough for the checks
 * here. The API does not return the tick, but a timer with slack expires at a multiple of
 * it.
 */
static u64 __init find_tick(struct hwheel *wheel)
{
	struct hwheel_timer timer;
	unsigned int i;
	u64 tick = 0;

	hwheel_setup_on_stack(&timer, wheel, nothing_fire, 0);
	for (i = 0; i < 20; i++) {
		s64 at = (1LL << 60) + i * 1234567891LL, slack = 1;
		u64 a, rest;

		do {
			slack *= 2;
			hwheel_add_at(&timer, at, slack);
			a = hwheel_expires(&timer);
		} while (a == at && slack < 1LL << 60);
		while (a) {			/* Euclid's algorithm: the gcd */
			div64_u64_rem(tick, a, &rest);
			tick = a;
			a = rest;
		}
	}
	hwheel_destroy_on_stack(&timer);
	return tick;
}

static int __init create_wheels(void)
{
	struct hwheel_config config = {
		.name = "torture", .tick_ns = tick_ns, .levels = levels,
	};
	/* Few spokes and many levels: most timers cascade, or are beyond the geometry */
	struct hwheel_config small = {
		.name = "torture-small", .tick_ns = 5000, .levels = 8, .spokes = { 2, 3, 2, 5 },
		.flags = HWHEEL_BOOTTIME,
	};
	struct hwheel_config large = {
		.name = "torture-large", .tick_ns = 1000000, .gap_ns = 3000000,
	};
	struct wheel *w = &kept[SYSTEM_WHEEL];
	int err;

	memcpy(config.spokes, spokes, sizeof(spokes));
	err = wheel_create(&kept[MAIN_WHEEL], &config, 0);
	if (!err)
		err = wheel_create(&kept[SMALL_WHEEL], &small, 1);
	if (!err)
		err = wheel_create(&kept[LARGE_WHEEL], &large, 2);
	if (err)
		return err;

	w->wheel = hwheel_system;
	w->clock = CLOCK_MONOTONIC;
	strscpy(w->name, "system", sizeof(w->name));
	w->orders = kcalloc(nr_cpu_ids, sizeof(*w->orders), GFP_KERNEL);
	if (!w->orders)
		return -ENOMEM;
	w->tick_ns = find_tick(w->wheel);
	return 0;
}

static int __init create_timers(void)
{
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, (u64)seed + 400);
	nr_shared = timers / SHARED_EVERY;
	slots = kvcalloc(timers, sizeof(*slots), GFP_KERNEL);
	shareds = kvcalloc(nr_shared, sizeof(*shareds), GFP_KERNEL);
	if (!slots || !shareds)
		return -ENOMEM;
	for (i = 0; i < timers; i++) {
		struct victim *v = kmalloc(sizeof(*v), GFP_KERNEL);

		if (!v)
			return -ENOMEM;
		slots[i].index = i;
		slot_init(&slots[i], i, v, random_wheel(&slots[i], &rnd));
	}
	for (i = 0; i < nr_shared; i++)
		shared_setup(&shareds[i], &rnd);
	return 0;
}

static struct task_struct *__init run_thread(int (*function)(void *data),
					      void *data, const char *name)
{
	struct task_struct *task;

	atomic_inc(&busy);
	task = kthread_run(function, data, "hwheel_tort/%s", name);
	if (!IS_ERR(task))
		return task;
	atomic_dec(&busy);
	return NULL;
}

static int __init start_threads(void)
{
	char name[16];
	int i;

	workers = kcalloc(threads, sizeof(*workers), GFP_KERNEL);
	if (threads && !workers)
		return -ENOMEM;
	for (i = 0; i < threads; i++) {
		prandom_seed_state(&workers[i].rnd, (u64)seed + i);
		snprintf(name, sizeof(name), "%d", i);
		workers[i].task = run_thread(worker_thread, &workers[i], name);
		if (!workers[i].task)
			return -ENOMEM;
		nr_workers++;
	}
	if (wheels) {
		wheel_task = run_thread(wheel_thread, NULL, "wheels");
		if (!wheel_task)
			return -ENOMEM;
	}
	if (onoff) {
		onoff_task = run_thread(onoff_thread, NULL, "onoff");
		if (!onoff_task)
			return -ENOMEM;
	}
	monitor_task = run_thread(monitor_thread, NULL, "monitor");
	return monitor_task ? 0 : -ENOMEM;
}

static int __init torture_init(void)
{
	int err;

	err = check_params();
	if (err)
		return err;
	err = create_wheels();
	if (!err)
		err = create_timers();
	if (!err)
		err = create_jobs();
	if (err)
		goto err_free;

	pr_info("variant %s, context %s, %d threads, %u private and %u shared timers, ticks %llu %llu %llu, %u s, onoff %u, seed %u\n",
		mix->name, context, threads, timers, nr_shared, kept[0].tick_ns, kept[1].tick_ns,
		kept[SYSTEM_WHEEL].tick_ns, seconds, onoff, seed);
	started = ktime_get();
	crowd_at = started + CROWD_NS;

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwheel_torture:online",
				torture_cpu_online, torture_cpu_offline);
	if (err < 0)
		goto err_free;
	torture_cpuhp_state = err;
	err = start_threads();
	if (err)
		goto err_stop;
	return 0;

err_stop:
	stop_events();
	finish_timers();
err_free:
	free_all();
	return err;
}

static void __exit torture_exit(void)
{
	kthread_stop(monitor_task);
	/* If the test failed after rmmod had begun, never return. Then nothing is freed. */
	while (atomic_read(&failed))
		schedule_timeout_uninterruptible(HZ);
}

module_init(torture_init);
module_exit(torture_exit);

MODULE_DESCRIPTION("Torture test of hwheel");
MODULE_LICENSE("GPL");
