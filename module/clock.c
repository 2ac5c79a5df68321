// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the clocks of wheels
 */

/* See "Wall time". @seq has no lock: the timekeeping code calls one writer at a time. */
static struct {
	seqcount_t	seq;
	ktime_t		real;		/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	ktime_t		tai;		/* CLOCK_TAI - CLOCK_MONOTONIC */
	ktime_t		leap;		/* the next leap second, on CLOCK_MONOTONIC */
} hwheel_offsets = { .seq = SEQCNT_ZERO(hwheel_offsets.seq) };

/* @wheel's clock minus CLOCK_MONOTONIC, on a wheel of wall time. @now: on CLOCK_MONOTONIC */
static ktime_t hwheel_offset(const struct hwheel *wheel, ktime_t now)
{
	unsigned int seq;
	ktime_t offset;

	do {
		seq = raw_read_seqcount_begin(&hwheel_offsets.seq);
		if (wheel->clock == CLOCK_TAI) {
			offset = hwheel_offsets.tai;
		} else {
			offset = hwheel_offsets.real;
			if (unlikely(now >= hwheel_offsets.leap))
				offset -= NSEC_PER_SEC;
		}
	} while (read_seqcount_retry(&hwheel_offsets.seq, seq));
	return offset;
}

/*
 * The time on @wheel's clock. hwheel calls this if the clock is not CLOCK_MONOTONIC, and also if
 * a user by mistake arms a timer of an earlier life of the wheel: see hwheel_begin_base().
 */
static noinline ktime_t hwheel_other_clock(const struct hwheel *wheel)
{
	ktime_t now;

	if (wheel->clock == CLOCK_BOOTTIME)
		return ktime_get_boottime();
	now = ktime_get();
	return wheel->wall ? now + hwheel_offset(wheel, now) : now;
}

static __always_inline ktime_t hwheel_clock(const struct hwheel *wheel)
{
	return likely(wheel->clock == CLOCK_MONOTONIC) ? ktime_get() : hwheel_other_clock(wheel);
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
