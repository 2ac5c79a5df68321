// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what a packet through a virtual service of IPVS costs while the service has many
 * connections: sends packets of connections chosen at random. Each packet re-arms its
 * connection's timer. In turns with this, sends the same packets to the server directly. This
 * shows the cost without IPVS.
 *
 * Prints, for each PENDING and for both kinds, a line of the least and of the median of ROUNDS
 * rounds, in nanoseconds per packet:
 *	ip_vs: pending N service 0|1 min_ns N median_ns N
 *
 * Usage: ipvs-load ROUNDS PENDING...	each PENDING must be greater than the one before
 */
#include <netinet/ip.h>
#include <netinet/udp.h>

#include "ipvs.h"

#define PACKETS		1000	/* in a round: so short that the host preempts few rounds */
#define PORTS		32768

static int out;

/* Send a packet from sender @n. The kernel fills in lengths and checksum. */
static void packet(int port, long long n)
{
	struct sockaddr_in address = address_of(port);
	struct { struct iphdr ip; struct udphdr udp; } p = {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
			.saddr = htonl(0x0a010000 + n / PORTS),
			.daddr = address.sin_addr.s_addr },
		.udp = { .source = htons(PORTS + n % PORTS), .dest = address.sin_port,
			 .len = htons(sizeof(p.udp)) },
	};

	if (sendto(out, &p, sizeof(p), 0, (struct sockaddr *)&address, sizeof(address)) < 0)
		die("sendto");
}

static double round_ns(int port, long long pending)
{
	long long begin = now_ns(CLOCK_MONOTONIC);
	int i;

	for (i = 0; i < PACKETS; i++)
		packet(port, random64() % pending);
	return (double)(now_ns(CLOCK_MONOTONIC) - begin) / PACKETS;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, i, service;
	double *ns = calloc(2 * rounds, sizeof(*ns));
	long long pending = 0, wanted;

	if (rounds < 1 || !ns) {
		fprintf(stderr, "usage: ipvs-load ROUNDS PENDING...\n");
		return 1;
	}
	/* Nobody reads from this socket. Its buffer fills, and then drops packets. */
	open_service(3600);
	out = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (out < 0)
		die("raw socket");
	for (argv += 2; *argv; argv++) {
		for (wanted = atoll(*argv); pending < wanted; pending++)
			packet(VIRTUAL_PORT, pending);
		/* The first round of each kind warms up */
		for (i = -1; i < rounds; i++)
			for (service = 0; service < 2; service++)
				ns[service * rounds + (i < 0 ? 0 : i)] =
					round_ns(service ? VIRTUAL_PORT : REAL_PORT, pending);
		for (service = 0; service < 2; service++) {
			printf("ip_vs: pending %lld service %d", pending, service);
			print_ns(ns + service * rounds, rounds);
		}
	}
	return 0;
}
