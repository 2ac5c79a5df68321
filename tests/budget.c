// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_budget_*: many timers at once, and callbacks that take long. No timer may
 * be lost, callbacks must run in order, and other work must get the CPU meanwhile.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "module/compat.h"
#include "test.h"

static void act_rearm_soon(struct probe *p)
{
	hwt_busy(60 * NSEC_PER_USEC);
	if (runs(p) < p->n)
		hwheel_add(&p->timer, 2 * NSEC_PER_USEC);
}

/* No single run exceeds the budget, but the runs follow each other without a pause. */
static void test_overdrawn_real_time(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = NSEC_PER_USEC, .budget_ns = 200 * NSEC_PER_USEC });
	struct probe *p = hwt_probe_new(test, wheel, NSEC_PER_USEC);

	if (hwt_days)
		kunit_skip(test, "callbacks take no simulated time");
	if (hwt_suite_context != HWHEEL_HARDIRQ)
		kunit_skip(test, "other work gets the CPU between runs");
	p->act = act_rearm_soon;
	p->n = 100;
	hwheel_add(&p->timer, 0);
	wait_for(test, runs(p) >= p->n);
	hwheel_cancel_sync(&p->timer);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "budget_overruns"), 0);
}

/*
 * Work that competes with the callbacks for the CPU. An hrtimer starts it each
 * millisecond. It cannot run while callbacks of the suite's context run.
 */
struct other {
	struct hrtimer		hrtimer;
	struct work_struct	work;
	int			all;	/* number of probes */
	unsigned int		n;	/* runs after the first callback and before the last one */
	ktime_t			last;
	ktime_t			gap;	/* the longest time between two of these runs */
};

static void other_run(struct other *other)
{
	int run = atomic_read(&hwt_probes_run);
	ktime_t now = ktime_get();

	if (!run || run >= other->all)
		return;
	if (other->n++)
		other->gap = max(other->gap, now - other->last);
	other->last = now;
}

static void other_work(struct work_struct *work)
{
	other_run(container_of(work, struct other, work));
}

static enum hrtimer_restart other_hrtimer(struct hrtimer *hrtimer)
{
	struct other *other = container_of(hrtimer, struct other, hrtimer);

	if (hwt_suite_context == HWHEEL_WORK)
		queue_work_on(raw_smp_processor_id(), system_percpu_wq, &other->work);
	else
		other_run(other);
	hrtimer_forward_now(hrtimer, MS);
	return HRTIMER_RESTART;
}

static void other_begin(struct other *other, int all)
{
	bool hard = hwt_suite_context == HWHEEL_HARDIRQ;

	memset(other, 0, sizeof(*other));
	other->all = all;
	INIT_WORK(&other->work, other_work);
	hrtimer_setup(&other->hrtimer, other_hrtimer, CLOCK_MONOTONIC,
		      hard ? HRTIMER_MODE_REL_PINNED_HARD : HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_start(&other->hrtimer, MS,
		      hard ? HRTIMER_MODE_REL_PINNED_HARD : HRTIMER_MODE_REL_PINNED_SOFT);
}

static void other_end(struct other *other)
{
	hrtimer_cancel(&other->hrtimer);
	cancel_work_sync(&other->work);
}

static void act_brief(struct probe *p)
{
	hwt_busy(1000);
}

/*
 * Three quarters of the timers are due at one tick, the others soon after. None is lost,
 * they run in order, and other work gets the CPU meanwhile.
 */
static void budget(struct kunit *test, unsigned int n, ktime_t budget_ns, ktime_t ahead,
		   void (*act)(struct probe *p))
{
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.budget_ns = budget_ns });
	struct probe *p = hwt_probes_new(test, wheel, MS, n);
	static struct other other;
	unsigned int i, lost = 0;
	ktime_t due;

	hwt_hold();
	other_begin(&other, n);
	due = hwheel_now(wheel) + ahead;
	for (i = 0; i < n; i++) {
		p[i].act = act;
		hwt_probe_add_at(&p[i], i < n - n / 4 ? due : due + (1 + i % 30) * MS, 0);
	}
	hwt_unhold();
	wait_for(test, atomic_read(&hwt_probes_run) >= n);
	other_end(&other);

	for (i = 0; i < n; i++)
		lost += runs(&p[i]) != 1;
	KUNIT_EXPECT_EQ(test, lost, 0);
	hwt_expect_order(test, p, n);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "budget_overruns"), 0);
	KUNIT_EXPECT_GT_MSG(test, other.n, 0, "other work had to wait for all callbacks");
	kunit_info(test, "%u timers, %llu overruns; meanwhile a 1 ms timer ran %u times, at most %lld ns apart",
		   n, hwheel_count(wheel, "budget_overruns"), other.n, other.gap);
}

/* 1400 callbacks of 50 us take 70 ms. */
static void test_budget(struct kunit *test)
{
	budget(test, 1400, MS, 100 * MS, hwt_act_50_us);
}

static void test_budget_mass(struct kunit *test)
{
	budget(test, hwt_many, 200000, SECS(1), act_brief);
}

/*
 * The default budgets. Callbacks take 50 us. In hardirq context 3 callbacks exceed the
 * budget of 100 us. In other contexts 40 callbacks use up 2 ms; the clock is read after
 * each 8th. Callbacks may take longer, but the budget cuts no run too early.
 */
static void test_budget_default(struct kunit *test)
{
	const bool hard = hwt_suite_context == HWHEEL_HARDIRQ;
	const unsigned int n = 160;
	unsigned int i, j;
	u64 overruns;

	for (j = 0; j < 10; j++) {
		struct hwheel *wheel = hwt_wheel_new(test, MS);
		struct probe *p = hwt_probes_new(test, wheel, MS, n);
		ktime_t due, last = 0;

		atomic_set(&hwt_probes_run, 0);
		hwt_hold();
		due = hwheel_now(wheel) + 10 * MS;
		for (i = 0; i < n; i++) {
			p[i].act = hwt_act_50_us;
			hwt_probe_add_at(&p[i], due, 0);
		}
		hwt_unhold();
		wait_for(test, atomic_read(&hwt_probes_run) == n);
		for (i = 0; i < n; i++) {
			hwheel_shutdown_sync(&p[i].timer);
			last = max(last, p[i].began);
		}
		overruns = hwheel_count(wheel, "budget_overruns");
		KUNIT_EXPECT_GE(test, overruns, n / (hard ? 3 : 40) - 1);
		KUNIT_EXPECT_LE(test, overruns * (hard ? MS / 10 : 2 * MS), last - due);
		hwt_wheel_destroy(test);
		hwt_probes_free();
	}
}

/*
 * When a run has used up its budget, the remaining timers run after a break, or, in process
 * context, when the work runs again. They must not wait for the next timer, 1.5 s later. All
 * timers are due in the slot of level 1 that the clock is in. So they are on level 0, and the run
 * does not look at the levels above. In simulated time nothing else has the CPU, so all callbacks
 * and breaks together are short.
 */
static void test_budget_left(struct kunit *test)
{
	const u64 tick_ns = 20 * MS, slot = 128 * tick_ns;
	const unsigned int n = 20;
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = tick_ns, .budget_ns = MS / 10 });
	struct probe *p = hwt_probes_new(test, wheel, tick_ns, n + 3);
	ktime_t now, first = KTIME_MAX, last = 0;
	unsigned int i;
	u64 rest;

	hwt_levels_made(test, &p[n + 2], tick_ns);
	while (div64_u64_rem(hwheel_now(wheel), slot, &rest), rest > slot / 3)
		msleep(20);
	hwt_hold();
	now = hwheel_now(wheel);
	hwt_probe_add_at(&p[n], now + 50 * MS, 0);
	for (i = 0; i < n; i++) {
		p[i].act = hwt_act_50_us;
		hwt_probe_add_at(&p[i], now + 100 * MS, 0);
	}
	hwt_probe_add_at(&p[n + 1], now + 1600 * MS, 0);
	hwt_unhold();
	wait_for(test, runs(&p[n + 1]));
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, runs(&p[i]), 1);
		first = min(first, p[i].began);
		last = max(last, p[i].began);
	}
	KUNIT_EXPECT_LT(test, last, p[n + 1].began - 100 * MS);
	if (hwt_days)
		KUNIT_EXPECT_LT(test, last - first, 2 * n * 50 * NSEC_PER_USEC);
	KUNIT_EXPECT_GE(test, hwheel_count(wheel, "budget_overruns"), 1);
}

/* Arm a timer while another one is long overdue. The base's clock is far behind then. */
static void test_held_off(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 3);

	hwt_levels_made(test, &p[2], 10 * MS);
	hwt_hold();
	hwheel_add(&p[0].timer, 20 * MS);
	hwt_busy(120 * MS);
	hwheel_add(&p[1].timer, 10 * MS);
	hwt_unhold();
	wait_for(test, runs(&p[0]) && runs(&p[1]));
	KUNIT_EXPECT_LT(test, p[0].order, p[1].order);
}

static void act_long(struct probe *p)
{
	hwt_busy(50 * MS);
}

/* While one callback takes 50 ms, other timers can be armed, and none is lost. */
static void test_long_callback_real_time(struct kunit *test)
{
	const unsigned int n = 100;
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, n);
	ktime_t due;
	unsigned int i;

	if (hwt_days)
		kunit_skip(test, "in simulated time the timers would not be late");
	p[0].act = act_long;
	hwt_hold();
	due = hwheel_now(wheel) + 20 * MS;
	for (i = 0; i < n / 2; i++)
		hwt_probe_add_at(&p[i], due + i * MS, 0);
	hwt_unhold();
	wait_for(test, runs(&p[0]));
	for (; i < n; i++)
		hwt_probe_add(&p[i], i % 10 * MS);
	hwt_expect_once(test, p, n);
	hwt_expect_order(test, p, n / 2);
	KUNIT_EXPECT_GE(test, hwheel_count(wheel, "max_late_ns"), 40 * MS);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "budget_overruns"), 0);
}

static void test_thousands(struct kunit *test)
{
	const unsigned int n = hwt_many;
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, n);
	unsigned int i;

	for (i = 0; i < n; i++)
		hwt_probe_add(&p[i], hwt_random_below(NSEC_PER_SEC));
	hwt_expect_once(test, p, n);
	KUNIT_EXPECT_EQ(test, atomic_read(&hwt_probes_run), n);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "added"), n);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), n);
	kunit_info(test, "max_late_ns %llu, max_locked_ns %llu, cascaded %llu, interrupts %llu",
		   hwheel_count(wheel, "max_late_ns"),
		   hwheel_count(wheel, "max_locked_ns"),
		   hwheel_count(wheel, "cascaded"),
		   hwheel_count(wheel, "interrupts"));
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_budget, context,			\
		  KUNIT_CASE(test_overdrawn_real_time),			\
		  KUNIT_CASE(test_budget),			\
		  KUNIT_CASE(test_budget_mass),			\
		  KUNIT_CASE(test_budget_default),		\
		  KUNIT_CASE(test_budget_left),			\
		  KUNIT_CASE(test_held_off),			\
		  KUNIT_CASE(test_long_callback_real_time),		\
		  KUNIT_CASE(test_thousands),			\
		  ##__VA_ARGS__)

SUITE(softirq);
SUITE(hardirq);
SUITE(work);

kunit_test_suites(&hwheel_budget_softirq, &hwheel_budget_hardirq, &hwheel_budget_work);
