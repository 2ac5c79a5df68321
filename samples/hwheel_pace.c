// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel_pace - the qdisc hwpace: packet pacing on a timing wheel
 *
 *	tc qdisc add dev lo root hwpace rate 100mbit
 *
 * The qdisc gives each packet a departure time when the packet is enqueued, and
 * holds the packet until then. Carousel works like this (Saeed et al., SIGCOMM
 * 2017). When a packet arrives, its rate is turned into a departure time. This
 * happens once. After that, one structure holds all packets. It knows only times,
 * however many flows and rates there are. Here the structure is a wheel with a tick
 * of 1 us. So a packet is at most 1 us late, plus the interrupt latency.
 *
 * Departure times
 * ---------------
 *
 * A packet has a slot at @rate, and one at @maxrate, if there is a maxrate. A slot is
 * as long as the packet takes at that rate. It begins at the end of the slot before
 * it. All flows share the slots at @rate. Each flow has its own slots at @maxrate.
 *
 * The departure time of a packet is the latest of these times:
 *
 *   - now;
 *   - the earliest departure time that its sender asked for. TCP asks for one. So do
 *     programs that use SO_TXTIME with CLOCK_MONOTONIC;
 *   - the beginning of its slot at @rate;
 *   - the beginning of its slot at @maxrate;
 *   - the departure time of the packet before it in its queue, so that flows are
 *     not reordered.
 *
 * Slots do not depend on when packets really leave. So latency does not add up: after
 * a packet that left late the next one follows sooner, and the rate is kept. After a
 * pause the next slot begins b earlier than now; at @maxrate, b earlier than the
 * sender's time if that is later. Here b is how long @burst bytes take. So @burst
 * bytes may leave at once, and then pacing begins anew.
 *
 * hwpace drops a packet whose departure time is more than HWPACE_HORIZON ahead. This
 * bounds how long a packet waits. It also drops packets whose sender used another
 * clock, because such times are far ahead. A new rate holds for packets that arrive
 * after the change. Packets that are waiting keep their times.
 *
 * Packets of all flows leave in the order in which they arrived, as far as @maxrate and the
 * times that senders asked for allow. So hwpace paces flows, but does not share the rate
 * fairly between them.
 * All shapers that time packets on arrival have this property. A packet that the
 * device segments leaves hwpace as one packet, as with fq.
 *
 * Queues and timers
 * -----------------
 *
 * sk_buff has no room for a timer. But only the first waiting packet of a flow needs
 * a timer. So flows are hashed to @flows queues. A queue is in order of departure, and
 * has a timer for its first packet. A queue is
 *
 *	idle		empty; its timer is not armed
 *	waiting		its timer is armed; or the timer has expired, and its
 *			callback has not yet added the queue to the list of
 *			expired queues
 *	expired		on that list
 *	ready		on the list from which packets are dequeued
 *
 * hwpace_dequeue() moves the expired queues to the ready list, and takes a packet
 * of the first ready queue. If the next packet of that queue is not yet due, the
 * queue waits again. An idle qdisc has no timer and no work. Even with 65,536
 * queues it takes no search to find the next queue to serve.
 *
 * The module has one wheel for all flows of all hwpace qdiscs. So the memory of the
 * wheel is taken only once. Packets of several devices that leave in the same tick
 * share an interrupt. A machine with many devices does not arm many hrtimers. The
 * wheel is not hwheel_system, for two reasons: the tick of hwheel_system is too
 * wide, and callbacks of its other users may take any lock (see below). With 1024
 * spokes of 1 us most packets go to level 0 at once. Three levels reach beyond
 * HWPACE_HORIZON.
 *
 * Locks
 * -----
 *
 * The lock of the root qdisc protects everything except the list of expired queues.
 * The callers of enqueue and dequeue hold this lock. Timers are armed under it.
 *
 * The callback takes no lock. It adds its queue to a lock-free list and schedules
 * the qdisc. There are two reasons:
 *
 *   - hwpace_reset() waits for callbacks while its caller holds the root lock. If
 *     the callback took the root lock, this would deadlock. On PREEMPT_RT a callback
 *     that takes the root lock can not run in hardirq context. And in softirq context a
 *     run holds a lock of the wheel while it calls callbacks. A task that waits for one
 *     callback takes that lock, so it also waits for callbacks of other qdiscs. These
 *     could deadlock, too.
 *   - A callback without locks can run in hardirq context: the timer interrupt raises
 *     the network's softirq at once. In softirq context the wheel's softirq would have
 *     to run first.
 *
 * The callback may run after the device was deactivated, as the timers of other qdiscs
 * may. Then the root qdisc is noop_qdisc, and scheduling it does no harm.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>
#include <net/gen_stats.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "../hwheel.h"
#include "hwheel_pace.h"

#define HWPACE_HORIZON		(10 * (s64)NSEC_PER_SEC)
#define HWPACE_FLOWS		1024
#define HWPACE_MAX_FLOWS	65536
#define HWPACE_LIMIT		1000	/* for devices that have no queue length */

struct hwpace_flow {
	struct hwheel_timer	timer;		/* for the departure of @head */
	struct sk_buff		*head;		/* in order of departure */
	struct sk_buff		*tail;		/* valid if @head is not NULL */
	/* second cache line */
	s64			next;		/* end of the last slot at maxrate */
	struct list_head	ready;
	struct llist_node	expired;	/* on hwpace.expired */
	struct Qdisc		*sch;
} ____cacheline_aligned;

struct hwpace_rate {
	struct psched_ratecfg	cfg;		/* rate_bytes_ps 0: no limit */
	s64			burst;		/* ns that the burst takes at this rate */
};

struct hwpace {
	struct hwpace_flow	*flows;
	u32			nr_flows;
	u32			busy_flows;
	s64			next;		/* end of the last slot at rate */
	struct hwpace_rate	rate;
	struct hwpace_rate	maxrate;
	u32			burst;
	u32			slack;
	struct list_head	ready;
	u64			horizon_drops;
	s64			max_late;

	/* Written by callbacks, on any CPU, without a lock. */
	struct llist_head	expired ____cacheline_aligned_in_smp;
};

struct hwpace_skb_cb {
	s64			departure;
};

static unsigned long long gap_ns;
module_param(gap_ns, ullong, 0444);
MODULE_PARM_DESC(gap_ns, "under load, packets leave in groups, at least this many ns apart (default 0)");

static struct hwheel *hwpace_wheel;

static struct hwpace_skb_cb *hwpace_skb_cb(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct hwpace_skb_cb));
	return (struct hwpace_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Runs in hardirq context, without a lock: see above. */
static void hwpace_expired(struct hwheel_timer *timer)
{
	struct hwpace_flow *flow = hwheel_container_of(flow, timer, timer);
	struct Qdisc *sch = flow->sch;
	struct hwpace *q = qdisc_priv(sch);

	/* From here on hwpace_dequeue() owns the queue, and may re-arm the timer. */
	llist_add(&flow->expired, &q->expired);

	rcu_read_lock();
	__netif_schedule(qdisc_root(sch));
	rcu_read_unlock();
}

/* Make @flow ready or waiting. It has a packet, is on no list, and its timer is not armed. */
static void hwpace_arrange(struct hwpace *q, struct hwpace_flow *flow, s64 now)
{
	s64 departure = hwpace_skb_cb(flow->head)->departure;

	if (departure <= now)
		list_add_tail(&flow->ready, &q->ready);
	else
		hwheel_add_at(&flow->timer, departure, q->slack);
}

/* The beginning of a packet's slot at @rate. @next is the end of the slot before it. */
static s64 hwpace_slot(const struct hwpace_rate *rate, s64 next, s64 earliest)
{
	return max(next, earliest - rate->burst);
}

static int hwpace_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	unsigned int len = qdisc_pkt_len(skb);
	struct hwpace *q = qdisc_priv(sch);
	s64 now, earliest, departure, slot, flow_slot = 0;
	struct hwpace_flow *flow;

	if (unlikely(sch->q.qlen >= sch->limit))
		return qdisc_drop(skb, sch, to_free);

	flow = &q->flows[reciprocal_scale(skb_get_hash(skb), q->nr_flows)];
	now = ktime_get_ns();
	earliest = max_t(s64, now, skb->tstamp);

	/* The slot counts from now: a sender that asks for a later time delays no other flow */
	slot = hwpace_slot(&q->rate, q->next, now);
	departure = max(earliest, slot);
	if (q->maxrate.cfg.rate_bytes_ps) {
		flow_slot = hwpace_slot(&q->maxrate, flow->next, earliest);
		departure = max(departure, flow_slot);
	}
	if (flow->head)
		departure = max(departure, hwpace_skb_cb(flow->tail)->departure);

	if (unlikely(departure - now > HWPACE_HORIZON)) {
		q->horizon_drops++;
		return qdisc_drop(skb, sch, to_free);
	}

	q->next = slot + psched_l2t_ns(&q->rate.cfg, len);
	if (q->maxrate.cfg.rate_bytes_ps)
		flow->next = flow_slot + psched_l2t_ns(&q->maxrate.cfg, len);
	hwpace_skb_cb(skb)->departure = departure;
	if (departure > now)
		qdisc_qstats_overlimit(sch);

	skb->next = NULL;
	if (flow->head) {
		flow->tail->next = skb;
		flow->tail = skb;
	} else {
		flow->head = skb;
		flow->tail = skb;
		q->busy_flows++;
		hwpace_arrange(q, flow, now);
	}
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

/* Make the expired queues ready, in the order in which they expired. */
static void hwpace_collect(struct hwpace *q)
{
	struct hwpace_flow *flow, *next;
	struct llist_node *expired;

	if (llist_empty(&q->expired))
		return;
	expired = llist_reverse_order(llist_del_all(&q->expired));
	llist_for_each_entry_safe(flow, next, expired, expired)
		list_add_tail(&flow->ready, &q->ready);
}

static struct sk_buff *hwpace_dequeue(struct Qdisc *sch)
{
	struct hwpace *q = qdisc_priv(sch);
	struct hwpace_flow *flow;
	struct sk_buff *skb;
	s64 now;

	hwpace_collect(q);
	flow = list_first_entry_or_null(&q->ready, struct hwpace_flow, ready);
	if (!flow)
		return NULL;

	skb = flow->head;
	flow->head = skb->next;
	skb_mark_not_on_list(skb);
	list_del(&flow->ready);

	now = ktime_get_ns();
	q->max_late = max(q->max_late, now - hwpace_skb_cb(skb)->departure);
	if (flow->head)
		hwpace_arrange(q, flow, now);
	else
		q->busy_flows--;

	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void hwpace_reset(struct Qdisc *sch)
{
	struct hwpace *q = qdisc_priv(sch);
	u32 i;

	for (i = 0; i < q->nr_flows; i++) {
		struct hwpace_flow *flow = &q->flows[i];

		flow->next = 0;
		if (!flow->head)
			continue;
		hwheel_cancel_sync(&flow->timer);
		rtnl_kfree_skbs(flow->head, flow->tail);
		flow->head = NULL;
	}
	/* Queues on a list had packets. All queues are empty now. */
	init_llist_head(&q->expired);
	INIT_LIST_HEAD(&q->ready);
	q->busy_flows = 0;
	q->next = 0;
}

/* Not const: in Linux 6.1 the policy below has pointers to non-const ranges */
static struct netlink_range_validation hwpace_flows_range = {
	.min = 1,
	.max = HWPACE_MAX_FLOWS,
};

static const struct nla_policy hwpace_policy[TCA_HWPACE_MAX + 1] = {
	[TCA_HWPACE_RATE]	= NLA_POLICY_MIN(NLA_U64, 1),
	[TCA_HWPACE_MAXRATE]	= { .type = NLA_U64 },
	[TCA_HWPACE_BURST]	= { .type = NLA_U32 },
	[TCA_HWPACE_LIMIT]	= NLA_POLICY_MIN(NLA_U32, 1),
	[TCA_HWPACE_FLOWS]	= NLA_POLICY_FULL_RANGE(NLA_U32, &hwpace_flows_range),
	[TCA_HWPACE_SLACK]	= { .type = NLA_U32 },
};

static int hwpace_alloc(struct Qdisc *sch, u32 nr)
{
	struct hwpace *q = qdisc_priv(sch);
	u32 i;

	q->flows = kvcalloc(nr, sizeof(*q->flows), GFP_KERNEL);
	if (!q->flows)
		return -ENOMEM;
	q->nr_flows = nr;
	for (i = 0; i < nr; i++) {
		q->flows[i].sch = sch;
		hwheel_setup(&q->flows[i].timer, hwpace_wheel, hwpace_expired, 0);
	}
	return 0;
}

static void hwpace_set_rate(struct hwpace_rate *rate, u64 bytes_ps, u32 burst)
{
	const struct tc_ratespec spec = { .linklayer = TC_LINKLAYER_ETHERNET };

	memset(rate, 0, sizeof(*rate));
	if (bytes_ps) {
		psched_ratecfg_precompute(&rate->cfg, &spec, bytes_ps);
		rate->burst = psched_l2t_ns(&rate->cfg, burst);
	}
}

static int hwpace_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_HWPACE_MAX + 1];
	struct hwpace *q = qdisc_priv(sch);
	u64 rate, maxrate;
	u32 flows;
	int err;

	err = nla_parse_nested(tb, TCA_HWPACE_MAX, opt, hwpace_policy, extack);
	if (err)
		return err;

	/* Attributes that are missing keep their values */
	rate = tb[TCA_HWPACE_RATE] ? nla_get_u64(tb[TCA_HWPACE_RATE]) :
				     q->rate.cfg.rate_bytes_ps;
	maxrate = tb[TCA_HWPACE_MAXRATE] ? nla_get_u64(tb[TCA_HWPACE_MAXRATE]) :
					   q->maxrate.cfg.rate_bytes_ps;
	flows = tb[TCA_HWPACE_FLOWS] ? nla_get_u32(tb[TCA_HWPACE_FLOWS]) :
				       q->nr_flows ?: HWPACE_FLOWS;
	if (!rate) {
		NL_SET_ERR_MSG_MOD(extack, "A rate is needed");
		return -EINVAL;
	}
	if (q->flows && flows != q->nr_flows) {
		NL_SET_ERR_MSG_MOD(extack, "The number of queues can not be changed");
		return -EOPNOTSUPP;
	}
	if (!q->flows) {
		err = hwpace_alloc(sch, flows);
		if (err)
			return err;
	}

	sch_tree_lock(sch);
	if (tb[TCA_HWPACE_BURST])
		q->burst = nla_get_u32(tb[TCA_HWPACE_BURST]);
	if (tb[TCA_HWPACE_SLACK])
		q->slack = nla_get_u32(tb[TCA_HWPACE_SLACK]);
	if (tb[TCA_HWPACE_LIMIT])
		sch->limit = nla_get_u32(tb[TCA_HWPACE_LIMIT]);
	hwpace_set_rate(&q->rate, rate, q->burst);
	hwpace_set_rate(&q->maxrate, maxrate, q->burst);
	sch_tree_unlock(sch);
	return 0;
}

static int hwpace_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct hwpace *q = qdisc_priv(sch);

	init_llist_head(&q->expired);
	INIT_LIST_HEAD(&q->ready);
	sch->limit = qdisc_dev(sch)->tx_queue_len ?: HWPACE_LIMIT;
	if (!opt) {
		NL_SET_ERR_MSG_MOD(extack, "A rate is needed");
		return -EINVAL;
	}
	return hwpace_change(sch, opt, extack);
}

/* Also called for a qdisc whose init failed. */
static void hwpace_destroy(struct Qdisc *sch)
{
	struct hwpace *q = qdisc_priv(sch);
	u32 i;

	/* Callbacks of queues that were just emptied may not have returned yet */
	for (i = 0; i < q->nr_flows; i++)
		hwheel_shutdown_sync(&q->flows[i].timer);
	kvfree(q->flows);
}

static int hwpace_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct hwpace *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;

	if (nla_put_u64_64bit(skb, TCA_HWPACE_RATE, q->rate.cfg.rate_bytes_ps,
			      TCA_HWPACE_PAD) ||
	    nla_put_u64_64bit(skb, TCA_HWPACE_MAXRATE, q->maxrate.cfg.rate_bytes_ps,
			      TCA_HWPACE_PAD) ||
	    nla_put_u32(skb, TCA_HWPACE_BURST, q->burst) ||
	    nla_put_u32(skb, TCA_HWPACE_LIMIT, sch->limit) ||
	    nla_put_u32(skb, TCA_HWPACE_FLOWS, q->nr_flows) ||
	    nla_put_u32(skb, TCA_HWPACE_SLACK, q->slack)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static int hwpace_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct hwpace *q = qdisc_priv(sch);
	struct tc_hwpace_xstats stats = {};

	sch_tree_lock(sch);
	stats.horizon_drops = q->horizon_drops;
	stats.max_late_ns = q->max_late;
	stats.busy_flows = q->busy_flows;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}

static struct Qdisc_ops hwpace_ops __read_mostly = {
	.id		= "hwpace",
	.priv_size	= sizeof(struct hwpace),
	.enqueue	= hwpace_enqueue,
	.dequeue	= hwpace_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= hwpace_init,
	.reset		= hwpace_reset,
	.destroy	= hwpace_destroy,
	.change		= hwpace_change,
	.dump		= hwpace_dump,
	.dump_stats	= hwpace_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init hwpace_module_init(void)
{
	const struct hwheel_config config = {
		.name		= "hwpace",
		.context	= HWHEEL_HARDIRQ,
		.gap_ns		= gap_ns,
		.tick_ns	= NSEC_PER_USEC,
		.levels		= 3,
		.spokes		= { 1024 },
	};
	int err;

	hwpace_wheel = hwheel_create(&config);
	if (IS_ERR(hwpace_wheel))
		return PTR_ERR(hwpace_wheel);

	err = register_qdisc(&hwpace_ops);
	if (err)
		hwheel_destroy(hwpace_wheel);
	return err;
}

static void __exit hwpace_module_exit(void)
{
	/* No qdisc is left, because each qdisc holds the module */
	unregister_qdisc(&hwpace_ops);
	hwheel_destroy(hwpace_wheel);
}

module_init(hwpace_module_init);
module_exit(hwpace_module_exit);

/* For an unknown qdisc the kernel loads sch_NAME, or since 6.9 net-sch-NAME */
MODULE_ALIAS("sch_hwpace");
MODULE_ALIAS("net-sch-hwpace");
MODULE_DESCRIPTION("hwheel sample: a qdisc that paces packets on a timing wheel");
MODULE_LICENSE("GPL");
