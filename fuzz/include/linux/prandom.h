/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_PRANDOM_H
#define _LINUX_PRANDOM_H

#include <linux/types.h>

struct rnd_state {
	u64	x;
};

static inline void prandom_seed_state(struct rnd_state *state, u64 seed)
{
	state->x = (seed + 1) * 0x9e3779b97f4a7c15ULL;
}

#endif /* _LINUX_PRANDOM_H */
