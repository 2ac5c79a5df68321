// SPDX-License-Identifier: GPL-2.0
/*
 * Runs: the callback of the hrtimer, and the callbacks of timers
 *
 * A run is the hrtimer's callback, in softirq or in hardirq context. In process context a
 * run is the work that the hrtimer's callback queues. The wheel chooses one of the three
 * contexts. A run
 *
 *  1. reads the clock,
 *  2. calls levels_step(), which does a bounded step,
 *  3. runs the callbacks of timers that are due,
 *  4. repeats this until nothing is left to do at the present time, or the run is cut,
 *  5. arms the hrtimer again.
 *
 * The run drops the lock around each callback, and after each batch of list moves.
 * Meanwhile anybody may arm and cancel timers: the levels are consistent after each step.
 * base->armed is 0 during a run, so arming touches neither the hrtimer nor the base's
 * clock; the run finds the new timers itself. In hardirq context interrupts stay off even
 * while the lock is dropped. So in that context a batch of list moves also ends the run, to
 * let interrupts in.
 *
 * A run that takes long leaves the CPU to others for a while: see "Gaps, rests and
 * breaks" below.
 *
 * Callbacks and waiters
 * ---------------------
 *
 * base->running is the timer whose callback a run executes. The timer itself has no mark,
 * because its callback may free it. While its callback runs, a timer stays on its base,
 * whichever CPU arms it. Hence a callback never runs on two CPUs at a time, and a waiter
 * has one base to look at. hwheel_add_on() stores the new base in base->dest, and the run
 * moves the timer when the callback has returned. A later arm replaces or clears
 * base->dest, and a cancel clears it. So if base->dest is set, the timer is pending, and
 * therefore not freed.
 *
 * How to wait for a callback depends on its context:
 *
 *  - hardirq: The waiter spins, on PREEMPT_RT too.
 *  - softirq: The waiter spins. On PREEMPT_RT a waiter can preempt the run, so it takes
 *    base->expiry_lock instead. A run holds that lock across callbacks, and the waiter
 *    lends the run its priority. The run drops the lock between callbacks if somebody
 *    waits.
 *  - process: The waiter sleeps on base->wait. It may get the CPU long after the callback has
 *    ended, and by then the next callback of the same timer may be running. So the run cancels
 *    the timer for those who wait (base->waiters) when the callback has returned. Tasks in
 *    hwheel_synchronize() compare the numbers of callbacks.
 *
 * A timer with the flag __HWHEEL_IRQS_OFF has a short callback of hwheel's own. It runs with
 * interrupts off in each context, so anybody can spin until it has ended.
 */

/*
 * How a run locks and unlocks its base. In hardirq context interrupts are off, and stay
 * off. @context is a constant in the runs, so they do not test it.
 */
static __always_inline void hwheel_lock_run(struct hwheel_base *base,
					    enum hwheel_context context)
	__acquires(&base->lock)
{
	if (context == HWHEEL_HARDIRQ)
		raw_spin_lock(&base->lock);
	else
		raw_spin_lock_irq(&base->lock);
}

static __always_inline void hwheel_unlock_run(struct hwheel_base *base,
					      enum hwheel_context context)
	__releases(&base->lock)
{
	if (context == HWHEEL_HARDIRQ)
		raw_spin_unlock(&base->lock);
	else
		raw_spin_unlock_irq(&base->lock);
}

#ifdef CONFIG_PREEMPT_RT
static void hwheel_init_expiry_lock(struct hwheel_base *base)
{
	spin_lock_init(&base->expiry_lock);
}

static void hwheel_lock_expiry(struct hwheel_base *base)
{
	spin_lock(&base->expiry_lock);
}

static void hwheel_unlock_expiry(struct hwheel_base *base)
{
	spin_unlock(&base->expiry_lock);
}

/* In a softirq run, with @base locked and no callback running: let waiters in. */
static void hwheel_yield_expiry(struct hwheel_base *base)
{
	if (atomic_read(&base->yield_to)) {
		raw_spin_unlock_irq(&base->lock);
		spin_unlock(&base->expiry_lock);
		spin_lock(&base->expiry_lock);
		raw_spin_lock_irq(&base->lock);
	}
}

static void hwheel_wait_expiry(struct hwheel_base *base)
{
	atomic_inc(&base->yield_to);
	spin_lock_bh(&base->expiry_lock);
	atomic_dec(&base->yield_to);
	spin_unlock_bh(&base->expiry_lock);
}
#else
static inline void hwheel_init_expiry_lock(struct hwheel_base *base) { }
static inline void hwheel_lock_expiry(struct hwheel_base *base) { }
static inline void hwheel_unlock_expiry(struct hwheel_base *base) { }
static inline void hwheel_yield_expiry(struct hwheel_base *base) { }

static inline void hwheel_wait_expiry(struct hwheel_base *base)
{
	cpu_relax();
}
#endif

/* A task that waits for a callback in process context, or that tried to cancel its timer */
struct hwheel_waiter {
	struct hwheel_waiter	*next;
	struct hwheel_base	*base;
	bool			waits;
	int			ret;	/* what cancelling returns; -1 while the callback runs */
};

/* As waiter->ret: the timer is on another base now, and the waiter is to try again */
#define HWHEEL_ELSEWHERE	(-2)

/* With @base locked: cancel @timer, which is on @base. Returns 1 if it was pending, else 0. */
static __always_inline int hwheel_remove_locked(struct hwheel_base *base,
						struct hwheel_timer *timer)
{
	if (!hwheel_queued(timer))
		return 0;
	if (unlikely(base->running == timer))
		base->dest = NULL;
	levels_del(&base->levels, timer);
	base->count[HWHEEL_CANCELLED]++;
	debug_hwheel(deactivate, timer);
	trace_hwheel_cancel(timer, NULL);
	return 1;
}

/*
 * The callback of @timer has returned. Cancel @timer for all who wait; then they may free it. The
 * callback may have set it up again, for another wheel, or armed it on another CPU then.
 */
static void hwheel_cancel_running(struct hwheel_base *base, struct hwheel_timer *timer)
{
	int ret = READ_ONCE(timer->base) == base ? hwheel_remove_locked(base, timer) :
						   HWHEEL_ELSEWHERE;
	struct hwheel_waiter *waiter;

	while ((waiter = base->waiters)) {
		base->waiters = waiter->next;
		/* Pairs with hwheel_remove_sync(): the waiter sees what the callback wrote */
		smp_store_release(&waiter->ret, ret);
		ret = min(ret, 0);
	}
}

/* Not in process context: wait until the callback that runs on @base may have ended. */
static void hwheel_wait_running(struct hwheel_base *base)
{
	if (base->wheel->context == HWHEEL_SOFTIRQ)
		hwheel_wait_expiry(base);
	else
		cpu_relax();
}

/*
 * Run the callback of @timer with the lock dropped. @context and @plain are constants. Unless the
 * call is @plain, interrupts stay off if the timer asks for that, and tracepoints see the call.
 * Most calls are plain, and keep nothing in registers for that.
 */
static __always_inline void hwheel_call(struct hwheel_base *base, struct hwheel_timer *timer,
					enum hwheel_context context, bool plain)
	__must_hold(&base->lock)
{
	void (*function)(struct hwheel_timer *timer) = timer->function;
	void *named = !plain && trace_hwheel_expire_exit_enabled() ? hwheel_named(timer) : NULL;
	ktime_t expires = timer->expires;	/* others may change it later */
	bool off = context == HWHEEL_HARDIRQ || (!plain && timer->flags & __HWHEEL_IRQS_OFF);
#ifdef CONFIG_LOCKDEP
	struct lockdep_map map;		/* the callback may free the timer */

	lockdep_copy_map(&map, &timer->lockdep_map);
#endif
	WRITE_ONCE(base->running, timer);
	if (off)
		raw_spin_unlock(&base->lock);
	else
		raw_spin_unlock_irq(&base->lock);

	lock_map_acquire(&base->wheel->lockdep_map);
	lock_acquire_exclusive(&map, context, 0, NULL, _THIS_IP_);
	if (!plain)
		trace_hwheel_expire_entry(base, timer, expires);
	function(timer);
	if (!plain && named)	/* else the event was off, and the timer may be gone */
		trace_hwheel_expire_exit(timer, named);
	lock_map_release(&map);
	lock_map_release(&base->wheel->lockdep_map);
	if (context == HWHEEL_WORK && !off)
		cond_resched();

	hwheel_lock_run(base, context);
	if (unlikely(base->dest))
		hwheel_move_running(base, timer);
	WRITE_ONCE(base->running, NULL);
	if (context == HWHEEL_WORK && base->waiters)
		hwheel_cancel_running(base, timer);
	if (off && context != HWHEEL_HARDIRQ) {
		/* The next callback may need them off, too: let interrupts in */
		hwheel_unlock_run(base, context);
		if (context == HWHEEL_WORK)
			cond_resched();
		cpu_relax();	/* sti takes effect after one more instruction */
		hwheel_lock_run(base, context);
	}
	if (context == HWHEEL_SOFTIRQ)
		hwheel_yield_expiry(base);
	if (context == HWHEEL_WORK && wq_has_sleeper(&base->wait)) {
		hwheel_unlock_run(base, context);
		wake_up_all(&base->wait);	/* takes a lock that sleeps on PREEMPT_RT */
		hwheel_lock_run(base, context);
	}
}

/* A call that is not plain. It is rare, so it is not inlined. */
static noinline void hwheel_call_special(struct hwheel_base *base, struct hwheel_timer *timer,
					 enum hwheel_context context)
	__must_hold(&base->lock)
{
	hwheel_call(base, timer, context, false);
}

/*
 * Run the callbacks of timers that are due, until *@now, in @tick, reaches @end. At first it is
 * less. Read the clock after every HWHEEL_CLOCK_EVERY callbacks, and when a jiffy has begun. The
 * lateness of a timer is the last reading of the clock minus the timer's time. So the lateness may
 * be too small, by the time of HWHEEL_CLOCK_EVERY callbacks or by about a jiffy, whichever is less.
 * A timer that somebody has made due by setting the clock is late from that moment on.
 * Read the clock after each callback
 *
 * - in hardirq context: nothing else runs there, and the jiffy may not advance;
 * - on a wheel of wall time: the clock may have been set back during the callback. Then
 *   hwheel_time() moves all timers from HWHEEL_EXPIRED to HWHEEL_STRAY, and the loop ends.
 */
static __always_inline void hwheel_fire(struct hwheel_base *base, ktime_t *now, u64 tick,
					ktime_t end, enum hwheel_context context)
{
	const unsigned int every = context == HWHEEL_HARDIRQ || base->wheel->clock->ahead ?
				   1 : HWHEEL_CLOCK_EVERY;
	unsigned int left = every;
	unsigned long last = jiffies;
	struct hwheel_timer *timer;
	u64 late;

	while ((timer = levels_pop(&base->levels, tick))) {
		late = (u64)*now + (u64)base->offset - (u64)max(timer->expires, base->set);
		base->late[fls64(late)]++;
		hwheel_note_max(base, HWHEEL_MAX_LATE_NS, late);
		base->count[HWHEEL_EXPIRED_TIMERS]++;
		debug_hwheel(deactivate, timer);
		if (unlikely(timer->flags & __HWHEEL_IRQS_OFF) ||
		    trace_hwheel_expire_entry_enabled() || trace_hwheel_expire_exit_enabled())
			hwheel_call_special(base, timer, context);
		else
			hwheel_call(base, timer, context, true);

		if (--left && !time_after(jiffies, last))
			continue;
		left = every;
		last = jiffies;
		*now = hwheel_time(base);
		if (*now >= end)
			return;
		tick = hwheel_tick_down(base, *now);
	}
	if (left != every)
		*now = hwheel_time(base);
}

static void hwheel_queue_work(struct hwheel_base *base)
{
	if (unlikely(base->closing))
		return;
	queue_work_on(base->cpu, base->wheel->wq, &base->work);
}

/* ------------------------------------------------------------------------ */
/* Gaps, rests and breaks: who gets the CPU next, and for how long */

/*
 * A run ends when nothing is left to do, or when it is cut:
 *
 *	the run is cut when			it then leaves the CPU for
 *	-----------------------------------	-----------------------------------
 *	not in hardirq context, the run has	an eighth of the budget
 *	  used up the budget
 *	no timer is due, and moves have		1 us
 *	  taken 50 us
 *	in hardirq context, a batch of		1 us
 *	  moves is done
 *	in hardirq context, base->spent has	the budget
 *	  reached the budget: see
 *	  hwheel_overdrawn()
 *
 * If no timer is due, a run that is cut for one of the first three reasons leaves the CPU for at
 * least as long as its moves took.
 *
 * If something is left to do before that time has passed, or the last reason has cut the run, it
 * sets one or both of the instants for which hwheel_next_run() arms the hrtimer:
 *
 *	rest	move_from	Only moves are left. A timer that is due before fires; the run that
 *				fires it is cut when only moves are left, and the rest goes on
 *	break	both		A timer is due, or hardirq runs have had the CPU too long
 *	gap	fire_from	The wheel has gap_ns, and the run has fired timers: until gap_ns
 *				after its end. If nothing is left to do, move_from, too:
 *				levels.ahead makes moves begin gap_ns earlier
 *
 * A break replaces a gap, unless nothing is left to do and the gap ends later. A run that begins
 * in a gap, to move timers, fires those that are due.
 *
 * In process context there is no rest and no break. The run queues its work again, behind
 * other works, and the scheduler shares out the CPU.
 */
enum hwheel_cut {
	HWHEEL_NOT_CUT,
	HWHEEL_CUT_MOVES,	/* moves took long, or can wait */
	HWHEEL_CUT_BUDGET,	/* the run used up the budget */
	HWHEEL_CUT_OVERDRAWN,	/* hardirq runs had the CPU too long */
};

/*
 * A hardirq run that ran callbacks, from @begin to @now, is about to end: add its time to
 * base->spent. Returns true, and sets base->spent to 0, if base->spent has reached the budget.
 * The run is then cut, and a break follows. Without these breaks, short hardirq runs that
 * follow each other closely could keep tasks from running: hardirq context has no ksoftirqd.
 *
 *	base->spent = time of these runs - time between them, at least 0
 *
 * The time of a run counts from the expiration of its hrtimer. A late hrtimer adds at most an
 * eighth of the budget.
 */
static bool hwheel_overdrawn(struct hwheel_base *base, ktime_t begin, ktime_t now)
{
	u64 budget = base->wheel->budget_ns;
	ktime_t due = max(base->expires, begin - (ktime_t)(budget / HWHEEL_BREAK));

	due = clamp(due, base->ended, begin);
	base->spent -= min_t(u64, base->spent, due - base->ended);
	base->spent += now - due;
	base->ended = now;
	if (base->spent < budget)
		return false;
	base->spent = 0;
	return true;
}

/*
 * Returns for how many ns a run, which was @cut at @now, leaves the CPU to others.
 * @moving: how many ns its batches of moves took.
 * @ripe: a timer is due.
 */
static u64 hwheel_pause(const struct hwheel_base *base, enum hwheel_cut cut, ktime_t now,
			u64 moving, bool ripe)
{
	const u64 budget = base->wheel->budget_ns;
	const u64 least[] = {
		[HWHEEL_CUT_MOVES]	= HWHEEL_URGENT_NS,
		[HWHEEL_CUT_BUDGET]	= max(budget / HWHEEL_BREAK, 1ULL),
		[HWHEEL_CUT_OVERDRAWN]	= budget,
	};

	if (cut == HWHEEL_CUT_MOVES && !ripe && now < base->move_from)
		return base->move_from - now;	/* the rest goes on */
	return max(least[cut], ripe || cut == HWHEEL_CUT_OVERDRAWN ? 0 : moving);
}

/*
 * End a run at @now. Batches of moves took @moving ns. Returns true if the run was @cut with work
 * left to do.
 */
static bool hwheel_end_run(struct hwheel_base *base, enum hwheel_cut cut, ktime_t now,
			   u64 moving, bool fired, enum hwheel_context context)
{
	u64 gap = fired ? base->wheel->gap_ns : 0;
	bool overdrawn = cut == HWHEEL_CUT_OVERDRAWN, ripe, left;
	ktime_t until;

	if (gap)
		base->fire_from = now + gap;
	ripe = cut && levels_due_tick(&base->levels) <= hwheel_tick_down(base, now);
	until = hwheel_deadline(now, hwheel_pause(base, cut, now, moving, ripe));
	left = cut && hwheel_tick_ns(base, levels_wake(&base->levels)) <= until;
	if (left && context == HWHEEL_WORK) {
		hwheel_queue_work(base);
		return true;
	}
	if (!left)			/* a longer gap counts */
		until = max(until, base->fire_from);
	if (left || overdrawn) {	/* another CPU may soon arm a timer for this one */
		base->move_from = until;
		if (ripe || overdrawn)
			base->fire_from = until;
	} else if (gap) {
		base->move_from = base->fire_from;
	}
	base->armed = HWHEEL_NEVER;
	hwheel_arm_next(base);
	return left;
}

/*
 * Run timers that are due by *@now, and move crowds ahead of their time, until nothing is
 * left to do or the run is cut. *@now is the time that was read last. *@moving counts the
 * ns that batches of moves take.
 */
static __always_inline enum hwheel_cut
hwheel_process(struct hwheel_base *base, ktime_t *now, u64 *moving, bool *fired,
	       enum hwheel_context context)
{
	struct hwheel_levels *levels = &base->levels;
	ktime_t end = hwheel_deadline(*now, base->wheel->budget_ns), locked = *now;
	unsigned int work = 0;

	for (;;) {
		u64 tick = hwheel_tick_down(base, *now);
		u64 before = levels->moved;
		enum hwheel_step step;

		/* Moves ahead of time can wait */
		if (unlikely(*now < base->move_from || *moving >= HWHEEL_MOVE_NS) &&
		    levels_due_tick(levels) > tick)
			return HWHEEL_CUT_MOVES;
		step = levels_step(levels, tick);
		if (step == HWHEEL_IDLE)
			return HWHEEL_NOT_CUT;
		if (levels->moved != before)
			trace_hwheel_cascade(base, levels->moved - before);
		if (*now >= end)
			return HWHEEL_CUT_BUDGET;
		if (step == HWHEEL_DUE) {
			hwheel_fire(base, now, tick, end, context);
			*fired = true;
		} else {
			/* A step that moves one timer looks at all levels, too */
			work += max_t(u64, levels->moved - before, HWHEEL_STEP / 4);
			if (work + HWHEEL_STEP <= HWHEEL_BATCH)
				continue;
			*now = hwheel_time(base);
			*moving += *now - locked;
			hwheel_note_max(base, HWHEEL_MAX_LOCKED_NS, *now - locked);
			if (context == HWHEEL_HARDIRQ)
				return HWHEEL_CUT_MOVES;
			hwheel_unlock_run(base, context);
			if (context == HWHEEL_WORK)
				cond_resched();
			else
				cpu_relax();
			hwheel_lock_run(base, context);
			*now = hwheel_time(base);
		}
		locked = *now;
		work = 0;
	}
}

static __always_inline void hwheel_run(struct hwheel_base *base, enum hwheel_context context)
{
	ktime_t begin, now;
	enum hwheel_cut cut;
	bool fired = false;
	u64 moved, moving = 0;

	if (context == HWHEEL_SOFTIRQ)
		hwheel_lock_expiry(base);
	hwheel_lock_run(base, context);
	if (context != HWHEEL_WORK)
		base->count[HWHEEL_INTERRUPTS]++;
	base->armed = 0;
	if (unlikely(base->fire_from && base->expires == base->fire_from &&
		     base->wheel->gap_ns)) {
		base->count[HWHEEL_MODERATED]++;
		base->fire_from = 0;
	}
	begin = hwheel_time(base);
	now = begin;
	moved = base->levels.moved;

	cut = hwheel_process(base, &now, &moving, &fired, context);

	if (!fired && base->levels.moved == moved)
		base->count[HWHEEL_IDLE_INTERRUPTS]++;
	if (context == HWHEEL_HARDIRQ && fired && hwheel_overdrawn(base, begin, now))
		cut = HWHEEL_CUT_OVERDRAWN;
	if (hwheel_end_run(base, cut, now, moving, fired, context) && cut >= HWHEEL_CUT_BUDGET) {
		base->count[HWHEEL_BUDGET_OVERRUNS]++;
		trace_hwheel_budget(base, now, hwheel_deadline(begin, base->wheel->budget_ns));
	}
	hwheel_unlock_run(base, context);
	if (context == HWHEEL_SOFTIRQ)
		hwheel_unlock_expiry(base);
}

static enum hrtimer_restart hwheel_run_softirq(struct hrtimer *hrtimer)
{
	hwheel_run(container_of(hrtimer, struct hwheel_base, hrtimer), HWHEEL_SOFTIRQ);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hwheel_run_hardirq(struct hrtimer *hrtimer)
{
	hwheel_run(container_of(hrtimer, struct hwheel_base, hrtimer), HWHEEL_HARDIRQ);
	return HRTIMER_NORESTART;
}

/* base->armed is 0 from here on, so arming a timer leaves the hrtimer alone. */
static void hwheel_begin_work(struct hwheel_base *base)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&base->lock, flags);
	base->count[HWHEEL_INTERRUPTS]++;
	base->armed = 0;
	hwheel_queue_work(base);
	raw_spin_unlock_irqrestore(&base->lock, flags);
}

static enum hrtimer_restart hwheel_hrtimer_work(struct hrtimer *hrtimer)
{
	hwheel_begin_work(container_of(hrtimer, struct hwheel_base, hrtimer));
	return HRTIMER_NORESTART;
}

static void hwheel_run_work(struct work_struct *work)
{
	hwheel_run(container_of(work, struct hwheel_base, work), HWHEEL_WORK);
}
