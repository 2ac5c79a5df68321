// SPDX-License-Identifier: GPL-2.0
/* A driver whose build generates a header. It has a name in Latin-1: Björn */
#include <linux/module.h>

struct generated {
	struct timer_list	timer;
};

#include "generated.h"	/* typedef struct generated generated_t; */

static void generated_expired(struct timer_list *t)
{
}

void generated_kick(generated_t *g)
{
	mod_timer(&g->timer, jiffies + HZ);
}

void generated_setup(struct generated *g)
{
	timer_setup(&g->timer, generated_expired, 0);
}
