// SPDX-License-Identifier: GPL-2.0
/*
 * Suite hwheel_time: a year of simulated time (parameter years). In simulated time no
 * timer may be late by more than a tick, and the tests can predict each interrupt.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/timer.h>

#include "module/compat.h"
#include "test.h"

#define YEAR		(365 * DAY)
#define YEAR_TIMERS	300

/* A timer_list timer that is armed together with a timer of hwheel */
struct stock {
	struct timer_list	timer;
	ktime_t			delay;		/* of both */
	ktime_t			from;
	ktime_t			began;
};

/*
 * All long timers are armed together, so all of them together take one year. KUnit ends a
 * case after 300 s, and counts simulated time, too. The suite's init has no such limit. So the
 * init waits for the timers.
 */
static struct {
	struct probe		*probes;	/* on the system wheel */
	struct stock		*stock;		/* one for each of them */
	struct hwheel		*lone;		/* one timer, a day away */
	struct hwheel		*ten;		/* ten timers, a second apart */
	struct probe		on_lone;
	struct probe		on_ten[10];
	u64			interrupts;	/* of the system wheel */
	u64			idle_interrupts;
} year;

static void stock_run(struct timer_list *timer)
{
	struct stock *stock = container_of(timer, struct stock, timer);

	stock->began = ktime_get();
}

static void year_delays(void)
{
	/* year_table() prints these. */
	static const ktime_t rows[] = {
		MS, 10 * MS, 100 * MS, SECS(1), SECS(10), SECS(60), SECS(600), HOUR,
		6 * HOUR, DAY, 7 * DAY, 30 * DAY, 100 * DAY, YEAR,
	};
	static const u64 decades[] = { 1, 2, 5 };
	unsigned int i, j, n = 0;
	u64 width;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		year.stock[n++].delay = rows[i];
	for (width = MS; width <= YEAR; width *= 2)
		year.stock[n++].delay = width;
	for (width = MS; width <= YEAR; width *= 10)
		for (i = 0; i < ARRAY_SIZE(decades); i++)
			if (width * decades[i] <= YEAR)
				year.stock[n++].delay = width * decades[i];
	/* The boundaries of the default levels */
	for (i = 0, width = 128 * MS; i < 4; i++, width *= 128)
		for (j = 0; j < 3; j++)
			year.stock[n++].delay = width + j * MS - MS;
	while (n < YEAR_TIMERS)
		year.stock[n++].delay = MS + hwt_random_magnitude(YEAR - MS);
}

static struct hwheel *year_wheel(const char *name)
{
	return hwheel_create(&(struct hwheel_config){ .name = name });
}

static void year_table(void)
{
	unsigned int i;

	pr_info("hwheel_kunit: %20s %16s %20s %8s\n", "delay_ns", "hwheel_late_ns",
		"timer_list_late_ns", "%");
	for (i = 0; i < 14; i++) {
		const struct probe *p = &year.probes[i];
		const struct stock *stock = &year.stock[i];
		s64 late = stock->began - stock->from - stock->delay;
		s64 permille = div64_s64(late, div64_s64(stock->delay, 1000));

		pr_info("hwheel_kunit: %20lld %16lld %20lld %6s%lld.%lld\n",
			stock->delay, p->began - p->from, late,
			permille < 0 ? "-" : "", abs(permille) / 10, abs(permille) % 10);
	}
}

static int year_pass(void)
{
	ktime_t span = YEAR + SECS(1);
	unsigned int i;

	year.probes = kvcalloc(YEAR_TIMERS, sizeof(*year.probes), GFP_KERNEL);
	year.stock = kvcalloc(YEAR_TIMERS, sizeof(*year.stock), GFP_KERNEL);
	year.lone = year_wheel("kunit-lone");
	year.ten = year_wheel("kunit-ten");
	if (!year.probes || !year.stock || IS_ERR(year.lone) || IS_ERR(year.ten))
		return -ENOMEM;
	year_delays();

	year.interrupts = hwheel_count(hwheel_system, "interrupts");
	year.idle_interrupts = hwheel_count(hwheel_system, "idle_interrupts");
	hwt_probe_setup(&year.on_lone, year.lone, MS);
	hwt_probe_add(&year.on_lone, DAY);
	for (i = 0; i < 10; i++) {
		hwt_probe_setup(&year.on_ten[i], year.ten, MS);
		hwt_probe_add(&year.on_ten[i], SECS(i + 1));
	}
	for (i = 0; i < YEAR_TIMERS; i++) {
		struct stock *stock = &year.stock[i];
		u64 delay = stock->delay;

		timer_setup(&stock->timer, stock_run, 0);
		hwt_probe_setup(&year.probes[i], hwheel_system, SYSTEM_TICK_NS);
		hwt_probe_add(&year.probes[i], delay);
		stock->from = ktime_get();
		mod_timer(&stock->timer, jiffies + div_u64(delay + TICK_NSEC - 1, TICK_NSEC));
	}

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&span, HRTIMER_MODE_REL);

	year.interrupts = hwheel_count(hwheel_system, "interrupts") - year.interrupts;
	year.idle_interrupts = hwheel_count(hwheel_system, "idle_interrupts") -
			       year.idle_interrupts;
	for (i = 0; i < YEAR_TIMERS; i++) {
		hwheel_shutdown_sync(&year.probes[i].timer);
		timer_delete_sync(&year.stock[i].timer);
	}
	hwheel_shutdown_sync(&year.on_lone.timer);
	for (i = 0; i < 10; i++)
		hwheel_shutdown_sync(&year.on_ten[i].timer);
	year_table();
	return 0;
}

static void year_end(struct kunit_suite *suite)
{
	hwheel_destroy(year.lone);
	hwheel_destroy(year.ten);
	kvfree(year.stock);
	kvfree(year.probes);
	memset(&year, 0, sizeof(year));
}

static int year_begin(struct kunit_suite *suite)
{
	int err;

	err = hwt_suite_begin(suite, HWHEEL_SOFTIRQ);
	if (err || !hwt_years)
		return err;
	err = year_pass();
	if (err)
		year_end(suite);
	return err;
}

static int year_case_init(struct kunit *test)
{
	if (!hwt_years)
		kunit_skip(test, "needs years=1 and simulated time");
	return 0;
}

static void test_year_exact(struct kunit *test)
{
	unsigned int i;
	ktime_t most = 0;

	for (i = 0; i < YEAR_TIMERS; i++) {
		const struct probe *p = &year.probes[i];
		const char *fault = hwt_probe_fault(p);

		if (fault)
			hwt_fail_probe(test, p, fault);
		most = max(most, p->began - p->from);
	}
	kunit_info(test, "%u timers, 1 ms to 1 year: at most %lld ns late", YEAR_TIMERS, most);
}

/* One interrupt for each tick at which a timer was due, and no others */
static void test_year_interrupts(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, year.interrupts,
			hwt_distinct_ticks(test, year.probes, YEAR_TIMERS));
	KUNIT_EXPECT_EQ(test, year.idle_interrupts, 0);
}

static void test_year_lone(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, !hwt_probe_fault(&year.on_lone));
	KUNIT_EXPECT_EQ(test, hwheel_count(year.lone, "interrupts"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(year.lone, "idle_interrupts"), 0);
	/* A lone timer needs one level, and need not cascade. */
	KUNIT_EXPECT_EQ(test, hwheel_count(year.lone, "levels_added"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(year.lone, "cascaded"), 0);
}

static void test_year_ten(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, !hwt_probe_fault(&year.on_ten[i]));
	KUNIT_EXPECT_EQ(test, hwheel_count(year.ten, "interrupts"), 10);
	KUNIT_EXPECT_EQ(test, hwheel_count(year.ten, "idle_interrupts"), 0);
}

static struct kunit_case hwheel_time_cases[] = {
	KUNIT_CASE(test_year_exact),
	KUNIT_CASE(test_year_interrupts),
	KUNIT_CASE(test_year_lone),
	KUNIT_CASE(test_year_ten),
	{}
};

static struct kunit_suite hwheel_time_suite = {
	.name		= "hwheel_time",
	.suite_init	= year_begin,
	.suite_exit	= year_end,
	.init		= year_case_init,
	.test_cases	= hwheel_time_cases,
};

kunit_test_suite(hwheel_time_suite);
