/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_JIFFIES_H
#define _SIM_LINUX_JIFFIES_H

#include <linux/types.h>

#define HZ			250
#define TICK_NSEC		4000000L
#define jiffies			sim_jiffies()
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)

unsigned long sim_jiffies(void);

#endif /* _SIM_LINUX_JIFFIES_H */
