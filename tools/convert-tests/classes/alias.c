// SPDX-License-Identifier: GPL-2.0
/* Types that a macro of the driver hides */
#include <linux/module.h>

#define alias_timer_t	struct timer_list
#define ALIAS_COMMON	struct timer_list inside; int number;

struct alias {
	alias_timer_t	timer;
	ALIAS_COMMON
	struct timer_list plain;
};

static void alias_timer(struct timer_list *t)
{
	struct alias *a = timer_container_of(a, t, timer);

	mod_timer(&a->timer, jiffies + HZ);
}

static void alias_inside(struct timer_list *t)
{
	struct alias *a = timer_container_of(a, t, inside);

	mod_timer(&a->inside, jiffies + HZ);
}

static void alias_argument(alias_timer_t *t)
{
}

void alias_setup(struct alias *a)
{
	alias_timer_t local;

	timer_setup(&a->timer, alias_timer, 0);
	timer_setup(&a->inside, alias_inside, 0);
	timer_setup(&a->plain, alias_argument, 0);
	timer_setup_on_stack(&local, alias_timer, 0);
}
