/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_CPUHOTPLUG_H
#define _SIM_LINUX_CPUHOTPLUG_H

#include <linux/cpu.h>

#endif /* _SIM_LINUX_CPUHOTPLUG_H */
