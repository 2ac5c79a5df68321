// SPDX-License-Identifier: GPL-2.0
/* A driver with most uses of timer_list. It is only read, never built. */
#include <linux/module.h>

#include "driver.h"

#define DRIVER_USECS	5000

static void driver_idle(struct timer_list *t);

static DEFINE_TIMER(lonely, driver_idle);

/* The structure around the timer */
static void driver_idle(struct timer_list *t)
{
	struct driver *d = from_timer(d, t, idle);
	struct driver *e = container_of(t, struct driver, idle);
	struct driver *f;

	f = timer_container_of(f, t, many[2]);
	f = from_timer(f, t, inner.poll);
	f = container_of(t, struct driver, idle);
	driver_use(d, e, f);
}

/* Setting up */
static void driver_setup(struct driver *d)
{
	struct timer_list stack;

	timer_setup_on_stack(&stack, driver_idle, 0);
	timer_setup(&d->idle, driver_idle, TIMER_PINNED);
	timer_setup(&d->many[1], driver_idle, 0);
	destroy_timer_on_stack(&stack);
	timer_destroy_on_stack(&stack);
}

/* Arming, by what makes up the time */
static bool driver_arm(struct driver *d, struct timer_list *t)
{
	unsigned long now = jiffies;

	mod_timer(t, jiffies);
	mod_timer(t, jiffies + HZ);
	mod_timer(t, jiffies + (HZ / 20));
	mod_timer(t, HZ + jiffies);
	mod_timer(t, jiffies + msecs_to_jiffies(30));
	mod_timer(t, jiffies + usecs_to_jiffies(DRIVER_USECS));
	mod_timer(t, jiffies + msecs_to_jiffies(d->ms));
	mod_timer(t, jiffies + 3 * HZ + d->when);
	mod_timer(t, jiffies + d->when - 3);
	mod_timer(t, round_jiffies(jiffies + 3 * HZ));
	mod_timer(&d->many[1], now + HZ);
	mod_timer(&d->inner.poll, d->when);
	if (!mod_timer_pending(&d->idle, jiffies + HZ))
		return timer_reduce(&d->idle, d->when);
	return mod_timer(t, jiffies + HZ);
}

/* Arming, by expires */
static void driver_arm_by_member(struct driver *d, struct timer_list *t)
{
	struct timer_list stack;

	t->expires = d->when;
	add_timer(t);
	d->idle.expires = jiffies + HZ;
	add_timer(&d->idle);
	d->idle.expires = jiffies + HZ;
	add_timer_on(&d->idle, 3);
	stack.expires = jiffies + msecs_to_jiffies(10);
	add_timer(&stack);
}

/* Asking */
unsigned long driver_left(const struct timer_list *timer)
{
	return timer_pending(timer) ? timer->expires - jiffies : 0;
}

static bool driver_ask(struct driver *d, struct timer_list *t)
{
	if (time_after(d->idle.expires, jiffies) || time_after(t->expires, d->when))
		mod_timer(&d->many[1], d->many[3].expires);
	return timer_pending(&d->idle);
}

/* Cancelling */
static void driver_stop(struct driver *d, struct timer_list *t)
{
	del_timer(t);
	timer_delete(&d->idle);
	del_timer_sync(t);
	timer_delete_sync(&d->idle);
	if (try_to_del_timer_sync(t) < 0)
		timer_shutdown(&d->idle);
	timer_shutdown_sync(&lonely);
}

/* What is not ours stays as it is */
static void driver_foreign(struct timer_list *t)
{
	struct sock *sk = from_timer(sk, t, sk_timer);

	mod_timer(&sk->sk_timer, jiffies + HZ);
}

static void driver_use_foreign(struct sock *sk)
{
	timer_setup(&sk->sk_timer, driver_foreign, 0);
	del_timer_sync(&sk->sk_timer);
}

/* Armed for a time that another function sets */
static void driver_apart(struct timer_list *t)
{
	struct driver *d = from_timer(d, t, apart);

	add_timer(&d->apart);
}

static unsigned long driver_worker(const struct timer_list *t)
{
	return t->expires;
}

static unsigned long driver_left_over(struct driver *d)
{
	timer_setup(&d->apart, driver_apart, 0);
	d->apart.expires = d->when;
	return driver_worker(&d->later.timer);
}
