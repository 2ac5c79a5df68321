/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_RATELIMIT_H
#define _SIM_LINUX_RATELIMIT_H

/* There is no limit here: each warning counts. */
#define DEFINE_RATELIMIT_STATE(name, interval, burst)	char name __attribute__((unused))
#define __ratelimit(state)				true

#endif /* _SIM_LINUX_RATELIMIT_H */
