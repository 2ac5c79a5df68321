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
	char		world[16][64];	/* lines "name value" */
	int		nr_world;
	struct op	*ops;
	int		nr, room;
};

void program_generate(struct program *p, unsigned long long seed);
void program_write(const struct program *p, FILE *file);
bool program_read(struct program *p, FILE *file);
void program_run(const struct program *p);	/* ends by _exit() */
void program_done(void);			/* in main.c */
void known_calls(void);				/* in calls.c */

#endif /* _SIM_PROGRAM_H */
