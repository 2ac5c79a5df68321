/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Just enough of the kernel's headers to build module/levels.h in user space, in gnu11
 * and with any compiler. Each file stands for the kernel's file of the same name. types.h
 * also has what kernel code gets without an #include.
 */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

typedef unsigned char		u8;
typedef unsigned short		u16;
typedef unsigned int		u32;
typedef unsigned long long	u64;
typedef signed long long	s64;

struct list_head {
	struct list_head *next, *prev;
};

#define S64_MAX			((s64)(~0ULL >> 1))
#define U32_MAX			(~0U)
#define U64_MAX			((u64)~0ULL)

#ifndef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#endif
#define noinline		__attribute__((noinline))
#define __aligned(n)		__attribute__((aligned(n)))
#define ____cacheline_aligned	__aligned(64)

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#ifndef READ_ONCE
/* There is only one thread. The simulator has definitions of its own. */
#define data_race(x)			(x)
#define READ_ONCE(x)			(x)
#define WRITE_ONCE(x, value)		((x) = (value))
#define smp_load_acquire(p)		(*(p))
#define smp_store_release(p, value)	(*(p) = (value))
#endif

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#ifndef min
static inline u64 min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 clamp(u64 x, u64 low, u64 high)
{
	return min(max(x, low), high);
}
#endif

#endif /* _LINUX_TYPES_H */
