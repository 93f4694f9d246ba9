// SPDX-License-Identifier: GPL-2.0-only
/* The programs of the bench's scenarios, see scenarios and driver.c. All run on
 * one CPU, so that counters need no atomics.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);	/* or DEVMAP_HASH, driver.c sets it */
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} devs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} cpus SEC(".maps");

/* Set by driver.c */
__u32 target;		/* ifindex */
__u32 mask;		/* interleave: entries - 1 */
__u32 flow_mask, train_shift;
__u32 tcp_sum;		/* of a segment with port and sequence number 0 */
__u32 tcp_payload;
__u8 head[34];		/* Ethernet and IP */

/* Read by driver.c */
__u64 sent, received, skbs, ran, mismatched, ring_drops;
__u64 bytes;		/* of frames that a sink got, without fragments */
__u64 at[64];		/* frames that a sink got, by ifindex */

static __u32 seqs[64];

SEC("xdp.frags")
int first_drop(struct xdp_md *ctx)
{
	sent++;
	received++;
	return XDP_DROP;
}

SEC("xdp.frags")
int first_tx(struct xdp_md *ctx)
{
	sent++;
	return XDP_TX;
}

SEC("xdp.frags")
int first_redirect(struct xdp_md *ctx)
{
	sent++;
	return bpf_redirect(target, 0);
}

SEC("xdp.frags")
int first_map(struct xdp_md *ctx)
{
	sent++;
	return bpf_redirect_map(&devs, 0, 0);
}

SEC("xdp.frags")
int first_broadcast(struct xdp_md *ctx)
{
	sent++;
	return bpf_redirect_map(&devs, 0, BPF_F_BROADCAST);
}

SEC("xdp.frags")
int first_exclude(struct xdp_md *ctx)
{
	sent++;
	return bpf_redirect_map(&devs, 0, BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS);
}

/* Entry by entry in turn. The frame says which, for mix_program(). */
SEC("xdp.frags")
int first_interleave(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data;
	__u32 i = sent++ & mask;

	if (data + 1 <= (__u8 *)(long)ctx->data_end)
		*data = i << 1;		/* no multicast address */
	return bpf_redirect_map(&devs, i, 0);
}

SEC("xdp.frags")
int first_cpu(struct xdp_md *ctx)
{
	sent++;
	return bpf_redirect_map(&cpus, 0, 0);
}

/* Live frames come back as the stack has left them: GRO and forwarding write
 * to the headers.
 */
SEC("xdp.frags")
int first_cpu_head(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;

	sent++;
	if (data + sizeof(head) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	__builtin_memcpy(data, head, sizeof(head));
	return bpf_redirect_map(&cpus, 0, 0);
}

struct segment {
	__u8 head[34];
	__u16 source, dest;
	__u32 seq, ack;
	__u16 flags, window, check, urgent;
} __attribute__((packed));

/* TCP flows in trains of frames, each with the next sequence number */
SEC("xdp.frags")
int first_cpu_tcp(struct xdp_md *ctx)
{
	struct segment *s = (void *)(long)ctx->data;
	__u32 flow, sum;

	if ((void *)(s + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	flow = sent++ >> train_shift & flow_mask & 63;
	__builtin_memcpy(s->head, head, sizeof(head));
	s->source = bpf_htons(10000 + flow);
	s->seq = bpf_htonl(seqs[flow]);
	seqs[flow] += tcp_payload;
	sum = tcp_sum + s->source + (s->seq & 0xffff) + (s->seq >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	s->check = ~sum;
	s->flags = bpf_htons(0x5010);	/* 20 bytes of header, ACK */
	return bpf_redirect_map(&cpus, 0, 0);
}

SEC("xdp.frags/devmap")
int dev_pass(struct xdp_md *ctx)
{
	ran++;
	return XDP_PASS;
}

SEC("xdp.frags/devmap")
int dev_rewrite(struct xdp_md *ctx)
{
	__u16 *data = (void *)(long)ctx->data;

	ran++;
	if (data + 6 > (__u16 *)(long)ctx->data_end)
		return XDP_DROP;
	data[0] = 0x0002;
	data[1] = 0x0000;
	data[2] = 0x0100;
	data[3] = 0x0002;
	data[4] = 0x0000;
	data[5] = 0x0200;
	return XDP_PASS;
}

SEC("xdp.frags/devmap")
int dev_head(struct xdp_md *ctx)
{
	ran++;
	return bpf_xdp_adjust_head(ctx, -4) ? XDP_DROP : XDP_PASS;
}

static __always_inline int mix_program(struct xdp_md *ctx, __u32 i)
{
	__u8 *data = (void *)(long)ctx->data;

	ran++;
	if (data + 1 > (__u8 *)(long)ctx->data_end || *data != i << 1)
		mismatched++;
	return XDP_PASS;
}

#define MIX(i) SEC("xdp.frags/devmap") int dev_mix##i(struct xdp_md *ctx) { return mix_program(ctx, i); }
MIX(0)
MIX(1)
MIX(2)
MIX(3)
MIX(4)
MIX(5)
MIX(6)
MIX(7)

SEC("xdp.frags/cpumap")
int cpu_pass(struct xdp_md *ctx)
{
	ran++;
	return XDP_PASS;
}

SEC("xdp.frags/cpumap")
int cpu_redirect(struct xdp_md *ctx)
{
	ran++;
	return bpf_redirect_map(&devs, 0, 0);
}

/* On the peers of the egress devices */
SEC("xdp.frags")
int sink(struct xdp_md *ctx)
{
	received++;
	bytes += ctx->data_end - ctx->data;
	at[ctx->ingress_ifindex & 63]++;
	return XDP_DROP;
}

/* On the device that cpumap's skbs come from */
SEC("tcx/ingress")
int stack_drop(struct __sk_buff *skb)
{
	skbs++;
	received += skb->gso_segs ?: 1;
	return TCX_DROP;
}

SEC("tcx/ingress")
int stack_next(struct __sk_buff *skb)
{
	skbs++;
	received += skb->gso_segs ?: 1;
	return TCX_NEXT;
}

/* (map_id, processed, drops, to_cpu) */
SEC("raw_tp/xdp_cpumap_enqueue")
int ring(struct bpf_raw_tracepoint_args *ctx)
{
	ring_drops += (__u32)ctx->args[2];
	return 0;
}

char _license[] SEC("license") = "GPL";
