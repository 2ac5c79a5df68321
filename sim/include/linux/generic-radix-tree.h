/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_GENERIC_RADIX_TREE_H
#define _SIM_LINUX_GENERIC_RADIX_TREE_H

#include <linux/slab.h>

static inline void *sim_genradix_ptr(void *rows, size_t nr, size_t n, size_t size)
{
	return n < nr ? (char *)rows + n * size : NULL;
}

/* An array that grows when memory for it is asked for */
#define GENRADIX(type)			struct { typeof(type) *rows; size_t nr; }
#define genradix_ptr(radix, n)							\
	((typeof((radix)->rows))sim_genradix_ptr((radix)->rows, (radix)->nr, n,	\
						 sizeof(*(radix)->rows)))
#define genradix_free(radix)		kvfree((radix)->rows)
#define genradix_prealloc(radix, n, gfp)					\
({										\
	size_t __n = (n);							\
	typeof((radix)->rows) __rows = kvmalloc_array(__n, sizeof(*__rows), gfp); \
										\
	if (__rows && (radix)->nr)						\
		memcpy(__rows, (radix)->rows, (radix)->nr * sizeof(*__rows));	\
	if (__rows) {								\
		kvfree((radix)->rows);						\
		(radix)->rows = __rows;						\
		(radix)->nr = __n;						\
	}									\
	__rows ? 0 : -ENOMEM;							\
})

#endif /* _SIM_LINUX_GENERIC_RADIX_TREE_H */
