/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who uses a wheel: a table with the number of pending timers of each callback
 *
 * A table is a hash table with open addressing. It has a fixed size. Only the first
 * HWHEEL_MOST_USERS callbacks get a row of their own. So a quarter of the rows stays free. Each
 * search soon ends: at the callback's own row, or at a free row. All later callbacks share one
 * more row, "other". A reader of debugfs has a table of its own, so this file takes no lock.
 */
#ifndef _HWHEEL_USERS_H
#define _HWHEEL_USERS_H

#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/types.h>

#define HWHEEL_USER_BITS	6
#define HWHEEL_USERS		BIT(HWHEEL_USER_BITS)
#define HWHEEL_MOST_USERS	(HWHEEL_USERS * 3 / 4)

struct hwheel_user {
	void			*function;	/* NULL: the row is free */
	u64			pending;
};

struct hwheel_users {
	unsigned int		nr;		/* rows that are not free */
	struct hwheel_user	row[HWHEEL_USERS];
	struct hwheel_user	other;
};

/* The row of @function. Takes a free row if @function has none. */
static inline struct hwheel_user *users_find(struct hwheel_users *users, void *function)
{
	unsigned int i = hash_ptr(function, HWHEEL_USER_BITS);

	while (users->row[i].function != function) {
		if (!users->row[i].function) {
			if (users->nr == HWHEEL_MOST_USERS)
				return &users->other;
			users->nr++;
			users->row[i].function = function;
			break;
		}
		i = (i + 1) % HWHEEL_USERS;
	}
	return &users->row[i];
}

#endif /* _HWHEEL_USERS_H */
