// SPDX-License-Identifier: GPL-2.0
/* Functions with guards and automatic cleanup */
#include <linux/module.h>

struct guarded {
	struct timer_list	timer;
	spinlock_t		lock;		/* protects nothing */
};

static void guard_expired(struct timer_list *t)
{
	struct guarded *g = timer_container_of(g, t, timer);

	scoped_guard(spinlock, &g->lock) {
		if (!timer_pending(&g->timer))
			mod_timer(&g->timer, jiffies + HZ);
	}
}

void guard_start(struct guarded *g, void *memory)
{
	void *copy __free(kfree) = memory;

	guard(spinlock)(&g->lock);
	timer_setup(&g->timer, guard_expired, 0);
	mod_timer(&g->timer, jiffies + HZ);
}

void guard_stop(struct guarded *g)
{
	scoped_guard(spinlock, &g->lock)
		timer_delete_sync(&g->timer);
}
