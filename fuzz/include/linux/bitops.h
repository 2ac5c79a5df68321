/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_BITOPS_H
#define _LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/types.h>

#ifndef BITS_PER_LONG
#define BITS_PER_LONG		(8 * __SIZEOF_LONG__)
#endif

/* The highest bit set, counted from 0. There must be one. */
static inline unsigned long __fls(unsigned long x)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(x);
}

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

static inline unsigned int hweight64(u64 x)
{
	return __builtin_popcountll(x);
}

#endif /* _LINUX_BITOPS_H */
