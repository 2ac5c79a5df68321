// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_clocks_*: wheels of wall time, while the tests set the clock. A probe fails
 * if its callback begins before the clock shows the probe's time.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "test.h"

#define YEAR		(365 * DAY)

static ktime_t begun;		/* CLOCK_REALTIME - CLOCK_MONOTONIC before the test */
static atomic_t told;		/* calls of clock_set() */
static unsigned int times_back;	/* how often the test has set the clock back */

/* Advance the clock by @delta, or set it back if @delta is less than 0. */
static void set_clock(struct kunit *test, ktime_t delta)
{
	struct timespec64 to = ktime_to_timespec64(ktime_get_real() + delta);

	if (delta < 0) {
		ktime_t now = max(ktime_get_real(), ktime_get_clocktai());

		WRITE_ONCE(hwt_clock_was, max(hwt_clock_was, now));
		times_back++;
	}
	KUNIT_EXPECT_EQ(test, do_settimeofday64(&to), 0);
}

static int clocks_init(struct kunit *test)
{
	begun = ktime_get_real() - ktime_get();
	atomic_set(&told, 0);
	times_back = 0;
	hwt_clock_was = 0;
	atomic_set(&hwt_overtaken, 0);
	return hwt_init(test);
}

static void clocks_exit(struct kunit *test)
{
	hwt_exit(test);
	/* While the clock is set back, each other CPU may be about to call one callback. */
	KUNIT_EXPECT_LE(test, atomic_read(&hwt_overtaken), times_back * (num_online_cpus() - 1));
	set_clock(test, begun + ktime_get() - ktime_get_real());
	hwt_clock_was = 0;
}

static void note_set(struct hwheel *wheel)
{
	atomic_inc(&told);
}

static struct hwheel *wall_wheel(struct kunit *test, unsigned int clock)
{
	return hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = MS,
		.flags = clock,
		.clock_set = note_set,
	});
}

static bool all_ran(const struct probe *p, size_t n)
{
	while (n && runs(&p[n - 1]) == 1)
		n--;
	return !n;
}

/* The wheel's time is the time of its clock. */
static void test_clocks_now(struct kunit *test)
{
	static const struct {
		unsigned int	id;
		ktime_t		(*get)(void);
	} clocks[] = {
		{ HWHEEL_REALTIME, ktime_get_real }, { HWHEEL_TAI, ktime_get_clocktai },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct hwheel *wheel = wall_wheel(test, clocks[i].id);
		ktime_t before = clocks[i].get(), now = hwheel_now(wheel);

		KUNIT_EXPECT_GE(test, now, before);
		KUNIT_EXPECT_LE(test, now, clocks[i].get());
		set_clock(test, -DAY);
		before = clocks[i].get();
		now = hwheel_now(wheel);
		KUNIT_EXPECT_GE(test, now, before);
		KUNIT_EXPECT_LE(test, now, clocks[i].get());
	}
}

static void to_and_fro(struct kunit *test, unsigned int clock)
{
	struct hwheel *wheel = wall_wheel(test, clock);
	struct probe *p = hwt_probes_new(test, wheel, MS, 6);
	ktime_t now = hwheel_now(wheel);
	unsigned int i;

	hwt_probe_add_at(&p[0], now + 500 * MS, 0);
	hwt_probe_add_at(&p[1], now + HOUR, 0);
	hwt_probe_add_at(&p[2], now + 3 * YEAR, 0);
	set_clock(test, -YEAR);
	hwt_probe_add_at(&p[3], now - YEAR + 200 * MS, 0);
	hwt_probe_add(&p[4], 300 * MS);
	hwt_probe_add_at(&p[5], now - HOUR, 0);
	wait_for(test, all_ran(&p[3], 2));
	msleep(600);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, hwheel_pending(&p[i].timer));
	KUNIT_EXPECT_TRUE(test, hwheel_pending(&p[5].timer));
	KUNIT_EXPECT_LE(test, hwheel_remaining(&p[2].timer), 4 * YEAR);
	KUNIT_EXPECT_GE(test, hwheel_remaining(&p[2].timer), 4 * YEAR - HOUR);

	set_clock(test, YEAR);
	wait_for(test, runs(&p[0]) && runs(&p[5]));
	KUNIT_EXPECT_TRUE(test, hwheel_pending(&p[1].timer));
	set_clock(test, HOUR);
	wait_for(test, runs(&p[1]));
	KUNIT_EXPECT_TRUE(test, hwheel_pending(&p[2].timer));
	set_clock(test, 3 * YEAR);
	wait_for(test, runs(&p[2]));
	KUNIT_EXPECT_TRUE(test, all_ran(p, 6));
	wait_for(test, atomic_read(&told));
}

static void test_clocks_realtime(struct kunit *test)
{
	to_and_fro(test, HWHEEL_REALTIME);
}

static void test_clocks_tai(struct kunit *test)
{
	to_and_fro(test, HWHEEL_TAI);
}

/* Periods continue after a step forward; after a step back the timer waits. */
static void test_clocks_forward(struct kunit *test)
{
	struct hwheel *wheel = wall_wheel(test, HWHEEL_REALTIME);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	ktime_t expires;

	hwt_probe_add(p, HOUR);
	expires = hwheel_expires(&p->timer);
	KUNIT_EXPECT_EQ(test, hwheel_add_forward(&p->timer, HOUR), 0);
	set_clock(test, -DAY);
	KUNIT_EXPECT_EQ(test, hwheel_add_forward(&p->timer, HOUR), 0);
	KUNIT_EXPECT_EQ(test, hwheel_expires(&p->timer), expires);
	hwheel_cancel_sync(&p->timer);
	set_clock(test, 2 * DAY);
	KUNIT_EXPECT_EQ(test, hwheel_add_forward(&p->timer, HOUR), 24);
	KUNIT_EXPECT_EQ(test, hwheel_expires(&p->timer), expires + DAY);
}

/*
 * Set the clock at random while many timers are pending. Each probe must run once, and not
 * early.
 */
static void test_clocks_random(struct kunit *test)
{
	struct hwheel *wheel = wall_wheel(test, HWHEEL_REALTIME);
	unsigned int i, j, n = min(hwt_many, 20000U);
	struct probe *p = hwt_probes_new(test, wheel, MS, n);
	ktime_t latest = 0;

	for (i = 0; i < 40; i++) {
		ktime_t delta = hwt_random_magnitude(hwt_random_below(3) ? HOUR : 2 * YEAR);

		for (j = n * i / 40; j < n * (i + 1) / 40; j++) {
			ktime_t ahead = hwt_random_magnitude(2 * YEAR);

			if (!hwt_random_below(8))
				ahead = -ahead;
			hwt_probe_add_at(&p[j], hwheel_now(wheel) + ahead, 0);
			latest = max(latest, p[j].from);
		}
		set_clock(test, hwt_random_below(2) ? delta : -delta);
		if (hwt_random_below(2))
			usleep_range(500, 5000);
		/* A timer that is due runs, however the clock was set before */
		for (j = 0; !hwt_random_below(4) && j < n * (i + 1) / 40; j++)
			if (p[j].from <= hwheel_now(wheel) && !wait_for(test, runs(&p[j])))
				return;
	}
	set_clock(test, latest - ktime_get_real() + SECS(1));
	wait_for(test, all_ran(p, n));
}

/*
 * Set the clock back by a year while many timers are pending. hwheel has to move these timers.
 * Timers that are armed after the step must still run on time.
 */
static void test_clocks_many(struct kunit *test)
{
	struct hwheel *wheel = wall_wheel(test, HWHEEL_REALTIME);
	struct probe *p = hwt_probes_new(test, wheel, MS, hwt_many);
	struct probe *soon = hwt_probes_new(test, wheel, MS, 100);
	ktime_t now = hwheel_now(wheel), most = 0;
	unsigned int i;

	for (i = 0; i < hwt_many; i++)
		hwt_probe_add_at(&p[i], now + HOUR + hwt_random_below(HOUR), 0);
	set_clock(test, -YEAR);
	now = hwheel_now(wheel);
	for (i = 0; i < 100; i++)
		hwt_probe_add_at(&soon[i], now + (i + 10) * 3 * MS, 0);
	wait_for(test, all_ran(soon, 100));
	for (i = 0; i < 100; i++)
		most = max(most, soon[i].began - soon[i].from);
	kunit_info(test, "with %u timers a year away: at most %lld ns late, max_locked_ns %llu\n",
		   hwt_many, most, hwheel_count(wheel, "max_locked_ns"));
	if (hwt_days)
		KUNIT_EXPECT_LT(test, most, MS);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), 100);
	set_clock(test, YEAR + 3 * HOUR);
	wait_for(test, all_ran(p, hwt_many));
}

/* After a step, timers of a deferrable wheel run at the next jiffy, if the CPU is busy. */
static void test_clocks_deferrable(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwt_wheel_make(test, (struct hwheel_config){
		.flags = HWHEEL_REALTIME | HWHEEL_DEFERRABLE }), MS);
	ktime_t give_up;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	hwt_probe_add(p, HOUR);
	set_clock(test, -DAY);
	set_clock(test, DAY + HOUR);
	give_up = ktime_add_ms(ktime_get(), WAIT_MS);
	while (!runs(p) && ktime_before(ktime_get(), give_up))
		cond_resched();
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	KUNIT_EXPECT_EQ(test, runs(p), 1);
}

static struct kunit *current_test;

static void act_set_back(struct probe *p)
{
	set_clock(current_test, -HOUR);
}

/* A callback sets the clock back. Then the other timers of its tick are not due any more. */
static void test_clocks_in_callback(struct kunit *test)
{
	struct hwheel *wheel = wall_wheel(test, HWHEEL_REALTIME);
	struct probe *p = hwt_probes_new(test, wheel, MS, 50);
	ktime_t at = ALIGN_DOWN(hwheel_now(wheel), MS) + 50 * MS;
	unsigned int i, n = 0;

	current_test = test;
	for (i = 0; i < 50; i++) {
		p[i].act = act_set_back;
		hwt_probe_add_at(&p[i], at, 0);
	}
	wait_for(test, atomic_read(&hwt_probes_run) == 1);
	msleep(100);
	for (i = 0; i < 50; i++) {
		n += runs(&p[i]);
		p[i].act = NULL;
	}
	KUNIT_EXPECT_EQ(test, n, 1);
	set_clock(test, HOUR);
	wait_for(test, all_ran(p, 50));
}

#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_clocks, context,			\
		  KUNIT_CASE(test_clocks_now),			\
		  KUNIT_CASE(test_clocks_realtime),		\
		  KUNIT_CASE(test_clocks_tai),			\
		  KUNIT_CASE(test_clocks_forward),		\
		  KUNIT_CASE(test_clocks_random),		\
		  KUNIT_CASE(test_clocks_many),			\
		  ##__VA_ARGS__)

#define hwt_init	clocks_init
#define hwt_exit	clocks_exit
SUITE(softirq, KUNIT_CASE(test_clocks_deferrable));
SUITE(hardirq);
SUITE(work, KUNIT_CASE(test_clocks_deferrable), KUNIT_CASE(test_clocks_in_callback));

kunit_test_suites(&hwheel_clocks_softirq, &hwheel_clocks_hardirq, &hwheel_clocks_work);
