// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_rcu - a session table under RCU, with an idle timeout for each session
 *
 * Readers find a session and re-arm its timeout. They take no lock of the table.
 * A session is removed by exactly one owner:
 *
 *	the callback	if the timer expires
 *	session_close()	if hwheel_shutdown() returns true
 *
 * The timer decides which of the two. Either a run takes the timer off its wheel
 * and calls back, or hwheel_shutdown() takes the timer off its wheel and returns
 * true. Never both.
 *
 * Three rules make this safe:
 *
 *  1. Readers call hwheel_mod_pending(), not hwheel_add(). hwheel_add() would
 *     re-arm a timer whose callback is about to free the session.
 *  2. session_open() arms the timer before it publishes the session. It does
 *     both under the lock that the callback takes. So a session that can be
 *     found gets an owner, and the callback finds the session in the table.
 *  3. The owner frees the session with kfree_rcu(). A reader may still hold a
 *     pointer to the session and call hwheel_mod_pending(), which then returns
 *     false.
 *
 * Loading the module runs a test. Some threads make traffic for run_ms. Then the
 * test closes the table and checks the counts. If the test fails, the module does
 * not load.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../hwheel.h"

#define KEYS		256	/* sessions that there can be */
#define THREADS		4
#define BURST		64	/* requests of a thread between two naps */
#define LINGER_US	5	/* for the test: see session_idle() */

static unsigned int idle_ms = 2;
module_param(idle_ms, uint, 0444);
MODULE_PARM_DESC(idle_ms, "idle timeout of a session in ms (default 2)");

static unsigned int run_ms = 1000;
module_param(run_ms, uint, 0444);
MODULE_PARM_DESC(run_ms, "how long the test makes traffic, in ms (default 1000)");

struct session {
	struct hwheel_timer	idle;
	struct hlist_node	node;
	u32			key;
	struct rcu_head		rcu;
};

/* Writers of the table take the lock with BHs off, because the callback is a writer. */
static DEFINE_SPINLOCK(table_lock);
static DEFINE_HASHTABLE(table, 8);

/* In the end: opened = expired + closed, rearmed = 0, twice = 0 */
static atomic_t opened;
static atomic_t expired;
static atomic_t closed;
static atomic_t touched;	/* timeouts that a reader has re-armed */
static atomic_t too_late;	/* found, but the session had an owner already */
static atomic_t rearmed;	/* re-armed while the callback ran */
static atomic_t twice;		/* removed by a second owner */

/* Under rcu_read_lock() or table_lock. */
static struct session *session_find(u32 key)
{
	struct session *s;

	hash_for_each_possible_rcu(table, s, node, key, lockdep_is_held(&table_lock))
		if (s->key == key)
			return s;
	return NULL;
}

/* Only the owner calls this. */
static void session_remove(struct session *s)
{
	spin_lock_bh(&table_lock);
	if (!hash_hashed(&s->node))
		atomic_inc(&twice);
	hash_del_rcu(&s->node);
	spin_unlock_bh(&table_lock);
	kfree_rcu(s, rcu);
}

/* The timer has expired: the callback is the owner. */
static void session_idle(struct hwheel_timer *timer)
{
	struct session *s = hwheel_container_of(s, timer, idle);

	/* For the test only: give readers time to find a session that will be removed. */
	udelay(LINGER_US);
	if (hwheel_pending(timer))
		atomic_inc(&rearmed);

	atomic_inc(&expired);
	session_remove(s);
}

/* Activity. Return: false if there is no such session, or if it has an owner already. */
static bool session_touch(u32 key)
{
	struct session *s;
	bool found;

	rcu_read_lock();
	s = session_find(key);
	found = s && hwheel_mod_pending(&s->idle, ms_to_ktime(idle_ms));
	if (found)
		atomic_inc(&touched);
	else if (s)
		atomic_inc(&too_late);
	rcu_read_unlock();
	return found;
}

static int session_open(u32 key)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	s->key = key;
	hwheel_setup(&s->idle, hwheel_system, session_idle, 0);

	spin_lock_bh(&table_lock);
	if (session_find(key)) {
		spin_unlock_bh(&table_lock);
		kfree(s);
		return -EEXIST;
	}
	/* Keep this order: see rule 2. The callback waits for the lock. */
	hwheel_add(&s->idle, ms_to_ktime(idle_ms));
	hash_add_rcu(table, &s->node, key);
	spin_unlock_bh(&table_lock);
	atomic_inc(&opened);
	return 0;
}

/* Remove @s unless it has an owner already. Under rcu_read_lock(). */
static void session_close(struct session *s)
{
	if (hwheel_shutdown(&s->idle)) {
		atomic_inc(&closed);
		session_remove(s);
	}
}

/* Close all sessions. Afterwards no callback of the table runs. */
static void table_close(void)
{
	struct session *s;
	unsigned int i;

	rcu_read_lock();
	hash_for_each_rcu(table, i, s, node)
		session_close(s);
	rcu_read_unlock();
	/*
	 * The callbacks of the other sessions have begun. They run in softirq
	 * context, which is a read-side critical section of RCU.
	 */
	synchronize_rcu();
}

static void make_traffic(void)
{
	u32 key = get_random_u32() % KEYS;
	struct session *s;

	if (get_random_u32() % 16) {
		if (!session_touch(key))
			session_open(key);
		return;
	}
	rcu_read_lock();
	s = session_find(key);
	if (s)
		session_close(s);
	rcu_read_unlock();
}

static int traffic_thread(void *unused)
{
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < BURST; i++)
			make_traffic();
		usleep_range(500, 1000);
	}
	return 0;
}

static int __init run_threads(void)
{
	struct task_struct *task[THREADS];
	unsigned int i, n;
	int err = 0;

	for (n = 0; n < THREADS; n++) {
		task[n] = kthread_run(traffic_thread, NULL, "hwheel_rcu/%u", n);
		if (IS_ERR(task[n])) {
			err = PTR_ERR(task[n]);
			break;
		}
	}
	if (!err)
		msleep(run_ms);
	for (i = 0; i < n; i++)
		kthread_stop(task[i]);
	return err;
}

static bool __init books_balance(void)
{
	return hash_empty(table) && atomic_read(&opened) && !atomic_read(&rearmed) &&
	       !atomic_read(&twice) &&
	       atomic_read(&opened) == atomic_read(&expired) + atomic_read(&closed);
}

static int __init table_init(void)
{
	bool good;
	int err;

	err = run_threads();
	table_close();
	if (err)
		return err;

	good = books_balance();
	pr_info("opened %d expired %d closed %d touched %d too_late %d rearmed %d twice %d: %s\n",
		atomic_read(&opened), atomic_read(&expired), atomic_read(&closed),
		atomic_read(&touched), atomic_read(&too_late), atomic_read(&rearmed),
		atomic_read(&twice), good ? "ok" : "FAILED");
	return good ? 0 : -EIO;
}

/* table_init() has closed the table. */
static void __exit table_exit(void)
{
}

module_init(table_init);
module_exit(table_exit);

MODULE_DESCRIPTION("hwheel sample: a session table under RCU");
MODULE_LICENSE("GPL");
