/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_WORKQUEUE_H
#define _SIM_LINUX_WORKQUEUE_H

#include <linux/list.h>

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

extern struct workqueue_struct *system_percpu_wq, *system_dfl_wq;

#define INIT_WORK(work, f)	(*(work) = (struct work_struct){ .func = (f) })
#define WORK_CPU_UNBOUND	-1
#define work_pending(work)	READ_ONCE((work)->pending)

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool cancel_work(struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);
bool flush_work(struct work_struct *work);
struct work_struct *current_work(void);

static inline void destroy_work_on_stack(struct work_struct *work)
{
}

#endif /* _SIM_LINUX_WORKQUEUE_H */
