// SPDX-License-Identifier: GPL-2.0
/* Constants that are no plain numbers of milliseconds */
#include <linux/module.h>

#define NEVER_MS	-1
#define NEVER_ALIAS	NEVER_MS
#define NEVER_LONG	3000000000
#ifdef CONFIG_MORE
#define NEVER_EITHER	10
#else
#define NEVER_EITHER	-1
#endif
#define SOON_MS		(2 * 15)

enum {
	NEVER_ENUM = -1,
	SOON_ENUM = 30,
};

static struct timer_list never_timer;

static void never_expired(struct timer_list *t)
{
}

void never_setup(void)
{
	timer_setup(&never_timer, never_expired, 0);
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(NEVER_MS));
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(NEVER_ALIAS));
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(NEVER_LONG));
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(NEVER_EITHER));
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(NEVER_ENUM));
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(NEVER_OF_OTHERS));
	mod_timer(&never_timer, jiffies + usecs_to_jiffies(NEVER_MS));
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(SOON_MS));
	mod_timer(&never_timer, jiffies + msecs_to_jiffies(SOON_ENUM));
	mod_timer(&never_timer, jiffies + usecs_to_jiffies(SOON_MS));
}
