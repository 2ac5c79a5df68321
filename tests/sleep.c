// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_sleep_*: tasks that sleep on wheels of each context.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "test.h"

enum how {
	SCHEDULE,	/* hwheel_schedule_hrtimeout() */
	SLACK,		/* with slack */
	PLAIN,		/* hwheel_sleep() */
	INTERRUPTIBLE,
	KILLABLE,
	WAIT,		/* hwheel_wait_event_hrtimeout() */
	WAIT_INTERRUPTIBLE,
	WAIT_KILLABLE,
	HOWS
};

/* A task that sleeps once */
static struct sleeper {
	enum how		how;
	unsigned int		state;
	ktime_t			delay;
	int			ret;
	ktime_t			from;
	ktime_t			to;
	unsigned int		state_after;
	bool			asleep;
	bool			condition;
	wait_queue_head_t	wq;
	struct completion	done;
} sleeper;

static int sleep_once(struct sleeper *s)
{
	switch (s->how) {
	case SCHEDULE:
		set_current_state(s->state);
		return hwheel_schedule_hrtimeout(hwt_suite_wheel, s->delay, 0);
	case SLACK:
		set_current_state(s->state);
		return hwheel_schedule_hrtimeout(hwt_suite_wheel, s->delay, s->delay);
	case PLAIN:
		hwheel_sleep(s->delay);
		return 0;
	case INTERRUPTIBLE:
		return hwheel_sleep_interruptible(s->delay);
	case KILLABLE:
		return hwheel_sleep_killable(s->delay);
	case WAIT:
		return hwheel_wait_event_hrtimeout(s->wq, READ_ONCE(s->condition), s->delay);
	case WAIT_INTERRUPTIBLE:
		return hwheel_wait_event_interruptible_hrtimeout(s->wq, READ_ONCE(s->condition),
							       s->delay);
	default:
		return hwheel_wait_event_killable_hrtimeout(s->wq, READ_ONCE(s->condition),
							  s->delay);
	}
}

static void sleep_and_note(struct sleeper *s)
{
	s->from = ktime_get();
	s->ret = sleep_once(s);
	s->to = ktime_get();
	s->state_after = READ_ONCE(current->__state);
}

static int sleeper_thread(void *data)
{
	struct sleeper *s = data;

	allow_signal(SIGUSR1);
	allow_signal(SIGKILL);
	WRITE_ONCE(s->asleep, true);
	sleep_and_note(s);
	complete(&s->done);
	/* Do not exit yet: the test may still wake the task or send it a signal */
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

static struct sleeper *sleeper_new(enum how how, ktime_t delay)
{
	memset(&sleeper, 0, sizeof(sleeper));
	sleeper.how = how;
	sleeper.state = TASK_INTERRUPTIBLE;
	sleeper.delay = delay;
	sleeper.ret = 1;
	init_waitqueue_head(&sleeper.wq);
	init_completion(&sleeper.done);
	return &sleeper;
}

static struct task_struct *start(struct kunit *test, struct sleeper *s)
{
	struct task_struct *task = kthread_run(sleeper_thread, s, "hwheel-sleeper");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for(test, READ_ONCE(s->asleep) && READ_ONCE(task->__state) != TASK_RUNNING);
	return task;
}

static bool times_out(enum how how)
{
	return how == WAIT || how == WAIT_INTERRUPTIBLE || how == WAIT_KILLABLE;
}

/*
 * Sleep for each kind of delay. No sleep may end early. In simulated time, a sleep may be late
 * by at most a tick plus its slack.
 */
static void test_sleep(struct kunit *test)
{
	static const ktime_t delays[] = { 1, 700000, 3 * MS, 20 * MS, 150 * MS };
	struct sleeper *s;
	unsigned int i, how;

	for (how = 0; how < HOWS; how++) {
		for (i = 0; i < ARRAY_SIZE(delays); i++) {
			ktime_t late = SYSTEM_TICK_NS + 10000;

			s = sleeper_new(how, delays[i]);
			sleep_and_note(s);
			KUNIT_EXPECT_EQ(test, s->ret, times_out(how) ? -ETIME : 0);
			KUNIT_EXPECT_EQ(test, s->state_after, TASK_RUNNING);
			KUNIT_EXPECT_GE_MSG(test, s->to, s->from + s->delay, "how %u", how);
			if (how == SLACK)
				late += s->delay;
			if (hwt_days)
				KUNIT_EXPECT_LT_MSG(test, s->to, s->from + s->delay + late,
						    "how %u", how);
		}
	}
	if (hwt_days) {
		s = sleeper_new(SCHEDULE, hwt_days * DAY / 3);
		sleep_and_note(s);
		KUNIT_EXPECT_GE(test, s->to, s->from + s->delay);
		KUNIT_EXPECT_LT(test, s->to, s->from + s->delay + 2 * (s64)SYSTEM_TICK_NS);
	}
}

/* With a delay of 0 or less, the task does not sleep. Its state is TASK_RUNNING afterwards. */
static void test_no_sleep(struct kunit *test)
{
	static const ktime_t delays[] = { 0, -1, KTIME_MIN };
	u64 added = hwheel_count(hwt_suite_wheel, "added");
	unsigned int i, how;
	struct sleeper *s;

	for (how = 0; how < HOWS; how++) {
		for (i = 0; i < ARRAY_SIZE(delays); i++) {
			s = sleeper_new(how, delays[i]);
			sleep_and_note(s);
			KUNIT_EXPECT_EQ(test, s->ret, times_out(how) ? -ETIME : 0);
			KUNIT_EXPECT_EQ(test, s->state_after, TASK_RUNNING);
			if (!times_out(how))
				continue;
			s->condition = true;
			sleep_and_note(s);
			KUNIT_EXPECT_EQ(test, s->ret, 0);
		}
	}
	if (hwt_suite_wheel != hwheel_system)
		KUNIT_EXPECT_EQ(test, hwheel_count(hwt_suite_wheel, "added"), added);
}

/* Wake the sleeper without a signal: only hwheel_schedule_hrtimeout() returns. */
static void test_woken(struct kunit *test)
{
	static const ktime_t delays[] = { 300 * MS, HOUR, KTIME_MAX };
	unsigned int i, how;

	for (how = 0; how < HOWS; how++) {
		for (i = 0; i < ARRAY_SIZE(delays); i++) {
			bool returns = how == SCHEDULE || how == SLACK;
			struct sleeper *s = sleeper_new(how, delays[i]);
			struct task_struct *task;

			/* A busy host may let 300 ms pass before the sleeper is woken */
			if (returns == !i)
				continue;
			s->state = TASK_UNINTERRUPTIBLE;
			task = start(test, s);
			wake_up_process(task);
			wait_for_completion(&s->done);
			if (returns)
				KUNIT_EXPECT_EQ(test, s->ret, -EINTR);
			else
				KUNIT_EXPECT_GE_MSG(test, s->to, s->from + s->delay, "how %u", how);
			KUNIT_EXPECT_EQ(test, s->state_after, TASK_RUNNING);
			kthread_stop(task);
		}
	}
}

/* The condition becomes true during a wait. One wait has no time limit, the others have one. */
static void test_condition(struct kunit *test)
{
	unsigned int how;

	for (how = WAIT; how < HOWS; how++) {
		struct sleeper *s = sleeper_new(how, how == WAIT ? KTIME_MAX : HOUR);
		struct task_struct *task = start(test, s);

		wake_up_all(&s->wq);
		msleep(20);
		KUNIT_EXPECT_FALSE(test, completion_done(&s->done));
		WRITE_ONCE(s->condition, true);
		wake_up_all(&s->wq);
		wait_for_completion(&s->done);
		KUNIT_EXPECT_EQ(test, s->ret, 0);
		kthread_stop(task);
	}
}

static void test_signals(struct kunit *test)
{
	static const struct {
		enum how	how;
		int		signal;
		unsigned int	state;
		int		ret;	/* 0, -ETIME: the signal does not end the sleep */
	} rows[] = {
		{ SCHEDULE, SIGUSR1, TASK_INTERRUPTIBLE, -EINTR },
		{ SCHEDULE, SIGUSR1, TASK_UNINTERRUPTIBLE, 0 },
		{ SCHEDULE, SIGKILL, TASK_KILLABLE, -EINTR },
		{ PLAIN, SIGUSR1, 0, 0 },
		{ PLAIN, SIGKILL, 0, 0 },
		{ INTERRUPTIBLE, SIGUSR1, 0, -EINTR },
		{ INTERRUPTIBLE, SIGKILL, 0, -EINTR },
		{ KILLABLE, SIGUSR1, 0, 0 },
		{ KILLABLE, SIGKILL, 0, -EINTR },
		{ WAIT, SIGUSR1, 0, -ETIME },
		{ WAIT_INTERRUPTIBLE, SIGUSR1, 0, -ERESTARTSYS },
		{ WAIT_KILLABLE, SIGUSR1, 0, -ETIME },
		{ WAIT_KILLABLE, SIGKILL, 0, -ERESTARTSYS },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool ends = rows[i].ret && rows[i].ret != -ETIME;
		struct sleeper *s = sleeper_new(rows[i].how, ends ? HOUR : 200 * MS);
		struct task_struct *task;

		s->state = rows[i].state;
		task = start(test, s);
		send_sig(rows[i].signal, task, 1);
		wait_for_completion(&s->done);
		KUNIT_EXPECT_EQ_MSG(test, s->ret, rows[i].ret, "row %u", i);
		if (!ends)
			KUNIT_EXPECT_GE_MSG(test, s->to, s->from + s->delay, "row %u", i);
		KUNIT_EXPECT_EQ(test, s->state_after, TASK_RUNNING);
		kthread_stop(task);
	}
}

/* Many tasks sleep at once, some are woken early. No timer may be left. */
static atomic_t early;

static int many_thread(void *data)
{
	unsigned int i = 0;

	while (!kthread_should_stop()) {
		ktime_t delay = ((unsigned long)data * 7 + i++ * 13) % 50 * 100000;
		ktime_t from = ktime_get();
		int ret;

		set_current_state(TASK_INTERRUPTIBLE);
		ret = hwheel_schedule_hrtimeout(hwt_suite_wheel, delay, i % 3 * MS);
		if (!ret && ktime_get() < from + delay)
			atomic_inc(&early);
	}
	return 0;
}

static void test_many(struct kunit *test)
{
	struct task_struct *tasks[20];
	unsigned long i, round;

	atomic_set(&early, 0);
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		tasks[i] = kthread_run(many_thread, (void *)i, "hwheel-many/%lu", i);
	for (round = 0; round < 100; round++) {
		for (i = round % 5; i < ARRAY_SIZE(tasks); i += 5)
			if (!IS_ERR(tasks[i]))
				wake_up_process(tasks[i]);
		usleep_range(1000, 2000);
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		if (!IS_ERR(tasks[i]))
			kthread_stop(tasks[i]);
	KUNIT_EXPECT_EQ(test, atomic_read(&early), 0);
	/* hwt_exit() checks that each timer has expired or was cancelled. */
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context)						\
	HWT_SUITE(hwheel_sleep, context,			\
		  KUNIT_CASE(test_sleep),			\
		  KUNIT_CASE(test_no_sleep),			\
		  KUNIT_CASE(test_woken),			\
		  KUNIT_CASE(test_condition),			\
		  KUNIT_CASE(test_signals),			\
		  KUNIT_CASE(test_many))

SUITE(softirq);
SUITE(hardirq);
SUITE(work);

kunit_test_suites(&hwheel_sleep_softirq, &hwheel_sleep_hardirq, &hwheel_sleep_work);
