// SPDX-License-Identifier: GPL-2.0
/* Lines for other kernels. Those in "#if 0" are for no kernel */
#include <linux/module.h>

#define KERNEL_VERSION(a, b, c)	((a) << 16 | (b) << 8 | (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(7, 3, 0)

struct versions {
	struct timer_list	old;
	struct timer_list	member;
	struct timer_list	unused;
	struct hrtimer		called;
};

static void version_old(struct timer_list *t)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
	mod_timer(t, jiffies + HZ);
#endif
}

static void version_member(struct timer_list *t)
{
	struct versions *v = timer_container_of(v, t, member);

#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
	v->member.expires = jiffies + HZ;
#else
	v->member.expires = jiffies + 2 * HZ;
#endif
	add_timer(&v->member);
}

static void version_unused(struct timer_list *t)
{
#if 0
	mod_timer(t, jiffies + 2 * HZ);
#endif
	mod_timer(t, jiffies + HZ);
}

static enum hrtimer_restart version_called(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

void version_setup(struct versions *v)
{
	timer_setup(&v->old, version_old, 0);
	timer_setup(&v->member, version_member, 0);
	timer_setup(&v->unused, version_unused, 0);
	hrtimer_setup(&v->called, version_called, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
	version_called(&v->called);
#endif
}
