#!/usr/bin/env bash
# bench-report.sh DIR [GLOB]: the report of the bench run in DIR, of the scenarios
# that match.
#   BASELINES=1  the baselines' cache misses too
. "$(dirname "$0")/lib.sh"

dir=${1:-} glob=${2:-}
[ -n "$dir" ] || die "no results were named" "scripts/bench-report.sh bench/results"
awk -v dir="$dir" -v glob="$glob" -v baselines="${BASELINES:-}" -v scenarios="$TOP/bench/scenarios" \
	-f "$TOP/bench/data.awk" -f "$TOP/bench/report.awk" || exit 1
