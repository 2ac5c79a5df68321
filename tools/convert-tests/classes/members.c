// SPDX-License-Identifier: GPL-2.0
/* Members of timer_list that hwheel_timer has as well, with another meaning */
#include <linux/module.h>

struct members {
	struct timer_list	late;
	struct timer_list	later;
	struct timer_list	kept;
	struct timer_list	changed;
	struct timer_list	moved;
	struct timer_list	reset;
	struct timer_list	called;
	struct timer_list	inside;
	struct timer_list	loop;
	struct timer_list	asked;
	struct timer_list	address;
	unsigned long		when;
};

static void members_expired(struct timer_list *t)
{
}

static void members_other(struct timer_list *t)
{
}

static void members_moved(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, moved);

	/* The time is set, and the timer armed later in the block */
	m->moved.expires = jiffies + HZ;
	kfree(m);
	add_timer(&m->moved);
}

/* The timer is armed in a block inside */
static void members_inside(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, inside);

	m->inside.expires += HZ;
	if (m->when)
		add_timer(&m->inside);
}

/* The time is set for the first pass of the loop only */
static void members_loop(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, loop);

	m->loop.expires = jiffies + HZ;
	while (m->when)
		add_timer(&m->loop);
}

static void members_called(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, called);

	/* A call may change what the time is made of */
	m->called.expires = jiffies + m->when;
	kfree(m);
	add_timer(&m->called);
}

static void members_reset(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, reset);

	/* What the time is made of changes in between */
	m->reset.expires = m->when;
	m->when = 0;
	add_timer(&m->reset);
}

static void members_late(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, late);

	m->late.expires = jiffies + HZ;
	if (m->when)
		m->late.expires = m->when;
	add_timer(&m->late);
}

static void members_later(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, later);

	m->later.expires += HZ;
}

/* The timer may be pending, and then its time can't be set */
static void members_kept(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, kept);

	m->kept.expires = m->when;
	kfree(m);
	mod_timer(&m->kept, m->kept.expires);
}

static void members_asked(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, asked);

	/* Was it set up? */
	if (m->asked.function && t->function && time_after(READ_ONCE(t->expires), m->when))
		timer_delete(&m->asked);
}

static void members_address(struct timer_list *t)
{
	struct members *m = timer_container_of(m, t, address);

	kfree(&m->address.expires);
	WRITE_ONCE(t->expires, 0);
}

void members_setup(struct members *m)
{
	timer_setup(&m->late, members_late, 0);
	timer_setup(&m->later, members_later, 0);
	timer_setup(&m->kept, members_kept, 0);
	timer_setup(&m->changed, members_expired, 0);
	timer_setup(&m->moved, members_moved, 0);
	timer_setup(&m->reset, members_reset, 0);
	timer_setup(&m->called, members_called, 0);
	timer_setup(&m->inside, members_inside, 0);
	timer_setup(&m->loop, members_loop, 0);
	timer_setup(&m->asked, members_asked, 0);
	timer_setup(&m->address, members_address, 0);
	m->changed.function = members_other;
	if (m->changed.function != members_expired || m->changed.function == members_other)
		return;
	mod_timer(&m->changed, jiffies + HZ);
}
