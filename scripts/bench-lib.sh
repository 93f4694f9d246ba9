# shellcheck shell=bash
# What the bench's scripts share: its parameters, and what a row depends on.
# Sourced after lib.sh.
export COUNT_PACKETS=${PACKETS:-131072} CACHE_PACKETS=${CACHE_PACKETS:-32768}
export BATCH=${BATCH:-64} SIZE=${SIZE:-64}
# nanoseconds from one poll of pktgen's veth to the next
export MODERATION=${MODERATION:-250000}
# A server's model; TCG lacks some of its features, not those that decide
# which mitigations the kernel takes
export BENCH_CPU=${BENCH_CPU:-EPYC-Milan}
export BENCH_APPEND="preempt=lazy mitigations=auto ${APPEND:-}"
# KiB:ways, as a current server core
export CACHE_MODEL=${CACHE_MODEL:-line=64,l1i=32:8,l1d=48:12,l2=2048:16}

export PAIRS=${PAIRS:-11} RUNS=${RUNS:-20}

# A copy: the guest, the keys and the report see the same, whatever is edited
SCENARIOS=$BUILD/bench/scenarios
copy_scenarios() {
	mkdir -p "$BUILD/bench"
	cp "$TOP/bench/scenarios" "$SCENARIOS.new" && mv "$SCENARIOS.new" "$SCENARIOS"
	rm -f "$BUILD"/bench/key-*	# of a former run
}

scenarios() { awk -F '\t' '!/^#/ && NF >= 4 { print $1 }' "$SCENARIOS"; }
parameters() { awk -F '\t' -v s="$1" '$1 == s { print $4 }' "$SCENARIOS"; }

# The flavour of scripts/kernel.sh that a kernel of the bench is
flavour_of() { case $1 in tiny-*) echo "$1" ;; *) echo "bench-$1" ;; esac; }

# bench_key KERNEL: what all rows of a kernel depend on
bench_key() {
	local dir f
	dir=$BUILD/$(flavour_of "$1")
	for f in "$dir/bzImage" "$dir/System.map" "$BUILD"/bench/{driver,bench.bpf.o,plugin.so} \
		"$TOP"/vm/{init,bench} "$TOP"/scripts/{boot,bench-run}.sh; do
		sha256sum <"$f" || die "there is no ${f#"$PWD"/}" "make bench"
	done
	qemu-system-x86_64 --version
	printf '%s\n' "$BATCH" "$SIZE" "$MODERATION" "$BENCH_CPU" "$BENCH_APPEND" "${MEM:-}"
}

# row_key KIND KERNEL SCENARIO
row_key() {
	local key=$BUILD/bench/key-$2
	if [ ! -s "$key" ]; then
		bench_key "$2" >"$key.$$"
		mv "$key.$$" "$key"
	fi
	{
		cat "$key"
		parameters "$3"
		case $1 in
		cache | cagain) printf '%s\n' "$CACHE_PACKETS" "$CACHE_MODEL" ;;
		*) printf '%s\n' "$COUNT_PACKETS" ;;
		esac
	} | sha256sum | cut -c1-24
}

# Is the wall clock's kernel pair built from the trees that are counted?
wall_current() {
	local v
	for v in stock patched; do
		[ -e "$BUILD/uml/$v/tree" ] && cmp -s "$BUILD/uml/$v/tree" "$BUILD/bench-$v/tree" || return 1
	done
}

# wall_key SCENARIO: what its wall clock depends on
wall_key() {
	[ -n "${uml_key:-}" ] || uml_key=$({
		for f in "$BUILD"/uml/{stock,patched}/linux "$BUILD"/bench/{driver,bench.bpf.o} \
			"$TOP"/vm/{init-uml,bench-wall} "$TOP"/scripts/{boot-uml,bench-wall}.sh /proc/version; do
			sha256sum <"$f" || die "there is no ${f#"$PWD"/}" "make bench"
		done
		printf '%s\n' "$PAIRS" "$RUNS" "$BATCH" "$SIZE" "$MODERATION"
		sed -n '/^model name/p' /proc/cpuinfo
	} | sha256sum | cut -c1-16)
	printf '%s-%s\n' "$uml_key" "$(parameters "$1" | sha256sum | cut -c1-8)"
}

# What runs in the guest and beside it: build/bench/driver and plugin.so
build_bench() {
	local bench=$BUILD/bench state
	mkdir -p "$bench" "$BUILD/log"
	state=$({ cat "$TOP"/bench/{plugin.c,driver.c,bench.bpf.c} "$BUILD/tools/stamp"; } | sha256sum | cut -c1-16)
	stamped "$state" "$bench/stamp" && return
	rm -f "$bench/stamp"
	logged "$BUILD/log/bench.log" "the bench's driver or plugin does not build" "make bench" make_bench "$bench"
	printf '%s\n' "$state" >"$bench/stamp"
}

make_bench() {
	clang-19 -O2 -g -Wall -target bpf -mcpu=v3 -I"$BUILD/uapi" -I"$BUILD/libbpf/include" \
		-c "$TOP/bench/bench.bpf.c" -o "$1/bench.bpf.o" &&
	"$BUILD/tools/bpftool" gen skeleton "$1/bench.bpf.o" name bench_bpf >"$1/bench.skel.h" &&
	gcc -O2 -g -Wall -I"$BUILD/uapi" -I"$1" -I"$BUILD/libbpf/include" "$TOP/bench/driver.c" \
		"$BUILD/libbpf/libbpf.a" -lelf -lz -o "$1/driver" &&
	gcc -O2 -Wall -fvisibility=hidden -fPIC -shared "$TOP/bench/plugin.c" -o "$1/plugin.so"
}

# twice SCENARIO: the two runs of it on stock, row by row
twice() {
	local first=$BUILD/bench/rows/count/stock/$1 again=$BUILD/bench/rows/again/stock/$1
	if ! grep -q '^ok\|^invalid' "$again" 2>/dev/null; then
		say "not ok - $1 was not run twice"
		return 1
	fi
	awk -v s="$1" '
		FNR == 2 { n[NR == FNR ? 1 : 2] = $2 }
		FNR <= 2 { next }
		NR == FNR { a[$1] = $2; sum_a += $2; next }
		{ b[$1] = $2; sum_b += $2 }
		function compare(what, x, y,   d) {
			d = x > y ? x - y : y - x
			d = d / (x > 0 ? x : 1)
			if (d > worst) { worst = d; name = what }
		}
		END {
			# a row: at least one instruction per packet in one of the runs
			for (f in b) if (!(f in a)) a[f] = 0
			for (f in a) if (a[f] >= n[1] || b[f] >= n[1]) { rows++; compare(f, a[f], b[f]) }
			compare("the whole run", sum_a, sum_b)
			ok = rows > 0 && worst <= 0.005
			printf "%s - %s run twice: %d rows and their sum agree within %.2f %% (%s)%s\n", ok ? "ok" : "not ok",
				s, rows, 100 * worst, name ? name : "no difference", ok ? "" : "; 0.5 % are allowed; try: PACKETS=524288"
			exit !ok
		}' "$first" "$again"
}

# twice_cache SCENARIO: and what two runs of the cache model differ by
twice_cache() {
	local first=$BUILD/bench/rows/cache/stock/$1 again=$BUILD/bench/rows/cagain/stock/$1
	grep -q '^ok\|^invalid' "$first" 2>/dev/null && grep -q '^ok\|^invalid' "$again" 2>/dev/null || return 0
	awk -v s="$1" '
		FNR == 2 { n[NR == FNR ? 1 : 2] = $2 }
		FNR <= 2 { next }
		{ for (i = 4; i <= 6; i++) sum[NR == FNR ? 1 : 2, i] += $i }
		END {
			printf "# %s run twice: misses per packet L1i %.2f and %.2f, L1d %.2f and %.2f, L2 %.2f and %.2f\n", s,
				sum[1, 4] / n[1], sum[2, 4] / n[2], sum[1, 5] / n[1], sum[2, 5] / n[2], sum[1, 6] / n[1], sum[2, 6] / n[2]
		}' "$first" "$again"
}
