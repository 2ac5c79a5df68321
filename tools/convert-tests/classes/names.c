// SPDX-License-Identifier: GPL-2.0
/* Names that contain or equal names of timer functions or members, but belong to no timer */
#include <linux/module.h>

struct names {
	struct timer_list	timer;
	unsigned long		mod_timer;
	unsigned long		expires;
	int			hrtimer_active;
	long			(*timer_delete)(int id);
	void			(*function)(struct names *n);
};

#define names_hrtimer_start(n)	((n)->hrtimer_active = 1)

static void names_function(struct names *n)
{
	n->expires = n->mod_timer + 1;
	n->function = names_function;
	names_hrtimer_start(n);
	n->timer_delete(3);
}

static void names_expired(struct timer_list *t)
{
	struct names *n = timer_container_of(n, t, timer);

	names_function(n);
	mod_timer(t, n->expires);
	sys_timer_delete(n->hrtimer_active);
}

void names_setup(struct names *n)
{
	timer_setup(&n->timer, names_expired, 0);
}
