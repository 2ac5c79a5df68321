/* SPDX-License-Identifier: GPL-2.0 */
/* The structures of timer_list.c. hwheel-convert learns the types of timers from them. */
#ifndef _DRIVER_H
#define _DRIVER_H

struct driver {
	struct timer_list	idle;
	struct timer_list	many[4];
	struct timer_list	apart;
	struct {
		struct timer_list	poll;
	} inner;
	struct delayed_work	later;
	unsigned long		when;
	unsigned int		ms;
};

void driver_use(void *a, void *b, void *c);
unsigned long driver_left(const struct timer_list *timer);

#endif /* _DRIVER_H */
