// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the bench's scenarios in the guest: sets up devices, programs and load,
 * sends exactly so many packets, and checks that all of them are accounted for.
 *
 *   driver [-f SCENARIOS] [-p] [-n PACKETS] [-b BATCH] [-s SIZE] [-q QSIZE]
 *          [-i NANOSECONDS] SCENARIO...
 *
 * For each scenario: a warm-up, then a run of BATCH and a run of BATCH +
 * PACKETS packets, each between two marks for the QEMU plugin: what both have
 * in common (set-up of the run, tear-down) is in both and can be subtracted.
 *
 *   SCENARIO ok PACKETS phase=P skbs=S ns=T
 *   SCENARIO invalid ...	accounted for, but the kernel ran the wrong program
 *   SCENARIO failed REASON
 *
 * P is the phase of the short run, P + 2 that of the long one; S the skbs that
 * reached the stack, T the nanoseconds of the long run.
 *
 * With -p (pace), one scenario is set up; then each line "run N" on stdin sends
 * N packets and prints a result, until "end" or the end of the input.
 *
 * All runs on CPU 0. The generators:
 *   live  BPF_PROG_TEST_RUN with live frames, BATCH frames to a NAPI cycle
 *   napi  pktgen into a veth whose NAPI is polled every -i nanoseconds, as
 *         with interrupt moderation (napi_defer_hard_irqs, gro_flush_timeout)
 *   skb   live frames through a veth that makes skbs of them: generic mode
 * cpumap's kthread is on the same CPU with real-time priority: it takes each
 * batch as soon as that has been flushed, and the ring never overflows unless
 * it is smaller than a batch.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "bench.skel.h"

enum generator { LIVE, NAPI, SKB };
enum target { XDP_SINK, STACK_DROP, STACK_FORWARD, BACK };

struct scenario {
	char name[64];
	enum generator gen;
	enum target sink;
	char first[32], dev[32], cpu[32];	/* programs; "" for none */
	unsigned int devs, entries, live, extra;
	unsigned int flows, train, size, qsize, div, batch;
	bool hash, gro, overflow, fragments;
};

static unsigned int packets = 131072, batch = 64, size = 64, qsize = 2048, moderation = 60000;
static unsigned int *phase;		/* marks so far, of all processes */
static bool pace;

/* For the plugin: a no-op that only we execute, in a page that is there */
static void mark(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x80, 'X', 'D', 'P', 'B'" ::: "memory");
	++*phase;
}

static struct scenario sc;		/* of this process */
static struct bench_bpf *skel;
static unsigned char frame[9000];

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *fmt, ...)
{
	va_list ap;

	printf("%s failed ", sc.name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

static void need(int err, const char *what)
{
	if (err < 0)
		fail("%s: %s", what, strerror(errno));
}

__attribute__((format(printf, 2, 3)))
static void write_file(const char *path, const char *fmt, ...)
{
	va_list ap;
	FILE *f = fopen(path, "w");

	if (!f)
		fail("%s: %s", path, strerror(errno));
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	if (fclose(f))
		fail("%s: %s", path, strerror(errno));
}

static int ifindex(const char *name)
{
	int i = if_nametoindex(name);

	if (!i)
		fail("no device %s", name);
	return i;
}

static void set_gro(const char *dev, bool on)
{
	struct ethtool_value v = { .cmd = ETHTOOL_SGRO, .data = on };
	struct ifreq r = { .ifr_data = (void *)&v };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	need(fd, "socket");
	strncpy(r.ifr_name, dev, IFNAMSIZ - 1);
	need(ioctl(fd, SIOCETHTOOL, &r), "cannot set GRO");
	close(fd);
}

/* Devices: gen - in (generator and ingress), aux (for skb mode), outN - sinkN */
static void make_devices(void)
{
	FILE *ip = popen("ip -batch -", "w");
	unsigned int i, mtu = sc.fragments ? 9000 : 1500;

	if (!ip)
		fail("cannot start ip");
	fprintf(ip, "link set lo up\n");
	fprintf(ip, "link add in mtu %u address 02:00:00:00:01:01 type veth peer name gen mtu %u address 02:00:00:00:01:02\n",
		mtu, mtu);
	fprintf(ip, "link set in up\nlink set gen up\n");
	if (sc.gen == SKB)
		fprintf(ip, "link add aux type veth peer name aux1\nlink set aux up\nlink set aux1 up\n");
	for (i = 0; i < sc.devs; i++)
		fprintf(ip, "link add out%u mtu %u type veth peer name sink%u mtu %u\nlink set out%u up\nlink set sink%u up\n",
			i, mtu, i, mtu, i, i);
	for (i = 0; i < sc.extra; i++)
		fprintf(ip, "link add x%u type dummy\n", i);
	if (sc.sink == STACK_FORWARD)
		fprintf(ip, "link add fwd type dummy\nlink set fwd up\naddr add 198.18.0.1/24 dev in\n"
			"addr add 198.18.1.1/24 dev fwd\n"
			"neigh add 198.18.1.2 lladdr 02:00:00:00:02:02 dev fwd nud permanent\n");
	if (pclose(ip))
		fail("ip does not make the devices");
}

/* 198.18.0.2 to 198.18.1.2, to in's address: what is not dropped before it is forwarded */
static unsigned int make_frame(void)
{
	static const unsigned char head[] = {
		2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 0x08, 0x00,
		0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 198, 18, 0, 2, 198, 18, 1, 2,
	};
	unsigned int len = sc.size ?: size, l4 = len - sizeof(head), i;
	bool tcp = sc.flows;
	uint16_t *w = (uint16_t *)(frame + 14);
	uint32_t sum = 0;

	if (len < 64 || len > sizeof(frame))
		fail("a frame has 64 to %zu bytes", sizeof(frame));
	memcpy(frame, head, sizeof(head));
	w[1] = htons(len - 14);
	if (tcp)
		frame[23] = 6;
	for (i = 0; i < 10; i++)
		sum += w[i];
	sum = (sum & 0xffff) + (sum >> 16);
	w[5] = ~(sum + (sum >> 16));

	memcpy(&skel->bss->head, frame, sizeof(head));
	w = (uint16_t *)(frame + sizeof(head));
	if (!tcp) {
		w[0] = htons(9);	/* from and to discard, without a checksum */
		w[1] = htons(9);
		w[2] = htons(l4);
		return len;
	}
	w[1] = htons(9);
	w[6] = htons(0x5010);		/* 20 bytes of header, ACK */
	w[7] = htons(65535);
	for (sum = htons(6) + htons(l4), i = 0; i < 4; i++)
		sum += ((uint16_t *)(frame + 26))[i];
	for (i = 0; i < l4 / 2; i++)
		sum += w[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	skel->bss->tcp_sum = sum;
	skel->bss->tcp_payload = l4 - 20;
	return len;
}

static int program(const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(skel->obj, name);

	if (!p)
		fail("no program %s", name);
	return bpf_program__fd(p);
}

static void want(const char *name)
{
	struct bpf_program *p;

	if (!*name)
		return;
	p = bpf_object__find_program_by_name(skel->obj, name);
	if (!p)
		fail("no program %s", name);
	bpf_program__set_autoload(p, true);
}

static void attach(const char *dev, const char *name, unsigned int mode)
{
	need(bpf_xdp_attach(ifindex(dev), program(name), mode, NULL), "cannot attach XDP");
}

static void load(void)
{
	struct bpf_program *p;
	char mix[32];
	unsigned int i;

	skel = bench_bpf__open();
	if (!skel)
		fail("cannot open the BPF object");
	bpf_object__for_each_program(p, skel->obj)
		bpf_program__set_autoload(p, false);
	want(sc.first);
	want(sc.cpu);
	want("sink");
	if (!strcmp(sc.dev, "dev_mix"))
		for (i = 0; i < sc.entries; i++) {
			snprintf(mix, sizeof(mix), "dev_mix%u", i);
			want(mix);
		}
	else
		want(sc.dev);
	if (sc.sink == STACK_DROP)
		want("stack_drop");
	if (sc.sink == STACK_FORWARD)
		want("stack_next");
	if (sc.overflow)
		want("ring");
	if (sc.gen == SKB)
		want("first_map");
	bpf_map__set_max_entries(skel->maps.devs, sc.entries);
	if (sc.hash)
		bpf_map__set_type(skel->maps.devs, BPF_MAP_TYPE_DEVMAP_HASH);
	if (bench_bpf__load(skel))
		fail("the kernel does not take the programs");
}

/* The kthread shall run as soon as it is woken. */
static void raise_kthread(void)
{
	struct sched_param p = { .sched_priority = 50 };
	char path[300], comm[32];
	struct dirent *e;
	DIR *d = opendir("/proc");
	bool found = false;
	FILE *f;

	if (!d)
		fail("/proc: %s", strerror(errno));
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = atoi(e->d_name) ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f) && !strncmp(comm, "cpumap/0/", 9)) {
			need(sched_setscheduler(atoi(e->d_name), SCHED_FIFO, &p), "cannot set a priority");
			found = true;
		}
		fclose(f);
	}
	closedir(d);
	if (!found)
		fail("cpumap has no kthread");
}

static void fill_maps(void)
{
	bool cpumap = sc.sink == STACK_DROP || sc.sink == STACK_FORWARD || *sc.cpu;
	struct bpf_cpumap_val cpu = { .qsize = sc.qsize ?: qsize };
	struct bpf_devmap_val val;
	unsigned int i, key;
	char name[32];

	for (i = 0; i < sc.live; i++) {
		/* spread over the map, the first and the last among them */
		key = sc.live > 1 ? (unsigned long)i * (sc.entries - 1) / (sc.live - 1) : 0;
		snprintf(name, sizeof(name), "out%u", i % sc.devs);
		val.ifindex = ifindex(name);
		val.bpf_prog.fd = 0;
		if (!strcmp(sc.dev, "dev_mix")) {
			snprintf(name, sizeof(name), "dev_mix%u", i);
			val.bpf_prog.fd = program(name);
		} else if (*sc.dev) {
			val.bpf_prog.fd = program(sc.dev);
		}
		need(bpf_map__update_elem(skel->maps.devs, &key, sizeof(key), &val, sizeof(val), 0),
		     "cannot fill the devmap");
	}
	if (cpumap) {
		key = 0;
		cpu.bpf_prog.fd = *sc.cpu ? program(sc.cpu) : 0;
		need(bpf_map__update_elem(skel->maps.cpus, &key, sizeof(key), &cpu, sizeof(cpu), 0),
		     "cannot fill the cpumap");
		raise_kthread();
	}
}

static unsigned int frame_len;
static int live_prog, live_dev;
static int tp = -1;

static void set_up(void)
{
	LIBBPF_OPTS(bpf_tcx_opts, opts);
	struct bpf_program *count;
	char name[32];
	unsigned int i;

	need(unshare(CLONE_NEWNET | CLONE_NEWNS), "unshare");
	need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount /");
	need(mount("sysfs", "/sys", "sysfs", 0, NULL), "mount /sys");
	write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	make_devices();
	load();
	frame_len = make_frame();
	set_gro("in", sc.gro);
	for (i = 0; i < sc.devs; i++) {
		snprintf(name, sizeof(name), "sink%u", i);
		attach(name, "sink", XDP_FLAGS_DRV_MODE);
	}
	skel->bss->target = sc.devs ? ifindex("out0") : 0;
	skel->bss->mask = sc.entries - 1;
	skel->bss->flow_mask = sc.flows - 1;
	skel->bss->train_shift = __builtin_ctz(sc.train);

	live_prog = program(sc.first);
	live_dev = ifindex("in");
	if (sc.gen == SKB) {
		/* aux: live frames, redirected to gen; in: generic XDP */
		struct bpf_devmap_val val = { .ifindex = ifindex("gen") };
		__u32 key = 0;

		attach("aux", "sink", XDP_FLAGS_DRV_MODE);
		attach("in", sc.first, XDP_FLAGS_SKB_MODE);
		live_prog = program("first_map");
		live_dev = ifindex("aux");
		need(bpf_map__update_elem(skel->maps.devs, &key, sizeof(key), &val, sizeof(val), 0),
		     "cannot fill the devmap");
	} else {
		attach("in", sc.first, XDP_FLAGS_DRV_MODE);
	}
	if (sc.sink == BACK)
		attach("gen", "sink", XDP_FLAGS_DRV_MODE);
	if (sc.sink == STACK_DROP || sc.sink == STACK_FORWARD) {
		count = sc.sink == STACK_DROP ? skel->progs.stack_drop : skel->progs.stack_next;
		if (!bpf_program__attach_tcx(count, ifindex("in"), &opts))
			fail("cannot attach to tcx: %s", strerror(errno));
	}
	if (sc.sink == STACK_FORWARD)
		write_file("/proc/sys/net/ipv4/ip_forward", "1");
	fill_maps();
	if (sc.gen == NAPI) {
		write_file("/sys/class/net/in/napi_defer_hard_irqs", "1");
		write_file("/sys/class/net/in/gro_flush_timeout", "%u", moderation);
		write_file("/proc/net/pktgen/kpktgend_0", "add_device gen\n");
		write_file("/proc/net/pktgen/gen", "pkt_size %u\n", frame_len - 4);
		write_file("/proc/net/pktgen/gen", "flag !SHARED\n");
		write_file("/proc/net/pktgen/gen", "dst_mac 02:00:00:00:01:01\n");
		write_file("/proc/net/pktgen/gen", "src_min 198.18.0.2\n");
		write_file("/proc/net/pktgen/gen", "src_max 198.18.0.2\n");
		write_file("/proc/net/pktgen/gen", "dst_min 198.18.1.2\n");
		write_file("/proc/net/pktgen/gen", "dst_max 198.18.1.2\n");
	}
}

static void send_live(unsigned int n)
{
	struct xdp_md ctx = { .data_end = frame_len, .ingress_ifindex = live_dev };
	LIBBPF_OPTS(bpf_test_run_opts, opts,
		.data_in = frame, .data_size_in = frame_len,
		.ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
		.repeat = n, .batch_size = batch, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	need(bpf_prog_test_run_opts(live_prog, &opts), "BPF_PROG_TEST_RUN");
}

/* Returns the nanoseconds that pktgen took; it is polled for its end only ten
 * times a second.
 */
static __u64 send_pktgen(unsigned int n)
{
	unsigned long long us = 0;
	char line[256];
	FILE *f;

	write_file("/proc/net/pktgen/gen", "count %u\n", n);
	write_file("/proc/net/pktgen/pgctrl", "start\n");
	f = fopen("/proc/net/pktgen/gen", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Result: OK: %llu", &us) == 1)
			break;
	if (!f || !us)
		fail("pktgen reports no time");
	fclose(f);
	return us * 1000;
}

/* What left a device for the wire */
static __u64 transmitted(const char *dev)
{
	unsigned long long n = 0;
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_packets", dev);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &n) != 1)
		fail("%s: cannot read", path);
	fclose(f);
	return n;
}

static unsigned int copies(void)
{
	return !strcmp(sc.first, "first_broadcast") || !strcmp(sc.first, "first_exclude") ? sc.live : 1;
}

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static __u64 forwarded;		/* before the run */

/* Send n packets and wait until all have been received, or none comes any
 * more. Returns the nanoseconds until then.
 */
static __u64 run(unsigned int n)
{
	struct bench_bpf__bss *b = skel->bss;
	__u64 expect, last = 0, start, ns = 0;
	unsigned int idle;

	if (sc.sink == STACK_FORWARD)
		forwarded = transmitted("fwd");
	b->sent = b->received = b->skbs = b->ran = b->mismatched = b->ring_drops = b->bytes = 0;
	memset(b->at, 0, sizeof(b->at));
	start = now();
	if (sc.gen == NAPI)
		ns = send_pktgen(n);
	else
		send_live(n);
	/* generic mode: the first program has counted them, and the second again */
	expect = (__u64)n * copies();
	for (idle = 0; b->received + b->ring_drops < expect && idle < 20; idle++) {
		usleep(1000);
		if (b->received != last)
			idle = 0;
		last = b->received;
	}
	return ns ?: now() - start;
}

/* Has each egress device had its share of n packets, and are they as long as
 * the programs make them?
 */
static void check_sinks(unsigned int n)
{
	struct bench_bpf__bss *b = skel->bss;
	unsigned int i, share = copies() > 1 ? n : n / sc.devs;
	__u64 len = frame_len + (strcmp(sc.dev, "dev_head") ? 0 : 4);
	char name[32];

	for (i = 0; i < sc.devs; i++) {
		snprintf(name, sizeof(name), "sink%u", i);
		if (b->at[ifindex(name) & 63] != share)
			fail("out%u: %u packets to send, %llu received", i, share, b->at[ifindex(name) & 63]);
	}
	if (sc.gen == LIVE && b->bytes != b->received * len)
		fail("%llu packets of %llu bytes have %llu bytes", b->received, len, b->bytes);
}

/* Is every packet accounted for? *invalid: by the wrong program */
static void check(unsigned int n, bool *invalid)
{
	struct bench_bpf__bss *b = skel->bss;
	__u64 expect = (__u64)n * copies();

	if (b->sent != (sc.gen == SKB ? 2 : 1) * (__u64)n)
		fail("%u packets to send, %llu sent", n, b->sent / (sc.gen == SKB ? 2 : 1));
	if (b->received + b->ring_drops != expect)
		fail("%llu packets sent, %llu received and %llu dropped at the ring",
		     expect, b->received, b->ring_drops);
	if (sc.devs)
		check_sinks(n);
	if (sc.sink == STACK_FORWARD && transmitted("fwd") - forwarded != b->skbs)
		fail("%llu skbs, %llu forwarded", b->skbs, transmitted("fwd") - forwarded);
	if (*sc.dev || *sc.cpu)
		if (b->ran != expect)
			fail("%llu packets, %llu runs of the program on them", expect, b->ran);
	if (b->mismatched)
		*invalid = true;
}

/* With overflow: what is dropped is counted in a run of its own, by the
 * tracepoint; the measured one must deliver the same share.
 */
static void check_overflow(unsigned int n, __u64 share)
{
	struct bench_bpf__bss *b = skel->bss;

	if (b->sent != n || b->received != share)
		fail("%u packets sent, %llu received, %llu expected", n, b->received, share);
}

static __u64 count_overflow(unsigned int n)
{
	bool invalid = false;

	tp = bpf_raw_tracepoint_open("xdp_cpumap_enqueue", program("ring"));
	need(tp, "cannot attach to xdp_cpumap_enqueue");
	run(n);
	check(n, &invalid);
	close(tp);
	if (!skel->bss->ring_drops)
		fail("the ring did not overflow");
	return skel->bss->received;
}

/* Let the kernel finish what it put off: namespaces that go, RCU, page pools.
 * Idle time costs nothing under -icount sleep=off.
 */
static void settle(void)
{
	if (!pace)
		sleep(1);
}

static void measure(void)
{
	__u64 share_short = 0, share_long = 0, ns;
	bool invalid = false;
	unsigned int first, warm_up;
	char line[64];

	packets = packets / sc.div ?: 1;
	batch = sc.batch ?: batch;
	warm_up = 4 * (batch > 64 ? batch : 64);
	settle();
	set_up();
	if (sc.overflow && !pace) {
		share_short = count_overflow(batch);
		share_long = count_overflow(batch + packets);
	}
	run(warm_up);		/* here and below: caches, page pool, slabs */
	if (pace) {
		printf("%s ready\n", sc.name);
		while (fgets(line, sizeof(line), stdin) && sscanf(line, "run %u", &packets) == 1) {
			if (sc.overflow)
				share_long = count_overflow(packets);
			ns = run(packets);
			if (sc.overflow)
				check_overflow(packets, share_long);
			else
				check(packets, &invalid);
			printf("%s %s %u phase=0 skbs=%llu ns=%llu\n", sc.name, invalid ? "invalid" : "ok",
			       packets, skel->bss->skbs, ns);
		}
		return;
	}

	settle();
	run(warm_up);
	mark();
	first = *phase;
	run(batch);
	mark();
	if (sc.overflow)
		check_overflow(batch, share_short);
	else
		check(batch, &invalid);
	settle();
	run(warm_up);
	mark();
	ns = run(batch + packets);
	mark();
	if (sc.overflow)
		check_overflow(batch + packets, share_long);
	else
		check(batch + packets, &invalid);
	printf("%s %s %u phase=%u skbs=%llu ns=%llu\n", sc.name, invalid ? "invalid" : "ok",
	       packets, first, skel->bss->skbs, ns);
}

/* --- scenarios: name, class, text, and parameters, separated by tabs */

static void parse(char *args)
{
	static const char * const gens[] = { "live", "napi", "skb" };
	static const char * const sinks[] = { "xdp", "drop", "forward", "back" };
	char *arg, *value;
	unsigned int i;

	sc.devs = sc.entries = sc.live = sc.train = sc.div = 1;
	sc.gro = true;
	for (arg = strtok(args, " \n"); arg; arg = strtok(NULL, " \n")) {
		value = strchr(arg, '=');
		if (!value)
			fail("its parameter %s has no value", arg);
		*value++ = 0;
#define STRING(key) else if (!strcmp(arg, #key)) snprintf(sc.key, sizeof(sc.key), "%s", value)
#define NUMBER(key) else if (!strcmp(arg, #key)) sc.key = atoi(value)
		if (!strcmp(arg, "gen")) {
			for (i = 0; i < 3 && strcmp(value, gens[i]); i++)
				;
			if (i == 3)
				fail("it has an unknown generator %s", value);
			sc.gen = i;
		} else if (!strcmp(arg, "sink")) {
			for (i = 0; i < 4 && strcmp(value, sinks[i]); i++)
				;
			if (i == 4)
				fail("it has an unknown sink %s", value);
			sc.sink = i;
		}
		STRING(first);
		STRING(dev);
		STRING(cpu);
		NUMBER(devs);
		NUMBER(entries);
		NUMBER(live);
		NUMBER(extra);
		NUMBER(flows);
		NUMBER(train);
		NUMBER(size);
		NUMBER(qsize);
		NUMBER(div);
		NUMBER(batch);
		NUMBER(hash);
		NUMBER(gro);
		NUMBER(overflow);
		NUMBER(fragments);
		else
			fail("it has an unknown parameter %s", arg);
	}
	if (sc.live > sc.entries)
		fail("more live entries than entries");
	if (!strcmp(sc.first, "first_interleave") && sc.entries & (sc.entries - 1))
		fail("%u entries to interleave are no power of two", sc.entries);
	if (sc.flows & (sc.flows - 1) || sc.train & (sc.train - 1) || !sc.train || sc.flows > 64)
		fail("flows and trains are powers of two, flows up to 64");
}

static bool find(const char *path, const char *name)
{
	char *line = NULL, *field[4] = {}, *rest;
	FILE *f = fopen(path, "r");
	bool found = false;
	size_t room = 0;
	int i;

	memset(&sc, 0, sizeof(sc));
	snprintf(sc.name, sizeof(sc.name), "%s", name);
	if (!f) {
		perror(path);
		exit(2);
	}
	while (!found && getline(&line, &room, f) > 0) {
		for (rest = line, i = 0; i < 4; i++)
			field[i] = strsep(&rest, "\t");
		found = field[3] && !strcmp(field[0], name);
	}
	if (found)
		parse(field[3]);
	free(line);
	fclose(f);
	return found;
}

int main(int argc, char **argv)
{
	const char *path = "bench/scenarios";
	int opt, status, bad = 0;
	cpu_set_t cpu;

	while ((opt = getopt(argc, argv, "f:pn:b:s:q:i:")) != -1)
		switch (opt) {
		case 'f': path = optarg; break;
		case 'p': pace = true; break;
		case 'n': packets = atoi(optarg); break;
		case 'b': batch = atoi(optarg); break;
		case 's': size = atoi(optarg); break;
		case 'q': qsize = atoi(optarg); break;
		case 'i': moderation = atoi(optarg); break;
		default: return 2;
		}
	if (batch < 1 || batch > 256 || !packets) {
		fprintf(stderr, "driver: a batch has 1 to 256 packets, and there must be some\n");
		return 2;
	}
	setlinebuf(stdout);
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu)) {
		perror("driver: CPU 0");
		return 2;
	}
	write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	phase = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (phase == MAP_FAILED) {
		perror("driver: mmap");
		return 2;
	}
	for (; optind < argc; optind++) {
		if (!find(path, argv[optind])) {
			printf("%s failed no such scenario\n", argv[optind]);
			bad = 1;
			continue;
		}
		if (!fork()) {
			measure();
			fflush(stdout);
			_exit(0);
		}
		wait(&status);
		if (status)
			bad = 1;
	}
	return bad;
}
