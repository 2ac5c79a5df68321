/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SCHED_TASK_STACK_H
#define _SIM_LINUX_SCHED_TASK_STACK_H

int object_is_on_stack(const void *obj);

#endif /* _SIM_LINUX_SCHED_TASK_STACK_H */
