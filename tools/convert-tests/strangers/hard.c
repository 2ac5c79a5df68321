// SPDX-License-Identifier: GPL-2.0
/* hrtimers whose callbacks rely on interrupts that are off, which is not seen at first */
#include <linux/module.h>

#define LOCK(h)		spin_lock(&(h)->lock)

struct hards {
	struct hrtimer		in_macro;
	struct hrtimer		by_member;
	struct hrtimer		variable;
	spinlock_t		lock;		/* protects nothing */
	void			(*lock_it)(struct hards *h);
	void			(*any)(struct hards *h);
};

static enum hrtimer_restart hard_in_macro(struct hrtimer *timer)
{
	LOCK(container_of(timer, struct hards, in_macro));
	return HRTIMER_NORESTART;
}

static void hard_lock(struct hards *h)
{
	spin_lock(&h->lock);
}

static enum hrtimer_restart hard_by_member(struct hrtimer *timer)
{
	struct hards *h = container_of(timer, struct hards, by_member);

	h->lock_it(h);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hard_variable(struct hrtimer *timer)
{
	struct hards *h = container_of(timer, struct hards, variable);

	h->any(h);
	return HRTIMER_NORESTART;
}

void hard_setup(struct hards *h, void (*any)(struct hards *h))
{
	h->lock_it = hard_lock;
	h->any = any;
	hrtimer_setup(&h->in_macro, hard_in_macro, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&h->by_member, hard_by_member, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup(&h->variable, hard_variable, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
