/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the kernel's header of this name that the drivers here use */
#ifndef _LINUX_TIMER_H
#define _LINUX_TIMER_H

#define NULL			((void *)0)
#define HZ			250
#define TIMER_DEFERRABLE	1
#define TIMER_PINNED		2
#define TIMER_IRQSAFE		4

typedef _Bool bool;
typedef unsigned int u32;
typedef unsigned long long u64;

struct timer_list {
	unsigned long	expires;
	void		(*function)(struct timer_list *timer);
	u32		flags;
};

extern unsigned long jiffies;

#define container_of(p, type, member) ({					\
	_Static_assert(__builtin_types_compatible_p(typeof(*(p)),		\
		       typeof(((type *)0)->member)), "other types");		\
	((type *)((char *)(p) - __builtin_offsetof(type, member))); })
#define timer_container_of(var, t, member)	container_of(t, typeof(*(var)), member)
#define from_timer(var, t, member)		container_of(t, typeof(*(var)), member)
#define timer_setup(t, f, flags)		timer_init_key(t, f, flags)
#define timer_setup_on_stack(t, f, flags)	timer_init_key(t, f, flags)
#define DEFINE_TIMER(name, f)			struct timer_list name = { .function = (f) }
#define READ_ONCE(x)		(*(typeof(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(typeof(x) *)&(x) = (value))
#define time_after(a, b)			((long)((b) - (a)) < 0)

void timer_init_key(struct timer_list *timer, void (*function)(struct timer_list *timer),
		    unsigned int flags);
int mod_timer(struct timer_list *timer, unsigned long expires);
int mod_timer_pending(struct timer_list *timer, unsigned long expires);
int timer_reduce(struct timer_list *timer, unsigned long expires);
void add_timer(struct timer_list *timer);
void add_timer_on(struct timer_list *timer, int cpu);
int timer_pending(const struct timer_list *timer);
int del_timer(struct timer_list *timer);
int del_timer_sync(struct timer_list *timer);
int timer_delete(struct timer_list *timer);
int timer_delete_sync(struct timer_list *timer);
int try_to_del_timer_sync(struct timer_list *timer);
int timer_shutdown(struct timer_list *timer);
int timer_shutdown_sync(struct timer_list *timer);
void destroy_timer_on_stack(struct timer_list *timer);
void timer_destroy_on_stack(struct timer_list *timer);
unsigned long msecs_to_jiffies(unsigned int ms);
unsigned long usecs_to_jiffies(unsigned int us);
unsigned long round_jiffies(unsigned long when);

#endif /* _LINUX_TIMER_H */
