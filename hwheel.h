/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hwheel - exact timers on hierarchical wheels
 *
 * Arming and cancelling an hwheel timer costs as much as with timer_list: O(1), whatever
 * the number of timers. The timer is exact to one tick of its wheel, whether it is due in
 * a millisecond or in a year.
 *
 *	use		for
 *	hwheel		many timers that are armed, re-armed and cancelled all the time,
 *			and that must be exact when they expire: session and protocol
 *			timeouts, pacing, leases
 *	hrtimer		a few timers that must be exact to the microsecond
 *	timer_list	a few timers that may be late by an eighth of their delay
 *
 * All exports are GPL only.
 */
#ifndef _HWHEEL_H
#define _HWHEEL_H

/**
 * DOC: Guarantees
 *
 * These hold unless a line below says otherwise:
 *
 * 1.  Never early: no callback runs before the time for which its timer was armed.
 * 2.  Exact at any range: a timer is due at the first tick at or after its time.
 *     No time up to KTIME_MAX is clamped, refused or lost.
 * 3.  Exactly once: a callback runs once per arming, unless a later arming replaces
 *     that arming, or a cancel returns true.
 * 4.  Arming can not fail and allocates nothing. It works on any CPU, from any
 *     callback, and in any context but NMI. The caller must not hold a lock of the
 *     scheduler (rq->lock, pi_lock), as a probe of a sched tracepoint does: arming may
 *     queue work, and so wake a task.
 * 5.  After a call whose name ends in _sync, the timer is not pending and its callback is
 *     not running, unless somebody has armed the timer meanwhile. A callback may re-arm,
 *     cancel, shut down or free its own timer.
 * 6.  Bounded: one formula says how late a callback can begin, see
 *     Documentation/late.rst. No term of this formula grows with the number of timers
 *     that are not due, if hwheel has the memory and the time that it needs to move them
 *     in advance: see "Why the bound holds" there. hwheel holds a lock, or keeps
 *     interrupts off, for at most 32 list moves (HWHEEL_BATCH), however many timers
 *     there are. There are two exceptions. In hardirq context, a run of callbacks may
 *     keep interrupts off until the run has used up its budget. When somebody sets a
 *     clock back, hwheel splices the lists of up to 55 spokes under one lock hold. It
 *     may do this for several CPUs and wheels before it lets interrupts in. If callbacks
 *     use up the wheel's budget, the remaining callbacks begin in a later run, in order.
 *     The counter budget_overruns counts the runs that the budget cut.
 * 7.  Quiet: without timers there are no interrupts, except one when somebody sets a clock.
 *     Cancelling the next timer to expire may still cost one interrupt. hwheel counts that
 *     interrupt as idle.
 * 8.  Order: on one CPU, timers of one wheel that are due at different ticks run in the
 *     order of those ticks, and those of one tick in any order. A timer that is armed for
 *     the past counts as due at the last tick that hwheel has seen pass on that CPU.
 * 9.  While a CPU is offline, another CPU runs its timers, at the same times.
 * 10. If a wheel is destroyed while timers are pending on it, hwheel warns,
 *     cancels them, and waits for the callbacks that are running.
 */

/*
 * hwheel warns of mistakes that would corrupt memory or go unseen:
 *
 * - Arming, or waiting for, a timer that was never set up and whose memory is all zeroes. Such a
 *   timer can't be armed
 * - Setting up a timer with unknown flags, or arming it with an unknown mode
 * - Arming a timer on an impossible CPU
 * - Waiting for callbacks in hardirq context
 * - Destroying a wheel with timers pending, or the module's own wheel
 *
 * The debugging options of the kernel find the rest. CONFIG_DEBUG_OBJECTS_TIMERS finds and repairs
 * timers that were never set up, whatever their memory holds, and timers that are set up or freed
 * while pending. CONFIG_LOCKDEP finds a caller that waits for a callback, or for all callbacks of a
 * wheel, and so waits for itself: it is that callback, or it holds a lock that the callback takes.
 * To sleep on a wheel, or to destroy it, is to wait for its callbacks. Nothing finds a timer that
 * is armed after its wheel was destroyed: its base is memory of a CPU, which KASAN does not watch.
 */

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/lockdep_types.h>
#include <linux/sched.h>
#include <linux/stringify.h>
#include <linux/time.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/*
 * The version of hwheel. HWHEEL_VERSION is for #if: it is 1002 for version 1.2. See
 * Documentation/stability.rst.
 */
#define HWHEEL_MAJOR	1
#define HWHEEL_MINOR	0
#define HWHEEL_VERSION	(HWHEEL_MAJOR * 1000 + HWHEEL_MINOR)

/*
 * Each module that includes this file refers to this symbol. Only an hwheel.ko of the same version
 * exports the symbol. So the kernel refuses a module that was built with another version of this
 * file. tools/graft leaves the reference out: a kernel's tree has one version only.
 */
extern const char hwheel_version_1_0[];
#ifdef MODULE
__ADDRESSABLE(hwheel_version_1_0)
#endif

#define HWHEEL_MAX_LEVELS	8
#define HWHEEL_MIN_SPOKES	2
#define HWHEEL_MAX_SPOKES	4096
#define HWHEEL_MIN_TICK_NS	1000
#define HWHEEL_NAME_MAX		31

struct hwheel;
struct hwheel_base;

/**
 * struct hwheel_timer - a timer, embedded in the structure it belongs to
 *
 * Set up the timer with hwheel_setup() or DEFINE_HWHEEL_TIMER(), and use it through
 * the functions below. All members are private. The size is 48 bytes on 64-bit
 * without CONFIG_LOCKDEP.
 */
struct hwheel_timer {
	/* private: */
	struct list_head	entry;		/* in a spoke; next is NULL if not pending */
	ktime_t			expires;	/* ns on the wheel's clock */
	void			(*function)(struct hwheel_timer *timer);
	struct hwheel_base	*base;		/* its wheel's base on a CPU */
	u32			flags;		/* HWHEEL_PINNED */
	struct lockdep_map	lockdep_map;	/* class of the callback; empty without lockdep */
};

/*
 * hwheel_setup() flag: the callback may run on an isolated CPU. Without the flag, hwheel chooses
 * another CPU if the one that arms the timer is isolated
 */
#define HWHEEL_PINNED		BIT(0)
/* For hwheel's own use */
#define __HWHEEL_SHUT_DOWN	BIT(29)	/* nobody can arm the timer */
#define __HWHEEL_IRQS_OFF	BIT(30)	/* interrupts are off in the callback */
#define __HWHEEL_ON_STACK	BIT(31)

/**
 * enum hwheel_context - where the callbacks of a wheel run
 * @HWHEEL_SOFTIRQ: in softirq context, as for timer_list
 * @HWHEEL_HARDIRQ: in the timer interrupt, with interrupts off, also on PREEMPT_RT;
 *	only for the few callbacks that need it
 * @HWHEEL_WORK: in process context, in a workqueue's worker. Callbacks may sleep. A
 *	callback that sleeps delays the callbacks behind it on its CPU
 */
enum hwheel_context {
	HWHEEL_SOFTIRQ = 0,
	HWHEEL_HARDIRQ,
	HWHEEL_WORK,
};

/*
 * Flags of a wheel, in hwheel_config.flags. At most one of them names the clock, instead of
 * CLOCK_MONOTONIC. The kernel's own names would not do: CLOCK_REALTIME is 0.
 */
#define HWHEEL_DEFERRABLE	BIT(9)	/* wake no idle CPU: due timers wait until it wakes */
#define HWHEEL_BOOTTIME		BIT(10)	/* CLOCK_BOOTTIME: goes on during a suspend */
#define HWHEEL_REALTIME		BIT(11)	/* CLOCK_REALTIME: wall time, UTC */
#define HWHEEL_TAI		BIT(12)	/* CLOCK_TAI: wall time without leap seconds */

/**
 * struct hwheel_config - how hwheel_create() makes a wheel
 * @name: unique among the wheels of all modules: begin it with your module's name. 1 to 31
 *	characters, without a '/' or a newline, and neither "." nor "..". It names the wheel's
 *	debugfs directory
 * @tick_ns: width of a spoke of level 0 in nanoseconds, 1000 or more; 0: 1 ms
 * @levels: number of levels, 1 to HWHEEL_MAX_LEVELS; 0: 5, or fewer if the reach of 5
 *	levels would exceed S64_MAX nanoseconds
 * @spokes: number of spokes of each level, 2 to 4096; 0: as the level below, and 128 in
 *	level 0. Powers of two are a little faster
 * @context: where callbacks run
 * @budget_ns: how long one run of callbacks may keep its CPU, in nanoseconds;
 *	0: 2 ms, and 100 us in hardirq context. The end of the budget does not
 *	interrupt a callback. In hardirq context the run ends after the callback that
 *	uses up the budget. In other contexts up to 7 more callbacks may run
 * @wq: the workqueue that runs the callbacks of an HWHEEL_WORK wheel; NULL: the kernel's, on the
 *	timer's CPU. With a workqueue that has WQ_UNBOUND, such as system_dfl_wq, callbacks may run
 *	on any CPU. A driver that waits for a callback to free memory needs a workqueue of its own
 *	with WQ_MEM_RECLAIM. Destroy the wheel before the workqueue
 * @flags: 0, or HWHEEL_DEFERRABLE, one clock, or both. The clock is one of
 *	HWHEEL_BOOTTIME, HWHEEL_REALTIME or HWHEEL_TAI. Without a clock: CLOCK_MONOTONIC.
 *	HWHEEL_DEFERRABLE goes with neither HWHEEL_HARDIRQ nor HWHEEL_BOOTTIME. Callbacks of a
 *	deferrable wheel run at the first jiffy at or after their tick. On an idle CPU they
 *	wait for the first jiffy at which the CPU is awake
 * @gap_ns: after a run of callbacks, hwheel waits at least this many nanoseconds before the
 *	next run on that CPU; 0 (no gap) to 1 second. So a busy wheel has fewer interrupts,
 *	and a timer may be late by @gap_ns more. If no callback has run for @gap_ns, the gap
 *	delays no timer. A run may be cut with work left, for example when it has used up its
 *	budget. Then hwheel leaves the CPU to others for some time. When that time is over, hwheel
 *	goes on, even if the gap ends later: see "Gaps, rests and breaks" in module/run.c
 * @clock_set: called with the wheel, in process context, after somebody has set its clock
 *	(only with HWHEEL_REALTIME or HWHEEL_TAI), after a leap second, and after the machine has
 *	resumed. It may also be called when the clock has not changed. If somebody
 *	sets the clock again before hwheel has called the function, hwheel may call it only
 *	once. The function must not destroy the wheel. NULL: no call
 *
 * Timers of CLOCK_REALTIME and CLOCK_TAI keep wall time when the clock is set, forward or
 * back, when a leap second is inserted or deleted, and when the machine is suspended. If a
 * timer is armed with a delay, hwheel adds the delay to the wheel's clock at once. The timer
 * keeps that instant when the clock is set, as an absolute hrtimer does. If a delay must not
 * change when the clock is set, use a wheel of another clock.
 *
 * In each member but @name, 0 asks for the default.
 */
struct hwheel_config {
	const char		*name;
	u64			tick_ns;
	unsigned int		levels;
	unsigned int		spokes[HWHEEL_MAX_LEVELS];
	enum hwheel_context	context;
	u64			budget_ns;
	struct workqueue_struct	*wq;
	unsigned int		flags;
	u64			gap_ns;
	void			(*clock_set)(struct hwheel *wheel);
};

/* All modules share this wheel. The parameters of hwheel.ko are for it */
extern struct hwheel *hwheel_system;

struct hwheel *hwheel_create(const struct hwheel_config *config);
void hwheel_destroy(struct hwheel *wheel);

/* The base of a DEFINE_HWHEEL_TIMER() timer until the timer is first used */
#define __HWHEEL_SYSTEM_BASE	((struct hwheel_base *)1)

#ifdef CONFIG_LOCKDEP
/* A string is static, so it can serve as the key */
#define __HWHEEL_HERE		(__FILE__ ":" __stringify(__LINE__))
#define __HWHEEL_LOCKDEP_MAP	\
	.lockdep_map = { .name = __HWHEEL_HERE, .key = (void *)__HWHEEL_HERE },
#else
#define __HWHEEL_LOCKDEP_MAP
#endif

#define __HWHEEL_TIMER_INITIALIZER(_function, _flags)		\
	{							\
		.function	= (_function),			\
		.base		= __HWHEEL_SYSTEM_BASE,		\
		.flags		= (_flags),			\
		__HWHEEL_LOCKDEP_MAP				\
	}

/**
 * DEFINE_HWHEEL_TIMER - define a timer on the module's own wheel, at build time
 * @name: name of the variable; static may stand before the macro
 * @_function: the callback
 */
#define DEFINE_HWHEEL_TIMER(name, _function)			\
	struct hwheel_timer name = __HWHEEL_TIMER_INITIALIZER(_function, 0)

void __hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		    void (*function)(struct hwheel_timer *timer),
		    unsigned int flags, const char *name, struct lock_class_key *key);

/**
 * hwheel_setup - make a timer ready to be armed
 * @timer: the timer, which must not be pending
 * @wheel: its wheel: hwheel_system, or a wheel that you have created
 * @function: its callback, which is called with @timer. struct hwheel_config
 *	says where callbacks run
 * @flags: 0 or HWHEEL_PINNED
 *
 * The timer's memory may hold anything, so hwheel can't see whether it is pending. To set up a
 * pending timer corrupts its wheel. CONFIG_DEBUG_OBJECTS_TIMERS finds this mistake, and cancels
 * the timer first.
 *
 * A callback may set up its own timer again. hwheel_cancel_sync() may then
 * return while that callback is still running.
 *
 * Each place that sets up timers has a lockdep class of its own.
 *
 * Context: any.
 */
#define hwheel_setup(timer, wheel, function, flags)				\
	do {									\
		static struct lock_class_key __key;				\
										\
		__hwheel_setup(timer, wheel, function, flags, #timer, &__key);	\
	} while (0)

/**
 * hwheel_setup_on_stack - hwheel_setup() for a timer on the stack
 * @timer: the timer
 * @wheel: its wheel
 * @function: its callback
 * @flags: 0 or HWHEEL_PINNED
 *
 * Call hwheel_destroy_on_stack() before your function returns.
 *
 * Context: any.
 */
#define hwheel_setup_on_stack(timer, wheel, function, flags)			\
	hwheel_setup(timer, wheel, function, (flags) | __HWHEEL_ON_STACK)

void hwheel_destroy_on_stack(struct hwheel_timer *timer);

/**
 * hwheel_container_of - get the structure in which a callback's timer is embedded
 * @var: a pointer to that structure, as in from_timer(); only its type matters
 * @callback_timer: the timer that was passed to the callback
 * @member: name of the timer in the structure
 *
 * Return: the structure's address.
 */
#define hwheel_container_of(var, callback_timer, member)	\
	container_of(callback_timer, typeof(*(var)), member)

/*
 * The sources describe each of the following calls above its function; "make htmldocs" makes a page
 * of that. In short: they can be called in any context but NMI, those that wait excepted.
 */

/* Arm or re-arm. Return true if the timer was pending */
bool hwheel_add(struct hwheel_timer *timer, ktime_t delay);
bool hwheel_add_range(struct hwheel_timer *timer, ktime_t delay, ktime_t slack);
bool hwheel_add_at(struct hwheel_timer *timer, ktime_t expires, ktime_t slack);
bool hwheel_add_on(struct hwheel_timer *timer, ktime_t delay, int cpu);

/* Modes of hwheel_add_mode(): @when is an instant */
#define HWHEEL_MODE_ABS		BIT(8)
/* Only if the timer is pending */
#define HWHEEL_MODE_PENDING	BIT(9)
/* Only if the timer is not pending, or pending for later; with PENDING: if pending for later */
#define HWHEEL_MODE_EARLIER	BIT(10)

bool hwheel_add_mode(struct hwheel_timer *timer, ktime_t when, ktime_t slack, unsigned int mode);

/**
 * hwheel_mod_pending - re-arm a timer if it is pending
 * @timer: the timer, set up
 * @delay: as in hwheel_add(). For an instant see hwheel_add_mode()
 *
 * Context: any but NMI.
 * Return: true if @timer was pending. It is then re-armed.
 */
static inline bool hwheel_mod_pending(struct hwheel_timer *timer, ktime_t delay)
{
	return hwheel_add_mode(timer, delay, 0, HWHEEL_MODE_PENDING);
}

/**
 * hwheel_reduce - arm a timer, or re-arm it for an earlier time
 * @timer: the timer, set up
 * @delay: as in hwheel_add(). For an instant see hwheel_add_mode()
 *
 * If the timer is pending for the same or an earlier time, nothing changes.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
static inline bool hwheel_reduce(struct hwheel_timer *timer, ktime_t delay)
{
	return hwheel_add_mode(timer, delay, 0, HWHEEL_MODE_EARLIER);
}

/* Arm a periodic timer. Returns the number of periods, see the guide */
u64 hwheel_add_forward(struct hwheel_timer *timer, ktime_t interval);

/* Cancel. Return true if the timer was pending, and so will not expire */
bool hwheel_cancel(struct hwheel_timer *timer);
bool hwheel_shutdown(struct hwheel_timer *timer);	/* for good */
int hwheel_try_cancel(struct hwheel_timer *timer);	/* 1: was pending, 0: not, -1: it runs */
/* Also wait for the callback. In a task; in a softirq only if the wheel is not HWHEEL_WORK */
bool hwheel_cancel_sync(struct hwheel_timer *timer);
bool hwheel_shutdown_sync(struct hwheel_timer *timer);
void hwheel_synchronize(struct hwheel *wheel);		/* for all callbacks that are running */

/* Instants are on the wheel's clock. hwheel_remaining() may be negative */
bool hwheel_running(const struct hwheel_timer *timer);
ktime_t hwheel_expires(const struct hwheel_timer *timer);
ktime_t hwheel_remaining(const struct hwheel_timer *timer);
ktime_t hwheel_now(const struct hwheel *wheel);
u64 hwheel_count(const struct hwheel *wheel, const char *counter);

/**
 * hwheel_pending - is a timer armed, and has its callback not yet begun?
 * @timer: the timer
 *
 * Context: any. Takes no lock. The answer may be out of date at once, unless the
 * caller prevents others from arming and cancelling the timer.
 * Return: true if @timer is pending.
 */
static inline bool hwheel_pending(const struct hwheel_timer *timer)
{
	/* list.h splices timers with plain stores; the compiler does not tear them */
	return data_race(READ_ONCE(timer->entry.next));
}

/* ------------------------------------------------------------------------ */
/* Sleeping */

/*
 * A timer that wakes a task. The task keeps it on its stack. @task is NULL when the time is
 * over.
 */
struct hwheel_sleeper {
	struct hwheel_timer	timer;
	struct task_struct	*task;
};

void __hwheel_sleeper_begin(struct hwheel_sleeper *sleeper, struct hwheel *wheel,
			    ktime_t delay, ktime_t slack);

int __hwheel_sleep(ktime_t delay, unsigned int state);
int hwheel_schedule_hrtimeout(struct hwheel *wheel, ktime_t delay, ktime_t slack);

/**
 * hwheel_sleep - sleep for a time
 * @delay: the time in nanoseconds; 0 or less: do not sleep
 *
 * Like msleep(), but exact to the tick: sleeps on the module's own wheel until the first
 * tick at or after now + @delay. Signals and other wakeups do not shorten the sleep.
 *
 * Context: task; sleeps.
 */
static inline void hwheel_sleep(ktime_t delay)
{
	__hwheel_sleep(delay, TASK_UNINTERRUPTIBLE);
}

/**
 * hwheel_sleep_interruptible - sleep for a time, or until a signal
 * @delay: as in hwheel_sleep()
 *
 * Context: task; sleeps.
 * Return: 0 if the time is over, -EINTR if a signal is pending.
 */
static inline int hwheel_sleep_interruptible(ktime_t delay)
{
	return __hwheel_sleep(delay, TASK_INTERRUPTIBLE);
}

/**
 * hwheel_sleep_killable - sleep for a time, or until a fatal signal
 * @delay: as in hwheel_sleep()
 *
 * Context: task; sleeps.
 * Return: 0 if the time is over, -EINTR if a fatal signal is pending.
 */
static inline int hwheel_sleep_killable(ktime_t delay)
{
	return __hwheel_sleep(delay, TASK_KILLABLE);
}

#define __hwheel_wait_event_hrtimeout(wq_head, condition, delay, state)		\
({										\
	int __ret = 0;								\
										\
	might_sleep();								\
	if (!(condition)) {							\
		struct hwheel_sleeper __sleeper;				\
										\
		__hwheel_sleeper_begin(&__sleeper, hwheel_system, delay, 0);	\
		__ret = ___wait_event(wq_head, condition, state, 0, 0,		\
			if (!READ_ONCE(__sleeper.task)) {			\
				__ret = -ETIME;					\
				break;						\
			}							\
			schedule());						\
		hwheel_destroy_on_stack(&__sleeper.timer);			\
	}									\
	__ret;									\
})

/**
 * hwheel_wait_event_hrtimeout - sleep until a condition is true, or a time is over
 * @wq_head: the wait queue, as a struct wait_queue_head
 * @condition: C expression. It is evaluated before the sleep, and each time that the wait
 *	queue is woken
 * @delay: the longest time to sleep, in nanoseconds. If it is 0 or less, the condition is
 *	only checked. KTIME_MAX: no limit
 *
 * Works as wait_event_hrtimeout() does, on the module's own wheel: the time is over at the
 * first tick at or after now + @delay. The task sleeps in TASK_UNINTERRUPTIBLE.
 *
 * Context: task; sleeps.
 * Return: 0 if @condition is true, -ETIME if the time is over and @condition is false.
 */
#define hwheel_wait_event_hrtimeout(wq_head, condition, delay)			\
	__hwheel_wait_event_hrtimeout(wq_head, condition, delay, TASK_UNINTERRUPTIBLE)

/**
 * hwheel_wait_event_interruptible_hrtimeout - sleep until a condition, a timeout or a signal
 * @wq_head: as in hwheel_wait_event_hrtimeout()
 * @condition: as in hwheel_wait_event_hrtimeout()
 * @delay: as in hwheel_wait_event_hrtimeout()
 *
 * Works as hwheel_wait_event_hrtimeout(), but a signal ends the sleep, too: the task sleeps in
 * TASK_INTERRUPTIBLE.
 *
 * Context: task; sleeps.
 * Return: as hwheel_wait_event_hrtimeout(), or -ERESTARTSYS after a signal.
 */
#define hwheel_wait_event_interruptible_hrtimeout(wq_head, condition, delay)	\
	__hwheel_wait_event_hrtimeout(wq_head, condition, delay, TASK_INTERRUPTIBLE)

/**
 * hwheel_wait_event_killable_hrtimeout - sleep until a condition, a timeout or a fatal signal
 * @wq_head: as in hwheel_wait_event_hrtimeout()
 * @condition: as in hwheel_wait_event_hrtimeout()
 * @delay: as in hwheel_wait_event_hrtimeout()
 *
 * Works as hwheel_wait_event_hrtimeout(), but a fatal signal ends the sleep, too: the task sleeps
 * in TASK_KILLABLE.
 *
 * Context: task; sleeps.
 * Return: as hwheel_wait_event_hrtimeout(), or -ERESTARTSYS after a fatal signal.
 */
#define hwheel_wait_event_killable_hrtimeout(wq_head, condition, delay)		\
	__hwheel_wait_event_hrtimeout(wq_head, condition, delay, TASK_KILLABLE)

/* ------------------------------------------------------------------------ */
/* Delayed work */

/**
 * struct hwheel_delayed_work - a work item that a timer queues
 * @work: the work item. Its function gets a pointer to it; see to_hwheel_delayed_work()
 *
 * Set it up with HWHEEL_INIT_DELAYED_WORK() or DECLARE_HWHEEL_DELAYED_WORK(). It works as
 * struct delayed_work does, but the timer is exact to the tick of its wheel. Delayed work
 * is *pending* from the call that queues it until its function begins: first its timer
 * is armed, then @work is on the workqueue.
 */
struct hwheel_delayed_work {
	struct work_struct	work;
	/* private: */
	struct hwheel_timer	timer;
	struct workqueue_struct	*wq;		/* where @timer queues @work; NULL: not armed */
	int			cpu;		/* CPU on which @timer queues @work */
	unsigned int		disabled;	/* disable depth; 0: enabled */
};

void __hwheel_work_expired(struct hwheel_timer *timer);

/**
 * DECLARE_HWHEEL_DELAYED_WORK - define delayed work at build time
 * @name: name of the variable; static may stand before the macro
 * @_function: called with &name.work
 *
 * Its timer is on the module's own wheel.
 */
#define DECLARE_HWHEEL_DELAYED_WORK(name, _function)				\
	struct hwheel_delayed_work name = {					\
		.work	= __WORK_INITIALIZER(name.work, (_function)),		\
		.timer	= __HWHEEL_TIMER_INITIALIZER(__hwheel_work_expired,	\
						     __HWHEEL_IRQS_OFF),	\
	}

#define __HWHEEL_INIT_DELAYED_WORK(dwork, wheel, _function, work_init, timer_setup) \
	do {									\
		struct hwheel_delayed_work *__dwork = (dwork);			\
										\
		work_init(&__dwork->work, (_function));				\
		timer_setup(&__dwork->timer, wheel, __hwheel_work_expired,	\
			    __HWHEEL_IRQS_OFF);					\
		__dwork->wq = NULL;						\
		__dwork->disabled = 0;						\
	} while (0)

/**
 * HWHEEL_INIT_DELAYED_WORK - make delayed work ready to be queued
 * @dwork: the delayed work, which must not be pending
 * @wheel: the wheel of its timer: hwheel_system, or a wheel that you have created. The
 *	context of the wheel's callbacks does not matter: the function runs in a worker
 * @_function: called with &@dwork->work
 *
 * Context: any.
 */
#define HWHEEL_INIT_DELAYED_WORK(dwork, wheel, _function)			\
	__HWHEEL_INIT_DELAYED_WORK(dwork, wheel, _function, INIT_WORK, hwheel_setup)

/**
 * HWHEEL_INIT_DELAYED_WORK_ONSTACK - HWHEEL_INIT_DELAYED_WORK() on the stack
 * @dwork: the delayed work
 * @wheel: as in HWHEEL_INIT_DELAYED_WORK()
 * @_function: as in HWHEEL_INIT_DELAYED_WORK()
 *
 * Before your function returns, call hwheel_cancel_delayed_work_sync(), then
 * hwheel_destroy_delayed_work_on_stack().
 *
 * Context: any.
 */
#define HWHEEL_INIT_DELAYED_WORK_ONSTACK(dwork, wheel, _function)		\
	__HWHEEL_INIT_DELAYED_WORK(dwork, wheel, _function, INIT_WORK_ONSTACK,	\
				   hwheel_setup_on_stack)

/**
 * hwheel_destroy_delayed_work_on_stack - end the life of delayed work on the stack
 * @dwork: the delayed work, which is not pending, and whose function is not running
 *
 * Context: as hwheel_cancel_sync().
 */
static inline void hwheel_destroy_delayed_work_on_stack(struct hwheel_delayed_work *dwork)
{
	hwheel_destroy_on_stack(&dwork->timer);
	destroy_work_on_stack(&dwork->work);
}

/**
 * to_hwheel_delayed_work - get the delayed work of a work item
 * @work: the work item that was passed to the function
 *
 * Return: the delayed work.
 */
static inline struct hwheel_delayed_work *to_hwheel_delayed_work(struct work_struct *work)
{
	return container_of(work, struct hwheel_delayed_work, work);
}

bool __hwheel_queue_delayed_work(int cpu, struct workqueue_struct *wq,
				 struct hwheel_delayed_work *dwork, ktime_t delay, ktime_t slack);
bool __hwheel_mod_delayed_work(int cpu, struct workqueue_struct *wq,
			       struct hwheel_delayed_work *dwork, ktime_t delay, ktime_t slack);
bool hwheel_cancel_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_flush_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_disable_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_disable_delayed_work_sync(struct hwheel_delayed_work *dwork);
bool hwheel_enable_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_delayed_work_pending(struct hwheel_delayed_work *dwork);

/**
 * hwheel_queue_delayed_work - queue a work item after a delay
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: nanoseconds from now; any value. If it is 0 or less, the work item is queued at
 *	once
 *
 * The work item is put on @wq at the first tick of the wheel at or after now + @delay. A
 * function that sleeps holds up no other callback. If @dwork is pending, or disabled,
 * nothing is done. The function may queue its own delayed work, and may free it. Cancel delayed
 * work before you destroy its wheel.
 *
 * Context: any but NMI.
 * Return: true if @dwork was queued. False if it was pending or is disabled. This is the reverse
 * of what hwheel_add() returns.
 */
static inline bool hwheel_queue_delayed_work(struct workqueue_struct *wq,
					     struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return __hwheel_queue_delayed_work(WORK_CPU_UNBOUND, wq, dwork, delay, 0);
}

/**
 * hwheel_queue_delayed_work_on - queue a work item on a CPU after a delay
 * @cpu: the CPU, which must not go offline, as in queue_work_on(); or WORK_CPU_UNBOUND
 * @wq: as in hwheel_queue_delayed_work()
 * @dwork: as in hwheel_queue_delayed_work()
 * @delay: as in hwheel_queue_delayed_work()
 *
 * Context: any but NMI.
 * Return: as hwheel_queue_delayed_work().
 */
static inline bool hwheel_queue_delayed_work_on(int cpu, struct workqueue_struct *wq,
						struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return __hwheel_queue_delayed_work(cpu, wq, dwork, delay, 0);
}

/**
 * hwheel_queue_delayed_work_range - queue a work item after a delay, or a little later
 * @wq: as in hwheel_queue_delayed_work()
 * @dwork: as in hwheel_queue_delayed_work()
 * @delay: as in hwheel_queue_delayed_work()
 * @slack: how much later the work item may be queued, in nanoseconds, as in
 *	hwheel_add_range()
 *
 * Context: any but NMI.
 * Return: as hwheel_queue_delayed_work().
 */
static inline bool hwheel_queue_delayed_work_range(struct workqueue_struct *wq,
						   struct hwheel_delayed_work *dwork,
						   ktime_t delay, ktime_t slack)
{
	return __hwheel_queue_delayed_work(WORK_CPU_UNBOUND, wq, dwork, delay, slack);
}

/**
 * hwheel_mod_delayed_work - change when a work item is queued, or queue it
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: as in hwheel_queue_delayed_work()
 *
 * If @dwork is pending, this call replaces the earlier one, also if @dwork is on a
 * workqueue already. Otherwise it works as hwheel_queue_delayed_work(). If @dwork is
 * disabled, nothing is done.
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending.
 */
static inline bool hwheel_mod_delayed_work(struct workqueue_struct *wq,
					   struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return __hwheel_mod_delayed_work(WORK_CPU_UNBOUND, wq, dwork, delay, 0);
}

/**
 * hwheel_mod_delayed_work_on - the same as hwheel_mod_delayed_work(), on a CPU
 * @cpu: as in hwheel_queue_delayed_work_on()
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: as in hwheel_queue_delayed_work()
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending.
 */
static inline bool hwheel_mod_delayed_work_on(int cpu, struct workqueue_struct *wq,
					      struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return __hwheel_mod_delayed_work(cpu, wq, dwork, delay, 0);
}

/**
 * hwheel_mod_delayed_work_range - the same as hwheel_mod_delayed_work(), with slack
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: as in hwheel_queue_delayed_work()
 * @slack: as in hwheel_queue_delayed_work_range()
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending.
 */
static inline bool hwheel_mod_delayed_work_range(struct workqueue_struct *wq,
						 struct hwheel_delayed_work *dwork,
						 ktime_t delay, ktime_t slack)
{
	return __hwheel_mod_delayed_work(WORK_CPU_UNBOUND, wq, dwork, delay, slack);
}

/**
 * hwheel_cancel_delayed_work_sync - cancel delayed work and wait for its function
 * @dwork: the delayed work
 *
 * When this returns, @dwork is not pending and its function is not running, even if the
 * function queues it again. While this waits, nobody can queue @dwork. Afterwards others
 * may queue it again. If nobody does, @dwork may be freed.
 *
 * * Do not call this from the function.
 * * Do not hold a lock that the function takes.
 *
 * Context: task; sleeps.
 * Return: true if @dwork was pending.
 */
static inline bool hwheel_cancel_delayed_work_sync(struct hwheel_delayed_work *dwork)
{
	bool pending = hwheel_disable_delayed_work_sync(dwork);

	hwheel_enable_delayed_work(dwork);
	return pending;
}

#endif /* _HWHEEL_H */
