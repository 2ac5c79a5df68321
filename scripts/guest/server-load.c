// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what a server pays for idle timeouts with io_uring. Each of PENDING connections waits
 * in a RECV with a linked timeout of one to two minutes. A batch of connections, chosen at random,
 * gets a byte each. So 256 RECVs end, their timeouts are cancelled, and the server submits new
 * ones. In turns with this, 256 other connections do the same without a linked timeout. This
 * shows what the rest of a request costs.
 *
 * Prints, for each PENDING and for both kinds, a line of the least and of the median of ROUNDS
 * rounds in nanoseconds per request:
 *	server: pending N timeout 0|1 min_ns N median_ns N
 *
 * Usage: server-load ROUNDS PENDING...	each PENDING must be greater than the one before, and
 *	ROUNDS rounds must take less than a minute
 */
#include <sys/resource.h>
#include <sys/socket.h>

#include "uring.h"

#define BATCH		256
#define BATCHES		4	/* in a round: so short that the host preempts few rounds */
#define MINUTE		60

/* user_data is the number of a connection, shifted left by 1, and one of these */
enum { RECV, TIMEOUT };

struct connection {
	int client, server;
	char byte;
};

/* The first BATCH connections have no timeout. */
static struct connection *connections;
static struct ring ring;

static void open_connection(int i)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		die("socketpair");
	connections[i].client = fd[0];
	connections[i].server = fd[1];
}

/* Submit a RECV for each of @n connections. */
static void receive(const int *chosen, int n)
{
	static struct __kernel_timespec ts[BATCH];
	int i;

	for (i = 0; i < n; i++) {
		struct connection *c = &connections[chosen[i]];
		struct io_uring_sqe *sqe =
			ring_entry(&ring, IORING_OP_RECV, (unsigned long long)chosen[i] << 1);

		sqe->fd = c->server;
		sqe->addr = (unsigned long)&c->byte;
		sqe->len = 1;
		if (chosen[i] < BATCH)
			continue;
		sqe->flags = IOSQE_IO_LINK;
		ts[i].tv_sec = MINUTE + random64() % MINUTE;
		ts[i].tv_nsec = random64() % NSEC_PER_SEC;
		entry_timeout(&ring, IORING_OP_LINK_TIMEOUT, &ts[i],
			      (unsigned long long)chosen[i] << 1 | TIMEOUT, 0);
	}
	ring_submit(&ring, 0);
}

/* Each of BATCH connections gets a byte. Then their RECVs are submitted again. */
static void serve(const int *chosen)
{
	int i, wanted = chosen[0] < BATCH ? BATCH : 2 * BATCH, received = 0;
	struct io_uring_cqe *cqe;

	for (i = 0; i < BATCH; i++)
		if (write(connections[chosen[i]].client, "", 1) != 1)
			die("write");
	ring_submit(&ring, wanted);
	for (i = 0; i < wanted && (cqe = ring_completion(&ring)); i++) {
		int kind = cqe->user_data & 1;

		if (cqe->res != (kind == RECV ? 1 : -ECANCELED)) {
			fprintf(stderr, "connection %llu, kind %d: %d\n", cqe->user_data >> 1,
				kind, cqe->res);
			exit(1);
		}
		received += kind == RECV;
		ring_seen(&ring);
	}
	if (received != BATCH || i != wanted) {
		fprintf(stderr, "%d bytes, %d of %d completions\n", received, i, wanted);
		exit(1);
	}
	receive(chosen, BATCH);
}

static double round_ns(int timeout, long long pending)
{
	static int chosen[BATCHES][BATCH];
	long long begin, step = timeout ? pending / BATCH : 1;
	int i, j;

	/* One of each group of neighbours, so that no connection is chosen twice */
	for (i = 0; i < BATCHES; i++)
		for (j = 0; j < BATCH; j++)
			chosen[i][j] = (timeout ? BATCH : 0) + j * step + random64() % step;
	begin = now_ns(CLOCK_MONOTONIC);
	for (i = 0; i < BATCHES; i++)
		serve(chosen[i]);
	return (double)(now_ns(CLOCK_MONOTONIC) - begin) / (BATCHES * BATCH);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, i, timeout, number = 0;
	long long most = argc > 2 ? atoll(argv[argc - 1]) + BATCH : 0, wanted;
	struct rlimit files = { 2 * most + 64, 2 * most + 64 };
	double *ns = calloc(2 * rounds, sizeof(*ns));

	connections = calloc(most, sizeof(*connections));
	if (rounds < 1 || !ns || !connections) {
		fprintf(stderr, "usage: server-load ROUNDS PENDING...\n");
		return 1;
	}
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
	ring_open(&ring, 2 * BATCH, 4 * BATCH);
	for (argv += 2; *argv; argv++) {
		for (wanted = atoll(*argv) + BATCH; number < wanted; number++) {
			open_connection(number);
			receive(&number, 1);
		}
		/* The first round of each kind warms up */
		for (i = -1; i < rounds; i++)
			for (timeout = 0; timeout < 2; timeout++)
				ns[timeout * rounds + (i < 0 ? 0 : i)] =
					round_ns(timeout, wanted - BATCH);
		for (timeout = 0; timeout < 2; timeout++) {
			printf("server: pending %lld timeout %d", wanted - BATCH, timeout);
			print_ns(ns + timeout * rounds, rounds);
		}
	}
	return 0;
}
