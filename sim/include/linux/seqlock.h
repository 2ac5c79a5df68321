/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SEQLOCK_H
#define _SIM_LINUX_SEQLOCK_H

/* The notifier of timekeeping writes. It runs in one step, so no reader sees a part of it. */
typedef struct {
	unsigned int	sequence;
} seqcount_t;

#define SEQCNT_ZERO(name)			{ 0 }
/* race.c ignores accesses between begin and retry. */
#define raw_read_seqcount_begin(s)							\
	(sim_may_race(1), sim_seq_begin((s)->sequence), (s)->sequence)
#define read_seqcount_retry(s, start)						\
	({ sim_place(__func__); sim_may_race(-1); (s)->sequence != (start); })
#define raw_write_seqcount_begin(s)		(sim_may_race(1), (void)(s)->sequence++)
#define raw_write_seqcount_end(s)		((void)(s)->sequence++, sim_may_race(-1))

void sim_may_race(int more);
void sim_seq_begin(unsigned int sequence);

#endif /* _SIM_LINUX_SEQLOCK_H */
