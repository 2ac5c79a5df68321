// SPDX-License-Identifier: GPL-2.0
/*
 * Setting up timers
 */

/**
 * __hwheel_setup - hwheel_setup() with a lockdep class
 * @timer: the timer
 * @wheel: its wheel
 * @function: its callback
 * @flags: HWHEEL_PINNED, __HWHEEL_IRQS_OFF, __HWHEEL_ON_STACK
 * @name: name of the lockdep class; not used without lockdep
 * @key: key of the lockdep class; not used without lockdep
 *
 * Context: any.
 */
void __hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		    void (*function)(struct hwheel_timer *timer),
		    unsigned int flags, const char *name, struct lock_class_key *key)
{
	const unsigned int known = HWHEEL_PINNED | __HWHEEL_IRQS_OFF | __HWHEEL_ON_STACK;

	hwheel_warn(flags & ~known,
		    "hwheel: timer with callback %ps set up with flags %#x; only HWHEEL_PINNED counts\n",
		    function, flags);
	if (flags & __HWHEEL_ON_STACK)
		debug_hwheel(init_on_stack, timer);
	else
		debug_hwheel(init, timer);
	timer->entry.next = NULL;
	timer->entry.prev = NULL;
	timer->expires = 0;
	timer->function = function;
	timer->base = raw_cpu_ptr(wheel->bases);
	timer->flags = flags & known;
	lockdep_init_map(&timer->lockdep_map, name, key, 0);
	trace_hwheel_setup(timer, wheel);
}
EXPORT_SYMBOL_GPL(__hwheel_setup);

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
	debug_hwheel(free, timer);
}
EXPORT_SYMBOL_GPL(hwheel_destroy_on_stack);
