// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_wheels_*: the life of wheels, from creation to destruction, and the
 * levels that a wheel adds on demand. The tests look at counters and at free memory.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "test.h"

static void no_set(struct hwheel *wheel) { }

/* Never used: hwheel_create() refuses it */
#define TEST_WQ		((struct workqueue_struct *)1)

static void test_create_errors(struct kunit *test)
{
	static const struct {
		struct hwheel_config config;
		int err;
		const char *says;
	} rows[] = {
		{ { .name = NULL }, -EINVAL, "a name is" },
		{ { .name = "" }, -EINVAL, "a name is" },
		{ { .name = "12345678901234567890123456789012" }, -EINVAL, "a name is" },
		{ { .name = "a/b" }, -EINVAL, "a name is" },
		{ { .name = "/" }, -EINVAL, "a name is" },
		{ { .name = "a\nlevels 9" }, -EINVAL, "a name is" },
		{ { .name = "." }, -EINVAL, "a name is" },
		{ { .name = ".." }, -EINVAL, "a name is" },
		{ { .name = "bad", .spokes = { 1 } }, -EINVAL, "number of spokes" },
		{ { .name = "bad", .spokes = { 4097 } }, -EINVAL, "number of spokes" },
		{ { .name = "bad", .spokes = { 64, 64, 1 } }, -EINVAL, "number of spokes" },
		{ { .name = "bad", .levels = 9 }, -EINVAL, "number of levels" },
		{ { .name = "bad", .levels = UINT_MAX }, -EINVAL, "number of levels" },
		{ { .name = "bad", .tick_ns = 999 }, -EINVAL, "shorter than" },
		{ { .name = "bad", .tick_ns = 1 }, -EINVAL, "shorter than" },
		{ { .name = "bad", .tick_ns = U64_MAX, .levels = 1 }, -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .tick_ns = S64_MAX, .levels = 1, .spokes = { 2 } },
		  -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .levels = 8, .spokes = { 4096 } }, -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .tick_ns = NSEC_PER_SEC, .levels = 5 },
		  -EINVAL, "over S64_MAX" },
		{ { .name = "bad", .context = 99 }, -EINVAL, "no such context" },
		{ { .name = "bad", .context = -1 }, -EINVAL, "no such context" },
		{ { .name = "bad", .wq = TEST_WQ }, -EINVAL, "a workqueue" },
		{ { .name = "bad", .context = HWHEEL_HARDIRQ, .wq = TEST_WQ },
		  -EINVAL, "a workqueue" },
		{ { .name = "bad", .context = HWHEEL_WORK, .flags = BIT(31) },
		  -EINVAL, "no such flags" },
		{ { .name = "bad", .context = HWHEEL_WORK, .flags = HWHEEL_PINNED },
		  -EINVAL, "no such flags" },
		{ { .name = "bad", .flags = HWHEEL_TAI | HWHEEL_REALTIME },
		  -EINVAL, "ask for one" },
		{ { .name = "bad", .clock_set = no_set }, -EINVAL, "nobody sets" },
		{ { .name = "bad", .flags = HWHEEL_BOOTTIME, .clock_set = no_set },
		  -EINVAL, "nobody sets" },
		{ { .name = "bad", .context = HWHEEL_HARDIRQ, .flags = HWHEEL_DEFERRABLE },
		  -EINVAL, "HWHEEL_DEFERRABLE goes" },
		{ { .name = "bad", .flags = HWHEEL_BOOTTIME | HWHEEL_DEFERRABLE },
		  -EINVAL, "HWHEEL_DEFERRABLE goes" },
		{ { .name = "system" }, -EEXIST, "there is one" },
		{ { .name = "1234567890123456789012345678901" }, 0 },
		{ { .name = "good", .levels = 1, .spokes = { 2 }, .tick_ns = 1000 }, 0 },
		{ { .name = "good", .levels = 1, .spokes = { 4096 } }, 0 },
		{ { .name = "good", .levels = 8, .spokes = { 2, 3, 4, 5, 6, 7, 8, 9 } }, 0 },
		{ { .name = "good", .tick_ns = HOUR }, 0 },
		{ { .name = "good" }, 0 },
		{ { .name = "good", .flags = HWHEEL_BOOTTIME }, 0 },
		{ { .name = "good", .flags = HWHEEL_TAI, .clock_set = no_set }, 0 },
		{ { .name = "good", .flags = HWHEEL_REALTIME }, 0 },
		{ { .name = "good", .flags = HWHEEL_DEFERRABLE }, 0 },
		{ { .name = "good", .flags = HWHEEL_REALTIME | HWHEEL_DEFERRABLE }, 0 },
		{ { .name = "good", .context = HWHEEL_WORK, .flags = HWHEEL_DEFERRABLE }, 0 },
		{ { .name = "bad", .gap_ns = NSEC_PER_SEC + 1 }, -EINVAL, "more than a second" },
		{ { .name = "good", .gap_ns = NSEC_PER_SEC }, 0 },
		{ { .name = "good", .budget_ns = U64_MAX }, 0 },
	};
	struct hwheel *wheel;
	unsigned int i, lines;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		lines = hwt_logged("hwheel: wheel \"", rows[i].says);
		wheel = hwheel_create(&rows[i].config);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(wheel), rows[i].err, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, hwt_logged("hwheel: wheel \"", rows[i].says) - lines,
				    !!rows[i].err, "row %u: a line with \"%s\"", i, rows[i].says);
		KUNIT_EXPECT_TRUE(test, wheel);
		/* hwheel_destroy() accepts an ERR_PTR. */
		hwheel_destroy(wheel);
	}
	hwheel_destroy(NULL);

	/* A name is free again once its wheel is destroyed. */
	for (i = 0; i < 2; i++) {
		const struct hwheel_config config = { .name = "twice" };

		wheel = hwheel_create(&config);
		KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(wheel));
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(hwheel_create(&config)), -EEXIST);
		hwheel_destroy(wheel);
	}
}

static void test_come_and_go(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, 20);
	unsigned int i, j;

	for (i = 0; i < 50; i++) {
		s64 tick_ns = i % 2 ? 1000 : MS;
		struct hwheel *wheel = hwt_wheel_new(test, tick_ns);

		for (j = 0; j < 20; j++) {
			hwt_probe_setup(&p[j], wheel, tick_ns);
			hwt_probe_add(&p[j], j < 10 ? j * 100000 : HOUR);
		}
		for (j = 0; j < 10; j++)
			wait_for(test, runs(&p[j]));
		for (j = 0; j < 20; j++) {
			KUNIT_EXPECT_EQ(test, hwheel_shutdown_sync(&p[j].timer), j >= 10);
			KUNIT_EXPECT_EQ(test, runs(&p[j]), j < 10);
			KUNIT_EXPECT_TRUE(test, !p[j].fault);
			hwt_probe_setup(&p[j], hwt_suite_wheel, SUITE_TICK_NS);
		}
		hwt_wheel_destroy(test);
	}
}

static void test_several(struct kunit *test)
{
	static const s64 ticks[] = { 1000, MS, NSEC_PER_SEC };
	struct probe *p[ARRAY_SIZE(ticks)];
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		p[i] = hwt_probes_new(test, hwt_wheel_new(test, ticks[i]), ticks[i], 100);
	for (j = 0; j < 100; j++)
		for (i = 0; i < ARRAY_SIZE(ticks); i++)
			hwt_probe_add(&p[i][j], hwt_random_magnitude(SECS(1)));
	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		hwt_expect_once(test, p[i], 100);
		KUNIT_EXPECT_EQ(test, hwheel_count(p[i]->wheel, "expired"), 100);
	}
}

/* Arm @n timers, half for @delay, half for later. Returns the time this took. */
static ktime_t arm_doomed(struct probe *doomed, unsigned int n, ktime_t delay)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		hwt_probe_add(&doomed[i], delay +
			      (i % 2 ? hwt_random_magnitude(KTIME_MAX / 2) : 0));
	return ktime_get() - (doomed[0].from - delay);
}

static void test_destroy_pending(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, 1), *doomed;
	unsigned int i, n = 200, ran = 0;
	ktime_t delay = 30 * MS, end;

	doomed = kunit_kzalloc(test, n * sizeof(*doomed), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, doomed);
	for (i = 0; i < n; i++)
		hwt_probe_setup(&doomed[i], wheel, MS);
	/* No timer may be due before hwheel_destroy() ends. It takes about as long as arming. */
	while (arm_doomed(doomed, n, delay) > delay / 4 && delay < SECS(10)) {
		for (i = 0; i < n; i++)
			hwheel_cancel_sync(&doomed[i].timer);
		atomic_set(&hwt_probes_run, 0);
		for (i = 0; i < n; i++)
			WRITE_ONCE(doomed[i].runs, 0);
		delay *= 2;
	}
	hwt_wheel_forget();
	hwt_expect_begin();
	hwheel_destroy(wheel);
	end = ktime_get();
	hwt_expect_end();
	hwt_expect_warned(test, "timers pending, one with", "callback hwt_probe_run");
	for (i = 0; i < n; i++)
		ran += runs(&doomed[i]);
	if (end < doomed[0].from)
		KUNIT_EXPECT_EQ(test, ran, 0);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&doomed[i].timer));
	kunit_kfree(test, doomed);

	/* The memory is free: KASAN reports a late write. */
	hwt_probe_add(p, 2 * delay);
	hwt_expect_once(test, p, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hwt_probes_run), ran + 1);
	if (ran)
		kunit_skip(test, "the host is too slow");
}

/* A CPU that keeps interrupts off until the test sets @hear, but for at most 3 s */
static struct deaf {
	bool			deaf, hear, gave_up;
} deaf;

static void call_deaf(void *unused)
{
	ktime_t end = ktime_get() + SECS(3);

	WRITE_ONCE(deaf.deaf, true);
	while (!READ_ONCE(deaf.hear) && ktime_get() < end)
		cpu_relax();
	if (ktime_get() >= end)
		WRITE_ONCE(deaf.gave_up, true);
	/* Pairs with the acquire in test_destroy_deaf(). */
	smp_store_release(&deaf.deaf, false);
}

/* hwheel_destroy() must not wait for a CPU that keeps interrupts off and has not used the wheel. */
static void test_destroy_deaf(struct kunit *test)
{
	unsigned int cpu;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is only one CPU");
	if (IS_ENABLED(CONFIG_LOCKDEP))
		kunit_skip(test, "lockdep_unregister_key() waits for all CPUs");
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	deaf = (struct deaf){};
	smp_call_function_single(cpu, call_deaf, NULL, false);
	while (!READ_ONCE(deaf.deaf))
		cpu_relax();
	hwheel_destroy(hwheel_create(&(struct hwheel_config){ .name = "kunit-unused" }));
	WRITE_ONCE(deaf.hear, true);
	migrate_enable();
	/* Pairs with the release in call_deaf(). */
	while (smp_load_acquire(&deaf.deaf))
		cpu_relax();
	KUNIT_EXPECT_FALSE(test, deaf.gave_up);
}

/* hwheel_destroy() refuses to destroy the module's own wheel. */
static void test_destroy_system(struct kunit *test)
{
	struct probe *p = hwt_probe_new(test, hwheel_system, SYSTEM_TICK_NS);

	hwt_probe_add(p, MS);
	hwt_expect_begin();
	hwheel_destroy(hwheel_system);
	hwt_expect_end();
	hwt_expect_warned(test, "the module's own wheel", NULL);
	hwt_expect_once(test, p, 1);
	hwt_probe_add(p, MS);
	wait_for(test, runs(p) == 2);
}

/* ------------------------------------------------------------------------ */
/* Levels on demand */

static void test_levels_made(struct kunit *test)
{
	/* The first needs level 0, and each other one a higher level than the one before */
	static const ktime_t delays[] = {
		100 * MS, SECS(1), SECS(60), HOUR, 10 * DAY, 1000 * DAY, KTIME_MAX,
	};
	struct probe *p = hwt_probe_new(test, hwt_suite_wheel, SUITE_TICK_NS);
	unsigned int i;

	/* Each CPU has levels of its own */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		struct hwheel *wheel = hwt_wheel_new(test, MS);
		u64 levels = 1 + !!i;

		KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "levels_added"), 0);
		hwt_probe_setup(p, wheel, MS);
		hwt_probe_add(p, delays[i]);
		wait_for(test, hwheel_count(wheel, "levels_added"));
		msleep(20);
		KUNIT_EXPECT_EQ_MSG(test, hwheel_count(wheel, "levels_added"), 1, "delay %u", i);
		/*
		 * If the host sleeps, the first timer may have expired. And if it is pending, the
		 * clock may be so far behind that level 0 does not reach the new time.
		 */
		hwheel_cancel_sync(&p->timer);
		WRITE_ONCE(p->runs, 0);
		hwt_probe_add(p, 5 * MS);
		hwt_expect_once(test, p, 1);
		wait_for(test, hwheel_count(wheel, "levels_added") >= levels);
		KUNIT_EXPECT_EQ_MSG(test, hwheel_count(wheel, "levels_added"), levels,
				    "delay %u, after a nearer timer", i);
		hwt_probe_setup(p, hwt_suite_wheel, SUITE_TICK_NS);
		hwt_wheel_destroy(test);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void act_note_interrupts(struct probe *p)
{
	p->n = hwheel_count(p->wheel, "interrupts");
}

/*
 * A crowd is armed before its level exists, so it is parked in a bucket. Timers that are
 * armed after the level came share a spoke of that level. The wheel must take an interrupt to
 * move the crowd before its first timer is due.
 */
static void test_levels_crowd(struct kunit *test)
{
	const unsigned int n = 3000;
	unsigned int i, round, in_time = 0;
	u64 most = 0;

	/* If the host sleeps for 30 ms, or a run is slow, two interrupts become one. */
	for (round = 0; round < 5 && most < 2; round++) {
		struct hwheel *wheel = hwt_wheel_new(test, MS);
		struct probe *p = hwt_probes_new(test, wheel, MS, n);
		u64 ahead = 0, seen;
		ktime_t due, now, looked = 0;

		hwt_hold();
		due = div_u64(hwheel_now(wheel) + 600 * MS, 128 * MS) * 128 * MS + 30 * MS;
		for (i = 0; i < n; i++)
			hwt_probe_add_at(&p[i], due + i % 90 * MS, 0);
		p->act = act_note_interrupts;
		hwt_unhold();
		for (;;) {
			seen = hwheel_count(wheel, "interrupts");
			now = hwheel_now(wheel);
			if (now >= due)
				break;
			ahead = seen;
			looked = now;
			usleep_range(500, 1000);
		}
		hwt_expect_once(test, p, n);
		most = max3(most, p->n, ahead + 1);
		in_time += looked > due - 10 * MS;
	}
	if (most < 2 && in_time < 3)
		kunit_skip(test, "the host is too slow");
	KUNIT_EXPECT_GE(test, most, 2);
}

/*
 * Arm timers before the first level exists. Interrupts are off meanwhile, so this CPU adds no
 * level. Another CPU may.
 */
static void test_levels_parked(struct kunit *test)
{
	const unsigned int n = 10000;
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probes_new(test, wheel, MS, n);
	unsigned long flags;
	unsigned int i;
	ktime_t base;
	u64 levels;
	bool slow;

	local_irq_save(flags);
	base = hwheel_now(wheel) + 500 * MS;
	for (i = 0; i < n; i++)
		hwt_probe_add_at(&p[i], base + hwt_random_below(500 * MS), 0);
	slow = hwheel_now(wheel) > base;
	levels = hwheel_count(wheel, "levels_added");
	local_irq_restore(flags);
	if (num_online_cpus() == 1)
		KUNIT_EXPECT_EQ(test, levels, 0);
	hwt_expect_once(test, p, n);
	KUNIT_EXPECT_GE(test, hwheel_count(wheel, "levels_added"), 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), n);
	if (!slow)
		hwt_expect_order(test, p, n);
}

/* The free memory, when all has been freed that waits for RCU */
static s64 free_bytes(void)
{
	struct sysinfo si;

	rcu_barrier();
	si_meminfo(&si);
	return (s64)si.freeram * si.mem_unit;
}

/* The memory that a wheel may take without its bases, mostly for debugfs files */
#define WHEEL_BYTES	12288
/* The memory that each base may take: 4 KiB for the parking lot, 8 KiB for a level */
#define BASE_BYTES	12288

/* The shortest time of hwheel_setup() for a timer whose memory was filled with @byte */
static s64 setup_ns(struct kunit *test, int byte)
{
	struct hwheel_timer *timer = kunit_kmalloc(test, sizeof(*timer), GFP_KERNEL);
	s64 least = S64_MAX;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, timer);
	for (i = 0; i < 1000; i++) {
		ktime_t begin;

		memset(timer, byte, sizeof(*timer));
		begin = ktime_get();
		hwheel_setup(timer, hwt_suite_wheel, hwt_probe_run, 0);
		least = min_t(s64, least, ktime_get() - begin);
	}
	return least;
}

static s64 median_of_3(const s64 *v)
{
	return max(min(v[0], v[1]), min(max(v[0], v[1]), v[2]));
}

static void test_thousand_wheels(struct kunit *test)
{
	const unsigned int n = hwt_many / 100;
	const s64 most = n * (WHEEL_BYTES + (s64)BASE_BYTES * num_possible_cpus());
	struct hwheel **wheels = kunit_kcalloc(test, n, sizeof(*wheels), GFP_KERNEL);
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, n);
	s64 before, taken[3], lost[3];
	ktime_t begin = ktime_get();
	unsigned int i, round;
	char name[24];

	KUNIT_ASSERT_NOT_NULL(test, wheels);
	/*
	 * What each CPU keeps of free pages is not counted as free, and grows or shrinks now and
	 * then by megabytes, which does not change the median of the rounds.
	 */
	for (round = 0; round < 3; round++) {
		before = free_bytes();
		for (i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "kunit-many-%u", i);
			wheels[i] = hwheel_create(&(struct hwheel_config){
				.name = name, .context = hwt_suite_context });
			if (IS_ERR(wheels[i])) {
				KUNIT_FAIL(test, "wheel %u: %pe", i, wheels[i]);
				continue;
			}
			hwt_probe_setup(&p[i], wheels[i], MS);
			hwt_probe_add(&p[i], i % 100 * MS);
		}
		hwt_expect_once(test, p, n);
		taken[round] = before - free_bytes();
		/*
		 * hwheel_setup() does not search the wheels for a timer, whatever the
		 * timer's memory holds. With few wheels, the test would not notice such a
		 * search.
		 */
		if (!round && n >= 1000)
			KUNIT_EXPECT_LT(test, setup_ns(test, 0xa5),
					4 * setup_ns(test, 0) + n / 2);
		for (i = 0; i < n; i++) {
			hwheel_shutdown_sync(&p[i].timer);
			hwheel_destroy(wheels[i]);
			hwt_probe_setup(&p[i], hwt_suite_wheel, SUITE_TICK_NS);
		}
		lost[round] = before - free_bytes();
	}
	kunit_info(test, "%u wheels, 3 times: %lld ns, %lld bytes, afterwards %lld bytes", n,
		   ktime_get() - begin, median_of_3(taken), median_of_3(lost));
	KUNIT_EXPECT_LT(test, ktime_get() - begin, SECS(60));
	/* With few wheels, the allocations of others would disturb the result too much. */
	if (n >= 1000 && !IS_ENABLED(CONFIG_KASAN) && !IS_ENABLED(CONFIG_PROVE_LOCKING)) {
		KUNIT_EXPECT_LT(test, median_of_3(taken), most);
		KUNIT_EXPECT_LT(test, median_of_3(lost), most / 6);
	}
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_wheels, context,			\
		  KUNIT_CASE(test_come_and_go),			\
		  KUNIT_CASE(test_several),			\
		  KUNIT_CASE(test_destroy_pending),		\
		  KUNIT_CASE(test_destroy_deaf),		\
		  KUNIT_CASE(test_levels_made),			\
		  KUNIT_CASE(test_levels_crowd),		\
		  KUNIT_CASE(test_levels_parked),		\
		  KUNIT_CASE(test_thousand_wheels),		\
		  ##__VA_ARGS__)

SUITE(softirq, KUNIT_CASE(test_create_errors), KUNIT_CASE(test_destroy_system));
SUITE(hardirq);
SUITE(work);

kunit_test_suites(&hwheel_wheels_softirq, &hwheel_wheels_hardirq, &hwheel_wheels_work);
