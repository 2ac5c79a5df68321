/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_XARRAY_H
#define _SIM_LINUX_XARRAY_H

#include <linux/err.h>
#include <linux/types.h>

struct xarray {
	struct {
		unsigned long	index;
		void		*entry;
	} at[64];
};

#define DEFINE_XARRAY(name)	struct xarray name

void *xa_load(struct xarray *xa, unsigned long index);
void *xa_store(struct xarray *xa, unsigned long index, void *entry, unsigned int gfp);
void *xa_erase(struct xarray *xa, unsigned long index);

static inline int xa_err(void *entry)
{
	return IS_ERR(entry) ? PTR_ERR(entry) : 0;
}

#endif /* _SIM_LINUX_XARRAY_H */
