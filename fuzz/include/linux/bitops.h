/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_BITOPS_H
#define _LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

/* The highest bit set, counted from 1; 0 if there is none. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* The lowest bit set, counted from 0. There must be one. */
static inline unsigned long __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

#endif /* _LINUX_BITOPS_H */
