// SPDX-License-Identifier: GPL-2.0
/*
 * Setting up timers
 */

/* Do both neighbours of @entry point back to @entry? @entry may hold anything. */
static bool hwheel_linked(const struct list_head *entry)
{
	struct list_head *next = entry->next, *prev = entry->prev, *back;

	return !copy_from_kernel_nofault(&back, &next->prev, sizeof(back)) && back == entry &&
	       !copy_from_kernel_nofault(&back, &prev->next, sizeof(back)) && back == entry;
}

/*
 * Is @base a base of the wheel whose number is @life? @base may be anything. Takes no
 * lock, because no wheel and no base is freed while the module is loaded.
 */
static bool hwheel_known_base(const struct hwheel_base *base, u32 life)
{
	const struct hwheel *wheel = xa_load(&hwheel_by_life, life);
	int cpu;

	if (wheel)
		for_each_possible_cpu(cpu)
			if (per_cpu_ptr(wheel->bases, cpu) == base)
				return true;
	return false;
}

/*
 * @timer is about to be set up, and its memory may hold anything. If it holds a pending
 * timer, cancel that timer, to save its neighbours in the spoke.
 */
static noinline void hwheel_unlink_stale(struct hwheel_timer *timer)
{
	struct hwheel_base *base = READ_ONCE(timer->base);
	unsigned long flags;
	bool pending;

	for (;;) {
		if (!hwheel_known_base(base, timer->life))
			return;
		raw_spin_lock_irqsave(&base->lock, flags);
		if (READ_ONCE(timer->base) == base)
			break;
		/* It has moved to another CPU meanwhile */
		raw_spin_unlock_irqrestore(&base->lock, flags);
		base = READ_ONCE(timer->base);
	}
	pending = timer->life == base->life && hwheel_linked(&timer->entry);
	if (pending) {
		if (base->running == timer)
			base->dest = NULL;
		levels_del(&base->levels, timer);
		base->count[HWHEEL_CANCELLED]++;
		trace_hwheel_cancel(timer, timer->function);
	}
	raw_spin_unlock_irqrestore(&base->lock, flags);
	WARN_ONCE(pending, "hwheel: timer with callback %ps set up while pending; it is cancelled\n",
		  timer->function);
}

/**
 * __hwheel_setup - hwheel_setup() with a lockdep class
 * @timer: the timer
 * @wheel: its wheel
 * @function: its callback
 * @flags: 0 or HWHEEL_PINNED
 * @on_stack: whether the timer is on the stack
 * @name: name of the lockdep class; not used without lockdep
 * @key: key of the lockdep class; not used without lockdep
 *
 * Context: any.
 */
void __hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		    void (*function)(struct hwheel_timer *timer),
		    unsigned int flags, bool on_stack, const char *name,
		    struct lock_class_key *key)
{
	/* Read once: wheel->life may become HWHEEL_GONE after the check below */
	u32 life = IS_ERR_OR_NULL(wheel) ? HWHEEL_GONE : READ_ONCE(wheel->life);
	bool bad = life == HWHEEL_GONE || !function ||
		   (flags & ~(HWHEEL_PINNED | __HWHEEL_IRQS_OFF));

	if (WARN_ONCE(!timer, "hwheel: %ps set up a timer that is NULL\n",
		      __builtin_return_address(0)))
		return;
	WARN_ONCE(bad, "hwheel: timer set up with wheel %pe, callback %ps, flags %#x; it can't be armed\n",
		  wheel, function, flags);
	debug_hwheel_init(timer, on_stack);
	if (timer->entry.next && timer->entry.prev)
		hwheel_unlink_stale(timer);
	timer->entry.next = NULL;
	timer->entry.prev = NULL;
	timer->expires = 0;
	timer->function = function;
	timer->base = bad ? NULL : raw_cpu_ptr(wheel->bases);
	timer->flags = flags;
	timer->life = bad ? HWHEEL_SHUT_DOWN : life;
	hwheel_lockdep_init(timer, name, key);
	if (!bad)
		trace_hwheel_setup(timer, wheel);
}
EXPORT_SYMBOL_GPL(__hwheel_setup);

#undef hwheel_setup
/**
 * hwheel_setup - make a timer ready to be armed
 * @timer: the timer, which must not be pending
 * @wheel: its wheel: hwheel_system, or a wheel that you have created
 * @function: its callback, which is called with @timer. struct hwheel_config
 *	says where callbacks run
 * @flags: 0 or HWHEEL_PINNED
 *
 * If the timer is pending, on any wheel, hwheel warns and cancels it. Nobody may use
 * the timer in another call meanwhile, hwheel_cancel_sync() included.
 *
 * A callback may set up its own timer again. hwheel_cancel_sync() may then
 * return while that callback is still running.
 *
 * Context: any.
 */
void hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		  void (*function)(struct hwheel_timer *timer),
		  unsigned int flags)
{
	static struct lock_class_key key;

	__hwheel_setup(timer, wheel, function, flags, false, "hwheel_timer", &key);
}
EXPORT_SYMBOL_GPL(hwheel_setup);

#undef hwheel_setup_on_stack
/**
 * hwheel_setup_on_stack - hwheel_setup() for a timer on the stack
 * @timer: the timer
 * @wheel: its wheel
 * @function: its callback
 * @flags: 0 or HWHEEL_PINNED
 *
 * Call hwheel_destroy_on_stack() before your function returns.
 *
 * Context: any.
 */
void hwheel_setup_on_stack(struct hwheel_timer *timer, struct hwheel *wheel,
			   void (*function)(struct hwheel_timer *timer),
			   unsigned int flags)
{
	static struct lock_class_key key;

	__hwheel_setup(timer, wheel, function, flags, true, "hwheel_timer", &key);
}
EXPORT_SYMBOL_GPL(hwheel_setup_on_stack);

/**
 * hwheel_destroy_on_stack - end the life of a timer on the stack
 * @timer: the timer
 *
 * If the timer is pending, it is cancelled. If its callback is running, this
 * waits for the callback.
 *
 * Context: as hwheel_cancel_sync().
 */
void hwheel_destroy_on_stack(struct hwheel_timer *timer)
{
	hwheel_shutdown_sync(timer);
	debug_hwheel_free(timer);
}
EXPORT_SYMBOL_GPL(hwheel_destroy_on_stack);
