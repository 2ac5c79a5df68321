/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers of hwheel, for BPF programs
 *
 * For programs of the types XDP, SCHED_CLS (tc) and SYSCALL on a kernel with hwheel_bpf.ko. See
 * Documentation/bpf.rst. Include it after vmlinux.h and bpf/bpf_helpers.h:
 *
 *	struct flow {
 *		__u64 packets;
 *		struct hwheel_slot slot;
 *	};
 *
 *	struct flow new = { .slot = HWHEEL_SLOT(key) };		a value to insert into the map
 *	hwheel_start(&flow->slot, key, 30 * HWHEEL_SEC);	once it is in the map
 *	hwheel_restart(&flow->slot, key, 30 * HWHEEL_SEC);	a packet of a known flow
 *	if (hwheel_stop(&flow->slot, key))			the flow is over
 *		bpf_map_delete_elem(&flows, &key);
 *
 *	SEC("struct_ops/expired")
 *	void BPF_PROG(expired, __u64 key)
 *	{
 *		struct flow *flow = bpf_map_lookup_elem(&flows, &key);
 *
 *		if (flow && hwheel_ended(&flow->slot, key))
 *			bpf_map_delete_elem(&flows, &key);
 *	}
 *
 *	SEC(".struct_ops.link")
 *	struct hwheel_bpf_ops ops = { .expired = (void *)expired };
 *
 * The timer of a flow has one owner at a time: the map, or a program that works with the timer.
 * So a program takes the timer out of the map, uses it, and puts it back. The functions below
 * do that. A program on another CPU that comes meanwhile finds no timer. It then leaves the
 * flow alone, because the timer is being armed for about the same time just now.
 *
 * If the timer expires while a program holds it, expired() finds no timer, too. Then expired()
 * sets slot->missed, and the program that puts the timer back arms it again. Both look once
 * more after they have written, so one of the two sees the other.
 *
 * A program deletes a value only after hwheel_stop() or hwheel_ended() has returned true. Else
 * the value has a timer, or another CPU is about to put one into it.
 *
 * A map uses the memory of a deleted value again at once. So a program on another CPU may hold
 * a pointer to a value whose key has changed, and in Linux 7.x the new value may even find the
 * timer of the deleted one. Cookies tell: the timer has the cookie that it was made with, and
 * the slot has the one of the value that is there now. A timer that does not match its slot is
 * released, and one that matches the slot but not the caller is left alone.
 */
#ifndef _HWHEEL_BPF_H
#define _HWHEEL_BPF_H

#define HWHEEL_USEC	1000ULL
#define HWHEEL_MSEC	1000000ULL
#define HWHEEL_SEC	1000000000ULL

/* A timer. It has more members, which are the kernel's */
struct bpf_hwheel {
	__u64 cookie;
} __attribute__((preserve_access_index));

/* The place of a timer in a value of a map. A new value begins with HWHEEL_SLOT(cookie) */
struct hwheel_slot {
	struct bpf_hwheel __kptr *timer;
	__u64 cookie;
	__u64 missed;
};

#define HWHEEL_SLOT(_cookie)	{ .cookie = (_cookie) }

/* As in hwheel.h */
#define HWHEEL_DEFERRABLE	(1 << 9)
#define HWHEEL_BOOTTIME		(1 << 10)
#define HWHEEL_REALTIME		(1 << 11)
#define HWHEEL_TAI		(1 << 12)

/*
 * What a struct_ops map gives to hwheel. In each member but @expired, 0 asks for the default.
 *
 * expired	a timer has expired. @cookie is the number that the timer was made with. Runs in
 *		softirq context, on several CPUs at a time. Must not sleep
 * id		number of this user of timers, for bpf_hwheel_create_for(). Two programs that are
 *		attached at the same time have different ids
 * flags	HWHEEL_BOOTTIME, HWHEEL_REALTIME or HWHEEL_TAI; default: CLOCK_MONOTONIC.
 *		HWHEEL_DEFERRABLE: wake no idle CPU
 * tick_ns	a timer may be late by a tick; 1000 or more; default: 1 ms
 * gap_ns	the least time between two interrupts of the wheel on a CPU; default: no gap
 * limit	the largest number of timers; default: no limit. Counts a timer until its memory is
 *		free, some milliseconds after its release
 */
struct hwheel_bpf_ops {
	void (*expired)(__u64 cookie);
	__u32 id;
	__u32 flags;
	__u64 tick_ns;
	__u64 gap_ns;
	__u64 limit;
};

/*
 * Make a timer that is not armed. NULL if no program with this id (bpf_hwheel_create(): 0) is
 * attached, at the limit, and without memory. You own the timer: put it into a map, or release
 * it.
 */
extern struct bpf_hwheel *bpf_hwheel_create(__u64 cookie) __ksym;
extern struct bpf_hwheel *bpf_hwheel_create_for(__u64 cookie, __u32 id) __ksym;

/* Cancel a timer and free it. Does not wait if expired() runs for it already */
extern void bpf_hwheel_release(struct bpf_hwheel *t) __ksym;

/*
 * Arm or re-arm a timer: for @ns nanoseconds from now; for an instant of those from there to
 * @slack later; for an instant on the wheel's clock, as bpf_ktime_get_ns() reads it. True: it
 * was pending
 */
extern bool bpf_hwheel_add(struct bpf_hwheel *t, __u64 ns) __ksym;
extern bool bpf_hwheel_add_range(struct bpf_hwheel *t, __u64 ns, __u64 slack) __ksym;
extern bool bpf_hwheel_add_at(struct bpf_hwheel *t, __u64 ns) __ksym;

/* Cancel a timer. True: it was pending, and will not expire */
extern bool bpf_hwheel_cancel(struct bpf_hwheel *t) __ksym;

/* Is a timer armed? And for how many nanoseconds from now (less than 0: that time has passed)? */
extern bool bpf_hwheel_pending(struct bpf_hwheel *t) __ksym;
extern __s64 bpf_hwheel_remaining(struct bpf_hwheel *t) __ksym;

static __always_inline __u64 hwheel_read(const __u64 *p)
{
	return *(const volatile __u64 *)p;
}

static __always_inline void hwheel_write(__u64 *p, __u64 n)
{
	*(volatile __u64 *)p = n;
}

/*
 * Somebody came while a program held the timer of @slot: expired(), or one who put a timer
 * there, too. If the timer there has expired meanwhile, arm it: expired() is called once more.
 */
static __noinline int hwheel_look_again(struct hwheel_slot *slot)
{
	struct bpf_hwheel *t;
	__u64 ns = HWHEEL_USEC;
	int i;

	if (!slot)
		return 0;
	for (i = 0; i < 6 && hwheel_read(&slot->missed); i++) {
		hwheel_write(&slot->missed, 0);
		t = bpf_kptr_xchg(&slot->timer, NULL);
		if (!t)
			break;	/* another program has it, and puts it back armed */
		if (t->cookie != hwheel_read(&slot->cookie)) {
			bpf_hwheel_release(t);
			break;
		}
		if (!bpf_hwheel_pending(t))
			bpf_hwheel_add(t, ns);
		t = bpf_kptr_xchg(&slot->timer, t);
		if (t) {
			bpf_hwheel_release(t);
			hwheel_write(&slot->missed, 1);
		}
		ns *= 8;	/* in the end longer than anything holds up this program */
	}
	return 0;
}

/* Put @t into @slot. If another timer is there, the one that matches the slot stays */
static __always_inline void hwheel_put(struct hwheel_slot *slot, struct bpf_hwheel *t)
{
	t = bpf_kptr_xchg(&slot->timer, t);
	if (t) {
		if (t->cookie == hwheel_read(&slot->cookie))
			t = bpf_kptr_xchg(&slot->timer, t);
		if (t)
			bpf_hwheel_release(t);
		hwheel_write(&slot->missed, 1);
	}
	/* The exchange is a full barrier. It pairs with the one in hwheel_claim() */
	if (hwheel_read(&slot->missed))
		hwheel_look_again(slot);
}

/* Take the timer out of @slot. NULL if there is none with this cookie */
static __always_inline struct bpf_hwheel *hwheel_take(struct hwheel_slot *slot, __u64 cookie)
{
	struct bpf_hwheel *t = bpf_kptr_xchg(&slot->timer, NULL);

	if (!t || t->cookie == cookie)
		return t;
	if (t->cookie == hwheel_read(&slot->cookie))
		hwheel_put(slot, t);
	else
		bpf_hwheel_release(t);
	return NULL;
}

/* hwheel_take() for expired(). NULL: whoever holds the timer puts it back armed */
static __always_inline struct bpf_hwheel *hwheel_claim(struct hwheel_slot *slot, __u64 cookie)
{
	struct bpf_hwheel *t = hwheel_take(slot, cookie);

	if (t)
		return t;
	hwheel_write(&slot->missed, 1);
	/* The exchange is a full barrier. It pairs with the one in hwheel_put() */
	return hwheel_take(slot, cookie);
}

/*
 * hwheel_start_for - give a new value of a map a timer, and arm it
 * @slot: the value's slot, in the map
 * @cookie: the cookie of the slot. expired() gets this number. It must name the value: two
 *	values have different cookies
 * @id: the id of the struct_ops map with expired()
 * @ns: nanoseconds from now
 *
 * Only the program that has inserted the value calls this.
 *
 * Return: false if there is no timer: see bpf_hwheel_create(). Then delete the value. Also
 * false if the slot does not have this cookie.
 */
static __always_inline bool hwheel_start_for(struct hwheel_slot *slot, __u64 cookie, __u32 id,
					     __u64 ns)
{
	struct bpf_hwheel *t;

	if (hwheel_read(&slot->cookie) != cookie)
		return false;
	t = bpf_hwheel_create_for(cookie, id);
	if (!t)
		return false;
	bpf_hwheel_add(t, ns);
	hwheel_put(slot, t);
	return true;
}

/* hwheel_start_for() for id 0 */
static __always_inline bool hwheel_start(struct hwheel_slot *slot, __u64 cookie, __u64 ns)
{
	return hwheel_start_for(slot, cookie, 0, ns);
}

/*
 * hwheel_restart - arm the timer of a value again
 * @slot: the value's slot
 * @cookie: as in hwheel_start_for()
 * @ns: nanoseconds from now
 *
 * Return: false if no timer with this cookie is there: the value has none yet, is another one by
 * now, or another CPU works with its timer.
 */
static __always_inline bool hwheel_restart(struct hwheel_slot *slot, __u64 cookie, __u64 ns)
{
	struct bpf_hwheel *t = hwheel_take(slot, cookie);

	if (!t)
		return false;
	bpf_hwheel_add(t, ns);
	hwheel_put(slot, t);
	return true;
}

/*
 * hwheel_restart_at - arm the timer of a value again, for an instant
 * @slot: the value's slot
 * @cookie: as in hwheel_start_for()
 * @ns: the instant on the wheel's clock, as bpf_ktime_get_ns() reads it
 *
 * Cheaper than hwheel_restart() if you have read the clock already.
 *
 * Return: as hwheel_restart().
 */
static __always_inline bool hwheel_restart_at(struct hwheel_slot *slot, __u64 cookie, __u64 ns)
{
	struct bpf_hwheel *t = hwheel_take(slot, cookie);

	if (!t)
		return false;
	bpf_hwheel_add_at(t, ns);
	hwheel_put(slot, t);
	return true;
}

/*
 * hwheel_stop - cancel and release the timer of a value
 * @slot: the value's slot
 * @cookie: as in hwheel_start_for()
 *
 * Return: true if the value may be deleted. False if no timer is there: another CPU works with
 * it just now. Then leave the value to its timer.
 */
static __always_inline bool hwheel_stop(struct hwheel_slot *slot, __u64 cookie)
{
	struct bpf_hwheel *t = hwheel_take(slot, cookie);

	if (!t)
		return false;
	bpf_hwheel_release(t);
	return true;
}

/*
 * hwheel_ended - in expired(): is the value's time really over?
 * @slot: the value's slot
 * @cookie: the cookie that expired() got
 *
 * A packet on another CPU may arm the timer again when it has just expired. Then the value must
 * stay. If its time is over, the timer is released.
 *
 * Return: true if the time is over: delete the value. False if the timer is armed again, or if
 * another CPU is about to arm it.
 */
static __always_inline bool hwheel_ended(struct hwheel_slot *slot, __u64 cookie)
{
	struct bpf_hwheel *t = hwheel_claim(slot, cookie);

	if (!t)
		return false;
	if (bpf_hwheel_pending(t)) {
		hwheel_put(slot, t);
		return false;
	}
	bpf_hwheel_release(t);
	return true;
}

/*
 * hwheel_again - in expired(): arm the timer again, if nobody else has
 * @slot: the value's slot
 * @cookie: the cookie that expired() got
 * @ns: nanoseconds from now
 *
 * Return: true if the timer was not pending, and is armed for @ns now. False if it is armed again
 * already, or if another CPU is about to arm it.
 */
static __always_inline bool hwheel_again(struct hwheel_slot *slot, __u64 cookie, __u64 ns)
{
	struct bpf_hwheel *t = hwheel_claim(slot, cookie);
	bool idle;

	if (!t)
		return false;
	idle = !bpf_hwheel_pending(t);
	if (idle)
		bpf_hwheel_add(t, ns);
	hwheel_put(slot, t);
	return idle;
}

#endif /* _HWHEEL_BPF_H */
