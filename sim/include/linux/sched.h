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

#define TASK_RUNNING		0
#define TASK_INTERRUPTIBLE	1
#define TASK_UNINTERRUPTIBLE	2
#define TASK_WAKEKILL		4
#define TASK_KILLABLE		(TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)

void set_current_state(unsigned int state);
#define __set_current_state(state)	set_current_state(state)
bool signal_pending_state(unsigned int state, struct task_struct *task);
void schedule(void);
int wake_up_process(struct task_struct *task);

#endif /* _SIM_LINUX_SCHED_H */
