#!/usr/bin/env bash
# bench-save.sh: build/bench/results becomes bench/results, if it is complete,
# with plots and docs/results.md made from it.
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/queue.sh"
. "$TOP/scripts/bench-lib.sh"
lock
copy_scenarios
new=$BUILD/bench/results
[ -s "$new/counts.csv" ] || die "there are no results in ${new#"$PWD"/}" "make bench"
for k in stock patched $(baselines); do
	grep -q "^[^,]*,$k,ok" "$new/counts.csv" || die "the last run has nothing of kernel $k" "make bench (without QUICK, KERNELS and S)"
done
for s in $(scenarios); do
	grep -q "^$s,patched,ok," "$new/counts.csv" || die "the last run has no figure of $s on patched" "make bench"
done
[ -s "$new/wall.csv" ] || die "the last run has no wall clock" "make bench (without QUICK)"
variant_commit patched
grep -q "^patched,$(echo "$plain" | cut -c1-12)," "$new/kernels.csv" ||
	die "the last run was of another patched kernel than build/linux has now" "make bench"
mkdir -p "$TOP/bench/results"
for f in counts.csv wall.csv kernels.csv environment config; do
	cp "$new/$f" "$TOP/bench/results/.new"
	mv "$TOP/bench/results/.new" "$TOP/bench/results/$f"
done
script bench-plots "$TOP/bench/results"
script bench-docs "$TOP/bench/results"
say "bench: saved in bench/results; git diff shows what changed"
