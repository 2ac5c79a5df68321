/* SPDX-License-Identifier: GPL-2.0 */
/* The part of hwheel_jiffies.h that converted drivers use. The fuzzer compiles them with it. */
#ifndef _HWHEEL_JIFFIES_H
#define _HWHEEL_JIFFIES_H

#include "hwheel.h"

ktime_t hwheel_jiffies(long n);
ktime_t hwheel_until_jiffies(unsigned long when);
unsigned long hwheel_expires_jiffies(const struct hwheel_timer *timer);
void hwheel_set_jiffies(struct hwheel_timer *timer, unsigned long when);
void hwheel_no_callback(struct hwheel_timer *timer);
void hwheel_set_callback(struct hwheel_timer *timer,
			 void (*callback)(struct hwheel_timer *timer));
bool hwheel_has_callback(const struct hwheel_timer *timer,
			 void (*callback)(struct hwheel_timer *timer));
bool hwheel_is_set_up(const struct hwheel_timer *timer);

#endif /* _HWHEEL_JIFFIES_H */
