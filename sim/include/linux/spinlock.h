/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SPINLOCK_H
#define _SIM_LINUX_SPINLOCK_H

#include <linux/preempt.h>
#include <linux/types.h>

/*
 * A lock that is taken in a hardirq, and elsewhere with interrupts on, can deadlock. So
 * each lock notes whether it was taken in these two ways.
 */
typedef struct raw_spinlock {
	struct sim_cpu	*owner;
	unsigned int	moves;		/* sim_writes when it was locked */
	bool		in_irq, irqs_on;
	bool		is_base;	/* the lock of a base */
	bool		ready;		/* it is initialized */
	unsigned long long cascaded;	/* levels.moved when it was locked */
	unsigned long long since;	/* when it was locked */
} raw_spinlock_t;

#define DEFINE_RAW_SPINLOCK(name)	raw_spinlock_t name = { .ready = true }

void sim_spin_lock(raw_spinlock_t *lock, bool nested);
bool sim_spin_trylock(raw_spinlock_t *lock);
void sim_spin_unlock(raw_spinlock_t *lock);
unsigned long sim_irq_save(void);
void sim_irq_restore(unsigned long flags);
void local_irq_disable(void);
void local_irq_enable(void);
bool irqs_disabled(void);
void sim_spin_init(raw_spinlock_t *lock);

#define local_irq_save(flags)			((flags) = sim_irq_save())
#define local_irq_restore(flags)		sim_irq_restore(flags)
#define raw_spin_lock_init(lock)		sim_spin_init(lock)
#define raw_spin_lock(lock)			sim_spin_lock(lock, false)
#define raw_spin_lock_nested(lock, subclass)	sim_spin_lock(lock, true)
#define raw_spin_trylock(lock)			sim_spin_trylock(lock)
#define raw_spin_unlock(lock)			\
	do { sim_spin_unlock(lock); sim_place(__func__); } while (0)
#define raw_spin_lock_irqsave(lock, flags)	\
	do { sim_place(__func__); local_irq_save(flags); raw_spin_lock(lock); } while (0)
#define raw_spin_unlock_irqrestore(lock, flags)	\
	do { sim_spin_unlock(lock); local_irq_restore(flags); sim_place(__func__); } while (0)
#define raw_spin_lock_irq(lock)			\
	do { sim_place(__func__); local_irq_disable(); raw_spin_lock(lock); } while (0)
#define raw_spin_unlock_irq(lock)		\
	do { sim_spin_unlock(lock); local_irq_enable(); sim_place(__func__); } while (0)

#define smp_mb__after_spinlock()		barrier()
#define smp_mb()				barrier()

/* A lock that sleeps. hwheel.c uses it on PREEMPT_RT only. */
typedef struct spinlock {
	struct task_struct	*owner;
	unsigned int		next, turn;	/* tasks get it in the order in which they came */
	bool			ready;		/* it is initialized */
} spinlock_t;

void spin_lock_init(spinlock_t *lock);
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void spin_lock_bh(spinlock_t *lock);
void spin_unlock_bh(spinlock_t *lock);

typedef struct {
	int	counter;
} atomic_t;

#define ATOMIC_INIT(i)		{ (i) }

#define xchg(p, v)							\
({									\
	typeof(*(p)) __before = (sim_place(__func__), sim_step(SIM_CALL), *(p));	\
									\
	*(p) = (v);							\
	__before;							\
})

#define cmpxchg(p, old, new)						\
({									\
	typeof(*(p)) __before = (sim_place(__func__), sim_step(SIM_CALL), *(p));	\
									\
	if (__before == (old))						\
		*(p) = (new);						\
	__before;							\
})

static inline int atomic_read(const atomic_t *v)
{
	sim_step(SIM_READ);
	return *(const volatile int *)&v->counter;
}

static inline int atomic_inc_return(atomic_t *v)
{
	sim_step(SIM_CALL);
	return ++*(volatile int *)&v->counter;
}

#define atomic_inc(v)		((void)atomic_inc_return(v))

static inline bool atomic_dec_and_test(atomic_t *v)
{
	sim_step(SIM_CALL);
	return !--*(volatile int *)&v->counter;
}

#define atomic_dec(v)		((void)atomic_dec_and_test(v))

#endif /* _SIM_LINUX_SPINLOCK_H */
