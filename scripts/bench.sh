#!/usr/bin/env bash
# bench.sh [GLOB]: build the bench's kernels, run the scenarios, and print the
# report. Finished rows are kept in build/bench/rows: an interrupted run goes on,
# a second one only prints.
#   QUICK=1    stock and patched, instruction counts of the quick scenarios
#   KERNELS=   some of: stock patched and the baselines
#   WALL=0     no wall clock
#   PAIRS=11   pairs of wall-clock runs
#   PACKETS= CACHE_PACKETS= BATCH= SIZE= MODERATION= CACHE_MODEL= BENCH_CPU=
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/queue.sh"
. "$TOP/scripts/bench-lib.sh"

glob=${1:-}
bench=$BUILD/bench
results=$bench/results
lock
copy_scenarios
mapfile -t chosen < <(scenarios | while read -r s; do
	# shellcheck disable=SC2254
	case $s in ${glob:-*}) echo "$s" ;; esac
done)
[ ${#chosen[@]} -gt 0 ] || die "S=$glob matches no scenario of bench/scenarios" "one of: $(scenarios | xargs)"
read -ra kernels <<<"${KERNELS:-stock patched $([ -n "${QUICK:-}" ] || baselines | xargs)}"
for k in "${kernels[@]}"; do
	case $k in stock | patched) continue ;; esac
	[ -e "$TOP/baseline/$k.patch" ] || die "KERNELS names $k" "some of: stock patched $(baselines | xargs)"
done
slow='redirect-1000dev napi-* bcast-3of1024 cpumap-tcp-*-32 cpumap-tcp-64-*'

# for_kernel KERNEL: the chosen scenarios that it runs
for_kernel() {
	local s p patterns
	patterns=$(sed -n "s/^$1 //p" "$TOP/baseline/scenarios")
	set -f
	for s in "${chosen[@]}"; do
		if [ -n "${QUICK:-}" ] && [ -z "$glob" ]; then
			for p in $slow; do
				# shellcheck disable=SC2254
				case $s in $p) continue 2 ;; esac
			done
		fi
		case $1 in stock | patched) echo "$s"; continue ;; esac
		for p in $patterns; do
			# shellcheck disable=SC2254
			case $s in $p) echo "$s"; break ;; esac
		done
	done
}

script deps
script tree
export XDP_BULK_NOTED=1
script tools
mkdir -p "$results" "$BUILD/log"

build_bench
built=()
for k in "${kernels[@]}"; do
	[ -n "$(for_kernel "$k")" ] || continue
	script kernel "bench-$k"
	built+=("$k")
	for f in bq_xmit_all cpu_map_kthread_run; do
		grep -q "[tT] $f\(\.\|\$\)" "$BUILD/bench-$k/System.map" ||
			die "the kernel $k has no function $f to measure" "bench/groups, and the series" "$BUILD/bench-$k/System.map"
	done
done
kernels=("${built[@]}")

# --- runs: as many guests at a time as there are CPUs; how far, and how long yet
declare -A running=()
cleanup() {
	local pid
	for pid in "${!running[@]}"; do kill -TERM -- "-$pid" 2>/dev/null || true; done
	for pid in "${!running[@]}"; do wait "$pid" 2>/dev/null || true; done
}
jobs_left=()
failed_jobs=0
add_job() { # KIND KERNEL SCENARIO...
	[ $# -le 2 ] || jobs_left+=("$*")
}
count_rows() {
	local job kind k s n=0
	for job in "$@"; do
		read -r kind k s <<<"$job"
		for s in $s; do
			[ "$(head -n1 "$bench/rows/$kind/$k/$s" 2>/dev/null)" != "$(row_key "$kind" "$k" "$s")" ] || n=$((n + 1))
		done
	done
	echo $n
}
finished_lines() { cat "$BUILD"/run/bench-*-{count,cache,again,cagain}/console 2>/dev/null | grep -cE '^[a-z0-9-]+ (ok|invalid|failed) ' || true; }
run_jobs() {
	local job pid what total start=$SECONDS shown=$SECONDS finished left
	total=$(($(for job in "${jobs_left[@]}"; do read -ra w <<<"$job"; echo $((${#w[@]} - 2)); done | paste -sd+ | sed 's/^$/0/')))
	finished=$(count_rows "${jobs_left[@]}")
	total=$((total - finished))
	[ $total -gt 0 ] || { jobs_left=(); return 0; }
	rm -rf "$BUILD"/run/bench-*-{count,cache,again,cagain}
	say "bench: $total rows to measure ($finished are there)"
	while [ ${#jobs_left[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
		while [ ${#jobs_left[@]} -gt 0 ] && [ ${#running[@]} -lt "$JOBS" ]; do
			read -ra what <<<"${jobs_left[0]}"
			jobs_left=("${jobs_left[@]:1}")
			set -m
			"$TOP/scripts/bench-run.sh" "${what[@]}" </dev/null &
			running[$!]="${what[*]:0:2}"
			set +m
		done
		sleep 1
		for pid in "${!running[@]}"; do
			kill -0 "$pid" 2>/dev/null && continue
			wait "$pid" || { failed_jobs=$((failed_jobs + 1)); say "bench: ${running[$pid]} did not finish"; }
			unset "running[$pid]"
		done
		if [ $((SECONDS - shown)) -ge 30 ]; then
			shown=$SECONDS
			finished=$(finished_lines)
			left=estimating
			[ "$finished" -lt 3 ] || left="about $(((SECONDS - start) * (total - finished) / finished / 60 + 1)) minutes left"
			say "bench: $finished of $total rows, $left"
		fi
	done
}

for k in "${kernels[@]}"; do
	mapfile -t s < <(for_kernel "$k")
	add_job count "$k" ${s[@]+"${s[@]}"}
done
# One scenario twice, for the comparison
twice=${chosen[0]}
case " ${chosen[*]} " in *' map '*) twice=map ;; esac
case " ${kernels[*]} " in *' stock '*) add_job again stock "$twice" ;; esac
rm -f "$bench"/rows/{again,cagain}/stock/*
if [ -z "${QUICK:-}" ]; then
	for k in "${kernels[@]}"; do
		mapfile -t s < <(for_kernel "$k")
		add_job cache "$k" ${s[@]+"${s[@]}"}
	done
	case " ${kernels[*]} " in *' stock '*) add_job cagain stock "$twice" ;; esac
fi
run_jobs
wall=
if [ -z "${QUICK:-}" ] && [ "${WALL:-}" != 0 ]; then
	case " ${kernels[*]} " in *' stock '*) case " ${kernels[*]} " in *' patched '*) wall=1 ;; esac ;; esac
fi
if [ -n "$wall" ]; then
	"$TOP/scripts/bench-wall.sh" "${chosen[@]}" || failed_jobs=$((failed_jobs + 1))
fi
rc=0

"$TOP/scripts/bench-csv.sh" "$results" "${kernels[@]}" || rc=1
"$TOP/scripts/bench-report.sh" "$results" "$glob" || rc=1
case " ${kernels[*]} " in
*' stock '*)
	twice "$twice" || rc=1
	twice_cache "$twice" ;;
esac
# All that has no figure, with its reason, and last
for kind in count cache again cagain wall; do
	[ "$kind" != wall ] || [ -n "$wall" ] || continue
	for k in "${kernels[@]}"; do
		dir=$bench/rows/$kind/$k
		[ "$kind" != wall ] || dir=$bench/rows/wall
		for s in "${chosen[@]}"; do
			reason=$(sed -n '2s/^failed //p' "$dir/$s" 2>/dev/null) || continue
			[ -z "$reason" ] || { say "not ok - $s on $k ($kind): $reason; try: make bench S=$s"; rc=1; }
		done
		[ "$kind" != wall ] || break
	done
done
if [ "$failed_jobs" != 0 ]; then
	say "not ok - $failed_jobs of the runs did not finish, see above; try: make bench"
	rc=1
fi
exit $rc
