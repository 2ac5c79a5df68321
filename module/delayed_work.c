// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed work
 *
 * Delayed work is a work item and a timer that queues it. It is in one of three states:
 *
 *	state	dwork->wq	timer			work item
 *	idle	NULL		not pending		not on a workqueue
 *	armed	a workqueue	pending, or its		not on a workqueue
 *				callback has begun
 *	queued	NULL		not pending		on a workqueue
 *
 * When the function begins, the workqueue code makes the state idle. All other changes are
 * made under a lock. The timer's callback takes this lock, too, and queues the work item.
 *
 * To end the state armed, one cancels the timer. If its callback has begun, it is too late for
 * that: the callback is about to look at the delayed work. Then one drops the lock, waits until
 * the callback has queued the work item, and takes the work item off the workqueue again.
 * The kernel's cancel_delayed_work() does the same. So once a cancel has returned true, nobody
 * looks at the delayed work any more, and it may be freed. One may wait in any context:
 * hwheel_call() runs these callbacks with interrupts off. So nothing but an NMI can interrupt
 * such a callback, and it runs on another CPU than the one that waits. (One also waits if the
 * work has been armed again, and hwheel_call() has not yet returned from the last callback.)
 *
 * As soon as the work item is queued, its function may run and free the delayed work. So the lock
 * is not part of the delayed work. Each lock is for all delayed work whose address has the same
 * hash.
 *
 * If the wheel is destroyed while delayed work is armed, or before it is armed, the state is armed
 * with a timer that is not pending and never expires. Cancelling makes it idle.
 */

#define HWHEEL_WORK_LOCK_BITS	8
#define HWHEEL_WORK_LOCKS	BIT(HWHEEL_WORK_LOCK_BITS)

static struct {
	raw_spinlock_t lock;	/* may have size 0 without CONFIG_SMP */
} ____cacheline_aligned_in_smp hwheel_work_locks[HWHEEL_WORK_LOCKS];

static void hwheel_work_init(void)
{
	unsigned int i;

	for (i = 0; i < HWHEEL_WORK_LOCKS; i++)
		raw_spin_lock_init(&hwheel_work_locks[i].lock);
}

static __always_inline raw_spinlock_t *hwheel_work_lock(const struct hwheel_delayed_work *dwork)
{
	return &hwheel_work_locks[hash_ptr(dwork, HWHEEL_WORK_LOCK_BITS)].lock;
}

/* Warn of bad arguments. Corrects a bad *@cpu. Returns false if the call must do nothing. */
static noinline bool hwheel_work_misused(const struct hwheel_delayed_work *dwork,
					 const struct workqueue_struct *wq, int *cpu, void *caller)
{
	if (hwheel_warn(!dwork || !dwork->work.func || !dwork->timer.function, caller,
			"hwheel: %ps used delayed work that is NULL or was never set up\n", caller))
		return false;
	if (hwheel_warn(!wq, dwork->work.func,
			"hwheel: delayed work with function %ps queued on no workqueue\n",
			dwork->work.func))
		return false;
	hwheel_warn(1, dwork->work.func,
		    "hwheel: delayed work with function %ps queued on CPU %d, which can not be\n",
		    dwork->work.func, *cpu);
	*cpu = WORK_CPU_UNBOUND;
	return true;
}

static __always_inline bool hwheel_work_exists(const struct hwheel_delayed_work *dwork)
{
	if (likely(dwork && dwork->work.func && dwork->timer.function))
		return true;
	return hwheel_work_misused(dwork, NULL, NULL, __builtin_return_address(0));
}

static __always_inline bool hwheel_work_may_queue(const struct hwheel_delayed_work *dwork,
						  const struct workqueue_struct *wq, int *cpu)
{
	if (likely(dwork && dwork->work.func && dwork->timer.function && wq &&
		   (*cpu == WORK_CPU_UNBOUND ||
		    ((unsigned int)*cpu < nr_cpu_ids && cpu_possible(*cpu)))))
		return true;
	return hwheel_work_misused(dwork, wq, cpu, __builtin_return_address(0));
}

/* With @dwork locked: is @dwork on a workqueue, and has its function not yet begun? */
static __always_inline bool hwheel_work_queued(struct hwheel_delayed_work *dwork)
{
	/*
	 * If this returns true, hwheel_work_queue() queues nothing: the work's function is about
	 * to begin. That function must see what the caller of hwheel_work_queue() has written.
	 * So this barrier pairs with the one that the workqueue code executes after it has
	 * cleared the pending bit of the work.
	 */
	smp_mb__after_spinlock();
	return work_pending(&dwork->work);
}

/*
 * The time on CLOCK_MONOTONIC, or 0 if @delay is 0 or less. Call this before @dwork is accessed,
 * as in hwheel_base_now(): the fence of the clock would wait for the cache misses of @dwork.
 */
static __always_inline ktime_t hwheel_work_now(struct hwheel_delayed_work *dwork, ktime_t delay)
{
	if (unlikely(delay <= 0))
		return 0;
	prefetchw(&dwork->work);
	prefetchw(&dwork->wq);
	return ktime_get();
}

/*
 * With @dwork locked and idle: arm it, or queue it at once. @now: the result of
 * hwheel_work_now(). Returns false if there is no wheel. Do not access @dwork after this: its
 * function may free it.
 */
static __always_inline bool hwheel_work_start(int cpu, struct workqueue_struct *wq,
					      struct hwheel_delayed_work *dwork,
					      ktime_t now, ktime_t delay, ktime_t slack)
{
	struct hwheel_base *base;

	if (delay <= 0) {
		queue_work_on(cpu, wq, &dwork->work);
		return true;
	}
	if (unlikely(!hwheel_base_clock(&dwork->timer, &base, &now)))
		return false;
	dwork->wq = wq;
	dwork->cpu = cpu;
	hwheel_arm_range(base, &dwork->timer, now, delay, slack, 0);
	return true;
}

/* With @dwork locked and armed: arm it anew, if its timer is pending. Returns false if not. */
static __always_inline bool hwheel_work_rearm(int cpu, struct workqueue_struct *wq,
					      struct hwheel_delayed_work *dwork,
					      ktime_t now, ktime_t delay, ktime_t slack)
{
	struct hwheel_base *base;

	if (unlikely(!hwheel_base_clock(&dwork->timer, &base, &now)) ||
	    unlikely(!hwheel_arm_range(base, &dwork->timer, now, delay, slack,
				       HWHEEL_MODE_PENDING)))
		return false;
	dwork->wq = wq;
	dwork->cpu = cpu;
	return true;
}

/*
 * With @dwork locked: end the state armed. May drop the lock for a while. Returns the workqueue
 * that @dwork was armed for, if @dwork is now idle. Returns NULL if it was not armed, or if its
 * callback has queued it.
 */
static __always_inline struct workqueue_struct *
hwheel_work_disarm(struct hwheel_delayed_work *dwork, raw_spinlock_t *lock, unsigned long *flags)
{
	struct workqueue_struct *wq;

	while ((wq = dwork->wq)) {
		if (likely(hwheel_try_cancel(&dwork->timer) >= 0)) {
			dwork->wq = NULL;
			break;
		}
		raw_spin_unlock_irqrestore(lock, *flags);
		cpu_relax();
		raw_spin_lock_irqsave(lock, *flags);
	}
	return wq;
}

/*
 * With @dwork locked: make it idle. May drop the lock for a while. Returns true if it was
 * pending.
 */
static __always_inline bool hwheel_work_stop(struct hwheel_delayed_work *dwork,
					     raw_spinlock_t *lock, unsigned long *flags)
{
	return hwheel_work_disarm(dwork, lock, flags) ||
	       (hwheel_work_queued(dwork) && cancel_work(&dwork->work));
}

/**
 * __hwheel_work_expired - callback of the timers of delayed work
 * @timer: the timer
 *
 * Context: that of the timer's wheel, but with interrupts off.
 */
void __hwheel_work_expired(struct hwheel_timer *timer)
{
	struct hwheel_delayed_work *dwork = container_of(timer, struct hwheel_delayed_work, timer);
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	struct workqueue_struct *wq;
	unsigned long flags;

	lockdep_assert_irqs_disabled();
	raw_spin_lock_irqsave(lock, flags);
	wq = dwork->wq;
	if (likely(wq)) {
		dwork->wq = NULL;
		queue_work_on(dwork->cpu, wq, &dwork->work);
	}
	raw_spin_unlock_irqrestore(lock, flags);
}
EXPORT_SYMBOL_GPL(__hwheel_work_expired);

/**
 * hwheel_destroy_delayed_work_on_stack - end the life of delayed work on the stack
 * @dwork: the delayed work, which is not pending, and whose function is not running
 *
 * Context: as hwheel_cancel_sync().
 */
void hwheel_destroy_delayed_work_on_stack(struct hwheel_delayed_work *dwork)
{
	if (unlikely(!hwheel_work_exists(dwork)))
		return;
	hwheel_destroy_on_stack(&dwork->timer);
	destroy_work_on_stack(&dwork->work);
}
EXPORT_SYMBOL_GPL(hwheel_destroy_delayed_work_on_stack);

static __always_inline bool hwheel_work_queue(int cpu, struct workqueue_struct *wq,
					      struct hwheel_delayed_work *dwork,
					      ktime_t delay, ktime_t slack)
{
	ktime_t now = hwheel_work_now(dwork, delay);
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	unsigned long flags;
	bool queued;

	if (unlikely(!hwheel_work_may_queue(dwork, wq, &cpu)))
		return false;
	raw_spin_lock_irqsave(lock, flags);
	queued = !dwork->wq && !dwork->disabled && !hwheel_work_queued(dwork) &&
		 hwheel_work_start(cpu, wq, dwork, now, delay, slack);
	raw_spin_unlock_irqrestore(lock, flags);
	return queued;
}

/**
 * hwheel_queue_delayed_work - queue a work item after a delay
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: nanoseconds from now; any value. If it is 0 or less, the work item is queued at
 *	once
 *
 * The work item is put on @wq at the first tick of the wheel at or after now + @delay. A
 * function that sleeps holds up no other callback. If @dwork is pending, or disabled,
 * nothing is done. The function may queue its own delayed work, and may free it. If the wheel
 * has been destroyed, or is being destroyed, @dwork stays pending until it is cancelled.
 *
 * Context: any but NMI.
 * Return: true if @dwork was queued. False if it was pending or is disabled, or if @delay is
 * more than 0 and @dwork was set up without a wheel. This is the reverse of what hwheel_add()
 * returns.
 */
bool hwheel_queue_delayed_work(struct workqueue_struct *wq,
			       struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return hwheel_work_queue(WORK_CPU_UNBOUND, wq, dwork, delay, 0);
}
EXPORT_SYMBOL_GPL(hwheel_queue_delayed_work);

/**
 * hwheel_queue_delayed_work_on - queue a work item on a CPU after a delay
 * @cpu: the CPU, which must not go offline, as in queue_work_on(); or WORK_CPU_UNBOUND. If
 *	the CPU is not possible, hwheel warns and lets the workqueue choose
 * @wq: as in hwheel_queue_delayed_work()
 * @dwork: as in hwheel_queue_delayed_work()
 * @delay: as in hwheel_queue_delayed_work()
 *
 * Context: any but NMI.
 * Return: as hwheel_queue_delayed_work().
 */
bool hwheel_queue_delayed_work_on(int cpu, struct workqueue_struct *wq,
				  struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return hwheel_work_queue(cpu, wq, dwork, delay, 0);
}
EXPORT_SYMBOL_GPL(hwheel_queue_delayed_work_on);

/**
 * hwheel_queue_delayed_work_range - queue a work item after a delay, or a little later
 * @wq: as in hwheel_queue_delayed_work()
 * @dwork: as in hwheel_queue_delayed_work()
 * @delay: as in hwheel_queue_delayed_work()
 * @slack: how much later the work item may be queued, in nanoseconds, as in
 *	hwheel_add_range()
 *
 * Context: any but NMI.
 * Return: as hwheel_queue_delayed_work().
 */
bool hwheel_queue_delayed_work_range(struct workqueue_struct *wq,
				     struct hwheel_delayed_work *dwork,
				     ktime_t delay, ktime_t slack)
{
	return hwheel_work_queue(WORK_CPU_UNBOUND, wq, dwork, delay, slack);
}
EXPORT_SYMBOL_GPL(hwheel_queue_delayed_work_range);

static __always_inline bool hwheel_work_mod(int cpu, struct workqueue_struct *wq,
					    struct hwheel_delayed_work *dwork,
					    ktime_t delay, ktime_t slack)
{
	ktime_t now = hwheel_work_now(dwork, delay);
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	bool pending = false;
	unsigned long flags;

	if (unlikely(!hwheel_work_may_queue(dwork, wq, &cpu)))
		return false;
	raw_spin_lock_irqsave(lock, flags);
	if (likely(!dwork->disabled)) {
		/* To re-arm the timer, it need not be cancelled first */
		pending = dwork->wq && delay > 0 &&
			  hwheel_work_rearm(cpu, wq, dwork, now, delay, slack);
		if (!pending) {
			pending = hwheel_work_stop(dwork, lock, &flags);
			if (likely(!dwork->disabled))	/* stopping may have dropped the lock */
				hwheel_work_start(cpu, wq, dwork, now, delay, slack);
		}
	}
	raw_spin_unlock_irqrestore(lock, flags);
	return pending;
}

/**
 * hwheel_mod_delayed_work - change when a work item is queued, or queue it
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: as in hwheel_queue_delayed_work()
 *
 * If @dwork is pending, this call replaces the earlier one, also if @dwork is on a
 * workqueue already. Otherwise it works as hwheel_queue_delayed_work(). If @dwork is
 * disabled, nothing is done.
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending.
 */
bool hwheel_mod_delayed_work(struct workqueue_struct *wq,
			     struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return hwheel_work_mod(WORK_CPU_UNBOUND, wq, dwork, delay, 0);
}
EXPORT_SYMBOL_GPL(hwheel_mod_delayed_work);

/**
 * hwheel_mod_delayed_work_on - the same as hwheel_mod_delayed_work(), on a CPU
 * @cpu: as in hwheel_queue_delayed_work_on()
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: as in hwheel_queue_delayed_work()
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending.
 */
bool hwheel_mod_delayed_work_on(int cpu, struct workqueue_struct *wq,
				struct hwheel_delayed_work *dwork, ktime_t delay)
{
	return hwheel_work_mod(cpu, wq, dwork, delay, 0);
}
EXPORT_SYMBOL_GPL(hwheel_mod_delayed_work_on);

/**
 * hwheel_mod_delayed_work_range - the same as hwheel_mod_delayed_work(), with slack
 * @wq: the workqueue, of any kind
 * @dwork: the delayed work, set up
 * @delay: as in hwheel_queue_delayed_work()
 * @slack: as in hwheel_queue_delayed_work_range()
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending.
 */
bool hwheel_mod_delayed_work_range(struct workqueue_struct *wq,
				   struct hwheel_delayed_work *dwork,
				   ktime_t delay, ktime_t slack)
{
	return hwheel_work_mod(WORK_CPU_UNBOUND, wq, dwork, delay, slack);
}
EXPORT_SYMBOL_GPL(hwheel_mod_delayed_work_range);

/* Make @dwork idle. Disable it @disable times. Returns true if it was pending. */
static __always_inline bool hwheel_work_cancel(struct hwheel_delayed_work *dwork,
					       unsigned int disable)
{
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(lock, flags);
	pending = hwheel_work_stop(dwork, lock, &flags);
	dwork->disabled += disable;
	raw_spin_unlock_irqrestore(lock, flags);
	return pending;
}

/**
 * hwheel_cancel_delayed_work - cancel delayed work
 * @dwork: the delayed work
 *
 * Does not wait for the function, which may be running when this returns. But if this returns true,
 * and nobody queues @dwork while its function runs, then nothing uses @dwork any more, and you may
 * free it.
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending, and so its function will not run.
 */
bool hwheel_cancel_delayed_work(struct hwheel_delayed_work *dwork)
{
	return likely(hwheel_work_exists(dwork)) && hwheel_work_cancel(dwork, 0);
}
EXPORT_SYMBOL_GPL(hwheel_cancel_delayed_work);

/* Is the caller the function of @dwork? It would wait for itself: warn. */
static noinline bool hwheel_work_waits_for_itself(const struct hwheel_delayed_work *dwork)
{
	return hwheel_warn(current_work() == &dwork->work, dwork->work.func,
			   "hwheel: delayed work with function %ps waits for itself\n",
			   dwork->work.func);
}

/**
 * hwheel_disable_delayed_work - cancel delayed work and keep it from being queued
 * @dwork: the delayed work
 *
 * Nobody can queue @dwork until hwheel_enable_delayed_work() has undone each call of this
 * function. Like hwheel_cancel_delayed_work(), it does not wait for the function.
 *
 * Context: any but NMI.
 * Return: true if @dwork was pending.
 */
bool hwheel_disable_delayed_work(struct hwheel_delayed_work *dwork)
{
	return likely(hwheel_work_exists(dwork)) && hwheel_work_cancel(dwork, 1);
}
EXPORT_SYMBOL_GPL(hwheel_disable_delayed_work);

/**
 * hwheel_disable_delayed_work_sync - disable delayed work and wait for its function
 * @dwork: the delayed work
 *
 * Does what hwheel_disable_delayed_work() does. When this returns, the function is not
 * running.
 *
 * * Do not call this from the function.
 * * Do not hold a lock that the function takes.
 *
 * Context: task; sleeps.
 * Return: true if @dwork was pending.
 */
bool hwheel_disable_delayed_work_sync(struct hwheel_delayed_work *dwork)
{
	bool pending;

	if (unlikely(!hwheel_work_exists(dwork)))
		return false;
	pending = hwheel_work_cancel(dwork, 1);
	if (hwheel_work_waits_for_itself(dwork))
		return pending;
	/* A callback that has queued the work may not have returned yet. */
	hwheel_cancel_sync(&dwork->timer);
	cancel_work_sync(&dwork->work);
	return pending;
}
EXPORT_SYMBOL_GPL(hwheel_disable_delayed_work_sync);

/**
 * hwheel_enable_delayed_work - undo one hwheel_disable_delayed_work()
 * @dwork: the delayed work
 *
 * If @dwork is not disabled, hwheel warns and does nothing.
 *
 * Context: any but NMI.
 * Return: true if @dwork can be queued now.
 */
bool hwheel_enable_delayed_work(struct hwheel_delayed_work *dwork)
{
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	unsigned long flags;
	unsigned int disabled;

	if (unlikely(!hwheel_work_exists(dwork)))
		return false;
	raw_spin_lock_irqsave(lock, flags);
	disabled = dwork->disabled;
	dwork->disabled -= !!disabled;
	raw_spin_unlock_irqrestore(lock, flags);
	hwheel_warn(!disabled, dwork->work.func,
		    "hwheel: delayed work with function %ps enabled, and was not disabled\n",
		    dwork->work.func);
	return disabled <= 1;
}
EXPORT_SYMBOL_GPL(hwheel_enable_delayed_work);

/**
 * hwheel_cancel_delayed_work_sync - cancel delayed work and wait for its function
 * @dwork: the delayed work
 *
 * When this returns, @dwork is not pending and its function is not running, even if the
 * function queues it again. While this waits, nobody can queue @dwork. Afterwards others
 * may queue it again. If nobody does, @dwork may be freed.
 *
 * * Do not call this from the function.
 * * Do not hold a lock that the function takes.
 *
 * Context: task; sleeps.
 * Return: true if @dwork was pending.
 */
bool hwheel_cancel_delayed_work_sync(struct hwheel_delayed_work *dwork)
{
	bool pending;

	if (unlikely(!hwheel_work_exists(dwork)))
		return false;
	pending = hwheel_disable_delayed_work_sync(dwork);
	hwheel_enable_delayed_work(dwork);
	return pending;
}
EXPORT_SYMBOL_GPL(hwheel_cancel_delayed_work_sync);

/**
 * hwheel_flush_delayed_work - run delayed work now, if it is pending, and wait for it
 * @dwork: the delayed work
 *
 * If its timer is armed, the work item is queued at once. Then waits until the function
 * has run. If the function queues its own work again, this does not wait for that.
 *
 * * Do not call this from the function.
 * * Do not hold a lock that the function takes.
 * * The function must not free @dwork before this call returns.
 *
 * Context: task; sleeps.
 * Return: true if the call had to wait for the work item or its function, else false.
 */
bool hwheel_flush_delayed_work(struct hwheel_delayed_work *dwork)
{
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	struct workqueue_struct *wq;
	unsigned long flags;

	if (unlikely(!hwheel_work_exists(dwork)) || hwheel_work_waits_for_itself(dwork))
		return false;
	raw_spin_lock_irqsave(lock, flags);
	wq = hwheel_work_disarm(dwork, lock, &flags);
	if (wq)
		queue_work_on(dwork->cpu, wq, &dwork->work);
	raw_spin_unlock_irqrestore(lock, flags);
	return flush_work(&dwork->work);
}
EXPORT_SYMBOL_GPL(hwheel_flush_delayed_work);

/**
 * hwheel_delayed_work_pending - is delayed work queued, and has its function not yet begun?
 * @dwork: the delayed work
 *
 * Context: any but NMI. The answer may be out of date at once.
 * Return: true if @dwork is pending: its timer is armed, or it is on a workqueue.
 */
bool hwheel_delayed_work_pending(struct hwheel_delayed_work *dwork)
{
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	unsigned long flags;
	bool pending;

	if (unlikely(!hwheel_work_exists(dwork)))
		return false;
	raw_spin_lock_irqsave(lock, flags);
	pending = dwork->wq || work_pending(&dwork->work);
	raw_spin_unlock_irqrestore(lock, flags);
	return pending;
}
EXPORT_SYMBOL_GPL(hwheel_delayed_work_pending);

static void *hwheel_work_named(const struct hwheel_timer *timer)
{
	if (timer->function != __hwheel_work_expired)
		return NULL;
	return container_of(timer, struct hwheel_delayed_work, timer)->work.func;
}

static const struct hwheel_part hwheel_delayed_works = {
	.init	= hwheel_work_init,
	.named	= hwheel_work_named,
};
