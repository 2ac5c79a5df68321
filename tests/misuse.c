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

/* A timer whose wheel was destroyed can be cancelled, but not armed. */
static void expect_gone(struct kunit *test, struct probe *p)
{
	unsigned int i;

	for (i = 0; i < ARMS; i++) {
		hwt_probe_arm(p, i, MS);
		KUNIT_EXPECT_FALSE_MSG(test, hwheel_pending(&p->timer), "how %u", i);
	}
	KUNIT_EXPECT_FALSE(test, hwheel_cancel(&p->timer));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&p->timer), 0);
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(&p->timer));
	KUNIT_EXPECT_FALSE(test, hwheel_shutdown(&p->timer));
	KUNIT_EXPECT_FALSE(test, hwheel_shutdown_sync(&p->timer));
}

static void test_gone(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS), *heir;
	struct probe *p = hwt_probes_new(test, wheel, MS, 2), *q;

	hwt_probe_add(&p[0], HOUR);
	hwheel_cancel(&p[0].timer);
	hwt_wheel_destroy(test);
	hwt_expect_begin();
	expect_gone(test, &p[0]);
	hwt_expect_end();
	hwt_expect_warned(test, "armed, and its wheel is gone", "callback hwt_probe_run");

	/* A new wheel uses the memory of the destroyed one. */
	heir = hwt_wheel_new(test, MS);
	KUNIT_EXPECT_PTR_EQ(test, heir, wheel);
	q = hwt_probe_new(test, heir, MS);
	hwt_probe_add(q, 100 * MS);
	hwt_expect_begin();
	expect_gone(test, &p[1]);
	hwt_expect_end();
	hwt_expect_once(test, q, 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(heir, "added"), 1);
	KUNIT_EXPECT_EQ(test, runs(&p[0]) + runs(&p[1]), 0);

	hwt_probe_setup(&p[1], heir, MS);
	hwt_probe_add(&p[1], MS);
	hwt_expect_once(test, &p[1], 1);
}

/* Calls with NULL instead of a timer or a wheel */
static void test_null(struct kunit *test)
{
	unsigned int i, warned = 0;

	hwt_expect_begin();
	for (i = 0; i < 2; i++) {
		if (i)
			warned = hwt_logged("hwheel: ", "NULL");
		KUNIT_EXPECT_FALSE(test, hwheel_add(NULL, MS));
		KUNIT_EXPECT_FALSE(test, hwheel_add_range(NULL, MS, MS));
		KUNIT_EXPECT_FALSE(test, hwheel_add_at(NULL, 0, 0));
		KUNIT_EXPECT_FALSE(test, hwheel_add_on(NULL, MS, 0));
		KUNIT_EXPECT_FALSE(test, hwheel_add_on(NULL, MS, -1));
		KUNIT_EXPECT_FALSE(test, hwheel_mod_pending(NULL, MS));
		KUNIT_EXPECT_FALSE(test, hwheel_reduce(NULL, MS));
		KUNIT_EXPECT_EQ(test, hwheel_add_forward(NULL, MS), 0);
		KUNIT_EXPECT_EQ(test, hwheel_add_forward(NULL, -1), 0);
		KUNIT_EXPECT_FALSE(test, hwheel_cancel(NULL));
		KUNIT_EXPECT_EQ(test, hwheel_try_cancel(NULL), 0);
		KUNIT_EXPECT_FALSE(test, hwheel_cancel_sync(NULL));
		KUNIT_EXPECT_FALSE(test, hwheel_shutdown(NULL));
		KUNIT_EXPECT_FALSE(test, hwheel_shutdown_sync(NULL));
		KUNIT_EXPECT_FALSE(test, hwheel_pending(NULL));
		KUNIT_EXPECT_EQ(test, hwheel_expires(NULL), 0);
		KUNIT_EXPECT_EQ(test, hwheel_remaining(NULL), 0);
		hwheel_setup(NULL, hwt_suite_wheel, hwt_probe_run, 0);
		hwheel_setup_on_stack(NULL, hwt_suite_wheel, hwt_probe_run, 0);
		hwheel_destroy_on_stack(NULL);
		hwheel_destroy(NULL);
		KUNIT_EXPECT_FALSE(test, hwheel_running(NULL));
		hwheel_synchronize(NULL);
		KUNIT_EXPECT_GT(test, hwheel_now(NULL), 0);
		KUNIT_EXPECT_EQ(test, hwheel_count(NULL, "added"), U64_MAX);
		KUNIT_EXPECT_EQ(test, hwheel_count(hwt_suite_wheel, NULL), U64_MAX);
	}
	hwt_expect_end();
	/* The second time there was no warning */
	KUNIT_EXPECT_EQ(test, hwt_logged("hwheel: ", "NULL"), warned);
	hwt_expect_warned(test, "used a timer that is NULL", "hwheel_add");
	hwt_expect_warned(test, "set up a timer that is NULL", NULL);
	hwt_expect_warned(test, "asked for the time of wheel", "test_null");
	hwt_expect_warned(test, "waits for the callbacks of wheel", "test_null");
}

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

/* A faulty callback must not harm other timers that are due at the same tick. */
static void expect_odd_harmless(struct kunit *test, void (*act)(struct probe *p))
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 5);
	unsigned int i;
	ktime_t due;

	hwt_expect_begin();
	hwt_hold();
	due = hwheel_now(p->wheel) + 20 * MS;
	for (i = 0; i < 5; i++)
		hwt_probe_add_at(&p[i], due, 0);
	p[2].act = act;
	hwt_unhold();
	hwt_expect_once(test, p, 5);
	/* hwheel warns after the callback has returned, so wait for that. */
	for (i = 0; i < 5; i++)
		hwheel_cancel_sync(&p[i].timer);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	hwt_expect_end();
	KUNIT_EXPECT_EQ(test, hwt_logged("sleeping function called from invalid context", NULL), 0);
}

static void act_preempt_off(struct probe *p)
{
	preempt_disable();
}

static void test_odd_preemption(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "the kernel has no preempt_count");
	expect_odd_harmless(test, act_preempt_off);
	hwt_expect_warned(test, "returned with preempt_count", "callback hwt_probe_run");
}

/* raw_: lockdep must not see the fault, or it would switch itself off. */
static void act_irqs_switched(struct probe *p)
{
	if (hwt_suite_context == HWHEEL_HARDIRQ)
		raw_local_irq_enable();
	else
		raw_local_irq_disable();
}

static void test_odd_interrupts(struct kunit *test)
{
	if (hwt_suite_context == HWHEEL_HARDIRQ && IS_ENABLED(CONFIG_TRACE_IRQFLAGS))
		kunit_skip(test, "lockdep would switch itself off");
	expect_odd_harmless(test, act_irqs_switched);
	hwt_expect_warned(test, hwt_suite_context == HWHEEL_HARDIRQ ? "has switched interrupts on" :
								 "has switched interrupts off",
			  "callback hwt_probe_run");
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
	KUNIT_EXPECT_EQ(test, hwheel_add_forward(&p->timer, SECS(1)), 0);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
	KUNIT_EXPECT_EQ(test, hwheel_remaining(&p->timer), 0);
	KUNIT_EXPECT_EQ(test, runs(p), 0);
}

static void test_not_set_up(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_suite_wheel, SUITE_TICK_NS);

	hwt_expect_begin();
	memset(&p->timer, 0, sizeof(p->timer));
	expect_unusable(test, p);
	hwheel_setup(&p->timer, NULL, hwt_probe_run, 0);
	expect_unusable(test, p);
	hwheel_setup(&p->timer, ERR_PTR(-ENOMEM), hwt_probe_run, 0);
	expect_unusable(test, p);
	hwheel_setup(&p->timer, hwt_suite_wheel, NULL, 0);
	expect_unusable(test, p);
	/* Flags that do not exist, and one of a wheel */
	hwheel_setup(&p->timer, hwt_suite_wheel, hwt_probe_run, BIT(31));
	hwheel_setup(&p->timer, hwt_suite_wheel, hwt_probe_run, HWHEEL_PINNED | HWHEEL_DEFERRABLE);
	KUNIT_EXPECT_FALSE(test, hwheel_add(&p->timer, HOUR));
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(&p->timer));
	hwt_expect_end();
	hwt_expect_warned(test, "only HWHEEL_PINNED counts", "callback hwt_probe_run");
	hwt_expect_warned(test, "used before hwheel_setup()", "callback");
	hwt_expect_warned(test, "timer set up with wheel", "callback hwt_probe_run");

	hwheel_setup(&p->timer, hwt_suite_wheel, hwt_probe_run, 0);
	hwt_probe_add(p, MS);
	hwt_expect_once(test, p, 1);
}

static atomic_t work_runs;

static void misused_work(struct work_struct *work)
{
	atomic_inc(&work_runs);
}

static noinline void expect_work_unusable(struct kunit *test, struct hwheel_delayed_work *dwork)
{
	KUNIT_EXPECT_FALSE(test, hwheel_queue_delayed_work(system_dfl_wq, dwork, 0));
	KUNIT_EXPECT_FALSE(test, hwheel_queue_delayed_work_on(0, system_dfl_wq, dwork, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_queue_delayed_work_range(system_dfl_wq, dwork, MS, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_mod_delayed_work(system_dfl_wq, dwork, 0));
	KUNIT_EXPECT_FALSE(test, hwheel_mod_delayed_work_on(0, system_dfl_wq, dwork, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_mod_delayed_work_range(system_dfl_wq, dwork, MS, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_delayed_work(dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_delayed_work_sync(dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_flush_delayed_work(dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_disable_delayed_work(dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_disable_delayed_work_sync(dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_enable_delayed_work(dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_delayed_work_pending(dwork));
}

static struct hwheel_delayed_work *itself;
static int itself_ret;

static void wait_for_itself(struct work_struct *work)
{
	hwt_expect_begin();
	hwheel_queue_delayed_work(system_dfl_wq, itself, HOUR);
	itself_ret = hwheel_cancel_delayed_work_sync(itself);
	itself_ret += !hwheel_flush_delayed_work(itself);
	itself_ret += !hwheel_disable_delayed_work_sync(itself);
	itself_ret += !hwheel_queue_delayed_work(system_dfl_wq, itself, 0);
	itself_ret += hwheel_enable_delayed_work(itself);
	hwt_expect_end();
	atomic_inc(&work_runs);
}

static void test_delayed_work(struct kunit *test)
{
	struct hwheel_delayed_work *dwork = kunit_kzalloc(test, sizeof(*dwork), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dwork);
	atomic_set(&work_runs, 0);
	hwt_expect_begin();
	expect_work_unusable(test, NULL);
	expect_work_unusable(test, dwork);
	hwt_expect_end();
	hwt_expect_warned(test, "used delayed work that is NULL or was never set up",
			  "expect_work_unusable");

	HWHEEL_INIT_DELAYED_WORK(dwork, hwt_suite_wheel, misused_work);
	hwt_expect_begin();
	KUNIT_EXPECT_FALSE(test, hwheel_queue_delayed_work(NULL, dwork, 0));
	KUNIT_EXPECT_FALSE(test, hwheel_mod_delayed_work(NULL, dwork, MS));
	KUNIT_EXPECT_TRUE(test, hwheel_enable_delayed_work(dwork));
	KUNIT_EXPECT_TRUE(test, hwheel_queue_delayed_work_on(-2, system_dfl_wq, dwork, MS));
	wait_for(test, atomic_read(&work_runs) == 1);
	KUNIT_EXPECT_FALSE(test, hwheel_mod_delayed_work_on(INT_MAX, system_dfl_wq, dwork, 0));
	wait_for(test, atomic_read(&work_runs) == 2);
	hwt_expect_end();
	hwt_expect_warned(test, "queued on no workqueue", "function misused_work");
	hwt_expect_warned(test, "enabled, and was not disabled", "function misused_work");
	hwt_expect_warned(test, "queued on CPU -2, which can not be", "function misused_work");

	HWHEEL_INIT_DELAYED_WORK(dwork, hwt_suite_wheel, wait_for_itself);
	itself = dwork;
	hwheel_queue_delayed_work(system_dfl_wq, dwork, MS);
	wait_for(test, atomic_read(&work_runs) == 3);
	hwheel_cancel_delayed_work_sync(dwork);
	KUNIT_EXPECT_EQ(test, itself_ret, 5);
	hwt_expect_warned(test, "waits for itself", "function wait_for_itself");
}

static void act_sleep_on_own_wheel(struct probe *p)
{
	hwt_expect_begin();
	set_current_state(TASK_UNINTERRUPTIBLE);
	p->ret = hwheel_schedule_hrtimeout(p->wheel, MS, 0);
	hwt_expect_end();
}

static void test_sleeping(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	ktime_t from = ktime_get();

	hwt_expect_begin();
	set_current_state(TASK_UNINTERRUPTIBLE);
	KUNIT_EXPECT_EQ(test, hwheel_schedule_hrtimeout(NULL, 3 * MS, 0), 0);
	KUNIT_EXPECT_GE(test, ktime_get(), from + 3 * MS);
	hwt_expect_end();
	hwt_expect_warned(test, "sleeps on wheel", "test_sleeping");
	if (hwt_suite_context != HWHEEL_WORK)
		return;
	p->act = act_sleep_on_own_wheel;
	p->ret = -1;
	hwt_probe_add(p, MS);
	hwt_expect_once(test, p, 1);
	wait_for(test, !READ_ONCE(p->ret));
	hwt_expect_warned(test, "in one of its callbacks", "act_sleep_on_own_wheel");
}

/*
 * The cases of all contexts. A macro, because each suite needs an array of its own.
 * debugobjects reports five mistakes at most, so its own cases come first.
 */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_misuse, context,			\
		  __VA_ARGS__,					\
		  KUNIT_CASE(test_null),			\
		  KUNIT_CASE(test_set_up_pending),		\
		  KUNIT_CASE(test_odd_preemption),		\
		  KUNIT_CASE(test_odd_interrupts),		\
		  KUNIT_CASE(test_not_set_up),			\
		  KUNIT_CASE(test_delayed_work),		\
		  KUNIT_CASE(test_sleeping))

SUITE(softirq, KUNIT_CASE(test_debug_garbage), KUNIT_CASE(test_debug_freed), KUNIT_CASE(test_gone));
SUITE(hardirq, KUNIT_CASE(test_gone));
SUITE(work, KUNIT_CASE(test_gone));

kunit_test_suites(&hwheel_misuse_softirq, &hwheel_misuse_hardirq, &hwheel_misuse_work);
