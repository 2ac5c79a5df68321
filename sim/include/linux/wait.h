/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_WAIT_H
#define _SIM_LINUX_WAIT_H

#include <linux/list.h>
#include <linux/sched.h>

typedef struct wait_queue_head {
	struct list_head	waiting;
} wait_queue_head_t;

struct sim_wait {
	struct list_head	entry;
	struct task_struct	*task;
};

void init_waitqueue_head(wait_queue_head_t *wq);
void sim_prepare_to_wait(wait_queue_head_t *wq, struct sim_wait *wait);
long sim_prepare_to_wait_event(wait_queue_head_t *wq, struct sim_wait *wait, unsigned int state);
void sim_finish_wait(wait_queue_head_t *wq, struct sim_wait *wait);
void sim_schedule(void);
bool sim_wait_until(unsigned long long end);
void wake_up_all(wait_queue_head_t *wq);
bool wq_has_sleeper(wait_queue_head_t *wq);

#define wait_event(wq, condition)					\
	do {								\
		struct sim_wait __wait = { };				\
									\
		might_sleep();						\
		if (condition)						\
			break;						\
		for (;;) {						\
			sim_prepare_to_wait(&(wq), &__wait);		\
			if (condition)					\
				break;					\
			sim_schedule();					\
		}							\
		sim_finish_wait(&(wq), &__wait);			\
	} while (0)

/* @exclusive is not simulated. @cmd may leave the loop. */
#define ___wait_event(wq, condition, state, exclusive, ret, cmd)	\
({									\
	struct sim_wait __wait = { };					\
	long __ret = (ret);						\
									\
	for (;;) {							\
		long __err = sim_prepare_to_wait_event(&(wq), &__wait, state); \
									\
		if (condition)						\
			break;						\
		if (__err) {						\
			__ret = __err;					\
			break;						\
		}							\
		cmd;							\
	}								\
	sim_finish_wait(&(wq), &__wait);				\
	__ret;								\
})

#endif /* _SIM_LINUX_WAIT_H */
