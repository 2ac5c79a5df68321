// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed work: the operations of programs, and a model that the oracle checks
 *
 * In the model, an item of delayed work is pending or not, and has a count of disables.
 * Each call that queues the item, or queues it anew, gives it a new instance, which has a number.
 * An instance ends when the function begins to run for it, or when a call drops it: by a cancel,
 * or by a new instance. While the item has an instance, it is pending.
 *
 * hwheel does each call with a lock of the item held. So the oracle knows the state of the model
 * when a call takes effect. If a callback has begun, the call may first drop the lock to wait. The
 * simulated kernel and the tracepoints say what the call did to the timer and to the work item. It
 * must be what the model does. There is one exception: the function may begin while the lock is
 * held. Then the call may be right for the state before or after that.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "program.h"

static struct item {
	struct slot			*slot;		/* of its timer */
	struct hwheel_delayed_work	*dwork;		/* NULL: there is none */
	bool				pending;
	bool				queued;		/* on a workqueue */
	unsigned int			disabled;
	struct workqueue_struct		*wq;		/* of the last instance */
	int				cpu;
	u64				arrived;	/* callbacks that had the lock */
	unsigned int			hotplugs;	/* sim_hotplugs when it was queued */
	bool				may_move;	/* it was queued while a worker ran it */
	s64				not_before;	/* on the wheel's clock */
	unsigned int			sets;
	u64				nr;		/* of the last instance */
	u64				begun, ended;	/* the last instance that ran */
	u64				dropped;	/* the last instance that was dropped */
	u64				ran_at;

	unsigned int			owed;		/* calls that disabled it */
	int				how, left;
	s64				a, b;
} items[SIM_WORKS];

/* A call for an item */
struct work_call {
	struct item		*item;
	raw_spinlock_t		*lock;
	struct workqueue_struct	*wq;
	int			cpu;
	unsigned int		sections;	/* how often it has held the lock */
	bool			pending, queued, running;	/* when it was locked */
	bool			called;		/* the timer's callback was running then */
	bool			locked;		/* the call holds the lock now */
	bool			waited;		/* the call has dropped the lock to wait */
	u64			nr;		/* of the instance then */
	u64			begun, wanted;	/* when the lock was dropped: the last instance */
						/* that began to run, and the one a flush awaits */
	unsigned int		acts;		/* the item was armed or queued */
	bool			may_be[2];	/* may the call return false, true? */
};

/* For how long functions have run since @since, added up over all that still run */
u64 work_held_up(u64 since)
{
	u64 ns = 0;
	int i;

	for (i = 0; i < SIM_WORKS; i++)
		if (items[i].begun != items[i].ended)
			ns += sim_time - max(since, items[i].ran_at);
	return ns;
}

/* ------------------------------------------------------------------------ */
/* The model */

static struct item *item_of(const struct work_struct *work)
{
	int i;

	for (i = 0; i < SIM_WORKS; i++)
		if (items[i].dwork && &items[i].dwork->work == work)
			return &items[i];
	return NULL;
}

static int nr_of(const struct item *item)
{
	return item - items;
}

static void new_instance(struct item *item, const struct sim_call *call, bool queued)
{
	const struct work_call *wc = call->work;

	if (item->disabled)
		sim_find("delayed work %d is disabled, and is queued", nr_of(item));
	if (item->pending)
		item->dropped = item->nr;
	item->nr++;
	item->pending = true;
	item->queued = queued;
	item->wq = wc->wq;
	item->cpu = wc->cpu;
	item->not_before = call->delay > 0 && call->delay > KTIME_MAX - call->clock ? KTIME_MAX :
			   call->clock + max(call->delay, (s64)0);
	item->sets = call->sets;
}

/* Does a callback that has begun still wait for the lock? */
static void check_left_behind(const struct item *item, const struct sim_call *call)
{
	if (item->arrived < item->slot->pops)
		sim_find("after %s of delayed work %d a callback will look at it",
			 sim_kinds[call->kind], nr_of(item));
}

/* @call has armed the timer. */
void work_armed(struct slot *slot, struct sim_call *call)
{
	call->work->acts++;
	check_left_behind(call->work->item, call);
	if (!call->work->locked)
		sim_find("the timer of delayed work is armed without its lock");
	new_instance(call->work->item, call, false);
}

void oracle_work_queued(const struct work_struct *work, const struct workqueue_struct *wq, int cpu)
{
	struct item *item = item_of(work);
	struct sim_call *call = current->call;

	sim_works++;
	if (!item)
		return;
	if (call && call->work && call->work->item == item && call->kind != CALL_FLUSH) {
		if (call->delay > 0)
			sim_find("delayed work %d is queued at once, not after %lld ns",
				 nr_of(item), call->delay);
		new_instance(item, call, true);
		call->work->acts++;
	} else if (call && call->work && call->work->item == item) {
		call->work->acts++;
	} else {
		if (!current->expiry || !item->slot->running)
			sim_find("delayed work %d is queued, but no call asked for it",
				 nr_of(item));
		if (item->slot->pending || item->slot->popped)
			sim_find("delayed work %d is queued, and its timer is armed", nr_of(item));
		if (item->sets == sim_sets && sim_clock(item->slot->wheel) < item->not_before)
			sim_find("delayed work %d is queued %lld ns early", nr_of(item),
				 item->not_before - sim_clock(item->slot->wheel));
	}
	if (!item->pending || (item->queued && !(call && call->work)))
		sim_find("delayed work %d is queued, but is %s", nr_of(item),
			 item->pending ? "queued already" : "not pending");
	if (wq != item->wq || cpu != item->cpu)
		sim_find("delayed work %d is put on the wrong workqueue or CPU", nr_of(item));
	item->queued = true;
	item->hotplugs = sim_hotplugs;
	item->may_move = sim_work_runs(work);
}

void oracle_work_cancelled(const struct work_struct *work)
{
	struct item *item = item_of(work);
	struct sim_call *call = current->call;

	if (!item)
		return;
	if (!call || !call->work || call->work->item != item)
		sim_find("delayed work %d is cancelled, but no call asked for it", nr_of(item));
	item->pending = false;
	item->queued = false;
	item->dropped = item->nr;
}

void oracle_work_begins(const struct work_struct *work)
{
	struct item *item = item_of(work);

	if (!item)
		return;
	if (!item->pending || !item->queued)
		sim_find("delayed work %d runs, but is not queued", nr_of(item));
	if (item->disabled)
		sim_find("delayed work %d runs, but is disabled", nr_of(item));
	if (item->begun != item->ended)
		sim_find("delayed work %d runs twice at a time", nr_of(item));
	if (current->wq != item->wq)
		sim_find("delayed work %d runs on the wrong workqueue", nr_of(item));
	if (!item->wq->unbound && item->cpu >= 0 && !item->may_move && cpu_online(item->cpu) &&
	    item->hotplugs == sim_hotplugs && !(sim_hotplugs & 1) && sim_cpu->id != item->cpu)
		sim_find("delayed work %d runs on CPU %d, not %d", nr_of(item), sim_cpu->id,
			 item->cpu);
	item->pending = false;
	item->queued = false;
	item->begun = item->nr;
	item->ran_at = sim_time;
	sim_quiet_steps = 0;
}

/*
 * The timer's callback has ended. Unless somebody dropped the instance, it is on a workqueue. If
 * the lock is held, a call may be dropping the instance now: work_unlocked() checks that call.
 */
void work_expired(struct slot *slot, u64 life)
{
	const struct item *item = &items[slot->nr - sim_nr_slots];

	if (slot->life == life && item->pending && !item->queued && !slot->pending &&
	    !slot->popped && !peek_work_lock(item->dwork)->owner)
		sim_find("delayed work %d is lost: its timer has expired", nr_of(item));
}

void work_locked(raw_spinlock_t *lock, struct sim_call *call)
{
	struct work_call *wc = call->work;

	if (lock != wc->lock)
		return;
	wc->sections++;
	wc->locked = true;
	wc->pending = wc->item->pending;
	wc->queued = wc->item->queued;
	wc->running = wc->item->begun != wc->item->ended;
	wc->called = peek_running(wc->item->slot->timer);
	wc->nr = wc->item->nr;
	wc->acts = 0;
}

/* The call may return @ret. */
static void may_return(struct work_call *wc, bool ret)
{
	wc->may_be[ret] = true;
}

/* Does the call end the state armed? */
static bool disarms(const struct item *item, const struct sim_call *call)
{
	switch (call->kind) {
	case CALL_REQUEUE:
		return !item->disabled;
	case CALL_WORK_CANCEL:
	case CALL_WORK_SYNC:
	case CALL_DISABLE:
	case CALL_DISABLE_SYNC:
	case CALL_FLUSH:
		return true;
	default:
		return false;
	}
}

/* Does the call unlock the item because it waits for a callback that has begun, or is ending? */
static bool waits(const struct item *item, const struct sim_call *call)
{
	return disarms(item, call) && !call->work->acts && item->dwork->wq &&
	       (call->work->called || peek_running(item->slot->timer));
}

/*
 * How often may the call change the timer? While it waits, another call may arm the timer. Then
 * hwheel_mod_delayed_work() cancels that, and arms the timer itself.
 */
unsigned int work_most_changes(const struct sim_call *call)
{
	return call->kind == CALL_REQUEUE && call->work->waited ? 2 : 1;
}

/* The callback of @slot's timer has the lock of its item. */
void work_callback_locks(const struct slot *slot)
{
	items[slot->nr - sim_nr_slots].arrived = slot->pops;
}

/* @call is about to unlock the item: it has taken effect, or waits. */
void work_unlocked(raw_spinlock_t *lock, struct sim_call *call)
{
	struct work_call *wc = call->work;
	struct item *item = wc->item;
	/* Did the function begin since the call took the lock? */
	bool was = wc->pending, begun = item->begun >= wc->nr && item->dropped < wc->nr;

	if (lock != wc->lock)
		return;
	wc->locked = false;
	if (wc->sections > 1) {			/* hwheel_cancel_delayed_work_sync() enables it */
		item->disabled -= call->kind == CALL_WORK_SYNC;
		return;
	}
	if (waits(item, call)) {
		wc->sections--;
		wc->waited = true;
		return;
	}
	/* Once the call has armed the timer, the next callback may begin. */
	if (disarms(item, call) && !call->arms)
		check_left_behind(item, call);
	wc->begun = item->begun;
	wc->wanted = item->pending ? item->nr : item->begun;
	switch (call->kind) {
	case CALL_QUEUE:
		if (wc->acts && (was && !begun))
			sim_find("delayed work %d is queued, and was pending", nr_of(item));
		if (!wc->acts && !was && !item->disabled)
			sim_find("delayed work %d is not queued", nr_of(item));
		may_return(wc, wc->acts);
		break;
	case CALL_REQUEUE:
		if (!wc->acts && !item->disabled)
			sim_find("delayed work %d is not queued again", nr_of(item));
		may_return(wc, was && !begun && !item->disabled);
		break;
	case CALL_WORK_CANCEL:
	case CALL_WORK_SYNC:
	case CALL_DISABLE:
	case CALL_DISABLE_SYNC:
		if (wc->acts)
			sim_find("%s of delayed work %d queues it", sim_kinds[call->kind],
				 nr_of(item));
		if (item->queued)
			sim_find("delayed work %d is cancelled, and is on a workqueue",
				 nr_of(item));
		/* While hwheel is taking the timer off its wheel, the table may lag behind. */
		if (item->slot->pending && peek_queued(item->slot->timer))
			sim_find("delayed work %d is cancelled, and its timer is armed",
				 nr_of(item));
		may_return(wc, was && !begun);
		if (item->pending)
			item->dropped = item->nr;
		item->pending = false;
		item->disabled += call->kind != CALL_WORK_CANCEL;
		break;
	case CALL_ENABLE:
		item->disabled--;
		may_return(wc, !item->disabled);
		break;
	case CALL_WORK_PENDING:
		may_return(wc, was);
		if (begun)
			may_return(wc, false);
		break;
	default:			/* CALL_FLUSH: it waits outside of the lock */
		if (!wc->acts != !(was && !wc->queued))
			sim_find("flushing delayed work %d %s it", nr_of(item),
				 wc->acts ? "queues" : "does not queue");
		may_return(wc, false);
		if (was || wc->running || sim_work_busy(&item->dwork->work))
			may_return(wc, true);
	}
}

/* A call that waits has returned. */
static void check_waited(const struct sim_call *call)
{
	const struct work_call *wc = call->work;
	const struct item *item = wc->item;

	if (call->kind == CALL_FLUSH) {
		/* If the instance was dropped, the call waits for nothing. */
		if (item->ended < wc->wanted && item->dropped < wc->wanted)
			sim_find("hwheel_flush_delayed_work of %d returned before the work has run",
				 nr_of(item));
		return;
	}
	if (item->ended < wc->begun)
		sim_find("after %s of delayed work %d its function is running",
			 sim_kinds[call->kind], nr_of(item));
	if (item->slot->ends < call->pops ||
	    (item->nr == wc->nr && peek_running(item->slot->timer)))
		sim_find("after %s of delayed work %d its timer's callback is running",
			 sim_kinds[call->kind], nr_of(item));
}

/* ------------------------------------------------------------------------ */
/* Calls */

static struct item *get(long long nr)
{
	struct item *item = &items[(unsigned long long)nr % SIM_WORKS];

	if (!item->slot || item->slot->busy || !item->dwork)
		return NULL;
	item->slot->users++;
	return item;
}

static void put(struct item *item)
{
	item->slot->users--;
}

static struct workqueue_struct *workqueue(long long nr)
{
	switch ((unsigned long long)nr % 4) {
	case 0:
		return system_percpu_wq;
	case 1:
		return system_dfl_wq;
	default:
		return &sim_ordered_wqs[nr & 1];
	}
}

/* The caller uses @item. @cpu: less than 0 means any */
static void call_work(struct item *item, enum sim_kind kind, s64 delay, s64 wq, s64 cpu, s64 slack)
{
	struct work_call wc = { .item = item, .lock = peek_work_lock(item->dwork) };
	struct hwheel_delayed_work *dwork = item->dwork;
	struct sim_call call;
	bool ret = false;

	call_begin(&call, kind, item->slot);
	call.delay = delay;
	call.work = &wc;
	wc.wq = workqueue(wq);
	wc.cpu = cpu < 0 ? WORK_CPU_UNBOUND : cpu % sim_world.cpus;
	if (wc.cpu < 0 && slack > 0)
		call.slack = slack;
	switch (kind) {
	case CALL_QUEUE:
		ret = wc.cpu >= 0 ? hwheel_queue_delayed_work_on(wc.cpu, wc.wq, dwork, delay) :
		      slack > 0 ? hwheel_queue_delayed_work_range(wc.wq, dwork, delay, slack) :
		      hwheel_queue_delayed_work(wc.wq, dwork, delay);
		break;
	case CALL_REQUEUE:
		ret = wc.cpu >= 0 ? hwheel_mod_delayed_work_on(wc.cpu, wc.wq, dwork, delay) :
		      slack > 0 ? hwheel_mod_delayed_work_range(wc.wq, dwork, delay, slack) :
		      hwheel_mod_delayed_work(wc.wq, dwork, delay);
		break;
	case CALL_WORK_CANCEL:
		ret = hwheel_cancel_delayed_work(dwork);
		break;
	case CALL_WORK_SYNC:
		ret = hwheel_cancel_delayed_work_sync(dwork);
		break;
	case CALL_DISABLE:
		ret = hwheel_disable_delayed_work(dwork);
		break;
	case CALL_DISABLE_SYNC:
		ret = hwheel_disable_delayed_work_sync(dwork);
		break;
	case CALL_ENABLE:
		ret = hwheel_enable_delayed_work(dwork);
		break;
	case CALL_WORK_PENDING:
		ret = hwheel_delayed_work_pending(dwork);
		break;
	default:
		ret = hwheel_flush_delayed_work(dwork);
	}
	if (wc.sections != (kind == CALL_WORK_SYNC ? 2 : 1))
		sim_find("%s locks delayed work %d %u times", sim_kinds[kind], nr_of(item),
			 wc.sections);
	/* hwheel_flush_delayed_work() may also wait for an instance of another call. */
	if (!wc.may_be[ret] && !(kind == CALL_FLUSH && item->nr != wc.nr))
		sim_find("%s of delayed work %d returned %d", sim_kinds[kind], nr_of(item), ret);
	if (kind == CALL_WORK_SYNC || kind == CALL_DISABLE_SYNC || kind == CALL_FLUSH)
		check_waited(&call);
	if (kind == CALL_DISABLE || kind == CALL_DISABLE_SYNC)
		item->owed++;
	call_end(&call, ret);
}

/* ------------------------------------------------------------------------ */
/* Operations */

static void free_item(struct item *item)
{
	struct hwheel_delayed_work *dwork = item->dwork;

	item->dwork = NULL;
	slot_free(item->slot);
	sim_free(dwork);
}

/* Wait until nobody uses @item. Then free it. Returns false if somebody else does that. */
static bool take_away(struct item *item)
{
	struct slot *slot = item->slot;

	if (!slot || slot->busy || !item->dwork)
		return false;
	slot->busy = true;
	while (slot->users)
		sim_sleep(20000);
	call_work(item, CALL_WORK_SYNC, 0, 0, 0, 0);
	free_item(item);
	slot->busy = false;
	return true;
}

/* dsetup NR WHEEL HOW A B LEFT: set up delayed work, whose function does HOW */
void do_dsetup(const struct op *op)
{
	struct item *item = &items[(unsigned long long)op->arg[0] % SIM_WORKS];
	struct mwheel *w = &sim_wheels[(unsigned long long)op->arg[1] % SIM_WHEELS];
	struct hwheel_delayed_work *dwork;
	struct slot *slot;
	struct sim_call call;

	item->slot = &sim_slots[sim_nr_slots + nr_of(item)];
	slot = item->slot;
	if (slot->users)
		return;
	take_away(item);
	if (item->dwork || slot->busy || slot->expiries || item->begun != item->ended)
		return;
	slot->busy = true;
	dwork = sim_alloc(sizeof(*dwork), sim_rnd(2));
	if (!dwork || w->state != LIVE_WHEEL)
		goto out;
	w->setups++;
	memset(&dwork->timer.entry, 0, sizeof(dwork->timer.entry));
	slot->timer = &dwork->timer;
	call_begin(&call, CALL_SETUP, slot);
	call.wheel = w;
	HWHEEL_INIT_DELAYED_WORK(dwork, w->wheel, sim_work_function);
	call_end(&call, 0);
	slot_set_up(slot, w, w->life, false);
	item->dwork = dwork;
	item->pending = false;
	item->queued = false;
	item->disabled = 0;
	item->arrived = slot->pops;
	item->owed = 0;
	item->how = (unsigned long long)op->arg[2] % WORK_HOWS;
	item->a = op->arg[3];
	item->b = op->arg[4];
	item->left = min(op->arg[5], 200LL);
	w->setups--;
	dwork = NULL;
out:
	sim_free(dwork);
	slot->busy = false;
}

static void simple(const struct op *op, enum sim_kind kind)
{
	struct item *item = get(op->arg[0]);

	if (!item)
		return;
	call_work(item, kind, op->arg[1], op->arg[2], op->arg[3], op->arg[4]);
	put(item);
}

/* dqueue NR DELAY WORKQUEUE CPU SLACK, and dmod with the same arguments */
void do_dqueue(const struct op *op)	{ simple(op, CALL_QUEUE); }
void do_dmod(const struct op *op)	{ simple(op, CALL_REQUEUE); }
void do_dcancel(const struct op *op)	{ simple(op, CALL_WORK_CANCEL); }
void do_dsync(const struct op *op)	{ simple(op, CALL_WORK_SYNC); }
void do_dflush(const struct op *op)	{ simple(op, CALL_FLUSH); }
void do_ddisable(const struct op *op)	{ simple(op, CALL_DISABLE); }
void do_ddsync(const struct op *op)	{ simple(op, CALL_DISABLE_SYNC); }
void do_dpending(const struct op *op)	{ simple(op, CALL_WORK_PENDING); }

/* Undo a call that disabled the work, if there is one. */
void do_denable(const struct op *op)
{
	struct item *item = get(op->arg[0]);

	if (!item)
		return;
	if (item->owed) {
		item->owed--;
		call_work(item, CALL_ENABLE, 0, 0, 0, 0);
	}
	put(item);
}

void do_dfree(const struct op *op)
{
	take_away(&items[(unsigned long long)op->arg[0] % SIM_WORKS]);
}

/* dsleepto NR NS: sleep until NS before the timer expires */
void do_dsleepto(const struct op *op)
{
	const struct slot *slot = items[(unsigned long long)op->arg[0] % SIM_WORKS].slot;

	if (slot && slot->pending)
		sim_sleep(clamp(slot->expires - sim_clock(slot->wheel) - op->arg[1], (s64)0,
				100 * (s64)NSEC_PER_SEC));
}

void sim_work_function(struct work_struct *work)
{
	struct item *item = item_of(work), *other;
	u64 begin = sim_time, nr;
	int how;

	if (!item || to_hwheel_delayed_work(work) != item->dwork)
		sim_find("a function gets a work item that is no delayed work");
	if (in_interrupt() || irqs_disabled() || preempt_count())
		sim_find("the function of delayed work runs in %s", sim_context());
	nr = item->begun;
	how = item->how;
	if (sim_world.verbose)
		sim_log("delayed work %d runs", nr_of(item));
	if (how >= WORK_QUEUE && item->left-- <= 0) {
		item->left = 0;
		how = WORK_NOTHING;
	}
	switch (how) {
	case WORK_RUN:
		sim_run(min(item->a, (s64)1000000));
		break;
	case WORK_SLEEP:
		sim_sleep(clamp(item->a, (s64)0, (s64)20000000));
		break;
	case WORK_SLEEP_ON_WHEEL:
		sim_sleep_on_wheel(min(item->a, (s64)20000000), 0);
		break;
	case WORK_QUEUE:
	case WORK_MOD:
		call_work(item, how == WORK_MOD ? CALL_REQUEUE : CALL_QUEUE, item->a, item->b, -1,
			  0);
		break;
	case WORK_CANCEL:
		call_work(item, CALL_WORK_CANCEL, 0, 0, 0, 0);
		break;
	case WORK_DISABLE:
		call_work(item, CALL_DISABLE, 0, 0, 0, 0);
		break;
	case WORK_QUEUE_OTHER:
	case WORK_MOD_OTHER:
	case WORK_CANCEL_OTHER:
		other = get(item->a);
		if (other) {
			call_work(other, how == WORK_QUEUE_OTHER ? CALL_QUEUE :
				  how == WORK_MOD_OTHER ? CALL_REQUEUE : CALL_WORK_CANCEL,
				  item->b, item->a, -1, 0);
			put(other);
		}
		break;
	case WORK_FREE:
		if (!item->slot->busy && !item->slot->users && !item->pending &&
		    !item->slot->pending)
			free_item(item);
		break;
	}
	oracle_function_ran(sim_time - begin);
	item->ended = nr;
	sim_quiet_steps = 0;
}

/* @w is about to be destroyed: free the delayed work that uses it. */
void work_leaves(const struct mwheel *w)
{
	int i;

	for (i = 0; i < SIM_WORKS; i++)
		while (items[i].dwork && items[i].slot->wheel == w && !take_away(&items[i]))
			sim_sleep(20000);
}

/* Is a function queued or running? */
bool work_under_way(void)
{
	int i;

	for (i = 0; i < SIM_WORKS; i++)
		if (items[i].queued || items[i].begun != items[i].ended)
			return true;
	return false;
}

/* Work that was queued long ago has had time to run. Other work gets that time here. */
void check_works(void)
{
	int i;

	for (i = 0; i < SIM_WORKS; i++) {
		u64 begun = items[i].begun;
		int rounds;

		for (rounds = 0; rounds < 50 && items[i].pending && !items[i].slot->pending &&
		     items[i].begun == begun; rounds++)
			sim_sleep(20000000);
		if (rounds == 50)
			sim_find("delayed work %d is pending, and does not run", i);
		if (items[i].begun != items[i].ended)
			sim_find("delayed work %d does not end", i);
	}
}
