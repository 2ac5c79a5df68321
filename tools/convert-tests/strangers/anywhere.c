// SPDX-License-Identifier: GPL-2.0
/*
 * A timer that gets to another function without its type. Not all that a cast gives can be
 * converted, so none of these timers may be. Only "typed" may.
 */
#include <linux/module.h>

struct anywhere {
	struct timer_list	typed;
	struct timer_list	given;
	struct timer_list	stopped;
	struct timer_list	*allocated;
	unsigned long		size;
};

static void anywhere_typed(struct timer_list *t)
{
	struct anywhere *a = timer_container_of(a, t, typed);

	mod_timer(&a->typed, jiffies + HZ);
}

static void anywhere_given(struct timer_list *t)
{
}

static void anywhere_stopped(struct timer_list *t)
{
}

static void anywhere_arm(void *data)
{
	mod_timer((struct timer_list *)data, jiffies + HZ);
}

static void anywhere_arm_again(void *data)
{
	struct timer_list *t = data;

	mod_timer(t, jiffies + HZ);
}

void anywhere_setup(struct anywhere *a)
{
	int (*stop)(struct timer_list *t) = del_timer_sync;

	timer_setup(&a->typed, anywhere_typed, 0);
	timer_setup(&a->given, anywhere_given, 0);
	timer_setup(&a->stopped, anywhere_stopped, 0);
	anywhere_arm(&a->given);
	anywhere_arm_again(&a->given);
	stop(&a->stopped);
	a->size = sizeof(struct timer_list);
	a->allocated = memory_of_others(a->size);
	mod_timer(a->allocated, jiffies + HZ);
}
