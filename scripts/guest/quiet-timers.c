// SPDX-License-Identifier: GPL-2.0
/*
 * The guest of quiet.sh loads this module. Each string that is written to the parameter "run"
 * is a command:
 *
 *	create		makes the wheels
 *	destroy		waits for their callbacks, and destroys them
 *	arm KIND CPU	arms timers on CPU, in a task there, or in an interrupt if the CPU is
 *			isolated. KIND is hwheel (on wheels of all contexts), pinned (the same,
 *			with HWHEEL_PINNED), softirq, deferrable, timer_list or hrtimer. The
 *			timers are due 2 ms apart. Some timers of hwheel are due in hours, so
 *			that the wheels need more levels
 *	cancel		cancels what is pending, and prints what became of the timers
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timer.h>

#include "hwheel.h"
#include "module/compat.h"

#define TIMERS		1000
#define FAR		50		/* this many of them are due in hours */
#define FIRST_MS	1000
#define APART_MS	2

struct probe {
	union {
		struct hwheel_timer	timer;
		struct timer_list	list;
		struct hrtimer		hrtimer;
	};
	ktime_t			due;
};

enum kind { HWHEEL, SOFTIRQ, PINNED, DEFERRABLE, TIMER_LIST, HRTIMER };
static const char * const kinds[] = {
	[HWHEEL] = "hwheel", [SOFTIRQ] = "softirq", [PINNED] = "pinned",
	[DEFERRABLE] = "deferrable", [TIMER_LIST] = "timer_list", [HRTIMER] = "hrtimer",
};

static const struct hwheel_config configs[] = {
	{ .name = "softirq" },
	{ .name = "hardirq", .context = HWHEEL_HARDIRQ },
	{ .name = "work", .context = HWHEEL_WORK },
	{ .name = "deferrable", .flags = HWHEEL_DEFERRABLE },
};

static struct hwheel *wheels[ARRAY_SIZE(configs)];
static struct probe probes[TIMERS];
static enum kind kind;
static unsigned int nr_armed, armed_on;
static atomic_t nr_fired, nr_there, nr_early;
static atomic64_t max_late;

static void fired(struct probe *p)
{
	s64 late = ktime_get() - p->due, max;

	atomic_inc(&nr_fired);
	if (raw_smp_processor_id() == armed_on)
		atomic_inc(&nr_there);
	if (late < 0)
		atomic_inc(&nr_early);
	do {
		max = atomic64_read(&max_late);
	} while (late > max && atomic64_cmpxchg(&max_late, max, late) != max);
}

static void timer_fired(struct hwheel_timer *timer)
{
	fired(container_of(timer, struct probe, timer));
}

static void list_fired(struct timer_list *list)
{
	fired(container_of(list, struct probe, list));
}

static enum hrtimer_restart hrtimer_fired(struct hrtimer *hrtimer)
{
	fired(container_of(hrtimer, struct probe, hrtimer));
	return HRTIMER_NORESTART;
}

static int arm(void *unused)
{
	unsigned int i, wheel;

	for (i = 0; i < TIMERS; i++) {
		struct probe *p = &probes[i];
		ktime_t delay = ms_to_ktime(FIRST_MS + i * APART_MS);

		if (kind <= DEFERRABLE && i >= TIMERS - FAR)
			delay = ms_to_ktime(i * 3600000ULL);
		p->due = ktime_get() + delay;
		switch (kind) {
		case HWHEEL:
		case SOFTIRQ:
		case PINNED:
		case DEFERRABLE:
			wheel = kind == SOFTIRQ ? 0 : kind == DEFERRABLE ? 3 : i % 3;
			hwheel_setup(&p->timer, wheels[wheel], timer_fired,
				     kind == PINNED ? HWHEEL_PINNED : 0);
			hwheel_add(&p->timer, delay);
			break;
		case TIMER_LIST:
			timer_setup(&p->list, list_fired, 0);
			mod_timer(&p->list, jiffies + nsecs_to_jiffies(delay) + 1);
			break;
		case HRTIMER:
			hrtimer_setup(&p->hrtimer, hrtimer_fired, CLOCK_MONOTONIC,
				      HRTIMER_MODE_REL_SOFT);
			hrtimer_start(&p->hrtimer, delay, HRTIMER_MODE_REL_SOFT);
			break;
		}
	}
	nr_armed = TIMERS;
	return 0;
}

static void arm_in_interrupt(void *unused)
{
	arm(unused);
}

static int arm_on(const char *name, unsigned int cpu)
{
	int i = match_string(kinds, ARRAY_SIZE(kinds), name);

	if (i < 0 || nr_armed || IS_ERR_OR_NULL(wheels[0]))
		return -EINVAL;
	kind = i;
	armed_on = cpu;
	atomic_set(&nr_fired, 0);
	atomic_set(&nr_there, 0);
	atomic_set(&nr_early, 0);
	atomic64_set(&max_late, 0);
	/* After a task has run there, the kernel interrupts the CPU for its own purposes */
	if (cpu_is_isolated(cpu))
		return smp_call_function_single(cpu, arm_in_interrupt, NULL, true);
	return smp_call_on_cpu(cpu, arm, NULL, false);
}

static void cancel(void)
{
	unsigned int i, cancelled = 0;

	if (!nr_armed)
		return;
	for (i = 0; i < nr_armed; i++) {
		struct probe *p = &probes[i];

		switch (kind) {
		case HWHEEL:
		case SOFTIRQ:
		case PINNED:
		case DEFERRABLE:
			cancelled += hwheel_shutdown_sync(&p->timer);
			break;
		case TIMER_LIST:
			cancelled += timer_delete_sync(&p->list);
			break;
		case HRTIMER:
			cancelled += hrtimer_cancel(&p->hrtimer);
			break;
		}
	}
	pr_info("quiet: timers of %s: armed %u on CPU %u, fired %d, there %d, cancelled %u, early %d, max_late_us %lld\n",
		kinds[kind], nr_armed, armed_on, atomic_read(&nr_fired), atomic_read(&nr_there),
		cancelled, atomic_read(&nr_early), div_s64(atomic64_read(&max_late), 1000));
	nr_armed = 0;
}

static void destroy(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wheels); i++) {
		if (!IS_ERR_OR_NULL(wheels[i])) {
			hwheel_synchronize(wheels[i]);
			hwheel_destroy(wheels[i]);
		}
		wheels[i] = NULL;
	}
}

static int create(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wheels); i++) {
		wheels[i] = hwheel_create(&configs[i]);
		if (IS_ERR(wheels[i]))
			return PTR_ERR(wheels[i]);
	}
	return 0;
}

static int run(const char *command, const struct kernel_param *kp)
{
	char name[16];
	unsigned int cpu;

	if (sscanf(command, "arm %15s %u", name, &cpu) == 2)
		return arm_on(name, cpu);
	if (sysfs_streq(command, "create"))
		return create();
	if (sysfs_streq(command, "cancel"))
		cancel();
	else if (sysfs_streq(command, "destroy"))
		destroy();
	else
		return -EINVAL;
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init quiet_init(void)
{
	return 0;
}

static void __exit quiet_exit(void)
{
	cancel();
	destroy();
}

module_init(quiet_init);
module_exit(quiet_exit);
MODULE_DESCRIPTION("Timers for a count of interrupts");
MODULE_LICENSE("GPL");
