/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_LIST_H
#define _SIM_LINUX_LIST_H

#include_next <linux/list.h>

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

#define list_first_entry_or_null(head, type, member)			\
	(list_empty(head) ? NULL : list_first_entry(head, type, member))

#endif /* _SIM_LINUX_LIST_H */
