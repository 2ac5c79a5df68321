// SPDX-License-Identifier: GPL-2.0
/* Delayed work that needs a human */
#include <linux/module.h>

struct left {
	struct workqueue_struct	*wq;
	struct delayed_work	timer;
	struct delayed_work	queued;
	struct delayed_work	asked;
	struct delayed_work	again;
	struct delayed_work	chosen;
	struct delayed_work	stored;
	struct delayed_work	other;
	struct delayed_work	macro;
	struct delayed_work	once;
	struct delayed_work	helped;
	struct delayed_work	hidden;
	struct delayed_work	called;
	struct delayed_work	none;
	struct work_struct	*item;
};

#define left_queue(l)	queue_work(system_percpu_wq, &(l)->macro.work)
#define left_once(l)	schedule_delayed_work(&(l)->once, HZ)

static void left_expired(struct work_struct *work)
{
	struct left *l = container_of(work, struct left, timer.work);

	/* hwheel's delayed work has a member with this name, too, but it is private */
	mod_timer(&l->timer.timer, l->timer.timer.expires + HZ);
}

static void left_queued(struct work_struct *work)
{
}

static void left_asked(struct work_struct *work)
{
}

static void left_again(struct work_struct *work)
{
	struct left *l = container_of(work, struct left, again.work);

	queue_work(l->wq, work);
}

/* Gets the work item of any delayed work */
static void left_helper(struct work_struct *work)
{
	schedule_delayed_work(to_delayed_work(work), HZ);
}

static void left_helped(struct work_struct *work)
{
	left_helper(work);
}

static void left_called(struct work_struct *work)
{
}

static void left_stored(struct work_struct *work)
{
	struct left *l = container_of(work, struct left, stored.work);

	l->item = work;
	schedule_delayed_work(to_delayed_work(l->item), HZ);
}

/* Casts its work item, and so does a function that gets it */
static void left_cast(struct work_struct *work)
{
	struct delayed_work *dwork = (struct delayed_work *)work;

	schedule_delayed_work(dwork, HZ);
}

static void left_hidden(struct work_struct *work)
{
	left_cast(work);
}

static void left_macro(struct work_struct *work)
{
}

static void left_once_run(struct work_struct *work)
{
}

static struct delayed_work left_static = __DELAYED_WORK_INITIALIZER(left_static, left_macro, 0);

void left_open(struct left *l, work_func_t function)
{
	struct work_struct *item = &l->other.work;

	INIT_DELAYED_WORK(&l->timer, left_expired);
	INIT_DELAYED_WORK(&l->queued, left_queued);
	queue_work(l->wq, &l->queued.work);
	INIT_DELAYED_WORK(&l->asked, left_asked);
	if (work_pending(&l->asked.work))
		INIT_DELAYED_WORK(&l->again, left_again);
	INIT_DELAYED_WORK(&l->chosen, function);
	INIT_DELAYED_WORK(&l->stored, left_stored);
	flush_work(item);
	INIT_DELAYED_WORK(&l->macro, left_macro);
	left_queue(l);
	INIT_DELAYED_WORK(&l->once, left_once_run);
	left_once(l);
	schedule_delayed_work(&left_static, HZ);
	INIT_DELAYED_WORK(&l->helped, left_helped);
	INIT_DELAYED_WORK(&l->hidden, left_hidden);
	/* Calls the function of another delayed work, which is left */
	INIT_DELAYED_WORK(&l->called, left_called);
	left_again(&l->called.work);
	INIT_DELAYED_WORK(&l->none, NULL);
}
