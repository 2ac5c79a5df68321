// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_interrupts_*: the order of expirations, slack, and the interrupts that a
 * wheel takes. The wheel's counters must show one interrupt for each tick at which a
 * timer was due, and almost no others.
 */
#include <kunit/test.h>
#include <linux/delay.h>

#include "test.h"

static void test_order(struct kunit *test)
{
	const unsigned int n = 1000;
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, n);
	unsigned int i;
	ktime_t base;
	bool slow;

	/* A timer that is armed after its tick runs late, and so out of order. */
	hwt_hold();
	base = hwheel_now(hwt_suite_wheel) + 300 * MS;
	for (i = 0; i < n; i++)
		hwt_probe_add_at(&p[i], base + hwt_random_below(300 * MS), 0);
	slow = hwheel_now(hwt_suite_wheel) > base;
	hwt_unhold();
	hwt_expect_once(test, p, n);
	if (slow)
		kunit_skip(test, "the host is too slow");
	hwt_expect_order(test, p, n);
}

static void test_slack_meets(struct kunit *test)
{
	const unsigned int n = 100;
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, n + 1);
	size_t distinct;
	unsigned int i;
	u64 before;

	/* A crowd that is parked for lack of levels would cost more interrupts. */
	hwt_levels_made(test, &p[n], 350 * MS);
	before = hwheel_count(wheel, "interrupts");
	hwt_hold();
	for (i = 0; i < n; i++)
		hwt_probe_add_range(&p[i], (100 + hwt_random_below(50)) * MS, 200 * MS);
	hwt_unhold();
	hwt_expect_once(test, p, n);
	distinct = hwt_distinct_ticks(test, p, n);
	KUNIT_EXPECT_GT(test, distinct, 0);
	KUNIT_EXPECT_LE(test, distinct, 3);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts") - before,
			distinct + hwheel_count(wheel, "budget_overruns"));
	if (hwt_days)
		KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts") - before, distinct);

	/* A negative slack counts as 0. */
	hwt_probe_add_at(&p[n], hwheel_now(wheel) + HOUR + 1, -HOUR);
	KUNIT_EXPECT_EQ(test, hwheel_expires(&p[n].timer), p[n].from);
	hwt_probe_add_range(&p[n], HOUR, KTIME_MIN);
	KUNIT_EXPECT_GE(test, hwheel_expires(&p[n].timer), p[n].from);
	KUNIT_EXPECT_LE(test, hwheel_expires(&p[n].timer), hwheel_now(wheel) + HOUR);
	/* A slack below a tick must not move the expiration out of the window. */
	hwt_probe_add_at(&p[n], hwheel_now(wheel) + HOUR + 1, 10);
	KUNIT_EXPECT_GE(test, hwheel_expires(&p[n].timer), p[n].from);
	KUNIT_EXPECT_LE(test, hwheel_expires(&p[n].timer), p[n].to);
}

static void test_quiet(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, 10);
	unsigned int i;

	msleep(300);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), 0);

	for (i = 0; i < 10; i++)
		hwt_probe_add(&p[i], 100 * MS * (i + 1));
	hwt_expect_once(test, p, 10);
	msleep(200);
	/*
	 * If the host sleeps, two interrupts may become one. If a run ends while
	 * another CPU adds a level, one idle interrupt may follow.
	 */
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts"),
			10 + hwheel_count(wheel, "idle_interrupts"));
	if (hwt_days)
		KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), 10);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "idle_interrupts"), num_online_cpus() > 1);
}

static void test_quiet_cancelled(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, 4);
	u64 interrupts, idle;

	hwt_levels_made(test, &p[3], 10 * MS);
	interrupts = hwheel_count(wheel, "interrupts");
	idle = hwheel_count(wheel, "idle_interrupts");

	/* Cancel the earlier of two timers. Then cancel the only timer. */
	hwt_hold();
	hwt_probe_add(&p[0], 20 * MS);
	hwt_probe_add(&p[1], 60 * MS);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(&p[0].timer));
	hwt_unhold();
	hwt_expect_once(test, &p[1], 1);
	idle = hwheel_count(wheel, "idle_interrupts") - idle;
	KUNIT_EXPECT_LE(test, idle, 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), interrupts + 1 + idle);

	interrupts = hwheel_count(wheel, "interrupts");
	idle = hwheel_count(wheel, "idle_interrupts");
	hwt_probe_add(&p[2], 300 * MS);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(&p[2].timer));
	msleep(600);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts"), interrupts + 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts") - interrupts,
			hwheel_count(wheel, "idle_interrupts") - idle);
	KUNIT_EXPECT_EQ(test, runs(&p[0]) + runs(&p[2]), 0);
}

/* A timeout that is re-armed all the time causes at most one interrupt per delay. */
static void test_quiet_put_off(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	ktime_t start = ktime_get(), end;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		hwheel_add(&p->timer, SECS(100));
		usleep_range(900, 1000);
	}
	end = ktime_get();
	if (end - start > SECS(99))
		kunit_skip(test, "the host is too slow");
	KUNIT_EXPECT_EQ(test, runs(p), 0);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "interrupts"), 0);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "rearmed"), 99);
}

/* Spend more than any budget. */
static void act_spend(struct probe *p)
{
	hwt_busy(5 * MS);
}

/* After a long callback, the next interrupt is the one for the next timer. */
static void test_quiet_spent(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, 3);
	u64 interrupts, idle;

	hwt_levels_made(test, p, 10 * MS);
	interrupts = hwheel_count(wheel, "interrupts");
	idle = hwheel_count(wheel, "idle_interrupts");
	p[1].act = act_spend;
	hwt_hold();
	hwt_probe_add(&p[1], 10 * MS);
	hwt_probe_add(&p[2], 100 * MS);
	hwt_unhold();
	hwt_expect_once(test, p + 1, 2);
	KUNIT_EXPECT_LE(test, hwheel_count(wheel, "interrupts"), interrupts + 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "idle_interrupts"), idle);
}

/*
 * A busy wheel with a gap takes one interrupt in each gap. Its timers are late by at most
 * tick + gap. If no callback has run for a gap, the next timer is late by at most a tick.
 */
static void test_gap(struct kunit *test)
{
	const unsigned int n = 200, alone = 5;
	const ktime_t tick = MS / 10, gap = 5 * MS;
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = tick, .gap_ns = gap });
	struct probe *busy = hwt_probes_new(test, wheel, tick + gap, n);
	struct probe *lone = hwt_probes_new(test, wheel, tick, alone + 1);
	u64 interrupts, moderated, overruns;
	unsigned int i;
	ktime_t base;

	hwt_levels_made(test, &lone[alone], 300 * MS);
	msleep(20);
	interrupts = hwheel_count(wheel, "interrupts");
	hwt_hold();
	base = hwheel_now(wheel) + 20 * MS;
	for (i = 0; i < n; i++)
		hwt_probe_add_at(&busy[i], base + i * MS, 0);
	hwt_unhold();
	hwt_expect_once(test, busy, n);
	interrupts = hwheel_count(wheel, "interrupts") - interrupts;
	moderated = hwheel_count(wheel, "moderated");
	/* On a slow machine each run may use up its budget. Then breaks keep the runs apart. */
	overruns = hwheel_count(wheel, "budget_overruns");
	KUNIT_EXPECT_LE(test, interrupts, n / 5 + 1 + overruns);
	if (interrupts > 1)	/* else the host held the guest up until all were due */
		KUNIT_EXPECT_GT(test, moderated + overruns, 0);
	KUNIT_EXPECT_LE(test, moderated, interrupts);
	if (hwt_days) {
		KUNIT_EXPECT_EQ(test, interrupts, n / 5 + 1);
		KUNIT_EXPECT_EQ(test, moderated, n / 5);
	}

	for (i = 0; i < alone; i++) {
		msleep(20);
		hwt_probe_add(&lone[i], MS);
		hwt_expect_once(test, &lone[i], 1);
	}
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "moderated"), moderated);
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_interrupts, context,			\
		  KUNIT_CASE(test_order),			\
		  KUNIT_CASE(test_slack_meets),			\
		  KUNIT_CASE(test_quiet),			\
		  KUNIT_CASE(test_quiet_cancelled),		\
		  KUNIT_CASE(test_quiet_put_off),		\
		  KUNIT_CASE(test_quiet_spent),			\
		  KUNIT_CASE(test_gap),				\
		  ##__VA_ARGS__)

SUITE(softirq);
SUITE(hardirq);
SUITE(work);

kunit_test_suites(&hwheel_interrupts_softirq,
		  &hwheel_interrupts_hardirq,
		  &hwheel_interrupts_work);
