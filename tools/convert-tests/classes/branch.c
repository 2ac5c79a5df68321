// SPDX-License-Identifier: GPL-2.0
/* All #includes are in branches */
#if HZ < 1
#include <linux/module.h>
#else
#include <linux/module.h>
#endif
#ifdef CONFIG_MORE
#define BRANCH_MORE
#endif

static struct timer_list branch_timer;

static void branch_expired(struct timer_list *t)
{
}

void branch_setup(void)
{
	timer_setup(&branch_timer, branch_expired, 0);
}
