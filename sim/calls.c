// SPDX-License-Identifier: GPL-2.0
/*
 * Calls whose outcome is known beforehand: configurations that hwheel takes or refuses,
 * mistakes that it warns of, conversions, and what other CPUs do meanwhile. The line "known"
 * of a program makes them all. Their timers have no slot, so the oracle's table does not follow
 * them.
 */
#include <stdlib.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>

#include "program.h"

#define BATCH		32	/* HWHEEL_BATCH */

static struct object objects[64];
static struct hwheel *wheel;
static struct hwheel_timer *const one = &objects[0].timer;

#define EXPECT(condition)							\
	do {									\
		if (!(condition))						\
			sim_find("%s, line %d: not so: %s", __func__, __LINE__,	\
				 #condition);					\
	} while (0)

static void expect_warning(const char *text)
{
	sim_expects = text;
	sim_warned = false;
}

static void check_warning(int line)
{
	if (sim_expects && !sim_warned)
		sim_find("line %d: no warning: %s", line, sim_expects);
	sim_expects = NULL;
}

/* Evaluates @expression. It must cause a warning that contains @text. Returns its value. */
#define WARNS(text, expression)							\
({										\
	__auto_type __value = (expect_warning(text), (expression));		\
										\
	check_warning(__LINE__);						\
	__value;								\
})

/* What another CPU or task does: it calls @then when @place is reached for the @nth time. */
static struct {
	const char	*place;
	unsigned int	nth;
	void		(*then)(void);
} meanwhile;

static void reached(const char *where)
{
	if (strcmp(where, meanwhile.place) || meanwhile.nth--)
		return;
	sim_meanwhile = NULL;
	meanwhile.then();
}

static void expect_at(const char *place, unsigned int nth, void (*then)(void))
{
	meanwhile.place = place;
	meanwhile.nth = nth;
	meanwhile.then = then;
	sim_meanwhile = reached;
}

/* Does @statement. Meanwhile it must come to @place, where @then is called. */
#define MEANWHILE(place, nth, then, statement)					\
	do {									\
		expect_at(place, nth, then);					\
		statement;							\
		EXPECT(!sim_meanwhile);						\
	} while (0)

static struct hwheel *make(struct hwheel_config config)
{
	struct hwheel *new = hwheel_create(&config);

	EXPECT(!IS_ERR(new));
	return new;
}

/* ------------------------------------------------------------------------ */
/* Callbacks */

static unsigned int runs;
static int last_cpu;

static void count(struct hwheel_timer *timer)
{
	runs++;
	last_cpu = sim_cpu->id;
}

static void setup(struct hwheel_timer *timer, void (*function)(struct hwheel_timer *timer))
{
	hwheel_setup(timer, wheel, function, 0);
}

/* Arm @one with callback @function, and wait until the callback has run. */
static void run(void (*function)(struct hwheel_timer *timer))
{
	runs = 0;
	setup(one, function);
	EXPECT(!hwheel_add(one, 1000));
	sim_sleep(5000000);
	EXPECT(runs == 1);
	check_warning(__LINE__);
	EXPECT(!hwheel_shutdown_sync(one));
}

/* What another CPU or task does: see expect_at() */

static void cancel_one(void)
{
	hwheel_cancel(one);
}

static void shutdown_one(void)
{
	hwheel_shutdown(one);
}

static void add_here(void)
{
	hwheel_add(one, 3000000);
}

/* ------------------------------------------------------------------------ */
/* Wheels */

#define W		"wheel \"w\": "
#define A_NAME(name)	"wheel \"" name \
			"\": a name is 1 to 31 characters without a '/' or a newline\n"
#define SPOKES		W "a level's number of spokes is not 2 to 4096\n"
#define REACH		W "tick times spokes of all levels is over S64_MAX ns; take fewer\n"
#define NO_FLAGS	W "hwheel.h has no such flags of a wheel\n"
#define ONE_CLOCK	W "ask for one of HWHEEL_BOOTTIME, HWHEEL_REALTIME " \
			"and HWHEEL_TAI\n"
#define NOT_SET		W "clock_set, but nobody sets its clock: see HWHEEL_REALTIME\n"
#define NO_WORK		W "a workqueue is only allowed with HWHEEL_WORK\n"
#define NEITHER		W "HWHEEL_DEFERRABLE goes with neither HWHEEL_HARDIRQ nor HWHEEL_BOOTTIME\n"
#define NAME_31		"a234567890123456789012345678901"

static void no_set(struct hwheel *wheel) { }

static const struct {
	struct hwheel_config	config;
	long			error;
	const char		*says;
} refused[] = {
	{ { }, -EINVAL, A_NAME("") },
	{ { .name = "" }, -EINVAL, A_NAME("") },
	{ { .name = "a/b" }, -EINVAL, A_NAME("a/b") },
	{ { .name = "." }, -EINVAL, A_NAME(".") },
	{ { .name = ".." }, -EINVAL, A_NAME("..") },
	{ { .name = NAME_31 "2" }, -EINVAL, A_NAME(NAME_31 "2") },
	{ { .name = "w", .tick_ns = 999 }, -EINVAL, W "the tick is shorter than 1000 ns\n" },
	{ { .name = "w", .levels = 9 }, -EINVAL, W "the number of levels is not 1 to 8\n" },
	{ { .name = "w", .spokes = { 1 } }, -EINVAL, SPOKES },
	{ { .name = "w", .levels = 2, .spokes = { 2, 4097 } }, -EINVAL, SPOKES },
	{ { .name = "w", .tick_ns = S64_MAX / 2 + 1, .levels = 1, .spokes = { 2 } }, -EINVAL,
	  REACH },
	{ { .name = "w", .tick_ns = 1ULL << 63 }, -EINVAL, REACH },
	{ { .name = "w", .flags = HWHEEL_REALTIME | HWHEEL_TAI }, -EINVAL, ONE_CLOCK },
	{ { .name = "w", .flags = HWHEEL_BOOTTIME | HWHEEL_TAI }, -EINVAL, ONE_CLOCK },
	{ { .name = "w", .clock_set = no_set }, -EINVAL, NOT_SET },
	{ { .name = "w", .flags = HWHEEL_BOOTTIME, .clock_set = no_set }, -EINVAL, NOT_SET },
	{ { .name = "w", .context = 3 }, -EINVAL, W "there is no such context\n" },
	{ { .name = "w", .context = -1 }, -EINVAL, W "there is no such context\n" },
	{ { .name = "w", .flags = HWHEEL_PINNED, .context = HWHEEL_WORK }, -EINVAL,
	  NO_FLAGS },
	{ { .name = "w", .flags = BIT(13) | HWHEEL_TAI }, -EINVAL, NO_FLAGS },
	{ { .name = "w", .wq = &sim_ordered_wqs[0] }, -EINVAL, NO_WORK },
	{ { .name = "w", .wq = &sim_ordered_wqs[0], .context = HWHEEL_HARDIRQ }, -EINVAL,
	  NO_WORK },
	{ { .name = "w", .flags = HWHEEL_DEFERRABLE, .context = HWHEEL_HARDIRQ }, -EINVAL,
	  NEITHER },
	{ { .name = "w", .flags = HWHEEL_DEFERRABLE | HWHEEL_BOOTTIME }, -EINVAL, NEITHER },
	{ { .name = "w", .gap_ns = 1000000001 }, -EINVAL,
	  W "gap_ns is more than a second\n" },
	{ { .name = "system" }, -EEXIST,
	  "wheel \"system\": there is one with that name already\n" },
};

static const struct {
	struct hwheel_config	config;
	const char		*shows;
} taken[] = {
	{ { .name = NAME_31 },
	  "\nname " NAME_31 "\ntick_ns 1000000\nlevels 5\nspokes 128,128,128,128,128\n"
	  "clock monotonic\ncontext softirq\nbudget_ns 2000000\ngap_ns 0\n" },
	{ { .name = "...", .tick_ns = 1000, .levels = 8, .spokes = { 2 } },
	  "\nname ...\ntick_ns 1000\nlevels 8\nspokes 2,2,2,2,2,2,2,2\n" },
	{ { .name = ".a", .levels = 1, .spokes = { 4096 } }, "\nlevels 1\nspokes 4096\n" },
	{ { .name = "w", .levels = 3, .spokes = { 60, 0, 12 } }, "\nspokes 60,60,12\n" },
	{ { .name = "w", .tick_ns = S64_MAX / 2, .levels = 1, .spokes = { 2 } }, "\nspokes 2\n" },
	/* Fewer levels, if five would reach too far */
	{ { .name = "w", .tick_ns = 3600000000000 }, "\nlevels 3\nspokes 128,128,128\n" },
	{ { .name = "w", .tick_ns = 1ULL << 55 }, "\nlevels 1\nspokes 128\n" },
	{ { .name = "w", .flags = HWHEEL_BOOTTIME }, "\nclock boottime\n" },
	{ { .name = "w" }, "\nclock monotonic\n" },
	{ { .name = "w", .flags = HWHEEL_TAI }, "\nclock tai\n" },
	{ { .name = "w", .flags = HWHEEL_REALTIME }, "\nclock realtime\n" },
	{ { .name = "w", .context = HWHEEL_HARDIRQ },
	  "\ncontext hardirq\nbudget_ns 100000\ngap_ns 0\nbytes" },
	{ { .name = "w", .context = HWHEEL_WORK },
	  "\ncontext work\nbudget_ns 2000000\ngap_ns 0\nbytes" },
	{ { .name = "w", .budget_ns = 1 }, "\nbudget_ns 1\n" },
	{ { .name = "w", .budget_ns = U64_MAX }, "\nbudget_ns 9223372036854775807\n" },
	{ { .name = "w", .gap_ns = 1000000000 }, "\ngap_ns 1000000000\n" },
};

static void refusals(void)
{
	unsigned int i, lines;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct hwheel *new;

		lines = sim_lines;
		new = hwheel_create(&refused[i].config);
		if (!IS_ERR(new) || PTR_ERR(new) != refused[i].error ||
		    strcmp(sim_said, refused[i].says) || sim_lines != lines + 1)
			sim_find("configuration %u is refused with %ld, \"%s\"", i,
				 IS_ERR(new) ? PTR_ERR(new) : 0, sim_said);
	}
	for (i = 0; i < ARRAY_SIZE(taken); i++) {
		char *text;

		*sim_said = 0;
		wheel = make(taken[i].config);
		EXPECT(!*sim_said);
		if (!strstr(taken[i].shows, "clock tai") && !strstr(taken[i].shows, "realtime"))
			EXPECT(!peek_offset(wheel, 0));
		text = sim_read_file(taken[i].config.name, "config", 4096);
		if (!text || !strstr(text, taken[i].shows))
			sim_find("configuration %u: %s", i, text);
		free(text);
		setup(one, count);
		EXPECT(!hwheel_add(one, 1000000000));	/* so that it does not expire */
		EXPECT(hwheel_cancel(one));
		EXPECT(!hwheel_shutdown(one));
		EXPECT(!hwheel_add(one, 1000000000) && !hwheel_pending(one));
		hwheel_destroy(wheel);
		EXPECT(!sim_read_file(taken[i].config.name, "config", 4096));
	}
}

/* The allocations of hwheel_create() fail one after the other. */
static void no_memory(void)
{
	struct hwheel_config config = { .name = "poor" };
	unsigned int n, lines;

	for (n = 0;; n++) {
		EXPECT(n < 64);
		lines = sim_lines;
		sim_fail_allocs(n, 1);
		wheel = hwheel_create(&config);
		if (!IS_ERR(wheel))
			break;
		EXPECT(sim_lines == lines + 1);
		EXPECT(wheel == ERR_PTR(-ENOMEM));
		EXPECT(!strcmp(sim_said, "wheel \"poor\": out of memory\n"));
		EXPECT(!sim_read_file("poor", "config", 4096));
	}
	sim_fail_allocs(0, 0);
	EXPECT(n >= sim_world.cpus);
	run(count);
	hwheel_destroy(wheel);
}

/* ------------------------------------------------------------------------ */
/* Mistakes */

#define UNSET	"used before hwheel_setup()"
/* Timers that were never set up. They are like timers that were shut down */
static void unset_timers(void)
{
	u64 setups;

	memset(&objects[0], 0, sizeof(objects[0]));
	EXPECT(!hwheel_cancel(one));
	EXPECT(!WARNS(UNSET, hwheel_add(one, 0)) && !hwheel_pending(one));
	EXPECT(!hwheel_add_at(one, 0, 0) && !hwheel_pending(one));	/* it warns once */
	memset(&objects[0], 0, sizeof(objects[0]));
	EXPECT(!WARNS(UNSET, hwheel_cancel_sync(one)));
	setups = sim_setups;
	hwheel_setup(one, wheel, count, HWHEEL_PINNED);
	EXPECT(!hwheel_expires(one) && !hwheel_pending(one) && sim_setups == setups + 1);
	EXPECT(!hwheel_shutdown(one));
	EXPECT(!hwheel_add(one, 0) && !hwheel_pending(one));
}

static void bad_numbers(void)
{
	int cpus[] = { -1, -1000, (int)sim_world.cpus, nr_cpu_ids, 4096 }, cpu = sim_cpu->id;
	unsigned int i;
	char *text;
	s64 now;

	setup(one, count);
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		runs = 0;
		WARNS("which can not be", hwheel_add_on(one, 1000, cpus[i]));
		sim_sleep(5000000);
		EXPECT(runs == 1 && last_cpu == cpu);
	}
	for (i = 0; i < sim_world.cpus; i++) {
		runs = 0;
		hwheel_add_on(one, 1000, i);
		sim_sleep(5000000);
		EXPECT(runs == 1 && last_cpu == (int)i);
	}
	now = hwheel_now(wheel);
	EXPECT(now == (s64)sim_time);
	hwheel_add_at(one, now + 100000, 0);
	hwheel_cancel(one);
	EXPECT(hwheel_expires(one) == now + 100000);
	sim_sleep(200000);
	/* An interval of 0 counts as 1 ns. So it counts each nanosecond since the expiration */
	now = hwheel_expires(one) + hwheel_add_forward(one, 0);
	EXPECT(hwheel_expires(one) == now);
	EXPECT(now > (s64)sim_time - (sim_world.holds ? 20000 : 5000));
	hwheel_cancel(one);
	hwheel_add_at(one, sim_time + 1000000, 0);
	EXPECT(!hwheel_add_forward(one, 1));	/* the expiration is in the future */
	EXPECT(hwheel_cancel(one));
	/* The earliest and the latest time there is */
	hwheel_add_at(one, KTIME_MIN, 0);
	sim_sleep(5000000);
	EXPECT(hwheel_expires(one) == KTIME_MIN && hwheel_remaining(one) == KTIME_MIN);
	hwheel_add_at(one, -(3LL << 61), 0);
	sim_sleep(5000000);
	hwheel_add(one, KTIME_MAX);
	EXPECT(hwheel_expires(one) == KTIME_MAX && hwheel_remaining(one) > 0);
	hwheel_cancel(one);
	runs = ARRAY_SIZE(cpus) + sim_world.cpus + 2;

	EXPECT(hwheel_count(wheel, "none") == U64_MAX);
	/* If the CPU is held up, a timer may expire that hwheel_add_forward() has armed */
	EXPECT(hwheel_count(wheel, "expired") - runs <= (sim_world.holds ? 2 : 0));
	EXPECT(hwheel_count(wheel, "max_late_ns") > S64_MAX);
	text = sim_read_file("known", "lateness", 4096);
	EXPECT(strstr(text, "\n9223372036854775808 1\n18446744073709551615 1\n"));
	EXPECT(!strstr(text, " 0\n"));
	free(text);
}

/* A timer is armed on another CPU, whose levels are there. So the kick asks for no work. */
static void kick(void)
{
	const int cpu = (sim_cpu->id + 1) % sim_world.cpus;
	u64 kicks, works;

	setup(one, count);
	hwheel_add_on(one, 300000000, cpu);
	sim_sleep(50000000);
	EXPECT(hwheel_cancel(one));
	kicks = hwheel_count(wheel, "remote_kicks");
	works = sim_works;
	hwheel_add_on(one, 1000000, cpu);
	sim_sleep(5000000);
	EXPECT(hwheel_count(wheel, "remote_kicks") == kicks + (sim_world.cpus > 1));
	EXPECT(sim_works == works);
}

/*
 * A reader reads the file "timers" to its end, and then again from its beginning. The only
 * timer is in the first spoke of the first CPU. So the reader begins with the spoke that it has
 * read last.
 */
static void read_again(void)
{
	const s64 turn = 128000000;	/* of level 0 */
	unsigned int reads;
	char *text;

	setup(one, count);
	hwheel_add_on(one, turn, 0);
	sim_sleep(10000000);		/* until there is a level 0 */
	hwheel_add_on(one, turn - (s64)sim_time % turn - 100000, 0);
	text = sim_read_again("known", "timers", 4096);
	EXPECT(strstr(text, "\n0 0 0 "));
	free(text);
	reads = sim_reads;
	free(sim_read_file("known", "timers", 4096));
	EXPECT(sim_reads == reads + 2);		/* one for all rows, and one for the end */
	EXPECT(hwheel_cancel(one));
}

/* The timer is about to move to another CPU. Its callback sets it up before that. */
static void setup_itself(struct hwheel_timer *timer)
{
	hwheel_add_on(timer, 1000000, (sim_cpu->id + 1) % sim_world.cpus);
	setup(timer, count);
	EXPECT(!hwheel_pending(timer));
	runs++;
}

/* The timer is about to move to another CPU. Its callback sets up another timer before that. */
static void setup_other(struct hwheel_timer *timer)
{
	if (!runs++) {
		hwheel_add_on(timer, 1000000, 1);
		setup(&objects[1].timer, count);
	}
	last_cpu = sim_cpu->id;
}

/* Setting up the other timer must not keep the first one from moving. */
static void move_and_setup(void)
{
	setup(&objects[1].timer, count);
	hwheel_add_on(&objects[1].timer, 1000000000, 0);
	setup(one, setup_other);
	runs = 0;
	hwheel_add_on(one, 1000, 0);
	sim_sleep(10000000);
	EXPECT(runs == 2 && last_cpu == 1);
}

static bool held;

static void hold(struct hwheel_timer *timer)
{
	held = true;
	runs++;
	sim_run(2000000);
	held = false;
}

/* A mistake: an interrupt handler waits for a callback. */
static void wait_wrongly(void)
{
	setup(one, count);
	sim_irq_enter();
	EXPECT(!WARNS("in hardirq context", hwheel_cancel_sync(one)));
	WARNS("in hardirq context", (hwheel_synchronize(wheel), 0));
	sim_irq_exit();
}

static void hold_again(struct hwheel_timer *timer)
{
	hold(timer);
	hwheel_add(timer, 0);
}

/* hwheel_synchronize() waits for a callback on another CPU, but not for later callbacks. */
static void synchronize(void)
{
	unsigned int before;

	hwheel_synchronize(wheel);
	runs = 0;
	setup(one, hold_again);
	hwheel_add_on(one, 1000, (sim_cpu->id + 1) % sim_world.cpus);
	while (!held)
		sim_sleep(1000);
	before = runs;
	hwheel_synchronize(wheel);
	EXPECT(runs <= before + 2 && (!held || runs > before));
	hwheel_shutdown_sync(one);
	runs = 0;
	setup(one, hold);
	hwheel_add_on(one, 1000, (sim_cpu->id + 1) % sim_world.cpus);
	while (!held)
		sim_sleep(1000);
	hwheel_synchronize(wheel);
	EXPECT(!held && runs == 1);
	hwheel_shutdown_sync(one);
}

static bool waited;

static void wait_for_one(void *arg)
{
	hwheel_cancel_sync(one);
	waited = true;
}

/*
 * A task waits for a callback in process context, which arms its timer again. The task gets the CPU
 * late. Meanwhile another callback runs, and that of the timer does not.
 */
static void wait_late(void)
{
	int there = (sim_cpu->id + 1) % sim_world.cpus;

	runs = 0;
	waited = false;
	setup(one, hold_again);
	setup(&objects[1].timer, count);
	hwheel_add_on(&objects[1].timer, 1000000, there);
	hwheel_add_on(one, 1000, there);
	while (!held)
		sim_sleep(1000);
	sim_spawn("waiter", sim_cpu->id, wait_for_one, NULL);
	sim_sleep(100000);
	EXPECT(held && !waited);
	preempt_disable();
	sim_run(5000000);
	EXPECT(runs == 2);
	preempt_enable();
	while (!waited)
		sim_sleep(1000);
	EXPECT(!hwheel_pending(one) && runs == 2);
}

/*
 * Start @one's callback on another CPU. While it runs, arm or cancel @one as @how says.
 * Returns 0 if @one then expires on this CPU, 1 if on the other CPU, -1 if it does not expire.
 */
static int armed_while_running(int how)
{
	int there = (sim_cpu->id + 1) % sim_world.cpus, here = sim_cpu->id;
	struct hwheel_timer *other = &objects[2].timer;

	const u64 migrated = hwheel_count(wheel, "migrated");

	runs = 0;
	setup(other, count);
	hwheel_add_on(other, 1000000000, there);
	setup(one, hold);
	hwheel_add_on(one, 1000, there);
	while (!held)
		sim_sleep(1000);
	one->function = count;
	hwheel_add_on(one, 4000000, here);	/* @one moves when the callback has ended */
	switch (how) {
	case 1:					/* @one does not move */
		EXPECT(hwheel_add(one, 4000000));
		break;
	case 2:
		EXPECT(hwheel_cancel(one));
		EXPECT(!hwheel_add_at(one, sim_time + 4000000, 0));
		break;
	case 3:
		EXPECT(hwheel_add_on(one, 4000000, there));
		break;
	case 4:
		EXPECT(hwheel_cancel(one));
		break;
	case 5:					/* another timer does not matter */
		EXPECT(hwheel_cancel(other));
		break;
	}
	EXPECT(held);
	last_cpu = -1;
	sim_sleep(20000000);
	EXPECT(!hwheel_pending(one) && runs == 2 - (how == 4));
	hwheel_cancel(other);
	EXPECT(hwheel_count(wheel, "migrated") == migrated + (last_cpu == here));
	return last_cpu == here ? 0 : last_cpu == there ? 1 : -1;
}

static struct hwheel_timer *running;

static void slow(struct hwheel_timer *timer)
{
	running = timer;
	sim_run(200000);
	runs++;
}

/* A task waits for one of the many callbacks of a run. It does not wait for the run's end. */
static void wait_in_run(void)
{
	int there = (sim_cpu->id + 1) % sim_world.cpus, i;
	unsigned int before;

	runs = 0;
	running = NULL;
	for (i = 0; i < 9; i++) {
		setup(&objects[i].timer, slow);
		hwheel_add_on(&objects[i].timer, 1000, there);
	}
	while (!running)
		sim_sleep(1000);
	before = runs;
	hwheel_cancel_sync(running);
	EXPECT(runs <= before + 2);
	sim_sleep(50000000);
	EXPECT(runs == 9);
}

static void slow_again(struct hwheel_timer *timer)
{
	slow(timer);
	hwheel_add_at(timer, 0, 0);		/* due at once */
}

/* A mistake: a callback in process context sleeps on its own wheel. */

/* The clock of wall time is set. The wheel's user has no function that must be told. */
static void set_untold(void)
{
	struct hwheel_config config = { .name = "wall", .flags = HWHEEL_REALTIME };

	wheel = make(config);
	sim_set_clock(1000000000);
	sim_sleep(5000000);
	hwheel_destroy(wheel);
}

/* Is the wheel's clock @offset ahead of sim_time? The call of hwheel_now() takes some time, too. */
static bool is_ahead(s64 offset)
{
	s64 before = sim_time, now = hwheel_now(wheel);

	return now >= before + offset && now <= (s64)sim_time + offset;
}

/*
 * A leap second is due in 2 ms. The timer tick that inserts it is 5 ms late. A timer is armed for
 * 4 ms from now on the wheel's clock. On CLOCK_TAI it expires after 4 ms. On CLOCK_REALTIME it
 * expires a second later, as the leap second comes first.
 */
static void leap_second(unsigned int clock)
{
	struct hwheel_config config = { .name = "leap", .flags = clock };
	const s64 step = clock == HWHEEL_TAI ? 0 : NSEC_PER_SEC;
	s64 offset;

	wheel = make(config);
	offset = sim_wall_off + (step ? 0 : SIM_TAI_NS);
	EXPECT(is_ahead(offset));
	setup(one, count);
	runs = 0;
	sim_set_leap(sim_time + 2000000);
	hwheel_add_at(one, sim_time + offset + 4000000, 0);
	EXPECT(is_ahead(offset));
	sim_sleep(3000000);
	EXPECT(is_ahead(offset - step) && !runs);
	sim_sleep(4000000);
	EXPECT(runs == !step);
	sim_insert_leap();
	EXPECT(is_ahead(offset - step));
	sim_sleep(900000000);
	EXPECT(runs == !step);
	sim_sleep(200000000);
	EXPECT(runs == 1);
	hwheel_destroy(wheel);
	sim_set_clock(NSEC_PER_SEC);
}

static struct object many[8192];

static void cancel_many(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(many); i++) {
		EXPECT(hwheel_cancel(&many[i].timer));
		cond_resched();
	}
}

/* Have hwheel add levels of 128 spokes on this CPU, up to that of a timer with @delay. */
static void add_levels(ktime_t delay)
{
	setup(one, count);
	for (; delay > 10000; delay /= 128) {
		hwheel_add(one, delay);
		sim_sleep(min(delay / 2, 50000000LL));
		EXPECT(hwheel_cancel(one));
	}
}

/*
 * Arm all timers of "many", the first for @first, and then @groups timers @apart from each other,
 * over and over. There is no memory for fans meanwhile, so that hwheel has to move the timers
 * later. Returns when the wheel has fans.
 */
static void arm_many(s64 first, unsigned int groups, s64 apart)
{
	unsigned int i;

	sim_fail_allocs(0, 1000);
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		setup(&many[i].timer, count);
		hwheel_add_at(&many[i].timer, first + i % groups * apart, 0);
		cond_resched();
	}
	sim_sleep(10000000);
	sim_fail_allocs(0, 0);
	sim_sleep(1700000000);		/* the worker tries again each second */
	EXPECT(peek_fans(wheel, sim_cpu->id));
}

/*
 * A spoke of level 1 has thousands of timers. hwheel moves them to level 0 ahead of time. A run
 * takes HWHEEL_MOVE_NS for that, much less than its budget, and is followed by a rest.
 */
static void crowd(void)
{
	/* Timers that are due at the spoke's bound need not move: one in 100, and perhaps more */
	enum { MOST = ARRAY_SIZE(many) - ARRAY_SIZE(many) / 50 };
	struct hwheel_config config = { .name = "crowd" };
	const u64 slot = 128000000;	/* of level 1 */
	u64 before, moved;

	wheel = make(config);
	add_levels(300000000);
	arm_many((sim_time / slot + 18) * slot + 20000000, 100, 1000000);
	before = hwheel_count(wheel, "interrupts");
	do {
		sim_sleep(1000000);
		moved = hwheel_count(wheel, "cascaded");
	} while (moved < MOST && !hwheel_count(wheel, "expired"));
	EXPECT(moved >= MOST);
	EXPECT(hwheel_count(wheel, "interrupts") >= before + 8);
	cancel_many();
	hwheel_destroy(wheel);
}

/*
 * Nothing has happened on a wheel for @ns. So its clock is far behind. If timers are armed
 * now, hwheel first advances the clock. Else the timers would have to be moved down the levels.
 * If @slack is less than 0, hwheel_add_at() arms the timers.
 */
static void clock_behind(u64 tick_ns, unsigned long flags, u64 ns, s64 slack)
{
	struct hwheel_config config = { .name = "behind", .tick_ns = tick_ns, .flags = flags };
	const int cpu = sim_cpu->id;
	u64 moved;
	unsigned int i;

	wheel = make(config);
	setup(one, count);
	for (i = 2; i <= 200; i += 198) {
		hwheel_add_on(one, i * tick_ns, cpu);	/* a level is added now */
		sim_sleep(10000000);
		hwheel_cancel(one);
	}
	EXPECT(!peek_fans(wheel, cpu));		/* so few timers need none */
	sim_sleep(ns);
	moved = hwheel_count(wheel, "cascaded");
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		setup(&objects[i].timer, count);
		if (slack > 0)
			hwheel_add_range(&objects[i].timer, (3 + i) * tick_ns, slack);
		else if (slack)
			hwheel_add_at(&objects[i].timer, sim_time + (3 + i) * tick_ns, 0);
		else
			hwheel_add_on(&objects[i].timer, (3 + i) * tick_ns, cpu);
	}
	sim_sleep(10000000 + (4 + i) * tick_ns);
	EXPECT(hwheel_count(wheel, "expired"));
	EXPECT(hwheel_count(wheel, "cascaded") == moved);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		hwheel_cancel(&objects[i].timer);
	hwheel_destroy(wheel);
}

/* While the work of a wheel waits for the CPU, an earlier timer does not start the hrtimer. */
static void work_waits(void)
{
	struct hwheel_config config = { .name = "waits", .context = HWHEEL_WORK };
	unsigned long long starts;
	ktime_t expires;

	wheel = make(config);
	runs = 0;
	setup(one, count);
	setup(&objects[1].timer, count);
	hwheel_add(one, 1000000);
	preempt_disable();
	sim_run(3000000);
	EXPECT(!runs && !peek_armed(wheel, sim_cpu->id, &expires));
	starts = sim_hrtimer_starts;
	hwheel_add_at(&objects[1].timer, 0, 0);
	EXPECT(sim_hrtimer_starts == starts);
	preempt_enable();
	sim_sleep(5000000);
	EXPECT(runs == 2);
	hwheel_destroy(wheel);
}

/* When the clock is set back, the levels are set back with the lock held. That takes time. */
static void set_back(void)
{
	struct hwheel_config config = { .name = "back", .flags = HWHEEL_REALTIME };
	unsigned int i;

	wheel = make(config);
	sim_set_clock(-NSEC_PER_SEC);
	sim_sleep(1000000);
	EXPECT(hwheel_count(wheel, "max_locked_ns"));	/* even without timers */
	hwheel_destroy(wheel);
	wheel = make(config);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		setup(&objects[i].timer, count);
		hwheel_add_on(&objects[i].timer, 10000000000LL + i * 1000000, 0);
		if (!i)
			sim_sleep(10000000);	/* the level is added now */
	}
	sim_sleep(10000000);
	EXPECT(sim_world.holds || !hwheel_count(wheel, "max_locked_ns"));
	sim_set_clock(-100000000000LL);
	sim_sleep(10000000);
	EXPECT(sim_write_file("back", "stats", "1") == -EINVAL);
	EXPECT(sim_write_file("back", "stats", "no") == -EINVAL);
	EXPECT(hwheel_count(wheel, "max_locked_ns"));
	EXPECT(sim_write_file("back", "stats", "0") == 1);
	EXPECT(!hwheel_count(wheel, "max_locked_ns"));
	EXPECT(hwheel_count(wheel, "added") == ARRAY_SIZE(objects));
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		EXPECT(hwheel_cancel(&objects[i].timer));
	hwheel_destroy(wheel);
}

static void busy(struct hwheel_timer *timer)
{
	sim_run(30000);
	hwheel_add(timer, 1000);
}

/* Hardirq runs of 30 us follow each other closely. So a break must come every few runs. */
static void overdrawn(void)
{
	struct hwheel_config config = { .name = "busy", .tick_ns = 1000 };

	config.context = HWHEEL_HARDIRQ;
	wheel = make(config);
	setup(one, busy);
	hwheel_add_on(one, 1000, 0);
	sim_sleep(10000000);
	hwheel_shutdown_sync(one);
	EXPECT(hwheel_count(wheel, "budget_overruns") >= 20);
	hwheel_destroy(wheel);
}

static void take_a_while(struct hwheel_timer *timer)
{
	sim_run(30000);
	runs++;
}

/*
 * The same if nothing is pending when a run ends: a task arms the timer anew after each run, on
 * another CPU if there is one. Half of the time is for the breaks.
 */
static void overdrawn_by_others(void)
{
	struct hwheel_config config = { .name = "busy", .tick_ns = 1000 };
	u64 end = sim_time + 10000000;
	unsigned int armed = 0;

	config.context = HWHEEL_HARDIRQ;
	wheel = make(config);
	setup(one, take_a_while);
	for (runs = 0; sim_time < end; sim_sleep(2000))
		if (armed == runs) {	/* soon the run has ended, too */
			hwheel_add_on(one, 0, sim_world.cpus - 1);
			armed++;
		}
	hwheel_shutdown_sync(one);
	EXPECT(runs > 10 && runs * 30000 < 6000000);
	hwheel_destroy(wheel);
}

/* A run that used up the budget leaves nothing to do: the break does not shorten the gap. */
static void overdrawn_gap(void)
{
	struct hwheel_config config = { .name = "busy", .tick_ns = 1000 };

	config.context = HWHEEL_HARDIRQ;
	config.budget_ns = 20000;
	config.gap_ns = 5000000;
	wheel = make(config);
	setup(one, take_a_while);
	hwheel_add(one, 1000);
	sim_sleep(100000);
	hwheel_add(one, 1000);
	sim_sleep(4000000);
	EXPECT(hwheel_pending(one));
	sim_sleep(2000000);
	EXPECT(!hwheel_pending(one));
	hwheel_destroy(wheel);
}

/* A file that gets no memory can't be read, or not to its end: no row is left out silently. */
static void read_in_vain(void)
{
	static const char *const files[] = { "timers", "users", "stats" };
	char *text, *line;
	unsigned int i;

	setup(one, count);
	hwheel_add(one, 1000000000);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		sim_fail_allocs(0, 1);
		EXPECT(!sim_read_file("known", files[i], 4096));
	}
	/* The first call of read() returns the line with the columns; the next one tries again */
	sim_fail_allocs(1, 2);
	EXPECT(!sim_read_file("known", "timers", 4096));
	sim_fail_allocs(1, 1);
	text = sim_read_file("known", "timers", 4096);
	line = text ? strchr(text, '\n') + 1 : "";
	EXPECT(*line && strchr(line, '\n') && !strchr(line, '\n')[1]);
	free(text);
	sim_fail_allocs(0, 0);
	EXPECT(hwheel_cancel(one));
}

/* A gap follows only a run in which timers expired. */
static void gap(void)
{
	struct hwheel_config config = { .name = "gap", .gap_ns = 1000000000 };
	unsigned long long starts;

	wheel = make(config);
	EXPECT(peek_ahead(wheel, 0) == config.gap_ns / 1000000);
	runs = 0;
	setup(one, count);
	hwheel_add(one, 5000000);
	hwheel_cancel(one);
	sim_sleep(8000000);
	hwheel_add(one, 2000000);
	sim_sleep(5000000);
	EXPECT(runs == 1 && hwheel_count(wheel, "idle_interrupts") == 1);
	/* In the gap, an earlier timer does not start the hrtimer again. */
	setup(&objects[1].timer, count);
	hwheel_add(one, 500000000);
	starts = sim_hrtimer_starts;
	hwheel_add(&objects[1].timer, 100000000);
	EXPECT(sim_hrtimer_starts == starts);
	EXPECT(hwheel_cancel(one));
	sim_sleep(1000000000);
	EXPECT(runs == 2 && hwheel_count(wheel, "moderated") == 1);
	/* The interrupt at the end of the next gap finds no due timer. Then one is overdue. */
	sim_sleep(500000000);
	hwheel_add(&objects[1].timer, 10000000000);
	hwheel_add(one, 100000000);
	hwheel_cancel(one);
	sim_sleep(1000000000);
	hwheel_add_at(one, 0, 0);
	sim_sleep(5000000);
	EXPECT(runs == 3 && hwheel_count(wheel, "moderated") == 2);
	EXPECT(hwheel_cancel(&objects[1].timer));
	hwheel_destroy(wheel);
}

/*
 * A task waits for a callback that arms its timer again. Even so, the callback must not run
 * again.
 */
static void wait_rearmed(void)
{
	unsigned int before;

	running = NULL;
	setup(one, slow_again);
	hwheel_add(one, 1000);
	while (!running)
		sim_sleep(1000);
	before = runs;
	hwheel_cancel_sync(one);
	EXPECT(runs <= before + 1 && !hwheel_pending(one));
}

static void is_bound(struct hwheel_timer *timer)
{
	EXPECT(current->wq == system_percpu_wq);
	runs++;
}

static void is_unbound(struct hwheel_timer *timer)
{
	EXPECT(current->wq == system_dfl_wq);
	runs++;
}

/* Callbacks that run on any CPU */
static void unbound(void)
{
	struct hwheel_config config = { .name = "known", .context = HWHEEL_WORK,
					.wq = system_dfl_wq };

	wheel = make(config);
	run(is_unbound);
	hwheel_destroy(wheel);
}

static void callbacks(enum hwheel_context context)
{
	struct hwheel_config config = { .name = "known", .context = context };

	wheel = make(config);
	run(count);
	if (context == HWHEEL_HARDIRQ || (context == HWHEEL_SOFTIRQ && !SIM_RT)) {
		preempt_disable();		/* these calls never sleep */
		setup(one, count);
		EXPECT(!hwheel_cancel_sync(one) && !hwheel_shutdown_sync(one));
		preempt_enable();
	}
	run(setup_itself);
	if (context == HWHEEL_WORK) {
		run(is_bound);
		wait_rearmed();
	}
	if (sim_world.cpus > 1) {
		if (context == HWHEEL_HARDIRQ || (context == HWHEEL_SOFTIRQ && !SIM_RT))
			wait_wrongly();
		synchronize();
		if (context == HWHEEL_WORK)
			wait_late();
		wait_in_run();
		move_and_setup();
		EXPECT(armed_while_running(0) == 0);
		EXPECT(armed_while_running(1) == 1);
		EXPECT(armed_while_running(2) == 1);
		EXPECT(armed_while_running(3) == 1);
		EXPECT(armed_while_running(4) == -1);
		EXPECT(armed_while_running(5) == 0);
	}
	run(count);
	hwheel_destroy(wheel);
}

/*
 * Destroys a wheel while timers are pending. With one CPU, that CPU has so many of them that
 * hwheel drops the lock while it cancels them.
 */
static void destroy_pending(void)
{
	struct hwheel_config config = { .name = "known" };
	unsigned int i;

	hwheel_destroy(NULL);
	hwheel_destroy(ERR_PTR(-ENOMEM));
	WARNS("the module's own wheel", (hwheel_destroy(hwheel_system), 0));
	wheel = make(config);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		setup(&objects[i].timer, count);
		hwheel_add_on(&objects[i].timer, 1000000000LL * i + 1000000000,
			      i % sim_world.cpus);
	}
	WARNS("with 64 timers pending", (hwheel_destroy(wheel), 0));
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		EXPECT(!hwheel_pending(&objects[i].timer) && !hwheel_cancel(&objects[i].timer));
}

/* ------------------------------------------------------------------------ */
/* Timers defined at build time or on the stack; delayed work; debugobjects */

static DEFINE_HWHEEL_TIMER(defined, count);

static void other_timers(void)
{
	struct object here = { };

	objects[0] = (struct object){ .timer = defined };
	EXPECT(!hwheel_pending(one));
	EXPECT(!hwheel_add(one, 1000000000));
	EXPECT(hwheel_pending(one));
	EXPECT(hwheel_cancel_sync(one));
	/* Two CPUs arm such a timer for the first time, at once. */
	objects[0] = (struct object){ .timer = defined };
	MEANWHILE("hwheel_find_base", 0, add_here, EXPECT(hwheel_add(one, 1000000000)));
	EXPECT(hwheel_cancel(one));
	sim_wheels[0].added += 2;
	sim_wheels[0].rearmed++;
	sim_wheels[0].cancelled += 2;

	hwheel_setup_on_stack(&here.timer, wheel, count, 0);
	EXPECT(!hwheel_add(&here.timer, 1000000000));
	hwheel_destroy_on_stack(&here.timer);
	EXPECT(!hwheel_pending(&here.timer) && here.state == ODEBUG_STATE_NONE);
}

static void delayed(struct work_struct *work)
{
	EXPECT(to_hwheel_delayed_work(work) == &sim_delayed);
	runs++;
}

/* Checks only that delayed work runs, and that debugobjects gets its function. */
static void delayed_work(void)
{
	HWHEEL_INIT_DELAYED_WORK(&sim_delayed, wheel, delayed);
	EXPECT(sim_descr->debug_hint(&sim_delayed.timer) == delayed);
	runs = 0;
	EXPECT(hwheel_queue_delayed_work_on(0, system_percpu_wq, &sim_delayed, 1000000));
	EXPECT(!hwheel_queue_delayed_work_on(0, system_percpu_wq, &sim_delayed, 1000000));
	sim_sleep(5000000);
	EXPECT(runs == 1 && !hwheel_delayed_work_pending(&sim_delayed));
	hwheel_destroy_delayed_work_on_stack(&sim_delayed);
	EXPECT(!WARNS(UNSET, hwheel_add(&sim_delayed.timer, 1000)));
	EXPECT(!hwheel_pending(&sim_delayed.timer));
}

static void disable_delayed(void)
{
	hwheel_disable_delayed_work(&sim_delayed);
}

/* Delayed work is disabled while it is enabled. */
static void disable_again(void)
{
	HWHEEL_INIT_DELAYED_WORK(&sim_delayed, wheel, delayed);
	disable_delayed();
	MEANWHILE("hwheel_enable_delayed_work", 0, disable_delayed,
		  EXPECT(!hwheel_enable_delayed_work(&sim_delayed)));
	EXPECT(hwheel_enable_delayed_work(&sim_delayed));
}

static void disable_and_wait(void *arg)
{
	hwheel_disable_delayed_work_sync(&sim_delayed);
	waited = true;
}

static void disable_meanwhile(void)
{
	sim_spawn("waiter", (sim_cpu->id + 1) % sim_world.cpus, disable_and_wait, NULL);
	sim_run(1000000);
	EXPECT(!waited);
}

/* A callback has queued the work, and has not returned. Who disables the work must wait for it. */
static void disable_late(void)
{
	HWHEEL_INIT_DELAYED_WORK(&sim_delayed, wheel, delayed);
	waited = false;
	hwheel_queue_delayed_work(system_percpu_wq, &sim_delayed, 1000000);
	MEANWHILE("__hwheel_work_expired", 1, disable_meanwhile, sim_sleep(10000000));
	while (!waited)
		sim_sleep(1000);
	EXPECT(hwheel_enable_delayed_work(&sim_delayed));
}

/* Mistakes with delayed work that is set up */
static void bad_queues(void)
{
	HWHEEL_INIT_DELAYED_WORK(&sim_delayed, wheel, delayed);
	WARNS("enabled, and was not disabled", hwheel_enable_delayed_work(&sim_delayed));
}

/* hwheel's functions that debugobjects calls */
static void debug_objects(void)
{
	one->expires = 1;
	setup(one, count);
	EXPECT(!hwheel_expires(one));			/* it was never armed */
	EXPECT(sim_descr->debug_hint(one) == count);
	EXPECT(!strcmp(sim_descr->name, "hwheel_timer"));
	EXPECT(!sim_descr->is_static_object(one));
	hwheel_add(one, 1000000000);
	EXPECT(!sim_descr->fixup_init(one, ODEBUG_STATE_INIT) && hwheel_pending(one));
	EXPECT(!sim_descr->fixup_assert_init(one, ODEBUG_STATE_ACTIVE) && hwheel_pending(one));
	EXPECT(sim_descr->fixup_init(one, ODEBUG_STATE_ACTIVE) && !hwheel_pending(one));
	hwheel_add(one, 1000000000);
	EXPECT(sim_descr->fixup_free(one, ODEBUG_STATE_ACTIVE) && !hwheel_pending(one));
	objects[1] = (struct object){ .timer = defined };
	EXPECT(sim_descr->is_static_object(&objects[1].timer));
	memset(&objects[1].timer, 0x5a, sizeof(objects[1].timer));
	EXPECT(!sim_descr->is_static_object(&objects[1].timer));
	EXPECT(!WARNS(UNSET, hwheel_add(&objects[1].timer, 0)));
	memset(&objects[1].timer, 0x5a, sizeof(objects[1].timer));
	EXPECT(sim_descr->fixup_assert_init(&objects[1].timer, ODEBUG_STATE_NOTAVAILABLE));
	EXPECT(objects[1].state == ODEBUG_STATE_INIT);
	EXPECT(!WARNS(UNSET, hwheel_add(&objects[1].timer, 0)));
	/* A timer is set up again while it is pending */
	hwheel_add(one, 1000000000);
	setup(one, count);
	EXPECT(!hwheel_pending(one));
	EXPECT(hwheel_count(wheel, "added") == hwheel_count(wheel, "cancelled") +
					       hwheel_count(wheel, "expired"));

	/* Set up a timer in memory with 0x5a bytes */
	sim_world.no_debug_objects = true;
	memset(&objects[1].timer, 0x5a, sizeof(objects[1].timer));
	setup(&objects[1].timer, count);
	EXPECT(!hwheel_pending(&objects[1].timer));
	sim_world.no_debug_objects = false;
}

/* ------------------------------------------------------------------------ */
/* hwheel_jiffies.h */

static void conversions(void)
{
	static const long most = KTIME_MAX / TICK_NSEC;
	char text[100];
	unsigned long now;
	s64 left;

	EXPECT(sim_hwheel_jiffies(LONG_MIN) == 0 && sim_hwheel_jiffies(-1) == 0);
	EXPECT(sim_hwheel_jiffies(0) == 0 && sim_hwheel_jiffies(1) == TICK_NSEC);
	EXPECT(sim_hwheel_jiffies(1 << 30) == (TICK_NSEC << 30));
	EXPECT(sim_hwheel_jiffies(most) == most * TICK_NSEC);
	EXPECT(sim_hwheel_jiffies(most + 1) == KTIME_MAX);
	EXPECT(sim_hwheel_jiffies(LONG_MAX) == KTIME_MAX);

	sim_sleep(TICK_NSEC - sim_time % TICK_NSEC + 1000);	/* a jiffy has just begun */
	now = jiffies;
	EXPECT(sim_hwheel_until_jiffies(now) == 0 && sim_hwheel_until_jiffies(now - 5) == 0);
	EXPECT(sim_hwheel_until_jiffies(now + 7) == 7 * TICK_NSEC);
	EXPECT(sim_hwheel_until_jiffies(now + LONG_MAX + 1) == 0);

	setup(one, count);
	hwheel_add_at(one, 10 * TICK_NSEC + (s64)sim_time, 0);
	EXPECT(sim_hwheel_expires_jiffies(one) == now + 10);
	hwheel_add_at(one, 10 * TICK_NSEC + (s64)sim_time + 100000, 0);
	EXPECT(sim_hwheel_expires_jiffies(one) == now + 11);
	EXPECT(hwheel_cancel(one));
	sim_sleep(20 * TICK_NSEC);
	now = jiffies;
	left = hwheel_remaining(one);
	EXPECT(left < 0 && sim_hwheel_expires_jiffies(one) == now - -left / TICK_NSEC);

	sim_hwheel_set_jiffies(one, now - 1);
	EXPECT(sim_hwheel_expires_jiffies(one) == now);
	sim_hwheel_set_jiffies(one, now + 30);
	EXPECT(sim_hwheel_expires_jiffies(one) == now + 30 && !hwheel_pending(one));
	EXPECT(!hwheel_add_at(one, hwheel_expires(one), 0));
	WARNS("its time can't be set", (sim_hwheel_set_jiffies(one, now + 60), 0));
	EXPECT(sim_hwheel_expires_jiffies(one) == now + 30 && hwheel_cancel(one));
	EXPECT(!hwheel_shutdown_sync(one));

	setup(one, sim_hwheel_no_callback);
	EXPECT(!sim_hwheel_has_callback(one, count));
	hwheel_add(one, 1000);
	WARNS("armed before hwheel_set_callback()", (sim_sleep(5000000), 0));
	sim_hwheel_set_callback(one, count);
	EXPECT(sim_hwheel_has_callback(one, count));
	runs = 0;
	hwheel_add(one, 1000);
	snprintf(text, sizeof(text), "callback %ps is pending, it can't get callback", count);
	WARNS(text, (sim_hwheel_set_callback(one, sim_hwheel_no_callback), 0));
	sim_sleep(5000000);
	EXPECT(runs == 1 && !hwheel_shutdown_sync(one));
}

/* ------------------------------------------------------------------------ */
/* The file users */

struct users {
	unsigned int		rows, other;
	unsigned long long	pending;
};

/* The number of rows of the file, and sums over the rows */
static struct users users_of(const char *name)
{
	char *text = sim_read_file(name, "users", 4096), *p = strchr(text, '\n') + 1, word[32];
	unsigned long long pending;
	struct users users = { };

	for (; *p; p = strchr(p, '\n') + 1, users.rows++) {
		EXPECT(sscanf(p, "%31s %llu", word, &pending) == 2);
		users.other += !strcmp(word, "other");
		users.pending += pending;
	}
	free(text);
	return users;
}

/* Each object has a callback of its own: more callbacks than get a row of their own. */
static void many_users(void)
{
	const int n = ARRAY_SIZE(objects);
	unsigned long function = 0;
	struct users users;
	char *text, row[64];
	int i;

	EXPECT(!users_of("known").rows);
	for (i = 0; i < n; i++) {
		setup(&objects[i].timer, count);
		function += 0x1000;
		objects[i].timer.function = (void *)function;
		hwheel_add(&objects[i].timer, 1000000000);
	}
	users = users_of("known");
	EXPECT(users.rows == 49 && users.other == 1);
	EXPECT(users.pending == n);
	text = sim_read_file("known", "users", 65536);
	EXPECT(!strstr(text, "0x0"));		/* pointers that have no name are hashed */
	free(text);
	for (i = 0; i < n; i++)
		EXPECT(hwheel_cancel(&objects[i].timer));
	EXPECT(!users_of("known").rows);

	setup(one, count);
	hwheel_add(one, 1000000000);
	users = users_of("known");
	EXPECT(users.rows == 1 && !users.other && users.pending == 1);
	text = sim_read_file("known", "users", 4096);
	EXPECT(sscanf(strchr(text, '\n'), "%31s 1", row) == 1);
	EXPECT(sim_named(row) == (unsigned long)count);
	free(text);
	EXPECT(hwheel_cancel(one));
}

/* ------------------------------------------------------------------------ */
/* What other CPUs do at a certain place of hwheel's code */

/* A CPU that has a higher number than this one. -1: there is none */
static int higher_cpu(void)
{
	return sim_cpu->id + 1 < (int)sim_world.cpus ? sim_cpu->id + 1 : -1;
}

/* A CPU is held up. */
static void stall(void)
{
	sim_run(2000000);
}

static void stall_long(void)
{
	sim_run(50000000);
}

/* @one expires on another CPU, and its callback begins. */
static void fire_there(void)
{
	hwheel_add_on(one, 1000, higher_cpu());
	stall();
}

static void add_there(void)
{
	hwheel_add_on(one, 3000000, higher_cpu());
}

static void reduce_one(void)
{
	hwheel_reduce(one, 1000000);
}

/*
 * @one is pending on another CPU and is armed from here. hwheel must lock both bases, and unlocks
 * the first one for that. Meanwhile @then happens.
 */
static void switch_base(void (*then)(void))
{
	const int cpu = higher_cpu();
	bool was;

	setup(one, count);
	runs = 0;
	hwheel_add_on(one, then == stall ? 1000000 : 5000000, cpu);
	if (then == fire_there)
		hwheel_cancel(one);
	if (then == stall || then == fire_there)
		one->function = hold;
	sim_no_trylock = true;
	if (then == cancel_one)
		MEANWHILE("hwheel_lock_other", 0, then, was = hwheel_mod_pending(one, 8000000));
	else if (then == reduce_one)
		MEANWHILE("hwheel_lock_other", 0, then, was = hwheel_reduce(one, 3000000));
	else
		MEANWHILE("hwheel_lock_other", 0, then, was = hwheel_add(one, 8000000));
	sim_no_trylock = false;
	one->function = count;
	last_cpu = -1;
	if (then == cancel_one || then == shutdown_one) {
		EXPECT(!was && !hwheel_pending(one));
		sim_sleep(20000000);
		EXPECT(!runs);
		return;
	}
	if (then == stall || then == fire_there) {	/* the callback runs: @one stays there */
		EXPECT(!was && held && runs == 1);
		sim_sleep(20000000);
		EXPECT(runs == 2 && last_cpu == cpu);
		return;
	}
	EXPECT(was && hwheel_pending(one));
	sim_sleep(2000000);
	EXPECT(runs == (then == reduce_one));
	sim_sleep(4000000);			/* armed for 3 ms, and then for 8 ms */
	EXPECT(runs == (then == reduce_one));
	sim_sleep(4000000);
	EXPECT(runs == 1);
}

/* The callback of @one runs on CPU @there. Meanwhile @one is armed for this CPU. */
static void arm_while_running_on(int there)
{
	setup(one, hold);
	runs = 0;
	hwheel_add_on(one, 1000, there);
	while (!held)
		sim_sleep(1000);
	one->function = count;
	hwheel_add_on(one, 5000000, sim_cpu->id);
}

/*
 * @one's callback has returned, and was armed for a lower CPU meanwhile. hwheel unlocks its base
 * to lock the other base. Meanwhile @then happens.
 */
static void move_running(void (*then)(void))
{
	const int there = higher_cpu();

	arm_while_running_on(there);
	last_cpu = -1;
	sim_no_trylock = true;
	MEANWHILE("hwheel_lock_other", 0, then, sim_sleep(4000000));
	sim_no_trylock = false;
	sim_sleep(10000000);
	EXPECT(runs == 1 + (then != cancel_one));
	EXPECT(last_cpu == (then == cancel_one ? -1 : there));
}

static void not_running(void)
{
	EXPECT(!hwheel_running(one) && !hwheel_pending(one));
}

static void wait_there(void)
{
	sim_spawn("waiter", sim_cpu->id ? 0 : 1, wait_for_one, NULL);
	expect_at("hwheel_cancel_running", 0, not_running);
	sim_run(200000);
}

/*
 * As move_running(), for a callback in process context, and a task begins to wait meanwhile. It
 * comes back when @one is neither pending nor running.
 */
static void wait_while_moved(void)
{
	struct hwheel_config config = { .name = "moved", .context = HWHEEL_WORK };

	wheel = make(config);
	waited = false;
	arm_while_running_on(higher_cpu());
	sim_no_trylock = true;
	MEANWHILE("hwheel_lock_other", 0, wait_there, sim_sleep(4000000));
	sim_no_trylock = false;
	EXPECT(waited && !hwheel_pending(one));
	sim_sleep(10000000);
	EXPECT(runs == 1);
	hwheel_destroy(wheel);
}

/*
 * @one expires on another CPU before hwheel_cancel_sync() has locked a base. Then it waits for that
 * CPU.
 */
static void cancel_elsewhere(void)
{
	struct hwheel_config config = { .name = "else", .context = HWHEEL_WORK };
	unsigned int sleeps;

	wheel = make(config);
	setup(one, hold);
	runs = 0;
	hwheel_add(one, 1000000000);
	sleeps = current->sleeps;
	MEANWHILE("hwheel_lock", 0, fire_there, EXPECT(!hwheel_cancel_sync(one)));
	EXPECT(runs == 1 && !held && current->sleeps < sleeps + 20);
	hwheel_destroy(wheel);
}

/*
 * While the callback of @one runs, @one is armed for this CPU, and then another timer on the
 * callback's CPU. @one must still move.
 */
static void move_for_one(void)
{
	const int there = higher_cpu();

	arm_while_running_on(there);
	setup(&objects[1].timer, count);
	hwheel_add_on(&objects[1].timer, 1000000000, there);
	EXPECT(held);
	sim_sleep(10000000);
	EXPECT(runs == 2 && last_cpu == sim_cpu->id);
	EXPECT(hwheel_cancel(&objects[1].timer));
}

/*
 * The only timer is cancelled at @place while somebody reads @file. Returns whether the file shows
 * anything.
 */
static bool read_cancelled(const char *file, const char *place, unsigned int nth)
{
	char *text;
	bool shown;

	setup(one, count);
	hwheel_add(one, 1000000000);
	expect_at(place, nth, cancel_one);
	text = sim_read_file("known", file, 4096);
	shown = strchr(text, '\n')[1];
	free(text);
	hwheel_cancel(one);
	return shown;
}

/* The reader drops the lock before the last ones of this many timers */
#define JOINED		(BATCH / 2 + 2)

/* Arm timers for a spoke of level 1. They expire at different ticks */
static void add_to_spoke(unsigned int from, unsigned int to)
{
	static s64 begin;
	unsigned int i;

	if (!from)
		begin = (sim_time / 128000000 + 80) * 128000000;
	for (i = from; i < to; i++) {
		setup(&objects[i].timer, count);
		hwheel_add_at(&objects[i].timer, begin + 1000000 * i, 0);
	}
}

static void add_many(void)
{
	add_to_spoke(JOINED, ARRAY_SIZE(objects));
}

/*
 * While a reader counts the timers of a spoke, timers join that spoke. The reader must stop after
 * twice the number of timers that were there.
 */
static void read_joined(void)
{
	unsigned int i, at = 0;
	char *text, row[64];

	add_to_spoke(0, JOINED);
	MEANWHILE("cond_resched", 0, add_many, text = sim_read_file("known", "spokes", 4096));
	snprintf(row, sizeof(row), " %u\n", 2 * JOINED + 1);
	EXPECT(strstr(text, row));
	free(text);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		at += hwheel_cancel(&objects[i].timer);
	EXPECT(at == i);
}

static void expire_all(void)
{
	sim_sleep(100000000);
}

/*
 * While a reader counts the timers of a spoke, all of them become due, and leave as a whole list.
 * The reader must not follow them.
 */
static void read_due(void)
{
	char *text, row[64];
	unsigned int i;

	setup(one, count);
	hwheel_add(one, 50000000);		/* the level is added now */
	sim_sleep(100000000);
	for (i = 0; i < JOINED; i++) {
		setup(&objects[i].timer, count);
		hwheel_add_at(&objects[i].timer, sim_time / 1000000 * 1000000 + 50000000, 0);
	}
	runs = 0;
	MEANWHILE("cond_resched", 0, expire_all, text = sim_read_file("known", "spokes", 4096));
	EXPECT(runs == JOINED);
	snprintf(row, sizeof(row), " %u\n", BATCH / 2);
	EXPECT(strstr(text, row));
	free(text);
}

static unsigned int rested;

static void count_rests(const char *where)
{
	rested += !strcmp(where, "cond_resched");
}

/* A reader of "users" lets other tasks run after each spoke. */
static void read_resting(void)
{
	const unsigned int n = ARRAY_SIZE(objects);
	unsigned int i;

	setup(one, count);
	hwheel_add(one, 10000000000);		/* the levels are added now */
	sim_sleep(50000000);
	for (i = 0; i < n; i++) {
		setup(&objects[i].timer, count);
		hwheel_add(&objects[i].timer, 1000000000 + 128000000ULL * i);
	}
	rested = 0;
	sim_meanwhile = count_rests;
	free(sim_read_file("known", "users", 65536));
	sim_meanwhile = NULL;
	EXPECT(rested >= n);
	for (i = 0; i < n; i++)
		EXPECT(hwheel_cancel(&objects[i].timer));
}

static void set_clock(void)
{
	sim_set_clock(100 * NSEC_PER_SEC);
}

/* The clock is set while a CPU reads how far it is ahead. */
static void read_set(void)
{
	struct hwheel_config config = { .name = "wall", .flags = HWHEEL_REALTIME };
	s64 before, now;

	wheel = make(config);
	before = hwheel_now(wheel);
	MEANWHILE("hwheel_offset", 0, set_clock, now = hwheel_now(wheel));
	EXPECT(now >= before + 100 * NSEC_PER_SEC);
	hwheel_destroy(wheel);
}

static void hold_long(struct hwheel_timer *timer)
{
	held = true;
	runs++;
	sim_sleep(20000000);
	held = false;
}

/*
 * Timers of a CPU that goes offline stay on its base, and run elsewhere. When the CPU is online
 * again, they run there, also a pinned one that is armed once more.
 */
static void served(enum hwheel_context context)
{
	struct hwheel_config config = { .name = "served", .context = context };
	const int here = sim_cpu->id, cpu = higher_cpu();
	char row[16], *text;
	const unsigned int work = context == HWHEEL_WORK;
	unsigned int i;

	wheel = make(config);
	for (i = 1; i < ARRAY_SIZE(objects); i++) {
		hwheel_setup(&objects[i].timer, wheel, count, i % 2 ? HWHEEL_PINNED : 0);
		hwheel_add_on(&objects[i].timer, i * 50000000, cpu);
	}
	runs = 0;
	if (work) {		/* its CPU goes offline during a callback */
		setup(one, hold_long);
		hwheel_add_on(one, 1000000, cpu);
		while (!held)
			sim_sleep(1000000);
	}
	EXPECT(sim_cpu_down(cpu));
	EXPECT(held == work);
	EXPECT(peek_pending(wheel, cpu) == i - 1);
	snprintf(row, sizeof(row), "\n%d 0 ", cpu);
	text = sim_read_file("served", "levels", 4096);
	EXPECT(strstr(text, row));
	free(text);
	sim_sleep(120000000);
	EXPECT(!held && runs == 2 + work && last_cpu != cpu);
	EXPECT(sim_cpu_up(cpu));
	sim_sleep(50000000);
	EXPECT(runs == 3 + work && last_cpu == cpu);
	EXPECT(!hwheel_count(wheel, "migrated"));
	for (i = 4; i < ARRAY_SIZE(objects); i++) {
		EXPECT(peek_timer_cpu(&objects[i].timer) == cpu);
		EXPECT(hwheel_cancel(&objects[i].timer));
	}
	EXPECT(sim_cpu_down(cpu));
	hwheel_add_on(&objects[1].timer, 1000000, cpu);
	sim_sleep(5000000);
	EXPECT(runs == 4 + work && last_cpu != cpu);
	EXPECT(sim_cpu_up(cpu));
	sim_move(cpu);
	hwheel_add(&objects[1].timer, 1000000);
	sim_sleep(5000000);
	EXPECT(runs == 5 + work && last_cpu == cpu);
	sim_move(here);
	hwheel_destroy(wheel);
}

/*
 * A wheel is destroyed while a callback runs and other timers are pending. The callback arms its
 * timer again. It can't know, so hwheel does not warn.
 */
static void destroy_busy(enum hwheel_context context)
{
	struct hwheel_config config = { .name = "busy", .context = context };
	const int cpu = (sim_cpu->id + 1) % sim_world.cpus;

	wheel = make(config);
	runs = 0;
	setup(one, hold_again);
	hwheel_add_on(one, 1000, cpu);
	setup(&objects[1].timer, count);
	hwheel_add_on(&objects[1].timer, 100000000, cpu);
	while (!held)
		sim_sleep(1000);
	WARNS("with 1 timers pending", (hwheel_destroy(wheel), 0));
	EXPECT(runs == 1 && !held);
}

/* No other CPU is woken because somebody sets the clock of a deferrable wheel. */
static void set_deferrable(void)
{
	struct hwheel_config config = { .name = "defer",
					.flags = HWHEEL_REALTIME | HWHEEL_DEFERRABLE };

	wheel = make(config);
	/* Crowds are moved a jiffy earlier, because its runs may be that late. */
	EXPECT(peek_ahead(wheel, 0) == DIV_ROUND_UP(TICK_NSEC, 1000000));
	setup(one, count);
	hwheel_add_on(one, 1000000000, (sim_cpu->id + 1) % sim_world.cpus);
	sim_sleep(10000000);
	sim_set_clock(100000000);
	sim_sleep(10000000);
	EXPECT(!hwheel_count(wheel, "remote_kicks"));
	EXPECT(hwheel_cancel(one));
	hwheel_destroy(wheel);
}

static void set_in_entry(void)
{
	sim_set_clock(5000000);
	sim_run(100000);		/* hwheel learns of it */
}

static void run_alone(struct hwheel_timer *timer)
{
	ktime_t expires;

	runs++;
	EXPECT(!peek_armed(wheel, sim_cpu->id, &expires));
}

/*
 * The entry of a deferrable base has expired, and its run is about to begin. Somebody sets the
 * clock. The entry must not be pending during the run: it could expire on another CPU, and begin
 * another run.
 */
static void entry_claims(void)
{
	struct hwheel_config config = { .name = "claims",
					.flags = HWHEEL_REALTIME | HWHEEL_DEFERRABLE };

	int nth;

	wheel = make(config);
	runs = 0;
	setup(one, run_alone);
	for (nth = 0; nth < 2; nth++) {	/* before the lock is taken; after it is dropped */
		hwheel_add(one, 1000000);
		MEANWHILE("hwheel_entry_expired", nth, set_in_entry, sim_run(30000000));
		sim_run(10000000);
	}
	EXPECT(runs == 2);
	hwheel_destroy(wheel);
}

/* A CPU has read the clock. Before it arms a timer, a run advances the clock of its base. */
static void clock_stale(void)
{
	struct hwheel_config config = { .name = "stale" };
	const s64 tick = 1000000;
	u64 due;

	wheel = make(config);
	setup(&objects[1].timer, count);
	hwheel_add(&objects[1].timer, 100 * tick);
	due = hwheel_expires(&objects[1].timer) / tick + 1;
	sim_sleep(due * tick - tick / 2 - sim_time);
	setup(one, count);
	MEANWHILE("hwheel_lock", 0, stall, hwheel_add(one, 5 * tick));
	EXPECT(!hwheel_pending(&objects[1].timer) && peek_clock(wheel, sim_cpu->id) >= due);
	EXPECT(hwheel_cancel(one));
	hwheel_destroy(wheel);
}

/* hwheel_add_at() reads the clock only if no timer is pending. */
static void read_no_clock(void)
{
	struct hwheel_config config = { .name = "reads" };
	unsigned long long reads;
	int i;

	wheel = make(config);
	for (i = 0; i < 2; i++) {
		setup(&objects[i].timer, count);
		reads = sim_clock_reads;
		hwheel_add_at(&objects[i].timer, sim_time + 1000000000 * (i + 1), 0);
		EXPECT(sim_clock_reads == reads + !i);
	}
	for (i = 0; i < 2; i++)
		EXPECT(hwheel_cancel(&objects[i].timer));
	/* A run in softirq context does not read the clock after each callback. */
	for (i = 0; i < (int)ARRAY_SIZE(objects); i++) {
		setup(&objects[i].timer, count);
		hwheel_add(&objects[i].timer, 20000000);
	}
	runs = 0;
	reads = sim_clock_reads;
	sim_sleep(25000000);
	EXPECT(runs == ARRAY_SIZE(objects) && sim_clock_reads < reads + ARRAY_SIZE(objects) / 2);
	hwheel_destroy(wheel);
}

static void again(struct hwheel_timer *timer)
{
	hwheel_add(timer, 500000);
}

/* Fill a spoke of level 2 on this CPU with a crowd. Returns when the spoke begins. */
static s64 fill_spoke(void)
{
	const u64 slot = 16384000;		/* of level 2 */
	s64 begin;

	add_levels(1000000000);
	begin = (sim_time / slot + 120) * slot;
	arm_many(begin + 12000000, ARRAY_SIZE(many), 100);
	return begin;
}

static s64 due_with_many;
static unsigned int pasts, pasts_seen;

static void join_many(struct hwheel_timer *timer)
{
	hwheel_add_at(one, due_with_many, 0);
}

static void past(struct hwheel_timer *timer)
{
	if (++pasts < 100)
		hwheel_add_at(timer, 0, 0);
}

static void note_pasts(struct hwheel_timer *timer)
{
	pasts_seen = pasts;
}

/*
 * A callback keeps arming its timer for the past. Timers of the same tick are in a fan. They must
 * not have to wait for more than one such execution.
 */
static void past_below(void)
{
	struct hwheel_config config = { .name = "past", .tick_ns = 1000 };

	wheel = make(config);
	due_with_many = fill_spoke() + 12000000;
	many[0].timer.function = note_pasts;
	setup(one, past);
	pasts = 0;
	pasts_seen = -1;
	setup(&objects[1].timer, join_many);
	hwheel_add_at(&objects[1].timer, due_with_many - 60000, 0);
	sim_sleep(due_with_many + 10000000 - sim_time);
	EXPECT(pasts == 100 && pasts_seen <= 1);
	hwheel_destroy(wheel);
}

/* A wheel of wall time needs no more memory than others. */
static void bytes(void)
{
	struct hwheel_config config = { .name = "a" };
	size_t least;

	wheel = make(config);
	least = peek_bytes(wheel);
	hwheel_destroy(wheel);
	config.flags = HWHEEL_REALTIME;
	wheel = make(config);
	EXPECT(peek_bytes(wheel) == least);
	hwheel_destroy(wheel);
}

/*
 * Many timers of one tick expire. No interrupt comes to move them before, although there was a
 * crowd in their level that had to be moved.
 */
static void one_tick(void)
{
	struct hwheel_config config = { .name = "one" };
	unsigned int i;
	u64 idle;

	wheel = make(config);
	add_to_spoke(0, ARRAY_SIZE(objects));
	sim_sleep(50000000);			/* the levels are added now */
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		EXPECT(hwheel_cancel(&objects[i].timer));
	add_to_spoke(0, ARRAY_SIZE(objects));
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		EXPECT(hwheel_cancel(&objects[i].timer));
	sim_sleep(12000000000);			/* the interrupt that is armed for them */
	idle = hwheel_count(wheel, "idle_interrupts");
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		hwheel_add_at(&objects[i].timer, sim_time / 1000000 * 1000000 + 500000000, 0);
	runs = 0;
	sim_sleep(600000000);
	EXPECT(runs == i);
	EXPECT(hwheel_count(wheel, "idle_interrupts") == idle);
	hwheel_add(one, 1000000);
	hwheel_cancel(one);
	sim_sleep(5000000);
	EXPECT(hwheel_count(wheel, "idle_interrupts") == idle + 1);
	hwheel_destroy(wheel);
}

/* If the timer is due just now, hwheel_add_forward() counts one interval. */
static void forward_when_due(void)
{
	struct hwheel_config config = { .name = "now" };
	unsigned int i;
	u64 n = 0;

	wheel = make(config);
	setup(one, count);
	for (i = 0; i < 1000 && n != 1; i++) {
		hwheel_add_at(one, sim_time + i, 0);
		hwheel_cancel(one);
		n = hwheel_add_forward(one, 1);
		hwheel_cancel(one);
		cond_resched();
	}
	EXPECT(n == 1 || sim_world.holds);
	hwheel_destroy(wheel);
}

static void run_a_while(struct hwheel_timer *timer)
{
	sim_run(sim_rnd(1000));
}

/* Each timer that has expired is in one row of the file "lateness", also one that is not late. */
static void lateness(void)
{
	struct hwheel_config config = { .name = "late", .tick_ns = 1000 };
	unsigned long long up_to, n, sum, exact = 0;
	unsigned int i, round;
	char *text, *row;
	s64 begin;

	wheel = make(config);
	for (round = 1; !exact && round < 20; round++) {
		begin = sim_time / 1000 * 1000 + 100000000;
		for (i = 0; i < ARRAY_SIZE(many); i++) {
			setup(&many[i].timer, run_a_while);
			hwheel_add_at(&many[i].timer, begin + 1000 * i, 0);
			cond_resched();
		}
		sim_sleep(500000000);
		text = sim_read_file("late", "lateness", 4096);
		sum = 0;
		for (row = strchr(text, '\n') + 1; *row; row = strchr(row, '\n') + 1) {
			EXPECT(sscanf(row, "%llu %llu", &up_to, &n) == 2);
			sum += n;
			exact += up_to == 1;
		}
		free(text);
		EXPECT(sum == round * ARRAY_SIZE(many));
	}
	hwheel_destroy(wheel);
}

static void always(struct hwheel_timer *timer)
{
	sim_run(30000);
	hwheel_add_at(timer, 0, 0);
}

/*
 * Callbacks take all the time there is. A ninth of it is left for others: after each budget, there
 * is a break of an eighth of the budget. Neither a short @gap nor setting the clock makes the break
 * shorter.
 */
static void overload(u64 gap)
{
	struct hwheel_config config = { .name = "load", .gap_ns = gap, .flags = HWHEEL_REALTIME };
	unsigned int i;
	u64 begin;

	wheel = make(config);
	for (i = 0; i < 4; i++) {
		setup(&objects[i].timer, always);
		hwheel_add(&objects[i].timer, 1000);
	}
	sim_sleep(5000000);
	begin = sim_time;
	for (i = 0; i < 40; i++) {
		sim_run(50000);
		if (!gap)
			sim_set_clock(1);
	}
	EXPECT(sim_time < begin + 40000000);
	for (i = 0; i < 4; i++)
		hwheel_shutdown_sync(&objects[i].timer);
	hwheel_destroy(wheel);
}

/*
 * The clock is set back, and thousands of timers must move. None of them is due. So a run moves
 * them for HWHEEL_MOVE_NS, and is followed by a rest.
 */
static void set_back_many(void)
{
	struct hwheel_config config = { .name = "back", .flags = HWHEEL_REALTIME };
	u64 before, moved;
	unsigned int i;

	sim_set_clock(2000 * NSEC_PER_SEC);	/* it can't be set to before 1970 */
	wheel = make(config);
	add_levels(100 * NSEC_PER_SEC);
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		setup(&many[i].timer, count);
		hwheel_add(&many[i].timer, 10 * NSEC_PER_SEC + i * 10000000ULL);
		cond_resched();
	}
	before = hwheel_count(wheel, "interrupts");
	moved = hwheel_count(wheel, "cascaded");
	sim_set_clock(-1000 * NSEC_PER_SEC);
	sim_sleep(100000000);
	EXPECT(hwheel_count(wheel, "cascaded") >= moved + ARRAY_SIZE(many));
	EXPECT(hwheel_count(wheel, "interrupts") >= before + 8);
	cancel_many();
	hwheel_destroy(wheel);
}

static unsigned int rows;

/* It runs in process context. Other timers of the same tick are due. */
static void set_back_and_read(struct hwheel_timer *timer)
{
	char *text, *row;

	if (runs++)
		return;
	sim_set_clock(-1000 * NSEC_PER_SEC);
	sim_sleep(2000000);
	text = sim_read_file("strays", "timers", 4096);
	for (row = strchr(text, '\n') + 1; *row; row = strchr(row, '\n') + 1)
		rows++;
	free(text);
}

/*
 * While a callback of the last CPU runs, the clock is set back. The timers that are about to run
 * there move to another spoke of the parking lot. A reader sees them.
 */
static void read_strays(void)
{
	struct hwheel_config config = { .name = "strays", .context = HWHEEL_WORK,
					.flags = HWHEEL_REALTIME };
	unsigned int i;

	sim_set_clock(2000 * NSEC_PER_SEC);	/* it can't be set to before 1970 */
	wheel = make(config);
	runs = 0;
	rows = 0;
	for (i = 0; i < 3; i++) {
		setup(&objects[i].timer, set_back_and_read);
		hwheel_add_on(&objects[i].timer, 10000000, sim_world.cpus - 1);
	}
	sim_sleep(50000000);
	EXPECT(runs == 1 && rows == 2);
	for (i = 0; i < 3; i++)
		hwheel_cancel(&objects[i].timer);
	hwheel_destroy(wheel);
}

static s64 crowd_tick, spoke_end;

static void run_into_tick(struct hwheel_timer *timer)
{
	sim_run(crowd_tick + 300000 - sim_time);
}

static void join_crowd(struct hwheel_timer *timer)
{
	hwheel_add_at(&objects[2].timer, spoke_end - 1000000, 0);
}

/*
 * A crowd is due at the present tick. It is still in a spoke of level 1, because earlier timers
 * come first. One of their callbacks arms a timer for the end of that spoke. Even so, the crowd
 * moves as a whole before it expires.
 */
static void join_due_crowd(void)
{
	struct hwheel_config config = { .name = "join" };
	const s64 slot = 128000000;		/* of level 1 */
	unsigned int i;
	s64 begin;

	wheel = make(config);
	add_levels(1000000000);
	begin = (sim_time / slot + 3) * slot;
	crowd_tick = begin + 5000000;
	spoke_end = begin + slot;
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		setup(&many[i].timer, count);
		hwheel_add_at(&many[i].timer, crowd_tick, 0);
		cond_resched();
	}
	sim_sleep(20000000);			/* there are fans now */
	setup(one, run_into_tick);
	hwheel_add_at(one, begin - 20000000, 0);
	setup(&objects[1].timer, join_crowd);
	hwheel_add_at(&objects[1].timer, begin - 1000000, 0);
	setup(&objects[2].timer, count);
	runs = 0;
	sim_sleep(begin + 3 * slot - sim_time);
	EXPECT(runs == i + 1);
	EXPECT(hwheel_count(wheel, "cascaded") < 100);
	hwheel_destroy(wheel);
}

/* During its callback, a timer is armed for a CPU that goes offline before the callback ends. */
static void move_offline(void)
{
	struct hwheel_config config = { .name = "off", .context = HWHEEL_WORK };
	const int there = higher_cpu();

	wheel = make(config);
	runs = 0;
	setup(one, hold_long);
	hwheel_add_on(one, 1000000, there);
	while (!held)
		sim_sleep(1000000);
	one->function = count;
	hwheel_add_on(one, 50000000, there + 1);
	EXPECT(sim_cpu_down(there + 1));
	EXPECT(held);
	sim_sleep(25000000);
	EXPECT(!held && hwheel_pending(one) && peek_timer_cpu(one) == there);
	EXPECT(sim_cpu_up(there + 1));
	sim_sleep(50000000);
	EXPECT(runs == 2);
	hwheel_destroy(wheel);
}

static void set_back_now(void)
{
	sim_set_clock(-100 * NSEC_PER_SEC);
	sim_run(10000);				/* until the base knows it */
}

/* A CPU has read the time. Before it arms a timer, the clock is set back. */
static void set_while_armed(void)
{
	struct hwheel_config config = { .name = "wall", .flags = HWHEEL_REALTIME };
	s64 tick = 1000000;

	sim_set_clock(1000 * NSEC_PER_SEC);
	wheel = make(config);
	sim_sleep(1000000000);
	setup(one, count);
	MEANWHILE("hwheel_lock", 0, set_back_now, hwheel_add(one, 5 * tick));
	EXPECT((s64)peek_clock(wheel, sim_cpu->id) <= hwheel_now(wheel) / tick);
	EXPECT(hwheel_cancel(one));
	hwheel_destroy(wheel);
}

/* The clock is set while a CPU is offline. Its timers run at the time that is right then. */
static void set_while_down(void)
{
	struct hwheel_config config = { .name = "down", .flags = HWHEEL_REALTIME };
	const int cpu = higher_cpu();
	ktime_t expires;

	wheel = make(config);
	setup(one, count);
	hwheel_add_on(one, 200000000, cpu);
	expires = hwheel_expires(one);
	runs = 0;
	EXPECT(sim_cpu_down(cpu));
	sim_set_clock(100000000);
	sim_sleep(105000000);
	EXPECT(runs == 1 && last_cpu != cpu && hwheel_now(wheel) < expires + 10000000);
	EXPECT(sim_cpu_up(cpu));
	hwheel_destroy(wheel);
}

/* Setting the clock forward moves no timers, and makes none late. */
static void set_forward(void)
{
	struct hwheel_config config = { .name = "wall", .flags = HWHEEL_REALTIME };

	wheel = make(config);
	setup(one, count);
	hwheel_add(one, KTIME_MAX / 4);
	sim_sleep(50000000);
	sim_set_clock(NSEC_PER_SEC);
	sim_sleep(50000000);
	EXPECT(hwheel_cancel(one));
	EXPECT(!hwheel_count(wheel, "cascaded"));
	runs = 0;
	hwheel_add(one, 3600 * NSEC_PER_SEC);
	sim_set_clock(86400 * NSEC_PER_SEC);
	sim_sleep(50000000);
	EXPECT(runs == 1 && hwheel_count(wheel, "max_late_ns") < 50000000);
	hwheel_destroy(wheel);
}

static bool gone;

static void was_set(struct hwheel *set)
{
	EXPECT(!gone);
	runs++;
}

static void destroy_in_work(struct work_struct *work)
{
	hwheel_destroy(wheel);
	runs++;
}

/* The worker that has told a wheel's user of a new time destroys the wheel later. */
static void tell_and_destroy(void)
{
	struct hwheel_config config = { .name = "wall", .flags = HWHEEL_REALTIME,
					.clock_set = was_set };
	struct work_struct work;

	INIT_WORK(&work, destroy_in_work);
	gone = false;
	runs = 0;
	wheel = make(config);
	sim_set_clock(1);
	sim_sleep(10000000);
	EXPECT(runs == 1);
	queue_work(system_dfl_wq, &work);
	sim_sleep(50000000);
	EXPECT(runs == 2);
}

static void destroy_wall(struct hwheel_timer *timer)
{
	hwheel_destroy(wheel);
	gone = true;
}

/*
 * The clock is set, and the CPU that tells the wheels of it is held up. Meanwhile another CPU
 * destroys the wheel. Then its user must not be told any more.
 */
static void set_and_destroy(void)
{
	struct hwheel_config config = { .name = "wall", .flags = HWHEEL_REALTIME,
					.clock_set = was_set };
	struct hwheel_config other = { .name = "other", .context = HWHEEL_WORK };
	struct hwheel *work = make(other);

	gone = false;
	wheel = make(config);
	hwheel_setup(&objects[1].timer, work, destroy_wall, 0);
	hwheel_add_on(&objects[1].timer, 5000000, (sim_cpu->id + 1) % sim_world.cpus);
	sim_sleep(1000000);			/* the levels are added now */
	MEANWHILE("queue_work", 0, stall_long,
		  sim_set_clock(1000000); sim_sleep(100000000));
	EXPECT(gone);
	hwheel_destroy(work);
}

static void unset_clock(void)
{
	sim_set_clock(-100 * NSEC_PER_SEC);
}

static void set_twice(void)
{
	set_clock();
	expect_at("hwheel_offset", 1, unset_clock);	/* 0 reads once more, as it was set */
}

/*
 * While a wheel is created, the clock is set, when only some bases know how far ahead it was. In
 * the second half of the rounds it is set back soon after. No timer may be late.
 */
static void set_and_create(void)
{
	struct hwheel_config config = { .name = "wall", .flags = HWHEEL_REALTIME };
	unsigned int cpus = sim_world.cpus, round, i;

	for (round = 0; round < 2 * cpus; round++) {
		expect_at("hwheel_offset", round % cpus, round < cpus ? set_clock : set_twice);
		wheel = make(config);
		if (sim_meanwhile && meanwhile.then == unset_clock) {
			sim_meanwhile = NULL;
			unset_clock();
		}
		EXPECT(!sim_meanwhile);
		runs = 0;
		for (i = 0; i < cpus; i++) {
			setup(&objects[i].timer, count);
			hwheel_add_on(&objects[i].timer, 2000000, i);
		}
		sim_sleep(5000000);
		EXPECT(runs == cpus);
		for (i = 0; i < cpus; i++)
			EXPECT(is_ahead(peek_offset(wheel, i)));
		hwheel_destroy(wheel);
	}
}

/*
 * A wheel is being destroyed. An interrupt comes when this CPU's base is closing, and the base of
 * another CPU is not yet. The handler re-arms a timer of that CPU. It must not wait until the other
 * base is closing, too.
 */
static void arm_closing(void)
{
	struct hwheel_config config = { .name = "known" };

	wheel = make(config);
	setup(one, count);
	hwheel_add_on(one, 1000000000, higher_cpu());
	sim_sleep(10000000);
	expect_at("hwheel_close_base", sim_cpu->id, add_here);
	WARNS("with 1 timers pending", (hwheel_destroy(wheel), 0));
	EXPECT(!sim_meanwhile && !hwheel_pending(one));
}

/*
 * A gap does not make a rest longer. While a crowd is moved, a CPU rests. A timer that is armed
 * then expires when the rest ends, and does not wait for the end of the gap.
 */
static void gap_rest(void)
{
	struct hwheel_config config = { .name = "rest", .tick_ns = 1000, .gap_ns = 20000000 };
	unsigned int rests = 0;
	s64 begin;
	u64 moved;

	wheel = make(config);
	begin = fill_spoke();
	setup(&objects[1].timer, again);
	hwheel_add(&objects[1].timer, 1000);
	while ((s64)sim_time < begin) {
		sim_sleep(20000);
		if (peek_rest(wheel, sim_cpu->id) < (s64)sim_time + 5000 ||
		    !hwheel_count(wheel, "expired"))
			continue;
		moved = hwheel_count(wheel, "cascaded");
		hwheel_add(one, 1000);
		sim_sleep(200000);
		if (moved == hwheel_count(wheel, "cascaded"))	/* nothing was left: only the gap */
			continue;
		EXPECT(!hwheel_pending(one));
		rests++;
	}
	EXPECT(rests > 1);
	hwheel_cancel(one);	/* the gap may go on */
	hwheel_shutdown_sync(&objects[1].timer);
	cancel_many();
	hwheel_destroy(wheel);
}

/* A timer that is armed during a rest, and due before its end, expires before its end. */
static void rest(void)
{
	struct hwheel_config config = { .name = "rest", .tick_ns = 1000 };
	unsigned int rests = 0;
	s64 begin;

	wheel = make(config);
	begin = fill_spoke();
	while ((s64)sim_time < begin) {
		sim_sleep(20000);
		if (peek_rest(wheel, sim_cpu->id) < (s64)sim_time + 15000)
			continue;
		hwheel_add(one, 2000);
		sim_run(8000);
		EXPECT(!hwheel_pending(one));
		rests++;
	}
	EXPECT(rests > 1);
	cancel_many();
	hwheel_destroy(wheel);
}

/*
 * Moving a crowd uses up a small budget again and again. No timer is due, so hwheel leaves the CPU
 * for as long as the moves took: a task gets about half of the time.
 */
static void move_slowly(void)
{
	struct hwheel_config config = { .name = "slow", .tick_ns = 1000, .budget_ns = 20000 };
	u64 begin, moved;

	wheel = make(config);
	fill_spoke();
	while (!hwheel_count(wheel, "cascaded"))
		sim_sleep(5000);
	do {			/* the worker that adds fans may take time, too */
		begin = sim_time;
		moved = hwheel_count(wheel, "cascaded");
		sim_run(200000);
		EXPECT(hwheel_count(wheel, "cascaded") > moved + 500);
	} while (sim_time >= begin + 600000);
	cancel_many();
	hwheel_destroy(wheel);
}

/*
 * A callback returns whose timer was armed for this CPU meanwhile. Another timer of the same tick
 * is pending here. So no kick is needed.
 */
static void move_same_tick(void)
{
	struct hwheel_config config = { .name = "tick" };
	struct hwheel_timer *other = &objects[1].timer;
	u64 kicks;

	wheel = make(config);
	setup(other, count);
	hwheel_add(other, 1000000000);
	setup(one, hold);
	hwheel_add_on(one, 10000000, higher_cpu());
	while (!held)
		sim_sleep(1000);
	one->function = count;
	hwheel_add(other, 10000000);
	hwheel_add_on(one, hwheel_remaining(other), sim_cpu->id);
	kicks = hwheel_count(wheel, "remote_kicks");
	sim_sleep(5000000);
	EXPECT(!held && hwheel_pending(one));
	EXPECT(hwheel_count(wheel, "migrated") == 1);
	EXPECT(hwheel_count(wheel, "remote_kicks") == kicks);
	EXPECT(hwheel_cancel(one) && hwheel_cancel(other));
	hwheel_destroy(wheel);
}

/*
 * Three timers share a spoke of level 2. The first expires from there. The others move to two
 * spokes of level 1, each alone, and expire from there. One of these spokes had timers of different
 * ticks before.
 */
static void move_alone(void)
{
	struct hwheel_config config = { .name = "move" };
	const s64 slot = 128000000, turn = 128 * slot;	/* of level 1 */
	s64 begin;
	int i;

	wheel = make(config);
	add_levels(1000 * NSEC_PER_SEC);
	begin = (sim_time / turn + 3) * turn;
	for (i = 0; i < 3; i++)
		setup(&objects[i].timer, count);
	hwheel_add_at(&objects[2].timer, begin + 10000000, 0);
	sim_sleep(begin - turn - 50 * slot - sim_time);
	for (i = 0; i < 2; i++)				/* into level 1 */
		hwheel_add(&objects[i].timer,
			   begin - turn + 40 * slot + (i + 1) * 20000000 - sim_time);
	for (i = 0; i < 2; i++)				/* into level 2 */
		hwheel_add_at(&objects[i].timer, begin + 40 * slot * (i + 1) + 10000000, 0);
	runs = 0;
	sim_sleep(begin + 100 * slot - sim_time);
	EXPECT(runs == 3);
	EXPECT(hwheel_count(wheel, "cascaded") == 2);
	hwheel_destroy(wheel);
}

static struct hwheel *others[6];
static unsigned int nr_others;

static void make_other(void)
{
	struct hwheel_config config = { .name = (char[]){ 'a' + nr_others, 0 } };

	others[nr_others++] = make(config);
}

/*
 * Two tasks create wheels at once. The oracle checks at the end that no memory is lost.
 */
static void create_twice(void)
{
	struct hwheel *first[ARRAY_SIZE(others)];
	char name[8];
	unsigned int i;

	nr_others = 0;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		snprintf(name, sizeof(name), "first%u", i);
		MEANWHILE(i % 2 ? "mutex_unlock" : "mutex_lock", 0, make_other,
			  first[i] = make((struct hwheel_config){ .name = name }));
		EXPECT(first[i] != others[i]);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		hwheel_destroy(first[i]);
		hwheel_destroy(others[i]);
	}
}

static ktime_t old_offset;
static unsigned int sets;

static void is_old(const char *where)
{
	if (strcmp(where, "hwheel_base_set"))
		return;
	sets++;
	EXPECT(peek_offset(wheel, sim_world.cpus - 1) == old_offset);
}

/*
 * If timers are pending on another CPU, that CPU itself sets back the levels. Nothing happens on a
 * wheel of another clock.
 */
static void set_there(void)
{
	struct hwheel_config config = { .name = "there", .flags = HWHEEL_REALTIME };
	struct hwheel_config other = { .name = "other" };
	struct hwheel *monotonic = make(other);
	u64 kicks;

	hwheel_setup(&objects[1].timer, monotonic, count, 0);
	hwheel_add_on(&objects[1].timer, 1000000000, sim_world.cpus - 1);
	wheel = make(config);
	setup(one, count);
	hwheel_add_on(one, 1000000000, sim_world.cpus - 1);
	sim_sleep(10000000);
	old_offset = peek_offset(wheel, sim_world.cpus - 1);
	kicks = hwheel_count(monotonic, "remote_kicks");
	sets = 0;
	sim_meanwhile = is_old;
	sim_set_clock(-NSEC_PER_SEC);
	sim_sleep(1000000);
	sim_meanwhile = NULL;
	EXPECT(sets && peek_offset(wheel, sim_world.cpus - 1) == old_offset - NSEC_PER_SEC);
	EXPECT(hwheel_count(monotonic, "remote_kicks") == kicks);
	EXPECT(hwheel_cancel(one) && hwheel_cancel(&objects[1].timer));
	hwheel_destroy(monotonic);
	hwheel_destroy(wheel);
}

/* A crowd on a wheel with as many levels as there can be. It gets fans. */
static void most_levels(void)
{
	struct hwheel_config config = { .name = "most", .tick_ns = 1000000, .levels = 8,
					.spokes = { 16 } };
	char *text, line[64];
	unsigned int i;

	wheel = make(config);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		setup(&objects[i].timer, count);
		hwheel_add_on(&objects[i].timer, 3600 * NSEC_PER_SEC + i * NSEC_PER_SEC, 0);
	}
	sim_sleep(50000000);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		hwheel_add_on(&objects[i].timer, 3600 * NSEC_PER_SEC + i * NSEC_PER_SEC, 0);
	sim_sleep(50000000);
	EXPECT(peek_fans(wheel, 0));
	text = sim_read_file("most", "config", 4096);
	snprintf(line, sizeof(line), "\nbytes_per_cpu %zu\n", peek_bytes(wheel));
	EXPECT(strstr(text, line));
	free(text);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		EXPECT(hwheel_cancel(&objects[i].timer));
	hwheel_destroy(wheel);
}

/*
 * The spokes of levels 5, 4, 3 and 2 that begin at one tick are crowds, and each needs a fan. The
 * first row of fans has three. A crowd asks for fans only if none is free, and when the fourth
 * crowd is armed, one is. So hwheel must ask again before it sifts that crowd.
 */
static void fourth_fan(void)
{
	enum { EACH = 40, LEVELS = 6 };
	struct hwheel_config config = { .name = "fourth", .tick_ns = 1000000, .levels = LEVELS,
					.spokes = { 16 } };
	s64 width = config.tick_ns, begin;
	unsigned int i, level;

	wheel = make(config);
	setup(one, count);
	for (level = 0; level < LEVELS; level++) {	/* the levels are added now */
		hwheel_add(one, 2 * width);
		sim_sleep(1000000);
		EXPECT(hwheel_cancel(one));
		width *= 16;
	}
	width /= 16;
	begin = (sim_time / width + 3) * width;
	for (; level-- > 2; width /= 16) {
		if (level < LEVELS - 1)
			sim_sleep(begin - 10 * width - sim_time);
		for (i = level * EACH; i < (level + 1) * EACH; i++) {
			setup(&many[i].timer, count);
			/* A delay, so that hwheel advances the clock first */
			hwheel_add(&many[i].timer, begin + i % EACH * (width / EACH) - sim_time);
		}
	}
	sim_sleep(begin - 1000000000 - sim_time);
	EXPECT(peek_fans(wheel, sim_cpu->id) == 1);
	sim_sleep(begin - 10000000 - sim_time);
	EXPECT(peek_fans(wheel, sim_cpu->id) == 2);
	for (i = 2 * EACH; i < LEVELS * EACH; i++)
		EXPECT(hwheel_cancel(&many[i].timer));
	hwheel_destroy(wheel);
}

/*
 * A timer moves down a level because the clock has entered its spoke, and another timer expires
 * then. So few timers need no fans.
 */
static void cascade_alone(void)
{
	struct hwheel_config config = { .name = "alone" };
	const s64 slot = 2097152000000LL;	/* of level 3 */
	const s64 begin = (sim_time / slot + 3) * slot;

	wheel = make(config);
	add_levels(2 * slot);
	runs = 0;
	setup(one, count);
	hwheel_add_at(one, begin + 300 * NSEC_PER_SEC, 0);
	sim_sleep(begin - 1000 * NSEC_PER_SEC - sim_time);
	setup(&objects[1].timer, count);
	hwheel_add_at(&objects[1].timer, begin + 10 * NSEC_PER_SEC, 0);
	sim_sleep(begin + 100 * NSEC_PER_SEC - sim_time);
	EXPECT(runs == 1 && hwheel_count(wheel, "cascaded") == 1);
	EXPECT(!peek_fans(wheel, sim_cpu->id));
	EXPECT(hwheel_cancel(one));
	hwheel_destroy(wheel);
}

static void meanwhiles(void)
{
	unsigned int nth = 0;

	EXPECT(!read_cancelled("spokes", "hwheel_walk", 0) && !sim_meanwhile);
	EXPECT(!read_cancelled("users", "hwheel_next_spoke", 0) && !sim_meanwhile);
	do
		read_cancelled("users", "hwheel_next_spoke", nth++);
	while (!sim_meanwhile);
	sim_meanwhile = NULL;
	read_joined();
	read_due();
	read_resting();
	if (higher_cpu() >= 0) {
		switch_base(cancel_one);
		switch_base(shutdown_one);
		switch_base(reduce_one);
		switch_base(add_there);
		switch_base(add_here);
		switch_base(stall);
		switch_base(fire_there);
		move_running(cancel_one);
		move_running(add_here);
		move_for_one();
	}
}

/* Sends interrupts that arrive up to a millisecond later. */
static void send_late(void (*send)(void))
{
	unsigned int late_irq = sim_world.late_irq;

	sim_world.late_irq = 1000000;
	send();
	sim_world.late_irq = late_irq;
}

static void arm_there(void)
{
	hwheel_add_on(one, 1000000, (sim_cpu->id + 1) % sim_world.cpus);
}

static void set_a_little(void)
{
	sim_set_clock(1);
}

static void set_late(void)
{
	send_late(set_a_little);
}

/*
 * Before the module is unloaded. What is still under way then depends on the seed: with an odd seed
 * a CPU is held up before the handler of its kick has returned. With an even seed the clock is set
 * for a last time.
 */
void last_kick(void)
{
	struct hwheel_config config = { .name = "last" };

	wheel = hwheel_create(&config);
	if (IS_ERR(wheel))
		return;			/* no memory */
	setup(one, count);
	arm_there();
	hwheel_cancel(one);
	sim_sleep(50000000);		/* the levels are added now */
	if (sim_world.seed % 2)
		expect_at("hwheel_kick", 0, stall_long);
	else
		expect_at("pvclock_gtod_unregister_notifier", 0, set_late);
	send_late(sim_world.seed / 2 % 2 ? add_here : arm_there);
	hwheel_shutdown(one);
	hwheel_destroy(wheel);
}

static struct workqueue_struct *ran_on;

static void note_queue(struct work_struct *work)
{
	runs++;
	ran_on = current->wq;
}

/*
 * An isolated CPU re-arms delayed work for another workqueue. The timer is on another CPU, and
 * expires before the new workqueue is stored.
 */
static void isolated_calls(void)
{
	struct hwheel_config config = { .name = "known" };

	wheel = make(config);
	HWHEEL_INIT_DELAYED_WORK(&sim_delayed, wheel, note_queue);
	runs = 0;
	hwheel_queue_delayed_work(&sim_ordered_wqs[0], &sim_delayed, 300000000);
	sim_sleep(10000000);
	MEANWHILE("hwheel_arm", 0, stall,
		  EXPECT(hwheel_mod_delayed_work(&sim_ordered_wqs[1], &sim_delayed, 1000)));
	sim_sleep(10000000);
	EXPECT(runs == 1 && ran_on == &sim_ordered_wqs[1]);
	if (!sim_world.nohz_full) {		/* more than one CPU gets the timers */
		unsigned int i, cpus = 0;

		for (i = 0; i < ARRAY_SIZE(objects); i++) {
			setup(&objects[i].timer, count);
			hwheel_add(&objects[i].timer, 1000000000);
			cpus |= BIT(peek_timer_cpu(&objects[i].timer));
			hwheel_cancel(&objects[i].timer);
		}
		EXPECT(cpus == (BIT(0) | BIT(1)));
		/* An isolated CPU takes another one offline, and does not run its timers. */
		hwheel_add_on(one, 5000000, 1);
		EXPECT(sim_cpu_down(1));
		sim_sleep(20000000);
		EXPECT(!hwheel_pending(one) && last_cpu == 0);
		EXPECT(sim_cpu_up(1));
	}
	hwheel_destroy(wheel);
	if (sim_world.nohz_full)
		read_strays();		/* this CPU is the last one that there can be */
}

void known_calls(void)
{
	struct hwheel_config config = { .name = "known" };
	struct sim_call call;
	int context;

	call_begin(&call, CALL_OTHER, NULL);
	if (sim_isolated(sim_cpu->id)) {
		isolated_calls();
		call_end(&call, 0);
		return;
	}
	no_memory();
	refusals();
	wheel = make(config);
	unset_timers();
	bad_numbers();
	other_timers();
	kick();
	read_again();
	read_in_vain();
	delayed_work();
	bad_queues();
	disable_again();
	if (sim_world.cpus > 1)
		disable_late();
	debug_objects();
	conversions();
	many_users();
	meanwhiles();
	sim_world.no_debug_objects = true;
	unset_timers();
	sim_world.no_debug_objects = false;
	hwheel_destroy(wheel);
	gap();
	crowd();
	clock_behind(1000000000, 0, 1000000000, 0);
	clock_behind(1000000, 0, 1000000000, 0);
	clock_behind(1000000, 0, 90000000, 0);
	clock_behind(1000000, 0, 1000000000, 500000);
	clock_behind(1000000, 0, 1000000000, -1);
	sim_set_clock(1000000000000);
	clock_behind(1000000, HWHEEL_REALTIME, 1000000000, 0);
	if (!SIM_RT)	/* there the hrtimer needs the CPU, too */
		work_waits();
	set_back();
	set_deferrable();
	entry_claims();
	if (sim_world.cpus > 1)
		set_there();
	read_set();
	most_levels();
	fourth_fan();
	clock_stale();
	create_twice();
	read_no_clock();
	unbound();
	overload(0);
	overload(10000);
	join_due_crowd();
	if (sim_world.cpus > 2 && !sim_cpu->id)
		move_offline();
	set_while_armed();
	if (higher_cpu() >= 0)
		set_while_down();
	set_forward();
	tell_and_destroy();
	set_back_many();
	read_strays();
	if (higher_cpu() >= 0)
		arm_closing();
	if (sim_world.cpus > 1) {
		set_and_destroy();
		set_and_create();
	}
	bytes();
	one_tick();
	forward_when_due();
	lateness();
	gap_rest();
	rest();
	if (!SIM_RT && !sim_world.holds)	/* else others have the CPU, too */
		move_slowly();
	move_alone();
	if (higher_cpu() >= 0)
		move_same_tick();
	cascade_alone();
	if (higher_cpu() >= 0) {
		cancel_elsewhere();
		wait_while_moved();
		served(HWHEEL_SOFTIRQ);
		served(HWHEEL_HARDIRQ);
		served(HWHEEL_WORK);
	}
	past_below();
	overdrawn();
	overdrawn_by_others();
	overdrawn_gap();
	set_untold();
	leap_second(HWHEEL_TAI);
	leap_second(HWHEEL_REALTIME);
	for (context = HWHEEL_SOFTIRQ; context <= HWHEEL_WORK; context++)
		callbacks(context);
	if (sim_world.cpus > 1)
		for (context = HWHEEL_SOFTIRQ; context <= HWHEEL_WORK; context++)
			destroy_busy(context);
	destroy_pending();
	call_end(&call, 0);
}
