/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_HASH_H
#define _SIM_LINUX_HASH_H

#include <linux/types.h>

static inline unsigned int hash_ptr(const void *p, unsigned int bits)
{
	return (unsigned long long)(unsigned long)p * 0x9e3779b97f4a7c15ULL >> (64 - bits);
}

#endif /* _SIM_LINUX_HASH_H */
