/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the kernel's header of this name that the drivers here use */
#ifndef _LINUX_HRTIMER_H
#define _LINUX_HRTIMER_H

#include <linux/timer.h>

#define CLOCK_REALTIME	0
#define CLOCK_MONOTONIC	1
#define CLOCK_TAI	11
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L

typedef long long ktime_t;

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS,
	HRTIMER_MODE_REL,
	HRTIMER_MODE_ABS_PINNED,
	HRTIMER_MODE_REL_SOFT,
	HRTIMER_MODE_ABS_SOFT,
	HRTIMER_MODE_ABS_PINNED_SOFT,
	HRTIMER_MODE_REL_HARD,
};

struct hrtimer {
	enum hrtimer_restart	(*function)(struct hrtimer *timer);
};

struct hrtimer_sleeper {
	struct hrtimer	timer;
	void		*task;
};

void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *timer),
		   int clock, enum hrtimer_mode mode);
void hrtimer_setup_on_stack(struct hrtimer *timer,
			    enum hrtimer_restart (*function)(struct hrtimer *timer),
			    int clock, enum hrtimer_mode mode);
void hrtimer_init(struct hrtimer *timer, int clock, enum hrtimer_mode mode);
void hrtimer_init_on_stack(struct hrtimer *timer, int clock, enum hrtimer_mode mode);
void destroy_hrtimer_on_stack(struct hrtimer *timer);
void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode);
void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t time, u64 slack,
			    enum hrtimer_mode mode);
void hrtimer_start_expires(struct hrtimer *timer, enum hrtimer_mode mode);
void hrtimer_restart(struct hrtimer *timer);
void hrtimer_set_expires(struct hrtimer *timer, ktime_t time);
void hrtimer_add_expires(struct hrtimer *timer, ktime_t time);
void hrtimer_add_expires_ns(struct hrtimer *timer, u64 ns);
u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval);
u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval);
int hrtimer_cancel(struct hrtimer *timer);
int hrtimer_try_to_cancel(struct hrtimer *timer);
bool hrtimer_active(const struct hrtimer *timer);
bool hrtimer_is_queued(struct hrtimer *timer);
ktime_t hrtimer_get_expires(const struct hrtimer *timer);
ktime_t hrtimer_get_expires_ns(const struct hrtimer *timer);
ktime_t hrtimer_get_remaining(const struct hrtimer *timer);
ktime_t hrtimer_cb_get_time(const struct hrtimer *timer);
ktime_t ktime_get(void);
ktime_t ktime_add(ktime_t a, ktime_t b);
ktime_t ktime_sub(ktime_t a, ktime_t b);
ktime_t ms_to_ktime(u64 ms);
ktime_t us_to_ktime(u64 us);
ktime_t ns_to_ktime(u64 ns);

#endif /* _LINUX_HRTIMER_H */
