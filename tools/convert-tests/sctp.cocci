// SPDX-License-Identifier: GPL-2.0
//
// What a human has to add to convert net/sctp. Some entries of its table of callbacks
// are NULL. timer_list accepts such a timer, and never runs it. hwheel_setup()
// warns. A timer that isn't set up can be cancelled, because its memory is zeroed.

@@
expression T, I;
@@
- timer_setup(T, sctp_timer_events[I], 0);
+ if (sctp_timer_events[I])
+	timer_setup(T, sctp_timer_events[I], 0);
