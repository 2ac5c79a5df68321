/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hwheel - exact timers on hierarchical wheels
 *
 * An hwheel timer costs what a timer_list entry costs (O(1) to arm and to
 * cancel, whatever the number of timers) and is as exact as its wheel's tick,
 * be it due in a millisecond or in a year. It suits the many timers that are
 * armed, re-armed and cancelled all the time and that must keep their time
 * when they do expire: session and protocol timeouts, pacing, leases. For a
 * handful of timers that must be exact to the microsecond take an hrtimer; to
 * run something at about once a second take a timer_list.
 *
 * All of it is GPL only.
 */
#ifndef _HWHEEL_H
#define _HWHEEL_H

/**
 * DOC: Guarantees
 *
 * What holds, always and everywhere:
 *
 * 1.  Never early: no callback runs before the time its timer was armed for.
 * 2.  Exact at any range: a timer becomes due at the first tick at or after
 *     its time. Nothing up to KTIME_MAX is clamped, refused or lost.
 * 3.  Exactly once per arming, or never if it was cancelled first and the
 *     cancel returned true.
 * 4.  Arming can not fail, allocates nothing and works in any context but
 *     NMI, on any CPU, from any callback.
 * 5.  After a cancel that ends in _sync the callback is neither queued nor
 *     running. A callback may re-arm, cancel, shut down or free its timer.
 * 6.  Bounded: one formula says how late a callback can begin, see
 *     Documentation/late.rst. It has no term for timers that are not due. No
 *     lock is held, and interrupts are not kept off, for longer than
 *     HWHEEL_BATCH list moves, however many timers share a spoke. Callbacks
 *     that use up the wheel's budget are continued in the next round, in
 *     order, and counted. (Callbacks that are to run in hardirq context keep
 *     interrupts off until the budget is used up.)
 * 7.  Quiet: no timer, no interrupt. A cancelled timer that was the next to
 *     expire may cost one interrupt, which is counted.
 * 8.  Order: on one CPU timers that are due at different ticks run in the
 *     order of those ticks.
 * 9.  The timers of a CPU that goes offline move to another one and keep
 *     their times.
 * 10. A wheel that is destroyed while timers are pending on it warns once,
 *     cancels them and waits for the callbacks that are running.
 */

/*
 * Mistakes are warned of, once, with the name of the callback where there is
 * one, and do no harm to other timers: arming a timer or waiting for it before
 * hwheel_setup() (in memory of zeroes); arming it after the wheel was destroyed,
 * or on a CPU that can not be; a timer, wheel or callback that is NULL; setting
 * up a timer that is pending; waiting for a callback from within it; a callback
 * that returns with another preemption count, or that switches interrupts on or
 * off; destroying a wheel twice, from its own callback, or with timers pending.
 * Under CONFIG_DEBUG_OBJECTS_TIMERS timers that were never set up, in memory of
 * whatever kind, and those that are freed while pending are found and mended;
 * under CONFIG_LOCKDEP waiting with a lock held that the callback takes is.
 */

#include <linux/bits.h>
#include <linux/container_of.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/lockdep_types.h>
#include <linux/stringify.h>
#include <linux/time.h>
#include <linux/types.h>

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
 * Set it up with hwheel_setup() or DEFINE_HWHEEL_TIMER() and use it through
 * the functions below; all members are private. It is 48 bytes on 64-bit.
 */
struct hwheel_timer {
	/* private: */
	struct list_head	entry;		/* its spoke's; next is NULL while not pending */
	ktime_t			expires;	/* armed for; ns on the wheel's clock */
	void			(*function)(struct hwheel_timer *timer);
	struct hwheel_base	*base;		/* the wheel's part on a CPU */
	u32			flags;		/* HWHEEL_PINNED */
	u32			life;		/* of its wheel; 0 if it is shut down */
#ifdef CONFIG_LOCKDEP
	struct lockdep_map	lockdep_map;	/* class of the callback */
#endif
};

/* hwheel_setup() flag: once armed, a timer stays on its CPU, whoever arms it again */
#define HWHEEL_PINNED		BIT(0)

/**
 * enum hwheel_context - where the callbacks of a wheel run
 * @HWHEEL_SOFTIRQ: in softirq context, as timer_list's do
 * @HWHEEL_HARDIRQ: in the timer interrupt, with interrupts off, on PREEMPT_RT
 *	too; for the few that need it
 * @HWHEEL_WORK: in process context, on a workqueue's worker; they may sleep.
 *	A callback that sleeps keeps those behind it on its CPU waiting
 */
enum hwheel_context {
	HWHEEL_SOFTIRQ = 0,
	HWHEEL_HARDIRQ,
	HWHEEL_WORK,
};

/* hwheel_config flag: an HWHEEL_WORK wheel's callbacks may run on any CPU */
#define HWHEEL_UNBOUND		BIT(0)

/**
 * struct hwheel_config - what hwheel_create() makes a wheel from
 * @name: unique among wheels, 1 to 31 characters without a '/'; names the
 *	wheel's debugfs directory
 * @tick_ns: width of a spoke of level 0 in nanoseconds, 1000 or more; 0 asks
 *	for 1 ms
 * @levels: 1 to HWHEEL_MAX_LEVELS; 0 asks for 5, or for as many as keep the
 *	reach of the wheel below S64_MAX nanoseconds where that is fewer
 * @spokes: spokes of each level, 2 to 4096; a 0 repeats the level below, and
 *	asks for 128 in level 0. Powers of two are a little faster
 * @clock: CLOCK_MONOTONIC or CLOCK_BOOTTIME; 0 asks for CLOCK_MONOTONIC
 * @context: where callbacks run
 * @budget_ns: how long one run of callbacks may keep its CPU, in nanoseconds;
 *	0 asks for 2 ms, and for 100 us in hardirq context. A callback is not
 *	interrupted: the run ends after the one that uses up the budget
 * @flags: 0 or HWHEEL_UNBOUND
 *
 * Zero in a member asks for its default; @name has none.
 */
struct hwheel_config {
	const char		*name;
	u64			tick_ns;
	unsigned int		levels;
	unsigned int		spokes[HWHEEL_MAX_LEVELS];
	clockid_t		clock;
	enum hwheel_context	context;
	u64			budget_ns;
	unsigned int		flags;
};

extern struct hwheel *hwheel_system;

struct hwheel *hwheel_create(const struct hwheel_config *config);
void hwheel_destroy(struct hwheel *wheel);

/* What a timer's base holds until it is first armed on the module's wheel. */
#define __HWHEEL_SYSTEM_BASE	((struct hwheel_base *)1)
/* The module's wheel is its first. */
#define __HWHEEL_SYSTEM_LIFE	1

#ifdef CONFIG_LOCKDEP
/* A string is as good a key as any that is static. */
#define __HWHEEL_HERE		(__FILE__ ":" __stringify(__LINE__))
#define __HWHEEL_LOCKDEP_MAP	\
	.lockdep_map = { .name = __HWHEEL_HERE, .key = (void *)__HWHEEL_HERE },
#else
#define __HWHEEL_LOCKDEP_MAP
#endif

/**
 * DEFINE_HWHEEL_TIMER - define a timer on the module's own wheel, at build time
 * @name: name of the variable; may be preceded by static
 * @_function: the callback
 */
#define DEFINE_HWHEEL_TIMER(name, _function)			\
	struct hwheel_timer name = {				\
		.function	= (_function),			\
		.base		= __HWHEEL_SYSTEM_BASE,		\
		.life		= __HWHEEL_SYSTEM_LIFE,		\
		__HWHEEL_LOCKDEP_MAP				\
	}

void hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		  void (*function)(struct hwheel_timer *timer),
		  unsigned int flags);
void hwheel_setup_on_stack(struct hwheel_timer *timer, struct hwheel *wheel,
			   void (*function)(struct hwheel_timer *timer),
			   unsigned int flags);
void hwheel_destroy_on_stack(struct hwheel_timer *timer);
void __hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		    void (*function)(struct hwheel_timer *timer),
		    unsigned int flags, bool on_stack, const char *name,
		    struct lock_class_key *key);

#ifdef CONFIG_LOCKDEP
/* A lockdep class for each place where timers are set up */
#define __hwheel_setup_here(timer, wheel, function, flags, on_stack)		\
	do {									\
		static struct lock_class_key __key;				\
										\
		__hwheel_setup(timer, wheel, function, flags, on_stack, #timer,	\
			       &__key);						\
	} while (0)
#define hwheel_setup(timer, wheel, function, flags)				\
	__hwheel_setup_here(timer, wheel, function, flags, false)
#define hwheel_setup_on_stack(timer, wheel, function, flags)			\
	__hwheel_setup_here(timer, wheel, function, flags, true)
#endif

/**
 * hwheel_container_of - the structure that a callback's timer is embedded in
 * @var: variable of that structure's pointer type, as in from_timer()
 * @callback_timer: the timer that the callback was given
 * @member: name of the timer in the structure
 *
 * Return: the structure's address.
 */
#define hwheel_container_of(var, callback_timer, member)	\
	container_of(callback_timer, typeof(*(var)), member)

bool hwheel_add(struct hwheel_timer *timer, ktime_t delay);
bool hwheel_add_range(struct hwheel_timer *timer, ktime_t delay, ktime_t slack);
bool hwheel_add_at(struct hwheel_timer *timer, ktime_t expires, ktime_t slack);
bool hwheel_add_on(struct hwheel_timer *timer, ktime_t delay, int cpu);
bool hwheel_mod_pending(struct hwheel_timer *timer, ktime_t delay);
bool hwheel_reduce(struct hwheel_timer *timer, ktime_t delay);
u64 hwheel_forward(struct hwheel_timer *timer, ktime_t interval);

bool hwheel_cancel(struct hwheel_timer *timer);
int hwheel_try_cancel(struct hwheel_timer *timer);
bool hwheel_cancel_sync(struct hwheel_timer *timer);
bool hwheel_shutdown(struct hwheel_timer *timer);
bool hwheel_shutdown_sync(struct hwheel_timer *timer);

ktime_t hwheel_expires(const struct hwheel_timer *timer);
ktime_t hwheel_remaining(const struct hwheel_timer *timer);
ktime_t hwheel_now(const struct hwheel *wheel);
u64 hwheel_count(const struct hwheel *wheel, const char *counter);

/**
 * hwheel_pending - is a timer armed and its callback not yet begun?
 * @timer: the timer
 *
 * Context: any. Takes no lock: unless the caller keeps others from arming and
 * cancelling the timer, the answer may be out of date when it arrives.
 * Return: true if @timer is pending.
 */
static inline bool hwheel_pending(const struct hwheel_timer *timer)
{
	/* list.h links timers with plain stores; they are not torn */
	return timer && data_race(READ_ONCE(timer->entry.next));
}

#endif /* _HWHEEL_H */
