#!/usr/bin/env bash
# bench-gate.sh NEW COMMITTED [GLOB]: is the bench run in NEW no worse than the one in
# COMMITTED, and what does it have of what bench/gate asks for? With GLOB, of the
# scenarios that match. Exit 1 if a patched figure is missing or more than 1 % above
# the committed one, or a row of bench/gate that is final is not met.
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/queue.sh"

[ $# -ge 2 ] || die "two runs are needed" "scripts/bench-gate.sh build/bench/results bench/results"
for d in "$1" "$2"; do
	[ -s "$d/environment" ] && [ -s "$d/kernels.csv" ] || die "$d holds no bench run" "make bench, and make bench-save for bench/results"
done
# Like with like, and this kernel
for key in 'cpu model' 'packets per run' batch 'cache model'; do
	a=$(sed -n "s/^$key: //p" "$1/environment") b=$(sed -n "s/^$key: //p" "$2/environment")
	[ "$a" = "$b" ] || die "$key differs: $a; committed: $b" "make bench without other parameters"
done
if [ "$(realpath "$1")" = "$BUILD/bench/results" ]; then
	lock
	variant_commit patched
	grep -q "^patched,$(echo "$plain" | cut -c1-12)," "$1/kernels.csv" ||
		die "the last run was of another patched kernel than build/linux has now" "make bench"
fi
awk -v new="$1" -v committed="$2" -v glob="${3:-}" -v gate="$TOP/bench/gate" \
	-v scenarios="$TOP/bench/scenarios" -f "$TOP/bench/data.awk" -f "$TOP/bench/gate.awk" || exit 1
