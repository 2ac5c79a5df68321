/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_KTIME_H
#define _SIM_LINUX_KTIME_H

#include_next <linux/ktime.h>
#include <linux/time.h>

#define KTIME_MIN		S64_MIN

ktime_t ktime_get(void);
ktime_t ktime_get_boottime(void);

static inline ktime_t ms_to_ktime(u64 ms)
{
	return ms * NSEC_PER_MSEC;
}

#endif /* _SIM_LINUX_KTIME_H */
