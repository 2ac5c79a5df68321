/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_STRING_H
#define _SIM_LINUX_STRING_H

#include <linux/types.h>

#include <string.h>

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t n = strnlen(from, size);

	if (n == size)
		n--;
	memcpy(to, from, n);
	to[n] = 0;
	return n;
}

static inline int match_string(const char * const *array, size_t n, const char *string)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (array[i] && !strcmp(array[i], string))
			return i;
	return -1;
}

#endif /* _SIM_LINUX_STRING_H */
