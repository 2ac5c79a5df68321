/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who uses a wheel: a table with the counts of each callback
 *
 * A table is a hash table with open addressing. It has a fixed size, so that counting
 * allocates nothing. Only the first HWHEEL_MOST_USERS callbacks get a row of their own. So a
 * quarter of the rows stays free. Each search soon ends: at the callback's own row, or at a
 * free row. All later callbacks share one more row, "other". Rows stay until the table is
 * freed.
 *
 * This file takes no lock. A base has a table while its wheel's callbacks are counted, and
 * base->lock protects the table. A reader of debugfs adds up the tables of all bases in a
 * table of its own.
 */
#ifndef _HWHEEL_USERS_H
#define _HWHEEL_USERS_H

#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define HWHEEL_USER_BITS	6
#define HWHEEL_USERS		BIT(HWHEEL_USER_BITS)
#define HWHEEL_MOST_USERS	(HWHEEL_USERS * 3 / 4)

struct hwheel_user {
	void			*function;	/* NULL: the row is free */
	u64			pending;	/* only in a reader's table */
	u64			armed;
	u64			expired;
	u64			max_late_ns;
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

static inline void users_add_row(struct hwheel_user *to, const struct hwheel_user *from)
{
	to->pending += from->pending;
	to->armed += from->armed;
	to->expired += from->expired;
	to->max_late_ns = max(to->max_late_ns, from->max_late_ns);
}

/* Add the counts of @from to those of @to. */
static inline void users_add(struct hwheel_users *to, const struct hwheel_users *from)
{
	unsigned int i;

	for (i = 0; i < HWHEEL_USERS; i++)
		if (from->row[i].function)
			users_add_row(users_find(to, from->row[i].function), &from->row[i]);
	users_add_row(&to->other, &from->other);
}

#endif /* _HWHEEL_USERS_H */
