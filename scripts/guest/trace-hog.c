// SPDX-License-Identifier: GPL-2.0
/*
 * A load for trace.sh: one callback holds up another, a known number of times. In each
 * round, on one CPU,
 *
 *	hog	arms the victim for 5 ms, three times over; queues the decoy, which is
 *		delayed work, and cancels it; then keeps the CPU for 20 ms
 *	victim	comes 15 ms late, and arms the hog for the next round
 */
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/workqueue.h>

#include "hwheel.h"

#define ROUNDS		20
#define HOG_MS		20
#define VICTIM_MS	5
#define PAUSE_MS	10

static struct hwheel_timer hog, victim;
static struct hwheel_delayed_work decoy;
static struct workqueue_struct *queue;
static int rounds;

static bool done;
module_param(done, bool, 0444);

static void hog_runs(struct hwheel_timer *timer)
{
	ktime_t end = ktime_add_ms(ktime_get(), HOG_MS);
	int i;

	for (i = 0; i < 3; i++)
		hwheel_add(&victim, ms_to_ktime(VICTIM_MS));
	hwheel_queue_delayed_work(queue, &decoy, ms_to_ktime(HOG_MS * 1000));
	hwheel_cancel_delayed_work(&decoy);
	while (ktime_before(ktime_get(), end))
		cpu_relax();
}

static void victim_runs(struct hwheel_timer *timer)
{
	if (++rounds < ROUNDS)
		hwheel_add(&hog, ms_to_ktime(PAUSE_MS));
	else
		WRITE_ONCE(done, true);
}

static void decoy_runs(struct work_struct *work)
{
}

static int __init hog_init(void)
{
	queue = alloc_workqueue("hog", WQ_UNBOUND, 0);
	if (!queue)
		return -ENOMEM;
	hwheel_setup(&hog, hwheel_system, hog_runs, 0);
	hwheel_setup(&victim, hwheel_system, victim_runs, 0);
	HWHEEL_INIT_DELAYED_WORK(&decoy, hwheel_system, decoy_runs);
	hwheel_add(&hog, ms_to_ktime(PAUSE_MS));
	return 0;
}

static void __exit hog_exit(void)
{
	hwheel_shutdown_sync(&hog);
	hwheel_shutdown_sync(&victim);
	hwheel_cancel_delayed_work_sync(&decoy);
	destroy_workqueue(queue);
}

module_init(hog_init);
module_exit(hog_exit);

MODULE_DESCRIPTION("hwheel: a callback that holds up another");
MODULE_LICENSE("GPL");
