// SPDX-License-Identifier: GPL-2.0
/*
 * Tests timerfd. Prints what each test has seen, and how late timers were. Lines that begin with
 * "exact" may differ between kernels. All others must be the same:
 *	timerfd NAME: RESULTS
 *	exact timerfd NAME: late by N ns
 *
 * Usage: timerfd-test			in real time: tests timers that expire while they are set
 *	  timerfd-test simulated	in simulated time: runs all other tests
 */
#include <limits.h>
#include <poll.h>
#include <sys/timerfd.h>

#include "guest.h"

#define MINUTE		(60 * NSEC_PER_SEC)
#define HOUR		(60 * MINUTE)

static const struct {
	const char	*name;
	clockid_t	id;
} clocks[] = {
	{ "monotonic", CLOCK_MONOTONIC },
	{ "boottime", CLOCK_BOOTTIME },
	{ "realtime", CLOCK_REALTIME },
};

static struct timespec spec(long long ns)
{
	return (struct timespec){ .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
}

/* Set the timer. Returns the time that was left before. */
static long long set(int fd, int flags, long long value, long long interval)
{
	struct itimerspec new = { .it_value = spec(value), .it_interval = spec(interval) }, old;

	if (timerfd_settime(fd, flags, &new, &old))
		die("timerfd_settime");
	return old.it_value.tv_sec * NSEC_PER_SEC + old.it_value.tv_nsec;
}

static long long left(int fd)
{
	struct itimerspec now;

	if (timerfd_gettime(fd, &now))
		die("timerfd_gettime");
	return now.it_value.tv_sec * NSEC_PER_SEC + now.it_value.tv_nsec;
}

static long long expirations(int fd)
{
	unsigned long long n;

	if (read(fd, &n, sizeof(n)) != sizeof(n))
		return -errno;
	return n;
}

/* In minutes, rounded: the test takes less than half a minute */
static long long minutes(long long ns)
{
	return (ns + MINUTE / 2) / MINUTE;
}

static void test_once(const char *name, clockid_t clock, int fd)
{
	static const long long delays[] = { 1, 1 * USEC, 100 * USEC, 3333333, 50 * MSEC };
	long long begin, late, n;
	unsigned int i;

	for (i = 0; i < 2 * sizeof(delays) / sizeof(*delays); i++) {
		int absolute = i % 2;

		begin = now_ns(clock);
		set(fd, absolute ? TFD_TIMER_ABSTIME : 0,
		    (absolute ? begin : 0) + delays[i / 2], 0);
		n = expirations(fd);
		late = now_ns(clock) - begin - delays[i / 2];
		printf("timerfd %s%s %lld ns: %lld, left %lld, %s\n", absolute ? "absolute " : "",
		       name, delays[i / 2], n, left(fd),
		       late < 0 ? "EARLY" : late > 20 * USEC ? "LATE" : "in time");
	}
}

static void test_past(const char *name, clockid_t clock, int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	long long n;

	set(fd, TFD_TIMER_ABSTIME, 1, 0);
	printf("timerfd %s, long ago: ready %d", name, poll(&ready, 1, 0));
	printf(", then %lld\n", expirations(fd));

	set(fd, TFD_TIMER_ABSTIME, now_ns(clock) - 10 * HOUR - HOUR / 2, HOUR);
	n = expirations(fd);
	printf("timerfd %s, ten and a half periods ago: %lld, left %lld min\n", name, n,
	       minutes(left(fd)));
	printf("timerfd %s, was left %lld min\n", name, minutes(set(fd, 0, 0, 0)));

	set(fd, TFD_TIMER_ABSTIME, now_ns(clock) - 10 * HOUR - HOUR / 2, HOUR);
	usleep(2000);
	printf("timerfd %s, the same, not read: was left %lld min\n", name,
	       minutes(set(fd, 0, 0, 0)));

	set(fd, TFD_TIMER_ABSTIME, now_ns(clock) - 10 * HOUR - HOUR / 2, HOUR);
	usleep(2000);
	n = left(fd);
	printf("timerfd %s, the same, asked: left %lld min, then %lld\n", name, minutes(n),
	       expirations(fd));
}

static void test_periods(const char *name, clockid_t clock, int fd)
{
	long long begin = now_ns(clock), n = 0, late;

	set(fd, 0, 2 * MSEC, 2 * MSEC);
	while (n < 50)
		n += expirations(fd);
	late = now_ns(clock) - begin - n * 2 * MSEC;
	printf("timerfd %s, periods: %s\n", name,
	       late < 0 ? "EARLY" : late > 20 * USEC ? "LATE" : "in time");
	/* The period is shorter than a tick. read() counts the periods, and re-arms the timer */
	set(fd, 0, 1, 1);
	usleep(1000);
	n = expirations(fd);
	printf("timerfd %s, periods of 1 ns: %s\n", name, n >= 1000000 ? "a million" : "FEWER");
	set(fd, 0, 0, 0);
}

static void test_set(const char *name, int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int n;

	set(fd, 0, HOUR, 0);
	printf("timerfd %s, an hour: left %lld min, ready %d\n", name, minutes(left(fd)),
	       poll(&ready, 1, 0));
	printf("timerfd %s, two hours: was left %lld min\n", name,
	       minutes(set(fd, 0, 2 * HOUR, 0)));
	printf("timerfd %s, none: was left %lld min", name, minutes(set(fd, 0, 0, 0)));
	printf(", left %lld\n", left(fd));
	set(fd, 0, LLONG_MAX, 0);
	printf("timerfd %s, three centuries: left %lld min\n", name, minutes(left(fd)));
	set(fd, 0, MSEC, 0);
	n = poll(&ready, 1, 1000);
	printf("timerfd %s, a millisecond: ready %d %d, then %lld\n", name, n, ready.revents,
	       expirations(fd));
}

/* A timer that may expire at any time while it is set again */
static void test_again(const char *name, int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int i, n;

	for (i = 0; i < 20000; i++)
		set(fd, 0, 1 + i % 40 * USEC, 0);
	set(fd, 0, HOUR, 0);
	n = poll(&ready, 1, 10);
	printf("timerfd %s, set again and again: ready %d\n", name, n);
	set(fd, 0, MSEC, 0);
	printf("timerfd %s, and again: %lld\n", name, expirations(fd));
	set(fd, 0, HOUR, 0);
}

/* How late timers are, from 1 us to a day, and after a thousand periods */
static void test_exact(const char *name, clockid_t clock, int fd)
{
	long long begin, late, most[2] = {}, delay, n;
	int absolute;

	for (delay = 1001; delay < 24 * HOUR; delay = delay * 17 / 10) {
		for (absolute = 0; absolute < 2; absolute++) {
			begin = now_ns(clock);
			set(fd, absolute ? TFD_TIMER_ABSTIME : 0,
			    (absolute ? begin : 0) + delay, 0);
			expirations(fd);
			late = now_ns(clock) - begin - delay;
			if (late < 0)
				printf("timerfd %s, %lld ns: EARLY\n", name, delay);
			if (late > most[absolute])
				most[absolute] = late;
		}
	}
	printf("exact timerfd %s: late by %lld ns\n", name, most[0]);
	printf("exact timerfd absolute %s: late by %lld ns\n", name, most[1]);

	begin = now_ns(clock);
	set(fd, 0, 3333333, 3333333);
	for (n = 0; n < 1000; )
		n += expirations(fd);
	late = now_ns(clock) - begin - n * 3333333;
	printf("exact timerfd %s, period %lld: late by %lld ns\n", name, n, late);
}

int main(int argc, char **argv)
{
	int simulated = argc > 1 && !strcmp(argv[1], "simulated");
	unsigned int c;
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (c = 0; c < sizeof(clocks) / sizeof(*clocks); c++) {
		fd = timerfd_create(clocks[c].id, 0);
		if (fd < 0)
			die("timerfd_create");
		if (simulated) {
			test_once(clocks[c].name, clocks[c].id, fd);
			test_past(clocks[c].name, clocks[c].id, fd);
			test_periods(clocks[c].name, clocks[c].id, fd);
			test_set(clocks[c].name, fd);
			test_exact(clocks[c].name, clocks[c].id, fd);
		} else {
			test_again(clocks[c].name, fd);
		}
		close(fd);	/* while the timer is armed */
	}
	return 0;
}
