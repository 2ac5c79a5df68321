// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_cpus_*: the CPU that a callback runs on, and CPUs that go offline and
 * come online. The probe records the CPU on which its callback ran.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "module/compat.h"
#include "test.h"

static struct completion go_on;

/* Arm on the CPU that runs this function; for smp_call_function_single() */
static void call_add_at_0(void *p)
{
	hwt_probe_add_at(p, 0, 0);
}

static void call_add_soon(void *p)
{
	hwt_probe_add(p, 100 * MS);
}

static void call_add_far(void *p)
{
	hwt_probe_add(p, HOUR);
}

static bool probe_add_on(struct probe *p, ktime_t delay, int cpu)
{
	bool ret;

	p->from = hwheel_now(p->wheel) + delay;
	ret = hwheel_add_on(&p->timer, delay, cpu);
	p->to = hwheel_now(p->wheel) + delay;
	return ret;
}

#define SENT		8
#define SENT_US		20	/* time that each callback takes */

static void act_dawdle(struct probe *p)
{
	udelay(SENT_US);
}

static int send_thread(void *data)
{
	struct probe *p = data, *sent = p->other;
	unsigned int i, own;

	for (i = p->n; !kthread_should_stop(); i++) {
		hwheel_add_on(&sent[i / 4 % SENT].timer, 0, i % num_online_cpus());
		/* Keep the lock of the first CPU's base busy */
		for (own = p->n ? 0 : 20; own; own--)
			hwheel_add(&p->timer, HOUR);
		if (!(i % 64))
			cond_resched();
	}
	return 0;
}

/*
 * Up to four CPUs send the same timers to each CPU in turn, while callbacks of these timers
 * run, and while runs wait for a base's lock. Lockdep must report nothing.
 */
static void test_sent_about(struct kunit *test)
{
	struct task_struct *thread[4];
	unsigned int i, n = min_t(unsigned int, num_online_cpus(), ARRAY_SIZE(thread));
	struct hwheel *wheel = hwt_wheel_new(test, 1000);
	struct probe *p = hwt_probes_new(test, wheel, 1000, SENT + n);
	unsigned int ran = 0;
	int cpu;

	if (n == 1)
		kunit_skip(test, "there is only one CPU");
	for (i = 0; i < SENT; i++) {
		p[i].act = act_dawdle;
		p[i].shared = true;
	}
	i = 0;
	for_each_online_cpu(cpu) {
		p[SENT + i].n = i;
		p[SENT + i].other = p;
		thread[i] = kthread_create(send_thread, &p[SENT + i], "hwheel-send");
		if (IS_ERR(thread[i])) {
			KUNIT_FAIL(test, "no thread: %ld", PTR_ERR(thread[i]));
			break;
		}
		kthread_bind(thread[i], cpu);
		wake_up_process(thread[i]);
		if (++i == n)
			break;
	}
	msleep(1000);
	while (i--)
		kthread_stop(thread[i]);
	for (i = 0; i < SENT + n; i++) {
		hwheel_cancel_sync(&p[i].timer);
		ran += runs(&p[i]);
	}
	KUNIT_EXPECT_GT(test, ran, 0);
	KUNIT_EXPECT_GT(test, hwheel_count(wheel, "migrated"), 0);
	hwt_expect_balance(test, wheel);
}

/* The first call re-arms @p if @p->n is set. Else it waits until the test has re-armed @p. */
static void act_armed_meanwhile(struct probe *p)
{
	if (runs(p) > 1)
		return;
	if (p->n) {
		hwheel_add_on(&p->timer, 0, p->ret);
		hwheel_add(&p->timer, 100 * MS);
	} else {
		wait_for_completion(&go_on);
	}
}

/*
 * Re-arming a timer while its callback runs does not move it, unless hwheel_add_on() was
 * the last call that armed it.
 */
static void test_which_cpu_next(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 3);
	int cpu = cpumask_first(cpu_online_mask), other;
	unsigned int i;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is only one CPU");
	other = cpumask_any_but(cpu_online_mask, cpu);
	for (i = 0; i < 3; i++) {
		init_completion(&go_on);
		p[i].act = act_armed_meanwhile;
		p[i].shared = true;
		p[i].n = i == 2;
		p[i].ret = other;
		smp_call_function_single(cpu, call_add_at_0, &p[i], true);
		wait_for(test, runs(&p[i]) == 1);
		KUNIT_EXPECT_EQ(test, p[i].cpu, cpu);
		if (i == 1)
			hwheel_add_on(&p[i].timer, HOUR, cpu);
		if (i < 2)
			smp_call_function_single(other, call_add_soon, &p[i], true);
		if (i == 1)
			hwheel_add_on(&p[i].timer, 0, other);
		complete(&go_on);
		wait_for(test, runs(&p[i]) == 2);
		KUNIT_EXPECT_EQ_MSG(test, p[i].cpu, i == 1 ? other : cpu, "%u", i);
	}
}

static void act_unbound(struct probe *p)
{
	if (strncmp(current->comm, "kworker/u", 9))
		p->fault = "it ran on a worker that is bound to its CPU";
}

static void test_unbound(struct kunit *test)
{
	const unsigned int n = 300;
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.wq = system_dfl_wq });
	struct probe *p = hwt_probes_new(test, wheel, MS, n);
	unsigned int i;

	for (i = 0; i < n; i++) {
		p[i].act = i % 10 ? act_unbound : hwt_act_50_us;
		hwt_probe_add(&p[i], hwt_random_magnitude(300 * MS));
	}
	hwt_expect_once(test, p, n);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), n);
}

static void test_pinned_and_on(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, 4);

	hwheel_setup(&p[0].timer, hwt_suite_wheel, hwt_probe_run, HWHEEL_PINNED);
	hwt_probe_add(&p[0], MS);

	KUNIT_EXPECT_FALSE(test, probe_add_on(&p[1], MS, 0));

	/* If the CPU is not possible, hwheel warns, and arms the timer as hwheel_add() does. */
	hwt_expect_begin();
	KUNIT_EXPECT_FALSE(test, probe_add_on(&p[2], MS, nr_cpu_ids));
	KUNIT_EXPECT_FALSE(test, probe_add_on(&p[3], HOUR, -1));
	KUNIT_EXPECT_TRUE(test, probe_add_on(&p[3], HOUR, INT_MIN));
	KUNIT_EXPECT_TRUE(test, probe_add_on(&p[3], MS, INT_MAX));
	hwt_expect_end();
	hwt_expect_warned(test, "which can not be", "callback hwt_probe_run");
	hwt_expect_once(test, p, 4);
}

static void act_go(struct probe *p)
{
	if (p->cpu != p->n && runs(p) < 2)
		hwheel_add_on(&p->timer, MS, p->n);
}

/* The CPU of the callback, for each way to arm a timer on one CPU from another */
static void test_which_cpu(struct kunit *test)
{
	static const char * const ways[] = {
		"armed there",
		"sent there",
		"pending elsewhere, sent there",
		"pending elsewhere, re-armed there",
		"pinned, pending elsewhere, re-armed there",
		"pinned, has run elsewhere, re-armed there",
		"sends itself there",
		"pinned, sent elsewhere, re-armed there",
	};
	const unsigned int nr = ARRAY_SIZE(ways);
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, nr * nr_cpu_ids), *q;
	unsigned int other, way;
	int cpu;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is only one CPU");
	for_each_online_cpu(cpu) {
		other = cpumask_any_but(cpu_online_mask, cpu);
		q = &p[nr * cpu];
		for (way = 0; way < nr; way++)
			q[way].n = cpu;
		smp_call_function_single(cpu, call_add_soon, &q[0], true);

		for (way = 1; way < 3; way++) {
			if (way == 2)
				smp_call_function_single(other, call_add_far, &q[way], true);
			probe_add_on(&q[way], 100 * MS, cpu);
		}

		smp_call_function_single(other, call_add_far, &q[3], true);
		smp_call_function_single(cpu, call_add_soon, &q[3], true);

		hwheel_setup(&q[4].timer, q->wheel, hwt_probe_run, HWHEEL_PINNED);
		smp_call_function_single(other, call_add_far, &q[4], true);
		smp_call_function_single(cpu, call_add_soon, &q[4], true);

		hwheel_setup(&q[5].timer, q->wheel, hwt_probe_run, HWHEEL_PINNED);
		smp_call_function_single(other, call_add_at_0, &q[5], true);
		wait_for(test, runs(&q[5]) == 1);
		smp_call_function_single(cpu, call_add_soon, &q[5], true);

		q[6].act = act_go;
		q[6].shared = true;
		smp_call_function_single(other, call_add_soon, &q[6], true);

		hwheel_setup(&q[7].timer, q->wheel, hwt_probe_run, HWHEEL_PINNED);
		hwheel_add_on(&q[7].timer, HOUR, other);
		smp_call_function_single(cpu, call_add_soon, &q[7], true);
	}
	for_each_online_cpu(cpu) {
		q = &p[nr * cpu];
		hwt_expect_once(test, q, 5);
		wait_for(test, runs(&q[5]) == 2);
		wait_for(test, runs(&q[6]) == 2);
		hwt_expect_once(test, &q[7], 1);
		for (way = 0; way < nr; way++)
			KUNIT_EXPECT_EQ_MSG(test, q[way].cpu, cpu, "%s", ways[way]);
	}
}

/* The probe that cpu_comes() sends to a CPU that is coming online */
static struct probe *for_coming;

static int cpu_comes(unsigned int cpu)
{
	hwheel_add_on(&for_coming->timer, SECS(1), cpu);
	return 0;
}

/*
 * If a timer is sent to a CPU that is coming online, it stays on the sender's CPU. Otherwise
 * the sender would program the hrtimer of the other CPU's base, and run that base's timers.
 */
static void test_coming_cpu(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, 500 * MS), 500 * MS, 2);
	unsigned int cpu = cpumask_last(cpu_online_mask);
	int state;

	if (!cpu || remove_cpu(cpu))
		kunit_skip(test, "no CPU can go offline here");
	for_coming = &p[0];
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "hwheel_kunit:prepare",
					  cpu_comes, NULL);
	KUNIT_EXPECT_GT(test, state, 0);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	hwheel_add_on(&p[1].timer, hwheel_remaining(&p[0].timer), cpu);
	wait_for(test, runs(&p[0]) && runs(&p[1]));
	KUNIT_EXPECT_NE(test, p[0].cpu, cpu);
	KUNIT_EXPECT_EQ(test, p[1].cpu, cpu);
	if (state > 0)
		cpuhp_remove_state_nocalls(state);
}

/*
 * Send three timers to a CPU: one while the CPU is offline, one when it is online again, and
 * one before it goes offline again. The first one causes no warning. A pinned timer that ran
 * elsewhere meanwhile comes home when it is armed there again, and so does one that is pending.
 */
static void test_offline_cpu(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, 5);
	unsigned int cpu = cpumask_last(cpu_online_mask), i;
	bool gone;

	if (!cpu || remove_cpu(cpu))
		kunit_skip(test, "no CPU can go offline here");
	KUNIT_EXPECT_FALSE(test, cpu_online(cpu));
	for (i = 0; i < 3; i++) {
		probe_add_on(&p[i], (i + 1) * 300 * MS, cpu);
		if (!i)
			KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
		else
			hwt_expect_once(test, p, i);
	}
	KUNIT_EXPECT_NE(test, p[0].cpu, cpu);
	KUNIT_EXPECT_EQ(test, p[1].cpu, cpu);
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	/* On a slow machine the timer may have been due before the CPU was offline */
	gone = hwheel_now(p->wheel) < p[2].from;
	hwt_expect_once(test, &p[2], 1);
	if (gone)
		KUNIT_EXPECT_NE(test, p[2].cpu, cpu);
	hwheel_setup(&p[3].timer, p->wheel, hwt_probe_run, HWHEEL_PINNED);
	probe_add_on(&p[3], 100 * MS, cpu);
	hwt_expect_once(test, &p[3], 1);
	KUNIT_EXPECT_NE(test, p[3].cpu, cpu);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	probe_add_on(&p[4], SECS(5), cpu);
	smp_call_function_single(cpu, call_add_soon, &p[3], true);
	wait_for(test, runs(&p[3]) == 2);
	KUNIT_EXPECT_EQ(test, p[3].cpu, cpu);
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	hwt_expect_once(test, &p[4], 1);
	KUNIT_EXPECT_EQ(test, p[4].cpu, cpu);
}

/* How many of 5 deferrable timers were at most 8 jiffies late, on a busy CPU */
static unsigned int deferrable_on_time(struct kunit *test)
{
	unsigned int i, ran, on_time = 0;
	struct probe *p[5];
	ktime_t give_up;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = hwt_probe_new(test, hwt_wheel_make(test, (struct hwheel_config){
			.flags = HWHEEL_DEFERRABLE }), MS);
		hwt_probe_add(p[i], (520 + 13 * i) * TICK_NSEC + i * MS);
	}
	give_up = ktime_add_ms(ktime_get(), WAIT_MS);
	do {	/* Without a sleep: this CPU stays busy */
		cond_resched();
		for (i = 0, ran = 0; i < ARRAY_SIZE(p); i++)
			ran += runs(p[i]);
	} while (ran < ARRAY_SIZE(p) && ktime_before(ktime_get(), give_up));
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i]->tick_ns = TICK_NSEC;	/* late by less than a jiffy */
		hwt_expect_once(test, p[i], 1);
		on_time += p[i]->began - p[i]->expires <= 8 * TICK_NSEC;
	}
	return on_time;
}

/*
 * On a busy CPU a deferrable wheel is exact to a jiffy. A timer_list timer drives the wheel.
 * With a delay of 512 jiffies or more, timer_list may run its timer 64 jiffies late. So hwheel
 * starts this timer for a part of the delay, and then again for the rest. The test allows 8
 * jiffies. A busy host may make some timers later than that, even in several rounds.
 */
static void test_deferrable(struct kunit *test)
{
	unsigned int round, on_time = 0;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	for (round = 0; round < 5 && on_time < 3; round++)
		on_time = deferrable_on_time(test);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	KUNIT_EXPECT_GE(test, on_time, 3);
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_cpus, context,				\
		  KUNIT_CASE(test_sent_about),			\
		  KUNIT_CASE(test_pinned_and_on),		\
		  KUNIT_CASE(test_which_cpu),			\
		  KUNIT_CASE(test_coming_cpu),			\
		  KUNIT_CASE(test_offline_cpu),			\
		  ##__VA_ARGS__)

SUITE(softirq, KUNIT_CASE(test_deferrable));
SUITE(hardirq);
SUITE(work, KUNIT_CASE(test_deferrable), KUNIT_CASE(test_which_cpu_next), KUNIT_CASE(test_unbound));

kunit_test_suites(&hwheel_cpus_softirq, &hwheel_cpus_hardirq, &hwheel_cpus_work);
