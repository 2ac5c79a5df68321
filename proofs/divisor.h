/* SPDX-License-Identifier: GPL-2.0 */
/* The contracts of divisor_init() and divisor_div() */
#ifndef _PROOFS_DIVISOR_H
#define _PROOFS_DIVISOR_H

/*@
  requires \valid(div);
  requires 1 <= d <= 0x8000000000000000;
  assigns *div;
  ensures shift: div->shift < 64 && pow2(div->shift) <= d < 2 * pow2(div->shift);
  ensures power: div->mul == 0 ==> d == pow2(div->shift);
  ensures reciprocal: div->mul != 0 ==>
    div->mul * d - d <= 0x10000000000000000 * pow2(div->shift) < div->mul * d;
 */
static inline void divisor_init(struct hwheel_divisor *div, u64 d);

/*@
  requires \valid_read(div);
  requires x < 0x8000000000000000;
  requires \exists integer d; 1 <= d && divides(div, d);
  assigns \nothing;
  ensures \forall integer d; 1 <= d && divides(div, d) ==> \result == x / d;
 */
static __always_inline u64 divisor_div(const struct hwheel_divisor *div, u64 x);

#endif /* _PROOFS_DIVISOR_H */
