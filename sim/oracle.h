/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The oracle keeps a table of timers and wheels. It checks what each call of hwheel does
 * to them.
 */
#ifndef _SIM_ORACLE_H
#define _SIM_ORACLE_H

#include <linux/debugobjects.h>
#include "wheel.h"

#define SIM_WHEELS	12
#define SIM_LATE	65
#define SIM_CALLBACKS	3
/* Rows of the file "users": SIM_CALLBACKS callbacks, one for sleepers, one for delayed work */
#define SIM_USERS	(SIM_CALLBACKS + 2)
#define USER_SLEEPER	SIM_CALLBACKS
#define USER_WORK	(SIM_CALLBACKS + 1)
/* Slots behind those of the program's timers: for delayed work, and for tasks that sleep */
#define SIM_WORKS	16
#define SIM_SLEEPERS	64

enum sim_kind {
	CALL_ADD, CALL_RANGE, CALL_AT, CALL_ON, CALL_MOD, CALL_REDUCE, CALL_FORWARD,
	CALL_ARMS = CALL_FORWARD,
	CALL_CANCEL, CALL_TRY, CALL_CANCEL_SYNC, CALL_SHUTDOWN, CALL_SHUTDOWN_SYNC,
	CALL_CANCELS = CALL_SHUTDOWN_SYNC,
	CALL_PENDING, CALL_EXPIRES, CALL_REMAINING, CALL_RUNNING, CALL_SYNCHRONIZE,
	CALL_SETUP, CALL_DESTROY, CALL_CREATE, CALL_OTHER,
	/* From here on: calls whose timers hwheel itself arms and cancels */
	CALL_SLEEP,
	CALL_QUEUE, CALL_REQUEUE, CALL_WORK_CANCEL, CALL_WORK_SYNC, CALL_DISABLE,
	CALL_DISABLE_SYNC, CALL_ENABLE, CALL_WORK_PENDING, CALL_FLUSH,
};

/* States that a timer had during a call */
#define SEEN_PENDING	1
#define SEEN_IDLE	2		/* not pending */
#define SEEN_RUNNING	4
#define SEEN_QUIET	8		/* not running */

struct slot;

/* A call of hwheel's API that is under way. It is on the caller's stack. */
struct sim_call {
	enum sim_kind		kind;
	struct slot		*slot;
	struct sim_call		*outer, *next, **link;
	s64			delay, slack, clock;	/* @clock: when it began */
	s64			old_expires;
	int			on;
	int			cpu, was_on;
	unsigned int		seen, arms, cancels, alone;
	bool			was_pending, dead_wheel, shut, ran;
	u64			pops, switches, time;
	unsigned long long	sleeps;
	unsigned int		hotplugs, sets;
	struct mwheel		*wheel;
	struct work_call	*work;		/* of delayed work: see work.c */
};

struct mwheel {
	struct hwheel		*wheel;
	char			name[32];
	struct hwheel_config	config;
	enum { NO_WHEEL, LIVE_WHEEL, CLOSING_WHEEL } state;
	u64			tick, budget;
	u64			pending, peak;
	u64			added, rearmed, cancelled, expired;
	u64			interrupts[SIM_CPUS];
	u64			run_begun[SIM_CPUS], run_ended[SIM_CPUS];
	u64			run_due[SIM_CPUS];
	u64			fired_ended[SIM_CPUS];	/* the last run with callbacks */
	u64			run_spent[SIM_CPUS];	/* the oracle's base->spent */
	u64			earned[SIM_CPUS];	/* the break that the last run may take */
	u64			called_at[SIM_CPUS];	/* end of the last callback */
	u64			quiet[SIM_CPUS];	/* no interrupt before this time */
	unsigned int		start_sets[SIM_CPUS];	/* sim_sets when the hrtimer was started */
	ktime_t			start_off[SIM_CPUS];	/* the base's offset then */
	u64			started_at[SIM_CPUS];	/* sim_time then */
	bool			started_in_irq[SIM_CPUS];	/* in_hardirq() then */
	ktime_t			rest[SIM_CPUS];	/* the end of the last rest */
	u64			starved_at[SIM_CPUS];	/* when fans were last missing */
	u64			wanted_at[SIM_CPUS];	/* when a crowd last wanted fans */
	u64			wanted_ns[SIM_CPUS];	/* for how long */
	u64			read_at[SIM_CPUS];	/* the run read the clock then or later */
	u64			break_until[SIM_CPUS];	/* 0: no break */
	u64			held[SIM_CPUS];		/* the longest that the lock was held */
	unsigned int		greedy[SIM_CPUS];	/* runs in a row without a pause */
	u64			armed_ahead[SIM_CPUS];
	s64			last_due[SIM_CPUS];	/* the latest tick that has run */
	u64			popped_at[SIM_CPUS];	/* when a timer was last taken off */
	ktime_t			popped_off[SIM_CPUS];	/* the base's offset then */
	u64			begun[SIM_CPUS], ended[SIM_CPUS];	/* callbacks */
	u64			late_low[SIM_LATE], late_high[SIM_LATE];
	s64			max_low[SIM_CPUS], max_high[SIM_CPUS];
	unsigned int		life;
	unsigned int		setups;		/* calls that need the wheel until they end */
	bool			meant[SIM_CPUS];	/* a timer was armed for this very CPU */
	bool			crowded;
	unsigned int		told;		/* calls of clock_set() */
	unsigned int		sets;		/* sim_sets before it was created */
	u64			made_at;
};

struct object {
	struct hwheel_timer	timer;
	struct slot		*slot;		/* NULL: the timer belongs to calls.c */
	enum debug_obj_state	state;
};

struct slot {
	struct object		*object;	/* NULL for sleepers and delayed work */
	struct hwheel_timer	*timer;		/* NULL: there is none */
	struct mwheel		*wheel;
	unsigned int		wheel_life;
	int			nr;
	unsigned int		users;
	bool			busy;		/* one task uses it alone */
	bool			set_up, pinned, armed_once, shut;
	unsigned int		user;		/* its row in the file users */
	unsigned int		expiries;	/* callbacks of hwheel itself that have not ended */
	unsigned int		shutting;

	bool			pending;
	s64			expires;	/* the wheel's clock */
	s64			armed_clock;
	u64			armed_at;	/* CLOCK_MONOTONIC */
	int			cpu, want_cpu;

	bool			popped;		/* its callback is about to begin */
	bool			due_past;	/* it was armed for the past */
	struct mwheel		*due_wheel;
	int			due_cpu;
	u64			*past_at;	/* the past_round that includes @past_ns */
	u64			past_ns;	/* its longest callback with @due_past */
	u64			begun_at;
	s64			due_expires, due_armed_clock, clock_read;
	u64			due_armed_at;
	u64			pops, ends, ended_at, life;
	unsigned int		running;
	unsigned int		cancels;	/* by runs; the call that asked has not returned */
	struct sim_call		*calls;

	int			how;		/* what its callback does */
	s64			a, b;
	int			left;
};

extern struct mwheel sim_wheels[SIM_WHEELS];
extern struct slot *sim_slots;
extern unsigned int sim_nr_slots;	/* of the program's timers */
extern unsigned int sim_all_slots;	/* sim_nr_slots + SIM_WORKS + SIM_SLEEPERS */
extern u64 sim_calls, sim_fired;
extern unsigned int sim_suspends;
extern u64 sim_last_suspend;
extern u64 sim_last_set;	/* when the clock of wall time was set */
extern u64 sim_late_ns;		/* a bound on lateness that the program sets; or 0 */
extern const char *sim_expects;	/* part of a warning that may come; or NULL */
extern unsigned int sim_left;	/* warnings that something was left at the end */
extern u64 sim_setups;		/* calls of the tracepoint hwheel_setup */
extern u64 sim_works;		/* works that were queued */
extern bool sim_warned;		/* the warning @sim_expects came */
/* A function that warnings must name is in this section. */
extern void (*const sim_callbacks[SIM_CALLBACKS])(struct hwheel_timer *timer);
extern const struct debug_obj_descr *sim_descr;	/* what hwheel tells debugobjects */
extern struct hwheel_delayed_work sim_delayed;	/* belongs to calls.c */
extern u64 sim_worst;		/* greatest lateness, less callbacks and stalls */

void oracle_slots(unsigned int n);
void slot_set_up(struct slot *slot, struct mwheel *w, unsigned int wheel_life, bool pinned);
void slot_free(struct slot *slot);
void *sim_user(unsigned int user);	/* the function of a row of the file users */
s64 due_at(const struct mwheel *w, s64 expires);
bool wheel_is_there(const struct slot *slot);
bool wheel_is_dead(const struct slot *slot);	/* the one it was set up for */
void oracle_function_ran(u64 ns);	/* a function of delayed work */
u64 oracle_held_up(u64 since);		/* for how long others may have held up a task */
extern const char *const sim_kinds[];
void call_begin(struct sim_call *call, enum sim_kind kind, struct slot *slot);
void call_meant(const struct slot *slot, int cpu);
void call_end(struct sim_call *call, s64 ret);
void call_synchronize(struct mwheel *w);
s64 sim_clock(const struct mwheel *w);
void busy_begin(void);			/* the program uses this CPU now, not hwheel */
void busy_end(void);
void oracle_callback(struct slot *slot);
void oracle_callback_end(struct slot *slot, u64 life);
char *oracle_read(const struct mwheel *w, const char *file, size_t chunk);
void oracle_compare(struct mwheel *w);	/* compares counters and files with the table */
void oracle_new_wheel(struct mwheel *w);

/* In work.c: what happens to the timer of delayed work */
void work_armed(struct slot *slot, struct sim_call *call);
void work_expired(struct slot *slot, u64 life);	/* the callback has ended */
unsigned int work_most_changes(const struct sim_call *call);
void work_callback_locks(const struct slot *slot);
void work_locked(raw_spinlock_t *lock, struct sim_call *call);
void work_unlocked(raw_spinlock_t *lock, struct sim_call *call);
void sim_work_function(struct work_struct *work);
u64 work_held_up(u64 since);		/* for how long functions ran */

#endif /* _SIM_ORACLE_H */
