// SPDX-License-Identifier: GPL-2.0
/*
 * A structure begins in two branches, and so do the #includes. An include of hwheel's is there, but
 * is not compiled.
 */
#if 0
#include "hwheel_jiffies.h"
#include <linux/module.h>

struct opened {
#else
#include <linux/module.h>

struct opened {
#endif
	struct timer_list	timer;
};

static void open_expired(struct timer_list *t)
{
}

void open_setup(struct opened *o)
{
	timer_setup(&o->timer, open_expired, 0);
	mod_timer(&o->timer, jiffies + HZ);
}
