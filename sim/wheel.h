/* SPDX-License-Identifier: GPL-2.0 */
/* What the oracle reads of hwheel.c, apart from its API */
#ifndef _SIM_WHEEL_H
#define _SIM_WHEEL_H

#include "kernel.h"
#include "hwheel.h"

int peek_base_cpu(const struct hwheel_base *base);
int peek_timer_cpu(const struct hwheel_timer *timer);	/* or -1 */
struct hwheel *peek_wheel(struct hrtimer *timer, int *cpu);
const char *peek_check(struct hwheel *wheel, int cpu);
bool peek_armed(struct hwheel *wheel, int cpu, ktime_t *expires);
bool peek_busy(struct hwheel *wheel, int cpu);
bool peek_busy_but_running(struct hwheel *wheel, int cpu);
u64 peek_cascaded(raw_spinlock_t *lock);
u64 peek_spent(struct hwheel *wheel, int cpu);
bool peek_starved(struct hwheel *wheel, int cpu);
ktime_t peek_expires(const struct hwheel_timer *timer);
bool peek_queued(const struct hwheel_timer *timer);

#endif /* _SIM_WHEEL_H */
