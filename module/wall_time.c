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
 * With the base's lock held, hwheel_time() reads the drive's clock and the present offset. If this
 * offset differs from base->offset, hwheel_new_offset() stores it there. If the clock was set back,
 * it also sets back the levels (levels_set_back()). It then arms the hrtimer again, unless a run is
 * under way.
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
 *
 * An hrtimer on the wheel's own clock would need no call in each timer tick, because the kernel
 * moves it when somebody sets the clock. It can't replace the call:
 *
 * - The kernel moves the hrtimer, but tells nobody. Until the next run the levels would be ahead
 *   of a clock that was set back. A timer that hwheel_add_at() arms meanwhile would count as due
 *   at the old time, and be late by up to the whole step.
 * - Gaps, rests and breaks are times on a clock that nobody sets. They would need a second hrtimer,
 *   and a base would have to keep two of them from running it at once.
 * - Nothing else tells modules of a leap second before it comes, or of a clock that was set
 *   (@clock_set).
 *
 * The call stores three values.
 */

static const struct hwheel_clock hwheel_tai;

/* @seq has no lock: the timekeeping code calls one writer at a time. */
static struct {
	seqcount_t	seq;
	ktime_t		real;		/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	ktime_t		tai;		/* CLOCK_TAI - CLOCK_MONOTONIC */
	ktime_t		leap;		/* the next leap second, on CLOCK_MONOTONIC */
} hwheel_offsets = { .seq = SEQCNT_ZERO(hwheel_offsets.seq) };

/* How far @clock is ahead of CLOCK_MONOTONIC, which is @now */
static ktime_t hwheel_offset(const struct hwheel_clock *clock, ktime_t now)
{
	unsigned int seq;
	ktime_t offset;

	do {
		seq = raw_read_seqcount_begin(&hwheel_offsets.seq);
		if (clock == &hwheel_tai) {
			offset = hwheel_offsets.tai;
		} else {
			offset = hwheel_offsets.real;
			if (unlikely(now >= hwheel_offsets.leap))
				offset -= NSEC_PER_SEC;
		}
	} while (read_seqcount_retry(&hwheel_offsets.seq, seq));
	return offset;
}

static const struct hwheel_clock hwheel_realtime = {
	.name	= "realtime",
	.drive	= CLOCK_MONOTONIC,
	.read	= ktime_get,
	.ahead	= hwheel_offset,
};

static const struct hwheel_clock hwheel_tai = {
	.name	= "tai",
	.drive	= CLOCK_MONOTONIC,
	.read	= ktime_get,
	.ahead	= hwheel_offset,
};

/* In process context: tell the user of a wheel. */
static void hwheel_tell(struct work_struct *work)
{
	struct hwheel *wheel = container_of(work, struct hwheel, tell);

	wheel->clock_set(wheel);
}

/*
 * The clock of @base's wheel was set. Kick another CPU only if it must arm its hrtimer again.
 * Otherwise take over the offset here, even without timers: timers may move to @base later.
 */
static void hwheel_base_set(struct hwheel_base *base)
{
	int cpu;

	raw_spin_lock(&base->lock);
	if (!base->closing) {
		cpu = base->levels.pending ? hwheel_server(base) : smp_processor_id();
		if (cpu == smp_processor_id())
			hwheel_time(base);
		else
			hwheel_send_kick(base, cpu);
	}
	raw_spin_unlock(&base->lock);
}

/*
 * Somebody set the clock of wall time. Interrupts are off. A wheel that is created meanwhile is on
 * the list before it takes over the offset: see hwheel_open().
 */
static void hwheel_all_set(struct irq_work *work)
{
	struct hwheel *wheel;
	int cpu;

	raw_spin_lock(&hwheel_wheels_lock);
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		if (!wheel->clock->ahead)
			continue;
		for_each_possible_cpu(cpu)
			hwheel_base_set(per_cpu_ptr(wheel->bases, cpu));
		if (wheel->clock_set)
			queue_work(system_dfl_wq, &wheel->tell);
	}
	raw_spin_unlock(&hwheel_wheels_lock);
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

static void hwheel_timekeeping_init(void)
{
	pvclock_gtod_register_notifier(&hwheel_timekeeping_nb);	/* can't fail */
}

static void hwheel_timekeeping_exit(void)
{
	pvclock_gtod_unregister_notifier(&hwheel_timekeeping_nb);
	irq_work_sync(&hwheel_set_work);
}

static void hwheel_create_wall(struct hwheel *wheel, const struct hwheel_config *config)
{
	if (config->flags & HWHEEL_REALTIME)
		wheel->clock = &hwheel_realtime;
	else if (config->flags & HWHEEL_TAI)
		wheel->clock = &hwheel_tai;
	else
		return;
	wheel->clock_set = config->clock_set;
	INIT_WORK(&wheel->tell, hwheel_tell);
}

static void hwheel_destroy_wall(struct hwheel *wheel)
{
	if (wheel->clock_set)
		cancel_work_sync(&wheel->tell);
}

static const struct hwheel_part hwheel_wall = {
	.init		= hwheel_timekeeping_init,
	.exit		= hwheel_timekeeping_exit,
	.create		= hwheel_create_wall,
	.destroy	= hwheel_destroy_wall,
};
