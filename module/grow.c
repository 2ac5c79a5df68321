// SPDX-License-Identifier: GPL-2.0
/*
 * Levels and fans on demand
 *
 * A base begins with a parking lot and without levels. A timer that needs a missing level
 * is parked. hwheel_want() then queues the work that allocates the level, on an unbound
 * workqueue, whose workers keep off isolated CPUs. If there is no memory, everything works from
 * the parking lot, and the work tries again each second while timers are pending. The same work
 * allocates fans for crowds, in four rows, each of which is one allocation. Levels and fans stay
 * until the wheel is destroyed.
 */

/*
 * With the base locked, in any context: ask for hwheel_grow(). A timer is parked for lack of a
 * level, or a crowd may need fans.
 */
static void hwheel_want(struct hwheel_levels *levels)
{
	struct hwheel_base *base = container_of(levels, struct hwheel_base, levels);

	/* If the work is pending, perhaps for its next try, its function will see what is wanted */
	if (!base->closing)
		queue_delayed_work(system_dfl_wq, &base->grow, 0);
}

/* Add row @i to @base. Returns false if there is no memory. */
static bool hwheel_add_row(struct hwheel_base *base, unsigned int i)
{
	void *memory = kvzalloc_node(levels_size(&base->levels, i), GFP_KERNEL | __GFP_NOWARN,
				     cpu_to_node(base->cpu));
	struct hwheel_spoke *spokes = memory ? level_init(&base->levels, i, memory) : NULL;

	raw_spin_lock_irq(&base->lock);
	if (spokes) {
		levels_grow(&base->levels, i, spokes);
		base->count[HWHEEL_LEVELS_ADDED] += i < HWHEEL_LOT;
	}
	raw_spin_unlock_irq(&base->lock);
	return memory;
}

/*
 * Add the levels and fans that are wanted. If there is no memory, try again each second, as
 * long as timers are pending: a crowd may need fans, and perhaps nothing asks for fans again
 * before the crowd is due.
 */
static void hwheel_grow(struct work_struct *work)
{
	struct hwheel_base *base = container_of(to_delayed_work(work), struct hwheel_base, grow);
	struct hwheel_levels *levels = &base->levels;
	u32 failed = 0, missing;

	while ((missing = levels_missing(levels) & ~failed)) {
		if (!hwheel_add_row(base, __ffs64(missing)))
			failed |= missing & -missing;
		cond_resched();
	}
	raw_spin_lock_irq(&base->lock);
	hwheel_arm_next(base);
	if (failed && levels->pending && !base->closing)
		queue_delayed_work(system_dfl_wq, &base->grow, HZ);
	else
		WRITE_ONCE(levels->wanted, levels->wanted & ~failed);	/* until it is asked for */
	raw_spin_unlock_irq(&base->lock);
}
