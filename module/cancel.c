// SPDX-License-Identifier: GPL-2.0
/*
 * Cancelling, and waiting for callbacks
 */

/*
 * Cancel @timer. With @shutdown nobody can arm it again. Returns 1 if @timer was pending,
 * else 0. If @waiter is not NULL and the callback is running, does not cancel @timer, but sets
 * @waiter->base and returns -1. @shutdown takes effect even then.
 */
static __always_inline int hwheel_remove(struct hwheel_timer *timer, bool shutdown,
					 struct hwheel_waiter *waiter)
{
	struct hwheel_base *base;
	unsigned long flags;
	int ret;

	if (unlikely(!hwheel_base(timer, &base)))
		return 0;

	base = hwheel_lock(timer, base, &flags);
	if (shutdown)
		timer->life = HWHEEL_SHUT_DOWN;
	if (waiter && base->running == timer)
		ret = hwheel_wait_for(base, waiter);
	else
		ret = hwheel_remove_locked(base, timer);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

/*
 * Is this a context in which nobody may wait for a callback of @base? On PREEMPT_RT a caller may
 * have to sleep until a callback in softirq context has ended.
 */
static bool hwheel_may_not_wait(const struct hwheel_base *base)
{
	if (hwheel_context(base) == HWHEEL_WORK)
		return in_interrupt();
	if (in_hardirq())
		return true;
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && hwheel_context(base) == HWHEEL_SOFTIRQ)
		lockdep_assert_preemption_enabled();
	return false;
}

static bool hwheel_remove_sync(struct hwheel_timer *timer, bool shutdown)
{
	struct hwheel_waiter waiter = { .waits = true };
	struct hwheel_base *base;
	int ret;

	if (unlikely(!hwheel_base(timer, &base)))
		return false;
	hwheel_lockdep_sync(timer, base);
	might_sleep_if(hwheel_context(base) == HWHEEL_WORK && !in_interrupt());
	/* base->runner is current only in a callback. Its timer stays on @base until it returns */
	if (READ_ONCE(base->runner) == current) {
		if (hwheel_warn(READ_ONCE(base->running) == timer, timer->function,
				"hwheel: callback %ps waits for itself\n", timer->function))
			return hwheel_remove(timer, shutdown, NULL);
	} else if (hwheel_warn(hwheel_may_not_wait(base), timer->function,
			       "hwheel: callback %ps is waited for where one can't wait\n",
			       timer->function)) {
		return hwheel_remove(timer, shutdown, NULL);
	}
	while ((ret = hwheel_remove(timer, shutdown, &waiter)) < 0) {
		base = waiter.base;
		if (hwheel_context(base) == HWHEEL_WORK) {
			/* Pairs with hwheel_cancel_running() */
			wait_event(base->wait, (ret = smp_load_acquire(&waiter.ret)) >= 0);
			break;
		}
		hwheel_wait_running(base);
	}
	return ret;
}

/**
 * hwheel_cancel - cancel a timer
 * @timer: the timer
 *
 * Does not wait: the callback may be running when this returns.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending, and so will not expire.
 */
bool hwheel_cancel(struct hwheel_timer *timer)
{
	/* Look without the lock, as hwheel_pending() does */
	if (likely(timer) && !data_race(hwheel_queued(timer)))
		return false;
	return hwheel_remove(timer, false, NULL);
}
EXPORT_SYMBOL_GPL(hwheel_cancel);

/**
 * hwheel_try_cancel - cancel a timer unless its callback is running
 * @timer: the timer
 *
 * Context: any but NMI.
 * Return:
 * * %1 - @timer was pending, and will not expire
 * * %0 - @timer was not pending
 * * %-1 - its callback is running; nothing was done
 */
int hwheel_try_cancel(struct hwheel_timer *timer)
{
	struct hwheel_waiter nobody = { };

	return hwheel_remove(timer, false, &nobody);
}
EXPORT_SYMBOL_GPL(hwheel_try_cancel);

/**
 * hwheel_cancel_sync - cancel a timer and wait for its callback
 * @timer: the timer
 *
 * When this returns, the timer is not pending and its callback is not running,
 * unless somebody else has armed the timer.
 *
 * * Do not call this from the timer's callback.
 * * Do not hold a lock that the callback takes.
 * * On PREEMPT_RT, if callbacks of the wheel run in softirq context, do not hold
 *   a lock that any callback of the wheel takes.
 *
 * Context:
 * * callbacks in softirq context: task or softirq; may sleep on PREEMPT_RT
 * * callbacks in hardirq context: task or softirq; never sleeps
 * * callbacks in process context: task with interrupts and softirqs on; sleeps
 * Return: true if @timer was pending.
 */
bool hwheel_cancel_sync(struct hwheel_timer *timer)
{
	return hwheel_remove_sync(timer, false);
}
EXPORT_SYMBOL_GPL(hwheel_cancel_sync);

/**
 * hwheel_shutdown - cancel a timer for good
 * @timer: the timer
 *
 * Cancels the timer as hwheel_cancel() does. Arming the timer does nothing from
 * here on, until somebody sets it up again.
 *
 * Context: any but NMI.
 * Return: true if @timer was pending, and so will not expire.
 */
bool hwheel_shutdown(struct hwheel_timer *timer)
{
	return hwheel_remove(timer, true, NULL);
}
EXPORT_SYMBOL_GPL(hwheel_shutdown);

/**
 * hwheel_shutdown_sync - cancel a timer for good and wait for its callback
 * @timer: the timer
 *
 * Does what hwheel_cancel_sync() does, under the same rules. In addition nobody
 * can arm the timer, not even its callback, until somebody sets it up again.
 * When this has returned, the timer may be freed.
 *
 * Context: as hwheel_cancel_sync().
 * Return: true if @timer was pending.
 */
bool hwheel_shutdown_sync(struct hwheel_timer *timer)
{
	return hwheel_remove_sync(timer, true);
}
EXPORT_SYMBOL_GPL(hwheel_shutdown_sync);

/* Is the caller one of @wheel's callbacks? */
static bool hwheel_in_callback(const struct hwheel *wheel)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(wheel->bases, cpu)->runner) == current)
			return true;
	return false;
}

/* Is a callback running on @base? *@n: number of the last callback that began. Takes the lock. */
static bool hwheel_callback_runs(struct hwheel_base *base, u64 *n)
{
	unsigned long flags;
	bool running;

	raw_spin_lock_irqsave(&base->lock, flags);
	running = base->running;
	*n = base->count[HWHEEL_EXPIRED_TIMERS];
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return running;
}

/*
 * Has callback number @n of @base ended? The function compares numbers, not timers: the
 * callback of the same timer may be running again. Takes the lock, so the caller sees what
 * the callback wrote.
 */
static bool hwheel_callback_ended(struct hwheel_base *base, u64 n)
{
	u64 last;

	return !hwheel_callback_runs(base, &last) || last != n;
}

/**
 * hwheel_synchronize - wait for all callbacks of a wheel that are running
 * @wheel: the wheel
 *
 * When this returns, all callbacks that were running when it was called have ended, and
 * the caller sees what they have written. Callbacks that began later may be running, also
 * of the same timers. hwheel_synchronize() does not wait for timers that are pending.
 *
 * Use it when you can't call hwheel_cancel_sync(), because callbacks free the objects that
 * hold their timers: first cancel the timers, then call this.
 *
 * * Do not call this from a callback of @wheel.
 * * Do not hold a lock that any callback of @wheel takes.
 *
 * Context: as hwheel_cancel_sync().
 */
void hwheel_synchronize(struct hwheel *wheel)
{
	void *caller = __builtin_return_address(0);
	int cpu;

	if (hwheel_warn(IS_ERR_OR_NULL(wheel), caller,
			"hwheel: %ps waits for the callbacks of wheel %pe\n", caller, wheel))
		return;
	if (hwheel_warn(hwheel_in_callback(wheel), caller,
			"hwheel: %ps waits for the callbacks of wheel \"%s\" in one of them\n",
			caller, wheel->name))
		return;
	if (hwheel_warn(wheel->context == HWHEEL_WORK ? in_interrupt() : in_hardirq(), caller,
			"hwheel: %ps waits for the callbacks of wheel \"%s\" where one can't wait\n",
			caller, wheel->name))
		return;
	might_sleep_if(wheel->context == HWHEEL_WORK);
	hwheel_lockdep_sync_all(wheel);
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		u64 n;

		if (!hwheel_callback_runs(base, &n))
			continue;
		/* Do not wait for a later callback, even of the same timer: compare the number */
		if (wheel->context == HWHEEL_WORK)
			wait_event(base->wait, hwheel_callback_ended(base, n));
		else
			while (!hwheel_callback_ended(base, n))
				hwheel_wait_running(base);
	}
}
EXPORT_SYMBOL_GPL(hwheel_synchronize);
