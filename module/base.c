// SPDX-License-Identifier: GPL-2.0
/*
 * The lists of wheels; a timer's base, and how to lock it
 */

/* The module's own wheel, for users that create none */
struct hwheel *hwheel_system;
EXPORT_SYMBOL_GPL(hwheel_system);

static LIST_HEAD(hwheel_wheels);
static LIST_HEAD(hwheel_gone);
static struct hwheel *hwheel_newest;	/* of all wheels, in use or gone */
static u32 hwheel_lives;
static DEFINE_MUTEX(hwheel_mutex);
static int hwheel_dead_state;
static int hwheel_online_state;		/* 0 until the module is ready for use */

static void hwheel_note_max(struct hwheel_base *base, enum hwheel_counter which, u64 ns)
{
	if (ns > base->count[which])
		base->count[which] = ns;
}

/* hwheel_pending() for a @timer that is not NULL */
static __always_inline bool hwheel_queued(const struct hwheel_timer *timer)
{
	return READ_ONCE(timer->entry.next);
}

/*
 * Find the base of a timer that has none. A static timer gets a base of the module's
 * wheel here. A timer that has not been set up gets a warning.
 */
static noinline struct hwheel_base *hwheel_find_base(struct hwheel_timer *timer)
{
	static DEFINE_RAW_SPINLOCK(lock);	/* one caller at a time sets timer->base */
	struct hwheel_base *base;
	unsigned long flags;

	if (hwheel_warn(!timer, __builtin_return_address(0),
			"hwheel: %ps used a timer that is NULL\n", __builtin_return_address(0)))
		return NULL;
	raw_spin_lock_irqsave(&lock, flags);
	base = READ_ONCE(timer->base);
	if (base == __HWHEEL_SYSTEM_BASE) {
		debug_hwheel_init(timer, false);
		/* There is no wheel if hwheel failed to start when the kernel booted */
		base = IS_ERR_OR_NULL(hwheel_system) ? NULL : raw_cpu_ptr(hwheel_system->bases);
		if (base)
			WRITE_ONCE(timer->base, base);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	hwheel_warn(!base, timer->function,
		    "hwheel: timer with callback %ps used before hwheel_setup()\n",
		    timer->function);
	return base;
}

/*
 * A guess at timer->base: the base that this CPU looked up last, which is right in most
 * cases. If the timer is not in the cache, the CPU predicts that the guess is right, and
 * goes on with the guess while it fetches the timer from memory.
 */
#define HWHEEL_NO_GUESS		((struct hwheel_base *)-1L)	/* no timer's base */
static DEFINE_PER_CPU(struct hwheel_base *, hwheel_guess) = HWHEEL_NO_GUESS;

/* Find @timer's base. Returns false, after a warning, if the timer has none. */
static __always_inline bool hwheel_base(const struct hwheel_timer *timer,
					struct hwheel_base **base)
{
	struct hwheel_base *guess = raw_cpu_read(hwheel_guess);

	*base = NULL;
	if (likely(timer)) {
		debug_hwheel_assert_init((struct hwheel_timer *)timer);
		*base = READ_ONCE(timer->base);
		if (likely(*base == guess)) {
			OPTIMIZER_HIDE_VAR(guess);
			*base = guess;
			return true;
		}
	}
	if (unlikely((unsigned long)*base <= (unsigned long)__HWHEEL_SYSTEM_BASE))
		*base = hwheel_find_base((struct hwheel_timer *)timer);
	if (unlikely(!*base))
		return false;
	raw_cpu_write(hwheel_guess, *base);
	return true;
}

/*
 * Find the base of @timer. *@now is CLOCK_MONOTONIC, read a moment ago. If the wheel has another
 * clock, read that clock into *@now.
 */
static __always_inline bool hwheel_base_clock(struct hwheel_timer *timer,
					      struct hwheel_base **base, ktime_t *now)
{
	if (unlikely(!hwheel_base(timer, base)))
		return false;
	/* base->monotonic changes only after the wheel was destroyed. Then @timer is not armed. */
	if (unlikely(!data_race((*base)->monotonic)))
		*now = hwheel_other_clock((*base)->wheel);
	return true;
}

/*
 * Read the clock into *@now, and find the base of @timer. Reading a clock takes a fence.
 * A fence delays loads, but not prefetches. @timer is rarely in the cache: so prefetch
 * it, read the clock, and only then look at the timer.
 */
static __always_inline bool hwheel_base_now(struct hwheel_timer *timer,
					    struct hwheel_base **base, ktime_t *now)
{
	prefetchw(timer);
	*now = ktime_get();
	return hwheel_base_clock(timer, base, now);
}

/* Lock the base that @timer is on, which was @base a moment ago. */
static __always_inline struct hwheel_base *hwheel_lock(struct hwheel_timer *timer,
						       struct hwheel_base *base,
						       unsigned long *flags)
	__acquires(timer->base->lock)
{
	for (;;) {
		raw_spin_lock_irqsave(&base->lock, *flags);
		if (likely(READ_ONCE(timer->base) == base))
			return base;
		raw_spin_unlock_irqrestore(&base->lock, *flags);
		cpu_relax();
		base = READ_ONCE(timer->base);
	}
}

/*
 * With @base locked, lock @other too. Two bases are locked in the order of their CPUs, so
 * this function may unlock @base for a while.
 */
static void hwheel_lock_other(struct hwheel_base *base, struct hwheel_base *other)
	__acquires(&other->lock)
{
	if (other->cpu > base->cpu) {
		raw_spin_lock_nested(&other->lock, SINGLE_DEPTH_NESTING);
	} else if (!raw_spin_trylock(&other->lock)) {
		raw_spin_unlock(&base->lock);
		raw_spin_lock(&other->lock);
		raw_spin_lock_nested(&base->lock, SINGLE_DEPTH_NESTING);
	}
}

/*
 * Unlock @other. If @base was locked second, lockdep has it in subclass 1. Now it is the
 * only lock. So put it into subclass 0.
 */
static void hwheel_unlock_other(struct hwheel_base *base, struct hwheel_base *other)
	__releases(&other->lock)
{
	raw_spin_unlock(&other->lock);
	lock_set_subclass(&base->lock.dep_map, 0, _THIS_IP_);
}

static __always_inline enum hwheel_context hwheel_context(const struct hwheel_base *base)
{
	return base->wheel->context;
}
