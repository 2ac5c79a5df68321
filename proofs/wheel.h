/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The theorems on levels, for any width, any number of spokes and any clock.
 *
 *	c	the clock: a tick, or in one_slot_a_spoke and slot_of_* the level's slot
 *	t	a tick
 *	w	the width of a slot
 *	n	the number of spokes of a level; w * n is the width of the level above
 *	s	a slot, or in bucket_* and two_spokes a tick
 *	k	another slot; in bucket_shares a tick; in nothing_coarser any number
 *	a, b	ticks; in position_* a is a number of slots
 *	i	the number of a spoke
 *	p, q	widths in ticks
 *	m	a slot
 *	x	in tick_up an instant in ns; in tick_up_down and last_tick a tick
 *	u	nanoseconds per tick
 *	r	nanoseconds
 *
 * lemmas.py proves each theorem. proofs.rst says what most of them mean for module/levels.h.
 */

/*@
  axiomatic Wheel {
    axiom next_slot: \forall integer s, k, n; 0 <= k && 0 < n && n <= s - k ==>
      k / n + 1 <= s / n; // by quotient_bounds(s, n) quotient_bounds(k, n)
    axiom far_is_ahead_above: \forall integer c, t, w, n;
      0 <= c <= t && 0 < w && 0 < n && n <= t / w - c / w ==> c / (w * n) < t / (w * n);
      // by quotient_twice(t, w, n) quotient_twice(c, w, n) next_slot(t / w, c / w, n)
      // by quotient_bounds(c, w)
    axiom ahead_starts_after: \forall integer c, t, w; 0 <= c && 0 <= t && 0 < w &&
      c / w < t / w ==> c < (t / w) * w <= t; // by quotient_bounds(c, w) quotient_bounds(t, w)
    axiom distant_is_far: \forall integer c, t, w, n; 0 <= c && 0 < w && 0 < n &&
      w * n <= t - c ==> n <= t / w - c / w; // by quotient_bounds(c, w) quotient_bounds(t, w)
    axiom same_above_is_near: \forall integer c, t, w, n; 0 <= c <= t && 0 < w && 0 < n &&
      t / (w * n) == c / (w * n) ==> t / w - c / w < n;
      // by far_is_ahead_above(c, t, w, n)
    axiom clock_same_above: \forall integer c, t, w, n; 0 <= c && 0 <= t && 0 < w && 0 < n &&
      c / w == t / w ==> c / (w * n) == t / (w * n);
      // by quotient_twice(c, w, n) quotient_twice(t, w, n)
    axiom one_slot_a_spoke: \forall integer s, k, c, n; 0 <= c && 0 < n &&
      c <= s < c + n && c <= k < c + n && s % n == k % n ==> s == k;
      // by quotient_bounds(s, n) quotient_bounds(k, n)
    axiom position_near: \forall integer s, a, n; 0 <= s && 0 <= a < n && s % n + a < n ==>
      (s + a) % n == s % n + a; // by quotient_bounds(s, n) quotient(s + a, n, s / n)
    axiom position_round: \forall integer s, a, n; 0 <= s && 0 <= a < n && n <= s % n + a ==>
      (s + a) % n == s % n + a - n; // by quotient_bounds(s, n) quotient(s + a, n, s / n + 1)
    axiom slot_of_near: \forall integer c, i, n; 0 <= c && 0 <= i < n && c % n <= i ==>
      c <= c + i - c % n < c + n && (c + i - c % n) % n == i;
      // by quotient_bounds(c, n) quotient(c + i - c % n, n, c / n)
    axiom slot_of_round: \forall integer c, i, n; 0 <= c && 0 <= i < n && i < c % n ==>
      c <= c + i - c % n + n < c + n && (c + i - c % n + n) % n == i;
      // by quotient_bounds(c, n) quotient(c + i - c % n + n, n, c / n + 1)
    axiom earlier_slot_less_bound: \forall integer s, k, a, b, w; 0 < w && s < k &&
      a < s * w + w && k * w <= b ==> a < b;

    axiom bucket_is_ahead: \forall integer c, s, p; 0 <= c <= s && 0 < p &&
      s / (2 * p) == c / (2 * p) && s / p != c / p ==>
      s / p == c / p + 1 && (s / p) % 2 == 1 && c < (s / p) * p <= s;
      // by quotient_twice(s, p, 2) quotient_twice(c, p, 2) quotient_bounds(s, p)
      // by quotient_bounds(c, p) quotient_bounds(s / p, 2) quotient_bounds(c / p, 2)
    axiom bucket_shares: \forall integer c, s, k, p; 0 <= c <= s && c <= k && 0 < p &&
      s / (2 * p) == c / (2 * p) && s / p != c / p &&
      k / (2 * p) == c / (2 * p) && k / p != c / p ==> s / p == k / p;
      // by bucket_is_ahead(c, s, p) bucket_is_ahead(c, k, p)
    axiom bucket_entered_is_left: \forall integer c, s, p, q; 0 <= c && 0 <= s && 0 < p &&
      s / p == c / p && 0 < q && 0 <= q / p && q % p == 0 && p <= q ==> s / q == c / q;
      // by quotient_twice(s, p, q / p) quotient_twice(c, p, q / p) quotient_bounds(q, p)
    axiom two_spokes: \forall integer c, s; 0 <= c && 2 <= s - c ==> s / 2 != c / 2;
      // by quotient_bounds(s, 2) quotient_bounds(c, 2)

    axiom sift_is_near: \forall integer c, b, w, n; 0 <= c && 0 <= b && 0 < w && 0 < n &&
      (b / w + 1 - n) * w <= c ==> b / w - c / w < n;
      // by quotient_bounds(c, w) quotient_bounds(b, w)
    axiom sift_not_after: \forall integer b, w, n; 0 <= b && 0 < w && 0 < n ==>
      (b / w + 1 - n) * w <= b; // by quotient_bounds(b, w)
    axiom aligned: \forall integer a, b, p; 0 <= a < b && 0 < p &&
      a / (2 * p) == b / (2 * p) && a / p != b / p ==> a < (b / p) * p <= b;
      // by bucket_is_ahead(a, b, p)
    axiom nothing_coarser: \forall integer a, b, p, k; 0 <= a < b && 0 < p &&
      a / p == b / p ==> !(a < k * p <= b); // by quotient_bounds(a, p) quotient_bounds(b, p)
    axiom aligned_tick: \forall integer a, b, w, m; 0 <= a <= b && 0 < w &&
      a / w < m <= b / w ==> a < m * w <= b; // by quotient_bounds(a, w) quotient_bounds(b, w)

    axiom tick_up: \forall integer x, u; 0 < x && 0 < u ==>
      ((x - 1) / u) * u < x <= ((x - 1) / u + 1) * u; // by quotient_bounds(x - 1, u)
    axiom tick_up_down: \forall integer x, u; 0 <= x && 0 < u ==> ((x * u) / u) == x;
      // by quotient(x * u, u, x)
    axiom last_tick: \forall integer x, u; 0 <= x && 0 < u ==>
      (x <= 0x7fffffffffffffff / u <==> x * u <= 0x7fffffffffffffff);
      // by quotient_bounds(0x7fffffffffffffff, u)
    axiom reach_fits: \forall integer r, n; 0 <= r && 0 < n ==>
      (r <= 0x7fffffffffffffff / n <==> r * n <= 0x7fffffffffffffff);
      // by quotient_bounds(0x7fffffffffffffff, n)
  }
 */
