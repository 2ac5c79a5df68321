// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel - exact timers on hierarchical wheels
 *
 * A wheel has a base on each CPU. A base is a set of levels of spokes with fans and a
 * parking lot (module/levels.h tells what these are), a lock, and one hrtimer that drives
 * the base. A timer is on one base at a time and points to that base.
 *
 * hwheel.ko is one translation unit: this file includes its parts, in the order of the table, which
 * is the order to read them in. Most begin with an essay on how they work.
 *
 *	part		its job
 *	--------------	-----------------------------------------------------------------
 *	levels.h	where a timer goes, what is due next, how a cascade proceeds; it includes
 *			levels_place.h, levels_step.h and levels_check.h
 *	base.h		the structures of a wheel and of its bases
 *	parts.c		how the core calls the parts that may be left out
 *	clock.c		the clocks of wheels
 *	trace.h		tracepoints
 *	debug.c		warnings; lockdep and debugobjects
 *	base.c		a timer's base, and how to lock it
 *	drive.c		keeping the hrtimer of a base armed for the earliest expiration
 *	cpus.c		where a timer is armed; isolated CPUs; CPU hotplug
 *	grow.c		levels and fans on demand
 *	run.c		runs: they call callbacks and move timers
 *	arm.c		the calls that arm a timer
 *	cancel.c	the calls that cancel a timer, and that wait for callbacks
 *	setup.c		the calls that set up a timer
 *	query.c		the calls that ask about a timer or a wheel
 *	wheels.c	creating and destroying wheels
 *
 *	may be left out
 *	--------------	-----------------------------------------------------------------
 *	sleep.c		sleeping on a wheel
 *	delayed_work.c	delayed work
 *	wall_time.c	CLOCK_REALTIME and CLOCK_TAI, and what happens when somebody sets a clock
 *	deferrable.c	wheels that wake no idle CPU
 *	debugfs.c	the files in debugfs
 *
 * Locks
 * -----
 *
 * base->lock is raw and is taken with interrupts off. So any context but NMI may arm and
 * cancel. To lock a timer's base, read timer->base, lock that base, and check that
 * timer->base is still the same. timer->base changes only with the locks of both the old
 * and the new base held, so a timer is on exactly one of them at any time. Two bases are
 * locked in the order of their CPUs. Under a base's lock, hwheel takes only locks of the
 * timekeeping, hrtimer, timer_list, workqueue, debugobjects and scheduler code.
 *
 * hwheel_mutex protects the list of wheels. Creation, destruction and CPU hotplug take it.
 * hwheel_wheels_lock protects the list from an interrupt that tells wheels of a new wall time.
 * Locks of bases nest inside.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/debugobjects.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/generic-radix-tree.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/prefetch.h>
#include <linux/pvclock_gtod.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeper_internal.h>

#include "hwheel.h"
#include "module/compat.h"
#include "module/levels.h"
#include "module/base.h"
#include "module/parts.c"
#include "module/clock.c"

static void *hwheel_named(const struct hwheel_timer *timer);

#define CREATE_TRACE_POINTS
#include "module/trace.h"

#include "module/debug.c"
#include "module/base.c"
#include "module/drive.c"
#include "module/cpus.c"
#include "module/grow.c"
#include "module/run.c"
#include "module/arm.c"
#include "module/cancel.c"
#include "module/setup.c"
#include "module/query.c"
#include "module/wheels.c"

/* The parts that may be left out */
#ifdef CONFIG_HWHEEL_SLEEP
#include "module/sleep.c"
#endif
#ifdef CONFIG_HWHEEL_DELAYED_WORK
#include "module/delayed_work.c"
#endif
#ifdef CONFIG_HWHEEL_WALL_TIME
#include "module/wall_time.c"
#endif
#ifdef CONFIG_HWHEEL_DEFERRABLE
#include "module/deferrable.c"
#endif
#ifdef CONFIG_HWHEEL_DEBUGFS
#include "module/debugfs.c"
#endif

/* hwheel.h says what the name is for */
const char hwheel_version_1_0[] = HWHEEL_RELEASE;
EXPORT_SYMBOL_GPL(hwheel_version_1_0);

static unsigned long long tick_ns;
module_param(tick_ns, ullong, 0444);
MODULE_PARM_DESC(tick_ns, "tick of the module's own wheel in ns, 1000 or more (default 1000000)");

static unsigned int spokes[HWHEEL_MAX_LEVELS];
module_param_array(spokes, uint, NULL, 0444);
MODULE_PARM_DESC(spokes, "spokes of each level of the module's own wheel, 2 to 4096, the last entry repeats (default 128)");

static unsigned int levels;
module_param(levels, uint, 0444);
MODULE_PARM_DESC(levels, "number of levels of the module's own wheel, 1 to 8 (default 5)");

static unsigned long long gap_ns;
module_param(gap_ns, ullong, 0444);
MODULE_PARM_DESC(gap_ns, "after a run of callbacks, the module's own wheel waits at least this many ns before its next run on that CPU, but not after a run that was cut; 0 to 1000000000 (default 0)");

static int __init hwheel_init(void)
{
	struct hwheel_config config = {
		.name	 = "system",
		.tick_ns = tick_ns,
		.levels	 = levels,
		.gap_ns	 = gap_ns,
	};
	int err;

	BUILD_BUG_ON(!IS_ENABLED(CONFIG_LOCKDEP) && sizeof(struct hwheel_timer) > 48);
	BUILD_BUG_ON(sizeof(struct hwheel_spoke) != HWHEEL_SPOKE_SIZE);

	memcpy(config.spokes, spokes, sizeof(spokes));
	hwheel_each_part(init);
	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "hwheel:dead",
					NULL, hwheel_serve_all);
	if (err < 0)
		goto err_parts;
	hwheel_dead_state = err;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "hwheel:online",
					hwheel_serve_all, NULL);
	if (err < 0)
		goto err_dead;
	hwheel_online_state = err;

	hwheel_system = hwheel_create(&config);
#ifndef MODULE
	/* Code that is built in uses this wheel without a check: if need be, take the defaults */
	if (IS_ERR(hwheel_system))
		hwheel_system = hwheel_create(&(struct hwheel_config){ .name = "system" });
#endif
	if (IS_ERR(hwheel_system)) {
		err = PTR_ERR(hwheel_system);
		goto err_online;
	}
	return 0;

err_online:
	cpuhp_remove_state_nocalls(hwheel_online_state);
err_dead:
	cpuhp_remove_state_nocalls(hwheel_dead_state);
err_parts:
	hwheel_each_part(exit);
	return err;
}

/*
 * All modules that used this one are unloaded. If they left timers pending, the memory of
 * these timers may be freed. So do not look at them.
 */
static void __exit hwheel_exit(void)
{
	struct hwheel *wheel;
	u64 pending;
	int cpu;

	while ((wheel = list_first_entry_or_null(&hwheel_wheels, struct hwheel, list))) {
		hwheel_stop(wheel);
		pending = 0;
		for_each_possible_cpu(cpu)
			pending += per_cpu_ptr(wheel->bases, cpu)->levels.pending;
		WARN(wheel != hwheel_system,
		     "hwheel: wheel \"%s\" was never destroyed by the module that created it\n",
		     wheel->name);
		WARN(pending, "hwheel: %llu timers were left pending on wheel \"%s\"\n",
		     pending, wheel->name);
		hwheel_free(wheel);
	}
	cpuhp_remove_state_nocalls(hwheel_online_state);
	cpuhp_remove_state_nocalls(hwheel_dead_state);
	hwheel_each_part(exit);
	/* The handlers of the last kicks may not have returned yet */
	synchronize_rcu();
}

/* If hwheel is built in, it starts before all code that may use it */
subsys_initcall(hwheel_init);
module_exit(hwheel_exit);
MODULE_DESCRIPTION("Exact timers on hierarchical wheels");
MODULE_VERSION(HWHEEL_RELEASE);
MODULE_LICENSE("GPL");
