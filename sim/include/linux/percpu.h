/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_PERCPU_H
#define _SIM_LINUX_PERCPU_H

#include <linux/types.h>

/*
 * Each CPU has a copy of section sim_percpu. Behind the copy is the memory for
 * alloc_percpu(). A per-CPU pointer points into the section, or behind it.
 */
#define DEFINE_PER_CPU(type, name)					\
	__attribute__((section("sim_percpu"), used)) typeof(type) name

void *sim_per_cpu(const void *ptr, int cpu);
int raw_smp_processor_id(void);
int smp_processor_id(void);
void *sim_alloc_percpu(size_t size, size_t align);
void free_percpu(void *ptr);

#define per_cpu_ptr(ptr, cpu)	((typeof(ptr))sim_per_cpu(ptr, cpu))
#define raw_cpu_ptr(ptr)	per_cpu_ptr(ptr, raw_smp_processor_id())
#define this_cpu_ptr(ptr)	per_cpu_ptr(ptr, smp_processor_id())
#define raw_cpu_read(var)	(*raw_cpu_ptr(&(var)))
#define raw_cpu_write(var, x)	(*raw_cpu_ptr(&(var)) = (x))
#define alloc_percpu(type)						\
	((type *)sim_alloc_percpu(sizeof(type), __alignof__(type)))

#endif /* _SIM_LINUX_PERCPU_H */
