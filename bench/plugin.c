// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU TCG plugin: instructions, calls and modelled cache misses for each
 * function of a guest kernel, cut into phases by the guest.
 *
 *   -plugin plugin.so,symbols=System.map,out=FILE[,cache=on][,rep=each]
 *           [,line=64][,l1i=32:8][,l1d=48:12][,l2=2048:16]	(KiB:ways)
 *
 * A phase ends where user space executes MARK, a no-op with a displacement that
 * no compiler emits. FILE gets a block for each phase:
 *
 *   phase N
 *   function instructions calls l1i l1d l2
 *
 * Rows besides functions: [bpf], [user], [other].
 *
 *  - Instructions of a thunk (retpoline, return thunk, static call) count for
 *    the function that came to it.
 *  - A string instruction with a rep prefix counts once, as the counters of
 *    hardware have it; rep=each counts each iteration, as TCG does.
 *  - What runs for cpumap's kthread (called from cpu_map_kthread_run(), neither
 *    another task nor a softirq) is a row of its own, foo@cpumap: the consumer
 *    shares many functions with the generator and with NAPI.
 *  - foo.cold, foo.part.0, foo.constprop.0 and foo.isra.0 are foo.
 *
 * The cache model: L1i, L1d and a unified L2 for each CPU, physical addresses
 * taken to be virtual ones, true LRU, write-allocate. It has no prefetcher, no
 * speculation, no TLB, no L3 and no coherence: a line that another CPU has
 * written is still a hit here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of QEMU's qemu-plugin.h (API version 1), which is not packaged. */
typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
		void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
		void (*cb)(unsigned int cpu, void *data), enum qemu_plugin_cb_flags flags, void *data);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, void *data), enum qemu_plugin_cb_flags flags, void *data);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data),
		enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *data);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
		void (*cb)(qemu_plugin_id_t id, void *data), void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
extern unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

#define MAX_CPUS 8
#define KERNEL_MAP 0xffffffff80000000ull	/* kernel image, then modules and BPF */
#define KERNEL_MAP_END 0xffffffffff000000ull

/* nopl 0x42504458(%rax) */
static const uint8_t MARK[] = { 0x0f, 0x1f, 0x80, 'X', 'D', 'P', 'B' };

enum { INSNS, CALLS, L1I, L1D, L2, FIGURES };

/* Whose work it is */
enum { COMMON, CONSUMER, CONTEXTS };

struct func {
	const char *name;
	bool thunk;
	bool consumer, leaves;	/* begins and ends the kthread's work */
	uint64_t now[CONTEXTS][FIGURES], before[CONTEXTS][FIGURES];
	struct func *next;	/* of the same hash */
	struct func *all;
};

struct sym {
	uint64_t addr;
	struct func *func;
};

/* A run of instructions of one function in a translation block */
struct chunk {
	uint64_t addr, end;
	uint64_t last_rep;	/* its last instruction, if that has a rep prefix */
	struct func *func;
	uint32_t n;
	bool first_rep, entry;
	struct chunk *next;
};

struct cache {
	unsigned int sets, ways;
	uint64_t *tags;	/* most recently used first in each set; 0: empty */
};

struct cpu {
	struct func *func;
	int context;
	uint64_t last_rep;
	struct cache l1i, l1d, l2;
};

#define HASH 65536
static struct func *by_name[HASH], *all_funcs, *bpf, *user, *other;
static struct chunk *chunks[HASH];
static struct sym *syms;
static size_t n_syms;
static uint64_t image_end;
static struct cpu cpus[MAX_CPUS];
static unsigned int line_shift = 6, phase;
static bool cache_on, rep_each;
static FILE *out;

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "plugin: out of memory\n");
		exit(1);
	}
	return p;
}

static struct func *find_func(const char *name, size_t len)
{
	uint32_t h = 2166136261u;
	struct func *f;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	h %= HASH;
	for (f = by_name[h]; f; f = f->next)
		if (!strncmp(f->name, name, len) && !f->name[len])
			return f;
	f = need(calloc(1, sizeof(*f)));
	f->name = need(strndup(name, len));
	f->next = by_name[h];
	by_name[h] = f;
	f->consumer = !strcmp(f->name, "cpu_map_kthread_run");
	f->leaves = !strcmp(f->name, "__switch_to_asm") || !strcmp(f->name, "handle_softirqs") ||
		    !strncmp(f->name, "asm_sysvec_", 11);
	f->all = all_funcs;
	all_funcs = f;
	return f;
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_thunk(const char *name)
{
	static const char * const thunks[] = {
		"__x86_indirect_", "__x86_return_", "srso_", "retbleed_", "its_", "__SCT__",
		"__x86_call_", "clear_bhb_", "entry_untrain_",
	};
	size_t i;

	for (i = 0; i < sizeof(thunks) / sizeof(*thunks); i++)
		if (starts(name, thunks[i]))
			return true;
	return false;
}

/* What the compiler appends to a function's name */
static size_t base_len(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

static int read_symbols(const char *path)
{
	FILE *f = fopen(path, "r");
	char type, name[512];
	uint64_t addr;
	size_t room = 0;

	if (!f) {
		fprintf(stderr, "plugin: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (fscanf(f, "%" SCNx64 " %c %511s", &addr, &type, name) == 3) {
		if (!strcmp(name, "_end"))
			image_end = addr;
		if (addr < KERNEL_MAP || !strchr("tTwW", type) || starts(name, "__pfx_"))
			continue;
		/* of several names for one address, the last global one */
		if (n_syms && syms[n_syms - 1].addr == addr) {
			if (type != 'T')
				continue;
			n_syms--;
		}
		if (n_syms == room) {
			room = room ? 2 * room : 65536;
			syms = need(realloc(syms, room * sizeof(*syms)));
		}
		syms[n_syms].addr = addr;
		syms[n_syms].func = find_func(name, base_len(name));
		syms[n_syms].func->thunk = is_thunk(name);
		n_syms++;
	}
	fclose(f);
	if (n_syms < 1000 || !image_end) {
		fprintf(stderr, "plugin: %s is no System.map\n", path);
		return -1;
	}
	return 0;
}

static struct func *lookup(uint64_t addr, bool *entry)
{
	size_t lo = 0, hi = n_syms;

	*entry = false;
	if (addr < 1ull << 63)
		return user;
	if (addr >= image_end && addr >= KERNEL_MAP && addr < KERNEL_MAP_END)
		return bpf;
	if (addr < syms[0].addr || addr >= image_end)
		return other;
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (syms[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	*entry = syms[lo].addr == addr;
	return syms[lo].func;
}

/* Returns true if addr's line was not there, and puts it there. */
static bool miss(struct cache *c, uint64_t line)
{
	uint64_t *set = &c->tags[line % c->sets * c->ways], tag = line + 1;
	unsigned int i;
	bool hit;

	for (i = 0; i < c->ways - 1 && set[i] != tag; i++)
		;
	hit = set[i] == tag;
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = tag;
	return !hit;
}

static void fetch(struct cpu *cpu, struct func *f, uint64_t addr, uint64_t end)
{
	uint64_t *now = f->now[cpu->context];
	uint64_t line;

	for (line = addr >> line_shift; line <= (end - 1) >> line_shift; line++) {
		if (!miss(&cpu->l1i, line))
			continue;
		now[L1I]++;
		now[L2] += miss(&cpu->l2, line);
	}
}

static void on_mem(unsigned int n, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
	uint64_t end = addr + (1ull << qemu_plugin_mem_size_shift(info)), line;
	struct cpu *cpu = &cpus[n];
	uint64_t *now = cpu->func->now[cpu->context];

	for (line = addr >> line_shift; line <= (end - 1) >> line_shift; line++) {
		if (!miss(&cpu->l1d, line))
			continue;
		now[L1D]++;
		now[L2] += miss(&cpu->l2, line);
	}
}

static void on_chunk(unsigned int n, void *data)
{
	const struct chunk *c = data;
	struct cpu *cpu = &cpus[n];
	struct func *f = c->func;
	uint64_t *now;

	if (f->thunk) {
		f = cpu->func;
		now = f->now[cpu->context];
	} else {
		if (f->consumer)
			cpu->context = CONSUMER;
		else if (f->leaves)
			cpu->context = COMMON;
		cpu->func = f;
		now = f->now[cpu->context];
		now[CALLS] += c->entry;
	}
	now[INSNS] += c->n;
	/* TCG leaves the block after each iteration and comes back to it */
	if (c->first_rep && cpu->last_rep == c->addr && !rep_each)
		now[INSNS]--;
	cpu->last_rep = c->last_rep;
	if (cache_on)
		fetch(cpu, f, c->addr, c->end);
}

static void on_mark(unsigned int n, void *data)
{
	struct func *f;
	int i, k;

	fprintf(out, "phase %u\n", phase++);
	for (f = all_funcs; f; f = f->all) {
		for (k = 0; k < CONTEXTS; k++) {
			if (f->now[k][INSNS] == f->before[k][INSNS])
				continue;
			fprintf(out, "%s%s", f->name, k == CONSUMER ? "@cpumap" : "");
			for (i = 0; i < FIGURES; i++)
				fprintf(out, " %" PRIu64, f->now[k][i] - f->before[k][i]);
			fputc('\n', out);
		}
		memcpy(f->before, f->now, sizeof(f->now));
	}
	fflush(out);
}

static bool is_rep_string(const uint8_t *p, size_t len)
{
	bool rep = false;

	for (; len > 1; p++, len--) {
		if (*p == 0xf2 || *p == 0xf3)
			rep = true;
		else if (*p != 0x66 && *p != 0x67 && (*p & 0xf0) != 0x40)
			return false;
	}
	switch (*p) {
	case 0x6c ... 0x6f:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		return rep;
	}
	return false;
}

/* QEMU translates a block again and again: keep one record for equal ones. */
static struct chunk *get_chunk(const struct chunk *want)
{
	uint64_t h = (want->addr ^ want->addr >> 16 ^ want->n * 40503u) % HASH;
	struct chunk *c;

	for (c = chunks[h]; c; c = c->next)
		if (c->addr == want->addr && c->end == want->end && c->n == want->n &&
		    c->last_rep == want->last_rep && c->first_rep == want->first_rep)
			return c;
	c = need(malloc(sizeof(*c)));
	*c = *want;
	c->next = chunks[h];
	chunks[h] = c;
	return c;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), first = 0, i;
	struct chunk c = {};

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *bytes = qemu_plugin_insn_data(insn);
		size_t size = qemu_plugin_insn_size(insn);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		bool entry, rep = is_rep_string(bytes, size);
		struct func *f = lookup(addr, &entry);

		if (!c.n || f != c.func || entry) {
			if (c.n && !first)
				qemu_plugin_register_vcpu_tb_exec_cb(tb, on_chunk,
						QEMU_PLUGIN_CB_NO_REGS, get_chunk(&c));
			else if (c.n)
				qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, first),
						on_chunk, QEMU_PLUGIN_CB_NO_REGS, get_chunk(&c));
			c = (struct chunk){ .addr = addr, .func = f, .first_rep = rep, .entry = entry };
			first = i;
		}
		c.n++;
		c.end = addr + size;
		c.last_rep = rep ? addr : 0;
		if (size == sizeof(MARK) && f == user && !memcmp(bytes, MARK, size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
					QEMU_PLUGIN_CB_NO_REGS, NULL);
		if (cache_on)
			qemu_plugin_register_vcpu_mem_cb(insn, on_mem, QEMU_PLUGIN_CB_NO_REGS,
					QEMU_PLUGIN_MEM_RW, NULL);
	}
	if (!n)
		return;
	if (!first)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_chunk, QEMU_PLUGIN_CB_NO_REGS, get_chunk(&c));
	else
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, first), on_chunk,
				QEMU_PLUGIN_CB_NO_REGS, get_chunk(&c));
}

static void at_end(qemu_plugin_id_t id, void *data)
{
	fprintf(out, "end\n");
	fclose(out);
}

/* KIB:WAYS, or as it was */
static int set_cache(struct cache *c, const char *arg)
{
	unsigned int kib, ways;

	if (sscanf(arg, "%u:%u", &kib, &ways) != 2 || !ways ||
	    (kib << 10 >> line_shift) % ways || !(kib << 10 >> line_shift)) {
		fprintf(stderr, "plugin: a cache is KIB:WAYS, not %s\n", arg);
		return -1;
	}
	c->ways = ways;
	c->sets = (kib << 10 >> line_shift) / ways;
	return 0;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *symbols = NULL, *out_path = NULL;
	const char *l1i = "32:8", *l1d = "48:12", *l2 = "2048:16";
	unsigned int line = 64;
	int i;

	if (!info->system_emulation || info->system.max_vcpus > MAX_CPUS) {
		fprintf(stderr, "plugin: system emulation with at most %d CPUs\n", MAX_CPUS);
		return -1;
	}
	for (i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			goto unknown;
		*value++ = 0;
		if (!strcmp(argv[i], "symbols"))
			symbols = value;
		else if (!strcmp(argv[i], "out"))
			out_path = value;
		else if (!strcmp(argv[i], "cache"))
			cache_on = !strcmp(value, "on");
		else if (!strcmp(argv[i], "rep"))
			rep_each = !strcmp(value, "each");
		else if (!strcmp(argv[i], "line"))
			line = atoi(value);
		else if (!strcmp(argv[i], "l1i"))
			l1i = value;
		else if (!strcmp(argv[i], "l1d"))
			l1d = value;
		else if (!strcmp(argv[i], "l2"))
			l2 = value;
		else
			goto unknown;
		continue;
unknown:
		fprintf(stderr, "plugin: unknown argument %s\n", argv[i]);
		return -1;
	}
	if (line < 16 || line & (line - 1)) {
		fprintf(stderr, "plugin: a cache line of %u bytes\n", line);
		return -1;
	}
	line_shift = __builtin_ctz(line);
	if (!symbols || !out_path) {
		fprintf(stderr, "plugin: symbols= and out= are needed\n");
		return -1;
	}
	bpf = find_func("[bpf]", 5);
	user = find_func("[user]", 6);
	other = find_func("[other]", 7);
	if (read_symbols(symbols))
		return -1;
	out = fopen(out_path, "w");
	if (!out) {
		fprintf(stderr, "plugin: %s: %s\n", out_path, strerror(errno));
		return -1;
	}
	for (i = 0; i < MAX_CPUS; i++) {
		struct cpu *cpu = &cpus[i];

		cpu->func = other;
		if (set_cache(&cpu->l1i, l1i) || set_cache(&cpu->l1d, l1d) || set_cache(&cpu->l2, l2))
			return -1;
		if (!cache_on)
			continue;
		cpu->l1i.tags = need(calloc(cpu->l1i.sets * cpu->l1i.ways, sizeof(uint64_t)));
		cpu->l1d.tags = need(calloc(cpu->l1d.sets * cpu->l1d.ways, sizeof(uint64_t)));
		cpu->l2.tags = need(calloc(cpu->l2.sets * cpu->l2.ways, sizeof(uint64_t)));
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, at_end, NULL);
	return 0;
}
