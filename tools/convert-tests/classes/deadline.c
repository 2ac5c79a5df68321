// SPDX-License-Identifier: GPL-2.0
/* Callbacks that compare jiffies. Those of timer_list always see jiffies past their time. */
#include <linux/module.h>

struct deadlines {
	struct timer_list	strict;
	struct timer_list	elapsed;
	struct timer_list	copied;
	struct timer_list	called;
	struct timer_list	passed;
	struct timer_list	set;
	struct timer_list	own;
	struct timer_list	kept;
	unsigned long		last;
	int			late;
};

static void deadline_strict(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, strict);

	if (time_after(jiffies, d->last + HZ))
		d->late++;
}

static void deadline_elapsed(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, elapsed);

	if (HZ <= jiffies - d->last)
		d->late++;
}

static void deadline_copied(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, copied);
	unsigned long now = jiffies;

	if (now > d->last)
		d->late++;
}

static void deadline_check(struct deadlines *d)
{
	if (time_after(jiffies, d->last))
		d->late++;
}

static void deadline_called(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, called);

	deadline_check(d);
}

static void deadline_past(struct deadlines *d, unsigned long now)
{
	if (time_after(now, d->last))
		d->late++;
}

static void deadline_passed(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, passed);

	deadline_past(d, jiffies);
}

static void deadline_set(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, set);

	if (time_after(jiffies, d->last))
		d->late++;
}

static void deadline_none(struct timer_list *t)
{
}

/* It has computed the time from jiffies itself */
static void deadline_own(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, own);
	unsigned long end = jiffies + HZ, start = jiffies;

	while (time_after(end, jiffies) && jiffies - start < HZ)
		d->late++;
	mod_timer(t, jiffies + HZ);
}

/* No comparison */
static void deadline_kept(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, kept);

	d->last = jiffies;
	mod_timer(t, d->last + HZ);
}

void deadline_setup(struct deadlines *d)
{
	timer_setup(&d->strict, deadline_strict, 0);
	timer_setup(&d->elapsed, deadline_elapsed, 0);
	timer_setup(&d->copied, deadline_copied, 0);
	timer_setup(&d->called, deadline_called, 0);
	timer_setup(&d->passed, deadline_passed, 0);
	timer_setup(&d->set, deadline_none, 0);
	d->set.function = deadline_set;
	timer_setup(&d->own, deadline_own, 0);
	timer_setup(&d->kept, deadline_kept, 0);
}

static void deadline_global(struct timer_list *t);
static DEFINE_TIMER(deadline_timer, deadline_global);
static unsigned long deadline_time;

static void deadline_global(struct timer_list *t)
{
	if (jiffies > deadline_time)
		timer_delete(&deadline_timer);
}
