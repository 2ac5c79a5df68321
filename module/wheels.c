// SPDX-License-Identifier: GPL-2.0
/*
 * Life and death of a wheel
 *
 * A user may use a timer after its wheel was destroyed. That is a mistake, but the kernel
 * must not crash. So hwheel frees no wheel and no base while the module is loaded.
 * Destruction frees only their levels, and the next hwheel_create() uses the wheel again.
 *
 * Each life of a wheel has a number, which the wheel, its bases and its timers carry.
 * Arming compares timer->life with base->life under the lock. This one comparison refuses
 *
 *  - timers of wheels that are destroyed or being destroyed,
 *  - timers that were shut down: their number is 0.
 *
 * Destruction sweeps twice over the bases of a wheel (hwheel_stop()). The first sweep
 * marks all bases as closing. From then on nothing is armed, and no hrtimer, work,
 * irq_work or move to another CPU begins. So the second sweep can wait, in any order, for
 * runs and works that are under way. The wheel stays on hwheel_wheels until hwheel_retire(), but
 * CPU hotplug starts no hrtimer of a base that is closing.
 *
 * Destruction does not wait until another CPU has handled the wheel's kicks and irq_works: that
 * CPU may be isolated, or keep interrupts off. The handler of a late kick or irq_work takes
 * base->lock. If it finds HWHEEL_GONE, it does nothing. If the wheel is in its next life
 * already, the handler does no harm. Only the module's exit waits for these handlers.
 */

/* Free the levels and fans of @wheel. Nobody looks at their timers any more. */
static void hwheel_free_levels(struct hwheel *wheel)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		struct hwheel_levels *levels = &base->levels;

		for (i = 0; i < ARRAY_SIZE(levels->level); i++) {
			kvfree(levels->level[i].spokes);
			levels->level[i].spokes = NULL;
		}
	}
}

/* Set up the members that stay the same in all lives of @wheel. No life has begun yet. */
static void hwheel_init_base(struct hwheel *wheel, int cpu)
{
	struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

	raw_spin_lock_init(&base->lock);
	base->cpu = cpu;
	base->wheel = wheel;
	base->life = HWHEEL_GONE;
	INIT_CSD(&base->kick, hwheel_kick, base);
	INIT_WORK(&base->work, hwheel_run_work);
	INIT_WORK(&base->grow, hwheel_grow);
	base->want = IRQ_WORK_INIT_HARD(hwheel_queue_grow);
	init_waitqueue_head(&base->wait);
	hwheel_init_expiry_lock(base);
}

static struct hwheel *hwheel_alloc(void)
{
	struct hwheel *wheel = kzalloc(sizeof(*wheel), GFP_KERNEL);
	int cpu;

	if (!wheel)
		return NULL;
	wheel->bases = alloc_percpu_gfp(struct hwheel_base, GFP_KERNEL | __GFP_ZERO);
	if (!wheel->bases) {
		kfree(wheel);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		hwheel_init_base(wheel, cpu);
	mutex_lock(&hwheel_mutex);
	wheel->older = hwheel_newest;
	smp_store_release(&hwheel_newest, wheel);	/* pairs with hwheel_all_set() */
	mutex_unlock(&hwheel_mutex);
	return wheel;
}

/* Take a wheel for a new life: one that was destroyed, or else a new one. */
static struct hwheel *hwheel_get(void)
{
	struct hwheel *wheel;

	mutex_lock(&hwheel_mutex);
	wheel = list_first_entry_or_null(&hwheel_gone, struct hwheel, list);
	if (wheel)
		list_del(&wheel->list);
	mutex_unlock(&hwheel_mutex);
	return wheel ?: hwheel_alloc();
}

/* Keep @wheel, which nobody uses, for another life. */
static void hwheel_put(struct hwheel *wheel)
{
	hwheel_lockdep_end(wheel);
	hwheel_free_levels(wheel);
	mutex_lock(&hwheel_mutex);
	list_add(&wheel->list, &hwheel_gone);
	mutex_unlock(&hwheel_mutex);
}

/* Prepare @base for a life with its wheel's configuration. */
static int hwheel_begin_base(struct hwheel_base *base)
{
	static enum hrtimer_restart (*const run[])(struct hrtimer *) = {
		[HWHEEL_SOFTIRQ] = hwheel_run_softirq,
		[HWHEEL_HARDIRQ] = hwheel_run_hardirq,
		[HWHEEL_WORK]	 = hwheel_hrtimer_work,
	};
	struct hwheel *wheel = base->wheel;
	void *memory = kvzalloc_node(HWHEEL_LOT_SIZE, GFP_KERNEL,
				     cpu_to_node(base->cpu));
	u64 late;

	if (!memory)
		return -ENOMEM;
	levels_init(&base->levels, &wheel->geometry, memory, 0);
	base->offset = 0;
	base->set = S64_MIN;
	base->levels.want = hwheel_want;
	/* A run may begin this long after its timers are due */
	late = wheel->gap_ns + (wheel->alarm ? wheel->alarm->late_ns : 0);
	if (late)
		base->levels.ahead = levels_tick_up(&base->levels, late);
	/*
	 * By mistake a user may now arm a timer of an earlier life. Arming reads
	 * base->monotonic without the lock.
	 */
	WRITE_ONCE(base->monotonic, wheel->clock == &hwheel_monotonic);
	base->running = NULL;
	base->armed = HWHEEL_NEVER;
	base->ended = 0;
	base->spent = 0;
	base->fire_from = 0;
	base->move_from = 0;
	base->expires = 0;
	base->fresh = 0;
	memset(base->count, 0, sizeof(base->count));
	memset(base->late, 0, sizeof(base->late));
	if (wheel->alarm) {
		wheel->alarm->init(base);
		return 0;
	}
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

static int hwheel_check(const struct hwheel_config *config,
			struct hwheel_geometry *geometry)
{
	const char *name = config ? config->name : NULL, *fault;
	unsigned int clocks;

	if (!name || !*name || strnlen(name, HWHEEL_NAME_MAX + 1) > HWHEEL_NAME_MAX ||
	    strpbrk(name, "/\n") || !strcmp(name, ".") || !strcmp(name, "..")) {
		pr_err("wheel \"%.40s\": a name is 1 to %d characters without a '/' or a newline\n",
		       name ?: "", HWHEEL_NAME_MAX);
		return -EINVAL;
	}
	hwheel_plan(geometry, config);
	fault = hwheel_geometry_fault(geometry);
	if (fault) {
		pr_err("wheel \"%s\": %s\n", name, fault);
		return -EINVAL;
	}
	if ((unsigned int)config->context > HWHEEL_WORK) {
		pr_err("wheel \"%s\": there is no context %d\n", name, config->context);
		return -EINVAL;
	}
	clocks = config->flags & HWHEEL_CLOCKS;
	if (config->flags & ~(HWHEEL_DEFERRABLE | HWHEEL_CLOCKS)) {
		pr_err("wheel \"%s\": flags %#x: hwheel.h has no such flags of a wheel\n",
		       name, config->flags);
		return -EINVAL;
	}
	if (clocks & (clocks - 1)) {	/* more than one bit */
		pr_err("wheel \"%s\": flags %#x: ask for one of HWHEEL_BOOTTIME, HWHEEL_REALTIME and HWHEEL_TAI\n",
		       name, config->flags);
		return -EINVAL;
	}
	if (config->clock_set && !(config->flags & HWHEEL_WALL)) {
		pr_err("wheel \"%s\": clock_set, but nobody sets its clock: see HWHEEL_REALTIME\n",
		       name);
		return -EINVAL;
	}
	if (config->wq && config->context != HWHEEL_WORK) {
		pr_err("wheel \"%s\": a workqueue is only allowed with HWHEEL_WORK\n", name);
		return -EINVAL;
	}
	/* An entry of timer_list runs in softirq context, and jiffies stop during a suspend */
	if (config->flags & HWHEEL_DEFERRABLE &&
	    (config->context == HWHEEL_HARDIRQ || config->flags & HWHEEL_BOOTTIME)) {
		pr_err("wheel \"%s\": HWHEEL_DEFERRABLE goes with neither HWHEEL_HARDIRQ nor HWHEEL_BOOTTIME\n",
		       name);
		return -EINVAL;
	}
	if (config->gap_ns > HWHEEL_MAX_GAP_NS) {
		pr_err("wheel \"%s\": gap_ns %llu is more than a second\n", name, config->gap_ns);
		return -EINVAL;
	}
	return 0;
}

/* Choose the clock of @wheel, and what wakes its bases. */
static int hwheel_choose(struct hwheel *wheel, const struct hwheel_config *config)
{
	bool wall = config->flags & HWHEEL_WALL;

	WRITE_ONCE(wheel->clock, config->flags & HWHEEL_BOOTTIME ?
				 &hwheel_boottime : &hwheel_monotonic);
	wheel->alarm = NULL;
	wheel->clock_set = NULL;
	hwheel_each_part(create, wheel, config);
	WRITE_ONCE(wheel->settable, wheel->clock->settable);
	if (wall == wheel->settable && !(config->flags & HWHEEL_DEFERRABLE) == !wheel->alarm)
		return 0;
	pr_err("wheel \"%s\": flags %#x: hwheel was built without that: see CONFIG_HWHEEL_WALL_TIME and CONFIG_HWHEEL_DEFERRABLE\n",
	       wheel->name, config->flags);
	return -EOPNOTSUPP;
}

/* Give @wheel a number, and add it to hwheel_wheels. Everything else is ready. */
static int hwheel_open(struct hwheel *wheel)
{
	struct hwheel *other;
	int cpu, err = 0;

	cpus_read_lock();
	mutex_lock(&hwheel_mutex);
	list_for_each_entry(other, &hwheel_wheels, list) {
		if (!strcmp(other->name, wheel->name)) {
			err = -EEXIST;
			goto out;
		}
	}
	do {
		wheel->life = ++hwheel_lives;
	} while (wheel->life == HWHEEL_SHUT_DOWN || wheel->life == HWHEEL_GONE);
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		raw_spin_lock_irq(&base->lock);
		base->life = wheel->life;
		/* Somebody may set the clock meanwhile. Here the offset and the tick agree. */
		levels_set_clock(&base->levels, hwheel_tick_down(base, hwheel_time(base)));
		base->set = S64_MIN;
		raw_spin_unlock_irq(&base->lock);
	}
	list_add_tail(&wheel->list, &hwheel_wheels);
	hwheel_each_part(open, wheel);
out:
	mutex_unlock(&hwheel_mutex);
	cpus_read_unlock();
	return err;
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
 * * ERR_PTR(-EOPNOTSUPP) - hwheel was built without wall time or deferrable wheels; or it is
 *   built in, and failed to start when the kernel booted, for instance because of bad
 *   parameters
 */
struct hwheel *hwheel_create(const struct hwheel_config *config)
{
	struct hwheel_geometry geometry = {};
	struct hwheel *wheel;
	u64 budget;
	int cpu, err;

	err = hwheel_check(config, &geometry);
	if (err)
		return ERR_PTR(err);
	if (!hwheel_online_state) {
		pr_err("wheel \"%s\": hwheel failed to start when the kernel booted\n",
		       config->name);
		return ERR_PTR(-EOPNOTSUPP);
	}

	err = -ENOMEM;
	wheel = hwheel_get();
	if (!wheel)
		goto err_memory;
	strscpy(wheel->name, config->name, sizeof(wheel->name));
	hwheel_lockdep_begin(wheel);
	wheel->geometry = geometry;
	wheel->context = config->context;
	wheel->flags = config->flags;
	wheel->wq = config->wq ?: system_percpu_wq;
	budget = wheel->context == HWHEEL_HARDIRQ ? HWHEEL_HARDIRQ_BUDGET_NS : HWHEEL_BUDGET_NS;
	wheel->budget_ns = min_t(u64, config->budget_ns ?: budget, S64_MAX);
	wheel->gap_ns = config->gap_ns;
	err = hwheel_choose(wheel, config);
	if (err)
		goto err_wheel;

	for_each_possible_cpu(cpu) {
		err = hwheel_begin_base(per_cpu_ptr(wheel->bases, cpu));
		if (err)
			goto err_wheel;
	}
	err = hwheel_open(wheel);
	if (!err)
		return wheel;

	if (err == -EEXIST)
		pr_err("wheel \"%s\": there is one with that name already\n", wheel->name);
err_wheel:
	hwheel_put(wheel);
err_memory:
	if (err == -ENOMEM)
		pr_err("wheel \"%s\": out of memory\n", config->name);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(hwheel_create);

/* Mark @base as closing: from here on nothing begins on it. */
static void hwheel_close_base(struct hwheel_base *base)
{
	raw_spin_lock_irq(&base->lock);
	WRITE_ONCE(base->closing, true);
	base->life = HWHEEL_GONE;
	raw_spin_unlock_irq(&base->lock);
}

/* Cancel the next run of @base and the work that adds levels. Wait until both have ended. */
static void hwheel_stop_base(struct hwheel_base *base)
{
	hwheel_stop_hrtimer(base);
	cancel_work_sync(&base->work);
	wake_up_all(&base->wait);	/* hwheel_grow() may wait for memory */
	cancel_work_sync(&base->grow);
}

/* Cancel all timers of @base, and set *@function to the callback of one of them. */
static u64 hwheel_drain_base(struct hwheel_base *base, void **function)
{
	struct hwheel_timer *timer;
	u64 n = 0;

	raw_spin_lock_irq(&base->lock);
	while ((timer = levels_any(&base->levels))) {
		*function = hwheel_named(timer);
		debug_hwheel_deactivate(timer);
		levels_del(&base->levels, timer);
		base->count[HWHEEL_CANCELLED]++;
		trace_hwheel_cancel(timer);
		if (!(++n % HWHEEL_BATCH)) {
			raw_spin_unlock_irq(&base->lock);
			cond_resched();
			raw_spin_lock_irq(&base->lock);
		}
	}
	raw_spin_unlock_irq(&base->lock);
	return n;
}

/* Stop @wheel. Returns false if it is being stopped, or was stopped, by somebody else. */
static bool hwheel_stop(struct hwheel *wheel)
{
	bool gone;
	int cpu;

	mutex_lock(&hwheel_mutex);
	gone = wheel->life == HWHEEL_GONE || wheel->closing;
	wheel->closing |= !gone;
	mutex_unlock(&hwheel_mutex);
	if (gone)
		return false;
	hwheel_lockdep_sync_all(wheel);
	hwheel_each_part(close, wheel);
	for_each_possible_cpu(cpu)
		hwheel_close_base(per_cpu_ptr(wheel->bases, cpu));
	for_each_possible_cpu(cpu)
		hwheel_stop_base(per_cpu_ptr(wheel->bases, cpu));
	hwheel_each_part(destroy, wheel);
	/* Only now: callbacks ran until here, and hwheel_setup() in a callback reads it */
	WRITE_ONCE(wheel->life, HWHEEL_GONE);
	return true;
}

/* Put away @wheel, which is stopped, for another life. */
static void hwheel_retire(struct hwheel *wheel)
{
	int cpu;

	mutex_lock(&hwheel_mutex);
	list_del(&wheel->list);
	wheel->closing = false;
	mutex_unlock(&hwheel_mutex);
	/* Only now: CPU hotplug must start no hrtimer for timers that are left */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(wheel->bases, cpu)->closing, false);
	hwheel_put(wheel);
}

/**
 * hwheel_destroy - take a wheel down
 * @wheel: the wheel. If it is NULL or an ERR_PTR, nothing is done
 *
 * First shut down the wheel's timers. hwheel_destroy() cancels timers that
 * are still pending, with a warning that names the callback of one of them. It
 * waits for callbacks that are running.
 *
 * Afterwards, for a timer of the wheel:
 *
 * * Cancelling the timer does nothing.
 * * You may set up the timer for another wheel.
 * * Arming the timer is a mistake: hwheel warns and does nothing.
 *
 * hwheel_destroy() warns and does nothing for the module's own wheel, and for a
 * wheel that is destroyed already. But the next hwheel_create() uses the memory of
 * a destroyed wheel again: a second hwheel_destroy() then destroys the new wheel.
 *
 * Context: task; sleeps. If one of the wheel's callbacks calls hwheel_destroy(), hwheel
 * warns and does nothing.
 */
void hwheel_destroy(struct hwheel *wheel)
{
	void *caller = __builtin_return_address(0), *function = NULL;
	u64 pending = 0;
	int cpu;

	if (IS_ERR_OR_NULL(wheel))
		return;
	if (hwheel_warn(wheel == hwheel_system, caller,
			"hwheel: %ps tried to destroy the module's own wheel\n", caller))
		return;
	if (hwheel_warn(hwheel_in_callback(wheel) || READ_ONCE(wheel->teller) == current, caller,
			"hwheel: %ps tried to destroy wheel \"%s\" from one of its callbacks\n",
			caller, wheel->name))
		return;
	if (hwheel_warn(!hwheel_stop(wheel), caller,
			"hwheel: %ps tried to destroy wheel \"%s\" once more\n",
			caller, wheel->name))
		return;
	for_each_possible_cpu(cpu)
		pending += hwheel_drain_base(per_cpu_ptr(wheel->bases, cpu), &function);
	hwheel_warn(pending, function,
		    "hwheel: wheel \"%s\" destroyed with %llu timers pending, one with callback %ps\n",
		    wheel->name, pending, function);
	hwheel_retire(wheel);
}
EXPORT_SYMBOL_GPL(hwheel_destroy);

/* Is a kick or an irq_work for @base under way, on any CPU? */
static bool hwheel_awaited(struct hwheel_base *base)
{
	bool awaited;

	raw_spin_lock_irq(&base->lock);
	awaited = base->kicks || irq_work_is_busy(&base->want);
	raw_spin_unlock_irq(&base->lock);
	return awaited;
}

static void hwheel_free_all(void)
{
	struct hwheel *wheel, *older;
	int cpu;

	for (wheel = hwheel_newest; wheel; wheel = wheel->older)
		for_each_possible_cpu(cpu)
			while (hwheel_awaited(per_cpu_ptr(wheel->bases, cpu)))
				msleep(20);
	/* The handlers of the last kicks and irq_works may not have returned yet */
	synchronize_rcu();
	for (wheel = hwheel_newest; wheel; wheel = older) {
		older = wheel->older;
		free_percpu(wheel->bases);
		kfree(wheel);
	}
}
