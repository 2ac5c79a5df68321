// SPDX-License-Identifier: GPL-2.0
//
// What a human has to add to convert net/bridge. It calls br_timer_value() for the
// timer of a delayed work, too. A delayed work is not converted.

@@
expression BR;
@@
- br_timer_value(&BR->gc_work.timer)
+ (delayed_work_pending(&BR->gc_work) ?
+  jiffies_delta_to_clock_t(BR->gc_work.timer.expires - jiffies) : 0)
