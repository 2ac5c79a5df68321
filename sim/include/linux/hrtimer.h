/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_HRTIMER_H
#define _SIM_LINUX_HRTIMER_H

#include <linux/ktime.h>
#include <linux/list.h>

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS_PINNED_SOFT,
	HRTIMER_MODE_ABS_PINNED_HARD,
};

struct hrtimer {
	enum hrtimer_restart	(*__function)(struct hrtimer *timer);
	ktime_t			__expires;
	clockid_t		__clock;
	bool			__soft;
	bool			__deferrable;	/* it is part of a timer_list timer */
	u64			__defer;	/* an idle CPU runs it so many ns late */
	struct sim_cpu		*__queued;	/* the CPU that it is queued on; or NULL */
	struct sim_cpu		*__running;	/* the CPU that runs its callback; or NULL */
	struct list_head	__entry;
};

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *timer, ktime_t expires, enum hrtimer_mode mode);
int hrtimer_try_to_cancel(struct hrtimer *timer);
int hrtimer_cancel(struct hrtimer *timer);

#endif /* _SIM_LINUX_HRTIMER_H */
