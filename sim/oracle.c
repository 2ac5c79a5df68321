// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle keeps a table of timers and wheels. It checks what each call of hwheel does
 * to them.
 *
 * hwheel calls tracepoints and debugobjects with the base locked, at the instant at which
 * a timer changes. The oracle then updates its table. When a call of the program returns,
 * the oracle checks what the call did and returned. If the call changed the timer, its
 * effect and return value must be right for the state that the timer had at that instant.
 * Otherwise they must be right for one of the states during the call.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/debugobjects.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/sched/task_stack.h>

#include "oracle.h"

#define fls64_(x)	((x) ? 64 - __builtin_clzll(x) : 0)

struct mwheel sim_wheels[SIM_WHEELS];
struct slot *sim_slots;
unsigned int sim_nr_slots, sim_all_slots;
u64 sim_calls, sim_fired, sim_worst;
unsigned int sim_suspends;
u64 sim_last_suspend;
u64 sim_late_ns;
const char *sim_expects;
bool sim_warned;
u64 sim_setups, sim_works;
unsigned int sim_left;
/* The kernel writes a module's parameters one by one */

/* Counts from tracepoints */
static u64 traced_entries, traced_exits, traced_moves[SIM_WHEELS], traced_cuts[SIM_WHEELS];

struct hwheel_delayed_work sim_delayed;

/* For timers that are not in a struct object. Only the first nr_apart of these were used. */
static struct object apart[SIM_WORKS + SIM_SLEEPERS];
static unsigned int nr_apart;

static struct object *object_of(const void *timer)
{
	static struct object delayed;	/* it has no slot */
	unsigned int i;

	if (timer == &sim_delayed.timer)
		return &delayed;
	for (i = 0; i < nr_apart; i++)
		if (apart[i].slot->timer == timer)
			return &apart[i];
	return container_of((struct hwheel_timer *)timer, struct object, timer);
}

static struct slot *slot_of(const void *timer)
{
	return object_of(timer)->slot;
}

/* Make @n slots for the program, and the slots for sleepers and delayed work. */
void oracle_slots(unsigned int n)
{
	unsigned int i;

	sim_nr_slots = n;
	sim_all_slots = n + ARRAY_SIZE(apart);
	sim_slots = calloc(sim_all_slots, sizeof(*sim_slots));
	for (i = 0; i < sim_all_slots; i++) {
		sim_slots[i].nr = i;
		sim_slots[i].user = i < n ? i % SIM_CALLBACKS :
				    i < n + SIM_WORKS ? USER_WORK : USER_SLEEPER;
		if (i >= n)
			apart[i - n].slot = &sim_slots[i];
	}
}

/* The timer of @slot begins a new life, on wheel @w. */
void slot_set_up(struct slot *slot, struct mwheel *w, unsigned int wheel_life, bool pinned)
{
	slot->wheel = w;
	slot->wheel_life = wheel_life;
	slot->pinned = pinned;
	slot->armed_once = false;
	slot->shut = false;
	slot->set_up = true;
	slot->life++;
	slot->popped = false;
	slot->running = 0;
	slot->ends = slot->pops;
	slot->expires = 0;
}

/* The timer of @slot is freed. */
void slot_free(struct slot *slot)
{
	slot->timer = NULL;
	slot->set_up = false;
	slot->life++;
	slot->popped = false;
	slot->running = 0;
	slot->ends = slot->pops;
}

static bool in_thread(const struct mwheel *w)
{
	return w->config.context == HWHEEL_WORK ||
	       (SIM_RT && w->config.context == HWHEEL_SOFTIRQ);
}

/* Is the wheel's clock one of wall time, which may be set? */
static bool wall(const struct mwheel *w)
{
	return w->config.flags & (HWHEEL_REALTIME | HWHEEL_TAI);
}

static bool deferrable(const struct mwheel *w)
{
	return w->config.flags & HWHEEL_DEFERRABLE;
}

/*
 * An isolated CPU may arm a timer on another CPU's base that lacks a level or fans. On a
 * deferrable wheel it sends no interrupt to that CPU, so the base gets them later.
 */
static bool asks_later(const struct mwheel *w)
{
	return deferrable(w) && (sim_world.nohz_full | sim_world.isolcpus);
}

/* The clock of the drive: that of the hrtimer */
static s64 drive_clock(const struct mwheel *w)
{
	return sim_time + (w->config.flags & HWHEEL_BOOTTIME ? sim_boot_off : 0);
}

/* The wheel's clock minus the drive's */
static s64 offset(const struct mwheel *w)
{
	return !wall(w) ? 0 : (s64)sim_wall_off + (w->config.flags & HWHEEL_TAI ? SIM_TAI_NS : 0);
}

s64 sim_clock(const struct mwheel *w)
{
	return drive_clock(w) + offset(w);
}

/* The time on the drive's clock when the wheel's is @due */
static s64 on_drive(const struct mwheel *w, s64 due)
{
	return due == KTIME_MAX ? due : max(due - offset(w), (s64)0);
}

/* Was the clock set since the wheel was created? Then the oracle knows less. */
static bool was_set(const struct mwheel *w)
{
	return wall(w) && w->sets != sim_sets;
}

/* Was the clock set, and may hwheel still be handling this on @cpu? */
static bool is_set(const struct mwheel *w, int cpu)
{
	return was_set(w) && (peek_setting(w->wheel, cpu) || sim_last_set >= w->run_begun[cpu]);
}

/* The last times at which the clock was set, and sim_wall_off before each of them */
static struct {
	u64			time;
	unsigned long long	off;
} sets[64];

u64 sim_last_set;

void oracle_set_clock(void)
{
	sets[sim_sets % ARRAY_SIZE(sets)].time = sim_time;
	sets[sim_sets % ARRAY_SIZE(sets)].off = sim_wall_off;
	sim_last_set = sim_time;
}

/*
 * hwheel is taking a timer off the wheel to run it. Returns the latest value that sim_clock()
 * may have had when hwheel last read it.
 */
static s64 clock_read(const struct mwheel *w)
{
	u64 grace = 2000 + 64 * sim_world.jitter + 4 * sim_world.stall_ns +
		    (sim_world.ranks || sim_world.holds ? NSEC_PER_SEC : 0);
	unsigned long long most = sim_wall_off;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sets) && wall(w); i++)
		if (sets[i].time && sets[i].time + grace >= sim_time)
			most = max(most, sets[i].off);
	return sim_clock(w) + (s64)(most - sim_wall_off);
}

/* ------------------------------------------------------------------------ */
/* Sums over time: what makes callbacks late */

#define TALLY	262144	/* more than twice the callbacks that run while a timer is late */

struct tally {
	struct {
		u64	time, sum;
	} *at;
	unsigned int	n;
};

static struct tally stalls, busy[SIM_CPUS];
/*
 * past: the time of callbacks whose timers were armed for the past. past_round: the same
 * sum, but each timer counts only once, with its longest callback.
 */
static struct tally past[SIM_WHEELS][SIM_CPUS];
static u64 past_round[SIM_WHEELS][SIM_CPUS];
static struct tally runs[SIM_CPUS];	/* ns of runs of all wheels and of their */
					/* interrupts, without callbacks */
static struct tally own[SIM_WHEELS][SIM_CPUS];		/* the same of one wheel */
static struct tally breaks[SIM_WHEELS][SIM_CPUS];	/* ns of breaks that runs may take */
static struct tally arms[SIM_WHEELS][SIM_CPUS];		/* number of armings */
static struct tally moves[SIM_WHEELS][SIM_CPUS];	/* number of list moves */
static struct tally called[SIM_WHEELS][SIM_CPUS];	/* number of callbacks */
static struct tally told[SIM_CPUS];	/* ns of interrupts that tell of a set clock */
static struct tally functions;				/* ns of functions of delayed work */
static unsigned int busy_depth[SIM_CPUS];
static u64 busy_since[SIM_CPUS];

static void tally(struct tally *t, u64 time, u64 more)
{
	u64 sum = t->n ? t->at[(t->n - 1) % TALLY].sum : 0;

	if (!t->at)
		t->at = malloc(TALLY * sizeof(*t->at));
	t->at[t->n % TALLY].time = time;
	t->at[t->n++ % TALLY].sum = sum + more;
}

/* The sum of all that was added since @time. */
static u64 tally_since(const struct tally *t, u64 time)
{
	unsigned int low = t->n > TALLY ? t->n - TALLY : 0, high = t->n, first = low;
	u64 before;

	if (!t->n)
		return 0;
	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (t->at[middle % TALLY].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		before = first ? t->at[first % TALLY].sum : 0;
	else
		before = t->at[(low - 1) % TALLY].sum;
	return t->at[(t->n - 1) % TALLY].sum - before;
}

void oracle_stalled(unsigned long long ns)
{
	if (ns)
		tally(&stalls, sim_time, ns);
}

/* The most that it costs to call a callback, or that an interrupt costs besides its run */
static u64 overhead_ns(void)
{
	return 400 + sim_world.jitter;
}

void busy_begin(void)
{
	int cpu = sim_cpu->id;

	if (!busy_depth[cpu]++)
		busy_since[cpu] = sim_time;
}

void busy_end(void)
{
	int cpu = sim_cpu->id;

	if (busy_depth[cpu] && !--busy_depth[cpu])
		tally(&busy[cpu], sim_time, sim_time - busy_since[cpu]);
}

/* For how long callbacks ran on @cpu, also those that have not ended */
static u64 busy_for(int cpu, u64 since)
{
	u64 ns = tally_since(&busy[cpu], since);

	if (busy_depth[cpu])
		ns += sim_time - max(since, busy_since[cpu]);
	return ns;
}

/* Each setting of the clock sends interrupts. A callback's time includes those that come in it. */
void oracle_interrupted(unsigned long long ns)
{
	int cpu = sim_cpu->id;

	if (sim_sets && !busy_depth[cpu] &&
	    sim_time < sim_last_set + sim_world.late_irq + 1000000)
		tally(&told[cpu], sim_time, ns);
}

void oracle_function_ran(u64 ns)
{
	tally(&functions, sim_time, ns);
}

/* For how long the functions of delayed work ran */
static u64 functions_since(u64 since)
{
	return tally_since(&functions, since) + work_held_up(since);
}

u64 oracle_held_up(u64 since)
{
	u64 ns = tally_since(&stalls, since - min(since, (u64)sim_world.stall_ns +
						  sim_world.late_irq));
	int i;

	for (i = 0; i < (int)sim_world.cpus; i++)
		ns += 3 * busy_for(i, since);
	return ns + 3 * functions_since(since);
}

/* The instant of the tick at which a timer armed for @expires is due */
s64 due_at(const struct mwheel *w, s64 expires)
{
	__int128 due = ((__int128)expires + w->tick - 1) / w->tick * w->tick;

	return expires <= 0 ? 0 : due > KTIME_MAX ? KTIME_MAX : (s64)due;
}

/* ------------------------------------------------------------------------ */
/* Calls */

static unsigned int state(const struct slot *slot)
{
	return (slot->pending ? SEEN_PENDING : SEEN_IDLE) |
	       (slot->popped || slot->running ? SEEN_RUNNING : SEEN_QUIET);
}

/*
 * Did the callback end so recently that hwheel may not know it? hwheel notes the end only
 * when it has locked the base again.
 */
static bool just_ran(const struct slot *slot)
{
	u64 grace = 100000 + 4 * (sim_world.stall_ns + sim_world.late_irq) +
		    (sim_world.ranks ? NSEC_PER_SEC : 0) +
		    (slot->wheel && slot->wheel->config.context == HWHEEL_WORK ? 50000000 : 0);

	return slot->pops && sim_time - slot->ended_at < grace;
}

/* @slot has changed: all calls under way for it may have seen its new state. */
static void changed(struct slot *slot)
{
	struct sim_call *call;
	unsigned int seen = state(slot);

	for (call = slot->calls; call; call = call->next)
		call->seen |= seen;
}

/* Does a wheel that is not freed have the timer of @slot? */
bool wheel_is_there(const struct slot *slot)
{
	return slot->wheel && slot->wheel->state != NO_WHEEL &&
	       slot->wheel_life == slot->wheel->life;
}

bool wheel_is_dead(const struct slot *slot)
{
	return !slot->wheel || slot->wheel->state != LIVE_WHEEL ||
	       slot->wheel_life != slot->wheel->life;
}

/* From here on @slot's wheel may interrupt @cpu, even if @cpu is isolated. */
void call_meant(const struct slot *slot, int cpu)
{
	if (slot->wheel)
		slot->wheel->meant[cpu] = true;
}

void oracle_moved(const struct sim_call *call, int cpu)
{
	if (call->slot && call->slot->pinned && call->kind <= CALL_ARMS)
		call_meant(call->slot, cpu);
}

void call_begin(struct sim_call *call, enum sim_kind kind, struct slot *slot)
{
	int cpu;

	*call = (struct sim_call){ .kind = kind, .slot = slot, .outer = current->call,
				   .cpu = sim_cpu->id, .was_on = -1, .on = -1,
				   .hotplugs = sim_hotplugs, .sets = sim_sets, .time = sim_time,
				   .sleeps = current->sleeps };
	sim_calls++;
	sim_quiet_steps = 0;
	current->relaxed = 0;
	current->unrested = 0;
	current->tries = 0;
	if (slot) {
		struct sim_call *other;

		if (slot->user >= SIM_CALLBACKS)
			nr_apart = max(nr_apart, slot->nr - sim_nr_slots + 1);
		call->alone = !slot->calls;
		for (other = slot->calls; other; other = other->next)
			other->alone = 0;
		call->seen = state(slot) | (just_ran(slot) ? SEEN_RUNNING : 0);
		call->pops = slot->pops;
		call->ran = slot->running;
		if (slot->set_up && slot->timer) {
			call->was_on = peek_timer_cpu(slot->timer);
			call->old_expires = peek_expires(slot->timer);
		}
		call->dead_wheel = wheel_is_dead(slot);
		call->shut = slot->shut || slot->shutting;
		if (slot->wheel)
			call->clock = sim_clock(slot->wheel);
		/* If the task moves to another CPU meanwhile, it may arm the timer there */
		for (cpu = 0; slot->pinned && kind <= CALL_ARMS && cpu < (int)sim_world.cpus; cpu++)
			if (cpu == sim_cpu->id || sim_world.migrate)
				call_meant(slot, cpu);
		call->next = slot->calls;
		call->link = &slot->calls;
		if (call->next)
			call->next->link = &call->next;
		slot->calls = call;
		if (kind == CALL_SHUTDOWN || kind == CALL_SHUTDOWN_SYNC) {
			slot->shutting++;
			for (other = slot->calls; other; other = other->next)
				other->shut = true;
		}
	}
	current->call = call;
}

static s64 add_sat(s64 a, s64 b)
{
	s64 sum;

	return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? KTIME_MIN : KTIME_MAX) : sum;
}

/*
 * May @slot be changing on another CPU? A call that reads without the lock may see a
 * change before it is in the table.
 */
static bool in_change(const struct slot *slot)
{
	return slot->calls->next || wheel_is_dead(slot) || was_set(slot->wheel) ||
	       (slot->pending && slot->expires <= sim_clock(slot->wheel));
}

const char *const sim_kinds[] = {
	"hwheel_add", "hwheel_add_range", "hwheel_add_at", "hwheel_add_on", "hwheel_mod_pending",
	"hwheel_reduce", "hwheel_add_forward", "hwheel_cancel", "hwheel_try_cancel",
	"hwheel_cancel_sync", "hwheel_shutdown", "hwheel_shutdown_sync", "hwheel_pending",
	"hwheel_expires", "hwheel_remaining", "hwheel_running", "hwheel_synchronize",
	"hwheel_setup", "hwheel_destroy", "hwheel_create", "other", "sleeping on a wheel",
	"hwheel_queue_delayed_work", "hwheel_mod_delayed_work", "hwheel_cancel_delayed_work",
	"hwheel_cancel_delayed_work_sync", "hwheel_disable_delayed_work",
	"hwheel_disable_delayed_work_sync", "hwheel_enable_delayed_work",
	"hwheel_delayed_work_pending", "hwheel_flush_delayed_work",
};

/*
 * How round @tick is. If the number of spokes of each level is a power of two, the greatest power
 * of two that divides @tick counts. Otherwise the width of the widest spoke that begins at @tick
 * counts first, and then the greatest power of two that divides @tick / width.
 */
static unsigned int roundness(const struct mwheel *w, u64 tick)
{
	unsigned int i, levels = peek_levels(w->wheel), level = 0;
	bool pow2 = true;
	u64 width = 1;

	for (i = 0; i < levels; i++)
		pow2 &= !(peek_spokes(w->wheel, i) & (peek_spokes(w->wheel, i) - 1));
	for (i = 1; i < levels && !pow2; i++)
		if (!(tick % (width * peek_spokes(w->wheel, i - 1)))) {
			width *= peek_spokes(w->wheel, i - 1);
			level = i;
		} else {
			break;
		}
	return level * 64 + __builtin_ctzll(tick / width);
}

/* Is @tick the roundest from @first to @last? */
static bool roundest(const struct mwheel *w, u64 tick, u64 first, u64 last)
{
	unsigned int i, best = roundness(w, tick);
	u64 width = 1, unit;

	for (i = 0; i < peek_levels(w->wheel); width *= peek_spokes(w->wheel, i++))
		for (unit = width; unit && unit <= last; unit *= 2)
			if (last / unit * unit >= first &&
			    roundness(w, last / unit * unit) > best)
				return false;
	return true;
}

/* @call has armed @slot for @expires: is this what the call asked for? */
static void check_armed(struct sim_call *call, struct slot *slot, s64 expires)
{
	s64 now = sim_clock(slot->wheel), low, high;

	if (wall(slot->wheel) && call->sets != sim_sets)
		return;		/* the clock was set meanwhile */
	switch (call->kind) {
	case CALL_AT:
		low = call->delay;
		high = add_sat(low, max_t(s64, call->slack, 0));
		break;
	case CALL_RANGE:
	case CALL_SLEEP:
	case CALL_QUEUE:
	case CALL_REQUEUE:
		low = add_sat(call->clock, call->delay);
		high = add_sat(add_sat(now, call->delay), max_t(s64, call->slack, 0));
		break;
	case CALL_FORWARD:
		low = KTIME_MIN;
		high = KTIME_MAX;
		break;
	default:
		low = add_sat(call->clock, call->delay);
		high = add_sat(now, call->delay);
	}
	if (expires < low || expires > high)
		sim_find("%s of timer %d armed it for %lld, not %lld to %lld",
			 sim_kinds[call->kind], slot->nr, expires, low, high);
	/* If there is a tick in the window, hwheel must pick a tick. */
	if (call->kind == CALL_AT && call->slack > 0 && call->delay > 0 && high < KTIME_MAX) {
		s64 first = (low + (s64)slot->wheel->tick - 1) / slot->wheel->tick;

		if (first * (s64)slot->wheel->tick <= high && expires % slot->wheel->tick)
			sim_find("hwheel_add_at with slack picked %lld, which is no tick", expires);
		else if (first * (s64)slot->wheel->tick <= high &&
			 !roundest(slot->wheel, expires / slot->wheel->tick, first,
				   high / slot->wheel->tick))
			sim_find("hwheel_add_at from %lld to %lld picked %lld", low, high, expires);
		if (first * (s64)slot->wheel->tick > high && expires != low)
			sim_find("hwheel_add_at moved the time, but the slack has no tick");
	}
}

void call_end(struct sim_call *call, s64 ret)
{
	struct slot *slot = call->slot;
	const char *kind = sim_kinds[call->kind];

	sim_quiet_steps = 0;
	current->relaxed = 0;
	if (current->call != call)
		sim_find("%s: calls end in another order than they began", kind);
	current->call = call->outer;
	if (!slot)
		return;
	call->dead_wheel |= wheel_is_dead(slot);
	if (call->arms + call->cancels > (call->work ? work_most_changes(call) : 1) &&
	    call->kind != CALL_SETUP && call->kind != CALL_SLEEP)
		sim_find("%s of timer %d changed it %u times", kind, slot->nr,
			 call->arms + call->cancels);
	if (call->kind <= CALL_ARMS) {
		bool may_not = call->dead_wheel || call->shut || slot->shut;

		if (call->kind == CALL_MOD && call->seen & SEEN_IDLE)
			may_not = true;
		if (call->kind == CALL_REDUCE && call->seen & SEEN_PENDING)
			may_not = true;
		if (!call->arms && !may_not)
			sim_find("%s of timer %d did not arm it", kind, slot->nr);
		if (call->kind == CALL_FORWARD)
			;
		else if (call->arms && ret != call->was_pending)
			sim_find("%s of timer %d returned %lld, but it was %spending", kind,
				 slot->nr, ret, call->was_pending ? "" : "not ");
		else if (!call->arms && !(call->seen & (ret ? SEEN_PENDING : SEEN_IDLE)))
			sim_find("%s of timer %d returned %lld, but it was never in that state",
				 kind, slot->nr, ret);
		if (call->kind == CALL_FORWARD && call->arms && call->alone && slot->pending &&
		    !call->dead_wheel && (!wall(slot->wheel) || call->sets == sim_sets)) {
			s64 step = max_t(s64, call->delay, 1), now = sim_clock(slot->wheel);

			if (slot->expires < KTIME_MAX &&
			    (u64)slot->expires != (u64)call->old_expires + (u64)ret * step)
				sim_find("%s(%lld) from %lld returned %lld and armed for %lld",
					 kind, step, call->old_expires, ret, slot->expires);
			if (slot->expires <= call->clock || (ret && slot->expires - step > now))
				sim_find("hwheel_add_forward(%lld) armed for %lld at %lld", step,
					 slot->expires, now);
		}
	} else if (call->kind <= CALL_CANCELS) {
		if (call->kind == CALL_TRY) {
			if (ret > 1 || ret < -1 || (ret == 1 ? !call->cancels : call->cancels))
				sim_find("hwheel_try_cancel of timer %d returned %lld and %s",
					 slot->nr, ret, call->cancels ? "cancelled" : "did not");
			if (ret == -1 && !(call->seen & SEEN_RUNNING))
				sim_find("%s of timer %d returned -1, but it never ran", kind,
					 slot->nr);
			if (!ret && !(call->seen & SEEN_QUIET))
				sim_find("hwheel_try_cancel of timer %d returned 0 while it ran",
					 slot->nr);
		} else {
			if (ret && !call->cancels && slot->cancels) {
				slot->cancels--;
				call->cancels++;
			}
			if (ret != !!call->cancels)
				sim_find("%s of timer %d returned %lld and %s", kind, slot->nr, ret,
					 call->cancels ? "cancelled" : "did not");
			if (slot->cancels && call->alone)
				sim_find("a run cancelled timer %d, and no call says so", slot->nr);
		}
		if (!ret && !(call->seen & SEEN_IDLE) && !in_change(slot))
			sim_find("%s of timer %d returned 0, but it was pending all the time",
				 kind, slot->nr);
		if (call->kind == CALL_CANCEL_SYNC || call->kind == CALL_SHUTDOWN_SYNC) {
			if (!call->dead_wheel && slot->wheel->config.context == HWHEEL_WORK &&
			    !in_interrupt() && call->sleeps == current->sleeps)
				sim_find("%s of timer %d may sleep, and does not say so", kind,
					 slot->nr);
			if (slot->ends < call->pops)
				sim_find("%s of timer %d returned while its callback is running",
					 kind, slot->nr);
			if (call->kind == CALL_SHUTDOWN_SYNC && call->alone &&
			    (slot->pending || slot->popped || slot->running ||
			     hwheel_running(slot->timer)))
				sim_find("after %s timer %d is %s", kind, slot->nr,
					 slot->pending ? "pending" : "running");
		}
		if (call->kind == CALL_SHUTDOWN || call->kind == CALL_SHUTDOWN_SYNC) {
			slot->shutting--;
			slot->shut = true;
		}
	} else if (call->kind == CALL_PENDING) {
		if (!(call->seen & (ret ? SEEN_PENDING : SEEN_IDLE)) && !in_change(slot))
			sim_find("hwheel_pending of timer %d returned %lld", slot->nr, ret);
	} else if (call->kind == CALL_RUNNING) {
		if (ret ? !(call->seen & SEEN_RUNNING) :
		    call->ran && slot->running && slot->pops == call->pops)
			sim_find("hwheel_running of timer %d returned %lld", slot->nr, ret);
	} else if (call->kind == CALL_EXPIRES) {
		if (call->alone && slot->armed_once && ret != slot->expires &&
		    ret != call->old_expires)
			sim_find("hwheel_expires of timer %d returned %lld, not %lld", slot->nr,
				 ret, slot->expires);
	} else if (call->kind == CALL_REMAINING && slot->wheel && call->alone &&
		   !call->dead_wheel && slot->expires == call->old_expires && slot->armed_once &&
		   (!wall(slot->wheel) || call->sets == sim_sets)) {
		s64 now = sim_clock(slot->wheel);

		if (slot->expires > KTIME_MIN / 2 &&
		    (ret > slot->expires - call->clock || ret < slot->expires - now))
			sim_find("hwheel_remaining of timer %d returned %lld, not %lld to %lld",
				 slot->nr, ret, slot->expires - now,
				 slot->expires - call->clock);
	}
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
}

/*
 * Call hwheel_synchronize(). When it returns, each callback that began before the call must have
 * ended. The callbacks of a base run one after the other. So it is enough to count how many have
 * begun, and how many have ended.
 */
void call_synchronize(struct mwheel *w)
{
	bool sleeps = w->config.context == HWHEEL_WORK;
	struct sim_call call;
	unsigned int cpu;
	u64 begun[SIM_CPUS];

	call_begin(&call, CALL_SYNCHRONIZE, NULL);
	memcpy(begun, w->begun, sizeof(begun));
	hwheel_synchronize(w->wheel);
	if (sleeps && call.sleeps == current->sleeps)
		sim_find("hwheel_synchronize of %s may sleep, and does not say so", w->name);
	for (cpu = 0; cpu < sim_world.cpus; cpu++)
		if (w->ended[cpu] < begun[cpu])
			sim_find("hwheel_synchronize of %s returned, and a callback runs on CPU %u",
				 w->name, cpu);
	call_end(&call, 0);
}

/* ------------------------------------------------------------------------ */
/* Calls that hwheel makes: debugobjects, tracepoints */

const struct debug_obj_descr *sim_descr;

static void object_init(void *addr, const struct debug_obj_descr *descr, bool on_stack)
{
	const struct sim_call *call = current->call;
	struct object *object;
	struct slot *slot;

	if (on_stack && call && call->kind == CALL_SLEEP) {	/* tells where the timer is */
		if (call->slot->timer)
			sim_find("a call to sleep uses two timers");
		call->slot->timer = addr;
	}
	object = object_of(addr);
	slot = object->slot;
	sim_descr = descr;
	if (on_stack != object_is_on_stack(addr))
		sim_find("debugobjects: a timer is %son the stack", on_stack ? "not " : "");
	if (!sim_world.no_debug_objects &&
	    (slot ? slot->pending : object->state == ODEBUG_STATE_ACTIVE))
		descr->fixup_init(addr, ODEBUG_STATE_ACTIVE);
	object->state = ODEBUG_STATE_INIT;
}

void debug_object_init(void *addr, const struct debug_obj_descr *descr)
{
	object_init(addr, descr, false);
}

void debug_object_init_on_stack(void *addr, const struct debug_obj_descr *descr)
{
	object_init(addr, descr, true);
}

void debug_object_assert_init(void *addr, const struct debug_obj_descr *descr)
{
	struct object *object = object_of(addr);

	if (object->slot || object->state || sim_world.no_debug_objects)
		return;
	sim_descr = descr;
	if (descr->is_static_object(addr))
		object->state = ODEBUG_STATE_INIT;
	else
		descr->fixup_assert_init(addr, ODEBUG_STATE_NOTAVAILABLE);
}

void debug_object_free(void *addr, const struct debug_obj_descr *descr)
{
	struct object *object = object_of(addr);

	if (object->state == ODEBUG_STATE_ACTIVE)
		sim_find("debugobjects: a timer is freed and is pending");
	object->state = ODEBUG_STATE_NONE;
}

int debug_object_activate(void *addr, const struct debug_obj_descr *descr)
{
	struct object *object = object_of(addr);
	struct slot *slot = object->slot;

	sim_quiet_steps = 0;
	if (slot && slot->pending)
		sim_find("timer %d is armed as one that was not pending, and was", slot->nr);
	if (!slot && object->state == ODEBUG_STATE_ACTIVE)
		sim_find("debugobjects: a timer is armed twice");
	object->state = ODEBUG_STATE_ACTIVE;
	return 0;
}

static void not_pending(struct slot *slot)
{
	if (!slot->pending)
		sim_find("timer %d leaves its wheel, but was not pending", slot->nr);
	slot->pending = false;
	if (slot->wheel)
		slot->wheel->pending--;
	changed(slot);
}

static bool may_arm(const struct sim_call *call)
{
	return call->kind <= CALL_ARMS || call->kind == CALL_SLEEP || call->kind == CALL_QUEUE ||
	       call->kind == CALL_REQUEUE;
}

static bool by_call(const struct slot *slot)
{
	const struct sim_call *call = current->call;

	return call && (call->kind == CALL_DESTROY || call->kind == CALL_OTHER ||
			(call->slot == slot && call->kind > CALL_ARMS));
}

/* In process context a run cancels a timer for those who wait for its callback. */
static bool waited_for(const struct slot *slot)
{
	const struct sim_call *call;

	if (!slot->wheel || slot->wheel->config.context != HWHEEL_WORK || slot->running)
		return false;
	for (call = slot->calls; call; call = call->next)
		if (call->kind == CALL_CANCEL_SYNC || call->kind == CALL_SHUTDOWN_SYNC)
			return true;
	return false;
}

/*
 * On each CPU, hwheel must take timers in the order of their ticks. If somebody sets the clock,
 * a new order begins when the base learns of it.
 */
static void check_order(struct slot *slot)
{
	struct mwheel *w = slot->wheel;
	s64 tick = w->tick, due;
	int cpu = peek_timer_cpu(slot->timer);
	ktime_t off;
	bool anew;

	if (slot->expires <= 0 || cpu < 0)
		return;
	off = peek_offset(w->wheel, cpu);
	due = (slot->expires - 1) / tick + 1;
	anew = was_set(w) && (w->popped_at[cpu] <= sim_last_set || w->popped_off[cpu] != off);
	if (slot->cpu == cpu && !anew &&
	    due < w->last_due[cpu] && (__int128)due * tick > slot->armed_clock &&
	    (__int128)w->last_due[cpu] * tick > slot->armed_clock)
		sim_find("timer %d, due at tick %lld, was taken on CPU %d after one of tick %lld",
			 slot->nr, due, cpu, w->last_due[cpu]);
	if (due > w->last_due[cpu] || anew)
		w->last_due[cpu] = due;
	w->popped_at[cpu] = sim_time;
	w->popped_off[cpu] = off;
}

void debug_object_deactivate(void *addr, const struct debug_obj_descr *descr)
{
	struct slot *slot = slot_of(addr);

	sim_quiet_steps = 0;
	if (!slot && object_of(addr)->state != ODEBUG_STATE_ACTIVE)
		sim_find("debugobjects: a timer leaves that was not pending");
	object_of(addr)->state = ODEBUG_STATE_INACTIVE;
	if (!slot)
		return;
	if (by_call(slot) || (waited_for(slot) && peek_waiters(addr))) {
		not_pending(slot);
		return;
	}
	if (slot->popped)
		sim_find("timer %d is dequeued to run, for the second time", slot->nr);
	if (slot->wheel->state != LIVE_WHEEL && slot->wheel->state != CLOSING_WHEEL)
		sim_find("timer %d runs, but its wheel is gone", slot->nr);
	check_order(slot);
	slot->clock_read = clock_read(slot->wheel);
	not_pending(slot);
	slot->popped = true;
	slot->pops++;
	slot->wheel->expired++;
	slot->due_cpu = peek_timer_cpu(addr);
	slot->due_expires = slot->expires;
	slot->due_armed_at = slot->armed_at;
	slot->due_armed_clock = slot->armed_clock;
	changed(slot);
}

void oracle_hwheel_start(struct hwheel_base *base, struct hwheel_timer *timer)
{
	struct slot *slot = slot_of(timer);
	struct sim_call *call = current->call;
	int cpu = peek_base_cpu(base);
	struct mwheel *w;

	if (!slot)			/* the timer belongs to calls.c */
		return;
	w = slot->wheel;
	if (!call || call->slot != slot || !may_arm(call))
		sim_find("timer %d is armed, but no call asked for it", slot->nr);
	if (slot->shut)
		sim_find("timer %d is armed, but was shut down", slot->nr);
	if (!w || w->state == NO_WHEEL || w->life != slot->wheel_life)
		sim_find("timer %d is armed on a wheel that is gone", slot->nr);
	call->arms++;
	call->was_pending = slot->pending;
	if (call->kind == CALL_MOD && !slot->pending)
		sim_find("hwheel_mod_pending armed timer %d, which was not pending", slot->nr);
	if (call->kind == CALL_REDUCE && slot->pending && peek_expires(timer) >= slot->expires)
		sim_find("hwheel_reduce moved timer %d from %lld to the later %lld", slot->nr,
			 slot->expires, (s64)peek_expires(timer));
	check_armed(call, slot, peek_expires(timer));
	if (slot->running && cpu != slot->due_cpu)
		sim_find("timer %d is armed on CPU %d, and its callback runs on CPU %d", slot->nr,
			 cpu, slot->due_cpu);
	/* On the right CPU? A callback that is about to end may have freed a timer at that place */
	if (call->hotplugs == sim_hotplugs && !(sim_hotplugs & 1) && !slot->running &&
	    !slot->popped && !just_ran(slot) && !peek_running(timer)) {
		int want = sim_cpu->id;

		if (call->kind == CALL_ON && cpu_online(call->on))
			want = call->on;
		else if (!slot->pinned && sim_isolated(want))
			want = call->alone && call->was_on >= 0 && cpu_online(call->was_on) &&
			       !sim_isolated(call->was_on) ? call->was_on :
			       cpu_online(cpu) && !sim_isolated(cpu) ? cpu : -1;
		if (cpu != want)
			sim_find("%s of timer %d from CPU %d armed it on CPU %d, not %d",
				 sim_kinds[call->kind], slot->nr, sim_cpu->id, cpu, want);
	}
	if (slot->pending) {
		w->rearmed++;
	} else {
		w->added++;
		if (++w->pending > w->peak)
			w->peak = w->pending;
		if (w->pending >= 1000)
			w->crowded = true;
	}
	tally(&arms[w - sim_wheels][cpu], sim_time, 1);
	slot->pending = true;
	slot->armed_once = true;
	if (!call->was_pending && peek_expires(timer) > sim_clock(w) + 1000)
		w->armed_ahead[cpu] = sim_time;
	slot->expires = peek_expires(timer);
	slot->armed_at = sim_time;
	/* If somebody has set the clock back, the base may not know yet */
	slot->armed_clock = max(sim_clock(w), drive_clock(w) + (s64)peek_offset(w->wheel, cpu));
	slot->cpu = cpu;
	changed(slot);
	if (slot->user == USER_WORK)
		work_armed(slot, call);
}

void oracle_hwheel_cancel(struct hwheel_timer *timer, void *function)
{
	struct slot *slot = slot_of(timer);
	struct sim_call *call = current->call;

	if (!slot)
		return;
	if (call ? !by_call(slot) : !waited_for(slot))
		sim_find("timer %d is cancelled, but no call asked for it", slot->nr);
	if (slot->pending)		/* the call is hwheel_setup() */
		not_pending(slot);
	if (call)
		call->cancels++;
	else
		slot->cancels++;
	if (slot->wheel)
		slot->wheel->cancelled++;
	changed(slot);
}

/* hwheel_destroy() frees @wheel, and has not returned yet. */
void oracle_free(const struct hwheel *wheel, void *bases)
{
	struct mwheel *w;

	for (w = sim_wheels; w < sim_wheels + SIM_WHEELS; w++) {
		if (w->state != CLOSING_WHEEL || w->wheel != wheel)
			continue;
		w->state = NO_WHEEL;
		w->wheel = (void *)1;	/* no other actor may create it */
	}
	free_percpu(bases);
}

bool oracle_warn(const char *text)
{
	struct sim_call *call = current->call;

	if (sim_world.verbose)
		sim_log("warning: %s", text);
	if (sim_expects && strstr(text, sim_expects)) {
		sim_warned = true;
		return true;
	}
	if (!call)
		return false;
	if (strstr(text, "timers pending"))
		return call->kind == CALL_DESTROY && call->cancels;
	if (strstr(text, "never destroyed") || strstr(text, "were left pending")) {
		sim_left++;
		return call->kind == CALL_OTHER;
	}
	return false;
}

/* ------------------------------------------------------------------------ */
/* Locks and interrupts */

/* A list move does three to five WRITE_ONCE()s. A call may do some more. */
#define MOST_WRITES	(5 * 32 + 16)

/* Setting the clock back empties up to 55 spokes. */
static int set_writes(void)
{
	return sim_sets ? 55 * 10 : 0;
}

/* Has @w so few timers that they are no crowd, and that moves do not cut a run? */
static bool few_timers(const struct mwheel *w)
{
	return w->peak < 8;
}

static unsigned int walked[SIM_CPUS];		/* steps of a walk with a lock held */

/* A callback of hwheel itself: of a sleeper, or of delayed work */
struct expiry {
	struct expiry		*outer;		/* the one that it interrupts */
	struct hwheel_timer	*timer;
	struct slot		*slot;
	struct mwheel		*wheel;
	u64			life;
	int			cpu;
	unsigned long long	writes;
};

void oracle_lock(raw_spinlock_t *lock)
{
	const struct sim_call *call = current->call;

	if (lock->is_base) {
		lock->cascaded = peek_cascaded(lock);
		walked[sim_cpu->id] = 0;
	}
	lock->since = sim_time;
	if (!lock->is_base && call && call->work)
		work_locked(lock, current->call);
	else if (!lock->is_base && current->expiry && current->expiry->slot->user == USER_WORK)
		work_callback_locks(current->expiry->slot);
	/* Only a call that waits takes locks so often. It must sleep or relax. */
	if (call && ++current->tries > 300)
		sim_find("%s waits without cpu_relax() or sleep", sim_kinds[call->kind]);
}

void oracle_walk(void)
{
	if (++walked[sim_cpu->id] > 32)
		sim_find("%u timers are walked with a lock held", walked[sim_cpu->id]);
}

/* How long locks were held, for max_locked_ns */
static void note_held(raw_spinlock_t *lock)
{
	struct mwheel *w;
	struct hwheel *wheel;
	int cpu;

	wheel = peek_lock_wheel(lock, &cpu);
	for (w = sim_wheels; w < sim_wheels + SIM_WHEELS; w++)
		if (w->wheel == wheel)
			w->held[cpu] = max(w->held[cpu], sim_time - lock->since);
}

void oracle_unlock(raw_spinlock_t *lock, unsigned long long writes)
{
	struct sim_call *call = current->call;

	if (!lock->is_base && call && call->work)
		work_unlocked(lock, call);
	if (lock->is_base)
		note_held(lock);
	if (lock->is_base && peek_cascaded(lock) > lock->cascaded + 32)
		sim_find("%llu timers cascaded with a lock held",
			 peek_cascaded(lock) - lock->cascaded);
	if (lock->is_base && writes > MOST_WRITES + set_writes())
		sim_find("%llu list moves with a lock held", writes / 3);
}

/* Callbacks of delayed work since interrupts were last on, apart from hardirq context */
static unsigned int works_off[SIM_CPUS];

void oracle_irqs_on(unsigned long long writes)
{
	works_off[sim_cpu->id] = 0;
	if ((s64)writes > 3 * MOST_WRITES + set_writes() && !in_hardirq())
		sim_find("%llu list moves with interrupts off", writes / 3);
}

/*
 * The instant from which the time of a run counts: when its hrtimer was due, but at most
 * an eighth of the budget before the run.
 */
static u64 run_due(const struct mwheel *w, const struct hrtimer *timer, int cpu)
{
	s64 due = timer->__expires - (w->config.flags & HWHEEL_BOOTTIME ? (s64)sim_boot_off : 0);
	u64 begin = w->run_begun[cpu];

	due = max(due, (s64)(begin - min(begin, w->budget / 8)));
	return clamp((u64)due, min(w->fired_ended[cpu], begin), begin);
}

/*
 * If a wheel lacks fans, its timers may be late. If there is a crowd to be sifted, the wheel
 * must get fans soon. This needs memory, and tasks must get the CPU. Time during which callbacks
 * have the CPU does not count, nor does a time for which CPUs were held up.
 */
static void note_starved(struct mwheel *w, int cpu)
{
	u64 last = w->wanted_at[cpu];
	u64 called = tally_since(&busy[cpu], last) + tally_since(&stalls, last);

	if (busy_depth[cpu])		/* the callbacks that run at present */
		called += sim_time - max(busy_since[cpu], last);
	if (peek_starved(w->wheel, cpu))
		w->starved_at[cpu] = sim_time;
	if (!peek_wants_fans(w->wheel, cpu)) {
		w->wanted_ns[cpu] = 0;
		return;
	}
	w->wanted_at[cpu] = sim_time;
	/* If much time has passed, the wheel may have had fans meanwhile. */
	if (sim_alloc_failed_at + 1100000000 > last || sim_hotplug_at > last || sim_hotplugs & 1 ||
	    sim_time - last > 20000000)
		w->wanted_ns[cpu] = 0;
	else
		w->wanted_ns[cpu] += sim_time - last - min(sim_time - last, called);
	if (w->wanted_ns[cpu] > 100000000 && !asks_later(w))
		sim_find("CPU %d of %s lacks fans", cpu, w->name);
}

/* How long others had the CPU before this run */
static u64 due_gap(const struct mwheel *w, int cpu)
{
	return w->run_begun[cpu] - min(w->run_begun[cpu], w->run_ended[cpu]);
}

/*
 * A run has ended. If a timer is left that was due when the run last read the clock, hwheel has
 * cut the run, and must take a break. In softirq context only the budget cuts such a run. In
 * hardirq context either the budget or a batch of moves has cut it.
 */
static void note_break(struct mwheel *w, int cpu)
{
	u64 begun = w->run_begun[cpu], called = max(w->called_at[cpu], begun);
	bool hardirq = w->config.context == HWHEEL_HARDIRQ;

	w->read_at[cpu] = called;	/* or later */
	w->break_until[cpu] = 0;
	if (hardirq && called > begun && !peek_spent(w->wheel, cpu))
		w->break_until[cpu] = called + w->budget;
	else if (!hardirq || called - begun > w->budget + 10000 + tally_since(&stalls, begun))
		w->break_until[cpu] = max(called, begun + w->budget) + w->budget / 8;
}

/* A run has ended: count its time, and the break that it may take. */
static void count_run(struct mwheel *w, int cpu)
{
	int nr = w - sim_wheels;
	u64 ns = sim_time - w->run_begun[cpu], callbacks, used, earned = 0, held = 0, least;
	ktime_t rest;

	callbacks = tally_since(&busy[sim_cpu->id], w->run_begun[cpu]);
	used = ns - min(ns, callbacks) + overhead_ns();
	tally(&runs[sim_cpu->id], sim_time, used);
	tally(&own[nr][cpu], sim_time, used);
	if (ns >= w->budget)
		earned = w->budget / 8;
	/* Runs with callbacks may not have the CPU too long. */
	if (w->config.context == HWHEEL_HARDIRQ && w->called_at[cpu] >= w->run_begun[cpu]) {
		u64 due = w->run_due[cpu], idle = due - min(due, w->fired_ended[cpu]);

		w->run_spent[cpu] -= min(w->run_spent[cpu], idle);
		w->run_spent[cpu] += sim_time - due;
		/*
		 * hwheel read the clock a moment before its runs ended. If the CPU was held up
		 * then, the next run may count that time as its hrtimer's lateness. It counts a
		 * suspend in the same way.
		 */
		if (sim_world.stall || sim_world.ranks || sim_world.holds ||
		    (w->config.flags & HWHEEL_BOOTTIME && sim_last_suspend))
			held = w->budget / 8;
		if (w->run_spent[cpu] + 200 + 8 * sim_world.jitter + held >= w->budget)
			earned = w->budget;
		if (!peek_spent(w->wheel, cpu))
			w->run_spent[cpu] = 0;
		w->run_spent[cpu] = min(w->run_spent[cpu], 2 * w->budget);
		w->fired_ended[cpu] = sim_time;
	}
	/* If hwheel cuts a run during a rest, the end of the rest must not change. */
	rest = peek_rest(w->wheel, cpu);
	if (!earned && w->rest[cpu] > drive_clock(w) && rest != w->rest[cpu] &&
	    !is_set(w, cpu) && w->config.context != HWHEEL_WORK &&
	    peek_left(w->wheel, cpu, sim_clock(w)) && !peek_ripe(w->wheel, cpu, sim_clock(w)))
		sim_find("a rest on CPU %d of %s ends at %lld, not %lld", cpu, w->name, rest,
			 w->rest[cpu]);
	w->rest[cpu] = rest;
	note_break(w, cpu);
	/*
	 * If a timer is due, the break may be shorter than the moves. If nothing is left to do, the
	 * run moved only what was armed since the last run.
	 */
	least = peek_ripe(w->wheel, cpu, sim_clock(w)) ? 50000 : 20000;
	least += tally_since(&stalls, w->run_begun[cpu]);
	if (!callbacks && ns > least && due_gap(w, cpu) < ns / 4 &&
	    peek_left(w->wheel, cpu, sim_clock(w)) && ++w->greedy[cpu] > 16)
		sim_find("runs on CPU %d of %s move timers without a pause", cpu, w->name);
	if (callbacks || due_gap(w, cpu) >= ns / 4)
		w->greedy[cpu] = 0;
	w->earned[cpu] = earned;
	/* A batch of moves cuts a hardirq run. If a timer is due, the break is 1 us. */
	if (!earned && w->config.context == HWHEEL_HARDIRQ)
		earned = 1000;
	if (earned)		/* the break, and the interrupt at its end */
		tally(&breaks[nr][cpu], sim_time + earned, earned + 2000);
	w->run_ended[cpu] = sim_time;
	/* If a run was clearly not cut, a gap follows it. */
	if (w->config.gap_ns && few_timers(w) && ns < w->budget / 2 &&
	    w->run_spent[cpu] < w->budget / 2 && w->called_at[cpu] >= w->run_begun[cpu])
		w->quiet[cpu] = w->called_at[cpu] + w->config.gap_ns;
}

/*
 * After a run: if the run may not take a break, the hrtimer must be armed for the next
 * timer that is due, or earlier.
 */
static void check_run(struct mwheel *w, const struct hrtimer *timer, int cpu)
{
	u64 now, due = SIM_NEVER;
	ktime_t expires = 0;
	unsigned int i;
	bool armed;

	if (w == sim_wheels + SIM_WHEELS)
		return;
	now = drive_clock(w);
	armed = peek_armed(w->wheel, cpu, &expires);
	count_run(w, cpu);
	note_starved(w, cpu);
	/* base->entry (timer_list) may expire early. Then nothing runs, and a break goes on. */
	if (w->config.context != HWHEEL_WORK && !deferrable(w) && w->pending &&
	    peek_break(w->wheel, cpu, now) && sim_world.cpus == 1 && !w->earned[cpu] &&
	    !w->config.gap_ns &&	/* a rest in a gap looks like a break */
	    !is_set(w, cpu) && !peek_ripe(w->wheel, cpu, sim_clock(w)))
		sim_find("a break on CPU %d of %s, and no timer is due", cpu, w->name);
	/* In softirq context a timer is due before a break. So the break is short. */
	if (w->config.context == HWHEEL_SOFTIRQ && !deferrable(w) && !w->config.gap_ns && armed &&
	    peek_break(w->wheel, cpu, now) && expires > (s64)(now + max(w->budget / 8, 1ULL)))
		sim_find("a break of %llu ns on CPU %d of %s, and a timer is due", expires - now,
			 cpu, w->name);
	if (w->config.context == HWHEEL_WORK || w->state != LIVE_WHEEL || !w->pending ||
	    deferrable(w) || peek_busy_but_running(w->wheel, cpu) || !armed || is_set(w, cpu) ||
	    (u64)expires <= now || sim_random() % (1 + sim_nr_slots / 64))
		return;
	for (i = 0; i < sim_all_slots; i++)
		if (sim_slots[i].pending && sim_slots[i].wheel == w &&
		    sim_slots[i].wheel_life == w->life &&
		    peek_timer_cpu(sim_slots[i].timer) == cpu)
			due = min(due, (u64)on_drive(w, due_at(w, sim_slots[i].expires)));
	if ((u64)expires <= due || (u64)expires <= now + w->config.gap_ns || w->earned[cpu])
		return;
	/* If a spoke may have due timers, a batch of moves cuts a hardirq run for 1 us. */
	if (w->config.context == HWHEEL_HARDIRQ && (u64)expires <= now + 1000 &&
	    peek_ripe(w->wheel, cpu, sim_clock(w)))
		return;
	if (due > now)
		sim_find("a run armed the hrtimer of CPU %d of %s for %lld, but %llu is due", cpu,
			 w->name, expires, due);
	if (in_hardirq() && (u64)expires > now + w->budget / 2 && w->budget > 20000)
		sim_find("a needless break of %llu ns on CPU %d of %s: runs took %llu ns",
			 expires - now, cpu, w->name, w->run_spent[cpu]);
}

static struct mwheel *wheel_of(const struct hwheel_base *base)
{
	struct mwheel *w;

	for (w = sim_wheels; w < sim_wheels + SIM_WHEELS; w++)
		if (w->state != NO_WHEEL && w->wheel == peek_base_wheel(base))
			return w;
	return NULL;
}

/* The last call of the tracepoint hwheel_arm: hwheel makes it before it arms the hrtimer. */
static struct {
	struct hwheel_base	*base;
	s64			expires;
} traced_arm[SIM_CPUS];

void oracle_hwheel_arm(struct hwheel_base *base, s64 expires)
{
	traced_arm[sim_cpu->id].base = base;
	traced_arm[sim_cpu->id].expires = expires;
}

void oracle_hrtimer_start(struct hrtimer *timer, ktime_t expires)
{
	struct hwheel_base *base = traced_arm[sim_cpu->id].base;
	struct hwheel *wheel;
	struct mwheel *w;
	ktime_t off;
	bool in_run, set;
	int cpu;

	wheel = peek_wheel(timer, &cpu);
	off = peek_offset(wheel, cpu);
	if (!base || traced_arm[sim_cpu->id].expires != expires || peek_base_cpu(base) != cpu ||
	    peek_base_wheel(base) != wheel)
		sim_find("hwheel_arm tells of another time than %lld", expires);
	if (!peek_locked(base))
		sim_find("an hrtimer is armed, and its base is not locked");
	traced_arm[sim_cpu->id].base = NULL;
	if (!peek_pending(wheel, cpu))
		sim_find("an hrtimer is armed for %lld, and no timer is pending", expires);
	w = wheel_of(base);
	/*
	 * hwheel must not start the hrtimer again for the same time. Exceptions:
	 * - a kick is on its way: until it arrives, hwheel does not know the hrtimer's time
	 * - a gap: for several ticks, the hrtimer is armed for the gap's end
	 * - somebody set the clock: a base without timers forgets the hrtimer's time, and
	 *   another tick may begin at the same time
	 * - the hrtimer has expired, but before its run has locked the base, an interrupt tells
	 *   that somebody has set the clock. In process context the hrtimer's function has
	 *   returned before its run locks the base
	 */
	set = w && wall(w) && (w->start_sets[cpu] != sim_sets || w->start_off[cpu] != off ||
			       ((timer->__running || w->config.context == HWHEEL_WORK) &&
				w->started_in_irq[cpu] && w->started_at[cpu] >= w->run_begun[cpu]));
	if (w && timer->__queued && timer->__expires == expires && expires &&
	    sim_world.cpus == 1 && !w->config.gap_ns && !set)
		sim_find("the hrtimer of CPU %d is started again for %lld", cpu, expires);
	if (w) {
		w->start_sets[cpu] = sim_sets;
		w->start_off[cpu] = off;
		w->started_at[cpu] = sim_time;
		w->started_in_irq[cpu] = in_hardirq();
	}
	/*
	 * A run must not go on at once: it must leave the CPU to others first. Check only calls
	 * of the run itself. Others may arm a timer before the run has returned: an interrupt,
	 * on PREEMPT_RT a task, or another CPU if the base's CPU is offline.
	 */
	in_run = w && timer->__running == sim_cpu &&
		 (w->config.context == HWHEEL_HARDIRQ ||
		  (w->config.context == HWHEEL_SOFTIRQ && !SIM_RT && !in_hardirq()));
	if (in_run && expires <= drive_clock(w) - (s64)(sim_time - w->run_begun[cpu]))
		sim_find("a run on CPU %d of %s is to go on at once", cpu, w->name);
	/* A run that takes a break has read the clock less than 8 steps ago. */
	if (in_run && peek_break(wheel, cpu, expires - 1) &&
	    expires + 8 * sim_world.jitter <= drive_clock(w) && w->budget >= 20000 &&
	    !sim_world.stall && !sim_world.ranks && !sim_world.holds)
		sim_find("a break on CPU %d of %s is over when it begins", cpu, w->name);
}

void oracle_hwheel_cascade(struct hwheel_base *base, u64 moved)
{
	struct mwheel *w = wheel_of(base);

	if (!moved)
		sim_find("hwheel_cascade tells of no moves");
	if (!w)
		return;
	traced_moves[w - sim_wheels] += moved;
	tally(&moves[w - sim_wheels][peek_base_cpu(base)], sim_time, moved);
}

void oracle_hwheel_budget(struct hwheel_base *base, s64 now, s64 end)
{
	struct mwheel *w = wheel_of(base);
	ktime_t expires;

	if (!w)
		return;
	traced_cuts[w - sim_wheels]++;
	if (now > drive_clock(w) || end > now + (s64)w->budget)
		sim_find("hwheel_budget tells of %lld and %lld", now, end);
	/* Arming a timer may have started the hrtimer while the work was queued. */
	if (w->config.context == HWHEEL_WORK &&
	    w->started_at[peek_base_cpu(base)] >= current->work_begun &&
	    peek_armed(w->wheel, peek_base_cpu(base), &expires))
		sim_find("a break in process context, on CPU %d of %s", peek_base_cpu(base),
			 w->name);
}

void oracle_hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel)
{
	const struct sim_call *call = current->call;

	if (slot_of(timer) && (!call || (call->kind != CALL_SETUP && call->kind != CALL_SLEEP) ||
			       call->slot != slot_of(timer) || call->wheel->wheel != wheel))
		sim_find("hwheel_setup tells of another timer or wheel");
	sim_setups++;
}

/*
 * hwheel interrupts @cpu for @base. If the CPU is isolated, somebody must have armed a timer
 * for it. While a CPU goes offline, another one may run its hrtimer.
 */
void oracle_interrupt(struct hwheel_base *base, int cpu)
{
	struct mwheel *w;

	if (!base || !sim_isolated(cpu) || sim_hotplugs & 1)
		return;
	for (w = sim_wheels; w < sim_wheels + SIM_WHEELS; w++)
		if (w->state != NO_WHEEL && w->wheel == peek_base_wheel(base) &&
		    (cpu != peek_base_cpu(base) || !w->meant[cpu]))
			sim_find("CPU %d is isolated, but %s interrupts it for CPU %d", cpu,
				 w->name, peek_base_cpu(base));
}

void oracle_hrtimer(struct hrtimer *timer, bool end)
{
	struct mwheel *w;
	int cpu;
	struct hwheel *wheel = peek_wheel(timer, &cpu);

	for (w = sim_wheels; w < sim_wheels + SIM_WHEELS; w++)
		if (w->state != NO_WHEEL && w->wheel == wheel)
			break;
	if (end) {
		check_run(w, timer, cpu);
		if (in_hardirq() &&
		    (s64)(sim_writes - sim_cpu->off_writes) > 2 * MOST_WRITES + set_writes())
			sim_find("%llu list moves in one interrupt",
				 (sim_writes - sim_cpu->off_writes) / 3);
		return;
	}
	if (w == sim_wheels + SIM_WHEELS)
		return;
	/*
	 * In process context the hrtimer only queues the work, and may do so on any CPU. If
	 * the work runs while its CPU goes offline and comes back, the hrtimer may stay on
	 * another CPU. So may an entry of timer_list for which no timer is left.
	 */
	if (sim_cpu->id != cpu && cpu_online(cpu) && !(sim_hotplugs & 1) &&
	    w->config.context != HWHEEL_WORK && (!deferrable(w) || peek_pending(w->wheel, cpu)))
		sim_find("the hrtimer of CPU %d runs on CPU %d", cpu, sim_cpu->id);
	if (sim_isolated(cpu) && !w->meant[cpu])
		sim_find("CPU %d is isolated, but a timer of %s expires there", cpu, w->name);
	sim_cpu->off_writes = sim_writes;	/* count the moves of each hrtimer alone */
	/*
	 * The hrtimer may be started between its interrupt and the run that this interrupt
	 * begins. Then another interrupt follows, gap or not.
	 */
	if (sim_time < w->quiet[cpu] && !deferrable(w) && w->started_at[cpu] >= w->called_at[cpu] &&
	    !sim_suspends && few_timers(w))
		sim_find("an interrupt of %s on CPU %d, %llu ns too early for its gap", w->name,
			 cpu, w->quiet[cpu] - sim_time);
	w->quiet[cpu] = 0;
	w->interrupts[cpu]++;
	w->run_begun[cpu] = sim_time;
	if (peek_starved(w->wheel, cpu))	/* fans may come during the run */
		w->starved_at[cpu] = sim_time;
	w->run_due[cpu] = run_due(w, timer, cpu);
}

/* ------------------------------------------------------------------------ */
/* Callbacks */

static void check_context(const struct mwheel *w, const struct slot *slot)
{
	bool off = w->config.context == HWHEEL_HARDIRQ || slot->user == USER_WORK, right;

	switch (w->config.context) {
	case HWHEEL_SOFTIRQ:
		right = in_softirq() && !in_hardirq();
		break;
	case HWHEEL_HARDIRQ:
		right = in_hardirq();
		break;
	default:
		right = !in_interrupt() && !preempt_count();
	}
	right &= irqs_disabled() == off;
	if (!right)
		sim_find("the callback of timer %d runs in %s, irqs %s", slot->nr, sim_context(),
			 irqs_disabled() ? "off" : "on");
}

/* From Documentation/debugfs.rst, not from hwheel's code */
#define LOT		15		/* the parking lot; the rows after it are fans */
#define ROWS		20

/* From Documentation/late.rst, not from hwheel's code */
#define CROWD		32
#define CROWD_FAN	16
#define ENTERED		1	/* buckets in which the clock is; more of them are rare */
/* The most that a list move costs, with its share of locks and interrupts */
#define MOVE_NS		100
/* The same for a timer of a crowd: it moves several times, and pauses are as long as moves */
#define CROWD_MOVE_NS	1500
/* The most that the wheel's interrupts, locks and short calls of other tasks cost */
#define HOST_NS		30000

/* More than the time to move all timers that may be pending */
static u64 moving_ns(const struct mwheel *w)
{
	return 100000 + 4000 * w->peak;
}

static u64 moves_ns(const struct mwheel *w, u64 n)
{
	return n * (w->config.context == HWHEEL_HARDIRQ ? MOVE_NS + MOVE_NS / 2 : MOVE_NS);
}

/* The term "moves" of Documentation/late.rst */
static u64 moves_bound(const struct mwheel *w)
{
	unsigned int levels = w->config.levels ?: 5;

	return moves_ns(w, levels * CROWD + (levels + ENTERED) * CROWD_FAN);
}

/*
 * What the term "callbacks" counts beside callbacks: since @begin, each timer whose callback has
 * run on @cpu may have moved in each level
 */
static u64 moves_before(const struct mwheel *w, int cpu, u64 begin)
{
	u64 most = (w->config.levels ?: 5) * tally_since(&called[w - sim_wheels][cpu], begin);

	return moves_ns(w, min(tally_since(&moves[w - sim_wheels][cpu], begin), most));
}

/*
 * May another CPU than that of @slot's base have run the base's timers since @begin, because that
 * CPU was offline? It may still be on its way: then sim_hotplugs is odd.
 */
static bool was_served(const struct slot *slot, u64 begin)
{
	return sim_cpu->id != slot->due_cpu || sim_hotplugs & 1 ||
	       (sim_hotplug_at && sim_hotplug_at > begin);
}

/*
 * May @slot's timer, which was due at @begin, have waited for CPU @i? If somebody has set the
 * clock, an interrupt on one CPU tells all bases. So the timer may have waited for that CPU.
 */
static bool waited_on(const struct slot *slot, const struct mwheel *w, int i, u64 begin)
{
	return i == slot->due_cpu || was_served(slot, begin) ||
	       (was_set(w) && sim_last_set + 1000000 > begin);
}

/*
 * Moving all timers may need some time. In a span of that length just before @begin, have
 * callbacks had @cpu for more than half of the span?
 */
static bool was_busy(const struct mwheel *w, int cpu, u64 begin)
{
	u64 span = w->tick + CROWD_MOVE_NS / 2 * w->peak;

	return w->peak >= CROWD_FAN &&		/* else there is no crowd */
	       tally_since(&busy[cpu], begin - min(begin, span)) -
	       tally_since(&busy[cpu], begin) > span / 2;
}

/*
 * How late a callback that was due at @begin may begin, apart from earlier callbacks and
 * stalls: the moves of the term "callbacks" of Documentation/late.rst, and the sum of its terms
 * "gap", "breaks", "moves" and "host"
 */
static u64 late_bound(const struct slot *slot, const struct mwheel *w, int cpu, u64 begin)
{
	int nr = w - sim_wheels, i;
	u64 before = begin - min(begin, moving_ns(w)), bound, recent, hotplug = 0;
	bool set = was_set(w) && sim_last_set + sim_world.late_irq > before;

	if (sim_late_ns && !sim_world.holds)
		return sim_late_ns;
	/* Until a CPU is dead or online, nobody runs the timers of its bases */
	if (was_served(slot, begin - min_t(u64, begin, 1000000)))
		hotplug = 1000000 + w->budget;
	if (in_thread(w))		/* other tasks share the CPU */
		return 21100000 + w->config.gap_ns + 3 * w->budget + CROWD_MOVE_NS * w->peak +
		       hotplug;
	bound = hotplug + HOST_NS + w->config.gap_ns + moves_bound(w);
	if (deferrable(w))
		bound += 2 * TICK_NSEC;
	for (i = 0; i < (int)sim_world.cpus; i++)
		if (waited_on(slot, w, i, begin)) {
			u64 ran = tally_since(&runs[i], begin);

			bound += moves_before(w, i, begin) + tally_since(&breaks[nr][i], begin) +
				 ran - min(ran, tally_since(&own[nr][i], begin)) +
				 tally_since(&told[i], begin);
		}
	/* Crowds that were armed so late that there was no time to move them before */
	recent = tally_since(&arms[nr][cpu], before);
	if (recent >= CROWD_FAN)
		bound += CROWD_MOVE_NS * recent;
	/*
	 * All timers may have to move when one is due: if there was no memory for fans, if the
	 * clock jumped, or if callbacks or the host left no time to move them before.
	 */
	if (w->starved_at[cpu] > before || sim_world.holds || set ||
	    was_busy(w, sim_cpu->id, begin) ||
	    (w->config.flags & HWHEEL_BOOTTIME && sim_last_suspend > before))
		bound += CROWD_MOVE_NS * w->peak;
	else if (w->peak > CROWD)	/* stalls before @begin may have delayed moves */
		bound += min(tally_since(&stalls, before) - tally_since(&stalls, begin),
			     (u64)CROWD_MOVE_NS * w->peak);
	if (set)			/* the interrupt that tells hwheel may be late */
		bound += sim_world.late_irq;
	return bound;
}

/*
 * The time that hwheel needed to call the callback of @slot, after the callback before it or the
 * beginning of the run
 */
static u64 call_ns(const struct slot *slot, const struct mwheel *w)
{
	u64 last = max(w->called_at[slot->due_cpu], w->run_begun[slot->due_cpu]);

	return min(slot->begun_at - min(slot->begun_at, last), overhead_ns());
}

static void check_late(struct slot *slot, struct mwheel *w)
{
	s64 now = sim_clock(w), due = due_at(w, slot->due_expires), late;
	u64 begin, allowed, over, bound;
	int i, cpu = slot->due_cpu;

	if (slot->clock_read < slot->due_expires)
		sim_find("timer %d, armed for %lld, is early by %lld ns", slot->nr,
			 slot->due_expires, slot->due_expires - now);
	if (slot->clock_read < due)
		sim_find("timer %d, armed for %lld, runs before its tick, %lld, at %lld", slot->nr,
			 slot->due_expires, due, now);
	/* The lateness that hwheel counts */
	late = (u64)now - (u64)slot->due_expires < (u64)S64_MAX ?
	       now - slot->due_expires : KTIME_MAX;
	if (late >= 0) {
		/*
		 * hwheel reads the clock when a run begins. It also reads the clock after a
		 * callback: in hardirq context and on a wheel of wall time always, else after
		 * each 8th, or if a jiffy has begun. The CPU may be held up between reading the
		 * clock and reading the jiffy.
		 */
		s64 blur = sim_time - w->run_begun[cpu];
		s64 since = sim_time - min(w->called_at[cpu], sim_time);
		s64 high = late, low;

		if (w->config.context != HWHEEL_HARDIRQ)
			since += 4000000 + tally_since(&stalls, w->run_begun[cpu]);
		low = max(late - min(blur, since) - 50000, (s64)0);
		w->late_high[fls64_((u64)high)]++;
		w->late_low[fls64_((u64)low)]++;
		w->max_high[cpu] = max(w->max_high[cpu], high);
		w->max_low[cpu] = max(w->max_low[cpu], low);
	}
	begin = w->config.flags & HWHEEL_BOOTTIME ? max(due - (s64)sim_boot_off, (s64)0) :
		on_drive(w, due);
	if (was_set(w))
		begin = max(begin, sim_last_set);
	if (w->config.flags & HWHEEL_BOOTTIME)
		begin = max(begin, sim_last_suspend);
	begin = max(max(begin, slot->due_armed_at), slot->ended_at);
	if (peek_closing(w->wheel, cpu))	/* its kicks do nothing, so this may be too late */
		return;
	if (deferrable(w)) {		/* an idle CPU runs no timers */
		if (sim_cpu->curr == sim_cpu->idle)
			return;
		begin = max_t(u64, begin, sim_cpu->awake_at);
	}
	if (begin >= sim_time)
		return;
	over = sim_time - begin;
	/* A stall is counted when it begins, so include stalls that began before. */
	allowed = call_ns(slot, w) + tally_since(&stalls, begin -
			      min(begin, (u64)sim_world.stall_ns + sim_world.late_irq));
	/* A stall in a run uses up its budget. So it prolongs the break, or makes breaks */
	allowed += w->config.context == HWHEEL_HARDIRQ ? allowed / 2 : allowed / 8;
	for (i = 0; i < (int)sim_world.cpus; i++) {
		u64 part = busy_for(i, begin);

		if (in_thread(w))
			allowed += 3 * part;
		else if (waited_on(slot, w, i, begin))
			allowed += part + part / 8;
	}
	if (in_thread(w))
		allowed += 3 * functions_since(begin);
	/*
	 * Callbacks that re-arm their timers for the past may delay other timers by a few
	 * rounds, but not by more.
	 */
	if (!in_thread(w) && !slot->due_past && !was_set(w) && !was_served(slot, begin)) {
		u64 passed = tally_since(&past[w - sim_wheels][cpu], begin);
		u64 rounds = 3 * (w->budget + past_round[w - sim_wheels][cpu]);

		allowed -= min(allowed, passed - min(passed, rounds));
	}
	note_starved(w, cpu);
	if (!in_thread(w) && slot->cpu == cpu && begin < w->read_at[cpu] &&
	    w->run_begun[cpu] > w->run_ended[cpu] && w->run_begun[cpu] < w->break_until[cpu] &&
	    !sim_world.holds)
		sim_find("timer %d runs %llu ns before the end of a break", slot->nr,
			 w->break_until[cpu] - w->run_begun[cpu]);
	bound = late_bound(slot, w, cpu, begin);
	if (over > allowed && over - allowed > sim_worst)
		sim_worst = over - allowed;
	if (over > allowed + bound)
		sim_find("timer %d of tick %lld: %llu ns late, %llu by others (bound %llu; %s, %d)",
			 slot->nr, due / (s64)w->tick, over, allowed, bound,
			 sim_context(), cpu);
}

/* The arguments of the last hwheel_expire_entry of each CPU's base */
static struct {
	struct hwheel_timer	*timer;
	s64			expires;
} traced[SIM_CPUS];

void oracle_hwheel_expire_entry(struct hwheel_base *base, struct hwheel_timer *timer, s64 expires)
{
	int cpu = peek_base_cpu(base);
	struct slot *slot = slot_of(timer);
	struct expiry *expiry;

	traced[cpu].timer = timer;
	traced[cpu].expires = expires;
	traced_entries++;
	if (!slot || slot->object)
		return;
	expiry = malloc(sizeof(*expiry));
	*expiry = (struct expiry){ .outer = current->expiry, .timer = timer, .slot = slot,
				   .wheel = slot->wheel, .life = slot->life, .cpu = cpu,
				   .writes = sim_writes };
	current->expiry = expiry;
	expiry->wheel->begun[cpu]++;
	slot->expiries++;
	oracle_callback(slot);
	busy_begin();
}

void oracle_hwheel_expire_exit(struct hwheel_timer *timer, void *function)
{
	struct expiry *expiry = current->expiry;

	traced_exits++;
	if (!expiry || expiry->timer != timer)
		return;
	current->expiry = expiry->outer;
	busy_end();
	if (irqs_disabled())		/* as after callbacks of the program */
		sim_cpu->off_writes += sim_writes - expiry->writes + 12 + 3 * 32;
	oracle_callback_end(expiry->slot, expiry->life);
	expiry->wheel->ended[expiry->cpu]++;
	expiry->slot->expiries--;
	if (expiry->slot->user == USER_WORK) {
		work_expired(expiry->slot, expiry->life);
		if (!in_hardirq() && ++works_off[sim_cpu->id] > 1)
			sim_find("interrupts stay off from one callback to the next");
	}
	free(expiry);
}

void oracle_callback(struct slot *slot)
{
	struct mwheel *w = slot->wheel;
	int cpu = slot->due_cpu;

	sim_quiet_steps = 0;
	sim_fired++;
	if (!slot->popped)
		sim_find("the callback of timer %d runs, but it was not due", slot->nr);
	if (traced[cpu].timer != slot->timer || traced[cpu].expires != slot->due_expires)
		sim_find("hwheel_expire_entry tells of another timer than %d", slot->nr);
	slot->popped = false;
	if (slot->running)
		sim_find("the callback of timer %d runs twice at a time", slot->nr);
	slot->running++;
	slot->begun_at = sim_time;
	slot->due_wheel = w;
	slot->due_past = slot->due_expires < slot->due_armed_clock;
	changed(slot);
	check_context(w, slot);
	check_late(slot, w);
}

void oracle_callback_end(struct slot *slot, u64 life)
{
	sim_quiet_steps = 0;
	/* The time that hwheel needs to call a callback counts as the callback's time. */
	tally(&busy[sim_cpu->id], sim_time, call_ns(slot, slot->due_wheel));
	tally(&called[slot->due_wheel - sim_wheels][slot->due_cpu], sim_time, 1);
	slot->due_wheel->called_at[slot->due_cpu] = sim_time;
	if (slot->due_past) {
		u64 ns = sim_time - slot->begun_at;
		int nr = slot->due_wheel - sim_wheels, cpu = sim_cpu->id;

		if (slot->past_at != &past_round[nr][cpu])
			slot->past_ns = 0;
		slot->past_at = &past_round[nr][cpu];
		tally(&past[nr][cpu], sim_time, ns);
		past_round[nr][cpu] += ns - min(ns, slot->past_ns);
		slot->past_ns = max(slot->past_ns, ns);
	}
	if (slot->life != life)
		return;
	slot->running--;
	slot->ends++;
	slot->ended_at = sim_time;
	changed(slot);
}

/* ------------------------------------------------------------------------ */
/* When all CPUs are idle, or all other tasks are done */

void oracle_new_wheel(struct mwheel *w)
{
	struct hwheel_config config = w->config;
	unsigned int life = w->life + 1, cpu, i;
	char name[32];

	memcpy(name, w->name, sizeof(name));
	memset(w, 0, sizeof(*w));
	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		traced_moves[w - sim_wheels] = 0;
		traced_cuts[w - sim_wheels] = 0;
		own[w - sim_wheels][cpu].n = 0;
		breaks[w - sim_wheels][cpu].n = 0;
		arms[w - sim_wheels][cpu].n = 0;
		past[w - sim_wheels][cpu].n = 0;
		past_round[w - sim_wheels][cpu] = 0;
	}
	for (i = 0; i < sim_all_slots; i++)
		sim_slots[i].past_at = NULL;
	w->life = life;
	memcpy(w->name, name, sizeof(name));
	w->config = config;
	w->config.name = w->name;
	w->made_at = sim_time;
	w->tick = config.tick_ns ?: 1000000;
	w->budget = config.budget_ns ?: config.context == HWHEEL_HARDIRQ ? 100000 : 2000000;
}

void oracle_quiet(void)
{
	u64 due[SIM_CPUS], n[SIM_CPUS];
	struct mwheel *w;
	unsigned int i, cpu;
	ktime_t expires;

	if (sim_random() % (16 + sim_nr_slots / 8))
		return;
	for (i = 0; i < sim_world.cpus; i++)
		if (!sim_cpus[i].idling && !sim_cpus[i].dead)
			return;
	for (w = sim_wheels; w < sim_wheels + SIM_WHEELS; w++) {
		if (w->state != LIVE_WHEEL)
			continue;
		memset(n, 0, sizeof(n));
		memset(due, 0xff, sizeof(due));
		for (i = 0; i < sim_all_slots; i++) {
			struct slot *slot = &sim_slots[i];

			if (slot->wheel != w || !slot->pending)
				continue;
			cpu = peek_timer_cpu(slot->timer);
			n[cpu]++;
			due[cpu] = min_t(u64, due[cpu], on_drive(w, due_at(w, slot->expires)));
		}
		for (cpu = 0; cpu < sim_world.cpus; cpu++) {
			const char *wrong;

			if (peek_busy(w->wheel, cpu))
				continue;
			wrong = peek_check(w->wheel, cpu);
			if (wrong)
				sim_find("levels of CPU %u: %s", cpu, wrong);
			if (!n[cpu] || (was_set(w) && peek_setting(w->wheel, cpu)))
				continue;
			if (!peek_armed(w->wheel, cpu, &expires))
				sim_find("%llu timers pending on CPU %u of %s, no hrtimer armed",
					 n[cpu], cpu, w->name);
			if ((u64)expires > max_t(u64, due[cpu], drive_clock(w)) + w->budget +
					   w->config.gap_ns + 1000)
				sim_find("hrtimer of CPU %u of %s: armed for %lld, but %llu is due",
					 cpu, w->name, expires, due[cpu]);
		}
	}
}

void oracle_dead_end(void)
{
	unsigned int i;
	char text[300] = "";

	for (i = 0; i < sim_world.cpus; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " CPU %u: %s%s", i,
			 sim_cpus[i].curr->name, sim_cpus[i].spin ? " waits for a lock" : "");
	sim_blocked(text + strlen(text), sizeof(text) - strlen(text));
	sim_find("deadlock: no CPU will ever go on.%s", text);
}

static void check_count(struct mwheel *w, const char *name, u64 mine)
{
	u64 count = hwheel_count(w->wheel, name);

	if (count != mine)
		sim_find("stats of %s: %s is %llu, not %llu", w->name, name, count, mine);
}

/*
 * As sim_read_file(). The first line must say what the columns are: those that the oracle reads,
 * and then perhaps more.
 */
char *oracle_read(const struct mwheel *w, const char *file, size_t chunk)
{
	static const char *const first[] = {
		"config", "name value",
		"levels", "cpu level tick_ns spokes interval_ns clock_ns occupied timers next_ns",
		"spokes", "cpu level spoke expiration_ns timers",
		"timers", "cpu level spoke expires_ns remaining_ns",
		"stats", "counter total cpu0",
		"lateness", "up_to_ns timers",
		"users", "function pending",
	};
	char *text = sim_read_file(w->name, file, chunk);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(first) && text; i += 2)
		if (!strcmp(file, first[i]) &&
		    (strncmp(text, "# ", 2) ||
		     strncmp(text + 2, first[i + 1], strlen(first[i + 1]))))
			sim_find("file %s of %s begins with %.80s", file, w->name, text);
	return text;
}

#define NONE	(-1LL)

/*
 * Read a row of a file into @word and @column. A column that is no number becomes 0. The column
 * "-" becomes NONE, and the name of a function its address. Returns the number of columns, or -1 at
 * the end.
 */
static int row(char **text, char *word, s64 *column, int most)
{
	char *end = strchr(*text, '\n'), *p = *text;
	int n = 0;

	if (!end)
		return -1;
	*end = 0;
	if (sscanf(p, "%31s", word) != 1)
		*word = 0;
	while (n < most) {
		p += strspn(p, " ");
		if (!*p)
			break;
		column[n++] = *p == '-' && (p[1] == ' ' || !p[1]) ? NONE :
			      (s64)strtoull(p, NULL, 0);
		if (*p == '-' && p[1] >= '0' && p[1] <= '9')
			column[n - 1] = strtoll(p, NULL, 0);
		if (sim_named(p))
			column[n - 1] = sim_named(p);
		p += strcspn(p, " ");
	}
	*text = end + 1;
	return n;
}

static int compare_s64(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return x < y ? -1 : x > y;
}

static void compare_timers(struct mwheel *w, size_t chunk)
{
	char *text = oracle_read(w, "timers", chunk), *p = text, word[32];
	s64 c[8], *mine, *theirs;
	u64 n = 0, m = 0;
	unsigned int i;

	if (!text)
		return;
	mine = malloc((w->pending + 1) * 8);
	theirs = malloc((w->pending + 1) * 8);
	for (i = 0; i < sim_all_slots; i++)
		if (sim_slots[i].wheel == w && sim_slots[i].pending && n < w->pending)
			mine[n++] = sim_slots[i].expires ^
				    (s64)peek_timer_cpu(sim_slots[i].timer) << 56;
	while (row(&p, word, c, 8) >= 0) {
		if (*word == '#')
			continue;
		if (m < w->pending)
			theirs[m] = c[3] ^ c[0] << 56;
		m++;
	}
	if (m != n)
		sim_find("file timers of %s shows %llu timers, not %llu", w->name, m, n);
	qsort(mine, n, 8, compare_s64);
	qsort(theirs, n, 8, compare_s64);
	for (i = 0; i < n; i++)
		if (mine[i] != theirs[i])
			sim_find("file timers of %s shows a timer of %lld, not %lld", w->name,
				 theirs[i], mine[i]);
	free(mine);
	free(theirs);
	free(text);
}

/* Is hwheel still handling a clock that was set? Levels may be closed meanwhile. */
static bool closed(const struct mwheel *w)
{
	unsigned int cpu;

	for (cpu = 0; cpu < sim_world.cpus; cpu++)
		if (peek_setting(w->wheel, cpu))
			return true;
	return false;
}

/* Each row of @file has a number of timers in @column, and an expiration in @next. */
static void compare_sum(struct mwheel *w, const char *file, int column, int next)
{
	char *text = oracle_read(w, file, 4096), *p = text, word[32];
	u64 sum = 0, least = S64_MAX, mine = S64_MAX;
	bool level[SIM_CPUS] = { };
	unsigned int i;
	s64 c[10];

	if (!text)
		return;
	while (row(&p, word, c, 10) >= 0) {
		if (*word == '#')
			continue;
		if (c[1] < LOT && c[0] >= 0 && c[0] < SIM_CPUS)
			level[c[0]] = true;
		sum += c[column];
		least = min_t(u64, least, c[next]);
	}
	for (i = 0; i < sim_all_slots; i++)
		if (sim_slots[i].wheel == w && sim_slots[i].pending)
			mine = min(mine, (u64)due_at(w, sim_slots[i].expires));
	/* If there was no memory, hwheel tries again a second later. */
	for (i = 0; i < sim_world.cpus && !strcmp(file, "levels") && !was_set(w) &&
	     !asks_later(w); i++)
		if (cpu_online(i) && w->armed_ahead[i] && !level[i] &&
		    w->armed_ahead[i] > sim_alloc_failed_at + 1100000000 &&
		    w->armed_ahead[i] < sim_time - 1000000000)
			sim_find("%s has no levels on CPU %u, but timers want them", w->name, i);
	if (sum != w->pending)
		sim_find("file %s of %s counts %llu timers, not %llu", file, w->name, sum,
			 w->pending);
	if (w->pending && least > mine + w->tick && mine > (u64)sim_clock(w) && !closed(w))
		sim_find("file %s of %s has %llu as the next, not %llu", file, w->name, least,
			 mine);
	free(text);
}

/* Rows of a file, without its first line. Frees @text. */
static struct rows {
	s64	(*c)[10];
	int	n;
} rows_of(char *text)
{
	struct rows rows = { };
	char *p = text, word[32];
	s64 c[10] = { };

	while (text && row(&p, word, c, 10) >= 0) {
		if (*word == '#')
			continue;
		/* Double the room: with ASan each realloc() copies */
		if (!(rows.n & (rows.n - 1)))
			rows.c = realloc(rows.c, max(2 * rows.n, 1) * sizeof(*rows.c));
		memcpy(rows.c[rows.n++], c, sizeof(c));
		memset(c, 0, sizeof(c));
	}
	free(text);
	return rows;
}

static u64 width_of(const struct mwheel *w, s64 level);

/* How many spokes a row of the file levels has */
static s64 spokes_of(const struct mwheel *w, s64 level)
{
	static const s64 rows[ROWS - LOT] = { 57, 3 * 128, 15 * 128, 15 * 128, 15 * 128 };
	u64 last = (u64)S64_MAX / w->tick + 1, least;

	if (level >= LOT)
		return rows[level - LOT];
	if (level < peek_levels(w->wheel))
		return peek_spokes(w->wheel, level);
	/* A level above the geometry has 128 spokes, or fewer if they reach to the last tick */
	least = last / width_of(w, level) + 1;
	return least < 2 ? 2 : min(least, 128ULL);
}

/* Ticks per spoke of a level; of other rows: 1 */
static u64 width_of(const struct mwheel *w, s64 level)
{
	u64 width = 1;

	while (level < LOT && level--)
		width *= spokes_of(w, level);
	return width;
}

static s64 tick_ns(const struct mwheel *w, u64 ticks)
{
	return ticks > (u64)S64_MAX / w->tick ? S64_MAX : (s64)(ticks * w->tick);
}

/*
 * Compares the row of a level, @c, with the rows of its spokes. The clock of a level may be
 * behind the time.
 */
static void check_level(struct mwheel *w, const s64 *c, const struct rows *spokes)
{
	s64 level = c[1], n, timers = 0, occupied = 0;
	s64 next = NONE;
	u64 width;
	int i;

	if (c[0] < 0 || c[0] >= sim_world.cpus || level < 0 || level >= ROWS)
		sim_find("file levels of %s has a row of CPU %lld, level %lld", w->name, c[0],
			 level);
	width = width_of(w, level);
	n = spokes_of(w, level);
	if (level < LOT && level > peek_levels(w->wheel) && width > (u64)S64_MAX / w->tick + 1)
		sim_find("%s has a level %lld beyond the last tick", w->name, level);
	for (i = 0; i < spokes->n; i++) {
		const s64 *spoke = spokes->c[i];

		if (spoke[0] != c[0] || spoke[1] != level)
			continue;
		occupied++;
		timers += spoke[4];
		next = next == NONE ? spoke[3] : min(next, spoke[3]);
		/* spoke[3] is the bound of the spoke */
		if (level < LOT && spoke[3] < S64_MAX &&
		    spoke[3] / (s64)w->tick / (s64)width % n != spoke[2])
			sim_find("spoke %lld of level %lld of %s is for %lld", spoke[2], level,
				 w->name, spoke[3]);
	}
	if (c[2] != tick_ns(w, width) || c[3] != n)
		sim_find("level %lld of %s has %lld spokes of %lld ns, not %lld of %lld", level,
			 w->name, c[3], c[2], n, tick_ns(w, width));
	if (c[4] != (level < LOT ? tick_ns(w, width * n) : S64_MAX))
		sim_find("level %lld of %s has an interval of %lld ns", level, w->name, c[4]);
	if (c[5] != tick_ns(w, peek_clock(w->wheel, c[0]) / width * width))
		sim_find("the clock of level %lld of %s is %lld", level, w->name, c[5]);
	if (c[6] != occupied || c[7] != timers || c[8] != next)
		sim_find("level %lld of %s has %lld %lld %lld, its spokes %lld %lld %lld", level,
			 w->name, c[6], c[7], c[8], occupied, timers, next);
}

/* Compares the files of a wheel with each other, unless timers move meanwhile. */
static void compare_files(struct mwheel *w)
{
	u64 moved = peek_moves(w->wheel), cpu;
	s64 before = sim_clock(w), now;
	struct rows levels = rows_of(oracle_read(w, "levels", 64 + sim_rnd(4096)));
	struct rows spokes = rows_of(oracle_read(w, "spokes", 64 + sim_rnd(4096)));
	struct rows timers = rows_of(oracle_read(w, "timers", 64 + sim_rnd(4096)));
	unsigned int shown[SIM_CPUS] = { };
	int i, j = 0;

	for (i = 0; i < spokes.n; i++)
		if (spokes.c[i][4] <= 0)
			sim_find("file spokes of %s has a spoke without timers", w->name);
	now = sim_clock(w);
	if (moved != peek_moves(w->wheel) || !timers.n != !w->pending || closed(w))
		goto out;
	for (i = 0; i < levels.n; i++) {
		check_level(w, levels.c[i], &spokes);
		shown[levels.c[i][0]]++;
		if (i && levels.c[i][0] * ROWS + levels.c[i][1] <=
			 levels.c[i - 1][0] * ROWS + levels.c[i - 1][1])
			sim_find("file levels of %s is in no order", w->name);
	}
	for (cpu = 0; cpu < sim_world.cpus; cpu++)
		if (shown[cpu] != peek_levels_shown(w->wheel, cpu))
			sim_find("file levels of %s has %u rows of CPU %llu, not %u", w->name,
				 shown[cpu], cpu, peek_levels_shown(w->wheel, cpu));
	/* Both files list the spokes in the same order. */
	for (i = 0; i < spokes.n; i++) {
		const s64 *spoke = spokes.c[i];
		s64 n;

		for (n = 0; j < timers.n; n++, j++) {
			const s64 *timer = timers.c[j];

			if (memcmp(timer, spoke, 3 * sizeof(*timer)))
				break;
			if (timer[3] > now && due_at(w, timer[3]) < spoke[3])
				sim_find("a timer of %lld is in a spoke of %lld", timer[3],
					 spoke[3]);
			if (timer[4] > timer[3] - before || timer[4] < timer[3] - now)
				sim_find("file timers of %s: %lld remain until %lld", w->name,
					 timer[4], timer[3]);
		}
		if (n != spoke[4])
			sim_find("spoke %lld of level %lld of %s has %lld timers, not %lld",
				 spoke[2], spoke[1], w->name, spoke[4], n);
	}
	if (j != timers.n)
		sim_find("file timers of %s has a timer of no spoke", w->name);
out:
	free(levels.c);
	free(spokes.c);
	free(timers.c);
}

/* Does the oracle know closely enough which lateness hwheel counts? */
static bool exact_late(const struct mwheel *w)
{
	return w->config.context != HWHEEL_WORK &&
	       (!(w->config.flags & HWHEEL_BOOTTIME) || !sim_suspends) && !was_set(w);
}

/* The total of a counter in the file stats. U64_MAX: there is no memory to read it. */
static u64 total_of(const struct mwheel *w, const char *counter)
{
	char *text = oracle_read(w, "stats", 4096), *p = text, word[32];
	s64 c[2] = { }, total = -1;

	while (text && row(&p, word, c, 2) >= 0)
		if (!strcmp(word, counter))
			total = c[1];
	free(text);
	return total;
}

static void compare_stats(struct mwheel *w)
{
	char *text = oracle_read(w, "stats", 4096), *p = text, word[32];
	s64 c[16], moved[SIM_CPUS] = { }, called[SIM_CPUS] = { };
	u64 idle = 0, runs = 0, migrated = 0, kicks = 0, overruns = 0, count;
	char columns[100] = "# counter total";
	int n, i, rows = 0;

	if (!text)
		return;
	for (i = 0; i < (int)sim_world.cpus; i++)
		sprintf(columns + strlen(columns), " cpu%d", i);
	while ((n = row(&p, word, c, 16)) >= 0) {
		u64 sum = 0, most = 0;

		if (*word == '#' && strcmp(text, columns))
			sim_find("stats of %s begins with %s", w->name, text);
		if (*word == '#')
			continue;
		rows++;
		if (n != (int)sim_world.cpus + 2)
			sim_find("stats of %s: row %s of %d columns", w->name, word, n);
		/* Another CPU may move timers meanwhile */
		count = hwheel_count(w->wheel, word);
		if (count != (u64)c[1] && (count < (u64)c[1] || count > total_of(w, word)))
			sim_find("stats of %s: the total of %s is %lld, hwheel_count() says %llu",
				 w->name, word, c[1], count);
		for (i = 2; i < n; i++) {
			sum += c[i];
			most = max_t(u64, most, c[i]);
		}
		if ((u64)c[1] != (strncmp(word, "max_", 4) ? sum : most))
			sim_find("stats of %s: the total of %s is %lld", w->name, word, c[1]);
		if (!strcmp(word, "idle_interrupts"))
			idle = sum;
		if (!strcmp(word, "interrupts"))
			runs = sum;
		if (!strcmp(word, "migrated"))
			migrated = sum;
		if (!strcmp(word, "remote_kicks"))
			kicks = sum;
		if (!strcmp(word, "budget_overruns"))
			overruns = sum;
		if (!strcmp(word, "moderated") && sum > (w->config.gap_ns ? runs : 0))
			sim_find("stats of %s: %llu interrupts moderated", w->name, sum);
		for (i = 2; i < n && !strcmp(word, "interrupts"); i++)
			if ((u64)c[i] != w->interrupts[i - 2] && !deferrable(w))
				sim_find("stats of %s: %lld interrupts on CPU %d, not %llu",
					 w->name, c[i], i - 2, w->interrupts[i - 2]);
		/* hwheel does not measure every hold of the lock: its maximum may be less */
		for (i = 2; i < n && !strcmp(word, "max_locked_ns"); i++)
			if ((u64)c[i] > w->held[i - 2])
				sim_find("stats of %s: %s on CPU %d is %lld, not %llu", w->name,
					 word, i - 2, c[i], w->held[i - 2]);
		for (i = 2; i < n && !strcmp(word, "cascaded"); i++)
			moved[i - 2] = c[i];
		for (i = 2; i < n && !strcmp(word, "expired"); i++)
			called[i - 2] = c[i];
		/* The hold of a step that makes timers due is not measured */
		for (i = 2; i < n && !strcmp(word, "max_locked_ns"); i++)
			if (!c[i] && moved[i - 2] > 10000 + 16 * called[i - 2])
				sim_find("stats of %s: %s is 0", w->name, word);
		for (i = 2; i < n && !strcmp(word, "max_late_ns"); i++)
			if (exact_late(w) &&
			    (c[i] < w->max_low[i - 2] || c[i] > w->max_high[i - 2]) &&
			    w->max_high[i - 2] < KTIME_MAX)
				sim_find("stats of %s: %s on CPU %d is %lld, not %lld to %lld",
					 w->name, word, i - 2, c[i], w->max_low[i - 2],
					 w->max_high[i - 2]);
	}
	if (rows != peek_counters())
		sim_find("stats of %s: %d rows", w->name, rows);
	if (was_set(w))
		kicks += sim_sets * sim_world.cpus;	/* interrupts for the old offset */
	if (idle > w->cancelled + w->rearmed + migrated + kicks + runs / 2 + 8)
		sim_find("stats of %s: %llu idle interrupts", w->name, idle);
	if (!w->crowded && !overruns && !sim_suspends && !was_set(w) &&
	    w->config.context != HWHEEL_WORK &&
	    runs > 2 * w->expired + 2 * (w->cancelled + w->rearmed + migrated + kicks) + 64)
		sim_find("stats of %s: %llu interrupts for %llu callbacks", w->name, runs,
			 w->expired);
	free(text);
}

static void compare_lateness(struct mwheel *w)
{
	char *text = oracle_read(w, "lateness", 4096), *p = text, word[32];
	u64 total = 0, low = 0, high = 0, theirs[SIM_LATE] = { };
	s64 c[4];
	int i;

	if (!text)
		return;
	while (row(&p, word, c, 4) >= 0) {
		if (*word == '#')
			continue;
		total += c[1];
		i = c[0] == -1 ? 64 : fls64_((u64)c[0] - 1);
		if (i < 64 && (u64)c[0] != 1ULL << i)
			sim_find("lateness of %s has a row of %lld", w->name, c[0]);
		theirs[i] += c[1];
	}
	if (total != w->expired)
		sim_find("lateness of %s counts %llu, not %llu", w->name, total, w->expired);
	total = 0;
	for (i = 0; i < SIM_LATE && exact_late(w); i++) {
		total += theirs[i];
		low += w->late_low[i];
		high += w->late_high[i];
		if (total < high || total > low)
			sim_find("lateness of %s: %llu timers up to %llu ns late, not %llu to %llu",
				 w->name, total, 1ULL << i, high, low);
	}
	free(text);
}

void *sim_user(unsigned int user)
{
	return user == USER_SLEEPER ? peek_wake_sleeper() :
	       user == USER_WORK ? (void *)sim_work_function : (void *)sim_callbacks[user];
}

static void compare_users(struct mwheel *w)
{
	u64 moved = peek_moves(w->wheel), pending[SIM_USERS] = { };
	char *text = oracle_read(w, "users", 64 + sim_rnd(4096)), *p = text, word[32];
	bool seen[SIM_USERS] = { };
	unsigned int i;
	s64 c[8];
	int n;

	if (!text || moved != peek_moves(w->wheel))
		goto out;
	for (i = 0; i < sim_all_slots; i++)
		if (sim_slots[i].wheel == w && sim_slots[i].pending)
			pending[sim_slots[i].user]++;
	while ((n = row(&p, word, c, 8)) >= 0) {
		for (i = 0; i < SIM_USERS; i++)
			if (c[0] == (long)sim_user(i))
				break;
		if (*word == '#' || i == SIM_USERS)		/* a callback of calls.c */
			continue;
		if (n < 2 || seen[i])
			sim_find("users of %s: %d columns, or two rows of callback %u", w->name,
				 n, i);
		seen[i] = true;
		if ((u64)c[1] != pending[i])
			sim_find("users of %s: %lld timers of callback %u are pending, not %llu",
				 w->name, c[1], i, pending[i]);
	}
	for (i = 0; i < SIM_USERS; i++)
		if (!seen[i] && pending[i])
			sim_find("users of %s lacks callback %u", w->name, i);
out:
	free(text);
}

static void compare_config(struct mwheel *w)
{
	static const char *const contexts[] = { "softirq", "hardirq", "work" };
	char *text = oracle_read(w, "config", 4096), wanted[100];

	if (!text)
		return;
	snprintf(wanted, sizeof(wanted), "name %s\ntick_ns %llu\n", w->name, w->tick);
	if (!strstr(text, wanted))
		sim_find("config of %s: %s", w->name, text);
	snprintf(wanted, sizeof(wanted),
		 "\nclock %s\ncontext %s\nbudget_ns %llu\ngap_ns %llu\n%s%s",
		 w->config.flags & HWHEEL_BOOTTIME ? "boottime" :
		 w->config.flags & HWHEEL_TAI ? "tai" : wall(w) ? "realtime" : "monotonic",
		 contexts[w->config.context], w->budget, (u64)w->config.gap_ns,
		 deferrable(w) ? "deferrable 1\n" : "", "bytes_per_cpu ");
	if (!strstr(text, wanted))
		sim_find("config of %s: %s", w->name, text);
	snprintf(wanted, sizeof(wanted), "\nbytes_per_cpu %zu\nnow_ns ", peek_bytes(w->wheel));
	if (!strstr(text, wanted))
		sim_find("config of %s: %s", w->name, text);
	if (w->config.levels) {		/* a zero repeats the level below */
		int i, n = snprintf(wanted, sizeof(wanted), "\nlevels %u\nspokes ",
				    w->config.levels);
		unsigned int spokes = 128;

		for (i = 0; i < (int)w->config.levels; i++) {
			spokes = w->config.spokes[i] ?: spokes;
			n += snprintf(wanted + n, sizeof(wanted) - n, "%s%u", i ? "," : "", spokes);
		}
		snprintf(wanted + n, sizeof(wanted) - n, "\n");
		if (!strstr(text, wanted))
			sim_find("config of %s: %s, not%s", w->name, text, wanted);
	}
	free(text);
}

/* Compare hwheel's counters and files with the table. No other task may be running. */
void oracle_compare(struct mwheel *w)
{
	u64 pending = w->pending;
	const char *left = peek_at_rest(w->wheel);

	if (left)
		sim_find("%s is at rest, and there is %s", w->name, left);
	check_count(w, "added", w->added);
	check_count(w, "rearmed", w->rearmed);
	check_count(w, "cancelled", w->cancelled);
	check_count(w, "expired", w->expired);
	if (w->added != w->expired + w->cancelled + w->pending)
		sim_find("%s: %llu were added, %llu expired, %llu were cancelled, %llu are pending",
			 w->name, w->added, w->expired, w->cancelled, w->pending);
	check_count(w, "cascaded", traced_moves[w - sim_wheels]);
	check_count(w, "budget_overruns", traced_cuts[w - sim_wheels]);
	if (traced_entries != traced_exits || traced_entries < sim_fired)
		sim_find("%llu callbacks, %llu traced begins and %llu ends", sim_fired,
			 traced_entries, traced_exits);
	if (sim_last_set > w->made_at && wall(w) && !w->told &&
	    sim_time > sim_last_set + NSEC_PER_SEC)
		sim_find("clock_set() of %s was not called", w->name);
	compare_stats(w);
	compare_lateness(w);
	compare_users(w);
	compare_config(w);
	compare_sum(w, "levels", 7, 8);
	compare_sum(w, "spokes", 4, 3);
	if (w->pending == pending)
		compare_timers(w, 64 + sim_rnd(8192));
	compare_files(w);
}
