// SPDX-License-Identifier: GPL-2.0
/*
 * Suite hwheel_time: days of simulated time (parameter days). In simulated time no timer may
 * be late by more than a tick, and the tests can predict each interrupt.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/timer.h>

#include "module/compat.h"
#include "test.h"

#define SPAN		(hwt_days * DAY)
#define NR_TIMERS	300

/* A timer_list timer that is armed together with a timer of hwheel */
struct stock {
	struct timer_list	timer;
	ktime_t			delay;		/* of both */
	ktime_t			from;
	ktime_t			began;
};

/*
 * All timers are armed together, so together they take no longer than the longest. KUnit ends
 * a case after 300 s, and counts simulated time, too. The suite's init has no such limit. So the
 * init waits for the timers.
 */
static struct {
	struct probe		*probes;	/* on the system wheel */
	struct stock		*stock;		/* one for each of them */
	unsigned int		rows;		/* of the table: the first timers */
	struct hwheel		*lone;		/* one timer, a day away */
	struct hwheel		*ten;		/* ten timers, a second apart */
	struct probe		on_lone;
	struct probe		on_ten[10];
	u64			interrupts;	/* of the system wheel */
	u64			idle_interrupts;
} days;

static void stock_run(struct timer_list *timer)
{
	struct stock *stock = container_of(timer, struct stock, timer);

	stock->began = ktime_get();
}

static void days_delays(void)
{
	/* days_table() prints these. */
	static const ktime_t rows[] = {
		MS, 10 * MS, 100 * MS, SECS(1), SECS(10), SECS(60), SECS(600), HOUR,
		6 * HOUR, DAY, 7 * DAY, 30 * DAY, 100 * DAY, 365 * DAY,
	};
	static const u64 decades[] = { 1, 2, 5 };
	unsigned int i, j, n = 0;
	u64 width;

	for (i = 0; i < ARRAY_SIZE(rows) && rows[i] <= SPAN; i++)
		days.stock[n++].delay = rows[i];
	days.rows = n;
	for (width = MS; width <= SPAN; width *= 2)
		days.stock[n++].delay = width;
	for (width = MS; width <= SPAN; width *= 10)
		for (i = 0; i < ARRAY_SIZE(decades); i++)
			if (width * decades[i] <= SPAN)
				days.stock[n++].delay = width * decades[i];
	/* The boundaries of the default levels */
	for (i = 0, width = 128 * MS; i < 4 && width <= SPAN; i++, width *= 128)
		for (j = 0; j < 3; j++)
			days.stock[n++].delay = width + j * MS - MS;
	while (n < NR_TIMERS)
		days.stock[n++].delay = MS + hwt_random_magnitude(SPAN - MS);
}

static struct hwheel *days_wheel(const char *name)
{
	return hwheel_create(&(struct hwheel_config){ .name = name });
}

static void days_table(void)
{
	unsigned int i;

	pr_info("hwheel_kunit: %20s %16s %20s %8s\n", "delay_ns", "hwheel_late_ns",
		"timer_list_late_ns", "%");
	for (i = 0; i < days.rows; i++) {
		const struct probe *p = &days.probes[i];
		const struct stock *stock = &days.stock[i];
		s64 late = stock->began - stock->from - stock->delay;
		s64 permille = div64_s64(late, div64_s64(stock->delay, 1000));

		pr_info("hwheel_kunit: %20lld %16lld %20lld %6s%lld.%lld\n",
			stock->delay, p->began - p->from, late,
			permille < 0 ? "-" : "", abs(permille) / 10, abs(permille) % 10);
	}
}

static int days_pass(void)
{
	ktime_t span = SPAN + SECS(1);
	unsigned int i;

	days.probes = kvcalloc(NR_TIMERS, sizeof(*days.probes), GFP_KERNEL);
	days.stock = kvcalloc(NR_TIMERS, sizeof(*days.stock), GFP_KERNEL);
	days.lone = days_wheel("kunit-lone");
	days.ten = days_wheel("kunit-ten");
	if (!days.probes || !days.stock || IS_ERR(days.lone) || IS_ERR(days.ten))
		return -ENOMEM;
	days_delays();

	days.interrupts = hwheel_count(hwheel_system, "interrupts");
	days.idle_interrupts = hwheel_count(hwheel_system, "idle_interrupts");
	hwt_probe_setup(&days.on_lone, days.lone, MS);
	hwt_probe_add(&days.on_lone, DAY);
	for (i = 0; i < 10; i++) {
		hwt_probe_setup(&days.on_ten[i], days.ten, MS);
		hwt_probe_add(&days.on_ten[i], SECS(i + 1));
	}
	for (i = 0; i < NR_TIMERS; i++) {
		struct stock *stock = &days.stock[i];
		u64 delay = stock->delay;

		timer_setup(&stock->timer, stock_run, 0);
		hwt_probe_setup(&days.probes[i], hwheel_system, SYSTEM_TICK_NS);
		hwt_probe_add(&days.probes[i], delay);
		stock->from = ktime_get();
		mod_timer(&stock->timer, jiffies + div_u64(delay + TICK_NSEC - 1, TICK_NSEC));
	}

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&span, HRTIMER_MODE_REL);

	days.interrupts = hwheel_count(hwheel_system, "interrupts") - days.interrupts;
	days.idle_interrupts = hwheel_count(hwheel_system, "idle_interrupts") -
			       days.idle_interrupts;
	for (i = 0; i < NR_TIMERS; i++) {
		hwheel_shutdown_sync(&days.probes[i].timer);
		timer_delete_sync(&days.stock[i].timer);
	}
	hwheel_shutdown_sync(&days.on_lone.timer);
	for (i = 0; i < 10; i++)
		hwheel_shutdown_sync(&days.on_ten[i].timer);
	days_table();
	return 0;
}

static void days_end(struct kunit_suite *suite)
{
	hwheel_destroy(days.lone);
	hwheel_destroy(days.ten);
	kvfree(days.stock);
	kvfree(days.probes);
	memset(&days, 0, sizeof(days));
}

static int days_begin(struct kunit_suite *suite)
{
	int err;

	err = hwt_suite_begin(suite, HWHEEL_SOFTIRQ);
	if (err || !hwt_days)
		return err;
	err = days_pass();
	if (err)
		days_end(suite);
	return err;
}

static int days_case_init(struct kunit *test)
{
	if (!hwt_days)
		kunit_skip(test, "needs days=N and simulated time");
	return 0;
}

static void test_days_exact(struct kunit *test)
{
	unsigned int i;
	ktime_t most = 0;

	for (i = 0; i < NR_TIMERS; i++) {
		const struct probe *p = &days.probes[i];
		const char *fault = hwt_probe_fault(p);

		if (fault)
			hwt_fail_probe(test, p, fault);
		most = max(most, p->began - p->from);
	}
	kunit_info(test, "%u timers, 1 ms to %u days: at most %lld ns late", NR_TIMERS,
		   hwt_days, most);
}

/* One interrupt for each tick at which a timer was due, and no others */
static void test_days_interrupts(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, days.interrupts,
			hwt_distinct_ticks(test, days.probes, NR_TIMERS));
	KUNIT_EXPECT_EQ(test, days.idle_interrupts, 0);
}

static void test_days_lone(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, !hwt_probe_fault(&days.on_lone));
	KUNIT_EXPECT_EQ(test, hwheel_count(days.lone, "interrupts"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(days.lone, "idle_interrupts"), 0);
	/* A lone timer needs one level, and need not cascade. */
	KUNIT_EXPECT_EQ(test, hwheel_count(days.lone, "levels_added"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(days.lone, "cascaded"), 0);
}

static void test_days_ten(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, !hwt_probe_fault(&days.on_ten[i]));
	KUNIT_EXPECT_EQ(test, hwheel_count(days.ten, "interrupts"), 10);
	KUNIT_EXPECT_EQ(test, hwheel_count(days.ten, "idle_interrupts"), 0);
}

static struct kunit_case hwheel_time_cases[] = {
	KUNIT_CASE(test_days_exact),
	KUNIT_CASE(test_days_interrupts),
	KUNIT_CASE(test_days_lone),
	KUNIT_CASE(test_days_ten),
	{}
};

static struct kunit_suite hwheel_time_suite = {
	.name		= "hwheel_time",
	.suite_init	= days_begin,
	.suite_exit	= days_end,
	.init		= days_case_init,
	.test_cases	= hwheel_time_cases,
};

kunit_test_suite(hwheel_time_suite);
