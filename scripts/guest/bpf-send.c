// SPDX-License-Identifier: GPL-2.0
/*
 * Sends packets of many flows through a network device, as Ethernet frames: UDP in one
 * direction and in both, TCP that stays open and TCP that closes, and ICMP.
 *
 * Usage: bpf-send DEVICE FLOWS ROUNDS GAP_MS
 *	Each flow gets a packet in each round. Prints how many flows and packets there were
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind { UDP_ONE_WAY, UDP_BOTH_WAYS, TCP_OPEN, TCP_CLOSED, ICMP, KINDS };

static void put16(unsigned char *p, unsigned int n)
{
	p[0] = n >> 8;
	p[1] = n;
}

static size_t frame(unsigned char *p, unsigned int flow, unsigned int round, unsigned int rounds)
{
	static const unsigned char protocol[KINDS] = { 17, 17, 6, 6, 1 };
	enum kind kind = flow % KINDS;
	int back = kind == UDP_BOTH_WAYS && round % 2;
	unsigned char *from = p + (back ? 30 : 26), *to = p + (back ? 26 : 30);

	memset(p, 0, 64);
	memset(p, 0xff, 6);
	put16(p + 12, ETH_P_IP);
	p[14] = 0x45;
	put16(p + 16, 50);
	p[22] = 64;
	p[23] = protocol[kind];
	from[0] = 10;
	from[1] = flow >> 16;
	put16(from + 2, flow);
	to[0] = 192;
	to[1] = 168;
	to[3] = 1;
	if (kind == ICMP) {
		p[34] = 8;
		return 64;
	}
	put16(p + (back ? 36 : 34), 1024 + flow % 1000);
	put16(p + (back ? 34 : 36), 80);
	p[46] = 0x50;
	p[47] = !round ? 0x02 : kind == TCP_CLOSED && round == rounds - 1 ? 0x01 : 0x10;
	return 64;
}

int main(int argc, char **argv)
{
	unsigned int flows, rounds, gap_ms, flow, round;
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	unsigned long packets = 0;
	unsigned char p[64];
	int fd;

	if (argc != 5)
		return 2;
	flows = atoi(argv[2]);
	rounds = atoi(argv[3]);
	gap_ms = atoi(argv[4]);
	to.sll_ifindex = if_nametoindex(argv[1]);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 || bind(fd, (void *)&to, sizeof(to))) {
		perror("bpf-send");
		return 1;
	}
	for (round = 0; round < rounds; round++) {
		for (flow = 0; flow < flows; flow++)
			while (send(fd, p, frame(p, flow, round, rounds), 0) < 0)
				usleep(1000);
		packets += flows;
		usleep(gap_ms * 1000);
	}
	printf("sent flows %u packets %lu\n", flows, packets);
	return 0;
}
