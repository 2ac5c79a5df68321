// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_misuse_*: mistakes of drivers. hwheel must warn of each mistake, and
 * name the callback or the caller. All other timers must expire as usual.
 */
#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "module/compat.h"
#include "test.h"

/*
 * hwheel_setup() of pending timers, which debugobjects finds and cancels. Timers 1 and 3 are due
 * at the same tick as others; 5 and 6 are each due at a tick of their own. Timers 1 and 5 are set
 * up for their own wheel; 3 and 6 for another wheel.
 */
static void test_set_up_pending(struct kunit *test)
{
	struct hwheel *other = hwt_wheel_new(test, 10 * MS);
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 7);
	unsigned int i, ran = 0;
	ktime_t due;

	if (!IS_ENABLED(CONFIG_DEBUG_OBJECTS_TIMERS))
		kunit_skip(test, "needs CONFIG_DEBUG_OBJECTS_TIMERS");
	hwt_expect_begin();
	hwt_hold();
	due = hwheel_now(p->wheel) + 300 * MS;
	for (i = 0; i < 5; i++)
		hwt_probe_add_at(&p[i], due, 0);
	hwt_probe_add_at(&p[5], due + 10 * MS, 0);
	hwt_probe_add_at(&p[6], due + 20 * MS, 0);
	for (i = 1; i < 7; i += 2) {
		hwheel_setup(&p[i].timer, i == 3 ? other : p->wheel, hwt_probe_run, 0);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p[i].timer));
	}
	hwheel_setup(&p[6].timer, other, hwt_probe_run, 0);
	hwt_unhold();
	hwt_expect_end();
	KUNIT_EXPECT_GE(test, hwt_logged("ODEBUG: init active", "probe_run"), 1);

	for (i = 0; i < 6; i += 2)
		hwt_expect_once(test, &p[i], 1);
	for (i = 1; i < 7; i += i < 5 ? 2 : 1)
		ran += runs(&p[i]);
	KUNIT_EXPECT_EQ(test, ran, 0);
	KUNIT_EXPECT_EQ(test, hwheel_count(p->wheel, "cancelled"), 4);
	hwt_probe_add(&p[1], MS);
	hwt_expect_once(test, &p[1], 1);
	hwheel_add(&p[3].timer, MS);
	wait_for(test, runs(&p[3]));
	KUNIT_EXPECT_EQ(test, hwheel_count(other, "expired"), 1);
}

static void test_debug_garbage(struct kunit *test)
{
	struct probe *q;

	if (!IS_ENABLED(CONFIG_DEBUG_OBJECTS_TIMERS))
		kunit_skip(test, "needs CONFIG_DEBUG_OBJECTS_TIMERS");
	q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q);
	memset(&q->timer, 0x5a, sizeof(q->timer));
	hwt_expect_begin();
	KUNIT_EXPECT_FALSE(test, hwheel_add(&q->timer, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&q->timer));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&q->timer));
	hwt_expect_end();
	KUNIT_EXPECT_EQ(test, hwt_logged("ODEBUG: assert_init not available", "hwheel_timer"), 1);
}

static void test_debug_freed(struct kunit *test)
{
	struct probe *p, *q;
	ktime_t due;

	if (!IS_ENABLED(CONFIG_DEBUG_OBJECTS_TIMERS))
		kunit_skip(test, "needs CONFIG_DEBUG_OBJECTS_TIMERS");
	p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 2);
	q = kzalloc(sizeof(*q), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q);
	hwt_probe_setup(q, p->wheel, MS);
	hwt_hold();
	due = hwheel_now(p->wheel) + 300 * MS;
	hwt_probe_add_at(&p[0], due, 0);
	hwheel_add_at(&q->timer, due, 0);
	hwt_probe_add_at(&p[1], due, 0);
	hwt_unhold();
	hwt_expect_begin();
	kfree(q);
	hwt_expect_end();
	KUNIT_EXPECT_EQ(test, hwt_logged("ODEBUG: free active", "probe_run"), 1);
	hwt_expect_once(test, p, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&hwt_probes_run), 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(p->wheel, "cancelled"), 1);
}

static void expect_unusable(struct kunit *test, struct probe *p)
{
	unsigned int op;

	for (op = 0; op < OPS; op++) {
		KUNIT_EXPECT_EQ_MSG(test, hwt_probe_op(p, op), 0, "op %u", op);
		KUNIT_EXPECT_FALSE_MSG(test, hwheel_pending(&p->timer), "op %u", op);
	}
	hwheel_add_forward(&p->timer, SECS(1));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
	KUNIT_EXPECT_EQ(test, runs(p), 0);
}

static void test_not_set_up(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_suite_wheel, SUITE_TICK_NS);

	hwt_expect_begin();
	memset(&p->timer, 0, sizeof(p->timer));
	expect_unusable(test, p);
	hwt_expect_end();
	hwt_expect_warned(test, "used before hwheel_setup()", NULL);

	hwheel_setup(&p->timer, hwt_suite_wheel, hwt_probe_run, 0);
	hwt_probe_add(p, MS);
	hwt_expect_once(test, p, 1);
}

/* Flags and modes that do not exist do not count */
static void test_unknown(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_suite_wheel, SUITE_TICK_NS);

	hwt_expect_begin();
	hwheel_setup(&p->timer, hwt_suite_wheel, hwt_probe_run, HWHEEL_PINNED | BIT(29));
	hwheel_add_mode(&p->timer, HOUR, 0, HWHEEL_MODE_EARLIER | BIT(0));
	hwt_expect_end();
	KUNIT_EXPECT_TRUE(test, hwheel_pending(&p->timer));
	hwt_probe_add(p, MS);
	hwt_expect_once(test, p, 1);
	hwt_expect_warned(test, "set up with flags", "callback hwt_probe_run");
	hwt_expect_warned(test, "there is no such mode", "callback hwt_probe_run");
}

static void misused_work(struct work_struct *work)
{
}

static void test_delayed_work(struct kunit *test)
{
	struct hwheel_delayed_work *dwork = kunit_kzalloc(test, sizeof(*dwork), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dwork);
	HWHEEL_INIT_DELAYED_WORK(dwork, hwt_suite_wheel, misused_work);
	hwt_expect_begin();
	KUNIT_EXPECT_TRUE(test, hwheel_enable_delayed_work(dwork));
	hwt_expect_end();
	hwt_expect_warned(test, "enabled, and was not disabled", "function misused_work");
}

/*
 * The cases of all contexts. A macro, because each suite needs an array of its own.
 * debugobjects reports five mistakes at most, so its own cases come first.
 */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_misuse, context,			\
		  ##__VA_ARGS__,				\
		  KUNIT_CASE(test_set_up_pending),		\
		  KUNIT_CASE(test_not_set_up),			\
		  KUNIT_CASE(test_unknown),			\
		  KUNIT_CASE(test_delayed_work))

SUITE(softirq, KUNIT_CASE(test_debug_garbage), KUNIT_CASE(test_debug_freed));
SUITE(hardirq);
SUITE(work);

kunit_test_suites(&hwheel_misuse_softirq, &hwheel_misuse_hardirq, &hwheel_misuse_work);
