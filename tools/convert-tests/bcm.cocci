// SPDX-License-Identifier: GPL-2.0
//
// What a human has to add to convert net/can/bcm.c. A function there sets the time of a
// timer. One of its callers then starts the timer, the other restarts it. With this patch
// the function starts the timer itself.

@@
expression T, E;
@@
- hrtimer_set_expires(T, E);
+ hrtimer_start(T, E, HRTIMER_MODE_ABS);

@@
expression T;
@@
- if (bcm_tx_set_expiry(op, T))
-	hrtimer_start_expires(T, ...);
+ bcm_tx_set_expiry(op, T);

@@
expression T;
@@
- return bcm_tx_set_expiry(op, T) ? HRTIMER_RESTART : HRTIMER_NORESTART;
+ bcm_tx_set_expiry(op, T);
+ return HRTIMER_NORESTART;

// Operations that send have the timer for throttling (thrtimer), too. They cancel this timer, but
// never start it. hwheel needs a callback for it.
@@
expression T, U;
@@
  T.function = bcm_tx_timeout_handler;
  hrtimer_init(&U, ...);
+ U.function = bcm_rx_thr_handler;

// hrtimer_active() and hrtimer_is_queued() differ while the callback runs. A frame that
// comes then is passed on at once, like a frame that comes a moment later.
@@
expression T;
@@
- hrtimer_active(T)
+ hrtimer_is_queued(T)
