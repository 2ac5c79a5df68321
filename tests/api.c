// SPDX-License-Identifier: GPL-2.0
/*
 * Suites hwheel_api_*: arming, cancelling, re-arming, periods, the three ways to set a
 * timer up. The tests check that each probe expires within the window for which it was
 * armed, and that its callback does not begin early. In each state, each call must return
 * whether the timer was pending.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "test.h"

/* ------------------------------------------------------------------------ */
/* Arming */

static void test_random_delays(struct kunit *test)
{
	static const struct hwheel_config configs[] = {
		{ .tick_ns = 1000 },
		{ .tick_ns = 100000 },
		{ .tick_ns = 20 * MS, .levels = 3, .spokes = { 10, 60, 5 } },
	};
	struct probe *p[ARRAY_SIZE(configs) + 1];
	const unsigned int n = 300;
	unsigned int i, j;

	p[0] = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, n);
	for (j = 0; j < ARRAY_SIZE(configs); j++)
		p[j + 1] = hwt_probes_new(test, hwt_wheel_make(test, configs[j]),
					  configs[j].tick_ns, n);

	for (i = 0; i < n; i++) {
		for (j = 0; j < ARRAY_SIZE(p); j++) {
			struct probe *q = &p[j][i];
			ktime_t delay = hwt_random_magnitude(300 * MS);
			ktime_t slack = hwt_random_magnitude(50 * MS);
			bool ret;

			if (i % 3 == 0)
				ret = hwt_probe_add(q, delay);
			else if (i % 3 == 1)
				ret = hwt_probe_add_range(q, delay, slack);
			else
				ret = hwt_probe_add_at(q, hwheel_now(q->wheel) + delay + 1,
						       i % 2 ? slack : 0);
			KUNIT_EXPECT_FALSE(test, ret);
		}
	}
	for (j = 0; j < ARRAY_SIZE(p); j++)
		hwt_expect_once(test, p[j], n);
}

enum state { FRESH, PENDING, FIRED, CANCELLED, SHUT_DOWN, SET_UP_AGAIN, STATES };

static const char * const state_names[STATES] = {
	"fresh", "pending", "fired", "cancelled", "shut down", "set up again",
};

static void probe_bring(struct kunit *test, struct probe *p, enum state state)
{
	hwt_probe_setup(p, p->wheel, p->tick_ns);
	if (state == PENDING || state == CANCELLED)
		hwheel_add(&p->timer, 2 * HOUR);
	if (state == FIRED) {
		hwheel_add(&p->timer, 0);
		wait_for(test, runs(p));
	}
	if (state == CANCELLED)
		hwheel_cancel(&p->timer);
	if (state == SHUT_DOWN || state == SET_UP_AGAIN)
		hwheel_shutdown(&p->timer);
	if (state == SET_UP_AGAIN)
		hwheel_setup(&p->timer, p->wheel, hwt_probe_run, 0);
}

static void test_returns(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	unsigned int state, op;

	for (state = 0; state < STATES; state++) {
		for (op = 0; op < OPS; op++) {
			bool before = state == PENDING, after = false;
			unsigned int ran;
			ktime_t now;

			if (op <= REDUCE)
				after = state != SHUT_DOWN;
			else if (op == MOD_PENDING)
				after = before;

			probe_bring(test, p, state);
			ran = runs(p);
			KUNIT_EXPECT_EQ(test, hwheel_pending(&p->timer), before);
			now = hwheel_now(wheel);
			KUNIT_EXPECT_EQ_MSG(test, hwt_probe_op(p, op), before,
					    "%s, op %u", state_names[state], op);
			KUNIT_EXPECT_EQ_MSG(test, hwheel_pending(&p->timer), after,
					    "%s, op %u", state_names[state], op);
			if (after) {
				KUNIT_EXPECT_GE(test, hwheel_expires(&p->timer), now + HOUR);
				KUNIT_EXPECT_LE(test, hwheel_expires(&p->timer),
						hwheel_now(wheel) + HOUR + SECS(1));
				KUNIT_EXPECT_LE(test, hwheel_remaining(&p->timer),
						HOUR + SECS(1));
			}
			/* A timer that is shut down can't be armed. All others can. */
			KUNIT_EXPECT_EQ(test, hwheel_add(&p->timer, HOUR), after);
			KUNIT_EXPECT_EQ_MSG(test, hwheel_pending(&p->timer),
					    state != SHUT_DOWN && op < SHUTDOWN,
					    "%s, op %u", state_names[state], op);
			hwheel_shutdown_sync(&p->timer);
			KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
			KUNIT_EXPECT_EQ(test, runs(p), ran);
		}
	}
}

static void test_looking(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	ktime_t expires, remaining, before, after;

	hwt_probe_add(p, HOUR);
	expires = hwheel_expires(&p->timer);
	KUNIT_EXPECT_GE(test, expires, p->from);
	KUNIT_EXPECT_LE(test, expires, p->to);

	before = hwheel_now(wheel);
	remaining = hwheel_remaining(&p->timer);
	after = hwheel_now(wheel);
	KUNIT_EXPECT_LE(test, remaining, expires - before);
	KUNIT_EXPECT_GE(test, remaining, expires - after);

	/* A timer that is not pending keeps its last expiration. */
	hwheel_cancel(&p->timer);
	KUNIT_EXPECT_EQ(test, hwheel_expires(&p->timer), expires);

	hwt_probe_add(p, MS);
	wait_for(test, runs(p));
	KUNIT_EXPECT_GE(test, hwheel_expires(&p->timer), p->from);
	KUNIT_EXPECT_LE(test, hwheel_expires(&p->timer), p->to);
	KUNIT_EXPECT_LE(test, hwheel_remaining(&p->timer), 0);

	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "added"), 2);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "cancelled"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "expired"), 1);
	KUNIT_EXPECT_EQ(test, hwheel_count(wheel, "no such counter"), U64_MAX);
}

static void test_past(struct kunit *test)
{
	static const ktime_t times[] = { 0, -1, -SECS(1), -HOUR, KTIME_MIN + 1, KTIME_MIN };
	const unsigned int n = ARRAY_SIZE(times) * ARMS;
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, MS), MS, n);
	unsigned int i, early = 0, lost = 0;

	hwt_expect_begin();		/* warnings about intervals below 1 */
	hwt_hold();
	for (i = 0; i < n; i++)
		hwt_probe_arm(&p[i], i % ARMS, times[i / ARMS]);
	mdelay(3);
	for (i = 0; i < n; i++) {
		early += runs(&p[i]);
		lost += !hwheel_pending(&p[i].timer);
	}
	hwt_unhold();
	hwt_expect_end();
	KUNIT_EXPECT_EQ_MSG(test, early, 0, "callbacks ran inside the caller");
	KUNIT_EXPECT_EQ_MSG(test, lost, 0, "not pending");

	for (i = 0; i < n; i++)
		wait_for(test, runs(&p[i]));
	msleep(20);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ_MSG(test, runs(&p[i]), 1, "probe %u", i);
}

/* A timer that is armed for the past is due at once, even if the wheel's clock is at tick 0. */
static void test_tick_0(struct kunit *test)
{
	struct probe *p = hwt_probes_new(test, hwt_wheel_new(test, HOUR), HOUR, 2);

	if (ktime_get() > HOUR)
		kunit_skip(test, "tick 0 has passed");
	hwheel_add(&p[1].timer, 0);	/* due at tick 1 */
	hwheel_add_at(&p[0].timer, 0, 0);
	wait_for(test, runs(&p[0]));
	KUNIT_EXPECT_EQ(test, runs(&p[0]), 1);
	KUNIT_EXPECT_EQ(test, runs(&p[1]), 0);
}

static void act_past(struct probe *p)
{
	if (!runs(p->other))
		hwheel_add_at(&p->timer, p->n ? p->expires : 0, 0);
}

/*
 * Two callbacks re-arm their timers for the past or for the same time again and again.
 * They must not starve the other timers. One of these is due now, some are due soon, and the
 * others after a cascade.
 */
static void test_past_again_real_time(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_make(test, (struct hwheel_config){
		.tick_ns = MS, .spokes = { 8 } });
	struct probe *p = hwt_probes_new(test, wheel, MS, 14);
	unsigned int i;

	if (hwt_days)
		kunit_skip(test, "callbacks take no simulated time");
	for (i = 0; i < 2; i++) {
		p[i].act = act_past;
		p[i].n = i;
		p[i].shared = true;
		p[i].other = &p[13];
	}
	hwt_hold();
	for (i = 2; i < 14; i++)
		hwt_probe_add(&p[i], i / 3 * i * MS);
	hwheel_add_at(&p[0].timer, 0, 0);
	hwheel_add(&p[1].timer, MS);
	hwt_unhold();
	hwt_expect_once(test, &p[2], 12);
	KUNIT_EXPECT_GT(test, runs(&p[0]), 1);
	KUNIT_EXPECT_GT(test, runs(&p[1]), 1);
}

static void test_far(struct kunit *test)
{
	static const s64 ticks[] = { MS, 1000, NSEC_PER_SEC };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		struct hwheel *wheel = hwt_wheel_new(test, ticks[i]);
		struct probe *p = hwt_probes_new(test, wheel, ticks[i], 8);
		struct probe *huge = hwt_probes_new(test, wheel, ticks[i], 2 * ARMS);
		ktime_t now = hwheel_now(wheel);

		for (j = 0; j < 2 * ARMS; j++) {
			hwt_hold();
			hwt_probe_arm(&huge[j], j / 2, KTIME_MAX - j % 2);
			hwt_unhold();
			KUNIT_EXPECT_GE_MSG(test, hwheel_expires(&huge[j].timer),
					    KTIME_MAX - 1, "how %u", j / 2);
		}

		hwt_probe_add(&p[0], KTIME_MAX);
		hwt_probe_add(&p[1], KTIME_MAX - 1);
		hwt_probe_add_at(&p[2], KTIME_MAX, 0);
		hwt_probe_add_at(&p[3], KTIME_MAX - 1, 0);
		hwt_probe_add_range(&p[4], KTIME_MAX, KTIME_MAX);
		hwt_probe_add_at(&p[5], now + HOUR, KTIME_MAX);
		hwt_probe_add_range(&p[6], KTIME_MAX - HOUR, 2 * HOUR);
		for (j = 0; j < 7; j++) {
			ktime_t expires = hwheel_expires(&p[j].timer);

			KUNIT_EXPECT_TRUE(test, hwheel_pending(&p[j].timer));
			KUNIT_EXPECT_GE_MSG(test, expires, p[j].from, "probe %u", j);
			KUNIT_EXPECT_LE_MSG(test, expires, p[j].to, "probe %u", j);
		}
		hwt_probe_add(&p[7], 5 * MS);
		wait_for(test, runs(&p[7]));
		KUNIT_EXPECT_TRUE(test, !hwt_probe_fault(&p[7]));
		msleep(30);
		for (j = 0; j < 7; j++) {
			KUNIT_EXPECT_EQ_MSG(test, runs(&p[j]), 0, "probe %u", j);
			KUNIT_EXPECT_TRUE_MSG(test, hwheel_pending(&p[j].timer), "probe %u", j);
		}

		for (j = 0; j < 2 * ARMS; j++) {
			KUNIT_EXPECT_EQ_MSG(test, runs(&huge[j]), 0, "how %u", j / 2);
			KUNIT_EXPECT_TRUE_MSG(test, hwheel_cancel(&huge[j].timer),
					      "how %u", j / 2);
		}

		/* Such a far timer can be re-armed for a near time, or cancelled. */
		hwt_hold();
		KUNIT_EXPECT_TRUE(test, hwt_probe_add(&p[0], 2 * MS));
		hwt_unhold();
		for (j = 1; j < 7; j++)
			KUNIT_EXPECT_TRUE_MSG(test, hwheel_cancel(&p[j].timer), "probe %u", j);
		hwt_expect_once(test, p, 1);
		for (j = 1; j < 7; j++)
			KUNIT_EXPECT_EQ_MSG(test, runs(&p[j]), 0, "probe %u", j);
	}
}

static void test_reduce(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	struct hwheel_timer *timer = &p->timer;
	ktime_t expires;

	KUNIT_EXPECT_FALSE(test, hwheel_reduce(timer, HOUR));
	expires = hwheel_expires(timer);
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, 2 * HOUR));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, KTIME_MAX));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, HOUR / 2));
	KUNIT_EXPECT_LE(test, hwheel_expires(timer), hwheel_now(wheel) + HOUR / 2);
	KUNIT_EXPECT_GE(test, hwheel_remaining(timer), HOUR / 2 - SECS(60));

	/* The timer moves from a coarse spoke to a near spoke. */
	KUNIT_EXPECT_TRUE(test, hwheel_add_at(timer, expires, 0));
	hwt_hold();
	KUNIT_EXPECT_TRUE(test, hwheel_reduce(timer, 3 * MS));
	p->from = 0;
	p->to = hwheel_expires(timer);
	hwt_unhold();
	hwt_expect_once(test, p, 1);

	KUNIT_EXPECT_FALSE(test, hwheel_mod_pending(timer, MS));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(timer));
	hwheel_add(timer, HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_mod_pending(timer, 2 * HOUR));
	KUNIT_EXPECT_GE(test, hwheel_remaining(timer), HOUR + 1);
	KUNIT_EXPECT_TRUE(test, hwheel_mod_pending(timer, MS));
	wait_for(test, runs(p) == 2);

	/* The same with instants */
	expires = hwheel_now(wheel) + HOUR;
	KUNIT_EXPECT_FALSE(test, hwheel_add_mode(timer, expires, 0,
						 HWHEEL_MODE_ABS | HWHEEL_MODE_PENDING));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(timer));
	KUNIT_EXPECT_FALSE(test, hwheel_add_mode(timer, expires, 0,
						 HWHEEL_MODE_ABS | HWHEEL_MODE_EARLIER));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_add_mode(timer, expires + 1, 0,
						HWHEEL_MODE_ABS | HWHEEL_MODE_EARLIER));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_add_mode(timer, expires - 1, 0, HWHEEL_MODE_ABS |
						HWHEEL_MODE_EARLIER | HWHEEL_MODE_PENDING));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires - 1);
	KUNIT_EXPECT_TRUE(test, hwheel_add_mode(timer, expires + HOUR, 0,
						HWHEEL_MODE_ABS | HWHEEL_MODE_PENDING));
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires + HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_add_mode(timer, 2 * HOUR, HOUR, HWHEEL_MODE_PENDING));
	KUNIT_EXPECT_GE(test, hwheel_expires(timer), expires + HOUR);
	KUNIT_EXPECT_LE(test, hwheel_expires(timer), hwheel_now(wheel) + 3 * HOUR);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(timer));
}

/* ------------------------------------------------------------------------ */
/* Callbacks that call hwheel */

static void act_rearm(struct probe *p)
{
	if (runs(p) < p->n)
		hwt_probe_add(p, MS / 2);
}

static void test_rearm(struct kunit *test)
{
	static const s64 ticks[] = { MS, 1000, 3 * MS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		struct probe *p = hwt_probe_new(test, hwt_wheel_new(test, ticks[i]), ticks[i]);

		p->act = act_rearm;
		p->n = 50;
		hwt_probe_add(p, 0);
		wait_for(test, runs(p) >= 50);
		msleep(20);
		KUNIT_EXPECT_EQ(test, runs(p), 50);
		KUNIT_EXPECT_FALSE(test, hwheel_pending(&p->timer));
		KUNIT_EXPECT_EQ(test, hwheel_count(p->wheel, "expired"), 50);
	}
}

static void act_cancel_other(struct probe *p)
{
	p->ret = hwheel_cancel(&p->other->timer);
}

/* Two timers of a pair are due at one tick. The first callback cancels the other timer. */
static void test_cancel_other(struct kunit *test)
{
	/* The second delay is beyond the reach of level 0. */
	static const s64 delays[] = { 3 * MS, 200 * MS };
	const unsigned int n = 50;
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, n);
	unsigned int i, j;

	for (j = 0; j < ARRAY_SIZE(delays); j++) {
		ktime_t expires;

		hwt_hold();
		expires = hwheel_now(hwt_suite_wheel) + delays[j];
		for (i = 0; i < n; i++) {
			hwt_probe_setup(&p[i], hwt_suite_wheel, SUITE_TICK_NS);
			p[i].act = act_cancel_other;
			p[i].other = &p[i ^ 1];
			hwt_probe_add_at(&p[i], expires, 0);
		}
		hwt_unhold();
		for (i = 0; i < n; i += 2)
			wait_for(test, runs(&p[i]) || runs(&p[i + 1]));
		msleep(20);
		for (i = 0; i < n; i += 2) {
			KUNIT_EXPECT_EQ(test, runs(&p[i]) + runs(&p[i + 1]), 1);
			KUNIT_EXPECT_EQ(test, p[i].ret + p[i + 1].ret, 1);
		}
	}
}

static void act_cancel(struct probe *p)
{
	p->ret = hwheel_cancel(&p->timer);
}

static void act_shutdown(struct probe *p)
{
	p->ret = hwheel_shutdown(&p->timer) | hwheel_add(&p->timer, 0) |
		 hwheel_pending(&p->timer);
}

static void act_add_cancel(struct probe *p)
{
	p->ret = !hwheel_add(&p->timer, MS) && hwheel_cancel(&p->timer);
}

static void act_add_shutdown(struct probe *p)
{
	p->ret = !hwheel_add(&p->timer, MS) && hwheel_shutdown(&p->timer);
}

static void act_shutdown_setup(struct probe *p)
{
	hwheel_shutdown(&p->timer);
	hwheel_setup(&p->timer, p->wheel, hwt_probe_run, 0);
	p->act = NULL;
	p->ret = hwt_probe_add(p, MS);
}

static atomic_t freed;

static void act_free(struct probe *p)
{
	kfree(p);
	atomic_inc(&freed);
}

static void test_own_end(struct kunit *test)
{
	static void (*const acts[])(struct probe *p) = {
		act_cancel, act_shutdown, act_add_cancel, act_add_shutdown,
		act_shutdown_setup,
	};
	static const int rets[] = { 0, 0, 1, 1, 0 };
	struct probe *p = hwt_probes_new(test, hwt_suite_wheel, SUITE_TICK_NS, ARRAY_SIZE(acts));
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		p[i].act = acts[i];
		hwt_probe_add(&p[i], MS);
	}
	atomic_set(&freed, 0);
	for (i = 0; i < 20; i++) {
		struct probe *q = kzalloc(sizeof(*q), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, q);
		hwt_probe_setup(q, hwt_suite_wheel, SUITE_TICK_NS);
		q->act = act_free;
		hwheel_add(&q->timer, i * MS / 4);
	}
	wait_for(test, atomic_read(&freed) == 20);
	wait_for(test, runs(&p[4]) == 2);
	msleep(20);
	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		KUNIT_EXPECT_EQ_MSG(test, runs(&p[i]), i == 4 ? 2 : 1, "act %u", i);
		KUNIT_EXPECT_EQ_MSG(test, p[i].ret, rets[i], "act %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, hwheel_pending(&p[i].timer), "act %u", i);
	}
	KUNIT_EXPECT_FALSE(test, hwheel_add(&p[1].timer, 0));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p[1].timer));
}

/* ------------------------------------------------------------------------ */
/* Periods */

/*
 * Forward @p by @interval. Check that @p is armed for the smallest
 * expires + n * @interval that is later than now. Differences are u64, which holds the
 * difference of any two times.
 */
static bool forward_is_right(struct probe *p, ktime_t interval, u64 *n)
{
	ktime_t old = hwheel_expires(&p->timer), new, before, after;

	before = hwheel_now(p->wheel);
	*n = hwheel_add_forward(&p->timer, interval);
	after = hwheel_now(p->wheel);
	new = hwheel_expires(&p->timer);

	if ((u64)new - (u64)old != *n * (u64)interval)
		return false;		/* not on the grid */
	if (new <= before)
		return false;		/* not later than now */
	return !*n || new - interval <= after;	/* the smallest one */
}

static void act_forward(struct probe *p)
{
	u64 n;

	if (runs(p) >= 20)
		return;
	if (!forward_is_right(p, p->to, &n))
		p->ret++;
	p->n += n;
}

static void test_forward(struct kunit *test)
{
	static const struct {
		s64 tick_ns, interval;
	} rows[] = {
		{ MS, 5 * MS },
		{ MS, 5 * MS + 12345 },
		{ 20 * MS, 3 * MS },
		{ 20 * MS, 20 * MS },
		{ 1000, 777777 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hwheel *wheel = hwt_wheel_new(test, rows[i].tick_ns);
		struct probe *p = hwt_probe_new(test, wheel, rows[i].tick_ns);
		ktime_t start;

		p->act = act_forward;
		p->to = rows[i].interval;
		start = hwheel_now(wheel) + MS;
		hwheel_add_at(&p->timer, start, 0);
		wait_for(test, runs(p) >= 20);
		KUNIT_EXPECT_EQ_MSG(test, p->ret, 0, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, hwheel_expires(&p->timer),
				    start + (s64)p->n * rows[i].interval,
				    "row %u drifts", i);
		KUNIT_EXPECT_GE(test, p->n, 19);
		if (hwt_days && rows[i].interval >= rows[i].tick_ns)
			KUNIT_EXPECT_EQ_MSG(test, p->n, 19, "row %u misses periods", i);
		hwheel_shutdown_sync(&p->timer);
		hwt_wheel_destroy(test);
		hwt_probe_setup(p, hwt_suite_wheel, SUITE_TICK_NS);
	}
}

static void test_forward_missed(struct kunit *test)
{
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	struct hwheel_timer *timer = &p->timer;
	ktime_t expires, before;
	unsigned int i;
	u64 n;

	/* Ten and a half periods ago */
	hwt_hold();
	hwheel_add_at(timer, hwheel_now(wheel) - 10 * HOUR - HOUR / 2, 0);
	KUNIT_EXPECT_TRUE(test, forward_is_right(p, HOUR, &n));
	KUNIT_EXPECT_EQ(test, n, 11);
	hwt_unhold();
	KUNIT_EXPECT_TRUE(test, hwheel_pending(timer));

	/* Random times; they may be negative. */
	for (i = 0; i < 1000; i++) {
		ktime_t interval = 1 + hwt_random_magnitude(DAY);
		bool right;

		hwt_hold();
		expires = hwheel_now(wheel) - hwt_random_magnitude(DAY);
		hwheel_add_at(timer, expires, 0);
		hwheel_cancel(timer);
		right = forward_is_right(p, interval, &n) && hwheel_cancel(timer);
		hwt_unhold();
		KUNIT_EXPECT_TRUE_MSG(test, right, "%lld forward by %lld gave %llu and %lld",
				      expires, interval, n, hwheel_expires(timer));
		if (!right)
			break;
	}

	/* An expiration in the future stays, whether the timer is pending or not. */
	hwheel_add(timer, HOUR);
	expires = hwheel_expires(timer);
	KUNIT_EXPECT_EQ(test, hwheel_add_forward(timer, SECS(1)), 0);
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_cancel(timer));
	KUNIT_EXPECT_EQ(test, hwheel_add_forward(timer, SECS(1)), 0);
	KUNIT_EXPECT_EQ(test, hwheel_expires(timer), expires);
	KUNIT_EXPECT_TRUE(test, hwheel_pending(timer));

	/* A period below 1 ns counts as 1 ns. */
	for (i = 0; i < 2; i++) {
		hwt_hold();
		before = hwheel_now(wheel);
		hwheel_add_at(timer, before - 1000, 0);
		n = hwheel_add_forward(timer, i ? -5 : 0);
		expires = hwheel_expires(timer);
		KUNIT_EXPECT_EQ(test, expires, before - 1000 + (s64)n);
		KUNIT_EXPECT_GT(test, expires, before);
		KUNIT_EXPECT_LE(test, expires, hwheel_now(wheel) + 1);
		hwheel_cancel(timer);
		hwt_unhold();
	}

	hwheel_shutdown(timer);
	hwheel_add_forward(timer, HOUR);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(timer));
}

/* Forward old expirations. For the last two, now - expires does not fit into s64. */
static void test_forward_ages(struct kunit *test)
{
	static const ktime_t ages[] = {
		0, -1, -HOUR, -KTIME_MAX / 2, KTIME_MIN + 1, KTIME_MIN,
	};
	static const ktime_t intervals[] = { 1, 3 * MS, DAY, KTIME_MAX };
	struct hwheel *wheel = hwt_wheel_new(test, MS);
	struct probe *p = hwt_probe_new(test, wheel, MS);
	struct hwheel_timer *timer = &p->timer;
	unsigned int i, j;
	u64 n;

	for (i = 0; i < ARRAY_SIZE(ages); i++) {
		for (j = 0; j < ARRAY_SIZE(intervals); j++) {
			hwt_hold();
			hwheel_add_at(timer, ages[i], 0);
			KUNIT_EXPECT_LT(test, hwheel_remaining(timer), 0);
			KUNIT_EXPECT_TRUE_MSG(test, forward_is_right(p, intervals[j], &n),
					      "%lld forward by %lld gave %llu and %lld",
					      ages[i], intervals[j], n,
					      hwheel_expires(timer));
			hwheel_cancel(timer);
			hwt_unhold();
		}
	}
}

static atomic_t static_runs;

static void static_run(struct hwheel_timer *timer)
{
	atomic_inc(&static_runs);
}

static DEFINE_HWHEEL_TIMER(static_timer, static_run);
static DEFINE_HWHEEL_TIMER(static_timer_idle, static_run);

static void test_static(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&static_timer_idle));
	KUNIT_EXPECT_FALSE(test, hwheel_cancel(&static_timer_idle));
	KUNIT_EXPECT_EQ(test, hwheel_try_cancel(&static_timer_idle), 0);
	KUNIT_EXPECT_FALSE(test, hwheel_shutdown_sync(&static_timer_idle));
	KUNIT_EXPECT_FALSE(test, hwheel_add(&static_timer_idle, 0));
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&static_timer_idle));
	hwheel_setup(&static_timer_idle, hwheel_system, static_run, 0);

	atomic_set(&static_runs, 0);
	KUNIT_EXPECT_FALSE(test, hwheel_add(&static_timer, HOUR));
	KUNIT_EXPECT_TRUE(test, hwheel_add(&static_timer, MS));
	wait_for(test, atomic_read(&static_runs) == 1);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&static_timer));
	hwheel_cancel_sync(&static_timer);
	KUNIT_EXPECT_EQ(test, atomic_read(&static_runs), 1);
}

static void act_long_life(struct probe *p)
{
	if (hwt_suite_context == HWHEEL_WORK)
		msleep(50);
	p->n = 1;
}

static void test_on_stack(struct kunit *test)
{
	struct probe p = { .wheel = hwt_suite_wheel, .tick_ns = SUITE_TICK_NS };

	hwheel_setup_on_stack(&p.timer, hwt_suite_wheel, hwt_probe_run, 0);
	hwt_probe_add(&p, MS);
	wait_for(test, runs(&p));
	hwheel_destroy_on_stack(&p.timer);
	KUNIT_EXPECT_TRUE(test, !hwt_probe_fault(&p));

	hwheel_setup_on_stack(&p.timer, hwt_suite_wheel, hwt_probe_run, 0);
	hwt_probe_add(&p, 10 * MS);
	hwheel_destroy_on_stack(&p.timer);
	KUNIT_EXPECT_FALSE(test, hwheel_pending(&p.timer));
	msleep(30);
	KUNIT_EXPECT_EQ(test, runs(&p), 1);

	/* hwheel_destroy_on_stack() waits until the callback has returned. */
	hwheel_setup_on_stack(&p.timer, hwt_suite_wheel, hwt_probe_run, 0);
	p.act = act_long_life;
	hwt_probe_add(&p, MS);
	wait_for(test, runs(&p) == 2);
	hwheel_destroy_on_stack(&p.timer);
	KUNIT_EXPECT_EQ(test, p.n, 1);
}

static void test_clocks(struct kunit *test)
{
	struct hwheel *boottime, *monotonic;
	ktime_t before, now, after;
	struct probe *p;
	unsigned int i;

	boottime = hwt_wheel_make(test, (struct hwheel_config){ .flags = HWHEEL_BOOTTIME });
	monotonic = hwt_wheel_make(test, (struct hwheel_config){});
	before = ktime_get();
	now = hwheel_now(monotonic);
	after = ktime_get();
	KUNIT_EXPECT_GE(test, now, before);
	KUNIT_EXPECT_LE(test, now, after);
	before = ktime_get_boottime();
	now = hwheel_now(boottime);
	after = ktime_get_boottime();
	KUNIT_EXPECT_GE(test, now, before);
	KUNIT_EXPECT_LE(test, now, after);

	p = hwt_probes_new(test, boottime, MS, 100);
	for (i = 0; i < 100; i++)
		hwt_probe_add(&p[i], hwt_random_magnitude(100 * MS));
	hwt_expect_once(test, p, 100);
}

/* The cases of all contexts. A macro, because each suite needs an array of its own. */
#define SUITE(context, ...)					\
	HWT_SUITE(hwheel_api, context,				\
		  KUNIT_CASE(test_random_delays),		\
		  KUNIT_CASE(test_returns),			\
		  KUNIT_CASE(test_looking),			\
		  KUNIT_CASE(test_past),			\
		  KUNIT_CASE(test_tick_0),			\
		  KUNIT_CASE(test_past_again_real_time),			\
		  KUNIT_CASE(test_far),				\
		  KUNIT_CASE(test_reduce),			\
		  KUNIT_CASE(test_rearm),			\
		  KUNIT_CASE(test_cancel_other),		\
		  KUNIT_CASE(test_own_end),			\
		  KUNIT_CASE(test_forward),			\
		  KUNIT_CASE(test_forward_missed),		\
		  KUNIT_CASE(test_forward_ages),		\
		  KUNIT_CASE(test_on_stack),			\
		  KUNIT_CASE(test_clocks),			\
		  ##__VA_ARGS__)

SUITE(softirq, KUNIT_CASE(test_static));
SUITE(hardirq);
SUITE(work);

kunit_test_suites(&hwheel_api_softirq, &hwheel_api_hardirq, &hwheel_api_work);
