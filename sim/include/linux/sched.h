/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SCHED_H
#define _SIM_LINUX_SCHED_H

#include <linux/types.h>
#include <linux/preempt.h>

#define current			sim_current()

struct task_struct *sim_current(void);
void cond_resched(void);
void cpu_relax(void);
void sim_might_sleep(const char *where);

#define might_sleep()		sim_might_sleep(__func__)
#define might_sleep_if(x)	do { if (x) might_sleep(); } while (0)

#endif /* _SIM_LINUX_SCHED_H */
