/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_UACCESS_H
#define _SIM_LINUX_UACCESS_H

#include <linux/types.h>

long copy_from_kernel_nofault(void *to, const void *from, size_t size);

#endif /* _SIM_LINUX_UACCESS_H */
