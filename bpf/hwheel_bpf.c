// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_bpf - timers of hwheel for BPF programs
 *
 * A BPF program keeps a table in a map. Each value of the map has a timer: a kptr to a struct
 * bpf_hwheel. The programs that see packets arm the timers with the kfuncs of this file. When a
 * timer expires, hwheel calls a BPF program of the struct_ops hwheel_bpf_ops: expired().
 * Documentation/bpf.rst is for authors of such programs. This file is about who owns what, and
 * about what happens when something goes away.
 *
 * Words
 * -----
 *
 *	timer	a struct bpf_hwheel
 *	owner	a BPF program that holds a reference to a timer, or a field of a map. A timer has
 *		exactly one owner at any time: the verifier sees to that, and bpf_kptr_xchg()
 *		hands a timer from one owner to another
 *	user	a struct_ops map that is attached, and what belongs to it: a wheel, its timers, its
 *		limit and its counts. A user has a number, its id. It lives on without a program
 *		until its last timer is free
 *
 * Release
 * -------
 *
 * The owner gives up the timer with bpf_hwheel_release(). If the owner is a map, the kernel calls
 * bpf_hwheel_release_dtor(). Both do the same:
 *
 *  1. They mark the timer as dead. An expiration that has not read the mark yet calls no program.
 *  2. They shut the timer down. Neither waits for the timer's callback, because both run in
 *     any context, and also in the timer's own callback.
 *  3. The timer's memory is freed after a grace period of RCU. A callback that runs on another CPU
 *     meanwhile is in softirq context. A grace period waits for that: on PREEMPT_RT, too,
 *     switching softirqs off begins an RCU read-side section there.
 *
 * So expired() may delete, re-arm or replace its own timer: the callback does not read the timer
 * after it has called the program.
 *
 * The kernel may call the destructor in a context that is not ours to choose. A tracing program
 * can delete an element of any map. The program may run in an NMI, or on a CPU that holds the
 * lock of a wheel's base, of the hrtimers or of the scheduler. All these locks are taken with
 * interrupts off. So the rule is: with interrupts off, a release only puts the timer on a list
 * of the CPU, and an irq_work does steps 2 and 3. Step 1 has silenced the timer already.
 *
 * Who may call the kfuncs
 * -----------------------
 *
 * Programs of the types XDP, SCHED_CLS and SYSCALL, and those of hwheel_bpf_ops. None of them
 * runs under a lock of hwheel, of the hrtimers or of the scheduler. Programs of other
 * struct_ops may: a scheduler of sched_ext runs under the lock of a runqueue, and arming a
 * timer may wake ksoftirqd, which takes that lock. hwheel_bpf_filter() refuses such programs.
 * Tracing programs run everywhere, so they get no kfunc at all.
 *
 * The callback runs in softirq context on all kernels, on PREEMPT_RT in a thread. It holds no
 * lock.
 *
 * Users come and go
 * -----------------
 *
 * user->ops points to the functions of the program, or is NULL while the user is detached. It
 * is protected by RCU. To detach, hwheel_bpf_unreg() clears it and waits for a grace period:
 * after that, no callback runs the program, and no kfunc makes a timer for the user. The kernel
 * may then free the program.
 *
 * Timers in maps may outlive the program. They stay armed. If one of them expires while the
 * user is detached, nobody hears of it, and user->counts counts it as unheard. A struct_ops map
 * that is attached later with the same id takes the user over, with all timers that are left.
 * It must ask for the same wheel. To replace a program without a gap, update the link:
 * hwheel_bpf_update() exchanges user->ops.
 *
 * Each timer that is not free yet counts in user->timers, and keeps the user and its wheel. The
 * last one to go queues hwheel_bpf_reap_work, which frees users that are detached and have no
 * timers. Creation counts first and looks at user->ops before, in one RCU read-side section. So
 * when hwheel_bpf_unreg() has waited, user->timers can only fall.
 *
 * Unloading
 * ---------
 *
 * Each user holds a reference to this module. So while a timer is left, be it in a map, in the
 * hand of a program, or waiting for RCU, rmmod fails. The kernel, too, holds a reference for
 * each program that calls a kfunc, for each map that may hold a timer, and for each struct_ops
 * map. When hwheel_bpf_exit() runs, no user is left. It only waits until the last code of this
 * module has returned: irq_works, RCU callbacks, timers' callbacks and the work, in this order.
 *
 * Memory
 * ------
 *
 * A timer takes 64 bytes, a cache line. Its memory is charged to the cgroup of the task that
 * attached the struct_ops map. If that cgroup is full, creation fails, as at the user's limit.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "hwheel.h"
#include "module/compat.h"

/* Kernels without this flag check all pointers as it asks for */
#ifndef KF_TRUSTED_ARGS
#define KF_TRUSTED_ARGS		0
#endif

/**
 * struct hwheel_bpf_ops - what a BPF program gives to hwheel, as a struct_ops map
 * @expired: a timer of this user has expired. @cookie is the one that it was made with. Runs in
 *	softirq context, on several CPUs at a time for different timers. The program must not sleep
 * @id: number of this user. bpf_hwheel_create_for() names it; bpf_hwheel_create() means user 0
 * @flags: as in struct hwheel_config
 * @tick_ns: tick of the wheel in nanoseconds, 1000 or more; 0: 1 ms
 * @gap_ns: as in struct hwheel_config
 * @limit: the largest number of timers of this user; 0: no limit. It counts a timer until its
 *	memory is free, some milliseconds after its release
 *
 * If @flags, @tick_ns and @gap_ns are 0, the user shares the module's own wheel, hwheel_system.
 * Else it gets a wheel of its own, named bpf-@id.
 */
struct hwheel_bpf_ops {
	void (*expired)(u64 cookie);
	u32 id;
	u32 flags;
	u64 tick_ns;
	u64 gap_ns;
	u64 limit;
};

enum hwheel_bpf_count {
	HWHEEL_BPF_CREATED,
	HWHEEL_BPF_EXPIRED,	/* expirations that called the program */
	HWHEEL_BPF_UNHEARD,	/* expirations while no program was attached */
	HWHEEL_BPF_REFUSED,	/* creations at the limit, or without memory */
	HWHEEL_BPF_COUNTS
};

struct hwheel_bpf_counts {
	u64 n[HWHEEL_BPF_COUNTS];
};

struct hwheel_bpf_user {
	const struct hwheel_bpf_ops __rcu *ops;	/* NULL: detached */
	struct hwheel		*wheel;
	struct mem_cgroup	*memcg;		/* while attached */
	u64			limit;
	struct hwheel_bpf_counts __percpu *counts;
	atomic_long_t		timers;		/* not free yet */

	u32			id;
	u32			flags;
	u64			tick_ns;
	u64			gap_ns;
	struct rcu_head		rcu;
};

/**
 * struct bpf_hwheel - a timer of a BPF program
 *
 * The program keeps a pointer to it in a map, as a kptr. All members are private. @timer is
 * first, and alone in what re-arming writes.
 */
struct bpf_hwheel {
	/* private: */
	union {
		struct hwheel_timer	timer;
		struct rcu_head		rcu;	/* from hwheel_bpf_free() on */
	};
	union {
		u64			cookie;
		struct llist_node	node;	/* of a dead timer: in hwheel_bpf_deferred.list */
	};
	unsigned long			user;	/* struct hwheel_bpf_user, and HWHEEL_BPF_DEAD */
};

/*
 * @rcu may lie on @timer.entry only. When a timer is shut down while its callback runs, hwheel
 * does not use its entry any more, but still reads other members.
 */
static_assert(offsetof(struct hwheel_timer, entry) == 0);
static_assert(sizeof(struct rcu_head) <= sizeof_field(struct hwheel_timer, entry));

#define HWHEEL_BPF_DEAD		1UL	/* a release has begun */

struct hwheel_bpf_deferred {
	struct llist_head	list;
	struct irq_work		work;
};

static void hwheel_bpf_reap(struct work_struct *work);

static struct kmem_cache *hwheel_bpf_cache;
static struct dentry *hwheel_bpf_dir;
static DEFINE_PER_CPU(struct hwheel_bpf_deferred, hwheel_bpf_deferred);
/* Protects all members of users that change, but @timers and @counts */
static DEFINE_MUTEX(hwheel_bpf_mutex);
/* Users by id. Changed under the mutex, read under RCU */
static DEFINE_XARRAY(hwheel_bpf_users);
static DECLARE_WORK(hwheel_bpf_reap_work, hwheel_bpf_reap);
static const struct btf *hwheel_bpf_btf;

static struct hwheel_bpf_user *hwheel_bpf_user(const struct bpf_hwheel *t)
{
	return (struct hwheel_bpf_user *)(READ_ONCE(t->user) & ~HWHEEL_BPF_DEAD);
}

static void hwheel_bpf_count(struct hwheel_bpf_user *user, enum hwheel_bpf_count what)
{
	this_cpu_inc(user->counts->n[what]);
}

/* ------------------------------------------------------------------------ */
/* Timers */

/* The callback of all timers */
static void hwheel_bpf_expired(struct hwheel_timer *timer)
{
	struct bpf_hwheel *t = container_of(timer, struct bpf_hwheel, timer);
	const struct hwheel_bpf_ops *ops;
	struct hwheel_bpf_user *user;
	u64 cookie = READ_ONCE(t->cookie);

	/*
	 * Pairs with smp_wmb() in hwheel_bpf_release(): if @cookie is a list node already, the
	 * timer is dead.
	 */
	smp_rmb();
	if (unlikely(READ_ONCE(t->user) & HWHEEL_BPF_DEAD))
		return;
	user = hwheel_bpf_user(t);

	rcu_read_lock();
	ops = rcu_dereference(user->ops);
	hwheel_bpf_count(user, ops ? HWHEEL_BPF_EXPIRED : HWHEEL_BPF_UNHEARD);
	/* The program may release the timer. @user stays, as it is freed by RCU */
	if (ops)
		ops->expired(cookie);
	rcu_read_unlock();
}

/* One timer of @user less. @user may be gone when this returns. */
static void hwheel_bpf_put(struct hwheel_bpf_user *user)
{
	/* Until rcu_read_unlock(), @user may be detached and reaped, but not freed */
	rcu_read_lock();
	/* Fully ordered. Pairs with synchronize_rcu() in hwheel_bpf_unreg() */
	if (atomic_long_dec_and_test(&user->timers) && !rcu_access_pointer(user->ops))
		queue_work(system_dfl_wq, &hwheel_bpf_reap_work);
	rcu_read_unlock();
}

static void hwheel_bpf_free(struct rcu_head *rcu)
{
	struct bpf_hwheel *t = container_of(rcu, struct bpf_hwheel, rcu);
	struct hwheel_bpf_user *user = hwheel_bpf_user(t);

	kmem_cache_free(hwheel_bpf_cache, t);
	hwheel_bpf_put(user);
}

/* Steps 2 and 3 of a release. No lock that hwheel or RCU takes is held. */
static void hwheel_bpf_end(struct bpf_hwheel *t)
{
	hwheel_shutdown(&t->timer);
	call_rcu(&t->rcu, hwheel_bpf_free);
}

static void hwheel_bpf_irq_work(struct irq_work *work)
{
	struct hwheel_bpf_deferred *deferred = container_of(work, struct hwheel_bpf_deferred, work);
	struct bpf_hwheel *t, *next;

	llist_for_each_entry_safe(t, next, llist_del_all(&deferred->list), node)
		hwheel_bpf_end(t);
}

static void hwheel_bpf_release(struct bpf_hwheel *t)
{
	struct hwheel_bpf_deferred *deferred;

	WRITE_ONCE(t->user, t->user | HWHEEL_BPF_DEAD);
	if (likely(!irqs_disabled() && !in_nmi())) {
		hwheel_bpf_end(t);
		return;
	}
	/* Pairs with smp_rmb() in hwheel_bpf_expired(): first dead, then a list node */
	smp_wmb();
	deferred = this_cpu_ptr(&hwheel_bpf_deferred);
	if (llist_add(&t->node, &deferred->list))
		irq_work_queue(&deferred->work);
}

/*
 * Allocate a timer, charged to @memcg. Called in any context in which programs run. On
 * PREEMPT_RT the allocator takes locks that sleep.
 */
static struct bpf_hwheel *hwheel_bpf_alloc(struct mem_cgroup *memcg)
{
	struct mem_cgroup *old;
	struct bpf_hwheel *t;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !preemptible())
		return NULL;
	old = set_active_memcg(memcg);
	t = kmem_cache_zalloc(hwheel_bpf_cache, GFP_NOWAIT | __GFP_NOWARN | __GFP_ACCOUNT);
	set_active_memcg(old);
	return t;
}

/* Make a timer for @user, which is attached. The caller is in an RCU read-side section. */
static struct bpf_hwheel *hwheel_bpf_make(struct hwheel_bpf_user *user, u64 cookie)
{
	u64 limit = READ_ONCE(user->limit);
	struct bpf_hwheel *t = NULL;

	if ((u64)atomic_long_inc_return(&user->timers) <= limit || !limit)
		t = hwheel_bpf_alloc(user->memcg);
	if (!t) {
		hwheel_bpf_count(user, HWHEEL_BPF_REFUSED);
		hwheel_bpf_put(user);
		return NULL;
	}
	hwheel_setup(&t->timer, user->wheel, hwheel_bpf_expired, 0);
	t->cookie = cookie;
	t->user = (unsigned long)user;
	hwheel_bpf_count(user, HWHEEL_BPF_CREATED);
	return t;
}

static ktime_t hwheel_bpf_ktime(u64 ns)
{
	return min_t(u64, ns, KTIME_MAX);
}

/* ------------------------------------------------------------------------ */
/* kfuncs */

__bpf_kfunc_start_defs();

/**
 * bpf_hwheel_create_for - make a timer for a user
 * @cookie: expired() gets this number
 * @id: the user's id
 *
 * Context: any in which the programs run. On PREEMPT_RT not with preemption or interrupts off.
 * Return: the timer, which is not armed; or NULL if no program with this @id is attached, at
 * the user's limit, or without memory.
 */
__bpf_kfunc struct bpf_hwheel *bpf_hwheel_create_for(u64 cookie, u32 id)
{
	struct hwheel_bpf_user *user;
	struct bpf_hwheel *t = NULL;

	rcu_read_lock();
	user = xa_load(&hwheel_bpf_users, id);
	if (user && rcu_access_pointer(user->ops))
		t = hwheel_bpf_make(user, cookie);
	rcu_read_unlock();
	return t;
}

/**
 * bpf_hwheel_create - make a timer for user 0
 * @cookie: as in bpf_hwheel_create_for()
 *
 * Context: as bpf_hwheel_create_for().
 * Return: as bpf_hwheel_create_for().
 */
__bpf_kfunc struct bpf_hwheel *bpf_hwheel_create(u64 cookie)
{
	return bpf_hwheel_create_for(cookie, 0);
}

/**
 * bpf_hwheel_release - cancel a timer and free it
 * @t: the timer
 *
 * Does not wait. If expired() runs for the timer already, it may still be running after this.
 * It does not begin after this.
 *
 * Context: any.
 */
__bpf_kfunc void bpf_hwheel_release(struct bpf_hwheel *t)
{
	hwheel_bpf_release(t);
}

/* bpf_hwheel_release() for maps, with the type that the kernel calls */
__bpf_kfunc void bpf_hwheel_release_dtor(void *t)
{
	hwheel_bpf_release(t);
}

CFI_NOSEAL(bpf_hwheel_release_dtor);

/**
 * bpf_hwheel_add - arm or re-arm a timer
 * @t: the timer
 * @ns: nanoseconds from now
 *
 * The timer expires at the first tick at or after now + @ns, on this CPU, as with hwheel_add().
 *
 * Context: any in which the programs run.
 * Return: true if @t was pending.
 */
__bpf_kfunc bool bpf_hwheel_add(struct bpf_hwheel *t, u64 ns)
{
	return hwheel_add(&t->timer, hwheel_bpf_ktime(ns));
}

/**
 * bpf_hwheel_add_range - arm or re-arm a timer that may be a little late
 * @t: the timer
 * @ns: nanoseconds from now
 * @slack: how much later the timer may expire, in nanoseconds: see hwheel_add_range()
 *
 * Context: as bpf_hwheel_add().
 * Return: true if @t was pending.
 */
__bpf_kfunc bool bpf_hwheel_add_range(struct bpf_hwheel *t, u64 ns, u64 slack)
{
	return hwheel_add_range(&t->timer, hwheel_bpf_ktime(ns), hwheel_bpf_ktime(slack));
}

/**
 * bpf_hwheel_add_at - arm or re-arm a timer for an instant
 * @t: the timer
 * @ns: the instant, in nanoseconds of the user's clock: bpf_ktime_get_ns() reads CLOCK_MONOTONIC,
 *	bpf_ktime_get_boot_ns() CLOCK_BOOTTIME, and bpf_ktime_get_tai_ns() CLOCK_TAI
 *
 * This is the cheapest way to arm: see hwheel_add_at().
 *
 * Context: as bpf_hwheel_add().
 * Return: true if @t was pending.
 */
__bpf_kfunc bool bpf_hwheel_add_at(struct bpf_hwheel *t, u64 ns)
{
	return hwheel_add_at(&t->timer, hwheel_bpf_ktime(ns), 0);
}

/**
 * bpf_hwheel_cancel - cancel a timer
 * @t: the timer
 *
 * Does not wait: expired() may be running for the timer when this returns.
 *
 * Context: as bpf_hwheel_add().
 * Return: true if @t was pending, and so will not expire.
 */
__bpf_kfunc bool bpf_hwheel_cancel(struct bpf_hwheel *t)
{
	return hwheel_cancel(&t->timer);
}

/**
 * bpf_hwheel_pending - is a timer armed, and has it not yet expired?
 * @t: the timer
 *
 * In expired() the answer true means that somebody has armed the timer again meanwhile.
 *
 * Context: as bpf_hwheel_add().
 * Return: true if @t is pending.
 */
__bpf_kfunc bool bpf_hwheel_pending(struct bpf_hwheel *t)
{
	return hwheel_pending(&t->timer);
}

/**
 * bpf_hwheel_remaining - time until a timer expires
 * @t: the timer
 *
 * Context: as bpf_hwheel_add(). Return: as hwheel_remaining(): the instant that @t was last
 * armed for minus now, in nanoseconds.
 */
__bpf_kfunc s64 bpf_hwheel_remaining(struct bpf_hwheel *t)
{
	return hwheel_remaining(&t->timer);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(hwheel_bpf_kfunc_ids)
BTF_ID_FLAGS(func, bpf_hwheel_create, KF_ACQUIRE | KF_RET_NULL)
BTF_ID_FLAGS(func, bpf_hwheel_create_for, KF_ACQUIRE | KF_RET_NULL)
BTF_ID_FLAGS(func, bpf_hwheel_release, KF_RELEASE)
BTF_ID_FLAGS(func, bpf_hwheel_add, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_hwheel_add_range, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_hwheel_add_at, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_hwheel_cancel, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_hwheel_pending, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_hwheel_remaining, KF_TRUSTED_ARGS)
BTF_KFUNCS_END(hwheel_bpf_kfunc_ids)

/*
 * Of struct_ops programs only those of this module may call the kfuncs: this module's BTF has no
 * other struct_ops.
 */
static int hwheel_bpf_filter(const struct bpf_prog *prog, u32 kfunc_id)
{
	return prog->type == BPF_PROG_TYPE_STRUCT_OPS && prog->aux->attach_btf != hwheel_bpf_btf ?
	       -EACCES : 0;
}

static const struct btf_kfunc_id_set hwheel_bpf_kfuncs = {
	.owner	= THIS_MODULE,
	.set	= &hwheel_bpf_kfunc_ids,
	.filter	= hwheel_bpf_filter,
};

BTF_ID_LIST(hwheel_bpf_dtor_ids)
BTF_ID(struct, bpf_hwheel)
BTF_ID(func, bpf_hwheel_release_dtor)

/* ------------------------------------------------------------------------ */
/* Users */

/* Free @user, which is detached and has no timers. The caller holds the mutex. */
static void hwheel_bpf_free_user(struct hwheel_bpf_user *user)
{
	xa_erase(&hwheel_bpf_users, user->id);
	/* Callbacks of its timers may be about to return. This waits for them */
	if (user->wheel != hwheel_system)
		hwheel_destroy(user->wheel);
	free_percpu(user->counts);
	kfree_rcu(user, rcu);
	/* The caller holds another reference, or is the work, for which hwheel_bpf_exit() waits */
	module_put(THIS_MODULE);
}

static bool hwheel_bpf_unused(struct hwheel_bpf_user *user)
{
	return !rcu_access_pointer(user->ops) && !atomic_long_read(&user->timers);
}

static void hwheel_bpf_reap(struct work_struct *work)
{
	struct hwheel_bpf_user *user;
	unsigned long id;

	mutex_lock(&hwheel_bpf_mutex);
	xa_for_each(&hwheel_bpf_users, id, user)
		if (hwheel_bpf_unused(user))
			hwheel_bpf_free_user(user);
	mutex_unlock(&hwheel_bpf_mutex);
}

/* Does @ops ask for the wheel that @user has? */
static bool hwheel_bpf_same_wheel(const struct hwheel_bpf_user *user,
				  const struct hwheel_bpf_ops *ops)
{
	return user->flags == ops->flags && user->tick_ns == ops->tick_ns &&
	       user->gap_ns == ops->gap_ns;
}

static struct hwheel *hwheel_bpf_wheel(const struct hwheel_bpf_ops *ops)
{
	char name[HWHEEL_NAME_MAX + 1];
	const struct hwheel_config config = {
		.name		= name,
		.flags		= ops->flags,
		.tick_ns	= ops->tick_ns,
		.gap_ns		= ops->gap_ns,
	};

	if (!ops->flags && !ops->tick_ns && !ops->gap_ns)
		return hwheel_system;
	snprintf(name, sizeof(name), "bpf-%u", ops->id);
	return hwheel_create(&config);
}

/* Returns a user that is detached and has no timers, or ERR_PTR. The caller holds the mutex. */
static struct hwheel_bpf_user *hwheel_bpf_new_user(const struct hwheel_bpf_ops *ops)
{
	struct hwheel_bpf_user *user;
	int err = -ENOMEM;

	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return ERR_PTR(err);
	user->counts = alloc_percpu_gfp(struct hwheel_bpf_counts, GFP_KERNEL_ACCOUNT);
	if (!user->counts)
		goto err_user;
	user->id = ops->id;
	user->flags = ops->flags;
	user->tick_ns = ops->tick_ns;
	user->gap_ns = ops->gap_ns;
	user->wheel = hwheel_bpf_wheel(ops);
	if (IS_ERR(user->wheel)) {
		err = PTR_ERR(user->wheel);
		goto err_counts;
	}
	err = xa_err(xa_store(&hwheel_bpf_users, user->id, user, GFP_KERNEL));
	if (!err) {
		__module_get(THIS_MODULE);	/* the struct_ops map has one, too */
		return user;
	}

	if (user->wheel != hwheel_system)
		hwheel_destroy(user->wheel);
err_counts:
	free_percpu(user->counts);
err_user:
	kfree(user);
	return ERR_PTR(err);
}

/* Attach */
static int hwheel_bpf_reg(void *kdata, struct bpf_link *link)
{
	const struct hwheel_bpf_ops *ops = kdata;
	struct hwheel_bpf_user *user;
	int err = 0;

	mutex_lock(&hwheel_bpf_mutex);
	user = xa_load(&hwheel_bpf_users, ops->id);
	if (user && rcu_access_pointer(user->ops)) {
		pr_err("id %u is attached already; give this program another id\n", ops->id);
		err = -EBUSY;
		goto out;
	}
	if (user && hwheel_bpf_unused(user)) {
		/* The work has not come to it yet */
		hwheel_bpf_free_user(user);
		user = NULL;
	}
	if (!user) {
		user = hwheel_bpf_new_user(ops);
		if (IS_ERR(user)) {
			err = PTR_ERR(user);
			goto out;
		}
	} else if (!hwheel_bpf_same_wheel(user, ops)) {
		pr_err("id %u: timers of an earlier program are left in maps, on a wheel with other flags, or another tick or gap. Free the maps, or take another id\n",
		       ops->id);
		err = -EBUSY;
		goto out;
	}
	user->memcg = get_mem_cgroup_from_mm(current->mm);
	WRITE_ONCE(user->limit, ops->limit);
	rcu_assign_pointer(user->ops, ops);
out:
	mutex_unlock(&hwheel_bpf_mutex);
	return err;
}

/* Detach */
static void hwheel_bpf_unreg(void *kdata, struct bpf_link *link)
{
	const struct hwheel_bpf_ops *ops = kdata;
	struct hwheel_bpf_user *user;

	mutex_lock(&hwheel_bpf_mutex);
	user = xa_load(&hwheel_bpf_users, ops->id);
	RCU_INIT_POINTER(user->ops, NULL);
	/*
	 * After this nobody runs the program or makes a timer. Who has counted user->timers
	 * down to 0 before, and so may have seen user->ops, is seen below.
	 */
	synchronize_rcu();
	mem_cgroup_put(user->memcg);
	user->memcg = NULL;
	if (hwheel_bpf_unused(user))
		hwheel_bpf_free_user(user);
	mutex_unlock(&hwheel_bpf_mutex);
}

/* Replace the program without a gap. The kernel frees the old one after a grace period */
static int hwheel_bpf_update(void *kdata, void *old_kdata, struct bpf_link *link)
{
	const struct hwheel_bpf_ops *ops = kdata, *old = old_kdata;
	struct hwheel_bpf_user *user;
	int err = 0;

	mutex_lock(&hwheel_bpf_mutex);
	user = xa_load(&hwheel_bpf_users, old->id);
	if (ops->id != old->id || !hwheel_bpf_same_wheel(user, ops)) {
		pr_err("id %u: the new program must have the same id, flags, tick and gap\n",
		       old->id);
		err = -EINVAL;
	} else {
		WRITE_ONCE(user->limit, ops->limit);
		rcu_assign_pointer(user->ops, ops);
	}
	mutex_unlock(&hwheel_bpf_mutex);
	return err;
}

static int hwheel_bpf_validate(void *kdata)
{
	const struct hwheel_bpf_ops *ops = kdata;

	if (ops->expired)
		return 0;
	pr_err("id %u: the program expired is missing\n", ops->id);
	return -EINVAL;
}

static int hwheel_bpf_init_btf(struct btf *btf)
{
	hwheel_bpf_btf = btf;
	return 0;
}

/* expired() runs in softirq context */
static int hwheel_bpf_check_member(const struct btf_type *t, const struct btf_member *member,
				   const struct bpf_prog *prog)
{
	return prog->sleepable ? -EINVAL : 0;
}

/* Copies the members that are no functions */
static int hwheel_bpf_init_member(const struct btf_type *t, const struct btf_member *member,
				  void *kdata, const void *udata)
{
	const struct hwheel_bpf_ops *from = udata;
	struct hwheel_bpf_ops *ops = kdata;

	switch (__btf_member_bit_offset(t, member) / BITS_PER_BYTE) {
	case offsetof(struct hwheel_bpf_ops, id):
		ops->id = from->id;
		return 1;
	case offsetof(struct hwheel_bpf_ops, flags):
		ops->flags = from->flags;
		return 1;
	case offsetof(struct hwheel_bpf_ops, tick_ns):
		ops->tick_ns = from->tick_ns;
		return 1;
	case offsetof(struct hwheel_bpf_ops, gap_ns):
		ops->gap_ns = from->gap_ns;
		return 1;
	case offsetof(struct hwheel_bpf_ops, limit):
		ops->limit = from->limit;
		return 1;
	}
	return 0;
}

static bool hwheel_bpf_is_valid_access(int off, int size, enum bpf_access_type type,
				       const struct bpf_prog *prog,
				       struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(off, size, type, prog, info);
}

static const struct bpf_verifier_ops hwheel_bpf_verifier_ops = {
	.get_func_proto		= bpf_base_func_proto,
	.is_valid_access	= hwheel_bpf_is_valid_access,
};

static void hwheel_bpf_expired_stub(u64 cookie)
{
}

/* The kernel takes the types of the functions from these */
static struct hwheel_bpf_ops hwheel_bpf_stubs = {
	.expired = hwheel_bpf_expired_stub,
};

static struct bpf_struct_ops hwheel_bpf_struct_ops = {
	.verifier_ops	= &hwheel_bpf_verifier_ops,
	.init		= hwheel_bpf_init_btf,
	.check_member	= hwheel_bpf_check_member,
	.init_member	= hwheel_bpf_init_member,
	.validate	= hwheel_bpf_validate,
	.reg		= hwheel_bpf_reg,
	.unreg		= hwheel_bpf_unreg,
	.update		= hwheel_bpf_update,
	.cfi_stubs	= &hwheel_bpf_stubs,
	.name		= "hwheel_bpf_ops",
	.owner		= THIS_MODULE,
};

/* ------------------------------------------------------------------------ */
/* debugfs */

static u64 hwheel_bpf_sum(struct hwheel_bpf_user *user, enum hwheel_bpf_count what)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(user->counts, cpu)->n[what]);
	return sum;
}

/* A row for each user. It has as few users as there are programs with timers */
static int hwheel_bpf_users_show(struct seq_file *m, void *unused)
{
	struct hwheel_bpf_user *user;
	unsigned long id;
	int what;

	seq_puts(m, "# id wheel attached limit timers created expired unheard refused\n");
	mutex_lock(&hwheel_bpf_mutex);
	xa_for_each(&hwheel_bpf_users, id, user) {
		if (user->wheel == hwheel_system)
			seq_printf(m, "%u system", user->id);
		else
			seq_printf(m, "%u bpf-%u", user->id, user->id);
		seq_printf(m, " %u %llu %ld", rcu_access_pointer(user->ops) ? 1 : 0, user->limit,
			   atomic_long_read(&user->timers));
		for (what = 0; what < HWHEEL_BPF_COUNTS; what++)
			seq_printf(m, " %llu", hwheel_bpf_sum(user, what));
		seq_putc(m, '\n');
	}
	mutex_unlock(&hwheel_bpf_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hwheel_bpf_users);

/* ------------------------------------------------------------------------ */
/* The module */

static int __init hwheel_bpf_register(void)
{
	static const enum bpf_prog_type types[] = {
		BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_SYSCALL,
		BPF_PROG_TYPE_STRUCT_OPS,
	};
	const struct btf_id_dtor_kfunc dtors[] = {
		{
			.btf_id		= hwheel_bpf_dtor_ids[0],
			.kfunc_btf_id	= hwheel_bpf_dtor_ids[1],
		},
	};
	int i, err;

	/* First of all: it tells hwheel_bpf_filter() which BTF is this module's */
	err = register_bpf_struct_ops(&hwheel_bpf_struct_ops, hwheel_bpf_ops);
	if (!err && !hwheel_bpf_btf)
		err = -ENOENT;
	if (!err)
		err = register_btf_id_dtor_kfuncs(dtors, ARRAY_SIZE(dtors), THIS_MODULE);
	for (i = 0; i < ARRAY_SIZE(types) && !err; i++)
		err = register_btf_kfunc_id_set(types[i], &hwheel_bpf_kfuncs);
	return err;
}

static int __init hwheel_bpf_init(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu) {
		struct hwheel_bpf_deferred *deferred = per_cpu_ptr(&hwheel_bpf_deferred, cpu);

		init_llist_head(&deferred->list);
		init_irq_work(&deferred->work, hwheel_bpf_irq_work);
	}
	hwheel_bpf_cache = KMEM_CACHE(bpf_hwheel, SLAB_HWCACHE_ALIGN);
	if (!hwheel_bpf_cache)
		return -ENOMEM;
	/* Once this has succeeded, programs may use the module. The kernel undoes it at unload */
	err = hwheel_bpf_register();
	if (err) {
		pr_err("can't register with BPF (error %d). Was this module built with BTF? That takes kernel headers with a vmlinux, and pahole\n",
		       err);
		kmem_cache_destroy(hwheel_bpf_cache);
		return err;
	}
	hwheel_bpf_dir = debugfs_create_dir("hwheel_bpf", NULL);
	debugfs_create_file("users", 0400, hwheel_bpf_dir, NULL, &hwheel_bpf_users_fops);
	return 0;
}

/* No user is left: see "Unloading" */
static void __exit hwheel_bpf_exit(void)
{
	int cpu;

	debugfs_remove(hwheel_bpf_dir);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&hwheel_bpf_deferred, cpu)->work);
	rcu_barrier();
	hwheel_synchronize(hwheel_system);
	flush_work(&hwheel_bpf_reap_work);
	kmem_cache_destroy(hwheel_bpf_cache);
}

module_init(hwheel_bpf_init);
module_exit(hwheel_bpf_exit);

MODULE_DESCRIPTION("Timers of hwheel for BPF programs");
MODULE_LICENSE("GPL");
