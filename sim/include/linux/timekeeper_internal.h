/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_TIMEKEEPER_INTERNAL_H
#define _SIM_LINUX_TIMEKEEPER_INTERNAL_H

#include <linux/ktime.h>

struct timekeeper {
	ktime_t		offs_real, offs_tai, next_leap_ktime;
};

#endif /* _SIM_LINUX_TIMEKEEPER_INTERNAL_H */
