/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_LOCKDEP_H
#define _SIM_LINUX_LOCKDEP_H

#include <linux/lockdep_types.h>

#define SINGLE_DEPTH_NESTING			1
#define lockdep_init_map(...)			((void)0)
#define lockdep_register_key(key)		((void)0)
#define lockdep_unregister_key(key)		((void)0)
#define lock_set_subclass(map, subclass, ip)	((void)0)
#define lock_acquire_exclusive(...)		((void)0)
#define lock_map_acquire(map)			((void)0)
#define lock_map_release(map)			((void)0)
#define lockdep_assert_irqs_disabled()		sim_assert_irqs_disabled(__func__)

#define lockdep_assert_preemption_enabled()	sim_assert_preemption_enabled(__func__)

void sim_assert_irqs_disabled(const char *where);
void sim_assert_preemption_enabled(const char *where);

#endif /* _SIM_LINUX_LOCKDEP_H */
