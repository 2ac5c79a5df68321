// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "macro.h"

void macro_start(struct macro *m)
{
	int i;

	macro_for_each(i, 3)
		mod_timer(&m->macro_timer, jiffies + i);
}
