/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_KALLSYMS_H
#define _SIM_LINUX_KALLSYMS_H

#include <stdio.h>

#define KSYM_SYMBOL_LEN	600

#endif /* _SIM_LINUX_KALLSYMS_H */
