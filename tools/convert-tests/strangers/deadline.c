// SPDX-License-Identifier: GPL-2.0
/* Callbacks that compare jiffies where it is not seen at first */
#include <linux/module.h>

#define SECONDS_NOW	ktime_get_seconds()
#define expired(d)	time_after(jiffies, (d)->last)
#define now_of(d)	(jiffies + (d)->late)

/* As many drivers wrap timers */
struct wrapper {
	struct timer_list	timer;
	void			(*run)(void *data);
	void			*data;
};

struct variable {
	struct timer_list	timer;
	void			(*op)(void *data);
};

struct deadlines {
	struct wrapper		wrapped;
	struct variable		variable;
	struct timer_list	in_macro;
	struct timer_list	clock_macro;
	struct timer_list	clock_function;
	struct timer_list	seconds;
	struct timer_list	read;
	struct timer_list	kept;
	struct timer_list	in_table;
	struct timer_list	by_work;
	struct timer_list	by_delayed;
	struct timer_list	passed_on;
	struct timer_list	sum;
	struct timer_list	any;
	struct timer_list	fine;
	struct work_struct	work;
	struct delayed_work	delayed;
	unsigned long		last;
	int			late;
};

static unsigned long now(void)
{
	return jiffies;
}

static void deadline_check(void *data)
{
	struct deadlines *d = data;

	if (time_after(jiffies, d->last))
		d->late++;
}

static void wrapper_expired(struct timer_list *t)
{
	struct wrapper *w = timer_container_of(w, t, timer);

	w->run(w->data);
}

static void variable_expired(struct timer_list *t)
{
	struct variable *v = timer_container_of(v, t, timer);

	(*v->op)(v);
}

void variable_setup(struct variable *v, void (*op)(void *data))
{
	v->op = op;
	timer_setup(&v->timer, variable_expired, 0);
}

static void deadline_in_macro(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, in_macro);

	if (expired(d))
		d->late++;
}

static void deadline_clock_macro(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, clock_macro);

	if (now_of(d) > d->last)
		d->late++;
}

static void deadline_clock_function(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, clock_function);
	unsigned long n = now();

	if (time_after(n, d->last))
		d->late++;
}

static void deadline_seconds(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, seconds);

	if (SECONDS_NOW >= d->late)
		d->late = 0;
}

static void deadline_read(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, read);

	if ((long)READ_ONCE(jiffies) - d->late > 0 || time_after(get_jiffies_64(), d->last))
		d->late++;
}

/* The time is from the call before */
static void deadline_kept(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, kept);
	static unsigned long last;

	if (time_after(jiffies, last))
		d->late++;
	last = jiffies + HZ;
	mod_timer(t, last);
}

static void (*deadline_table[])(void *data) = { deadline_check };

static void deadline_in_table(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, in_table);

	deadline_table[0](d);
}

static void deadline_work(struct work_struct *work)
{
	deadline_check(container_of(work, struct deadlines, work));
}

static void deadline_by_work(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, by_work);

	queue_work(system_percpu_wq, &d->work);
}

static void deadline_delayed(struct work_struct *work)
{
	deadline_check(container_of(to_delayed_work(work), struct deadlines, delayed));
}

static void deadline_by_delayed(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, by_delayed);

	schedule_delayed_work(&d->delayed, 0);
}

static void deadline_passed_on(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, passed_on);

	for_each_of_others(deadline_check, d);
}

static void deadline_sum(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, sum);

	if (jiffies + HZ > d->last)
		d->late++;
}

static void deadline_any(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, any);

	deadline_check(d);
}

static void deadline_setup_any(struct timer_list *t, void (*callback)(struct timer_list *t))
{
	timer_setup(t, callback, 0);
}

/* Calls of the kernel, times of this call, work with a delay of its own */
static void deadline_fine(struct timer_list *t)
{
	struct deadlines *d = timer_container_of(d, t, fine);
	unsigned long start = jiffies;

	others->run_of_others(d);
	while (time_after(start + HZ, now()))
		d->late++;
	schedule_delayed_work(&d->delayed, HZ);
	mod_timer(t, jiffies + HZ - 1);
}

void deadline_setup(struct deadlines *d)
{
	d->wrapped.run = deadline_check;
	timer_setup(&d->wrapped.timer, wrapper_expired, 0);
	timer_setup(&d->in_macro, deadline_in_macro, 0);
	timer_setup(&d->clock_macro, deadline_clock_macro, 0);
	timer_setup(&d->clock_function, deadline_clock_function, 0);
	timer_setup(&d->seconds, deadline_seconds, 0);
	timer_setup(&d->read, deadline_read, 0);
	timer_setup(&d->kept, deadline_kept, 0);
	timer_setup(&d->in_table, deadline_in_table, 0);
	INIT_WORK(&d->work, deadline_work);
	timer_setup(&d->by_work, deadline_by_work, 0);
	INIT_DELAYED_WORK(&d->delayed, deadline_delayed);
	timer_setup(&d->by_delayed, deadline_by_delayed, 0);
	timer_setup(&d->passed_on, deadline_passed_on, 0);
	timer_setup(&d->sum, deadline_sum, 0);
	deadline_setup_any(&d->any, deadline_any);
	timer_setup(&d->fine, deadline_fine, 0);
}
