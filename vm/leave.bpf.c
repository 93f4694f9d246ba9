// SPDX-License-Identifier: GPL-2.0-only
/* For vm/leave: frames that wait in a cpumap ring, behind a slow program or none */
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>

#define FRAME_NS	10000000	/* what the slow program takes for a frame */

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} cpus SEC(".maps");

SEC("xdp")
int to_cpu(struct xdp_md *ctx)
{
	return bpf_redirect_map(&cpus, 1, XDP_DROP);
}

static long is_over(__u32 i, __u64 *end)
{
	return bpf_ktime_get_ns() >= *end;
}

SEC("xdp/cpumap")
int slow(struct xdp_md *ctx)
{
	__u64 end = bpf_ktime_get_ns() + FRAME_NS;

	bpf_loop(1 << 23, is_over, &end, 0);
	return XDP_DROP;
}

SEC("xdp/cpumap")
int quick(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
