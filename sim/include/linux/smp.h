/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SMP_H
#define _SIM_LINUX_SMP_H

#include <linux/cpu.h>
#include <linux/percpu.h>

struct __call_single_data {
	void			(*func)(void *info);
	void			*info;
	bool			locked;
	unsigned long long	arrives;
	struct __call_single_data *next;
};

typedef struct __call_single_data call_single_data_t;

#define INIT_CSD(csd, f, i)	(*(csd) = (call_single_data_t){ .func = (f), .info = (i) })

int smp_call_function_single_async(int cpu, call_single_data_t *csd);

#endif /* _SIM_LINUX_SMP_H */
