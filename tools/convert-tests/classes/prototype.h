/* SPDX-License-Identifier: GPL-2.0 */
/* The return type of a callback changes in its declaration, too */
#ifndef _PROTOTYPE_H
#define _PROTOTYPE_H

#include <linux/hrtimer.h>

struct prototype {
	struct hrtimer		timer;
	enum hrtimer_restart	(*function)(struct hrtimer *timer);
};

enum hrtimer_restart prototype_expired(struct hrtimer *timer);

#endif /* _PROTOTYPE_H */
