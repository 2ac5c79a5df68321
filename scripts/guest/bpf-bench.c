// SPDX-License-Identifier: GPL-2.0
/*
 * Measures a table of flows: what a packet costs, what a flow takes, how late flows end, and
 * what a table costs in which nothing happens. Built once for each sample. In a guest of QEMU
 * whose clock counts instructions, its nanoseconds are instructions.
 *
 * Prints lines of names and values.
 *
 * Usage: bpf-bench [-p PACKETS] [-i SECONDS] FLOWS	costs with that many flows
 *	  bpf-bench -l FLOWS				how late they end
 *	  bpf-bench -e FLOWS				opens them, and waits until all have ended
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flows.h"
#include "bpf-bench.skel.h"

#define SEC_NS	1000000000ULL
#define HOUR	(3600 * SEC_NS)
#define TIMEOUT	(120 * SEC_NS)	/* of the sample, for UDP in both directions */

static struct bpf_bench *skel;
static unsigned char packet[64] = {
	[12] = 0x08, [14] = 0x45, [16] = 0, 50, [22] = 64, 17,	/* IPv4, UDP */
	[26] = 10, 0, 0, 0, 192, 168, 0, 1, 0x12, 0x34, 0, 53,
};

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC_NS + ts.tv_nsec;
}

static void die(const char *what)
{
	printf("bpf-bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static __u64 count(enum flow_count what)
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	__u64 values[cpus], sum = 0;
	__u32 index = what;

	if (bpf_map__lookup_elem(skel->maps.flow_counts, &index, sizeof(index), values,
				 sizeof(values), 0))
		die("no counts");
	for (cpu = 0; cpu < cpus; cpu++)
		sum += values[cpu];
	return sum;
}

/* Run the program on @n packets. Returns nanoseconds for each */
static double packets(__u64 n, bool random)
{
	__u64 left = n, chunk, ns = 0;

	skel->bss->bench_random = random;
	for (; left; left -= chunk) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
			    .data_size_in = sizeof(packet));

		chunk = left < 10000 ? left : 10000;
		opts.repeat = chunk;
		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.bench), &opts) ||
		    opts.retval != 2)
			die("the program failed");
		ns += opts.duration * chunk;
	}
	return (double)ns / n;
}

static long long mem_bytes(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			kib = atoll(line + strlen(name) + 1);
	if (file)
		fclose(file);
	return kib << 10;
}

/* Timer interrupts of all CPUs, and time that they were not idle, in 1/100 s */
static void counters(__u64 *interrupts, __u64 *busy)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	char line[1024], *p;

	*interrupts = *busy = 0;
	while (file && fgets(line, sizeof(line), file)) {
		p = strstr(line, "LOC:");
		for (p = p ? p + 4 : NULL; p && *p;) {
			char *next;
			__u64 n = strtoull(p, &next, 10);

			if (next == p)
				break;
			*interrupts += n;
			p = next;
		}
	}
	if (file)
		fclose(file);
	file = fopen("/proc/stat", "r");
	if (file && fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			   &idle, &iowait, &irq, &softirq) == 7)
		*busy = user + nice + system + irq + softirq;
	if (file)
		fclose(file);
}

static __u64 lates[1 << 20];
static size_t nlates, early;

static int on_event(void *unused, void *data, size_t size)
{
	const struct flow_event *e = data;
	long long late = e->ended_ns - e->last_ns - e->timeout_ns;

	if (late < 0)
		early++;
	else if (nlates < sizeof(lates) / sizeof(*lates))
		lates[nlates++] = late;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return (x > y) - (x < y);
}

/* Read the whole table, as a sweep does. Returns nanoseconds */
static __u64 sweep(void)
{
	static __u64 keys[4096];
	int fd = bpf_map__fd(skel->maps.flows), size = bpf_map__value_size(skel->maps.flows), err;
	char *values = malloc(4096UL * size);
	__u64 start = now_ns(), seen = 0;
	__u32 position, n, i;
	void *from = NULL;

	do {
		n = 4096;
		err = bpf_map_lookup_batch(fd, from, &position, keys, values, &n, NULL);
		if (err && err != -ENOENT)
			die("can't read the table");
		from = &position;
		for (i = 0; i < n; i++) {
			const struct flow_head *flow = (void *)(values + (size_t)size * i);

			seen += flow->last_ns + HOUR > start;
		}
	} while (!err);
	start = now_ns() - start;
	free(values);
	return seen ? start : 0;
}

static void costs(__u64 flows, __u64 n, unsigned int idle_s)
{
	long long memory = mem_bytes("MemFree");
	__u64 interrupts[2], busy[2];
	double open, rearm;

	open = packets(flows, false);
	memory -= mem_bytes("MemFree");
	skel->bss->bench_flows = flows;
	packets(n / 10 + 1, true);
	rearm = packets(n, true);
	if (count(FLOW_CREATED) != flows)
		printf("bpf-bench: %llu of %llu flows\n", count(FLOW_CREATED), flows);
	printf("flows %llu open_ns %.1f rearm_ns %.1f memory %.1f", flows, open, rearm,
	       (double)memory / flows);
	if (idle_s) {
		sleep(1);
		counters(&interrupts[0], &busy[0]);
		sleep(idle_s);
		counters(&interrupts[1], &busy[1]);
		printf(" idle_s %u interrupts %llu busy_cs %llu", idle_s,
		       interrupts[1] - interrupts[0], busy[1] - busy[0]);
	}
	printf(" sweep_ns %llu\n", sweep());
}

/* Open the flows at different times, and read how late they end */
static void lateness(__u64 flows)
{
	struct ring_buffer *events = ring_buffer__new(bpf_map__fd(skel->maps.flow_events), on_event,
						      NULL, NULL);
	__u64 i, end;

	if (!events)
		die("no events");
	for (i = 0; i < flows; i += 10) {
		packets(10, false);
		usleep(100);
		ring_buffer__consume(events);
	}
	for (end = now_ns() + 60 * SEC_NS; nlates + early < flows && now_ns() < end;) {
		ring_buffer__consume(events);
		usleep(1000);
	}
	if (!nlates)
		die("no flow has ended");
	qsort(lates, nlates, sizeof(*lates), by_value);
	printf("flows %llu ended %zu early %zu median_ns %llu late99_ns %llu max_ns %llu\n", flows,
	       nlates, early, lates[nlates / 2], lates[nlates * 99 / 100],
	       lates[nlates - 1]);
	ring_buffer__free(events);
}

/* Open the flows, let each end, and wait for that */
static void ending(__u64 flows)
{
	__u64 end = now_ns() + 600 * SEC_NS;

	packets(flows, false);
	while (count(FLOW_ENDED) < flows && now_ns() < end)
		usleep(100000);
	printf("flows %llu created %llu ended %llu\n", flows, count(FLOW_CREATED),
	       count(FLOW_ENDED));
}

int main(int argc, char **argv)
{
	__u64 n = 1000000, timeout = TIMEOUT, flows;
	unsigned int idle_s = 0, i;
	bool late = false, ends = false;
	int opt;

	skel = bpf_bench__open();
	if (!skel)
		return 1;
	while ((opt = getopt(argc, argv, "p:i:le")) != -1) {
		switch (opt) {
		case 'p':
			n = strtoull(optarg, NULL, 10);
			break;
		case 'i':
			idle_s = atoi(optarg);
			break;
		case 'l':
			late = true;
			timeout = SEC_NS;
			skel->rodata->flow_report = true;
			break;
		case 'e':
			ends = true;
			timeout = 2 * SEC_NS;
			break;
		default:
			return 2;
		}
	}
	if (optind != argc - 1)
		return 2;
	flows = strtoull(argv[optind], NULL, 10);
	for (i = 0; i < FLOW_STATES; i++)
		skel->rodata->flow_timeout_ns[i] = timeout;
	bpf_program__set_autoload(skel->progs.flows_xdp, false);
	if (bpf_bench__load(skel) || bpf_bench__attach(skel))
		die("can't load the programs");
	if (late)
		lateness(flows);
	else if (ends)
		ending(flows);
	else
		costs(flows, n, idle_s);
	bpf_bench__destroy(skel);
	return 0;
}
