#!/usr/bin/env bash
# bench-csv.sh DIR KERNEL...: DIR/counts.csv, wall.csv, kernels.csv, environment
# and config from the rows in build/bench/rows. Functions outside the core of
# less than half an instruction per packet are added up as [rest]. Exit 1 if a
# function of devmap.c or cpumap.c with more is in no group.
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/bench-lib.sh"

dir=$1
shift
rows=$BUILD/bench/rows
mkdir -p "$dir"
rc=0

{
	echo scenario,kernel,status,packets,group,function,insns,calls,l1i,l1d,l2
	for k in "$@"; do
		for s in $(scenarios); do
			f=$rows/count/$k/$s
			[ "$(head -n1 "$f" 2>/dev/null)" = "$(row_key count "$k" "$s")" ] || continue
			c=$rows/cache/$k/$s
			[ "$(head -n1 "$c" 2>/dev/null)" = "$(row_key cache "$k" "$s")" ] || c=/dev/null
			awk -v scenario="$s" -v kernel="$k" -v batch="$BATCH" '
				function re(g) { gsub(/[.]/, "\\.", g); gsub(/\*/, ".*", g); return "^" g "$" }
				function group(f,   i) {
					if (f == "[bpf]" || f == "[bpf]@cpumap") return "bpf"
					if (f == "[user]") return "user"
					for (i = 1; i <= np; i++) if (f ~ pattern[i]) return of[i]
					return "other"
				}
				function row(g, f, i, c, x, y, z) {
					return sprintf("%s,%s,%s,%d,%s,%s,%.3f,%.3f,", scenario, kernel, status, packets, g, f,
						i / packets, c / packets) \
						(cached ? sprintf("%.4f,%.4f,%.4f", x / cached, y / cached, z / cached) : ",,")
				}
				BEGIN { sorted = "sort -t, -k7,7rn -k6,6" }
				role == "scenarios" {
					split($0, t, "\t")
					if (t[1] == scenario) { class = t[2]; overflow = t[4] ~ /overflow=1/ }
					next
				}
				role == "groups" {
					if ($1 != scenario && $1 != class) next
					if ($1 == scenario && !own) { own = 1; np = 0 }
					if (own && $1 != scenario) next
					for (i = 3; i <= NF; i++) { pattern[++np] = re($i); of[np] = $2 }
					next
				}
				role == "core" { if ($1 == class) must[$2]; next }
				role == "cache" {
					if (FNR == 2 && $1 != "failed") cached = $2
					if (FNR > 2) { fn[$1]; l1i[$1] = $4; l1d[$1] = $5; l2[$1] = $6 }
					next
				}
				FNR == 2 {
					status = $1; packets = $2; skbs = $3
					if (status == "failed") { sub(/^failed /, ""); reason = $0 }
				}
				FNR > 2 { fn[$1]; insns[$1] = $2; calls[$1] = $3 }
				END {
					# what is merged: program text, in whichever context
					insns["[bpf]"] += insns["[bpf]@cpumap"]; l1i["[bpf]"] += l1i["[bpf]@cpumap"]
					l1d["[bpf]"] += l1d["[bpf]@cpumap"]; l2["[bpf]"] += l2["[bpf]@cpumap"]
					fn["[bpf]"]; delete fn["[bpf]@cpumap"]
					for (f in fn) if (group(f) ~ /^(core|producer|consumer)$/) core += insns[f]
					if (status != "failed" && class != "floor" && core <= 0) {
						status = "failed"; reason = "no function of the core ran" }
					if (status == "failed") {
						printf "%s,%s,failed:%s,0,none,*,,,,,\n", scenario, kernel, reason
						exit
					}
					for (f in fn) {
						g = group(f)
						base = f; sub(/@cpumap$/, "", base)
						if (g == "other" && insns[f] >= packets && (base in must)) {
							printf "not ok - %s on %s: %s() is of the core, and in no group; try: a line in bench/groups\n",
								scenario, kernel, f >"/dev/stderr"
							forgotten = 1
						}
						wi += insns[f]; wc += calls[f]; w1 += l1i[f]; w2 += l1d[f]; w3 += l2[f]
						if (g == "other" && insns[f] < packets / 2) {
							ri += insns[f]; rc += calls[f]; r1 += l1i[f]; r2 += l1d[f]; r3 += l2[f]
							continue
						}
						print row(g, f, insns[f], calls[f], l1i[f], l1d[f], l2[f]) | sorted
					}
					close(sorted)
					print row("other", "[rest]", ri, rc, r1, r2, r3)
					print row("whole", "*", wi, wc, w1, w2, w3)
					if (skbs > 0 && !overflow)	# segments per skb is the inverse
						printf "%s,%s,%s,%d,info,[skbs],,%.6f,,,\n", scenario, kernel, status,
							packets, skbs / (packets + batch)
					exit forgotten
				}' role=scenarios "$SCENARIOS" role=groups "$TOP/bench/groups" \
				role=core "$BUILD/$(flavour_of "$k")/core" role=cache "$c" role=count "$f" || rc=1
		done
	done
} >"$dir/.counts"
mv "$dir/.counts" "$dir/counts.csv"

# Of the trees that were counted, and no others
rm -f "$dir/wall.csv"
if wall_current; then
	{
		echo scenario,pair,kernel,ns
		for s in $(scenarios); do
			f=$rows/wall/$s
			[ "$(head -n1 "$f" 2>/dev/null)" = "$(wall_key "$s")" ] || continue
			awk -v s="$s" 'FNR > 1 && $1 != "failed" { printf "%s,%d,%s,%s\n", s, $1, $2, $3 }' "$f"
		done
	} >"$dir/.wall"
	if [ "$(wc -l <"$dir/.wall")" -gt 1 ]; then
		mv "$dir/.wall" "$dir/wall.csv"
	else
		rm "$dir/.wall"
	fi
fi

{
	echo kernel,commit_tree,config,image
	for k in "$@"; do
		printf '%s,%s,%s,%s\n' "$k" "$(cut -c1-12 "$BUILD/bench-$k/tree")" \
			"$(sha256sum <"$BUILD/bench-$k/config" | cut -c1-12)" "$(sha256sum <"$BUILD/bench-$k/bzImage" | cut -c1-12)"
	done
} >"$dir/kernels.csv"
cp "$BUILD/bench-$1/config" "$dir/config"

config() { sed -n "s/^CONFIG_$1=//p" "$dir/config"; }
set_in() { # SYMBOL...: those that are y
	local s
	for s in "$@"; do [ "$(config "$s")" != y ] || printf '%s ' "$s"; done
}
{
	echo "base: $(base_lock package) $(base_lock version)"
	echo "cpu model: QEMU $BENCH_CPU, TCG, one CPU, one instruction a nanosecond"
	echo "kernel command line: nokaslr $BENCH_APPEND"
	echo "hz: $(config HZ)"
	echo "preemption: $(set_in PREEMPT_LAZY PREEMPT PREEMPT_RT PREEMPT_DYNAMIC)"
	echo "hardening: $(set_in STACKPROTECTOR_STRONG FORTIFY_SOURCE INIT_ON_ALLOC_DEFAULT_ON INIT_STACK_ALL_ZERO SLAB_FREELIST_HARDENED LIST_HARDENED X86_KERNEL_IBT)"
	echo "instrumentation: $(set_in JUMP_LABEL DYNAMIC_FTRACE BPF_JIT KPROBES MEMCG NETFILTER)"
	sed -n 's/^environment \([a-z0-9_]*\): \(.*itigation.*\|Vulnerable.*\)$/mitigation \1: \2/p' "$BUILD/bench/environment-$1" 2>/dev/null || true
	echo "load generator: net/bpf/test_run.c of the patched kernel, in all kernels"
	echo "packets per run: $COUNT_PACKETS (instructions), $CACHE_PACKETS (cache model)"
	echo "batch: $BATCH frames of $SIZE bytes; pktgen's veth polled every $MODERATION ns"
	echo "cache model: $CACHE_MODEL (KiB:ways)"
	[ ! -s "$dir/wall.csv" ] || cat "$BUILD/bench/environment-wall"
	echo "gcc: $(gcc --version | head -n1)"
	echo "clang: $(clang-19 --version | head -n1)"
	echo "qemu: $(qemu-system-x86_64 --version | head -n1)"
} | sed 's/ *$//' >"$dir/environment"
exit $rc
