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
 *  - If a CPU goes offline, its timers also move to a CPU that is not isolated.
 *  - hwheel queues its own work on an unbound workqueue, whose workers keep off isolated
 *    CPUs. An irq_work queues this work, and interrupts the CPU that asks for the work. So if
 *    an isolated CPU needs the work for another CPU's base, it kicks that other CPU. The
 *    handler of the kick then queues the irq_work there. For a wheel with an alarm there
 *    is no kick, because a kick would wake an idle CPU. The level is then missing until a
 *    run, or a CPU that is not isolated, asks for it.
 *  - Creation, destruction and debugfs use only locks, so they interrupt nobody. The
 *    exception is memory of vmalloc(): freeing it interrupts all CPUs.
 *
 * If no CPU is isolated, all this costs one nop per arming: a static key of the kernel is off.
 *
 * CPU hotplug
 * -----------
 *
 * CPU hotplug blocks hwheel_create(), and a callback in process context may call
 * hwheel_create(). So CPU hotplug must not wait for such callbacks. If a run in process
 * context ends and its base is offline, the run moves the timers away itself.
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
 * Can other CPUs arm timers on @base? They can't while its CPU is offline, or on its way
 * to being online. A CPU uses its own base before it is online, but others can't start
 * its hrtimer yet.
 */
static bool hwheel_reachable(const struct hwheel_base *base)
{
	return !READ_ONCE(base->offline) && cpu_online(base->cpu);
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
	if (!hwheel_isolated(base->cpu) && hwheel_reachable(base))
		return base;
	/* Try a near CPU first. HK_TYPE_TIMER does not cover all isolation, hence the loop */
	cpu = housekeeping_any_cpu(HK_TYPE_TIMER);
	if (cpu < nr_cpu_ids && !hwheel_isolated(cpu) && hwheel_reachable(per_cpu_ptr(bases, cpu)))
		return per_cpu_ptr(bases, cpu);
	for_each_online_cpu(cpu)
		if (!hwheel_isolated(cpu) && hwheel_reachable(per_cpu_ptr(bases, cpu)))
			return per_cpu_ptr(bases, cpu);
	return this_cpu_ptr(bases);
}

/*
 * In a run, with @base locked: if @timer's callback is over and the timer was armed for
 * another CPU meanwhile, move it to base->dest. hwheel_lock_other() may drop the lock.
 * While it is dropped, base->running keeps the timer on @base, and others may change
 * base->dest. So look at base->dest again.
 */
static void hwheel_move_running(struct hwheel_base *base, struct hwheel_timer *timer)
{
	struct hwheel_base *dest;
	u64 wake;

	while ((dest = base->dest)) {
		hwheel_lock_other(base, dest);
		if (base->dest == dest) {
			base->dest = NULL;
			if (hwheel_reachable(dest) && dest->life == timer->life) {
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

/* With @base locked: the base to arm @timer on, if no CPU is isolated. @cpu -1: none named */
static __always_inline struct hwheel_base *
hwheel_usual_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	struct hwheel_base *target;

	if (!IS_ENABLED(CONFIG_SMP) || likely(cpu < 0 && base->cpu == smp_processor_id()))
		return base;
	if (unlikely(base->running == timer))
		return base;
	if (cpu >= 0) {
		target = per_cpu_ptr(base->wheel->bases, cpu);
		if (hwheel_reachable(target))
			return target;
	} else if ((timer->flags & HWHEEL_PINNED) && timer->entry.prev && hwheel_reachable(base)) {
		return base;	/* it was armed there, not only set up */
	}
	return this_cpu_ptr(base->wheel->bases);
}

/* The same if some CPU is isolated */
static noinline struct hwheel_base *
hwheel_isolated_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	struct hwheel_base *target = hwheel_usual_target(base, timer, cpu);

	if (target->cpu != smp_processor_id() || target->cpu == cpu ||
	    timer->flags & HWHEEL_PINNED || base->running == timer)
		return target;
	return hwheel_home(base);
}

static __always_inline struct hwheel_base *
hwheel_target(struct hwheel_base *base, const struct hwheel_timer *timer, int cpu)
{
	if (hwheel_isolation())
		return hwheel_isolated_target(base, timer, cpu);
	return hwheel_usual_target(base, timer, cpu);
}

/* Move up to HWHEEL_BATCH timers from @from, whose CPU is dead, to hwheel_home(). */
static bool hwheel_move_batch(struct hwheel_base *from)
{
	struct hwheel_timer *timer = NULL;
	struct hwheel_base *base;
	u64 wake = HWHEEL_NEVER;
	unsigned int n;
	bool again;

	local_irq_disable();
	base = hwheel_home(from);
	if (base == from) {
		/* The CPU of @from is back. */
		raw_spin_lock(&from->lock);
		from->armed = HWHEEL_NEVER;
		hwheel_arm_next(from);
		raw_spin_unlock(&from->lock);
		local_irq_enable();
		return false;
	}
	raw_spin_lock(from->cpu < base->cpu ? &from->lock : &base->lock);
	raw_spin_lock_nested(from->cpu < base->cpu ? &base->lock : &from->lock,
			     SINGLE_DEPTH_NESTING);
	again = base->offline;	/* it has gone offline, too */
	/* If the wheel is being destroyed, leave its timers where they are. */
	for (n = 0; n < HWHEEL_BATCH && !from->closing && !base->closing && !again; n++) {
		timer = levels_any(&from->levels);
		if (!timer)
			break;
		levels_leave(&from->levels, timer);
		WRITE_ONCE(timer->base, base);
		base->count[HWHEEL_MIGRATED]++;
		wake = min(wake, levels_add(&base->levels, timer,
					    levels_due(&base->levels, timer)));
	}
	from->armed = HWHEEL_NEVER;
	if (wake < base->armed)
		hwheel_arm_base(base, wake);
	raw_spin_unlock(&from->lock);
	raw_spin_unlock(&base->lock);
	local_irq_enable();
	return timer || again;
}

/* Move all timers of @from. Its CPU is dead, and no run is under way. */
static void hwheel_evacuate(struct hwheel_base *from)
{
	while (hwheel_move_batch(from))
		cond_resched();
}

static int hwheel_cpu_prepare(unsigned int cpu)
{
	struct hwheel *wheel;

	mutex_lock(&hwheel_mutex);
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		raw_spin_lock_irq(&base->lock);
		WRITE_ONCE(base->offline, false);
		raw_spin_unlock_irq(&base->lock);
	}
	mutex_unlock(&hwheel_mutex);
	return 0;
}

/*
 * @cpu is dead. Its hrtimers have moved to another CPU, and a run may be under way there.
 * So first stop the arming of timers on the base, then stop its runs, then move its
 * timers. Do not wait for a run in process context: that run moves the timers itself.
 */
static int hwheel_cpu_dead(unsigned int cpu)
{
	struct hwheel *wheel;

	mutex_lock(&hwheel_mutex);
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		struct hwheel_base *from = per_cpu_ptr(wheel->bases, cpu);
		bool in_run;

		raw_spin_lock_irq(&from->lock);
		WRITE_ONCE(from->offline, true);
		raw_spin_unlock_irq(&from->lock);
		hwheel_stop_hrtimer(from);
		/*
		 * If the run is just ending, in_run may be true or false. Both are safe:
		 * this function and the run may both move timers.
		 */
		in_run = !data_race(READ_ONCE(from->armed));
		if (wheel->context == HWHEEL_WORK && in_run)
			continue;
		hwheel_evacuate(from);
	}
	mutex_unlock(&hwheel_mutex);
	return 0;
}
