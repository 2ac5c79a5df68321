/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_CPU_H
#define _SIM_LINUX_CPU_H

#include <linux/types.h>

extern unsigned int nr_cpu_ids;

bool cpu_online(unsigned int cpu);
void cpus_read_lock(void);
void cpus_read_unlock(void);
int cpuhp_setup_state_nocalls(int state, const char *name, int (*startup)(unsigned int cpu),
			      int (*teardown)(unsigned int cpu));
void cpuhp_remove_state_nocalls(int state);

#define CPUHP_BP_PREPARE_DYN	1
#define CPUHP_AP_ONLINE_DYN	2
bool cpu_possible(unsigned int cpu);
#define cpu_to_node(cpu)	0
#define for_each_possible_cpu(cpu)					\
	for ((cpu) = 0; (cpu) < (int)nr_cpu_ids; (cpu)++)		\
		if (cpu_possible(cpu))
#define for_each_online_cpu(cpu)	for_each_possible_cpu(cpu) if (cpu_online(cpu))

#endif /* _SIM_LINUX_CPU_H */
