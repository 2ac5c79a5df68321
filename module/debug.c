// SPDX-License-Identifier: GPL-2.0
/*
 * Warnings; lockdep and debugobjects
 */

/*
 * Warn of a mistake: up to five times a minute for each place in the sources. So who has mended a
 * driver and loads it again sees whether the mistake is gone, and the log is not flooded.
 */
#define hwheel_warn(condition, ...)					\
({									\
	static DEFINE_RATELIMIT_STATE(_limit, 60 * HZ, 5);		\
	bool _wrong = unlikely(condition);				\
									\
	if (_wrong && __ratelimit(&_limit))				\
		WARN(1, __VA_ARGS__);					\
	_wrong;								\
})

/* The function to name in warnings and in debugfs */
static void *hwheel_named(const struct hwheel_timer *timer)
{
	void *function = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hwheel_parts) && !function; i++)
		if (hwheel_parts[i]->named)
			function = hwheel_parts[i]->named(timer);
	return function ?: (void *)timer->function;
}

/*
 * The caller will wait for a callback of @map, which is a timer's, or a wheel's for all callbacks.
 * Have lockdep report a callback that waits for itself, and locks that the caller holds and that
 * the callback takes. Each context is a @subclass of a timer's map, because one place may set up
 * timers for wheels of several contexts. The callbacks of these wheels have little in common.
 */
static void hwheel_lockdep_wait(struct lockdep_map *map, unsigned int subclass)
{
	unsigned long flags;

	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return;
	local_irq_save(flags);
	lock_acquire_exclusive(map, subclass, 0, NULL, _THIS_IP_);
	lock_map_release(map);
	local_irq_restore(flags);
}

#ifdef CONFIG_DEBUG_OBJECTS_TIMERS
static int hwheel_remove(struct hwheel_timer *timer, bool shutdown,
			 struct hwheel_waiter *waiter);

static const struct debug_obj_descr hwheel_debug_descr;

static void *hwheel_debug_hint(void *addr)
{
	return hwheel_named(addr);
}

static bool hwheel_debug_is_static(void *addr)
{
	struct hwheel_timer *timer = addr;

	return timer->base == __HWHEEL_SYSTEM_BASE && !timer->entry.next;
}

/* A pending timer is set up or freed: cancel it first. */
static bool hwheel_debug_fixup_init(void *addr, enum debug_obj_state state)
{
	struct hwheel_timer *timer = addr;

	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	hwheel_remove(timer, false, NULL);
	return true;
}

/* A timer is used that was never set up: make it a timer that can't be armed. */
static bool hwheel_debug_fixup_assert_init(void *addr, enum debug_obj_state state)
{
	struct hwheel_timer *timer = addr;

	if (state != ODEBUG_STATE_NOTAVAILABLE)
		return false;
	memset(timer, 0, sizeof(*timer));
	if (object_is_on_stack(addr))
		debug_object_init_on_stack(addr, &hwheel_debug_descr);
	else
		debug_object_init(addr, &hwheel_debug_descr);
	return true;
}

static const struct debug_obj_descr hwheel_debug_descr = {
	.name			= "hwheel_timer",
	.debug_hint		= hwheel_debug_hint,
	.is_static_object	= hwheel_debug_is_static,
	.fixup_init		= hwheel_debug_fixup_init,
	.fixup_free		= hwheel_debug_fixup_init,
	.fixup_assert_init	= hwheel_debug_fixup_assert_init,
};

/* debug_hwheel(init, timer) is debug_object_init() of @timer */
#define debug_hwheel(what, timer)	debug_object_##what(timer, &hwheel_debug_descr)
#else
#define debug_hwheel(...)		do { } while (0)
#endif
