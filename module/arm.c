// SPDX-License-Identifier: GPL-2.0
/*
 * Arming
 */

/* With @base, which @timer is on, locked: does @mode allow to arm @timer for @expires? */
static __always_inline bool hwheel_may_arm(const struct hwheel_base *base,
					   const struct hwheel_timer *timer, ktime_t expires,
					   unsigned int mode)
{
	if (unlikely(timer->flags & __HWHEEL_SHUT_DOWN || base->closing))
		return false;
	if (mode & HWHEEL_MODE_PENDING && !hwheel_queued(timer))
		return false;
	return !(mode & HWHEEL_MODE_EARLIER) || !hwheel_queued(timer) || expires < timer->expires;
}

/*
 * With @from locked: move @timer from @from to @target. When both locks are held, check
 * that the move is still right.
 *
 * If it is: returns NULL, with only @target locked. The timer is then in no spoke, even if
 * it was @pending. The caller must put it into a spoke of @target.
 *
 * If it is not: moves nothing. Locks the base that the timer is on, and returns that base.
 */
static noinline struct hwheel_base *
hwheel_switch_base(struct hwheel_base *from, struct hwheel_timer *timer,
		   struct hwheel_base *target, bool pending, ktime_t expires,
		   unsigned int mode)
	__must_hold(&from->lock)
{
	unsigned long flags;

	hwheel_lock_other(from, target);
	if (likely(READ_ONCE(timer->base) == from && hwheel_queued(timer) == pending &&
		   hwheel_may_arm(from, timer, expires, mode) &&
		   from->running != timer && !target->closing)) {
		if (pending)
			levels_leave(&from->levels, timer);
		WRITE_ONCE(timer->base, target);
		target->count[HWHEEL_MIGRATED] += pending;
		raw_spin_unlock(&from->lock);
		return NULL;
	}
	raw_spin_unlock(&target->lock);
	raw_spin_unlock(&from->lock);
	/* Interrupts are off already, so flags is not used. */
	return hwheel_lock(timer, READ_ONCE(timer->base), &flags);
}

/*
 * Arm @timer for @expires. @tick is the tick of @expires. @timer was on @base a moment
 * ago. @timed is a constant: true if the caller has read the clock into @now. Reading the
 * clock costs as much as all the rest. So if @timed is false, this function reads the time
 * only if no timer is pending on the base. Then it advances the base's clock.
 */
static __always_inline bool hwheel_arm(struct hwheel_base *base, struct hwheel_timer *timer,
				       ktime_t expires, u64 tick, bool timed,
				       ktime_t now, unsigned int mode, int cpu)
{
	struct hwheel_base *target;
	bool pending, moved = false;
	unsigned long flags;
	u64 wake;

	base = hwheel_lock(timer, base, &flags);
	for (;;) {
		pending = hwheel_queued(timer);
		if (!hwheel_may_arm(base, timer, expires, mode))
			goto out;
		target = hwheel_target(base, timer, cpu);
		if (likely(target == base))
			break;
		if (unlikely(READ_ONCE(target->closing)))
			goto out;	/* the wheel is being destroyed */
		base = hwheel_switch_base(base, timer, target, pending, expires, mode);
		moved = !base;
		if (moved) {
			base = target;
			break;
		}
	}
	if (unlikely(base->running == timer))
		base->dest = cpu >= 0 && cpu != base->cpu ?
			     per_cpu_ptr(base->wheel->bases, cpu) : NULL;

	if (pending && !moved) {
		u64 old = levels_due(&base->levels, timer);

		WRITE_ONCE(timer->expires, expires);
		wake = levels_mod(&base->levels, timer, old, tick);
		base->count[HWHEEL_REARMED]++;
	} else {
		if (timed ? unlikely((u64)now > base->fresh) : unlikely(!base->levels.pending))
			hwheel_catch_up(base, timed ? now : hwheel_clock(base->wheel));
		WRITE_ONCE(timer->expires, expires);
		wake = levels_add(&base->levels, timer, tick);
		base->count[pending ? HWHEEL_REARMED : HWHEEL_ADDED]++;
		if (!pending)
			debug_hwheel(activate, timer);
	}
	trace_hwheel_start(base, timer);
	if (wake < base->armed)
		hwheel_arm_base(base, wake);
out:
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return pending;
}

/*
 * Returns the tick that levels_align() picks from *@expires to *@expires + @slack. Sets
 * *@expires to the instant of that tick. If there is no slack, or no tick in that window,
 * returns the first tick at or after *@expires and leaves *@expires as it is.
 */
static __always_inline u64 hwheel_pick(const struct hwheel_base *base, ktime_t *expires,
				       ktime_t slack)
{
	const struct hwheel_levels *levels = &base->levels;
	u64 first, last, tick;
	s64 end;

	if (unlikely(*expires <= 0))
		return 0;
	first = levels_tick_up(levels, *expires);
	if (slack <= 0)
		return first;
	if (check_add_overflow(*expires, slack, &end))
		end = KTIME_MAX;
	last = divisor_div(&levels->tick_div, end);
	if (first - 1 == last)
		return first;	/* no tick in the window */
	tick = levels_align(levels, first, last);
	*expires = tick * levels->tick_ns;	/* at most end */
	return tick;
}

/* Arm @timer, which was on @base a moment ago, in the window from @now + @delay on. */
static __always_inline bool hwheel_arm_range(struct hwheel_base *base, struct hwheel_timer *timer,
					     ktime_t now, ktime_t delay, ktime_t slack,
					     unsigned int mode, int cpu)
{
	ktime_t expires = hwheel_deadline(now, delay);
	u64 tick = hwheel_pick(base, &expires, slack);

	return hwheel_arm(base, timer, expires, tick, true, now, mode, cpu);
}

/**
 * hwheel_add - arm or re-arm a timer
 * @timer: the timer, set up
 * @delay: nanoseconds from now; any value. A timer with a @delay of 0 or less
 *	is due as soon as possible
 *
 * The callback runs at the first tick of the wheel at or after now + @delay. If
 * the timer is pending, it is re-armed for that time. This and the other calls that arm do
 * nothing, and say nothing, if the timer was shut down, or while its wheel is being destroyed:
 * a callback that arms its own timer can't know.
 *
 * The callback runs on this CPU, unless the wheel has a workqueue that is not bound to CPUs.
 * Exceptions:
 *
 * * If the timer's callback is running, the timer stays on the CPU of that callback.
 * * If this CPU is isolated (nohz_full=, isolcpus=) and the timer is not HWHEEL_PINNED,
 *   the callback runs on a CPU that is not isolated.
 * * While this CPU is offline, another CPU runs the callback.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add(struct hwheel_timer *timer, ktime_t delay)
{
	ktime_t now;
	struct hwheel_base *base = hwheel_base_now(timer, &now);

	return hwheel_arm_range(base, timer, now, delay, 0, 0, -1);
}
EXPORT_SYMBOL_GPL(hwheel_add);

/**
 * hwheel_add_range - arm or re-arm a timer that may be a little late
 * @timer: the timer, set up
 * @delay: nanoseconds from now, as in hwheel_add()
 * @slack: how much later the timer may expire, in nanoseconds; less than 0
 *	counts as 0
 *
 * hwheel picks a tick from now + @delay to now + @delay + @slack: the one at which
 * the widest spoke begins. Timers with slack meet in such ticks: they share spokes
 * and interrupts, and cascade less or never. hwheel_expires() returns the instant
 * of the tick. If there is no tick in that time, the timer expires at the next
 * tick, and hwheel_expires() returns now + @delay.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add_range(struct hwheel_timer *timer, ktime_t delay, ktime_t slack)
{
	/*
	 * The coarse clock plus a jiffy would cost less. It is not exact enough, even
	 * with slack: it was seen 16 ms behind when a timer interrupt was late.
	 */
	ktime_t now;
	struct hwheel_base *base = hwheel_base_now(timer, &now);

	return hwheel_arm_range(base, timer, now, delay, slack, 0, -1);
}
EXPORT_SYMBOL_GPL(hwheel_add_range);

/**
 * hwheel_add_at - arm or re-arm a timer for an instant
 * @timer: the timer, set up
 * @expires: the instant, in nanoseconds on the wheel's clock (hwheel_now()).
 *	If it has passed, the timer is due at once
 * @slack: as in hwheel_add_range()
 *
 * This is the cheapest way to arm a timer. It reads the clock only if no timer of the wheel
 * is pending on the CPU.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add_at(struct hwheel_timer *timer, ktime_t expires, ktime_t slack)
{
	struct hwheel_base *base = hwheel_base(timer);
	u64 tick = hwheel_pick(base, &expires, slack);

	return hwheel_arm(base, timer, expires, tick, false, 0, 0, -1);
}
EXPORT_SYMBOL_GPL(hwheel_add_at);

/**
 * hwheel_add_on - arm or re-arm a timer on a given CPU
 * @timer: the timer, set up
 * @delay: as in hwheel_add()
 * @cpu: the CPU that is to run the callback
 *
 * * If @cpu is offline, the timer is armed on this CPU. But if this CPU is isolated and
 *   the timer is not HWHEEL_PINNED, the timer is armed on a CPU that is not isolated.
 * * If @cpu is not possible, hwheel warns and arms the timer as hwheel_add()
 *   does.
 * * If the timer's callback is running, the timer moves to @cpu when the
 *   callback has returned.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add_on(struct hwheel_timer *timer, ktime_t delay, int cpu)
{
	ktime_t now;
	struct hwheel_base *base = hwheel_base_now(timer, &now);

	if (hwheel_warn((unsigned int)cpu >= nr_cpu_ids || !cpu_possible(cpu),
			"hwheel: timer with callback %ps armed on CPU %d, which can not be\n",
			timer->function, cpu))
		cpu = -1;
	return hwheel_arm_range(base, timer, now, delay, 0, 0, cpu);
}
EXPORT_SYMBOL_GPL(hwheel_add_on);

/**
 * hwheel_add_mode - arm or re-arm a timer under a condition
 * @timer: the timer, set up
 * @when: a delay in nanoseconds, as in hwheel_add(); with %HWHEEL_MODE_ABS an instant, as in
 *	hwheel_add_at()
 * @slack: as in hwheel_add_range()
 * @mode: 0, or one or more of
 *
 *	* %HWHEEL_MODE_ABS - @when is an instant
 *	* %HWHEEL_MODE_PENDING - only if @timer is pending
 *	* %HWHEEL_MODE_EARLIER - only if @timer is not pending, or pending for a later time
 *
 * hwheel looks at the condition and arms the timer under one lock. With both conditions,
 * only a timer that is pending for a later time is re-armed.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending.
 */
bool hwheel_add_mode(struct hwheel_timer *timer, ktime_t when, ktime_t slack, unsigned int mode)
{
	struct hwheel_base *base;
	ktime_t now;
	u64 tick;

	hwheel_warn(mode & ~(HWHEEL_MODE_ABS | HWHEEL_MODE_PENDING | HWHEEL_MODE_EARLIER),
		    "hwheel: timer with callback %ps armed with mode %#x; there is no such mode\n",
		    timer->function, mode);
	if (mode & HWHEEL_MODE_ABS) {
		base = hwheel_base(timer);
		tick = hwheel_pick(base, &when, slack);
		return hwheel_arm(base, timer, when, tick, false, 0, mode, -1);
	}
	base = hwheel_base_now(timer, &now);
	return hwheel_arm_range(base, timer, now, when, slack, mode, -1);
}
EXPORT_SYMBOL_GPL(hwheel_add_mode);

/* Read timer->expires. On 64-bit one load reads it whole, so this takes no lock there. */
static __always_inline ktime_t hwheel_read_expires(const struct hwheel_timer *timer,
						   struct hwheel_base *base)
{
	unsigned long flags;
	ktime_t expires;

	if (BITS_PER_LONG == 64)
		return READ_ONCE(timer->expires);
	base = hwheel_lock((struct hwheel_timer *)timer, base, &flags);
	expires = timer->expires;
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return expires;
}

/**
 * hwheel_add_forward - arm a periodic timer for its next period
 * @timer: the timer, which has been armed before
 * @interval: the period in nanoseconds, 1 or more; it may be shorter than a
 *	tick. Less than 1 counts as 1
 *
 * Arms @timer for the smallest expires + n * @interval > now, with n >= 0, where
 * expires is the instant for which it was last armed: see hwheel_expires(). So a
 * periodic timer does not drift. If that instant is later than now, n is 0: a timer that is
 * pending keeps its instant, also with another @interval. To begin a new period at once, call
 * hwheel_add() with it.
 *
 * Context: any but NMI; as a rule the timer's own callback.
 * Return: n, the number of periods by which the expiration moved.
 */
u64 hwheel_add_forward(struct hwheel_timer *timer, ktime_t interval)
{
	struct hwheel_base *base = hwheel_base(timer);
	ktime_t now, expires = hwheel_read_expires(timer, base);
	u64 late, n = 0;

	interval = max(interval, 1LL);
	now = hwheel_clock(base->wheel);
	if (now >= expires) {
		late = (u64)now - (u64)expires;
		n = div64_u64(late, interval);
		interval -= late - n++ * interval;	/* what is left of the period */
		expires = hwheel_deadline(now, interval);
	}
	hwheel_arm(base, timer, expires, levels_tick_up(&base->levels, expires), true, now,
		   0, -1);
	return n;
}
EXPORT_SYMBOL_GPL(hwheel_add_forward);
