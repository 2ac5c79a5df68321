// SPDX-License-Identifier: GPL-2.0
/*
 * Wall time: somebody sets the clock of a wheel
 *
 * The drive's clock is never set: it is CLOCK_MONOTONIC, or CLOCK_BOOTTIME if that is the
 * wheel's clock. All times of the drive are on this clock, and the hrtimer uses it. A wheel of
 * CLOCK_REALTIME or CLOCK_TAI adds an offset to it. Ticks and timer->expires are on the
 * wheel's clock. When somebody sets that clock, ticks and timer->expires stay as they are:
 * only the offset changes. base->offset is the offset that the base last used.
 *
 * With the base's lock held, hwheel_time() reads the drive's clock and the present offset.
 * If this offset differs from base->offset, hwheel_new_offset() stores it there. If the clock
 * was set back, it also sets back the levels (levels_set_back()). It then arms the hrtimer
 * again, unless a run or a break is under way, or the base is offline.
 *
 * - On a wheel of wall time a run calls hwheel_time() before each callback. So a callback
 *   runs only if its timer is due by the last reading of the clock.
 * - Until a base has the new offset, arming may count a timer as overdue although it is not.
 *   levels_set_back() finds such timers.
 * - A base may have no run for a long time. So the timekeeping code tells hwheel that the
 *   clock was set (hwheel_timekeeping()). An irq_work then kicks the bases that must start
 *   their hrtimers again (hwheel_base_set()). The irq_work itself gives the new offset to all
 *   other bases, and wakes no CPU for that.
 *
 * The timekeeping code also calls hwheel in each timer tick of the kernel. It passes in the
 * offset and the time of the next leap second. Only such a timer tick inserts the leap second,
 * and this timer tick can be late. From the leap second until this timer tick, CLOCK_REALTIME
 * is a second ahead. hwheel_offset() subtracts this second, as the hrtimer code does.
 */

/* In process context: tell the user of a wheel. */
static void hwheel_tell(struct work_struct *work)
{
	struct hwheel *wheel = container_of(work, struct hwheel, tell);

	WRITE_ONCE(wheel->teller, current);
	wheel->clock_set(wheel);
	WRITE_ONCE(wheel->teller, NULL);
}

/*
 * The clock of @base's wheel was set. Kick another CPU only if it must arm its hrtimer again.
 * Otherwise take over the offset here, even without timers: timers may move to @base later.
 */
static void hwheel_base_set(struct hwheel_base *base)
{
	raw_spin_lock(&base->lock);
	if (base->life != HWHEEL_GONE) {
		if (base->cpu == smp_processor_id() || !cpu_online(base->cpu) ||
		    !base->levels.pending || hwheel_deferrable(base))
			hwheel_time(base);
		else
			hwheel_send_kick(base);
	}
	raw_spin_unlock(&base->lock);
}

/*
 * Somebody set the clock of wall time. Interrupts are off. No wheel is freed while the
 * module is loaded, so this walks through the wheels without hwheel_mutex. A wheel that is
 * created meanwhile takes over the new offset in hwheel_open().
 */
static void hwheel_all_set(struct irq_work *work)
{
	struct hwheel *wheel;
	int cpu;

	wheel = smp_load_acquire(&hwheel_newest);	/* pairs with hwheel_alloc() */
	for (; wheel; wheel = wheel->older) {
		struct hwheel_base *base = raw_cpu_ptr(wheel->bases);

		if (!READ_ONCE(wheel->wall))
			continue;
		for_each_possible_cpu(cpu)
			hwheel_base_set(per_cpu_ptr(wheel->bases, cpu));
		/* A wheel that is being destroyed gets no new work: see hwheel_close_base() */
		raw_spin_lock(&base->lock);
		if (base->life != HWHEEL_GONE && wheel->clock_set)
			queue_work(system_dfl_wq, &wheel->tell);
		raw_spin_unlock(&base->lock);
	}
}

static struct irq_work hwheel_set_work = IRQ_WORK_INIT_HARD(hwheel_all_set);

/*
 * The timekeeping code calls this function in each timer tick of the kernel. It also calls
 * this function with a @was_set that is not 0: when somebody sets the clock, after a leap
 * second, after a resume, and when the clock source changes. The timekeeping code has locked
 * its data. So this function can't read a clock.
 */
static int hwheel_timekeeping(struct notifier_block *nb, unsigned long was_set, void *data)
{
	const struct timekeeper *tk = data;

	raw_write_seqcount_begin(&hwheel_offsets.seq);
	hwheel_offsets.real = tk->offs_real;
	hwheel_offsets.tai = tk->offs_tai;
	hwheel_offsets.leap = tk->next_leap_ktime;
	raw_write_seqcount_end(&hwheel_offsets.seq);
	if (was_set)
		irq_work_queue(&hwheel_set_work);
	return NOTIFY_OK;
}

static struct notifier_block hwheel_timekeeping_nb = { .notifier_call = hwheel_timekeeping };

static void hwheel_timekeeping_exit(void)
{
	pvclock_gtod_unregister_notifier(&hwheel_timekeeping_nb);
	irq_work_sync(&hwheel_set_work);
}
