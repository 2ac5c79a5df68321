// SPDX-License-Identifier: GPL-2.0
/*
 * Tests io_uring's timeouts. Prints what each test has seen, and how late timeouts were.
 * Lines that begin with "exact" or "#" may differ between kernels. All others must be the same:
 *	NAME: RESULTS
 *	exact io_uring NAME: late by N ns
 *
 * Usage: uring-test		in real time: tests timeouts that expire while they are cancelled
 *	  uring-test simulated	in simulated time: runs all other tests
 * Both also close a ring that has timeouts.
 */
#include <limits.h>
#include <sys/eventfd.h>

#include "uring.h"

#define HOUR		(3600 * NSEC_PER_SEC)

#define MANY		20000

static const struct {
	const char	*name;
	clockid_t	id;
	unsigned int	flag;
} clocks[] = {
	{ "monotonic", CLOCK_MONOTONIC, 0 },
	{ "boottime", CLOCK_BOOTTIME, IORING_TIMEOUT_BOOTTIME },
	{ "realtime", CLOCK_REALTIME, IORING_TIMEOUT_REALTIME },
};

static struct ring ring;
static int event;

static struct __kernel_timespec spec(long long ns)
{
	return (struct __kernel_timespec){ .tv_sec = ns / NSEC_PER_SEC,
					   .tv_nsec = ns % NSEC_PER_SEC };
}

static const char *name_of(int result)
{
	static char number[16];

	switch (-result) {
	case ETIME:	return "ETIME";
	case ECANCELED:	return "ECANCELED";
	case ENOENT:	return "ENOENT";
	case EALREADY:	return "EALREADY";
	case EINVAL:	return "EINVAL";
	}
	snprintf(number, sizeof(number), "%d", result);
	return number;
}

/* Take completions until @n have come. Prints them in the order of user_data, 1 to 9. */
static void results(int n)
{
	char text[10][64] = {};
	struct io_uring_cqe *cqe;
	int i;

	while (n) {
		ring_submit(&ring, 1);
		for (; n && (cqe = ring_completion(&ring)); n--) {
			char *end = text[cqe->user_data];

			end += strlen(end);
			sprintf(end, " %s%s", name_of(cqe->res),
				cqe->flags & IORING_CQE_F_MORE ? "+" : "");
			ring_seen(&ring);
		}
	}
	for (i = 1; i < 10; i++)
		if (*text[i])
			printf("%s %d:%s", i > 1 ? "," : "", i, text[i]);
	printf("\n");
}

/* Prints whether the time on @clock since @begin is @wanted, or at most 20 us more. */
static void elapsed(const char *name, clockid_t clock, long long begin, long long wanted)
{
	long long late = now_ns(clock) - begin - wanted;

	printf("%s: %s\n", name, late < 0 ? "EARLY" : late > 20 * USEC ? "LATE" : "in time");
	if (late > 20 * USEC)
		printf("# %s: late by %lld ns\n", name, late);
}

static void test_clocks(void)
{
	static const long long delays[] = { 0, 1, 999, 1 * USEC, 100 * USEC, 1 * MSEC,
					    3333333, 50 * MSEC };
	struct __kernel_timespec ts;
	unsigned int c, i;
	long long begin;
	char name[64];

	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		for (i = 0; i < 2 * sizeof(delays) / sizeof(*delays); i++) {
			long long delay = delays[i / 2];
			int absolute = i % 2;

			begin = now_ns(clocks[c].id);
			ts = spec(absolute ? begin + delay : delay);
			entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag |
				      (absolute ? IORING_TIMEOUT_ABS : 0));
			sprintf(name, "%s%s %lld ns", absolute ? "absolute " : "",
				clocks[c].name, delay);
			printf("%s: ", name);
			results(1);
			elapsed(name, clocks[c].id, begin, delay);
		}
	}
}

static void test_far(void)
{
	static const long long seconds[] = { 3600 * 24 * 365LL, LLONG_MAX / NSEC_PER_SEC,
					     LLONG_MAX };
	struct __kernel_timespec ts = {};
	unsigned int c, i;

	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		for (i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
			ts.tv_sec = seconds[i];
			entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag);
			ring_submit(&ring, 0);
			entry_cancel(&ring, IORING_OP_TIMEOUT_REMOVE, 1, 2);
			printf("%s %lld s, removed:", clocks[c].name, seconds[i]);
			results(2);
		}
	}
}

static void test_events(void)
{
	struct __kernel_timespec ts = spec(HOUR);
	struct io_uring_sqe *sqe;

	sqe = ring_entry(&ring, IORING_OP_TIMEOUT, 1);
	sqe->addr = (unsigned long)&ts;
	sqe->len = 1;
	sqe->off = 2;
	ring_entry(&ring, IORING_OP_NOP, 2);
	ring_entry(&ring, IORING_OP_NOP, 3);
	printf("an hour or two events:");
	results(3);

	ts = spec(MSEC);
	sqe = ring_entry(&ring, IORING_OP_TIMEOUT, 1);
	sqe->addr = (unsigned long)&ts;
	sqe->len = 1;
	sqe->off = 2;
	printf("a millisecond or two events:");
	results(1);
}

static void test_cancel(void)
{
	struct __kernel_timespec ts = spec(HOUR);
	unsigned int c;

	entry_cancel(&ring, IORING_OP_TIMEOUT_REMOVE, 1, 2);
	printf("none, removed:");
	results(1);
	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag);
		entry_cancel(&ring, IORING_OP_TIMEOUT_REMOVE, 1, 2);
		printf("%s, removed at once:", clocks[c].name);
		results(2);
		entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag);
		ring_submit(&ring, 0);
		usleep(2000);
		entry_cancel(&ring, IORING_OP_ASYNC_CANCEL, 1, 2);
		printf("%s, cancelled later:", clocks[c].name);
		results(2);
	}
}

/* Update timeout 1 to @ns */
static void update(long long ns, unsigned int flags)
{
	static struct __kernel_timespec ts;
	struct io_uring_sqe *sqe = ring_entry(&ring, IORING_OP_TIMEOUT_REMOVE, 2);

	ts = spec(ns);
	sqe->addr = 1;
	sqe->addr2 = (unsigned long)&ts;
	sqe->timeout_flags = flags;
	ring_submit(&ring, 0);
}

static void test_update(void)
{
	struct __kernel_timespec ts;
	unsigned int c, absolute, flags;
	long long begin;
	char name[64];

	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		for (absolute = 0; absolute < 2; absolute++) {
			flags = IORING_TIMEOUT_UPDATE | (absolute ? IORING_TIMEOUT_ABS : 0);
			sprintf(name, "%s, updated%s", clocks[c].name,
				absolute ? " to an instant" : "");

			ts = spec(HOUR);
			entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag);
			ring_submit(&ring, 0);
			begin = now_ns(clocks[c].id);
			update((absolute ? begin : 0) + 2 * MSEC, flags);
			printf("%s, earlier:", name);
			results(2);
			elapsed(name, clocks[c].id, begin, 2 * MSEC);

			ts = spec(5 * MSEC);
			entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag);
			ring_submit(&ring, 0);
			begin = now_ns(clocks[c].id);
			update((absolute ? begin : 0) + 30 * MSEC, flags);
			printf("%s, later:", name);
			results(2);
			elapsed(name, clocks[c].id, begin, 30 * MSEC);

			ts = spec(HOUR);
			entry_poll(&ring, event, 3, IOSQE_IO_LINK);
			entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts, 1, clocks[c].flag);
			ring_submit(&ring, 0);
			begin = now_ns(clocks[c].id);
			update((absolute ? begin : 0) + 2 * MSEC,
			       flags | IORING_LINK_TIMEOUT_UPDATE);
			printf("%s, linked:", name);
			results(3);
			elapsed(name, clocks[c].id, begin, 2 * MSEC);
		}
	}
}

static void test_multishot(void)
{
	struct __kernel_timespec ts = spec(2 * MSEC);
	struct io_uring_sqe *sqe;
	long long begin;
	unsigned int c;
	char name[64];

	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		begin = now_ns(clocks[c].id);
		sqe = ring_entry(&ring, IORING_OP_TIMEOUT, 1);
		sqe->addr = (unsigned long)&ts;
		sqe->len = 1;
		sqe->off = 5;
		sqe->timeout_flags = IORING_TIMEOUT_MULTISHOT | clocks[c].flag;
		sprintf(name, "%s, five times", clocks[c].name);
		printf("%s:", name);
		results(5);
		elapsed(name, clocks[c].id, begin, 5 * 2 * MSEC);
		usleep(5000);
		if (ring_completion(&ring))
			printf("%s: once more\n", name);

		entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1,
			      IORING_TIMEOUT_MULTISHOT | clocks[c].flag);
		printf("%s, on and on:", clocks[c].name);
		results(3);
		entry_cancel(&ring, IORING_OP_TIMEOUT_REMOVE, 1, 2);
		printf("%s, removed:", clocks[c].name);
		results(2);
	}
}

static void test_linked(void)
{
	struct __kernel_timespec ts, once = spec(MSEC);
	unsigned long long one = 1;
	unsigned int c;
	long long begin;

	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		ts = spec(3 * MSEC);
		begin = now_ns(clocks[c].id);
		entry_poll(&ring, event, 1, IOSQE_IO_LINK);
		entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts, 2, clocks[c].flag);
		printf("%s, linked, expires:", clocks[c].name);
		results(2);
		elapsed("linked", clocks[c].id, begin, 3 * MSEC);

		ts = spec(HOUR);
		entry_poll(&ring, event, 1, IOSQE_IO_LINK);
		entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts, 2, clocks[c].flag);
		ring_submit(&ring, 0);
		if (write(event, &one, sizeof(one)) != sizeof(one))
			die("write to the eventfd");
		printf("%s, linked, an event:", clocks[c].name);
		results(2);
		if (read(event, &one, sizeof(one)) != sizeof(one))
			die("read from the eventfd");

		ring_entry(&ring, IORING_OP_NOP, 1)->flags = IOSQE_IO_LINK;
		entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts, 2, clocks[c].flag);
		printf("%s, linked to a request that ends at once:", clocks[c].name);
		results(2);

		/* A timeout with a linked timeout, and a request behind both */
		entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag);
		ring.sqes[(*ring.sq_tail + ring.queued - 1) & ring.sq_mask].flags = IOSQE_IO_LINK;
		entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &once, 2, clocks[c].flag);
		ring.sqes[(*ring.sq_tail + ring.queued - 1) & ring.sq_mask].flags = IOSQE_IO_LINK;
		ring_entry(&ring, IORING_OP_NOP, 3);
		printf("%s, linked to a timeout:", clocks[c].name);
		results(3);

		entry_timeout(&ring, IORING_OP_TIMEOUT, &once, 1,
			      clocks[c].flag | IORING_TIMEOUT_ETIME_SUCCESS);
		ring.sqes[(*ring.sq_tail + ring.queued - 1) & ring.sq_mask].flags = IOSQE_IO_LINK;
		ring_entry(&ring, IORING_OP_NOP, 2);
		printf("%s, expiring is a success:", clocks[c].name);
		results(2);
	}
}

static void test_refused(void)
{
	struct __kernel_timespec ts = { .tv_nsec = -1 };

	entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, 0);
	printf("negative:");
	results(1);
	ts = spec(MSEC);
	entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1,
		      IORING_TIMEOUT_BOOTTIME | IORING_TIMEOUT_REALTIME);
	printf("two clocks:");
	results(1);
	entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1,
		      IORING_TIMEOUT_ABS | IORING_TIMEOUT_MULTISHOT);
	printf("many of an instant:");
	results(1);
	entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts, 1, 0);
	printf("linked to nothing:");
	results(1);
}

/* How late timeouts are, from 1 us to a day */
static void test_exact(void)
{
	struct __kernel_timespec ts;
	long long begin, late, delay;
	unsigned int c, absolute;

	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		long long most[2] = {};

		for (delay = 1001; delay < 24 * HOUR; delay = delay * 17 / 10) {
			for (absolute = 0; absolute < 2; absolute++) {
				begin = now_ns(clocks[c].id);
				ts = spec((absolute ? begin : 0) + delay);
				entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, clocks[c].flag |
					      (absolute ? IORING_TIMEOUT_ABS : 0));
				ring_submit(&ring, 1);
				late = now_ns(clocks[c].id) - begin - delay;
				ring_seen(&ring);
				if (late < 0)
					printf("%s, %lld ns: EARLY\n", clocks[c].name, delay);
				if (late > most[absolute])
					most[absolute] = late;
			}
		}
		printf("exact io_uring %s: late by %lld ns\n", clocks[c].name, most[0]);
		printf("exact io_uring absolute %s: late by %lld ns\n", clocks[c].name, most[1]);
	}
}

/* On a machine with two CPUs, go to one of them. */
static void go(int cpu)
{
	unsigned long mask = 1UL << cpu;

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
	    syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask))
		die("sched_setaffinity");
}

/*
 * Polls with linked timeouts of up to a millisecond. Cancels some of the polls at about the time
 * when their timeouts expire. Each request must complete once. The result of a timeout tells why
 * its poll ended. No timeout may be early.
 */
static void test_many(void)
{
	static struct { char done[3]; int res[3]; long long due; } many[MANY];
	static struct __kernel_timespec ts[64];
	int i, n, next = 0, pending = 0, early = 0, twice = 0, lost = 0, odd = 0;
	int expired = 0, cancelled = 0, late = 0;
	struct io_uring_cqe *cqe;

	while (next < MANY || pending) {
		for (i = 0; i < 64 && next < MANY; i++, next++) {
			long long delay = random64() % MSEC;

			ts[i] = spec(delay);
			many[next].due = now_ns(CLOCK_MONOTONIC) + delay;
			entry_poll(&ring, event, next * 4, IOSQE_IO_LINK);
			entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts[i], next * 4 + 1, 0);
			pending += 2;
		}
		ring_submit(&ring, 0);
		/* Timeouts may expire now. Cancel from another CPU than theirs. */
		go(1);
		for (i = 0; i < 64; i++) {
			n = next - 1 - random64() % 128;
			if (n < 0 || many[n].done[2])
				continue;
			many[n].done[2] = 1;
			entry_cancel(&ring, IORING_OP_ASYNC_CANCEL, n * 4, n * 4 + 2);
			pending++;
		}
		ring_submit(&ring, pending ? 1 : 0);
		go(0);
		while ((cqe = ring_completion(&ring))) {
			n = cqe->user_data / 4;
			i = cqe->user_data % 4;
			many[n].res[i] = cqe->res;
			twice += i < 2 ? many[n].done[i]++ : many[n].done[2]++ != 1;
			early += i == 1 && cqe->res == -ETIME &&
				 now_ns(CLOCK_MONOTONIC) < many[n].due;
			pending--;
			ring_seen(&ring);
		}
	}
	for (n = 0; n < MANY; n++) {
		lost += !many[n].done[0] || !many[n].done[1];
		odd += many[n].res[0] != -ECANCELED;
		switch (many[n].res[1]) {
		case -ETIME:
			expired++;
			break;
		case -ECANCELED:
			cancelled++;
			break;
		case -ENOENT:
		case -EALREADY:
			/* The timeout expired, and found its poll cancelled */
			late++;
			break;
		default:
			odd++;
		}
	}
	printf("many: early %d, twice %d, lost %d, odd %d\n", early, twice, lost, odd);
	printf("# many: expired %d, cancelled %d, expired when cancelled %d\n", expired,
	       cancelled, late);
}

/* Setting CLOCK_REALTIME forward makes its timeout expire, but not those of other clocks. */
static void test_set(void)
{
	struct timespec now, set;
	struct __kernel_timespec ts;
	unsigned int c;

	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		ts = spec(now_ns(clocks[c].id) + HOUR);
		entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1,
			      clocks[c].flag | IORING_TIMEOUT_ABS);
		ring_submit(&ring, 0);
		clock_gettime(CLOCK_REALTIME, &now);
		set = now;
		set.tv_sec += 2 * HOUR / NSEC_PER_SEC;
		if (clock_settime(CLOCK_REALTIME, &set))
			die("clock_settime");
		usleep(50000);
		clock_settime(CLOCK_REALTIME, &now);
		entry_cancel(&ring, IORING_OP_TIMEOUT_REMOVE, 1, 2);
		printf("%s, the clock is set:", clocks[c].name);
		results(2);
	}
}

/* The kernel's log tells whether the end of the ring was clean */
static void test_close(void)
{
	struct __kernel_timespec ts = spec(20 * MSEC);
	struct ring other;
	int i;

	ring_open(&other, 512, 1024);
	for (i = 0; i < 120; i++) {
		entry_timeout(&other, IORING_OP_TIMEOUT, &ts, 1, clocks[i % 3].flag);
		entry_poll(&other, event, 2, IOSQE_IO_LINK);
		entry_timeout(&other, IORING_OP_LINK_TIMEOUT, &ts, 3, clocks[i % 3].flag);
		ts.tv_nsec += 100 * USEC;
	}
	ring_submit(&other, 0);
	close(other.fd);
	usleep(100000);
	printf("closed with timeouts pending\n");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	event = eventfd(0, 0);
	if (event < 0)
		die("eventfd");
	ring_open(&ring, 256, 65536);
	if (argc > 1 && !strcmp(argv[1], "simulated")) {
		test_clocks();
		test_far();
		test_events();
		test_cancel();
		test_update();
		test_multishot();
		test_linked();
		test_refused();
		test_set();
		test_exact();
	} else {
		test_many();
	}
	test_close();
	return 0;
}
