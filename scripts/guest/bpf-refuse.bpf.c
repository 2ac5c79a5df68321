// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that the kernel must refuse, and some that it must not. The name of a program begins
 * with refuse_ or accept_. bpf-test.c tries them one at a time.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "hwheel.bpf.h"

struct value {
	struct hwheel_slot slot;
	__u64 other;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct value);
} array SEC(".maps");

static __always_inline struct value *value(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&array, &zero);
}

SEC("?xdp")
int accept_xdp(struct xdp_md *ctx)
{
	struct value *v = value();

	if (v && !hwheel_restart(&v->slot, 1, 5))
		hwheel_start(&v->slot, 1, 5);
	return XDP_PASS;
}

SEC("?tc")
int accept_tc(struct __sk_buff *ctx)
{
	struct value *v = value();

	if (v && !hwheel_restart_at(&v->slot, 1, 5))
		hwheel_stop(&v->slot, 1);
	return 0;
}

SEC("?syscall")
int accept_syscall(void *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create_for(1, 2);

	if (t) {
		bpf_hwheel_add_range(t, 5, 6);
		bpf_hwheel_release(t);
	}
	return 0;
}

/* The program ends and still owns a timer */
SEC("?xdp")
int refuse_leak(struct xdp_md *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	if (t)
		bpf_hwheel_add(t, 5);
	return XDP_PASS;
}

/* It throws away what came out of the map */
SEC("?xdp")
int refuse_leak_old(struct xdp_md *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);
	struct value *v = value();

	if (!t)
		return XDP_PASS;
	if (v)
		bpf_kptr_xchg(&v->slot.timer, t);
	else
		bpf_hwheel_release(t);
	return XDP_PASS;
}

SEC("?xdp")
int refuse_use_after_release(struct xdp_md *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	if (!t)
		return XDP_PASS;
	bpf_hwheel_release(t);
	bpf_hwheel_add(t, 5);
	return XDP_PASS;
}

SEC("?xdp")
int refuse_double_release(struct xdp_md *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	if (!t)
		return XDP_PASS;
	bpf_hwheel_release(t);
	bpf_hwheel_release(t);
	return XDP_PASS;
}

/* The map owns it already */
SEC("?xdp")
int refuse_release_after_put(struct xdp_md *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1), *old;
	struct value *v = value();

	if (!t)
		return XDP_PASS;
	if (!v) {
		bpf_hwheel_release(t);
		return XDP_PASS;
	}
	old = bpf_kptr_xchg(&v->slot.timer, t);
	if (old)
		bpf_hwheel_release(old);
	bpf_hwheel_release(t);
	return XDP_PASS;
}

SEC("?xdp")
int refuse_no_null_check(struct xdp_md *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	bpf_hwheel_add(t, 5);
	if (t)
		bpf_hwheel_release(t);
	return XDP_PASS;
}

/* A timer that is in a map may go at any time */
SEC("?xdp")
int refuse_borrowed(struct xdp_md *ctx)
{
	struct value *v = value();
	struct bpf_hwheel *t;

	if (!v)
		return XDP_PASS;
	t = v->slot.timer;
	if (t)
		bpf_hwheel_add(t, 5);
	return XDP_PASS;
}

SEC("?xdp")
int refuse_number(struct xdp_md *ctx)
{
	bpf_hwheel_add((struct bpf_hwheel *)4096, 5);
	return XDP_PASS;
}

SEC("?xdp")
int refuse_write(struct xdp_md *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	if (!t)
		return XDP_PASS;
	t->cookie = 2;
	bpf_hwheel_release(t);
	return XDP_PASS;
}

SEC("?tp_btf/hrtimer_start")
int refuse_tracing(void *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	if (t)
		bpf_hwheel_release(t);
	return 0;
}

SEC("?kprobe/schedule")
int refuse_kprobe(void *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	if (t)
		bpf_hwheel_release(t);
	return 0;
}

/* A struct_ops of the kernel, not of hwheel_bpf.ko */
SEC("?struct_ops/ssthresh")
__u32 refuse_other_struct_ops(void *ctx)
{
	struct bpf_hwheel *t = bpf_hwheel_create(1);

	if (t)
		bpf_hwheel_release(t);
	return 2;
}

SEC("?struct_ops/undo_cwnd")
__u32 accept_undo_cwnd(void *ctx)
{
	return 2;
}

SEC("?struct_ops/cong_avoid")
void accept_cong_avoid(void *ctx)
{
}

SEC("?.struct_ops")
struct tcp_congestion_ops congestion = {
	.ssthresh	= (void *)refuse_other_struct_ops,
	.undo_cwnd	= (void *)accept_undo_cwnd,
	.cong_avoid	= (void *)accept_cong_avoid,
	.name		= "refuse",
};

SEC("?struct_ops.s/expired")
void refuse_sleepable(void *ctx)
{
}

SEC("?.struct_ops.link")
struct hwheel_bpf_ops sleepable = {
	.expired = (void *)refuse_sleepable,
};

SEC("?.struct_ops.link")
struct hwheel_bpf_ops refuse_nothing = {
	.id = 1,
};

char LICENSE[] SEC("license") = "GPL";
