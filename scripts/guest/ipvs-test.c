// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the timers of IPVS's connections, in simulated time, where the clock stands still
 * while the CPU is busy. Prints what each test has seen, and how late connections expired.
 * Lines that begin with "exact" may differ between kernels. All others must be the same:
 *	ip_vs NAME: RESULTS
 *	exact ip_vs NAME: late by N ns
 *
 * Usage: ipvs-test
 */
#include <sys/prctl.h>

#include "ipvs.h"

#define TIMEOUT		3600

static int client, server;

static void send_packet(void)
{
	struct sockaddr_in address = address_of(VIRTUAL_PORT);
	char byte = 0;

	if (sendto(client, &byte, 1, 0, (struct sockaddr *)&address, sizeof(address)) != 1 ||
	    recv(server, &byte, 1, 0) != 1)
		die("no packet came through the service");
}

/* Returns how many connections there are. Sets *seconds to the time until the last one expires. */
static int connections(int *seconds)
{
	FILE *file = fopen("/proc/net/ip_vs_conn", "r");
	char line[256];
	int n = 0;

	if (!file || !fgets(line, sizeof(line), file))
		die("/proc/net/ip_vs_conn");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %d", seconds) != 1)
			*seconds = -1;
		n++;
	}
	fclose(file);
	return n;
}

static void test_expires(const char *name, long long begin)
{
	long long late;
	int left;

	/* Half a second past half an hour */
	sleep_until(begin + TIMEOUT / 2 * NSEC_PER_SEC + NSEC_PER_SEC / 2);
	printf("ip_vs %s, half an hour: %d\n", name, connections(&left));
	sleep_until(begin + (TIMEOUT - 1) * NSEC_PER_SEC);
	printf("ip_vs %s, a second before: %d\n", name, connections(&left));
	/* Look often in the first second */
	while (connections(&left)) {
		late = now_ns(CLOCK_MONOTONIC) - begin - TIMEOUT * NSEC_PER_SEC;
		usleep(late > NSEC_PER_SEC ? 100000 : 100);
	}
	late = now_ns(CLOCK_MONOTONIC) - begin - TIMEOUT * NSEC_PER_SEC;
	if (late < 0)
		printf("ip_vs %s: EARLY\n", name);
	printf("exact ip_vs %s: late by %lld ns\n", name, late);
}

int main(void)
{
	long long begin;
	int left;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Else each sleep may be 50 us longer */
	prctl(PR_SET_TIMERSLACK, 1);
	server = open_service(TIMEOUT);
	client = socket(AF_INET, SOCK_DGRAM, 0);
	if (client < 0)
		die("socket");

	printf("ip_vs: %d connections\n", connections(&left));
	begin = now_ns(CLOCK_MONOTONIC);
	send_packet();
	printf("ip_vs: %d connections", connections(&left));
	printf(", %s\n", left == TIMEOUT || left == TIMEOUT - 1 ? "an hour left" : "ODD");
	test_expires("one packet", begin);

	/* A second packet re-arms the connection's timer */
	send_packet();
	sleep_until(now_ns(CLOCK_MONOTONIC) + TIMEOUT / 2 * NSEC_PER_SEC);
	begin = now_ns(CLOCK_MONOTONIC);
	send_packet();
	test_expires("two packets", begin);
	return 0;
}
