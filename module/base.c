// SPDX-License-Identifier: GPL-2.0
/*
 * The lists of wheels; a timer's base, and how to lock it
 */

/* The module's own wheel, for users that create none */
struct hwheel *hwheel_system;
EXPORT_SYMBOL_GPL(hwheel_system);

/* Changes need both locks. The mutex, or the spinlock in interrupts, is enough to look. */
static LIST_HEAD(hwheel_wheels);
static DEFINE_MUTEX(hwheel_mutex);
static DEFINE_RAW_SPINLOCK(hwheel_wheels_lock);
static int hwheel_dead_state;
static int hwheel_online_state;

static void hwheel_note_max(struct hwheel_base *base, enum hwheel_counter which, u64 ns)
{
	if (ns > base->count[which])
		base->count[which] = ns;
}

/* hwheel_pending(), under the lock */
static __always_inline bool hwheel_queued(const struct hwheel_timer *timer)
{
	return READ_ONCE(timer->entry.next);
}

/*
 * Give a base of the module's wheel to a timer that has none: a static timer, or one that was never
 * set up and can't be armed.
 */
static noinline struct hwheel_base *hwheel_find_base(struct hwheel_timer *timer)
{
	struct hwheel_base *none = READ_ONCE(timer->base);
	struct hwheel_base *base = raw_cpu_ptr(hwheel_system->bases), *old;

	if (hwheel_warn(!none, "hwheel: a timer was used before hwheel_setup()\n"))
		timer->flags |= __HWHEEL_SHUT_DOWN;
	old = cmpxchg(&timer->base, none, base);
	return old == none ? base : old;	/* somebody else may have been first */
}

/*
 * A guess at timer->base: the base that this CPU looked up last, which is right in most
 * cases. The CPU predicts so, and goes on with the guess while it fetches the timer. Without the
 * guess, arming by an instant takes 5 to 10 % longer at a thousand timers (make bench, WHERE=uml).
 */
static DEFINE_PER_CPU(struct hwheel_base *, hwheel_guess) = (void *)-1L; /* no timer's base */

static __always_inline struct hwheel_base *hwheel_base(const struct hwheel_timer *timer)
{
	struct hwheel_base *guess = raw_cpu_read(hwheel_guess), *base;

	debug_hwheel(assert_init, (void *)timer);
	base = READ_ONCE(timer->base);
	if (likely(base == guess)) {
		OPTIMIZER_HIDE_VAR(guess);
		return guess;
	}
	if (unlikely((unsigned long)base <= (unsigned long)__HWHEEL_SYSTEM_BASE))
		base = hwheel_find_base((struct hwheel_timer *)timer);
	raw_cpu_write(hwheel_guess, base);
	return base;
}

/*
 * Find the base of @timer. *@now is CLOCK_MONOTONIC, read a moment ago. If the wheel has another
 * clock, read that clock into *@now.
 */
static __always_inline struct hwheel_base *hwheel_base_clock(struct hwheel_timer *timer,
							     ktime_t *now)
{
	struct hwheel_base *base = hwheel_base(timer);

	if (unlikely(!base->monotonic))
		*now = hwheel_other_clock(base->wheel);
	return base;
}

/*
 * Read the clock into *@now, and find the base of @timer. Reading a clock takes a fence.
 * A fence delays loads, but not prefetches. @timer is rarely in the cache: so prefetch
 * it, read the clock, and only then look at the timer.
 */
static __always_inline struct hwheel_base *hwheel_base_now(struct hwheel_timer *timer,
							   ktime_t *now)
{
	prefetchw(timer);
	*now = ktime_get();
	return hwheel_base_clock(timer, now);
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
