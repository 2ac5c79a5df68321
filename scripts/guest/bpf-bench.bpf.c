// SPDX-License-Identifier: GPL-2.0
/*
 * What bpf-bench runs: the program of a sample, which FLOWS names, on packets of many flows. It
 * writes the next flow's address into the packet itself, so one BPF_PROG_TEST_RUN does it for
 * many packets.
 */
#include FLOWS

__u64 bench_flows;
__u64 bench_next;
bool bench_random;

SEC("xdp")
int bench(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	struct flow_packet p;
	__u32 n;

	if ((void *)(ip + 1) > end)
		return XDP_ABORTED;
	if (bench_random) {
		bench_next = bench_next * 6364136223846793005ULL + 1442695040888963407ULL;
		n = (bench_next >> 32) * bench_flows >> 32;
	} else {
		n = bench_next++;
	}
	ip->saddr = bpf_htonl(0x0a000000 + n);
	if (flow_parse(ctx, &p))
		flow_packet(&p);
	return XDP_PASS;
}
