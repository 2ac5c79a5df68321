/* SPDX-License-Identifier: GPL-2.0 */
/*
 * New names on old kernels. All code uses the names of the newest kernel. This file
 * defines these names for kernels that do not have them.
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

/* Kbuild looks for these in the kernel's headers. Here is which releases have them first. */

#ifndef HWHEEL_HAVE_TIMER_DELETE	/* 6.1.91, 6.2 */
#define timer_delete		del_timer
#define timer_delete_sync	del_timer_sync
#endif

#ifndef HWHEEL_HAVE_CPU_IS_ISOLATED	/* 6.1.160, 6.4 */
static inline bool cpu_is_isolated(int cpu)
{
	return !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) ||
	       !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
}
#endif

#ifndef HWHEEL_HAVE_HRTIMER_SETUP	/* 6.13 */
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#ifndef HWHEEL_HAVE_SYSTEM_PERCPU_WQ	/* 6.17 */
#define system_percpu_wq	system_wq
#define system_dfl_wq		system_unbound_wq
#endif

#endif /* _HWHEEL_COMPAT_H */
