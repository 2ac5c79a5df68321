// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_delayed_*: delayed work. A suite is named after the context of the callbacks
 * that queue the work items. The functions of the work items always run in a worker.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "module/compat.h"
#include "test.h"

#define ITEMS	8

struct item {
	struct hwheel_delayed_work	dwork;
	struct workqueue_struct		*wq;
	void				(*act)(struct item *item);
	struct completion		go;
	struct item			*other;
	ktime_t				began;
	atomic_t			runs;
	bool				ended;
	int				cpu;
	int				ret;
	u64				n;
};

/* The items and the workqueue of a test. item_exit() frees them. */
static struct item *items;
static struct workqueue_struct *item_wq;

static void item_run(struct work_struct *work)
{
	struct item *item = container_of(to_hwheel_delayed_work(work), struct item, dwork);

	WRITE_ONCE(item->began, ktime_get());
	item->cpu = raw_smp_processor_id();
	WRITE_ONCE(item->ended, false);
	atomic_inc(&item->runs);
	if (item->act)
		item->act(item);
	WRITE_ONCE(item->ended, true);
}

static struct workqueue_struct *make_wq(unsigned int kind)
{
	switch (kind) {
	case 0:
		return alloc_ordered_workqueue("kunit-ordered", 0);
	case 1:
		return alloc_workqueue("kunit-unbound", WQ_UNBOUND, 0);
	default:
		return alloc_workqueue("kunit-reclaim", WQ_UNBOUND | WQ_MEM_RECLAIM, 1);
	}
}

static int item_init_on(struct hwheel *wheel)
{
	unsigned int i;

	items = kcalloc(ITEMS, sizeof(*items), GFP_KERNEL);
	item_wq = make_wq(0);
	if (!items || !item_wq)
		return -ENOMEM;
	for (i = 0; i < ITEMS; i++) {
		HWHEEL_INIT_DELAYED_WORK(&items[i].dwork, wheel, item_run);
		init_completion(&items[i].go);
		items[i].wq = item_wq;
	}
	return 0;
}

static int item_init(struct kunit *test)
{
	return hwt_init(test) ?: item_init_on(hwt_suite_wheel);
}

static void item_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; items && i < ITEMS; i++) {
		complete_all(&items[i].go);
		hwheel_cancel_delayed_work_sync(&items[i].dwork);
	}
	if (item_wq)
		destroy_workqueue(item_wq);
	kfree(items);
	items = NULL;
	item_wq = NULL;
	hwt_exit(test);
}

static bool queue(struct item *item, ktime_t delay)
{
	return hwheel_queue_delayed_work(item->wq, &item->dwork, delay);
}

static bool mod(struct item *item, ktime_t delay)
{
	return hwheel_mod_delayed_work(item->wq, &item->dwork, delay);
}

static bool cancel(struct item *item)
{
	return hwheel_cancel_delayed_work(&item->dwork);
}

static bool pending(struct item *item)
{
	return hwheel_delayed_work_pending(&item->dwork);
}

/* @item was queued with @delay, at @from or later: wait until it has run @n times. */
static void expect_run(struct kunit *test, struct item *item, int n, ktime_t from, ktime_t delay)
{
	wait_for(test, atomic_read(&item->runs) >= n && READ_ONCE(item->ended));
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), n);
	from += max(delay, 0LL);
	KUNIT_EXPECT_GE(test, item->began, from);
	if (hwt_days)
		KUNIT_EXPECT_LT(test, item->began, from + 2 * (s64)SYSTEM_TICK_NS);
}

/* The item was cancelled: it must not run again. */
static void expect_idle(struct kunit *test, struct item *item, int n)
{
	KUNIT_EXPECT_FALSE(test, pending(item));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&item->dwork.timer));
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), n);
	KUNIT_EXPECT_FALSE(test, pending(item));
}

static void act_wait(struct item *item)
{
	wait_for_completion(&item->go);
}

/* Let the workqueue run @blocker, which waits. So other items stay on the workqueue. */
static void block(struct kunit *test, struct item *blocker)
{
	int n = atomic_read(&blocker->runs);

	reinit_completion(&blocker->go);
	blocker->act = act_wait;
	KUNIT_EXPECT_TRUE(test, queue(blocker, 0));
	wait_for(test, atomic_read(&blocker->runs) > n);
}

static void test_queue(struct kunit *test)
{
	static const ktime_t delays[] = { 1, 3 * MS, 150 * MS, 0, -HOUR };
	unsigned int kind, i;

	for (kind = 0; kind < 4; kind++) {
		struct item *item = &items[kind];

		item->wq = kind < 3 ? make_wq(kind) : system_highpri_wq;
		KUNIT_ASSERT_NOT_NULL(test, item->wq);
		for (i = 0; i < ARRAY_SIZE(delays); i++) {
			ktime_t from = ktime_get();

			KUNIT_EXPECT_TRUE(test, queue(item, delays[i]));
			expect_run(test, item, i + 1, from, delays[i]);
			KUNIT_EXPECT_FALSE(test, pending(item));
		}
		hwheel_cancel_delayed_work_sync(&item->dwork);
		if (kind < 3)
			destroy_workqueue(item->wq);
	}
}

/* While its timer is armed, or it is on a workqueue, an item can't be queued again. */
static void test_queue_pending(struct kunit *test)
{
	struct item *item = &items[0];
	ktime_t from;

	KUNIT_EXPECT_FALSE(test, pending(item));
	KUNIT_EXPECT_TRUE(test, queue(item, HOUR));
	KUNIT_EXPECT_TRUE(test, pending(item));
	KUNIT_EXPECT_FALSE(test, queue(item, 0));
	KUNIT_EXPECT_FALSE(test, queue(item, MS));
	KUNIT_EXPECT_TRUE(test, pending(item));
	from = ktime_get();
	KUNIT_EXPECT_TRUE(test, mod(item, 50 * MS));
	expect_run(test, item, 1, from, 50 * MS);

	block(test, &items[1]);
	KUNIT_EXPECT_TRUE(test, queue(item, MS));
	wait_for(test, work_pending(&item->dwork.work));
	KUNIT_EXPECT_TRUE(test, pending(item));
	KUNIT_EXPECT_FALSE(test, queue(item, 0));
	KUNIT_EXPECT_FALSE(test, queue(item, MS));
	from = ktime_get();
	complete(&items[1].go);
	expect_run(test, item, 2, from, 0);
	expect_idle(test, item, 2);
}

static void act_queue_again(struct item *item)
{
	if (item->n) {
		item->n--;
		item->ret += !pending(item);
		item->ret += queue(item, item->n % 2 ? MS : 0);
		item->ret += pending(item);
		item->ret += !queue(item, MS);
	}
}

static void test_queue_itself(struct kunit *test)
{
	struct item *item = &items[0];

	item->n = 10;
	item->act = act_queue_again;
	queue(item, MS);
	wait_for(test, atomic_read(&item->runs) == 11);
	expect_idle(test, item, 11);
	KUNIT_EXPECT_EQ(test, item->ret, 40);
}

static void test_mod(struct kunit *test)
{
	struct item *item = &items[0];
	ktime_t from = ktime_get();

	/* Idle */
	KUNIT_EXPECT_FALSE(test, mod(item, 5 * MS));
	expect_run(test, item, 1, from, 5 * MS);

	/* Armed: earlier, later, at once */
	KUNIT_EXPECT_TRUE(test, queue(item, HOUR));
	KUNIT_EXPECT_TRUE(test, mod(item, HOUR / 2));
	KUNIT_EXPECT_TRUE(test, mod(item, 2 * HOUR));
	KUNIT_EXPECT_TRUE(test, pending(item));
	from = ktime_get();
	KUNIT_EXPECT_TRUE(test, mod(item, 60 * MS));
	expect_run(test, item, 2, from, 60 * MS);
	KUNIT_EXPECT_TRUE(test, queue(item, HOUR));
	from = ktime_get();
	KUNIT_EXPECT_TRUE(test, mod(item, 0));
	expect_run(test, item, 3, from, 0);

	/* On the workqueue: mod() takes the item off */
	block(test, &items[1]);
	KUNIT_EXPECT_TRUE(test, queue(item, 0));
	KUNIT_EXPECT_TRUE(test, work_pending(&item->dwork.work));
	KUNIT_EXPECT_TRUE(test, mod(item, HOUR));
	KUNIT_EXPECT_FALSE(test, work_pending(&item->dwork.work));
	KUNIT_EXPECT_TRUE(test, pending(item));
	from = ktime_get();
	KUNIT_EXPECT_TRUE(test, mod(item, 100 * MS));
	complete(&items[1].go);
	expect_run(test, item, 4, from, 100 * MS);

	/* Running */
	item->act = act_wait;
	queue(item, 0);
	wait_for(test, atomic_read(&item->runs) == 5);
	KUNIT_EXPECT_FALSE(test, pending(item));
	KUNIT_EXPECT_FALSE(test, mod(item, HOUR));
	KUNIT_EXPECT_TRUE(test, mod(item, MS));
	complete_all(&item->go);
	wait_for(test, atomic_read(&item->runs) == 6);
	expect_idle(test, item, 6);
}

static void test_cancel(struct kunit *test)
{
	struct item *item = &items[0];

	KUNIT_EXPECT_FALSE(test, cancel(item));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel_delayed_work_sync(&item->dwork));

	queue(item, HOUR);
	KUNIT_EXPECT_TRUE(test, cancel(item));
	KUNIT_EXPECT_FALSE(test, cancel(item));
	expect_idle(test, item, 0);
	queue(item, HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel_delayed_work_sync(&item->dwork));
	expect_idle(test, item, 0);

	block(test, &items[1]);
	queue(item, 0);
	KUNIT_EXPECT_TRUE(test, cancel(item));
	queue(item, 0);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel_delayed_work_sync(&item->dwork));
	complete(&items[1].go);
	expect_idle(test, item, 0);

	item->act = act_wait;
	queue(item, 0);
	wait_for(test, atomic_read(&item->runs) == 1);
	KUNIT_EXPECT_FALSE(test, cancel(item));
	KUNIT_EXPECT_TRUE(test, queue(item, MS));
	KUNIT_EXPECT_TRUE(test, cancel(item));
	complete_all(&item->go);
	expect_idle(test, item, 1);
	queue(item, MS);
	wait_for(test, atomic_read(&item->runs) == 2);
}

static void act_slow_again(struct item *item)
{
	queue(item, item->n);
	usleep_range(500, 1000);
	queue(item, item->n);
	mod(item, item->n);
}

/* The function queues itself all the time. After cancel_sync it must never run. */
static void test_cancel_sync(struct kunit *test)
{
	static const ktime_t delays[] = { 0, 1, MS / 2, 2 * MS };
	struct item *item = &items[0];
	unsigned int i;
	int n;

	item->act = act_slow_again;
	for (i = 0; i < 3 * ARRAY_SIZE(delays); i++) {
		n = atomic_read(&item->runs) + i % 3;
		item->n = delays[i / 3];
		queue(item, item->n);
		wait_for(test, atomic_read(&item->runs) > n);
		switch (i % 3) {
		case 0:
			hwheel_cancel_delayed_work_sync(&item->dwork);
			break;
		case 1:
			hwheel_disable_delayed_work_sync(&item->dwork);
			break;
		default:
			/* No new run begins. A run that has begun may go on. */
			hwheel_disable_delayed_work(&item->dwork);
			flush_work(&item->dwork.work);
			break;
		}
		KUNIT_EXPECT_TRUE(test, item->ended);
		expect_idle(test, item, atomic_read(&item->runs));
		if (i % 3)
			KUNIT_EXPECT_TRUE(test, hwheel_enable_delayed_work(&item->dwork));
	}
}

static void act_wait_50_ms(struct item *item)
{
	msleep(50);
}

static void test_flush(struct kunit *test)
{
	struct item *item = &items[0];

	KUNIT_EXPECT_FALSE(test, hwheel_flush_delayed_work(&item->dwork));
	item->act = act_wait_50_ms;
	queue(item, HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_flush_delayed_work(&item->dwork));
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 1);
	KUNIT_EXPECT_TRUE(test, item->ended);
	KUNIT_EXPECT_FALSE(test, pending(item));

	/* On the workqueue; running */
	queue(item, 0);
	hwheel_flush_delayed_work(&item->dwork);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 2);
	KUNIT_EXPECT_TRUE(test, item->ended);
	queue(item, MS);
	wait_for(test, atomic_read(&item->runs) == 3);
	hwheel_flush_delayed_work(&item->dwork);
	KUNIT_EXPECT_TRUE(test, item->ended);
	expect_idle(test, item, 3);
}

static void test_disable(struct kunit *test)
{
	struct item *item = &items[0];
	ktime_t from;

	queue(item, HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_disable_delayed_work(&item->dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_disable_delayed_work_sync(&item->dwork));
	KUNIT_EXPECT_FALSE(test, queue(item, 0));
	KUNIT_EXPECT_FALSE(test, queue(item, MS));
	KUNIT_EXPECT_FALSE(test, mod(item, 0));
	KUNIT_EXPECT_FALSE(test, mod(item, MS));
	KUNIT_EXPECT_FALSE(test, cancel(item));
	KUNIT_EXPECT_FALSE(test, hwheel_flush_delayed_work(&item->dwork));
	KUNIT_EXPECT_FALSE(test, hwheel_enable_delayed_work(&item->dwork));
	KUNIT_EXPECT_FALSE(test, queue(item, MS));
	expect_idle(test, item, 0);
	KUNIT_EXPECT_TRUE(test, hwheel_enable_delayed_work(&item->dwork));
	from = ktime_get();
	KUNIT_EXPECT_TRUE(test, queue(item, MS));
	expect_run(test, item, 1, from, MS);
}

static void act_let_go(struct item *item)
{
	complete(&item->other->go);
}

static void act_wait_for_other(struct item *item)
{
	/* If act_let_go() can't run while this function sleeps, the wait times out */
	item->ret = wait_for_completion_timeout(&item->go, msecs_to_jiffies(20000)) > 0;
}

/* A function that sleeps holds up neither other functions nor timers. */
static void test_sleeps(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_suite_wheel, SUITE_TICK_NS);
	unsigned int i;

	for (i = 0; i < 7; i++) {
		items[i].wq = system_percpu_wq;
		items[i].act = act_wait_for_other;
		queue(&items[i], 5 * MS);
	}
	wait_for(test, atomic_read(&items[6].runs));
	hwt_probe_add(p, 5 * MS);
	hwt_expect_once(test, p, 1);
	for (i = 0; i < 7; i++) {
		items[7].wq = system_percpu_wq;
		items[7].act = act_let_go;
		items[7].other = &items[i];
		queue(&items[7], MS);
		wait_for(test, READ_ONCE(items[i].ended));
		KUNIT_EXPECT_EQ(test, items[i].ret, 1);
		hwheel_flush_delayed_work(&items[7].dwork);
	}
}

static atomic_t freed;

static void free_itself(struct work_struct *work)
{
	kfree(to_hwheel_delayed_work(work));
	atomic_inc(&freed);
}

/* The function frees the delayed work, so hwheel must not touch it after queueing it. */
static void test_free_itself(struct kunit *test)
{
	unsigned int i, n = 500;

	atomic_set(&freed, 0);
	for (i = 0; i < n; i++) {
		struct hwheel_delayed_work *dwork = kzalloc(sizeof(*dwork), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, dwork);
		HWHEEL_INIT_DELAYED_WORK(dwork, hwt_suite_wheel, free_itself);
		if (i % 2)
			hwheel_queue_delayed_work(system_dfl_wq, dwork, i % 16 * (MS / 4));
		else
			hwheel_mod_delayed_work(system_dfl_wq, dwork, i % 16 * (MS / 4));
	}
	wait_for(test, atomic_read(&freed) == n);
	hwheel_synchronize(hwt_suite_wheel);
}

static void test_on_cpu(struct kunit *test)
{
	struct item *item = &items[0];
	int cpu, n = 0;

	item->wq = system_percpu_wq;
	for_each_online_cpu(cpu) {
		KUNIT_EXPECT_TRUE(test, hwheel_queue_delayed_work_on(cpu, item->wq, &item->dwork,
								     MS));
		wait_for(test, atomic_read(&item->runs) == n + 1);
		KUNIT_EXPECT_EQ(test, item->cpu, cpu);
		hwheel_queue_delayed_work_on(cpu, item->wq, &item->dwork, HOUR);
		KUNIT_EXPECT_TRUE(test, hwheel_mod_delayed_work_on(cpu, item->wq, &item->dwork,
								   MS));
		wait_for(test, atomic_read(&item->runs) == n + 2);
		KUNIT_EXPECT_EQ(test, item->cpu, cpu);
		hwheel_queue_delayed_work_on(cpu, item->wq, &item->dwork, HOUR);
		hwheel_flush_delayed_work(&item->dwork);
		KUNIT_EXPECT_EQ(test, item->cpu, cpu);
		n = atomic_read(&item->runs);
	}
}

static void test_slack(struct kunit *test)
{
	ktime_t from = ktime_get(), expires;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct item *item = &items[i];
		ktime_t delay = SECS(100) + i * MS;
		bool ret;

		if (i % 2)
			ret = hwheel_queue_delayed_work_range(item->wq, &item->dwork, delay,
							      SECS(60));
		else
			ret = hwheel_mod_delayed_work_range(item->wq, &item->dwork, delay,
							    SECS(60));
		KUNIT_EXPECT_EQ(test, ret, i % 2);
		expires = hwheel_expires(&item->dwork.timer);
		KUNIT_EXPECT_GE(test, expires, from + SECS(100));
		KUNIT_EXPECT_LE(test, expires, ktime_get() + SECS(161));
		/* With slack, all items expire together */
		KUNIT_EXPECT_EQ(test, expires, hwheel_expires(&items[0].dwork.timer));
	}
	KUNIT_EXPECT_TRUE(test, hwheel_mod_delayed_work_range(items[0].wq, &items[0].dwork, MS,
							      MS));
	expect_run(test, &items[0], 1, from, MS);
}

static void act_from_callback(struct probe *p)
{
	p->ret += queue(&items[0], 2 * MS);
	p->ret += !mod(&items[1], 0);
	p->ret += queue(&items[2], 2 * MS);
	p->ret += cancel(&items[2]);
	p->ret += !queue(&items[0], MS);
	p->ret += pending(&items[0]);
}

/* The calls that do not wait, from a callback and with interrupts off */
static void test_any_context(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_suite_wheel, SUITE_TICK_NS);
	unsigned long flags;

	p->act = act_from_callback;
	hwt_probe_add(p, MS);
	hwt_expect_once(test, p, 1);
	KUNIT_EXPECT_EQ(test, p->ret, 6);
	wait_for(test, atomic_read(&items[0].runs) == 1 && atomic_read(&items[1].runs) == 1);

	local_irq_save(flags);
	act_from_callback(p);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, p->ret, 12);
	wait_for(test, atomic_read(&items[0].runs) == 2 && atomic_read(&items[1].runs) == 2);
	expect_idle(test, &items[2], 0);
}

static struct item *lasting;

static void last(struct work_struct *work)
{
	complete(&lasting->go);
}

static DECLARE_HWHEEL_DELAYED_WORK(declared, last);

static void test_declared(struct kunit *test)
{
	struct hwheel_delayed_work on_stack;
	unsigned int i;

	lasting = &items[0];
	KUNIT_EXPECT_TRUE(test, declared.timer.flags & __HWHEEL_IRQS_OFF);
	KUNIT_EXPECT_FALSE(test, hwheel_delayed_work_pending(&declared));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, hwheel_queue_delayed_work(item_wq, &declared, MS));
		wait_for_completion(&lasting->go);
	}
	hwheel_cancel_delayed_work_sync(&declared);

	HWHEEL_INIT_DELAYED_WORK_ONSTACK(&on_stack, hwt_suite_wheel, last);
	hwheel_queue_delayed_work(item_wq, &on_stack, MS);
	wait_for_completion(&lasting->go);
	hwheel_queue_delayed_work(item_wq, &on_stack, HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel_delayed_work_sync(&on_stack));
	hwheel_destroy_delayed_work_on_stack(&on_stack);
}

/*
 * Several threads use the same items while their timers expire. Each queueing ends in one
 * run or in one cancel that returns true.
 */
static struct {
	atomic_t	queued;
	atomic_t	cancelled;
	atomic_t	ran;
	bool		sync;
} storm;

static void act_storm(struct item *item)
{
	atomic_inc(&storm.ran);
	if (atomic_read(&item->runs) % 4 == 0)
		atomic_add(queue(item, 100000), &storm.queued);
}

static int storm_thread(void *data)
{
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, hwt_seed + (unsigned long)data);
	for (i = 0; !kthread_should_stop(); i++) {
		struct item *item = &items[prandom_u32_state(&rnd) % 3];
		ktime_t delay = prandom_u32_state(&rnd) % 4 ?
				prandom_u32_state(&rnd) % (u32)(2 * MS) : 0;

		switch (prandom_u32_state(&rnd) % 8) {
		case 0 ... 2:
			atomic_add(queue(item, delay), &storm.queued);
			break;
		case 3 ... 4:
			/* While others disable the item, mod() may do nothing */
			if (!storm.sync)
				atomic_add(!mod(item, delay), &storm.queued);
			break;
		case 5:
			atomic_add(cancel(item), &storm.cancelled);
			break;
		case 6:
			if (i % 16 == 0)
				hwheel_flush_delayed_work(&item->dwork);
			break;
		default:
			if (!storm.sync)
				break;
			if (i % 2) {
				atomic_add(hwheel_cancel_delayed_work_sync(&item->dwork),
					   &storm.cancelled);
			} else {
				atomic_add(hwheel_disable_delayed_work(&item->dwork),
					   &storm.cancelled);
				hwheel_enable_delayed_work(&item->dwork);
			}
			break;
		}
		if (i % 8 == 0)
			usleep_range(50, 200);
	}
	return 0;
}

static void run_storm(struct kunit *test, bool sync, unsigned int ms)
{
	struct task_struct *threads[3];
	unsigned long i;

	memset(&storm, 0, sizeof(storm));
	storm.sync = sync;
	for (i = 0; i < ITEMS; i++) {
		items[i].wq = system_dfl_wq;
		items[i].act = act_storm;
	}
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = kthread_run(storm_thread, (void *)(i + 1), "hwheel-storm/%lu", i);
	msleep(ms);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
	for (i = 0; i < ITEMS; i++)
		atomic_add(hwheel_cancel_delayed_work_sync(&items[i].dwork), &storm.cancelled);
	KUNIT_EXPECT_GT(test, atomic_read(&storm.ran), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&storm.cancelled), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&storm.queued),
			atomic_read(&storm.ran) + atomic_read(&storm.cancelled));
	kunit_info(test, "queued %d, ran %d, cancelled %d", atomic_read(&storm.queued),
		   atomic_read(&storm.ran), atomic_read(&storm.cancelled));
}

static void test_storm(struct kunit *test)
{
	run_storm(test, false, 500);
}

static void test_storm_sync(struct kunit *test)
{
	run_storm(test, true, 500);
}

/*
 * This thread is bound to the last CPU. So the timer's callback runs there, while the test can
 * run on another CPU.
 */
static int queue_thread(void *data)
{
	struct item *item = data;

	while (!kthread_should_stop()) {
		if (READ_ONCE(item->ret)) {
			queue(item, 2000);
			WRITE_ONCE(item->ret, 0);
		}
		cond_resched();
	}
	return 0;
}

/* Let the thread queue @item. Its timer expires soon, or has expired. */
static void queue_expiring(struct item *item)
{
	WRITE_ONCE(item->ret, 1);
	while (READ_ONCE(item->ret))
		cond_resched();
	hwt_busy(hwt_random_below(20000));
}

/*
 * A timer expires while mod(), cancel() or cancel_sync() is called. The callback may have begun
 * already. Once mod() has returned, the item must be pending. Once cancel() has returned true,
 * the item may be freed, so nobody may write to it. After cancel_sync, nothing may be
 * running.
 */
static void test_expiring_real_time(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, 1000);
	ktime_t end = ktime_get() + 500 * MS;
	struct item *item = &items[0];
	unsigned int i, early = 0, written = 0, running = 0;
	struct hwheel_delayed_work copy;
	struct task_struct *thread;

	if (hwt_days)
		kunit_skip(test, "loops take no simulated time");
	HWHEEL_INIT_DELAYED_WORK(&item->dwork, wheel, item_run);
	item->wq = system_dfl_wq;
	thread = kthread_create(queue_thread, item, "hwheel-queue");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	kthread_bind(thread, cpumask_last(cpu_online_mask));
	wake_up_process(thread);
	for (i = 0; ktime_get() < end && i < 20000; i++) {
		queue_expiring(item);
		mod(item, HOUR);
		hwt_busy(2000);
		early += !pending(item) || work_pending(&item->dwork.work);
		early += !hwheel_cancel_delayed_work_sync(&item->dwork);

		queue_expiring(item);
		if (cancel(item)) {
			memcpy(&copy, &item->dwork, sizeof(copy));
			hwt_busy(5000);
			written += !!memcmp(&copy, &item->dwork, sizeof(copy));
		}

		queue_expiring(item);
		hwheel_cancel_delayed_work_sync(&item->dwork);
		running += hwheel_running(&item->dwork.timer);
		running += work_busy(&item->dwork.work);
	}
	kthread_stop(thread);
	kunit_info(test, "%u rounds, %d runs", i, atomic_read(&item->runs));
	KUNIT_EXPECT_EQ(test, early, 0);
	KUNIT_EXPECT_EQ(test, written, 0);
	KUNIT_EXPECT_EQ(test, running, 0);
	hwheel_cancel_delayed_work_sync(&item->dwork);
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context)						\
static struct kunit_case hwheel_delayed_##context##_cases[] = {	\
	KUNIT_CASE(test_queue),					\
	KUNIT_CASE(test_queue_pending),				\
	KUNIT_CASE(test_queue_itself),				\
	KUNIT_CASE(test_mod),					\
	KUNIT_CASE(test_cancel),				\
	KUNIT_CASE(test_cancel_sync),				\
	KUNIT_CASE(test_flush),					\
	KUNIT_CASE(test_disable),				\
	KUNIT_CASE(test_sleeps),				\
	KUNIT_CASE(test_free_itself),				\
	KUNIT_CASE(test_on_cpu),				\
	KUNIT_CASE(test_slack),					\
	KUNIT_CASE(test_any_context),				\
	KUNIT_CASE(test_declared),				\
	KUNIT_CASE(test_storm),					\
	KUNIT_CASE(test_storm_sync),				\
	KUNIT_CASE(test_expiring_real_time),				\
	{}							\
};								\
								\
static struct kunit_suite hwheel_delayed_##context = {		\
	.name		= "hwheel_delayed_" #context,		\
	.suite_init	= hwt_begin_##context,			\
	.suite_exit	= hwt_suite_end,			\
	.init		= item_init,				\
	.exit		= item_exit,				\
	.test_cases	= hwheel_delayed_##context##_cases,	\
}

SUITE(softirq);
SUITE(hardirq);
SUITE(work);

kunit_test_suites(&hwheel_delayed_softirq, &hwheel_delayed_hardirq, &hwheel_delayed_work);
