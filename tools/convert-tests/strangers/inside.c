// SPDX-License-Identifier: GPL-2.0
/* #if inside a call, and an #if that is true inside one that is not */
#include <linux/module.h>

#define LINUX_VERSION_CODE	7

struct insides {
	struct timer_list	in_call;
	struct timer_list	in_time;
	struct timer_list	in_head;
	struct timer_list	twice;
};

static void inside_call(struct timer_list *t)
{
}

static void inside_time(struct timer_list *t)
{
}

static void inside_head(
#if LINUX_VERSION_CODE < 4
	unsigned long data
#else
	struct timer_list *t
#endif
	)
{
}

static void inside_twice(struct timer_list *t)
{
}

void inside_setup(struct insides *i)
{
	timer_setup(&i->in_call, inside_call, 0);
	timer_setup(&i->in_time, inside_time, 0);
	timer_setup(&i->in_head, inside_head, 0);
	timer_setup(&i->twice, inside_twice, 0);
	mod_timer(&i->in_call,
#if LINUX_VERSION_CODE < 4
		  jiffies + 1
#else
		  jiffies + HZ
#endif
		  );
	i->in_time.expires =
#if LINUX_VERSION_CODE < 4
		jiffies + 1;
#else
		jiffies + HZ;
#endif
	add_timer(&i->in_time);
	mod_timer(&i->in_head, jiffies + HZ);
#if LINUX_VERSION_CODE < 4
#if LINUX_VERSION_CODE > 2
	mod_timer(&i->twice, jiffies + HZ);
#endif
#endif
}
