/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of flows: what its BPF programs and its loader share
 *
 * A flow is all packets between two ends, in both directions. It ends when it has been idle for
 * the timeout of its state, or when TCP closes it.
 */
#ifndef _FLOWS_H
#define _FLOWS_H

#define FLOWS_MAX	(1 << 20)

enum flow_state {
	FLOW_NEW,		/* packets in one direction only */
	FLOW_REPLIED,		/* packets in both directions */
	FLOW_TCP_NEW,		/* TCP: no data yet */
	FLOW_TCP_OPEN,		/* TCP: data flows */
	FLOW_TCP_CLOSING,	/* TCP: FIN or RST seen */
	FLOW_ICMP,
	FLOW_STATES
};

enum flow_count {
	FLOW_PACKETS,
	FLOW_CREATED,
	FLOW_ENDED,		/* idle for too long */
	FLOW_KEPT,		/* a packet came when the timer had just expired */
	FLOW_BUSY,		/* another CPU was arming the timer */
	FLOW_FULL,		/* no room in the table, or no timer */
	FLOW_COLLISIONS,	/* another flow has the same key */
	FLOW_OTHER,		/* packets that belong to no flow */
	FLOW_COUNTS
};

struct flow_tuple {
	__u32 address[2];	/* network byte order; the smaller end is first */
	__u16 port[2];
	__u8 protocol;
	__u8 pad[3];
};

/* What a value of the table begins with */
struct flow_head {
	struct flow_tuple tuple;
	__u64 packets;
	__u64 last_ns;		/* time of the last packet */
	__u32 state;
	__u32 reply;		/* direction of the first packet */
};

/* The loader gets this for each flow that ends, if it wants */
struct flow_event {
	struct flow_tuple tuple;
	__u64 packets;
	__u64 last_ns;
	__u64 timeout_ns;	/* for how long it might be idle */
	__u64 ended_ns;
};

#endif /* _FLOWS_H */
