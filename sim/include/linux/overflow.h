/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_OVERFLOW_H
#define _SIM_LINUX_OVERFLOW_H

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)

#endif /* _SIM_LINUX_OVERFLOW_H */
