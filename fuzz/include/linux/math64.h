/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_MATH64_H
#define _LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

static inline u64 div64_u64(u64 n, u64 d)
{
	return n / d;
}

static inline u64 div_u64_rem(u64 n, u32 d, u32 *rest)
{
	*rest = n % d;
	return n / d;
}

/* a * b >> shift, by 32-bit halves, as on 32-bit machines, which have no __int128 */
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (u32)mid;
	u64 high = ah * bh + (mid >> 32) + (mid2 >> 32);

	low = mid2 << 32 | (u32)low;
	if (!shift)
		return low;
	return shift < 64 ? high << (64 - shift) | low >> shift : high >> (shift - 64);
}

#endif /* _LINUX_MATH64_H */
