// SPDX-License-Identifier: GPL-2.0
/*
 * pacing-load - sends UDP packets over the loopback device, measures arrivals
 *
 * Usage: pacing-load greedy|paced|timed|timed-tai SECONDS BYTES RATE FLOWS
 *	  pacing-load hold: keeps time stamps switched on until it is killed
 *
 * Some time after the first socket asks for time stamps, the kernel switches them
 * on. Until then it returns the time at which a packet was read instead.
 *
 * FLOWS sockets send packets of BYTES in turn (BYTES as a qdisc of the loopback
 * device counts them). One socket receives all packets, and takes the kernel's
 * time stamp of each packet. The sockets send
 *
 *	greedy	as fast as the sockets take them: a qdisc that delays packets
 *		fills their send buffers, and then the sender sleeps. The buffers
 *		hold QUEUE_NS of packets at RATE bits per second, so that the
 *		qdisc has packets to send even if the sender's CPU is busy
 *	paced	at RATE
 *	timed	at RATE, but LEAD_NS early, each packet with its departure time
 *		(SO_TXTIME)
 *	timed-tai the same, with times of CLOCK_TAI
 *
 * Prints one line of names and values:
 *
 *	sent, received, lost	packets
 *	reordered	packets that arrived after a packet of their flow that was
 *			sent later. The time stamps decide, not the order of reading:
 *			several CPUs may serve a receiver
 *	early		packets that arrived before their departure time
 *	rate		bits per second, by the time stamps of all packets
 *	mean sd p50 p99	gaps between packets, in ns
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <linux/types.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS		1000000000LL
#define PORT		7000
#define HEADERS		(14 + 20 + 8)	/* of Ethernet, IP and UDP */
#define QUEUE_NS	(1500 * 1000000LL)
#define LEAD_NS		(20 * 1000000LL)
#define QUIET_S		2		/* how long to wait for packets when all have been sent */
#define MAX_FLOWS	1024
#define MAX_BYTES	9000

struct packet {
	__u64 number;
	__s64 when;		/* not before, in ns of the clock of departures; or 0 */
	__u32 flow;
};

static double seconds, rate;
static int bytes, flows;
static bool paced, timed;
static clockid_t departures = CLOCK_MONOTONIC;
static int sockets[MAX_FLOWS];
static __u64 sent;
static atomic_bool all_sent;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static __s64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

static void sleep_until(__s64 ns)
{
	struct timespec t = { .tv_sec = ns / NS, .tv_nsec = ns % NS };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void set_option(int s, int level, int name, const void *value, socklen_t size)
{
	if (setsockopt(s, level, name, value, size))
		die("setsockopt");
}

static int make_socket(const struct sockaddr_in *address)
{
	const struct sock_txtime txtime = { .clockid = departures };
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	/* The kernel doubles it, and counts some overhead for each packet */
	int size = rate * QUEUE_NS / NS / bytes / 8 / flows * (bytes + 1024) / 2;

	if (s < 0)
		die("socket");
	set_option(s, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	if (timed)
		set_option(s, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime));
	if (connect(s, (const struct sockaddr *)address, sizeof(*address)))
		die("connect");
	return s;
}

static void send_packet(const struct packet *packet)
{
	static char data[MAX_BYTES];
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(packet->when))];
	} control = {};
	struct iovec iov = { .iov_base = data, .iov_len = bytes - HEADERS };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

	memcpy(data, packet, sizeof(*packet));
	if (timed) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_TXTIME;
		control.header.cmsg_len = CMSG_LEN(sizeof(packet->when));
		memcpy(CMSG_DATA(&control.header), &packet->when, sizeof(packet->when));
	}
	/* What the network refuses counts as lost */
	if (sendmsg(sockets[packet->flow], &message, 0) < 0 && errno != ENOBUFS)
		die("sendmsg");
}

static void *sender(void *unused)
{
	__s64 start = clock_ns(CLOCK_MONOTONIC) + LEAD_NS;
	__s64 ahead = clock_ns(departures) - clock_ns(CLOCK_MONOTONIC);
	__s64 end = start + (__s64)(seconds * NS);
	double interval = bytes * 8. * NS / rate;

	for (;;) {
		__s64 due = start + (__s64)(sent * interval);
		struct packet packet = { .number = sent, .flow = sent % flows };

		if ((paced || timed ? due : clock_ns(CLOCK_MONOTONIC)) >= end)
			break;
		if (timed)
			packet.when = due + ahead;
		if (paced || timed)
			sleep_until(due - (timed ? LEAD_NS : 0));
		send_packet(&packet);
		sent++;
	}
	atomic_store(&all_sent, true);
	return unused;
}

static int compare(const void *a, const void *b)
{
	__s64 x = *(const __s64 *)a, y = *(const __s64 *)b;

	return (x > y) - (x < y);
}

/* Returns the time stamp of the next packet, or 0 at the end. */
static __s64 receive(int s, struct packet *packet)
{
	static char data[MAX_BYTES];
	char control[CMSG_SPACE(sizeof(struct timespec))];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct cmsghdr *header;
	struct timespec t;

	for (;;) {
		struct msghdr message = {
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};

		if (recvmsg(s, &message, 0) < 0) {
			if (errno != EAGAIN && errno != EINTR)
				die("recvmsg");
			if (atomic_load(&all_sent))
				return 0;
			continue;
		}
		header = CMSG_FIRSTHDR(&message);
		if (!header || header->cmsg_type != SCM_TIMESTAMPNS) {
			fputs("no time stamp\n", stderr);
			exit(1);
		}
		memcpy(&t, CMSG_DATA(header), sizeof(t));
		memcpy(packet, data, sizeof(*packet));
		return t.tv_sec * NS + t.tv_nsec;
	}
}

/*
 * Packets per ns: the slope of the line through all stamps, by least squares. If the host holds
 * the guest up for a moment at the first or the last packet, the slope hardly changes.
 */
static double slope(const __s64 *stamps, __u64 n)
{
	double t, mean = 0, product = 0, square = 0;
	__u64 i;

	for (i = 0; i < n; i++)
		mean += (double)(stamps[i] - stamps[0]) / n;
	for (i = 0; i < n; i++) {
		t = stamps[i] - stamps[0] - mean;
		product += t * (i - (n - 1) / 2.);
		square += t * t;
	}
	return product / square;
}

static void report(__s64 *stamps, __u64 received, __u64 reordered, __u64 early)
{
	__u64 i, n = received - 1;
	double mean, rate, sd = 0;

	if (received < 2) {
		fprintf(stderr, "%llu packets sent, %llu received\n", sent, received);
		exit(1);
	}
	qsort(stamps, received, sizeof(*stamps), compare);
	rate = slope(stamps, received) * bytes * 8 * NS;
	mean = (double)(stamps[n] - stamps[0]) / n;
	for (i = 0; i < n; i++) {
		stamps[i] = stamps[i + 1] - stamps[i];
		sd += (stamps[i] - mean) * (stamps[i] - mean);
	}
	sd = sqrt(sd / n);
	qsort(stamps, n, sizeof(*stamps), compare);

	printf("sent %llu received %llu lost %llu reordered %llu early %llu ",
	       sent, received, sent - received, reordered, early);
	printf("rate %.0f mean %.0f sd %.0f p50 %lld p99 %lld\n",
	       rate, mean, sd, stamps[n / 2], stamps[n * 99 / 100]);
}

int main(int argc, char **argv)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const struct timeval quiet = { .tv_sec = QUIET_S };
	const struct rlimit files = { MAX_FLOWS + 64, MAX_FLOWS + 64 };
	const int on = 1, buffer = 64 << 20;
	__u64 received = 0, room = 0, reordered = 0, early = 0;
	struct { __u64 number; __s64 stamp; } last[MAX_FLOWS] = {}, *flow;
	__s64 *stamps = NULL, stamp, ahead;
	struct packet packet;
	pthread_t thread;
	int s, i;

	if (argc == 2 && !strcmp(argv[1], "hold")) {
		set_option(socket(AF_INET, SOCK_DGRAM, 0), SOL_SOCKET, SO_TIMESTAMPNS,
			   &on, sizeof(on));
		pause();
	}
	if (argc != 6) {
		fprintf(stderr,
			"usage: %s greedy|paced|timed|timed-tai SECONDS BYTES RATE FLOWS\n",
			*argv);
		return 2;
	}
	paced = !strcmp(argv[1], "paced");
	timed = !strncmp(argv[1], "timed", 5);
	if (!strcmp(argv[1], "timed-tai"))
		departures = CLOCK_TAI;
	seconds = atof(argv[2]);
	bytes = atoi(argv[3]);
	rate = atof(argv[4]);
	flows = atoi(argv[5]);
	if (flows < 1 || flows > MAX_FLOWS || bytes > MAX_BYTES ||
	    bytes < HEADERS + (int)sizeof(packet) || rate <= 0) {
		fprintf(stderr, "%s: out of range\n", *argv);
		return 2;
	}

	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (s < 0)
		die("socket");
	set_option(s, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer));
	set_option(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	set_option(s, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof(quiet));
	if (bind(s, (const struct sockaddr *)&address, sizeof(address)))
		die("bind");
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
	for (i = 0; i < flows; i++)
		sockets[i] = make_socket(&address);

	/* Time stamps are of another clock than departure times */
	ahead = clock_ns(CLOCK_REALTIME) - clock_ns(departures);
	if (pthread_create(&thread, NULL, sender, NULL))
		die("pthread_create");

	while ((stamp = receive(s, &packet))) {
		if (received == room) {
			room = room * 2 + 65536;
			stamps = realloc(stamps, room * sizeof(*stamps));
			if (!stamps)
				die("realloc");
		}
		stamps[received++] = stamp;
		early += packet.when && stamp < packet.when + ahead;
		flow = &last[packet.flow];
		if (packet.number < flow->number) {
			reordered += stamp > flow->stamp;
		} else {
			reordered += stamp < flow->stamp;
			flow->number = packet.number;
			flow->stamp = stamp;
		}
	}
	pthread_join(thread, NULL);
	report(stamps, received, reordered, early);
	return 0;
}
