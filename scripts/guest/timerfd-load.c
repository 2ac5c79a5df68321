// SPDX-License-Identifier: GPL-2.0
/*
 * Measures timerfd_settime() with many timers armed: sets a timer chosen at random to a time
 * chosen at random, one to two hours from now. In turns with this, calls timerfd_gettime() in
 * the same way. This shows the cost of the system call and of the file's cache misses.
 *
 * Prints, for each PENDING and each of the calls, a line of the least and of the median of
 * ROUNDS rounds, in nanoseconds per call:
 *	timerfd: pending N settime 0|1 min_ns N median_ns N
 *
 * Usage: timerfd-load ROUNDS PENDING...	each PENDING must be greater than the one before
 */
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "guest.h"

#define CALLS		1000	/* in a round: so short that the host preempts few rounds */
#define HOUR		3600

static int *fds;

static void set(int fd)
{
	struct itimerspec value = {
		.it_value.tv_sec = HOUR + random64() % HOUR,
		.it_value.tv_nsec = random64() % NSEC_PER_SEC,
	};

	if (timerfd_settime(fd, 0, &value, NULL))
		die("timerfd_settime");
}

static double round_ns(int settime, long long pending)
{
	long long begin = now_ns(CLOCK_MONOTONIC);
	struct itimerspec value;
	int i;

	for (i = 0; i < CALLS; i++) {
		int fd = fds[random64() % pending];

		if (settime)
			set(fd);
		else if (timerfd_gettime(fd, &value))
			die("timerfd_gettime");
	}
	return (double)(now_ns(CLOCK_MONOTONIC) - begin) / CALLS;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, i, settime;
	double *ns = calloc(2 * rounds, sizeof(*ns));
	long long pending = 0, wanted;

	if (rounds < 1 || !ns) {
		fprintf(stderr, "usage: timerfd-load ROUNDS PENDING...\n");
		return 1;
	}
	for (argv += 2; *argv; argv++) {
		struct rlimit limit;

		wanted = atoll(*argv);
		limit.rlim_cur = wanted + 16;
		limit.rlim_max = wanted + 16;
		fds = realloc(fds, wanted * sizeof(*fds));
		if (!fds || setrlimit(RLIMIT_NOFILE, &limit))
			die("no room for so many files");
		for (; pending < wanted; pending++) {
			fds[pending] = timerfd_create(CLOCK_MONOTONIC, 0);
			if (fds[pending] < 0)
				die("timerfd_create");
			set(fds[pending]);
		}
		/* The first round of each kind warms up */
		for (i = -1; i < rounds; i++)
			for (settime = 0; settime < 2; settime++)
				ns[settime * rounds + (i < 0 ? 0 : i)] = round_ns(settime, pending);
		for (settime = 0; settime < 2; settime++) {
			printf("timerfd: pending %lld settime %d", pending, settime);
			print_ns(ns + settime * rounds, rounds);
		}
	}
	return 0;
}
