// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_bench - compares hwheel with timer_list, hrtimer and a lower bound
 *
 * The module measures when it is loaded, group by group. It writes each result as a line
 * of the kernel log. scripts/bench.py reads these lines:
 *
 *	subject=hwheel op=arm variant=relative tick_ns=1000000 crosses=0
 *	pending=1000 delay_ms=0 cpus=1 wheels=1 median=31.25 min=31.02 max=33.70 unit=ns
 *
 * A subject is what is measured, such as hrtimer. A row is a subject and a way to use it. A
 * round of a group measures all rows of the group, one after the other. The next round
 * measures them in another order. So a disturbance hits all rows alike.
 *
 * The timers
 * ----------
 *
 * The timers of all subjects use the same array of objects, one cache line each. One
 * subject uses the array at a time. The operations are prepared in an array, too. Each
 * operation names a random object and a random time, in the unit of the subject. So a
 * measured loop only reads the next operation, which is prefetched, and calls the
 * subject. The time of the whole loop is measured. Each way to arm and to cancel has a
 * loop of its own, with direct calls.
 *
 * The objects and operations are in pieces of 2 MB from kvzalloc(). It takes contiguous memory
 * if it can. All kernels map such memory in the same way, so their results can be compared.
 *
 * A thread on CPU 0 measures all groups. Only group smp uses threads on other CPUs, too.
 * Interrupts and softirqs are on, except where a comment says otherwise.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "hwheel.h"
#include "module/compat.h"
#include "module/levels.h"

#define BENCH_ROUNDS		25		/* at most */
#define BENCH_COUNTS		16
#define BENCH_OPS		8		/* most results of a run */
#define BENCH_CHUNK		(2 << 20)	/* bytes */
#define BENCH_NONE		S64_MIN		/* no result */
#define BENCH_SLICE		4096		/* operations per cond_resched() */
#define BENCH_LEAST		1000000		/* least operations of a kind in a run */
#define BENCH_PASSES		101		/* most passes of a run; overrides BENCH_LEAST */
#define BENCH_LISTS		1024		/* lists of the lower bound, subject "floor" */
#define BENCH_WHEELS		100		/* most wheels of group wheels */
#define BENCH_SPREAD_TIMERS	100000		/* pending timers of group wheels */
#define BENCH_WORKS		100000		/* pending delayed works of group work */
#define BENCH_SLEEPS		100		/* sleeps of a row of group sleep */
#define BENCH_NAPS		100000		/* sleeps of a row that do not switch tasks */

#define BENCH_US		((s64)NSEC_PER_USEC)
#define BENCH_MS		((s64)NSEC_PER_MSEC)
#define BENCH_SECOND		((s64)NSEC_PER_SEC)
#define BENCH_MINUTE		(60 * BENCH_SECOND)
#define BENCH_HOUR		(60 * BENCH_MINUTE)
#define BENCH_MILLION		1000000

static char *what = "core,expire,life,wheels,mix,late,wakeups,cascade,hold,memory,smp,work,sleep";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "groups to measure: core, expire, life, wheels, mix, late, wakeups, cascade, hold, memory, smp, work, sleep; if the clock counts instructions: bounds; in simulated time: years, lone");

static unsigned int rounds = 5;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how many times each row is measured (default 5)");

static unsigned long pending[BENCH_COUNTS] = { 1000, 100000, 1000000, 4000000 };
static unsigned int nr_pending = 4;
module_param_array(pending, ulong, &nr_pending, 0444);
MODULE_PARM_DESC(pending, "numbers of pending timers (default 1000,100000,1000000,4000000)");

static unsigned long seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of the random order and delays (default 1)");

static unsigned int bound_rounds = 30;
module_param(bound_rounds, uint, 0444);
MODULE_PARM_DESC(bound_rounds, "rounds of group bounds (default 30)");

static unsigned int bound_timers = 1000000;
module_param(bound_timers, uint, 0444);
MODULE_PARM_DESC(bound_timers, "timers of the largest crowds of group bounds (default 1000000)");

static unsigned int bound_context = 3;
module_param(bound_context, uint, 0444);
MODULE_PARM_DESC(bound_context, "0: softirq, 1: hardirq, 2: work, 3: softirq or hardirq at random");

static unsigned int bound_how = 6;
module_param(bound_how, uint, 0444);
MODULE_PARM_DESC(bound_how, "arrangement of timers in group bounds, 0 to 5; 6: at random");

static bool bound_all;
module_param(bound_all, bool, 0444);
MODULE_PARM_DESC(bound_all, "let each crowd of group bounds be of the largest size");

static unsigned int late_s = 60;
module_param(late_s, uint, 0444);
MODULE_PARM_DESC(late_s, "seconds over which the timers of group late expire (default 60)");

/* ------------------------------------------------------------------------ */
/* Objects and operations */

struct bench_object {
	union {
		struct hwheel_timer	hwheel;
		struct hrtimer		hrtimer;
		struct list_head	entry;
		struct {
			struct timer_list	timer;
			ktime_t			due;	/* in nanoseconds */
		};
	};
} __aligned(64);

/*
 * A bench_work takes the place of several objects. Their number and the number of objects in a
 * chunk are powers of two. So no bench_work crosses the end of a chunk.
 */
struct bench_work {
	union {
		struct hwheel_delayed_work	hwheel;
		struct delayed_work		stock;
	};
};

#define BENCH_WORK_WIDTH \
	roundup_pow_of_two(DIV_ROUND_UP(sizeof(struct bench_work), sizeof(struct bench_object)))

struct bench_op {
	struct bench_object	*object;
	s64			when;		/* in the unit of the subject */
} __aligned(16);

#define BENCH_OBJECTS_CHUNK	rounddown_pow_of_two(BENCH_CHUNK / sizeof(struct bench_object))
#define BENCH_OPS_CHUNK		(BENCH_CHUNK / sizeof(struct bench_op))

static struct bench_object **bench_objects;
static struct bench_op **bench_ops;
static unsigned int bench_most;		/* number of objects, and of operations */
static bool bench_atomic;		/* nothing may sleep */

static __always_inline struct bench_object *bench_object(unsigned int i)
{
	return &bench_objects[i / BENCH_OBJECTS_CHUNK][i % BENCH_OBJECTS_CHUNK];
}

static __always_inline struct bench_op *bench_op(unsigned int i)
{
	return &bench_ops[i / BENCH_OPS_CHUNK][i % BENCH_OPS_CHUNK];
}

/* Call @one for operations @from to @to - 1. */
static __always_inline void bench_pass(unsigned int from, unsigned int to,
				       void (*one)(struct bench_object *object, s64 when))
{
	while (from < to) {
		const struct bench_op *op = bench_op(from);
		unsigned int end = min(to, (from | (BENCH_SLICE - 1)) + 1);

		for (; from < end; from++, op++)
			one(op->object, op->when);
		if (!bench_atomic)
			cond_resched();
	}
}

#define BENCH_PASS(pass, one)					\
static void pass(unsigned int from, unsigned int to)				\
{								\
	bench_pass(from, to, one);				\
}

static u64 bench_random_state;

/* xorshift64* (Vigna, 2016) */
static u32 bench_random(u32 below)
{
	u64 x = bench_random_state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	bench_random_state = x;
	return (((x * 0x2545f4914f6cdd1dULL) >> 32) * below) >> 32;
}

static void bench_random_seed(u64 number)
{
	bench_random_state = (seed + number) * 0x9e3779b97f4a7c15ULL | 1;
}

/* ------------------------------------------------------------------------ */
/* Callbacks */

enum bench_mode {
	BENCH_COUNT,		/* only count */
	BENCH_LATE,		/* count, and note how late they are */
	BENCH_PERIODIC,		/* re-arm */
	BENCH_MODES
};

/* Buckets of lateness: by its highest bit and the five bits below */
#define BENCH_BUCKETS		(64 * 32)

static u64 bench_fired;			/* callbacks that have run */
static u64 bench_wanted;		/* number of callbacks to wait for */
static ktime_t bench_end;		/* when the last of them ran */
static DECLARE_COMPLETION(bench_done);
static u64 bench_late[BENCH_BUCKETS];
static s64 bench_late_min, bench_late_max;

static ktime_t bench_start;		/* delays count from here */
static unsigned long bench_start_jiffies;
static s64 bench_slack;
static s64 bench_period;
static struct hwheel *bench_wheel;
static struct hwheel *bench_wheels[BENCH_WHEELS];	/* bench_wheel is one of them */
static unsigned int bench_nr_wheels = 1;
static u64 bench_budget;		/* budget of bench_wheel; 0: the default */

static __always_inline void bench_fire(void)
{
	if (++bench_fired == bench_wanted) {
		bench_end = ktime_get();
		complete(&bench_done);
	}
}

static unsigned int bench_bucket(u64 late)
{
	unsigned int bit = fls64(late | 31) - 1;

	return (bit - 4) * 32 + ((late >> (bit - 4 - (bit > 4))) & 31);
}

static void bench_fire_late(ktime_t due)
{
	s64 late = ktime_get() - due;

	bench_late_min = min(bench_late_min, late);
	bench_late_max = max(bench_late_max, late);
	bench_late[bench_bucket(max(late, 0LL))]++;
	bench_fire();
}

static void bench_expect(u64 wanted)
{
	bench_fired = 0;
	bench_wanted = wanted;
	bench_late_min = S64_MAX;
	bench_late_max = S64_MIN;
	memset(bench_late, 0, sizeof(bench_late));
	reinit_completion(&bench_done);
}

/* ------------------------------------------------------------------------ */
/* Subjects, and the ways to use them */

/**
 * struct bench_kind - a way to use a subject
 * @subject: name of the timer facility that is measured
 * @variant: how a time is given
 * @hard: callbacks are held off by disabling interrupts
 * @wide: takes the place of BENCH_WORK_WIDTH objects
 * @setup: sets an object up as a timer
 * @when: converts a delay, in nanoseconds after bench_start, to the unit of the subject
 * @arm: arms or re-arms the timers of a range of operations
 * @cancel: cancels them
 * @rearm: re-arms them, if @arm does not
 */
struct bench_kind {
	const char	*subject;
	const char	*variant;
	bool		hard;
	bool		wide;
	void		(*setup)(struct bench_object *object, enum bench_mode mode);
	s64		(*when)(s64 delay);
	void		(*arm)(unsigned int from, unsigned int to);
	void		(*cancel)(unsigned int from, unsigned int to);
	void		(*rearm)(unsigned int from, unsigned int to);
};

static s64 bench_when_relative(s64 delay)
{
	return delay;
}

static s64 bench_when_absolute(s64 delay)
{
	return bench_start + delay;
}

/* The floor, the lower bound: a lock and a list */

static DEFINE_RAW_SPINLOCK(floor_lock);
static struct list_head floor_lists[BENCH_LISTS];

static void floor_setup(struct bench_object *object, enum bench_mode mode)
{
	INIT_LIST_HEAD(&object->entry);
}

static s64 floor_when(s64 delay)
{
	return (delay >> 10) % BENCH_LISTS;
}

static noinline void floor_add(struct list_head *entry, s64 when)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&floor_lock, flags);
	list_add_tail(entry, &floor_lists[when]);
	raw_spin_unlock_irqrestore(&floor_lock, flags);
}

static noinline void floor_del(struct list_head *entry)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&floor_lock, flags);
	list_del(entry);
	raw_spin_unlock_irqrestore(&floor_lock, flags);
}

static noinline void floor_move(struct list_head *entry, s64 when)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&floor_lock, flags);
	list_move_tail(entry, &floor_lists[when]);
	raw_spin_unlock_irqrestore(&floor_lock, flags);
}

static __always_inline void floor_arm_one(struct bench_object *object, s64 when)
{
	floor_add(&object->entry, when);
}

static __always_inline void floor_cancel_one(struct bench_object *object, s64 when)
{
	floor_del(&object->entry);
}

static __always_inline void floor_rearm_one(struct bench_object *object, s64 when)
{
	floor_move(&object->entry, when);
}

BENCH_PASS(floor_arm, floor_arm_one)
BENCH_PASS(floor_cancel, floor_cancel_one)
BENCH_PASS(floor_rearm, floor_rearm_one)

static const struct bench_kind bench_floor = {
	"floor", "list", false, false, floor_setup, floor_when, floor_arm, floor_cancel,
	floor_rearm,
};

/* Reading the clock */

static void clock_setup(struct bench_object *object, enum bench_mode mode)
{
}

static __always_inline void clock_read_one(struct bench_object *object, s64 when)
{
	object->due = ktime_get();
}

BENCH_PASS(clock_read, clock_read_one)

static const struct bench_kind bench_clock = {
	"ktime_get", "read", false, false, clock_setup, bench_when_relative, clock_read, NULL,
};

/* timer_list */

static void timer_fired(struct timer_list *timer)
{
	bench_fire();
}

static void timer_fired_late(struct timer_list *timer)
{
	bench_fire_late(container_of(timer, struct bench_object, timer)->due);
}

static void timer_setup_one(struct bench_object *object, enum bench_mode mode)
{
	if (mode == BENCH_LATE)
		timer_setup(&object->timer, timer_fired_late, TIMER_PINNED);
	else
		timer_setup(&object->timer, timer_fired, 0);
}

static s64 timer_when_relative(s64 delay)
{
	return div_u64(delay + TICK_NSEC - 1, TICK_NSEC);
}

static s64 timer_when_absolute(s64 delay)
{
	return bench_start_jiffies + timer_when_relative(delay);
}

static __always_inline void timer_arm_relative_one(struct bench_object *object, s64 when)
{
	mod_timer(&object->timer, jiffies + when);
}

static __always_inline void timer_arm_absolute_one(struct bench_object *object, s64 when)
{
	mod_timer(&object->timer, when);
}

static __always_inline void timer_cancel_one(struct bench_object *object, s64 when)
{
	timer_delete(&object->timer);
}

BENCH_PASS(timer_arm_relative, timer_arm_relative_one)
BENCH_PASS(timer_arm_absolute, timer_arm_absolute_one)
BENCH_PASS(timer_cancel, timer_cancel_one)

static const struct bench_kind bench_timer_relative = {
	"timer_list", "relative", false, false, timer_setup_one, timer_when_relative,
	timer_arm_relative, timer_cancel,
};

static const struct bench_kind bench_timer_absolute = {
	"timer_list", "absolute", false, false, timer_setup_one, timer_when_absolute,
	timer_arm_absolute, timer_cancel,
};

/* hrtimer */

static enum hrtimer_restart hrtimer_fired(struct hrtimer *hrtimer)
{
	bench_fire();
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hrtimer_fired_late(struct hrtimer *hrtimer)
{
	bench_fire_late(hrtimer_get_expires(hrtimer));
	return HRTIMER_NORESTART;
}

static void hrtimer_setup_hard(struct bench_object *object, enum bench_mode mode)
{
	hrtimer_setup(&object->hrtimer, mode == BENCH_LATE ? hrtimer_fired_late : hrtimer_fired,
		      CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
}

static void hrtimer_setup_soft(struct bench_object *object, enum bench_mode mode)
{
	hrtimer_setup(&object->hrtimer, mode == BENCH_LATE ? hrtimer_fired_late : hrtimer_fired,
		      CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

static __always_inline void hrtimer_cancel_one(struct bench_object *object, s64 when)
{
	hrtimer_try_to_cancel(&object->hrtimer);
}

BENCH_PASS(hrtimer_cancel_all, hrtimer_cancel_one)

#define BENCH_HRTIMER(kind, subject, variant, mode, hard, setup, when)			\
static __always_inline void kind##_arm_one(struct bench_object *object, s64 expires)	\
{											\
	hrtimer_start(&object->hrtimer, expires, mode);					\
}											\
BENCH_PASS(kind##_arm, kind##_arm_one)							\
static const struct bench_kind bench_##kind = {						\
	subject, variant, hard, false, setup, when, kind##_arm, hrtimer_cancel_all,		\
}

/* Expirations that meet on whole milliseconds, as on a wheel with that tick */
static s64 bench_when_whole(s64 delay)
{
	return div_u64(bench_start + delay + BENCH_MS - 1, BENCH_MS) * BENCH_MS;
}

BENCH_HRTIMER(hard_relative, "hrtimer", "relative", HRTIMER_MODE_REL_HARD, true,
	      hrtimer_setup_hard, bench_when_relative);
BENCH_HRTIMER(hard_absolute, "hrtimer", "absolute", HRTIMER_MODE_ABS_HARD, true,
	      hrtimer_setup_hard, bench_when_absolute);
BENCH_HRTIMER(soft_relative, "hrtimer_soft", "relative", HRTIMER_MODE_REL_SOFT, false,
	      hrtimer_setup_soft, bench_when_relative);
BENCH_HRTIMER(soft_absolute, "hrtimer_soft", "absolute", HRTIMER_MODE_ABS_SOFT, false,
	      hrtimer_setup_soft, bench_when_absolute);
BENCH_HRTIMER(hard_whole, "hrtimer", "whole_ms", HRTIMER_MODE_ABS_HARD, true,
	      hrtimer_setup_hard, bench_when_whole);
BENCH_HRTIMER(soft_whole, "hrtimer_soft", "whole_ms", HRTIMER_MODE_ABS_SOFT, false,
	      hrtimer_setup_soft, bench_when_whole);

/* With a millisecond of slack */
static __always_inline void soft_slack_arm_one(struct bench_object *object, s64 expires)
{
	hrtimer_start_range_ns(&object->hrtimer, expires, BENCH_MS, HRTIMER_MODE_ABS_SOFT);
}

BENCH_PASS(soft_slack_arm, soft_slack_arm_one)

static const struct bench_kind bench_soft_slack = {
	"hrtimer_soft", "slack", false, false, hrtimer_setup_soft, bench_when_absolute,
	soft_slack_arm, hrtimer_cancel_all,
};

/* hwheel */

static void hwheel_fired(struct hwheel_timer *timer)
{
	bench_fire();
}

static void hwheel_fired_late(struct hwheel_timer *timer)
{
	bench_fire_late(hwheel_expires(timer));
}

static void hwheel_fired_periodic(struct hwheel_timer *timer)
{
	if (bench_slack)
		hwheel_add_range(timer, bench_period, bench_slack);
	else
		hwheel_add_forward(timer, bench_period);
	bench_fire();
}

static void hwheel_setup_one(struct bench_object *object, enum bench_mode mode)
{
	static void (*const function[BENCH_MODES])(struct hwheel_timer *timer) = {
		[BENCH_COUNT]		= hwheel_fired,
		[BENCH_LATE]		= hwheel_fired_late,
		[BENCH_PERIODIC]	= hwheel_fired_periodic,
	};

	hwheel_setup(&object->hwheel, bench_wheel, function[mode], 0);
}

static __always_inline void hwheel_arm_relative_one(struct bench_object *object, s64 when)
{
	hwheel_add(&object->hwheel, when);
}

static __always_inline void hwheel_arm_absolute_one(struct bench_object *object, s64 when)
{
	hwheel_add_at(&object->hwheel, when, 0);
}

/* With a jiffy of slack */
static __always_inline void hwheel_arm_slack_one(struct bench_object *object, s64 when)
{
	hwheel_add_range(&object->hwheel, when, TICK_NSEC);
}

static __always_inline void hwheel_arm_slack_at_one(struct bench_object *object, s64 when)
{
	hwheel_add_at(&object->hwheel, when, TICK_NSEC);
}

/*
 * Does the same as hwheel_arm_slack_at_one(): BENCH_HWHEEL() needs a function for each kind.
 * This kind is for group core. Its variant is called absolute_slack, because group core also
 * has a relative row with slack.
 */
static __always_inline void hwheel_arm_at_slack_one(struct bench_object *object, s64 when)
{
	hwheel_arm_slack_at_one(object, when);
}

/* With a slack of 1/8 of the delay, as timer_list always has */
static __always_inline void hwheel_arm_eighth_one(struct bench_object *object, s64 when)
{
	hwheel_add_range(&object->hwheel, when, when >> 3);
}

static __always_inline void hwheel_arm_eighth_at_one(struct bench_object *object, s64 when)
{
	hwheel_add_at(&object->hwheel, when, (when - bench_start) >> 3);
}

static __always_inline void hwheel_cancel_one(struct bench_object *object, s64 when)
{
	hwheel_cancel(&object->hwheel);
}

BENCH_PASS(hwheel_cancel_all, hwheel_cancel_one)

#define BENCH_HWHEEL(kind, variant, when)					\
BENCH_PASS(hwheel_arm_##kind, hwheel_arm_##kind##_one)				\
static const struct bench_kind bench_hwheel_##kind = {				\
	"hwheel", variant, false, false, hwheel_setup_one, when,			\
	hwheel_arm_##kind, hwheel_cancel_all,					\
}

BENCH_HWHEEL(relative, "relative", bench_when_relative);
BENCH_HWHEEL(absolute, "absolute", bench_when_absolute);
BENCH_HWHEEL(slack, "slack", bench_when_relative);
BENCH_HWHEEL(slack_at, "slack", bench_when_absolute);
BENCH_HWHEEL(at_slack, "absolute_slack", bench_when_absolute);
BENCH_HWHEEL(eighth, "eighth", bench_when_relative);
BENCH_HWHEEL(eighth_at, "eighth", bench_when_absolute);

/* Delayed work: queue, mod, cancel */

static void bench_work_run(struct work_struct *work)
{
}

static struct bench_work *bench_work(struct bench_object *object)
{
	return (struct bench_work *)object;
}

static void stock_work_setup(struct bench_object *object, enum bench_mode mode)
{
	INIT_DELAYED_WORK(&bench_work(object)->stock, bench_work_run);
}

static __always_inline void stock_work_queue_one(struct bench_object *object, s64 when)
{
	queue_delayed_work(system_dfl_wq, &bench_work(object)->stock, when);
}

static __always_inline void stock_work_mod_one(struct bench_object *object, s64 when)
{
	mod_delayed_work(system_dfl_wq, &bench_work(object)->stock, when);
}

static __always_inline void stock_work_cancel_one(struct bench_object *object, s64 when)
{
	cancel_delayed_work(&bench_work(object)->stock);
}

BENCH_PASS(stock_work_queue, stock_work_queue_one)
BENCH_PASS(stock_work_mod, stock_work_mod_one)
BENCH_PASS(stock_work_cancel, stock_work_cancel_one)

static const struct bench_kind bench_stock_work = {
	"delayed_work", "work", false, true, stock_work_setup, timer_when_relative,
	stock_work_queue, stock_work_cancel, stock_work_mod,
};

static void hwheel_work_setup(struct bench_object *object, enum bench_mode mode)
{
	HWHEEL_INIT_DELAYED_WORK(&bench_work(object)->hwheel, bench_wheel, bench_work_run);
}

static __always_inline void hwheel_work_queue_one(struct bench_object *object, s64 when)
{
	hwheel_queue_delayed_work(system_dfl_wq, &bench_work(object)->hwheel, when);
}

static __always_inline void hwheel_work_mod_one(struct bench_object *object, s64 when)
{
	hwheel_mod_delayed_work(system_dfl_wq, &bench_work(object)->hwheel, when);
}

static __always_inline void hwheel_work_cancel_one(struct bench_object *object, s64 when)
{
	hwheel_cancel_delayed_work(&bench_work(object)->hwheel);
}

BENCH_PASS(hwheel_work_queue, hwheel_work_queue_one)
BENCH_PASS(hwheel_work_mod, hwheel_work_mod_one)
BENCH_PASS(hwheel_work_cancel, hwheel_work_cancel_one)

static const struct bench_kind bench_hwheel_work = {
	"hwheel", "work", false, true, hwheel_work_setup, bench_when_relative,
	hwheel_work_queue, hwheel_work_cancel, hwheel_work_mod,
};

/*
 * Sleeping. @arm sleeps for bench_period, and notes how late the task is. @rearm calls the
 * same function in TASK_RUNNING: then it arms its timer, does not sleep, and cancels the timer.
 */

static void sleep_setup(struct bench_object *object, enum bench_mode mode)
{
}

#define BENCH_SLEEP(kind, sleep)					\
static void kind##_sleep(unsigned int from, unsigned int to)		\
{									\
	for (; from < to; from++) {					\
		ktime_t due = ktime_get() + bench_period;		\
									\
		sleep;							\
		bench_fire_late(due);					\
	}								\
}

#define BENCH_NAP(kind, nap)						\
static void kind##_nap(unsigned int from, unsigned int to)		\
{									\
	for (; from < to; from++)					\
		nap;							\
}

BENCH_SLEEP(msleep, msleep(div_u64(bench_period, BENCH_MS)))
BENCH_SLEEP(usleep, usleep_range(div_u64(bench_period, BENCH_US),
				 div_u64(bench_period, BENCH_US) + 1))
BENCH_SLEEP(jiffies, schedule_timeout_uninterruptible(nsecs_to_jiffies(bench_period) + 1))
BENCH_NAP(jiffies, schedule_timeout(nsecs_to_jiffies(bench_period) + 1))
BENCH_SLEEP(hrtimer, set_current_state(TASK_UNINTERRUPTIBLE);
	    schedule_hrtimeout(&(ktime_t){ bench_period }, HRTIMER_MODE_REL))
BENCH_NAP(hrtimer, schedule_hrtimeout(&(ktime_t){ bench_period }, HRTIMER_MODE_REL))
BENCH_SLEEP(hwheel_plain, hwheel_sleep(bench_period))
BENCH_SLEEP(hwheel_on, set_current_state(TASK_UNINTERRUPTIBLE);
	    hwheel_schedule_hrtimeout(bench_wheel, bench_period, 0))
BENCH_NAP(hwheel, hwheel_schedule_hrtimeout(bench_wheel, bench_period, 0))

static const struct bench_kind bench_sleeps[] = {
	{ "msleep", "sleep", false, false, sleep_setup, NULL, msleep_sleep },
	{ "usleep_range", "sleep", false, false, sleep_setup, NULL, usleep_sleep },
	{ "schedule_timeout", "sleep", false, false, sleep_setup, NULL, jiffies_sleep,
	  NULL, jiffies_nap },
	{ "schedule_hrtimeout", "sleep", false, false, sleep_setup, NULL, hrtimer_sleep,
	  NULL, hrtimer_nap },
	{ "hwheel_sleep", "sleep", false, false, sleep_setup, NULL, hwheel_plain_sleep },
	{ "hwheel", "sleep", false, false, sleep_setup, NULL, hwheel_on_sleep,
	  NULL, hwheel_nap },
};

/* ------------------------------------------------------------------------ */
/* Rows, and groups of them */

/**
 * struct bench_row - one run to measure
 * @kind: the subject, and how it is used
 * @tick_ns: the tick of hwheel's wheel; 0 for other subjects
 * @spokes: the spokes of each level of that wheel; 0 asks for the default
 * @crosses: the level of the timers. Without fans, they cascade as often before they expire
 * @most: the largest number of timers, 0 for any number
 * @gap_ns: of hwheel's wheel
 * @context: of hwheel's wheel
 */
struct bench_row {
	const struct bench_kind	*kind;
	u64			tick_ns;
	unsigned int		spokes;
	unsigned int		crosses;
	u64			most;
	u64			gap_ns;
	enum hwheel_context	context;
};

/**
 * struct bench_group - rows that are measured in turn
 * @name: name in the parameter what
 * @rows: the rows
 * @nr_rows: their number
 * @ops: names of the results of a run
 * @units: units of these results
 * @counts: the numbers that @run gets, instead of the numbers of pending timers
 * @count_name: the name of these numbers, if not "pending"
 * @most: the largest number of pending timers to measure
 * @only_most: measure only the largest number up to @most
 * @once: one round is enough
 * @run: measures a row; stores results in hundredths of their units
 */
struct bench_group {
	const char		*name;
	const struct bench_row	*rows;
	unsigned int		nr_rows;
	const char		*ops[BENCH_OPS];
	const char		*units[BENCH_OPS];
	u64			counts[BENCH_COUNTS];
	const char		*count_name;
	u64			most;
	bool			only_most;
	bool			once;
	int			(*run)(const struct bench_row *row, u64 count, s64 *result);
};

static struct bench_object *bench_row_object(const struct bench_row *row, unsigned int i)
{
	return bench_object(row->kind->wide ? i * BENCH_WORK_WIDTH : i);
}

/*
 * Prepare operations @from to @to - 1. Their objects are in random order. Their delays
 * are random, from @low to @high nanoseconds, and count from now.
 */
static void bench_fill(const struct bench_row *row, unsigned int from, unsigned int to,
		       s64 low, s64 high)
{
	u32 units = div_u64(high - low, 1024) + 1;
	unsigned int i, j;

	bench_start = ktime_get();
	bench_start_jiffies = jiffies;
	for (i = from; i < to; i++) {
		struct bench_op *op = bench_op(i);

		/* Fisher-Yates shuffle, inside-out */
		j = from + bench_random(i - from + 1);
		op->object = bench_op(j)->object;
		bench_op(j)->object = bench_row_object(row, i);
		op->when = row->kind->when(low + bench_random(units) * 1024LL);
		if (!(i % BENCH_SLICE))
			cond_resched();
	}
}

static s64 bench_each(u64 ns, u64 n)
{
	return div64_u64(ns * 100, n);
}

static int bench_compare(const void *a, const void *b)
{
	const s64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static s64 bench_median(s64 *value, unsigned int nr)
{
	sort(value, nr, sizeof(*value), bench_compare, NULL);
	return value[nr / 2];
}

/* The number of passes of a run with @n timers */
static unsigned int bench_passes(unsigned int n)
{
	return clamp_t(unsigned int, BENCH_LEAST / n, 1, BENCH_PASSES);
}

/*
 * A base adds levels and fans on demand. Make it add all levels now, and the fans that a large
 * crowd asks for, as in a wheel that has been in use for a while: arm timers that need them, and
 * give the worker time to add them. Returns an error if there is no memory.
 */
static int bench_grow(const struct bench_row *row)
{
	enum { CROWD = 2048, PART = 256 };
	const s64 far = 300 * 24 * BENCH_HOUR;
	struct hwheel_timer *timers = kvcalloc(CROWD, sizeof(*timers), GFP_KERNEL);
	s64 delay;
	int i;

	if (!timers)
		return -ENOMEM;
	for (i = 0; i < CROWD; i++)
		hwheel_setup(&timers[i], bench_wheel, hwheel_fired, 0);
	for (delay = far; delay >= row->tick_ns; delay /= 2)
		hwheel_add(&timers[0], delay);
	for (i = 0; i < CROWD; i++) {
		hwheel_add(&timers[i], far + i * row->tick_ns);
		if (i % PART == PART - 1)
			msleep(20);
	}
	for (i = 0; i < CROWD; i++)
		hwheel_shutdown_sync(&timers[i]);
	kvfree(timers);
	return 0;
}

/* Prepare runs with up to @n timers, which are spread over the wheels */
static int bench_begin(const struct bench_row *row, unsigned int n, enum bench_mode mode)
{
	unsigned int i;
	int err;

	for (i = 0; i < bench_nr_wheels && row->tick_ns; ) {
		struct hwheel_config config = {
			.budget_ns = bench_budget,
			.gap_ns = row->gap_ns,
			.tick_ns = row->tick_ns,
			.spokes	 = { row->spokes },
			.context = row->context,
		};
		char name[HWHEEL_NAME_MAX + 1];

		snprintf(name, sizeof(name), "bench%u", i);
		config.name = name;
		bench_wheel = hwheel_create(&config);
		err = PTR_ERR_OR_ZERO(bench_wheel);
		if (!err) {
			bench_wheels[i++] = bench_wheel;
			err = bench_grow(row);
		}
		if (err) {
			while (i--)
				hwheel_destroy(bench_wheels[i]);
			return err;
		}
	}
	bench_expect(0);
	for (i = 0; i < n; i++) {
		bench_wheel = bench_wheels[i % bench_nr_wheels];
		row->kind->setup(bench_row_object(row, i), mode);
		bench_op(i)->object = bench_row_object(row, i);
		if (!(i % BENCH_SLICE))
			cond_resched();
	}
	return 0;
}

static void bench_finish(const struct bench_row *row, unsigned int n)
{
	unsigned int i;

	if (row->kind->cancel)
		row->kind->cancel(0, n);
	/* Let callbacks that are running on other CPUs return. */
	synchronize_rcu();
	for (i = 0; i < bench_nr_wheels && row->tick_ns; i++)
		hwheel_destroy(bench_wheels[i]);
}

/* Wait until all expected callbacks have run. */
static int bench_wait(s64 ns)
{
	if (wait_for_completion_timeout(&bench_done, nsecs_to_jiffies(ns)))
		return 0;
	pr_err("only %llu of %llu callbacks have run\n", bench_fired, bench_wanted);
	return -ETIME;
}

/*
 * core: arm all timers, re-arm them, cancel them, each time in another random order. With
 * few timers there are several passes, and the result is the median.
 */
static s64 bench_core[3][BENCH_PASSES];

static s64 bench_core_pass(const struct bench_row *row,
			   void (*pass)(unsigned int from, unsigned int to), unsigned int n)
{
	ktime_t start;

	bench_fill(row, 0, n, BENCH_MINUTE, BENCH_HOUR);
	start = ktime_get();
	pass(0, n);
	return bench_each(ktime_get() - start, n);
}

static int bench_run_core(const struct bench_row *row, u64 n, s64 *result)
{
	const struct bench_kind *kind = row->kind;
	unsigned int i, nr = bench_passes(n);
	int err = bench_begin(row, n, BENCH_COUNT);

	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		bench_core[0][i] = bench_core_pass(row, kind->arm, n);
		if (!kind->cancel)
			continue;
		bench_core[1][i] = bench_core_pass(row, kind->rearm ?: kind->arm, n);
		bench_core[2][i] = bench_core_pass(row, kind->cancel, n);
	}
	bench_finish(row, 0);
	result[0] = bench_median(bench_core[0], nr);
	result[1] = kind->cancel ? bench_median(bench_core[1], nr) : BENCH_NONE;
	result[2] = kind->cancel ? bench_median(bench_core[2], nr) : BENCH_NONE;
	return 0;
}

static const struct bench_row bench_core_rows[] = {
	{ &bench_timer_relative },
	{ &bench_hwheel_absolute, BENCH_MS },
	{ &bench_hwheel_at_slack, BENCH_MS },
	{ &bench_hwheel_slack, BENCH_MS },
	{ &bench_hwheel_relative, BENCH_MS },
	{ &bench_floor },
	{ &bench_hwheel_absolute, BENCH_US },
	{ &bench_hwheel_slack, BENCH_US },
	{ &bench_hwheel_relative, BENCH_US },
	{ &bench_hard_relative },
	{ &bench_clock, .most = 1000 },
	{ &bench_hard_absolute, .most = BENCH_MILLION },
	{ &bench_soft_relative, .most = BENCH_MILLION },
	{ &bench_soft_absolute, .most = BENCH_MILLION },
};

/*
 * expire: the cost of expiring, per timer. All timers become due while callbacks are
 * disabled. For hard hrtimers this means that interrupts are off. For all others it means
 * that softirqs are off. Softirqs are off before the first timer is armed, so all cascades
 * happen in the measured time.
 *
 * The measured time begins when callbacks are enabled, and ends with the last callback.
 * It includes all that happens between callbacks: budgets, ksoftirqd, interrupts. The
 * timers are due at random times within BENCH_WINDOW. The geometries put them on
 * different levels.
 */
#define BENCH_HOLD	(600 * BENCH_MS)	/* from first arming to first expiration */
#define BENCH_WINDOW	(100 * BENCH_MS)	/* from first to last expiration */
#define BENCH_MARGIN	(200 * BENCH_MS)	/* lateness of timer_list, and slack */

static void bench_spin_until(ktime_t end)
{
	while (ktime_get() < end)
		cpu_relax();
}

static int bench_run_expire(const struct bench_row *row, u64 n, s64 *result)
{
	const struct bench_kind *kind = row->kind;
	ktime_t start, hold = BENCH_HOLD;
	int err = bench_begin(row, n, BENCH_COUNT);
	bool late;

	if (err)
		return err;
	/*
	 * hrtimers take longer to arm. So with many timers, rows without a tick get a longer
	 * hold. Rows with a tick must keep the hold, because it decides which levels their
	 * timers cross.
	 */
	if (!row->tick_ns && n > BENCH_MILLION / 10)
		hold *= 5;
	bench_fill(row, 0, n, hold, hold + BENCH_WINDOW);
	bench_expect(n);

	if (!kind->hard) {
		local_bh_disable();
		bench_atomic = true;
	}
	kind->arm(0, n);
	if (kind->hard)
		local_irq_disable();
	bench_atomic = false;
	late = bench_fired || ktime_get() > bench_start + hold;
	bench_spin_until(bench_start + hold + BENCH_WINDOW + BENCH_MARGIN);
	start = ktime_get();
	if (kind->hard)
		local_irq_enable();
	else
		local_bh_enable();
	err = bench_wait(60 * BENCH_SECOND);
	bench_finish(row, n);
	if (late)
		pr_warn("%llu timers took too long to arm\n", n);
	result[0] = late ? BENCH_NONE : bench_each(bench_end - start, n);
	return err;
}

static const struct bench_row bench_expire_rows[] = {
	{ &bench_timer_absolute },
	{ &bench_hwheel_absolute, BENCH_MS, 4096, 0 },
	{ &bench_hwheel_absolute, BENCH_MS, 0, 1 },
	{ &bench_hwheel_absolute, BENCH_MS, 16, 2 },
	{ &bench_hwheel_absolute, BENCH_MS, 8, 3 },
	{ &bench_hwheel_slack_at, BENCH_MS, 0, 1 },
	{ &bench_hwheel_eighth_at, BENCH_MS, 0, 1 },
	{ &bench_soft_absolute },
	{ &bench_hwheel_absolute, BENCH_US, 4096, 1 },
	{ &bench_hwheel_absolute, BENCH_US, 0, 2 },
	{ &bench_hwheel_absolute, BENCH_US, 64, 3 },
	{ &bench_hwheel_slack_at, BENCH_US, 0, 2 },
	{ &bench_hwheel_eighth_at, BENCH_US, 0, 2 },
	{ &bench_hard_absolute },
};

/*
 * life: the cost of a timer from arming to the end of its callback. It is the sum of two
 * times:
 *
 * - the time to arm all timers
 * - the CPU time that their expiration takes away from a loop. The loop does nothing but
 *   read the clock, until the last timer has fired. The timers fire at random times over
 *   4 seconds. If a turn of the loop takes more than half a microsecond, it was
 *   interrupted.
 *
 * With BENCH_LONELY timers, one per millisecond, the time is mostly that of interrupts.
 *
 * Other code interrupts the loop, too, and a host takes time from its guest. So the group first
 * runs the loop without timers, for BENCH_QUIET. It scales the time that the others took to the
 * length of the measured loop, and subtracts it. On a host with other work that is good enough for
 * a million timers, but not for BENCH_LONELY. Those are for kernels that can count interrupts.
 */
#define BENCH_LONELY	4000
#define BENCH_GAP	500
#define BENCH_QUIET	(3 * BENCH_SECOND)
#define BENCH_LEAD	(3 * BENCH_SECOND)	/* from arming to the first expiration */

static u64 bench_stolen(u64 most)
{
	ktime_t last = ktime_get(), now = last, end = last + most;
	u64 stolen = 0;

	while (now < end && READ_ONCE(bench_fired) != bench_wanted) {
		now = ktime_get();
		if (now - last > BENCH_GAP)
			stolen += now - last;
		last = now;
		cond_resched();
	}
	return stolen;
}

/* Functions of the kernel that are counted, and how often they have been called */
enum bench_call { BENCH_INTERRUPTS, BENCH_SETTINGS, BENCH_CALLS };

static u64 bench_calls[BENCH_CALLS];

#ifdef CONFIG_KPROBES
static int bench_called(struct kprobe *probe, struct pt_regs *regs);

static struct kprobe bench_probes[BENCH_CALLS] = {
	{ .symbol_name = "hrtimer_interrupt", .pre_handler = bench_called },
	{ .symbol_name = "clockevents_program_event", .pre_handler = bench_called },
};

/* All timers, and the loop, are on one CPU */
static int bench_called(struct kprobe *probe, struct pt_regs *regs)
{
	bench_calls[probe - bench_probes]++;
	return 0;
}

static void bench_uncount(void)
{
	unsigned int i;

	for (i = 0; i < BENCH_CALLS; i++)
		unregister_kprobe(&bench_probes[i]);
}

/* Begin to count. Returns false if this kernel can't. */
static bool bench_count_calls(void)
{
	unsigned int i;

	for (i = 0; i < BENCH_CALLS; i++) {
		bench_probes[i].addr = NULL;	/* it has been registered before */
		bench_probes[i].flags = 0;
		if (register_kprobe(&bench_probes[i])) {
			while (i--)
				unregister_kprobe(&bench_probes[i]);
			return false;
		}
	}
	return true;
}
#else
static void bench_uncount(void)
{
}

static bool bench_count_calls(void)
{
	return false;
}
#endif

/*
 * What @n timers cost that are set up. Stores the time of a timer, and how often a thousand of them
 * called each of the functions that are counted.
 */
static int bench_life(const struct bench_row *row, u64 n, s64 *time, s64 *calls)
{
	u64 arm, quiet, stolen, own, before[BENCH_CALLS];
	ktime_t start, armed;
	unsigned int i;

	memset(bench_calls, 0, sizeof(bench_calls));
	bench_expect(n);
	quiet = bench_stolen(BENCH_QUIET);
	memcpy(before, bench_calls, sizeof(before));
	bench_fill(row, 0, n, BENCH_LEAD, BENCH_LEAD + 4 * BENCH_SECOND);
	start = ktime_get();
	row->kind->arm(0, n);
	arm = ktime_get() - start;
	/* Measure from a second before the first expiration on: crowds move ahead of time */
	if (ktime_get() < bench_start + BENCH_LEAD - BENCH_SECOND)
		msleep(div_u64(bench_start + BENCH_LEAD - BENCH_SECOND - ktime_get(), BENCH_MS));
	armed = ktime_get();
	memset(bench_calls, 0, sizeof(bench_calls));
	stolen = bench_stolen(60 * BENCH_SECOND);
	own = ktime_get() - armed;
	for (i = 0; i < BENCH_CALLS; i++) {
		u64 others = div64_u64(before[i] * own, BENCH_QUIET);

		calls[i] = bench_each(1000 * (bench_calls[i] - min(bench_calls[i], others)), n);
	}
	own = div_u64(div_u64(quiet, BENCH_US) * own, BENCH_QUIET / BENCH_US);
	*time = bench_each(arm + stolen - min(stolen, own), n);
	if (bench_fired == n)
		return 0;
	pr_err("only %llu of %llu callbacks have run\n", bench_fired, n);
	return -ETIME;
}

/* Measure the time first, because counting calls takes time */
static int bench_run_life(const struct bench_row *row, u64 n, s64 *result)
{
	int err = bench_begin(row, n, BENCH_COUNT);
	s64 time;

	if (err)
		return err;
	err = bench_life(row, n, &result[0], &result[1]);
	if (!err && bench_count_calls()) {
		err = bench_life(row, n, &time, &result[1]);
		bench_uncount();
	} else {
		result[1] = BENCH_NONE;
		result[2] = BENCH_NONE;
	}
	bench_finish(row, n);
	return err;
}

/*
 * A wheel whose tick is a jiffy is as exact as timer_list; with a slack of 1/8, too, which
 * timer_list always has. hrtimers that expire on whole milliseconds, or with that slack, are
 * as exact as a wheel with a tick of 1 ms.
 */
static const struct bench_row bench_life_rows[] = {
	{ &bench_timer_relative },
	{ &bench_timer_absolute },
	{ &bench_hwheel_absolute, TICK_NSEC },
	{ &bench_hwheel_eighth_at, TICK_NSEC },
#if TICK_NSEC != NSEC_PER_MSEC
	{ &bench_hwheel_absolute, TICK_NSEC, 4096 },
	{ &bench_hwheel_relative, BENCH_MS },
	{ &bench_hwheel_absolute, BENCH_MS },
	{ &bench_hwheel_eighth_at, BENCH_MS },
#endif
	{ &bench_hwheel_absolute, BENCH_MS, .context = HWHEEL_HARDIRQ },
	{ &bench_hwheel_slack_at, BENCH_MS },
	{ &bench_hwheel_absolute, BENCH_MS, 4096 },
	{ &bench_soft_absolute },
	{ &bench_soft_whole },
	{ &bench_soft_slack },
	{ &bench_hard_whole },
	{ &bench_hwheel_absolute, BENCH_US },
	{ &bench_hwheel_slack_at, BENCH_US },
	{ &bench_hwheel_eighth_at, BENCH_US },
	{ &bench_hwheel_absolute, BENCH_US, .gap_ns = BENCH_MS / 2 },
	{ &bench_hwheel_absolute, BENCH_US, 4096, .gap_ns = BENCH_MS / 2 },
	{ &bench_hwheel_eighth_at, BENCH_US, .gap_ns = BENCH_MS / 2 },
};

/*
 * wheels: the same timers on one wheel, or spread over several. Each wheel has an hrtimer of
 * its own.
 */
static int bench_run_wheels(const struct bench_row *row, u64 nr, s64 *result)
{
	int err;

	bench_nr_wheels = nr;
	err = bench_run_life(row, BENCH_SPREAD_TIMERS, result);
	bench_nr_wheels = 1;
	return err;
}

static const struct bench_row bench_wheels_rows[] = {
	{ &bench_hwheel_absolute, BENCH_MS },
	{ &bench_hwheel_absolute, BENCH_MS, .context = HWHEEL_HARDIRQ },
	{ &bench_hwheel_absolute, BENCH_US, .gap_ns = BENCH_MS / 2 },
};

/*
 * mix: a busy server with @n timers pending. Of 100 events,
 *
 * - 49 re-arm a timer for 1 minute to 1 hour
 * - 49 cancel a timer and arm it again for 1 minute to 1 hour
 * - 2 arm a timer for 1 to 10 ms, which expires
 */
static int bench_run_mix(const struct bench_row *row, u64 n, s64 *result)
{
	const struct bench_kind *kind = row->kind;
	unsigned int k, nr = bench_passes(n);
	int err = bench_begin(row, n, BENCH_COUNT);
	unsigned int i;

	if (err)
		return err;
	bench_fill(row, 0, n, BENCH_MINUTE, BENCH_HOUR);
	kind->arm(0, n);
	for (k = 0; k < nr; k++) {
		ktime_t start;

		bench_fill(row, 0, n, BENCH_MINUTE, BENCH_HOUR);
		for (i = 98; i < n; i += i % 100 == 98 ? 1 : 99)
			bench_op(i)->when = kind->when((1 + i / 100 % 10) * BENCH_MS);
		start = ktime_get();
		for (i = 0; i + 100 <= n; i += 100) {
			kind->arm(i, i + 49);
			kind->cancel(i + 49, i + 98);
			kind->arm(i + 49, i + 98);
			kind->arm(i + 98, i + 100);
		}
		bench_core[0][k] = bench_each(ktime_get() - start, n);
	}
	bench_finish(row, n);
	result[0] = bench_median(bench_core[0], nr);
	return 0;
}

static const struct bench_row bench_mix_rows[] = {
	{ &bench_timer_relative },
	{ &bench_hwheel_relative, BENCH_MS },
	{ &bench_hwheel_slack, BENCH_MS },
	{ &bench_hard_relative },
	{ &bench_hwheel_relative, BENCH_US },
	{ &bench_hwheel_slack, BENCH_US },
	{ &bench_soft_relative },
};

/*
 * late: how long after its time each callback begins. The timers expire at random times
 * over late_s seconds, on a machine with nothing else to do. Percentiles are exact
 * to 3 %.
 */
static s64 bench_late_percentile(u64 n, u32 permille)
{
	u64 sum = 0, rank = div_u64(n * permille + 999, 1000);
	unsigned int i, bit;

	for (i = 0; i < BENCH_BUCKETS - 1; i++) {
		sum += bench_late[i];
		if (sum >= rank)
			break;
	}
	bit = i / 32;
	if (!bit)
		return i;
	return min_t(s64, bench_late_max, (32ULL + i % 32 + 1) << (bit - 1));
}

static int bench_run_late(const struct bench_row *row, u64 n, s64 *result)
{
	const s64 time = late_s * BENCH_SECOND;
	unsigned int i;
	int err = bench_begin(row, n, BENCH_LATE);

	if (err)
		return err;
	/* Leave 2 seconds for arming, before the first timer expires */
	bench_fill(row, 0, n, 2 * BENCH_SECOND, 2 * BENCH_SECOND + time);
	bench_expect(n);
	if (row->kind == &bench_timer_absolute)
		for (i = 0; i < n; i++)
			bench_op(i)->object->due = bench_start +
				(bench_op(i)->when - bench_start_jiffies) * TICK_NSEC;
	row->kind->arm(0, n);
	err = bench_wait(2 * time + 60 * BENCH_SECOND);
	bench_finish(row, n);

	result[0] = bench_late_percentile(n, 500) * 100;
	result[1] = bench_late_percentile(n, 990) * 100;
	result[2] = bench_late_percentile(n, 999) * 100;
	result[3] = bench_late_max * 100;
	result[4] = bench_late_min * 100;
	return err;
}

static const struct bench_row bench_late_rows[] = {
	{ &bench_hard_absolute },
	{ &bench_hwheel_absolute, BENCH_MS },
	{ &bench_hwheel_absolute, 10 * BENCH_US },
	{ &bench_soft_absolute },
	{ &bench_timer_absolute },
};

/*
 * years: lateness of sets of 32 timers, with delays from a millisecond to a year. The
 * delays of a set differ by a tenth at most.
 * lone: the interrupts of a wheel with one timer.
 * The groups years and lone need simulated time, which skips idle time.
 */
static int bench_run_years(const struct bench_row *row, u64 ms, s64 *result)
{
	const unsigned int n = 32;
	int err = bench_begin(row, n, BENCH_LATE);
	unsigned int i;

	if (err)
		return err;
	bench_expect(n);
	bench_start = ktime_get();
	bench_start_jiffies = jiffies;
	for (i = 0; i < n; i++) {
		s64 delay = ms * BENCH_MS;

		delay += div_u64(delay, 10 * n) * i;
		bench_op(i)->when = row->kind->when(delay);
		if (row->kind == &bench_timer_absolute)
			bench_op(i)->object->due = bench_start + delay;
	}
	row->kind->arm(0, n);
	wait_for_completion(&bench_done);
	bench_finish(row, n);
	result[0] = bench_late_min * 100;
	result[1] = bench_late_percentile(n, 500) * 100;
	result[2] = bench_late_max * 100;
	return 0;
}

static int bench_run_lone(const struct bench_row *row, u64 ms, s64 *result)
{
	int err = bench_begin(row, 1, BENCH_COUNT);
	u64 before;

	if (err)
		return err;
	bench_expect(1);
	bench_start = ktime_get();
	bench_op(0)->when = row->kind->when(ms * BENCH_MS);
	before = hwheel_count(bench_wheel, "interrupts");	/* those of bench_grow() */
	row->kind->arm(0, 1);
	wait_for_completion(&bench_done);
	result[0] = (hwheel_count(bench_wheel, "interrupts") - before) * 100;
	bench_finish(row, 1);
	return 0;
}

static const struct bench_row bench_years_rows[] = {
	{ &bench_hwheel_absolute, BENCH_MS },
	{ &bench_hwheel_absolute, 10 * BENCH_US },
	{ &bench_timer_absolute },
	{ &bench_hard_absolute },
};

static const struct bench_row bench_lone_rows[] = {
	{ &bench_hwheel_absolute, BENCH_MS },
	{ &bench_hwheel_absolute, BENCH_US },
};

/*
 * wakeups: the interrupts per second of a wheel with no timers, one timer, or many. The
 * timers are periodic and out of phase. The period is 1 second, or 30 seconds if there
 * are more than 1000 timers. With slack, the slack is 1/8 of the period.
 */
static int bench_run_wakeups(const struct bench_row *row, u64 n, s64 *result)
{
	u64 interrupts, idle, fired;
	ktime_t start, time;
	int err = bench_begin(row, n, BENCH_PERIODIC);

	if (err)
		return err;
	bench_period = n > 1000 ? 30 * BENCH_SECOND : BENCH_SECOND;
	bench_slack = row->kind == &bench_hwheel_eighth ? bench_period / 8 : 0;
	bench_fill(row, 0, n, bench_period / 20, bench_period);
	row->kind->arm(0, n);
	/* Wait until slack has brought timers with a period of 1 s together */
	msleep(n > 1000 ? 2000 : 1200);

	start = ktime_get();
	interrupts = hwheel_count(bench_wheel, "interrupts");
	idle = hwheel_count(bench_wheel, "idle_interrupts");
	fired = READ_ONCE(bench_fired);
	msleep(3000);
	interrupts = hwheel_count(bench_wheel, "interrupts") - interrupts;
	idle = hwheel_count(bench_wheel, "idle_interrupts") - idle;
	fired = READ_ONCE(bench_fired) - fired;
	time = ktime_get() - start;
	bench_finish(row, n);

	result[0] = div64_u64(interrupts * NSEC_PER_SEC * 100, time);
	result[1] = div64_u64(idle * NSEC_PER_SEC * 100, time);
	result[2] = div64_u64(fired * NSEC_PER_SEC, div_u64(time, 100));
	return 0;
}

static const struct bench_row bench_wakeups_rows[] = {
	{ &bench_hwheel_relative, BENCH_MS },
	{ &bench_hwheel_eighth, BENCH_MS },
	{ &bench_hwheel_relative, 10 * BENCH_US },
	{ &bench_hwheel_eighth, 10 * BENCH_US },
};

/*
 * cascade: how late one timer is while a crowd cascades. The timer re-arms itself every
 * millisecond. Meanwhile the clock enters a spoke of level 2 with a million timers, and
 * runs on for half a second. For comparison, another run has no such crowd. The timer is
 * due 1 ns after a tick, so it is almost one tick late at best. The budget is not a multiple
 * of the tick, so runs end at any point of a tick.
 */
#define BENCH_ODD_BUDGET	(1700 * BENCH_US)

static struct hwheel_timer bench_probe;
static s64 bench_probe_late;

static void bench_probe_fired(struct hwheel_timer *timer)
{
	bench_probe_late = max(bench_probe_late, ktime_get() - hwheel_expires(timer));
	hwheel_add_forward(timer, BENCH_MS);
}

static int bench_run_cascade(const struct bench_row *row, u64 n, s64 *result)
{
	const s64 spoke = 128 * 128 * BENCH_MS;
	s64 begin, delay;
	int err;

	bench_budget = BENCH_ODD_BUDGET;
	err = bench_begin(row, n, BENCH_COUNT);
	bench_budget = 0;
	if (err)
		return err;
	/* A spoke of level 2 that begins late enough */
	begin = (div64_s64(hwheel_now(bench_wheel) + 2 * BENCH_SECOND, spoke) + 2) * spoke;
	delay = begin - ktime_get();
	bench_fill(row, 0, n, delay, delay + spoke - 50 * BENCH_MS);
	row->kind->arm(0, n);

	bench_probe_late = 0;
	hwheel_setup(&bench_probe, bench_wheel, bench_probe_fired, 0);
	hwheel_add_at(&bench_probe, begin - BENCH_SECOND + 1, 0);
	msleep(div_u64(begin - ktime_get(), BENCH_MS) + 500);
	hwheel_shutdown_sync(&bench_probe);
	result[0] = hwheel_count(bench_wheel, "max_locked_ns") * 100;
	result[1] = bench_probe_late * 100;
	bench_finish(row, n);
	return 0;
}

static const struct bench_row bench_cascade_rows[] = {
	{ &bench_hwheel_absolute, BENCH_MS },
};

/*
 * bounds: a search for the arrangement of timers in which callbacks begin latest. Each round
 * makes a wheel of random geometry, budget and context, and arms a crowd on it: due at one
 * tick, in one spoke, over some time, or beyond the geometry. If its levels reach further than a
 * second, the last kind begins after a second instead. Part of a large crowd expires
 * only after the round. When the crowd is armed, the round re-arms some timers, for earlier
 * and later times. At some of these times many spokes begin. A round with the arrangement
 * "edges" makes no crowd. It fills one spoke of each level above 0, up to the first level above the
 * geometry. The spokes begin at one tick.
 *
 * The lateness of a callback counts from its tick. The round subtracts a microsecond (two
 * in hardirq context) for each callback since the wheel was last idle. This time stands for
 * the terms "callbacks" and "breaks" of the formula in Documentation/late.rst.
 *
 * Was the wheel idle before a callback? The last callback ended at bench_last. If another timer
 * had been due then, its callback would have begun by bench_last + bench_break, because no break
 * is longer than bench_break. Timers that are not for the past run in the order of their ticks.
 * So if such a timer is due later than bench_last + bench_break, the wheel was idle. A timer for
 * the past may run before other timers that are due. So its callback proves that the wheel was
 * idle only if the timer was armed later than bench_last + bench_break + BENCH_GOES_ON. By then
 * hwheel would have run all other due timers.
 */
#define BENCH_AGAIN		400	/* timers that are re-armed */
#define BENCH_GOES_ON		(100 * BENCH_US)	/* for an interrupt and list moves */
#define BENCH_EDGE		31	/* one timer fewer than a crowd has */

enum bench_how {
	BENCH_TICK, BENCH_SPOKE, BENCH_SPREAD, BENCH_BEYOND, BENCH_BURST, BENCH_EDGES, BENCH_HOWS
};

static const char * const bench_how_names[] = {
	"tick", "spoke", "spread", "beyond", "burst", "edges"
};

struct bench_bound {
	struct hwheel_timer	timer;
	ktime_t			armed;		/* time of the last arming */
};

static struct bench_bound **bench_bounds;
static u64 bench_tick;
static u64 bench_share;			/* ns to subtract for each callback */
static u64 bench_break;			/* ns of the longest break */
static ktime_t bench_last;		/* when the last callback ended */
static u64 bench_run;			/* callbacks since the wheel was idle */
static s64 bench_worst;
static ktime_t bench_worst_due;
static bool bench_over;

#define BENCH_BOUNDS_CHUNK	512U

static struct bench_bound *bench_bound(unsigned int i)
{
	return &bench_bounds[i / BENCH_BOUNDS_CHUNK][i % BENCH_BOUNDS_CHUNK];
}

static void bench_bound_fired(struct hwheel_timer *timer)
{
	struct bench_bound *b = container_of(timer, struct bench_bound, timer);
	ktime_t now = ktime_get(), due = hwheel_expires(timer);
	bool idle;
	s64 late;

	/* The first tick at or after both instants */
	due = div64_u64(max(due, b->armed) + bench_tick - 1, bench_tick) * bench_tick;
	idle = hwheel_expires(timer) > b->armed ? due > bench_last + bench_break :
	       b->armed > bench_last + bench_break + BENCH_GOES_ON;
	bench_run = idle ? 0 : bench_run + 1;
	late = now - due - (s64)(bench_run * bench_share);
	if (late > bench_worst && !bench_over) {
		bench_worst = late;
		bench_worst_due = due;
	}
	bench_last = ktime_get();
}

/*
 * The callback of the old arming must not see the new b->armed. There is only one CPU, so it is
 * enough to switch interrupts off.
 */
static void bench_bound_arm(struct bench_bound *b, ktime_t when)
{
	unsigned long flags;

	local_irq_save(flags);
	b->armed = ktime_get();
	hwheel_add_at(&b->timer, when, 0);
	local_irq_restore(flags);
}

static u64 bench_pick(const u64 *from, unsigned int n)
{
	return from[bench_random(n)];
}

/*
 * Choose geometry, budget and context of a round. Returns how far the levels reach in ns, or
 * S64_MAX for the default levels.
 */
static u64 bench_round_config(struct hwheel_config *config)
{
	static const u64 ticks[] = { 1000, 8000, 50000, BENCH_MS, BENCH_MS };
	static const u64 spokes[] = { 2, 3, 16, 60, 128, 128, 1000, 4096 };
	static const u64 budgets[] = { 10 * BENCH_US, 100 * BENCH_US, 0, 0, 2 * BENCH_MS,
		10 * BENCH_MS };
	unsigned int i;
	u64 reach;

	config->tick_ns = bench_pick(ticks, ARRAY_SIZE(ticks));
	config->levels = 1 + bench_random(8);
	config->context = bound_context < 3 ? bound_context : bench_random(2);
	config->budget_ns = bench_pick(budgets, ARRAY_SIZE(budgets));
	reach = config->tick_ns;
	for (i = 0; i < config->levels; i++) {
		config->spokes[i] = bench_pick(spokes, ARRAY_SIZE(spokes));
		if (reach > div64_u64(S64_MAX, config->spokes[i])) {
			config->levels = i;
			break;
		}
		reach *= config->spokes[i];
	}
	if (bench_random(4) == 0) {	/* the default levels and spokes */
		config->levels = 0;
		memset(config->spokes, 0, sizeof(config->spokes));
		config->spokes[0] = 128;
		reach = S64_MAX;
	}
	return reach;
}

/* Arm a crowd of @n timers, and re-arm some of them. */
static void bench_round_crowd(const struct hwheel_config *config, enum bench_how how, u64 n,
			      u64 reach, u64 width, ktime_t base, ktime_t end)
{
	u64 span = how == BENCH_BURST ? n * 300 : 2 * BENCH_SECOND;
	unsigned int i, j;
	ktime_t when;

	for (i = 0; i < n; i++) {
		switch (how) {
		case BENCH_TICK:
			when = base + 100 * BENCH_MS;
			break;
		case BENCH_SPOKE:
			when = base + bench_random(max_t(u64, width, 1000)) % BENCH_SECOND;
			break;
		case BENCH_SPREAD:
		case BENCH_BURST:
			when = base + bench_random(span);
			break;
		default:
			when = base + min_t(u64, reach, BENCH_SECOND) + bench_random(span);
			break;
		}
		/* Seven eighths of a large crowd expire after the round */
		if (how != BENCH_TICK && n > 20000 && i % 8)
			when = max(when, end + BENCH_SECOND / 4 + bench_random(BENCH_SECOND));
		bench_bound_arm(bench_bound(i), when);
		if (i % 256 == 0)
			cond_resched();
	}
	for (i = 0; i < BENCH_AGAIN && ktime_get() < end; i++) {
		ktime_t now = ktime_get();

		j = bench_random(3) == 0 ? bench_random(min_t(u64, n, 100)) :
		    bench_random(2) ? bench_random(n) : n - 1 - bench_random(min_t(u64, n, 100));
		switch (bench_random(6)) {
		case 0:
			when = base;
			break;
		case 1:
			when = base + bench_random(100 * BENCH_MS);
			break;
		case 2:
			when = now + bench_random(2 * BENCH_MS);
			break;
		case 3:
			when = div64_u64(now, width) * width + width;
			break;
		case 4:
			when = base + bench_random(20) * config->tick_ns;
			break;
		default:
			when = base + bench_random(BENCH_SECOND);
			break;
		}
		bench_bound_arm(bench_bound(j), when);
		if (bench_random(4) == 0)
			usleep_range(100, 100 + bench_random(3000));
	}
}

/*
 * Fill a spoke of each level above 0, up to the first level above the geometry, with nearly a
 * crowd. The spoke of that level is @width wide. All spokes begin at @base. For a spoke that is w
 * wide: a timer for @base or a little later goes to that spoke's level if the clock of the wheel is
 * w to 2 w before @base. The first timer of each spoke is armed twice: first with a delay, because
 * that advances the clock.
 */
static void bench_round_edges(const struct hwheel_config *config, u64 width, ktime_t base)
{
	unsigned int level, i, many, last, n = 0;

	for (level = config->levels; level; level--) {
		many = BENCH_EDGE - bench_random(8);
		while (ktime_get() < base - (ktime_t)(2 * width))
			if (width > BENCH_MS)
				usleep_range(100, 200);
		/* Lists are emptied from both ends, so choose at random which timer is due first */
		last = bench_random(many);
		hwheel_add(&bench_bound(n)->timer, base - ktime_get());
		for (i = 0; i < many; i++)
			bench_bound_arm(bench_bound(n++),
					i == last ? base : base + bench_random(width));
		width = div_u64(width, config->spokes[level - 1]);
	}
}

static int bench_round(unsigned int round, unsigned int most, s64 *locked)
{
	static const char * const contexts[] = { "softirq", "hardirq", "work" };
	struct hwheel_config config = { .name = "bounds" };
	ktime_t begin, end, base;
	u64 n, width, reach;
	enum bench_how how;
	unsigned int i;

	bench_random_seed(round);
	reach = bench_round_config(&config);
	n = bound_all ? most : most >> bench_random(6);
	if (!bound_all && bench_random(4) == 0)
		n = min(20 + bench_random(2000), most);
	how = bound_how < BENCH_HOWS ? bound_how : bench_random(BENCH_HOWS);
	if (how == BENCH_EDGES) {
		config.levels = 2 + bench_random(7);
		config.tick_ns = 50000;
		for (i = 0; i < config.levels; i++)
			config.spokes[i] = 4;
		n = min_t(u64, most, BENCH_EDGE * config.levels);
	}

	bench_wheel = hwheel_create(&config);
	if (IS_ERR(bench_wheel))
		return PTR_ERR(bench_wheel);
	bench_tick = config.tick_ns;
	bench_share = config.context == HWHEEL_HARDIRQ ? 2 * BENCH_US : BENCH_US;
	bench_break = config.budget_ns ?: config.context == HWHEEL_HARDIRQ ?
		      100 * BENCH_US : 2 * BENCH_MS;
	if (config.context != HWHEEL_HARDIRQ)
		bench_break /= 8;
	bench_worst = 0;
	bench_worst_due = 0;
	bench_run = 0;
	bench_last = 0;
	bench_over = false;
	for (i = 0; i < n; i++) {
		hwheel_setup(&bench_bound(i)->timer, bench_wheel, bench_bound_fired, 0);
		if (i % 4096 == 0)
			cond_resched();
	}

	/* At base, spokes of as many levels as possible begin */
	begin = ktime_get();
	width = config.tick_ns;
	for (i = 0; config.spokes[i] && i < config.levels && width * config.spokes[i] <
	     (how == BENCH_EDGES ? 60 : 2) * BENCH_SECOND; i++)
		width *= config.spokes[i];
	if (!config.levels)
		width = 128 * BENCH_MS;
	/* Time to arm all timers, and to sift a crowd meanwhile, on the same CPU */
	base = begin + n * 1000 + 50 * BENCH_MS;
	if (how == BENCH_EDGES)
		base += 2 * width;
	base = div64_u64(base + width - 1, width) * width;
	end = base + 300 * BENCH_MS;
	if (how == BENCH_EDGES)
		bench_round_edges(&config, width, base);
	else
		bench_round_crowd(&config, how, n, reach, width, base, end);
	while (ktime_get() < end)
		msleep(20);
	bench_over = true;
	for (i = 0; i < n; i++) {
		hwheel_shutdown_sync(&bench_bound(i)->timer);
		if (i % 256 == 0)
			cond_resched();
	}
	*locked = hwheel_count(bench_wheel, "max_locked_ns");
	pr_info("bound round=%u %s %s n=%llu tick=%llu levels=%u spokes=%u,%u,%u,%u budget=%llu late=%lld locked=%lld cascaded=%llu due=base%+lld armed_in=%lld\n",
		round, contexts[config.context], bench_how_names[how], n, config.tick_ns,
		config.levels, config.spokes[0], config.spokes[1], config.spokes[2],
		config.spokes[3], config.budget_ns, bench_worst, *locked,
		hwheel_count(bench_wheel, "cascaded"), bench_worst_due - base, base - begin);
	hwheel_destroy(bench_wheel);
	bench_wheel = NULL;
	return 0;
}

static int bench_run_bounds(const struct bench_row *row, u64 n, s64 *result)
{
	unsigned int i, chunks = DIV_ROUND_UP(bound_timers, BENCH_BOUNDS_CHUNK);
	s64 locked;
	int err = -ENOMEM;

	if (bound_timers < BENCH_EDGE * HWHEEL_MAX_LEVELS) {
		pr_err("bound_timers=%u is less than %u\n", bound_timers,
		       BENCH_EDGE * HWHEEL_MAX_LEVELS);
		return -EINVAL;
	}
	bench_bounds = kvcalloc(chunks, sizeof(*bench_bounds), GFP_KERNEL);
	if (!bench_bounds)
		return -ENOMEM;
	for (i = 0; i < chunks; i++) {
		bench_bounds[i] = kvcalloc(BENCH_BOUNDS_CHUNK, sizeof(**bench_bounds), GFP_KERNEL);
		if (!bench_bounds[i])
			goto out;
	}
	for (i = 0, err = 0; i < bound_rounds && !err; i++) {
		err = bench_round(seed + i, bound_timers, &locked);
		result[0] = max(result[0], bench_worst * 100);
		result[1] = max(result[1], locked * 100);
	}
out:
	for (i = 0; i < chunks; i++)
		kvfree(bench_bounds[i]);
	kvfree(bench_bounds);
	return err;
}

static const struct bench_row bench_bounds_rows[] = {
	{ &bench_hwheel_absolute, BENCH_MS },
};

/*
 * hold: how long list moves keep a base locked, with all timers in one spoke. The group
 * moves timers as a run does, but only in struct hwheel_levels, without a base. It times
 * what a run would do in one lock hold. All passes do the same work. So if a hold takes
 * longer in one pass than in another, the host or an interrupt is the cause, and the
 * shortest time of each hold counts.
 */
#define BENCH_HOLD_PASSES	7

static struct hwheel_levels bench_levels;

/* Run timers until there are none left. Returns the number of holds. */
static unsigned int bench_hold_pass(u32 *least, unsigned int most, u32 *longest)
{
	struct hwheel_levels *l = &bench_levels;
	unsigned int holds = 0;
	enum hwheel_step step;
	u64 wake;

	while ((wake = levels_wake(l)) != HWHEEL_NEVER) {
		do {
			u64 moved = l->moved;
			ktime_t start = ktime_get();
			u32 ns;

			do {
				step = levels_step(l, wake);
			} while (step == HWHEEL_MOVED &&
				 l->moved - moved + HWHEEL_STEP <= HWHEEL_BATCH);
			ns = ktime_get() - start;
			while (levels_pop(l, wake))
				;
			if (holds < most)
				least[holds] = min(least[holds], ns);
			*longest = max(*longest, ns);
			if (!(++holds % BENCH_SLICE))
				cond_resched();
		} while (step != HWHEEL_IDLE);
	}
	return holds;
}

static int bench_run_hold(const struct bench_row *row, u64 n, s64 *result)
{
	const struct hwheel_geometry geometry = {
		row->tick_ns, 5, { 128, 128, 128, 128, 128 },
	};
	const s64 spoke = 128 * 128 * row->tick_ns;
	const size_t size = 128 * sizeof(struct hwheel_spoke);	/* also enough for the lot */
	unsigned int i, pass, holds = 0, most = n / 4 + 65536;
	void *memory[6] = {};
	u32 *least, longest = 0, worst = 0;
	int err;

	err = bench_begin(row, n, BENCH_COUNT);
	if (err)
		return err;
	err = -ENOMEM;
	least = kvmalloc_array(most, sizeof(*least), GFP_KERNEL);
	if (!least)
		goto out;
	memset(least, 0xff, most * sizeof(*least));
	for (i = 0; i <= geometry.levels; i++) {
		memory[i] = kmalloc(size, GFP_KERNEL);
		if (!memory[i])
			goto out;
	}

	for (pass = 0; pass < BENCH_HOLD_PASSES; pass++) {
		for (i = 0; i <= geometry.levels; i++)
			memset(memory[i], 0, size);
		levels_init(&bench_levels, &geometry, memory[geometry.levels], 0);
		for (i = 0; i < geometry.levels; i++)
			levels_grow(&bench_levels, i, level_init(&bench_levels, i, memory[i]));
		bench_random_seed(0);
		for (i = 0; i < n; i++)
			bench_op(i)->object = bench_object(i);
		bench_fill(row, 0, n, 2 * spoke, 3 * spoke - 50 * BENCH_MS);
		for (i = 0; i < n; i++) {
			struct hwheel_timer *timer = &bench_op(i)->object->hwheel;

			timer->expires = bench_op(i)->when;
			levels_add(&bench_levels, timer,
				   levels_tick_up(&bench_levels, timer->expires));
		}
		err = -ENOSPC;
		holds = bench_hold_pass(least, most, &longest);
		if (holds > most)
			goto out;
	}
	for (i = 0; i < holds; i++)
		worst = max(worst, least[i]);
	result[0] = worst * 100LL;
	result[1] = longest * 100LL;
	err = 0;
out:
	for (i = 0; i <= geometry.levels; i++)
		kfree(memory[i]);
	kvfree(least);
	bench_finish(row, n);
	return err;
}

static const struct bench_row bench_hold_rows[] = {
	{ &bench_hwheel_relative, BENCH_MS },
};

/* memory: bytes per timer. The debugfs file config tells the memory of a wheel. */
static int bench_run_memory(const struct bench_row *row, u64 n, s64 *result)
{
	if (row->kind == &bench_hwheel_relative)
		result[0] = sizeof(struct hwheel_timer) * 100;
	else if (row->kind == &bench_timer_relative)
		result[0] = sizeof(struct timer_list) * 100;
	else
		result[0] = sizeof(struct hrtimer) * 100;
	return 0;
}

static const struct bench_row bench_memory_rows[] = {
	{ &bench_hwheel_relative },
	{ &bench_timer_relative },
	{ &bench_hard_relative },
};

/*
 * smp: one thread on each of 1 to BENCH_CPUS CPUs, each with its own timers, for half a
 * second. There are four ways:
 *
 * - own: the thread arms, re-arms and cancels its timers itself.
 * - handed: the thread arms its timers, and the next CPU's thread cancels them. The two
 *   threads hand batches of timers over and back.
 * - rearmed: the same, but the other thread re-arms them.
 * - beside: the same as handed, with half of the timers. The others expire meanwhile on the
 *   CPU that has armed them, at least BENCH_SOON ns later. They do not count as operations.
 *
 * A second set of operations, of the same size, re-arms the same timers for other times.
 */
#define BENCH_OWN	16384		/* timers of a thread */
#define BENCH_OWN_OPS	(2 * BENCH_OWN)
#define BENCH_BATCH	512
#define BENCH_BATCHES	(BENCH_OWN / BENCH_BATCH)
#define BENCH_CPUS	4
#define BENCH_SMP_MS	500
#define BENCH_SOON	(10 * BENCH_MS)

struct bench_thread {
	const struct bench_row	*row;
	struct task_struct	*task;
	unsigned int		nr, of;
	u64			done;		/* operations */
	ktime_t			time;		/* that they took */
	struct completion	*go, finished;
	void			(*loop)(struct bench_thread *thread);
	bool			armed[BENCH_BATCHES];	/* handed over */
} ____cacheline_aligned;

static struct bench_thread bench_threads[BENCH_CPUS];
static bool bench_stop;

static void bench_own(struct bench_thread *thread)
{
	const struct bench_kind *kind = thread->row->kind;
	unsigned int i, first = thread->nr * BENCH_OWN_OPS, again = first + BENCH_OWN;

	for (i = 0; !READ_ONCE(bench_stop); i = (i + BENCH_BATCH) % BENCH_OWN) {
		kind->arm(first + i, first + i + BENCH_BATCH);
		kind->arm(again + i, again + i + BENCH_BATCH);
		kind->cancel(first + i, first + i + BENCH_BATCH);
		thread->done += 3 * BENCH_BATCH;
	}
}

/* Hand over batch @i of this thread, and take over that of the next one. */
static __always_inline void bench_hand(struct bench_thread *thread, unsigned int i,
				       void (*take)(unsigned int from, unsigned int to),
				       unsigned int shift)
{
	unsigned int next = (thread->nr + 1) % thread->of;
	bool *mine = thread->armed, *other = bench_threads[next].armed;
	unsigned int from;

	/* Pairs with the last release below: the batch is this thread's again */
	if (!smp_load_acquire(&mine[i])) {
		from = thread->nr * BENCH_OWN_OPS + i * BENCH_BATCH;
		thread->row->kind->arm(from, from + BENCH_BATCH);
		thread->done += BENCH_BATCH;
		/* Pairs with the acquire below: the batch is armed. */
		smp_store_release(&mine[i], true);
	}
	/* Pairs with the release above. */
	if (smp_load_acquire(&other[i])) {
		from = next * BENCH_OWN_OPS + i * BENCH_BATCH + shift;
		take(from, from + BENCH_BATCH);
		thread->done += BENCH_BATCH;
		/* Pairs with the first acquire. */
		smp_store_release(&other[i], false);
	}
	cond_resched();
}

static void bench_handed(struct bench_thread *thread)
{
	unsigned int i;

	for (i = 0; !READ_ONCE(bench_stop); i = (i + 1) % BENCH_BATCHES)
		bench_hand(thread, i, thread->row->kind->cancel, 0);
}

static void bench_rearmed(struct bench_thread *thread)
{
	unsigned int i;

	for (i = 0; !READ_ONCE(bench_stop); i = (i + 1) % BENCH_BATCHES)
		bench_hand(thread, i, thread->row->kind->arm, BENCH_OWN);
}

static void bench_beside(struct bench_thread *thread)
{
	unsigned int i, soon = thread->nr * BENCH_OWN_OPS + BENCH_OWN / 2;
	ktime_t again = 0;

	for (i = 0; !READ_ONCE(bench_stop); i = (i + 1) % (BENCH_BATCHES / 2)) {
		if (ktime_get() >= again) {
			thread->row->kind->arm(soon, soon + BENCH_OWN / 2);
			again = ktime_get() + 5 * BENCH_SOON;
		}
		bench_hand(thread, i, thread->row->kind->cancel, 0);
	}
}

static int bench_smp_thread(void *data)
{
	struct bench_thread *thread = data;
	ktime_t start;

	wait_for_completion(thread->go);
	start = ktime_get();
	thread->loop(thread);
	thread->time = ktime_get() - start;
	complete(&thread->finished);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 100);
	return 0;
}

static void bench_fill_smp(const struct bench_row *row, unsigned int first)
{
	unsigned int i, again = first + BENCH_OWN;

	bench_fill(row, first, again, BENCH_MINUTE, BENCH_HOUR);
	bench_fill(row, again, again + BENCH_OWN, BENCH_MINUTE, BENCH_HOUR);
	for (i = 0; i < BENCH_OWN; i++)
		bench_op(again + i)->object = bench_op(first + i)->object;
}

/* For bench_beside(): the timers of the second half expire 4 times BENCH_SOON later at most */
static void bench_fill_beside(const struct bench_row *row, unsigned int first)
{
	unsigned int middle = first + BENCH_OWN / 2;

	bench_fill(row, first, middle, BENCH_MINUTE, BENCH_HOUR);
	bench_fill(row, middle, first + BENCH_OWN, BENCH_SOON, 4 * BENCH_SOON);
}

/* Operations per second of @cpus threads */
static int bench_smp(const struct bench_row *row, unsigned int cpus,
		     void (*loop)(struct bench_thread *thread), s64 *result)
{
	DECLARE_COMPLETION_ONSTACK(go);
	unsigned int i, n = 0;
	int cpu, err = 0;
	u64 rate = 0;

	WRITE_ONCE(bench_stop, false);
	for_each_online_cpu(cpu) {
		struct bench_thread *thread = &bench_threads[n];

		if (n == cpus)
			break;
		memset(thread, 0, sizeof(*thread));
		init_completion(&thread->finished);
		thread->row = row;
		thread->nr = n;
		thread->of = cpus;
		thread->go = &go;
		thread->loop = loop;
		if (loop == bench_beside)
			bench_fill_beside(row, n * BENCH_OWN_OPS);
		else
			bench_fill_smp(row, n * BENCH_OWN_OPS);
		thread->task = kthread_create(bench_smp_thread, thread, "hwheel_bench/%d", cpu);
		if (IS_ERR(thread->task)) {
			err = PTR_ERR(thread->task);
			break;
		}
		kthread_bind(thread->task, cpu);
		wake_up_process(thread->task);
		n++;
	}

	complete_all(&go);
	if (!err)
		msleep(BENCH_SMP_MS);
	WRITE_ONCE(bench_stop, true);
	for (i = 0; i < n; i++) {
		struct bench_thread *thread = &bench_threads[i];

		wait_for_completion(&thread->finished);
		kthread_stop(thread->task);
		rate += div64_u64(thread->done * NSEC_PER_SEC, thread->time);
	}
	*result = rate * 100;
	return err;
}

static int bench_run_smp(const struct bench_row *row, u64 cpus, s64 *result)
{
	u64 n = cpus * BENCH_OWN_OPS;
	int err = bench_begin(row, n, BENCH_COUNT);

	if (err)
		return err;
	err = bench_smp(row, cpus, bench_own, &result[0]) ?:
	      bench_smp(row, cpus, bench_handed, &result[1]) ?:
	      bench_smp(row, cpus, bench_rearmed, &result[2]);
	/* Absolute times of timers that expire would be past the second time */
	result[3] = BENCH_NONE;
	if (!err && strcmp(row->kind->variant, "absolute"))
		err = bench_smp(row, cpus, bench_beside, &result[3]);
	bench_finish(row, n);
	return err;
}

static const struct bench_row bench_smp_rows[] = {
	{ &bench_timer_relative },
	{ &bench_hwheel_relative, BENCH_MS },
	{ &bench_hwheel_absolute, BENCH_MS },
	{ &bench_hwheel_slack, BENCH_MS },
	{ &bench_hard_relative },
	{ &bench_soft_relative },
};

static const struct bench_row bench_work_rows[] = {
	{ &bench_stock_work },
	{ &bench_hwheel_work, BENCH_MS },
};

/* sleep: how late a task wakes up, and what arming and cancelling its timer costs */
static int bench_run_sleep(const struct bench_row *row, u64 ms, s64 *result)
{
	s64 each[BENCH_PASSES];
	unsigned int i;
	int err = bench_begin(row, 0, BENCH_COUNT);

	if (err)
		return err;
	bench_period = ms * BENCH_MS;
	bench_expect(0);
	row->kind->arm(0, BENCH_SLEEPS);
	result[0] = bench_late_percentile(BENCH_SLEEPS, 500) * 100;
	result[1] = bench_late_max * 100;
	result[2] = bench_late_min * 100;
	for (i = 0; i < BENCH_PASSES && row->kind->rearm; i++) {
		ktime_t start = ktime_get();

		row->kind->rearm(0, BENCH_NAPS / BENCH_PASSES);
		each[i] = bench_each(ktime_get() - start, BENCH_NAPS / BENCH_PASSES);
	}
	result[3] = row->kind->rearm ? bench_median(each, BENCH_PASSES) : BENCH_NONE;
	bench_finish(row, 0);
	return 0;
}

static const struct bench_row bench_sleep_rows[] = {
	{ &bench_sleeps[0] },
	{ &bench_sleeps[1] },
	{ &bench_sleeps[2] },
	{ &bench_sleeps[3] },
	{ &bench_sleeps[4] },
	{ &bench_sleeps[5], BENCH_MS },
	{ &bench_sleeps[5], BENCH_US },
};

static const struct bench_group bench_groups[] = {
	{
		.name	= "core",
		.rows	= bench_core_rows, .nr_rows = ARRAY_SIZE(bench_core_rows),
		.ops	= { "arm", "rearm", "cancel" },
		.units	= { "ns", "ns", "ns" },
		.run	= bench_run_core,
	}, {
		.name	= "expire",
		.rows	= bench_expire_rows, .nr_rows = ARRAY_SIZE(bench_expire_rows),
		.ops	= { "expire" },
		.units	= { "ns" },
		.most	= BENCH_MILLION,
		.run	= bench_run_expire,
	}, {
		.name	= "life",
		.rows	= bench_life_rows, .nr_rows = ARRAY_SIZE(bench_life_rows),
		.ops	= { "life", "life_interrupts", "life_settings" },
		.units	= { "ns", "1/1000", "1/1000" },
		.counts	= { BENCH_MILLION, IS_ENABLED(CONFIG_KPROBES) ? BENCH_LONELY : 0 },
		.run	= bench_run_life,
	}, {
		.name	= "wheels",
		.rows	= bench_wheels_rows, .nr_rows = ARRAY_SIZE(bench_wheels_rows),
		.ops	= { "wheels_life", "wheels_interrupts", "wheels_settings" },
		.units	= { "ns", "1/1000", "1/1000" },
		.counts	= { 1, 10, BENCH_WHEELS },
		.count_name = "wheels",
		.run	= bench_run_wheels,
	}, {
		.name	= "mix",
		.rows	= bench_mix_rows, .nr_rows = ARRAY_SIZE(bench_mix_rows),
		.ops	= { "mix" },
		.units	= { "ns" },
		.most	= BENCH_MILLION,
		.run	= bench_run_mix,
	}, {
		.name	= "late",
		.rows	= bench_late_rows, .nr_rows = ARRAY_SIZE(bench_late_rows),
		.ops	= { "late_p50", "late_p99", "late_p999", "late_max", "late_min" },
		.units	= { "ns", "ns", "ns", "ns", "ns" },
		.most	= BENCH_MILLION, .only_most = true, .once = true,
		.run	= bench_run_late,
	}, {
		.name	= "wakeups",
		.rows	= bench_wakeups_rows, .nr_rows = ARRAY_SIZE(bench_wakeups_rows),
		.ops	= { "interrupts", "idle_interrupts", "expirations" },
		.units	= { "1/s", "1/s", "1/s" },
		.counts	= { 0, 1, 1000, BENCH_MILLION }, .once = true,
		.run	= bench_run_wakeups,
	}, {
		.name	= "cascade",
		.rows	= bench_cascade_rows, .nr_rows = ARRAY_SIZE(bench_cascade_rows),
		.ops	= { "lock_hold", "probe_late" },
		.units	= { "ns", "ns" },
		.counts	= { 0, BENCH_MILLION },
		.run	= bench_run_cascade,
	}, {
		.name	= "bounds",
		.rows	= bench_bounds_rows, .nr_rows = ARRAY_SIZE(bench_bounds_rows),
		.ops	= { "bound_late", "bound_locked" },
		.units	= { "ns", "ns" },
		.counts	= { 1 }, .once = true,
		.run	= bench_run_bounds,
	}, {
		.name	= "hold",
		.rows	= bench_hold_rows, .nr_rows = ARRAY_SIZE(bench_hold_rows),
		.ops	= { "moves_hold", "moves_hold_any" },
		.units	= { "ns", "ns" },
		.counts	= { BENCH_MILLION }, .once = true,
		.run	= bench_run_hold,
	}, {
		.name	= "memory",
		.rows	= bench_memory_rows, .nr_rows = ARRAY_SIZE(bench_memory_rows),
		.ops	= { "timer_size" },
		.units	= { "bytes" },
		.counts	= { 1 }, .once = true,
		.run	= bench_run_memory,
	}, {
		.name	= "smp",
		.rows	= bench_smp_rows, .nr_rows = ARRAY_SIZE(bench_smp_rows),
		.ops	= { "own", "handed", "rearmed", "beside" },
		.units	= { "1/s", "1/s", "1/s", "1/s" },
		.counts	= { 1, 2, 4 }, .count_name = "cpus",
		.run	= bench_run_smp,
	}, {
		.name	= "years",
		.rows	= bench_years_rows, .nr_rows = ARRAY_SIZE(bench_years_rows),
		.ops	= { "late_min", "late_p50", "late_max" },
		.units	= { "ns", "ns", "ns" },
		.counts	= {
			1, 10, 100, 1000, 10000, 60000, 600000, 3600000, 6 * 3600000,
			24 * 3600000, 7 * 24 * 3600000, 30ULL * 24 * 3600000,
			91ULL * 24 * 3600000, 365ULL * 24 * 3600000,
		},
		.count_name = "delay_ms", .once = true,
		.run	= bench_run_years,
	}, {
		.name	= "lone",
		.rows	= bench_lone_rows, .nr_rows = ARRAY_SIZE(bench_lone_rows),
		.ops	= { "interrupts_total" },
		.units	= { "1" },
		.counts	= { 1000, 24 * 3600000 },
		.count_name = "delay_ms", .once = true,
		.run	= bench_run_lone,
	}, {
		.name	= "work",
		.rows	= bench_work_rows, .nr_rows = ARRAY_SIZE(bench_work_rows),
		.ops	= { "work_queue", "work_mod", "work_cancel" },
		.units	= { "ns", "ns", "ns" },
		.counts	= { BENCH_WORKS },
		.run	= bench_run_core,
	}, {
		.name	= "sleep",
		.rows	= bench_sleep_rows, .nr_rows = ARRAY_SIZE(bench_sleep_rows),
		.ops	= { "sleep_p50", "sleep_max", "sleep_min", "sleep_cost" },
		.units	= { "ns", "ns", "ns", "ns" },
		.counts	= { 1, 10, 30 },
		.count_name = "delay_ms",
		.run	= bench_run_sleep,
	},
};

/* ------------------------------------------------------------------------ */
/* Rounds and results */

/* The text of a number that is given in hundredths */
struct bench_text {
	char	text[32];
};

static struct bench_text bench_fixed(s64 value)
{
	struct bench_text text;
	u32 rest;
	u64 whole = div_u64_rem(abs(value), 100, &rest);

	snprintf(text.text, sizeof(text.text), "%s%llu.%02u", value < 0 ? "-" : "", whole, rest);
	return text;
}

/* Are the numbers of @group those of @name, and not of pending timers? */
static bool bench_counts(const struct bench_group *group, const char *name)
{
	return group->count_name && !strcmp(group->count_name, name);
}

static void bench_print(const struct bench_group *group, const struct bench_row *row,
			unsigned int op, u64 count, s64 *sample, unsigned int nr)
{
	bool cpus = bench_counts(group, "cpus"), delay = bench_counts(group, "delay_ms");
	bool wheels = bench_counts(group, "wheels");
	/* In the group expire, crosses tells these rows apart */
	bool wide = row->spokes && group->run == bench_run_life;

	bench_median(sample, nr);	/* sorts them; rounds without a result come first */
	for (; nr && *sample == BENCH_NONE; nr--)
		sample++;
	if (!nr)
		return;
	pr_info("subject=%s op=%s variant=%s%s%s%s tick_ns=%llu crosses=%u pending=%llu delay_ms=%llu cpus=%llu wheels=%llu median=%s min=%s max=%s unit=%s\n",
		row->kind->subject, group->ops[op], row->kind->variant,
		row->gap_ns ? "_gap" : "", wide ? "_wide" : "",
		row->context == HWHEEL_HARDIRQ ? "_hardirq" : "", row->tick_ns, row->crosses,
		cpus ? count * BENCH_OWN : delay ? 1 : wheels ? BENCH_SPREAD_TIMERS : count,
		delay ? count : 0, cpus ? count : 1, wheels ? count : 1,
		bench_fixed(sample[nr / 2]).text, bench_fixed(sample[0]).text,
		bench_fixed(sample[nr - 1]).text, group->units[op]);
}

/* All rounds of a group for one number of timers. */
static int bench_count(const struct bench_group *group, u64 count)
{
	unsigned int nr = group->once ? 1 : rounds;
	s64 (*sample)[BENCH_OPS][BENCH_ROUNDS];
	unsigned int i, j, op, round;
	int err = 0;

	sample = kcalloc(group->nr_rows, sizeof(*sample), GFP_KERNEL);
	if (!sample)
		return -ENOMEM;
	for (round = 0; round < nr; round++) {
		for (i = 0; i < group->nr_rows; i++) {
			const struct bench_row *row;
			s64 result[BENCH_OPS] = {};

			j = (i + round) % group->nr_rows;
			row = &group->rows[j];
			if (row->most && count > row->most)
				continue;
			/* All rows of a round have the same random order and delays. */
			bench_random_seed(round);
			err = group->run(row, count, result);
			if (err)
				goto out;
			for (op = 0; op < BENCH_OPS; op++)
				sample[j][op][round] = result[op];
		}
	}
	for (i = 0; i < group->nr_rows; i++) {
		const struct bench_row *row = &group->rows[i];

		if (row->most && count > row->most)
			continue;
		for (op = 0; op < BENCH_OPS && group->ops[op]; op++)
			bench_print(group, row, op, count, sample[i][op], nr);
	}
out:
	kfree(sample);
	return err;
}

static int bench_group(const struct bench_group *group)
{
	bool cpus = bench_counts(group, "cpus"), delay = bench_counts(group, "delay_ms");
	u64 count, most = 0;
	unsigned int i;
	int err = 0;

	if (group->run == bench_run_smp || group->counts[0] || group->counts[1]) {
		for (i = 0; i < BENCH_COUNTS && (!i || group->counts[i]) && !err; i++) {
			count = group->counts[i];
			if (cpus ? count <= num_online_cpus() : delay || count <= bench_most)
				err = bench_count(group, count);
		}
		return err;
	}
	for (i = 0; i < nr_pending && !err; i++) {
		if (group->most && pending[i] > group->most)
			continue;
		most = max_t(u64, most, pending[i]);
		if (!group->only_most)
			err = bench_count(group, pending[i]);
	}
	if (group->only_most && most)
		err = bench_count(group, most);
	return err;
}

static bool bench_asked(const char *name)
{
	size_t length = strlen(name);
	const char *at = what;

	while ((at = strstr(at, name))) {
		if ((at == what || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
		at += length;
	}
	return false;
}

static void bench_free(void)
{
	unsigned int i;

	for (i = 0; bench_objects && i < DIV_ROUND_UP(bench_most, BENCH_OBJECTS_CHUNK); i++)
		kvfree(bench_objects[i]);
	for (i = 0; bench_ops && i < DIV_ROUND_UP(bench_most, BENCH_OPS_CHUNK); i++)
		kvfree(bench_ops[i]);
	kfree(bench_objects);
	kfree(bench_ops);
}

static int bench_alloc(void)
{
	unsigned int i, objects, ops;

	bench_most = BENCH_OWN_OPS * BENCH_CPUS;
	for (i = 0; i < nr_pending; i++)
		bench_most = max_t(unsigned int, bench_most, pending[i]);
	if (bench_asked("work"))
		bench_most = max_t(unsigned int, bench_most, BENCH_WORKS * BENCH_WORK_WIDTH);
	objects = DIV_ROUND_UP(bench_most, BENCH_OBJECTS_CHUNK);
	ops = DIV_ROUND_UP(bench_most, BENCH_OPS_CHUNK);

	bench_objects = kcalloc(objects, sizeof(*bench_objects), GFP_KERNEL);
	bench_ops = kcalloc(ops, sizeof(*bench_ops), GFP_KERNEL);
	if (!bench_objects || !bench_ops)
		return -ENOMEM;
	for (i = 0; i < objects; i++) {
		bench_objects[i] = kvzalloc(BENCH_CHUNK, GFP_KERNEL);
		if (!bench_objects[i])
			return -ENOMEM;
	}
	for (i = 0; i < ops; i++) {
		bench_ops[i] = kvzalloc(BENCH_CHUNK, GFP_KERNEL);
		if (!bench_ops[i])
			return -ENOMEM;
	}
	for (i = 0; i < BENCH_LISTS; i++)
		INIT_LIST_HEAD(&floor_lists[i]);
	return 0;
}

struct bench_main {
	struct completion	finished;
	int			err;
};

static int bench_main(void *data)
{
	struct bench_main *control = data;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(bench_groups) && !err; i++) {
		if (!bench_asked(bench_groups[i].name))
			continue;
		err = bench_group(&bench_groups[i]);
		if (err)
			pr_err("%s failed: %pe\n", bench_groups[i].name, ERR_PTR(err));
	}
	control->err = err;
	complete(&control->finished);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 100);
	return 0;
}

static int __init bench_init(void)
{
	struct bench_main control = {};
	struct task_struct *task;
	int err;

	if (!rounds || rounds > BENCH_ROUNDS) {
		pr_err("rounds=%u: 1 to %d are possible\n", rounds, BENCH_ROUNDS);
		return -EINVAL;
	}
	err = bench_alloc();
	if (err)
		goto out;
	init_completion(&control.finished);
	task = kthread_create(bench_main, &control, "hwheel_bench");
	if (IS_ERR(task)) {
		err = PTR_ERR(task);
		goto out;
	}
	kthread_bind(task, 0);
	wake_up_process(task);
	wait_for_completion(&control.finished);
	kthread_stop(task);
	err = control.err;
out:
	bench_free();
	return err;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Benchmark of hwheel, timer_list and hrtimer");
MODULE_LICENSE("GPL");
