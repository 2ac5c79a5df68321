// SPDX-License-Identifier: GPL-2.0
/* Timers whose types are written in other ways */
#include <linux/module.h>

typedef struct timer_list own_timer;
typedef void (*own_function)(struct timer_list *t);

struct types {
	own_timer	timer;
	own_function	function;
};

static void types_expired(struct timer_list *t)
{
}

static struct types *types_of(struct timer_list *t)
{
	return container_of(t, struct types, timer);
}

void types_setup(struct types *n)
{
	struct {
		struct timer_list	timer;
		int			done;
	} local;

	n->function = types_expired;
	timer_setup(&types_of(&n->timer)->timer, n->function, 0);
	timer_setup_on_stack(&local.timer, types_expired, 0);
	timer_destroy_on_stack(&local.timer);
}

static DEFINE_PER_CPU(struct timer_list, types_percpu);

void types_percpu_setup(void)
{
	struct timer_list *t = this_cpu_ptr(&types_percpu);

	timer_setup(t, types_expired, 0);
}
