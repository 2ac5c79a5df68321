// SPDX-License-Identifier: GPL-2.0
/* Delayed work that has to stay: hwheel_system does not serve it, or others use it, too */
#include <linux/module.h>

#include "stays.h"

struct stays {
	struct workqueue_struct	*wq;
	struct mmc_host		host;
	struct delayed_work	idle;
	struct delayed_work	devm;
	struct delayed_work	foreign;
	struct delayed_work	tasklet;
	struct delayed_work	passed;
	struct delayed_work	moved;
	struct delayed_work	pasted_work;
};

#define stays_queue_work(s, name) \
	mod_delayed_work(system_percpu_wq, &(s)->name ## _work, HZ)

static void stays_idle(struct work_struct *work)
{
	struct stays *s = container_of(work, struct stays, idle.work);

	schedule_delayed_work(&s->idle, HZ);
}

static DECLARE_DEFERRABLE_WORK(stays_deferrable, stays_idle);

static void stays_devm(struct work_struct *work)
{
	struct stays *s = container_of(work, struct stays, devm.work);

	schedule_delayed_work(&s->devm, HZ);
}

/* A name that two structures have */
static void stays_detect(struct work_struct *work)
{
	struct stays *s = container_of(work, struct stays, host.idle.work);

	schedule_delayed_work(&s->host.idle, HZ);
}

static void stays_tasklet(struct work_struct *work)
{
}

static void stays_passed(struct work_struct *work)
{
	struct stays *s = container_of(work, struct stays, passed.work);

	cancel_delayed_work(&stays_shared);
	stays_queue(&s->passed);
}

static void stays_moved(struct work_struct *work)
{
	struct stays *s = container_of(work, struct stays, moved.work);

	schedule_delayed_work(&s->moved, HZ);
}

static void stays_pasted(struct work_struct *work)
{
	struct stays *s = container_of(work, struct stays, pasted_work.work);

	stays_queue_work(s, pasted);
}

void stays_open(struct stays *s)
{
	INIT_DEFERRABLE_WORK(&s->idle, stays_idle);
	devm_delayed_work_autocancel(s, &s->devm, stays_devm);
	INIT_DELAYED_WORK(&s->host.idle, stays_detect);
	INIT_DELAYED_WORK(&s->foreign, mmc_rescan);
	INIT_DELAYED_WORK(&s->tasklet, stays_tasklet);
	queue_delayed_work(system_bh_wq, &s->tasklet, HZ);
	INIT_DELAYED_WORK(&s->passed, stays_passed);
	INIT_DELAYED_WORK(&s->moved, stays_moved);
	INIT_DELAYED_WORK(&s->pasted_work, stays_pasted);
#ifdef CONFIG_STAYS
	cancel_delayed_work(&s->moved);
#endif
}
