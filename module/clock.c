// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of wheels: CLOCK_MONOTONIC and CLOCK_BOOTTIME
 */

static const struct hwheel_clock hwheel_monotonic = {
	.name	= "monotonic",
	.drive	= CLOCK_MONOTONIC,
	.read	= ktime_get,
};

static const struct hwheel_clock hwheel_boottime = {
	.name	= "boottime",
	.drive	= CLOCK_BOOTTIME,
	.read	= ktime_get_boottime,
};

/* The time on @wheel's clock, if that is not CLOCK_MONOTONIC */
static noinline ktime_t hwheel_other_clock(const struct hwheel *wheel)
{
	const struct hwheel_clock *clock = wheel->clock;
	ktime_t now = clock->read();

	return clock->ahead ? now + clock->ahead(clock, now) : now;
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
