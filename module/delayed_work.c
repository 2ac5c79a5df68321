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
 * If delayed work is armed while its wheel is being destroyed, the state is armed with a timer that
 * is not pending and never expires. Nobody may touch it once the wheel is gone.
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
 * hwheel_work_now(). Do not access @dwork after this: its function may free it.
 */
static __always_inline void hwheel_work_start(int cpu, struct workqueue_struct *wq,
					      struct hwheel_delayed_work *dwork,
					      ktime_t now, ktime_t delay, ktime_t slack)
{
	struct hwheel_base *base;

	if (delay <= 0) {
		queue_work_on(cpu, wq, &dwork->work);
		return;
	}
	base = hwheel_base_clock(&dwork->timer, &now);
	dwork->wq = wq;
	dwork->cpu = cpu;
	hwheel_arm_range(base, &dwork->timer, now, delay, slack, 0, -1);
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
 * __hwheel_queue_delayed_work - queue a work item after a delay, on a CPU, with slack
 * @cpu: as in hwheel_queue_delayed_work_on()
 * @wq: as in hwheel_queue_delayed_work()
 * @dwork: as in hwheel_queue_delayed_work()
 * @delay: as in hwheel_queue_delayed_work()
 * @slack: as in hwheel_queue_delayed_work_range()
 *
 * Context: any but NMI.
 * Return: as hwheel_queue_delayed_work().
 */
bool __hwheel_queue_delayed_work(int cpu, struct workqueue_struct *wq,
				 struct hwheel_delayed_work *dwork, ktime_t delay, ktime_t slack)
{
	ktime_t now = hwheel_work_now(dwork, delay);
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	unsigned long flags;
	bool queued;

	raw_spin_lock_irqsave(lock, flags);
	queued = !dwork->wq && !dwork->disabled && !hwheel_work_queued(dwork);
	if (queued)
		hwheel_work_start(cpu, wq, dwork, now, delay, slack);
	raw_spin_unlock_irqrestore(lock, flags);
	return queued;
}
EXPORT_SYMBOL_GPL(__hwheel_queue_delayed_work);

/**
 * __hwheel_mod_delayed_work - change when a work item is queued, or queue it
 * @cpu: as in hwheel_queue_delayed_work_on()
 * @wq: as in hwheel_mod_delayed_work()
 * @dwork: as in hwheel_mod_delayed_work()
 * @delay: as in hwheel_queue_delayed_work()
 * @slack: as in hwheel_queue_delayed_work_range()
 *
 * Context: any but NMI.
 * Return: as hwheel_mod_delayed_work().
 */
bool __hwheel_mod_delayed_work(int cpu, struct workqueue_struct *wq,
			       struct hwheel_delayed_work *dwork, ktime_t delay, ktime_t slack)
{
	ktime_t now = hwheel_work_now(dwork, delay);
	raw_spinlock_t *lock = hwheel_work_lock(dwork);
	struct hwheel_base *base;
	bool pending = false;
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	if (likely(!dwork->disabled)) {
		/* To re-arm the timer, it need not be cancelled first */
		if (dwork->wq && delay > 0) {
			base = hwheel_base_clock(&dwork->timer, &now);
			pending = hwheel_arm_range(base, &dwork->timer, now, delay, slack,
						   HWHEEL_MODE_PENDING, -1);
		}
		if (pending) {
			dwork->wq = wq;
			dwork->cpu = cpu;
		} else {
			pending = hwheel_work_stop(dwork, lock, &flags);
			if (likely(!dwork->disabled))	/* stopping may have dropped the lock */
				hwheel_work_start(cpu, wq, dwork, now, delay, slack);
		}
	}
	raw_spin_unlock_irqrestore(lock, flags);
	return pending;
}
EXPORT_SYMBOL_GPL(__hwheel_mod_delayed_work);

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
	return hwheel_work_cancel(dwork, 0);
}
EXPORT_SYMBOL_GPL(hwheel_cancel_delayed_work);

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
	return hwheel_work_cancel(dwork, 1);
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
	bool pending = hwheel_work_cancel(dwork, 1);

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

	raw_spin_lock_irqsave(lock, flags);
	disabled = dwork->disabled;
	dwork->disabled -= !!disabled;
	raw_spin_unlock_irqrestore(lock, flags);
	hwheel_warn(!disabled,
		    "hwheel: delayed work with function %ps enabled, and was not disabled\n",
		    dwork->work.func);
	return disabled <= 1;
}
EXPORT_SYMBOL_GPL(hwheel_enable_delayed_work);

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
