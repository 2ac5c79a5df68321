// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping on a wheel: the operations of programs, and what the oracle checks
 *
 * A task that sleeps has a slot of the oracle while the call lasts. The oracle checks the timer
 * of the sleep as it checks all timers. This file checks the rest:
 *
 *  - The time is over only if the timer's callback has begun.
 *  - The sleep ends earlier only if somebody has woken the task, or sent it a signal.
 *  - Otherwise the sleep goes on. When the callback has run, the task soon gets a CPU.
 *  - When the call returns, the timer is not pending, and its callback is not running.
 *
 * Then this file overwrites the stack on which the timer was.
 */
#include <linux/err.h>
#include <linux/ktime.h>

#include "program.h"

#define SLEEPER(i)	(&sim_slots[sim_nr_slots + SIM_WORKS + (i)])

/* A task may need this long to get a CPU, plus the time for which others held it up */
#define CPU_NS		NSEC_PER_SEC
/*
 * The longest sleep. If only its timer can end a sleep, the delay is at most this long. If a
 * signal can end it, too, a fatal signal comes after this time.
 */
#define LONGEST_NS	(100 * (s64)NSEC_PER_SEC)

static struct task_struct *sleeping[SIM_SLEEPERS];

static noinline void overwrite_stack(void)
{
	volatile char junk[2048];
	unsigned int i;

	for (i = 0; i < sizeof(junk); i++)
		junk[i] = 0x6b;
}

/* A sleep of the current task */
struct sleep {
	struct sim_call		call;
	struct slot		*slot;
	struct mwheel		*wheel;
	unsigned int		wakeups;	/* of the task before the sleep */
	int			at;		/* in sleeping[] */
};

static bool begin(struct sleep *sleep, struct mwheel *w, s64 delay, s64 slack)
{
	int i;

	for (i = 0; sleeping[i]; i++)
		if (i == SIM_SLEEPERS - 1)
			return false;
	if (w->state != LIVE_WHEEL)
		return false;
	sleeping[i] = current;
	sleep->at = i;
	sleep->slot = SLEEPER(i);
	sleep->wheel = w;
	sleep->wakeups = current->wakeups;
	w->setups++;			/* nobody may destroy the wheel meanwhile */
	slot_set_up(sleep->slot, w, w->life, false);
	call_begin(&sleep->call, CALL_SLEEP, sleep->slot);
	sleep->call.wheel = w;
	sleep->call.delay = delay;
	sleep->call.slack = slack;
	return true;
}

/*
 * Has the current task a signal that ends its sleep? @how is 0: no signal ends it; 1: each signal
 * does; 2: a fatal signal does.
 */
static bool signalled(unsigned int how)
{
	return how && current->signal >= (how == 1 ? SIM_SIGNALLED : SIM_KILLED);
}

static bool woken(const struct sleep *sleep)
{
	return current->wakeups != sleep->wakeups || current->signal;
}

/* The call has returned. @over: it says that the time is over. */
static void end(struct sleep *sleep, bool over, int ret)
{
	struct sim_call *call = &sleep->call;
	struct slot *slot = sleep->slot;
	bool fired = slot->pops > call->pops;
	struct mwheel *w = sleep->wheel;

	if (current->state != TASK_RUNNING || current->blocked)
		sim_find("after a sleep the task's state is not TASK_RUNNING");
	if (slot->pending || slot->popped || slot->running)
		sim_find("a sleep has ended, and its timer is %s",
			 slot->pending ? "pending" : "running");
	if (over && call->delay > 0 && !fired)
		sim_find("a sleep of %lld ns returned %d, and its timer has not expired",
			 call->delay, ret);
	if ((call->delay <= 0 || call->delay == KTIME_MAX) && call->arms)
		sim_find("a sleep of %lld ns armed a timer", call->delay);
	if (over && call->delay > 0 && call->sets == sim_sets &&
	    sim_clock(w) < due_at(w, call->clock + min(call->delay, KTIME_MAX - call->clock)))
		sim_find("a sleep of %lld ns at %lld is over early", call->delay, call->clock);
	if (fired && sim_time - slot->ended_at > CPU_NS + oracle_held_up(slot->ended_at))
		sim_find("a task wakes up %llu ns after its timer", sim_time - slot->ended_at);
	call_end(call, 0);
	slot_free(slot);
	w->setups--;
	sleeping[sleep->at] = NULL;
	current->signal = SIM_NO_SIGNAL;
	current->alarm = 0;
	overwrite_stack();
}

/*
 * Limit a sleep to LONGEST_NS. If @signals can end the sleep, keep @delay, and set an alarm.
 * Otherwise shorten the delay.
 */
static s64 limit(s64 delay, bool signals)
{
	if (delay <= LONGEST_NS)
		return delay;
	if (!signals)
		return LONGEST_NS;
	current->alarm = sim_time + LONGEST_NS;
	return delay;
}

void sim_sleep_on_wheel(s64 delay, unsigned int how)
{
	struct sleep sleep;
	int ret = 0;
	u64 since;

	if (!begin(&sleep, &sim_wheels[0], delay, 0))
		return;
	delay = limit(delay, how);
	sleep.call.delay = delay;
	switch (how) {
	case 0:
		hwheel_sleep(delay);
		break;
	case 1:
		ret = hwheel_sleep_interruptible(delay);
		break;
	default:
		ret = hwheel_sleep_killable(delay);
	}
	if (ret && ret != -EINTR)
		sim_find("a sleep returned %d", ret);
	if (ret && !signalled(how))
		sim_find("a sleep returned %d, and there is no signal", ret);
	since = max(current->signal_at, sleep.call.time);	/* it may come before the sleep */
	if (!ret && signalled(how) && sim_time - since > CPU_NS + oracle_held_up(since))
		sim_find("a sleep goes on for %llu ns after a signal", sim_time - since);
	end(&sleep, !ret, ret);
}

/* hsleep DELAY HOW: HOW is 0: no signal ends the sleep; 1: interruptible; 2: killable */
void do_hsleep(const struct op *op)
{
	sim_sleep_on_wheel(op->arg[0], (unsigned long long)op->arg[1] % 3);
}

/* hschedule WHEEL DELAY SLACK STATE */
void do_hschedule(const struct op *op)
{
	static const unsigned int states[] = {
		TASK_RUNNING, TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, TASK_KILLABLE };
	struct mwheel *w = &sim_wheels[(unsigned long long)op->arg[0] % SIM_WHEELS];
	unsigned int state = states[(unsigned long long)op->arg[3] % 4];
	struct sleep sleep;
	bool fired;
	int ret;

	if (!begin(&sleep, w, op->arg[1], op->arg[2]))
		return;
	limit(max(op->arg[1], op->arg[2]), true);	/* each wakeup ends this sleep */
	set_current_state(state);
	ret = hwheel_schedule_hrtimeout(w->wheel, op->arg[1], op->arg[2]);
	fired = sleep.slot->pops > sleep.call.pops;
	if (ret && ret != -EINTR)
		sim_find("hwheel_schedule_hrtimeout returned %d", ret);
	if (ret && (fired || op->arg[1] <= 0))
		sim_find("hwheel_schedule_hrtimeout returned %d, but the time was over", ret);
	if (ret && state != TASK_RUNNING && !woken(&sleep))
		sim_find("hwheel_schedule_hrtimeout returned %d, and nobody has woken the task",
			 ret);
	end(&sleep, !ret, ret);
}

#define QUEUES	4

static wait_queue_head_t queues[QUEUES];
static int posted[QUEUES];

/*
 * hwait QUEUE DELAY STATE: wait for a post. STATE is 0: no signal ends the wait; 1: interruptible;
 * 2: killable
 */
void do_hwait(const struct op *op)
{
	unsigned int nr = (unsigned long long)op->arg[0] % QUEUES;
	unsigned int how = (unsigned long long)op->arg[2] % 3;
	struct sleep sleep;
	int last = -1, ret;
	s64 delay;

	if (!begin(&sleep, &sim_wheels[0], op->arg[1], 0))
		return;
	delay = limit(op->arg[1], how);
	sleep.call.delay = delay;
	if (!queues[nr].waiting.next)
		init_waitqueue_head(&queues[nr]);
	switch (how) {
	case 0:
		ret = hwheel_wait_event_hrtimeout(queues[nr], (last = READ_ONCE(posted[nr])),
						  delay);
		break;
	case 1:
		ret = hwheel_wait_event_interruptible_hrtimeout(queues[nr],
								(last = READ_ONCE(posted[nr])),
								delay);
		break;
	default:
		ret = hwheel_wait_event_killable_hrtimeout(queues[nr],
							   (last = READ_ONCE(posted[nr])), delay);
	}
	if (ret && ret != -ETIME && ret != -ERESTARTSYS)
		sim_find("hwheel_wait_event_hrtimeout returned %d", ret);
	if (!ret != !!last)
		sim_find("hwheel_wait_event_hrtimeout returned %d, and the condition is %d", ret,
			 last);
	if (ret == -ERESTARTSYS && !signalled(how))
		sim_find("hwheel_wait_event_hrtimeout returned %d, and there is no signal", ret);
	if (!ret)
		posted[nr] = 0;
	end(&sleep, ret == -ETIME, ret);
}

void do_post(const struct op *op)
{
	unsigned int nr = (unsigned long long)op->arg[0] % QUEUES;

	if (!queues[nr].waiting.next)
		init_waitqueue_head(&queues[nr]);
	WRITE_ONCE(posted[nr], 1);
	wake_up_all(&queues[nr]);
}

/* The index of sleeper number @nr modulo the number of sleepers; -1 if nobody sleeps */
static int sleeper(long long nr)
{
	int i, n = 0, wanted;

	for (i = 0; i < SIM_SLEEPERS; i++)
		n += !!sleeping[i];
	if (!n)
		return -1;
	wanted = (unsigned long long)nr % n;
	for (i = 0; !sleeping[i] || wanted--; i++)
		;
	return i;
}

/* wake N: wake sleeper number N */
void do_wake(const struct op *op)
{
	int i = sleeper(op->arg[0]);

	if (i >= 0)
		sim_wakeup(sleeping[i]);
}

/* signal N FATAL: send sleeper number N a signal; a fatal one if FATAL is odd */
void do_signal(const struct op *op)
{
	int i = sleeper(op->arg[0]);

	if (i >= 0)
		sim_signal(sleeping[i], op->arg[1] & 1 ? SIM_KILLED : SIM_SIGNALLED);
}

/* wakeat N NS: the same as wake, but NS before the sleeper's timer expires */
void do_wakeat(const struct op *op)
{
	struct task_struct *task;
	struct slot *slot;
	int i = sleeper(op->arg[0]);
	s64 ns;

	if (i < 0)
		return;
	task = sleeping[i];
	slot = SLEEPER(i);
	if (slot->pending) {
		ns = slot->expires - sim_clock(slot->wheel) - op->arg[1];
		sim_sleep(clamp(ns, (s64)0, LONGEST_NS));
	}
	if (sleeping[i] == task)
		sim_wakeup(task);
}

void wake_sleepers(const struct mwheel *w)
{
	int i;

	for (i = 0; i < SIM_SLEEPERS; i++)
		if (sleeping[i] && SLEEPER(i)->wheel == w)
			sim_wakeup(sleeping[i]);
}
