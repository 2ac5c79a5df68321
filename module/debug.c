// SPDX-License-Identifier: GPL-2.0
/*
 * Warnings; lockdep and debugobjects
 */

/* Whom hwheel has warned of a mistake, in one place of its sources */
struct hwheel_blame {
	int			loads;
	const void		*functions[8];
};

static atomic_t hwheel_loads;	/* modules that were loaded since hwheel */

static int hwheel_module_comes(struct notifier_block *block, unsigned long state, void *module)
{
#ifdef CONFIG_MODULES
	if (state == MODULE_STATE_COMING)
		atomic_inc(&hwheel_loads);
#endif
	return NOTIFY_OK;
}

static struct notifier_block hwheel_modules = { .notifier_call = hwheel_module_comes };

/* Is this the first mistake of @function in this place since a module was loaded? */
static noinline bool hwheel_blames(struct hwheel_blame *blame, const void *function)
{
	int loads = atomic_read(&hwheel_loads);
	const void *before;
	unsigned int i;

	function = function ?: blame;
	if (xchg(&blame->loads, loads) != loads)
		memset(blame->functions, 0, sizeof(blame->functions));
	for (i = 0; i < ARRAY_SIZE(blame->functions); i++) {
		before = cmpxchg(&blame->functions[i], NULL, function);
		if (!before)
			return true;
		if (before == function)
			break;
	}
	return false;
}

/*
 * Warn of a mistake once for each @function, a callback or the address of a call; of eight at most.
 * Warn once more when a module has been loaded, for example a driver that has been mended.
 */
#define hwheel_warn(condition, function, ...)				\
({									\
	static struct hwheel_blame _blame;				\
	bool _wrong = unlikely(condition);				\
									\
	if (_wrong && hwheel_blames(&_blame, function))			\
		WARN(1, __VA_ARGS__);					\
	_wrong;								\
})

/* The function to name in warnings and in debugfs */
static void *hwheel_named(const struct hwheel_timer *timer)
{
	const struct hwheel_part * const *at;
	void *function;

	for_each_part(at) {
		function = (*at)->named ? (*at)->named(timer) : NULL;
		if (function)
			return function;
	}
	return timer->function;
}

#ifdef CONFIG_LOCKDEP
static void hwheel_lockdep_init(struct hwheel_timer *timer, const char *name,
				struct lock_class_key *key)
{
	lockdep_init_map(&timer->lockdep_map, name, key, 0);
}

/*
 * Have lockdep report locks that the caller holds and that the callback takes. Do not tell
 * lockdep about a callback that waits for itself. Lockdep would report this mistake and switch
 * itself off. hwheel_remove_sync() reports the mistake anyway. Each context is a lockdep
 * subclass, because one place may set up timers for wheels of several contexts. The callbacks
 * of these wheels have little in common.
 */
static void hwheel_lockdep_sync(struct hwheel_timer *timer, const struct hwheel_base *base)
{
	unsigned long flags;

	if (READ_ONCE(base->running) == timer && READ_ONCE(base->runner) == current)
		return;
	local_irq_save(flags);
	lock_acquire_exclusive(&timer->lockdep_map, base->wheel->context, 0, NULL, _THIS_IP_);
	lock_map_release(&timer->lockdep_map);
	local_irq_restore(flags);
}

/* The same for a caller that waits for all callbacks of @wheel */
static void hwheel_lockdep_sync_all(struct hwheel *wheel)
{
	unsigned long flags;

	if (READ_ONCE(wheel->life) == HWHEEL_GONE)
		return;
	local_irq_save(flags);
	lock_map_acquire(&wheel->lockdep_map);
	lock_map_release(&wheel->lockdep_map);
	local_irq_restore(flags);
}

/* A wheel has another lock class in each of its lives. */
static void hwheel_lockdep_begin(struct hwheel *wheel)
{
	lockdep_register_key(&wheel->key);
	lockdep_init_map(&wheel->lockdep_map, wheel->name, &wheel->key, 0);
}

static void hwheel_lockdep_end(struct hwheel *wheel)
{
	lockdep_unregister_key(&wheel->key);
}
#else
static inline void hwheel_lockdep_init(struct hwheel_timer *timer, const char *name,
				       struct lock_class_key *key) { }
static inline void hwheel_lockdep_sync(struct hwheel_timer *timer,
				       const struct hwheel_base *base) { }
static inline void hwheel_lockdep_sync_all(struct hwheel *wheel) { }
static inline void hwheel_lockdep_begin(struct hwheel *wheel) { }
static inline void hwheel_lockdep_end(struct hwheel *wheel) { }
#endif

#ifdef CONFIG_DEBUG_OBJECTS_TIMERS
static int hwheel_remove(struct hwheel_timer *timer, bool shutdown,
			 struct hwheel_waiter *waiter);

static void debug_hwheel_init(struct hwheel_timer *timer, bool on_stack);

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
	debug_hwheel_init(timer, object_is_on_stack(addr));
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

static void debug_hwheel_init(struct hwheel_timer *timer, bool on_stack)
{
	if (on_stack)
		debug_object_init_on_stack(timer, &hwheel_debug_descr);
	else
		debug_object_init(timer, &hwheel_debug_descr);
}

static void debug_hwheel_assert_init(struct hwheel_timer *timer)
{
	debug_object_assert_init(timer, &hwheel_debug_descr);
}

static void debug_hwheel_activate(struct hwheel_timer *timer)
{
	debug_object_activate(timer, &hwheel_debug_descr);
}

static void debug_hwheel_deactivate(struct hwheel_timer *timer)
{
	debug_object_deactivate(timer, &hwheel_debug_descr);
}

static void debug_hwheel_free(struct hwheel_timer *timer)
{
	debug_object_free(timer, &hwheel_debug_descr);
}
#else
static inline void debug_hwheel_init(struct hwheel_timer *timer, bool on_stack) { }
static inline void debug_hwheel_assert_init(struct hwheel_timer *timer) { }
static inline void debug_hwheel_activate(struct hwheel_timer *timer) { }
static inline void debug_hwheel_deactivate(struct hwheel_timer *timer) { }
static inline void debug_hwheel_free(struct hwheel_timer *timer) { }
#endif
