// SPDX-License-Identifier: GPL-2.0
/* The table of flows.bpf.c, with a bpf_timer in each flow. To compare */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "flows.h"
#include "flows_parse.h"

#define CLOCK_MONOTONIC		1

struct flow {
	struct flow_head head;
	struct bpf_timer timer;
};

/* The key is a hash of the tuple */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FLOWS_MAX);
	__type(key, __u64);
	__type(value, struct flow);
} flows SEC(".maps");

static int flow_expired(void *map, __u64 *key, struct flow *flow)
{
	__u64 end = flow->head.last_ns + flow_timeout(&flow->head);

	/* A packet on another CPU may come when the timer has just expired */
	if (bpf_ktime_get_ns() < end) {
		bpf_timer_start(&flow->timer, end, BPF_F_TIMER_ABS);
		flow_count(FLOW_KEPT);
		return 0;
	}
	flow_tell(&flow->head);
	bpf_map_delete_elem(map, key);
	return 0;
}

static __always_inline void flow_open(const struct flow_packet *p, __u64 now)
{
	struct flow new = {}, *flow;
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
	if (!bpf_timer_init(&flow->timer, &flows, CLOCK_MONOTONIC) &&
	    !bpf_timer_set_callback(&flow->timer, flow_expired) &&
	    !bpf_timer_start(&flow->timer, now + flow_timeout(&new.head), BPF_F_TIMER_ABS)) {
		flow_count(FLOW_CREATED);
	} else {
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
		if (bpf_timer_start(&flow->timer, now + flow_timeout(&flow->head),
				    BPF_F_TIMER_ABS))
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

char LICENSE[] SEC("license") = "GPL";
