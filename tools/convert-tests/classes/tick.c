// SPDX-License-Identifier: GPL-2.0
/* hrtimers: three may be armed for 1 ms, the wheel's tick, or for less. The others can't */
#include <linux/module.h>

#define TICK_PERIOD_NS	(125 * NSEC_PER_USEC)

struct ticks {
	struct hrtimer	constant;
	struct hrtimer	variable;
	struct hrtimer	kept;
	struct hrtimer	long_enough;
	struct hrtimer	in_ms;
	struct hrtimer	kept_long;
	ktime_t		period;
	ktime_t		long_period;
	unsigned int	ms;
};

static enum hrtimer_restart tick_constant(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ns_to_ktime(TICK_PERIOD_NS));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart tick_variable(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart tick_kept(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart tick_long_enough(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart tick_in_ms(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart tick_kept_long(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

void tick_start(struct ticks *t, ktime_t delay)
{
	t->period = us_to_ktime(500);
	t->long_period = ms_to_ktime(500);
	hrtimer_setup(&t->constant, tick_constant, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&t->variable, tick_variable, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&t->kept, tick_kept, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&t->long_enough, tick_long_enough, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&t->in_ms, tick_in_ms, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&t->kept_long, tick_kept_long, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&t->variable, delay, HRTIMER_MODE_REL);
	hrtimer_start(&t->kept, t->period, HRTIMER_MODE_REL);
	hrtimer_start(&t->long_enough, ns_to_ktime(30 * NSEC_PER_MSEC), HRTIMER_MODE_REL);
	hrtimer_start(&t->in_ms, ms_to_ktime(t->ms), HRTIMER_MODE_REL);
	hrtimer_start(&t->kept_long, t->long_period, HRTIMER_MODE_REL);
}
