// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "macro.h"

void macro_start(struct macro *m)
{
	mod_timer(&m->macro_timer, jiffies + macro_add(1, 2));
}
