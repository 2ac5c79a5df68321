/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layered wheel: where a timer goes, and how it gets there
 */
/* ------------------------------------------------------------------------ */
/* Bitmaps */

/*
 * A word of a bitmap of @lv. The spokes hold the words of both bitmaps: first those of the
 * occupied spokes, then those of the crowds.
 */
static __always_inline u64 *level_word(const struct hwheel_level *lv, enum hwheel_map map,
				       unsigned int word)
{
	return &lv->spokes[(map ? DIV_ROUND_UP(lv->nr, 64) : 0) + word].bits;
}

static __always_inline bool level_bit(const struct hwheel_level *lv, enum hwheel_map map,
				      unsigned int spoke)
{
	return *level_word(lv, map, spoke / 64) & BIT_ULL(spoke % 64);
}

/* The first bit set at or after spoke @from. Spoke @from exists. @nr of @lv: none */
static __always_inline unsigned int level_next(const struct hwheel_level *lv, enum hwheel_map map,
					       unsigned int from)
{
	unsigned int word = from / 64;
	u64 bits = *level_word(lv, map, word) & (~0ULL << (from % 64));

	if (!bits) {
		u64 words = word < 63 ? lv->summary[map] & (~0ULL << (word + 1)) : 0;

		if (!words)
			return lv->nr;
		word = __ffs64(words);
		bits = *level_word(lv, map, word);
	}
	return word * 64 + __ffs64(bits);
}

/* The spoke of the first bit set from the clock on, wrapping round. There must be one. */
static __always_inline struct hwheel_spoke *level_first(const struct hwheel_level *lv,
							enum hwheel_map map)
{
	unsigned int i = level_next(lv, map, lv->pos);

	return &lv->spokes[i < lv->nr ? i : level_next(lv, map, 0)];
}

static __always_inline void levels_set(struct hwheel_levels *l, enum hwheel_map map,
				       const struct hwheel_spoke *spoke)
{
	struct hwheel_level *lv = &l->level[spoke->level];

	*level_word(lv, map, spoke->index / 64) |= BIT_ULL(spoke->index % 64);
	lv->summary[map] |= BIT_ULL(spoke->index / 64);
}

static __always_inline void levels_clear(struct hwheel_levels *l, enum hwheel_map map,
					 const struct hwheel_spoke *spoke)
{
	struct hwheel_level *lv = &l->level[spoke->level];
	u64 *bits = level_word(lv, map, spoke->index / 64);

	*bits &= ~BIT_ULL(spoke->index % 64);
	if (!*bits)
		lv->summary[map] &= ~BIT_ULL(spoke->index / 64);
}

/* ------------------------------------------------------------------------ */
/* Spokes */

/* The slot of level @lv that uses spoke @index at present */
static inline u64 level_slot_of(const struct hwheel_level *lv, unsigned int index)
{
	return lv->slot + index - lv->pos + (index < lv->pos ? lv->nr : 0);
}

/* The spoke for the slot that is @ahead slots ahead of the clock */
static __always_inline struct hwheel_spoke *level_ahead(const struct hwheel_level *lv, u64 ahead)
{
	ahead += lv->pos;
	ahead = ahead < lv->open ? ahead : ahead - lv->open;
	OPTIMIZER_HIDE_VAR(ahead);	/* else gcc computes both addresses */
	return &lv->spokes[ahead];
}

/*
 * The lowest level that can be the right one for a timer due in @distance ticks. UBSAN would check
 * an index, but it does not check "+".
 */
static __always_inline struct hwheel_level *levels_lowest(struct hwheel_levels *l, u64 distance)
{
	return l->level + l->lowest[levels_highest(distance | 1)];
}

/* The bucket for a timer due at @tick: the number of bits up to the highest that differs */
static inline unsigned int levels_bucket(const struct hwheel_levels *l, u64 tick)
{
	return fls64(tick ^ l->clock);
}

/*
 * The spoke for a timer due at @tick, from level @lv upwards. No lower level has a place for the
 * timer. If the right level is missing or closed, the timer goes to the parking lot.
 */
static noinline struct hwheel_spoke *levels_place_above(struct hwheel_levels *l,
							const struct hwheel_level *lv,
							u64 tick)
{
	for (; lv < &l->level[l->top]; lv++) {
		u64 slot = unlikely(l->closed) ? level_slot(lv, l->clock) : lv->slot;
		u64 ahead = level_slot(lv, tick) - slot;

		if (ahead >= lv->nr)
			continue;
		if (ahead < lv->open)
			return level_ahead(lv, ahead);
		levels_want(l, lv - l->level);
		break;
	}
	return levels_transit(l, levels_bucket(l, tick));
}

/*
 * The spoke for a timer due at @due, and the spoke's level. An overdue timer is due at the
 * floor instead. The level that @lowest gives may be too low, for these reasons:
 *
 * - @lowest knows only the highest bit of the distance. If the reach of a level is not a power
 *   of two ticks, the reach may be less than the distance.
 * - The clock is near the end of its slot: the timer may be one slot further ahead.
 * - The clock is behind the floor.
 *
 * In most cases the next level is right, but a still higher one may be.
 */
static __always_inline struct hwheel_spoke *
levels_find(struct hwheel_levels *l, u64 *due, const struct hwheel_level **level)
{
	const struct hwheel_level *lv;
	struct hwheel_spoke *spoke;
	u64 tick = *due, ahead, distance = tick - l->floor;

	/* The floor is not before the clock, so this level is right or too low */
	if (likely((s64)distance >= 0)) {
		lv = levels_lowest(l, distance);
		OPTIMIZER_HIDE_VAR(lv);	/* else gcc computes lv for each member again */
		ahead = level_slot(lv, tick) - lv->slot;
		if (likely(ahead < lv->open)) {
			*level = lv;
			return level_ahead(lv, ahead);
		}
	} else {			/* overdue: due at the floor */
		lv = l->level;
		tick = l->floor;
		*due = tick;
	}
	spoke = levels_place_above(l, lv, tick);
	*level = &l->level[spoke->level];
	return spoke;
}

/* As levels_find(), for a timer that moves. @tick is not before the clock. */
static inline struct hwheel_spoke *levels_place(struct hwheel_levels *l, u64 tick)
{
	const struct hwheel_level *lv = levels_lowest(l, tick - l->clock);
	u64 ahead = level_slot(lv, tick) - lv->slot;

	return likely(ahead < lv->open) ? level_ahead(lv, ahead) :
					  levels_place_above(l, lv, tick);
}

/*
 * As list_add_tail() and list_del(), without the checks of CONFIG_DEBUG_LIST. Debian's
 * kernels have these checks; for the hlists of timer_list the kernel has none. The checks
 * read both neighbours: they wait for two cache lines that are otherwise only written to,
 * and they cost 29 instructions.
 */
static __always_inline void spoke_link(struct list_head *entry, struct list_head *head)
{
	struct list_head *last = head->prev;

	head->prev = entry;
	WRITE_ONCE(entry->next, head);
	entry->prev = last;
	WRITE_ONCE(last->next, entry);
}

static __always_inline void spoke_unlink(struct list_head *next, struct list_head *prev)
{
	next->prev = prev;
	WRITE_ONCE(prev->next, next);
}

/* ------------------------------------------------------------------------ */
/* Fans */

/* The row of fan @id */
static inline struct hwheel_level *fan_row(struct hwheel_levels *l, unsigned int id)
{
	return &l->level[HWHEEL_FANS + id / HWHEEL_FAN_IDS];
}

/* The number of the fan of @child */
static inline unsigned int fan_id(const struct hwheel_spoke *child)
{
	return (child->level - HWHEEL_FANS) * HWHEEL_FAN_IDS + child->index / HWHEEL_FAN;
}

static inline struct hwheel_fan *fan_get(struct hwheel_levels *l, unsigned int id)
{
	return (struct hwheel_fan *)(l->level[HWHEEL_FANS].spokes + HWHEEL_FEW_FANS * HWHEEL_FAN) +
	       id;
}

/* The number of the fan of @spoke, which has one */
static inline unsigned int spoke_fan(const struct hwheel_spoke *spoke)
{
	return (spoke->more & HWHEEL_HAS_FAN) - 1;
}

/* The first occupied spoke of fan @id. NULL if the fan is empty */
static inline struct hwheel_spoke *fan_first(struct hwheel_levels *l, unsigned int id)
{
	const struct hwheel_level *lv = fan_row(l, id);
	unsigned int i = level_next(lv, HWHEEL_OCCUPIED, id % HWHEEL_FAN_IDS * HWHEEL_FAN);

	return i / HWHEEL_FAN == id % HWHEEL_FAN_IDS ? &lv->spokes[i] : NULL;
}

/* The spoke of fan @id for @tick, which is not before the fan. "& 63": see levels_highest() */
static inline struct hwheel_spoke *fan_at(struct hwheel_levels *l, unsigned int id, u64 tick)
{
	const struct hwheel_fan *fan = fan_get(l, id);

	return &fan->spokes[(tick - fan->begin) >> (fan->shift & 63)];
}

/* The spoke at the bottom of the fans of @spoke, for @tick */
static noinline struct hwheel_spoke *spoke_bottom(struct hwheel_levels *l,
						  struct hwheel_spoke *spoke, u64 tick)
{
	do
		spoke = fan_at(l, spoke_fan(spoke), tick);
	while (unlikely(spoke->more & HWHEEL_HAS_FAN));
	return spoke;
}

/* log2 of the width of the spokes in a fan that covers @width ticks */
static inline unsigned int fan_shift(u64 width)
{
	return fls64((width - 1) >> HWHEEL_FAN_BITS);
}

/* If @spoke is in a fan: the spoke of a level at the top of the fans. Else: @spoke. */
static inline struct hwheel_spoke *spoke_root(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	while (spoke->more & HWHEEL_CHILD)
		spoke = fan_get(l, fan_id(spoke))->parent;
	return spoke;
}

/*
 * The first tick of @spoke, which belongs to a level or a fan. Sets @width to its width in
 * ticks.
 */
static inline u64 spoke_begin(struct hwheel_levels *l, const struct hwheel_spoke *spoke, u64 *width)
{
	const struct hwheel_level *lv = &l->level[spoke->level];

	if (spoke->more & HWHEEL_CHILD) {
		const struct hwheel_fan *fan = fan_get(l, fan_id(spoke));

		*width = 1ULL << fan->shift;
		return fan->begin + ((u64)(spoke->index % HWHEEL_FAN) << fan->shift);
	}
	*width = lv->width;
	return level_slot_of(lv, spoke->index) * lv->width;
}

/* How often a timer of a spoke that is @width ticks wide moves through fans, at most */
static inline unsigned int levels_moves(u64 width)
{
	return DIV_ROUND_UP(fls64((width - 1) | 1), HWHEEL_FAN_BITS);
}

/* The longest turn of the levels whose spokes have @moves as their levels_moves() */
static inline u64 levels_turn(const struct hwheel_levels *l, unsigned int moves)
{
	const struct hwheel_level *lv;
	u64 turn = 0;

	for (lv = &l->level[1]; lv < &l->level[l->top]; lv++)
		if (levels_moves(lv->width) == moves)
			turn = max(turn, lv->nr * lv->width);
	return turn;
}

/* Give @spoke a fan. False if none is free */
static inline bool levels_fan(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	struct hwheel_fan *fan;
	unsigned int id;
	u64 width;

	if (!l->fans_free)
		return false;
	id = __ffs64(l->fans_free);
	l->fans_free &= l->fans_free - 1;
	fan = fan_get(l, id);
	fan->begin = spoke_begin(l, spoke, &width);
	fan->shift = fan_shift(width);
	fan->parent = spoke;
	fan->spokes = &fan_row(l, id)->spokes[id % HWHEEL_FAN_IDS * HWHEEL_FAN];
	spoke->more |= id + 1;
	return true;
}

/* A spoke is a crowd. Are more than @kept fans free? If not, ask for the next row of them */
static inline bool levels_want_fans(struct hwheel_levels *l, unsigned int kept)
{
	u32 missing = ~l->exist & (BIT(HWHEEL_ROWS) - BIT(HWHEEL_FANS));

	if (l->fans_free && (!kept || hweight64(l->fans_free) > kept))
		return true;
	if (missing)
		levels_want(l, __ffs64(missing));
	return false;
}

/* ------------------------------------------------------------------------ */
/* What is to be sifted next */

/*
 * The lead of a crowd of @size timers, in ticks: it is ready to be sifted this long before its
 * spoke begins, which is @width ticks wide. 4 times, because other crowds may come first, and a
 * burst doubles @most: with 2 times, "a burst" of fuzz/crowds.c is 2.4 ms late. An eighth of @width
 * is for crowds of narrow spokes, whose neighbours are sifted one after the other.
 */
static inline u64 levels_lead(const struct hwheel_levels *l, u64 width, u64 size)
{
	unsigned int moves = levels_moves(width);
	u64 most = l->most[moves - 1].n;

	return levels_tick_down(l, 4 * max(most, size) * HWHEEL_SIFT_NS * moves) + 1 +
	       width / 8 + l->ahead;
}

/*
 * @spoke is a crowd. If it is ready and begins before *@first, it is to be sifted next: update
 * l->sift and *@first. If it will be ready and begins before *@first, update l->sift_until.
 */
static inline void spoke_next_sift(struct hwheel_levels *l, struct hwheel_spoke *spoke, u64 *first)
{
	u64 width, lead, start, begin = spoke_begin(l, spoke, &width);

	if (begin >= *first)
		return;
	/* Only levels_note_crowd() changes the lead */
	lead = levels_lead(l, width, spoke->rests - spoke->rests % HWHEEL_CROWD_FAN);
	start = begin - min(begin, lead);
	/* Without a fan it waits until the clock enters it */
	if (!l->fans_free && !(spoke->more & HWHEEL_HAS_FAN))
		start = begin;
	if (start > l->clock) {
		l->sift_until = min(l->sift_until, start);
	} else {
		l->sift = spoke;
		*first = begin;
	}
}

/* @spoke has become a crowd. Is it to be sifted next? */
static inline void levels_sift_too(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	u64 width, first = HWHEEL_NEVER;

	if (l->clock >= l->sift_until)
		return;
	if (l->sift)
		first = spoke_begin(l, l->sift, &width);
	spoke_next_sift(l, spoke, &first);
}

/* levels_next_sift(), if all crowds must be looked at */
static noinline void levels_find_sift(struct hwheel_levels *l)
{
	u64 rows = l->crowded & ~(l->closed | BIT(HWHEEL_LOT)), first = HWHEEL_NEVER;

	l->sift = NULL;
	l->sift_until = HWHEEL_NEVER;
	/* Fans come first: they are narrow, and begin early */
	if (rows)
		levels_want_fans(l, 0);	/* ask again: there may have been no memory */
	while (rows) {
		const struct hwheel_level *lv = &l->level[levels_highest(rows)];
		unsigned int i;

		rows ^= BIT_ULL(levels_highest(rows));
		if (lv < &l->level[HWHEEL_LOT]) {
			spoke_next_sift(l, level_first(lv, HWHEEL_CROWDS), &first);
			continue;
		}
		for (i = 0; i < lv->nr; i = (i | (HWHEEL_FAN - 1)) + 1) {
			i = level_next(lv, HWHEEL_CROWDS, i);
			if (i < lv->nr)
				spoke_next_sift(l, &lv->spokes[i], &first);
		}
	}
}

/*
 * The crowd to be sifted next: of those that are ready, the one that begins first. NULL if none is
 * ready before l->sift_until. In a level, the first crowd from the clock on begins first. In a fan,
 * the first crowd begins first. So no other crowd is looked at. A closed level is emptied anyway.
 * Crowds of the parking lot are not sifted. There are many calls, so l->sift keeps the answer.
 */
static inline struct hwheel_spoke *levels_next_sift(struct hwheel_levels *l)
{
	if (l->clock >= l->sift_until)
		levels_find_sift(l);
	return l->sift;
}

/* ------------------------------------------------------------------------ */
/* Timers come and go */

/* @rest of @spoke has become empty, so it is no crowd any more. @same may be empty, too. */
static noinline void levels_rest_emptied(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	spoke->rests = 0;
	if (spoke->more & HWHEEL_CROWDED) {
		spoke->more &= ~HWHEEL_CROWDED;
		l->sift_until = 0;
		levels_clear(l, HWHEEL_CROWDS, spoke);
		if (!l->level[spoke->level].summary[HWHEEL_CROWDS])
			l->crowded &= ~BIT(spoke->level);
	}
}

/* The lists of @spoke are empty, and it has flags */
static noinline void levels_bare(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	unsigned int id;

	if (spoke->more & HWHEEL_CROWDED)
		levels_rest_emptied(l, spoke);
	while (spoke_bare(spoke) && !(spoke->more & HWHEEL_HAS_FAN)) {
		levels_clear(l, HWHEEL_OCCUPIED, spoke);
		if (!(spoke->more & HWHEEL_CHILD))
			return;
		id = fan_id(spoke);
		if (fan_first(l, id))
			return;
		if (!l->fans_free)
			l->sift_until = 0;
		l->fans_free |= BIT_ULL(id);
		spoke = fan_get(l, id)->parent;
		spoke->more &= ~HWHEEL_HAS_FAN;
	}
}

/* The lists of @spoke have become empty. */
static __always_inline void levels_emptied(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	spoke->bound = HWHEEL_NEVER;
	spoke->rests = 0;
	if (unlikely(spoke->more))
		levels_bare(l, spoke);
	else
		levels_clear(l, HWHEEL_OCCUPIED, spoke);
}

/* Timers have left @spoke, and one of its lists is empty */
static __always_inline void levels_left(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	if (!list_empty(&spoke->rest))
		return;
	spoke->bound = spoke->key;
	if (list_empty(&spoke->same))
		levels_emptied(l, spoke);
	else
		levels_rest_emptied(l, spoke);
}

/*
 * Take @timer, which is pending, out of its spoke. The caller puts the timer into another
 * spoke, or marks it as not pending. Until then readers without the lock see it as pending.
 */
static __always_inline void levels_unlink(struct hwheel_levels *l, struct hwheel_timer *timer)
{
	struct list_head *next = timer->entry.next, *prev = timer->entry.prev;

	if (unlikely(l->walk == &timer->entry))
		l->walk = next;
	spoke_unlink(next, prev);
	if (next == prev)	/* both are the head: the list is empty now */
		levels_left(l, spoke_of(next));
}

/*
 * Take @timer out of @l. The caller adds it to the levels of another base, or marks it as not
 * pending.
 */
static __always_inline void levels_leave(struct hwheel_levels *l, struct hwheel_timer *timer)
{
	levels_unlink(l, timer);
	l->pending--;
}

/* Take @timer off the wheel. */
static __always_inline void levels_del(struct hwheel_levels *l, struct hwheel_timer *timer)
{
	levels_leave(l, timer);
	WRITE_ONCE(timer->entry.next, NULL);
}

/* How many timers in @rest make @spoke a crowd */
static inline unsigned int levels_few(const struct hwheel_spoke *spoke)
{
	return spoke->more & HWHEEL_CHILD ? HWHEEL_CROWD_FAN : HWHEEL_CROWD;
}

/*
 * If @rest of @spoke is a crowd, mark the spoke, and note how large it is. Returns whether the
 * spoke's crowd may now be ready earlier than before.
 */
static noinline bool levels_note_crowd(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	bool earlier = !(spoke->more & HWHEEL_CROWDED);
	struct hwheel_most *most;
	u64 width, age, few = levels_few(spoke);
	unsigned int moves;

	if (spoke->rests < few)
		return false;
	if (spoke->rests > l->pending)		/* some were cancelled, and need no time */
		spoke->rests = max(l->pending, few);
	if (earlier) {
		spoke->more |= HWHEEL_CROWDED;
		levels_set(l, HWHEEL_CROWDS, spoke);
		l->crowded |= BIT(spoke->level);
	}
	if (spoke->level == HWHEEL_LOT)
		return false;
	spoke_begin(l, spoke, &width);
	moves = levels_moves(width);
	most = &l->most[moves - 1];
	age = l->clock - most->since;
	if (age >= width << HWHEEL_FAN_BITS && age >= levels_turn(l, moves)) {
		most->n /= 2;
		most->since = l->clock;
		l->sift_until = 0;
	}
	if (spoke->rests > most->n) {
		most->n = 2ULL * spoke->rests;
		earlier = true;
		l->sift_until = 0;
	} else if (earlier) {
		levels_sift_too(l, spoke);
	}
	levels_want_fans(l, 0);
	return earlier;
}

/*
 * Give @spoke, a crowd, a fan of single ticks before it is sifted? If so, a timer must go there at
 * once. Crowds of wider spokes ask for fans, too: they need some when they come down.
 */
static inline bool levels_fan_early(struct hwheel_levels *l, struct hwheel_spoke *spoke)
{
	u64 width;

	if (spoke->level == HWHEEL_LOT)
		return false;
	spoke_begin(l, spoke, &width);
	return levels_want_fans(l, HWHEEL_FANS_KEPT) && width <= HWHEEL_FAN && levels_fan(l, spoke);
}

static __always_inline bool levels_put(struct hwheel_levels *l, struct hwheel_timer *timer,
				       struct hwheel_spoke *spoke, u64 tick);

/*
 * @timer comes to many timers in @rest of @spoke, or to a new fan if @spoke is a large crowd. If
 * @same has one timer at most, that goes to @rest, too, and from now on @same is for timers due at
 * the bound: slack brings timers together there. So timers of @rest may be due at @key, as after
 * levels_stays(). Returns what levels_put() returns.
 */
static noinline bool levels_put_many(struct hwheel_levels *l, struct hwheel_timer *timer,
				     struct hwheel_spoke *spoke, u64 tick)
{
	if (spoke->rests >= HWHEEL_CROWD_EARLY && levels_fan_early(l, spoke))
		return levels_put(l, timer, spoke, tick);
	spoke->bound = min(spoke->bound, tick);
	spoke_link(&timer->entry, &spoke->rest);
	spoke->rests++;
	if (spoke->key != spoke->bound && spoke->same.next == spoke->same.prev) {
		spoke->rests += !list_empty(&spoke->same);
		list_splice_init(&spoke->same, &spoke->rest);
		l->walk_rest |= l->walked == spoke;	/* a walk goes on there */
		spoke->key = spoke->bound;
	}
	return levels_note_crowd(l, spoke);
}

/*
 * Put @timer, due at @tick, into @spoke. Every HWHEEL_CROWD_FAN-th time, look whether @rest has
 * become a crowd. Returns whether a crowd may now be ready earlier.
 */
static __always_inline bool levels_put(struct hwheel_levels *l, struct hwheel_timer *timer,
				       struct hwheel_spoke *spoke, u64 tick)
{
	if (unlikely(spoke->more & HWHEEL_HAS_FAN))
		spoke = spoke_bottom(l, spoke, tick);
	if (spoke_bare(spoke)) {
		levels_set(l, HWHEEL_OCCUPIED, spoke);
		spoke->key = tick;
	}
	if (tick != spoke->key && unlikely(!((spoke->rests + 1) % HWHEEL_CROWD_FAN)))
		return levels_put_many(l, timer, spoke, tick);
	spoke->bound = min(spoke->bound, tick);
	if (tick == spoke->key) {
		spoke_link(&timer->entry, &spoke->same);
	} else {
		spoke_link(&timer->entry, &spoke->rest);
		spoke->rests++;
	}
	return false;
}

/*
 * The tick from which on a crowd in @bucket is moved to levels. Nothing is due there before the
 * bound. HWHEEL_NEVER: the level of the timer that levels_empty() would move first is missing.
 */
static inline u64 bucket_start(struct hwheel_levels *l, const struct hwheel_spoke *bucket)
{
	u64 lead = levels_lead(l, 2ULL << bucket->index, bucket->rests);
	u64 tick = levels_due(l, list_first_entry(&bucket->rest, struct hwheel_timer, entry));

	return levels_place(l, max(tick, l->clock))->level == HWHEEL_LOT ? HWHEEL_NEVER :
	       bucket->bound - min(bucket->bound, lead);
}

/*
 * The tick at which levels_step() has something to move ahead of time, if nothing is due. It is the
 * present clock if a closed level is to be emptied. There are timers.
 */
static noinline u64 levels_move_tick(struct hwheel_levels *l)
{
	u64 start, bits;

	if (unlikely(l->closed))
		return l->clock;
	start = levels_next_sift(l) ? l->clock : l->sift_until;
	/* Only of buckets: strays count as closed */
	for (bits = *level_word(&l->level[HWHEEL_LOT], HWHEEL_CROWDS, 0); bits; bits &= bits - 1)
		start = min(start, bucket_start(l, levels_transit(l, __ffs64(bits))));
	return start;
}

/* ------------------------------------------------------------------------ */
/* Arming */

/*
 * Put @timer, due at @tick, into @spoke. Returns the tick by which levels_step() must be called:
 * @tick, or an earlier tick if @timer joined a crowd.
 */
static __always_inline u64 levels_insert(struct hwheel_levels *l, struct hwheel_timer *timer,
					 struct hwheel_spoke *spoke, u64 tick)
{
	if (likely(!levels_put(l, timer, spoke, tick)))
		return tick;
	return min(tick, levels_move_tick(l));
}

/* Add @timer, due at @tick. Returns what levels_insert() returns. */
static __always_inline u64 levels_add(struct hwheel_levels *l, struct hwheel_timer *timer, u64 tick)
{
	const struct hwheel_level *lv;
	struct hwheel_spoke *spoke = levels_find(l, &tick, &lv);

	l->pending++;
	return levels_insert(l, timer, spoke, tick);
}

/*
 * A timer is due at @old, and is re-armed for @tick. @spoke is the right spoke for @tick.
 * May the timer stay where it is?
 *
 * It may, if @spoke is also the right spoke for @old. Then the timer is in @spoke, or in a
 * spoke of a higher level that covers the same slot and has not been emptied yet. Nobody
 * knows which of these spokes holds the timer. So in each of them that has timers, @key must not be
 * @old, as the timer could be in @same, and the bound must not be after @tick.
 *
 * It may not if the timer can be in yet another spoke: one of these spokes has a fan, any timer
 * is parked or in transit, a level is closed, or @old is before the floor.
 */
static noinline bool levels_stays(struct hwheel_levels *l, const struct hwheel_spoke *spoke,
				  u64 old, u64 tick)
{
	const struct hwheel_level *lv = &l->level[spoke->level];
	u64 ahead;

	if (old < l->floor || l->closed || l->level[HWHEEL_LOT].summary[HWHEEL_OCCUPIED] ||
	    (old < tick && spoke != levels_place(l, old)))
		return false;
	while (!(spoke->more & HWHEEL_HAS_FAN) &&
	       (spoke_bare(spoke) || (spoke->key != old && spoke->bound <= tick))) {
		do {
			if (++lv >= &l->level[l->nr])
				return true;
			ahead = level_slot(lv, tick) - lv->slot;
		} while (ahead >= lv->open);
		spoke = level_ahead(lv, ahead);
	}
	return false;
}

/*
 * Re-arm @timer, which is pending and due at @old, for @tick. Returns what levels_insert()
 * returns.
 */
static __always_inline u64 levels_mod(struct hwheel_levels *l,
				      struct hwheel_timer *timer, u64 old, u64 tick)
{
	const struct hwheel_level *lv;
	struct hwheel_spoke *spoke;

	if (old == tick)
		return tick;
	spoke = levels_find(l, &tick, &lv);
	if (unlikely(level_slot(lv, old) == level_slot(lv, tick)) &&
	    levels_stays(l, spoke, old, tick))
		return tick;
	levels_unlink(l, timer);
	return levels_insert(l, timer, spoke, tick);
}

/*
 * Of the ticks from @first to @last, the one at which the widest slot begins. If several slots of
 * that width begin in that range, take the slot whose number has the most zero bits at its end.
 * Timers with slack meet in such ticks. @first must not be 0, and @last must not be less than
 * @first.
 */
static noinline u64 levels_align_slow(const struct hwheel_levels *l, u64 first, u64 last)
{
	const struct hwheel_level *lv = &l->level[l->planned];
	u64 slot, differ;

	do {
		lv--;
		slot = level_slot(lv, last);
		differ = slot ^ level_slot(lv, first - 1);	/* - 1, so that @first counts */
	} while (!differ);
	return (slot >> levels_highest(differ) << levels_highest(differ)) * lv->width;
}

static __always_inline u64 levels_align(const struct hwheel_levels *l, u64 first, u64 last)
{
	unsigned int bit;

	if (unlikely(!l->pow2))
		return levels_align_slow(l, first, last);
	bit = levels_highest((first - 1) ^ last);
	return last >> bit << bit;
}
