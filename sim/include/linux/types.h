/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_TYPES_H
#define _SIM_LINUX_TYPES_H

/*
 * The headers of the simulated kernel: what hwheel.c needs of Linux, under the kernel's
 * names. sim/kernel.c has the code. What module/levels.h needs is in fuzz/include, which
 * the compiler searches after this folder. Each access that other CPUs can see is a step.
 * It takes time, and another CPU may go on before it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* These plain accesses may race, so sim/race.c ignores them. */
#define data_race(x)							\
	({ sim_place(__func__); sim_may_race(1); __auto_type __x = (x); sim_may_race(-1); __x; })
#define READ_ONCE(x)							\
	(sim_step(SIM_READ), *(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)						\
	(sim_write(), *(volatile typeof(x) *)&(x) = (value))
#define smp_load_acquire(p)		READ_ONCE(*(p))
#define smp_store_release(p, value)					\
	do { WRITE_ONCE(*(p), value); sim_place(__func__); } while (0)

#define min(a, b)							\
	({ __auto_type __a = (a); __auto_type __b = (b); __a < __b ? __a : __b; })
#define max(a, b)							\
	({ __auto_type __a = (a); __auto_type __b = (b); __a > __b ? __a : __b; })
#define clamp(x, low, high)		min(max(x, low), high)
#define min_t(type, a, b)		min((type)(a), (type)(b))
#define max_t(type, a, b)		max((type)(a), (type)(b))

#include_next <linux/types.h>

typedef signed int		s32;
typedef unsigned int		gfp_t;
typedef unsigned short		umode_t;

#define S32_MAX			0x7fffffff
#define S64_MIN			(-S64_MAX - 1)

#define BITS_PER_LONG		__SIZEOF_LONG__ * 8
#define PAGE_SIZE		4096UL
#define THIS_MODULE		NULL

#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define __noreturn		__attribute__((noreturn))
#define fallthrough		__attribute__((fallthrough))
#define __percpu
#define __init
#define __exit
#define __user
#define __acquires(x)
#define __releases(x)
#define __must_hold(x)
#define ____cacheline_aligned_in_smp	____cacheline_aligned

#define barrier()		__asm__ __volatile__("" : : : "memory")
#define IS_ENABLED(x)		__is_one(x)
#define __is_one(x)		___is_one(__one_##x)
#define __one_1			0,
#define ___is_one(junk)		____is_one(junk 1, 0)
#define ____is_one(a, b, ...)	b

#define BUILD_BUG_ON(x)		((void)sizeof(char[1 - 2 * !!(x)]))
#define EXPORT_SYMBOL_GPL(x)	extern typeof(x) x
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((unsigned long long)(n), d)
#define lower_32_bits(n)	((u32)(n))
#define upper_32_bits(n)	((u32)((n) >> 32))
#define _THIS_IP_		0UL

/* What each step costs, in simulated nanoseconds. */
enum {
	SIM_READ	= 2,
	SIM_WRITE	= 25,	/* three of them are a list move */
	SIM_CALL	= 15,	/* a clock read, an uncontended lock, an atomic */
	SIM_IRQ		= 300,
};

struct sim_cpu;
struct task_struct;

void sim_may_race(int more);

extern struct sim_cpu *sim_cpu;		/* the current CPU */
extern unsigned long long sim_time;	/* its time */
extern unsigned long long sim_horizon;	/* when it must call sim_slow() */
extern unsigned long long sim_writes;	/* WRITE_ONCE()s that it has done */

/* At a place where another CPU or task may go on: see sim_meanwhile in kernel.h */
void sim_place(const char *where);

void sim_slow(void);

#ifdef __SANITIZE_THREAD__		/* out of line: race.c must not see their accesses */
#define sim_step	sim_step_apart
#define sim_write	sim_write_apart
void sim_step(unsigned int price);
void sim_write(void);
#else
/* Call this before the access: then the access happens at sim_time. */
static inline void sim_step(unsigned int price)
{
	sim_time += price;
	if (__builtin_expect(sim_time >= sim_horizon, 0))
		sim_slow();
}

static inline void sim_write(void)
{
	sim_writes++;
	sim_step(SIM_WRITE);
}
#endif

__printf(1, 2) int sim_printk(const char *format, ...);
__printf(3, 4) bool sim_warn(const char *file, int line, const char *format, ...);

#ifndef pr_fmt
#define pr_fmt(format)		format
#endif
#define KBUILD_MODNAME		"hwheel"
#define pr_err(...)		sim_printk(__VA_ARGS__)
#define pr_warn(...)		sim_printk(__VA_ARGS__)
#define pr_info(...)		sim_printk(__VA_ARGS__)

/* WARN_ONCE() warns each time here. */
#define WARN(condition, ...)						\
({									\
	bool __warns = unlikely(condition);				\
									\
	if (__warns)							\
		sim_warn(__FILE__, __LINE__, __VA_ARGS__);		\
	__warns;							\
})
#define WARN_ONCE(condition, ...)	WARN(condition, __VA_ARGS__)
#define WARN_ON_ONCE(condition)		WARN(condition, "%s", #condition)
#define WARN_ON(condition)		WARN(condition, "%s", #condition)

#endif /* _SIM_LINUX_TYPES_H */
