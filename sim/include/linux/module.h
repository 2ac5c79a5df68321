/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_MODULE_H
#define _SIM_LINUX_MODULE_H

#include <linux/types.h>

enum sim_param_type { sim_charp, sim_ullong, sim_uint };

struct sim_param {
	const char		*name;
	void			*var;
	enum sim_param_type	type;
	unsigned int		nr;
};

#define __sim_param(name, var, type, nr)				\
	static const struct sim_param __sim_param_##name		\
	__attribute__((section("sim_params"), used, aligned(8))) =	\
		{ #name, var, sim_##type, nr }
#define module_param(name, type, perm)		__sim_param(name, &name, type, 1)
#define module_param_array(name, type, n, perm)	__sim_param(name, name, type, ARRAY_SIZE(name))
#define MODULE_PARM_DESC(name, text)
#define MODULE_DESCRIPTION(text)
#define MODULE_VERSION(text)
#define MODULE_LICENSE(text)
#define subsys_initcall(f)	int sim_module_init(void) { return f(); } int sim_module_init(void)
#define module_init(f)		subsys_initcall(f)
#define module_exit(f)		void sim_module_exit(void) { f(); } void sim_module_exit(void)

#endif /* _SIM_LINUX_MODULE_H */
