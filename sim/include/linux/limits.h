/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_LIMITS_H
#define _SIM_LINUX_LIMITS_H

#include <limits.h>

#endif /* _SIM_LINUX_LIMITS_H */
