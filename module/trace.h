/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of hwheel
 *
 * All times are nanoseconds on the wheel's clock.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hwheel

#if !defined(_HWHEEL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _HWHEEL_TRACE_H

#include <linux/tracepoint.h>

/* A timer has been set up. */
TRACE_EVENT(hwheel_setup,
	TP_PROTO(struct hwheel_timer *timer, struct hwheel *wheel),
	TP_ARGS(timer, wheel),
	TP_STRUCT__entry(
		__field(void *,		timer)
		__field(void *,		function)
		__array(char,		wheel, HWHEEL_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->function = hwheel_named(timer);
		memcpy(__entry->wheel, wheel->name, HWHEEL_NAME_MAX + 1);
	),
	TP_printk("timer=%p function=%ps wheel=%s",
		  __entry->timer, __entry->function, __entry->wheel)
);

/* A timer has been armed or re-armed. on= is the CPU of its base. */
TRACE_EVENT(hwheel_start,
	TP_PROTO(struct hwheel_base *base, struct hwheel_timer *timer),
	TP_ARGS(base, timer),
	TP_STRUCT__entry(
		__field(void *,		timer)
		__field(void *,		function)
		__field(s64,		expires)
		__field(s64,		delay)
		__field(int,		cpu)
		__array(char,		wheel, HWHEEL_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->function = hwheel_named(timer);
		__entry->expires = timer->expires;
		__entry->delay = hwheel_until(timer->expires, hwheel_clock(base->wheel));
		__entry->cpu = base->cpu;
		memcpy(__entry->wheel, base->wheel->name, HWHEEL_NAME_MAX + 1);
	),
	TP_printk("timer=%p function=%ps expires=%lld delay_ns=%lld on=%d wheel=%s",
		  __entry->timer, __entry->function, __entry->expires, __entry->delay,
		  __entry->cpu, __entry->wheel)
);

DECLARE_EVENT_CLASS(hwheel_timer_function,
	TP_PROTO(struct hwheel_timer *timer, void *function),
	TP_ARGS(timer, function),
	TP_STRUCT__entry(
		__field(void *,		timer)
		__field(void *,		function)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->function = function ?: hwheel_named(timer);
	),
	TP_printk("timer=%p function=%ps", __entry->timer, __entry->function)
);

/* A timer that was pending has been cancelled. @function is NULL. */
DEFINE_EVENT(hwheel_timer_function, hwheel_cancel,
	TP_PROTO(struct hwheel_timer *timer, void *function),
	TP_ARGS(timer, function)
);

/* A callback has ended. It may have freed the timer, so the caller has looked up @function. */
DEFINE_EVENT(hwheel_timer_function, hwheel_expire_exit,
	TP_PROTO(struct hwheel_timer *timer, void *function),
	TP_ARGS(timer, function)
);

/* A callback begins. late_ns= is as in hwheel_fire(), but at this moment. */
TRACE_EVENT(hwheel_expire_entry,
	TP_PROTO(struct hwheel_base *base, struct hwheel_timer *timer, s64 expires),
	TP_ARGS(base, timer, expires),
	TP_STRUCT__entry(
		__field(void *,		timer)
		__field(void *,		function)
		__field(s64,		expires)
		__field(s64,		late)
		__array(char,		wheel, HWHEEL_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->function = hwheel_named(timer);
		__entry->expires = expires;
		/* Others write it with the lock held */
		expires = max(expires, data_race(READ_ONCE(base->set)));
		__entry->late = -max(hwheel_until(expires, hwheel_clock(base->wheel)), -KTIME_MAX);
		memcpy(__entry->wheel, base->wheel->name, HWHEEL_NAME_MAX + 1);
	),
	TP_printk("timer=%p function=%ps expires=%lld late_ns=%lld wheel=%s",
		  __entry->timer, __entry->function, __entry->expires, __entry->late,
		  __entry->wheel)
);

/*
 * Some timers have moved down from a spoke, or from its fan. level= and spoke= tell which
 * spoke that is. The parking lot counts as a level: HWHEEL_LOT.
 */
TRACE_EVENT(hwheel_cascade,
	TP_PROTO(struct hwheel_base *base, u64 moved),
	TP_ARGS(base, moved),
	TP_STRUCT__entry(
		__field(s64,		clock)
		__field(u64,		moved)
		__field(unsigned int,	level)
		__field(unsigned int,	spoke)
		__array(char,		wheel, HWHEEL_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->clock = levels_tick_ns(&base->levels, base->levels.clock);
		__entry->moved = moved;
		__entry->level = base->levels.from->level;
		__entry->spoke = base->levels.from->index;
		memcpy(__entry->wheel, base->wheel->name, HWHEEL_NAME_MAX + 1);
	),
	TP_printk("clock=%lld level=%u spoke=%u moved=%llu wheel=%s", __entry->clock,
		  __entry->level, __entry->spoke, __entry->moved, __entry->wheel)
);

/*
 * The hrtimer of a base is armed for @expires. @expires is on the drive's clock. expires= is on
 * the wheel's clock.
 */
TRACE_EVENT(hwheel_arm,
	TP_PROTO(struct hwheel_base *base, s64 expires),
	TP_ARGS(base, expires),
	TP_STRUCT__entry(
		__field(s64,		expires)
		__field(int,		cpu)
		__array(char,		wheel, HWHEEL_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->expires = hwheel_deadline(expires, base->offset);
		__entry->cpu = base->cpu;
		memcpy(__entry->wheel, base->wheel->name, HWHEEL_NAME_MAX + 1);
	),
	TP_printk("expires=%lld on=%d wheel=%s", __entry->expires, __entry->cpu,
		  __entry->wheel)
);

/*
 * A run, or several runs close to each other, used up the budget. Some timers are left.
 */
TRACE_EVENT(hwheel_budget,
	TP_PROTO(struct hwheel_base *base, s64 now, s64 end),
	TP_ARGS(base, now, end),
	TP_STRUCT__entry(
		__field(s64,		over)
		__field(u64,		pending)
		__array(char,		wheel, HWHEEL_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->over = max(now - end, 0LL);
		__entry->pending = base->levels.pending;
		memcpy(__entry->wheel, base->wheel->name, HWHEEL_NAME_MAX + 1);
	),
	TP_printk("over_ns=%lld pending=%llu wheel=%s", __entry->over, __entry->pending,
		  __entry->wheel)
);

#endif /* _HWHEEL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH module
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
