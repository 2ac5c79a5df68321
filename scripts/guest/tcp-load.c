// SPDX-License-Identifier: GPL-2.0
/*
 * TCP's pacing with many connections and without the qdisc fq. CONNECTIONS connections of this
 * machine to itself have SO_MAX_PACING_RATE set, and all their data in their send buffers. So
 * while this program sleeps for SECONDS, the kernel sends the data by its pacing timers alone.
 * What it does before and after is the same for each SECONDS. So kernel.sh also runs this program
 * in a guest with 0 seconds. That guest needs less CPU time, by what the packets cost.
 *
 * Prints how many packets of MSS bytes were received in these seconds, how many timer interrupts
 * the guest had, and how fast the data came, in percent of the rate that was set:
 *	paced: packets N interrupts N rate N
 *
 * Usage: tcp-load SECONDS CONNECTIONS
 */
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "guest.h"

#define MSS		1000
#define RATE		10000	/* bytes a second, of each connection */
#define SETTLE		2	/* seconds; the first ten segments are not paced */
#define MAX_SECONDS	20
#define BYTES		(RATE * (SETTLE + MAX_SECONDS + 3))

static int *clients, *servers, connections;

static void set(const char *path, const char *value)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(value, file) < 0 || fclose(file))
		die(path);
}

static void open_connections(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int i, listener = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0)
		die("socket");
	/* Room for the data and for what the kernel needs for each packet */
	option(listener, SOL_SOCKET, SO_RCVBUFFORCE, 8 * BYTES);
	option(listener, IPPROTO_TCP, TCP_MAXSEG, MSS);
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		die("listen");
	for (i = 0; i < connections; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (clients[i] < 0)
			die("socket");
		option(clients[i], SOL_SOCKET, SO_SNDBUFFORCE, 8 * BYTES);
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

/* How often the timer interrupted, as the kernel counts it for its hrtimers */
static long long timer_interrupts(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	long long n, sum = 0;
	char line[256];

	if (!file)
		die("/proc/timer_list");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " .nr_events : %lld", &n) == 1)
			sum += n;
	fclose(file);
	return sum;
}

static long long received(void)
{
	long long sum = 0;
	int i, bytes;

	for (i = 0; i < connections; i++) {
		if (ioctl(servers[i], FIONREAD, &bytes))
			die("FIONREAD");
		sum += bytes;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct rlimit files = { 1 << 14, 1 << 14 };
	long long begin, end, bytes, interrupts;
	int seconds, i;
	char *data;

	seconds = argc == 3 ? atoi(argv[1]) : -1;
	connections = argc == 3 ? atoi(argv[2]) : 0;
	if (seconds < 0 || seconds > MAX_SECONDS || connections < 1) {
		fprintf(stderr, "usage: tcp-load SECONDS CONNECTIONS; at most %d seconds\n",
			MAX_SECONDS);
		return 1;
	}
	clients = calloc(connections, sizeof(*clients));
	servers = calloc(connections, sizeof(*servers));
	data = calloc(1, BYTES);
	if (!clients || !servers || !data)
		die("memory");
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
	/* All connections together may have as much data as there is memory */
	set("/proc/sys/net/ipv4/tcp_mem", "1000000 1000000 1000000");
	/* Bursts of two packets. TCP would send longer bursts, because the peer is so near */
	set("/proc/sys/net/ipv4/tcp_tso_rtt_log", "0");
	/* MSS bytes of data in each packet */
	set("/proc/sys/net/ipv4/tcp_timestamps", "0");
	open_connections();
	for (i = 0; i < connections; i++)
		if (send(clients[i], data, BYTES, MSG_DONTWAIT) != BYTES)
			die("send");
	begin = now_ns(CLOCK_MONOTONIC) + SETTLE * NSEC_PER_SEC;
	sleep_until(begin);
	interrupts = timer_interrupts();
	/* The kernel needs some time to list its timers, and more time if there are many */
	begin = now_ns(CLOCK_MONOTONIC);
	bytes = received();
	sleep_until(begin + seconds * NSEC_PER_SEC);
	end = now_ns(CLOCK_MONOTONIC);
	bytes = received() - bytes;
	interrupts = timer_interrupts() - interrupts;
	printf("paced: packets %.0f interrupts %lld rate %.2f\n", (double)bytes / MSS, interrupts,
	       100.0 * bytes * NSEC_PER_SEC / RATE / connections / (end - begin));
	return 0;
}
