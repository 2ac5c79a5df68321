// SPDX-License-Identifier: GPL-2.0
/*
 * Tests TCP's keepalive timers, in simulated time, where the clock stands still while the CPU
 * is busy. Prints what each test has seen, and how late the timers were. Lines that begin with
 * "exact" may differ between kernels. All others must be the same:
 *	tcp NAME: RESULTS
 *	exact tcp NAME: late by N ns
 *
 * Usage: tcp-test
 */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>

#include "guest.h"

#define HOUR	3600

/* The client of the present connection, its peer, and a socket that sees all packets */
static int client, peer, packets;
static struct sockaddr_in client_address;

/* Wait up to @seconds for a packet that the client sends. Returns when it came, or 0. */
static long long packet(int seconds)
{
	long long end = now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC, left;

	while ((left = end - now_ns(CLOCK_MONOTONIC)) > 0) {
		struct timeval wait = { .tv_sec = left / NSEC_PER_SEC,
					.tv_usec = left % NSEC_PER_SEC / USEC };
		struct { struct iphdr ip; struct tcphdr tcp; char more[128]; } p;

		if (left < USEC)
			wait.tv_usec = 1;
		if (setsockopt(packets, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
			die("SO_RCVTIMEO");
		if (recv(packets, &p, sizeof(p), 0) > 0 &&
		    p.tcp.source == client_address.sin_port)
			return now_ns(CLOCK_MONOTONIC);
	}
	return 0;
}

static void open_connection(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	client = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || client < 0)
		die("socket");
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) ||
	    connect(client, (struct sockaddr *)&address, size) ||
	    getsockname(client, (struct sockaddr *)&client_address, &size))
		die("connect");
	peer = accept(listener, NULL, NULL);
	if (peer < 0)
		die("accept");
	close(listener);
	while (packet(1))
		;
}

static void close_connection(void)
{
	struct linger reset = { .l_onoff = 1 };

	setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(client);
	close(peer);
	while (packet(1))
		;
}

/* From now on the peer answers nothing. */
static void silence(void)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { .len = 1, .filter = &drop };

	if (setsockopt(peer, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		die("SO_ATTACH_FILTER");
}

/* Begin to probe after @idle seconds, then each @interval seconds, @probes times. */
static long long keepalive(int idle, int interval, int probes)
{
	option(client, IPPROTO_TCP, TCP_KEEPIDLE, idle);
	option(client, IPPROTO_TCP, TCP_KEEPINTVL, interval);
	option(client, IPPROTO_TCP, TCP_KEEPCNT, probes);
	option(client, SOL_SOCKET, SO_KEEPALIVE, 1);
	return now_ns(CLOCK_MONOTONIC);
}

/* The timer of the client as /proc/net/tcp shows it */
static const char *shown(void)
{
	static char line[256];
	FILE *file = fopen("/proc/net/tcp", "r");
	unsigned int port, state, kind;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*d: %*x:%x %*x:%*x %x %*x:%*x %x", &port, &state, &kind) == 3 &&
		    port == ntohs(client_address.sin_port)) {
			snprintf(line, sizeof(line), "state %u timer %u", state, kind);
			fclose(file);
			return line;
		}
	}
	if (file)
		fclose(file);
	return "none";
}

/* A packet is expected @wanted seconds after @begin. Returns when it came. */
static long long expect(const char *name, long long begin, int wanted)
{
	long long came = packet(2 * wanted), late = came - begin - wanted * NSEC_PER_SEC;

	if (!came)
		printf("tcp %s: NONE\n", name);
	else
		printf("exact tcp %s: late by %lld ns\n", name, late);
	return came;
}

static void test_answered(int idle)
{
	char name[64];
	long long at;
	int i;

	open_connection();
	at = keepalive(idle, 600, 3);
	printf("tcp keepalive of %d s: %s\n", idle, shown());
	for (i = 1; i <= 3; i++) {
		sprintf(name, "keepalive of %d s, probe %d", idle, i);
		at = expect(name, at, idle);
	}
	/* A new idle time counts from the last answer */
	option(client, IPPROTO_TCP, TCP_KEEPIDLE, idle / 2);
	sprintf(name, "keepalive of %d s, changed to half", idle);
	at = expect(name, at, idle / 2);
	/* A byte delays the probe */
	at += idle / 4 * NSEC_PER_SEC;
	sleep_until(at);
	if (send(client, "", 1, 0) != 1)
		die("send");
	packet(1);
	sprintf(name, "keepalive of %d s, put off", idle / 2);
	expect(name, at, idle / 2);
	option(client, SOL_SOCKET, SO_KEEPALIVE, 0);
	printf("tcp keepalive off: %s\n", shown());
	printf("tcp keepalive off: %s\n", packet(4 * idle) ? "A PACKET" : "no packet");
	close_connection();
}

static void test_unanswered(int idle)
{
	long long at, late;
	char name[64];
	char byte;
	int i;

	open_connection();
	silence();
	at = keepalive(idle, 600, 3);
	for (i = 1; i <= 3; i++) {
		sprintf(name, "silent peer, %d s, probe %d", idle, i);
		at = expect(name, at, i == 1 ? idle : 600);
	}
	i = recv(client, &byte, 1, 0);
	late = now_ns(CLOCK_MONOTONIC) - at - 600 * NSEC_PER_SEC;
	printf("tcp silent peer: %d %s\n", i, strerror(errno));
	printf("exact tcp silent peer, %d s, given up: late by %lld ns\n", idle, late);
	close_connection();
}

/*
 * The client closes. When its peer has acknowledged that, which may take a jiffy, the client
 * is in FIN_WAIT2. Its timer takes TCP_LINGER2 - 60 s, that is 60 s. The timer expires, because
 * the peer does not close.
 */
static void test_fin_wait(void)
{
	static const char waits[] = "state 5 timer 2";
	long long begin;

	open_connection();
	option(client, IPPROTO_TCP, TCP_LINGER2, 120);
	close(client);
	while (strcmp(shown(), waits))
		usleep(100);
	begin = now_ns(CLOCK_MONOTONIC);
	sleep_until(begin + 59 * NSEC_PER_SEC);
	printf("tcp half closed, 59 s: %s\n", shown());
	while (!strcmp(shown(), waits))
		usleep(100);
	printf("exact tcp half closed: late by %lld ns\n",
	       now_ns(CLOCK_MONOTONIC) - begin - 60 * NSEC_PER_SEC);
	printf("tcp half closed, after that: %s\n", shown());
	close(peer);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Else each sleep may be 50 us longer */
	prctl(PR_SET_TIMERSLACK, 1);
	packets = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	if (packets < 0)
		die("raw socket");
	test_answered(HOUR);
	test_answered(2 * HOUR);
	test_unanswered(HOUR);
	test_unanswered(2 * HOUR);
	test_fin_wait();
	return 0;
}
