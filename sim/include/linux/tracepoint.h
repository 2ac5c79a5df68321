/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_TRACEPOINT_H
#define _SIM_LINUX_TRACEPOINT_H

/* A tracepoint calls oracle_<name>(), if there is one. */
#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)		__VA_ARGS__
#define TP_STRUCT__entry(...)
#define TP_fast_assign(...)
#define TP_printk(...)
#define __sim_event(name, proto, args)					\
static inline void trace_##name(proto)					\
{									\
	extern __attribute__((weak)) void oracle_##name(proto);		\
									\
	if (oracle_##name)						\
		oracle_##name(args);					\
}									\
									\
static inline bool trace_##name##_enabled(void)				\
{									\
	return true;							\
}

#define PARAMS(...)		__VA_ARGS__
#define TRACE_EVENT(name, proto, args, ...)				\
	__sim_event(name, PARAMS(proto), PARAMS(args))
#define DECLARE_EVENT_CLASS(name, ...)
#define DEFINE_EVENT(class, name, proto, args)				\
	__sim_event(name, PARAMS(proto), PARAMS(args))

#endif /* _SIM_LINUX_TRACEPOINT_H */
