// SPDX-License-Identifier: GPL-2.0
/*
 * This file includes hwheel.c, and lets the oracle read some members of its structures.
 * These reads take no simulated time, and race.c does not see them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "module/levels.h"
#include "kernel.h"

/* The oracle counts the steps of walks */
#define levels_walk_next(levels)	(oracle_walk(), levels_walk_next(levels))

/* A wheel is freed: the oracle must not look at it any more */
#define free_percpu(bases)		oracle_free(wheel, bases)

#undef pr_fmt			/* hwheel.c defines it */
#include "hwheel.c"
#undef free_percpu
#include "hwheel_jiffies.h"
#include "wheel.h"

#define peek	__attribute__((no_sanitize("thread")))

peek int peek_base_cpu(const struct hwheel_base *base)
{
	return base->cpu;
}

peek struct hwheel *peek_base_wheel(const struct hwheel_base *base)
{
	return base->wheel;
}

peek struct hwheel *peek_lock_wheel(raw_spinlock_t *lock, int *cpu)
{
	struct hwheel_base *base = container_of(lock, struct hwheel_base, lock);

	*cpu = base->cpu;
	return base->wheel;
}

peek int peek_timer_cpu(const struct hwheel_timer *timer)
{
	return timer->base > __HWHEEL_SYSTEM_BASE ? timer->base->cpu : -1;
}

peek bool peek_waiters(const struct hwheel_timer *timer)
{
	return timer->base > __HWHEEL_SYSTEM_BASE && timer->base->waiters;
}

peek struct hwheel *peek_wheel(struct hrtimer *timer, int *cpu)
{
	struct hwheel_base *base = timer->__deferrable ?
		container_of(timer, struct hwheel_base, entry.__hrtimer) :
		container_of(timer, struct hwheel_base, hrtimer);

	*cpu = base->cpu;
	return base->wheel;
}

static peek const struct hrtimer *hrtimer_of(const struct hwheel_base *base)
{
	return base->wheel->flags & HWHEEL_DEFERRABLE ? &base->entry.__hrtimer : &base->hrtimer;
}

peek bool peek_locked(const struct hwheel_base *base)
{
	return base->lock.owner == sim_cpu;
}

/*
 * What @look says of the levels of @base. No time passes, so no other CPU can change them
 * meanwhile. If a CPU is changing them just now: @unknown
 */
#define at_once(base, unknown, look)						\
({										\
	unsigned long long __time = sim_time, __horizon = sim_horizon;		\
	typeof(look) __answer = unknown;					\
										\
	if (!(base)->lock.owner) {						\
		sim_horizon = SIM_NEVER;					\
		sim_may_race(1);						\
		__answer = look;						\
		sim_may_race(-1);						\
		sim_time = __time;						\
		sim_horizon = __horizon;					\
	}									\
	__answer;								\
})

peek const char *peek_check(struct hwheel *wheel, int cpu)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	return at_once(base, NULL, levels_check(&base->levels));
}

peek bool peek_armed(struct hwheel *wheel, int cpu, ktime_t *expires)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	*expires = hrtimer_of(base)->__deferrable ? base->expires : base->hrtimer.__expires;
	return hrtimer_of(base)->__queued;
}

/* Is anything under way or queued on a base, apart from its hrtimer? */
peek bool peek_busy_but_running(struct hwheel *wheel, int cpu)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	return base->lock.owner || sim_work_busy(&base->work) || base->kick.locked ||
	       sim_work_busy(&base->grow.work);
}

/* The same, or is its hrtimer's callback running? */
peek bool peek_busy(struct hwheel *wheel, int cpu)
{
	return peek_busy_but_running(wheel, cpu) ||
	       hrtimer_of(per_cpu_ptr(wheel->bases, cpu))->__running;
}

peek u64 peek_pending(struct hwheel *wheel, int cpu)
{
	return per_cpu_ptr(wheel->bases, cpu)->levels.pending;
}

peek u64 peek_cascaded(raw_spinlock_t *lock)
{
	return container_of(lock, struct hwheel_base, lock)->levels.moved;
}

/* base->spent. hwheel resets it before a break. The oracle keeps a sum of its own. */
peek u64 peek_spent(struct hwheel *wheel, int cpu)
{
	return per_cpu_ptr(wheel->bases, cpu)->spent;
}

peek const char *peek_at_rest(struct hwheel *wheel)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		if (peek_busy(wheel, cpu))
			continue;
		if (base->waiters)
			return "waiters";
		if (base->kicks)
			return "kicks";
		if (base->running)
			return "a callback that runs";
		if (base->levels.walk || base->levels.walked)
			return "a walk";
		if (!base->levels.pending && base->armed != HWHEEL_NEVER &&
		    !hrtimer_of(base)->__queued)
			return "an armed base";
	}
	return NULL;
}

/* After the clock was set: has the base still the old offset, or a closed level? */
peek bool peek_setting(struct hwheel *wheel, int cpu)
{
	const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	return wheel->clock->ahead && (hwheel_set_work.busy || base->levels.closed ||
	       base->offset != (wheel->clock == &hwheel_tai ? hwheel_offsets.tai :
				hwheel_offsets.real));
}

/* The wheel's clock minus the drive's clock, as the base knows it */
peek ktime_t peek_offset(struct hwheel *wheel, int cpu)
{
	return per_cpu_ptr(wheel->bases, cpu)->offset;
}

peek bool peek_break(struct hwheel *wheel, int cpu, ktime_t now)
{
	const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	return base->fire_from > now && base->fire_from == base->move_from;
}

peek bool peek_ripe(struct hwheel *wheel, int cpu, ktime_t now)
{
	const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
	struct hwheel_levels copy = base->levels;

	return at_once(base, true, levels_due_tick(&copy) <= levels_tick_down(&copy, now));
}

/* How many ticks late may a run begin? Crowds are sifted earlier by this */
peek u64 peek_ahead(struct hwheel *wheel, int cpu)
{
	return per_cpu_ptr(wheel->bases, cpu)->levels.ahead;
}

/* Is anything left to do at @now? */
peek bool peek_left(struct hwheel *wheel, int cpu, ktime_t now)
{
	const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
	struct hwheel_levels copy = base->levels;

	copy.want = NULL;
	return at_once(base, false, levels_wake(&copy) <= levels_tick_down(&copy, now));
}

peek ktime_t peek_rest(struct hwheel *wheel, int cpu)
{
	const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	return base->move_from == base->fire_from ? 0 : base->move_from;
}

/*
 * May a crowd have to move when it is due? There was no memory for fans, or all fans are in use; or
 * there was no memory for the level of a crowd that is parked.
 */
peek bool peek_starved(struct hwheel *wheel, int cpu)
{
	const struct hwheel_levels *levels = &per_cpu_ptr(wheel->bases, cpu)->levels;
	u32 missing = levels->wanted & ~levels->exist;

	if (levels->crowded & BIT(HWHEEL_LOT) && missing & (BIT(HWHEEL_LOT) - 1))
		return true;
	return missing >> HWHEEL_FANS ||
	       (!levels->fans_free && levels->exist & BIT(HWHEEL_ROWS - 1));
}

/* Is there a crowd to be sifted, so that hwheel must ask for fans until it has enough? */
peek bool peek_wants_fans(struct hwheel *wheel, int cpu)
{
	const struct hwheel_levels *levels = &per_cpu_ptr(wheel->bases, cpu)->levels;
	u64 crowds = 0;
	int i;

	for (i = 0; i < HWHEEL_ROWS; i++)
		if (i != HWHEEL_LOT)
			crowds |= levels->level[i].summary[HWHEEL_CROWDS];
	return crowds && !levels->fans_free && !(levels->exist & BIT(HWHEEL_ROWS - 1));
}

/* How many rows of fans exist */
peek unsigned int peek_fans(struct hwheel *wheel, int cpu)
{
	return hweight64(per_cpu_ptr(wheel->bases, cpu)->levels.exist >> HWHEEL_FANS);
}

/* Is hwheel_destroy() under way? Then kicks of @cpu do nothing. */
peek bool peek_closing(struct hwheel *wheel, int cpu)
{
	return per_cpu_ptr(wheel->bases, cpu)->closing;
}

/* Is @timer the one whose callback its base runs? */
peek bool peek_running(const struct hwheel_timer *timer)
{
	return timer->base->running == timer;
}

/* The lock of delayed work */
raw_spinlock_t *peek_work_lock(const struct hwheel_delayed_work *dwork)
{
	return hwheel_work_lock(dwork);
}

void *peek_wake_sleeper(void)
{
	return hwheel_wake_sleeper;
}

peek ktime_t peek_expires(const struct hwheel_timer *timer)
{
	return timer->expires;
}

peek bool peek_queued(const struct hwheel_timer *timer)
{
	return timer->entry.next;
}

unsigned int peek_levels(struct hwheel *wheel)
{
	return wheel->geometry.levels;
}

unsigned int peek_spokes(struct hwheel *wheel, unsigned int level)
{
	return wheel->geometry.spokes[level];
}

peek u64 peek_clock(struct hwheel *wheel, int cpu)
{
	return per_cpu_ptr(wheel->bases, cpu)->levels.clock;
}

int peek_counters(void)
{
	return HWHEEL_COUNTERS;
}

peek u64 peek_moves(struct hwheel *wheel)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		sum += base->levels.moved + base->levels.exist +
		       base->levels.clock + base->count[HWHEEL_ADDED] +
		       base->count[HWHEEL_REARMED] + base->count[HWHEEL_CANCELLED] +
		       base->count[HWHEEL_EXPIRED_TIMERS] + base->count[HWHEEL_MIGRATED];
	}
	return sum;
}

/* The number of rows of a CPU in the file levels. An offline CPU without timers has no row. */
peek unsigned int peek_levels_shown(struct hwheel *wheel, int cpu)
{
	struct hwheel_levels *levels = &per_cpu_ptr(wheel->bases, cpu)->levels;
	unsigned int i, n = 0;

	if (!cpu_online(cpu) && !levels->pending)
		return 0;
	for (i = 0; i < HWHEEL_ROWS; i++)
		n += i < HWHEEL_LOT ? !!levels->level[i].spokes :
				      !!levels->level[i].summary[HWHEEL_OCCUPIED];
	return n;
}

/* Bytes on the CPU that has most, from the sizes of its allocations */
peek size_t peek_bytes(struct hwheel *wheel)
{
	size_t most = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		size_t bytes = sizeof(*base);
		unsigned int i;

		for (i = 0; i < ARRAY_SIZE(base->levels.level); i++)
			bytes += sim_allocated(base->levels.level[i].spokes);
		most = bytes > most ? bytes : most;
	}
	return most;
}

ktime_t sim_hwheel_jiffies(long n)
{
	return hwheel_jiffies(n);
}

ktime_t sim_hwheel_until_jiffies(unsigned long when)
{
	return hwheel_until_jiffies(when);
}

unsigned long sim_hwheel_expires_jiffies(const struct hwheel_timer *timer)
{
	return hwheel_expires_jiffies(timer);
}

void sim_hwheel_set_jiffies(struct hwheel_timer *timer, unsigned long when)
{
	hwheel_set_jiffies(timer, when);
}

void sim_hwheel_no_callback(struct hwheel_timer *timer)
{
	hwheel_no_callback(timer);
}

void sim_hwheel_set_callback(struct hwheel_timer *timer,
			     void (*callback)(struct hwheel_timer *timer))
{
	hwheel_set_callback(timer, callback);
}

bool sim_hwheel_has_callback(const struct hwheel_timer *timer,
			     void (*callback)(struct hwheel_timer *timer))
{
	return hwheel_has_callback(timer, callback);
}

extern const struct sim_param __start_sim_params[], __stop_sim_params[];

/* Returns whether there is such a parameter. */
bool sim_set_param(const char *name, unsigned int i, const char *value)
{
	const struct sim_param *param;

	for (param = __start_sim_params; param < __stop_sim_params; param++) {
		if (strcmp(param->name, name) || i >= param->nr)
			continue;
		if (param->type == sim_charp)
			*(const char **)param->var = value;
		else if (param->type == sim_ullong)
			*(unsigned long long *)param->var = strtoull(value, NULL, 0);
		else
			((unsigned int *)param->var)[i] = strtoul(value, NULL, 0);
		return true;
	}
	return false;
}
