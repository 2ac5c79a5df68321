// SPDX-License-Identifier: GPL-2.0
/* hrtimers that expire in hardirq context. Only "harmless" may move to softirq context */
#include <linux/module.h>

struct hard {
	struct hrtimer	hard_mode;
	struct hrtimer	poll;
	struct hrtimer	locked;
	struct hrtimer	harmless;
	struct hrtimer	waited_for;
	spinlock_t	lock;		/* protects nothing */
};

/* This callback is only for hardirq context, and the mode says so */
static enum hrtimer_restart hard_mode(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* This callback calls a function that is only for hardirq context */
static enum hrtimer_restart hard_poll(struct hrtimer *timer)
{
	iio_trigger_poll(timer);
	return HRTIMER_NORESTART;
}

static void hard_lock(struct hard *h)
{
	spin_lock(&h->lock);
	spin_unlock(&h->lock);
}

/* Interrupt handlers may take the lock, and spin_lock() does not switch interrupts off */
static enum hrtimer_restart hard_locked(struct hrtimer *timer)
{
	hard_lock(container_of(timer, struct hard, locked));
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hard_harmless(struct hrtimer *timer)
{
	kfree(container_of(timer, struct hard, harmless));
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hard_waited_for(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* An interrupt handler must not wait for a callback that it may have interrupted */
static irqreturn_t hard_handler(int irq, void *data)
{
	struct hard *h = data;

	hrtimer_try_to_cancel(&h->harmless);
	hrtimer_cancel(&h->waited_for);
	return 1;
}

void hard_setup(struct hard *h)
{
	hrtimer_setup(&h->hard_mode, hard_mode, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_setup(&h->poll, hard_poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&h->locked, hard_locked, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&h->waited_for, hard_waited_for, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	request_irq(3, hard_handler, h);
	hrtimer_setup(&h->harmless, hard_harmless, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
