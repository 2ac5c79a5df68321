// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "prototype.h"

enum hrtimer_restart prototype_expired(struct hrtimer *timer)
{
	hrtimer_forward_now(timer, ms_to_ktime(20));
	return HRTIMER_RESTART;
}

void prototype_setup(struct prototype *p)
{
	p->function = prototype_expired;
	hrtimer_setup(&p->timer, p->function, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
