// SPDX-License-Identifier: GPL-2.0
/* A driver with most uses of hrtimer. It is only read, never built. */
#include <linux/module.h>

#include "ticker.h"

struct ticker {
	struct hrtimer	timer;
	struct hrtimer	active;
	struct hrtimer	apart;
	struct hrtimer	other;
	ktime_t		period;
};

static enum hrtimer_restart ticker_prototype(struct hrtimer *timer);

/* Callbacks */
static enum hrtimer_restart ticker_once(struct hrtimer *timer)
{
	struct ticker *t = container_of(timer, struct ticker, timer);

	ticker_use(t);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart ticker_periodic(struct hrtimer *timer)
{
	struct ticker *t = container_of(timer, struct ticker, timer);

	if (!t->period)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, t->period);
	return HRTIMER_RESTART;
}

static enum hrtimer_restart ticker_prototype(struct hrtimer *timer)
{
	u64 n;

	if (ticker_stopped())
		return HRTIMER_NORESTART;
	if (ticker_slow())
		n = hrtimer_forward(timer, hrtimer_cb_get_time(timer), ms_to_ktime(9));
	else
		n = hrtimer_forward(timer, ktime_get(), ms_to_ktime(1));
	ticker_count(n);
	return HRTIMER_RESTART;
}

static enum hrtimer_restart ticker_set(struct hrtimer *hrtimer)
{
	struct ticker *t = container_of(hrtimer, struct ticker, timer);

	if (ticker_slow())
		hrtimer_add_expires(hrtimer, t->period);
	else if (ticker_stopped())
		hrtimer_add_expires_ns(hrtimer, 7);
	else
		hrtimer_set_expires(hrtimer, ktime_add(ktime_get(), t->period));
	return HRTIMER_RESTART;
}

/* A variable holds the return value */
static enum hrtimer_restart ticker_held(struct hrtimer *timer)
{
	struct ticker *t = container_of(timer, struct ticker, timer);
	enum hrtimer_restart ret;

	ticker_use(t);
	if (t->period) {
		hrtimer_forward_now(timer, t->period);
		ret = HRTIMER_RESTART;
	} else {
		ticker_use(t);
		ret = HRTIMER_NORESTART;
	}
	ticker_use(t);

	return ret;
}

/* Setting up */
static void ticker_setup(struct ticker *t, struct hrtimer *timer)
{
	struct hrtimer stack;

	hrtimer_init(&t->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	t->timer.function = ticker_once;
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
	timer->function = ticker_periodic;
	hrtimer_setup(&t->timer, ticker_prototype, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_init_on_stack(&stack, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	stack.function = ticker_once;
	destroy_hrtimer_on_stack(&stack);
	hrtimer_setup_on_stack(&stack, ticker_once, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

/* Arming */
static void ticker_arm(struct ticker *t, ktime_t when)
{
	hrtimer_start(&t->timer, t->period, HRTIMER_MODE_REL);
	hrtimer_start(&t->timer, when, HRTIMER_MODE_ABS_PINNED_SOFT);
	hrtimer_start_range_ns(&t->timer, t->period, 5000, HRTIMER_MODE_REL_SOFT);
	hrtimer_start_range_ns(&t->timer, when, 5000, HRTIMER_MODE_ABS);
	hrtimer_restart(&t->timer);
	hrtimer_set_expires(&t->timer, when);
	hrtimer_start_expires(&t->timer, HRTIMER_MODE_ABS_SOFT);
}

/* Cancelling and asking */
static u64 ticker_stop(struct ticker *t)
{
	if (hrtimer_try_to_cancel(&t->timer) < 0)
		hrtimer_cancel(&t->timer);
	if (hrtimer_is_queued(&t->timer))
		return hrtimer_get_remaining(&t->timer);
	return ktime_sub(hrtimer_get_expires(&t->timer), hrtimer_cb_get_time(&t->timer)) +
	       hrtimer_get_expires_ns(&t->timer);
}

/* Left for a human: a callback must set the time if, and only if, it restarts the timer */
static enum hrtimer_restart ticker_stray(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ms_to_ktime(3));
	if (ticker_stopped())
		return HRTIMER_NORESTART;
	return HRTIMER_RESTART;
}

static enum hrtimer_restart ticker_bare(struct hrtimer *timer)
{
	ticker_set_for_you(timer, 3);
	return HRTIMER_RESTART;
}

static enum hrtimer_restart ticker_held_bare(struct hrtimer *timer)
{
	enum hrtimer_restart ret;

	if (ticker_slow())
		hrtimer_forward_now(timer, ms_to_ktime(3));
	ret = HRTIMER_RESTART;
	return ret;
}

static enum hrtimer_restart ticker_held_before(struct hrtimer *timer)
{
	enum hrtimer_restart ret;

	hrtimer_forward_now(timer, ms_to_ktime(3));
	ret = HRTIMER_RESTART;
	if (ticker_stopped())
		ret = HRTIMER_NORESTART;
	return ret;
}

static enum hrtimer_restart ticker_held_after(struct hrtimer *timer)
{
	enum hrtimer_restart ret;

	ret = HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ms_to_ktime(3));
	if (!ticker_stopped())
		ret = HRTIMER_RESTART;
	return ret;
}

static enum hrtimer_restart ticker_held_odd(struct hrtimer *timer)
{
	enum hrtimer_restart ret;

	ret = ticker_asked();
	return ret;
}

static enum hrtimer_restart ticker_other(struct hrtimer *timer)
{
	struct ticker *t = container_of(timer, struct ticker, other);

	return t->period ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static enum hrtimer_restart ticker_active(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart ticker_apart(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static void ticker_left_over(struct ticker *t)
{
	hrtimer_setup(&t->active, ticker_active, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&t->apart, ticker_apart, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	if (!hrtimer_active(&t->active))
		hrtimer_start_expires(&t->apart, HRTIMER_MODE_ABS);
}
