// SPDX-License-Identifier: GPL-2.0
/* A driver with each use of delayed work there is. It is only read, never built. */
#include <linux/module.h>

#include "device.h"

static const int device_table[] = {
#include "table.h"
};

static void device_scan(struct work_struct *work);

static DECLARE_DELAYED_WORK(device_scanner, device_scan);

/* schedule_delayed_work() in a comment stays */
static void device_scan(struct work_struct *work)
{
	struct delayed_work *dwork = to_delayed_work(work);

	schedule_delayed_work(dwork, 5 * HZ);
}

/* Queues itself again */
static void device_poll(struct work_struct *work)
{
	struct device *d = to_owner(work, poll.work);

	if (d->delay)
		queue_delayed_work(d->wq, &d->poll, d->delay);
	else if (!queue_delayed_work(d->wq, to_delayed_work(work), 0))
		schedule_delayed_work_on(1, &d->poll, DEVICE_POLL);
}

void device_reset(struct work_struct *work)
{
	struct device *d = to_device(work);

	if (work != &d->reset.work || &d->poll.work == work)
		return;
	flush_delayed_work(&d->poll);
	mod_timer(&d->timer, jiffies + HZ);
}

void device_later(struct delayed_work *dwork, unsigned long delay)
{
	mod_delayed_work(system_percpu_wq, dwork, delay);
}

static void device_expired(struct timer_list *t)
{
	struct device *d = timer_container_of(d, t, timer);

	device_later(&d->poll, round_jiffies(HZ));
	device_later(&d->reset, 0);
}

static void device_wait(struct work_struct *work)
{
	if (!work->func)
		kfree(work->func);
}

void device_open(struct device *d)
{
	struct delayed_work wait;

	INIT_DELAYED_WORK(&d->poll, device_poll);
	INIT_DELAYED_WORK(&d->reset, &device_reset);
	INIT_DELAYED_WORK(&d->away, device_away);
	timer_setup(&d->timer, device_expired, 0);
	INIT_DELAYED_WORK_ONSTACK(&wait, device_wait);
	queue_delayed_work(d->wq, &wait, msecs_to_jiffies(30));
	flush_delayed_work(&wait);
	flush_work(&wait.work);
	destroy_delayed_work_on_stack(&wait);

	queue_delayed_work_on(0, d->wq, &d->poll, usecs_to_jiffies(1500));
	mod_delayed_work_on(0, d->wq, &d->poll, msecs_to_jiffies(d->delay));
	mod_delayed_work(d->wq, &d->poll, (0));
	if (!delayed_work_pending(&d->poll) && d->poll.work.func)
		device_poll(&d->poll.work);
	schedule_delayed_work(&device_scanner, d->delay - jiffies);
}

void device_stop(struct device *d)
{
	disable_delayed_work_sync(&d->poll);
	if (disable_delayed_work(&d->reset))
		enable_delayed_work(&d->reset);
	enable_delayed_work(&d->poll);
}

void device_close(struct device *d)
{
	cancel_delayed_work(&device_scanner);
	cancel_delayed_work_sync(&device_scanner);
	cancel_delayed_work_sync(&d->poll);
	cancel_delayed_work_sync(&d->reset);
}
