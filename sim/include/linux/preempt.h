/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_PREEMPT_H
#define _SIM_LINUX_PREEMPT_H

#include <linux/types.h>

#define SOFTIRQ_OFFSET		0x100
#define HARDIRQ_OFFSET		0x10000

int sim_preempt_count(void);
void preempt_count_set(int count);
void preempt_disable(void);
void preempt_enable(void);
bool in_interrupt(void);
bool in_hardirq(void);
bool in_softirq(void);
void local_bh_disable(void);
void local_bh_enable(void);

#define preempt_count()		sim_preempt_count()

#endif /* _SIM_LINUX_PREEMPT_H */
