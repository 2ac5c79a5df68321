// SPDX-License-Identifier: GPL-2.0
/*
 * The drive: the hrtimer of a base
 *
 * The hrtimer is armed for the time at which levels_step() must be called next:
 *
 *	min(max(first tick at which a timer can be due, base->fire_from),
 *	    max(first tick at which a crowd should move ahead of its time, base->move_from))
 *
 * Runs set the two instants, to leave the CPU to others: see run.c. hwheel moves the hrtimer
 *
 *  - when a timer is armed for an earlier tick,
 *  - when a run ends,
 *  - when a base gets levels or fans, and must therefore run earlier,
 *  - when its CPU goes offline or comes online: see cpus.c,
 *  - when somebody sets the wheel's clock: see wall_time.c.
 *
 * A CPU arms the hrtimers of its own bases, and of bases whose CPU is offline. For a base of
 * another CPU that is online, it sends a kick: an interrupt to that CPU. The handler,
 * hwheel_kick(), arms the hrtimer there. So does an isolated CPU for a base whose CPU is offline.
 *
 * Cancelling does not move the hrtimer. So the next interrupt may find nothing to do. hwheel
 * then counts this interrupt as idle. There is no periodic tick. If no timer is pending,
 * hwheel does not arm the hrtimer.
 *
 * A wheel may have an alarm (struct hwheel_alarm). Its bases then have no hrtimer, and "hrtimer"
 * in hwheel's sources means the alarm. Any CPU may start an alarm, so no kick is needed.
 *
 * Runs advance the clock of a base. Arming with a delay reads the time anyway, so it
 * advances a clock that is far behind (base->fresh), unless the timer was pending on that
 * base already. hwheel_add_at() advances the clock if no timer is pending on the base.
 * Otherwise the clock may be behind the time. New timers then go to coarser spokes than
 * necessary, which costs a cascade but no exactness.
 */

/* The last tick at or before @now, which is on the drive's clock */
static __always_inline u64 hwheel_tick_down(const struct hwheel_base *base, ktime_t now)
{
	return levels_tick_down(&base->levels, now + base->offset);
}

/* The time on the drive's clock at which @tick begins */
static __always_inline ktime_t hwheel_tick_ns(const struct hwheel_base *base, u64 tick)
{
	s64 ns = levels_tick_ns(&base->levels, tick);

	return ns == S64_MAX ? KTIME_MAX : max(ns - base->offset, 0LL);
}

/* A base that is closing starts no hrtimer: see hwheel_close_base(). */
static void hwheel_start_hrtimer(struct hwheel_base *base, ktime_t expires)
{
	if (unlikely(base->closing))
		return;
	trace_hwheel_arm(base, expires);
	base->expires = expires;
	if (unlikely(base->wheel->alarm)) {
		base->wheel->alarm->start(base);
		return;
	}
	hrtimer_start(&base->hrtimer, expires,
		      base->wheel->context == HWHEEL_HARDIRQ ?
		      HRTIMER_MODE_ABS_PINNED_HARD : HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * The time for the hrtimer: it waits until base->fire_from for a due timer, and until
 * base->move_from for a crowd that is to move ahead of its time. Sets base->armed, too: if the
 * hrtimer is armed for fire_from or earlier, no timer that is armed can move it.
 */
static noinline ktime_t hwheel_next_run(struct hwheel_base *base)
{
	ktime_t fire = max(hwheel_tick_ns(base, levels_due_tick(&base->levels)), base->fire_from);
	ktime_t move = max(hwheel_tick_ns(base, levels_move_tick(&base->levels)), base->move_from);
	ktime_t next = min(fire, move);

	base->armed = max(next <= base->fire_from ? base->levels.clock :
			  levels_tick_up(&base->levels, hwheel_deadline(next, base->offset)),
			  1ULL);
	return next;
}

/* Arm the hrtimer on this CPU. @tick is levels_wake(). */
static void hwheel_arm_hrtimer(struct hwheel_base *base, u64 tick)
{
	ktime_t expires = hwheel_tick_ns(base, tick);
	bool armed = base->armed != HWHEEL_NEVER;

	base->armed = max(tick, 1ULL);	/* 0 is for runs; @tick may be 0 */
	if (unlikely(expires < max(base->fire_from, base->move_from))) {
		expires = hwheel_next_run(base);
		if (armed && expires == base->expires)
			return;		/* a crowd that has to wait */
	}
	hwheel_start_hrtimer(base, expires);
}

static ktime_t hwheel_other_time(struct hwheel_base *base);
static struct hwheel_base *hwheel_home(struct hwheel_base *base);

/* With interrupts off: the CPU that is to start the hrtimer of @base, and so to run its timers */
static int hwheel_server(struct hwheel_base *base)
{
	if (base->cpu == smp_processor_id() || base->wheel->alarm)
		return smp_processor_id();
	return cpu_online(base->cpu) ? base->cpu : hwheel_home(base)->cpu;
}

/*
 * Have hwheel_kick() run on @cpu, which is not this one. -EBUSY means that a kick is
 * on its way, and its handler will see the present state. base->kick can be sent again as
 * soon as its handler begins. So two kicks may be under way.
 */
static void hwheel_send_kick(struct hwheel_base *base, int cpu)
{
	base->kicks += !smp_call_function_single_async(cpu, &base->kick);
}

/* Arm the hrtimer of @base for @tick. @base may be another CPU's. */
static void hwheel_arm_base(struct hwheel_base *base, u64 tick)
{
	int cpu = hwheel_server(base);

	if (cpu == smp_processor_id()) {
		hwheel_arm_hrtimer(base, tick);
		return;
	}
	/* A pinned hrtimer is queued on the CPU that starts it. */
	base->armed = max(tick, 1ULL);
	hwheel_send_kick(base, cpu);
}

/* Arm the hrtimer of @base if a timer needs it before base->armed */
static void hwheel_arm_next(struct hwheel_base *base)
{
	u64 wake = levels_wake(&base->levels);

	if (wake < base->armed)
		hwheel_arm_base(base, wake);
}

/* If no run is under way, arm the hrtimer of @base again: its time may have changed */
static void hwheel_arm_again(struct hwheel_base *base)
{
	if (base->armed) {
		base->armed = HWHEEL_NEVER;
		hwheel_arm_next(base);
	}
}

/* The handler of a kick, on hwheel_server(@base): another CPU asked for it. Interrupts are off. */
static void hwheel_kick(void *data)
{
	struct hwheel_base *base = data;

	raw_spin_lock(&base->lock);
	base->kicks--;
	if (!base->closing) {
		base->count[HWHEEL_REMOTE_KICKS]++;
		if (base->wheel->clock->ahead)
			hwheel_other_time(base);	/* the clock may have been set */
		/* The timer that caused the kick may have been cancelled or re-armed */
		hwheel_arm_again(base);
	}
	raw_spin_unlock(&base->lock);
}

/*
 * The clock of @base's wheel was set: at time @now it is @offset ahead of the drive's clock.
 * The hrtimer must be armed again: its tick begins at another time than before, and an earlier
 * tick may be next.
 */
static noinline void hwheel_new_offset(struct hwheel_base *base, ktime_t now, ktime_t offset)
{
	struct hwheel_levels *levels = &base->levels;
	u64 tick;

	base->offset = offset;
	base->set = now + offset;
	base->fresh = 0;
	tick = hwheel_tick_down(base, now);
	if (tick < levels->floor) {
		levels_set_back(levels, tick);
		hwheel_note_max(base, HWHEEL_MAX_LOCKED_NS, ktime_get() - now);
	}
	hwheel_arm_again(base);
}

/* hwheel_time() of a wheel whose clock is not CLOCK_MONOTONIC */
static noinline ktime_t hwheel_other_time(struct hwheel_base *base)
{
	const struct hwheel_clock *clock = base->wheel->clock;
	ktime_t now = clock->read(), offset = clock->ahead ? clock->ahead(clock, now) : 0;

	if (unlikely(offset != base->offset))
		hwheel_new_offset(base, now, offset);
	return now;
}

/*
 * With @base locked: read the drive's clock. The base takes over the offset of its wheel's
 * clock first, if somebody has set that clock.
 */
static __always_inline ktime_t hwheel_time(struct hwheel_base *base)
{
	return likely(base->monotonic) ? ktime_get() : hwheel_other_time(base);
}

/*
 * Advance the clock of @base to @now, which is on the wheel's clock, if a run has nothing to
 * do before @now. Callers need not do this again before base->fresh. By then a clock that was
 * advanced is behind the time by half the reach of level 0. If somebody can set the wheel's
 * clock, this function reads the time again: somebody may have set it after the caller read @now.
 */
static noinline void hwheel_catch_up(struct hwheel_base *base, ktime_t now)
{
	struct hwheel_levels *levels = &base->levels;
	u64 tick;

	if (base->wheel->clock->ahead) {
		now = hwheel_other_time(base);
		now += base->offset;
	}
	tick = levels_tick_down(levels, now);

	/* base->armed is 1 for tick 0, too: see hwheel_arm_hrtimer() */
	if (tick > levels->clock && tick < base->armed)
		levels_set_clock(levels, tick);
	base->fresh = hwheel_deadline(now, levels->level[0].nr / 2 * levels->tick_ns);
}
