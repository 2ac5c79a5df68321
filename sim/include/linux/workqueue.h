/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_WORKQUEUE_H
#define _SIM_LINUX_WORKQUEUE_H

#include <linux/list.h>

struct work_struct {
	void			(*func)(struct work_struct *work);
	struct list_head	entry;
	bool			pending;
	unsigned int		cancelling;
	struct task_struct	*worker;	/* the worker that runs it; or NULL */
	int			pool;		/* the pool of that worker */
};

struct workqueue_struct;
extern struct workqueue_struct *system_percpu_wq, *system_dfl_wq;

#define INIT_WORK(work, f)	(*(work) = (struct work_struct){ .func = (f) })

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);

#endif /* _SIM_LINUX_WORKQUEUE_H */
