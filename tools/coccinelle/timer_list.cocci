// SPDX-License-Identifier: GPL-2.0
///
/// Moves a driver from timer_list to hwheel. tools/hwheel-convert runs it,
/// adds the includes and tells what is left.
///
/// It leaves as it is what hwheel has no equivalent for:
///  - timer flags other than TIMER_PINNED
///  - writes to expires that are not right before add_timer()
///  - direct use of the members function and flags
///
// Confidence: Moderate

virtual patch

//
// Setting up. TIMER_PINNED asks for the CPU that arms the timer, and
// hwheel uses that CPU by default. HWHEEL_PINNED means something else: re-arming does not
// move the timer. So the flags become 0.
//

@@
expression T, F;
@@
(
- timer_setup(T, F, \(0\|TIMER_PINNED\))
+ hwheel_setup(T, hwheel_system, F, 0)
|
- timer_setup_on_stack(T, F, \(0\|TIMER_PINNED\))
+ hwheel_setup_on_stack(T, hwheel_system, F, 0)
|
- \(destroy_timer_on_stack\|timer_destroy_on_stack\)(T)
+ hwheel_destroy_on_stack(T)
)

@@
declarer name DEFINE_TIMER;
declarer name DEFINE_HWHEEL_TIMER;
identifier T;
expression F;
@@
- DEFINE_TIMER
+ DEFINE_HWHEEL_TIMER
  (T, F);

//
// The structure around the timer
//

@@
identifier M;
expression V, T;
@@
- \(from_timer\|timer_container_of\)
+ hwheel_container_of
  (V, T, M)

// Members that are no identifiers, such as timers[3] and a.b
@@
expression V, T, M;
@@
- \(from_timer\|timer_container_of\)
+ hwheel_container_of
  (V, T, M)

@@
identifier V, M;
type S;
struct timer_list *T;
@@
  S *V =
- container_of(T, S, M)
+ hwheel_container_of(V, T, M)
  ;

@@
expression V;
identifier M;
type S;
struct timer_list *T;
@@
  V =
- container_of(T, S, M)
+ hwheel_container_of(V, T, M)
  ;

//
// expires is set right before add_timer()
//

@@
expression E, CPU;
struct timer_list *T;
@@
- T->expires = E;
(
- add_timer(T);
+ mod_timer(T, E);
|
- add_timer_on(T, CPU);
+ __hwheel_mod_timer_on(T, E, CPU);
)

@@
expression E, CPU;
struct timer_list T;
@@
- T.expires = E;
(
- add_timer(&T);
+ mod_timer(&T, E);
|
- add_timer_on(&T, CPU);
+ __hwheel_mod_timer_on(&T, E, CPU);
)

//
// expires is read. Writes stay as they are, so that a human sees them.
//

@ written @
struct timer_list *T;
struct timer_list U;
expression E;
position P;
assignment operator OP;
@@
(
T->expires@P OP E
|
U.expires@P OP E
)

@@
struct timer_list *T;
struct timer_list U;
position P != written.P;
@@
(
- T->expires@P
+ hwheel_expires_jiffies(T)
|
- U.expires@P
+ hwheel_expires_jiffies(&U)
)

//
// Arming: a point in time becomes a delay. jiffies + E becomes E. Any other expression
// stays as it is and is converted at run time: without jiffies, a longer sum might wrap
// in a shorter type. A constant number of milliseconds or microseconds stays in its unit.
// A variable one is converted from jiffies: if it is negative, it may mean "never". The
// pattern with parentheses also matches E without them.
//

@@
symbol jiffies;
identifier mod =~ "^(mod_timer|mod_timer_pending|timer_reduce)$";
expression T, E;
constant C;
@@
  mod(T,
(
- jiffies
+ 0
|
- jiffies + msecs_to_jiffies(C)
+ ms_to_ktime(C)
|
- jiffies + usecs_to_jiffies(C)
+ us_to_ktime(C)
|
- jiffies + (E)
+ hwheel_jiffies(E)
|
- E
+ hwheel_until_jiffies(E)
)
  )

@@
symbol jiffies;
expression T, E, CPU;
constant C;
@@
- __hwheel_mod_timer_on(T,
+ hwheel_add_on(T,
(
- jiffies
+ 0
|
- jiffies + msecs_to_jiffies(C)
+ ms_to_ktime(C)
|
- jiffies + usecs_to_jiffies(C)
+ us_to_ktime(C)
|
- jiffies + (E)
+ hwheel_jiffies(E)
|
- E
+ hwheel_until_jiffies(E)
)
  , CPU)

@@
expression T, E;
@@
(
- mod_timer(T, E)
+ hwheel_add(T, E)
|
- mod_timer_pending(T, E)
+ hwheel_mod_pending(T, E)
|
- timer_reduce(T, E)
+ hwheel_reduce(T, E)
)

//
// Cancelling and asking
//

@@
expression T;
@@
(
- \(del_timer\|timer_delete\)(T)
+ hwheel_cancel(T)
|
- \(del_timer_sync\|timer_delete_sync\|del_singleshot_timer_sync\)(T)
+ hwheel_cancel_sync(T)
|
- \(try_to_del_timer_sync\|timer_delete_sync_try\)(T)
+ hwheel_try_cancel(T)
|
- timer_shutdown(T)
+ hwheel_shutdown(T)
|
- timer_shutdown_sync(T)
+ hwheel_shutdown_sync(T)
|
- timer_pending(T)
+ hwheel_pending(T)
)

//
// The type, last: the rules above know timers by it
//

@@
@@
- struct timer_list
+ struct hwheel_timer
