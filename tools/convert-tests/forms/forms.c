// SPDX-License-Identifier: GPL-2.0
/*
 * Uses each kind of call that hwheel-convert rewrites, and says what happens.
 *
 * convert.sh builds this module as it is, and converted, for Linux 6.12. It loads both in one
 * guest, and compares their lines:
 *	forms: CASE NAME=VALUE...
 * Values must be the same, except those whose names begin with us_ (microseconds) or n_: see
 * forms() in convert.sh. The names of cases are those in Documentation/converting.rst.
 */
#define pr_fmt(fmt) "forms: " fmt

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#define FORMS_NEVER	-1	/* milliseconds */
#define FORMS_ROUNDS	10
#define FORMS_PERIOD	5	/* jiffies */

struct form {
	struct timer_list	timer;
	struct timer_list	first;
	struct timer_list	second;
	struct timer_list	periodic;
	struct timer_list	steady;
	struct timer_list	held;
	struct timer_list	other;
	struct hrtimer		exact;
	struct hrtimer		beat;
	struct hrtimer		long_one;
	struct delayed_work	work;
	struct delayed_work	again;
	unsigned long		deadline;
	ktime_t			due, ran;
	int			count, order, rounds, cpu, early, pending;
	u64			overruns;
	bool			softirq, hardirq, task, irqs_off, go, running;
};

static struct form form;

/* What a callback sees */
static void form_note(struct form *f)
{
	f->ran = ktime_get();
	f->cpu = raw_smp_processor_id();
	f->softirq = in_serving_softirq();
	f->hardirq = hardirq_count() > 0;
	f->task = in_task();
	f->irqs_off = irqs_disabled();
	if (ktime_before(f->ran, f->due))
		f->early++;
	f->count++;
}

static void form_clear(struct form *f, unsigned int ms)
{
	f->count = 0;
	f->early = 0;
	f->rounds = 0;
	f->order = 0;
	f->overruns = 0;
	f->due = ktime_add_ms(ktime_get(), ms);
}

static s64 form_late_us(struct form *f)
{
	return ktime_us_delta(f->ran, f->due);
}

/* timer_list */

static void form_timer(struct timer_list *t)
{
	struct form *f = from_timer(f, t, timer);

	form_note(f);
	f->pending = timer_pending(t);
}

static void form_first(struct timer_list *t)
{
	struct form *f = container_of(t, struct form, first);

	f->order = f->order * 10 + 1;
}

static void form_second(struct timer_list *t)
{
	struct form *f = container_of(t, struct form, second);

	f->order = f->order * 10 + 2;
}

static void form_periodic(struct timer_list *t)
{
	struct form *f = from_timer(f, t, periodic);

	if (++f->rounds < FORMS_ROUNDS)
		mod_timer(&f->periodic, jiffies + FORMS_PERIOD);
}

/* Without drift */
static void form_steady(struct timer_list *t)
{
	struct form *f = from_timer(f, t, steady);

	form_note(f);
	if (++f->rounds < FORMS_ROUNDS) {
		f->steady.expires += FORMS_PERIOD;
		add_timer(&f->steady);
	}
}

/* Runs until it may go */
static void form_held(struct timer_list *t)
{
	struct form *f = from_timer(f, t, held);

	WRITE_ONCE(f->running, true);
	while (!READ_ONCE(f->go))
		cpu_relax();
	f->count++;
}

static void form_other(struct timer_list *t)
{
	form.count += 100;
}

static void form_defined_expired(struct timer_list *t);
static DEFINE_TIMER(form_defined, form_defined_expired);

static void form_defined_expired(struct timer_list *t)
{
	form.count++;
}

static void form_timer_list(struct form *f)
{
	struct timer_list stack;
	int a, b, c, d;

	timer_setup(&f->timer, form_timer, 0);
	a = timer_pending(&f->timer);
	b = mod_timer(&f->timer, jiffies + HZ);
	c = timer_pending(&f->timer);
	d = mod_timer(&f->timer, jiffies + 2 * HZ);
	pr_info("mod_timer pending=%d,%d result=%d,%d\n", a, c, b, d);
	a = timer_delete(&f->timer);
	b = timer_delete(&f->timer);
	c = timer_delete_sync(&f->timer);
	d = timer_pending(&f->timer);
	pr_info("timer_delete result=%d,%d,%d pending=%d\n", a, b, c, d);

	form_clear(f, 20);
	mod_timer(&f->timer, jiffies + msecs_to_jiffies(20));
	msleep(100);
	pr_info("expires count=%d early=%d pending=%d softirq=%d irqs_off=%d task=%d us_late=%lld\n",
		f->count, f->early, f->pending, f->softirq, f->irqs_off, f->task, form_late_us(f));

	form_clear(f, 0);
	mod_timer(&f->timer, jiffies - 10);
	msleep(50);
	pr_info("past count=%d early=%d us_late=%lld\n", f->count, f->early, form_late_us(f));

	form_clear(f, 0);
	f->deadline = jiffies + 4;
	mod_timer(&f->timer, f->deadline);
	a = time_after(f->timer.expires, f->deadline + 1);
	b = time_before(f->timer.expires, f->deadline);
	msleep(60);
	pr_info("until count=%d later=%d earlier=%d\n", f->count, a, b);

	form_clear(f, 0);
	a = mod_timer_pending(&f->timer, jiffies + 2);
	msleep(30);
	mod_timer(&f->timer, jiffies + HZ);
	b = mod_timer_pending(&f->timer, jiffies + 2);
	msleep(50);
	pr_info("mod_timer_pending result=%d,%d count=%d\n", a, b, f->count);

	form_clear(f, 0);
	a = timer_reduce(&f->timer, jiffies + HZ);
	b = timer_reduce(&f->timer, jiffies + 10 * HZ);
	c = timer_reduce(&f->timer, jiffies + 2);
	msleep(50);
	pr_info("timer_reduce result=%d,%d,%d count=%d\n", a, b, c, f->count);

	form_clear(f, 0);
	mod_timer(&f->timer, jiffies + msecs_to_jiffies(FORMS_NEVER));
	msleep(50);
	a = timer_pending(&f->timer);
	b = timer_delete_sync(&f->timer);
	pr_info("never count=%d pending=%d result=%d\n", f->count, a, b);

	form_clear(f, 0);
	f->timer.expires = jiffies + 3;
	add_timer_on(&f->timer, 1);
	msleep(60);
	pr_info("add_timer_on count=%d cpu=%d\n", f->count, f->cpu);

	form_clear(f, 0);
	timer_setup(&f->first, form_first, 0);
	timer_setup(&f->second, form_second, TIMER_PINNED);
	mod_timer(&f->second, jiffies + 8);
	mod_timer(&f->first, jiffies + 4);
	msleep(100);
	pr_info("order=%d\n", f->order);

	form_clear(f, 0);
	timer_setup(&f->periodic, form_periodic, 0);
	mod_timer(&f->periodic, jiffies + FORMS_PERIOD);
	msleep(600);
	pr_info("periodic rounds=%d\n", f->rounds);

	/* The last round is due after FORMS_ROUNDS periods, each late by two jiffies at most */
	form_clear(f, 0);
	timer_setup(&f->steady, form_steady, 0);
	f->due = ktime_add_ns(ktime_get(), FORMS_ROUNDS * FORMS_PERIOD * (u64)TICK_NSEC);
	mod_timer(&f->steady, jiffies + FORMS_PERIOD);
	msleep(500);
	pr_info("steady rounds=%d us_late=%lld\n", f->rounds, form_late_us(f));

	form_clear(f, 0);
	timer_setup(&f->held, form_held, 0);
	/* Not to the CPU that the callback keeps busy: nobody would tell it to go */
	migrate_disable();
	f->held.expires = jiffies + 2;
	add_timer_on(&f->held, !raw_smp_processor_id());
	while (!READ_ONCE(f->running))
		usleep_range(100, 200);
	a = try_to_del_timer_sync(&f->held);
	b = timer_pending(&f->held);
	WRITE_ONCE(f->go, true);
	c = timer_delete_sync(&f->held);
	d = try_to_del_timer_sync(&f->held);
	migrate_enable();
	pr_info("running result=%d,%d,%d pending=%d count=%d\n", a, c, d, b, f->count);

	form_clear(f, 0);
	timer_setup(&f->other, form_timer, 0);
	f->other.function = form_other;
	mod_timer(&f->other, jiffies + 2);
	msleep(40);
	a = timer_shutdown_sync(&f->other);
	b = mod_timer(&f->other, jiffies + 2);
	c = timer_pending(&f->other);
	msleep(40);
	pr_info("shutdown result=%d,%d pending=%d count=%d\n", a, b, c, f->count);

	form_clear(f, 0);
	timer_setup_on_stack(&stack, form_other, 0);
	mod_timer(&stack, jiffies + 2);
	mod_timer(&form_defined, jiffies + 2);
	msleep(40);
	a = timer_delete_sync(&stack);
	destroy_timer_on_stack(&stack);
	pr_info("stack result=%d count=%d\n", a, f->count);
}

/* hrtimer */

static enum hrtimer_restart form_exact(struct hrtimer *t)
{
	struct form *f = container_of(t, struct form, exact);

	form_note(f);
	f->pending = hrtimer_is_queued(t);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart form_beat(struct hrtimer *t)
{
	struct form *f = container_of(t, struct form, beat);

	if (++f->rounds == FORMS_ROUNDS)
		return HRTIMER_NORESTART;
	f->overruns += hrtimer_forward_now(t, ms_to_ktime(20));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart form_long_one(struct hrtimer *t)
{
	return HRTIMER_NORESTART;
}

static void form_hrtimer(struct form *f)
{
	ktime_t when;
	int a, b, c;

	hrtimer_init(&f->exact, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	f->exact.function = form_exact;
	form_clear(f, 20);
	hrtimer_start(&f->exact, ms_to_ktime(20), HRTIMER_MODE_REL);
	a = hrtimer_is_queued(&f->exact);
	msleep(100);
	pr_info("hrtimer_start count=%d early=%d queued=%d,%d task=%d us_late=%lld\n", f->count,
		f->early, a, f->pending, f->task, form_late_us(f));
	pr_info("context n_softirq=%d n_hardirq=%d n_irqs_off=%d\n", f->softirq, f->hardirq,
		f->irqs_off);

	form_clear(f, 20);
	when = f->due;
	hrtimer_start(&f->exact, when, HRTIMER_MODE_ABS);
	a = hrtimer_get_expires(&f->exact) == when;
	b = hrtimer_get_remaining(&f->exact) > 0;
	msleep(100);
	c = hrtimer_get_remaining(&f->exact) > 0;
	pr_info("absolute count=%d early=%d expires=%d remaining=%d,%d us_late=%lld\n", f->count,
		f->early, a, b, c, form_late_us(f));

	form_clear(f, 0);
	when = ktime_sub(ktime_get(), ms_to_ktime(1000));
	hrtimer_start(&f->exact, when, HRTIMER_MODE_ABS);
	msleep(50);
	pr_info("past count=%d us_late=%lld\n", f->count, form_late_us(f));

	form_clear(f, 20);
	hrtimer_start_range_ns(&f->exact, ms_to_ktime(20), 10 * NSEC_PER_MSEC, HRTIMER_MODE_REL);
	msleep(100);
	pr_info("range count=%d early=%d us_late=%lld\n", f->count, f->early, form_late_us(f));

	hrtimer_init(&f->beat, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	f->beat.function = form_beat;
	form_clear(f, 0);
	hrtimer_start(&f->beat, ms_to_ktime(20), HRTIMER_MODE_REL);
	msleep(600);
	a = hrtimer_is_queued(&f->beat);
	pr_info("forward rounds=%d queued=%d n_overruns=%llu\n", f->rounds, a, f->overruns);

	hrtimer_init(&f->long_one, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	f->long_one.function = form_long_one;
	hrtimer_start(&f->long_one, ms_to_ktime(3600000), HRTIMER_MODE_REL);
	a = hrtimer_try_to_cancel(&f->long_one);
	b = hrtimer_try_to_cancel(&f->long_one);
	hrtimer_start(&f->long_one, ms_to_ktime(3600000), HRTIMER_MODE_REL);
	c = hrtimer_cancel(&f->long_one);
	pr_info("hrtimer_cancel result=%d,%d,%d,%d\n", a, b, c, hrtimer_cancel(&f->long_one));
}

/* Delayed work */

static void form_work(struct work_struct *work)
{
	struct form *f = container_of(work, struct form, work.work);

	form_note(f);
	f->pending = delayed_work_pending(&f->work);
}

static void form_again(struct work_struct *work)
{
	struct form *f = container_of(work, struct form, again.work);

	if (++f->rounds < FORMS_ROUNDS)
		schedule_delayed_work(&f->again, FORMS_PERIOD);
}

static void form_delayed_work(struct form *f)
{
	int a, b, c, d;

	INIT_DELAYED_WORK(&f->work, form_work);
	form_clear(f, 20);
	a = schedule_delayed_work(&f->work, msecs_to_jiffies(20));
	b = schedule_delayed_work(&f->work, HZ);
	c = delayed_work_pending(&f->work);
	msleep(100);
	pr_info("queue result=%d,%d pending=%d,%d count=%d early=%d task=%d us_late=%lld\n",
		a, b, c, f->pending, f->count, f->early, f->task, form_late_us(f));

	form_clear(f, 0);
	a = mod_delayed_work(system_wq, &f->work, HZ);
	b = mod_delayed_work(system_wq, &f->work, 2);
	msleep(60);
	c = mod_delayed_work(system_wq, &f->work, 0);
	msleep(60);
	pr_info("mod result=%d,%d,%d count=%d\n", a, b, c, f->count);

	form_clear(f, 0);
	a = queue_delayed_work(system_wq, &f->work, HZ);
	b = cancel_delayed_work(&f->work);
	c = cancel_delayed_work_sync(&f->work);
	d = flush_delayed_work(&f->work);
	pr_info("cancel result=%d,%d,%d,%d count=%d\n", a, b, c, d, f->count);

	form_clear(f, 0);
	queue_delayed_work(system_wq, &f->work, 1000 * HZ);
	a = flush_delayed_work(&f->work);
	b = delayed_work_pending(&f->work);
	pr_info("flush n_result=%d pending=%d count=%d\n", a, b, f->count);

	form_clear(f, 0);
	a = disable_delayed_work_sync(&f->work);
	b = queue_delayed_work(system_wq, &f->work, 1);
	msleep(30);
	c = f->count;
	d = enable_delayed_work(&f->work);
	queue_delayed_work_on(1, system_wq, &f->work, 1);
	msleep(60);
	pr_info("disable result=%d,%d,%d count=%d,%d cpu=%d\n", a, b, d, c, f->count, f->cpu);

	form_clear(f, 0);
	INIT_DELAYED_WORK(&f->again, form_again);
	schedule_delayed_work(&f->again, FORMS_PERIOD);
	msleep(800);
	a = cancel_delayed_work_sync(&f->again);
	pr_info("again rounds=%d result=%d\n", f->rounds, a);
}

static int __init form_init(void)
{
	form_timer_list(&form);
	form_hrtimer(&form);
	form_delayed_work(&form);
	pr_info("end\n");
	return 0;
}

static void __exit form_exit(void)
{
	timer_delete_sync(&form.timer);
	hrtimer_cancel(&form.exact);
	cancel_delayed_work_sync(&form.work);
}

module_init(form_init);
module_exit(form_exit);
MODULE_DESCRIPTION("Uses of the kernel's timers");
MODULE_LICENSE("GPL");
