/* SPDX-License-Identifier: GPL-2.0 */
/* Timers of others, and what else the drivers in here use */
#ifndef _LINUX_MODULE_H
#define _LINUX_MODULE_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>

struct sock {
	struct timer_list	sk_timer;
};

struct usb_hcd {
	struct timer_list	rh_timer;
};

struct mmc_host {
	struct delayed_work	idle;
};

typedef struct {
	int	held;
} spinlock_t;

void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void kfree(void *memory);
void sk_reset_timer(struct sock *sk, struct timer_list *timer, unsigned long expires);
void iio_trigger_poll(void *trigger);
int devm_delayed_work_autocancel(void *dev, struct delayed_work *work, work_func_t function);
void mmc_rescan(struct work_struct *work);
long sys_timer_delete(int timer_delete);

void for_each_of_others(void (*function)(void *data), void *data);
void *memory_of_others(unsigned long size);
void count_of_others(void);
long ktime_get_seconds(void);
u64 get_jiffies_64(void);

extern struct others {
	void	(*run_of_others)(void *data);
} *others;

#define NEVER_OF_OTHERS		-1

typedef int irqreturn_t;

int request_irq(int irq, irqreturn_t (*handler)(int irq, void *data), void *data);

/* As linux/percpu-defs.h does it */
#define DEFINE_PER_CPU_SECTION(type, name, sec)					\
	__attribute__((section(".data..percpu" sec))) __typeof__(type) name
#define DEFINE_PER_CPU(type, name)	DEFINE_PER_CPU_SECTION(type, name, "")
#define this_cpu_ptr(pointer)		(pointer)

/* As linux/cleanup.h does it */
static inline void __unlock(spinlock_t **lock)
{
	spin_unlock(*lock);
}

#define __free(f)		__attribute__((__cleanup__(__free_##f)))
#define guard(kind)		spinlock_t *__guard				\
					__attribute__((__cleanup__(__unlock))) = __lock
#define scoped_guard(kind, lock)						\
	for (spinlock_t *__scope __attribute__((__cleanup__(__unlock))) = __lock(lock),	\
	     *__once = __scope; __once; __once = NULL)

spinlock_t *__lock(spinlock_t *lock);
void __free_kfree(void *memory);

#endif /* _LINUX_MODULE_H */
