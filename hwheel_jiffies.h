/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hwheel for drivers that use jiffies
 *
 * Some drivers keep points in time as values of jiffies, or look into their timers.
 * tools/hwheel-convert makes such drivers use this file. New code should use ktime_t.
 *
 * The functions below count delays from now. The present jiffy began up to a jiffy before
 * now. So a delay never ends before the wanted jiffy begins. It may end later, by less
 * than a jiffy, and the timer expires at the next tick of its wheel. If a timer tick of the
 * kernel is late, jiffies may not have the wanted value yet.
 */
#ifndef _HWHEEL_JIFFIES_H
#define _HWHEEL_JIFFIES_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "hwheel.h"

/**
 * hwheel_jiffies - convert a number of jiffies to a delay
 * @n: the number. A negative number counts as 0
 *
 * Do not use jiffies_to_nsecs() for this. It keeps only 32 bits of microseconds, so it
 * turns 72 minutes into 25 seconds.
 *
 * Return: the delay in nanoseconds, at most KTIME_MAX.
 */
static inline ktime_t hwheel_jiffies(long n)
{
	if (n <= 0)
		return 0;
	return n <= div_s64(KTIME_MAX, TICK_NSEC) ? (ktime_t)n * TICK_NSEC : KTIME_MAX;
}

/**
 * hwheel_until_jiffies - the delay from now until jiffies has a value
 * @when: the value. If it is more than LONG_MAX jiffies ahead, it counts as passed.
 *	jiffies may wrap before it reaches @when
 *
 * Return: the delay in nanoseconds; 0 if @when is now or has passed.
 */
static inline ktime_t hwheel_until_jiffies(unsigned long when)
{
	return hwheel_jiffies((long)(when - jiffies));
}

/**
 * hwheel_expires_jiffies - when a timer expires, in jiffies
 * @timer: the timer, set up
 *
 * Use it instead of timer->expires. Say that the timer was armed for jiffy N, with
 * hwheel_until_jiffies(N), before jiffy N had come. Then this returns N or N + 1. For a timer
 * that was never armed, on CLOCK_MONOTONIC, it returns the value that jiffies had at boot.
 * If boot was more than LONG_MAX jiffies ago, it returns the present jiffies + LONG_MIN.
 *
 * Context: any but NMI. Takes no lock on 64-bit.
 * Return: the value of jiffies at the timer's expiration, or one more.
 */
static inline unsigned long hwheel_expires_jiffies(const struct hwheel_timer *timer)
{
	ktime_t left = hwheel_remaining(timer);
	s64 n = div_s64(left, TICK_NSEC);

	if (n * TICK_NSEC < left)
		n++;
	return jiffies + (unsigned long)clamp(n, (s64)LONG_MIN, (s64)LONG_MAX);
}

/**
 * hwheel_set_jiffies - set the time of a timer, in jiffies, and do not arm it
 * @timer: the timer, set up. It must not be pending, and nobody else may use it meanwhile
 * @when: the value of jiffies. If it has passed, the time is now
 *
 * Use it where a driver sets timer->expires at one place and calls add_timer() at another.
 * hwheel_add_at(timer, hwheel_expires(timer), 0) then arms the timer for this time.
 *
 * If the timer is pending, this warns once, and the timer keeps its time.
 *
 * Context: any but NMI. Takes no lock on 64-bit.
 */
static inline void hwheel_set_jiffies(struct hwheel_timer *timer, unsigned long when)
{
	ktime_t now = hwheel_expires(timer) - hwheel_remaining(timer);

	if (WARN_ONCE(hwheel_pending(timer),
		      "hwheel: timer with callback %ps is pending, its time can't be set\n",
		      timer->function))
		return;
	WRITE_ONCE(timer->expires, now + min(hwheel_until_jiffies(when), KTIME_MAX - now));
}

/**
 * hwheel_no_callback - the callback of a timer that has none yet
 * @timer: the timer
 *
 * Pass it to hwheel_setup() where timer_setup() had NULL, and give the timer its callback with
 * hwheel_set_callback() before you arm it. If the timer expires without one, this warns once.
 */
static inline void hwheel_no_callback(struct hwheel_timer *timer)
{
	WARN_ONCE(1, "hwheel: a timer was armed before hwheel_set_callback()\n");
}

/**
 * hwheel_set_callback - give a timer another callback
 * @timer: the timer, set up. It must not be pending, and nobody else may arm it meanwhile
 * @callback: runs when the timer expires from now on
 *
 * Use it instead of an assignment to timer->function. If the timer is pending, this warns once,
 * and the timer keeps its callback.
 *
 * Context: any but NMI. Takes no lock.
 */
static inline void hwheel_set_callback(struct hwheel_timer *timer,
				       void (*callback)(struct hwheel_timer *timer))
{
	if (WARN_ONCE(hwheel_pending(timer),
		      "hwheel: timer with callback %ps is pending, it can't get callback %ps\n",
		      timer->function, callback))
		return;
	timer->function = callback;
}

/**
 * hwheel_has_callback - does a timer have this callback?
 * @timer: the timer
 * @callback: the callback
 *
 * Use it instead of a comparison with timer->function.
 *
 * Return: true if @callback runs when @timer expires.
 */
static inline bool hwheel_has_callback(const struct hwheel_timer *timer,
				       void (*callback)(struct hwheel_timer *timer))
{
	return timer->function == callback;
}

/**
 * hwheel_is_set_up - was a timer set up?
 * @timer: the timer. Its memory must be all zeroes until it is set up
 *
 * Use it instead of timer->function. Check this before you cancel a timer that may not be
 * set up: hwheel_cancel_sync() warns of such a timer.
 *
 * Return: true if @timer was set up.
 */
static inline bool hwheel_is_set_up(const struct hwheel_timer *timer)
{
	return timer->function;
}

#endif /* _HWHEEL_JIFFIES_H */
