// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs: where a timer is armed, and what happens when a CPU goes offline
 *
 * Isolated CPUs
 * -------------
 *
 * A CPU may be isolated, by nohz_full= or isolcpus= on the kernel's command line. Then
 * hwheel interrupts it only for timers that somebody armed there on purpose: timers that
 * are HWHEEL_PINNED, or armed by hwheel_add_on(). The rules are
 *
 *  - An isolated CPU arms other timers on a CPU that is not isolated (hwheel_home()). The
 *    timer stays on its base if the CPU of that base is not isolated, or if the timer's
 *    callback is running.
 *  - If a CPU goes offline, a CPU that is not isolated serves its base.
 *  - hwheel queues its own work on an unbound workqueue, whose workers keep off isolated CPUs.
 *  - Creation, destruction and debugfs use only locks, so they interrupt nobody. The
 *    exception is memory of vmalloc(): freeing it interrupts all CPUs.
 *
 * If no CPU is isolated, all this costs one nop per arming: a static key of the kernel is off.
 *
 * CPU hotplug
 * -----------
 *
 * When a CPU goes offline, its timers stay where they are. The kernel migrates the hrtimer of the
 * base to another CPU, which runs the base's timers from then on. That is nothing new: a CPU may
 * run any base. The other CPUs no longer add timers to the base.
 *
 * The base is served anew (hwheel_serve()) when its CPU is dead, because a late kick may have
 * armed the hrtimer on the dead CPU, and when its CPU is online again: then its timers run there.
 * Neither takes time for each timer.
 */

/* Is any CPU isolated? */
static __always_inline bool hwheel_isolation(void)
{
#ifdef CONFIG_CPU_ISOLATION
	return static_branch_unlikely(&housekeeping_overridden);
#else
	return false;
#endif
}

/* Is @cpu isolated? */
static bool hwheel_isolated(int cpu)
{
	return hwheel_isolation() &&
	       (!housekeeping_test_cpu(cpu, HK_TYPE_TIMER) || cpu_is_isolated(cpu));
}

/*
 * With interrupts off: returns the base on which this CPU puts a timer of @base's wheel, if
 * the caller named no CPU. This is
 *
 * - this CPU's base, if this CPU is not isolated;
 * - else @base, if its CPU is online and not isolated;
 * - else the base of another CPU that is online and not isolated;
 * - else this CPU's base.
 */
static struct hwheel_base *hwheel_home(struct hwheel_base *base)
{
	struct hwheel_base __percpu *bases = base->wheel->bases;
	int cpu;

	if (!hwheel_isolated(smp_processor_id()))
		return this_cpu_ptr(bases);
	if (!hwheel_isolated(base->cpu) && cpu_online(base->cpu))
		return base;
	/*
	 * A near CPU, or one after the other. HK_TYPE_TIMER knows nohz_full=, HK_TYPE_DOMAIN knows
	 * isolcpus= and, in Linux 7.3, cpusets. Neither knows all isolation, hence the loop.
	 */
	cpu = housekeeping_any_cpu(HK_TYPE_TIMER);
	if (cpu >= nr_cpu_ids || hwheel_isolated(cpu))
		cpu = housekeeping_any_cpu(HK_TYPE_DOMAIN);
	if (cpu < nr_cpu_ids && !hwheel_isolated(cpu) && cpu_online(cpu))
		return per_cpu_ptr(bases, cpu);
	for_each_online_cpu(cpu)
		if (!hwheel_isolated(cpu))
			return per_cpu_ptr(bases, cpu);
	return this_cpu_ptr(bases);
}

/*
 * In a run, with @base locked: if @timer's callback is over and the timer was armed for
 * another CPU meanwhile, move it to base->dest. hwheel_lock_other() may drop the lock.
 * While it is dropped, base->running keeps the timer on @base, and others may change
 * base->dest. So look at base->dest again. If somebody waits, the run cancels the timer instead.
 */
static void hwheel_move_running(struct hwheel_base *base, struct hwheel_timer *timer)
{
	struct hwheel_base *dest;
	u64 wake;

	while ((dest = base->dest)) {
		hwheel_lock_other(base, dest);
		if (base->dest == dest) {
			base->dest = NULL;
			if (cpu_online(dest->cpu) && !dest->closing && !base->waiters) {
				levels_leave(&base->levels, timer);
				WRITE_ONCE(timer->base, dest);
				dest->count[HWHEEL_MIGRATED]++;
				wake = levels_add(&dest->levels, timer,
						  levels_due(&dest->levels, timer));
				if (wake < dest->armed)
					hwheel_arm_base(dest, wake);
			}
		}
		hwheel_unlock_other(base, dest);
	}
}

/* hwheel_target() if that may be another base than @base */
static noinline struct hwheel_base *
hwheel_other_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	if (base->running == timer)
		return base;
	if (cpu >= 0 && cpu_online(cpu))
		return per_cpu_ptr(base->wheel->bases, cpu);
	if (timer->flags & HWHEEL_PINNED)
		return this_cpu_ptr(base->wheel->bases);
	return hwheel_home(base);
}

/* With @base, which @timer is on, locked: the base to arm @timer on. @cpu -1: none named */
static __always_inline struct hwheel_base *
hwheel_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	if (likely(cpu < 0 && base->cpu == smp_processor_id()) && !hwheel_isolation())
		return base;
	return hwheel_other_target(base, timer, cpu);
}

/*
 * Have the right CPU serve @base: this one, or one that hwheel_arm_base() kicks. Another CPU may
 * have served it until now. Its run ends first.
 */
static void hwheel_serve(struct hwheel_base *base)
{
	if (!base->wheel->alarm)
		hrtimer_cancel(&base->hrtimer);
	raw_spin_lock_irq(&base->lock);
	hwheel_arm_again(base);
	raw_spin_unlock_irq(&base->lock);
}

static int hwheel_serve_all(unsigned int cpu)
{
	struct hwheel *wheel;

	mutex_lock(&hwheel_mutex);
	list_for_each_entry(wheel, &hwheel_wheels, list)
		hwheel_serve(per_cpu_ptr(wheel->bases, cpu));
	mutex_unlock(&hwheel_mutex);
	return 0;
}
