/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KTIME_H
#define _LINUX_KTIME_H

#include <linux/types.h>

typedef s64 ktime_t;

#define KTIME_MAX		S64_MAX
#ifndef NSEC_PER_SEC
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L
#endif

#endif /* _LINUX_KTIME_H */
