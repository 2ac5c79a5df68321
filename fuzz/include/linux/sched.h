/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FUZZ_SCHED_H
#define _FUZZ_SCHED_H

struct task_struct;

enum { TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, TASK_KILLABLE };

#endif
