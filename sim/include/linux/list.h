/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_LIST_H
#define _SIM_LINUX_LIST_H

#include_next <linux/list.h>

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	entry->next = NULL;
	entry->prev = NULL;
}

#define list_first_entry_or_null(head, type, member)			\
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_for_each_entry_safe(pos, n, head, member)			\
	for (pos = list_first_entry(head, typeof(*(pos)), member),	\
	     n = list_entry((pos)->member.next, typeof(*(pos)), member);	\
	     &(pos)->member != (head);					\
	     pos = n, n = list_entry((n)->member.next, typeof(*(n)), member))

#endif /* _SIM_LINUX_LIST_H */
