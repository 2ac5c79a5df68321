// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_contexts_*: arming from each context, and properties of single contexts.
 * The probe's callback asks the kernel in which context it runs.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>

#include "module/compat.h"
#include "test.h"

struct from_hrtimer {
	struct hrtimer		hrtimer;
	struct probe		*p;
	bool			in_hardirq;
	bool			in_softirq;
};

static enum hrtimer_restart arm_from_hrtimer(struct hrtimer *hrtimer)
{
	struct from_hrtimer *from = container_of(hrtimer, struct from_hrtimer, hrtimer);

	from->in_hardirq = in_hardirq();
	from->in_softirq = in_serving_softirq();
	hwt_probe_add(from->p, 2 * MS);
	return HRTIMER_NORESTART;
}

static void act_add_other(struct probe *p)
{
	p->ret = hwt_probe_add(p->other, 2 * MS);
}

static void act_add_once_more(struct probe *p)
{
	p->act = NULL;
	p->ret = hwt_probe_add(p, 2 * MS);
}

static void test_contexts(struct kunit *test)
{
	static struct from_hrtimer hard, soft;
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, 8);
	unsigned long flags;

	hwt_probe_add(&p[0], 2 * MS);

	local_bh_disable();
	hwt_probe_add(&p[1], 2 * MS);
	local_bh_enable();

	local_irq_save(flags);
	hwt_probe_add(&p[2], 2 * MS);
	local_irq_restore(flags);

	hard.p = &p[3];
	hrtimer_setup(&hard.hrtimer, arm_from_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	hrtimer_start(&hard.hrtimer, MS, HRTIMER_MODE_REL_HARD);
	soft.p = &p[4];
	hrtimer_setup(&soft.hrtimer, arm_from_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_start(&soft.hrtimer, MS, HRTIMER_MODE_REL_SOFT);

	p[5].act = act_add_other;
	p[5].other = &p[6];
	hwt_probe_add(&p[5], MS);
	p[7].act = act_add_once_more;
	hwt_probe_add(&p[7], MS);

	wait_for(test, runs(&p[7]) == 2);
	hwt_expect_once(test, p, 7);
	KUNIT_EXPECT_EQ(test, runs(&p[7]), 2);
	KUNIT_EXPECT_TRUE(test, hard.in_hardirq);
	KUNIT_EXPECT_TRUE(test, soft.in_softirq);
	KUNIT_EXPECT_EQ(test, p[5].ret, false);
	KUNIT_EXPECT_EQ(test, p[7].ret, false);
	hrtimer_cancel(&hard.hrtimer);
	hrtimer_cancel(&soft.hrtimer);
}

static enum hrtimer_restart arm_far_from_hrtimer(struct hrtimer *hrtimer)
{
	struct from_hrtimer *from = container_of(hrtimer, struct from_hrtimer, hrtimer);
	unsigned int i;

	from->in_hardirq = in_hardirq();
	for (i = 0; i < from->p->n; i++)
		hwt_probe_add(&from->p[i], i % 2 ? i * 20 * MS : i * MS);
	return HRTIMER_NORESTART;
}

static void test_levels_from_hardirq(struct kunit *test)
{
	static struct from_hrtimer from;
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, 20);

	from.p = p;
	p->n = 20;
	hrtimer_setup(&from.hrtimer, arm_far_from_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	hrtimer_start(&from.hrtimer, MS, HRTIMER_MODE_REL_HARD);
	hwt_expect_once(test, p, 20);
	KUNIT_EXPECT_TRUE(test, from.in_hardirq);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), 20);
	hrtimer_cancel(&from.hrtimer);
}

static void test_softirqs_held_off(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_wheel_new(test, MS), MS);
	unsigned int i, ran;

	local_bh_disable();
	hwt_probe_add(p, MS);
	for (i = 0; i < 100000 && !runs(p); i++)
		hwt_busy(20000);
	ran = runs(p);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, ran, 1);
	hwt_expect_once(test, p, 1);
}

static atomic_t sleeping;

static void act_sleep(struct probe *p)
{
	if (atomic_inc_return(&sleeping) != 1)
		p->fault = "it ran while another callback slept";
	usleep_range(500, 1000);
	atomic_dec(&sleeping);
}

static void test_sleep(struct kunit *test)
{
	const unsigned int n = 60;
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, n);
	unsigned int i;
	ktime_t due;

	hwt_hold();
	due = hwheel_now(p->wheel) + 20 * MS;
	for (i = 0; i < n; i++) {
		p[i].act = act_sleep;
		hwt_probe_add_at(&p[i], due + (n - i) / 3 * MS, 0);
	}
	hwt_unhold();
	hwt_expect_once(test, p, n);
	hwt_expect_order(test, p, n);
}

static atomic_t inner_runs;

static void inner_run(struct hwheel_timer *timer)
{
	atomic_inc(&inner_runs);
}

/* Create a wheel of each context, let a timer on it expire, and destroy the wheel. */
static void act_wheels(struct probe *p)
{
	enum hwheel_context context;

	for (context = HWHEEL_SOFTIRQ; context <= HWHEEL_WORK; context++) {
		struct hwheel_timer timer;
		struct hwheel *wheel;
		unsigned int i;

		wheel = hwheel_create(&(struct hwheel_config){
			.name = "kunit-inner", .context = context });
		if (IS_ERR(wheel)) {
			p->fault = "it could not create a wheel";
			return;
		}
		hwheel_setup_on_stack(&timer, wheel, inner_run, 0);
		hwheel_add(&timer, MS);
		for (i = 0; i < WAIT_MS && atomic_read(&inner_runs) <= p->ret; i++)
			usleep_range(500, 1000);
		hwheel_destroy_on_stack(&timer);
		hwheel_destroy(wheel);
		p->ret++;
	}
}

static void test_wheels_by_callback(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_wheel_new(test, MS), MS);

	atomic_set(&inner_runs, 0);
	p->act = act_wheels;
	hwt_probe_add(p, MS);
	wait_for(test, READ_ONCE(p->ret) == 3);
	hwt_expect_once(test, p, 1);
	KUNIT_EXPECT_EQ(test, p->ret, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&inner_runs), 3);
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_contexts, context,			\
		  KUNIT_CASE(test_contexts),			\
		  KUNIT_CASE(test_levels_from_hardirq),		\
		  ##__VA_ARGS__)

SUITE(softirq);
SUITE(hardirq, KUNIT_CASE(test_softirqs_held_off));
SUITE(work, KUNIT_CASE(test_sleep), KUNIT_CASE(test_wheels_by_callback));

kunit_test_suites(&hwheel_contexts_softirq, &hwheel_contexts_hardirq, &hwheel_contexts_work);
