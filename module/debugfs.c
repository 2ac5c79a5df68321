// SPDX-License-Identifier: GPL-2.0
/*
 * hwheel in debugfs: /sys/kernel/debug/hwheel/<wheel>/
 *
 * The code here changes no timers. It walks through the timers
 * of a spoke, HWHEEL_STEP at a time (levels_walk_begin()), and drops the lock in
 * between. So a reader does not hold the lock for long, but timers may change meanwhile.
 * Some members are read without the lock, with data_race(): the reader sees the old or
 * the new value. The parking lot, with the timers in transit, is shown as a level, and so is each
 * row of fans.
 *
 * The occupied spokes of a wheel have numbers, in the order of CPUs, rows and spokes. A row counts
 * with all its spokes, whether it exists or not. So a reader can go on after a spoke whatever has
 * happened meanwhile. In the file "timers", the upper half of the position is the number of the
 * spoke plus 1, and the lower half counts the timers of that spoke.
 */
static struct dentry *hwheel_debugfs;

struct hwheel_row {
	ktime_t			expires;
	void			*function;
};

/* A reader of the file "timers", with a copy of the timers of one spoke */
struct hwheel_reader {
	struct hwheel		*wheel;
	struct hwheel_base	*base;		/* of the spoke */
	struct hwheel_spoke	*spoke;		/* NULL: none */
	u64			at;		/* number of the spoke */
	u64			nr;
	GENRADIX(struct hwheel_row) rows;
};

/*
 * Count the timers of @spoke. If @see is not NULL, call it for each timer, with @data and
 * the timer's number. The walk also counts timers that join the spoke meanwhile, so it
 * stops at a limit.
 */
static u64 hwheel_walk(struct hwheel_base *base, struct hwheel_spoke *spoke,
		       void (*see)(const struct hwheel_timer *timer, u64 n, void *data),
		       void *data)
{
	struct hwheel_levels *levels = &base->levels;
	struct hwheel_timer *timer;
	ktime_t locked;
	u64 n = 0, most;

	mutex_lock(&base->wheel->walk_mutex);
	raw_spin_lock_irq(&base->lock);
	locked = ktime_get();
	most = 2 * levels->pending;
	levels_walk_begin(levels, spoke);
	while ((timer = levels_walk_next(levels))) {
		if (see)
			see(timer, n, data);
		if (++n > most)
			break;
		if (n % HWHEEL_STEP)
			continue;
		hwheel_note_max(base, HWHEEL_MAX_LOCKED_NS, ktime_get() - locked);
		raw_spin_unlock_irq(&base->lock);
		cond_resched();
		raw_spin_lock_irq(&base->lock);
		locked = ktime_get();
	}
	levels_walk_end(levels);
	hwheel_note_max(base, HWHEEL_MAX_LOCKED_NS, ktime_get() - locked);
	raw_spin_unlock_irq(&base->lock);
	mutex_unlock(&base->wheel->walk_mutex);
	return n;
}

/* The first occupied spoke of @wheel whose number is *@n or more, which becomes *@n; or NULL */
static struct hwheel_spoke *hwheel_next_spoke(struct hwheel *wheel, u64 *n,
					      struct hwheel_base **base)
{
	u64 each = 0, rest, cpu;
	struct hwheel_level *lv;
	unsigned int i;

	for (i = 0; i < HWHEEL_ROWS; i++)	/* all bases are alike in this */
		each += raw_cpu_ptr(wheel->bases)->levels.level[i].nr;
	while ((cpu = div64_u64(*n, each)) < nr_cpu_ids) {
		rest = *n - cpu * each;
		if (!cpu_possible(cpu)) {
			*n += each - rest;
			continue;
		}
		*base = per_cpu_ptr(wheel->bases, cpu);
		for (lv = (*base)->levels.level; rest >= lv->nr; lv++)
			rest -= lv->nr;
		/* No lock is needed here. The walk of the spoke takes it. */
		if (!level_exists(lv) || !data_race(lv->summary[HWHEEL_OCCUPIED])) {
			*n += lv->nr - rest;	/* the row as a whole: fans have many spokes */
			continue;
		}
		/* The same holds here */
		if (data_race(level_bit(lv, HWHEEL_OCCUPIED, rest)))
			return &lv->spokes[rest];
		++*n;
	}
	return NULL;
}

/* ------------------------------------------------------------------------ */
/* levels */

static void hwheel_show_level(struct seq_file *m, struct hwheel_base *base, unsigned int level)
{
	const struct hwheel_levels *levels = &base->levels;
	struct hwheel_level *lv = &base->levels.level[level];
	u64 clock, n, next = HWHEEL_NEVER, timers = 0, occupied = 0;
	unsigned int i;

	for (i = 0; i < lv->nr; i++) {
		u64 bound;

		/* The walk of the spoke takes the lock */
		if (!data_race(level_bit(lv, HWHEEL_OCCUPIED, i)))
			continue;
		/* Others write the bound with a plain store, with the lock held */
		bound = data_race(READ_ONCE(lv->spokes[i].bound));
		n = hwheel_walk(base, &lv->spokes[i], NULL, NULL);
		if (!n)
			continue;	/* only its fan has timers */
		occupied++;
		timers += n;
		next = min(next, bound);
	}

	raw_spin_lock_irq(&base->lock);
	clock = level < HWHEEL_LOT ? lv->slot * lv->width : levels->clock;
	raw_spin_unlock_irq(&base->lock);

	seq_printf(m, "%d %u %lld %u %lld %lld %llu %llu ", base->cpu, level,
		   levels_tick_ns(levels, lv->width), lv->nr,
		   level < HWHEEL_LOT ? levels_tick_ns(levels, lv->width * lv->nr) : S64_MAX,
		   levels_tick_ns(levels, clock), occupied, timers);
	if (next == HWHEEL_NEVER)
		seq_puts(m, "-\n");
	else
		seq_printf(m, "%lld\n", levels_tick_ns(levels, next));
}

static int hwheel_levels_show(struct seq_file *m, void *v)
{
	struct hwheel *wheel = m->private;
	unsigned int i;
	int cpu;

	seq_puts(m, "# cpu level tick_ns spokes interval_ns clock_ns occupied timers next_ns\n");
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);

		/* A CPU or level that comes or goes now may be shown or not */
		if (!cpu_online(cpu) && !data_race(base->levels.pending))
			continue;
		for (i = 0; i < HWHEEL_ROWS && !seq_has_overflowed(m); i++) {
			const struct hwheel_level *lv = &base->levels.level[i];

			if (!level_exists(lv))
				continue;
			/* The same holds for timers in the parking lot and in fans */
			if (i < HWHEEL_LOT || data_race(lv->summary[HWHEEL_OCCUPIED]))
				hwheel_show_level(m, base, i);
		}
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hwheel_levels);

/* ------------------------------------------------------------------------ */
/* spokes */

static int hwheel_spokes_show(struct seq_file *m, void *v)
{
	struct hwheel_spoke *spoke;
	struct hwheel_base *base;
	u64 bound, timers, n;

	seq_puts(m, "# cpu level spoke expiration_ns timers\n");
	for (n = 0; !seq_has_overflowed(m) && (spoke = hwheel_next_spoke(m->private, &n, &base));
	     n++) {
		/* Others write the bound with a plain store, with the lock held */
		bound = data_race(READ_ONCE(spoke->bound));
		timers = hwheel_walk(base, spoke, NULL, NULL);
		if (timers)
			seq_printf(m, "%d %u %u %lld %llu\n", base->cpu, spoke->level, spoke->index,
				   levels_tick_ns(&base->levels, bound), timers);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hwheel_spokes);

/*
 * Show the symbol of a callback, and @blank before the name of its module. The module may be gone.
 * Then there is no symbol, and the pointer is hashed.
 */
static void hwheel_show_function(struct seq_file *m, void *function, const char *blank)
{
	char name[KSYM_SYMBOL_LEN];
	size_t n;

	snprintf(name, sizeof(name), "%ps", function);
	n = strcspn(name, " ");
	if (!strncmp(name, "0x", 2))
		seq_printf(m, "%p", function);
	else if (!name[n])
		seq_puts(m, name);
	else
		seq_printf(m, "%.*s%s%s", (int)n, name, blank, name + n + 1);
}

/* ------------------------------------------------------------------------ */
/* timers */

/* Copy a timer, if there is room. */
static void hwheel_copy(const struct hwheel_timer *timer, u64 n, void *data)
{
	struct hwheel_reader *reader = data;
	struct hwheel_row *row = genradix_ptr(&reader->rows, n);

	if (row)
		*row = (struct hwheel_row){ timer->expires, hwheel_named(timer) };
}

/* Copy the timers of reader->spoke. */
static int hwheel_read_spoke(struct hwheel_reader *reader)
{
	int err = 0;

	do {
		reader->nr = hwheel_walk(reader->base, reader->spoke, hwheel_copy, reader);
		if (!reader->nr || genradix_ptr(&reader->rows, reader->nr - 1))
			break;
		err = genradix_prealloc(&reader->rows, reader->nr + reader->nr / 8, GFP_KERNEL);
	} while (!err);
	return err;
}

static void *hwheel_timers_start(struct seq_file *m, loff_t *pos)
{
	struct hwheel_reader *reader = m->private;
	u64 at = *pos >> 32, n = lower_32_bits(*pos);
	struct hwheel_spoke *spoke;
	struct hwheel_base *base;
	int err;

	if (!*pos) {
		reader->spoke = NULL;	/* a reader that has gone back to the beginning */
		return SEQ_START_TOKEN;
	}
	at -= !!at;
	while (!reader->spoke || at != reader->at || n >= reader->nr) {
		at += reader->spoke && at == reader->at;
		spoke = hwheel_next_spoke(reader->wheel, &at, &base);
		if (!spoke)
			return NULL;	/* the reader keeps its last spoke: the end stays the end */
		reader->base = base;
		reader->spoke = spoke;
		reader->at = at;
		n = 0;
		err = hwheel_read_spoke(reader);
		if (err) {
			reader->spoke = NULL;	/* who reads on tries again */
			*pos = (at + 1) << 32;
			return ERR_PTR(err);
		}
	}
	*pos = ((at + 1) << 32) + n;
	return genradix_ptr(&reader->rows, n);
}

static void *hwheel_timers_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return hwheel_timers_start(m, pos);
}

static int hwheel_timers_show(struct seq_file *m, void *v)
{
	struct hwheel_reader *reader = m->private;
	const struct hwheel_row *row = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# cpu level spoke expires_ns remaining_ns function\n");
		return 0;
	}
	seq_printf(m, "%d %u %u %lld %lld ", reader->base->cpu, reader->spoke->level,
		   reader->spoke->index, row->expires,
		   hwheel_until(row->expires, hwheel_clock(reader->wheel)));
	hwheel_show_function(m, row->function, " ");
	seq_putc(m, '\n');
	return 0;
}

static void hwheel_timers_stop(struct seq_file *m, void *v)
{
}

static const struct seq_operations hwheel_timers_ops = {
	.start	= hwheel_timers_start,
	.next	= hwheel_timers_next,
	.stop	= hwheel_timers_stop,
	.show	= hwheel_timers_show,
};

static int hwheel_timers_open(struct inode *inode, struct file *file)
{
	struct hwheel_reader *reader;

	reader = __seq_open_private(file, &hwheel_timers_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->wheel = inode->i_private;
	return 0;
}

static int hwheel_timers_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct hwheel_reader *reader = m->private;

	genradix_free(&reader->rows);
	return seq_release_private(inode, file);
}

static const struct file_operations hwheel_timers_fops = {
	.owner	 = THIS_MODULE,
	.open	 = hwheel_timers_open,
	.read	 = seq_read,
	.llseek	 = seq_lseek,
	.release = hwheel_timers_release,
};

/* ------------------------------------------------------------------------ */
/* config, stats, lateness */

/* Bytes of memory that a base uses, with its levels and fans */
static size_t hwheel_base_size(const struct hwheel_base *base)
{
	size_t bytes = sizeof(*base);
	unsigned int i;

	for (i = 0; i < HWHEEL_ROWS; i++)
		if (level_exists(&base->levels.level[i]))
			bytes += levels_size(&base->levels, i);
	return bytes;
}

static int hwheel_config_show(struct seq_file *m, void *v)
{
	static const char * const contexts[] = {
		[HWHEEL_SOFTIRQ] = "softirq",
		[HWHEEL_HARDIRQ] = "hardirq",
		[HWHEEL_WORK]	 = "work",
	};
	const struct hwheel *wheel = m->private;
	size_t bytes = 0;
	unsigned int i;
	int cpu;

	seq_puts(m, "# name value\nversion " HWHEEL_RELEASE "\n");
	seq_printf(m, "name %s\n", wheel->name);
	seq_printf(m, "tick_ns %llu\n", wheel->geometry.tick_ns);
	seq_printf(m, "levels %u\n", wheel->geometry.levels);
	seq_puts(m, "spokes ");
	for (i = 0; i < wheel->geometry.levels; i++)
		seq_printf(m, "%s%u", i ? "," : "", wheel->geometry.spokes[i]);
	seq_printf(m, "\nclock %s\n", wheel->clock->name);
	seq_printf(m, "context %s\n", contexts[wheel->context]);
	seq_printf(m, "budget_ns %llu\n", wheel->budget_ns);
	seq_printf(m, "gap_ns %llu\n", wheel->gap_ns);
	if (wheel->flags & HWHEEL_DEFERRABLE)
		seq_puts(m, "deferrable 1\n");
	for_each_possible_cpu(cpu)
		bytes = max(bytes, hwheel_base_size(per_cpu_ptr(wheel->bases, cpu)));
	seq_printf(m, "bytes_per_cpu %zu\n", bytes);	/* of the CPU with the most */
	seq_printf(m, "now_ns %lld\n", hwheel_now(wheel));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hwheel_config);

static int hwheel_stats_show(struct seq_file *m, void *v)
{
	u64 *each = kvmalloc_array(nr_cpu_ids, sizeof(*each), GFP_KERNEL);
	enum hwheel_counter which;
	int cpu;

	if (!each)
		return -ENOMEM;
	seq_puts(m, "# counter total");
	for_each_possible_cpu(cpu)
		seq_printf(m, " cpu%d", cpu);
	seq_putc(m, '\n');

	for (which = 0; which < HWHEEL_COUNTERS; which++) {
		seq_printf(m, "%s %llu", hwheel_counter_names[which],
			   hwheel_total(m->private, which, each));
		for_each_possible_cpu(cpu)
			seq_printf(m, " %llu", each[cpu]);
		seq_putc(m, '\n');
	}
	kvfree(each);
	return 0;
}

static int hwheel_stats_open(struct inode *inode, struct file *file)
{
	return single_open(file, hwheel_stats_show, inode->i_private);
}

/* Writing 0: the maxima begin anew */
static ssize_t hwheel_stats_write(struct file *file, const char __user *text, size_t size,
				  loff_t *pos)
{
	const struct seq_file *m = file->private_data;
	const struct hwheel *wheel = m->private;
	unsigned int number;
	int cpu, err = kstrtouint_from_user(text, size, 0, &number);

	if (err || number)
		return err ?: -EINVAL;
	for_each_possible_cpu(cpu) {
		struct hwheel_base *base = per_cpu_ptr(wheel->bases, cpu);
		unsigned long flags;

		raw_spin_lock_irqsave(&base->lock, flags);
		memset(&base->count[HWHEEL_MAXIMA], 0,
		       (HWHEEL_COUNTERS - HWHEEL_MAXIMA) * sizeof(*base->count));
		raw_spin_unlock_irqrestore(&base->lock, flags);
	}
	return size;
}

static const struct file_operations hwheel_stats_fops = {
	.owner		= THIS_MODULE,
	.open		= hwheel_stats_open,
	.read		= seq_read,
	.write		= hwheel_stats_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int hwheel_lateness_show(struct seq_file *m, void *v)
{
	const struct hwheel *wheel = m->private;
	unsigned int i;
	int cpu;

	seq_puts(m, "# up_to_ns timers\n");
	for (i = 0; i < HWHEEL_LATE; i++) {
		u64 n = 0;

		for_each_possible_cpu(cpu)
			/* Others count with plain stores, with the lock held */
			n += data_race(READ_ONCE(per_cpu_ptr(wheel->bases, cpu)->late[i]));
		if (n)
			seq_printf(m, "%llu %llu\n", i < 64 ? BIT_ULL(i) : U64_MAX, n);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hwheel_lateness);

/* ------------------------------------------------------------------------ */
/* users */

/* The callbacks that have a row of their own. All others share the last row, "other". */
#define HWHEEL_MOST_USERS	48

struct hwheel_users {
	unsigned int		nr;		/* rows of callbacks */
	struct {
		void		*function;
		u64		pending;	/* timers */
	} row[HWHEEL_MOST_USERS + 1];
};

static void hwheel_see_user(const struct hwheel_timer *timer, u64 n, void *data)
{
	void *function = hwheel_named(timer);
	struct hwheel_users *users = data;
	unsigned int i;

	for (i = 0; i < users->nr && users->row[i].function != function; i++)
		;
	if (i == users->nr && i < HWHEEL_MOST_USERS)
		users->row[users->nr++].function = function;
	users->row[i].pending++;
}

static int hwheel_users_show(struct seq_file *m, void *v)
{
	struct hwheel_users *users = kzalloc(sizeof(*users), GFP_KERNEL);
	struct hwheel_spoke *spoke;
	struct hwheel_base *base;
	unsigned int i;
	u64 n;

	if (!users)
		return -ENOMEM;
	for (n = 0; (spoke = hwheel_next_spoke(m->private, &n, &base)); n++) {
		hwheel_walk(base, spoke, hwheel_see_user, users);
		cond_resched();
	}
	seq_puts(m, "# function pending\n");
	for (i = 0; i < users->nr; i++) {
		/* In one word, as other columns follow */
		hwheel_show_function(m, users->row[i].function, "");
		seq_printf(m, " %llu\n", users->row[i].pending);
	}
	if (users->row[HWHEEL_MOST_USERS].pending)
		seq_printf(m, "other %llu\n", users->row[HWHEEL_MOST_USERS].pending);
	kfree(users);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hwheel_users);

/* ------------------------------------------------------------------------ */

static void hwheel_debugfs_add(struct hwheel *wheel)
{
	static const struct {
		const char			*name;
		const struct file_operations	*fops;
	} files[] = {
		{ "config",	&hwheel_config_fops },
		{ "levels",	&hwheel_levels_fops },
		{ "spokes",	&hwheel_spokes_fops },
		{ "timers",	&hwheel_timers_fops },
		{ "stats",	&hwheel_stats_fops },
		{ "lateness",	&hwheel_lateness_fops },
		{ "users",	&hwheel_users_fops },
	};
	unsigned int i;

	mutex_init(&wheel->walk_mutex);
	wheel->debugfs = debugfs_create_dir(wheel->name, hwheel_debugfs);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		/* A locked-down kernel refuses other modes. Root may write to stats all the same */
		debugfs_create_file(files[i].name, 0400, wheel->debugfs, wheel, files[i].fops);
}

/* No reader uses @wheel after this */
static void hwheel_debugfs_remove(struct hwheel *wheel)
{
	debugfs_remove(wheel->debugfs);
}

static void hwheel_debugfs_init(void)
{
	hwheel_debugfs = debugfs_create_dir("hwheel", NULL);
}

static void hwheel_debugfs_exit(void)
{
	debugfs_remove(hwheel_debugfs);
}

static const struct hwheel_part hwheel_debugfs_part = {
	.init	= hwheel_debugfs_init,
	.exit	= hwheel_debugfs_exit,
	.open	= hwheel_debugfs_add,
	.close	= hwheel_debugfs_remove,
};
