/* SPDX-License-Identifier: GPL-2.0 */
/* Predicates on the structures, for the contracts. Included after the structures. */

/*@
  predicate divides(struct hwheel_divisor *div, integer d) =
    div->shift < 64 && pow2(div->shift) <= d < 2 * pow2(div->shift) &&
    (div->mul == 0 ? d == pow2(div->shift) :
     div->mul * d - d <= 0x10000000000000000 * pow2(div->shift) < div->mul * d);
 */
