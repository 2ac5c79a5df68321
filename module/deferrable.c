// SPDX-License-Identifier: GPL-2.0
/*
 * Wheels that wake no idle CPU: HWHEEL_DEFERRABLE
 *
 * The bases of such a wheel have no hrtimer. They have an entry of timer_list. The entry is
 * deferrable: the kernel runs it in the timer tick of a CPU, and lets an idle CPU sleep.
 */

/*
 * Start base->entry for base->expires. timer_list may run an entry with a long delay late,
 * by up to an eighth of the delay. So the entry is started for seven eighths of the delay.
 * When it expires, hwheel_entry_expired() starts it again for the rest. A delay of less than
 * 8 jiffies is not split. The drive's clock is CLOCK_MONOTONIC: hwheel_config_fault()
 * allows no other.
 */
static noinline void hwheel_start_entry(struct hwheel_base *base)
{
	s64 ns = hwheel_until(base->expires, ktime_get());
	u64 way = div_u64(max(ns, 0LL), TICK_NSEC);

	timer_delete(&base->entry);
	base->entry.expires = jiffies + min_t(u64, way - way / 8, MAX_JIFFY_OFFSET);
	/* This does not wake an idle CPU */
	add_timer_on(&base->entry, cpu_online(base->cpu) ? base->cpu : hwheel_home(base)->cpu);
}

/*
 * In softirq context. The entry may have expired early: see hwheel_start_entry(). If it is pending
 * again, perhaps on another CPU, somebody has started it meanwhile; if base->armed is 0, it has
 * expired there, too. Then this expiration does not count: two CPUs must not be in one run. While
 * base->armed is 0, nobody starts the entry.
 */
static void hwheel_entry_expired(struct timer_list *entry)
{
	struct hwheel_base *base = container_of(entry, struct hwheel_base, entry);
	bool due = false;

	raw_spin_lock_irq(&base->lock);
	if (!timer_pending(entry) && base->armed) {
		due = base->expires <= ktime_get();
		if (due)
			base->armed = 0;
		else
			hwheel_start_hrtimer(base, base->expires);
	}
	raw_spin_unlock_irq(&base->lock);
	if (!due)
		return;
	if (base->wheel->context == HWHEEL_WORK)
		hwheel_begin_work(base);
	else
		hwheel_run(base, HWHEEL_SOFTIRQ);
}

static void hwheel_init_entry(struct hwheel_base *base)
{
	timer_setup(&base->entry, hwheel_entry_expired, TIMER_DEFERRABLE | TIMER_PINNED);
}

static void hwheel_stop_entry(struct hwheel_base *base)
{
	timer_delete_sync(&base->entry);
}

static const struct hwheel_alarm hwheel_entry = {
	.late_ns	= TICK_NSEC,
	.init		= hwheel_init_entry,
	.start		= hwheel_start_entry,
	.stop		= hwheel_stop_entry,
};

static void hwheel_create_deferrable(struct hwheel *wheel, const struct hwheel_config *config)
{
	if (config->flags & HWHEEL_DEFERRABLE)
		wheel->alarm = &hwheel_entry;
}

/*
 * All entries were stopped. But timer_delete_sync() does not wait for hwheel_entry_expired() on a
 * CPU that the entry has left meanwhile, and that function may have started the entry again.
 */
static void hwheel_destroy_deferrable(struct hwheel *wheel)
{
	int cpu;

	if (wheel->alarm != &hwheel_entry)
		return;
	synchronize_rcu();	/* waits for softirqs */
	for_each_possible_cpu(cpu)
		hwheel_stop_entry(per_cpu_ptr(wheel->bases, cpu));
}

static const struct hwheel_part hwheel_deferrable = {
	.create		= hwheel_create_deferrable,
	.destroy	= hwheel_destroy_deferrable,
};
