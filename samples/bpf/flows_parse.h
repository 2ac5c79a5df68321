/* SPDX-License-Identifier: GPL-2.0 */
/* Which flow a packet belongs to, and what it does to the flow's state. Included by BPF programs */
#ifndef _FLOWS_PARSE_H
#define _FLOWS_PARSE_H

#define ETH_P_IP	0x0800

/* Timeouts by state. The loader may change them before it loads the program */
const volatile __u64 flow_timeout_ns[FLOW_STATES] = {
	[FLOW_NEW]		= 30000000000,
	[FLOW_REPLIED]		= 120000000000,
	[FLOW_TCP_NEW]		= 60000000000,
	[FLOW_TCP_OPEN]		= 7200000000000,
	[FLOW_TCP_CLOSING]	= 10000000000,
	[FLOW_ICMP]		= 10000000000,
};

/* The loader sets it to a random number, so that nobody can make keys collide on purpose */
const volatile __u64 flow_seed = 0x9e3779b97f4a7c15;

/* Whether the loader wants an event for each flow that ends */
const volatile bool flow_report;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FLOW_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} flow_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} flow_events SEC(".maps");

struct flow_packet {
	struct flow_tuple tuple;
	__u64 key;
	bool reply;		/* it goes from the greater end to the smaller one */
	bool fin, syn;		/* TCP: FIN or RST; SYN */
};

static __always_inline void flow_count(enum flow_count what)
{
	__u32 index = what;
	__u64 *n = bpf_map_lookup_elem(&flow_counts, &index);

	if (n)
		(*n)++;
}

static __always_inline __u64 flow_mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	return h ^ (h >> 32);
}

/* Two flows of a full table have the same key with a probability of 1 to 30 million */
static __always_inline __u64 flow_key(const struct flow_tuple *t)
{
	__u64 h = flow_seed;

	h = flow_mix(h, (__u64)t->address[0] << 32 | t->address[1]);
	h = flow_mix(h, (__u64)t->port[0] << 32 | t->port[1] << 8 | t->protocol);
	return flow_mix(h, flow_seed);
}

/* Find the flow of an Ethernet frame. False if it belongs to none */
static __always_inline bool flow_parse(struct xdp_md *ctx, struct flow_packet *p)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 from, to;
	__u16 from_port = 0, to_port = 0;
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	void *next = ip + 1;

	if (next > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->ihl != 5 ||
	    (ip->frag_off & bpf_htons(0x1fff)))
		return false;
	from = ip->saddr;
	to = ip->daddr;
	p->fin = false;
	p->syn = false;
	if (ip->protocol == IPPROTO_TCP) {
		struct tcphdr *tcp = next;

		if ((void *)(tcp + 1) > end)
			return false;
		from_port = tcp->source;
		to_port = tcp->dest;
		p->fin = tcp->fin || tcp->rst;
		p->syn = tcp->syn;
	} else if (ip->protocol == IPPROTO_UDP) {
		struct udphdr *udp = next;

		if ((void *)(udp + 1) > end)
			return false;
		from_port = udp->source;
		to_port = udp->dest;
	} else if (ip->protocol != IPPROTO_ICMP) {
		return false;
	}

	p->reply = from > to || (from == to && from_port > to_port);
	p->tuple = (struct flow_tuple) {
		.address	= { p->reply ? to : from, p->reply ? from : to },
		.port		= { p->reply ? to_port : from_port,
				    p->reply ? from_port : to_port },
		.protocol	= ip->protocol,
	};
	p->key = flow_key(&p->tuple);
	return true;
}

static __always_inline bool flow_same(const struct flow_tuple *a, const struct flow_tuple *b)
{
	return a->address[0] == b->address[0] && a->address[1] == b->address[1] &&
	       a->port[0] == b->port[0] && a->port[1] == b->port[1] && a->protocol == b->protocol;
}

/* Write the packet @p into @flow: it changes the flow's state. The flow may be new, all zeroes */
static __always_inline void flow_update(struct flow_head *flow, const struct flow_packet *p,
					__u64 now)
{
	if (!flow->packets++) {
		flow->tuple = p->tuple;
		flow->reply = p->reply;
	}
	flow->last_ns = now;
	switch (p->tuple.protocol) {
	case IPPROTO_TCP:
		if (p->fin)
			flow->state = FLOW_TCP_CLOSING;
		else if (p->syn)
			flow->state = FLOW_TCP_NEW;
		else if (flow->state != FLOW_TCP_CLOSING)
			flow->state = FLOW_TCP_OPEN;
		break;
	case IPPROTO_UDP:
		if (p->reply != flow->reply)
			flow->state = FLOW_REPLIED;
		break;
	default:
		flow->state = FLOW_ICMP;
	}
}

/* For how long @flow may be idle */
static __always_inline __u64 flow_timeout(const struct flow_head *flow)
{
	__u64 state = flow->state;

	/* Another CPU may change flow->state: let the compiler not read it a second time */
	barrier_var(state);
	return flow_timeout_ns[state < FLOW_STATES ? state : 0];
}

/* Tell the loader that @flow has been idle for too long */
static __always_inline void flow_tell(const struct flow_head *flow)
{
	struct flow_event event = {
		.tuple		= flow->tuple,
		.packets	= flow->packets,
		.last_ns	= flow->last_ns,
		.timeout_ns	= flow_timeout(flow),
		.ended_ns	= bpf_ktime_get_ns(),
	};

	flow_count(FLOW_ENDED);
	if (flow_report)
		bpf_ringbuf_output(&flow_events, &event, sizeof(event), 0);
}

#endif /* _FLOWS_PARSE_H */
