/* SPDX-License-Identifier: GPL-2.0 */
/* hwheel uses timer_list only for deferrable timers. */
#ifndef _SIM_LINUX_TIMER_H
#define _SIM_LINUX_TIMER_H

#include <linux/hrtimer.h>

#define TIMER_DEFERRABLE	1
#define TIMER_PINNED		2
#define MAX_JIFFY_OFFSET	(((~0UL >> 1) >> 1) - 1)

struct timer_list {
	unsigned long		expires;	/* in jiffies */
	void			(*__function)(struct timer_list *timer);
	struct hrtimer		__hrtimer;	/* stands in for the timer */
};

void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *timer),
		 unsigned int flags);
void add_timer_on(struct timer_list *timer, int cpu);
#define timer_delete(timer)	sim_timer_delete(timer)	/* libc has another one */
int sim_timer_delete(struct timer_list *timer);
int timer_delete_sync(struct timer_list *timer);

static inline bool timer_pending(const struct timer_list *timer)
{
	return timer->__hrtimer.__queued;
}

#endif /* _SIM_LINUX_TIMER_H */
