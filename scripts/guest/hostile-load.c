// SPDX-License-Identifier: GPL-2.0
/*
 * Programs without privileges arm timers in the most hostile ways that they can. How much of the
 * CPU does another task get meanwhile, and how late do two tasks wake up that sleep for a
 * millisecond? A plain one waits until the scheduler takes the CPU from another, which may be at
 * the next jiffy. One with real-time priority shows how late its timer is.
 *
 * TASKS tasks have TIMERS timers between them, all of KIND, and arm them again and again:
 *	past		for an instant that has passed
 *	soon		for a nanosecond from now
 *	periodic	with a period of a nanosecond
 * KIND is timerfd or uring. A timeout of io_uring can't be armed again after it has expired. So
 * there TIMERS timeouts are pending, for an hour, and the tasks submit others in batches.
 *
 * Prints a line:
 *	hostile: KIND HOW tasks N timers N work N late_p99_us N late_max_us N
 *		 rt_p99_us N rt_max_us N
 * work is how many thousand steps the other task has done in SECONDS.
 *
 * Usage: hostile-load KIND HOW TASKS TIMERS SECONDS
 */
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "uring.h"

#define TASKS		64
#define SLEEPS		1000000
#define BATCH		256

struct sleeper {
	int			sleeps;
	double			late[SLEEPS];
};

/* The tasks share this memory */
static struct {
	int			ready, stop;
	long long		work;
	unsigned long long	sum;		/* so that the work is not for nothing */
	struct sleeper		plain, rt;
} *shared;

static int periodic, past;

static void timerfds(int n)
{
	int *fds = calloc(n, sizeof(*fds)), i;
	struct itimerspec value = {
		.it_value.tv_nsec = 1,
		.it_interval.tv_nsec = periodic,
	};

	for (i = 0; i < n; i++) {
		fds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
		if (fds[i] < 0)
			die("timerfd_create");
	}
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (i = 0; ; i = (i + 1) % n)
		if (timerfd_settime(fds[i], past ? TFD_TIMER_ABSTIME : 0, &value, NULL))
			die("timerfd_settime");
}

static void timeouts(int n)
{
	struct __kernel_timespec hour = { .tv_sec = 3600 }, ts = { .tv_nsec = 1 };
	unsigned int flags = past ? IORING_TIMEOUT_ABS : periodic ? IORING_TIMEOUT_MULTISHOT : 0;
	struct ring ring;
	int i;

	ring_open(&ring, BATCH, 4 * BATCH);
	for (i = 1; i <= n; i++) {
		entry_timeout(&ring, IORING_OP_TIMEOUT, &hour, 0, 0);
		if (i == n || !(i % BATCH))
			ring_submit(&ring, 0);
	}
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		for (i = 0; i < BATCH; i++)
			entry_timeout(&ring, IORING_OP_TIMEOUT, &ts, 1, flags);
		ring_submit(&ring, BATCH);
		while (ring_completion(&ring))
			ring_seen(&ring);
	}
}

static void attack(int uring, int n)
{
	if (uring)
		timeouts(n);
	else
		timerfds(n);
}

static void work(void)
{
	int i;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < 1000; i++)
			shared->sum += random64();
		shared->work++;
	}
}

static void nap(struct sleeper *sleeper)
{
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED) && sleeper->sleeps < SLEEPS) {
		long long until = now_ns(CLOCK_MONOTONIC) + MSEC;

		sleep_until(until);
		sleeper->late[sleeper->sleeps++] = now_ns(CLOCK_MONOTONIC) - until;
	}
}

static void nap_plain(void)
{
	nap(&shared->plain);
}

static void nap_rt(void)
{
	struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		die("sched_setscheduler");
	nap(&shared->rt);
}

static void show(const char *name, struct sleeper *sleeper)
{
	if (!sleeper->sleeps) {
		fprintf(stderr, "hostile-load: the %s task has not slept\n", name);
		exit(1);
	}
	qsort(sleeper->late, sleeper->sleeps, sizeof(double), compare);
	printf(" %s_p99_us %.0f %s_max_us %.0f", name,
	       sleeper->late[sleeper->sleeps * 99LL / 100] / 1000, name,
	       sleeper->late[sleeper->sleeps - 1] / 1000);
}

/* A task that runs @task; NULL: attack() */
static pid_t begin(void (*task)(void), int uring, int n)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	if (task)
		task();
	else
		attack(uring, n);
	exit(0);
}

int main(int argc, char **argv)
{
	int uring, tasks, timers, seconds, i, status;
	struct rlimit limit;
	pid_t pid[TASKS], others[3];

	if (argc != 6) {
		fprintf(stderr, "usage: hostile-load KIND HOW TASKS TIMERS SECONDS\n");
		return 1;
	}
	uring = !strcmp(argv[1], "uring");
	past = !strcmp(argv[2], "past");
	periodic = !strcmp(argv[2], "periodic");
	tasks = atoi(argv[3]);
	timers = atoi(argv[4]);
	seconds = atoi(argv[5]);
	if (tasks < 1 || tasks > TASKS || timers < tasks || seconds < 1) {
		fprintf(stderr, "hostile-load: 1 to %d tasks, a timer or more for each, a second\n",
			TASKS);
		return 1;
	}
	limit.rlim_cur = timers / tasks + 16;
	limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("no room for so many files");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");

	for (i = 0; i < tasks; i++)
		pid[i] = begin(NULL, uring, timers / tasks);
	while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) < tasks) {
		usleep(10000);
		if (waitpid(-1, &status, WNOHANG) > 0) {
			fprintf(stderr, "hostile-load: a task has failed\n");
			return 1;
		}
	}
	others[0] = begin(work, 0, 0);
	others[1] = begin(nap_plain, 0, 0);
	others[2] = begin(nap_rt, 0, 0);
	sleep(seconds);
	__atomic_store_n(&shared->stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < 3; i++)
		waitpid(others[i], &status, 0);
	for (i = 0; i < tasks; i++)
		kill(pid[i], SIGKILL);
	while (wait(&status) > 0)
		if (!WIFSIGNALED(status)) {
			fprintf(stderr, "hostile-load: a task has failed\n");
			return 1;
		}
	printf("hostile: %s %s tasks %d timers %d work %lld", argv[1], argv[2], tasks, timers,
	       shared->work);
	show("late", &shared->plain);
	show("rt", &shared->rt);
	printf("\n");
	return 0;
}
