// SPDX-License-Identifier: GPL-2.0
/*
 * Tests hwheel_bpf.ko with BPF programs that user space runs. For each test it prints a line
 *	bpf: NAME ok|FAILED
 * The programs are in bpf-test.bpf.c and bpf-refuse.bpf.c.
 *
 * Usage: bpf-test [-r ROUNDS] [-n TIMERS] [NAME...]
 *	-r  rounds of the tests that take long
 *	-n  timers of the tests with many timers
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bpf-test.h"
#include "bpf-test.skel.h"

#define MSEC		1000000ULL
#define SEC_NS		1000000000ULL
#define FOREVER		(3600 * SEC_NS)
#define LATE_MS		2000	/* a busy host holds up the guest */

static unsigned int rounds = 3;
static enum bpf_map_type table_type = BPF_MAP_TYPE_HASH;
static __u32 table_entries = 1 << 20;
static __u64 many = 20000;
static char log_buf[1 << 20];

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC_NS + ts.tv_nsec;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Prints why a test fails */
static bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("  ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	return false;
}

#define EXPECT(condition)	((condition) || fail("line %d: %s", __LINE__, #condition))

/* ------------------------------------------------------------------------ */
/* What the module says */

struct user {
	char wheel[64];
	long long attached, limit, timers, created, expired, unheard, refused;
};

/* The row of a user, all zeroes if there is none */
static struct user user_row(unsigned int id)
{
	FILE *file = fopen("/sys/kernel/debug/hwheel_bpf/users", "r");
	struct user user, none = {};
	unsigned int other;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%u %63s %lld %lld %lld %lld %lld %lld %lld", &other, user.wheel,
			   &user.attached, &user.limit, &user.timers, &user.created,
			   &user.expired, &user.unheard, &user.refused) == 9 && other == id) {
			fclose(file);
			return user;
		}
	}
	if (file)
		fclose(file);
	return none;
}

/* Wait until user @id has @n timers, not counting those that wait for RCU */
static bool wait_timers(unsigned int id, long long n)
{
	__u64 end = now_ns() + 60 * SEC_NS;

	while (user_row(id).timers != n) {
		if (now_ns() > end)
			return fail("user %u has %lld timers, not %lld", id,
				    user_row(id).timers, n);
		sleep_ms(10);
	}
	return true;
}

/* Wait until user @id is gone */
static bool wait_gone(unsigned int id)
{
	__u64 end = now_ns() + 60 * SEC_NS;

	while (*user_row(id).wheel) {
		if (now_ns() > end)
			return fail("user %u is still there, with %lld timers", id,
				    user_row(id).timers);
		sleep_ms(10);
	}
	return true;
}

/* ------------------------------------------------------------------------ */
/* The programs */

struct test {
	struct bpf_test *skel;
	struct bpf_link *link;
	__u32 id;
};

static bool attach(struct test *test)
{
	test->link = bpf_map__attach_struct_ops(test->skel->maps.ops);
	return test->link;
}

static bool detach(struct test *test)
{
	int err = bpf_link__destroy(test->link);

	test->link = NULL;
	return !err;
}

/* Load the programs for user @id. They are not attached */
static bool load(struct test *test, __u32 id, __u64 tick_ns, __u64 limit)
{
	struct bpf_test *skel = bpf_test__open();

	*test = (struct test) { .skel = skel, .id = id };
	if (!skel)
		return false;
	bpf_program__set_autoload(skel->progs.trace_hrtimer, false);
	bpf_map__set_type(skel->maps.table, table_type);
	bpf_map__set_max_entries(skel->maps.table, table_entries);
	skel->rodata->test_id = id;
	skel->struct_ops.ops->id = id;
	skel->struct_ops.ops->tick_ns = tick_ns;
	skel->struct_ops.ops->limit = limit;
	skel->struct_ops.other->id = id;
	skel->struct_ops.other->tick_ns = tick_ns;
	skel->struct_ops.other->limit = limit;
	return !bpf_test__load(skel);
}

static bool begin(struct test *test, __u32 id, __u64 tick_ns)
{
	return load(test, id, tick_ns, 0) && attach(test);
}

/* Unload all. Everything of the user must go */
static bool end(struct test *test)
{
	if (test->link)
		detach(test);
	bpf_test__destroy(test->skel);
	return wait_gone(test->id);
}

static __u64 run_args(const struct bpf_program *prog, struct test_args *args)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(*args));

	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) || opts.retval)
		return -1;
	return args->done;
}

/* Run @prog for the values 0 to @n - 1. Returns for how many it worked */
static __u64 run(struct test *test, const struct bpf_program *prog, __u64 n, __u64 ns,
		 __u64 step_ns)
{
	struct test_args args = {
		.n = n, .ns = ns, .step_ns = step_ns, .id = test->id, .rounds = 5,
	};

	return run_args(prog, &args);
}

#define RUN(test, prog, ...)	run(test, (test)->skel->progs.prog, __VA_ARGS__)

static struct test_counts sum(struct test *test)
{
	int cpus = libbpf_num_possible_cpus(), i;
	struct test_counts n = {}, *per_cpu = calloc(cpus, sizeof(*per_cpu));
	__u32 zero = 0;

	if (bpf_map__lookup_elem(test->skel->maps.counts, &zero, sizeof(zero), per_cpu,
				 cpus * sizeof(*per_cpu), 0))
		fail("no counts");
	for (i = 0; i < cpus; i++) {
		n.expired += per_cpu[i].expired;
		n.ended += per_cpu[i].ended;
		n.early += per_cpu[i].early;
		n.unknown += per_cpu[i].unknown;
		n.other += per_cpu[i].other;
		n.traced += per_cpu[i].traced;
		if (per_cpu[i].max_late_ns > n.max_late_ns)
			n.max_late_ns = per_cpu[i].max_late_ns;
	}
	free(per_cpu);
	return n;
}

static __u64 values(struct test *test)
{
	__u64 key, next, n = 0;
	int fd = bpf_map__fd(test->skel->maps.table);
	void *from = NULL;

	while (!bpf_map_get_next_key(fd, from, &next)) {
		key = next;
		from = &key;
		n++;
	}
	return n;
}

/* Wait until @n values have ended */
static bool wait_ended(struct test *test, __u64 n)
{
	__u64 end = now_ns() + 120 * SEC_NS;

	while (sum(test).ended != n) {
		if (now_ns() > end || sum(test).ended > n)
			return fail("%llu values have ended, not %llu", sum(test).ended, n);
		sleep_ms(10);
	}
	return true;
}

/* ------------------------------------------------------------------------ */
/* Tests */

/* Each timer expires once, at its time */
static bool test_expire(void)
{
	struct test test;
	struct test_counts n;
	bool ok = begin(&test, 0, 0) && EXPECT(RUN(&test, start, many, MSEC, 20000) == many) &&
		  wait_ended(&test, many);

	sleep_ms(50);
	n = sum(&test);
	printf("  %llu expired, at most %llu us late\n", n.expired, n.max_late_ns / 1000);
	ok = ok && EXPECT(n.ended == many) && EXPECT(n.expired >= many) && EXPECT(!n.early) &&
	     EXPECT(n.max_late_ns < LATE_MS * MSEC) && EXPECT(!values(&test)) &&
	     wait_timers(0, 0) && EXPECT(user_row(0).expired == (long long)n.expired) &&
	     EXPECT(!strcmp(user_row(0).wheel, "system"));
	return end(&test) && ok;
}

/* Only the last arming counts */
static bool test_restart(void)
{
	struct test test;
	struct test_counts n;
	unsigned int i;
	bool ok = begin(&test, 0, 0) && EXPECT(RUN(&test, start, many, FOREVER, 0) == many);

	for (i = 0; ok && i < 3; i++)
		ok = EXPECT(RUN(&test, restart, many, FOREVER - i * SEC_NS, i) == many);
	ok = ok && EXPECT(RUN(&test, restart, many, 100 * MSEC, 1000) == many) &&
	     wait_ended(&test, many);
	n = sum(&test);
	ok = ok && EXPECT(n.expired >= many) && EXPECT(!n.early);
	return end(&test) && ok;
}

static bool test_cancel(void)
{
	struct test test;
	bool ok = begin(&test, 0, 0) && EXPECT(RUN(&test, start, many, 10 * SEC_NS, 0) == many) &&
		  EXPECT(RUN(&test, cancel, many, 10 * SEC_NS, 0) == many) &&
		  EXPECT(user_row(0).timers == (long long)many) &&
		  EXPECT(RUN(&test, restart, many / 2, MSEC, 0) == many / 2) &&
		  wait_ended(&test, many / 2) &&
		  EXPECT(RUN(&test, stop, many, 0, 0) == many - many / 2) &&
		  EXPECT(!values(&test)) && wait_timers(0, 0);

	return end(&test) && ok;
}

/*
 * User space deletes values whose timers are armed. No value of the next life ends by an old timer
 */
static bool test_delete(void)
{
	__u64 key, n = many / 2;
	struct test test;
	bool ok = begin(&test, 0, 0) && EXPECT(RUN(&test, start, n, 2 * SEC_NS, 0) == n);

	for (key = 0; ok && key < n; key++)
		ok = EXPECT(!bpf_map__delete_elem(test.skel->maps.table, &key, sizeof(key), 0));
	ok = ok && EXPECT(RUN(&test, start, n, FOREVER, 0) == n) &&
	     EXPECT(RUN(&test, restart, n, FOREVER, 0) == n);
	sleep_ms(2500);
	ok = ok && EXPECT(!sum(&test).ended) && EXPECT(values(&test) == n) &&
	     EXPECT(RUN(&test, stop, n, 0, 0) == n);
	return end(&test) && ok;
}

/* A table that is full evicts values. Their timers go, too */
static bool test_lru(void)
{
	const __u64 n = 8000;
	struct test test;
	__u64 left = 0;
	bool ok;

	table_type = BPF_MAP_TYPE_LRU_HASH;
	table_entries = n / 4;
	ok = begin(&test, 0, 0) && EXPECT(RUN(&test, start, n, FOREVER, 0) == n);
	if (ok) {
		left = values(&test);
		printf("  %llu values left\n", left);
		ok = EXPECT(left <= n / 4) && EXPECT(left > n / 8) &&
		     EXPECT(RUN(&test, stop, n, 0, 0) == left) && EXPECT(!values(&test));
	}
	table_type = BPF_MAP_TYPE_HASH;
	table_entries = 1 << 20;
	ok = ok && EXPECT(!sum(&test).expired);
	return end(&test) && ok;
}

/* expired() arms its own timer again, or replaces it */
static bool test_again(void)
{
	struct test test;
	__u64 n = many / 5;
	__u32 mode;
	bool ok = true;

	for (mode = MODE_REARM; ok && mode <= MODE_REPLACE; mode++) {
		ok = begin(&test, 0, 0);
		test.skel->bss->mode = mode;
		test.skel->bss->rearm_ns = 3 * MSEC;
		ok = ok && EXPECT(RUN(&test, start, n, MSEC, 1000) == n) &&
		     wait_ended(&test, n) && EXPECT(sum(&test).expired >= 6 * n) &&
		     EXPECT(!sum(&test).early) && wait_timers(0, 0) &&
		     EXPECT(mode == MODE_REPLACE ? user_row(0).created >= (long long)(6 * n) :
			    user_row(0).created == (long long)n);
		ok = end(&test) && ok;
	}
	return ok;
}

/* The program goes while timers run. They stay in the map, and the next program gets them */
static bool test_detach(void)
{
	struct bpf_link *link = NULL;
	struct test test;
	int i;
	/* On a busy host arming all timers takes seconds */
	bool ok = begin(&test, 0, 0) && EXPECT(RUN(&test, start, many, 6 * SEC_NS, 0) == many) &&
		  EXPECT(RUN(&test, restart, many / 2, 20 * SEC_NS, 0) == many / 2) &&
		  detach(&test) && EXPECT(!user_row(0).attached) &&
		  EXPECT(RUN(&test, restart, 1, 20 * SEC_NS, 0) == 1);
	struct test_args args = { .first = many, .n = 1, .ns = MSEC };

	for (i = 0; ok && i < 60 && user_row(0).unheard < (long long)(many - many / 2); i++)
		sleep_ms(1000);
	ok = ok && EXPECT(!run_args(test.skel->progs.start, &args)) &&
	     EXPECT(user_row(0).timers == (long long)many) &&
	     EXPECT(user_row(0).unheard == (long long)(many - many / 2));
	link = bpf_map__attach_struct_ops(test.skel->maps.other);
	ok = ok && EXPECT(link);
	for (i = 0; ok && i < 60 && sum(&test).other < many / 2; i++)
		sleep_ms(1000);
	ok = ok && EXPECT(sum(&test).other == many / 2) && EXPECT(!sum(&test).expired);
	bpf_link__destroy(link);
	return end(&test) && ok;
}

/* The struct_ops maps and all programs are gone. Only the table is left, as if it were pinned */
static bool test_outlive(void)
{
	struct test test, next;
	int table = -1;
	bool ok = begin(&test, 5, 100000) && EXPECT(RUN(&test, start, many, FOREVER, 0) == many);

	if (ok)
		table = dup(bpf_map__fd(test.skel->maps.table));
	detach(&test);
	bpf_test__destroy(test.skel);
	sleep_ms(200);
	ok = ok && EXPECT(user_row(5).timers == (long long)many) && EXPECT(!user_row(5).attached) &&
	     EXPECT(!access("/sys/kernel/debug/hwheel/bpf-5", F_OK));

	/* Another wheel is refused while they are left. The same wheel takes them over */
	ok = ok && load(&next, 5, 200000, 0) && EXPECT(!attach(&next)) && EXPECT(errno == EBUSY);
	bpf_test__destroy(next.skel);
	ok = ok && begin(&next, 5, 100000) && EXPECT(user_row(5).timers == (long long)many);
	close(table);
	ok = ok && wait_timers(5, 0);
	return end(&next) && ok && EXPECT(access("/sys/kernel/debug/hwheel/bpf-5", F_OK));
}

/* Another program takes the place of the first one, without a gap */
static bool test_update(void)
{
	struct test test;
	bool ok = begin(&test, 0, 0) && EXPECT(RUN(&test, start, many, SEC_NS, 0) == many) &&
		  EXPECT(!bpf_link__update_map(test.link, test.skel->maps.other));

	sleep_ms(3000);
	ok = ok && EXPECT(sum(&test).other == many) && EXPECT(!sum(&test).expired) &&
	     EXPECT(!user_row(0).unheard);
	return end(&test) && ok;
}

/* Users with ids and wheels of their own, at the same time */
static bool test_users(void)
{
	struct test a, b, c;
	bool ok = begin(&a, 1, 50000) && begin(&b, 2, 0) && load(&c, 1, 0, 0) &&
		  EXPECT(!attach(&c)) && EXPECT(errno == EBUSY) &&
		  EXPECT(RUN(&a, start, many, MSEC, 10000) == many) &&
		  EXPECT(RUN(&b, start, many, MSEC, 10000) == many) &&
		  wait_ended(&a, many) && wait_ended(&b, many) &&
		  EXPECT(!strcmp(user_row(1).wheel, "bpf-1")) &&
		  EXPECT(!strcmp(user_row(2).wheel, "system")) &&
		  EXPECT(!access("/sys/kernel/debug/hwheel/bpf-1", F_OK)) &&
		  EXPECT(!sum(&a).early && !sum(&b).early) &&
		  EXPECT(user_row(1).expired == (long long)sum(&a).expired);

	/* An id that nobody has */
	c.id = 77;
	ok = ok && EXPECT(!RUN(&c, start, 1, MSEC, 0));
	c.id = 1;
	bpf_test__destroy(c.skel);
	ok = end(&a) && ok;
	return end(&b) && ok && EXPECT(access("/sys/kernel/debug/hwheel/bpf-1", F_OK));
}

static bool test_limit(void)
{
	struct test test;
	bool ok = load(&test, 0, 0, 100) && attach(&test) &&
		  EXPECT(RUN(&test, start, 150, FOREVER, 0) == 100) &&
		  EXPECT(user_row(0).refused == 50) && EXPECT(user_row(0).timers == 100) &&
		  EXPECT(values(&test) == 100);

	return end(&test) && ok;
}

/* Bad members are refused, and leave nothing behind */
static bool test_config(void)
{
	struct test test;
	bool ok = load(&test, 3, 10, 0) && EXPECT(!attach(&test)) && EXPECT(errno == EINVAL);

	ok = end(&test) && ok;
	test.skel = bpf_test__open();
	bpf_program__set_autoload(test.skel->progs.trace_hrtimer, false);
	test.skel->struct_ops.ops->id = 3;
	test.skel->struct_ops.ops->flags = 5;
	ok = ok && !bpf_test__load(test.skel) && EXPECT(!attach(&test)) && EXPECT(errno == EINVAL);
	return end(&test) && ok;
}

/* A tracing program deletes values with interrupts off, and under the lock of the hrtimers */
static bool test_traced(void)
{
	struct test test = { .skel = bpf_test__open() };
	struct bpf_link *trace = NULL;
	bool ok = !bpf_test__load(test.skel) && attach(&test) &&
		  EXPECT(RUN(&test, start, many, FOREVER, 0) == many);
	__u64 wait = now_ns() + 60 * SEC_NS;

	if (ok)
		trace = bpf_program__attach(test.skel->progs.trace_hrtimer);
	ok = ok && EXPECT(trace);
	test.skel->bss->trace_deletes = true;
	/* Sleeping starts an hrtimer */
	while (ok && sum(&test).traced < 200 && now_ns() < wait)
		sleep_ms(1);
	test.skel->bss->trace_deletes = false;
	printf("  %llu values deleted under the lock\n", sum(&test).traced);
	ok = ok && EXPECT(sum(&test).traced >= 200);
	bpf_link__destroy(trace);
	return end(&test) && ok;
}

/* ------------------------------------------------------------------------ */
/* Several CPUs */

struct worker {
	pthread_t thread;
	struct test *test;
	unsigned int n;
	__u64 end_ns;
	__u64 calls;
	bool failed;
};

#define CHURN_KEYS	64

static void *work(void *arg)
{
	static char packet[64];
	struct worker *w = arg;
	struct bpf_test *skel = w->test->skel;
	int xdp = bpf_program__fd(skel->progs.churn_xdp);
	int tc = bpf_program__fd(skel->progs.churn_tc);
	cpu_set_t cpus;
	unsigned int turn;

	CPU_ZERO(&cpus);
	CPU_SET(w->n % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (turn = w->n; now_ns() < w->end_ns; turn++) {
		struct test_args args = skel->bss->shared;
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
			    .data_size_in = sizeof(packet), .repeat = 20);

		switch (turn % 3) {
		case 0:
			args.seed = turn * 2654435761U + w->n;
			w->failed |= run_args(skel->progs.churn, &args) == (__u64)-1;
			break;
		case 1:
			w->failed |= bpf_prog_test_run_opts(xdp, &opts);
			break;
		case 2:
			w->failed |= bpf_prog_test_run_opts(tc, &opts);
		}
		w->calls++;
	}
	return NULL;
}

/*
 * XDP, TC and SYSCALL programs on several CPUs work with the same values at the same time, with
 * delays that are over at once. At the end each value must end
 */
static bool test_churn(void)
{
	struct worker workers[4] = {};
	struct test_counts n;
	struct test test;
	__u64 wait;
	unsigned int i;
	bool ok = begin(&test, 0, 20000);

	test.skel->bss->shared = (struct test_args) {
		.n = 200, .ns = 100000, .step_ns = CHURN_KEYS,
	};
	for (i = 0; ok && i < 4; i++) {
		workers[i] = (struct worker) {
			.test = &test, .n = i, .end_ns = now_ns() + rounds * 2 * SEC_NS,
		};
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = 0; ok && i < 4; i++) {
		pthread_join(workers[i].thread, NULL);
		ok = EXPECT(!workers[i].failed) && ok;
	}
	for (wait = now_ns() + 20 * SEC_NS; ok && values(&test) && now_ns() < wait;)
		sleep_ms(10);
	n = sum(&test);
	printf("  %lld timers, %llu expirations, %llu values ended\n", user_row(0).created,
	       n.expired, n.ended);
	ok = ok && EXPECT(!values(&test)) && EXPECT(n.ended) && wait_timers(0, 0);
	return end(&test) && ok;
}

/*
 * Maps come and go. Half of them go while their timers run. With -n 200000 -r 100 there are 20
 * million timers, of which at least 10 million expire
 */
static bool test_lives(void)
{
	struct test test;
	unsigned int i;
	bool ok = true;

	for (i = 0; ok && i < rounds; i++) {
		ok = begin(&test, 0, i % 4 < 2 ? 0 : 50000) &&
		     EXPECT(RUN(&test, start, many, MSEC, 1000) == many) &&
		     (i % 2 || wait_ended(&test, many)) && EXPECT(!sum(&test).early);
		ok = end(&test) && ok;
	}
	return ok;
}

/* ------------------------------------------------------------------------ */
/* Memory */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static long long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long long n = -1;

	if (file) {
		if (fscanf(file, "%lld", &n) != 1)
			n = -1;
		fclose(file);
	}
	return n;
}

/* Timers are charged to the cgroup of the task that attaches the struct_ops, whoever makes them */
static bool test_memory(void)
{
	/* Many more than a CPU takes from a cgroup in advance */
	const __u64 n = 50000;
	/* With KASAN more than 64 bytes */
	long long size = read_number("/sys/kernel/slab/bpf_hwheel/slab_size");
	long long before, after, per_timer;
	struct test test;
	char full[32];
	bool ok;

	if (access("/sys/fs/cgroup/cgroup.procs", F_OK))
		return fail("no cgroup v2 in /sys/fs/cgroup");
	mkdir("/sys/fs/cgroup/bpf", 0755);
	ok = write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory") &&
	     write_file("/sys/fs/cgroup/bpf/cgroup.procs", "0") && load(&test, 0, 0, 0) &&
	     attach(&test) && write_file("/sys/fs/cgroup/cgroup.procs", "0");
	if (!ok)
		return fail("can't use the cgroup /sys/fs/cgroup/bpf");
	before = read_number("/sys/fs/cgroup/bpf/memory.current");
	ok = EXPECT(RUN(&test, start, n, FOREVER, 0) == n);
	after = read_number("/sys/fs/cgroup/bpf/memory.current");
	per_timer = (after - before) / (long long)n;
	printf("  %lld bytes of the cgroup for each timer\n", per_timer);
	ok = ok && EXPECT(per_timer >= 60) && EXPECT(per_timer < (size > 64 ? size : 64) + 86) &&
	     EXPECT(RUN(&test, stop, n, 0, 0) == n) && wait_timers(0, 0);
	/* A cgroup that is full gives no more timers */
	snprintf(full, sizeof(full), "%lld", read_number("/sys/fs/cgroup/bpf/memory.current"));
	ok = ok && write_file("/sys/fs/cgroup/bpf/memory.max", full) &&
	     EXPECT(RUN(&test, start, n, FOREVER, 0) < n) &&
	     EXPECT(user_row(0).refused);
	write_file("/sys/fs/cgroup/bpf/memory.max", "max");
	return end(&test) && ok;
}

/* ------------------------------------------------------------------------ */
/* Programs that must be refused */

static int keep_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* Is @prog the program @name, or one of the struct_ops map @name? */
static bool belongs(const char *prog, const char *name)
{
	if (!strcmp(name, "congestion"))
		return !strcmp(prog, "refuse_other_struct_ops") ||
		       !strcmp(prog, "accept_undo_cwnd") || !strcmp(prog, "accept_cong_avoid");
	if (!strcmp(name, "sleepable"))
		return !strcmp(prog, "refuse_sleepable");
	return !strcmp(prog, name);
}

static bool accepted(const char *name, bool is_map)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_buf = log_buf,
		    .kernel_log_size = sizeof(log_buf), .kernel_log_level = 1);
	struct bpf_object *obj = bpf_object__open_file("bpf-refuse.bpf.o", &opts);
	struct bpf_program *prog;
	struct bpf_link *link;
	struct bpf_map *map;
	bool ok = false;

	if (!obj)
		return false;
	*log_buf = 0;
	bpf_object__for_each_map(map, obj)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			bpf_map__set_autocreate(map, is_map && !strcmp(bpf_map__name(map), name));
	bpf_object__for_each_program(prog, obj)
		bpf_program__set_autoload(prog, belongs(bpf_program__name(prog), name));
	if (!bpf_object__load(obj)) {
		ok = true;
		map = is_map ? bpf_object__find_map_by_name(obj, name) : NULL;
		if (map) {
			link = bpf_map__attach_struct_ops(map);
			ok = link;
			bpf_link__destroy(link);
		}
	}
	bpf_object__close(obj);
	return ok;
}

/* @says: what the verifier must say; any of these, as kernels differ */
static const struct {
	const char *name;
	const char *says[3];
	bool is_map;
} refused[] = {
	{ "refuse_leak", { "Unreleased reference", "reference leak" } },
	{ "refuse_leak_old", { "Unreleased reference", "reference leak" } },
	{ "refuse_use_after_release", { "invalid", "must be", "must point to" } },
	{ "refuse_double_release", { "release", "invalid", "must be" } },
	{ "refuse_release_after_put", { "release", "must be", "invalid" } },
	{ "refuse_no_null_check", { "NULL", "null" } },
	{ "refuse_borrowed", { "must be referenced or trusted", "untrusted", "trusted" } },
	{ "refuse_number", { "pointer", "scalar", "expected" } },
	/* Linux 6.12 gives no reason, but it stops at the store */
	{ "refuse_write", { "cannot write", "only read", ") = r1\nprocessed" } },
	{ "refuse_tracing", { "not allowed" } },
	{ "refuse_kprobe", { "not allowed", "cannot call" } },
	{ "congestion", { "not allowed" }, true },
	{ "sleepable", { "" }, true },
	{ "refuse_nothing", { "" }, true },
};

static bool test_refuse(void)
{
	static const char * const good[] = { "accept_xdp", "accept_tc", "accept_syscall" };
	bool ok = true;
	size_t i, k;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!accepted(good[i], false))
			ok = fail("%s was refused: %s", good[i], log_buf);
	libbpf_set_print(keep_quiet);
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		bool said = false;

		if (accepted(refused[i].name, refused[i].is_map)) {
			ok = fail("%s was accepted", refused[i].name);
			continue;
		}
		for (k = 0; k < 3; k++)
			said |= refused[i].says[k] && strstr(log_buf, refused[i].says[k]);
		if (!said)
			ok = fail("%s was refused for another reason: %s", refused[i].name,
				  log_buf);
	}
	libbpf_set_print(NULL);
	return ok;
}

/* ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	bool (*run)(void);
} tests[] = {
	{ "refuse", test_refuse },
	{ "expire", test_expire },
	{ "restart", test_restart },
	{ "cancel", test_cancel },
	{ "delete", test_delete },
	{ "lru", test_lru },
	{ "again", test_again },
	{ "detach", test_detach },
	{ "outlive", test_outlive },
	{ "update", test_update },
	{ "users", test_users },
	{ "limit", test_limit },
	{ "config", test_config },
	{ "memory", test_memory },
	{ "traced", test_traced },
	{ "churn", test_churn },
	{ "lives", test_lives },
};

static bool wanted(const char *name, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	int opt, failed = 0;
	size_t i;

	while ((opt = getopt(argc, argv, "r:n:")) != -1) {
		switch (opt) {
		case 'r':
			rounds = atoi(optarg);
			break;
		case 'n':
			many = atoll(optarg);
			break;
		default:
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		__u64 start = now_ns();
		bool ok;

		if (!wanted(tests[i].name, argv + optind))
			continue;
		ok = tests[i].run();
		printf("bpf: %s %s (%llu ms)\n", tests[i].name, ok ? "ok" : "FAILED",
		       (unsigned long long)((now_ns() - start) / MSEC));
		failed += !ok;
	}
	return failed;
}
