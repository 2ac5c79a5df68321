// SPDX-License-Identifier: GPL-2.0
/* Timers whose .expires is more than a time */
#include <linux/module.h>

#define FLAG_IDLE	0

struct flags {
	struct timer_list	asked;
	struct timer_list	cleared;
	struct timer_list	compared;
	struct timer_list	reversed;
	struct timer_list	named;
	struct timer_list	copied;
	struct timer_list	same;
	struct timer_list	past;
	struct timer_list	moved;
	struct timer_list	again;
	struct timer_list	chosen;
	unsigned long		when;
};

static void flag_asked(struct timer_list *t)
{
}

static void flag_cleared(struct timer_list *t)
{
	t->expires = 0;
}

static void flag_compared(struct timer_list *t)
{
}

static void flag_reversed(struct timer_list *t)
{
}

static void flag_named(struct timer_list *t)
{
	t->expires = FLAG_IDLE;
}

static void flag_copied(struct timer_list *t)
{
}

static void flag_same(struct timer_list *t)
{
}

static void flag_past(struct timer_list *t)
{
	t->expires = jiffies - 1;
}

/* A timer with a period, which does not drift */
static void flag_moved(struct timer_list *t)
{
	struct flags *f = timer_container_of(f, t, moved);

	f->moved.expires += f->when;
	add_timer(&f->moved);
}

static void flag_again(struct timer_list *t)
{
	mod_timer(t, t->expires + 10 * HZ);
}

static void flag_chosen(struct timer_list *t)
{
}

static struct timer_list flag_initialized = { .expires = 5 };

int flag_use(struct flags *f)
{
	unsigned long time = f->copied.expires;

	if (!f->asked.expires)
		return 1;
	if ((READ_ONCE(f->compared.expires)) != 0)
		return 2;
	if (0UL == f->reversed.expires)
		return 3;
	if (time && f->when)
		return 4;
	if (f->same.expires == f->when)
		return 5;
	/* These are times */
	if (time_after(f->moved.expires, f->when) && f->moved.expires < f->when)
		return 6;
	return f->chosen.expires ? 7 : 8;
}

void flag_setup(struct flags *f)
{
	timer_setup(&f->asked, flag_asked, 0);
	timer_setup(&f->cleared, flag_cleared, 0);
	timer_setup(&f->compared, flag_compared, 0);
	timer_setup(&f->reversed, flag_reversed, 0);
	timer_setup(&f->named, flag_named, 0);
	timer_setup(&f->copied, flag_copied, 0);
	timer_setup(&f->same, flag_same, 0);
	timer_setup(&f->past, flag_past, 0);
	timer_setup(&f->moved, flag_moved, 0);
	timer_setup(&f->again, flag_again, 0);
	timer_setup(&f->chosen, flag_chosen, 0);
	timer_delete(&flag_initialized);
}
