/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEMO_H
#define DEMO_H

/* Flows, told apart by UDP destination port; TCP is the last */
#define PORT_FIRST	9001
enum flow {
	FLOW_PLAIN,	/* 9001: entry without a program */
	FLOW_NAT,	/* 9002: same egress, entry with a program that rewrites */
	FLOW_FILTER,	/* 9003: same egress, entry with a program that drops */
	FLOW_NAT2,	/* 9004: other egress, entry with a program that rewrites */
	FLOW_LOCAL,	/* 9005: cpumap, then the local stack */
	FLOW_TCP,	/* bpf_redirect(), both ways */
	NUM_FLOWS,
};

/* Keys of the counters map: enum what * NUM_FLOWS + flow */
enum what {
	SEEN,		/* by the router's XDP program */
	RECEIVED,	/* by the XDP program of a receiver */
	REWRITTEN,	/* ... of these, with the source port of the rewriting program */
	DROPPED,	/* by the dropping program */
	NUM_WHAT,
};

/* ... and from here on, by tracepoint */
enum by_tracepoint {
	T_BASE = NUM_WHAT * NUM_FLOWS,
	T_XMIT = T_BASE,	/* xdp_devmap_xmit: bulks */
	T_XMIT_SENT,		/*                  frames sent */
	T_XMIT_DROPS,		/*                  frames not sent */
	T_XMIT_ERR,		/*                  bulks with an errno */
	T_REDIRECT_ERR,		/* xdp_redirect_err: frames */
	T_LAST_ERR,		/*                  errno of the last, positive */
	T_CPUMAP_DROPS,		/* xdp_cpumap_enqueue: frames that found the ring full */
	T_KTHREAD,		/* xdp_cpumap_kthread: frames taken from the ring */
	T_KTHREAD_DROPS,	/*                  frames for which there was no memory */
	NUM_COUNTERS,
};

#define CLIENT_PORT	9	/* source port that all frames come with */
#define NAT_PORT	4242	/* source port that the rewriting program sets */

#endif
