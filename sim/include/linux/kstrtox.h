/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_KSTRTOX_H
#define _SIM_LINUX_KSTRTOX_H

#include <errno.h>
#include <linux/types.h>

static inline int kstrtobool(const char *s, bool *value)
{
	if (*s != '0' && *s != '1')
		return -EINVAL;
	*value = *s == '1';
	return 0;
}

#endif /* _SIM_LINUX_KSTRTOX_H */
