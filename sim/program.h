/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_PROGRAM_H
#define _SIM_PROGRAM_H

#include <stdio.h>
#include "oracle.h"

#define OP_ARGS		14

struct op {
	unsigned char	actor, context, what, n;
	long long	arg[OP_ARGS];
};

/* The text of a program: its world, then one operation per line */
struct program {
	char		world[20][64];	/* lines "name value" */
	int		nr_world;
	struct op	*ops;
	int		nr, room;
};

/*
 * What may meet: kinds of operations, then kinds of wheels and worlds. Bugs are where two of these
 * meet that seldom do.
 */
enum feature {
	ARMS, MOVES, CANCELS, WAITS, SETUPS, HOTPLUG, WHEELS, CLOCK, SUSPEND, MEMORY, READS, SLEEPS,
	WORKS, CROWDS, OPERATIONS,
	ISOLATED = OPERATIONS, HARDIRQ, PROCESS, DEFERRABLE, WALL, GAP, FEATURES
};

extern const char *const feature_names[FEATURES];
extern unsigned int sim_met[FEATURES][FEATURES];	/* how often two met in this run */

void program_generate(struct program *p, unsigned long long seed);
void program_write(const struct program *p, FILE *file);
bool program_read(struct program *p, FILE *file);
void program_run(const struct program *p);	/* ends by _exit() */
void program_done(void);			/* in main.c */
void known_calls(void);
void last_kick(void);				/* in calls.c */

/* Operations in sleep.c */
void do_hsleep(const struct op *op);
void do_hschedule(const struct op *op);
void do_hwait(const struct op *op);
void do_post(const struct op *op);
void do_wake(const struct op *op);
void do_wakeat(const struct op *op);
void do_signal(const struct op *op);
void sim_sleep_on_wheel(s64 delay, unsigned int how);
void wake_sleepers(const struct mwheel *w);

/* What a function of delayed work does */
enum {
	WORK_NOTHING, WORK_RUN, WORK_SLEEP, WORK_SLEEP_ON_WHEEL, WORK_QUEUE, WORK_MOD,
	WORK_CANCEL, WORK_DISABLE, WORK_FREE, WORK_QUEUE_OTHER, WORK_MOD_OTHER,
	WORK_CANCEL_OTHER, WORK_HOWS
};

/* Operations in work.c */
void do_dsetup(const struct op *op);
void do_dqueue(const struct op *op);
void do_dmod(const struct op *op);
void do_dcancel(const struct op *op);
void do_dsync(const struct op *op);
void do_dflush(const struct op *op);
void do_ddisable(const struct op *op);
void do_ddsync(const struct op *op);
void do_denable(const struct op *op);
void do_dpending(const struct op *op);
void do_dfree(const struct op *op);
void do_dsleepto(const struct op *op);
void work_leaves(const struct mwheel *w);
bool work_under_way(void);
void check_works(void);

#endif /* _SIM_PROGRAM_H */
