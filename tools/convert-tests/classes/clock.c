// SPDX-License-Identifier: GPL-2.0
/* Clocks that the wheel does not have, and what else it can't serve */
#include <linux/module.h>

struct clocks {
	struct hrtimer		real;
	struct hrtimer		mono;
	struct timer_list	deferrable;
	struct timer_list	irqsafe;
};

static enum hrtimer_restart clock_real(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ms_to_ktime(20));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart clock_mono(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static void clock_deferrable(struct timer_list *t)
{
}

static void clock_irqsafe(struct timer_list *t)
{
}

void clock_start(struct clocks *c)
{
	hrtimer_setup(&c->real, clock_real, CLOCK_REALTIME, HRTIMER_MODE_ABS);
	hrtimer_start(&c->real, ms_to_ktime(20), HRTIMER_MODE_REL);
	hrtimer_setup(&c->mono, clock_mono, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&c->mono, ms_to_ktime(20), HRTIMER_MODE_REL);
	timer_setup(&c->deferrable, clock_deferrable, TIMER_DEFERRABLE);
	timer_setup(&c->irqsafe, clock_irqsafe, TIMER_IRQSAFE);
}

void clock_stop(struct clocks *c)
{
	hrtimer_cancel(&c->real);
	hrtimer_cancel(&c->mono);
	timer_delete(&c->deferrable);
	timer_delete(&c->irqsafe);
}
