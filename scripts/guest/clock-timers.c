// SPDX-License-Identifier: GPL-2.0
/*
 * The guest of clock.sh loads this module, and sets the clock back and forth. The module has
 * wheels of CLOCK_REALTIME and CLOCK_TAI, of all contexts. Each timer has a twin: an
 * hrtimer of the same clock that is armed for the same instant. At the end the module
 * compares the times on CLOCK_MONOTONIC at which both have fired. A write to a parameter is a
 * command:
 *
 *	arm FIRST STEP	arms 50 timers per wheel on each CPU, for 50 multiples of STEP in a
 *			row. The first is the last multiple that is not after now + FIRST.
 *			So if a day is a multiple of STEP, one of the timers may be due at
 *			midnight
 *	quiet MARGIN	waits until no timer expires within MARGIN before or after now. Else
 *			the clock might be set back after only one of two twins has fired
 *	step AHEAD	waits for 12 ms of quiet, and sets CLOCK_REALTIME forward or back
 *
 * All numbers are in ms. So all expirations are multiples of a tick, and twins are due at the
 * same time.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "hwheel.h"
#include "module/compat.h"

#define EACH	50	/* timers of one call, for each wheel and CPU */
#define ROUNDS	16

struct pair {
	struct hwheel_timer	timer;
	struct hrtimer		twin;
	unsigned int		wheel;
	ktime_t			expires;
	ktime_t			now;		/* when @timer fired, on the wheel's clock */
	ktime_t			fired;
	ktime_t			twin_fired;
	unsigned int		times;
};

static struct hwheel *wheels[6];
static struct pair *pairs;
static unsigned int room, used;
static atomic_t told;

static void note_set(struct hwheel *wheel)
{
	atomic_inc(&told);
}

static const struct hwheel_config configs[ARRAY_SIZE(wheels)] = {
	{ .name = "real-softirq", .flags = HWHEEL_REALTIME, .clock_set = note_set },
	{ .name = "real-hardirq", .flags = HWHEEL_REALTIME, .context = HWHEEL_HARDIRQ },
	{ .name = "real-work", .flags = HWHEEL_REALTIME, .context = HWHEEL_WORK },
	{ .name = "tai-softirq", .flags = HWHEEL_TAI },
	{ .name = "tai-hardirq", .flags = HWHEEL_TAI, .context = HWHEEL_HARDIRQ },
	{ .name = "tai-work", .flags = HWHEEL_TAI, .context = HWHEEL_WORK },
};

static void fire(struct hwheel_timer *timer)
{
	struct pair *p = hwheel_container_of(p, timer, timer);

	p->now = hwheel_now(wheels[p->wheel]);
	p->fired = ktime_get();
	p->times++;
}

static enum hrtimer_restart fire_twin(struct hrtimer *twin)
{
	container_of(twin, struct pair, twin)->twin_fired = ktime_get();
	return HRTIMER_NORESTART;
}

struct order {
	s64 first;
	int step;
};

static long arm_here(void *data)
{
	const struct order *order = data;
	s64 step = order->step * NSEC_PER_MSEC;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(wheels); i++) {
		ktime_t now = hwheel_now(wheels[i]);

		for (j = 0; j < EACH; j++) {
			struct pair *p = &pairs[used++];

			p->wheel = i;
			p->expires = (div_s64(now + order->first * NSEC_PER_MSEC, step) + j) * step;
			hwheel_setup(&p->timer, wheels[i], fire, 0);
			hrtimer_setup(&p->twin, fire_twin,
				      i < 3 ? CLOCK_REALTIME : CLOCK_TAI, HRTIMER_MODE_ABS_HARD);
			hwheel_add_at(&p->timer, p->expires, 0);
			hrtimer_start(&p->twin, p->expires, HRTIMER_MODE_ABS_HARD);
		}
	}
	return 0;
}

static int arm(const char *value, const struct kernel_param *kp)
{
	struct order order;
	int cpu;

	if (sscanf(value, "%lld %d", &order.first, &order.step) != 2 || order.step < 1)
		return -EINVAL;
	for_each_online_cpu(cpu) {
		if (used + ARRAY_SIZE(wheels) * EACH > room)
			return -ENOSPC;
		work_on_cpu(cpu, arm_here, &order);
	}
	return 0;
}

static const struct kernel_param_ops arm_ops = { .set = arm };
module_param_cb(arm, &arm_ops, NULL, 0200);

/* Is no timer due within @margin? Has each timer fired if its twin has, and only then? */
static bool is_quiet(ktime_t margin)
{
	unsigned int i;

	for (i = 0; i < used; i++) {
		const struct pair *p = &pairs[i];

		if (abs(p->expires - hwheel_now(wheels[p->wheel])) < margin ||
		    !READ_ONCE(p->times) != !READ_ONCE(p->twin_fired))
			return false;
	}
	return true;
}

static int wait_quiet(long ms)
{
	unsigned int n;

	for (n = 0; n < 2000; n++) {
		if (is_quiet(ms * NSEC_PER_MSEC))
			return 0;
		usleep_range(500, 1500);
	}
	return -ETIME;
}

static int quiet(const char *value, const struct kernel_param *kp)
{
	long ms;
	int err = kstrtol(value, 0, &ms);

	return err ?: wait_quiet(ms);
}

static const struct kernel_param_ops quiet_ops = { .set = quiet };
module_param_cb(quiet, &quiet_ops, NULL, 0200);

static int step(const char *value, const struct kernel_param *kp)
{
	struct timespec64 to;
	long ms;
	/* More than a jiffy of UML: timers need a jiffy to learn that the clock was set */
	int err = kstrtol(value, 0, &ms) ?: wait_quiet(12);

	if (err)
		return err;
	to = ns_to_timespec64(ktime_get_real() + ms * NSEC_PER_MSEC);
	return do_settimeofday64(&to);
}

static const struct kernel_param_ops step_ops = { .set = step };
module_param_cb(step, &step_ops, NULL, 0200);

static void stop(void)
{
	unsigned int i;

	for (i = 0; i < used; i++) {
		hwheel_shutdown_sync(&pairs[i].timer);
		hrtimer_cancel(&pairs[i].twin);
	}
	for (i = 0; i < ARRAY_SIZE(wheels); i++)
		hwheel_destroy(wheels[i]);
	kvfree(pairs);
}

static int __init clock_timers_init(void)
{
	unsigned int i;

	room = ROUNDS * EACH * ARRAY_SIZE(wheels) * num_online_cpus();
	pairs = kvcalloc(room, sizeof(*pairs), GFP_KERNEL);
	if (!pairs)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(wheels); i++) {
		wheels[i] = hwheel_create(&configs[i]);
		if (IS_ERR(wheels[i])) {
			stop();
			return PTR_ERR(wheels[i]);
		}
	}
	return 0;
}

/* before_twin_ns, after_twin_ns: by how much a timer fired before, or after, its twin */
static void __exit clock_timers_exit(void)
{
	unsigned int i, j, armed, fired, early, apart;

	for (i = 0; i < ARRAY_SIZE(wheels); i++) {
		s64 before = 0, after = 0;

		armed = 0;
		fired = 0;
		early = 0;
		apart = 0;
		for (j = 0; j < used; j++) {
			const struct pair *p = &pairs[j];

			if (p->wheel != i)
				continue;
			armed++;
			fired += p->times;
			early += p->times && p->now < p->expires;
			if (!p->times != !p->twin_fired)
				apart++;
			if (!p->times || !p->twin_fired)
				continue;
			before = max(before, p->twin_fired - p->fired);
			after = max(after, p->fired - p->twin_fired);
		}
		pr_info("clock: wheel %s armed %u fired %u early %u alone %u before_twin_ns %lld after_twin_ns %lld told %d\n",
			configs[i].name, armed, fired, early, apart, before, after,
			atomic_read(&told));
	}
	stop();
}

module_init(clock_timers_init);
module_exit(clock_timers_exit);
MODULE_DESCRIPTION("Timers of wall time, each beside an hrtimer");
MODULE_LICENSE("GPL");
