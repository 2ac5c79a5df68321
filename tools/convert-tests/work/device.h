/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DEVICE_H
#define _DEVICE_H

#include <linux/module.h>

#define DEVICE_POLL	msecs_to_jiffies(100)
#define to_device(w)	container_of(w, struct device, reset.work)
#define to_owner(w, member)	container_of(w, struct device, member)

struct device {
	struct workqueue_struct	*wq;
	struct delayed_work	poll;
	struct delayed_work		reset;
	struct delayed_work	away;
	struct timer_list	timer;
	unsigned long		delay;
};

void device_reset(struct work_struct *work);
void device_away(struct work_struct *work);
void device_later(struct delayed_work *dwork, unsigned long delay);

#endif /* _DEVICE_H */
