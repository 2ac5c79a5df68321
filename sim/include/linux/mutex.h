/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_MUTEX_H
#define _SIM_LINUX_MUTEX_H

#include <linux/types.h>

struct mutex {
	struct task_struct	*owner;
	bool			ready;		/* it is initialized */
};

#define DEFINE_MUTEX(name)	struct mutex name = { .ready = true }

void mutex_init(struct mutex *mutex);
void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

#endif /* _SIM_LINUX_MUTEX_H */
