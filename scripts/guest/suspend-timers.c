// SPDX-License-Identifier: GPL-2.0
/*
 * The guest of suspend.sh loads this module before it suspends. The module has
 * timers for each CPU, on wheels of both clocks and of all contexts. It arms the
 * timers of before[] when it is loaded, and those of after[] when the machine
 * resumes. For each timer it prints when the timer was armed and when it fired,
 * on both clocks.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include "hwheel.h"

static unsigned int before[4], after[4], nr_before, nr_after;
module_param_array(before, uint, &nr_before, 0444);
MODULE_PARM_DESC(before, "delays in ms of timers that are armed before the machine sleeps");
module_param_array(after, uint, &nr_after, 0444);
MODULE_PARM_DESC(after, "delays in ms of timers that are armed when the machine is awake again");

struct instant {
	s64			mono;
	s64			boot;
};

struct probe {
	struct hwheel_timer	timer;
	unsigned int		wheel;
	unsigned int		delay_ms;
	unsigned int		cpu;
	unsigned int		fired_cpu;
	unsigned int		times;
	struct instant		armed;
	struct instant		fired;
};

static struct hwheel *wheels[6];
static struct probe *probes;
static unsigned int nr_probes, nr_armed;

static const struct hwheel_config configs[ARRAY_SIZE(wheels)] = {
	{ .name = "monotonic-softirq" },
	{ .name = "monotonic-hardirq", .context = HWHEEL_HARDIRQ },
	{ .name = "monotonic-work", .context = HWHEEL_WORK },
	{ .name = "boottime-softirq", .flags = HWHEEL_BOOTTIME },
	{ .name = "boottime-hardirq", .flags = HWHEEL_BOOTTIME, .context = HWHEEL_HARDIRQ },
	{ .name = "boottime-work", .flags = HWHEEL_BOOTTIME, .context = HWHEEL_WORK },
};

static struct instant now(void)
{
	return (struct instant){ .mono = ktime_get(), .boot = ktime_get_boottime() };
}

static void fire(struct hwheel_timer *timer)
{
	struct probe *p = hwheel_container_of(p, timer, timer);

	p->fired = now();
	p->fired_cpu = raw_smp_processor_id();
	p->times++;
}

static void arm(const unsigned int *delays, unsigned int n)
{
	unsigned int i, wheel, cpu;

	cpus_read_lock();
	for (i = 0; i < n; i++) {
		for (wheel = 0; wheel < ARRAY_SIZE(configs); wheel++) {
			for_each_online_cpu(cpu) {
				struct probe *p = &probes[nr_armed++];

				p->wheel = wheel;
				p->delay_ms = delays[i];
				p->cpu = cpu;
				hwheel_setup(&p->timer, wheels[wheel], fire, HWHEEL_PINNED);
				p->armed = now();
				hwheel_add_on(&p->timer, ms_to_ktime(p->delay_ms), cpu);
			}
		}
	}
	cpus_read_unlock();
}

static int notify(struct notifier_block *block, unsigned long event, void *data)
{
	struct instant at = now();

	if (event == PM_SUSPEND_PREPARE) {
		pr_info("suspend: sleep %lld %lld\n", at.mono, at.boot);
	} else if (event == PM_POST_SUSPEND && nr_armed < nr_probes) {
		pr_info("suspend: awake %lld %lld\n", at.mono, at.boot);
		arm(after, nr_after);
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = notify };

static void destroy_wheels(void)
{
	unsigned int i;

	for (i = 0; i < nr_armed; i++)
		hwheel_shutdown_sync(&probes[i].timer);
	for (i = 0; i < ARRAY_SIZE(wheels) && wheels[i]; i++)
		hwheel_destroy(wheels[i]);
	kvfree(probes);
}

static int __init suspend_init(void)
{
	unsigned int i;
	int err;

	nr_probes = (nr_before + nr_after) * ARRAY_SIZE(configs) * num_online_cpus();
	probes = kvcalloc(nr_probes, sizeof(*probes), GFP_KERNEL);
	if (!probes)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(configs); i++) {
		struct hwheel *wheel = hwheel_create(&configs[i]);

		if (IS_ERR(wheel)) {
			err = PTR_ERR(wheel);
			goto err_wheels;
		}
		wheels[i] = wheel;
	}
	err = register_pm_notifier(&notifier);
	if (err)
		goto err_wheels;
	arm(before, nr_before);
	return 0;

err_wheels:
	destroy_wheels();
	return err;
}

static void __exit suspend_exit(void)
{
	struct instant at = now();
	unsigned int i;

	unregister_pm_notifier(&notifier);
	pr_info("suspend: end %lld %lld\n", at.mono, at.boot);
	for (i = 0; i < nr_armed; i++) {
		struct probe *p = &probes[i];

		hwheel_cancel_sync(&p->timer);
		pr_info("suspend: timer %s %s %u cpu %u %u times %u armed %lld %lld fired %lld %lld\n",
			configs[p->wheel].name, i < nr_probes * nr_before / (nr_before + nr_after) ?
			"before" : "after", p->delay_ms, p->cpu, p->fired_cpu, p->times,
			p->armed.mono, p->armed.boot, p->fired.mono, p->fired.boot);
	}
	destroy_wheels();
}

module_init(suspend_init);
module_exit(suspend_exit);
MODULE_DESCRIPTION("Timers that are pending while the machine sleeps");
MODULE_LICENSE("GPL");
