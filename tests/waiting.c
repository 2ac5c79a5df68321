// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_waiting_*: the calls that wait for a callback. When such a call has
 * returned, the callback must have ended, and the probe's count of runs must not grow.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>

#include "test.h"

static void act_try_cancel(struct probe *p)
{
	p->ret = hwheel_try_cancel(&p->timer) == -1;
	hwheel_add(&p->timer, HOUR);
	p->ret += hwheel_try_cancel(&p->timer) == -1;
	p->ret += hwheel_pending(&p->timer);
}

static void test_try_cancel_itself(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, 1);

	p[0].act = act_try_cancel;
	hwt_probe_add(&p[0], MS);
	wait_for(test, runs(&p[0]));
	/* The callback has re-armed the timer, and may still be running. */
	KUNIT_EXPECT_TRUE(test, hwheel_cancel_sync(&p[0].timer));
	KUNIT_EXPECT_EQ(test, p[0].ret, 3);
	hwheel_add(&p[0].timer, HOUR);
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p[0].timer), 1);
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p[0].timer), 0);
}

static void act_rearm_always(struct probe *p)
{
	udelay(1);
	hwheel_add(&p->timer, p->n);
}

static int rearm_thread(void *data)
{
	struct probe *p = data;

	while (!kthread_should_stop()) {
		hwheel_add(&p->timer, p->n);
		usleep_range(50, 100);
	}
	return 0;
}

static void test_sync(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = 1000, .budget_ns = 100000 });
	static const ktime_t delays[] = { 0, 1000, 50000, MS };
	struct probe *p = hwt_probe_new(test, wheel, 1000);
	struct task_struct *thread;
	unsigned int i, ran;

	for (i = 0; i < 2 * ARRAY_SIZE(delays); i++) {
		bool shutdown = i % 2;

		hwt_probe_setup(p, wheel, 1000);
		p->act = act_rearm_always;
		p->n = delays[i / 2];
		hwheel_add(&p->timer, p->n);
		/* On another CPU, the callback may not have re-armed the timer yet. So wait. */
		wait_for(test, runs(p) >= 10 && hwheel_pending(&p->timer));
		if (shutdown)
			hwheel_shutdown_sync(&p->timer);
		else
			hwheel_cancel_sync(&p->timer);
		ran = runs(p);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
		KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&p->timer));
		msleep(20);
		KUNIT_EXPECT_EQ_MSG(test, runs(p), ran, "it ran afterwards, delay %llu", p->n);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));

		hwheel_add(&p->timer, p->n);
		if (shutdown)
			KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
		else
			wait_for(test, runs(p) > ran);
		hwheel_shutdown_sync(&p->timer);
	}

	/* The same, while another task arms the timer again and again */
	hwt_probe_setup(p, wheel, 1000);
	p->n = 20000;
	p->shared = true;
	thread = kthread_run(rearm_thread, p, "hwheel-rearm");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	wait_for(test, runs(p) >= 10);
	hwheel_shutdown_sync(&p->timer);
	ran = runs(p);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
	KUNIT_EXPECT_EQ(test, runs(p), ran);
	kthread_stop(thread);
}

static struct completion go_on;

static void act_sleep_long(struct probe *p)
{
	wait_for_completion(&go_on);
	msleep(100);
	WRITE_ONCE(p->n, ktime_get());
}

static struct waiter {
	struct completion	done;
	struct probe		*p;
	unsigned int		before;		/* runs when the wait began */
	unsigned int		after;		/* runs when it ended */
	bool			ret;
	ktime_t			returned;
} waiter;

static int waiter_thread(void *unused)
{
	waiter.before = runs(waiter.p);
	waiter.ret = hwheel_cancel_sync(&waiter.p->timer);
	waiter.after = runs(waiter.p);
	waiter.returned = ktime_get();
	complete(&waiter.done);
	return 0;
}

/* Cancel a timer while its callback @act, which waits for go_on, is running. */
static struct probe *cancel_meanwhile(struct kunit *test, void (*act)(struct probe *p))
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 1);
	struct task_struct *task;

	p->act = act;
	init_completion(&go_on);
	hwt_probe_add(p, MS);
	wait_for(test, runs(p));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), -1);

	waiter.p = p;
	init_completion(&waiter.done);
	task = kthread_run(waiter_thread, NULL, "hwheel-waiter");
	complete(&go_on);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	/* If the waiter is never woken, the test fails after 20 s. */
	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&waiter.done, msecs_to_jiffies(20000)));
	return p;
}

static struct hwheel *elsewhere;

static void act_set_up_elsewhere(struct probe *p)
{
	wait_for_completion(&go_on);
	msleep(100);
	hwheel_setup(&p->timer, elsewhere, hwt_probe_run, 0);
	hwheel_add(&p->timer, HOUR);
}

static void test_sync_sleeps(struct kunit *test)
{
	struct probe *p = cancel_meanwhile(test, act_sleep_long);

	KUNIT_EXPECT_FALSE(test, waiter.ret);
	KUNIT_EXPECT_NE(test, p->n, 0);
	KUNIT_EXPECT_GE(test, waiter.returned, (ktime_t)p->n);
	KUNIT_EXPECT_LT(test, waiter.returned, (ktime_t)p->n + SECS(5));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), 0);

	/* A callback sets up its timer again, for another wheel. Who waits cancels it there. */
	elsewhere = hwt_wheel_new(test, MS);
	p = cancel_meanwhile(test, act_set_up_elsewhere);
	KUNIT_EXPECT_TRUE(test, waiter.ret);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
	hwt_expect_balance(test, elsewhere);
}

static void act_again(struct probe *p)
{
	hwheel_add_forward(&p->timer, MS);
	hwt_busy(3 * MS / 2);
}

/*
 * A timer is due again as soon as its callback returns. The run could begin the next callback
 * long before a waiter has woken up. @thread is the waiter. It must wait for one callback, and
 * must not wait for the next one. Returns the probe.
 */
static struct probe *wait_for_one(struct kunit *test, int (*thread)(void *data))
{
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = MS, .budget_ns = SECS(60) });
	struct probe *p = hwt_probe_new(test, wheel, MS);
	unsigned int i, least = UINT_MAX;
	struct task_struct *task;

	p->act = act_again;
	p->shared = true;
	waiter.p = p;
	/* A busy host may delay the waiter, even several times, but not in all rounds. */
	for (i = 0; i < 100 && least > 2; i++) {
		unsigned int n = runs(p);

		hwt_probe_add(p, MS);
		wait_for(test, runs(p) > n + 3);
		init_completion(&waiter.done);
		task = kthread_run(thread, NULL, "hwheel-waiter");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		if (!wait_for_completion_timeout(&waiter.done, msecs_to_jiffies(5000))) {
			KUNIT_FAIL(test, "the waiter still waits");
			hwheel_shutdown_sync(&p->timer);
			wait_for_completion(&waiter.done);
			return p;
		}
		least = min(least, waiter.after - waiter.before);
	}
	KUNIT_EXPECT_LE(test, least, 2);
	return p;
}

static void test_sync_again(struct kunit *test)
{
	struct probe *p = wait_for_one(test, waiter_thread);

	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), 0);
}

static void act_running(struct probe *p)
{
	p->ret = hwheel_running(&p->timer);
	p->ret += !hwheel_running(&p->other->timer);
	hwheel_add(&p->timer, HOUR);
	p->ret += hwheel_running(&p->timer);
	hwheel_cancel(&p->timer);
	p->ret += hwheel_running(&p->timer);
}

static void test_running(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 2);

	KUNIT_EXPECT_FALSE(test, hwheel_running(&p[0].timer));
	p[0].act = act_running;
	p[0].other = &p[1];
	hwt_probe_add(&p[1], HOUR);	/* far away: act_running() expects it not to run */
	hwt_probe_add(&p[0], 10 * MS);
	KUNIT_EXPECT_FALSE(test, hwheel_running(&p[0].timer));
	hwt_expect_once(test, p, 1);
	hwheel_cancel_sync(&p[0].timer);
	hwheel_cancel_sync(&p[1].timer);
	KUNIT_EXPECT_EQ(test, p[0].ret, 4);
	KUNIT_EXPECT_FALSE(test, hwheel_running(&p[0].timer));
	KUNIT_EXPECT_FALSE(test, hwheel_running(&p[1].timer));
}

static atomic_t begun, ended;

static void act_begin_end(struct probe *p)
{
	atomic_inc(&begun);
	hwt_busy(50000);
	atomic_inc(&ended);
}

/*
 * The pattern of a teardown: cancel all timers, then wait. No callback may be running after
 * that. On a single CPU only a callback in process context can be running during the wait.
 */
static void test_synchronize(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, 1000);
	const unsigned int n = 16;
	struct probe *p = hwt_probes_new(test, wheel, 1000, n);
	unsigned int i, round, left = 0;

	hwheel_synchronize(wheel);
	hwheel_synchronize(hwheel_system);
	atomic_set(&begun, 0);
	atomic_set(&ended, 0);
	for (round = 0; round < 300; round++) {
		int cpu = cpumask_first(cpu_online_mask);

		for (i = 0; i < n; i++) {
			p[i].act = act_begin_end;
			p[i].shared = true;
			hwheel_add_on(&p[i].timer, 20000, cpu);
			cpu = cpumask_next(cpu, cpu_online_mask);
			if (cpu >= nr_cpu_ids)
				cpu = cpumask_first(cpu_online_mask);
		}
		usleep_range(50, 100 + hwt_random_below(200));
		for (i = 0; i < n; i++)
			hwheel_cancel(&p[i].timer);
		hwheel_synchronize(wheel);
		left += atomic_read(&begun) != atomic_read(&ended);
	}
	KUNIT_EXPECT_GT(test, atomic_read(&begun), 0);
	KUNIT_EXPECT_EQ(test, left, 0);
}

static int synchronizer_thread(void *unused)
{
	waiter.before = runs(waiter.p);
	hwheel_synchronize(waiter.p->wheel);
	waiter.after = runs(waiter.p);
	waiter.returned = ktime_get();
	complete(&waiter.done);
	return 0;
}

/* Re-arm the timer until the waiter has returned, or until time @p->n. */
static void act_again_until(struct probe *p)
{
	hwt_busy(MS / 5);
	if (!completion_done(&waiter.done) && ktime_get() < p->n)
		hwheel_add_at(&p->timer, 0, 0);
}

static int synchronizer_beside_thread(void *unused)
{
	while (!runs(waiter.p))
		usleep_range(100, 200);
	hwheel_synchronize(waiter.p->wheel);
	waiter.returned = ktime_get();
	complete(&waiter.done);
	return 0;
}

/*
 * On another CPU a timer is due again as soon as its callback returns, and its run takes no
 * break. The waiter must not wait until the run ends.
 */
static void test_synchronize_again(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = MS, .budget_ns = SECS(60) });
	struct probe *p = hwt_probe_new(test, wheel, MS);
	struct task_struct *task;

	if (num_online_cpus() == 1)
		kunit_skip(test, "needs two CPUs");
	p->act = act_again_until;
	p->shared = true;
	waiter.p = p;
	init_completion(&waiter.done);
	task = kthread_create(synchronizer_beside_thread, NULL, "hwheel-waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, cpumask_first(cpu_online_mask));
	wake_up_process(task);
	p->n = ktime_get() + SECS(4);
	hwheel_add_on(&p->timer, MS, cpumask_last(cpu_online_mask));
	wait_for_completion(&waiter.done);
	KUNIT_EXPECT_LT(test, waiter.returned, p->n);
	hwheel_cancel_sync(&p->timer);
}

/* A callback sleeps. The waiter must not return before the callback has ended. */
static void synchronize_sleeps(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 2);
	struct task_struct *task;

	init_completion(&go_on);
	init_completion(&waiter.done);
	waiter.p = p;
	p[0].act = act_sleep_long;
	hwt_probe_add(&p[0], MS);
	hwheel_add(&p[1].timer, HOUR);
	wait_for(test, runs(&p[0]));
	KUNIT_EXPECT_TRUE(test, hwheel_running(&p[0].timer));
	KUNIT_EXPECT_FALSE(test, hwheel_running(&p[1].timer));
	task = kthread_run(synchronizer_thread, NULL, "hwheel-waiter");
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	msleep(20);
	KUNIT_EXPECT_FALSE(test, completion_done(&waiter.done));
	complete(&go_on);
	if (IS_ERR(task) || !wait_for_completion_timeout(&waiter.done, msecs_to_jiffies(20000))) {
		KUNIT_FAIL(test, "a waiter was not woken");
		return;
	}
	KUNIT_EXPECT_NE(test, p->n, 0);
	KUNIT_EXPECT_GE(test, waiter.returned, (ktime_t)p->n);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(&p[1].timer));
}

static void test_all_sleep(struct kunit *test)
{
	synchronize_sleeps(test);
	wait_for_one(test, synchronizer_thread);
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_waiting, context,			\
		  KUNIT_CASE(test_try_cancel_itself),		\
		  KUNIT_CASE(test_sync),			\
		  KUNIT_CASE(test_running),			\
		  KUNIT_CASE(test_synchronize),			\
		  ##__VA_ARGS__)

SUITE(softirq, KUNIT_CASE(test_synchronize_again));
SUITE(hardirq, KUNIT_CASE(test_synchronize_again));
SUITE(work, KUNIT_CASE(test_sync_sleeps), KUNIT_CASE(test_sync_again), KUNIT_CASE(test_all_sleep));

kunit_test_suites(&hwheel_waiting_softirq, &hwheel_waiting_hardirq, &hwheel_waiting_work);
