// SPDX-License-Identifier: GPL-2.0
/* Timers without a callback */
#include <linux/module.h>

struct nulls {
	struct timer_list	none;
	struct timer_list	asked;
	struct timer_list	some[2];
};

static void null_expired(struct timer_list *t)
{
}

static void (*null_table[])(struct timer_list *t) = { NULL, null_expired };

void null_setup(struct nulls *n)
{
	timer_setup(&n->none, NULL, 0);
	timer_setup(&n->asked, NULL, 0);
	/* Not whether it was set up */
	if (n->asked.function)
		timer_delete(&n->asked);
	timer_setup(&n->some[0], null_table[0], 0);
}
