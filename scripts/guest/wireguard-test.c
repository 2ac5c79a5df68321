// SPDX-License-Identifier: GPL-2.0
/*
 * Tests WireGuard's timers, in simulated time, where the clock stands still while the CPU is
 * busy. guest/wireguard.sh has made two devices: wg0 here, at UDP port 1001, and wg1 in another
 * network namespace, at UDP port 1002. A raw socket sees the encrypted packets of both. Prints
 * what each test has seen, and how late the timers were. Lines that begin with "exact" may
 * differ between kernels. All others must be the same:
 *	wireguard NAME: RESULTS
 *	exact wireguard NAME: late by N ns
 *
 * Usage: wireguard-test PID KEY: a process of the other namespace, and wg1's public key
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "guest.h"

#define PORT		1000
/* How early a timer of jiffies may seem to be: the present jiffy began up to 10 ms ago */
#define JIFFY		(10 * MSEC)

/* Types of messages. An empty data message is a keepalive. */
enum { INITIATION = 1, RESPONSE, COOKIE, DATA, KEEPALIVE };

struct message {
	int device;		/* the sender: 0 or 1 */
	int type;
	long long at;
};

static const char *pid, *key;
static int wire, here, there;

static void run(const char *format, ...)
{
	char command[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command)) {
		printf("wireguard: FAILED: %s\n", command);
		exit(1);
	}
}

static int udp_socket(const char *from, const char *to)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	address.sin_addr.s_addr = inet_addr(from);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("bind");
	address.sin_addr.s_addr = inet_addr(to);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	return fd;
}

static void open_sockets(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY), other;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%s/ns/net", pid);
	other = open(name, O_RDONLY);
	wire = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	if (home < 0 || other < 0 || wire < 0)
		die("wire");
	here = udp_socket("10.1.0.1", "10.1.0.2");
	if (setns(other, CLONE_NEWNET))
		die("setns");
	there = udp_socket("10.1.0.2", "10.1.0.1");
	if (setns(home, CLONE_NEWNET))
		die("setns");
}

/* The next message on the wire, within @seconds. Its type is 0 if there was none. */
static struct message next(int seconds)
{
	long long end = now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC, left;
	struct { struct iphdr ip; struct udphdr udp; unsigned char data[2000]; } p;
	struct message m = {};

	while ((left = end - now_ns(CLOCK_MONOTONIC)) > 0) {
		struct timeval wait = { .tv_sec = left / NSEC_PER_SEC,
					.tv_usec = left % NSEC_PER_SEC / USEC };

		if (left < USEC)
			wait.tv_usec = 1;
		if (setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
			die("SO_RCVTIMEO");
		if (recv(wire, &p, sizeof(p), 0) <= 0 || ntohs(p.udp.source) < PORT + 1 ||
		    ntohs(p.udp.source) > PORT + 2)
			continue;
		m.at = now_ns(CLOCK_MONOTONIC);
		m.device = ntohs(p.udp.source) - PORT - 1;
		m.type = p.data[0];
		if (m.type == DATA && ntohs(p.udp.len) == sizeof(p.udp) + 32)
			m.type = KEEPALIVE;
		return m;
	}
	return m;
}

static void send_byte(int fd)
{
	if (send(fd, "", 1, 0) != 1)
		die("send");
}

static bool received(int fd)
{
	struct timeval wait = { .tv_sec = 1 };
	char byte;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		die("SO_RCVTIMEO");
	return recv(fd, &byte, 1, 0) == 1;
}

/* A message is expected @wanted seconds after @begin. Returns when it came. */
static long long expect(const char *name, long long begin, int wanted, int device, int type)
{
	struct message m = next(2 * wanted);
	long long late = m.at - begin - wanted * NSEC_PER_SEC;

	if (m.type != type || m.device != device)
		printf("wireguard %s: wg%d sent %d INSTEAD of %d\n", name, m.device, m.type, type);
	else
		printf("exact wireguard %s: late by %lld ns\n", name, late);
	if (late < -JIFFY)
		printf("wireguard %s: EARLY\n", name);
	return m.at;
}

/* Both devices forget their keys. wg0 sends a byte, so they shake hands. Returns that time. */
static long long new_session(const char *name)
{
	static const char *const types[] = { "nothing", "initiation", "response", "cookie",
					     "data", "keepalive" };
	long long begin;
	int i;

	run("ip link set wg0 down && nsenter -t %s -n ip link set wg1 down", pid);
	sleep(30);
	run("ip link set wg0 up && nsenter -t %s -n ip link set wg1 up", pid);
	while (next(1).type)
		;
	begin = now_ns(CLOCK_MONOTONIC);
	send_byte(here);
	printf("wireguard %s:", name);
	for (i = 0; i < 3; i++) {
		struct message m = next(1);

		printf(" wg%d %s,", m.device, types[m.type]);
	}
	printf(" %s\n", received(there) ? "received" : "NOT received");
	/* wg1 has received something, and has nothing to send */
	expect(name, begin, 10, 1, KEEPALIVE);
	return begin;
}

/* wg1 sends a keepalive 10 s after the first byte, but not if it has sent data meanwhile */
static void test_passive(void)
{
	long long at;

	new_session("keepalive");
	at = now_ns(CLOCK_MONOTONIC);
	send_byte(here);
	next(1);
	sleep_until(at + 5 * NSEC_PER_SEC);
	send_byte(here);
	next(1);
	expect("keepalive after two bytes", at, 10, 1, KEEPALIVE);
	send_byte(here);
	next(1);
	send_byte(there);
	next(1);
	expect("keepalive after an answer", now_ns(CLOCK_MONOTONIC), 10, 0, KEEPALIVE);
	printf("wireguard keepalive: then %s\n", next(60).type ? "A MESSAGE" : "quiet");
}

static void test_persistent(int seconds)
{
	long long at;
	char name[64];
	int i;

	new_session("persistent");
	at = now_ns(CLOCK_MONOTONIC);
	run("./wg set wg0 peer %s persistent-keepalive %d", key, seconds);
	printf("wireguard persistent: %s\n", next(1).type == KEEPALIVE ? "begun" : "NOT BEGUN");
	for (i = 1; i <= 3; i++) {
		sprintf(name, "persistent keepalive %d", i);
		at = expect(name, at, seconds, 0, KEEPALIVE);
	}
	/* A byte puts off the next keepalive */
	at += seconds / 2 * NSEC_PER_SEC;
	sleep_until(at);
	send_byte(here);
	next(1);
	at = expect("answer to a byte", at, 10, 1, KEEPALIVE);
	/* A message that wg0 receives puts off its keepalive, too */
	expect("persistent keepalive, put off", at, seconds, 0, KEEPALIVE);
	run("./wg set wg0 peer %s persistent-keepalive 0", key);
	printf("wireguard persistent: then %s\n", next(60).type ? "A MESSAGE" : "quiet");
}

/* Waits until the kernel has logged that wg0 has forgotten its keys. Returns that time. */
static long long forgotten(int log)
{
	char line[1024];
	ssize_t n;

	for (;;) {
		n = read(log, line, sizeof(line) - 1);
		if (n < 0) {
			if (errno != EAGAIN && errno != EPIPE)
				die("/dev/kmsg");
			usleep(1000);
			continue;
		}
		line[n] = 0;
		if (strstr(line, "wg0: Zeroing out all keys"))
			return now_ns(CLOCK_MONOTONIC);
	}
}

/*
 * wg1 is silent. wg0 sends an initiation 15 s after the byte, and again each 5 s, until it gives
 * up. It adds up to a third of a second to each time. It forgets its keys 540 s after it got them.
 */
static void test_silent(void)
{
	long long at, begin, late, latest = 0, wanted = 15 * NSEC_PER_SEC;
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK), n = 0;
	struct message m;

	if (log < 0)
		die("/dev/kmsg");
	begin = new_session("silent peer");
	lseek(log, 0, SEEK_END);
	run("nsenter -t %s -n ip link set wg1 down", pid);
	at = now_ns(CLOCK_MONOTONIC);
	send_byte(here);
	next(1);
	while ((m = next(120)).type) {
		if (m.type != INITIATION || m.device || m.at - at < wanted - JIFFY)
			printf("wireguard silent peer: wg%d sent %d EARLY\n", m.device, m.type);
		late = m.at - at - wanted - NSEC_PER_SEC / 3;
		if (late > latest)
			latest = late;
		at = m.at;
		wanted = 5 * NSEC_PER_SEC;
		n++;
	}
	printf("wireguard silent peer: %d initiations\n", n);
	printf("exact wireguard initiations: late by %lld ns\n", latest);
	late = forgotten(log) - begin - 540 * NSEC_PER_SEC;
	printf("wireguard silent peer: keys %s\n", late < -JIFFY ? "forgotten EARLY" : "forgotten");
	printf("exact wireguard keys: late by %lld ns\n", late);
	close(log);
}

/* All timers are armed when the peer is removed. */
static void test_removed(void)
{
	new_session("removed peer");
	run("./wg set wg0 peer %s persistent-keepalive 25", key);
	send_byte(here);
	run("./wg set wg0 peer %s remove", key);
	while (next(20).type)
		;
	printf("wireguard removed peer: then %s\n", next(1200).type ? "A MESSAGE" : "quiet");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	pid = argv[1];
	key = argv[2];
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_sockets();
	test_passive();
	test_persistent(20);
	test_silent();
	test_removed();
	return 0;
}
