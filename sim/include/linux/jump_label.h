/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_JUMP_LABEL_H
#define _SIM_LINUX_JUMP_LABEL_H

#include <linux/types.h>

struct static_key_false {
	bool			enabled;
};

/* A test of the key takes no time: the kernel patches its code instead */
#define static_branch_unlikely(key)	static_key_enabled(key)

bool static_key_enabled(const struct static_key_false *key);

#endif /* _SIM_LINUX_JUMP_LABEL_H */
