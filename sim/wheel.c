// SPDX-License-Identifier: GPL-2.0
/*
 * This file includes hwheel.c, and lets the oracle read some members of its structures.
 * These reads take no simulated time, and race.c does not see them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hwheel.c"
#include "wheel.h"

#define peek	__attribute__((no_sanitize("thread")))

peek int peek_base_cpu(const struct hwheel_base *base)
{
	return base->cpu;
}

peek int peek_timer_cpu(const struct hwheel_timer *timer)
{
	return timer->base > __HWHEEL_SYSTEM_BASE ? timer->base->cpu : -1;
}

peek struct hwheel *peek_wheel(struct hrtimer *timer, int *cpu)
{
	struct hwheel_base *base = container_of(timer, struct hwheel_base, hrtimer);

	*cpu = base->cpu;
	return base->wheel;
}

peek const char *peek_check(struct hwheel *wheel, int cpu)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
	unsigned long long time = sim_time, horizon = sim_horizon;
	const char *wrong;

	if (base->lock.owner)
		return NULL;
	sim_horizon = SIM_NEVER;
	sim_may_race(1);
	wrong = levels_check(&base->levels);
	sim_may_race(-1);
	sim_time = time;
	sim_horizon = horizon;
	return wrong;
}

peek bool peek_armed(struct hwheel *wheel, int cpu, ktime_t *expires)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	*expires = base->hrtimer.__expires;
	return base->hrtimer.__queued;
}

/* Is anything under way or queued on a base, apart from its hrtimer? */
peek bool peek_busy_but_running(struct hwheel *wheel, int cpu)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	return base->lock.owner || base->work.pending || base->work.worker ||
	       base->kick.locked || base->grow.worker || base->grow.pending || base->want.busy;
}

/* The same, or is its hrtimer's callback running? */
peek bool peek_busy(struct hwheel *wheel, int cpu)
{
	return peek_busy_but_running(wheel, cpu) ||
	       per_cpu_ptr(wheel->bases, cpu)->hrtimer.__running;
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

/* Are there fewer fans than there should be? */
peek bool peek_starved(struct hwheel *wheel, int cpu)
{
	const struct hwheel_levels *levels = &per_cpu_ptr(wheel->bases, cpu)->levels;

	return levels->starved || levels->fans < levels->fans_wanted;
}

peek ktime_t peek_expires(const struct hwheel_timer *timer)
{
	return timer->expires;
}

peek bool peek_queued(const struct hwheel_timer *timer)
{
	return timer->entry.next;
}

extern const struct sim_param __start_sim_params[], __stop_sim_params[];

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
