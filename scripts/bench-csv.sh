#!/usr/bin/env bash
# bench-csv.sh DIR KERNEL...: DIR/counts.csv, kernels.csv and environment from
# the rows in build/bench/rows. Functions outside the core with less than one
# instruction per packet are added up as [rest].
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/bench-lib.sh"

dir=$1
shift
rows=$BUILD/bench/rows
mkdir -p "$dir"

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
					if (f == "[bpf]") return "bpf"
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
				FILENAME ~ /scenarios$/ { split($0, t, "\t"); if (t[1] == scenario) { class = t[2]; overflow = t[4] ~ /overflow=1/ }; next }
				FILENAME ~ /groups$/ { if ($1 == class) for (i = 3; i <= NF; i++) { pattern[++np] = re($i); of[np] = $2 }; next }
				FILENAME ~ /\/cache\// && FNR == 2 { if ($1 != "failed") cached = $2; next }
				FILENAME ~ /\/cache\// && FNR > 2 { fn[$1]; l1i[$1] = $4; l1d[$1] = $5; l2[$1] = $6; next }
				FNR == 2 { status = $1; packets = $2; skbs = $3
					if (status == "failed") { sub(/^failed /, ""); reason = $0 } ; next }
				FNR > 2 { fn[$1]; insns[$1] = $2; calls[$1] = $3 }
				END {
					for (f in fn) if (group(f) ~ /^(core|producer|consumer)$/) core += insns[f]
					if (status != "failed" && class != "floor" && core <= 0) {
						status = "failed"; reason = "no function of the core ran" }
					if (status == "failed") {
						printf "%s,%s,failed:%s,0,none,*,,,,,\n", scenario, kernel, reason
						exit
					}
					for (f in fn) {
						g = group(f)
						wi += insns[f]; wc += calls[f]; w1 += l1i[f]; w2 += l1d[f]; w3 += l2[f]
						if (g == "other" && insns[f] < packets) {
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
				}' "$TOP/bench/scenarios" "$TOP/bench/groups" "$c" "$f"
		done
	done
} >"$dir/.counts"
mv "$dir/.counts" "$dir/counts.csv"

if [ -e "$BUILD/uml/stock/linux" ] && [ -e "$BUILD/uml/patched/linux" ]; then
	{
		echo scenario,pair,kernel,ns
		for s in $(scenarios); do
			f=$rows/wall/$s
			[ "$(head -n1 "$f" 2>/dev/null)" = "$(wall_key "$s")" ] || continue
			awk -v s="$s" 'FNR > 1 && $1 != "failed" { printf "%s,%d,%s,%s\n", s, $1, $2, $3 }' "$f"
		done
	} >"$dir/.wall"
	mv "$dir/.wall" "$dir/wall.csv"
	[ "$(wc -l <"$dir/wall.csv")" -gt 1 ] || rm "$dir/wall.csv"
else
	rm -f "$dir/wall.csv"
fi

{
	echo kernel,commit_tree,config,image
	for k in "$@"; do
		[ -e "$BUILD/bench-$k/commit" ] || continue
		printf '%s,%s,%s,%s\n' "$k" "$(git -C "$TREE" rev-parse "$(cat "$BUILD/bench-$k/commit")^{tree}" | cut -c1-12)" \
			"$(sha256sum <"$BUILD/bench-$k/config" | cut -c1-12)" "$(sha256sum <"$BUILD/bench-$k/bzImage" | cut -c1-12)"
	done
} >"$dir/kernels.csv"

config() { sed -n "s/^CONFIG_$1=//p" "$BUILD/bench-$2/config"; }
set_in() { # KERNEL SYMBOL...: those that are y
	local k=$1 s
	shift
	for s in "$@"; do [ "$(config "$s" "$k")" != y ] || printf '%s ' "$s"; done
}
{
	k=$1
	echo "base: $(base_lock package) $(base_lock version)"
	echo "cpu model: QEMU $BENCH_CPU, TCG, one CPU, one instruction a nanosecond"
	echo "kernel command line: nokaslr $BENCH_APPEND"
	echo "hz: $(config HZ "$k")"
	echo "preemption: $(set_in "$k" PREEMPT_LAZY PREEMPT PREEMPT_RT PREEMPT_DYNAMIC)"
	echo "hardening: $(set_in "$k" STACKPROTECTOR_STRONG FORTIFY_SOURCE INIT_ON_ALLOC_DEFAULT_ON INIT_STACK_ALL_ZERO SLAB_FREELIST_HARDENED LIST_HARDENED X86_KERNEL_IBT)"
	echo "instrumentation: $(set_in "$k" JUMP_LABEL DYNAMIC_FTRACE BPF_JIT KPROBES MEMCG NETFILTER)"
	sed -n 's/^environment \([a-z0-9_]*\): \(.*itigation.*\|Vulnerable.*\)$/mitigation \1: \2/p' "$BUILD/bench/environment-$k" 2>/dev/null || true
	echo "load generator: net/bpf/test_run.c of the patched kernel, in all kernels"
	echo "packets per run: $COUNT_PACKETS (instructions), $CACHE_PACKETS (cache model)"
	echo "batch: $BATCH frames of $SIZE bytes; pktgen's veth polled every $MODERATION ns"
	echo "cache model: $CACHE_MODEL (KiB:ways)"
	[ ! -s "$BUILD/bench/environment-wall" ] || cat "$BUILD/bench/environment-wall"
	echo "gcc: $(gcc --version | head -n1)"
	echo "clang: $(clang-19 --version | head -n1)"
	echo "qemu: $(qemu-system-x86_64 --version | head -n1)"
} | sed 's/ *$//' >"$dir/environment"
