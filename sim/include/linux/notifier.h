/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_NOTIFIER_H
#define _SIM_LINUX_NOTIFIER_H

struct notifier_block {
	int	(*notifier_call)(struct notifier_block *nb, unsigned long action, void *data);
};

#define NOTIFY_OK	1

#endif /* _SIM_LINUX_NOTIFIER_H */
