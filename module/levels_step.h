/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layered wheel: what is due next, and how timers move
 */
/* ------------------------------------------------------------------------ */
/* What is due next */

/*
 * Look at @spoke, and at the first spoke of its fan, and so on. Of all spokes that are looked at,
 * @first is the first one, and l->above the least bound of the others.
 */
static __always_inline void levels_look(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					struct hwheel_spoke **first)
{
	for (;;) {
		struct hwheel_spoke *later = *first;

		if (!later || spoke->bound <= later->bound)
			*first = spoke;
		else
			later = spoke;
		if (later)
			l->above = min(l->above, later->bound);
		if (likely(!(spoke->more & HWHEEL_HAS_FAN)))
			return;
		spoke = fan_first(l, spoke_fan(spoke));
	}
}

/* levels_first(), if all levels must be looked at. @level_0: the first spoke of level 0, or NULL */
static noinline struct hwheel_spoke *levels_first_of_all(struct hwheel_levels *l,
							 struct hwheel_spoke *level_0)
{
	const struct hwheel_level *lv = &l->level[0];
	struct hwheel_spoke *first = NULL;
	unsigned int i;
	u64 bits, width;

	l->above = lv->open && likely(!l->closed) ? (lv[1].slot + 1) * lv[1].width : 0;
	lv = &l->level[HWHEEL_LOT];
	for (bits = lv->spokes[0].bits & (BIT_ULL(HWHEEL_BUCKETS) - 1); bits; bits &= bits - 1)
		levels_look(l, &lv->spokes[__ffs64(bits)], &first);
	for (i = 1; i < l->nr; i++) {
		lv = &l->level[i];
		if (lv->summary[HWHEEL_OCCUPIED])
			levels_look(l, level_first(lv, HWHEEL_OCCUPIED), &first);
	}
	l->near = 0;
	if (first && first->more & HWHEEL_CHILD) {
		const struct hwheel_fan *fan = fan_get(l, fan_id(first));

		l->near = fan_id(first) + 1;
		/* Nobody has looked at spokes beside the fan's parent, or above it */
		spoke_begin(l, fan->parent, &width);
		l->above = min(l->above, fan->begin + width);
	} else if (first) {
		l->above = min(l->above, first->bound);
	}
	return first && (!level_0 || first->bound <= level_0->bound) ? first : level_0;
}

/*
 * The spoke with the least bound, if that is @by or before. NULL: no timer is due by then, apart
 * from those in transit.
 *
 * In most cases it is in level 0 or in the fan l->near, and no other spoke is looked at. l->above
 * allows this: nothing else is due before that tick. When all levels have been looked at, l->near
 * is set to the fan of the first spoke above level 0, if that is in a fan. l->above is set to the
 * least of three ticks: the least bound elsewhere, the end of that fan, and the beginning of the
 * next slot of level 1. Timers added later above level 0 are not due before that slot. But if level
 * 0 is missing, or any level is closed, they may be.
 *
 * If ticks are equal, level 0 and bucket 0 come last. They take the timers that callbacks arm
 * for the past, and these must not keep others of the same tick waiting.
 */
static inline struct hwheel_spoke *levels_first(struct hwheel_levels *l, u64 by)
{
	const struct hwheel_level *lv = &l->level[0];
	struct hwheel_spoke *level_0 = NULL, *first, *near;

	if (lv->summary[HWHEEL_OCCUPIED])
		level_0 = level_first(lv, HWHEEL_OCCUPIED);
	first = level_0;
	near = l->near ? fan_first(l, l->near - 1) : NULL;
	if (near && (!first || near->bound <= first->bound))
		first = near;
	if ((first ? min(first->bound, by) : by) >= l->above ||
	    (near && near->more & HWHEEL_HAS_FAN))
		first = levels_first_of_all(l, level_0);
	return first && first->bound <= by ? first : NULL;
}

/*
 * The first tick at which a timer may be due: the first bound. It is the present clock if timers
 * are left to pop, or to be placed anew. HWHEEL_NEVER if there are no timers.
 */
static inline u64 levels_due_tick(struct hwheel_levels *l)
{
	const struct hwheel_spoke *first;

	if (levels_transit(l, 0)->bits >> HWHEEL_STRAY)
		return l->clock;
	first = levels_first(l, HWHEEL_NEVER);
	if (!first)
		return HWHEEL_NEVER;
	return unlikely(l->redo && first->bound <= l->redo) ? l->clock : first->bound;
}

/* The tick at which levels_step() must be called next. HWHEEL_NEVER if there are no timers. */
static inline u64 levels_wake(struct hwheel_levels *l)
{
	u64 due = levels_due_tick(l);

	if (due == HWHEEL_NEVER || likely(!(l->closed | l->crowded)))
		return due;
	return min(due, levels_move_tick(l));
}

/* ------------------------------------------------------------------------ */
/* Moves of whole lists */

/* The timers of @same of @spoke, or of both lists, leave. If a walk is there, it goes on behind. */
static inline void levels_walk_past(struct hwheel_levels *l, const struct hwheel_spoke *spoke,
				    bool both)
{
	if (unlikely(l->walked == spoke && (both || !l->walk_rest))) {
		l->walk = both ? NULL : spoke->rest.next;
		l->walk_rest = true;
	}
}

/* Are the timers of @same of @spoke due at its bound? They can leave as a whole. */
static __always_inline bool spoke_whole(const struct hwheel_spoke *spoke)
{
	return spoke->key == spoke->bound && !list_empty(&spoke->same);
}

/* Move @same of @from to @same of @to, as a whole. They have the same @key, or @to is bare. */
static inline void levels_join(struct hwheel_levels *l, struct hwheel_spoke *from,
			       struct hwheel_spoke *to)
{
	levels_walk_past(l, from, false);
	if (spoke_bare(to)) {
		levels_set(l, HWHEEL_OCCUPIED, to);
		to->key = from->key;
	}
	to->bound = min(to->bound, from->key);
	list_splice_tail_init(&from->same, &to->same);
	levels_left(l, from);
}

/* All timers of @from go to @rest of @to. @same may be large, and nobody has counted its timers. */
static inline void levels_gather(struct hwheel_levels *l, struct hwheel_spoke *from,
				 struct hwheel_spoke *to)
{
	u64 sames = from->same.next == from->same.prev ? 1 : l->pending;

	l->from = spoke_root(l, from);
	levels_walk_past(l, from, true);
	if (spoke_bare(to)) {
		levels_set(l, HWHEEL_OCCUPIED, to);
		to->key = HWHEEL_NEVER;
	}
	to->bound = min(to->bound, from->bound);
	to->rests = min(sames + to->rests + from->rests, (u64)U32_MAX);
	list_splice_tail_init(&from->same, &to->rest);
	list_splice_tail_init(&from->rest, &to->rest);
	levels_note_crowd(l, to);
	levels_left(l, from);
}

/* ------------------------------------------------------------------------ */
/* Moves of timers */

/* Why a spoke is emptied tells whether its timers may stay, if their right level is missing */
enum hwheel_how {
	HWHEEL_MUST,	/* they go to the parking lot */
	HWHEEL_MAY,	/* they stay */
};

/* The right spoke of a timer that is due at @tick, maybe now. NULL: it stays where it is. */
static __always_inline struct hwheel_spoke *levels_target(struct hwheel_levels *l, u64 tick,
							  enum hwheel_how how)
{
	struct hwheel_spoke *to;

	if (tick == l->clock)
		return levels_transit(l, HWHEEL_EXPIRED);
	to = levels_place(l, tick);
	return how == HWHEEL_MAY && to->level == HWHEEL_LOT ? NULL : to;
}

/* The @n-th timer to leave @list. Taking them from both ends keeps two cache misses in flight. */
static __always_inline struct hwheel_timer *levels_nth(const struct list_head *list, unsigned int n)
{
	return list_entry(n % 2 ? list->prev : list->next, struct hwheel_timer, entry);
}

/* Move @timer, which is due at @tick, to @to. The caller looks whether its spoke is empty now. */
static __always_inline void levels_move(struct hwheel_levels *l, struct hwheel_timer *timer,
					struct hwheel_spoke *to, u64 tick)
{
	if (unlikely(l->walk == &timer->entry))
		l->walk = timer->entry.next;
	spoke_unlink(timer->entry.next, timer->entry.prev);
	levels_put(l, timer, to, tick);
}

/* Move up to HWHEEL_STEP timers of @list, one of the two lists of @spoke. Returns how many. */
static noinline unsigned int levels_empty(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					  struct list_head *list, enum hwheel_how how)
{
	unsigned int n;

	for (n = 0; n < HWHEEL_STEP && !list_empty(list); n++) {
		struct hwheel_timer *timer = levels_nth(list, n);
		u64 tick = max(levels_due(l, timer), l->clock);
		struct hwheel_spoke *to = levels_target(l, tick, how);

		if (!to)
			break;
		levels_move(l, timer, to, tick);
		l->moved += tick != l->clock;
	}
	if (!n)
		return 0;
	l->from = spoke_root(l, spoke);
	levels_left(l, spoke);
	return n;
}

/*
 * Move up to HWHEEL_STEP timers of @rest of @spoke, a crowd, to its fan. The clock has not entered
 * @spoke. Returns how many: none if no fan is free.
 */
static noinline unsigned int levels_sift(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	const struct hwheel_fan *fan;
	struct hwheel_spoke *children;
	unsigned int n, shift;
	u64 begin;

	levels_want(l, 0);	/* else levels_first() is slow */
	if (!(spoke->more & HWHEEL_HAS_FAN) && !levels_fan(l, spoke))
		return 0;
	fan = fan_get(l, spoke_fan(spoke));
	children = fan->spokes;
	begin = fan->begin;
	shift = fan->shift & 63;	/* see levels_highest() */
	for (n = 0; n < HWHEEL_STEP && !list_empty(&spoke->rest); n++) {
		struct hwheel_timer *timer = levels_nth(&spoke->rest, n);
		/* An overdue timer can be here only if this CPU's clock is behind another's */
		u64 tick = max(levels_due(l, timer), begin);

		levels_move(l, timer, &children[(tick - begin) >> shift], tick);
	}
	l->moved += n;
	l->from = spoke_root(l, spoke);
	levels_left(l, spoke);
	return n;
}

/*
 * Move timers of @spoke to their right places: those of @rest, else @same as a whole. If it can't
 * move as a whole, it stays, or if @how is HWHEEL_MUST, its timers move one by one. Returns how
 * many moves it took.
 */
static inline unsigned int levels_lower(struct hwheel_levels *l, struct hwheel_spoke *spoke,
					enum hwheel_how how)
{
	unsigned int n = 0;
	struct hwheel_spoke *to;

	if (!list_empty(&spoke->rest))
		n = levels_empty(l, spoke, &spoke->rest, how);
	if (n || list_empty(&spoke->same))
		return n;
	to = levels_target(l, spoke->key, how);
	if (!to)
		return 0;
	if (!spoke_bare(to) && to->key != spoke->key)
		return how == HWHEEL_MUST ? levels_empty(l, spoke, &spoke->same, how) : 0;
	l->from = spoke_root(l, spoke);
	levels_join(l, spoke, to);
	l->moved++;
	return 1;
}

/*
 * Move timers of the spokes that the clock has entered. Lower levels have a place for all of them.
 * They may stay if that level is missing, or if its spoke has another @key. A crowd must not stay.
 */
static inline unsigned int levels_lower_entered(struct hwheel_levels *l)
{
	unsigned int i, n;

	for (i = l->nr; i-- > 1;) {
		const struct hwheel_level *lv = &l->level[i];
		struct hwheel_spoke *spoke;

		if (!lv->open || !level_bit(lv, HWHEEL_OCCUPIED, lv->pos))
			continue;
		spoke = &lv->spokes[lv->pos];
		do {
			n = levels_lower(l, spoke, spoke->more & HWHEEL_CROWDED ? HWHEEL_MUST :
										  HWHEEL_MAY);
			if (n)
				return n;
		} while (spoke->more & HWHEEL_HAS_FAN &&
			 (spoke = fan_at(l, spoke_fan(spoke), l->clock)));
	}
	return 0;
}

/* The same for buckets that the clock has entered, and for crowds that will soon be due */
static inline unsigned int levels_lower_parked(struct hwheel_levels *l)
{
	u64 bits = levels_transit(l, 0)->bits & (BIT_ULL(HWHEEL_BUCKETS) - 1);
	unsigned int n = 0;

	for (; bits && !n; bits &= bits - 1) {
		struct hwheel_spoke *bucket = levels_transit(l, __ffs64(bits));

		if (levels_bucket(l, bucket->bound) < bucket->index ||
		    (bucket->more & HWHEEL_CROWDED && bucket_start(l, bucket) <= l->clock))
			n = levels_empty(l, bucket, &bucket->rest, HWHEEL_MAY);
	}
	return n;
}

/* ------------------------------------------------------------------------ */
/* The clock is set back */

/* Open the closed levels that are empty. */
static noinline void levels_reopen(struct hwheel_levels *l)
{
	unsigned int i;

	for (i = 0; i < l->top; i++) {
		struct hwheel_level *lv = &l->level[i];

		if (!(l->closed & BIT(i)) || lv->summary[HWHEEL_OCCUPIED])
			continue;
		level_set_slot(lv, level_slot(lv, l->clock));
		levels_open(l, i);
	}
}

/* Move timers out of the lowest closed level. Returns how many. */
static inline unsigned int levels_lower_closed(struct hwheel_levels *l)
{
	struct hwheel_spoke *spoke = level_first(&l->level[__ffs64(l->closed)], HWHEEL_OCCUPIED);

	while (spoke_bare(spoke))
		spoke = fan_first(l, spoke_fan(spoke));
	return levels_lower(l, spoke, HWHEEL_MUST);
}

/*
 * After the clock was set back, timers get new places: first collect those that were due by the
 * old clock, then place them by their own ticks. False if none is left.
 */
static noinline bool levels_replace(struct hwheel_levels *l)
{
	struct hwheel_spoke *stray = levels_transit(l, HWHEEL_STRAY), *spoke;
	unsigned int n;

	for (n = 0; l->redo && n < HWHEEL_STEP; n += !!l->redo) {
		spoke = levels_first(l, l->redo);
		if (spoke)
			levels_gather(l, spoke, stray);
		else
			l->redo = 0;
	}
	l->moved += n;
	if (n || levels_empty(l, stray, &stray->rest, HWHEEL_MUST))
		return true;
	l->closed &= ~BIT(HWHEEL_LOT);
	levels_reopen(l);
	return false;
}

/*
 * The clock was set back: the present tick is @now, which is before the floor. Takes at
 * most two splices for each bucket. See "The clock is set back".
 */
static inline void levels_set_back(struct hwheel_levels *l, u64 now)
{
	unsigned int i, last = fls64(l->clock ^ min(l->clock, now));
	const struct hwheel_level *lot = &l->level[HWHEEL_LOT];
	u64 bits = lot->spokes[0].bits & (BIT_ULL(last) - 1);

	if (l->pending) {
		l->redo = max(l->redo, l->floor);
		l->closed |= BIT(HWHEEL_LOT);
	}
	l->floor = now;
	l->above = 0;
	l->sift_until = 0;
	if (!spoke_bare(&lot->spokes[HWHEEL_EXPIRED]))
		levels_gather(l, &lot->spokes[HWHEEL_EXPIRED], &lot->spokes[HWHEEL_STRAY]);
	if (now >= l->clock)
		return;
	for (; bits; bits &= bits - 1)
		levels_gather(l, &lot->spokes[__ffs64(bits)], &lot->spokes[last]);
	l->clock = now;
	for (i = 0; i < ARRAY_SIZE(l->most); i++)
		l->most[i].since = now;
	/* levels_reopen() opens those that are empty */
	for (i = 0; i < l->top; i++) {
		struct hwheel_level *lv = &l->level[i];

		if (level_slot(lv, now) == lv->slot)
			continue;
		l->closed |= BIT(i);
		lv->open = 0;
	}
	levels_reopen(l);
}

/* ------------------------------------------------------------------------ */
/* Steps */

/**
 * levels_step - do one bounded step of the work at a tick
 * @l: the levels
 * @now: the present tick
 *
 * Due timers come first, in the order of their ticks. After the clock was set back, timers that
 * must be placed anew come before them, and those that are due expire meanwhile. A timer that is
 * armed for a tick that has passed counts as due at the floor. So callbacks that arm timers for the
 * past do not hold up other timers. Between two calls, timers may be added, removed and changed.
 *
 * Return: HWHEEL_DUE if there are timers to pop and run; HWHEEL_MOVED if some were
 * moved and there may be more to do; HWHEEL_IDLE if nothing is left to do.
 */
static inline enum hwheel_step levels_step(struct hwheel_levels *l, u64 now)
{
	struct hwheel_spoke *expired = levels_transit(l, HWHEEL_EXPIRED);
	struct hwheel_spoke *spoke;

	l->floor = max(l->floor, now);
	if (!spoke_bare(expired))
		return HWHEEL_DUE;
	if (unlikely(l->closed) && levels_replace(l))
		goto moved;

	spoke = levels_first(l, now);
	if (spoke) {
		if (spoke->bound > l->clock)
			levels_set_clock(l, spoke->bound);
		if (spoke_whole(spoke) && spoke->bound < now)
			return HWHEEL_DUE;
		if (spoke_whole(spoke))
			levels_join(l, spoke, expired);
		else
			levels_empty(l, spoke, &spoke->rest, HWHEEL_MUST);
		goto moved;
	}

	/* Nothing is due, so there is time to prepare what will be due */
	if (now > l->clock)
		levels_set_clock(l, now);
	if (!l->pending)
		return HWHEEL_IDLE;
	if (levels_lower_entered(l))
		return HWHEEL_MOVED;
	spoke = unlikely(l->crowded) ? levels_next_sift(l) : NULL;
	if (spoke && levels_sift(l, spoke))
		return HWHEEL_MOVED;
	if ((unlikely(l->closed) && levels_lower_closed(l)) || levels_lower_parked(l))
		return HWHEEL_MOVED;
	return HWHEEL_IDLE;
moved:
	return spoke_bare(expired) ? HWHEEL_MOVED : HWHEEL_DUE;
}

/*
 * levels_pop(), if no timer is about to run. The timers of the next tick before @now are about to
 * run from now on, if they need not move before. Those of @now itself wait for levels_step(), to
 * which the user passes the time anew: callbacks may keep arming their timers for the past.
 */
static noinline struct hwheel_timer *levels_pop_next(struct hwheel_levels *l, u64 now)
{
	struct hwheel_spoke *spoke = levels_first(l, now);
	struct hwheel_timer *timer;

	l->floor = max(l->floor, now);
	if (!spoke || spoke->bound >= now || !spoke_whole(spoke) || l->closed & BIT(HWHEEL_LOT))
		return NULL;
	if (spoke->bound > l->clock)
		levels_set_clock(l, spoke->bound);
	timer = levels_nth(&spoke->same, 0);
	if (spoke->same.next != spoke->same.prev)
		levels_join(l, spoke, levels_transit(l, HWHEEL_EXPIRED));
	levels_del(l, timer);
	return timer;
}

/* Take the next timer that is due at @now off the wheel. NULL: call levels_step() again. */
static __always_inline struct hwheel_timer *levels_pop(struct hwheel_levels *l, u64 now)
{
	struct list_head *same = &levels_transit(l, HWHEEL_EXPIRED)->same;
	struct hwheel_timer *timer;

	if (list_empty(same))
		return levels_pop_next(l, now);
	timer = levels_nth(same, l->pending);
	levels_del(l, timer);
	return timer;
}

/* Any timer, for callers that remove all of them. NULL if none is pending. */
static inline struct hwheel_timer *levels_any(struct hwheel_levels *l)
{
	u64 bits = levels_transit(l, 0)->bits >> HWHEEL_STRAY;
	struct hwheel_spoke *spoke;

	spoke = bits ? levels_transit(l, HWHEEL_STRAY + __ffs64(bits)) :
		       levels_first(l, HWHEEL_NEVER);
	if (!spoke)
		return NULL;
	return list_first_entry(list_empty(&spoke->same) ? &spoke->rest : &spoke->same,
				struct hwheel_timer, entry);
}
