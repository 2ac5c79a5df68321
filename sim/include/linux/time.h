/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_TIME_H
#define _SIM_LINUX_TIME_H

#include_next <linux/time.h>

#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_USEC		1000L

#endif /* _SIM_LINUX_TIME_H */
