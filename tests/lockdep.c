// SPDX-License-Identifier: GPL-2.0
/*
 * Suite hwheel_lockdep: lockdep must report a task that waits for a callback, or for all
 * callbacks of a wheel, while it holds a lock that the callback takes. The suite runs last,
 * because lockdep switches itself off after a report.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "test.h"

static char *lockdep = "";
module_param(lockdep, charp, 0444);
MODULE_PARM_DESC(lockdep, "deadlock for lockdep to report: a wait for a timer (softirq, hardirq, work) or for a wheel (synchronize, destroy); lockdep then switches itself off");

static DEFINE_SPINLOCK(deadly_softirq);
static DEFINE_RAW_SPINLOCK(deadly_hardirq);
static DEFINE_MUTEX(deadly_work);
static DEFINE_MUTEX(deadly_synchronize);
static DEFINE_MUTEX(deadly_destroy);

/* The lock that the callback takes, in process context */
static struct mutex *deadly_mutex(void)
{
	if (!strcmp(lockdep, "synchronize"))
		return &deadly_synchronize;
	return !strcmp(lockdep, "destroy") ? &deadly_destroy : &deadly_work;
}

static void act_lock(struct probe *p)
{
	switch (hwt_suite_context) {
	case HWHEEL_SOFTIRQ:
		spin_lock(&deadly_softirq);
		spin_unlock(&deadly_softirq);
		break;
	case HWHEEL_HARDIRQ:
		raw_spin_lock(&deadly_hardirq);
		raw_spin_unlock(&deadly_hardirq);
		break;
	case HWHEEL_WORK:
		mutex_lock(deadly_mutex());
		mutex_unlock(deadly_mutex());
		break;
	}
}

static void sync_under_lock(struct kunit *test, struct probe *p)
{
	unsigned long flags;

	switch (hwt_suite_context) {
	case HWHEEL_SOFTIRQ:
		spin_lock_bh(&deadly_softirq);
		hwheel_cancel_sync(&p->timer);
		spin_unlock_bh(&deadly_softirq);
		break;
	case HWHEEL_HARDIRQ:
		raw_spin_lock_irqsave(&deadly_hardirq, flags);
		hwheel_cancel_sync(&p->timer);
		raw_spin_unlock_irqrestore(&deadly_hardirq, flags);
		break;
	case HWHEEL_WORK:
		mutex_lock(deadly_mutex());
		if (!strcmp(lockdep, "synchronize"))
			hwheel_synchronize(p->wheel);
		else if (!strcmp(lockdep, "destroy"))
			hwt_wheel_destroy(test);
		else
			hwheel_cancel_sync(&p->timer);
		mutex_unlock(deadly_mutex());
		break;
	}
}

static void test_sync_under_lock(struct kunit *test)
{
	struct probe *p;

	if (!*lockdep || !IS_ENABLED(CONFIG_PROVE_LOCKING))
		kunit_skip(test, "needs lockdep=context and CONFIG_PROVE_LOCKING");
	p = hwt_probe_new(test, hwt_wheel_new(test, MS), MS);
	p->act = act_lock;
	hwt_probe_add(p, MS);
	hwt_expect_once(test, p, 1);
	KUNIT_EXPECT_EQ(test, hwt_logged("possible circular locking", NULL), 0);
	hwt_expect_begin();
	sync_under_lock(test, p);
	hwt_expect_end();
	hwt_probe_setup(p, hwt_suite_wheel, SUITE_TICK_NS);	/* its wheel may be gone */
	KUNIT_EXPECT_EQ(test, hwt_logged("possible circular locking", NULL), 1);
	KUNIT_EXPECT_GE(test, hwt_logged("deadly", lockdep), 1);
}

static struct kunit_case hwheel_lockdep_cases[] = {
	KUNIT_CASE(test_sync_under_lock),
	{}
};

static int lockdep_begin(struct kunit_suite *suite)
{
	return hwt_suite_begin(suite, !strcmp(lockdep, "hardirq") ? HWHEEL_HARDIRQ :
				      !strcmp(lockdep, "softirq") ? HWHEEL_SOFTIRQ : HWHEEL_WORK);
}

static struct kunit_suite hwheel_lockdep_suite = {
	.name		= "hwheel_lockdep",
	.suite_init	= lockdep_begin,
	.suite_exit	= hwt_suite_end,
	.init		= hwt_init,
	.exit		= hwt_exit,
	.test_cases	= hwheel_lockdep_cases,
};

kunit_test_suite(hwheel_lockdep_suite);
