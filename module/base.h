/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The structures of a wheel and of its bases
 */
#ifndef _HWHEEL_BASE_H
#define _HWHEEL_BASE_H

/* "1.0" */
#define HWHEEL_RELEASE		__stringify(HWHEEL_MAJOR) "." __stringify(HWHEEL_MINOR)

#define HWHEEL_TICK_NS		NSEC_PER_MSEC
#define HWHEEL_LEVELS		5
#define HWHEEL_SPOKES		128
#define HWHEEL_BUDGET_NS	(2 * NSEC_PER_MSEC)
#define HWHEEL_HARDIRQ_BUDGET_NS (100 * NSEC_PER_USEC)

/* See "Gaps, rests and breaks" */
#define HWHEEL_BREAK		8
#define HWHEEL_MOVE_NS		(50 * NSEC_PER_USEC)
#define HWHEEL_URGENT_NS	NSEC_PER_USEC
#define HWHEEL_MAX_GAP_NS	NSEC_PER_SEC

/* Buckets of lateness, one for each value of fls64() */
#define HWHEEL_LATE		65

/* A run reads the clock again after at most this many callbacks. A power of two. */
#define HWHEEL_CLOCK_EVERY	8

#define HWHEEL_WALL		(HWHEEL_REALTIME | HWHEEL_TAI)
#define HWHEEL_CLOCKS		(HWHEEL_WALL | HWHEEL_BOOTTIME)

enum hwheel_counter {
	HWHEEL_ADDED,		/* armings of timers that were not pending */
	HWHEEL_REARMED,		/* armings of timers that were pending */
	HWHEEL_CANCELLED,
	HWHEEL_EXPIRED_TIMERS,	/* callbacks begun */
	HWHEEL_CASCADED,	/* list moves of cascades; counted in levels.moved */
	HWHEEL_MIGRATED,	/* pending timers that moved here from another CPU */
	HWHEEL_INTERRUPTS,	/* runs; in process context, interrupts of the hrtimer */
	HWHEEL_IDLE_INTERRUPTS,	/* runs that found nothing to do */
	HWHEEL_REMOTE_KICKS,	/* kicks: another CPU asked for the hrtimer */
	HWHEEL_BUDGET_OVERRUNS,	/* runs that the budget cut, with work left to do */
	HWHEEL_MODERATED,	/* runs that began later because of gap_ns */
	HWHEEL_LEVELS_ADDED,	/* levels allocated because timers needed them */
	HWHEEL_MAXIMA,		/* from here on */
	HWHEEL_MAX_LATE_NS = HWHEEL_MAXIMA,
	HWHEEL_MAX_LOCKED_NS,
	HWHEEL_COUNTERS
};

static const char * const hwheel_counter_names[HWHEEL_COUNTERS] = {
	[HWHEEL_ADDED]			= "added",
	[HWHEEL_REARMED]		= "rearmed",
	[HWHEEL_CANCELLED]		= "cancelled",
	[HWHEEL_EXPIRED_TIMERS]		= "expired",
	[HWHEEL_CASCADED]		= "cascaded",
	[HWHEEL_MIGRATED]		= "migrated",
	[HWHEEL_INTERRUPTS]		= "interrupts",
	[HWHEEL_IDLE_INTERRUPTS]	= "idle_interrupts",
	[HWHEEL_REMOTE_KICKS]		= "remote_kicks",
	[HWHEEL_BUDGET_OVERRUNS]	= "budget_overruns",
	[HWHEEL_MODERATED]		= "moderated",
	[HWHEEL_LEVELS_ADDED]		= "levels_added",
	[HWHEEL_MAX_LATE_NS]		= "max_late_ns",
	[HWHEEL_MAX_LOCKED_NS]		= "max_locked_ns",
};

/*
 * Arming and cancelling, also from other CPUs, write to one cache line of the base: from
 * levels.pending to the first three counters. They seldom write to the rest.
 */
struct hwheel_base {
	struct hwheel		*wheel;
	u64			fresh;		/* ns; see hwheel_catch_up() */
	ktime_t			offset;		/* the wheel's clock minus the drive's */
	struct hwheel_levels	levels;
	/* Protects all members of the base that change, and all members of the timers on it */
	raw_spinlock_t		lock;
	int			cpu;
	bool			monotonic;	/* the wheel's clock is CLOCK_MONOTONIC */
	bool			closing;	/* the wheel is being destroyed: nothing begins */
	struct hwheel_timer	*running;	/* timer whose callback is running */
	u64			armed;		/* only earlier ticks move @hrtimer; 0 in a run */
	u64			count[HWHEEL_COUNTERS];
	ktime_t			set;		/* what the wheel's clock was set to, or S64_MIN */
	struct hwheel_base	*dest;		/* base that @running moves to, or NULL */
	union {
		struct hrtimer		hrtimer;
		struct timer_list	entry;	/* of a HWHEEL_DEFERRABLE wheel */
	};
	ktime_t			expires;	/* of @hrtimer, or of the wheel's alarm */
	call_single_data_t	kick;		/* lets another CPU re-arm @hrtimer */
	unsigned int		kicks;		/* @kick calls that are under way */
	struct work_struct	work;		/* a run in process context */
	wait_queue_head_t	wait;		/* for the end of callbacks */
	struct hwheel_waiter	*waiters;	/* for @running, in process context */
	struct delayed_work	grow;		/* adds levels and fans */
	ktime_t			ended;		/* end of the last hardirq run with callbacks */
	u64			spent;		/* see hwheel_overdrawn() */
	ktime_t			fire_from;	/* the hrtimer waits so long for due timers */
	ktime_t			move_from;	/* ... and for crowds to move ahead of time */
	u64			late[HWHEEL_LATE];	/* callbacks, by fls64(ns late) */
#ifdef CONFIG_PREEMPT_RT
	spinlock_t		expiry_lock;	/* softirq runs hold it */
	atomic_t		yield_to;	/* tasks that wait for @expiry_lock */
#endif
} ____cacheline_aligned;

#ifdef CONFIG_64BIT
static_assert(!(offsetof(struct hwheel_base, levels.level) % 64));
static_assert(!(offsetof(struct hwheel_base, levels.pending) % 64));
#endif

/*
 * A clock of wheels. The drive uses CLOCK_MONOTONIC or CLOCK_BOOTTIME, and a wheel's clock may
 * be ahead of it: see base->offset.
 */
struct hwheel_clock {
	const char		*name;
	clockid_t		drive;		/* clock of the hrtimer */
	ktime_t			(*read)(void);	/* the time on the drive's clock */
	/* How far the wheel's clock is ahead of it at @now. NULL: not, and nobody can set it */
	ktime_t			(*ahead)(const struct hwheel_clock *clock, ktime_t now);
};

/* What wakes a base, if it is not an hrtimer */
struct hwheel_alarm {
	u64			late_ns;	/* it may expire this late */
	void			(*init)(struct hwheel_base *base);
	/* With the base locked, on any CPU: start it for base->expires */
	void			(*start)(struct hwheel_base *base);
	/* Cancel it, and wait until its callback has ended */
	void			(*stop)(struct hwheel_base *base);
};

/* A part that may be left out: see parts.c. The members that a part does not need are NULL. */
struct hwheel_part {
	void			(*init)(void);	/* before the first wheel is created */
	void			(*exit)(void);	/* after the last wheel was destroyed */
	/* Nobody uses @wheel yet. May set wheel->clock and wheel->alarm */
	void			(*create)(struct hwheel *wheel,
					  const struct hwheel_config *config);
	void			(*open)(struct hwheel *wheel);	/* anybody may use @wheel */
	void			(*close)(struct hwheel *wheel);	/* it will be destroyed */
	void			(*destroy)(struct hwheel *wheel); /* all callbacks have ended */
	/* The function to name for @timer. NULL: @timer is not of this part */
	void			*(*named)(const struct hwheel_timer *timer);
};

struct hwheel {
	struct hwheel_base __percpu *bases;
	const struct hwheel_clock *clock;
	const struct hwheel_alarm *alarm;	/* NULL: hrtimers */
	u64			budget_ns;
	u64			gap_ns;
	enum hwheel_context	context;
	struct workqueue_struct	*wq;		/* runs callbacks in process context */
	unsigned int		flags;		/* hwheel_config.flags */
	struct hwheel_geometry	geometry;
	struct list_head	list;		/* on hwheel_wheels */
	struct mutex		walk_mutex;	/* one walk of the levels at a time */
	void			(*clock_set)(struct hwheel *wheel);	/* or NULL */
	struct work_struct	tell;		/* calls @clock_set */
	struct dentry		*debugfs;
	struct lock_class_key	key;		/* this and the next: of size 0 without lockdep */
	struct lockdep_map	lockdep_map;	/* held in all callbacks */
	char			name[HWHEEL_NAME_MAX + 1];
};

#endif /* _HWHEEL_BASE_H */
