/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All suites of hwheel_kunit use this header. hwheel_test.c has the code. Shared symbols
 * begin with hwt_, as the tests may be built into the kernel.
 */
#ifndef _HWHEEL_TEST_H
#define _HWHEEL_TEST_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/prandom.h>

#include "hwheel.h"

#define MS		((s64)NSEC_PER_MSEC)
#define SECS(n)		((s64)(n) * NSEC_PER_SEC)
#define HOUR		SECS(3600)
#define DAY		SECS(86400)

/* The tick of the system wheel, if hwheel.ko was loaded without parameters */
#define SYSTEM_TICK_NS	NSEC_PER_MSEC
#define SUITE_TICK_NS	SYSTEM_TICK_NS
/* A test gives up waiting after this time. It is long, as hosts may be loaded. */
#define WAIT_MS		240000

/* Module parameters */
extern unsigned int hwt_days;	/* of simulated time; 0: time is real */
extern unsigned long hwt_seed;
extern unsigned int hwt_many;

/* Random numbers, all derived from hwt_seed */
extern struct rnd_state hwt_rnd;
u64 hwt_random_below(u64 below);
u64 hwt_random_magnitude(u64 most);

/* Wait for @cond. If @cond does not become true, fail the test and return false. */
#define wait_for(test, cond)						\
({									\
	ktime_t give_up = ktime_add_ms(ktime_get(), WAIT_MS);		\
	bool came_true;							\
									\
	while (!(came_true = (cond)) &&					\
	       ktime_before(ktime_get(), give_up))			\
		usleep_range(500, 1000);				\
	if (!came_true)							\
		KUNIT_FAIL(test, "after %d s not true: " #cond,		\
			   WAIT_MS / 1000);				\
	came_true;							\
})

/* The kernel log */
void hwt_expect_begin(void);
void hwt_expect_end(void);
unsigned int hwt_logged(const char *what, const char *name);
void hwt_expect_warned(struct kunit *test, const char *what, const char *name);

/**
 * struct probe - a timer whose callback records when and where it ran
 * @timer: the timer
 * @act: called at the end of the callback, or NULL; may free the probe
 * @wheel: its wheel
 * @tick_ns: the tick of @wheel
 * @other: for @act
 * @from: the earliest time for which the probe may have been armed
 * @to: the latest time for which the probe may have been armed
 * @expires: hwheel_expires() when the callback began
 * @began: the time when the callback began
 * @n: for @act
 * @shared: another task may arm the probe while its callback begins
 * @fault: the fault that the callback found, or NULL
 * @runs: how often the callback has run
 * @order: number of its last run, counting the runs of all probes since hwt_init()
 * @ret: for @act
 * @cpu: the CPU on which the callback ran
 */
struct probe {
	struct hwheel_timer	timer;
	void			(*act)(struct probe *p);
	struct hwheel		*wheel;
	u64			tick_ns;
	struct probe		*other;
	ktime_t			from;
	ktime_t			to;
	ktime_t			expires;
	ktime_t			began;
	u64			n;
	bool			shared;
	const char		*fault;
	unsigned int		runs;
	int			order;
	int			ret;
	int			cpu;
};

/* The context of the running suite, and a wheel whose callbacks run in that context. */
extern enum hwheel_context hwt_suite_context;
extern struct hwheel *hwt_suite_wheel;
extern atomic_t hwt_probes_run;
/*
 * The latest time that a clock showed before the test set it back, or 0. A run reads the
 * clock, then calls the callback. If another CPU sets the clock back in between, the callback
 * begins early. hwt_overtaken counts these callbacks. They are no fault.
 */
extern ktime_t hwt_clock_was;
extern atomic_t hwt_overtaken;

void hwt_hold(void);
void hwt_unhold(void);

/* Wheels and probes; hwt_exit() frees those of a test. */
struct hwheel *hwt_wheel_make(struct kunit *test, struct hwheel_config config);
struct hwheel *hwt_wheel_new(struct kunit *test, u64 tick_ns);
void hwt_wheel_destroy(struct kunit *test);
void hwt_wheel_forget(void);
void hwt_probe_run(struct hwheel_timer *timer);
void hwt_probe_setup(struct probe *p, struct hwheel *wheel, u64 tick_ns);
struct probe *hwt_probes_new(struct kunit *test, struct hwheel *wheel,
			     u64 tick_ns, size_t n);
struct probe *hwt_probe_new(struct kunit *test, struct hwheel *wheel, u64 tick_ns);
void hwt_probes_free(void);

static inline unsigned int runs(const struct probe *p)
{
	return READ_ONCE(p->runs);
}

/* Arming */
bool hwt_probe_add(struct probe *p, ktime_t delay);
bool hwt_probe_add_range(struct probe *p, ktime_t delay, ktime_t slack);
bool hwt_probe_add_at(struct probe *p, ktime_t expires, ktime_t slack);

enum op {
	ADD, ADD_RANGE, ADD_AT, ADD_ON, REDUCE, MOD_PENDING, CANCEL, TRY_CANCEL,
	CANCEL_SYNC, SHUTDOWN, SHUTDOWN_SYNC, OPS
};

int hwt_probe_op(struct probe *p, enum op op);

/* All calls that arm; hwt_probe_arm() passes @time as delay, expiration or interval. */
enum { ARM_ADD, ARM_RANGE, ARM_AT, ARM_AT_SLACK, ARM_ON, ARM_REDUCE, ARM_MOD, ARM_FORWARD, ARMS };

void hwt_probe_arm(struct probe *p, unsigned int how, ktime_t time);

/* Verdicts */
void hwt_expect_balance(struct kunit *test, const struct hwheel *wheel);
const char *hwt_probe_fault(const struct probe *p);
void hwt_fail_probe(struct kunit *test, const struct probe *p, const char *fault);
void hwt_expect_once(struct kunit *test, const struct probe *p, size_t n);
void hwt_expect_order(struct kunit *test, struct probe *p, size_t n);
size_t hwt_distinct_ticks(struct kunit *test, const struct probe *p, size_t n);

/* Functions for several tests */
void hwt_levels_made(struct kunit *test, struct probe *p, ktime_t delay);
void hwt_busy(ktime_t ns);
void hwt_act_50_us(struct probe *p);

/* Suites */
int hwt_seed_begin(struct kunit_suite *suite);
int hwt_suite_begin(struct kunit_suite *suite, enum hwheel_context context);
int hwt_begin_softirq(struct kunit_suite *suite);
int hwt_begin_hardirq(struct kunit_suite *suite);
int hwt_begin_work(struct kunit_suite *suite);
void hwt_suite_end(struct kunit_suite *suite);
int hwt_init(struct kunit *test);
void hwt_exit(struct kunit *test);

/* Define a suite of tests/NAME.c. @file is hwheel_NAME. The suite is @file_@context. */
#define HWT_SUITE(file, context, ...)					\
static struct kunit_case file##_##context##_cases[] = {			\
	__VA_ARGS__,							\
	{}								\
};									\
									\
static struct kunit_suite file##_##context = {				\
	.name		= #file "_" #context,				\
	.suite_init	= hwt_begin_##context,				\
	.suite_exit	= hwt_suite_end,				\
	.init		= hwt_init,					\
	.exit		= hwt_exit,					\
	.test_cases	= file##_##context##_cases,			\
}

#endif /* _HWHEEL_TEST_H */
