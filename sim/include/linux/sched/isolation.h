/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SCHED_ISOLATION_H
#define _SIM_LINUX_SCHED_ISOLATION_H

#include <linux/jump_label.h>
#include <linux/types.h>

#define CONFIG_CPU_ISOLATION	1

enum hk_type {
	HK_TYPE_TIMER,
	HK_TYPE_DOMAIN,
};

extern struct static_key_false housekeeping_overridden;

int housekeeping_any_cpu(enum hk_type type);
bool housekeeping_test_cpu(int cpu, enum hk_type type);
bool cpu_is_isolated(int cpu);

#endif /* _SIM_LINUX_SCHED_ISOLATION_H */
