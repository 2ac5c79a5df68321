// SPDX-License-Identifier: GPL-2.0
/*
 * Tests TCP's timers for retransmission, delayed and compressed ACKs and pacing, in simulated
 * time, where the clock stands still while the CPU is busy. Prints what each test has seen, and
 * how late the timers were. Lines that begin with "exact" or "#" may differ between kernels. All
 * others must be the same:
 *	tcp NAME: RESULTS
 *	exact tcp NAME: late by N ns
 *
 * The wire between a client and a server is a TUN device of this program. So this program sees
 * each packet, delays it, or drops it. The device has the address 10.2.0.1. The client connects
 * to 10.2.0.2, which does not exist: this program swaps the addresses of each packet, and gives
 * the packet back.
 *
 * Usage: tcp-wire-test
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "guest.h"

#define PORT		1000
/* How long a packet is on the wire */
#define DELAY		(10 * MSEC)
#define MAX_PACKETS	4096
/* A receive window has room for these bytes */
#define PACED_BYTES	60000
/* How far apart the packets of a burst may be */
#define BURST		(100 * USEC)
/* How early a timer of jiffies may seem to be: the present jiffy began up to 10 ms ago */
#define JIFFY		(10 * MSEC)

struct packet {
	long long at;		/* when it was sent */
	long long delivered;	/* when it was taken off the wire, or 0 */
	bool to_server;
	bool dropped;
	unsigned int seq;
	int bytes;		/* of data */
	int size;
	unsigned char data[2000];
};

/* All packets since the last call of forget() */
static struct packet packets[MAX_PACKETS];
static int nr_packets, nr_delivered;
/* Which packets the wire drops */
static bool drop_to_server, drop_to_client;
static int tun, client, server, listener;

static void forget(void)
{
	nr_packets = 0;
	nr_delivered = 0;
}

static void open_wire(void)
{
	struct ifreq request = { .ifr_name = "wire", .ifr_flags = IFF_TUN | IFF_NO_PI };

	tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
	if (tun < 0 || ioctl(tun, TUNSETIFF, &request))
		die("tun");
	if (system("ip address add 10.2.0.1/24 dev wire && ip link set wire up"))
		exit(1);
}

static void take(struct packet *p)
{
	struct iphdr *ip = (struct iphdr *)p->data;
	struct tcphdr *tcp = (struct tcphdr *)(p->data + sizeof(*ip));
	unsigned int source = ip->saddr;

	if (ip->version != 4 || ip->protocol != IPPROTO_TCP || ip->ihl != 5)
		return;
	ip->saddr = ip->daddr;
	ip->daddr = source;
	p->at = now_ns(CLOCK_MONOTONIC);
	p->to_server = ntohs(tcp->dest) == PORT;
	p->dropped = p->to_server ? drop_to_server : drop_to_client;
	p->delivered = 0;
	p->seq = ntohl(tcp->seq);
	p->bytes = p->size - 20 - tcp->doff * 4;
	if (++nr_packets == MAX_PACKETS)
		die("too many packets");
}

/* Carry packets until @until, or until @wanted packets have come since forget() */
static void carry(long long until, int wanted)
{
	struct packet *p;

	for (;;) {
		struct pollfd event = { .fd = tun, .events = POLLIN };
		long long now = now_ns(CLOCK_MONOTONIC), left = until - now;
		struct timespec wait;

		p = &packets[nr_packets];
		p->size = read(tun, p->data, sizeof(p->data));
		if (p->size > 0) {
			take(p);
			continue;
		}
		if (nr_packets >= wanted || left <= 0)
			return;
		p = &packets[nr_delivered];
		if (nr_delivered < nr_packets && (p->dropped || p->at + DELAY <= now)) {
			nr_delivered++;
			p->delivered = now;
			if (!p->dropped && write(tun, p->data, p->size) != p->size)
				die("write to tun");
			continue;
		}
		if (nr_delivered < nr_packets && p->at + DELAY - now < left)
			left = p->at + DELAY - now;
		wait.tv_sec = left / NSEC_PER_SEC;
		wait.tv_nsec = left % NSEC_PER_SEC;
		ppoll(&event, 1, &wait, NULL);
	}
}

static void carry_ms(int ms)
{
	carry(now_ns(CLOCK_MONOTONIC) + ms * MSEC, MAX_PACKETS);
}

static void open_connection(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT),
				       .sin_addr.s_addr = inet_addr("10.2.0.2") };

	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (client < 0)
		die("socket");
	option(client, IPPROTO_TCP, TCP_NODELAY, 1);
	option(client, SOL_SOCKET, SO_SNDBUFFORCE, 4 * PACED_BYTES);
	forget();
	if (!connect(client, (struct sockaddr *)&address, sizeof(address)) ||
	    errno != EINPROGRESS)
		die("connect");
	carry_ms(100);
	server = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (server < 0)
		die("accept");
}

static void close_connection(void)
{
	struct linger reset = { .l_onoff = 1 };

	drop_to_server = false;
	drop_to_client = false;
	setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(client);
	carry_ms(100);
	close(server);
	carry_ms(100);
	forget();
}

/* Send @bytes of data, and take the packets that TCP sends at once */
static void send_bytes(int bytes)
{
	static char data[1 << 20];

	if (send(client, data, bytes, 0) != bytes)
		die("send");
	carry(0, MAX_PACKETS);
}

/* The number of packets with data since forget() */
static int with_data(void)
{
	int i, n = 0;

	for (i = 0; i < nr_packets; i++)
		n += packets[i].to_server && packets[i].bytes > 0;
	return n;
}

static long long rto_ns(void)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	if (getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &size))
		die("TCP_INFO");
	return info.tcpi_rto * USEC;
}

/* What /proc/net/tcp shows of the client's timer. It counts in 1/100 s. */
static const char *shown(void)
{
	unsigned int to, state, kind, left;
	FILE *file = fopen("/proc/net/tcp", "r");
	static char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*d: %*x:%*x %*x:%x %x %*x:%*x %x:%x", &to, &state, &kind,
			   &left) == 4 && to == PORT) {
			snprintf(line, sizeof(line), "state %u timer %u, %u left", state, kind,
				 left);
			fclose(file);
			return line;
		}
	}
	if (file)
		fclose(file);
	return "none";
}

/*
 * Nothing that the client sends arrives. The first timer is that of a tail loss probe, the
 * next ones are retransmissions, each after twice the time of the one before.
 */
static void test_retransmission(void)
{
	long long at, late, latest = 0, rto;
	int i, early = 0;

	open_connection();
	send_bytes(1);
	carry_ms(500);
	forget();
	drop_to_server = true;
	send_bytes(1);
	printf("tcp retransmission: %s\n", shown());
	for (i = 0; i < 12; i++) {
		at = packets[nr_packets - 1].at;
		rto = rto_ns();
		carry(at + 4 * rto, nr_packets + 1);
		/* The first two intervals depend on the probe */
		if (i < 2)
			continue;
		late = packets[nr_packets - 1].at - at - rto;
		early += late < -JIFFY;
		if (i == 2)
			printf("exact tcp retransmission after %lld ms: late by %lld ns\n",
			       rto / MSEC, late);
		if (late > latest)
			latest = late;
	}
	printf("tcp retransmission: %d packets%s\n", with_data(), early ? ", EARLY" : "");
	printf("exact tcp retransmission, the latest: late by %lld ns\n", latest);
	drop_to_server = false;
	carry(now_ns(CLOCK_MONOTONIC) + 200 * NSEC_PER_SEC, nr_packets + 2);
	carry_ms(100);
	printf("tcp retransmission, wire mended: %s\n", shown());
	close_connection();
}

/*
 * The server reads nothing, and so acknowledges a byte after 40 ms, or with its next data. The
 * option TCP_QUICKACK lasts until the next ACK.
 */
static void test_delayed_ack(void)
{
	long long late, latest = 0;
	int i, good = 0;

	open_connection();
	for (i = 0; i < 5; i++) {
		carry_ms(1000);
		forget();
		option(server, IPPROTO_TCP, TCP_QUICKACK, 0);
		send_bytes(1);
		carry(packets[0].at + NSEC_PER_SEC, 2);
		late = packets[1].at - packets[0].delivered - 40 * MSEC;
		good += nr_packets == 2 && !packets[1].to_server && late >= -JIFFY &&
			late <= 2 * JIFFY;
		if (late > latest)
			latest = late;
	}
	printf("tcp delayed ACK: %d of %d\n", good, i);
	printf("exact tcp delayed ACK, the latest: late by %lld ns\n", latest);
	close_connection();
}

/*
 * At @rate, a burst of n bytes takes n / @rate. Then the next burst begins. If TCP sends a burst
 * too late, it sends the next burst earlier by the same time. So the test adds up the bytes since
 * the first paced burst began. If the sum is s, the next burst must not come earlier than
 * s / @rate after the first paced burst began. The first paced burst may itself be some
 * microseconds late. The first ten segments are not paced.
 */
static void test_pacing(int rate)
{
	long long last = 0, due = 0, late, latest = 0;
	int i, sum = 0, bursts = 0, early = 0;

	open_connection();
	option(client, SOL_SOCKET, SO_MAX_PACING_RATE, rate);
	forget();
	send_bytes(PACED_BYTES);
	carry_ms(PACED_BYTES * 1000LL / rate + 1000);
	for (i = 0; i < nr_packets; i++) {
		struct packet *p = &packets[i];

		if (!p->to_server || !p->bytes)
			continue;
		if (p->at > last + BURST && sum > PACED_BYTES / 4) {
			if (!due)
				due = p->at;
			late = p->at - due;
			early += late < -10 * USEC;
			if (late > latest)
				latest = late;
			bursts++;
		}
		if (due)
			due += p->bytes * NSEC_PER_SEC / rate;
		last = p->at;
		sum += p->bytes;
	}
	printf("tcp pacing, %d bytes/s: %d bytes in %d packets, %d bursts%s\n", rate, sum,
	       with_data(), bursts, early ? ", EARLY" : "");
	printf("exact tcp pacing, %d bytes/s, the latest: late by %lld ns\n", rate, latest);
	close_connection();
}

/*
 * After a pause TCP sends a burst at once. If this burst has n bytes, the next burst begins after
 * n / @rate / 2, because TCP makes up for the pause.
 */
static void test_pacing_after_pause(int rate)
{
	long long late, latest = 0;
	int i, j, bytes, early = 0;

	open_connection();
	option(client, SOL_SOCKET, SO_MAX_PACING_RATE, rate);
	send_bytes(PACED_BYTES / 4);
	for (i = 0; i < 5; i++) {
		carry_ms(2000);
		forget();
		send_bytes(PACED_BYTES / 20);
		carry_ms(1000);
		bytes = packets[0].bytes;
		for (j = 1; j < nr_packets; j++) {
			if (!packets[j].to_server)
				continue;
			if (packets[j].at > packets[0].at + BURST)
				break;
			bytes += packets[j].bytes;
		}
		late = j == nr_packets ? NSEC_PER_SEC :
		       packets[j].at - packets[0].at - bytes * NSEC_PER_SEC / rate / 2;
		early += late < -10 * USEC;
		if (late > latest)
			latest = late;
	}
	printf("tcp pacing after a pause: %d times, first %d bytes%s\n", i, bytes,
	       early ? ", EARLY" : "");
	printf("exact tcp pacing after a pause, the latest: late by %lld ns\n", latest);
	close_connection();
}

/*
 * Ten packets follow one that was lost. The server acknowledges three of them at once, and the
 * other seven with one ACK, 1 ms to 1.1 ms later.
 */
static void test_compressed_ack(void)
{
	long long first, late = 0;
	int i, n = 0;

	open_connection();
	/* The server sees from full segments how long a packet is on the wire */
	for (i = 0; i < 5; i++) {
		send_bytes(PACED_BYTES / 10);
		carry_ms(1000);
	}
	forget();
	option(server, IPPROTO_TCP, TCP_QUICKACK, 0);
	drop_to_server = true;
	send_bytes(PACED_BYTES / 1000);
	drop_to_server = false;
	for (i = 0; i < 10; i++)
		send_bytes(PACED_BYTES / 1000);
	first = packets[0].at + DELAY;
	carry(first + 5 * MSEC, MAX_PACKETS);
	for (i = 0; i < nr_packets; i++) {
		if (packets[i].to_server)
			continue;
		late = packets[i].at - first;
		n++;
	}
	printf("tcp compressed ACK: %d ACKs%s\n", n, late < MSEC ? ", EARLY" : "");
	printf("# tcp compressed ACK: after %lld ns\n", late);
	late -= MSEC + 100 * USEC;
	printf("exact tcp compressed ACK: late by %lld ns\n", late > 0 ? late : 0);
	carry_ms(1000);
	close_connection();
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int mss = 1000;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Sleep exactly */
	prctl(PR_SET_TIMERSLACK, 1);
	open_wire();
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 ||
	    setsockopt(listener, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)) ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1))
		die("listen");
	test_retransmission();
	test_delayed_ack();
	test_pacing(100000);
	test_pacing(300000);
	test_pacing_after_pause(100000);
	test_compressed_ack();
	return 0;
}
