/* SPDX-License-Identifier: GPL-2.0 */
/* The internals of hwheel.c that the oracle reads */
#ifndef _SIM_WHEEL_H
#define _SIM_WHEEL_H

#include "kernel.h"
#include "hwheel.h"

int peek_base_cpu(const struct hwheel_base *base);
bool peek_setting(struct hwheel *wheel, int cpu);
struct hwheel *peek_base_wheel(const struct hwheel_base *base);
struct hwheel *peek_lock_wheel(raw_spinlock_t *lock, int *cpu);
bool peek_waiters(const struct hwheel_timer *timer);	/* the run cancels it for them */
int peek_timer_cpu(const struct hwheel_timer *timer);	/* or -1 */
struct hwheel *peek_wheel(struct hrtimer *timer, int *cpu);
bool peek_locked(const struct hwheel_base *base);	/* by this CPU? */
const char *peek_check(struct hwheel *wheel, int cpu);
bool peek_armed(struct hwheel *wheel, int cpu, ktime_t *expires);
bool peek_busy(struct hwheel *wheel, int cpu);
ktime_t peek_offset(struct hwheel *wheel, int cpu);
u64 peek_pending(struct hwheel *wheel, int cpu);
bool peek_busy_but_running(struct hwheel *wheel, int cpu);
u64 peek_cascaded(raw_spinlock_t *lock);
u64 peek_spent(struct hwheel *wheel, int cpu);
bool peek_break(struct hwheel *wheel, int cpu, ktime_t now);	/* is a break under way? */
u64 peek_ahead(struct hwheel *wheel, int cpu);
bool peek_left(struct hwheel *wheel, int cpu, ktime_t now);
bool peek_ripe(struct hwheel *wheel, int cpu, ktime_t now);	/* may a timer be due? */
ktime_t peek_rest(struct hwheel *wheel, int cpu);	/* the end of a rest, or long ago */
bool peek_starved(struct hwheel *wheel, int cpu);
bool peek_wants_fans(struct hwheel *wheel, int cpu);
unsigned int peek_fans(struct hwheel *wheel, int cpu);
bool peek_closing(struct hwheel *wheel, int cpu);
bool peek_running(const struct hwheel_timer *timer);
raw_spinlock_t *peek_work_lock(const struct hwheel_delayed_work *dwork);
void *peek_wake_sleeper(void);				/* the callback of sleepers' timers */
ktime_t peek_expires(const struct hwheel_timer *timer);
const char *peek_at_rest(struct hwheel *wheel);	/* NULL, or why @wheel is not at rest */
bool peek_queued(const struct hwheel_timer *timer);
unsigned int peek_levels(struct hwheel *wheel);		/* of its geometry */
unsigned int peek_spokes(struct hwheel *wheel, unsigned int level);
u64 peek_clock(struct hwheel *wheel, int cpu);		/* in ticks */
int peek_counters(void);				/* how many the file "stats" has */
u64 peek_moves(struct hwheel *wheel);			/* changes when spokes change */
unsigned int peek_levels_shown(struct hwheel *wheel, int cpu);
size_t peek_bytes(struct hwheel *wheel);

/* hwheel_jiffies.h */
ktime_t sim_hwheel_jiffies(long n);
ktime_t sim_hwheel_until_jiffies(unsigned long when);
unsigned long sim_hwheel_expires_jiffies(const struct hwheel_timer *timer);
void sim_hwheel_set_jiffies(struct hwheel_timer *timer, unsigned long when);
void sim_hwheel_no_callback(struct hwheel_timer *timer);
void sim_hwheel_set_callback(struct hwheel_timer *timer,
			     void (*callback)(struct hwheel_timer *timer));
bool sim_hwheel_has_callback(const struct hwheel_timer *timer,
			     void (*callback)(struct hwheel_timer *timer));

#endif /* _SIM_WHEEL_H */
