// SPDX-License-Identifier: GPL-2.0
/* hwheel-convert gets this file, but not the header */
#include <linux/module.h>

struct part {
	struct timer_list	timer;
};

#include "part.h"

static void part_expired(struct timer_list *t)
{
}

void part_setup(struct part *p)
{
	timer_setup(&p->timer, part_expired, 0);
	part_stop(p);
}
