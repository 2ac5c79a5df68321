// SPDX-License-Identifier: GPL-2.0
/* Pairs of lines, one for this kernel and one for others */
#include <linux/module.h>

#define KERNEL_VERSION(a, b, c)	((a) << 16 | (b) << 8 | (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 12, 0)

struct pairs {
	struct timer_list	same;
	struct timer_list	same_stop;
	struct timer_list	other_stop;
	struct timer_list	old_setup;
	struct timer_list	helper;
	struct timer_list	own_helper;
};

static void pair_same(struct timer_list *t)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	struct pairs *p = timer_container_of(p, t,
					     same);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(4, 15, 0)
	struct pairs *p = from_timer(p, t, same);
#else
	struct pairs *p = (struct pairs *)t;
#endif
	mod_timer(&p->same, jiffies + HZ);
}

static void pair_same_stop(struct timer_list *t)
{
}

static void pair_other_stop(struct timer_list *t)
{
}

static void pair_old_setup(struct timer_list *t)
{
}

static void pair_helper(struct timer_list *t)
{
}

static void pair_own_helper(struct timer_list *t)
{
}

static void pair_own(struct timer_list *t)
{
	mod_timer(t, jiffies + HZ);
}

void pair_setup(struct pairs *p)
{
	timer_setup(&p->same, pair_same, 0);
	timer_setup(&p->same_stop, pair_same_stop, 0);
	timer_setup(&p->other_stop, pair_other_stop, 0);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 15, 0)
	timer_setup(&p->old_setup, pair_old_setup, 0);
#else
	setup_timer(&p->old_setup, pair_old_setup, (unsigned long)p);
#endif
	timer_setup(&p->helper, pair_helper, 0);
	timer_setup(&p->own_helper, pair_own_helper, 0);
	pair_own(&p->own_helper);
#ifdef PAIR_HELPER
	sk_reset_timer(p, &p->helper, 1);
	pair_own(&p->own_helper);
#endif
}

void pair_stop(struct pairs *p)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	timer_delete_sync(&p->same_stop);
#else
	del_timer_sync(&p->same_stop);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	timer_delete(&p->other_stop);
#else
	del_timer_sync(&p->other_stop);
#endif
}
