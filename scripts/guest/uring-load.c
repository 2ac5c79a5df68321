// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of an io_uring request with a linked timeout, as in a server: the
 * request is a poll of an eventfd, the timeout is one to two hours, and the request is
 * cancelled. Requests come in batches of 256. Meanwhile PENDING other such pairs of a poll and
 * a linked timeout are pending. In turns with this, measures requests without a linked
 * timeout. This shows what the rest of a request costs.
 *
 * Prints, for each PENDING and for both kinds, a line of the least and of the median of ROUNDS
 * rounds in nanoseconds per request:
 *	uring: pending N timeout 0|1 min_ns N median_ns N
 *
 * Usage: uring-load ROUNDS PENDING...	each PENDING must be greater than the one before
 */
#include <sys/eventfd.h>

#include "uring.h"

#define BATCH		256
#define BATCHES		4	/* in a round: so short that the host preempts few rounds */
#define HOUR		3600

/* user_data is a request's number, shifted left by 2, and one of these in the low bits */
enum { POLL, TIMEOUT, CANCEL };

static unsigned long long numbers = 1;
static struct ring ring;
static int event;

/* Submit @n polls, with or without linked timeouts. Returns the number of the first one. */
static unsigned long long submit(int n, int timeout)
{
	static struct __kernel_timespec ts[BATCH];
	unsigned long long first = numbers;
	int i;

	for (i = 0; i < n; i++, numbers++) {
		entry_poll(&ring, event, numbers << 2 | POLL, timeout ? IOSQE_IO_LINK : 0);
		if (!timeout)
			continue;
		ts[i].tv_sec = HOUR + random64() % HOUR;
		ts[i].tv_nsec = random64() % NSEC_PER_SEC;
		entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts[i], numbers << 2 | TIMEOUT, 0);
	}
	ring_submit(&ring, 0);
	return first;
}

/* Cancel the @n polls from @first on, and take all completions. */
static void cancel(int n, int timeout, unsigned long long first)
{
	int i, wanted = timeout ? 3 * n : 2 * n, got[3] = {};
	struct io_uring_cqe *cqe;

	for (i = 0; i < n; i++)
		entry_cancel(&ring, IORING_OP_ASYNC_CANCEL, (first + i) << 2 | POLL,
			     (first + i) << 2 | CANCEL);
	ring_submit(&ring, wanted);
	for (i = 0; i < wanted && (cqe = ring_completion(&ring)); i++) {
		int kind = cqe->user_data & 3;

		if (cqe->user_data >> 2 < first || cqe->user_data >> 2 >= first + n ||
		    cqe->res != (kind == CANCEL ? 0 : -ECANCELED)) {
			fprintf(stderr, "completion of %llu, kind %d: %d\n",
				cqe->user_data >> 2, kind, cqe->res);
			exit(1);
		}
		got[kind]++;
		ring_seen(&ring);
	}
	if (got[POLL] != n || got[CANCEL] != n || got[TIMEOUT] != (timeout ? n : 0) ||
	    ring_completion(&ring)) {
		fprintf(stderr, "completions of %d: %d polls, %d timeouts, %d cancels\n",
			n, got[POLL], got[TIMEOUT], got[CANCEL]);
		exit(1);
	}
}

static double round_ns(int timeout)
{
	long long begin = now_ns(CLOCK_MONOTONIC);
	int i;

	for (i = 0; i < BATCHES; i++)
		cancel(BATCH, timeout, submit(BATCH, timeout));
	return (double)(now_ns(CLOCK_MONOTONIC) - begin) / (BATCHES * BATCH);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, i, timeout;
	double *ns = calloc(2 * rounds, sizeof(*ns));
	long long pending = 0, wanted;

	if (rounds < 1 || !ns) {
		fprintf(stderr, "usage: uring-load ROUNDS PENDING...\n");
		return 1;
	}
	event = eventfd(0, 0);
	if (event < 0)
		die("eventfd");
	ring_open(&ring, 2 * BATCH, 4 * BATCH);
	for (argv += 2; *argv; argv++) {
		for (wanted = atoll(*argv); pending < wanted; ) {
			int n = wanted - pending < BATCH ? wanted - pending : BATCH;

			submit(n, 1);
			pending += n;
		}
		/* The first round of each kind warms up */
		for (i = -1; i < rounds; i++)
			for (timeout = 0; timeout < 2; timeout++)
				ns[timeout * rounds + (i < 0 ? 0 : i)] = round_ns(timeout);
		for (timeout = 0; timeout < 2; timeout++) {
			printf("uring: pending %lld timeout %d", pending, timeout);
			print_ns(ns + timeout * rounds, rounds);
		}
	}
	return 0;
}
