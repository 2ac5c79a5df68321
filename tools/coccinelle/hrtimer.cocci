// SPDX-License-Identifier: GPL-2.0
///
/// Moves a driver from hrtimer to hwheel. tools/hwheel-convert runs it, adds
/// the includes and tells what is left.
///
/// It leaves as it is what hwheel has no equivalent for:
///  - clocks other than CLOCK_MONOTONIC
///  - hrtimer_active()
///  - hrtimer_set_expires() and the like, if the timer isn't started at once
///  - callbacks that return HRTIMER_RESTART without setting their timer's time
///
// Confidence: Moderate

virtual patch

//
// Setting up. The modes that end in PINNED ask for the CPU that arms the timer, and
// hwheel uses that CPU by default. HWHEEL_PINNED means something else: re-arming does not
// move the timer. So the flags become 0.
//

@@
expression T, F, M;
@@
(
- hrtimer_setup(T, F, CLOCK_MONOTONIC, M)
+ hwheel_setup(T, hwheel_system, F, 0)
|
- hrtimer_setup_on_stack(T, F, CLOCK_MONOTONIC, M)
+ hwheel_setup_on_stack(T, hwheel_system, F, 0)
|
- destroy_hrtimer_on_stack(T)
+ hwheel_destroy_on_stack(T)
)

@@
expression T, F, M;
@@
- hrtimer_init(&T, CLOCK_MONOTONIC, M);
  ... when != T
- T.function = F;
+ hwheel_setup(&T, hwheel_system, F, 0);

@@
expression T, F, M;
@@
- hrtimer_init_on_stack(&T, CLOCK_MONOTONIC, M);
  ... when != T
- T.function = F;
+ hwheel_setup_on_stack(&T, hwheel_system, F, 0);

@@
expression T, F, M;
@@
- hrtimer_init(T, CLOCK_MONOTONIC, M);
  ... when != T
- T->function = F;
+ hwheel_setup(T, hwheel_system, F, 0);

//
// Setting the time of a timer and then starting it
//

@@
expression T, E;
identifier abs =~ "^HRTIMER_MODE_ABS";
@@
- hrtimer_set_expires(T, E);
  ... when != T
- hrtimer_start_expires(T, abs);
+ hwheel_add_at(T, E, 0);

//
// Callbacks. A callback is converted if it sets its timer's time on every path to
// HRTIMER_RESTART, and on no other path. It then re-arms the timer itself. A variable
// may hold the return value.
//

@@
expression T, I;
@@
- hrtimer_forward(T, \(hrtimer_cb_get_time(T)\|ktime_get()\), I)
+ hrtimer_forward_now(T, I)

@ callback @
identifier f, t;
@@
  enum hrtimer_restart f(struct hrtimer *t)
  { ... }

@ stray exists @
identifier callback.f;
@@
  enum hrtimer_restart f(...)
  {
  ... when any
  \(hrtimer_forward_now\|hrtimer_set_expires\|hrtimer_add_expires\|hrtimer_add_expires_ns\)(...)
  ... when any
  return HRTIMER_NORESTART;
  }

@ bare exists @
identifier callback.f;
@@
  enum hrtimer_restart f(...)
  {
  ... when != hrtimer_forward_now(...)
      when != \(hrtimer_set_expires\|hrtimer_add_expires\|hrtimer_add_expires_ns\)(...)
  return HRTIMER_RESTART;
  }

@ held @
identifier callback.f, r;
position p;
@@
  enum hrtimer_restart f(...)
  {
  <+...
  enum hrtimer_restart r;
  ... when any
  return r@p;
  ...+>
  }

@ other exists @
identifier callback.f;
position p != held.p;
expression E != { HRTIMER_RESTART, HRTIMER_NORESTART };
@@
  enum hrtimer_restart f(...)
  {
  ... when any
  return E@p;
  }

// The variable gets another value, is read, or its address is taken
@ odd exists @
identifier callback.f, held.r;
expression E != { HRTIMER_RESTART, HRTIMER_NORESTART };
@@
  enum hrtimer_restart f(...)
  {
  ... when any
  \(r = E\|r == ...\|r != ...\|&r\)
  ... when any
  }

// The path sets the time, but the last value of the variable is HRTIMER_NORESTART
@ held_before exists @
identifier callback.f, held.r;
@@
  enum hrtimer_restart f(...)
  {
  ... when any
  \(hrtimer_forward_now\|hrtimer_set_expires\|hrtimer_add_expires\|hrtimer_add_expires_ns\)(...)
  ... when any
  r = HRTIMER_NORESTART
  ... when != r = HRTIMER_RESTART
  return r;
  }

@ held_after exists @
identifier callback.f, held.r;
@@
  enum hrtimer_restart f(...)
  {
  ... when any
  r = HRTIMER_NORESTART
  ... when != r = HRTIMER_RESTART
  \(hrtimer_forward_now\|hrtimer_set_expires\|hrtimer_add_expires\|hrtimer_add_expires_ns\)(...)
  ... when != r = HRTIMER_RESTART
  return r;
  }

// The path does not set the time, but the last value is HRTIMER_RESTART
@ held_bare exists @
identifier callback.f, held.r;
@@
  enum hrtimer_restart f(...)
  {
  ... when != hrtimer_forward_now(...)
      when != \(hrtimer_set_expires\|hrtimer_add_expires\|hrtimer_add_expires_ns\)(...)
  r = HRTIMER_RESTART
  ... when != hrtimer_forward_now(...)
      when != \(hrtimer_set_expires\|hrtimer_add_expires\|hrtimer_add_expires_ns\)(...)
      when != r = HRTIMER_NORESTART
  return r;
  }

@ unheld depends on !stray && !bare && !other && !odd && !held_before &&
	!held_after && !held_bare @
identifier callback.f, held.r;
@@
  enum hrtimer_restart f(...)
  {
  <...
(
- enum hrtimer_restart r;
|
- r = HRTIMER_RESTART;
|
- r = HRTIMER_NORESTART;
|
- return r;
+ return HRTIMER_NORESTART;
)
  ...>
  }

@ clean depends on !stray && !bare && !other && !odd && !held_before &&
	!held_after && !held_bare @
identifier callback.f, t;
expression T, E;
@@
- enum hrtimer_restart
+ void
  f(struct hrtimer *t)
  {
  <...
(
- return HRTIMER_RESTART;
+ return;
|
- return HRTIMER_NORESTART;
+ return;
|
- hrtimer_forward_now
+ hwheel_forward
  (...)
|
- hrtimer_set_expires(T, E)
+ hwheel_add_at(T, E, 0)
|
- hrtimer_add_expires(T, E)
+ hwheel_add_at(T, ktime_add(hwheel_expires(T), E), 0)
|
- hrtimer_add_expires_ns(T, E)
+ hwheel_add_at(T, ktime_add_ns(hwheel_expires(T), E), 0)
)
  ...>
  }

//
// Arming
//

@@
expression T, E, S;
identifier rel =~ "^HRTIMER_MODE_REL";
identifier abs =~ "^HRTIMER_MODE_ABS";
@@
(
- hrtimer_start(T, E, rel)
+ hwheel_add(T, E)
|
- hrtimer_start(T, E, abs)
+ hwheel_add_at(T, E, 0)
|
- hrtimer_start_range_ns(T, E, S, rel)
+ hwheel_add_range(T, E, S)
|
- hrtimer_start_range_ns(T, E, S, abs)
+ hwheel_add_at(T, E, S)
|
- hrtimer_restart(T)
+ hwheel_add_at(T, hwheel_expires(T), 0)
)

//
// Cancelling and asking. hrtimer_active() is no hwheel_pending(): it is true
// while the callback runs, too.
//

@@
expression T;
@@
(
- hrtimer_cancel(T)
+ hwheel_cancel_sync(T)
|
- hrtimer_try_to_cancel(T)
+ hwheel_try_cancel(T)
|
- hrtimer_is_queued(T)
+ hwheel_pending(T)
|
- hrtimer_get_expires(T)
+ hwheel_expires(T)
|
- hrtimer_get_expires_ns(T)
+ ktime_to_ns(hwheel_expires(T))
|
- hrtimer_get_remaining(T)
+ hwheel_remaining(T)
|
- hrtimer_cb_get_time(T)
+ hwheel_now(hwheel_system)
)

//
// The structure around the timer
//

@@
identifier V, M;
type S;
struct hrtimer *T;
@@
  S *V =
- container_of(T, S, M)
+ hwheel_container_of(V, T, M)
  ;

@@
expression V;
identifier M;
type S;
struct hrtimer *T;
@@
  V =
- container_of(T, S, M)
+ hwheel_container_of(V, T, M)
  ;

//
// The type, last: the rules above know timers by it
//

@@
@@
- struct hrtimer
+ struct hwheel_timer
