// SPDX-License-Identifier: GPL-2.0
/*
 * Asking about timers and wheels
 */

/**
 * hwheel_expires - the instant a timer is armed for
 * @timer: the timer
 *
 * Context: any but NMI. Takes no lock on 64-bit.
 * Return: the instant, in nanoseconds on the wheel's clock. If the timer was
 * armed with slack, the instant that was picked. If the timer is not pending,
 * the instant it was last armed for.
 */
ktime_t hwheel_expires(const struct hwheel_timer *timer)
{
	return hwheel_read_expires(timer, hwheel_base(timer));
}
EXPORT_SYMBOL_GPL(hwheel_expires);

/**
 * hwheel_remaining - time until a timer expires
 * @timer: the timer, set up
 *
 * Context: any but NMI. Takes no lock on 64-bit.
 * Return: hwheel_expires() - now, in nanoseconds; less than 0 if that instant
 * has passed.
 */
ktime_t hwheel_remaining(const struct hwheel_timer *timer)
{
	struct hwheel_base *base = hwheel_base(timer);
	ktime_t expires = hwheel_read_expires(timer, base);

	return hwheel_until(expires, hwheel_clock(base->wheel));
}
EXPORT_SYMBOL_GPL(hwheel_remaining);

/**
 * hwheel_running - is the callback of a timer running?
 * @timer: the timer, set up
 *
 * Context: any but NMI. Takes no lock. The answer may be out of date at once. To wait for
 * the callback, use hwheel_cancel_sync().
 * Return: true from the beginning of the callback until it has returned. If the callback
 * sets up its own timer again, this may be false from then on.
 */
bool hwheel_running(const struct hwheel_timer *timer)
{
	return READ_ONCE(hwheel_base(timer)->running) == timer;
}
EXPORT_SYMBOL_GPL(hwheel_running);

/**
 * hwheel_now - the present time of a wheel
 * @wheel: the wheel
 *
 * Context: any but NMI.
 * Return: the time in nanoseconds on the wheel's clock.
 */
ktime_t hwheel_now(const struct hwheel *wheel)
{
	return hwheel_clock(wheel);
}
EXPORT_SYMBOL_GPL(hwheel_now);

/* A counter of all CPUs together. @each: NULL, or where to put those of each CPU */
static u64 hwheel_total(const struct hwheel *wheel, enum hwheel_counter which, u64 *each)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		/* Writers add to it with plain stores under the lock. No lock is taken here */
		u64 n = data_race(READ_ONCE(*(which == HWHEEL_CASCADED ? &base->levels.moved :
					      &base->count[which])));

		if (each)
			each[cpu] = n;
		total = which < HWHEEL_MAXIMA ? total + n : max(total, n);
	}
	return total;
}

/**
 * hwheel_count - read one of a wheel's counters
 * @wheel: the wheel
 * @counter: name of the counter, as in the first column of the wheel's debugfs
 *	file stats
 *
 * Context: any. Takes no lock.
 * Return: the sum over all CPUs. If the counter is a maximum, the greatest of
 * all CPUs. U64_MAX if no counter has that name.
 */
u64 hwheel_count(const struct hwheel *wheel, const char *counter)
{
	int which = match_string(hwheel_counter_names, HWHEEL_COUNTERS, counter);

	return which < 0 ? U64_MAX : hwheel_total(wheel, which, NULL);
}
EXPORT_SYMBOL_GPL(hwheel_count);
