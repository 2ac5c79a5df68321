/* SPDX-License-Identifier: GPL-2.0 */
/*
 * New names on old kernels. All code uses the names of the newest kernel. This file
 * defines these names for older kernels, and no other file checks the kernel's version.
 */
#ifndef _HWHEEL_COMPAT_H
#define _HWHEEL_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "hwheel needs Linux 6.1 or later: give make the KDIR= of such a kernel's headers"
#endif

#include <linux/hrtimer.h>
#include <linux/sched/isolation.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

/*
 * 6.2 has the two timer_delete calls and timer_shutdown_sync(), 6.4 has cpu_is_isolated(). 6.1.y
 * got each of them later.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 91)
#define timer_delete		del_timer
#define timer_delete_sync	del_timer_sync
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 158)
#define timer_shutdown_sync	timer_delete_sync
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 160) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0))
static inline bool cpu_is_isolated(int cpu)
{
	return !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) ||
	       !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_percpu_wq	system_wq
#define system_dfl_wq		system_unbound_wq
#endif

#endif /* _HWHEEL_COMPAT_H */
