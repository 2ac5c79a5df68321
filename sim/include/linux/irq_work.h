/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_IRQ_WORK_H
#define _SIM_LINUX_IRQ_WORK_H

#include <linux/types.h>

struct irq_work {
	void			(*func)(struct irq_work *work);
	bool			pending, busy;
	unsigned long long	arrives;
	struct irq_work		*next;
};

#define IRQ_WORK_INIT_HARD(f)	(struct irq_work){ .func = (f) }

bool irq_work_queue(struct irq_work *work);
bool irq_work_is_busy(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

#endif /* _SIM_LINUX_IRQ_WORK_H */
