/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_KSTRTOX_H
#define _SIM_LINUX_KSTRTOX_H

int kstrtouint_from_user(const char __user *text, size_t size, unsigned int base,
			 unsigned int *number);

#endif /* _SIM_LINUX_KSTRTOX_H */
