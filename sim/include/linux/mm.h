/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_MM_H
#define _SIM_LINUX_MM_H

#include <linux/slab.h>

#endif /* _SIM_LINUX_MM_H */
