/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_MATH_H
#define _LINUX_MATH_H

/* @n must be a power of two. */
#define round_up(x, n)		(((x) + (n) - 1) & ~((n) - 1))

#endif /* _LINUX_MATH_H */
