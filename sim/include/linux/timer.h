/* SPDX-License-Identifier: GPL-2.0 */
/* The simulated kernel has no timer_list. No program makes an HWHEEL_DEFERRABLE wheel. */
#ifndef _SIM_LINUX_TIMER_H
#define _SIM_LINUX_TIMER_H

#include <stdlib.h>

#define TIMER_DEFERRABLE	1
#define TIMER_PINNED		2
#define MAX_JIFFY_OFFSET	(((~0UL >> 1) >> 1) - 1)

struct timer_list {
	unsigned long		expires;
};

#define timer_setup(timer, callback, flags)	\
	((void)(timer), (void)(callback), (void)(flags), abort())
#define timer_delete(timer)			((void)(timer), abort())
#define timer_delete_sync(timer)		((void)(timer), abort())
#define add_timer_on(timer, cpu)		((void)(timer), (void)(cpu), abort())

#endif /* _SIM_LINUX_TIMER_H */
