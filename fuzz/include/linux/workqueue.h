/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_WORKQUEUE_H
#define _LINUX_WORKQUEUE_H

struct work_struct { };

enum { WORK_CPU_UNBOUND };

void destroy_work_on_stack(struct work_struct *work);

#endif /* _LINUX_WORKQUEUE_H */
