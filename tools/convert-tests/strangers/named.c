// SPDX-License-Identifier: GPL-2.0
/* Macros and functions of the driver that have names of calls */
#include <linux/module.h>

#define LINUX_VERSION_CODE	7

/* For other kernels, so these don't matter */
#if LINUX_VERSION_CODE < 4
#define timer_setup(named, callback, flags)	setup_timer(named, callback, 0)
#define from_timer(var, t, member)		container_of(t, typeof(*var), member)
#endif
/* The same call by another name */
#define del_timer_sync(named)			timer_delete_sync(named)
/* Not the same */
#define try_to_del_timer_sync(t)		(count_of_others(), timer_delete(t))
/* A call of the driver's own */
#define os_arm(n)				mod_timer(&(n)->wrapped, jiffies + HZ)

struct names {
	struct timer_list	named;
	struct timer_list	counted;
	struct timer_list	wrapped;
};

static void add_timer_local(struct timer_list *t)
{
	mod_timer(t, jiffies + HZ);
}

static void names_expired(struct timer_list *t)
{
	struct names *n = from_timer(n, t, named);

	add_timer_local(&n->named);
}

static void names_counted(struct timer_list *t)
{
}

static void names_wrapped(struct timer_list *t)
{
}

void names_setup(struct names *n)
{
	timer_setup(&n->named, names_expired, 0);
	timer_setup(&n->counted, names_counted, 0);
	timer_setup(&n->wrapped, names_wrapped, 0);
	os_arm(n);
}

void names_stop(struct names *n)
{
	del_timer_sync(&n->named);
	try_to_del_timer_sync(&n->counted);
}
