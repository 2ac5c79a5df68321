// SPDX-License-Identifier: GPL-2.0
/*
 * Setting up timers
 */

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
	bool bad = life == HWHEEL_GONE || !function;

	if (hwheel_warn(!timer, __builtin_return_address(0),
			"hwheel: %ps set up a timer that is NULL\n", __builtin_return_address(0)))
		return;
	hwheel_warn(bad, function,
		    "hwheel: timer set up with wheel %pe, callback %ps; it can't be armed\n",
		    wheel, function);
	hwheel_warn(flags & ~(HWHEEL_PINNED | __HWHEEL_IRQS_OFF), function,
		    "hwheel: timer with callback %ps set up with flags %#x; only HWHEEL_PINNED counts\n",
		    function, flags);
	debug_hwheel_init(timer, on_stack);
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
 * The timer's memory may hold anything, so hwheel can't see whether it is pending. To set up a
 * pending timer corrupts its wheel. CONFIG_DEBUG_OBJECTS_TIMERS finds this mistake, and cancels
 * the timer first.
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
