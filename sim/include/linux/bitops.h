/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_BITOPS_H
#define _SIM_LINUX_BITOPS_H

#include_next <linux/bitops.h>

static inline unsigned long __fls(unsigned long x)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(x);
}

#endif /* _SIM_LINUX_BITOPS_H */
