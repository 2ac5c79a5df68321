/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_WORKQUEUE_H
#define _SIM_LINUX_WORKQUEUE_H

#include <linux/list.h>
#include <linux/timer.h>

struct workqueue_struct {
	bool			unbound;
	unsigned int		most;		/* works that may run at once; 0: any number */
	unsigned int		active;		/* works that run */
};

struct work_struct {
	void			(*func)(struct work_struct *work);
	struct list_head	entry;		/* next is NULL if it is in no pool's list */
	bool			pending;
	unsigned int		cancelling;
	struct workqueue_struct	*wq;		/* the workqueue on which it was put last */
};

struct delayed_work {
	struct work_struct	work;
	struct timer_list	timer;
	struct workqueue_struct	*wq;
};

extern struct workqueue_struct *system_percpu_wq, *system_dfl_wq;

#define INIT_WORK(work, f)	(*(work) = (struct work_struct){ .func = (f) })
#define WORK_CPU_UNBOUND	-1
#define work_pending(work)	READ_ONCE((work)->pending)

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool cancel_work(struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);
void sim_delayed_work_init(struct delayed_work *dwork, void (*func)(struct work_struct *work));
#define INIT_DELAYED_WORK(dwork, func)	sim_delayed_work_init(dwork, func)
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay);
bool cancel_delayed_work_sync(struct delayed_work *dwork);
bool flush_work(struct work_struct *work);
struct work_struct *current_work(void);

static inline struct delayed_work *to_delayed_work(struct work_struct *work)
{
	return container_of(work, struct delayed_work, work);
}

static inline void destroy_work_on_stack(struct work_struct *work)
{
}

#endif /* _SIM_LINUX_WORKQUEUE_H */
