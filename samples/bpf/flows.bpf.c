// SPDX-License-Identifier: GPL-2.0
/*
 * A table of flows in XDP, whose flows end on time
 *
 * Each flow has a timer of hwheel. Each packet of the flow arms the timer again for the timeout
 * of the flow's state. When the timer expires, flow_expired() deletes the flow.
 *
 * flows_timer.bpf.c does the same with bpf_timer, flows_sweep.bpf.c with a sweep from user space.
 */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "hwheel.bpf.h"
#include "flows.h"
#include "flows_parse.h"

struct flow {
	struct flow_head head;
	struct hwheel_slot slot;
};

/* The key is a hash of the tuple. It is also the cookie of the flow's timer */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FLOWS_MAX);
	__type(key, __u64);
	__type(value, struct flow);
} flows SEC(".maps");

static __always_inline void flow_open(const struct flow_packet *p, __u64 now)
{
	struct flow new = { .slot = HWHEEL_SLOT(p->key) }, *flow;
	__u64 key = p->key;

	flow_update(&new.head, p, now);
	/* It fails if the table is full, and if another CPU has opened the flow just now */
	if (bpf_map_update_elem(&flows, &key, &new, BPF_NOEXIST)) {
		flow_count(FLOW_FULL);
		return;
	}
	flow = bpf_map_lookup_elem(&flows, &key);
	if (!flow)
		return;
	if (hwheel_start(&flow->slot, key, flow_timeout(&new.head))) {
		flow_count(FLOW_CREATED);
	} else {
		/* There is no memory for a timer. A flow without one would never end */
		bpf_map_delete_elem(&flows, &key);
		flow_count(FLOW_FULL);
	}
}

static __always_inline void flow_packet(const struct flow_packet *p)
{
	__u64 now = bpf_ktime_get_ns(), key = p->key;
	struct flow *flow = bpf_map_lookup_elem(&flows, &key);

	flow_count(FLOW_PACKETS);
	if (!flow) {
		flow_open(p, now);
	} else if (!flow_same(&flow->head.tuple, &p->tuple)) {
		flow_count(FLOW_COLLISIONS);
	} else {
		flow_update(&flow->head, p, now);
		if (!hwheel_restart_at(&flow->slot, key, now + flow_timeout(&flow->head)))
			flow_count(FLOW_BUSY);
	}
}

SEC("xdp")
int flows_xdp(struct xdp_md *ctx)
{
	struct flow_packet p;

	if (flow_parse(ctx, &p))
		flow_packet(&p);
	else
		flow_count(FLOW_OTHER);
	return XDP_PASS;
}

SEC("struct_ops/flow_expired")
void BPF_PROG(flow_expired, __u64 key)
{
	struct flow *flow = bpf_map_lookup_elem(&flows, &key);

	if (!flow)
		return;
	if (!hwheel_ended(&flow->slot, key)) {
		flow_count(FLOW_KEPT);
		return;
	}
	flow_tell(&flow->head);
	bpf_map_delete_elem(&flows, &key);
}

SEC(".struct_ops.link")
struct hwheel_bpf_ops flow_ops = {
	.expired = (void *)flow_expired,
};

char LICENSE[] SEC("license") = "GPL";
