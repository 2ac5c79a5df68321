// SPDX-License-Identifier: GPL-2.0
/*
 * Data races of hwheel.c, found as KCSAN finds them
 *
 * With KIND=race, sim.sh compiles hwheel.c for the thread sanitizer. This file is the
 * sanitizer's run time. It holds up the CPU at one in 128 plain accesses. If another CPU
 * accesses the same memory meanwhile, and one of the two accesses is a write, that is a
 * data race. READ_ONCE() and WRITE_ONCE() are volatile accesses. They race only with
 * plain accesses.
 */
#include "kernel.h"

#define HOLD_NS		2000

static int race_off;

void sim_may_race(int more)
{
	race_off += more;
}

void sim_step_apart(unsigned int price);
void sim_step_apart(unsigned int price)
{
	sim_step(price);
}

void sim_write_apart(void);
void sim_write_apart(void)
{
	sim_write();
}

static struct {
	unsigned long	addr, size;
	bool		write, plain;
	struct sim_cpu	*cpu;
} watch;

static void access_memory(void *ptr, unsigned long size, bool write, bool plain)
{
	unsigned long addr = (unsigned long)ptr;

	if (race_off || !sim_cpu || sim_horizon == SIM_NEVER)
		return;
	if (watch.size) {
		if (watch.cpu != sim_cpu && addr < watch.addr + watch.size &&
		    watch.addr < addr + size && (write || watch.write) &&
		    (plain || watch.plain))
			sim_find("data race: a %s%s of %lu bytes during a %s%s",
				 plain ? "plain " : "", write ? "write" : "read", size,
				 watch.plain ? "plain " : "", watch.write ? "write" : "read");
		return;
	}
	if (!plain || sim_random() % 128)
		return;
	watch.addr = addr;
	watch.size = size;
	watch.write = write;
	watch.plain = plain;
	watch.cpu = sim_cpu;
	sim_world.holds = true;
	sim_step(HOLD_NS);
	oracle_stalled(HOLD_NS);
	watch.size = 0;
}

#define ACCESS(name, bytes, write, plain)		\
	void __tsan_##name(void *ptr)			\
	{						\
		access_memory(ptr, bytes, write, plain);	\
	}
#define ACCESSES(n)					\
	ACCESS(read##n, n, false, true)			\
	ACCESS(write##n, n, true, true)			\
	ACCESS(unaligned_read##n, n, false, true)	\
	ACCESS(unaligned_write##n, n, true, true)	\
	ACCESS(volatile_read##n, n, false, false)	\
	ACCESS(volatile_write##n, n, true, false)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_read_range(void *ptr, unsigned long size);
void __tsan_read_range(void *ptr, unsigned long size)
{
	access_memory(ptr, size, false, true);
}

void __tsan_write_range(void *ptr, unsigned long size);
void __tsan_write_range(void *ptr, unsigned long size)
{
	access_memory(ptr, size, true, true);
}

void __tsan_func_entry(void *ptr);
void __tsan_func_entry(void *ptr)
{
}

void __tsan_func_exit(void *ptr);
void __tsan_func_exit(void *ptr)
{
}
