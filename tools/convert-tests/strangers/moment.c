// SPDX-License-Identifier: GPL-2.0
/* When, and how often, something is computed */
#include <linux/module.h>

struct moments {
	struct timer_list	slow;
	struct timer_list	quick;
	struct timer_list	doubled;
	struct timer_list	added;
	struct timer_list	once;
	struct hrtimer		again;
};

struct moments *moment_get(void);
struct moments *moment_next(struct moments *m);
void moment_reset(struct moments *m);

/* The time counts from before the call, which may take long */
static void moment_slow(struct timer_list *t)
{
	struct moments *m = timer_container_of(m, t, slow);

	m->slow.expires = jiffies + HZ;
	moment_reset(m);
	add_timer(&m->slow);
}

static void moment_quick(struct timer_list *t)
{
	struct moments *m = timer_container_of(m, t, quick);

	m->quick.expires = jiffies + HZ;
	spin_unlock(NULL);
	add_timer(&m->quick);
}

static void moment_doubled(struct timer_list *t)
{
	add_timer(&moment_get()->doubled);
}

static void moment_added(struct timer_list *t)
{
	struct moments *m = timer_container_of(m, t, added);

	mod_timer(&moment_next(m)->added, moment_next(m)->added.expires + HZ);
}

static void moment_once(struct timer_list *t)
{
	mod_timer(&moment_get()->once, jiffies + HZ);
}

static enum hrtimer_restart moment_again(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

void moment_setup(struct moments *m)
{
	timer_setup(&m->slow, moment_slow, 0);
	timer_setup(&m->quick, moment_quick, 0);
	timer_setup(&m->doubled, moment_doubled, 0);
	timer_setup(&m->added, moment_added, 0);
	timer_setup(&m->once, moment_once, 0);
	hrtimer_setup(&m->again, moment_again, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_restart(&moment_get()->again);
}
