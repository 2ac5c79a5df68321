// SPDX-License-Identifier: GPL-2.0
/* Code that is not compiled in this configuration */
#include <linux/module.h>

struct configured {
	struct timer_list	always;
	struct timer_list	sometimes;
#ifdef CONFIG_MORE
	struct timer_list	never;
#endif
};

static void configured_always(struct timer_list *t)
{
}

#ifdef CONFIG_MORE
static void configured_sometimes(struct timer_list *t)
{
	struct configured *c = timer_container_of(c, t, sometimes);

	mod_timer(&c->never, jiffies + HZ);
}
#else
static void configured_sometimes(struct timer_list *t)
{
}
#endif

void configured_setup(struct configured *c)
{
	timer_setup(&c->always, configured_always, 0);
	timer_setup(&c->sometimes, configured_sometimes, 0);
}
