/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SLAB_H
#define _SIM_LINUX_SLAB_H

#include <linux/types.h>

#define GFP_KERNEL		1
#define __GFP_ZERO		2
#define __GFP_NOWARN		4

void *sim_alloc(size_t size, bool zero);
void sim_free(const void *ptr);
void sim_kvfree(const void *ptr);

#define kzalloc(size, gfp)		sim_alloc(size, true)
#define kvmalloc_node(size, gfp, node)	sim_alloc(size, false)
#define kvzalloc(size, gfp)		sim_alloc(size, true)
#define kvzalloc_node(size, gfp, node)	sim_alloc(size, true)
#define kvmalloc_array(n, size, gfp)	sim_alloc((size_t)(n) * (size), false)
#define kfree(ptr)			sim_free(ptr)
#define kvfree(ptr)			sim_kvfree(ptr)

#endif /* _SIM_LINUX_SLAB_H */
