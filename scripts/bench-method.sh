#!/usr/bin/env bash
# bench-method.sh: is the method right? The plugin on a tiny stock kernel against
# the hand-measured figures in bench/hand-measured, within 2 %.
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/queue.sh"
. "$TOP/scripts/bench-lib.sh"
lock
script deps
script tree
export XDP_BULK_NOTED=1
script tools
build_bench
script kernel tiny-stock
copy_scenarios

hand=$TOP/bench/hand-measured
mapfile -t names < <(awk '!/^#/ { print $1 }' "$hand")
# as they were measured by hand: each iteration of a string instruction counted
say "bench: ${#names[@]} scenarios on the tiny kernel, about a minute"
script bench-run each tiny-stock "${names[@]}"
rc=0
for s in "${names[@]}"; do
	awk -v s="$s" '
		NR == FNR { if ($1 == s) { want = $2; for (i = 3; i <= NF; i++) core[$i] }; next }
		FNR == 2 { n = $2; status = $1; if (status != "ok") exit }
		{ sub(/@cpumap$/, "", $1) }
		FNR > 2 && ($1 in core) { sum += $2 / n; each[$1] += $2 / n }
		END {
			for (f in each) if (each[f] >= 0.05) detail = detail sprintf(" %s %.1f", f, each[f])
			off = want ? 100 * (sum / want - 1) : 0
			ok = status == "ok" && off <= 2 && off >= -2
			printf "%s - %s: %.1f instructions per packet, by hand %d (%+.1f %%):%s\n", ok ? "ok" : "not ok", s, sum, want, off, detail
			exit !ok
		}' "$hand" "$BUILD/bench/rows/each/tiny-stock/$s" || rc=1
done
exit $rc
