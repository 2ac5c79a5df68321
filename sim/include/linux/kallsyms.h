/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_KALLSYMS_H
#define _SIM_LINUX_KALLSYMS_H

#include <stdio.h>

#define KSYM_SYMBOL_LEN	600

/* hwheel.c uses snprintf() only to get the name of a function, with the format "%ps" */
#define snprintf	sim_function_name

int sim_function_name(char *name, size_t size, const char *format, const void *function);

#endif /* _SIM_LINUX_KALLSYMS_H */
