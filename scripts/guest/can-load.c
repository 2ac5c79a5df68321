// SPDX-License-Identifier: GPL-2.0
/*
 * Uses each timer of the CAN broadcast manager, on the interface vcan0, in the
 * guest of convert.sh. Prints each measurement as "NAME NUMBER". Times are in
 * microseconds; "least" is the shortest of several.
 *
 * Usage: can-load send		cyclic frames: some with a short interval, then
 *				with a long one, until they are deleted
 *	  can-load watch	a timeout that expires when nothing is received
 *	  can-load throttle	a limit to how often changes are passed on
 */
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/can.h>
#include <linux/can/bcm.h>
#include <linux/can/raw.h>

#define SENT		0x100
#define WATCHED		0x200
#define THROTTLED	0x300

#define FAST_US		20000
#define SLOW_US		100000
#define FAST_FRAMES	30
#define SLOW_FRAMES	8
#define TIMEOUT_US	500000
#define TIMEOUTS	3
#define THROTTLE_US	200000
#define CHANGES		60

/* A message to the broadcast manager, or from it */
struct message {
	struct bcm_msg_head	head;
	struct can_frame	frame;
};

static long long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

static int open_socket(int type, int protocol)
{
	struct sockaddr_can addr = { .can_family = AF_CAN };
	int fd = socket(PF_CAN, type, protocol);

	addr.can_ifindex = if_nametoindex("vcan0");
	if (fd < 0 || !addr.can_ifindex)
		err(1, "vcan0");
	if (protocol == CAN_BCM ? connect(fd, (struct sockaddr *)&addr, sizeof(addr)) :
				  bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "vcan0");
	return fd;
}

/* Return: whether there is something to read within @ms */
static int wait_for(int fd, int ms)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	return poll(&poller, 1, ms) == 1;
}

static void tell(int bcm, struct message *message)
{
	size_t size = sizeof(message->head) + message->head.nframes * sizeof(message->frame);

	if (write(bcm, message, size) != (ssize_t)size)
		err(1, "write to the broadcast manager");
}

static void hear(int bcm, struct message *message, unsigned int opcode)
{
	if (!wait_for(bcm, 5000))
		errx(1, "the broadcast manager is silent");
	if (read(bcm, message, sizeof(*message)) < (ssize_t)sizeof(message->head))
		err(1, "read from the broadcast manager");
	if (message->head.opcode != opcode)
		errx(1, "opcode %u instead of %u", message->head.opcode, opcode);
}

static void put_frame(int raw, canid_t id, unsigned char data)
{
	struct can_frame frame = { .can_id = id, .can_dlc = 1, .data = { data } };

	if (write(raw, &frame, sizeof(frame)) != sizeof(frame))
		err(1, "write of a frame");
}

/* Return: when the kernel received the next frame */
static long long frame_us(int raw)
{
	char control[256];
	struct can_frame frame;
	struct iovec iov = { .iov_base = &frame, .iov_len = sizeof(frame) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	struct timespec ts;

	if (!wait_for(raw, 5000))
		errx(1, "no frame");
	if (recvmsg(raw, &msg, 0) != sizeof(frame) || frame.can_id != SENT)
		err(1, "read of a frame");
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(cmsg), sizeof(ts));
			return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
		}
	}
	errx(1, "a frame without a time");
}

static void print_gaps(const char *name, const long long *stamps, int n)
{
	long long gap, least = stamps[1] - stamps[0];
	int i;

	for (i = 2; i <= n; i++) {
		gap = stamps[i] - stamps[i - 1];
		if (gap < least)
			least = gap;
	}
	printf("%s_least %lld\n%s_all %lld\n", name, least, name, stamps[n] - stamps[0]);
}

/* The first frame is sent at once, and does not count. */
static void do_send(int bcm, int raw)
{
	struct message message = {
		.head = {
			.opcode = TX_SETUP,
			.flags = SETTIMER | STARTTIMER | TX_COUNTEVT,
			.count = FAST_FRAMES + 1,
			.ival1.tv_usec = FAST_US,
			.ival2.tv_usec = SLOW_US,
			.can_id = SENT,
			.nframes = 1,
		},
		.frame = { .can_id = SENT, .can_dlc = 1 },
	};
	long long stamps[1 + FAST_FRAMES + SLOW_FRAMES];
	int i, on = 1, extra = 0;

	if (setsockopt(raw, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		err(1, "SO_TIMESTAMPNS");
	/* A worker switches the time stamps on */
	usleep(200000);

	tell(bcm, &message);
	for (i = 0; i <= FAST_FRAMES + SLOW_FRAMES; i++)
		stamps[i] = frame_us(raw);
	message.head.opcode = TX_DELETE;
	message.head.flags = 0;
	message.head.nframes = 0;
	tell(bcm, &message);
	print_gaps("fast", stamps, FAST_FRAMES);
	print_gaps("slow", stamps + FAST_FRAMES, SLOW_FRAMES);

	/* The manager may have sent one just before */
	usleep(20000);
	while (wait_for(raw, 0))
		frame_us(raw);
	while (wait_for(raw, 3 * SLOW_US / 1000)) {
		frame_us(raw);
		extra++;
	}
	printf("after_delete %d\n", extra);
	hear(bcm, &message, TX_EXPIRED);
	printf("expired %d\n", !wait_for(bcm, 0));
}

static void do_watch(int bcm, int raw)
{
	struct message message = {
		.head = {
			.opcode = RX_SETUP,
			.flags = SETTIMER | STARTTIMER | RX_FILTER_ID,
			.ival1.tv_usec = TIMEOUT_US,
			.can_id = WATCHED,
		},
	};
	long long start = now_us(), least = 0;
	int i, j;

	tell(bcm, &message);
	hear(bcm, &message, RX_TIMEOUT);
	printf("timeout_first %lld\n", now_us() - start);

	/* Each frame re-arms the timeout */
	for (i = 0; i < TIMEOUTS; i++) {
		for (j = 0; j < 5; j++) {
			start = now_us();
			put_frame(raw, WATCHED, j);
			hear(bcm, &message, RX_CHANGED);
			usleep(TIMEOUT_US / 10);
		}
		hear(bcm, &message, RX_TIMEOUT);
		start = now_us() - start;
		if (!least || start < least)
			least = start;
	}
	printf("timeout_least %lld\n", least);
	printf("timeout_only %d\n", !wait_for(bcm, 2 * TIMEOUT_US / 1000));
}

/*
 * Changes come much more often than the manager may report them. Message n is
 * due n periods after the first. The last message must have the last change.
 */
static void do_throttle(int bcm, int raw)
{
	struct message message = {
		.head = {
			.opcode = RX_SETUP,
			.flags = SETTIMER,
			.ival2.tv_usec = THROTTLE_US,
			.can_id = THROTTLED,
			.nframes = 1,
		},
		.frame = { .can_dlc = 1, .data = { 0xff } },
	};
	long long start, least = 0, each;
	int i, n = 0;

	tell(bcm, &message);
	start = now_us();
	for (i = 1; i <= CHANGES || wait_for(bcm, 2 * THROTTLE_US / 1000); i++) {
		if (i <= CHANGES) {
			put_frame(raw, THROTTLED, i);
			usleep(FAST_US);
		}
		while (wait_for(bcm, 0)) {
			hear(bcm, &message, RX_CHANGED);
			if (!n++)
				continue;
			each = (now_us() - start) / (n - 1);
			if (!least || each < least)
				least = each;
		}
	}
	printf("throttle_least %lld\n", least);
	printf("throttle_messages %d\n", n);
	printf("throttle_last %d\n", message.frame.data[0]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int bcm = open_socket(SOCK_DGRAM, CAN_BCM);
	int raw = open_socket(SOCK_RAW, CAN_RAW);

	if (!strcmp(what, "send"))
		do_send(bcm, raw);
	else if (!strcmp(what, "watch"))
		do_watch(bcm, raw);
	else if (!strcmp(what, "throttle"))
		do_throttle(bcm, raw);
	else
		errx(1, "usage: can-load send|watch|throttle");
	return 0;
}
