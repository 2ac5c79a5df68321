// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of hwheel: the code that all suites share. The suite hwheel_NAME is in
 * tests/NAME.c. Cases that run in each context of callbacks belong to three suites:
 * hwheel_NAME_softirq, hwheel_NAME_hardirq and hwheel_NAME_work.
 *
 * hwheel_levels tests the layered wheel alone. The tests tell the wheel the time. They
 * compare the wheel with a sorted list, or search every spoke for a timer.
 *
 * Most suites test the running module through its API. They arm probes: timers
 * whose callback records when, where and how often it ran. A test arms a probe for a
 * window of time, and hwt_expect_once() compares the record with the window. The tests
 * use the kernel's clock. So timers may be late on a loaded host, but never early. Only in
 * simulated time (parameter days) does hwt_expect_once() check how late a timer is.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kmsg_dump.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/smp.h>
#include <linux/sort.h>

#include "tests/test.h"

/* Tolerance in simulated time, whose clock has a resolution of 256 ns. */
#define GRAIN_NS	2000

unsigned int hwt_days;
module_param_named(days, hwt_days, uint, 0444);
MODULE_PARM_DESC(days, "let these days of simulated time pass (UML with time-travel=inf-cpu)");

unsigned long hwt_seed;
module_param_named(seed, hwt_seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of all random choices; 0: a random seed, which is logged");

unsigned int hwt_many = 100000;
module_param_named(many, hwt_many, uint, 0444);
MODULE_PARM_DESC(many, "number of timers of the largest tests, at least 100; the test of many wheels makes a hundredth of this number");

struct rnd_state hwt_rnd;

static u64 random_u64(void)
{
	return (u64)prandom_u32_state(&hwt_rnd) << 32 | prandom_u32_state(&hwt_rnd);
}

/* A random number from 0 to @below - 1. */
u64 hwt_random_below(u64 below)
{
	u64 n = random_u64();

	return n - div64_u64(n, below) * below;
}

/* A random number from 0 to @most - 1. All lengths in bits are about equally likely. */
u64 hwt_random_magnitude(u64 most)
{
	return hwt_random_below(most) >> hwt_random_below(fls64(most));
}

int hwt_seed_begin(struct kunit_suite *suite)
{
	if (!hwt_seed)
		hwt_seed = get_random_u32() | 1;
	prandom_seed_state(&hwt_rnd, hwt_seed);
	pr_info("hwheel_kunit: %s: seed=%lu\n", suite->name, hwt_seed);
	return 0;
}

/* Warnings logged between these two calls are expected. */
void hwt_expect_begin(void)
{
	pr_info("hwheel-expect-begin\n");
}

void hwt_expect_end(void)
{
	pr_info("hwheel-expect-end\n");
}

/* Count the lines of the kernel log that contain @what and, if not NULL, @name. */
unsigned int hwt_logged(const char *what, const char *name)
{
	struct kmsg_dump_iter iter;
	static char line[512];
	unsigned int n = 0;
	size_t len;

	kmsg_dump_rewind(&iter);
	while (kmsg_dump_get_line(&iter, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		n += strstr(line, what) && (!name || strstr(line, name));
	}
	return n;
}

/*
 * Expect a warning with @what and @name in the log. An earlier test may have caused it: hwheel.ko
 * warns five times a minute of each mistake.
 */
void hwt_expect_warned(struct kunit *test, const char *what, const char *name)
{
	KUNIT_EXPECT_GE_MSG(test, hwt_logged(what, name), 1, "warnings \"%s\"", what);
}

/* The context of the running suite, and a wheel whose callbacks run in that context. */
enum hwheel_context hwt_suite_context;
struct hwheel *hwt_suite_wheel;

static bool in_suite_context(void)
{
	switch (hwt_suite_context) {
	case HWHEEL_SOFTIRQ:
		return in_serving_softirq() && !in_hardirq() && !irqs_disabled();
	case HWHEEL_HARDIRQ:
		return in_hardirq() && irqs_disabled();
	default:
		might_sleep();
		return in_task() && !preempt_count() && !irqs_disabled();
	}
}

static unsigned long held_flags;

/* Stay on this CPU and let no callback of the suite's wheels run on it. */
void hwt_hold(void)
{
	if (hwt_suite_context == HWHEEL_SOFTIRQ) {
		local_bh_disable();
	} else if (hwt_suite_context == HWHEEL_WORK) {
		preempt_disable();	/* callbacks run in a kworker */
	} else {
		unsigned long flags;

		local_irq_save(flags);
		held_flags = flags;
	}
}

void hwt_unhold(void)
{
	if (hwt_suite_context == HWHEEL_SOFTIRQ)
		local_bh_enable();
	else if (hwt_suite_context == HWHEEL_WORK)
		preempt_enable();
	else
		local_irq_restore(held_flags);
}

/* The probes and wheels of a test. hwt_exit() frees them, even after a failed assertion. */
static struct {
	struct {
		struct probe	*p;
		size_t		n;
	} probes[32];
	unsigned int		nr_probes;
	struct hwheel		*wheels[32];
	unsigned int		nr_wheels;
} made;

atomic_t hwt_probes_run;
ktime_t hwt_clock_was;
atomic_t hwt_overtaken;

void hwt_probe_run(struct hwheel_timer *timer)
{
	struct probe *p = hwheel_container_of(p, timer, timer);

	p->began = hwheel_now(p->wheel);
	p->expires = hwheel_expires(timer);
	if (!p->shared && p->began < max(p->expires, p->from)) {
		if (max(p->expires, p->from) <= READ_ONCE(hwt_clock_was))
			atomic_inc(&hwt_overtaken);
		else
			p->fault = "it ran early";
	} else if (!p->shared && hwheel_pending(timer)) {
		p->fault = "it was pending when its callback began";
	} else if (!in_suite_context()) {
		p->fault = "it ran in another context than its wheel's";
	}
	p->order = atomic_inc_return(&hwt_probes_run);
	p->cpu = raw_smp_processor_id();
	WRITE_ONCE(p->runs, p->runs + 1);
	if (p->act)
		p->act(p);
}

void hwt_probe_setup(struct probe *p, struct hwheel *wheel, u64 tick_ns)
{
	memset(p, 0, sizeof(*p));
	p->wheel = wheel;
	p->tick_ns = tick_ns;
	hwheel_setup(&p->timer, wheel, hwt_probe_run, 0);
}

/* Set up @n probes on @wheel. hwt_exit() shuts them down. */
struct probe *hwt_probes_new(struct kunit *test, struct hwheel *wheel,
			     u64 tick_ns, size_t n)
{
	struct probe *p;
	size_t i;

	KUNIT_ASSERT_LT(test, made.nr_probes, ARRAY_SIZE(made.probes));
	p = kvcalloc(n, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < n; i++)
		hwt_probe_setup(&p[i], wheel, tick_ns);
	made.probes[made.nr_probes].p = p;
	made.probes[made.nr_probes++].n = n;
	return p;
}

/* Free the newest array of probes. The caller has shut them down. */
void hwt_probes_free(void)
{
	kvfree(made.probes[--made.nr_probes].p);
}

struct probe *hwt_probe_new(struct kunit *test, struct hwheel *wheel, u64 tick_ns)
{
	return hwt_probes_new(test, wheel, tick_ns, 1);
}

/* Create a wheel from @config, with a unique name. hwt_exit() destroys it. */
struct hwheel *hwt_wheel_make(struct kunit *test, struct hwheel_config config)
{
	struct hwheel *wheel;
	static u32 number;
	char name[16];

	KUNIT_ASSERT_LT(test, made.nr_wheels, ARRAY_SIZE(made.wheels));
	snprintf(name, sizeof(name), "kunit-%u", number++);
	config.name = name;
	config.context = hwt_suite_context;
	wheel = hwheel_create(&config);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(wheel));
	made.wheels[made.nr_wheels++] = wheel;
	return wheel;
}

struct hwheel *hwt_wheel_new(struct kunit *test, u64 tick_ns)
{
	return hwt_wheel_make(test, (struct hwheel_config){ .tick_ns = tick_ns });
}

/*
 * If no timer is pending: added = expired + cancelled. Re-arming a pending timer changes none
 * of these counts.
 */
void hwt_expect_balance(struct kunit *test, const struct hwheel *wheel)
{
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "added"),
			hwheel_count(wheel, "expired") +
			hwheel_count(wheel, "cancelled"));
}

/* Destroy the newest wheel. The caller has shut down its timers. */
void hwt_wheel_destroy(struct kunit *test)
{
	struct hwheel *wheel = made.wheels[--made.nr_wheels];

	hwt_expect_balance(test, wheel);
	hwheel_destroy(wheel);
}

/* Leave it to the test to destroy the newest wheel. */
void hwt_wheel_forget(void)
{
	made.nr_wheels--;
}

int hwt_init(struct kunit *test)
{
	atomic_set(&hwt_probes_run, 0);
	return 0;
}

void hwt_exit(struct kunit *test)
{
	while (made.nr_probes) {
		struct probe *p = made.probes[--made.nr_probes].p;
		size_t i, n = made.probes[made.nr_probes].n, faults = 0;

		for (i = 0; i < n; i++) {
			hwheel_shutdown_sync(&p[i].timer);
			if (p[i].fault && !faults++)
				KUNIT_FAIL(test, "%zu: %s: from %lld, expires %lld, began %lld",
					   i, p[i].fault, p[i].from,
					   p[i].expires, p[i].began);
		}
		kvfree(p);
	}
	while (made.nr_wheels)
		hwt_wheel_destroy(test);
	hwt_expect_balance(test, hwt_suite_wheel);
	hwt_expect_balance(test, hwheel_system);
}

/* min(@now + @delay, KTIME_MAX), without overflow */
static ktime_t later(ktime_t now, ktime_t delay)
{
	return delay > KTIME_MAX - now ? KTIME_MAX : now + delay;
}

/*
 * Arm a probe, and note the window of its expiration. The callback reads only @from. So these
 * functions write @from before they arm the probe.
 */
bool hwt_probe_add_range(struct probe *p, ktime_t delay, ktime_t slack)
{
	bool ret;

	p->from = later(hwheel_now(p->wheel), delay);
	ret = hwheel_add_range(&p->timer, delay, slack);
	p->to = later(later(hwheel_now(p->wheel), delay), slack);
	return ret;
}

bool hwt_probe_add(struct probe *p, ktime_t delay)
{
	bool ret;

	p->from = later(hwheel_now(p->wheel), delay);
	ret = hwheel_add(&p->timer, delay);
	p->to = later(hwheel_now(p->wheel), delay);
	return ret;
}

bool hwt_probe_add_at(struct probe *p, ktime_t expires, ktime_t slack)
{
	p->from = expires;
	p->to = later(expires, slack);
	return hwheel_add_at(&p->timer, expires, slack);
}

/*
 * In simulated time a timer is late by at most a tick. The tests allow more in two contexts.
 * In hardirq context a run takes a break after a batch of list moves. In process context each
 * reading of the clock advances the clock.
 */
static ktime_t late_allowed(const struct probe *p)
{
	static const ktime_t more[] = {
		[HWHEEL_SOFTIRQ] = GRAIN_NS,
		[HWHEEL_HARDIRQ] = 10 * MS,
		[HWHEEL_WORK]	 = 100 * MS,
	};

	return p->tick_ns + more[hwt_suite_context];
}

static ktime_t probe_late(const struct probe *p)
{
	return p->began - max(p->expires, p->from);
}

/* Check a probe that should have run once. Returns what is wrong, or NULL. */
const char *hwt_probe_fault(const struct probe *p)
{
	if (p->fault)
		return p->fault;
	if (!runs(p))
		return "it has not run";
	if (runs(p) != 1)
		return "it ran more than once";
	if (hwheel_pending(&p->timer))
		return "it is pending";
	if (p->expires < p->from)
		return "it was armed for an instant before its window";
	if (p->expires > p->to)
		return "it was armed for an instant after its window";
	if (hwt_days && probe_late(p) >= late_allowed(p))
		return "it was more than a tick late";
	return NULL;
}

void hwt_fail_probe(struct kunit *test, const struct probe *p, const char *fault)
{
	KUNIT_FAIL(test, "%s: tick %llu, window %lld to %lld, expires %lld, began %lld, runs %u",
		   fault, p->tick_ns, p->from, p->to, p->expires, p->began, runs(p));
}

/* Wait until all @n probes have run, and check that each ran once. */
void hwt_expect_once(struct kunit *test, const struct probe *p, size_t n)
{
	ktime_t late = 0;
	size_t i, faults = 0;

	for (i = 0; i < n; i++)
		if (!runs(&p[i]) && !wait_for(test, runs(&p[i])))
			break;
	msleep(20);	/* for a second run, which would be a fault */
	for (i = 0; i < n; i++) {
		const char *fault = hwt_probe_fault(&p[i]);

		late = max(late, probe_late(&p[i]));
		if (fault && faults++ < 3)
			hwt_fail_probe(test, &p[i], fault);
	}
	if (faults > 3)
		KUNIT_FAIL(test, "%zu of %zu probes failed", faults, n);
	kunit_info(test, "%zu timers, tick %llu ns: at most %lld ns late",
		   n, p->tick_ns, late);
}

/* The tick at which @p was due */
static u64 tick_of(const struct probe *p)
{
	return DIV_ROUND_UP_ULL(p->expires, p->tick_ns);
}

static int compare_order(const void *a, const void *b)
{
	return (*(const struct probe **)a)->order - (*(const struct probe **)b)->order;
}

/* Check that @n probes have run in the order of their ticks. */
void hwt_expect_order(struct kunit *test, struct probe *p, size_t n)
{
	struct probe **sorted = kunit_kzalloc(test, n * sizeof(*sorted), GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, sorted);
	for (i = 0; i < n; i++)
		sorted[i] = &p[i];
	sort(sorted, n, sizeof(*sorted), compare_order, NULL);
	for (i = 1; i < n; i++) {
		if (tick_of(sorted[i - 1]) <= tick_of(sorted[i]))
			continue;
		KUNIT_FAIL(test, "run %zu was for tick %llu, the next for %llu",
			   i - 1, tick_of(sorted[i - 1]), tick_of(sorted[i]));
		break;
	}
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Count the different ticks at which @n probes were due. */
size_t hwt_distinct_ticks(struct kunit *test, const struct probe *p, size_t n)
{
	u64 *ticks = kunit_kzalloc(test, n * sizeof(*ticks), GFP_KERNEL);
	size_t i, distinct = 1;

	KUNIT_ASSERT_NOT_NULL(test, ticks);
	for (i = 0; i < n; i++)
		ticks[i] = tick_of(&p[i]);
	sort(ticks, n, sizeof(*ticks), compare_u64, NULL);
	for (i = 1; i < n; i++)
		distinct += ticks[i] != ticks[i - 1];
	return distinct;
}

int hwt_probe_op(struct probe *p, enum op op)
{
	struct hwheel_timer *timer = &p->timer;

	switch (op) {
	case ADD:
		return hwheel_add(timer, HOUR);
	case ADD_RANGE:
		return hwheel_add_range(timer, HOUR, SECS(1));
	case ADD_AT:
		return hwheel_add_at(timer, hwheel_now(p->wheel) + HOUR, 0);
	case ADD_ON:
		return hwheel_add_on(timer, HOUR, 0);
	case REDUCE:
		return hwheel_reduce(timer, HOUR);
	case MOD_PENDING:
		return hwheel_mod_pending(timer, HOUR);
	case CANCEL:
		return hwheel_cancel(timer);
	case TRY_CANCEL:
		return hwheel_try_cancel(timer);
	case CANCEL_SYNC:
		return hwheel_cancel_sync(timer);
	case SHUTDOWN:
		return hwheel_shutdown(timer);
	case SHUTDOWN_SYNC:
		return hwheel_shutdown_sync(timer);
	default:
		return -2;
	}
}

void hwt_probe_arm(struct probe *p, unsigned int how, ktime_t time)
{
	struct hwheel_timer *timer = &p->timer;

	switch (how) {
	case ARM_ADD:
		hwheel_add(timer, time);
		break;
	case ARM_RANGE:
		hwheel_add_range(timer, time, 10);
		break;
	case ARM_AT:
		hwheel_add_at(timer, time, 0);
		break;
	case ARM_AT_SLACK:
		hwheel_add_at(timer, time, -5);
		break;
	case ARM_ON:
		hwheel_add_on(timer, time, raw_smp_processor_id());
		break;
	case ARM_REDUCE:
		hwheel_reduce(timer, time);
		break;
	case ARM_MOD:
		hwheel_add(timer, HOUR);
		hwheel_mod_pending(timer, time);
		break;
	case ARM_FORWARD:
		hwheel_add_at(timer, hwheel_now(p->wheel), 0);
		hwheel_add_forward(timer, time);
		break;
	}
}

/*
 * Make the wheel of @p, whose levels have 128 spokes, add the level for @delay and those below it
 * on each CPU. This may cost interrupts.
 */
void hwt_levels_made(struct kunit *test, struct probe *p, ktime_t delay)
{
	int cpu;

	for (; delay >= MS; delay = div_u64(delay, 100)) {
		for_each_online_cpu(cpu) {
			unsigned int n = runs(p);

			hwheel_add_on(&p->timer, delay, cpu);
			wait_for(test, runs(p) > n);
			msleep(50);
		}
	}
}

/*
 * Spend @ns. In real time udelay() may be wrong, as it was calibrated on a busy host. In
 * simulated time a loop takes no time, but udelay() does.
 */
void hwt_busy(ktime_t ns)
{
	ktime_t end = ktime_get() + ns;
	u32 rest;

	if (hwt_days) {
		mdelay(div_u64_rem(ns, NSEC_PER_MSEC, &rest));
		udelay(rest / NSEC_PER_USEC);
	} else {
		while (ktime_get() < end)
			cpu_relax();
	}
}

void hwt_act_50_us(struct probe *p)
{
	hwt_busy(50000);
}

int hwt_suite_begin(struct kunit_suite *suite, enum hwheel_context context)
{
	hwt_suite_context = context;
	hwt_suite_wheel = hwheel_system;
	if (context != HWHEEL_SOFTIRQ)
		hwt_suite_wheel = hwheel_create(&(struct hwheel_config){
			.name = suite->name, .context = context });
	return PTR_ERR_OR_ZERO(hwt_suite_wheel) ?: hwt_seed_begin(suite);
}

void hwt_suite_end(struct kunit_suite *suite)
{
	if (hwt_suite_wheel != hwheel_system)
		hwheel_destroy(hwt_suite_wheel);
}

int hwt_begin_softirq(struct kunit_suite *suite)
{
	return hwt_suite_begin(suite, HWHEEL_SOFTIRQ);
}

int hwt_begin_hardirq(struct kunit_suite *suite)
{
	return hwt_suite_begin(suite, HWHEEL_HARDIRQ);
}

int hwt_begin_work(struct kunit_suite *suite)
{
	return hwt_suite_begin(suite, HWHEEL_WORK);
}

MODULE_DESCRIPTION("KUnit tests of hwheel");
MODULE_LICENSE("GPL");
