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
#define WORK_CPU_UNBOUND	-1

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);

/* For delayed work, which only calls.c uses. All but work_pending() are stubs. */
#define work_pending(work)	((work)->pending)

static inline bool cancel_work(struct work_struct *work)
{
	return false;
}

static inline bool flush_work(struct work_struct *work)
{
	return false;
}

static inline struct work_struct *current_work(void)
{
	return NULL;
}

static inline void destroy_work_on_stack(struct work_struct *work)
{
}

#endif /* _SIM_LINUX_WORKQUEUE_H */
