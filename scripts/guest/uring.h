/* SPDX-License-Identifier: GPL-2.0 */
/*
 * server-load.c, uring-load.c and uring-test.c share this: a ring on io_uring's system calls
 */
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "guest.h"

/* Debian 12's header is older */
#ifndef IORING_TIMEOUT_MULTISHOT
#define IORING_TIMEOUT_MULTISHOT	0x40
#endif

struct ring {
	int			fd;
	unsigned int		*sq_tail, sq_mask, *sq_array;
	unsigned int		*cq_head, *cq_tail, cq_mask;
	struct io_uring_sqe	*sqes;
	struct io_uring_cqe	*cqes;
	unsigned int		queued;		/* entries not yet submitted */
};

/*
 * Open a ring: a queue of @entries to submit, and a queue of @completions. One mapping has both
 * queues.
 */
static void ring_open(struct ring *ring, unsigned int entries, unsigned int completions)
{
	struct io_uring_params p = { .flags = IORING_SETUP_CQSIZE, .cq_entries = completions };
	unsigned int i;
	size_t size;
	char *map;

	ring->fd = syscall(SYS_io_uring_setup, entries, &p);
	if (ring->fd < 0)
		die("io_uring_setup");
	size = p.sq_off.array + p.sq_entries * sizeof(unsigned int);
	if (size < p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe))
		size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
		   IORING_OFF_SQ_RING);
	ring->sqes = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe),
			  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
			  IORING_OFF_SQES);
	if (map == MAP_FAILED || ring->sqes == MAP_FAILED)
		die("mmap of the ring");
	ring->sq_tail = (unsigned int *)(map + p.sq_off.tail);
	ring->sq_mask = p.sq_entries - 1;
	ring->sq_array = (unsigned int *)(map + p.sq_off.array);
	ring->cq_head = (unsigned int *)(map + p.cq_off.head);
	ring->cq_tail = (unsigned int *)(map + p.cq_off.tail);
	ring->cq_mask = p.cq_entries - 1;
	ring->cqes = (struct io_uring_cqe *)(map + p.cq_off.cqes);
	ring->queued = 0;
	for (i = 0; i < p.sq_entries; i++)
		ring->sq_array[i] = i;
}

/* The next free entry, zeroed. The caller submits before the ring is full. */
static struct io_uring_sqe *ring_entry(struct ring *ring, int opcode, unsigned long long data)
{
	struct io_uring_sqe *sqe =
		&ring->sqes[(*ring->sq_tail + ring->queued++) & ring->sq_mask];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->fd = -1;
	sqe->user_data = data;
	return sqe;
}

/* Submit what is queued, and wait for @wait completions. */
static void ring_submit(struct ring *ring, unsigned int wait)
{
	unsigned int queued = ring->queued;
	long ret;

	__atomic_store_n(ring->sq_tail, *ring->sq_tail + queued, __ATOMIC_RELEASE);
	ring->queued = 0;
	do {
		ret = syscall(SYS_io_uring_enter, ring->fd, queued, wait,
			      IORING_ENTER_GETEVENTS, NULL, 0);
		if (ret > 0)
			queued -= ret;
	} while ((ret >= 0 && queued) || (ret < 0 && errno == EINTR));
	if (ret < 0)
		die("io_uring_enter");
}

/* The next completion, or NULL */
static struct io_uring_cqe *ring_completion(struct ring *ring)
{
	unsigned int head = *ring->cq_head;

	if (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
		return NULL;
	return &ring->cqes[head & ring->cq_mask];
}

static void ring_seen(struct ring *ring)
{
	__atomic_store_n(ring->cq_head, *ring->cq_head + 1, __ATOMIC_RELEASE);
}

static inline void entry_poll(struct ring *ring, int fd, unsigned long long data,
			      unsigned int flags)
{
	struct io_uring_sqe *sqe = ring_entry(ring, IORING_OP_POLL_ADD, data);

	sqe->fd = fd;
	sqe->poll32_events = 1;		/* POLLIN */
	sqe->flags = flags;
}

/* A timeout, or a linked timeout. @ts must stay valid until the entry is submitted. */
static inline void entry_timeout(struct ring *ring, int opcode, const struct __kernel_timespec *ts,
				 unsigned long long data, unsigned int flags)
{
	struct io_uring_sqe *sqe = ring_entry(ring, opcode, data);

	sqe->addr = (unsigned long)ts;
	sqe->len = 1;
	sqe->timeout_flags = flags;
}

static inline void entry_cancel(struct ring *ring, int opcode, unsigned long long what,
				unsigned long long data)
{
	ring_entry(ring, opcode, data)->addr = what;
}
