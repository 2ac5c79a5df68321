/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the proofs assume about C and the kernel.
 *
 * Pow2 defines powers of two. Bits describes C's bit operators as arithmetic. bits.smt2
 * proves the same for words of 64 bits.
 */
#ifndef _PROOFS_ARITH_H
#define _PROOFS_ARITH_H

#include <linux/bitops.h>
#include <linux/log2.h>
#include <linux/math64.h>

/*@
  axiomatic Pow2 {
    logic integer pow2(integer n);
    axiom pow2_0: pow2(0) == 1;
    axiom pow2_next: \forall integer n; n >= 0 ==> pow2(n + 1) == 2 * pow2(n);
    axiom pow2_positive: \forall integer n; n >= 0 ==> pow2(n) >= 1;
    axiom pow2_grows: \forall integer a, b; 0 <= a <= b ==> pow2(a) <= pow2(b);
    axiom pow2_63: pow2(63) == 0x8000000000000000;
    axiom pow2_64: pow2(64) == 0x10000000000000000;
  }

  axiomatic Bits {
    axiom shift_left: \forall integer x, n; 0 <= x && 0 <= n < 64 ==>
      (x << n) == x * pow2(n);
    axiom shift_right: \forall integer x, n; 0 <= x && 0 <= n < 64 ==>
      (x >> n) == x / pow2(n);
    axiom or_one: \forall integer x; 0 <= x && x % 2 == 0 ==> (x | 1) == x + 1;
    axiom and_63: \forall integer x; 0 <= x < 64 ==> (x & 63) == x;
  }
 */

/*@
  assigns \nothing;
  ensures x == 0 ==> \result == 0;
  ensures x != 0 ==> 1 <= \result <= 64 && pow2(\result - 1) <= x < 2 * pow2(\result - 1);
 */
static inline int fls64(u64 x);

/*@
  requires shift == 64;
  assigns \nothing;
  ensures \result == (a * b) / 0x10000000000000000;
 */
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift);

/*@ assigns \nothing; ensures \result == (a < b ? a : b); */
static inline u64 min(u64 a, u64 b);

/*@ assigns \nothing; ensures \result == (a > b ? a : b); */
static inline u64 max(u64 a, u64 b);

/*@ assigns \nothing; ensures \result == value; */
long __builtin_expect(long value, long likely);

#endif /* _PROOFS_ARITH_H */
