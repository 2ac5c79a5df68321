/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_PVCLOCK_GTOD_H
#define _SIM_LINUX_PVCLOCK_GTOD_H

#include <linux/notifier.h>

int pvclock_gtod_register_notifier(struct notifier_block *nb);
int pvclock_gtod_unregister_notifier(struct notifier_block *nb);

#endif /* _SIM_LINUX_PVCLOCK_GTOD_H */
