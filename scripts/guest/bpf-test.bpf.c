// SPDX-License-Identifier: GPL-2.0
/* The programs of bpf-test.c: user space calls them for many values of a table at once */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "hwheel.bpf.h"
#include "bpf-test.h"

struct value {
	struct hwheel_slot slot;
	__u64 due_ns;		/* when the timer should expire */
	__u64 rounds;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 20);
	__type(key, __u64);
	__type(value, struct value);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct test_counts);
} counts SEC(".maps");

/* For bpf-fuzz: its programs exchange the timers of these slots. Cookies: FUZZ_COOKIE and more */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FUZZ_SLOTS);
	__type(key, __u32);
	__type(value, struct hwheel_slot);
} slots SEC(".maps");

const volatile __u32 test_id;
__u32 mode;
__u64 rearm_ns;
bool trace_deletes;
__u64 trace_key;

static __always_inline struct test_counts *test_counts(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

static long do_start(__u64 i, struct test_args *args)
{
	__u64 key = args->first + i, ns = args->ns + i * args->step_ns;
	struct value new = { .rounds = args->rounds, .slot = HWHEEL_SLOT(key) }, *value;

	if (bpf_map_update_elem(&table, &key, &new, BPF_NOEXIST))
		return 0;
	value = bpf_map_lookup_elem(&table, &key);
	if (!value)
		return 0;
	value->due_ns = bpf_ktime_get_ns() + ns;
	if (hwheel_start_for(&value->slot, key, args->id, ns))
		args->done++;
	else
		bpf_map_delete_elem(&table, &key);
	return 0;
}

static long do_restart(__u64 i, struct test_args *args)
{
	__u64 key = args->first + i, ns = args->ns + i * args->step_ns;
	struct value *value = bpf_map_lookup_elem(&table, &key);

	if (!value)
		return 0;
	value->due_ns = bpf_ktime_get_ns() + ns;
	args->done += hwheel_restart(&value->slot, key, ns);
	return 0;
}

static long do_cancel(__u64 i, struct test_args *args)
{
	__u64 key = args->first + i;
	struct value *value = bpf_map_lookup_elem(&table, &key);
	struct bpf_hwheel *t;

	if (!value)
		return 0;
	t = hwheel_take(&value->slot, key);
	if (!t)
		return 0;
	args->done += bpf_hwheel_pending(t) && bpf_hwheel_remaining(t) <= args->ns &&
		      bpf_hwheel_cancel(t) && !bpf_hwheel_pending(t) && !bpf_hwheel_cancel(t);
	hwheel_put(&value->slot, t);
	return 0;
}

static long do_stop(__u64 i, struct test_args *args)
{
	__u64 key = args->first + i;
	struct value *value = bpf_map_lookup_elem(&table, &key);

	if (value && hwheel_stop(&value->slot, key)) {
		bpf_map_delete_elem(&table, &key);
		args->done++;
	}
	return 0;
}

/* A random call for a random value */
static long do_churn(__u64 i, struct test_args *args)
{
	__u64 key, ns;
	struct value new = { .rounds = args->rounds }, *value;

	args->seed = args->seed * 1664525 + 1013904223;
	key = args->first + (args->seed >> 8) % (args->step_ns ?: 1);
	ns = (args->seed >> 4) % (args->ns ?: 1);
	value = bpf_map_lookup_elem(&table, &key);
	if (!value) {
		new.slot.cookie = key;
		if (bpf_map_update_elem(&table, &key, &new, BPF_NOEXIST))
			return 0;
		value = bpf_map_lookup_elem(&table, &key);
		if (!value)
			return 0;
		if (!hwheel_start_for(&value->slot, key, args->id, ns))
			bpf_map_delete_elem(&table, &key);
	} else if (args->seed >> 29) {
		hwheel_restart(&value->slot, key, ns);
	} else if (hwheel_stop(&value->slot, key)) {
		bpf_map_delete_elem(&table, &key);
	}
	args->done++;
	return 0;
}

#define TEST_PROGRAM(name)						\
SEC("syscall")								\
int name(struct test_args *ctx)						\
{									\
	struct test_args args = *ctx;					\
									\
	bpf_loop(args.n, do_##name, &args, 0);				\
	ctx->done = args.done;						\
	return 0;							\
}

TEST_PROGRAM(start)
TEST_PROGRAM(restart)
TEST_PROGRAM(cancel)
TEST_PROGRAM(stop)
TEST_PROGRAM(churn)

/* The same calls in XDP and TC programs. They take the arguments from here */
struct test_args shared;

SEC("xdp")
int churn_xdp(struct xdp_md *ctx)
{
	struct test_args args = shared;

	args.seed ^= bpf_get_prandom_u32();
	bpf_loop(args.n, do_churn, &args, 0);
	return XDP_PASS;
}

SEC("tc")
int churn_tc(struct __sk_buff *ctx)
{
	struct test_args args = shared;

	args.seed ^= bpf_get_prandom_u32();
	bpf_loop(args.n, do_churn, &args, 0);
	return 0;
}

/* Arm the timer of @value again, or put a new one in its place */
static __always_inline bool again(struct value *value, __u64 key)
{
	struct bpf_hwheel *t;

	value->due_ns = 0;
	if (mode == MODE_REARM)
		return hwheel_again(&value->slot, key, rearm_ns);
	t = bpf_hwheel_create_for(key, test_id);
	if (!t)
		return false;
	bpf_hwheel_add_at(t, bpf_ktime_get_ns() + rearm_ns);
	hwheel_put(&value->slot, t);
	return true;
}

/* expired() for bpf-fuzz: a random timer is armed, cancelled, released or replaced */
static __noinline int expired_fuzz(__u64 key)
{
	__u32 random = bpf_get_prandom_u32(), index = random % FUZZ_SLOTS;
	struct hwheel_slot *slot = bpf_map_lookup_elem(&slots, &index);
	struct bpf_hwheel *t;

	if (!slot)
		return 0;
	if (random & 0x1000)
		t = bpf_kptr_xchg(&slot->timer, NULL);
	else
		t = bpf_hwheel_create_for(FUZZ_COOKIE + index, test_id);
	if (!t)
		return 0;
	if (random & 0x2000)
		bpf_hwheel_add(t, (random >> 16) * 64);
	if (random & 0x4000)
		bpf_hwheel_cancel(t);
	if (random & 0x8000)
		t = bpf_kptr_xchg(&slot->timer, t);
	if (t)
		bpf_hwheel_release(t);
	return 0;
}

SEC("struct_ops/expired")
void BPF_PROG(expired, __u64 key)
{
	struct value *value = bpf_map_lookup_elem(&table, &key);
	struct test_counts *n = test_counts();
	__u64 now = bpf_ktime_get_ns();

	if (!n)
		return;
	n->expired++;
	if (key >= FUZZ_COOKIE) {
		expired_fuzz(key);
		return;
	}
	if (!value) {
		n->unknown++;
		return;
	}
	if (mode == MODE_KEEP)
		return;
	if ((mode == MODE_REARM || mode == MODE_REPLACE) && value->rounds) {
		if (again(value, key))
			value->rounds--;
		return;
	}
	if (!hwheel_ended(&value->slot, key))
		return;
	if (value->due_ns) {
		if (now < value->due_ns)
			n->early++;
		else if (now - value->due_ns > n->max_late_ns)
			n->max_late_ns = now - value->due_ns;
	}
	n->ended++;
	bpf_map_delete_elem(&table, &key);
}

SEC("struct_ops/expired_other")
void BPF_PROG(expired_other, __u64 key)
{
	struct value *value = bpf_map_lookup_elem(&table, &key);
	struct test_counts *n = test_counts();

	if (n)
		n->other++;
	if (key >= FUZZ_COOKIE)
		expired_fuzz(key);
	if (value && hwheel_ended(&value->slot, key))
		bpf_map_delete_elem(&table, &key);
}

SEC(".struct_ops.link")
struct hwheel_bpf_ops ops = {
	.expired = (void *)expired,
};

SEC(".struct_ops.link")
struct hwheel_bpf_ops other = {
	.expired = (void *)expired_other,
};

/* Deletes values, with their timers, under the lock of the hrtimers and with interrupts off */
SEC("tp_btf/hrtimer_start")
int BPF_PROG(trace_hrtimer)
{
	struct test_counts *n;
	__u64 key;

	if (!trace_deletes)
		return 0;
	key = __sync_fetch_and_add(&trace_key, 1);
	n = test_counts();
	if (!bpf_map_delete_elem(&table, &key) && n)
		n->traced++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
