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
	int ret = -1;

	base = hwheel_lock(timer, hwheel_base(timer), &flags);
	if (shutdown)
		timer->flags |= __HWHEEL_SHUT_DOWN;
	if (waiter && base->running == timer) {
		waiter->base = base;
		waiter->ret = -1;
		if (waiter->waits && base->wheel->context == HWHEEL_WORK) {
			waiter->next = base->waiters;
			base->waiters = waiter;
		}
	} else {
		ret = hwheel_remove_locked(base, timer);
	}
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

/* The caller will wait for callbacks of @wheel: may it? */
static void hwheel_may_wait(const struct hwheel *wheel)
{
	hwheel_warn(in_hardirq(),
		    "hwheel: callbacks of wheel \"%s\" are waited for in hardirq context\n",
		    wheel->name);
	might_sleep_if(wheel->context == HWHEEL_WORK);
	/* On PREEMPT_RT the caller may have to sleep until a callback in a softirq has ended */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && wheel->context == HWHEEL_SOFTIRQ)
		lockdep_assert_preemption_enabled();
}

static bool hwheel_remove_sync(struct hwheel_timer *timer, bool shutdown)
{
	struct hwheel_waiter waiter = { .waits = true };
	struct hwheel_base *base = hwheel_base(timer);
	int ret;

	hwheel_lockdep_wait(&timer->lockdep_map, base->wheel->context);
	hwheel_may_wait(base->wheel);
	while ((ret = hwheel_remove(timer, shutdown, &waiter)) < 0) {
		base = waiter.base;
		if (base->wheel->context != HWHEEL_WORK) {
			hwheel_wait_running(base);
			continue;
		}
		/* Pairs with hwheel_cancel_running() */
		wait_event(base->wait, (ret = smp_load_acquire(&waiter.ret)) != -1);
		if (ret != HWHEEL_ELSEWHERE)
			break;
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
	if (!data_race(hwheel_queued(timer)))
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

/*
 * The number of the callback that is running on @base, or 0. The callback of the same timer may be
 * running again, with another number. Takes the lock, so the caller sees what callbacks wrote.
 */
static u64 hwheel_callback(struct hwheel_base *base)
{
	unsigned long flags;
	u64 n;

	raw_spin_lock_irqsave(&base->lock, flags);
	n = base->running ? base->count[HWHEEL_EXPIRED_TIMERS] : 0;
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return n;
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
	int cpu;

	hwheel_may_wait(wheel);
	hwheel_lockdep_wait(&wheel->lockdep_map, 0);
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		u64 n = hwheel_callback(base);

		/* Do not wait for a later callback, even of the same timer */
		while (n && hwheel_callback(base) == n) {
			if (wheel->context == HWHEEL_WORK)
				wait_event(base->wait, hwheel_callback(base) != n);
			else
				hwheel_wait_running(base);
		}
	}
}
EXPORT_SYMBOL_GPL(hwheel_synchronize);
