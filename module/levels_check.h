/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layered wheel: a walk through the timers of a spoke, and a check of all invariants
 */
/**
 * levels_walk_begin - begin to walk through the timers of a spoke
 * @l: the levels; one walk at a time
 * @spoke: any of its spokes. Spokes of its fan need walks of their own
 *
 * The caller may drop the lock between calls of levels_walk_next(). If the walk's next
 * timer leaves then, the walk goes on with the timer's neighbour. A timer that changes its list
 * meanwhile may be seen twice.
 */
static inline void levels_walk_begin(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	l->walked = spoke;
	l->walk = spoke->same.next;
	l->walk_rest = false;
}

/* The next timer of the walk. NULL at its end. */
static inline struct hwheel_timer *levels_walk_next(struct hwheel_levels *l)
{
	struct hwheel_timer *timer;

	if (l->walk == &l->walked->same) {
		l->walk = l->walked->rest.next;
		l->walk_rest = true;
	}
	if (!l->walk || l->walk == &l->walked->rest)
		return NULL;
	timer = list_entry(l->walk, struct hwheel_timer, entry);
	l->walk = l->walk->next;
	return timer;
}

static inline void levels_walk_end(struct hwheel_levels *l)
{
	l->walk = NULL;
	l->walked = NULL;
}

/* Is @timer in @spoke's list @same, or else @rest, where it should be? */
static inline const char *levels_check_timer(struct hwheel_levels *l,
					     const struct hwheel_timer *timer,
					     const struct hwheel_spoke *spoke, bool same)
{
	u64 floor = max(l->floor, l->redo), tick = levels_due(l, timer), begin, width;

	if (spoke->level == HWHEEL_LOT && spoke->index >= HWHEEL_STRAY)
		return spoke->index == HWHEEL_EXPIRED && tick > l->clock ?
		       "a timer is about to run early" : NULL;
	if (tick < floor && spoke->bound <= floor)
		return NULL;		/* it may have been overdue when it was armed */
	if (tick < spoke->bound)
		return "a timer is due before its spoke's bound";
	if (same && tick != spoke->key)
		return "a timer of another tick is in @same";
	if (spoke->level == HWHEEL_LOT)
		return levels_bucket(l, tick) > spoke->index ? "a timer is in a bucket too low" :
							       NULL;
	begin = spoke_begin(l, spoke, &width);
	return tick - begin >= width ? "a timer is in another slot's spoke" : NULL;
}

static inline const char *levels_check_lists(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					     u64 *pending)
{
	const struct hwheel_timer *timer;
	const char *fault = NULL;
	u64 rests = 0;

	spoke_for_each(timer, spoke) {
		bool same = __list == &spoke->same;

		++*pending;
		rests += !same;
		fault = fault ?: levels_check_timer(l, timer, spoke, same);
	}
	if (rests > spoke->rests || (!rests && spoke->rests))
		return "a spoke has counted its timers wrongly";
	return fault;
}

/* Is @spoke, which is a crowd, as l->sift and l->sift_until say? */
static inline bool spoke_check_sift(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	const struct hwheel_level *lv = &l->level[spoke->level];
	struct hwheel_spoke *sift = l->sift;
	u64 width, until = l->sift_until, first = HWHEEL_NEVER;
	bool same;

	if (l->clock >= until || l->closed & BIT(spoke->level) || spoke->level == HWHEEL_LOT ||
	    spoke != (spoke->more & HWHEEL_CHILD ?
		      &lv->spokes[level_next(lv, HWHEEL_CROWDS, spoke->index & ~(HWHEEL_FAN - 1))] :
		      level_first(lv, HWHEEL_CROWDS)))
		return true;
	if (sift)
		first = spoke_begin(l, sift, &width);
	spoke_next_sift(l, spoke, &first);
	same = l->sift == sift && l->sift_until == until;
	l->sift = sift;
	l->sift_until = until;
	return same;
}

/* Is l->most right for @spoke, which is a crowd? It has been halved once at most since then. */
static inline bool spoke_check_most(struct hwheel_levels *l, const struct hwheel_spoke *spoke)
{
	u64 width, known = spoke->rests - spoke->rests % HWHEEL_CROWD_FAN;

	if (spoke->level >= HWHEEL_LOT || l->closed & BIT(spoke->level))
		return true;
	spoke_begin(l, spoke, &width);
	return l->most[levels_moves(width) - 1].n >= known / 2;
}

/* Does @spoke belong to the fan l->near, or to a fan below it? */
static inline bool spoke_near(struct hwheel_levels *l, const struct hwheel_spoke *spoke)
{
	while (spoke->more & HWHEEL_CHILD) {
		if (l->near && fan_id(spoke) == l->near - 1)
			return true;
		spoke = fan_get(l, fan_id(spoke))->parent;
	}
	return false;
}

static inline const char *levels_check_spoke(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	const struct hwheel_level *lv = &l->level[spoke->level];
	bool lot = spoke->level == HWHEEL_LOT, crowded = spoke->more & HWHEEL_CROWDED;
	bool bare = list_empty(&spoke->same) && list_empty(&spoke->rest);
	bool transit = lot && spoke->index >= HWHEEL_STRAY;
	struct hwheel_fan *fan;
	u64 begin, width;

	if (bare != spoke_bare(spoke))
		return "a bound does not match its spoke";
	if (level_bit(lv, HWHEEL_OCCUPIED, spoke->index) !=
	    (!bare || spoke->more & HWHEEL_HAS_FAN))
		return "a bit does not match its spoke";
	if (level_bit(lv, HWHEEL_CROWDS, spoke->index) != crowded)
		return "a bit for crowds does not match its spoke";
	if (spoke->rests < levels_few(spoke) ? crowded : !crowded)
		return "a crowd is marked wrongly";
	if (crowded && !spoke_check_sift(l, spoke))
		return "a crowd would be sifted too late";
	if (crowded && !spoke_check_most(l, spoke))
		return "a crowd is larger than its lead allows";
	if (!bare && list_empty(&spoke->rest) && spoke->bound != spoke->key)
		return "a bound could be later";
	if (spoke->bound < l->clock && !transit)
		return "a bound is before the clock";
	if (spoke->bound < l->above && spoke->level && !transit && !spoke_near(l, spoke))
		return "a bound above level 0 is before l->above";
	if (!(spoke->more & HWHEEL_HAS_FAN))
		return NULL;
	if (lot || l->fans_free & BIT_ULL(spoke_fan(spoke)) || !fan_first(l, spoke_fan(spoke)))
		return "a fan is not in use";
	fan = fan_get(l, spoke_fan(spoke));
	begin = spoke_begin(l, spoke, &width);
	if (fan->parent != spoke || fan->begin != begin || (u64)HWHEEL_FAN << fan->shift < width)
		return "a fan does not match its spoke";
	return NULL;
}

/* Check the clock of level @i, and whether it is marked right */
static inline const char *levels_check_clock(const struct hwheel_levels *l, unsigned int i)
{
	const struct hwheel_level *lv = &l->level[i];
	u32 pos;

	div_u64_rem(lv->slot, lv->nr, &pos);
	if (l->closed & BIT(i) ? lv->slot <= div64_u64(l->clock, lv->width) :
				  lv->slot != div64_u64(l->clock, lv->width))
		return "a level's clock differs from the wheel's";
	if (lv->pos != pos)
		return "a level's position does not match its clock";
	if (lv->open != (lv->spokes && !(l->closed & BIT(i)) ? lv->nr : 0))
		return "a level is open but marked as closed, or the reverse";
	return NULL;
}

/* Check the spokes of row @i */
static inline const char *levels_check_row(struct hwheel_levels *l, unsigned int i, u64 *pending,
					   unsigned int *fans)
{
	struct hwheel_level *lv = &l->level[i];
	u64 summary[2] = {}, bits[2] = {};
	const char *fault = NULL;
	unsigned int j, map;

	for (j = 0; lv->spokes && j < lv->nr && !fault; j++) {
		struct hwheel_spoke *spoke = &lv->spokes[j];

		for (map = 0; !(j % 64) && map < ARRAY_SIZE(bits); map++) {
			bits[map] = *level_word(lv, map, j / 64);
			summary[map] |= (u64)!!bits[map] << j / 64;
		}
		if (spoke->level != i || spoke->index != j ||
		    (spoke->more & HWHEEL_CHILD ? i < HWHEEL_FANS : i >= HWHEEL_FANS))
			return "a spoke has a wrong level or number";
		/* Pass over a spoke if its bits, bound, count and lists all say that it is empty */
		if (!((bits[0] | bits[1]) & BIT_ULL(j % 64)) && spoke_bare(spoke) &&
		    !spoke->rests && !(spoke->more & ~HWHEEL_CHILD) &&
		    list_empty(&spoke->same) && list_empty(&spoke->rest))
			continue;
		*fans += !!(spoke->more & HWHEEL_HAS_FAN);
		fault = levels_check_spoke(l, spoke) ?: levels_check_lists(l, spoke, pending);
	}
	if (!fault && (memcmp(summary, lv->summary, sizeof(summary)) ||
		       !summary[HWHEEL_CROWDS] != !(l->crowded & BIT(i))))
		return "a summary does not match its bitmap";
	if (!fault && !lv->spokes != !(l->exist & BIT(i)))
		return "a row exists but is not marked so, or the reverse";
	return fault;
}

/**
 * levels_check - check the whole structure against its invariants
 * @l: the levels
 *
 * Return: NULL, or what is wrong.
 */
static inline const char *levels_check(struct hwheel_levels *l)
{
	const char *fault = NULL;
	unsigned int i, fans = 0;
	u64 pending = 0;

	if (l->floor < l->clock)
		return "the floor is before the clock";
	if (l->clock < l->sift_until && l->sift &&
	    (!(l->sift->more & HWHEEL_CROWDED) || l->closed & BIT(l->sift->level)))
		return "what is to be sifted is no crowd, or its level is closed";
	if (l->from && l->from->more & HWHEEL_CHILD)
		return "timers seem to have been moved from a spoke of a fan";
	for (i = 0; i < HWHEEL_ROWS && !fault; i++) {
		if (i < l->top)
			fault = levels_check_clock(l, i);
		fault = fault ?: levels_check_row(l, i, &pending, &fans);
	}
	if (fault || pending != l->pending)
		return fault ?: "a timer is lost";
	fans += hweight64(l->fans_free);
	for (i = HWHEEL_FANS; i < HWHEEL_ROWS; i++)
		fans -= l->level[i].spokes ? l->level[i].nr / HWHEEL_FAN : 0;
	return fans ? "a fan is lost" : NULL;
}
