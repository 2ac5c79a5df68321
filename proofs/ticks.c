// SPDX-License-Identifier: GPL-2.0
/*
 * Ticks and nanoseconds, and small functions on slots. S64_MAX is written as a number
 * here: the macro uses ~0ULL, and ACSL, whose integers are unbounded, takes that for -1.
 */

#include "arith.h"
#include "division.h"
#include "module/levels.h"
#include "divisor.h"

/*@
  requires \valid_read(l);
  requires HWHEEL_MIN_TICK_NS <= l->tick_ns && divides(&l->tick_div, l->tick_ns);
  assigns \nothing;
  ensures ns <= 0 ==> \result == 0;
  ensures ns > 0 ==> \result == (ns - 1) / l->tick_ns + 1;
 */
static __always_inline u64 levels_tick_up(const struct hwheel_levels *l, s64 ns);

/*@
  requires \valid_read(l);
  requires HWHEEL_MIN_TICK_NS <= l->tick_ns && divides(&l->tick_div, l->tick_ns);
  assigns \nothing;
  ensures ns <= 0 ==> \result == 0;
  ensures ns > 0 ==> \result == ns / l->tick_ns;
 */
static __always_inline u64 levels_tick_down(const struct hwheel_levels *l, s64 ns);

/*@
  requires \valid_read(l);
  requires HWHEEL_MIN_TICK_NS <= l->tick_ns;
  requires l->last_tick * l->tick_ns <= 0x7fffffffffffffff < l->last_tick * l->tick_ns + l->tick_ns;
  assigns \nothing;
  ensures tick <= l->last_tick ==> \result == tick * l->tick_ns;
  ensures tick > l->last_tick ==> \result == 0x7fffffffffffffff;
 */
static inline s64 levels_tick_ns(const struct hwheel_levels *l, u64 tick);

/*@
  requires \valid_read(lv);
  requires 1 <= lv->width && divides(&lv->div, lv->width);
  requires tick < 0x8000000000000000;
  assigns \nothing;
  ensures \result == tick / lv->width;
 */
static __always_inline u64 level_slot(const struct hwheel_level *lv, u64 tick);

/*@
  requires \valid_read(lv);
  requires index < lv->nr <= HWHEEL_MAX_SPOKES && lv->pos < lv->nr;
  requires lv->pos <= lv->slot < 0x8000000000000000;
  assigns \nothing;
  ensures index >= lv->pos ==> \result == lv->slot + index - lv->pos;
  ensures index < lv->pos ==> \result == lv->slot + index - lv->pos + lv->nr;
 */
static inline u64 level_slot_of(const struct hwheel_level *lv, unsigned int index);

/*@
  requires \valid_read(lv);
  requires lv->pos < lv->open <= HWHEEL_MAX_SPOKES && ahead < lv->open;
  requires \valid(lv->spokes + (0 .. lv->open - 1));
  assigns \result \from lv->spokes, lv->pos, lv->open, ahead;
  ensures lv->pos + ahead < lv->open ==> \result == lv->spokes + (lv->pos + ahead);
  ensures lv->pos + ahead >= lv->open ==>
    \result == lv->spokes + (lv->pos + ahead - lv->open);
 */
static __always_inline struct hwheel_spoke *level_ahead(const struct hwheel_level *lv,
							u64 ahead);
