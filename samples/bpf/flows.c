// SPDX-License-Identifier: GPL-2.0
/*
 * Loads a table of flows on a network device, and prints what happens
 *
 * The Makefile builds it three times: flows for flows.bpf.c, flows_timer for flows_timer.bpf.c,
 * and flows_sweep for flows_sweep.bpf.c.
 *
 * Usage: flows [-e] [-t STATE=MS]... [-w MS] [-d SECONDS] DEVICE
 *	-e  prints a line for each flow that ends: addresses and ports, packets, the time of the
 *	    last packet, the timeout, and how late the flow has ended, in nanoseconds
 *	-t  a timeout: STATE is new, replied, tcp-new, tcp-open, tcp-closing or icmp
 *	-w  sweeps the table every MS milliseconds, for flows_sweep
 *	-d  ends after this many seconds
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/types.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "flows.h"
#include "flows.skel.h"

#define SWEEP_BATCH	4096

static const char * const states[FLOW_STATES] = {
	"new", "replied", "tcp-new", "tcp-open", "tcp-closing", "icmp",
};

static const char * const counts[FLOW_COUNTS] = {
	"packets", "created", "ended", "kept", "busy", "full", "collisions", "other",
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int set_timeout(struct flows *skel, const char *text)
{
	char *equals = strchr(text, '=');
	int i;

	for (i = 0; equals && i < FLOW_STATES; i++) {
		if (strlen(states[i]) == (size_t)(equals - text) &&
		    !strncmp(states[i], text, equals - text)) {
			skel->rodata->flow_timeout_ns[i] = strtoull(equals + 1, NULL, 10) * 1000000;
			return 0;
		}
	}
	return -1;
}

static int on_event(void *unused, void *data, size_t size)
{
	const struct flow_event *e = data;
	char a[INET_ADDRSTRLEN], b[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &e->tuple.address[0], a, sizeof(a));
	inet_ntop(AF_INET, &e->tuple.address[1], b, sizeof(b));
	printf("ended %s:%u %s:%u protocol %u packets %llu ", a, ntohs(e->tuple.port[0]), b,
	       ntohs(e->tuple.port[1]), e->tuple.protocol, (unsigned long long)e->packets);
	printf("last_ns %llu timeout_ns %llu late_ns %lld\n", (unsigned long long)e->last_ns,
	       (unsigned long long)e->timeout_ns,
	       (long long)(e->ended_ns - e->last_ns - e->timeout_ns));
	return 0;
}

static void print_counts(struct flows *skel)
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	__u64 *values = calloc(cpus, sizeof(*values)), sum;
	__u32 i;

	for (i = 0; values && i < FLOW_COUNTS; i++) {
		if (bpf_map__lookup_elem(skel->maps.flow_counts, &i, sizeof(i), values,
					 cpus * sizeof(*values), 0))
			break;
		for (cpu = 0, sum = 0; cpu < cpus; cpu++)
			sum += values[cpu];
		printf("%s %llu%c", counts[i], (unsigned long long)sum,
		       i == FLOW_COUNTS - 1 ? '\n' : ' ');
	}
	fflush(stdout);
	free(values);
}

/* Delete the flows that have been idle for too long. Returns their number, or -1 */
static long sweep(struct flows *skel)
{
	int fd = bpf_map__fd(skel->maps.flows), size = bpf_map__value_size(skel->maps.flows), err;
	static __u64 keys[SWEEP_BATCH];
	static char *values;
	__u64 now = now_ns();
	__u32 position, n, i;
	void *from = NULL;
	long ended = 0;

	if (!values)
		values = malloc((size_t)size * SWEEP_BATCH);
	if (!values)
		return -1;
	do {
		n = SWEEP_BATCH;
		err = bpf_map_lookup_batch(fd, from, &position, keys, values, &n, NULL);
		if (err && err != -ENOENT)
			return -1;
		from = &position;
		for (i = 0; i < n; i++) {
			const struct flow_head *flow = (void *)(values + (size_t)size * i);

			if (flow->last_ns + skel->rodata->flow_timeout_ns[flow->state] <= now)
				ended += !bpf_map_delete_elem(fd, &keys[i]);
		}
	} while (!err);
	return ended;
}

int main(int argc, char **argv)
{
	__u64 sweep_ns = 0, end_ns = 0, next_sweep, next_print;
	struct ring_buffer *events = NULL;
	struct bpf_link *link = NULL;
	struct flows *skel;
	long swept = 0, n;
	int device, opt, ret = 1;

	skel = flows__open();
	if (!skel)
		return 1;
	while ((opt = getopt(argc, argv, "et:w:d:")) != -1) {
		switch (opt) {
		case 'e':
			skel->rodata->flow_report = true;
			break;
		case 't':
			if (!set_timeout(skel, optarg))
				break;
			fprintf(stderr, "flows: -t %s: give STATE=MS, with a state such as new\n",
				optarg);
			goto out;
		case 'w':
			sweep_ns = strtoull(optarg, NULL, 10) * 1000000;
			break;
		case 'd':
			end_ns = now_ns() + strtoull(optarg, NULL, 10) * 1000000000;
			break;
		default:
			goto out;
		}
	}
	device = optind == argc - 1 ? if_nametoindex(argv[optind]) : 0;
	if (!device) {
		fprintf(stderr, "flows: give the name of a network device, such as eth0\n");
		goto out;
	}
	if (getrandom((void *)&skel->rodata->flow_seed, sizeof(skel->rodata->flow_seed), 0) < 0)
		goto out;

	if (flows__load(skel)) {
		fprintf(stderr, "flows: can't load the programs. Is hwheel_bpf.ko loaded?\n");
		goto out;
	}
	/* First the struct_ops, so that there are timers when the first packet comes */
	if (flows__attach(skel)) {
		fprintf(stderr, "flows: can't attach the struct_ops; dmesg tells why\n");
		goto out;
	}
	link = bpf_program__attach_xdp(skel->progs.flows_xdp, device);
	if (!link) {
		fprintf(stderr, "flows: can't attach to %s: %s\n", argv[optind], strerror(errno));
		goto out;
	}
	events = ring_buffer__new(bpf_map__fd(skel->maps.flow_events), on_event, NULL, NULL);
	if (!events)
		goto out;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	next_print = now_ns();
	next_sweep = next_print;
	printf("flows: attached to %s\n", argv[optind]);
	while (!stop && (!end_ns || now_ns() < end_ns)) {
		ring_buffer__poll(events, sweep_ns ? 1 : 100);
		if (sweep_ns && now_ns() >= next_sweep) {
			n = sweep(skel);
			if (n < 0)
				goto out;
			swept += n;
			next_sweep += sweep_ns;
		}
		if (now_ns() >= next_print) {
			print_counts(skel);
			next_print += 1000000000;
		}
	}
	ring_buffer__consume(events);
	print_counts(skel);
	if (sweep_ns)
		printf("flows: swept %ld\n", swept);
	ret = 0;
out:
	ring_buffer__free(events);
	bpf_link__destroy(link);
	flows__destroy(skel);
	return ret;
}
