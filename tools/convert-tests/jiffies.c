// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the arithmetic of hwheel_jiffies.h in user space. convert.sh builds it
 * with empty kernel headers. A jiffy is 4 ms here. The test compares the results
 * with calculations in 128 bits.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

typedef long long s64, ktime_t;

#define KTIME_MAX	LLONG_MAX
#define TICK_NSEC	4000000L
#define div_s64(a, b)	((s64)(a) / (b))

struct hwheel_timer {
	ktime_t	expires, left;
	bool	pending;
	void	(*function)(struct hwheel_timer *timer);
};

static unsigned long jiffies;

static ktime_t min(ktime_t a, ktime_t b)
{
	return a < b ? a : b;
}

static s64 clamp(s64 value, s64 low, s64 high)
{
	return value < low ? low : value > high ? high : value;
}

static ktime_t hwheel_remaining(const struct hwheel_timer *timer)
{
	return timer->left;
}

static ktime_t hwheel_expires(const struct hwheel_timer *timer)
{
	return timer->expires;
}

static bool hwheel_pending(const struct hwheel_timer *timer)
{
	return timer->pending;
}

static int warned;

#define WRITE_ONCE(x, value)		((x) = (value))
#define WARN_ONCE(condition, ...)	((condition) ? ++warned : 0)

#define _HWHEEL_H
#include "hwheel_jiffies.h"

static int failed;

static void expect(const char *what, __int128 in, __int128 got, __int128 wanted)
{
	if (got == wanted)
		return;
	printf("%s of %lld at %lu: %lld, not %lld\n", what, (long long)in, jiffies,
	       (long long)got, (long long)wanted);
	failed = 1;
}

int main(void)
{
	static const long counts[] = {
		LONG_MIN, -1000000, -1, 0, 1, 2, 75, 250, 1073741, 1073742, 1080000,
		4294967296, LLONG_MAX / TICK_NSEC, LLONG_MAX / TICK_NSEC + 1, LONG_MAX,
	};
	static const unsigned long starts[] = { 0, 1, 4294892296, LONG_MAX, ULONG_MAX - 10, };
	static const s64 lefts[] = {
		LLONG_MIN, -TICK_NSEC - 1, -TICK_NSEC, -1, 0, 1, TICK_NSEC - 1, TICK_NSEC,
		TICK_NSEC + 1, 4294967296000, LLONG_MAX,
	};
	unsigned int i, j;

	for (j = 0; j < sizeof(starts) / sizeof(*starts); j++) {
		jiffies = starts[j];
		for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
			__int128 wanted = (__int128)counts[i] * TICK_NSEC;

			if (wanted < 0)
				wanted = 0;
			if (wanted > KTIME_MAX)
				wanted = KTIME_MAX;
			expect("hwheel_jiffies", counts[i], hwheel_jiffies(counts[i]), wanted);
			expect("hwheel_until_jiffies", counts[i],
			       hwheel_until_jiffies(jiffies + counts[i]), wanted);
		}
		for (i = 0; i < sizeof(lefts) / sizeof(*lefts); i++) {
			struct hwheel_timer timer = { .left = lefts[i] };
			long n = (long)(hwheel_expires_jiffies(&timer) - jiffies);

			/* It must be the first jiffy that is not before the expiration */
			expect("hwheel_expires_jiffies", lefts[i],
			       (__int128)n * TICK_NSEC >= lefts[i] &&
			       (__int128)(n - 1) * TICK_NSEC < lefts[i], 1);
		}
	}
	jiffies = starts[2];
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct hwheel_timer timer = { .expires = 7 * TICK_NSEC, .left = -TICK_NSEC };
		__int128 wanted = 8 * TICK_NSEC;	/* now */

		if (counts[i] > 0)
			wanted += (__int128)counts[i] * TICK_NSEC;
		if (wanted > KTIME_MAX)
			wanted = KTIME_MAX;
		hwheel_set_jiffies(&timer, jiffies + counts[i]);
		expect("hwheel_set_jiffies", counts[i], timer.expires, wanted);
		timer.pending = true;
		timer.expires = 5;
		hwheel_set_jiffies(&timer, jiffies + counts[i]);
		expect("hwheel_set_jiffies while pending", counts[i], timer.expires, 5);
		expect("warnings", counts[i], warned, i + 1);
	}
	for (i = 0; i < 2; i++) {
		struct hwheel_timer timer = { .function = i ? (void *)main : NULL };

		expect("hwheel_is_set_up", i, hwheel_is_set_up(&timer), i);
	}
	return failed;
}
