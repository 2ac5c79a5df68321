// SPDX-License-Identifier: GPL-2.0
/*
 * Life and death of a wheel
 *
 * hwheel_destroy() takes a wheel off hwheel_wheels, so neither CPU hotplug nor a clock that is set
 * finds it any more. Then it sweeps twice over the bases (hwheel_stop()). The first sweep marks all
 * bases as closing. From then on nothing is armed, and no hrtimer, work, kick or move to another
 * CPU begins, except for a kick by hwheel_grow(). So the second sweep waits for what is under way,
 * and for kicks last. Only the wheel's own callbacks may use its timers meanwhile. When the sweep
 * has ended, no callback is left, and the wheel is freed.
 */

static void hwheel_free(struct hwheel *wheel)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; wheel->bases && i < HWHEEL_ROWS; i++)
			kvfree(per_cpu_ptr(wheel->bases, cpu)->levels.level[i].spokes);
	free_percpu(wheel->bases);
	lockdep_unregister_key(&wheel->key);
	kfree(wheel);
}

/* Set up the base of @wheel, which is all zeroes, on @cpu. */
static int hwheel_init_base(struct hwheel *wheel, int cpu)
{
	static enum hrtimer_restart (*const run[])(struct hrtimer *) = {
		[HWHEEL_SOFTIRQ] = hwheel_run_softirq,
		[HWHEEL_HARDIRQ] = hwheel_run_hardirq,
		[HWHEEL_WORK]	 = hwheel_hrtimer_work,
	};
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
	void *memory = kvzalloc_node(HWHEEL_LOT_SIZE, GFP_KERNEL, cpu_to_node(cpu));
	u64 late;

	if (!memory)
		return -ENOMEM;
	raw_spin_lock_init(&base->lock);
	base->cpu = cpu;
	base->wheel = wheel;
	base->monotonic = wheel->clock == &hwheel_monotonic;
	base->armed = HWHEEL_NEVER;
	base->set = S64_MIN;
	levels_init(&base->levels, &wheel->geometry, memory, 0);
	base->levels.want = hwheel_want;
	/* A run may begin this long after its timers are due */
	late = wheel->gap_ns + (wheel->alarm ? wheel->alarm->late_ns : 0);
	if (late)
		base->levels.ahead = levels_tick_up(&base->levels, late);
	INIT_CSD(&base->kick, hwheel_kick, base);
	INIT_WORK(&base->work, hwheel_run_work);
	INIT_DELAYED_WORK(&base->grow, hwheel_grow);
	init_waitqueue_head(&base->wait);
	hwheel_init_expiry_lock(base);
	if (wheel->alarm)
		wheel->alarm->init(base);
	else
		hrtimer_setup(&base->hrtimer, run[wheel->context], wheel->clock->drive,
			      wheel->context == HWHEEL_HARDIRQ ? HRTIMER_MODE_ABS_PINNED_HARD :
								 HRTIMER_MODE_ABS_PINNED_SOFT);
	return 0;
}

/* Fill in the defaults that @config asks for. */
static void hwheel_plan(struct hwheel_geometry *geometry,
			const struct hwheel_config *config)
{
	unsigned int i, spokes = HWHEEL_SPOKES;

	geometry->tick_ns = config->tick_ns ?: HWHEEL_TICK_NS;
	geometry->levels = config->levels ?: HWHEEL_LEVELS;
	for (i = 0; i < HWHEEL_MAX_LEVELS; i++) {
		spokes = config->spokes[i] ?: spokes;
		geometry->spokes[i] = spokes;
	}
	while (!config->levels && geometry->levels > 1 && !hwheel_geometry_fits(geometry))
		geometry->levels--;
}

/* What is wrong with @config, which asks for @geometry? NULL if nothing is. */
static const char *hwheel_config_fault(const struct hwheel_config *config,
				       const struct hwheel_geometry *geometry)
{
	const char *name = config->name, *fault = hwheel_geometry_fault(geometry);
	const unsigned int flags = config->flags, clocks = flags & HWHEEL_CLOCKS;

	if (!name || !*name || strnlen(name, HWHEEL_NAME_MAX + 1) > HWHEEL_NAME_MAX ||
	    strpbrk(name, "/\n") || !strcmp(name, ".") || !strcmp(name, ".."))
		return "a name is 1 to 31 characters without a '/' or a newline";
	if (fault)
		return fault;
	if ((unsigned int)config->context > HWHEEL_WORK)
		return "there is no such context";
	if (flags & ~(HWHEEL_DEFERRABLE | HWHEEL_CLOCKS))
		return "hwheel.h has no such flags of a wheel";
	if (clocks & (clocks - 1))	/* more than one bit */
		return "ask for one of HWHEEL_BOOTTIME, HWHEEL_REALTIME and HWHEEL_TAI";
	if (config->clock_set && !(flags & HWHEEL_WALL))
		return "clock_set, but nobody sets its clock: see HWHEEL_REALTIME";
	if (config->wq && config->context != HWHEEL_WORK)
		return "a workqueue is only allowed with HWHEEL_WORK";
	/* An entry of timer_list runs in softirq context, and jiffies stop during a suspend */
	if (flags & HWHEEL_DEFERRABLE &&
	    (config->context == HWHEEL_HARDIRQ || flags & HWHEEL_BOOTTIME))
		return "HWHEEL_DEFERRABLE goes with neither HWHEEL_HARDIRQ nor HWHEEL_BOOTTIME";
	if (config->gap_ns > HWHEEL_MAX_GAP_NS)
		return "gap_ns is more than a second";
	return NULL;
}

/* Add @wheel to hwheel_wheels. Everything else is ready. False if another wheel has its name. */
static bool hwheel_open(struct hwheel *wheel)
{
	struct hwheel *other;
	bool taken = false;
	int cpu;

	cpus_read_lock();
	mutex_lock(&hwheel_mutex);
	list_for_each_entry(other, &hwheel_wheels, list) {
		if (!strcmp(other->name, wheel->name)) {
			taken = true;
			goto out;
		}
	}
	raw_spin_lock_irq(&hwheel_wheels_lock);
	list_add_tail(&wheel->list, &hwheel_wheels);
	raw_spin_unlock_irq(&hwheel_wheels_lock);
	/* Only now: if somebody sets the clock from here on, hwheel_all_set() finds the wheel */
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		raw_spin_lock_irq(&base->lock);
		levels_set_clock(&base->levels, hwheel_tick_down(base, hwheel_time(base)));
		base->set = S64_MIN;
		raw_spin_unlock_irq(&base->lock);
	}
	hwheel_each_part(open, wheel);
out:
	mutex_unlock(&hwheel_mutex);
	cpus_read_unlock();
	return !taken;
}

/**
 * hwheel_create - make a wheel
 * @config: its configuration, which is not used after the call
 *
 * A wheel takes about 6 KiB on each possible CPU.
 * Each level that timers need on a CPU takes another 64 bytes per spoke. On
 * failure a line in the kernel log says what is wrong.
 *
 * Context: task; sleeps. Not in a callback of CPU hotplug: hwheel_create() waits for the end of
 * the hotplug.
 * Return:
 * * the wheel
 * * ERR_PTR(-EINVAL) - name, geometry, context, wq, flags, gap or clock_set are not allowed
 * * ERR_PTR(-EEXIST) - a wheel has that name
 * * ERR_PTR(-ENOMEM) - out of memory
 * * ERR_PTR(-EOPNOTSUPP) - hwheel was built without wall time or deferrable wheels
 */
struct hwheel *hwheel_create(const struct hwheel_config *config)
{
	struct hwheel_geometry geometry;
	struct hwheel *wheel;
	int cpu, err = -EINVAL;
	const char *fault;

	hwheel_plan(&geometry, config);
	fault = hwheel_config_fault(config, &geometry);
	if (fault)
		goto err_config;

	err = -ENOMEM;
	fault = "out of memory";
	wheel = kzalloc(sizeof(*wheel), GFP_KERNEL);
	if (!wheel)
		goto err_config;
	strscpy(wheel->name, config->name, sizeof(wheel->name));
	lockdep_register_key(&wheel->key);
	lockdep_init_map(&wheel->lockdep_map, wheel->name, &wheel->key, 0);
	wheel->geometry = geometry;
	wheel->context = config->context;
	wheel->flags = config->flags;
	wheel->wq = config->wq ?: system_percpu_wq;
	wheel->budget_ns = min_t(u64, config->budget_ns, S64_MAX) ?:
			   wheel->context == HWHEEL_HARDIRQ ? HWHEEL_HARDIRQ_BUDGET_NS :
							      HWHEEL_BUDGET_NS;
	wheel->gap_ns = config->gap_ns;
	wheel->clock = config->flags & HWHEEL_BOOTTIME ? &hwheel_boottime : &hwheel_monotonic;
	/* A part may choose another clock, and what wakes the bases */
	hwheel_each_part(create, wheel, config);
	wheel->bases = alloc_percpu(struct hwheel_base);
	if (!wheel->bases)
		goto err_wheel;
	for_each_possible_cpu(cpu)
		if (hwheel_init_base(wheel, cpu))
			goto err_wheel;

	err = -EOPNOTSUPP;
	fault = "hwheel was built without CONFIG_HWHEEL_WALL_TIME or CONFIG_HWHEEL_DEFERRABLE";
	if (!(config->flags & HWHEEL_WALL) != !wheel->clock->ahead ||
	    !(config->flags & HWHEEL_DEFERRABLE) != !wheel->alarm)
		goto err_wheel;
	err = -EEXIST;
	fault = "there is one with that name already";
	if (hwheel_open(wheel))
		return wheel;

err_wheel:
	hwheel_free(wheel);
err_config:
	pr_err("wheel \"%.40s\": %s\n", config->name ?: "", fault);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(hwheel_create);

static void hwheel_close_base(struct hwheel_base *base)
{
	raw_spin_lock_irq(&base->lock);
	WRITE_ONCE(base->closing, true);
	raw_spin_unlock_irq(&base->lock);
}

/* @base is closing: wait until all that is under way for it has ended. */
static void hwheel_stop_base(struct hwheel_base *base)
{
	unsigned int kicks;

	if (base->wheel->alarm)
		base->wheel->alarm->stop(base);
	else
		hrtimer_cancel(&base->hrtimer);
	cancel_work_sync(&base->work);
	cancel_delayed_work_sync(&base->grow);
	for (;;) {
		/* The handler of a kick holds the lock to its end */
		raw_spin_lock_irq(&base->lock);
		kicks = base->kicks;
		raw_spin_unlock_irq(&base->lock);
		if (!kicks)
			return;
		msleep(20);
	}
}

/* Cancel all timers of @base, and set *@function to the callback of one of them. */
static u64 hwheel_drain_base(struct hwheel_base *base, void **function)
{
	struct hwheel_timer *timer;
	u64 n = 0;

	raw_spin_lock_irq(&base->lock);
	while ((timer = levels_any(&base->levels))) {
		*function = hwheel_named(timer);
		debug_hwheel(deactivate, timer);
		levels_del(&base->levels, timer);
		base->count[HWHEEL_CANCELLED]++;
		trace_hwheel_cancel(timer, NULL);
		if (!(++n % HWHEEL_BATCH)) {
			raw_spin_unlock_irq(&base->lock);
			cond_resched();
			raw_spin_lock_irq(&base->lock);
		}
	}
	raw_spin_unlock_irq(&base->lock);
	return n;
}

/* Stop @wheel. Nobody but its own callbacks may use its timers. */
static void hwheel_stop(struct hwheel *wheel)
{
	int cpu;

	hwheel_lockdep_wait(&wheel->lockdep_map, 0);
	hwheel_each_part(close, wheel);
	mutex_lock(&hwheel_mutex);
	raw_spin_lock_irq(&hwheel_wheels_lock);
	list_del(&wheel->list);
	raw_spin_unlock_irq(&hwheel_wheels_lock);
	mutex_unlock(&hwheel_mutex);
	for_each_possible_cpu(cpu)
		hwheel_close_base(per_cpu_ptr(wheel->bases, cpu));
	for_each_possible_cpu(cpu)
		hwheel_stop_base(per_cpu_ptr(wheel->bases, cpu));
	hwheel_each_part(destroy, wheel);
}

/**
 * hwheel_destroy - take a wheel down
 * @wheel: the wheel. If it is NULL or an ERR_PTR, nothing is done
 *
 * First shut down the wheel's timers. hwheel_destroy() cancels timers that
 * are still pending, with a warning that names the callback of one of them. It
 * waits for callbacks that are running.
 *
 * Nobody but the wheel's own callbacks may use its timers from then on. Arming then does nothing.
 * Afterwards you may set up the timers for another wheel. hwheel_pending() and hwheel_cancel()
 * return false until then; make no other call.
 *
 * hwheel_destroy() warns and does nothing for the module's own wheel.
 *
 * Context: task; sleeps. Not in a callback of the wheel.
 */
void hwheel_destroy(struct hwheel *wheel)
{
	void *function = NULL;
	u64 pending = 0;
	int cpu;

	if (IS_ERR_OR_NULL(wheel))
		return;
	if (hwheel_warn(wheel == hwheel_system,
			"hwheel: the module's own wheel can't be destroyed\n"))
		return;
	hwheel_stop(wheel);
	for_each_possible_cpu(cpu)
		pending += hwheel_drain_base(per_cpu_ptr(wheel->bases, cpu), &function);
	WARN(pending,
	     "hwheel: wheel \"%s\" destroyed with %llu timers pending, one with callback %ps\n",
	     wheel->name, pending, function);
	hwheel_free(wheel);
}
EXPORT_SYMBOL_GPL(hwheel_destroy);
