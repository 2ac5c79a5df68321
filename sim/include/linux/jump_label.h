/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_JUMP_LABEL_H
#define _SIM_LINUX_JUMP_LABEL_H

#include <linux/types.h>

struct static_key_false {
	bool			enabled;
};

/* A test of the key takes no time: the kernel patches its code instead */
#define DEFINE_STATIC_KEY_FALSE(name)	struct static_key_false name
#define static_branch_unlikely(key)	static_key_enabled(key)
#define static_branch_enable(key)	static_key_set(key, true)
#define static_branch_disable(key)	static_key_set(key, false)

bool static_key_enabled(const struct static_key_false *key);
void static_key_set(struct static_key_false *key, bool enabled);

#endif /* _SIM_LINUX_JUMP_LABEL_H */
