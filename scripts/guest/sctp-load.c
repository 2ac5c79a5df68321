// SPDX-License-Identifier: GPL-2.0
/*
 * SCTP associations between the network namespaces "c" (10.1.0.1) and "s"
 * (10.1.0.2), in the guest of convert.sh. Prints each measurement as
 * "NAME NUMBER".
 *
 * Usage: sctp-load echo N		sends N messages, which must arrive in order;
 *					counts how often T3-rtx has expired
 *	  sctp-load idle SECONDS	the time until the server closes an association
 *					that is idle for SECONDS
 *	  sctp-load beat SECONDS	heartbeats sent while an association is idle
 *	  sctp-load dead COMMAND	runs COMMAND, which cuts the link; the time until
 *					an association with data to send ends
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/sctp.h>

#define PORT	5000

static int client, server;

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void enter(const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
}

/* A counter of the namespace "c" */
static long counter_of(const char *wanted)
{
	char name[64];
	long value, found = -1;
	FILE *file = fopen("/proc/thread-self/net/sctp/snmp", "r");

	if (!file)
		err(1, "/proc/thread-self/net/sctp/snmp");
	while (fscanf(file, "%63s %ld", name, &value) == 2) {
		if (!strcmp(name, wanted))
			found = value;
	}
	fclose(file);
	if (found < 0)
		errx(1, "there is no %s", wanted);
	return found;
}

/* Waits until something can be read, or the association is gone */
static void wait_for(int fd, int seconds)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	if (poll(&poller, 1, seconds * 1000) != 1)
		errx(1, "nothing came within %d s", seconds);
}

static void put(long n)
{
	if (send(client, &n, sizeof(n), 0) != sizeof(n))
		err(1, "send");
}

static void take(long wanted)
{
	long n = -1;

	wait_for(server, 60);
	if (recv(server, &n, sizeof(n), 0) != sizeof(n) || n != wanted)
		errx(1, "got message %ld, not %ld", n, wanted);
}

static void set_up(int autoclose)
{
	struct sockaddr_in address = {
		.sin_family	= AF_INET,
		.sin_port	= htons(PORT),
		.sin_addr	= { inet_addr("10.1.0.2") },
	};
	int tries;

	enter("s");
	server = socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
	if (server < 0 ||
	    setsockopt(server, IPPROTO_SCTP, SCTP_AUTOCLOSE, &autoclose, sizeof(autoclose)))
		err(1, "server");
	/* The last server's port is free again when its association has ended. */
	for (tries = 0; bind(server, (struct sockaddr *)&address, sizeof(address)); tries++) {
		if (errno != EADDRINUSE || tries == 200)
			err(1, "server");
		usleep(50000);
	}
	if (listen(server, 1))
		err(1, "server");

	enter("c");
	client = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	if (client < 0 || connect(client, (struct sockaddr *)&address, sizeof(address)))
		err(1, "client");
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";
	long i, n = argc == 3 ? atol(argv[2]) : 0, start;
	char byte;

	set_up(strcmp(what, "idle") ? 0 : n);
	if (!strcmp(what, "echo")) {
		start = counter_of("SctpT3RtxExpireds");
		for (i = 0; i < n; i++) {
			put(i);
			/* A few messages are on the way at a time */
			if (i >= 4)
				take(i - 4);
		}
		for (i = n - 4; i < n; i++)
			take(i);
		printf("echo_expired %ld\n", counter_of("SctpT3RtxExpireds") - start);
	} else if (!strcmp(what, "idle")) {
		put(0);
		take(0);
		start = now_ms();
		wait_for(client, 60);
		if (recv(client, &byte, 1, 0))
			errx(1, "the association did not end");
		printf("idle_ms %ld\n", now_ms() - start);
	} else if (!strcmp(what, "beat")) {
		/* Let the SACK of the handshake pass */
		sleep(1);
		start = counter_of("SctpOutCtrlChunks");
		sleep(n);
		printf("beat_chunks %ld\n", counter_of("SctpOutCtrlChunks") - start);
	} else if (!strcmp(what, "dead")) {
		put(0);
		take(0);
		/* Let the SACK of this message pass, too */
		sleep(1);
		if (system(argv[2]))
			errx(1, "%s", argv[2]);
		start = now_ms();
		put(1);
		wait_for(client, 60);
		if (recv(client, &byte, 1, 0) >= 0)
			errx(1, "the association did not break");
		printf("dead_ms %ld\n", now_ms() - start);
	} else {
		errx(2, "usage: sctp-load echo|idle|beat|dead ARGUMENT");
	}
	return 0;
}
