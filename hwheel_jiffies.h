/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hwheel for drivers that think in jiffies
 *
 * tools/hwheel-convert brings code here that keeps points in time as values
 * of jiffies. New code does better to stay with ktime_t.
 *
 * jiffies is the number of the last tick, which may be almost a jiffy ago. A
 * delay that is counted from now instead can therefore not end before its tick,
 * but up to a jiffy after it.
 */
#ifndef _HWHEEL_JIFFIES_H
#define _HWHEEL_JIFFIES_H

#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "hwheel.h"

/**
 * hwheel_jiffies - a number of jiffies as a delay
 * @n: the number; less than none is none
 *
 * jiffies_to_nsecs() keeps 32 bits of microseconds and won't do here: it turns
 * 72 minutes into 25 seconds.
 *
 * Return: nanoseconds, KTIME_MAX where that is exceeded.
 */
static inline ktime_t hwheel_jiffies(long n)
{
	if (n <= 0)
		return 0;
	return n <= div_s64(KTIME_MAX, TICK_NSEC) ? (ktime_t)n * TICK_NSEC : KTIME_MAX;
}

/**
 * hwheel_until_jiffies - the delay from now until jiffies has a value
 * @when: the value; up to LONG_MAX jiffies ahead, else it has passed. It may
 *	lie beyond a wrap of jiffies
 *
 * Return: nanoseconds, 0 if @when is now or has passed.
 */
static inline ktime_t hwheel_until_jiffies(unsigned long when)
{
	return hwheel_jiffies((long)(when - jiffies));
}

/**
 * hwheel_expires_jiffies - when a timer expires, in jiffies
 * @timer: the timer, set up
 *
 * It takes the place of timer->expires. What hwheel_until_jiffies() made of a
 * value of jiffies comes back as that value or the next one. Of a timer that
 * was never armed it is the jiffy of boot, or as far back as a long reaches.
 *
 * Context: any but NMI. Takes no lock on 64-bit.
 * Return: the first value of jiffies that is not before its expiration.
 */
static inline unsigned long hwheel_expires_jiffies(const struct hwheel_timer *timer)
{
	ktime_t left = hwheel_remaining(timer);
	s64 n = div_s64(left, TICK_NSEC);

	if (n * TICK_NSEC < left)
		n++;
	return jiffies + (unsigned long)clamp(n, (s64)LONG_MIN, (s64)LONG_MAX);
}

#endif /* _HWHEEL_JIFFIES_H */
