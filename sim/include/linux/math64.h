/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_MATH___H
#define _SIM_LINUX_MATH___H

#include_next <linux/math64.h>

static inline s64 div_s64(s64 n, s32 d)
{
	return n / d;
}

#endif /* _SIM_LINUX_MATH___H */
