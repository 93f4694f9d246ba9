// SPDX-License-Identifier: GPL-2.0-only
/* The demo's router and receivers, see vm/demo */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "demo.h"

#define ETH_P_IP	0x0800
#define ETH_P_IPV6	0x86dd

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, NUM_FLOWS);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} tx_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NUM_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* ingress ifindex to the ifindex that TCP goes on to */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} tcp_ports SEC(".maps");

static __always_inline void add(__u32 key, __u64 n)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &key);

	if (counter)
		__sync_fetch_and_add(counter, n);
}

/* The flow of a frame, or -1; with its UDP header in *udp */
static __always_inline int parse(struct xdp_md *ctx, struct udphdr **udp)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct ipv6hdr *ip6;
	struct iphdr *ip;
	__u8 proto;
	__u16 port;

	if ((void *)(eth + 1) > end)
		return -1;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		ip = (void *)(eth + 1);
		if ((void *)(ip + 1) > end || ip->ihl != 5)
			return -1;
		proto = ip->protocol;
		*udp = (void *)(ip + 1);
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		ip6 = (void *)(eth + 1);
		if ((void *)(ip6 + 1) > end)
			return -1;
		proto = ip6->nexthdr;
		*udp = (void *)(ip6 + 1);
	} else {
		return -1;
	}
	if (proto == IPPROTO_TCP)
		return FLOW_TCP;
	if (proto != IPPROTO_UDP || (void *)(*udp + 1) > end)
		return -1;
	port = bpf_ntohs((*udp)->dest) - PORT_FIRST;
	return port < FLOW_TCP ? port : -1;
}

static __always_inline void set_source(struct udphdr *udp, __u16 port)
{
	__u32 sum;

	if (udp->check) {
		/* RFC 1624 */
		sum = (__u16)~udp->check + (__u16)~udp->source + bpf_htons(port);
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		udp->check = (__u16)~sum ? : 0xffff;
	}
	udp->source = bpf_htons(port);
}

SEC("xdp")
int router(struct xdp_md *ctx)
{
	__u32 ifindex = ctx->ingress_ifindex, *egress;
	struct udphdr *udp;
	int flow;

	flow = parse(ctx, &udp);
	if (flow < 0)
		return XDP_PASS;
	add(SEEN * NUM_FLOWS + flow, 1);

	/* xdp-trafficgen sends a frame again as it came back, rewritten or not */
	if (flow != FLOW_TCP)
		set_source(udp, CLIENT_PORT);

	if (flow == FLOW_LOCAL)
		return bpf_redirect_map(&cpus, 1, XDP_DROP);
	if (flow != FLOW_TCP)
		return bpf_redirect_map(&tx_ports, flow, XDP_DROP);

	egress = bpf_map_lookup_elem(&tcp_ports, &ifindex);
	return egress ? bpf_redirect(*egress, 0) : XDP_DROP;
}

SEC("xdp/devmap")
int nat(struct xdp_md *ctx)
{
	struct udphdr *udp;
	int flow;

	flow = parse(ctx, &udp);
	if (flow < 0 || flow == FLOW_TCP)
		return XDP_PASS;

	set_source(udp, NAT_PORT);
	return XDP_PASS;
}

SEC("xdp/devmap")
int filter(struct xdp_md *ctx)
{
	struct udphdr *udp;
	int flow;

	flow = parse(ctx, &udp);
	if (flow >= 0)
		add(DROPPED * NUM_FLOWS + flow, 1);
	return XDP_DROP;
}

/* A receiver: counts, and keeps UDP from the stack. A veth needs an XDP
 * program, or GRO, to take redirected frames from its peer.
 */
SEC("xdp")
int receiver(struct xdp_md *ctx)
{
	struct udphdr *udp;
	int flow;

	flow = parse(ctx, &udp);
	if (flow < 0)
		return XDP_PASS;
	add(RECEIVED * NUM_FLOWS + flow, 1);
	if (flow == FLOW_TCP)
		return XDP_PASS;
	if (udp->source == bpf_htons(NAT_PORT))
		add(REWRITTEN * NUM_FLOWS + flow, 1);
	return XDP_DROP;
}

SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(on_devmap_xmit, const struct net_device *from, const struct net_device *to,
	     int sent, int drops, int err)
{
	/* a generator in the guest comes through here too, from lo */
	if (from->ifindex == 1)
		return 0;
	add(T_XMIT, 1);
	add(T_XMIT_SENT, sent);
	add(T_XMIT_DROPS, drops);
	if (err)
		add(T_XMIT_ERR, 1);
	return 0;
}

SEC("tp_btf/xdp_redirect_err")
int BPF_PROG(on_redirect_err, const struct net_device *dev, const struct bpf_prog *xdp,
	     const void *tgt, int err)
{
	__u32 key = T_LAST_ERR;
	__u64 value = -err;

	add(T_REDIRECT_ERR, 1);
	bpf_map_update_elem(&counters, &key, &value, 0);
	return 0;
}

SEC("tp_btf/xdp_cpumap_enqueue")
int BPF_PROG(on_cpumap_enqueue, int map_id, unsigned int processed, unsigned int drops,
	     int to_cpu)
{
	add(T_CPUMAP_DROPS, drops);
	return 0;
}

SEC("tp_btf/xdp_cpumap_kthread")
int BPF_PROG(on_cpumap_kthread, int map_id, unsigned int processed, unsigned int drops,
	     int sched)
{
	add(T_KTHREAD, processed);
	add(T_KTHREAD_DROPS, drops);
	return 0;
}

char _license[] SEC("license") = "GPL";
