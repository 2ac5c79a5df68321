// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_hello - a driver to start from
 *
 * The device does not exist. It needs some time after it is switched on. Then the
 * driver polls it for a while. When the polls find nothing for long enough, the
 * driver puts the device to sleep. The driver shows the three usual kinds of timers:
 *
 *	settle	one-shot: does something once, later
 *	poll	periodic: the callback re-arms its own timer
 *	idle	timeout: activity re-arms it; it expires when there is no activity
 *
 * A fourth timer is set up at build time. After about one and a half seconds the
 * device sleeps. Then no timer is pending, and nothing wakes the CPU.
 *
 * Callbacks run in softirq context. They must not sleep. If a callback takes a
 * lock, code in task context must take that lock with spin_lock_bh().
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

/* Can be armed as soon as the module is loaded. */
static DEFINE_HWHEEL_TIMER(hello_greeting, hello_greet);

/* One-shot: the timer is no longer pending when its callback runs. */
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
	 * To stop a periodic timer, do not re-arm it. hello_idle() can't stop it
	 * with hwheel_cancel(): if this callback had begun on another CPU, it
	 * would re-arm the timer after the cancel.
	 */
	if (READ_ONCE(dev->asleep))
		return;

	/*
	 * Activity. hwheel_add() re-arms a pending timer for the new time.
	 * There is no need to cancel it first.
	 */
	if (dev->polls++ < BUSY_POLLS)
		hwheel_add(&dev->idle, ms_to_ktime(IDLE_MS));

	/*
	 * hwheel_add_forward() counts from the time when this poll was due, not from
	 * now. So the period does not drift. If hwheel_add_forward() moves the timer by
	 * more than one period, polls were missed.
	 */
	periods = hwheel_add_forward(timer, ms_to_ktime(POLL_MS));
	if (periods > 1)
		pr_info("missed %llu polls\n", periods - 1);
}

/* There was no activity for IDLE_MS. */
static void hello_idle(struct hwheel_timer *timer)
{
	struct hello_device *dev = hwheel_container_of(dev, timer, idle);

	/* hello_poll() reads this without a lock. One more poll may follow. */
	WRITE_ONCE(dev->asleep, true);
	pr_info("idle for %d ms, going to sleep\n", IDLE_MS);
}

static int __init hello_init(void)
{
	hello = kzalloc(sizeof(*hello), GFP_KERNEL);
	if (!hello)
		return -ENOMEM;

	/* Set up all timers before you arm one whose callback arms another. */
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
	 * hwheel_cancel_sync() is not enough: settle arms poll and idle, and
	 * poll arms idle and itself. After hwheel_shutdown_sync() a timer is not
	 * pending, its callback is not running, and arming it does nothing. So
	 * the order does not matter. Free code and memory only after that.
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
