// SPDX-License-Identifier: GPL-2.0
/*
 * The table of flows.bpf.c, without timers. To compare: a program in user space reads the whole
 * table again and again, and deletes the flows that have been idle for too long
 */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "flows.h"
#include "flows_parse.h"

struct flow {
	struct flow_head head;
};

/* The key is a hash of the tuple */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FLOWS_MAX);
	__type(key, __u64);
	__type(value, struct flow);
} flows SEC(".maps");

static __always_inline void flow_open(const struct flow_packet *p, __u64 now)
{
	struct flow new = {};
	__u64 key = p->key;

	flow_update(&new.head, p, now);
	/* It fails if the table is full, and if another CPU has opened the flow just now */
	if (bpf_map_update_elem(&flows, &key, &new, BPF_NOEXIST)) {
		flow_count(FLOW_FULL);
		return;
	}
	flow_count(FLOW_CREATED);
}

static __always_inline void flow_packet(const struct flow_packet *p)
{
	__u64 now = bpf_ktime_get_ns(), key = p->key;
	struct flow *flow = bpf_map_lookup_elem(&flows, &key);

	flow_count(FLOW_PACKETS);
	if (!flow)
		flow_open(p, now);
	else if (!flow_same(&flow->head.tuple, &p->tuple))
		flow_count(FLOW_COLLISIONS);
	else
		flow_update(&flow->head, p, now);
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

char LICENSE[] SEC("license") = "GPL";
