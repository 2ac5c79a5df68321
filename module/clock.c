// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of wheels: CLOCK_MONOTONIC and CLOCK_BOOTTIME
 */

static ktime_t hwheel_monotonic_now(const struct hwheel *wheel)
{
	return ktime_get();
}

static ktime_t hwheel_monotonic_time(struct hwheel_base *base)
{
	return ktime_get();
}

static const struct hwheel_clock hwheel_monotonic = {
	.name	= "monotonic",
	.drive	= CLOCK_MONOTONIC,
	.now	= hwheel_monotonic_now,
	.time	= hwheel_monotonic_time,
};

static ktime_t hwheel_boottime_now(const struct hwheel *wheel)
{
	return ktime_get_boottime();
}

static ktime_t hwheel_boottime_time(struct hwheel_base *base)
{
	return ktime_get_boottime();
}

static const struct hwheel_clock hwheel_boottime = {
	.name	= "boottime",
	.drive	= CLOCK_BOOTTIME,
	.now	= hwheel_boottime_now,
	.time	= hwheel_boottime_time,
};

/*
 * The time on @wheel's clock. hwheel calls this if the clock is not CLOCK_MONOTONIC, and also if
 * a user by mistake arms a timer of an earlier life of the wheel: see hwheel_begin_base().
 */
static noinline ktime_t hwheel_other_clock(const struct hwheel *wheel)
{
	return READ_ONCE(wheel->clock)->now(wheel);
}

static __always_inline ktime_t hwheel_clock(const struct hwheel *wheel)
{
	return likely(wheel->clock == &hwheel_monotonic) ? ktime_get() : hwheel_other_clock(wheel);
}

/* @now + @delay, at most KTIME_MAX. @now is 0 or more. */
static __always_inline ktime_t hwheel_deadline(ktime_t now, ktime_t delay)
{
	return delay <= KTIME_MAX - now ? now + delay : KTIME_MAX;
}

/* @then - @now, at least KTIME_MIN. @now is 0 or more. */
static ktime_t hwheel_until(ktime_t then, ktime_t now)
{
	return then >= KTIME_MIN + now ? then - now : KTIME_MIN;
}
