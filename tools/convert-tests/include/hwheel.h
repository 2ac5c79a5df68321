/* SPDX-License-Identifier: GPL-2.0 */
/* The part of hwheel.h that converted drivers use. The fuzzer compiles them with it. */
#ifndef _HWHEEL_H
#define _HWHEEL_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>

struct hwheel;

struct hwheel_timer {
	void	(*hidden_function)(struct hwheel_timer *timer);
};

struct hwheel_delayed_work {
	struct work_struct	work;
	struct hwheel_timer	hidden_timer;
};

extern struct hwheel *hwheel_system;

#define DEFINE_HWHEEL_TIMER(name, f)	struct hwheel_timer name = { .hidden_function = (f) }
#define DECLARE_HWHEEL_DELAYED_WORK(name, f)					\
	struct hwheel_delayed_work name = { .work = { .func = (f) } }
#define HWHEEL_INIT_DELAYED_WORK(w, wheel, f)					\
	do {									\
		struct hwheel_delayed_work *__w = (w);				\
		struct hwheel *__wheel = (wheel);				\
		INIT_WORK(&__w->work, (f));					\
		(void)__wheel;							\
	} while (0)
#define HWHEEL_INIT_DELAYED_WORK_ONSTACK(w, wheel, f)	HWHEEL_INIT_DELAYED_WORK(w, wheel, f)
#define hwheel_container_of(var, t, member)	container_of(t, typeof(*(var)), member)

void hwheel_setup(struct hwheel_timer *timer, struct hwheel *wheel,
		  void (*function)(struct hwheel_timer *timer), unsigned int flags);
void hwheel_setup_on_stack(struct hwheel_timer *timer, struct hwheel *wheel,
			   void (*function)(struct hwheel_timer *timer), unsigned int flags);
void hwheel_destroy_on_stack(struct hwheel_timer *timer);
bool hwheel_add(struct hwheel_timer *timer, ktime_t delay);
bool hwheel_add_range(struct hwheel_timer *timer, ktime_t delay, ktime_t slack);
bool hwheel_add_at(struct hwheel_timer *timer, ktime_t expires, ktime_t slack);
bool hwheel_add_on(struct hwheel_timer *timer, ktime_t delay, int cpu);
bool hwheel_mod_pending(struct hwheel_timer *timer, ktime_t delay);
bool hwheel_reduce(struct hwheel_timer *timer, ktime_t delay);
u64 hwheel_add_forward(struct hwheel_timer *timer, ktime_t interval);
bool hwheel_cancel(struct hwheel_timer *timer);
bool hwheel_shutdown(struct hwheel_timer *timer);
int hwheel_try_cancel(struct hwheel_timer *timer);
bool hwheel_cancel_sync(struct hwheel_timer *timer);
bool hwheel_shutdown_sync(struct hwheel_timer *timer);
ktime_t hwheel_expires(const struct hwheel_timer *timer);
ktime_t hwheel_remaining(const struct hwheel_timer *timer);
ktime_t hwheel_now(const struct hwheel *wheel);
bool hwheel_pending(const struct hwheel_timer *timer);
void hwheel_destroy_delayed_work_on_stack(struct hwheel_delayed_work *dwork);
struct hwheel_delayed_work *to_hwheel_delayed_work(struct work_struct *work);
bool hwheel_queue_delayed_work(struct workqueue_struct *wq, struct hwheel_delayed_work *dwork,
			       ktime_t delay);
bool hwheel_queue_delayed_work_on(int cpu, struct workqueue_struct *wq,
				  struct hwheel_delayed_work *dwork, ktime_t delay);
bool hwheel_mod_delayed_work(struct workqueue_struct *wq, struct hwheel_delayed_work *dwork,
			     ktime_t delay);
bool hwheel_mod_delayed_work_on(int cpu, struct workqueue_struct *wq,
				struct hwheel_delayed_work *dwork, ktime_t delay);
bool hwheel_cancel_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_cancel_delayed_work_sync(struct hwheel_delayed_work *dwork);
bool hwheel_flush_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_disable_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_disable_delayed_work_sync(struct hwheel_delayed_work *dwork);
bool hwheel_enable_delayed_work(struct hwheel_delayed_work *dwork);
bool hwheel_delayed_work_pending(struct hwheel_delayed_work *dwork);
ktime_t ktime_add_safe(ktime_t a, ktime_t b);
ktime_t ktime_add_ns(ktime_t time, u64 ns);
long long ktime_to_ns(ktime_t time);

#endif /* _HWHEEL_H */
