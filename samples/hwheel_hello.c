// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_hello - a driver to start from
 *
 * A make-believe device that needs some time after it is switched on, is
 * polled for a while, and is put to sleep when it has had nothing to say for
 * long enough. It shows the three ways in which timers are mostly used:
 *
 *	settle	one-shot: do something once, later
 *	poll	periodic: the callback moves its own timer on
 *	idle	timeout: pushed on by all activity, runs when there is none
 *
 * and a fourth timer that is set up at build time. After about two seconds
 * the device sleeps, no timer is pending, and nothing wakes the CPU any more.
 *
 * Callbacks run in softirq context: they must not sleep, and a lock they take
 * must be taken with spin_lock_bh() everywhere else.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "../hwheel.h"

#define SETTLE_MS	50
#define POLL_MS		100
#define IDLE_MS		500
#define BUSY_POLLS	10	/* polls that find something */

/* Timers live in the object they belong to; arming allocates nothing. */
struct hello_device {
	struct hwheel_timer	settle;
	struct hwheel_timer	poll;
	struct hwheel_timer	idle;
	unsigned int		polls;
	bool			asleep;
};

static struct hello_device *hello;

static void hello_greet(struct hwheel_timer *timer)
{
	pr_info("greetings from a timer that needed no setting up\n");
}

/* Ready to be armed from the moment the module is loaded. */
static DEFINE_HWHEEL_TIMER(hello_greeting, hello_greet);

/* One-shot: by the time it runs the timer is no longer pending. */
static void hello_settled(struct hwheel_timer *timer)
{
	struct hello_device *dev = hwheel_container_of(dev, timer, settle);

	pr_info("settled, polling every %d ms\n", POLL_MS);
	hwheel_add(&dev->poll, ms_to_ktime(POLL_MS));
	hwheel_add(&dev->idle, ms_to_ktime(IDLE_MS));
}

static void hello_poll(struct hwheel_timer *timer)
{
	struct hello_device *dev = hwheel_container_of(dev, timer, poll);
	u64 periods;

	/*
	 * A periodic timer ends by not being moved on. Cancelling it from
	 * hello_idle() would not do: had this callback begun on another CPU,
	 * it would arm the timer again after the cancel.
	 */
	if (READ_ONCE(dev->asleep))
		return;

	/*
	 * Activity. Arming a pending timer moves it, so this is all it takes
	 * to push a timeout on; there is no need to cancel first.
	 */
	if (dev->polls++ < BUSY_POLLS)
		hwheel_add(&dev->idle, ms_to_ktime(IDLE_MS));

	/*
	 * Counted from the time this poll was due, not from now, so that the
	 * period does not drift. More than one period: some were missed.
	 */
	periods = hwheel_forward(timer, ms_to_ktime(POLL_MS));
	if (periods > 1)
		pr_info("missed %llu polls\n", periods - 1);
}

/* Nobody pushed the timeout on for IDLE_MS. */
static void hello_idle(struct hwheel_timer *timer)
{
	struct hello_device *dev = hwheel_container_of(dev, timer, idle);

	/* Read by hello_poll() without a lock: it may take one more poll. */
	WRITE_ONCE(dev->asleep, true);
	pr_info("idle for %d ms, going to sleep\n", IDLE_MS);
}

static int __init hello_init(void)
{
	hello = kzalloc(sizeof(*hello), GFP_KERNEL);
	if (!hello)
		return -ENOMEM;

	/* Set up every timer before the first one that may arm another. */
	hwheel_setup(&hello->settle, hwheel_system, hello_settled, 0);
	hwheel_setup(&hello->poll, hwheel_system, hello_poll, 0);
	hwheel_setup(&hello->idle, hwheel_system, hello_idle, 0);

	hwheel_add(&hello->settle, ms_to_ktime(SETTLE_MS));
	hwheel_add(&hello_greeting, ms_to_ktime(1));
	return 0;
}

static void __exit hello_exit(void)
{
	/*
	 * hwheel_cancel_sync() would not be enough: settle arms poll and idle,
	 * poll arms idle and itself. A timer that was shut down is neither
	 * pending nor running and arming it does nothing, so the order does
	 * not matter here. Only then may code and memory go.
	 */
	hwheel_shutdown_sync(&hello->settle);
	hwheel_shutdown_sync(&hello->poll);
	hwheel_shutdown_sync(&hello->idle);
	hwheel_shutdown_sync(&hello_greeting);
	kfree(hello);
}

module_init(hello_init);
module_exit(hello_exit);

MODULE_DESCRIPTION("hwheel sample: one-shot, periodic and idle timers");
MODULE_LICENSE("GPL");
