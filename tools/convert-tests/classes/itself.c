// SPDX-License-Identifier: GPL-2.0
/* Callbacks of hrtimer that do not just set the time of their own timer and return */
#include <linux/module.h>

#define ITSELF_NS	(20 * NSEC_PER_MSEC)

struct itself {
	struct hrtimer		called;
	struct hrtimer		result;
	struct hrtimer		pointed;
	struct hrtimer		other;
	struct hrtimer		forwards_other;
	struct hrtimer		queued;
	struct hrtimer		started;
	struct hrtimer		own;
	struct itself		*next;
	enum hrtimer_restart	(*work)(struct hrtimer *timer);
};

static struct hrtimer itself_global;

static enum hrtimer_restart itself_called(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ns_to_ktime(ITSELF_NS));
	return HRTIMER_RESTART;
}

void itself_once(struct itself *i)
{
	itself_called(&i->called);
}

static enum hrtimer_restart itself_result(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

int itself_ask(struct itself *i)
{
	return itself_result(&i->result) == HRTIMER_RESTART;
}

static enum hrtimer_restart itself_pointed(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

void itself_point(struct itself *i)
{
	i->work = itself_pointed;
	i->work(&i->pointed);
}

static enum hrtimer_restart itself_other(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* It sets the time of another timer, and does not arm it */
static enum hrtimer_restart itself_forwards_other(struct hrtimer *timer)
{
	struct itself *i = container_of(timer, struct itself, forwards_other);

	hrtimer_forward_now(&i->next->other, ns_to_ktime(ITSELF_NS));
	hrtimer_forward_now(&i->forwards_other, ns_to_ktime(ITSELF_NS));
	return HRTIMER_RESTART;
}

/* Its timer would be pending here */
static enum hrtimer_restart itself_queued(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ns_to_ktime(ITSELF_NS));
	if (hrtimer_is_queued(timer))
		return HRTIMER_RESTART;
	return HRTIMER_RESTART;
}

static enum hrtimer_restart itself_started(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ns_to_ktime(ITSELF_NS));
	hrtimer_try_to_cancel(timer);
	return HRTIMER_RESTART;
}

static enum hrtimer_restart itself_own(struct hrtimer *timer)
{
	struct itself *i = container_of(timer, struct itself, own);

	hrtimer_forward_now(&i->own, ns_to_ktime(ITSELF_NS));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart itself_alone(struct hrtimer *timer)
{
	hrtimer_forward_now(&itself_global, ns_to_ktime(ITSELF_NS));
	return HRTIMER_RESTART;
}

void itself_setup(struct itself *i)
{
	hrtimer_setup(&i->called, itself_called, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&i->result, itself_result, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&i->pointed, itself_pointed, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&i->other, itself_other, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&i->forwards_other, itself_forwards_other, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&i->queued, itself_queued, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&i->started, itself_started, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&i->own, itself_own, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&itself_global, itself_alone, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}
