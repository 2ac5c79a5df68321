/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_COMPILER_H
#define _SIM_LINUX_COMPILER_H

#define OPTIMIZER_HIDE_VAR(var)	__asm__ ("" : "=r" (var) : "0" (var))
#define __section(name)		__attribute__((section(name)))

#endif /* _SIM_LINUX_COMPILER_H */
