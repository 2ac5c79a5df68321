// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include "linux/sched.h"

void core_stop(struct core *c)
{
	timer_delete(&c->timer);
}
