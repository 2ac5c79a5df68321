/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TIME_H
#define _LINUX_TIME_H

#include <linux/types.h>	/* clockid_t is from the C library */

#endif /* _LINUX_TIME_H */
