/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_DEBUGOBJECTS_H
#define _SIM_LINUX_DEBUGOBJECTS_H

#include <linux/types.h>

/* hwheel calls these functions with the base locked. The oracle defines them. */
enum debug_obj_state {
	ODEBUG_STATE_NONE,
	ODEBUG_STATE_INIT,
	ODEBUG_STATE_INACTIVE,
	ODEBUG_STATE_ACTIVE,
	ODEBUG_STATE_DESTROYED,
	ODEBUG_STATE_NOTAVAILABLE,
};

struct debug_obj_descr {
	const char	*name;
	void		*(*debug_hint)(void *addr);
	bool		(*is_static_object)(void *addr);
	bool		(*fixup_init)(void *addr, enum debug_obj_state state);
	bool		(*fixup_activate)(void *addr, enum debug_obj_state state);
	bool		(*fixup_destroy)(void *addr, enum debug_obj_state state);
	bool		(*fixup_free)(void *addr, enum debug_obj_state state);
	bool		(*fixup_assert_init)(void *addr, enum debug_obj_state state);
};

void debug_object_init(void *addr, const struct debug_obj_descr *descr);
void debug_object_init_on_stack(void *addr, const struct debug_obj_descr *descr);
int debug_object_activate(void *addr, const struct debug_obj_descr *descr);
void debug_object_deactivate(void *addr, const struct debug_obj_descr *descr);
void debug_object_free(void *addr, const struct debug_obj_descr *descr);
void debug_object_assert_init(void *addr, const struct debug_obj_descr *descr);

#endif /* _SIM_LINUX_DEBUGOBJECTS_H */
