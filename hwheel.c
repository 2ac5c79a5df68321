// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel - exact timers on hierarchical wheels
 *
 * A wheel has a base on each CPU. A base is a set of levels of spokes with fans and a
 * parking lot (hwheel_levels.h tells what these are), a lock, and one hrtimer that drives
 * the base. A timer is on one base at a time and points to that base. This file is about
 * bases: who may use a base and when, how the hrtimer stays armed for the earliest
 * expiration, and what each call guarantees.
 *
 * The drive
 * ---------
 *
 * The hrtimer is armed for the tick at which levels_step() must be called next. That is
 * the earliest tick at which a timer can be due, or at which hwheel should begin to empty
 * a crowded spoke ahead of time. hwheel moves the hrtimer
 *
 *  - when a timer is armed for an earlier tick,
 *  - when a run ends,
 *  - when a base gets levels or fans, and must therefore run earlier,
 *  - when timers move to the base from another CPU, and are due earlier,
 *  - when somebody sets the wheel's clock: see "Wall time" below.
 *
 * A CPU arms the hrtimers of its own bases, and of bases whose CPU is offline. For a base of
 * another CPU that is online, it sends a kick: an interrupt to that CPU. The handler,
 * hwheel_kick(), arms the hrtimer there. A HWHEEL_DEFERRABLE wheel needs no kick: see below.
 *
 * Cancelling does not move the hrtimer. So the next interrupt may find nothing to do. hwheel
 * then counts this interrupt as idle. There is no periodic tick. If no timer is pending,
 * hwheel does not arm the hrtimer.
 *
 * A run is the hrtimer's callback, in softirq or in hardirq context. In process context a
 * run is the work that the hrtimer's callback queues. The wheel chooses one of the three
 * contexts. A run
 *
 *  1. reads the clock,
 *  2. calls levels_step(), which does a bounded step,
 *  3. runs the callbacks of timers that are due,
 *  4. repeats this until nothing is left to do at the present time, or the run is cut,
 *  5. arms the hrtimer again.
 *
 * The run drops the lock around each callback, and after each batch of list moves.
 * Meanwhile anybody may arm and cancel timers: the levels are consistent after each step.
 * base->armed is 0 during a run, so arming touches neither the hrtimer nor the base's
 * clock; the run finds the new timers itself. In hardirq context interrupts stay off even
 * while the lock is dropped. So in that context a batch of list moves also ends the run, to
 * let interrupts in.
 *
 * A run that takes long leaves the CPU to others for a while: see "Runs, rests and
 * breaks" below.
 *
 * The bases of a HWHEEL_DEFERRABLE wheel have no hrtimer. They have an entry of timer_list.
 * For these bases, "hrtimer" in this file means that entry. The entry is deferrable: the
 * kernel runs it in the timer tick of a CPU, and lets an idle CPU sleep. See
 * hwheel_start_entry().
 *
 * Runs advance the clock of a base. Arming with a delay reads the time anyway, so it
 * advances a clock that is far behind (base->fresh), unless the timer was pending on that
 * base already. hwheel_add_at() advances the clock if no timer is pending on the base.
 * Otherwise the clock may be behind the time. New timers then go to coarser spokes than
 * necessary, which costs a cascade but no exactness.
 *
 * Wall time
 * ---------
 *
 * The drive's clock is never set: it is CLOCK_MONOTONIC, or CLOCK_BOOTTIME if that is the
 * wheel's clock. All times of the drive are on this clock, and the hrtimer uses it. A wheel of
 * CLOCK_REALTIME or CLOCK_TAI adds an offset to it. Ticks and timer->expires are on the
 * wheel's clock. When somebody sets that clock, ticks and timer->expires stay as they are:
 * only the offset changes. base->offset is the offset that the base last used.
 *
 * With the base's lock held, hwheel_time() reads the drive's clock and the present offset.
 * If this offset differs from base->offset, hwheel_new_offset() stores it there. If the clock
 * was set back, it also sets back the levels (levels_set_back()). It then arms the hrtimer
 * again, unless a run or a break is under way, or the base is offline.
 *
 * - On a wheel of wall time a run calls hwheel_time() before each callback. So a callback
 *   runs only if its timer is due by the last reading of the clock.
 * - Until a base has the new offset, arming may count a timer as overdue although it is not.
 *   levels_set_back() finds such timers.
 * - A base may have no run for a long time. So the timekeeping code tells hwheel that the
 *   clock was set (hwheel_timekeeping()). An irq_work then kicks the bases that must start
 *   their hrtimers again (hwheel_base_set()). The irq_work itself gives the new offset to all
 *   other bases, and wakes no CPU for that.
 *
 * The timekeeping code also calls hwheel in each timer tick of the kernel. It passes in the
 * offset and the time of the next leap second. Only such a timer tick inserts the leap second,
 * and this timer tick can be late. From the leap second until this timer tick, CLOCK_REALTIME
 * is a second ahead. hwheel_offset() subtracts this second, as the hrtimer code does.
 *
 * Locks
 * -----
 *
 * base->lock is raw and is taken with interrupts off. So any context but NMI may arm and
 * cancel. To lock a timer's base, read timer->base, lock that base, and check that
 * timer->base is still the same. timer->base changes only with the locks of both the old
 * and the new base held, so a timer is on exactly one of them at any time. Two bases are
 * locked in the order of their CPUs. Under a base's lock, hwheel takes only locks of the
 * timekeeping, hrtimer, timer_list, workqueue, debugobjects and scheduler code.
 *
 * hwheel_mutex protects the lists of wheels. Creation, destruction and CPU hotplug take
 * it.
 *
 * Levels on demand
 * ----------------
 *
 * A base begins with a parking lot and without levels. A timer that needs a missing level
 * is parked. hwheel_want() then queues an irq_work, because it is called under the base's
 * lock in any context. The irq_work queues the work that allocates the level. If there is
 * no memory, everything works from the parking lot, and the work tries again each second
 * while timers are pending. The same work allocates fans when their stock runs low. Fans
 * stay until the wheel is destroyed.
 *
 * Isolated CPUs
 * -------------
 *
 * A CPU may be isolated, by nohz_full= or isolcpus= on the kernel's command line. Then
 * hwheel interrupts it only for timers that somebody armed there on purpose: timers that
 * are HWHEEL_PINNED, or armed by hwheel_add_on(). The rules are
 *
 *  - An isolated CPU arms other timers on a CPU that is not isolated (hwheel_home()). The
 *    timer stays on its base if the CPU of that base is not isolated, or if the timer's
 *    callback is running.
 *  - If a CPU goes offline, its timers also move to a CPU that is not isolated.
 *  - hwheel queues its own work on an unbound workqueue, whose workers keep off isolated
 *    CPUs. An irq_work queues this work, and interrupts the CPU that asks for the work. So if
 *    an isolated CPU needs the work for another CPU's base, it kicks that other CPU. The
 *    handler of the kick then queues the irq_work there. For a HWHEEL_DEFERRABLE wheel there
 *    is no kick, because a kick would wake an idle CPU. The level is then missing until a
 *    run, or a CPU that is not isolated, asks for it.
 *  - Creation, destruction and debugfs use only locks, so they interrupt nobody. The
 *    exception is memory of vmalloc(): freeing it interrupts all CPUs.
 *
 * If no CPU is isolated, all this costs one nop per arming: a static key of the kernel is off.
 *
 * Life and death of a wheel
 * -------------------------
 *
 * A user may use a timer after its wheel was destroyed. That is a mistake, but the kernel
 * must not crash. So hwheel frees no wheel and no base while the module is loaded.
 * Destruction frees only their levels, and the next hwheel_create() uses the wheel again.
 *
 * Each life of a wheel has a number, which the wheel, its bases and its timers carry.
 * Arming compares timer->life with base->life under the lock. This one comparison refuses
 *
 *  - timers of wheels that are destroyed or being destroyed,
 *  - timers that were shut down: their number is 0.
 *
 * Destruction sweeps twice over the bases of a wheel (hwheel_stop()). The first sweep
 * marks all bases as closing. From then on nothing is armed, and no hrtimer, work,
 * irq_work or move to another CPU begins. So the second sweep can wait, in any order, for
 * runs and works that are under way. The wheel stays on hwheel_wheels until hwheel_retire().
 * Until then CPU hotplug still marks the wheel's bases as offline or online and stops their
 * runs, but moves no timers.
 *
 * Destruction does not wait until another CPU has handled the wheel's kicks and irq_works: that
 * CPU may be isolated, or keep interrupts off. The handler of a late kick or irq_work takes
 * base->lock. If it finds HWHEEL_GONE, it does nothing. If the wheel is in its next life
 * already, the handler does no harm. Only the module's exit waits for these handlers.
 *
 * Callbacks and waiters
 * ---------------------
 *
 * base->running is the timer whose callback a run executes. The timer itself has no mark,
 * because its callback may free it. While its callback runs, a timer stays on its base,
 * whichever CPU arms it. Hence a callback never runs on two CPUs at a time, and a waiter
 * has one base to look at. hwheel_add_on() stores the new base in base->dest, and the run
 * moves the timer when the callback has returned. A later arm replaces or clears
 * base->dest, and a cancel clears it. So if base->dest is set, the timer is pending, and
 * therefore not freed.
 *
 * How to wait for a callback depends on its context:
 *
 *  - hardirq: The waiter spins, on PREEMPT_RT too.
 *  - softirq: The waiter spins. On PREEMPT_RT a waiter can preempt the run, so it takes
 *    base->expiry_lock instead. A run holds that lock across callbacks, and the waiter
 *    lends the run its priority. The run drops the lock between callbacks if somebody
 *    waits.
 *  - process: The waiter sleeps on base->wait. The run wakes all waiters, then sleeps on
 *    base->wait until each of them has checked base->running again. Without that sleep a
 *    waiter could wait forever: a callback that is due again at once could begin again
 *    each time before the waiter has checked. The run does not sleep for tasks in
 *    hwheel_synchronize(): these compare the numbers of callbacks, so they notice the end
 *    of a callback even if the next one has begun.
 *
 * Callbacks of delayed work are hwheel's own, and short. They run with interrupts off in each
 * context. So delayed work can spin until its callback has ended: see hwheel_work.h.
 *
 * CPU hotplug blocks hwheel_create(), and a callback in process context may call
 * hwheel_create(). So CPU hotplug must not wait for such callbacks. If a run in process
 * context ends and its base is offline, the run moves the timers away itself.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/debugobjects.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/prefetch.h>
#include <linux/pvclock_gtod.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/seqlock.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeper_internal.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "hwheel.h"
#include "hwheel_compat.h"
#include "hwheel_levels.h"
#include "hwheel_users.h"

#define HWHEEL_TICK_NS		NSEC_PER_MSEC
#define HWHEEL_LEVELS		5
#define HWHEEL_SPOKES		128
#define HWHEEL_BUDGET_NS	(2 * NSEC_PER_MSEC)
#define HWHEEL_HARDIRQ_BUDGET_NS (100 * NSEC_PER_USEC)

/* See "Runs, rests and breaks" */
#define HWHEEL_BREAK		8
#define HWHEEL_MOVE_NS		(50 * NSEC_PER_USEC)
#define HWHEEL_URGENT_NS	NSEC_PER_USEC
#define HWHEEL_MAX_GAP_NS	NSEC_PER_SEC

/* Buckets of lateness, one for each value of fls64() */
#define HWHEEL_LATE		65

/* A run reads the clock again after at most this many callbacks. A power of two. */
#define HWHEEL_CLOCK_EVERY	8

#define HWHEEL_SHUT_DOWN	0	/* timer->life of a timer that is shut down */
/* base->life from the beginning of hwheel_stop() on; wheel->life from its end on */
#define HWHEEL_GONE		U32_MAX

enum hwheel_counter {
	HWHEEL_ADDED,		/* armings of timers that were not pending */
	HWHEEL_REARMED,		/* armings of timers that were pending */
	HWHEEL_CANCELLED,
	HWHEEL_EXPIRED_TIMERS,	/* callbacks begun */
	HWHEEL_CASCADED,	/* list moves of cascades; counted in levels.moved */
	HWHEEL_MIGRATED,	/* pending timers that moved here from another CPU */
	HWHEEL_INTERRUPTS,	/* runs; in process context, interrupts of the hrtimer */
	HWHEEL_IDLE_INTERRUPTS,	/* runs that found nothing to do */
	HWHEEL_REMOTE_KICKS,	/* kicks: another CPU asked for the hrtimer or levels */
	HWHEEL_BUDGET_OVERRUNS,	/* runs that the budget cut, with work left to do */
	HWHEEL_MODERATED,	/* runs that began later because of gap_ns */
	HWHEEL_LEVELS_ADDED,	/* levels allocated because timers needed them */
	HWHEEL_MAX_LATE_NS,	/* from here on: maxima */
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

/* Number of fans in one allocation, which takes less than 64 KiB */
#define HWHEEL_FANS		((SZ_64K - 64) / sizeof(struct hwheel_fan))

struct hwheel_fans {
	struct hwheel_fan	fan[HWHEEL_FANS];
	struct hwheel_fans	*next;
};

struct hwheel_base {
	/*
	 * Protects all members of the base that change, and all members of the
	 * timers on it. Arming and cancelling, also from other CPUs, write to the
	 * lock's cache line and to the first one of @levels. They seldom write to
	 * the rest.
	 */
	raw_spinlock_t		lock;
	u32			life;		/* number of the wheel's life */
	int			cpu;
	bool			offline;	/* timers are moved away; add none */
	bool			monotonic;	/* the wheel's clock is CLOCK_MONOTONIC */
	bool			closing;	/* the wheel is being destroyed */
	struct hwheel_timer	*running;	/* timer whose callback is running */
	u64			armed;		/* tick of @hrtimer; 0 in a run or break */
	u64			count[HWHEEL_COUNTERS];
	struct hwheel_users	*users;		/* counts by callback; NULL: it counts none */

	struct hwheel_levels	levels;

	struct hwheel		*wheel;
	u64			fresh;		/* ns; see hwheel_catch_up() */
	ktime_t			offset;		/* the wheel's clock minus the drive's */
	struct hwheel_base	*dest;		/* base that @running moves to */
	struct task_struct	*runner;	/* task that runs @running's callback */
	struct hrtimer		hrtimer;
	struct timer_list	entry;		/* HWHEEL_DEFERRABLE: instead of @hrtimer */
	ktime_t			expires;	/* of @hrtimer or @entry */
	call_single_data_t	kick;		/* lets another CPU re-arm @hrtimer */
	unsigned int		kicks;		/* @kick calls that are under way */
	struct work_struct	work;		/* a run in process context */
	wait_queue_head_t	wait;		/* for @running, @waiters, and in hwheel_grow() */
	atomic_t		waiters;	/* waiters for @running that do not spin */
	struct irq_work		want;		/* queues @grow from any context */
	struct work_struct	grow;		/* adds levels and fans */
	ktime_t			ended;		/* end of the last hardirq run with callbacks */
	u64			spent;		/* see hwheel_overdrawn() */
	ktime_t			resume;		/* end of the last rest or break */
	ktime_t			quiet;		/* gap_ns + end of the last run with callbacks */
	u64			late[HWHEEL_LATE];	/* callbacks, by fls64(ns late) */
	struct hwheel_fans	*fans;		/* memory of all fans */
#ifdef CONFIG_PREEMPT_RT
	spinlock_t		expiry_lock;	/* softirq runs hold it */
#endif
};

struct hwheel {
	struct hwheel_base __percpu *bases;
	u32			life;		/* HWHEEL_GONE when destroyed */
	clockid_t		clock;
	bool			wall;		/* CLOCK_REALTIME or CLOCK_TAI */
	u64			budget_ns;
	u64			gap_ns;
	enum hwheel_context	context;
	unsigned int		flags;		/* hwheel_config.flags */
	struct hwheel_geometry	geometry;
	struct list_head	list;		/* on hwheel_wheels or hwheel_gone */
	struct hwheel		*older;		/* the wheel allocated before this one */
	bool			closing;	/* being destroyed */
	struct mutex		walk_mutex;	/* one walk of the levels at a time */
	void			(*clock_set)(struct hwheel *wheel);	/* or NULL */
	struct work_struct	tell;		/* calls @clock_set */
	struct task_struct	*teller;	/* task that runs @clock_set */
	struct dentry		*debugfs;
#ifdef CONFIG_LOCKDEP
	struct lock_class_key	key;
	struct lockdep_map	lockdep_map;	/* held in all callbacks */
#endif
	char			name[HWHEEL_NAME_MAX + 1];
};

/* The module's own wheel, for users that create none */
struct hwheel *hwheel_system;
EXPORT_SYMBOL_GPL(hwheel_system);

static LIST_HEAD(hwheel_wheels);
static LIST_HEAD(hwheel_gone);
static struct hwheel *hwheel_newest;	/* of all wheels, in use or gone */
static u32 hwheel_lives;
static DEFINE_XARRAY(hwheel_by_life);	/* the wheels in use */
static bool hwheel_counts_users;	/* changes under hwheel_mutex */
static DEFINE_MUTEX(hwheel_mutex);
static int hwheel_cpuhp_state;		/* 0 until the module is ready for use */

#ifdef HWHEEL_BROKEN
static char *broken = "";
module_param(broken, charp, 0444);
MODULE_PARM_DESC(broken, "name of the fault that the torture test has to find");

static bool hwheel_broken(enum hwheel_fault fault)
{
	static const char * const faults[] = {
		[HWHEEL_EARLY]			= "early",
		[HWHEEL_LOSE_IN_CASCADE]	= "lose_in_cascade",
		[HWHEEL_NO_WAIT_IN_CANCEL_SYNC]	= "no_wait_in_cancel_sync",
		[HWHEEL_NO_WAIT_IN_SYNCHRONIZE]	= "no_wait_in_synchronize",
		[HWHEEL_FIRE_TWICE]		= "fire_twice",
		[HWHEEL_FORGET_OFFLINE_CPU]	= "forget_offline_cpu",
		[HWHEEL_LEAK_RUNNING]		= "leak_running",
		[HWHEEL_DATA_RACE]		= "data_race",
	};
	static atomic_t n = ATOMIC_INIT(0);

	/*
	 * Inject most faults in one call of 16, but three of them in each call: CPU hotplug is
	 * rare, and so is hwheel_synchronize() while a callback runs. KCSAN seldom sees a race.
	 */
	return !strcmp(broken, faults[fault]) &&
	       (fault == HWHEEL_FORGET_OFFLINE_CPU || fault == HWHEEL_DATA_RACE ||
		fault == HWHEEL_NO_WAIT_IN_SYNCHRONIZE ||
		!(atomic_inc_return(&n) % 16));
}
#endif

/* See "Wall time". @seq has no lock: the timekeeping code calls one writer at a time. */
static struct {
	seqcount_t	seq;
	ktime_t		real;		/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	ktime_t		tai;		/* CLOCK_TAI - CLOCK_MONOTONIC */
	ktime_t		leap;		/* the next leap second, on CLOCK_MONOTONIC */
} hwheel_offsets = { .seq = SEQCNT_ZERO(hwheel_offsets.seq) };

/* @wheel's clock minus CLOCK_MONOTONIC, on a wheel of wall time. @now: on CLOCK_MONOTONIC */
static ktime_t hwheel_offset(const struct hwheel *wheel, ktime_t now)
{
	unsigned int seq;
	ktime_t offset;

	do {
		seq = raw_read_seqcount_begin(&hwheel_offsets.seq);
		if (wheel->clock == CLOCK_TAI) {
			offset = hwheel_offsets.tai;
		} else {
			offset = hwheel_offsets.real;
			if (unlikely(now >= hwheel_offsets.leap))
				offset -= NSEC_PER_SEC;
		}
	} while (read_seqcount_retry(&hwheel_offsets.seq, seq));
	return offset;
}

/*
 * The time on @wheel's clock. hwheel calls this if the clock is not CLOCK_MONOTONIC, and also if
 * a user by mistake arms a timer of an earlier life of the wheel: see hwheel_begin_base().
 */
static noinline ktime_t hwheel_other_clock(const struct hwheel *wheel)
{
	ktime_t now;

	if (wheel->clock == CLOCK_BOOTTIME)
		return ktime_get_boottime();
	now = ktime_get();
	return wheel->wall ? now + hwheel_offset(wheel, now) : now;
}

static __always_inline ktime_t hwheel_clock(const struct hwheel *wheel)
{
	return likely(wheel->clock == CLOCK_MONOTONIC) ? ktime_get() : hwheel_other_clock(wheel);
}

/* @now + @delay, at most KTIME_MAX. @now is 0 or more. */
static __always_inline ktime_t hwheel_deadline(ktime_t now, ktime_t delay)
{
	return delay <= KTIME_MAX - now ? now + delay : KTIME_MAX;
}

/* @then - @now, at least KTIME_MIN. @now is 0 or more. */
static ktime_t hwheel_until(ktime_t then, ktime_t now)
{
	return then >= KTIME_MIN + now ? then - now : KTIME_MIN;
}

static void hwheel_note_max(struct hwheel_base *base, enum hwheel_counter which, u64 ns)
{
	if (ns > base->count[which])
		base->count[which] = ns;
}

/* Is any CPU isolated? */
static __always_inline bool hwheel_isolation(void)
{
#ifdef CONFIG_CPU_ISOLATION
	return static_branch_unlikely(&housekeeping_overridden);
#else
	return false;
#endif
}

/* Is @cpu isolated? */
static bool hwheel_isolated(int cpu)
{
	return hwheel_isolation() &&
	       (!housekeeping_test_cpu(cpu, HK_TYPE_TIMER) || cpu_is_isolated(cpu));
}

#define CREATE_TRACE_POINTS
#include "hwheel_trace.h"

/* The function to name in warnings and in debugfs. For delayed work: the work's function */
static void *hwheel_named(const struct hwheel_timer *timer)
{
	if (timer->function == __hwheel_work_expired)
		return container_of(timer, struct hwheel_delayed_work, timer)->work.func;
	return timer->function;
}

/* ------------------------------------------------------------------------ */
/* Counting by callback: the parameter "users" switches it on for all wheels */

static DEFINE_STATIC_KEY_FALSE(hwheel_users_key);

/* With @base locked: @timer has been armed. */
static noinline void hwheel_count_armed(struct hwheel_base *base,
					const struct hwheel_timer *timer)
{
	if (base->users)
		users_find(base->users, hwheel_named(timer))->armed++;
}

/* With @base locked: the callback of @timer is about to begin. */
static noinline void hwheel_count_expired(struct hwheel_base *base,
					  const struct hwheel_timer *timer, u64 late)
{
	struct hwheel_user *user;

	if (!base->users)
		return;
	user = users_find(base->users, hwheel_named(timer));
	user->expired++;
	user->max_late_ns = max(user->max_late_ns, late);
}

/* ------------------------------------------------------------------------ */
/* Debugging aids of the kernel */

#ifdef CONFIG_LOCKDEP
static void hwheel_lockdep_init(struct hwheel_timer *timer, const char *name,
				struct lock_class_key *key)
{
	lockdep_init_map(&timer->lockdep_map, name, key, 0);
}

/*
 * Have lockdep report locks that the caller holds and that the callback takes. Do not tell
 * lockdep about a callback that waits for itself. Lockdep would report this mistake and switch
 * itself off. hwheel_remove_sync() reports the mistake anyway. Each context is a lockdep
 * subclass, because one place may set up timers for wheels of several contexts. The callbacks
 * of these wheels have little in common.
 */
static void hwheel_lockdep_sync(struct hwheel_timer *timer, const struct hwheel_base *base)
{
	unsigned long flags;

	if (READ_ONCE(base->running) == timer && READ_ONCE(base->runner) == current)
		return;
	local_irq_save(flags);
	lock_acquire_exclusive(&timer->lockdep_map, base->wheel->context, 0, NULL, _THIS_IP_);
	lock_map_release(&timer->lockdep_map);
	local_irq_restore(flags);
}

/* The same for a caller that waits for all callbacks of @wheel */
static void hwheel_lockdep_sync_all(struct hwheel *wheel)
{
	unsigned long flags;

	if (READ_ONCE(wheel->life) == HWHEEL_GONE)
		return;
	local_irq_save(flags);
	lock_map_acquire(&wheel->lockdep_map);
	lock_map_release(&wheel->lockdep_map);
	local_irq_restore(flags);
}

/* A wheel has another lock class in each of its lives. */
static void hwheel_lockdep_begin(struct hwheel *wheel)
{
	lockdep_register_key(&wheel->key);
	lockdep_init_map(&wheel->lockdep_map, wheel->name, &wheel->key, 0);
}

static void hwheel_lockdep_end(struct hwheel *wheel)
{
	lockdep_unregister_key(&wheel->key);
}
#else
static inline void hwheel_lockdep_init(struct hwheel_timer *timer, const char *name,
				       struct lock_class_key *key) { }
static inline void hwheel_lockdep_sync(struct hwheel_timer *timer,
				       const struct hwheel_base *base) { }
static inline void hwheel_lockdep_sync_all(struct hwheel *wheel) { }
static inline void hwheel_lockdep_begin(struct hwheel *wheel) { }
static inline void hwheel_lockdep_end(struct hwheel *wheel) { }
#endif

#ifdef CONFIG_DEBUG_OBJECTS_TIMERS
static int hwheel_remove(struct hwheel_timer *timer, bool shutdown,
			 struct hwheel_base **running);

static void debug_hwheel_init(struct hwheel_timer *timer, bool on_stack);

static void *hwheel_debug_hint(void *addr)
{
	return hwheel_named(addr);
}

static bool hwheel_debug_is_static(void *addr)
{
	struct hwheel_timer *timer = addr;

	return timer->base == __HWHEEL_SYSTEM_BASE && !timer->entry.next;
}

/* A pending timer is set up or freed: cancel it first. */
static bool hwheel_debug_fixup_init(void *addr, enum debug_obj_state state)
{
	struct hwheel_timer *timer = addr;

	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	hwheel_remove(timer, false, NULL);
	return true;
}

/* A timer is used that was never set up: make it a timer that can't be armed. */
static bool hwheel_debug_fixup_assert_init(void *addr, enum debug_obj_state state)
{
	struct hwheel_timer *timer = addr;

	if (state != ODEBUG_STATE_NOTAVAILABLE)
		return false;
	memset(timer, 0, sizeof(*timer));
	debug_hwheel_init(timer, object_is_on_stack(addr));
	return true;
}

static const struct debug_obj_descr hwheel_debug_descr = {
	.name			= "hwheel_timer",
	.debug_hint		= hwheel_debug_hint,
	.is_static_object	= hwheel_debug_is_static,
	.fixup_init		= hwheel_debug_fixup_init,
	.fixup_free		= hwheel_debug_fixup_init,
	.fixup_assert_init	= hwheel_debug_fixup_assert_init,
};

static void debug_hwheel_init(struct hwheel_timer *timer, bool on_stack)
{
	if (on_stack)
		debug_object_init_on_stack(timer, &hwheel_debug_descr);
	else
		debug_object_init(timer, &hwheel_debug_descr);
}

static void debug_hwheel_assert_init(struct hwheel_timer *timer)
{
	debug_object_assert_init(timer, &hwheel_debug_descr);
}

static void debug_hwheel_activate(struct hwheel_timer *timer)
{
	debug_object_activate(timer, &hwheel_debug_descr);
}

static void debug_hwheel_deactivate(struct hwheel_timer *timer)
{
	debug_object_deactivate(timer, &hwheel_debug_descr);
}

static void debug_hwheel_free(struct hwheel_timer *timer)
{
	debug_object_free(timer, &hwheel_debug_descr);
}
#else
static inline void debug_hwheel_init(struct hwheel_timer *timer, bool on_stack) { }
static inline void debug_hwheel_assert_init(struct hwheel_timer *timer) { }
static inline void debug_hwheel_activate(struct hwheel_timer *timer) { }
static inline void debug_hwheel_deactivate(struct hwheel_timer *timer) { }
static inline void debug_hwheel_free(struct hwheel_timer *timer) { }
#endif

/* ------------------------------------------------------------------------ */
/* A timer's base */

/* hwheel_pending() for a @timer that is not NULL */
static __always_inline bool hwheel_queued(const struct hwheel_timer *timer)
{
	return READ_ONCE(timer->entry.next);
}

/*
 * Find the base of a timer that has none. A static timer gets a base of the module's
 * wheel here. A timer that has not been set up gets a warning.
 */
static noinline struct hwheel_base *hwheel_find_base(struct hwheel_timer *timer)
{
	static DEFINE_RAW_SPINLOCK(lock);	/* one caller at a time sets timer->base */
	struct hwheel_base *base;
	unsigned long flags;

	if (WARN_ONCE(!timer, "hwheel: %ps used a timer that is NULL\n",
		      __builtin_return_address(0)))
		return NULL;
	raw_spin_lock_irqsave(&lock, flags);
	base = READ_ONCE(timer->base);
	if (base == __HWHEEL_SYSTEM_BASE) {
		debug_hwheel_init(timer, false);
		/* There is no wheel if hwheel failed to start when the kernel booted */
		base = IS_ERR_OR_NULL(hwheel_system) ? NULL : raw_cpu_ptr(hwheel_system->bases);
		if (base)
			WRITE_ONCE(timer->base, base);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	WARN_ONCE(!base, "hwheel: timer with callback %ps used before hwheel_setup()\n",
		  timer->function);
	return base;
}

/*
 * A guess at timer->base: the base that this CPU looked up last, which is right in most
 * cases. If the timer is not in the cache, the CPU predicts that the guess is right, and
 * goes on with the guess while it fetches the timer from memory.
 */
#define HWHEEL_NO_GUESS		((struct hwheel_base *)-1L)	/* no timer's base */
static DEFINE_PER_CPU(struct hwheel_base *, hwheel_guess) = HWHEEL_NO_GUESS;

/* Find @timer's base. Returns false, after a warning, if the timer has none. */
static __always_inline bool hwheel_base(const struct hwheel_timer *timer,
					struct hwheel_base **base)
{
	struct hwheel_base *guess = raw_cpu_read(hwheel_guess);

	*base = NULL;
	if (likely(timer)) {
		debug_hwheel_assert_init((struct hwheel_timer *)timer);
		*base = READ_ONCE(timer->base);
		if (likely(*base == guess)) {
			OPTIMIZER_HIDE_VAR(guess);
			*base = guess;
			return true;
		}
	}
	if (unlikely((unsigned long)*base <= (unsigned long)__HWHEEL_SYSTEM_BASE))
		*base = hwheel_find_base((struct hwheel_timer *)timer);
	if (unlikely(!*base))
		return false;
	raw_cpu_write(hwheel_guess, *base);
	return true;
}

/*
 * Find the base of @timer. *@now is CLOCK_MONOTONIC, read a moment ago. If the wheel has another
 * clock, read that clock into *@now.
 */
static __always_inline bool hwheel_base_clock(struct hwheel_timer *timer,
					      struct hwheel_base **base, ktime_t *now)
{
	if (unlikely(!hwheel_base(timer, base)))
		return false;
	/* base->monotonic changes only after the wheel was destroyed. Then @timer is not armed. */
	if (unlikely(!data_race((*base)->monotonic)))
		*now = hwheel_other_clock((*base)->wheel);
	return true;
}

/*
 * Read the clock into *@now, and find the base of @timer. Reading a clock takes a fence.
 * A fence delays loads, but not prefetches. @timer is rarely in the cache: so prefetch
 * it, read the clock, and only then look at the timer.
 */
static __always_inline bool hwheel_base_now(struct hwheel_timer *timer,
					    struct hwheel_base **base, ktime_t *now)
{
	prefetchw(timer);
	*now = ktime_get();
	return hwheel_base_clock(timer, base, now);
}

/* Lock the base that @timer is on, which was @base a moment ago. */
static __always_inline struct hwheel_base *hwheel_lock(struct hwheel_timer *timer,
						       struct hwheel_base *base,
						       unsigned long *flags)
	__acquires(timer->base->lock)
{
	for (;;) {
		raw_spin_lock_irqsave(&base->lock, *flags);
		if (likely(READ_ONCE(timer->base) == base))
			return base;
		raw_spin_unlock_irqrestore(&base->lock, *flags);
		cpu_relax();
		base = READ_ONCE(timer->base);
	}
}

/*
 * With @base locked, lock @other too. Two bases are locked in the order of their CPUs, so
 * this function may unlock @base for a while.
 */
static void hwheel_lock_other(struct hwheel_base *base, struct hwheel_base *other)
	__acquires(&other->lock)
{
	if (other->cpu > base->cpu) {
		raw_spin_lock_nested(&other->lock, SINGLE_DEPTH_NESTING);
	} else if (!raw_spin_trylock(&other->lock)) {
		raw_spin_unlock(&base->lock);
		raw_spin_lock(&other->lock);
		raw_spin_lock_nested(&base->lock, SINGLE_DEPTH_NESTING);
	}
}

/*
 * Unlock @other. If @base was locked second, lockdep has it in subclass 1. Now it is the
 * only lock. So put it into subclass 0.
 */
static void hwheel_unlock_other(struct hwheel_base *base, struct hwheel_base *other)
	__releases(&other->lock)
{
	raw_spin_unlock(&other->lock);
	lock_set_subclass(&base->lock.dep_map, 0, _THIS_IP_);
}

/* ------------------------------------------------------------------------ */
/* The drive */

static __always_inline enum hwheel_context hwheel_context(const struct hwheel_base *base)
{
	return base->wheel->context;
}

static bool hwheel_deferrable(const struct hwheel_base *base)
{
	return base->wheel->flags & HWHEEL_DEFERRABLE;
}

/*
 * Start base->entry for base->expires. timer_list may run an entry with a long delay late,
 * by up to an eighth of the delay. So the entry is started for seven eighths of the delay.
 * When it expires, hwheel_entry_expired() starts it again for the rest. A delay of less than
 * 8 jiffies is not split. The drive's clock is CLOCK_MONOTONIC: hwheel_check() allows no
 * other.
 */
static noinline void hwheel_start_entry(struct hwheel_base *base)
{
	s64 ns = hwheel_until(base->expires, ktime_get());
	u64 way = div_u64(max(ns, 0LL), TICK_NSEC);

	timer_delete(&base->entry);
	base->entry.expires = jiffies + min_t(u64, way - way / 8, MAX_JIFFY_OFFSET);
	/* This does not wake an idle CPU */
	add_timer_on(&base->entry, cpu_online(base->cpu) ? base->cpu : smp_processor_id());
}

/* The last tick at or before @now, which is on the drive's clock */
static __always_inline u64 hwheel_tick_down(const struct hwheel_base *base, ktime_t now)
{
	return levels_tick_down(&base->levels, now + base->offset);
}

static __always_inline u64 hwheel_tick_up(const struct hwheel_base *base, ktime_t now)
{
	return levels_tick_up(&base->levels, hwheel_deadline(now, base->offset));
}

/* The time on the drive's clock at which @tick begins */
static __always_inline ktime_t hwheel_tick_ns(const struct hwheel_base *base, u64 tick)
{
	s64 ns = levels_tick_ns(&base->levels, tick);

	return ns == S64_MAX ? KTIME_MAX : max(ns - base->offset, 0LL);
}

/* A base that is closing starts no hrtimer: see hwheel_close_base(). */
static void hwheel_start_hrtimer(struct hwheel_base *base, ktime_t expires)
{
	if (unlikely(base->closing))
		return;
	trace_hwheel_arm(base, expires);
	base->expires = expires;
	if (unlikely(hwheel_deferrable(base))) {
		hwheel_start_entry(base);
		return;
	}
	hrtimer_start(&base->hrtimer, expires,
		      hwheel_context(base) == HWHEEL_HARDIRQ ?
		      HRTIMER_MODE_ABS_PINNED_HARD : HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * Arm the hrtimer on this CPU for @tick, but not before
 *
 *	base->quiet = gap_ns + end of the last run that ran callbacks
 *
 * While the hrtimer is armed for base->quiet, arming a timer does not move the hrtimer.
 */
static void hwheel_arm_hrtimer(struct hwheel_base *base, u64 tick)
{
	ktime_t expires = hwheel_tick_ns(base, tick);

	base->armed = max(tick, 1ULL);	/* 0 is for runs and breaks; @tick may be 0 */
	if (unlikely(expires < base->quiet)) {
		base->armed = max(base->levels.clock, 1ULL);
		expires = base->quiet;
	}
	hwheel_start_hrtimer(base, expires);
}

static void hwheel_want(struct hwheel_levels *levels);
static ktime_t hwheel_other_time(struct hwheel_base *base);

/*
 * Have hwheel_kick() run on @base's CPU, which is not this one. -EBUSY means that a kick is
 * on its way, and its handler will see the present state. base->kick can be sent again as
 * soon as its handler begins. So two kicks may be under way.
 */
static void hwheel_send_kick(struct hwheel_base *base)
{
	base->kicks += !smp_call_function_single_async(base->cpu, &base->kick);
}

/* Arm the hrtimer of @base for @tick. @base may be another CPU's. */
static void hwheel_arm_base(struct hwheel_base *base, u64 tick)
{
	if (base->cpu == smp_processor_id() || !cpu_online(base->cpu) ||
	    hwheel_deferrable(base)) {
		hwheel_arm_hrtimer(base, tick);
		return;
	}
	/* A pinned hrtimer is queued on the CPU that starts it. */
	base->armed = max(tick, 1ULL);
	hwheel_send_kick(base);
}

/*
 * Arm the hrtimer of @base if a timer needs it before base->armed. Do nothing if @base is offline:
 * its timers are moved away, and no run may begin meanwhile.
 */
static void hwheel_arm_next(struct hwheel_base *base)
{
	u64 wake = levels_wake(&base->levels);

	if (wake < base->armed && !base->offline)
		hwheel_arm_base(base, wake);
}

/* If no run or break is under way, arm the hrtimer of @base again: its time may have changed */
static void hwheel_arm_again(struct hwheel_base *base)
{
	if (base->armed) {
		base->armed = HWHEEL_NEVER;
		hwheel_arm_next(base);
	}
}

/* The handler of a kick. Runs on @base's CPU, at the request of another CPU, interrupts off. */
static void hwheel_kick(void *data)
{
	struct hwheel_base *base = data;
	struct hwheel_levels *levels = &base->levels;

	raw_spin_lock(&base->lock);
	base->kicks--;
	if (base->life != HWHEEL_GONE) {
		base->count[HWHEEL_REMOTE_KICKS]++;
		if (levels->wanted > levels->nr || levels->fans_wanted > levels->fans)
			hwheel_want(levels);
		if (base->wheel->wall)
			hwheel_other_time(base);	/* the clock may have been set */
		/* The timer that caused the kick may have been cancelled or re-armed */
		hwheel_arm_again(base);
	}
	raw_spin_unlock(&base->lock);
}

/*
 * The clock of @base's wheel was set: at time @now it is @offset ahead of the drive's clock.
 * The hrtimer must be armed again: its tick begins at another time than before, and an earlier
 * tick may be next.
 */
static noinline void hwheel_new_offset(struct hwheel_base *base, ktime_t now, ktime_t offset)
{
	struct hwheel_levels *levels = &base->levels;
	u64 tick;

	base->offset = offset;
	base->fresh = 0;
	tick = hwheel_tick_down(base, now);
	if (tick < levels->floor) {
		levels_set_back(levels, tick);
		hwheel_note_max(base, HWHEEL_MAX_LOCKED_NS, ktime_get() - now);
	}
	hwheel_arm_again(base);
}

/* hwheel_time() of a wheel whose clock is not CLOCK_MONOTONIC */
static noinline ktime_t hwheel_other_time(struct hwheel_base *base)
{
	const struct hwheel *wheel = base->wheel;
	ktime_t now, offset;

	if (!wheel->wall)
		return ktime_get_boottime();
	now = ktime_get();
	offset = hwheel_offset(wheel, now);
	if (unlikely(offset != base->offset))
		hwheel_new_offset(base, now, offset);
	return now;
}

/*
 * With @base locked: read the drive's clock. The base takes over the offset of its wheel's
 * clock first, if somebody has set that clock.
 */
static __always_inline ktime_t hwheel_time(struct hwheel_base *base)
{
	return likely(base->monotonic) ? ktime_get() : hwheel_other_time(base);
}

/*
 * Advance the clock of @base to @now, which is on the wheel's clock, if a run has nothing to
 * do before @now. Callers need not do this again before base->fresh. By then a clock that was
 * advanced is behind the time by half the reach of level 0. On a wheel of wall time, this function
 * reads the time again: somebody may have set the wheel's clock after the caller read @now.
 */
static noinline void hwheel_catch_up(struct hwheel_base *base, ktime_t now)
{
	struct hwheel_levels *levels = &base->levels;
	u64 tick;

	if (base->wheel->wall) {
		now = hwheel_other_time(base);
		now += base->offset;
	}
	tick = levels_tick_down(levels, now);

	/* base->armed is 1 for tick 0, too: see hwheel_arm_hrtimer() */
	if (tick > levels->clock && tick < base->armed)
		levels_set_clock(levels, tick);
	base->fresh = hwheel_deadline(now, levels->level[0].nr / 2 * levels->tick_ns);
}

/*
 * How a run locks and unlocks its base. In hardirq context interrupts are off, and stay
 * off. @context is a constant in the runs, so they do not test it.
 */
static __always_inline void hwheel_lock_run(struct hwheel_base *base,
					    enum hwheel_context context)
	__acquires(&base->lock)
{
	if (context == HWHEEL_HARDIRQ)
		raw_spin_lock(&base->lock);
	else
		raw_spin_lock_irq(&base->lock);
}

static __always_inline void hwheel_unlock_run(struct hwheel_base *base,
					      enum hwheel_context context)
	__releases(&base->lock)
{
	if (context == HWHEEL_HARDIRQ)
		raw_spin_unlock(&base->lock);
	else
		raw_spin_unlock_irq(&base->lock);
}

#ifdef CONFIG_PREEMPT_RT
static void hwheel_init_expiry_lock(struct hwheel_base *base)
{
	spin_lock_init(&base->expiry_lock);
}

static void hwheel_lock_expiry(struct hwheel_base *base)
{
	spin_lock(&base->expiry_lock);
}

static void hwheel_unlock_expiry(struct hwheel_base *base)
{
	spin_unlock(&base->expiry_lock);
}

/* In a softirq run, with @base locked and no callback running: let waiters in. */
static void hwheel_yield_expiry(struct hwheel_base *base)
{
	if (atomic_read(&base->waiters)) {
		raw_spin_unlock_irq(&base->lock);
		spin_unlock(&base->expiry_lock);
		spin_lock(&base->expiry_lock);
		raw_spin_lock_irq(&base->lock);
	}
}

static void hwheel_wait_expiry(struct hwheel_base *base)
{
	atomic_inc(&base->waiters);
	spin_lock_bh(&base->expiry_lock);
	atomic_dec(&base->waiters);
	spin_unlock_bh(&base->expiry_lock);
}
#else
static inline void hwheel_init_expiry_lock(struct hwheel_base *base) { }
static inline void hwheel_lock_expiry(struct hwheel_base *base) { }
static inline void hwheel_unlock_expiry(struct hwheel_base *base) { }
static inline void hwheel_yield_expiry(struct hwheel_base *base) { }

static inline void hwheel_wait_expiry(struct hwheel_base *base)
{
	cpu_relax();
}
#endif

/* Wait until the callback of @timer, which runs on @base, may have ended. */
static void hwheel_wait_running(struct hwheel_base *base,
				const struct hwheel_timer *timer)
{
	switch (hwheel_context(base)) {
	case HWHEEL_SOFTIRQ:
		hwheel_wait_expiry(base);
		break;
	case HWHEEL_HARDIRQ:
		cpu_relax();
		break;
	case HWHEEL_WORK:
		wait_event(base->wait, READ_ONCE(base->running) != timer);
		break;
	}
}

/*
 * Can other CPUs arm timers on @base? They can't while its CPU is offline, or on its way
 * to being online. A CPU uses its own base before it is online, but others can't start
 * its hrtimer yet.
 */
static bool hwheel_reachable(const struct hwheel_base *base)
{
	return !READ_ONCE(base->offline) && cpu_online(base->cpu);
}

/*
 * With interrupts off: returns the base on which this CPU puts a timer of @base's wheel, if
 * the caller named no CPU. This is
 *
 * - this CPU's base, if this CPU is not isolated;
 * - else @base, if its CPU is online and not isolated;
 * - else the base of another CPU that is online and not isolated;
 * - else this CPU's base.
 */
static struct hwheel_base *hwheel_home(struct hwheel_base *base)
{
	struct hwheel_base __percpu *bases = base->wheel->bases;
	int cpu;

	if (!hwheel_isolated(smp_processor_id()))
		return this_cpu_ptr(bases);
	if (!hwheel_isolated(base->cpu) && hwheel_reachable(base))
		return base;
	/* Try a near CPU first. HK_TYPE_TIMER does not cover all isolation, hence the loop */
	cpu = housekeeping_any_cpu(HK_TYPE_TIMER);
	if (cpu < nr_cpu_ids && !hwheel_isolated(cpu) && hwheel_reachable(per_cpu_ptr(bases, cpu)))
		return per_cpu_ptr(bases, cpu);
	for_each_online_cpu(cpu)
		if (!hwheel_isolated(cpu) && hwheel_reachable(per_cpu_ptr(bases, cpu)))
			return per_cpu_ptr(bases, cpu);
	return this_cpu_ptr(bases);
}

/*
 * In a run, with @base locked: if @timer's callback is over and the timer was armed for
 * another CPU meanwhile, move it to base->dest. hwheel_lock_other() may drop the lock.
 * While it is dropped, base->running keeps the timer on @base, and others may change
 * base->dest. So look at base->dest again.
 */
static void hwheel_move_running(struct hwheel_base *base, struct hwheel_timer *timer)
{
	struct hwheel_base *dest;
	u64 wake;

	while ((dest = base->dest)) {
		hwheel_lock_other(base, dest);
		if (base->dest == dest) {
			base->dest = NULL;
			if (hwheel_reachable(dest) && dest->life == timer->life) {
				levels_leave(&base->levels, timer);
				WRITE_ONCE(timer->base, dest);
				dest->count[HWHEEL_MIGRATED]++;
				wake = levels_add(&dest->levels, timer,
						  levels_due(&dest->levels, timer));
				if (wake < dest->armed)
					hwheel_arm_base(dest, wake);
			}
		}
		hwheel_unlock_other(base, dest);
	}
}

/*
 * A callback has returned in another state than it was called in: warn, and restore the
 * state. These are functions of their own because hwheel_call() is inlined several times,
 * and each copy would warn once.
 */
static noinline void hwheel_mend_preempt_count(void (*function)(struct hwheel_timer *timer),
					       int count)
{
	WARN_ONCE(1, "hwheel: callback %ps returned with preempt_count %08x, was called with %08x\n",
		  function, preempt_count(), count);
	preempt_count_set(count);
}

static noinline void hwheel_mend_interrupts(void (*function)(struct hwheel_timer *timer))
{
	if (irqs_disabled()) {
		WARN_ONCE(1, "hwheel: callback %ps has switched interrupts off\n", function);
		local_irq_enable();
	} else {
		WARN_ONCE(1, "hwheel: callback %ps has switched interrupts on\n", function);
		local_irq_disable();
	}
}

static void hwheel_wake_sleeper(struct hwheel_timer *timer);

/*
 * Run the callback of @timer with the lock dropped. If the callback has changed the
 * preemption count or the interrupt state, restore it, to protect other callbacks.
 */
static __always_inline void hwheel_call(struct hwheel_base *base, struct hwheel_timer *timer,
					enum hwheel_context context)
	__must_hold(&base->lock)
{
	void (*function)(struct hwheel_timer *timer) = timer->function;
	ktime_t expires = timer->expires;	/* others may change it later */
	/* Delayed work waits for its callbacks in any context: see hwheel_work.h */
	bool off = context == HWHEEL_HARDIRQ || function == __hwheel_work_expired;
	int count;
#ifdef CONFIG_LOCKDEP
	struct lockdep_map map;		/* the callback may free the timer */

	lockdep_copy_map(&map, &timer->lockdep_map);
#endif
	WRITE_ONCE(base->running, timer);
	base->dest = NULL;
	WRITE_ONCE(base->runner, current);
	if (off)
		raw_spin_unlock(&base->lock);
	else
		raw_spin_unlock_irq(&base->lock);

	count = preempt_count();
	lock_map_acquire(&base->wheel->lockdep_map);
	lock_acquire_exclusive(&map, context, 0, NULL, _THIS_IP_);
	trace_hwheel_expire_entry(base, timer, expires);
	function(timer);
	/* A sleeper's callback would wake no task the second time, and crash */
	if (hwheel_broken(HWHEEL_FIRE_TWICE) && function != hwheel_wake_sleeper)
		function(timer);
	trace_hwheel_expire_exit(timer, function);
	lock_map_release(&map);
	lock_map_release(&base->wheel->lockdep_map);
	if (unlikely(count != preempt_count()))
		hwheel_mend_preempt_count(function, count);
	if (unlikely(off != !!irqs_disabled()))
		hwheel_mend_interrupts(function);
	if (context == HWHEEL_WORK && !off)
		cond_resched();

	hwheel_lock_run(base, context);
	WRITE_ONCE(base->runner, NULL);
	hwheel_move_running(base, timer);
	if (!hwheel_broken(HWHEEL_LEAK_RUNNING))
		WRITE_ONCE(base->running, NULL);
	if (off && context != HWHEEL_HARDIRQ) {
		/* The next callback may need them off, too: let interrupts in */
		hwheel_unlock_run(base, context);
		if (context == HWHEEL_WORK)
			cond_resched();
		cpu_relax();	/* sti takes effect after one more instruction */
		hwheel_lock_run(base, context);
	}
	if (context == HWHEEL_SOFTIRQ)
		hwheel_yield_expiry(base);
	if (context == HWHEEL_WORK && wq_has_sleeper(&base->wait)) {
		hwheel_unlock_run(base, context);
		wake_up_all(&base->wait);	/* takes a lock that sleeps on PREEMPT_RT */
		wait_event(base->wait, !atomic_read(&base->waiters));
		hwheel_lock_run(base, context);
	}
}

/*
 * Run the callbacks of timers that are due, while *@now is before @end. Read the clock
 * after every HWHEEL_CLOCK_EVERY callbacks, and when a jiffy has begun. The lateness of a
 * timer is the last reading of the clock minus the timer's time. So the lateness may be too
 * small, by the time of HWHEEL_CLOCK_EVERY callbacks or by about a jiffy, whichever is less.
 * Read the clock after each callback
 *
 * - in hardirq context: nothing else runs there, and the jiffy may not advance;
 * - on a wheel of wall time: the clock may have been set back during the callback. Then
 *   hwheel_time() moves all timers from HWHEEL_EXPIRED to the attic, and the loop ends.
 */
static __always_inline void hwheel_fire(struct hwheel_base *base, ktime_t *now,
					ktime_t end, enum hwheel_context context)
{
	const unsigned int mask = context == HWHEEL_HARDIRQ || base->wheel->wall ?
				  0 : HWHEEL_CLOCK_EVERY - 1;
	unsigned long last = jiffies;
	struct hwheel_timer *timer;
	unsigned int n = 0;
	u64 late;

	while (*now < end && (timer = levels_pop(&base->levels))) {
		late = (u64)*now + (u64)base->offset - (u64)timer->expires;
		base->late[fls64(late)]++;
		hwheel_note_max(base, HWHEEL_MAX_LATE_NS, late);
		base->count[HWHEEL_EXPIRED_TIMERS]++;
		if (static_branch_unlikely(&hwheel_users_key))
			hwheel_count_expired(base, timer, late);
		debug_hwheel_deactivate(timer);
		hwheel_call(base, timer, context);

		if (!(++n & mask) || time_after(jiffies, last)) {
			last = jiffies;
			*now = hwheel_time(base);
		}
	}
	if (n & mask)
		*now = hwheel_time(base);
}

static void hwheel_queue_work(struct hwheel_base *base)
{
	if (unlikely(base->closing))
		return;
	if (base->wheel->flags & HWHEEL_UNBOUND)
		queue_work(system_dfl_wq, &base->work);
	else
		queue_work_on(base->cpu, system_percpu_wq, &base->work);
}

/* ------------------------------------------------------------------------ */
/* Runs, rests and breaks: who gets the CPU next, and for how long */

/*
 * A run ends when nothing is left to do, or when it is cut:
 *
 *	the run is cut when			it then leaves the CPU for
 *	-----------------------------------	-----------------------------------
 *	not in hardirq context, the run has	an eighth of the budget; if no timer
 *	  used up the budget			  is due, at least as long as the
 *						  run's moves took
 *	no timer is due, and moves have		as long as the moves took
 *	  taken 50 us
 *	in hardirq context, a batch of		as long as the moves took; 1 us if a
 *	  moves is done				  timer is due and no gap is under way
 *	in hardirq context, base->spent has	the budget
 *	  reached the budget: see
 *	  hwheel_overdrawn()
 *
 * base->resume is the end of that time. What is left to do when the run is cut decides
 * what happens until then:
 *
 *	        +--------- the hrtimer expires ----------+
 *	        v                                        |
 *	  +---> RUN --- nothing is left -----------> SLEEP until levels_wake(); arming may
 *	  |     | |                                  make that earlier
 *	  |     | +---- cut; only moves are left --> REST until base->resume. If a timer is
 *	  |     |                                    due before, a run fires it, and moves
 *	  |     v                                    nothing ahead of its time
 *	  |     cut; a timer is due, or hardirq
 *	  |     runs have had the CPU too long
 *	  |     v
 *	  +---- BREAK until base->resume: no run, timers wait
 *
 * A run that was cut goes to SLEEP, too, if nothing is to be done before base->resume. A
 * run during a REST is cut when only moves are left. The rest then goes on until the old
 * base->resume.
 *
 * In process context there is no rest and no break. The run queues its work again, behind
 * other works, and the scheduler shares out the CPU.
 *
 * In SLEEP and in REST, gap_ns delays the interrupt for a due timer:
 *
 *	base->quiet = gap_ns + end of the last run that ran callbacks
 *
 * A timer that is due before base->quiet waits until base->quiet. In REST it waits only
 * until base->resume if that comes first. So the gap makes a timer late by at most
 * gap_ns. In SLEEP, a crowd that is to be moved waits, too; levels.ahead makes its moves
 * begin gap_ns earlier. The gap makes neither a rest nor a break longer: both end at
 * base->resume.
 */
enum hwheel_cut {
	HWHEEL_NOT_CUT,
	HWHEEL_CUT_MOVES,	/* moves took long, or can wait */
	HWHEEL_CUT_BUDGET,	/* the run used up the budget */
	HWHEEL_CUT_OVERDRAWN,	/* hardirq runs had the CPU too long */
};

/*
 * A hardirq run that ran callbacks, from @begin to @now, is about to end: add its time to
 * base->spent. Returns true, and sets base->spent to 0, if base->spent has reached the budget.
 * The run is then cut, and a break follows. Without these breaks, short hardirq runs that
 * follow each other closely could keep tasks from running: hardirq context has no ksoftirqd.
 *
 *	base->spent = time of these runs - time between them, at least 0
 *
 * The time of a run counts from the expiration of its hrtimer. A late hrtimer adds at most an
 * eighth of the budget.
 */
static bool hwheel_overdrawn(struct hwheel_base *base, ktime_t begin, ktime_t now)
{
	u64 budget = base->wheel->budget_ns;
	ktime_t due = max(base->expires, begin - (ktime_t)(budget / HWHEEL_BREAK));

	due = clamp(due, base->ended, begin);
	base->spent -= min_t(u64, base->spent, due - base->ended);
	base->spent += now - due;
	base->ended = now;
	if (base->spent < budget)
		return false;
	base->spent = 0;
	return true;
}

/*
 * Returns for how many ns a run, which was @cut at @now, leaves the CPU to others.
 * @moving: how many ns its batches of moves took.
 * @ripe: a timer is due.
 */
static u64 hwheel_pause(const struct hwheel_base *base, enum hwheel_cut cut, ktime_t now,
			u64 moving, bool ripe)
{
	u64 budget = base->wheel->budget_ns, pause = 0;

	switch (cut) {
	case HWHEEL_NOT_CUT:
		return 0;
	case HWHEEL_CUT_MOVES:
		if (ripe)
			pause = HWHEEL_URGENT_NS;
		else if (now < base->resume)
			pause = base->resume - now;
		else
			pause = moving;
		break;
	case HWHEEL_CUT_BUDGET:
		pause = max(budget / HWHEEL_BREAK, ripe ? 0 : moving);
		break;
	case HWHEEL_CUT_OVERDRAWN:
		pause = budget;
		break;
	}
	return max(pause, 1ULL);
}

/*
 * End a run at @now: sleep, rest or take a break, as @cut and the timers that are left
 * decide. Batches of moves took @moving ns. Returns true for a rest or a break, and if
 * the work is queued again.
 */
static bool hwheel_end_run(struct hwheel_base *base, enum hwheel_cut cut, ktime_t now,
			   u64 moving, enum hwheel_context context)
{
	struct hwheel_levels *levels = &base->levels;
	u64 wake = levels_wake(levels), due;
	ktime_t resume;
	bool ripe;

	if (wake == HWHEEL_NEVER) {
		base->armed = HWHEEL_NEVER;
		return false;
	}
	ripe = cut && levels_ripe(levels, hwheel_tick_down(base, now));
	if (cut == HWHEEL_CUT_MOVES && now < base->quiet)
		ripe = false;	/* due timers wait: for the end of the gap, or for resume */
	resume = hwheel_deadline(now, hwheel_pause(base, cut, now, moving, ripe));
	if (cut == HWHEEL_NOT_CUT || hwheel_tick_ns(base, wake) > resume) {
		hwheel_arm_base(base, wake);
		return false;
	}
	if (context == HWHEEL_WORK) {
		hwheel_queue_work(base);
		return true;
	}
	base->resume = resume;
	if (ripe || cut == HWHEEL_CUT_OVERDRAWN || resume <= base->quiet) {
		/* As in a run: arming a timer does not move the hrtimer */
		base->armed = 0;
		hwheel_start_hrtimer(base, resume);
		return true;
	}
	due = levels_first(levels)->bound;
	base->armed = min(due, hwheel_tick_up(base, resume));
	hwheel_start_hrtimer(base, min(max(hwheel_tick_ns(base, due), base->quiet), resume));
	return true;
}

/* Move up to HWHEEL_BATCH timers from @from, whose CPU is dead, to hwheel_home(). */
static bool hwheel_move_batch(struct hwheel_base *from)
{
	struct hwheel_timer *timer = NULL;
	struct hwheel_base *base;
	u64 wake = HWHEEL_NEVER;
	unsigned int n;
	bool again;

	local_irq_disable();
	base = hwheel_home(from);
	if (base == from) {
		/* The CPU of @from is back. */
		raw_spin_lock(&from->lock);
		from->armed = HWHEEL_NEVER;
		hwheel_arm_next(from);
		raw_spin_unlock(&from->lock);
		local_irq_enable();
		return false;
	}
	raw_spin_lock(from->cpu < base->cpu ? &from->lock : &base->lock);
	raw_spin_lock_nested(from->cpu < base->cpu ? &base->lock : &from->lock,
			     SINGLE_DEPTH_NESTING);
	again = base->offline;	/* it has gone offline, too */
	/* If the wheel is being destroyed, leave its timers where they are. */
	for (n = 0; n < HWHEEL_BATCH && !from->closing && !base->closing && !again; n++) {
		timer = levels_any(&from->levels);
		if (!timer)
			break;
		levels_leave(&from->levels, timer);
		WRITE_ONCE(timer->base, base);
		base->count[HWHEEL_MIGRATED]++;
		wake = min(wake, levels_add(&base->levels, timer,
					    levels_due(&base->levels, timer)));
	}
	from->armed = HWHEEL_NEVER;
	if (wake < base->armed)
		hwheel_arm_base(base, wake);
	raw_spin_unlock(&from->lock);
	raw_spin_unlock(&base->lock);
	local_irq_enable();
	return timer || again;
}

/* Move all timers of @from. Its CPU is dead, and no run is under way. */
static void hwheel_evacuate(struct hwheel_base *from)
{
	while (hwheel_move_batch(from))
		cond_resched();
}

/* A data race for KCSAN, which looks at one access of thousands: so make many. */
static noinline void hwheel_race(struct hwheel_base *base)
{
	int i;

	for (i = 0; i < 1000; i++) {
		base->wheel->budget_ns ^= 1;
		barrier();
	}
}

/*
 * Run timers that are due by *@now, and move crowds ahead of their time, until nothing is
 * left to do or the run is cut. *@now is the time that was read last. *@moving counts the
 * ns that batches of moves take.
 */
static __always_inline enum hwheel_cut
hwheel_process(struct hwheel_base *base, ktime_t *now, u64 *moving, bool *fired,
	       enum hwheel_context context)
{
	struct hwheel_levels *levels = &base->levels;
	ktime_t end = hwheel_deadline(*now, base->wheel->budget_ns), locked = *now;
	u64 moved = levels->moved;

	for (;;) {
		u64 tick = hwheel_tick_down(base, *now) + hwheel_broken(HWHEEL_EARLY);
		u64 before = levels->moved;
		enum hwheel_step step;

		/* Moves ahead of time can wait */
		if (unlikely(*now < base->resume || *moving >= HWHEEL_MOVE_NS) &&
		    !levels_ripe(levels, tick))
			return HWHEEL_CUT_MOVES;
		step = levels_step(levels, tick);
		if (step == HWHEEL_IDLE)
			return HWHEEL_NOT_CUT;
		if (levels->moved != before)
			trace_hwheel_cascade(base, levels->moved - before);
		if (*now >= end)
			return HWHEEL_CUT_BUDGET;
		if (step == HWHEEL_DUE) {
			hwheel_fire(base, now, end, context);
			*fired = true;
		} else {
			if (levels->moved - moved + HWHEEL_STEP <= HWHEEL_BATCH)
				continue;
			*now = hwheel_time(base);
			*moving += *now - locked;
			hwheel_note_max(base, HWHEEL_MAX_LOCKED_NS, *now - locked);
			if (context == HWHEEL_HARDIRQ)
				return HWHEEL_CUT_MOVES;
			hwheel_unlock_run(base, context);
			if (context == HWHEEL_WORK)
				cond_resched();
			else
				cpu_relax();
			hwheel_lock_run(base, context);
			*now = hwheel_time(base);
		}
		locked = *now;
		moved = levels->moved;
	}
}

static __always_inline void hwheel_run(struct hwheel_base *base, enum hwheel_context context)
{
	ktime_t begin, now;
	enum hwheel_cut cut;
	bool fired = false;
	u64 moved, moving = 0;

	if (context == HWHEEL_SOFTIRQ)
		hwheel_lock_expiry(base);
	hwheel_lock_run(base, context);
	if (context != HWHEEL_WORK)
		base->count[HWHEEL_INTERRUPTS]++;
	base->armed = 0;
	if (unlikely(base->quiet && base->quiet == base->expires)) {
		base->count[HWHEEL_MODERATED]++;
		base->quiet = 0;
	}
	if (hwheel_broken(HWHEEL_DATA_RACE))
		hwheel_race(base);
	begin = hwheel_time(base);
	now = begin;
	moved = base->levels.moved;

	cut = hwheel_process(base, &now, &moving, &fired, context);

	if (!fired && base->levels.moved == moved)
		base->count[HWHEEL_IDLE_INTERRUPTS]++;
	if (context == HWHEEL_HARDIRQ && fired && hwheel_overdrawn(base, begin, now))
		cut = HWHEEL_CUT_OVERDRAWN;
	if (base->wheel->gap_ns && fired)
		base->quiet = now + base->wheel->gap_ns;
	if (hwheel_end_run(base, cut, now, moving, context) && cut >= HWHEEL_CUT_BUDGET) {
		base->count[HWHEEL_BUDGET_OVERRUNS]++;
		trace_hwheel_budget(base, now, hwheel_deadline(begin, base->wheel->budget_ns));
	}
	hwheel_unlock_run(base, context);
	if (context == HWHEEL_SOFTIRQ)
		hwheel_unlock_expiry(base);
}

static enum hrtimer_restart hwheel_run_softirq(struct hrtimer *hrtimer)
{
	hwheel_run(container_of(hrtimer, struct hwheel_base, hrtimer), HWHEEL_SOFTIRQ);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hwheel_run_hardirq(struct hrtimer *hrtimer)
{
	hwheel_run(container_of(hrtimer, struct hwheel_base, hrtimer), HWHEEL_HARDIRQ);
	return HRTIMER_NORESTART;
}

/* base->armed is 0 from here on, so arming a timer leaves the hrtimer alone. */
static void hwheel_begin_work(struct hwheel_base *base)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&base->lock, flags);
	base->count[HWHEEL_INTERRUPTS]++;
	base->armed = 0;
	hwheel_queue_work(base);
	raw_spin_unlock_irqrestore(&base->lock, flags);
}

static enum hrtimer_restart hwheel_hrtimer_work(struct hrtimer *hrtimer)
{
	hwheel_begin_work(container_of(hrtimer, struct hwheel_base, hrtimer));
	return HRTIMER_NORESTART;
}

/* In softirq context. The entry may have expired early: see hwheel_start_entry(). */
static void hwheel_entry_expired(struct timer_list *entry)
{
	struct hwheel_base *base = container_of(entry, struct hwheel_base, entry);
	bool due;

	raw_spin_lock_irq(&base->lock);
	due = base->expires <= ktime_get();
	if (!due)
		hwheel_start_hrtimer(base, base->expires);
	raw_spin_unlock_irq(&base->lock);
	if (!due)
		return;
	if (hwheel_context(base) == HWHEEL_WORK)
		hwheel_begin_work(base);
	else
		hwheel_run(base, HWHEEL_SOFTIRQ);
}

static void hwheel_run_work(struct work_struct *work)
{
	struct hwheel_base *base = container_of(work, struct hwheel_base, work);

	hwheel_run(base, HWHEEL_WORK);
	if (READ_ONCE(base->offline))
		hwheel_evacuate(base);
}

/* ------------------------------------------------------------------------ */
/* Levels on demand */

/*
 * With the base locked, in any context: ask for hwheel_grow(). A timer is parked for lack of a
 * level, or fans run low.
 */
static void hwheel_want(struct hwheel_levels *levels)
{
	struct hwheel_base *base = container_of(levels, struct hwheel_base, levels);

	if (base->closing)
		return;
	/*
	 * This barrier pairs with the one that the workqueue code executes after it has
	 * cleared the pending bit of the work. So if the work is still pending here, its
	 * function will see what is wanted now.
	 */
	smp_mb();
	if (work_pending(&base->grow))
		return;
	if (!hwheel_isolated(smp_processor_id()) || base->cpu == smp_processor_id())
		irq_work_queue(&base->want);
	else if (!hwheel_deferrable(base))
		hwheel_send_kick(base);
}

static void hwheel_queue_grow(struct irq_work *want)
{
	struct hwheel_base *base = container_of(want, struct hwheel_base, want);
	unsigned long flags;

	raw_spin_lock_irqsave(&base->lock, flags);
	if (base->life != HWHEEL_GONE)
		queue_work(system_dfl_wq, &base->grow);
	raw_spin_unlock_irqrestore(&base->lock, flags);
}

/* Add level @i to @base. Returns false if there is no memory. */
static bool hwheel_add_level(struct hwheel_base *base, unsigned int i)
{
	void *memory = kvzalloc_node(level_size(base->levels.level[i].nr),
				     GFP_KERNEL | __GFP_NOWARN, cpu_to_node(base->cpu));
	struct hwheel_spoke *spokes = memory ? level_init(&base->levels, i, memory) : NULL;

	raw_spin_lock_irq(&base->lock);
	if (spokes) {
		levels_grow(&base->levels, spokes);
		base->count[HWHEEL_LEVELS_ADDED]++;
	}
	raw_spin_unlock_irq(&base->lock);
	return memory;
}

/* Add fans to @base. Returns false if there is no memory. */
static bool hwheel_add_fans(struct hwheel_base *base)
{
	struct hwheel_fans *fans = kvmalloc_node(sizeof(*fans), GFP_KERNEL | __GFP_NOWARN,
						 cpu_to_node(base->cpu));

	if (fans)
		fans_init(fans->fan, HWHEEL_FANS);
	raw_spin_lock_irq(&base->lock);
	if (fans) {
		fans->next = base->fans;
		base->fans = fans;
		levels_add_fans(&base->levels, fans->fan, HWHEEL_FANS);
	}
	raw_spin_unlock_irq(&base->lock);
	return fans;
}

/*
 * Add the levels and fans that are wanted. If there is no memory, try again each second, as
 * long as timers are pending: a crowd may need fans, and perhaps nothing asks for fans again
 * before the crowd is due.
 */
static void hwheel_grow(struct work_struct *work)
{
	struct hwheel_base *base = container_of(work, struct hwheel_base, grow);
	struct hwheel_levels *levels = &base->levels;

	while (!READ_ONCE(base->closing)) {
		bool added = true, stocked = true, idle;

		while (added && levels->nr < READ_ONCE(levels->wanted))
			added = hwheel_add_level(base, levels->nr);
		while (stocked && levels->fans < READ_ONCE(levels->fans_wanted)) {
			stocked = hwheel_add_fans(base);
			cond_resched();
		}
		raw_spin_lock_irq(&base->lock);
		hwheel_arm_next(base);
		idle = !levels->pending;
		raw_spin_unlock_irq(&base->lock);
		if ((added && stocked) || idle)
			return;
		wait_event_idle_timeout(base->wait, READ_ONCE(base->closing), HZ);
	}
}

/* ------------------------------------------------------------------------ */
/* Arming */

enum hwheel_how {
	HWHEEL_ANYHOW,
	HWHEEL_IF_PENDING,
	HWHEEL_IF_EARLIER,
};

/*
 * With @base locked: @timer and @base are not of the same life. Unlocks @base. Then warns,
 * unless @timer was shut down or its wheel is being destroyed. The lock is dropped first,
 * because the console that prints the warning may use timers of hwheel.
 */
static noinline void hwheel_refuse(struct hwheel_base *base, const struct hwheel_timer *timer,
				   unsigned long flags)
	__releases(&base->lock)
{
	bool gone = timer->life != HWHEEL_SHUT_DOWN && !READ_ONCE(base->closing);
	void *function = hwheel_named(timer);

	raw_spin_unlock_irqrestore(&base->lock, flags);
	WARN_ONCE(gone, "hwheel: timer with callback %ps armed, and its wheel is gone\n",
		  function);
}

/* With the base of @timer locked: does @how allow to arm @timer for @expires? */
static __always_inline bool hwheel_may_arm(const struct hwheel_timer *timer, ktime_t expires,
					   enum hwheel_how how)
{
	if (how == HWHEEL_IF_PENDING)
		return hwheel_queued(timer);
	if (how == HWHEEL_IF_EARLIER)
		return !hwheel_queued(timer) || expires < timer->expires;
	return true;
}

/* With @base locked: the base to arm @timer on, if no CPU is isolated. @cpu -1: none named */
static __always_inline struct hwheel_base *
hwheel_usual_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	struct hwheel_base *target;

	if (!IS_ENABLED(CONFIG_SMP) || likely(cpu < 0 && base->cpu == smp_processor_id()))
		return base;
	if (unlikely(base->running == timer))
		return base;
	if (cpu >= 0) {
		target = per_cpu_ptr(base->wheel->bases, cpu);
		if (hwheel_reachable(target))
			return target;
	} else if ((timer->flags & HWHEEL_PINNED) && timer->entry.prev && hwheel_reachable(base)) {
		return base;	/* it was armed there, not only set up */
	}
	return this_cpu_ptr(base->wheel->bases);
}

/* The same if some CPU is isolated */
static noinline struct hwheel_base *
hwheel_isolated_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	struct hwheel_base *target = hwheel_usual_target(base, timer, cpu);

	if (target->cpu != smp_processor_id() || target->cpu == cpu ||
	    timer->flags & HWHEEL_PINNED || base->running == timer)
		return target;
	return hwheel_home(base);
}

static __always_inline struct hwheel_base *
hwheel_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	if (hwheel_isolation())
		return hwheel_isolated_target(base, timer, cpu);
	return hwheel_usual_target(base, timer, cpu);
}

/*
 * With @from locked: move @timer from @from to @target. When both locks are held, check
 * that the move is still right.
 *
 * If it is: returns NULL, with only @target locked. The timer is then in no spoke, even if
 * it was @pending. The caller must put it into a spoke of @target.
 *
 * If it is not: moves nothing. Locks the base that the timer is on, and returns that base.
 */
static noinline struct hwheel_base *
hwheel_switch_base(struct hwheel_base *from, struct hwheel_timer *timer,
		   struct hwheel_base *target, bool pending, ktime_t expires,
		   enum hwheel_how how)
	__must_hold(&from->lock)
{
	unsigned long flags;

	hwheel_lock_other(from, target);
	if (likely(READ_ONCE(timer->base) == from && hwheel_queued(timer) == pending &&
		   hwheel_may_arm(timer, expires, how) && from->life == timer->life &&
		   from->running != timer && !target->offline &&
		   target->life == timer->life)) {
		if (pending)
			levels_leave(&from->levels, timer);
		WRITE_ONCE(timer->base, target);
		target->count[HWHEEL_MIGRATED] += pending;
		raw_spin_unlock(&from->lock);
		return NULL;
	}
	raw_spin_unlock(&target->lock);
	raw_spin_unlock(&from->lock);
	/* Interrupts are off already, so flags is not used. */
	return hwheel_lock(timer, READ_ONCE(timer->base), &flags);
}

/*
 * Arm @timer for @expires. @tick is the tick of @expires. @timer was on @base a moment
 * ago. @timed is a constant: true if the caller has read the clock into @now. Reading the
 * clock costs as much as all the rest. So if @timed is false, this function reads the time
 * only if no timer is pending on the base. Then it advances the base's clock.
 */
static __always_inline bool hwheel_arm(struct hwheel_base *base, struct hwheel_timer *timer,
				       ktime_t expires, u64 tick, bool timed,
				       ktime_t now, enum hwheel_how how, int cpu)
{
	struct hwheel_base *target;
	bool pending, moved = false;
	unsigned long flags;
	u64 wake;

	base = hwheel_lock(timer, base, &flags);
	for (;;) {
		pending = hwheel_queued(timer);
		if (unlikely(timer->life != base->life)) {
			hwheel_refuse(base, timer, flags);
			return pending;
		}
		if (!hwheel_may_arm(timer, expires, how))
			goto out;
		target = hwheel_target(base, timer, cpu);
		if (likely(target == base))
			break;
		if (unlikely(READ_ONCE(target->closing)))
			goto out;	/* the wheel is being destroyed */
		base = hwheel_switch_base(base, timer, target, pending, expires, how);
		moved = !base;
		if (moved) {
			base = target;
			break;
		}
	}
	if (unlikely(base->running == timer))
		base->dest = cpu >= 0 && cpu != base->cpu ?
			     per_cpu_ptr(base->wheel->bases, cpu) : NULL;

	if (pending && !moved) {
		u64 old = levels_due(&base->levels, timer);

		WRITE_ONCE(timer->expires, expires);
		wake = levels_mod(&base->levels, timer, old, tick);
		base->count[HWHEEL_REARMED]++;
	} else {
		if (timed ? unlikely((u64)now > base->fresh) : unlikely(!base->levels.pending))
			hwheel_catch_up(base, timed ? now : hwheel_clock(base->wheel));
		WRITE_ONCE(timer->expires, expires);
		wake = levels_add(&base->levels, timer, tick);
		base->count[pending ? HWHEEL_REARMED : HWHEEL_ADDED]++;
		if (!pending)
			debug_hwheel_activate(timer);
	}
	if (static_branch_unlikely(&hwheel_users_key))
		hwheel_count_armed(base, timer);
	trace_hwheel_start(base, timer);
	if (wake < base->armed)
		hwheel_arm_base(base, wake);
out:
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return pending;
}

/*
 * Returns the tick that levels_align() picks from *@expires to *@expires + @slack. Sets
 * *@expires to the instant of that tick. If there is no slack, or no tick in that window,
 * returns the first tick at or after *@expires and leaves *@expires as it is.
 */
static __always_inline u64 hwheel_pick(const struct hwheel_base *base, ktime_t *expires,
				       ktime_t slack)
{
	const struct hwheel_levels *levels = &base->levels;
	u64 first, last, tick;
	s64 end;

	if (unlikely(*expires <= 0))
		return 0;
	first = levels_tick_up(levels, *expires);
	if (slack <= 0)
		return first;
	if (check_add_overflow(*expires, slack, &end))
		end = KTIME_MAX;
	last = divisor_div(&levels->tick_div, end);
	if (first - 1 == last)
		return first;	/* no tick in the window */
	tick = levels_align(levels, first, last);
	*expires = tick * levels->tick_ns;	/* at most end */
	return tick;
}

/* Arm @timer for now + @delay. */
static __always_inline bool hwheel_arm_after(struct hwheel_timer *timer, ktime_t delay,
					     enum hwheel_how how, int cpu)
{
	ktime_t now, expires;
	struct hwheel_base *base;

	if (unlikely(!hwheel_base_now(timer, &base, &now)))
		return false;
	expires = hwheel_deadline(now, delay);
	return hwheel_arm(base, timer, expires, levels_tick_up(&base->levels, expires),
			  true, now, how, cpu);
}

/* Arm @timer, which was on @base a moment ago, in the window from @now + @delay on. */
static __always_inline bool hwheel_arm_range(struct hwheel_base *base, struct hwheel_timer *timer,
					     ktime_t now, ktime_t delay, ktime_t slack,
					     enum hwheel_how how)
{
	ktime_t expires = hwheel_deadline(now, delay);
	u64 tick = hwheel_pick(base, &expires, slack);

	return hwheel_arm(base, timer, expires, tick, true, now, how, -1);
}

/**
 * hwheel_add - arm or re-arm a timer
 * @timer: the timer, set up
 * @delay: nanoseconds from now; any value. A timer with a @delay of 0 or less
 *	is due as soon as possible
 *
 * The callback runs at the first tick of the wheel at or after now + @delay. If
 * the timer is pending, it is re-armed for that time.
 *
 * The callback runs on this CPU, unless the wheel is HWHEEL_UNBOUND. In two cases
 * the timer stays on the CPU where it was:
 *
 * * if the timer is HWHEEL_PINNED and was armed before,
 * * if its callback is running.
 *
 * If this CPU is isolated (nohz_full=, isolcpus=), the timer is not HWHEEL_PINNED, and its
 * callback is not running, then the callback runs on a CPU that is not isolated.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add(struct hwheel_timer *timer, ktime_t delay)
{
	return hwheel_arm_after(timer, delay, HWHEEL_ANYHOW, -1);
}
EXPORT_SYMBOL_GPL(hwheel_add);

/**
 * hwheel_add_range - arm or re-arm a timer that may be a little late
 * @timer: the timer, set up
 * @delay: nanoseconds from now, as in hwheel_add()
 * @slack: how much later the timer may expire, in nanoseconds; less than 0
 *	counts as 0
 *
 * hwheel picks a tick from now + @delay to now + @delay + @slack: the one at which
 * the widest spoke begins. Timers with slack meet in such ticks: they share spokes
 * and interrupts, and cascade less or never. hwheel_expires() returns the instant
 * of the tick. If there is no tick in that time, the timer expires at the next
 * tick, and hwheel_expires() returns now + @delay.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add_range(struct hwheel_timer *timer, ktime_t delay, ktime_t slack)
{
	struct hwheel_base *base;
	ktime_t now;

	/*
	 * The coarse clock plus a jiffy would cost less. It is not exact enough, even
	 * with slack: it was seen 16 ms behind when a timer interrupt was late.
	 */
	if (unlikely(!hwheel_base_now(timer, &base, &now)))
		return false;
	return hwheel_arm_range(base, timer, now, delay, slack, HWHEEL_ANYHOW);
}
EXPORT_SYMBOL_GPL(hwheel_add_range);

/**
 * hwheel_add_at - arm or re-arm a timer for an instant
 * @timer: the timer, set up
 * @expires: the instant, in nanoseconds on the wheel's clock (hwheel_now()).
 *	If it has passed, the timer is due at once
 * @slack: as in hwheel_add_range()
 *
 * This is the cheapest way to arm a timer. It reads the clock only if no timer of the wheel
 * is pending on the CPU.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add_at(struct hwheel_timer *timer, ktime_t expires, ktime_t slack)
{
	struct hwheel_base *base;
	u64 tick;

	if (unlikely(!hwheel_base(timer, &base)))
		return false;
	tick = hwheel_pick(base, &expires, slack);
	return hwheel_arm(base, timer, expires, tick, false, 0, HWHEEL_ANYHOW, -1);
}
EXPORT_SYMBOL_GPL(hwheel_add_at);

/**
 * hwheel_add_on - arm or re-arm a timer on a given CPU
 * @timer: the timer, set up
 * @delay: as in hwheel_add()
 * @cpu: the CPU that is to run the callback
 *
 * * If @cpu is offline, the timer is armed on this CPU. But if this CPU is isolated and
 *   the timer is not HWHEEL_PINNED, the timer is armed on a CPU that is not isolated.
 * * If @cpu is not possible, hwheel warns and arms the timer as hwheel_add()
 *   does.
 * * If the timer's callback is running, the timer moves to @cpu when the
 *   callback has returned.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add_on(struct hwheel_timer *timer, ktime_t delay, int cpu)
{
	if (WARN_ONCE(timer && (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu)),
		      "hwheel: timer with callback %ps armed on CPU %d, which can not be\n",
		      timer->function, cpu))
		cpu = -1;
	return hwheel_arm_after(timer, delay, HWHEEL_ANYHOW, cpu);
}
EXPORT_SYMBOL_GPL(hwheel_add_on);

/**
 * hwheel_mod_pending - re-arm a timer if it is pending
 * @timer: the timer, set up
 * @delay: as in hwheel_add()
 *
 * Context: any but NMI.
 * Return: true if @timer was pending. It is then re-armed.
 */
bool hwheel_mod_pending(struct hwheel_timer *timer, ktime_t delay)
{
	return hwheel_arm_after(timer, delay, HWHEEL_IF_PENDING, -1);
}
EXPORT_SYMBOL_GPL(hwheel_mod_pending);

/**
 * hwheel_reduce - arm a timer, or re-arm it for an earlier time
 * @timer: the timer, set up
 * @delay: as in hwheel_add()
 *
 * If the timer is pending for the same or an earlier time, nothing changes.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_reduce(struct hwheel_timer *timer, ktime_t delay)
{
	return hwheel_arm_after(timer, delay, HWHEEL_IF_EARLIER, -1);
}
EXPORT_SYMBOL_GPL(hwheel_reduce);

/* Read timer->expires. On 64-bit one load reads it whole, so this takes no lock there. */
static __always_inline ktime_t hwheel_read_expires(const struct hwheel_timer *timer,
						   struct hwheel_base *base)
{
	unsigned long flags;
	ktime_t expires;

	if (BITS_PER_LONG == 64)
		return READ_ONCE(timer->expires);
	base = hwheel_lock((struct hwheel_timer *)timer, base, &flags);
	expires = timer->expires;
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return expires;
}

/**
 * hwheel_forward - arm a periodic timer for its next period
 * @timer: the timer, which has been armed before
 * @interval: the period in nanoseconds, 1 or more; it may be shorter than a
 *	tick. If it is less than 1, hwheel warns and takes 1
 *
 * Arms @timer for the smallest expires + n * @interval > now, with n >= 0, where
 * expires is the instant for which it was last armed: see hwheel_expires(). So a
 * periodic timer does not drift. If that instant is later than now, n is 0.
 *
 * Context: any but NMI; as a rule the timer's own callback.
 * Return: n, the number of periods by which the expiration moved.
 */
u64 hwheel_forward(struct hwheel_timer *timer, ktime_t interval)
{
	struct hwheel_base *base;
	ktime_t now, expires;
	u64 late, n = 0;

	if (unlikely(!hwheel_base(timer, &base)))
		return 0;
	if (WARN_ONCE(interval < 1,
		      "hwheel: timer with callback %ps forwarded by %lld ns\n",
		      timer->function, interval))
		interval = 1;

	expires = hwheel_read_expires(timer, base);
	now = hwheel_clock(base->wheel);
	if (now >= expires) {
		late = (u64)now - (u64)expires;
		n = div64_u64(late, interval);
		interval -= late - n++ * interval;	/* what is left of the period */
		expires = hwheel_deadline(now, interval);
	}
	hwheel_arm(base, timer, expires, levels_tick_up(&base->levels, expires), true, now,
		   HWHEEL_ANYHOW, -1);
	return n;
}
EXPORT_SYMBOL_GPL(hwheel_forward);

/* ------------------------------------------------------------------------ */
/* Cancelling */

/*
 * Cancel @timer. With @shutdown nobody can arm it again. Returns 1 if @timer was pending,
 * else 0. If @running is not NULL and the callback is running, does not cancel @timer,
 * but sets *@running to its base and returns -1. @shutdown takes effect even then.
 */
static __always_inline int hwheel_remove(struct hwheel_timer *timer, bool shutdown,
					 struct hwheel_base **running)
{
	struct hwheel_base *base;
	unsigned long flags;
	int ret = 0;

	if (unlikely(!hwheel_base(timer, &base)))
		return 0;

	base = hwheel_lock(timer, base, &flags);
	if (shutdown)
		timer->life = HWHEEL_SHUT_DOWN;
	if (running && base->running == timer) {
		*running = base;
		ret = -1;
	} else if (hwheel_queued(timer)) {
		if (unlikely(base->running == timer))
			base->dest = NULL;
		levels_del(&base->levels, timer);
		base->count[HWHEEL_CANCELLED]++;
		debug_hwheel_deactivate(timer);
		trace_hwheel_cancel(timer, timer->function);
		ret = 1;
	}
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

static bool hwheel_remove_sync(struct hwheel_timer *timer, bool shutdown)
{
	struct hwheel_base *base, *waited = NULL;

	if (likely(hwheel_base(timer, &base))) {
		hwheel_lockdep_sync(timer, base);
		might_sleep_if(hwheel_context(base) == HWHEEL_WORK && !in_interrupt());
	}
	for (;;) {
		int ret = hwheel_remove(timer, shutdown, &base);

		if (waited && atomic_dec_and_test(&waited->waiters))
			wake_up_all(&waited->wait);
		waited = NULL;
		if (ret >= 0)
			return ret;
		if (hwheel_broken(HWHEEL_NO_WAIT_IN_CANCEL_SYNC))
			return hwheel_remove(timer, shutdown, NULL);

		/* base->runner is current only in the callback itself. */
		if (WARN_ONCE(READ_ONCE(base->runner) == current,
			      "hwheel: callback %ps waits for itself\n",
			      timer->function))
			return hwheel_remove(timer, shutdown, NULL);
		if (WARN_ONCE(hwheel_context(base) == HWHEEL_WORK ? in_interrupt() : in_hardirq(),
			      "hwheel: callback %ps is waited for where one can't wait\n",
			      timer->function))
			return hwheel_remove(timer, shutdown, NULL);
		if (hwheel_context(base) == HWHEEL_WORK) {
			atomic_inc(&base->waiters);
			waited = base;
		}
		hwheel_wait_running(base, timer);
	}
}

/**
 * hwheel_cancel - cancel a timer
 * @timer: the timer
 *
 * Does not wait: the callback may be running when this returns.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending, and so will not expire.
 */
bool hwheel_cancel(struct hwheel_timer *timer)
{
	/* Look without the lock, as hwheel_pending() does */
	if (likely(timer) && !data_race(hwheel_queued(timer)))
		return false;
	return hwheel_remove(timer, false, NULL);
}
EXPORT_SYMBOL_GPL(hwheel_cancel);

/**
 * hwheel_try_cancel - cancel a timer unless its callback is running
 * @timer: the timer
 *
 * Context: any but NMI.
 * Return:
 * * %1 - @timer was pending, and will not expire
 * * %0 - @timer was not pending
 * * %-1 - its callback is running; nothing was done
 */
int hwheel_try_cancel(struct hwheel_timer *timer)
{
	struct hwheel_base *base;

	return hwheel_remove(timer, false, &base);
}
EXPORT_SYMBOL_GPL(hwheel_try_cancel);

/**
 * hwheel_cancel_sync - cancel a timer and wait for its callback
 * @timer: the timer
 *
 * When this returns, the timer is not pending and its callback is not running,
 * unless somebody else has armed the timer.
 *
 * * Do not call this from the timer's callback.
 * * Do not hold a lock that the callback takes.
 * * On PREEMPT_RT, if callbacks of the wheel run in softirq context, do not hold
 *   a lock that any callback of the wheel takes.
 *
 * Context:
 * * callbacks in softirq context: task or softirq; may sleep on PREEMPT_RT
 * * callbacks in hardirq context: task or softirq; never sleeps
 * * callbacks in process context: task with interrupts and softirqs on; sleeps
 * Return: true if @timer was pending.
 */
bool hwheel_cancel_sync(struct hwheel_timer *timer)
{
	return hwheel_remove_sync(timer, false);
}
EXPORT_SYMBOL_GPL(hwheel_cancel_sync);

/**
 * hwheel_shutdown - cancel a timer for good
 * @timer: the timer
 *
 * Cancels the timer as hwheel_cancel() does. Arming the timer does nothing from
 * here on, until somebody sets it up again.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending, and so will not expire.
 */
bool hwheel_shutdown(struct hwheel_timer *timer)
{
	return hwheel_remove(timer, true, NULL);
}
EXPORT_SYMBOL_GPL(hwheel_shutdown);

/**
 * hwheel_shutdown_sync - cancel a timer for good and wait for its callback
 * @timer: the timer
 *
 * Does what hwheel_cancel_sync() does, under the same rules. In addition nobody
 * can arm the timer, not even its callback, until somebody sets it up again.
 * When this has returned, the timer may be freed.
 *
 * Context: as hwheel_cancel_sync().
 * Return: true if @timer was pending.
 */
bool hwheel_shutdown_sync(struct hwheel_timer *timer)
{
	return hwheel_remove_sync(timer, true);
}
EXPORT_SYMBOL_GPL(hwheel_shutdown_sync);

/* Is the caller one of @wheel's callbacks? */
static bool hwheel_in_callback(const struct hwheel *wheel)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(wheel->bases, cpu)->runner) == current)
			return true;
	return false;
}

/* Is a callback running on @base? *@n: number of the last callback that began. Takes the lock. */
static bool hwheel_callback_runs(struct hwheel_base *base, u64 *n)
{
	unsigned long flags;
	bool running;

	raw_spin_lock_irqsave(&base->lock, flags);
	running = base->running;
	*n = base->count[HWHEEL_EXPIRED_TIMERS];
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return running;
}

/*
 * Has callback number @n of @base ended? The function compares numbers, not timers: the
 * callback of the same timer may be running again. Takes the lock, so the caller sees what
 * the callback wrote.
 */
static bool hwheel_callback_ended(struct hwheel_base *base, u64 n)
{
	u64 last;

	return !hwheel_callback_runs(base, &last) || last != n;
}

/**
 * hwheel_synchronize - wait for all callbacks of a wheel that are running
 * @wheel: the wheel
 *
 * When this returns, all callbacks that were running when it was called have ended, and
 * the caller sees what they have written. Callbacks that began later may be running, also
 * of the same timers. hwheel_synchronize() does not wait for timers that are pending.
 *
 * Use it when you can't call hwheel_cancel_sync(), because callbacks free the objects that
 * hold their timers: first cancel the timers, then call this.
 *
 * * Do not call this from a callback of @wheel.
 * * Do not hold a lock that any callback of @wheel takes.
 *
 * Context: as hwheel_cancel_sync().
 */
void hwheel_synchronize(struct hwheel *wheel)
{
	int cpu;

	if (WARN_ONCE(IS_ERR_OR_NULL(wheel), "hwheel: %ps waits for the callbacks of wheel %pe\n",
		      __builtin_return_address(0), wheel))
		return;
	if (WARN_ONCE(hwheel_in_callback(wheel),
		      "hwheel: %ps waits for the callbacks of wheel \"%s\" in one of them\n",
		      __builtin_return_address(0), wheel->name))
		return;
	if (WARN_ONCE(wheel->context == HWHEEL_WORK ? in_interrupt() : in_hardirq(),
		      "hwheel: %ps waits for the callbacks of wheel \"%s\" where one can't wait\n",
		      __builtin_return_address(0), wheel->name))
		return;
	might_sleep_if(wheel->context == HWHEEL_WORK);
	hwheel_lockdep_sync_all(wheel);
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		u64 n;

		if (!hwheel_callback_runs(base, &n) || hwheel_broken(HWHEEL_NO_WAIT_IN_SYNCHRONIZE))
			continue;
		/* Do not wait for a later callback, even of the same timer: compare the number */
		if (wheel->context == HWHEEL_WORK)
			wait_event(base->wait, hwheel_callback_ended(base, n));
		else
			while (!hwheel_callback_ended(base, n))
				hwheel_wait_running(base, NULL);
	}
}
EXPORT_SYMBOL_GPL(hwheel_synchronize);

/* ------------------------------------------------------------------------ */
/* Setting up and asking */

/* Do both neighbours of @entry point back to @entry? @entry may hold anything. */
static bool hwheel_linked(const struct list_head *entry)
{
	struct list_head *next = entry->next, *prev = entry->prev, *back;

	return !copy_from_kernel_nofault(&back, &next->prev, sizeof(back)) && back == entry &&
	       !copy_from_kernel_nofault(&back, &prev->next, sizeof(back)) && back == entry;
}

/*
 * Is @base a base of the wheel whose number is @life? @base may be anything. Takes no
 * lock, because no wheel and no base is freed while the module is loaded.
 */
static bool hwheel_known_base(const struct hwheel_base *base, u32 life)
{
	const struct hwheel *wheel = xa_load(&hwheel_by_life, life);
	int cpu;

	if (wheel)
		for_each_possible_cpu(cpu)
			if (per_cpu_ptr(wheel->bases, cpu) == base)
				return true;
	return false;
}

/*
 * @timer is about to be set up, and its memory may hold anything. If it holds a pending
 * timer, cancel that timer, to save its neighbours in the spoke.
 */
static noinline void hwheel_unlink_stale(struct hwheel_timer *timer)
{
	struct hwheel_base *base = READ_ONCE(timer->base);
	unsigned long flags;
	bool pending;

	for (;;) {
		if (!hwheel_known_base(base, timer->life))
			return;
		raw_spin_lock_irqsave(&base->lock, flags);
		if (READ_ONCE(timer->base) == base)
			break;
		/* It has moved to another CPU meanwhile */
		raw_spin_unlock_irqrestore(&base->lock, flags);
		base = READ_ONCE(timer->base);
	}
	pending = timer->life == base->life && hwheel_linked(&timer->entry);
	if (pending) {
		if (base->running == timer)
			base->dest = NULL;
		levels_del(&base->levels, timer);
		base->count[HWHEEL_CANCELLED]++;
		trace_hwheel_cancel(timer, timer->function);
	}
	raw_spin_unlock_irqrestore(&base->lock, flags);
	WARN_ONCE(pending, "hwheel: timer with callback %ps set up while pending; it is cancelled\n",
		  timer->function);
}

/**
 * __hwheel_setup - hwheel_setup() with a lockdep class
 * @timer: the timer
 * @wheel: its wheel
 * @function: its callback
 * @flags: 0 or HWHEEL_PINNED
 * @on_stack: whether the timer is on the stack
 * @name: name of the lockdep class; not used without lockdep
 * @key: key of the lockdep class; not used without lockdep
 *
 * Context: any.
 */
void __hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		    void (*function)(struct hwheel_timer *timer),
		    unsigned int flags, bool on_stack, const char *name,
		    struct lock_class_key *key)
{
	/* Read once: wheel->life may become HWHEEL_GONE after the check below */
	u32 life = IS_ERR_OR_NULL(wheel) ? HWHEEL_GONE : READ_ONCE(wheel->life);
	bool bad = life == HWHEEL_GONE || !function || (flags & ~HWHEEL_PINNED);

	if (WARN_ONCE(!timer, "hwheel: %ps set up a timer that is NULL\n",
		      __builtin_return_address(0)))
		return;
	WARN_ONCE(bad, "hwheel: timer set up with wheel %pe, callback %ps, flags %#x; it can't be armed\n",
		  wheel, function, flags);
	debug_hwheel_init(timer, on_stack);
	if (timer->entry.next && timer->entry.prev)
		hwheel_unlink_stale(timer);
	timer->entry.next = NULL;
	timer->entry.prev = NULL;
	timer->expires = 0;
	timer->function = function;
	timer->base = bad ? NULL : raw_cpu_ptr(wheel->bases);
	timer->flags = flags;
	timer->life = bad ? HWHEEL_SHUT_DOWN : life;
	hwheel_lockdep_init(timer, name, key);
	if (!bad)
		trace_hwheel_setup(timer, wheel);
}
EXPORT_SYMBOL_GPL(__hwheel_setup);

#undef hwheel_setup
/**
 * hwheel_setup - make a timer ready to be armed
 * @timer: the timer, which must not be pending
 * @wheel: its wheel: hwheel_system, or a wheel that you have created
 * @function: its callback, which is called with @timer. struct hwheel_config
 *	says where callbacks run
 * @flags: 0 or HWHEEL_PINNED
 *
 * If the timer is pending, on any wheel, hwheel warns and cancels it. Nobody may use
 * the timer in another call meanwhile, hwheel_cancel_sync() included.
 *
 * A callback may set up its own timer again. hwheel_cancel_sync() may then
 * return while that callback is still running.
 *
 * Context: any.
 */
void hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		  void (*function)(struct hwheel_timer *timer),
		  unsigned int flags)
{
	static struct lock_class_key key;

	__hwheel_setup(timer, wheel, function, flags, false, "hwheel_timer", &key);
}
EXPORT_SYMBOL_GPL(hwheel_setup);

#undef hwheel_setup_on_stack
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
void hwheel_setup_on_stack(struct hwheel_timer *timer, struct hwheel *wheel,
			   void (*function)(struct hwheel_timer *timer),
			   unsigned int flags)
{
	static struct lock_class_key key;

	__hwheel_setup(timer, wheel, function, flags, true, "hwheel_timer", &key);
}
EXPORT_SYMBOL_GPL(hwheel_setup_on_stack);

/**
 * hwheel_destroy_on_stack - end the life of a timer on the stack
 * @timer: the timer
 *
 * If the timer is pending, it is cancelled. If its callback is running, this
 * waits for the callback.
 *
 * Context: as hwheel_cancel_sync().
 */
void hwheel_destroy_on_stack(struct hwheel_timer *timer)
{
	hwheel_shutdown_sync(timer);
	debug_hwheel_free(timer);
}
EXPORT_SYMBOL_GPL(hwheel_destroy_on_stack);

/**
 * hwheel_expires - the instant a timer is armed for
 * @timer: the timer
 *
 * Context: any but NMI. Takes no lock on 64-bit.
 * Return: the instant, in nanoseconds on the wheel's clock. If the timer was
 * armed with slack, the instant that was picked. If the timer is not pending,
 * the instant it was last armed for.
 */
ktime_t hwheel_expires(const struct hwheel_timer *timer)
{
	struct hwheel_base *base;

	return likely(hwheel_base(timer, &base)) ? hwheel_read_expires(timer, base) : 0;
}
EXPORT_SYMBOL_GPL(hwheel_expires);

/**
 * hwheel_remaining - time until a timer expires
 * @timer: the timer, set up
 *
 * Context: any but NMI. Takes no lock on 64-bit.
 * Return: hwheel_expires() - now, in nanoseconds; less than 0 if that instant
 * has passed.
 */
ktime_t hwheel_remaining(const struct hwheel_timer *timer)
{
	struct hwheel_base *base;
	ktime_t expires;

	if (unlikely(!hwheel_base(timer, &base)))
		return 0;
	expires = hwheel_read_expires(timer, base);
	return hwheel_until(expires, hwheel_clock(base->wheel));
}
EXPORT_SYMBOL_GPL(hwheel_remaining);

/**
 * hwheel_running - is the callback of a timer running?
 * @timer: the timer, set up
 *
 * Context: any but NMI. Takes no lock. The answer may be out of date at once. To wait for
 * the callback, use hwheel_cancel_sync().
 * Return: true from the beginning of the callback until it has returned. If the callback
 * sets up its own timer again, this may be false from then on.
 */
bool hwheel_running(const struct hwheel_timer *timer)
{
	struct hwheel_base *base;

	return likely(hwheel_base(timer, &base)) && READ_ONCE(base->running) == timer;
}
EXPORT_SYMBOL_GPL(hwheel_running);

/**
 * hwheel_now - the present time of a wheel
 * @wheel: the wheel
 *
 * Context: any but NMI.
 * Return: the time in nanoseconds on the wheel's clock. If @wheel is NULL or an
 * ERR_PTR, hwheel warns and returns the time on CLOCK_MONOTONIC.
 */
ktime_t hwheel_now(const struct hwheel *wheel)
{
	if (WARN_ONCE(IS_ERR_OR_NULL(wheel), "hwheel: %ps asked for the time of wheel %pe\n",
		      __builtin_return_address(0), wheel))
		return ktime_get();
	return hwheel_clock(wheel);
}
EXPORT_SYMBOL_GPL(hwheel_now);

static u64 hwheel_base_count(const struct hwheel_base *base, enum hwheel_counter which)
{
	const u64 *count = which == HWHEEL_CASCADED ? &base->levels.moved : &base->count[which];

	/* Writers add to the counter with plain stores under the lock. Read it without the lock */
	return data_race(READ_ONCE(*count));
}

static u64 hwheel_total(const struct hwheel *wheel, enum hwheel_counter which)
{
	u64 n, total = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		n = hwheel_base_count(per_cpu_ptr(wheel->bases, cpu), which);
		total = which < HWHEEL_MAX_LATE_NS ? total + n : max(total, n);
	}
	return total;
}

/**
 * hwheel_count - read one of a wheel's counters
 * @wheel: the wheel
 * @counter: name of the counter, as in the first column of the wheel's debugfs
 *	file stats
 *
 * Context: any. Takes no lock.
 * Return: the sum over all CPUs. If the counter is a maximum, the greatest of
 * all CPUs. U64_MAX if no counter has that name, or if @wheel is NULL or an
 * ERR_PTR.
 */
u64 hwheel_count(const struct hwheel *wheel, const char *counter)
{
	int which = -1;

	if (counter && !IS_ERR_OR_NULL(wheel))
		which = match_string(hwheel_counter_names, HWHEEL_COUNTERS, counter);
	return which < 0 ? U64_MAX : hwheel_total(wheel, which);
}
EXPORT_SYMBOL_GPL(hwheel_count);

#include "hwheel_debugfs.h"
#include "hwheel_sleep.h"
#include "hwheel_work.h"

/* ------------------------------------------------------------------------ */
/* The clock is set */

/* In process context: tell the user of a wheel. */
static void hwheel_tell(struct work_struct *work)
{
	struct hwheel *wheel = container_of(work, struct hwheel, tell);

	WRITE_ONCE(wheel->teller, current);
	wheel->clock_set(wheel);
	WRITE_ONCE(wheel->teller, NULL);
}

/*
 * The clock of @base's wheel was set. Kick another CPU only if it must arm its hrtimer again.
 * Otherwise take over the offset here, even without timers: timers may move to @base later.
 */
static void hwheel_base_set(struct hwheel_base *base)
{
	raw_spin_lock(&base->lock);
	if (base->life != HWHEEL_GONE) {
		if (base->cpu == smp_processor_id() || !cpu_online(base->cpu) ||
		    !base->levels.pending || hwheel_deferrable(base))
			hwheel_time(base);
		else
			hwheel_send_kick(base);
	}
	raw_spin_unlock(&base->lock);
}

/*
 * Somebody set the clock of wall time. Interrupts are off. No wheel is freed while the
 * module is loaded, so this walks through the wheels without hwheel_mutex. A wheel that is
 * created meanwhile takes over the new offset in hwheel_open().
 */
static void hwheel_all_set(struct irq_work *work)
{
	struct hwheel *wheel;
	int cpu;

	wheel = smp_load_acquire(&hwheel_newest);	/* pairs with hwheel_alloc() */
	for (; wheel; wheel = wheel->older) {
		struct hwheel_base *base = raw_cpu_ptr(wheel->bases);

		if (!READ_ONCE(wheel->wall))
			continue;
		for_each_possible_cpu(cpu)
			hwheel_base_set(per_cpu_ptr(wheel->bases, cpu));
		/* A wheel that is being destroyed gets no new work: see hwheel_close_base() */
		raw_spin_lock(&base->lock);
		if (base->life != HWHEEL_GONE && wheel->clock_set)
			queue_work(system_dfl_wq, &wheel->tell);
		raw_spin_unlock(&base->lock);
	}
}

static struct irq_work hwheel_set_work = IRQ_WORK_INIT_HARD(hwheel_all_set);

/*
 * The timekeeping code calls this function in each timer tick of the kernel. It also calls
 * this function with a @was_set that is not 0: when somebody sets the clock, after a leap
 * second, after a resume, and when the clock source changes. The timekeeping code has locked
 * its data. So this function can't read a clock.
 */
static int hwheel_timekeeping(struct notifier_block *nb, unsigned long was_set, void *data)
{
	const struct timekeeper *tk = data;

	raw_write_seqcount_begin(&hwheel_offsets.seq);
	hwheel_offsets.real = tk->offs_real;
	hwheel_offsets.tai = tk->offs_tai;
	hwheel_offsets.leap = tk->next_leap_ktime;
	raw_write_seqcount_end(&hwheel_offsets.seq);
	if (was_set)
		irq_work_queue(&hwheel_set_work);
	return NOTIFY_OK;
}

static struct notifier_block hwheel_timekeeping_nb = { .notifier_call = hwheel_timekeeping };

static void hwheel_timekeeping_exit(void)
{
	pvclock_gtod_unregister_notifier(&hwheel_timekeeping_nb);
	irq_work_sync(&hwheel_set_work);
}

/* ------------------------------------------------------------------------ */
/* Wheels */

/* From now on @base counts in @users, or not at all if @users is NULL. Frees the old counts. */
static void hwheel_swap_users(struct hwheel_base *base, struct hwheel_users *users)
{
	struct hwheel_users *old;

	raw_spin_lock_irq(&base->lock);
	old = base->users;
	WRITE_ONCE(base->users, users);
	raw_spin_unlock_irq(&base->lock);
	kvfree(old);
}

static int hwheel_begin_users(struct hwheel *wheel)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwheel_users *users = kvzalloc_node(sizeof(*users), GFP_KERNEL,
							   cpu_to_node(cpu));

		if (!users)
			return -ENOMEM;
		hwheel_swap_users(per_cpu_ptr(wheel->bases, cpu), users);
	}
	return 0;
}

static void hwheel_end_users(struct hwheel *wheel)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hwheel_swap_users(per_cpu_ptr(wheel->bases, cpu), NULL);
}

/* Free the levels and fans of @wheel. Nobody looks at their timers any more. */
static void hwheel_free_levels(struct hwheel *wheel)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		struct hwheel_levels *levels = &base->levels;
		struct hwheel_fans *fans;

		while ((fans = base->fans)) {
			base->fans = fans->next;
			kvfree(fans);
		}
		for (i = 0; i < ARRAY_SIZE(levels->level); i++) {
			kvfree(levels->level[i].spokes);
			levels->level[i].spokes = NULL;
		}
	}
}

/* Set up the members that stay the same in all lives of @wheel. No life has begun yet. */
static void hwheel_init_base(struct hwheel *wheel, int cpu)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	raw_spin_lock_init(&base->lock);
	base->cpu = cpu;
	base->wheel = wheel;
	base->life = HWHEEL_GONE;
	INIT_CSD(&base->kick, hwheel_kick, base);
	INIT_WORK(&base->work, hwheel_run_work);
	INIT_WORK(&base->grow, hwheel_grow);
	base->want = IRQ_WORK_INIT_HARD(hwheel_queue_grow);
	init_waitqueue_head(&base->wait);
	hwheel_init_expiry_lock(base);
}

static struct hwheel *hwheel_alloc(void)
{
	struct hwheel *wheel = kzalloc(sizeof(*wheel), GFP_KERNEL);
	int cpu;

	if (!wheel)
		return NULL;
	wheel->bases = alloc_percpu_gfp(struct hwheel_base, GFP_KERNEL | __GFP_ZERO);
	if (!wheel->bases) {
		kfree(wheel);
		return NULL;
	}
	mutex_init(&wheel->walk_mutex);
	INIT_WORK(&wheel->tell, hwheel_tell);
	for_each_possible_cpu(cpu)
		hwheel_init_base(wheel, cpu);
	mutex_lock(&hwheel_mutex);
	wheel->older = hwheel_newest;
	smp_store_release(&hwheel_newest, wheel);	/* pairs with hwheel_all_set() */
	mutex_unlock(&hwheel_mutex);
	return wheel;
}

/* Take a wheel for a new life: one that was destroyed, or else a new one. */
static struct hwheel *hwheel_get(void)
{
	struct hwheel *wheel;

	mutex_lock(&hwheel_mutex);
	wheel = list_first_entry_or_null(&hwheel_gone, struct hwheel, list);
	if (wheel)
		list_del(&wheel->list);
	mutex_unlock(&hwheel_mutex);
	return wheel ?: hwheel_alloc();
}

/* Keep @wheel, which nobody uses, for another life. */
static void hwheel_put(struct hwheel *wheel)
{
	hwheel_lockdep_end(wheel);
	hwheel_end_users(wheel);
	hwheel_free_levels(wheel);
	mutex_lock(&hwheel_mutex);
	list_add(&wheel->list, &hwheel_gone);
	mutex_unlock(&hwheel_mutex);
}

/* Prepare @base for a life with its wheel's configuration. */
static int hwheel_begin_base(struct hwheel_base *base)
{
	static enum hrtimer_restart (*const run[])(struct hrtimer *) = {
		[HWHEEL_SOFTIRQ] = hwheel_run_softirq,
		[HWHEEL_HARDIRQ] = hwheel_run_hardirq,
		[HWHEEL_WORK]	 = hwheel_hrtimer_work,
	};
	struct hwheel *wheel = base->wheel;
	void *memory = kvzalloc_node(level_size(HWHEEL_PARKED), GFP_KERNEL,
				     cpu_to_node(base->cpu));

	if (!memory)
		return -ENOMEM;
	levels_init(&base->levels, &wheel->geometry, memory, 0);
	if (wheel->wall) {
		memory = kvzalloc_node(level_size(HWHEEL_PARKED), GFP_KERNEL,
				       cpu_to_node(base->cpu));
		if (!memory)
			return -ENOMEM;
		levels_add_attic(&base->levels, memory);
	}
	base->offset = 0;
	base->levels.want = hwheel_want;
	/* A run may begin this long after its timers are due */
	if (wheel->gap_ns || hwheel_deferrable(base))
		base->levels.ahead = levels_tick_up(&base->levels, wheel->gap_ns +
						    (hwheel_deferrable(base) ? TICK_NSEC : 0));
	/*
	 * By mistake a user may now arm a timer of an earlier life. Arming reads
	 * base->monotonic without the lock.
	 */
	WRITE_ONCE(base->monotonic, wheel->clock == CLOCK_MONOTONIC);
	base->running = NULL;
	base->armed = HWHEEL_NEVER;
	base->ended = 0;
	base->spent = 0;
	base->resume = 0;
	base->quiet = 0;
	base->expires = 0;
	base->fresh = 0;
	memset(base->count, 0, sizeof(base->count));
	memset(base->late, 0, sizeof(base->late));
	if (hwheel_deferrable(base)) {
		timer_setup(&base->entry, hwheel_entry_expired, TIMER_DEFERRABLE | TIMER_PINNED);
		return 0;
	}
	hrtimer_setup(&base->hrtimer, run[wheel->context],
		      wheel->wall ? CLOCK_MONOTONIC : wheel->clock,
		      wheel->context == HWHEEL_HARDIRQ ? HRTIMER_MODE_ABS_PINNED_HARD :
							 HRTIMER_MODE_ABS_PINNED_SOFT);
	return 0;
}

/* Fill in the defaults that @config asks for. */
static void hwheel_plan(struct hwheel_geometry *geometry,
			const struct hwheel_config *config)
{
	unsigned int i, spokes = HWHEEL_SPOKES;

	geometry->tick_ns = config->tick_ns ?: HWHEEL_TICK_NS;
	geometry->levels = config->levels ?: HWHEEL_LEVELS;
	for (i = 0; i < HWHEEL_MAX_LEVELS; i++) {
		spokes = config->spokes[i] ?: spokes;
		geometry->spokes[i] = spokes;
	}
	while (!config->levels && geometry->levels > 1 && !hwheel_geometry_fits(geometry))
		geometry->levels--;
}

static int hwheel_check(const struct hwheel_config *config,
			struct hwheel_geometry *geometry)
{
	const char *name = config ? config->name : NULL, *fault;

	if (!name || !*name || strnlen(name, HWHEEL_NAME_MAX + 1) > HWHEEL_NAME_MAX ||
	    strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..")) {
		pr_err("wheel \"%.40s\": a name is 1 to %d characters without a '/'\n",
		       name ?: "", HWHEEL_NAME_MAX);
		return -EINVAL;
	}
	hwheel_plan(geometry, config);
	fault = hwheel_geometry_fault(geometry);
	if (fault) {
		pr_err("wheel \"%s\": %s\n", name, fault);
		return -EINVAL;
	}
	if (config->clock && config->clock != CLOCK_MONOTONIC &&
	    config->clock != CLOCK_BOOTTIME && config->clock != CLOCK_TAI) {
		pr_err("wheel \"%s\": clock %d is not CLOCK_MONOTONIC, CLOCK_BOOTTIME or CLOCK_TAI\n",
		       name, config->clock);
		return -EINVAL;
	}
	if (config->clock && config->flags & HWHEEL_REALTIME) {
		pr_err("wheel \"%s\": HWHEEL_REALTIME and clock %d: ask for one of them\n",
		       name, config->clock);
		return -EINVAL;
	}
	if ((unsigned int)config->context > HWHEEL_WORK) {
		pr_err("wheel \"%s\": there is no context %d\n", name, config->context);
		return -EINVAL;
	}
	if (config->flags & ~(HWHEEL_UNBOUND | HWHEEL_REALTIME | HWHEEL_DEFERRABLE)) {
		pr_err("wheel \"%s\": flags %#x: only HWHEEL_UNBOUND, HWHEEL_REALTIME and HWHEEL_DEFERRABLE are allowed\n",
		       name, config->flags);
		return -EINVAL;
	}
	if (config->flags & HWHEEL_UNBOUND && config->context != HWHEEL_WORK) {
		pr_err("wheel \"%s\": flags %#x: HWHEEL_UNBOUND is only allowed with HWHEEL_WORK\n",
		       name, config->flags);
		return -EINVAL;
	}
	/* An entry of timer_list runs in softirq context, and jiffies stop during a suspend */
	if (config->flags & HWHEEL_DEFERRABLE &&
	    (config->context == HWHEEL_HARDIRQ || config->clock == CLOCK_BOOTTIME)) {
		pr_err("wheel \"%s\": HWHEEL_DEFERRABLE goes with neither HWHEEL_HARDIRQ nor CLOCK_BOOTTIME\n",
		       name);
		return -EINVAL;
	}
	if (config->gap_ns > HWHEEL_MAX_GAP_NS) {
		pr_err("wheel \"%s\": gap_ns %llu is more than a second\n", name, config->gap_ns);
		return -EINVAL;
	}
	return 0;
}

/* Give @wheel a number, and add it to hwheel_wheels. Everything else is ready. */
static int hwheel_open(struct hwheel *wheel)
{
	struct hwheel *other;
	int cpu, err = 0;

	cpus_read_lock();
	mutex_lock(&hwheel_mutex);
	list_for_each_entry(other, &hwheel_wheels, list) {
		if (!strcmp(other->name, wheel->name)) {
			err = -EEXIST;
			goto out;
		}
	}
	if (hwheel_counts_users) {
		err = hwheel_begin_users(wheel);
		if (err)
			goto out;
	}
	do {
		wheel->life = ++hwheel_lives;
	} while (wheel->life == HWHEEL_SHUT_DOWN || wheel->life == HWHEEL_GONE);
	err = xa_err(xa_store(&hwheel_by_life, wheel->life, wheel, GFP_KERNEL));
	if (err) {
		wheel->life = HWHEEL_GONE;
		goto out;
	}
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		raw_spin_lock_irq(&base->lock);
		base->offline = !cpu_online(cpu);
		base->life = wheel->life;
		/* Somebody may set the clock meanwhile. Here the offset and the tick agree. */
		levels_set_clock(&base->levels, hwheel_tick_down(base, hwheel_time(base)));
		raw_spin_unlock_irq(&base->lock);
	}
	list_add_tail(&wheel->list, &hwheel_wheels);
	hwheel_debugfs_add(wheel);
out:
	mutex_unlock(&hwheel_mutex);
	cpus_read_unlock();
	return err;
}

/**
 * hwheel_create - make a wheel
 * @config: its configuration, which is not used after the call
 *
 * A wheel takes about 6 KiB on each possible CPU, and one of wall time 10 KiB.
 * Each level that timers need on a CPU takes another 64 bytes per spoke. On
 * failure a line in the kernel log says what is wrong.
 *
 * Context: task; sleeps.
 * Return:
 * * the wheel
 * * ERR_PTR(-EINVAL) - name, geometry, clock, context, flags or gap are not allowed
 * * ERR_PTR(-EEXIST) - a wheel has that name
 * * ERR_PTR(-ENOMEM) - out of memory
 * * ERR_PTR(-EOPNOTSUPP) - hwheel is built in, and failed to start when the kernel booted,
 *   for instance because of bad parameters
 */
struct hwheel *hwheel_create(const struct hwheel_config *config)
{
	struct hwheel_geometry geometry = {};
	struct hwheel *wheel;
	u64 budget;
	int cpu, err;

	err = hwheel_check(config, &geometry);
	if (err)
		return ERR_PTR(err);
	if (!hwheel_cpuhp_state) {
		pr_err("wheel \"%s\": hwheel failed to start when the kernel booted\n",
		       config->name);
		return ERR_PTR(-EOPNOTSUPP);
	}

	err = -ENOMEM;
	wheel = hwheel_get();
	if (!wheel)
		goto err_memory;
	strscpy(wheel->name, config->name, sizeof(wheel->name));
	hwheel_lockdep_begin(wheel);
	wheel->geometry = geometry;
	wheel->clock = config->clock ?: CLOCK_MONOTONIC;
	if (config->flags & HWHEEL_REALTIME)
		wheel->clock = CLOCK_REALTIME;
	WRITE_ONCE(wheel->wall, wheel->clock == CLOCK_REALTIME || wheel->clock == CLOCK_TAI);
	wheel->clock_set = wheel->wall ? config->clock_set : NULL;
	wheel->context = config->context;
	wheel->flags = config->flags;
	budget = wheel->context == HWHEEL_HARDIRQ ? HWHEEL_HARDIRQ_BUDGET_NS : HWHEEL_BUDGET_NS;
	wheel->budget_ns = min_t(u64, config->budget_ns ?: budget, S64_MAX);
	wheel->gap_ns = config->gap_ns;

	for_each_possible_cpu(cpu) {
		err = hwheel_begin_base(per_cpu_ptr(wheel->bases, cpu));
		if (err)
			goto err_wheel;
	}
	err = hwheel_open(wheel);
	if (!err)
		return wheel;

	if (err == -EEXIST)
		pr_err("wheel \"%s\": there is one with that name already\n", wheel->name);
err_wheel:
	hwheel_put(wheel);
err_memory:
	if (err == -ENOMEM)
		pr_err("wheel \"%s\": out of memory\n", config->name);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(hwheel_create);

/* Mark @base as closing: from here on nothing begins on it. */
static void hwheel_close_base(struct hwheel_base *base)
{
	raw_spin_lock_irq(&base->lock);
	WRITE_ONCE(base->closing, true);
	base->life = HWHEEL_GONE;
	raw_spin_unlock_irq(&base->lock);
}

/* Cancel the hrtimer or entry of @base. Wait until its callback has ended. */
static void hwheel_stop_hrtimer(struct hwheel_base *base)
{
	if (hwheel_deferrable(base))
		timer_delete_sync(&base->entry);
	else
		hrtimer_cancel(&base->hrtimer);
}

/* Cancel the next run of @base and the work that adds levels. Wait until both have ended. */
static void hwheel_stop_base(struct hwheel_base *base)
{
	hwheel_stop_hrtimer(base);
	cancel_work_sync(&base->work);
	wake_up_all(&base->wait);	/* hwheel_grow() may wait for memory */
	cancel_work_sync(&base->grow);
}

/* Cancel all timers of @base, and set *@function to the callback of one of them. */
static u64 hwheel_drain_base(struct hwheel_base *base, void **function)
{
	struct hwheel_timer *timer;
	u64 n = 0;

	raw_spin_lock_irq(&base->lock);
	while ((timer = levels_any(&base->levels))) {
		*function = hwheel_named(timer);
		debug_hwheel_deactivate(timer);
		levels_del(&base->levels, timer);
		base->count[HWHEEL_CANCELLED]++;
		trace_hwheel_cancel(timer, timer->function);
		if (!(++n % HWHEEL_BATCH)) {
			raw_spin_unlock_irq(&base->lock);
			cond_resched();
			raw_spin_lock_irq(&base->lock);
		}
	}
	raw_spin_unlock_irq(&base->lock);
	return n;
}

/* Stop @wheel. Returns false if it is being stopped, or was stopped, by somebody else. */
static bool hwheel_stop(struct hwheel *wheel)
{
	bool gone;
	int cpu;

	mutex_lock(&hwheel_mutex);
	gone = wheel->life == HWHEEL_GONE || wheel->closing;
	wheel->closing |= !gone;
	mutex_unlock(&hwheel_mutex);
	if (gone)
		return false;
	hwheel_lockdep_sync_all(wheel);
	hwheel_debugfs_remove(wheel);
	for_each_possible_cpu(cpu)
		hwheel_close_base(per_cpu_ptr(wheel->bases, cpu));
	for_each_possible_cpu(cpu)
		hwheel_stop_base(per_cpu_ptr(wheel->bases, cpu));
	cancel_work_sync(&wheel->tell);
	/*
	 * Clear these two only now: callbacks ran until here, and hwheel_setup() in a callback
	 * reads hwheel_by_life and wheel->life.
	 */
	xa_erase(&hwheel_by_life, wheel->life);
	WRITE_ONCE(wheel->life, HWHEEL_GONE);
	return true;
}

/* Put away @wheel, which is stopped, for another life. */
static void hwheel_retire(struct hwheel *wheel)
{
	int cpu;

	mutex_lock(&hwheel_mutex);
	list_del(&wheel->list);
	wheel->closing = false;
	mutex_unlock(&hwheel_mutex);
	/* Clear base->closing only now: timers may be left, and CPU hotplug must not move them */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(wheel->bases, cpu)->closing, false);
	hwheel_put(wheel);
}

/**
 * hwheel_destroy - take a wheel down
 * @wheel: the wheel. If it is NULL or an ERR_PTR, nothing is done
 *
 * First shut down the wheel's timers. hwheel_destroy() cancels timers that
 * are still pending, with a warning that names the callback of one of them. It
 * waits for callbacks that are running.
 *
 * Afterwards, for a timer of the wheel:
 *
 * * Cancelling the timer does nothing.
 * * You may set up the timer for another wheel.
 * * Arming the timer is a mistake: hwheel warns and does nothing.
 *
 * hwheel_destroy() warns and does nothing for the module's own wheel, and for a
 * wheel that is destroyed already. But the next hwheel_create() uses the memory of
 * a destroyed wheel again: a second hwheel_destroy() then destroys the new wheel.
 *
 * Context: task; sleeps. If one of the wheel's callbacks calls hwheel_destroy(), hwheel
 * warns and does nothing.
 */
void hwheel_destroy(struct hwheel *wheel)
{
	void *function = NULL;
	u64 pending = 0;
	int cpu;

	if (IS_ERR_OR_NULL(wheel))
		return;
	if (WARN_ONCE(wheel == hwheel_system,
		      "hwheel: %ps tried to destroy the module's own wheel\n",
		      __builtin_return_address(0)))
		return;
	if (WARN_ONCE(hwheel_in_callback(wheel) || READ_ONCE(wheel->teller) == current,
		      "hwheel: %ps tried to destroy wheel \"%s\" from one of its callbacks\n",
		      __builtin_return_address(0), wheel->name))
		return;
	if (WARN_ONCE(!hwheel_stop(wheel),
		      "hwheel: %ps tried to destroy wheel \"%s\" once more\n",
		      __builtin_return_address(0), wheel->name))
		return;
	for_each_possible_cpu(cpu)
		pending += hwheel_drain_base(per_cpu_ptr(wheel->bases, cpu), &function);
	WARN_ONCE(pending, "hwheel: wheel \"%s\" destroyed with %llu timers pending, one with callback %ps\n",
		  wheel->name, pending, function);
	hwheel_retire(wheel);
}
EXPORT_SYMBOL_GPL(hwheel_destroy);

/* ------------------------------------------------------------------------ */
/* CPU hotplug */

static int hwheel_cpu_prepare(unsigned int cpu)
{
	struct hwheel *wheel;

	mutex_lock(&hwheel_mutex);
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		raw_spin_lock_irq(&base->lock);
		WRITE_ONCE(base->offline, false);
		raw_spin_unlock_irq(&base->lock);
	}
	mutex_unlock(&hwheel_mutex);
	return 0;
}

/*
 * @cpu is dead. Its hrtimers have moved to another CPU, and a run may be under way there.
 * So first stop the arming of timers on the base, then stop its runs, then move its
 * timers. Do not wait for a run in process context: that run moves the timers itself.
 */
static int hwheel_cpu_dead(unsigned int cpu)
{
	struct hwheel *wheel;

	mutex_lock(&hwheel_mutex);
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		struct hwheel_base *from = per_cpu_ptr(wheel->bases, cpu);
		bool in_run;

		raw_spin_lock_irq(&from->lock);
		WRITE_ONCE(from->offline, true);
		raw_spin_unlock_irq(&from->lock);
		hwheel_stop_hrtimer(from);
		/*
		 * If the run is just ending, in_run may be true or false. Both are safe:
		 * this function and the run may both move timers.
		 */
		in_run = !data_race(READ_ONCE(from->armed));
		if (hwheel_broken(HWHEEL_FORGET_OFFLINE_CPU) ||
		    (wheel->context == HWHEEL_WORK && in_run))
			continue;
		hwheel_evacuate(from);
	}
	mutex_unlock(&hwheel_mutex);
	return 0;
}

/* ------------------------------------------------------------------------ */
/* The module */

static unsigned long long tick_ns;
module_param(tick_ns, ullong, 0444);
MODULE_PARM_DESC(tick_ns, "tick of the module's own wheel in ns, 1000 or more (default 1000000)");

static unsigned int spokes[HWHEEL_MAX_LEVELS];
module_param_array(spokes, uint, NULL, 0444);
MODULE_PARM_DESC(spokes, "spokes of each level of the module's own wheel, 2 to 4096, the last entry repeats (default 128)");

static unsigned int levels;
module_param(levels, uint, 0444);
MODULE_PARM_DESC(levels, "number of levels of the module's own wheel, 1 to 8 (default 5)");

static unsigned long long gap_ns;
module_param(gap_ns, ullong, 0444);
MODULE_PARM_DESC(gap_ns, "after a run of callbacks, the module's own wheel waits at least this many ns before its next run on that CPU, but not after a run that was cut; 0 to 1000000000 (default 0)");

/*
 * The kernel calls this when the parameter is written, also before hwheel_init(), one call
 * at a time. Switching the static key takes the lock of CPU hotplug, which nests outside
 * hwheel_mutex. So drop hwheel_mutex first.
 */
static int hwheel_set_users(const char *value, const struct kernel_param *param)
{
	struct hwheel *wheel;
	bool on;
	int err = kstrtobool(value, &on);

	if (err)
		return err;
	mutex_lock(&hwheel_mutex);
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		if (on)
			err = hwheel_begin_users(wheel);
		if (err)
			break;
	}
	on = on && !err;
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		if (!on)
			hwheel_end_users(wheel);
	}
	hwheel_counts_users = on;
	mutex_unlock(&hwheel_mutex);
	if (on)
		static_branch_enable(&hwheel_users_key);
	else
		static_branch_disable(&hwheel_users_key);
	return err;
}

static const struct kernel_param_ops hwheel_users_ops = {
	.set = hwheel_set_users,
	.get = param_get_bool,
};
module_param_cb(users, &hwheel_users_ops, &hwheel_counts_users, 0644);
MODULE_PARM_DESC(users, "1: count armings and expirations of each callback, for the debugfs file users; writing 1 sets the counts to 0; 0: do not count (default 0)");

/* Is a kick or an irq_work for @base under way, on any CPU? */
static bool hwheel_awaited(struct hwheel_base *base)
{
	bool awaited;

	raw_spin_lock_irq(&base->lock);
	awaited = base->kicks || irq_work_is_busy(&base->want);
	raw_spin_unlock_irq(&base->lock);
	return awaited;
}

static void hwheel_free_all(void)
{
	struct hwheel *wheel, *older;
	int cpu;

	for (wheel = hwheel_newest; wheel; wheel = wheel->older)
		for_each_possible_cpu(cpu)
			while (hwheel_awaited(per_cpu_ptr(wheel->bases, cpu)))
				msleep(20);
	/* The handlers of the last kicks and irq_works may not have returned yet */
	synchronize_rcu();
	for (wheel = hwheel_newest; wheel; wheel = older) {
		older = wheel->older;
		free_percpu(wheel->bases);
		kfree(wheel);
	}
}

static int __init hwheel_init(void)
{
	struct hwheel_config config = {
		.name	 = "system",
		.tick_ns = tick_ns,
		.levels	 = levels,
		.gap_ns	 = gap_ns,
	};
	int err;

	BUILD_BUG_ON(!IS_ENABLED(CONFIG_LOCKDEP) && sizeof(struct hwheel_timer) > 48);
	BUILD_BUG_ON(sizeof(struct hwheel_spoke) != HWHEEL_SPOKE_SIZE);

	hwheel_work_init();
	pvclock_gtod_register_notifier(&hwheel_timekeeping_nb);	/* can't fail */
	memcpy(config.spokes, spokes, sizeof(spokes));
	hwheel_debugfs_init();
	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "hwheel:prepare",
					hwheel_cpu_prepare, hwheel_cpu_dead);
	if (err < 0)
		goto err_debugfs;
	hwheel_cpuhp_state = err;

	hwheel_system = hwheel_create(&config);
	if (IS_ERR(hwheel_system)) {
		err = PTR_ERR(hwheel_system);
		goto err_cpuhp;
	}
	return 0;

	/* If hwheel is built in, users can still call hwheel_create(), which now fails. */
err_cpuhp:
	cpuhp_remove_state_nocalls(hwheel_cpuhp_state);
	hwheel_cpuhp_state = 0;
err_debugfs:
	hwheel_debugfs_exit();
	hwheel_timekeeping_exit();
	hwheel_free_all();
	return err;
}

/*
 * All modules that used this one are unloaded. If they left timers pending, the memory of
 * these timers may be freed. So do not look at them.
 */
static void __exit hwheel_exit(void)
{
	struct hwheel *wheel;
	u64 pending;
	int cpu;

	while ((wheel = list_first_entry_or_null(&hwheel_wheels, struct hwheel, list))) {
		WARN_ONCE(wheel != hwheel_system,
			  "hwheel: wheel \"%s\" was never destroyed by the module that created it\n",
			  wheel->name);
		hwheel_stop(wheel);
		pending = 0;
		for_each_possible_cpu(cpu)
			pending += per_cpu_ptr(wheel->bases, cpu)->levels.pending;
		WARN_ONCE(pending, "hwheel: %llu timers were left pending on wheel \"%s\"\n",
			  pending, wheel->name);
		hwheel_retire(wheel);
	}
	cpuhp_remove_state_nocalls(hwheel_cpuhp_state);
	hwheel_debugfs_exit();
	hwheel_timekeeping_exit();
	hwheel_free_all();
}

/* If hwheel is built in, it starts before all code that may use it */
subsys_initcall(hwheel_init);
module_exit(hwheel_exit);
MODULE_DESCRIPTION("Exact timers on hierarchical wheels");
MODULE_VERSION("0.1");
MODULE_LICENSE("GPL");
