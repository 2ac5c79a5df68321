// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_jobs - delayed work, sleeping, and a teardown without waiting for each timer
 *
 * A job has a deadline. The function that takes the job off the list frees it:
 *
 *	job_late()	the callback of its timer, when the deadline has passed
 *	job_finish()	called by the worker that has done the job, and by jobs_close()
 *
 * The callback frees the job that holds its timer. So nobody else may call
 * hwheel_cancel_sync() for that timer: the job may be gone. Before the module is unloaded,
 * all callbacks must have returned. hwheel_synchronize() waits for them.
 *
 * Delayed work takes jobs off the list from time to time. Its function sleeps.
 *
 * Loading the module runs a test. If the test fails, the module does not load.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../hwheel.h"

#define JOBS		1000
#define DEADLINE_US	50000		/* of job n: this plus n microseconds */
#define POLL_MS		2
#define WORK_US		300

struct job {
	struct list_head	entry;
	struct hwheel_timer	deadline;
};

static DEFINE_SPINLOCK(jobs_lock);
static LIST_HEAD(jobs);
static atomic_t jobs_left = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(jobs_wait);
static unsigned int jobs_done, jobs_late;
static bool jobs_closed;

static struct workqueue_struct *jobs_wq;

static void job_free(struct job *job)
{
	kfree(job);
	if (atomic_dec_and_test(&jobs_left))
		wake_up(&jobs_wait);
}

static void job_late(struct hwheel_timer *timer)
{
	struct job *job = hwheel_container_of(job, timer, deadline);

	spin_lock(&jobs_lock);
	list_del(&job->entry);
	jobs_late++;
	spin_unlock(&jobs_lock);
	job_free(job);
}

/*
 * Take one job off the list. If hwheel_cancel() returns false, the callback has begun and
 * waits for the lock. Then the callback owns the job.
 */
static bool job_finish(void)
{
	struct job *job, *found = NULL;

	spin_lock_bh(&jobs_lock);
	list_for_each_entry(job, &jobs, entry) {
		if (hwheel_cancel(&job->deadline)) {
			found = job;
			list_del(&job->entry);
			jobs_done++;
			break;
		}
	}
	spin_unlock_bh(&jobs_lock);
	if (found)
		job_free(found);
	return found;
}

static void jobs_poll(struct work_struct *work)
{
	struct hwheel_delayed_work *dwork = to_hwheel_delayed_work(work);

	/* Doing a job takes a while. Timers and other works run meanwhile. */
	hwheel_sleep(WORK_US * NSEC_PER_USEC);
	job_finish();
	if (!READ_ONCE(jobs_closed))
		hwheel_queue_delayed_work(jobs_wq, dwork, ms_to_ktime(POLL_MS));
}

static DECLARE_HWHEEL_DELAYED_WORK(jobs_work, jobs_poll);

static int jobs_add(unsigned int n)
{
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return -ENOMEM;
	hwheel_setup(&job->deadline, hwheel_system, job_late, 0);
	atomic_inc(&jobs_left);
	spin_lock_bh(&jobs_lock);
	list_add_tail(&job->entry, &jobs);
	hwheel_add(&job->deadline, (DEADLINE_US + n) * NSEC_PER_USEC);
	spin_unlock_bh(&jobs_lock);
	return 0;
}

/* After this no function of the module runs, and all jobs are freed. */
static void jobs_close(void)
{
	/* Nobody adds jobs any more. Stop the work, which queues itself. */
	WRITE_ONCE(jobs_closed, true);
	hwheel_cancel_delayed_work_sync(&jobs_work);
	/* Cancel the timers that are still pending, and free their jobs. */
	while (job_finish())
		;
	/* The callbacks that had begun own the remaining jobs. Wait until they have ended. */
	hwheel_synchronize(hwheel_system);
	destroy_workqueue(jobs_wq);
}

static int __init jobs_init(void)
{
	unsigned int i, added;
	int err = 0, timeout;

	jobs_wq = alloc_workqueue("hwheel_jobs", WQ_UNBOUND, 0);
	if (!jobs_wq)
		return -ENOMEM;
	for (added = 0; added < JOBS && !err; added++)
		err = jobs_add(added);
	hwheel_queue_delayed_work(jobs_wq, &jobs_work, 0);

	/*
	 * Some jobs are done, the others are late. First wait for too short a time, then for
	 * long enough.
	 */
	timeout = hwheel_wait_event_hrtimeout(jobs_wait, !atomic_read(&jobs_left),
					      100 * NSEC_PER_USEC);
	if (!err && timeout != -ETIME)
		err = -EIO;
	timeout = hwheel_wait_event_hrtimeout(jobs_wait, !atomic_read(&jobs_left),
					      ms_to_ktime(10000));
	if (!err)
		err = timeout;
	pr_info("%u jobs done, %u late\n", jobs_done, jobs_late);
	if (!err && (!jobs_done || !jobs_late || jobs_done + jobs_late != JOBS))
		err = -EIO;

	/* Once more, and close while the timers expire */
	for (i = 0; i < JOBS && !err; i++)
		err = jobs_add(i);
	hwheel_sleep((DEADLINE_US + JOBS / 2) * NSEC_PER_USEC);
	jobs_close();
	if (!err && atomic_read(&jobs_left))
		err = -EIO;
	pr_info("%u jobs done, %u late, %d left\n", jobs_done, jobs_late,
		atomic_read(&jobs_left));
	return err;
}

static void __exit jobs_exit(void)
{
}

module_init(jobs_init);
module_exit(jobs_exit);

MODULE_DESCRIPTION("hwheel sample: delayed work, sleeping, hwheel_synchronize()");
MODULE_LICENSE("GPL");
