/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_PREFETCH_H
#define _SIM_LINUX_PREFETCH_H

#define prefetchw(x)	((void)(x))

#endif /* _SIM_LINUX_PREFETCH_H */
