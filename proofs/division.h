/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Facts on division that the provers do not find by themselves inside a function. The
 * proofs of functions use them as axioms. lemmas.py proves each of them. A proof may use
 * other axioms: the comment behind an axiom names them, with their arguments.
 */
#ifndef _PROOFS_DIVISION_H
#define _PROOFS_DIVISION_H

/*@
  axiomatic Division {
    axiom unique: \forall integer x, d, q, r;
      0 < d && q * d <= x < q * d + d && r * d <= x < r * d + d ==> q == r;
    axiom quotient_bounds: \forall integer x, d; 0 <= x && 0 < d ==>
      (x / d) * d <= x < (x / d) * d + d && 0 <= x / d <= x;
    axiom quotient: \forall integer x, d, q;
      0 < d && 0 <= q && q * d <= x < q * d + d ==> x / d == q;
    axiom quotient_twice: \forall integer x, a, b; 0 <= x && 0 < a && 0 < b ==>
      (x / a) / b == x / (a * b);
    axiom reciprocal_low: \forall integer x, d, m, p, q;
      0 <= q && 0 <= m && q * d <= x && p <= m * d ==> q * p <= x * m;
    axiom reciprocal_grown: \forall integer x, d, m, p;
      0 <= x && m * d <= p + d && x * d < p ==> (x * m) * d < (x + 1) * p;
    axiom cancel: \forall integer a, b, d; 0 < d && a * d < b * d ==> a < b;
    axiom reciprocal_high: \forall integer x, d, m, p, q;
      0 <= x && 0 < d && 0 < p && x < q * d + d && m * d <= p + d && x * d < p ==>
      x * m < q * p + p; // by reciprocal_grown(x, d, m, p) cancel(x * m, (q + 1) * p, d)
    axiom reciprocal_exact: \forall integer x, d, m, p;
      0 <= x && 0 < d && 0 < p && 0 <= m && p <= m * d <= p + d && x * d < p ==>
      (x * m) / p == x / d; // by quotient_bounds(x, d) reciprocal_low(x, d, m, p, x / d)
      // by reciprocal_high(x, d, m, p, x / d) quotient(x * m, p, x / d)
    axiom product_below: \forall integer x, d, p;
      0 <= x < 0x8000000000000000 && 1 <= d < 2 * p ==> x * d < 0x10000000000000000 * p;
    axiom twice: \forall integer p, q, m, d, r;
      p * q == m * d + r ==> p * (2 * q) == 2 * (m * d) + 2 * r;
    axiom room: \forall integer m, d; 0 < d < 0x10000000000000000 &&
      m * d <= 0x10000000000000000 * d - 0x10000000000000000 ==> m < 0xffffffffffffffff;
    axiom odd_product: \forall integer m, d; (2 * m + 1) * d == 2 * (m * d) + d;
  }
 */

#endif /* _PROOFS_DIVISION_H */
