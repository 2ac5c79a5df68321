// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_sessions - a million session timeouts on one wheel
 *
 * The driver keeps a table of sessions, each with an idle timeout, as a protocol or
 * a connection tracker does. One thread per CPU opens a slice of the table. Then
 * the threads make traffic: they re-arm timeouts, close sessions and open them
 * again, also in the slices of other CPUs. In the end all sessions expire, and the
 * driver checks the table.
 *
 * The driver trusts only the values that hwheel's functions return. Each session
 * counts:
 *
 *	armed		number of armings
 *	cancelled	armings that a later arming replaced, or that were
 *			cancelled: the number of calls that returned true
 *	fired		callbacks that belong to an arming
 *
 * In the end each session must have armed = fired + cancelled. The driver reports
 * three faults:
 *
 *	lost		an arming that neither fired nor was cancelled
 *	double		a callback without an arming
 *	early		a callback before the time of its arming; the driver reads
 *			the kernel's clock, not the wheel's
 *
 * How the counts stay exact
 * -------------------------
 * Arming, cancelling and the callback write the counts, all under the session's
 * lock. But the wheel dequeues the timer before the callback takes the lock. While
 * the callback waits for the lock, other code may arm the timer again. Hence there
 * are two members:
 *
 *	live	The last arming waits for its callback. Its time is in @due.
 *	passed	An earlier arming has expired, and its callback waits for the
 *		lock. The time of that arming is in @passed_due.
 *
 * If an arming call returns false on a live session, the old arming has expired.
 * So the old arming becomes the passed one, and the new arming is live. A callback
 * belongs to the passed arming if there is one, else to the live one. Callbacks of
 * one timer never run at the same time. So at most one callback waits for the
 * lock, and there is at most one passed arming.
 *
 * hwheel_cancel_sync() waits for the callback, and the callback waits for the lock.
 * So the caller must not hold the lock. Instead the caller marks the session as
 * closing. Nobody else arms or cancels a session that is closing. When
 * hwheel_cancel_sync() has returned, no callback may run. An arming that then still
 * waits for its callback is lost. If its callback runs later, the driver counts that
 * as double.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include <linux/types.h>

#include "../hwheel.h"

#define SLACK_MS	100	/* the greatest slack of a timer */
#define GRACE_MS	30000	/* a timer is lost if it is later than this */
#define BATCH		256	/* sessions between two calls of cond_resched() */
#define POLL_MS		1000
#define PROGRESS_MS	5000

static unsigned int sessions = 1000000;
module_param(sessions, uint, 0444);
MODULE_PARM_DESC(sessions, "number of sessions");

static unsigned int min_ms = 10;
module_param(min_ms, uint, 0444);
MODULE_PARM_DESC(min_ms, "shortest idle timeout in ms");

static unsigned int max_ms = 60000;
module_param(max_ms, uint, 0444);
MODULE_PARM_DESC(max_ms, "longest idle timeout in ms");

static unsigned int traffic_ms = 10000;
module_param(traffic_ms, uint, 0444);
MODULE_PARM_DESC(traffic_ms, "how long there is traffic, in ms");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "seed of the random numbers; 0: a random seed");

static bool done;
module_param(done, bool, 0444);
MODULE_PARM_DESC(done, "read only: all sessions have ended and been checked");

/* A callback must not come before @from. Its lateness counts from @to = @from + slack. */
struct due {
	ktime_t			from;
	ktime_t			to;
};

/* 104 bytes on 64-bit, of which 48 are the timer. */
struct session {
	struct hwheel_timer	timer;
	/*
	 * Guards all members below, and arming and cancelling of the timer. The
	 * callback takes it in softirq context. The wheel's locks nest inside.
	 */
	spinlock_t		lock;
	u32			armed;
	u32			cancelled;
	u32			fired;
	struct due		due;
	struct due		passed_due;
	bool			live;
	bool			passed;
	bool			closing;
	u8			twice;
};

struct worker {
	struct task_struct	*task;
	unsigned int		first;
	unsigned int		count;
	struct rnd_state	rnd;
};

static struct session *table;
static struct worker *workers;
static unsigned int nr_workers;
static struct task_struct *monitor;

static atomic_t opening;	/* workers that are still opening sessions */
static atomic_t working;	/* workers that are still making traffic */

/* Callbacks on all CPUs write these, but seldom. */
static atomic64_t early = ATOMIC64_INIT(0);
static atomic64_t max_late_ns = ATOMIC64_INIT(0);

/* Armings that wait for their callback. Read without the lock: approximate. */
static unsigned int session_waits(const struct session *s)
{
	return READ_ONCE(s->live) + READ_ONCE(s->passed);
}

static void note_lateness(s64 ns)
{
	s64 max = atomic64_read(&max_late_ns);

	while (ns > max && !atomic64_try_cmpxchg(&max_late_ns, &max, ns))
		;
}

static void session_expired(struct hwheel_timer *timer)
{
	struct session *s = hwheel_container_of(s, timer, timer);
	/* Before the lock: time spent waiting must not hide an early callback. */
	ktime_t now = ktime_get();
	struct due due;

	spin_lock(&s->lock);
	/*
	 * @now is too early for the passed arming, but not for the live one. So
	 * the passed arming is lost, and this callback is not early.
	 */
	if (s->passed && s->live && ktime_before(now, s->passed_due.from) &&
	    !ktime_before(now, s->due.from))
		WRITE_ONCE(s->passed, false);

	if (s->passed) {
		WRITE_ONCE(s->passed, false);
		due = s->passed_due;
	} else if (s->live) {
		WRITE_ONCE(s->live, false);
		due = s->due;
	} else {
		if (s->twice < U8_MAX)
			s->twice++;
		spin_unlock(&s->lock);
		return;
	}
	s->fired++;
	spin_unlock(&s->lock);

	if (ktime_before(now, due.from))
		atomic64_inc(&early);
	note_lateness(ktime_to_ns(ktime_sub(now, due.to)));
}

/* A random number from 0 to n - 1. All are equally likely. */
static u32 below(struct worker *w, u32 n)
{
	return ((u64)prandom_u32_state(&w->rnd) * n) >> 32;
}

/*
 * The idle timeout: random, to the nanosecond, from min_ms to max_ms. If both are equal, it is
 * min_ms.
 */
static ktime_t random_delay(struct worker *w)
{
	ktime_t delay = ms_to_ktime(min_ms);

	if (max_ms == min_ms)
		return delay;
	delay = ktime_add(delay, ms_to_ktime(below(w, max_ms - min_ms)));
	return ktime_add_ns(delay, below(w, NSEC_PER_MSEC));
}

static ktime_t random_slack(struct worker *w)
{
	return ns_to_ktime(below(w, SLACK_MS * NSEC_PER_MSEC));
}

static void session_arm(struct worker *w, struct session *s)
{
	ktime_t delay = random_delay(w);
	ktime_t slack = 0;
	u32 way = below(w, 8);
	bool replaced;
	ktime_t now;

	lockdep_assert_held(&s->lock);

	if (way < 4)
		slack = random_slack(w);

	/*
	 * The wheel uses CLOCK_MONOTONIC, as ktime_get() does. The wheel reads
	 * its clock after this. So a relative timer is never due before
	 * @due.from.
	 */
	now = ktime_get();
	if (way < 2)
		replaced = hwheel_add_at(&s->timer, ktime_add(now, delay),
					 slack);
	else if (way < 4)
		replaced = hwheel_add_range(&s->timer, delay, slack);
	else
		replaced = hwheel_add(&s->timer, delay);

	if (replaced) {
		s->cancelled++;
	} else if (s->live && !s->passed) {
		/* If there is a passed arming already, the live one is lost. */
		WRITE_ONCE(s->passed, true);
		s->passed_due = s->due;
	}
	s->armed++;
	s->due.from = ktime_add(now, delay);
	s->due.to = ktime_add(s->due.from, slack);
	WRITE_ONCE(s->live, true);
}

static void session_close(struct session *s)
{
	lockdep_assert_held(&s->lock);

	if (hwheel_cancel(&s->timer)) {
		s->cancelled++;
		WRITE_ONCE(s->live, false);
	}
}

/* Drops the lock meanwhile. Nobody else touches a session that is closing. */
static void session_close_sync(struct session *s)
	__must_hold(&s->lock)
{
	bool cancelled;

	lockdep_assert_held(&s->lock);

	s->closing = true;
	spin_unlock_bh(&s->lock);

	cancelled = hwheel_cancel_sync(&s->timer);

	spin_lock_bh(&s->lock);
	s->closing = false;
	if (cancelled) {
		s->cancelled++;
		WRITE_ONCE(s->live, false);
	}
	/* An arming that still waits for its callback is lost. check_table() finds it. */
	WRITE_ONCE(s->live, false);
	WRITE_ONCE(s->passed, false);
}

static void open_session(struct worker *w, struct session *s)
{
	spin_lock_bh(&s->lock);
	/* Another worker's traffic may have been here already. */
	if (!s->live && !s->closing)
		session_arm(w, s);
	spin_unlock_bh(&s->lock);
}

/* One event for one session, mostly of the worker's own slice. */
static void make_traffic(struct worker *w)
{
	struct session *s;
	u32 dice;

	if (below(w, 4))
		s = &table[w->first + below(w, w->count)];
	else
		s = &table[below(w, sessions)];
	dice = below(w, 100);

	spin_lock_bh(&s->lock);
	if (s->closing)
		goto unlock;
	if (!s->live) {
		if (dice < 50)
			session_arm(w, s);
	} else if (dice < 8) {
		session_close(s);
	} else if (dice < 16) {
		session_close_sync(s);
	} else {
		session_arm(w, s);
	}
unlock:
	spin_unlock_bh(&s->lock);
}

/* Sleep for @timeout jiffies. Return: false if the thread has to stop. */
static bool nap(long timeout)
{
	/* Set the state first, so that no wakeup by kthread_stop() is lost. */
	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_timeout(timeout);
	__set_current_state(TASK_RUNNING);
	return !kthread_should_stop();
}

/* A thread waits for kthread_stop() when its work is done. */
static int park(void)
{
	while (nap(MAX_SCHEDULE_TIMEOUT))
		;
	return 0;
}

static int worker_thread(void *data)
{
	struct worker *w = data;
	ktime_t end;
	unsigned int i;

	for (i = 0; i < w->count; i++) {
		open_session(w, &table[w->first + i]);
		if (i % BATCH)
			continue;
		if (kthread_should_stop())
			return 0;
		cond_resched();
	}
	atomic_dec(&opening);

	end = ktime_add_ms(ktime_get(), traffic_ms);
	while (ktime_before(ktime_get(), end)) {
		for (i = 0; i < BATCH; i++)
			make_traffic(w);
		/* Leave some of the CPU to other programs. */
		if (!nap(1))
			return 0;
	}
	/* Pairs with the monitor's acquire: the monitor sees all armings. */
	atomic_dec_return_release(&working);
	return park();
}

/* Return: the approximate number of callbacks that are still to come. */
static u64 count_waiting(void)
{
	unsigned int i;
	u64 n = 0;

	for (i = 0; i < sessions; i++) {
		n += session_waits(&table[i]);
		if (i % BATCH == 0)
			cond_resched();
	}
	return n;
}

static void check_table(void)
{
	u64 armed = 0, fired = 0, cancelled = 0, lost = 0, twice = 0;
	unsigned int i;

	for (i = 0; i < sessions; i++) {
		struct session *s = &table[i];
		u32 ended;

		spin_lock_bh(&s->lock);
		ended = s->fired + s->cancelled;
		armed += s->armed;
		fired += s->fired + s->twice;
		cancelled += s->cancelled;
		twice += s->twice;
		/*
		 * Compare the counts; do not rely on live and passed. A pending
		 * timer without an arming is a fault, too. Its callback would
		 * run too late for this check.
		 */
		if (s->armed > ended)
			lost += s->armed - ended;
		else if (s->armed < ended)
			twice += ended - s->armed;
		else if (hwheel_pending(&s->timer))
			lost++;
		spin_unlock_bh(&s->lock);
		if (i % BATCH == 0)
			cond_resched();
	}

	pr_info("armed %llu fired %llu cancelled %llu early %lld lost %llu double %llu max_late_ns %lld\n",
		armed, fired, cancelled, atomic64_read(&early), lost, twice,
		atomic64_read(&max_late_ns));
}

static int monitor_thread(void *unused)
{
	ktime_t give_up, report;
	u64 waiting;

	while (atomic_read(&opening))
		if (!nap(msecs_to_jiffies(POLL_MS / 10)))
			return 0;
	pr_info("opened all sessions, traffic goes on\n");

	/* Pairs with the workers' release. */
	while (atomic_read_acquire(&working))
		if (!nap(msecs_to_jiffies(POLL_MS / 10)))
			return 0;

	report = ktime_get();
	give_up = ktime_add_ms(report, (u64)max_ms + SLACK_MS + GRACE_MS);
	pr_info("traffic phase over\n");
	while ((waiting = count_waiting())) {
		if (ktime_after(ktime_get(), give_up))
			break;
		if (!ktime_before(ktime_get(), report)) {
			pr_info("%llu pending\n", waiting);
			report = ktime_add_ms(ktime_get(), PROGRESS_MS);
		}
		if (!nap(msecs_to_jiffies(POLL_MS)))
			return 0;
	}

	/* If the last timers ran twice, they would do so about now. */
	if (!nap(msecs_to_jiffies(POLL_MS)))
		return 0;
	check_table();
	WRITE_ONCE(done, true);
	return park();
}

static int __init check_params(void)
{
	/* More than INT_MAX bytes is more than kvcalloc() gives. */
	const unsigned int most = INT_MAX / sizeof(struct session);

	if (!sessions || sessions > most) {
		pr_err("sessions is %u, must be from 1 to %u\n", sessions, most);
		return -EINVAL;
	}
	if (min_ms > max_ms) {
		pr_err("min_ms is %u, must not be more than max_ms, %u\n",
		       min_ms, max_ms);
		return -EINVAL;
	}
	if (done) {
		pr_err("the parameter done is read only\n");
		return -EINVAL;
	}
	return 0;
}

static int __init create_table(void)
{
	unsigned int i;

	/* Fail, rather than let the OOM killer kill processes. */
	table = kvcalloc(sessions, sizeof(*table),
			 GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!table) {
		pr_err("no memory for %u sessions\n", sessions);
		return -ENOMEM;
	}
	for (i = 0; i < sessions; i++) {
		spin_lock_init(&table[i].lock);
		hwheel_setup(&table[i].timer, hwheel_system, session_expired,
			     0);
		if (i % BATCH == 0)
			cond_resched();
	}
	return 0;
}

/* One worker for each CPU that is online; none of them runs yet. */
static int __init create_workers(void)
{
	unsigned int nr = min(num_online_cpus(), sessions);
	unsigned int next = 0;
	unsigned int cpu;

	workers = kcalloc(nr, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;

	for_each_online_cpu(cpu) {
		struct worker *w = &workers[nr_workers];

		if (nr_workers == nr)
			break;
		w->first = next;
		w->count = sessions / nr + (nr_workers < sessions % nr);
		next += w->count;
		prandom_seed_state(&w->rnd, (u64)seed + nr_workers);
		w->task = kthread_create_on_node(worker_thread, w,
						 cpu_to_node(cpu),
						 "hwheel_sess/%u", cpu);
		if (IS_ERR(w->task))
			return PTR_ERR(w->task);
		kthread_bind(w->task, cpu);
		nr_workers++;
	}
	return 0;
}

/* Undo as much of sessions_init() as was done. */
static void sessions_stop(void)
{
	unsigned int i;

	if (monitor)
		kthread_stop(monitor);
	for (i = 0; i < nr_workers; i++)
		kthread_stop(workers[i].task);
	kfree(workers);

	if (!table)
		return;
	for (i = 0; i < sessions; i++) {
		hwheel_shutdown_sync(&table[i].timer);
		if (i % BATCH == 0)
			cond_resched();
	}
	kvfree(table);
}

static int __init sessions_init(void)
{
	struct task_struct *task;
	unsigned int i;
	int err;

	err = check_params();
	if (err)
		return err;
	if (!seed)
		seed = get_random_u32() ?: 1;

	err = create_table();
	if (err)
		return err;

	cpus_read_lock();
	err = create_workers();
	cpus_read_unlock();
	if (err)
		goto err_stop;

	task = kthread_create(monitor_thread, NULL, "hwheel_sess/mon");
	if (IS_ERR(task)) {
		err = PTR_ERR(task);
		goto err_stop;
	}
	monitor = task;

	pr_info("%u sessions of %zu bytes, %u to %u ms, traffic for %u ms, %u threads, seed %u\n",
		sessions, sizeof(*table), min_ms, max_ms, traffic_ms,
		nr_workers, seed);

	atomic_set(&opening, nr_workers);
	atomic_set(&working, nr_workers);
	for (i = 0; i < nr_workers; i++)
		wake_up_process(workers[i].task);
	wake_up_process(monitor);
	return 0;

err_stop:
	sessions_stop();
	return err;
}

static void __exit sessions_exit(void)
{
	sessions_stop();
}

module_init(sessions_init);
module_exit(sessions_exit);

MODULE_DESCRIPTION("hwheel sample: a table of a million session timeouts");
MODULE_LICENSE("GPL");
