/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_MINMAX_H
#define _SIM_LINUX_MINMAX_H

#include <linux/types.h>

#endif /* _SIM_LINUX_MINMAX_H */
