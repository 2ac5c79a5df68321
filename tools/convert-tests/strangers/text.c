// SPDX-License-Identifier: GPL-2.0
/* Text that can be read in two ways: joined lines, and commas */
#include <linux/module.h>

struct texts {
	struct timer_list	flag;
	struct timer_list	joined;
	struct timer_list	comma;
};

static void text_flag(struct timer_list *t)
{
	t->expires\
 = 0;
}

static void text_joined(struct timer_list *t)
{
	struct texts *x = timer_container_of(x, \
					     t, joined);

	x->joined.expires \
		= jiffies + HZ;
	add_timer( \
		&x->joined);
}

static void text_comma(struct timer_list *t)
{
	struct texts *x = timer_container_of(x, t, comma);

	x->comma.expires = jiffies + HZ, kfree(NULL);
	add_timer(&x->comma);
}

void text_setup(struct texts *x)
{
	timer_setup(&x->flag, text_flag, 0);
	timer_setup(&x->joined, text_joined, 0);
	timer_setup(&x->comma, text_comma, 0);
}
