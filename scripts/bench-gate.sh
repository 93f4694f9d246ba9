#!/usr/bin/env bash
# bench-gate.sh NEW COMMITTED [GLOB]: is the bench run in NEW no worse than the one in
# COMMITTED, and what does it have of what bench/gate asks for? With GLOB, of the
# scenarios that match. Exit 1 if a patched figure is missing or more than 1 % above
# the committed one, or a row of bench/gate that is final is not met.
. "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || die "two runs are needed" "scripts/bench-gate.sh build/bench/results bench/results"
awk -v new="$1" -v committed="$2" -v glob="${3:-}" -v gate="$TOP/bench/gate" \
	-v scenarios="$TOP/bench/scenarios" -f "$TOP/bench/data.awk" -f "$TOP/bench/gate.awk" || exit 1
