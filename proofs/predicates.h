/* SPDX-License-Identifier: GPL-2.0 */
/* What the contracts say of the structures; included behind their definitions. */

/*@
  predicate divides(struct hwheel_divisor *div, integer d) =
    div->shift < 64 && pow2(div->shift) <= d < 2 * pow2(div->shift) &&
    (div->mul == 0 ? d == pow2(div->shift) :
     div->mul * d - d <= 0x10000000000000000 * pow2(div->shift) < div->mul * d);
 */
