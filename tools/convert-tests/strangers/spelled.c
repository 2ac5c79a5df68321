// SPDX-License-Identifier: GPL-2.0
/* Types that are not spelled as one expects */
#include <linux/module.h>

#define STRUCT struct
#define spelled_hidden inner

struct spelled {
	struct sock		sk;
	struct timer_list	inner;
};

static struct timer_list spelled_timer;
static struct hrtimer spelled_hrtimer;

static void spelled_expired(STRUCT timer_list *t)
{
}

static enum hrtimer_restart volatile spelled_result(struct hrtimer *timer)
{
	enum hrtimer_restart ret = HRTIMER_NORESTART;

	return ret;
}

static void spelled_inner(struct timer_list *t)
{
}

void spelled_setup(struct spelled *s)
{
	timer_setup(&s->inner, spelled_inner, 0);
	sk_reset_timer(&s->sk, &s->spelled_hidden, jiffies + HZ);
	timer_setup(&spelled_timer, spelled_expired, 0);
	hrtimer_setup(&spelled_hrtimer, spelled_result, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_start(&spelled_hrtimer, 5 * NSEC_PER_MSEC, HRTIMER_MODE_REL_SOFT);
}
