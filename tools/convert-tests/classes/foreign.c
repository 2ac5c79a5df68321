// SPDX-License-Identifier: GPL-2.0
/* Timers of others beside the driver's own, with the same names */
#include <linux/module.h>

struct foreign {
	struct sock		sk;
	struct timer_list	timer;
	struct hrtimer_sleeper	sleeper;
	struct timer_list	counted;
};

struct usb_hcd *foreign_hcd(struct foreign *f);

static void foreign_sk(struct timer_list *t)
{
	struct sock *sk = timer_container_of(sk, t, sk_timer);

	mod_timer(&sk->sk_timer, jiffies + HZ);
}

static void foreign_own(struct timer_list *t)
{
	struct foreign *f = timer_container_of(f, t, timer);

	/* The path to the timer has a call */
	mod_timer(&foreign_hcd(f)->rh_timer, jiffies + HZ);
	mod_timer(&f->timer, jiffies + HZ);
}

static enum hrtimer_restart foreign_sleeper(struct hrtimer *timer)
{
	struct hrtimer_sleeper *s = container_of(timer, struct hrtimer_sleeper, timer);

	kfree(s->task);
	return HRTIMER_NORESTART;
}

static void foreign_counted(struct timer_list *t)
{
}

void foreign_setup(struct foreign *f)
{
	f->sk.sk_timer.function = foreign_sk;
	timer_setup(&f->timer, foreign_own, 0);
	/* A name that two structures have */
	hrtimer_setup(&f->sleeper.timer, foreign_sleeper, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer_setup(&f->counted, foreign_counted, 0);
	sk_reset_timer(&f->sk, &f->counted, jiffies + HZ);
}
