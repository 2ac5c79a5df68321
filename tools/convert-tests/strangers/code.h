/* SPDX-License-Identifier: GPL-2.0 */
/* A header with code. The file that includes it does not mention timers */
#ifndef _CODE_H
#define _CODE_H

#include <linux/module.h>

static struct timer_list code_timer;

static void code_expired(struct timer_list *t)
{
	mod_timer(&code_timer, jiffies + HZ);
}

static inline void code_start(void)
{
	timer_setup(&code_timer, code_expired, 0);
}

#endif /* _CODE_H */
