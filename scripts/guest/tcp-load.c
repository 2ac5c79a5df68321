// SPDX-License-Identifier: GPL-2.0
/*
 * Measures TCP's pacing with many connections and without the qdisc fq. CONNECTIONS connections
 * of this machine to itself have SO_MAX_PACING_RATE set, and all their data in their send buffers.
 * So while this program sleeps, the kernel sends the data by its pacing timers alone. Another
 * process, which gets only the time that nobody else wants, counts in a loop. How much less it
 * counts than before the data was sent tells what the packets cost.
 *
 * Prints a line of the least and of the median of ROUNDS rounds in nanoseconds of CPU time per
 * packet of MSS bytes. Then prints the timer interrupts per 1000 packets, and the rate:
 *	tcp: pending N paced 1 min_ns N median_ns N
 *	tcp: pending N interrupts N rate N percent
 *
 * Usage: tcp-load ROUNDS CONNECTIONS
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "guest.h"

#define MSS		1000
#define RATE		10000	/* bytes a second, of each connection */
#define ROUND		(250 * MSEC)
#define MAX_ROUNDS	40
#define SETTLE		2	/* seconds */

struct sample {
	long long ns, bytes, interrupts;
	unsigned long long count;
};

static unsigned long long *counter;
static int *clients, *servers, connections;

static void option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt");
}

static void count_for_ever(void)
{
	struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_IDLE, &none))
		die("SCHED_IDLE");
	for (;;)
		__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static unsigned long long counted(void)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void open_connections(int bytes)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int i, listener = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0)
		die("socket");
	/* Room for the data and for what the kernel needs for each packet */
	option(listener, SOL_SOCKET, SO_RCVBUFFORCE, 8 * bytes);
	option(listener, IPPROTO_TCP, TCP_MAXSEG, MSS);
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		die("listen");
	for (i = 0; i < connections; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (clients[i] < 0)
			die("socket");
		option(clients[i], SOL_SOCKET, SO_SNDBUFFORCE, 8 * bytes);
		option(clients[i], SOL_SOCKET, SO_MAX_PACING_RATE, RATE);
		option(clients[i], IPPROTO_TCP, TCP_NODELAY, 1);
		if (connect(clients[i], (struct sockaddr *)&address, size))
			die("connect");
		servers[i] = accept(listener, NULL, NULL);
		if (servers[i] < 0)
			die("accept");
	}
	close(listener);
}

/* The timer interrupts of all CPUs: in user-mode Linux the only line with this name */
static long long timer_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	long long sum = 0;
	char line[4096];

	while (file && fgets(line, sizeof(line), file)) {
		char *word = strchr(line, ':'), *end;
		long long n = 0;

		if (!word || !strstr(line, "timer"))
			continue;
		for (word++; ; word = end) {
			long long more = strtoll(word, &end, 10);

			if (end == word)
				break;
			n += more;
		}
		sum += n;
	}
	if (file)
		fclose(file);
	return sum;
}

static struct sample sample(void)
{
	struct sample s = { .count = counted(), .ns = now_ns(CLOCK_MONOTONIC) };
	int i, bytes;

	s.interrupts = timer_interrupts();
	for (i = 0; i < connections; i++) {
		if (ioctl(servers[i], FIONREAD, &bytes))
			die("FIONREAD");
		s.bytes += bytes;
	}
	return s;
}

/* What the counter gains in a nanosecond if there is nothing else to do */
static double quiet(int rounds)
{
	double most = 0;
	int i;

	for (i = 0; i < rounds; i++) {
		long long begin = now_ns(CLOCK_MONOTONIC);
		unsigned long long count = counted();
		double speed;

		sleep_until(begin + ROUND / 5);
		speed = (double)(counted() - count) / (now_ns(CLOCK_MONOTONIC) - begin);
		if (speed > most)
			most = speed;
	}
	return most;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0, bytes, i;
	struct sample first = {}, before, after = {};
	struct rlimit files = { 1 << 14, 1 << 14 };
	double ns[MAX_ROUNDS], speed, packets;
	char *data;
	pid_t pid;

	connections = argc == 3 ? atoi(argv[2]) : 0;
	if (rounds < 1 || rounds > MAX_ROUNDS || connections < 1) {
		fprintf(stderr, "usage: tcp-load ROUNDS CONNECTIONS; at most %d rounds\n",
			MAX_ROUNDS);
		return 1;
	}
	bytes = RATE * (SETTLE + (rounds + 2) * ROUND / NSEC_PER_SEC + 2);
	clients = calloc(connections, sizeof(*clients));
	servers = calloc(connections, sizeof(*servers));
	data = calloc(1, bytes);
	counter = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!clients || !servers || !data || counter == MAP_FAILED)
		die("memory");
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
	open_connections(bytes);
	pid = fork();
	if (!pid)
		count_for_ever();
	speed = quiet(20);
	for (i = 0; i < connections; i++)
		if (send(clients[i], data, bytes, MSG_DONTWAIT) != bytes)
			die("send");
	/* The first ten segments are not paced */
	sleep(SETTLE);
	for (i = 0; i < rounds; i++) {
		before = sample();
		if (!i)
			first = before;
		sleep_until(before.ns + ROUND);
		after = sample();
		packets = (double)(after.bytes - before.bytes) / MSS;
		ns[i] = (after.ns - before.ns - (after.count - before.count) / speed) /
			(packets ?: 1);
	}
	kill(pid, SIGKILL);
	printf("tcp: pending %d paced 1", connections);
	print_ns(ns, rounds);
	packets = (double)(after.bytes - first.bytes) / MSS;
	printf("tcp: pending %d interrupts %.0f rate %.2f percent\n", connections,
	       1000 * (after.interrupts - first.interrupts) / (packets ?: 1),
	       100.0 * (after.bytes - first.bytes) * NSEC_PER_SEC / RATE / connections /
	       (after.ns - first.ns));
	return 0;
}
