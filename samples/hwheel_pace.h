/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink attributes that hwheel_pace.ko and tc's plugin q_hwpace.so exchange.
 * Rates are in bytes per second, as everywhere in traffic control.
 */
#ifndef _HWHEEL_PACE_H
#define _HWHEEL_PACE_H

#include <linux/types.h>

enum {
	TCA_HWPACE_UNSPEC,
	TCA_HWPACE_PAD,
	TCA_HWPACE_RATE,	/* u64: of all flows together */
	TCA_HWPACE_MAXRATE,	/* u64: of each flow; 0 for none */
	TCA_HWPACE_BURST,	/* u32: bytes that may go at once after a pause */
	TCA_HWPACE_LIMIT,	/* u32: packets that may wait */
	TCA_HWPACE_FLOWS,	/* u32: queues that flows are hashed to */
	TCA_HWPACE_SLACK,	/* u32: ns that a packet may leave late */
	__TCA_HWPACE_MAX,
};

#define TCA_HWPACE_MAX	(__TCA_HWPACE_MAX - 1)

struct tc_hwpace_xstats {
	__u64	horizon_drops;	/* packets dropped: the departure time was too far ahead */
	__u64	max_late_ns;	/* the greatest lateness of a packet */
	__u32	busy_flows;	/* queues that have packets */
	__u32	pad;
};

#endif /* _HWHEEL_PACE_H */
