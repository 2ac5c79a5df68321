/* SPDX-License-Identifier: GPL-2.0 */
/* What hrtimer.c calls */
#ifndef _TICKER_H
#define _TICKER_H

struct ticker;

u64 ticker_stopped(void);
u64 ticker_slow(void);
void ticker_use(struct ticker *t);
void ticker_count(u64 n);
void ticker_set_for_you(struct hrtimer *timer, int n);
enum hrtimer_restart ticker_asked(void);

#endif /* _TICKER_H */
