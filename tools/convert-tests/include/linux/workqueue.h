/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the kernel's header of this name that the drivers here use */
#ifndef _LINUX_WORKQUEUE_H
#define _LINUX_WORKQUEUE_H

#include <linux/timer.h>

#define WQ_BH			1

struct workqueue_struct;
struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
	work_func_t		func;
};

struct delayed_work {
	struct work_struct	work;
	struct timer_list	timer;
	struct workqueue_struct	*wq;
	int			cpu;
};

extern struct workqueue_struct *system_percpu_wq;
extern struct workqueue_struct *system_bh_wq;

#define __DELAYED_WORK_INITIALIZER(n, f, flags)	{ .work = { .func = (f) } }
#define DECLARE_DELAYED_WORK(n, f)						\
	struct delayed_work n = __DELAYED_WORK_INITIALIZER(n, f, 0)
#define DECLARE_DEFERRABLE_WORK(n, f)						\
	struct delayed_work n = __DELAYED_WORK_INITIALIZER(n, f, TIMER_DEFERRABLE)
#define INIT_WORK(w, f)		((w)->func = (f))
#define __INIT_DELAYED_WORK(w, f, flags)					\
	do {									\
		INIT_WORK(&(w)->work, (f));					\
		timer_setup(&(w)->timer, delayed_work_timer_fn, flags);		\
	} while (0)
#define INIT_DELAYED_WORK(w, f)			__INIT_DELAYED_WORK(w, f, 0)
#define INIT_DELAYED_WORK_ONSTACK(w, f)		__INIT_DELAYED_WORK(w, f, 0)
#define INIT_DEFERRABLE_WORK(w, f)		__INIT_DELAYED_WORK(w, f, TIMER_DEFERRABLE)
#define work_pending(w)				(!!(w)->func)
#define delayed_work_pending(w)			work_pending(&(w)->work)

static inline struct delayed_work *to_delayed_work(struct work_struct *work)
{
	return container_of(work, struct delayed_work, work);
}

void delayed_work_timer_fn(struct timer_list *timer);
struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags, int active);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool flush_work(struct work_struct *work);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay);
bool queue_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork,
			   unsigned long delay);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
		      unsigned long delay);
bool mod_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork,
			 unsigned long delay);
bool cancel_delayed_work(struct delayed_work *dwork);
bool cancel_delayed_work_sync(struct delayed_work *dwork);
bool flush_delayed_work(struct delayed_work *dwork);
bool disable_delayed_work(struct delayed_work *dwork);
bool disable_delayed_work_sync(struct delayed_work *dwork);
bool enable_delayed_work(struct delayed_work *dwork);
void destroy_delayed_work_on_stack(struct delayed_work *dwork);

static inline bool schedule_delayed_work_on(int cpu, struct delayed_work *dwork,
					    unsigned long delay)
{
	return queue_delayed_work_on(cpu, system_percpu_wq, dwork, delay);
}

static inline bool schedule_delayed_work(struct delayed_work *dwork, unsigned long delay)
{
	return queue_delayed_work(system_percpu_wq, dwork, delay);
}

#endif /* _LINUX_WORKQUEUE_H */
