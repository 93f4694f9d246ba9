#!/usr/bin/env bash
# bench-plots.sh DIR: the plots of the bench run in DIR, as SVG files beside it.
# The same figures give the same bytes.
. "$(dirname "$0")/lib.sh"

dir=${1:-}
[ -n "$dir" ] || die "no results were named" "scripts/bench-plots.sh bench/results"
command -v gnuplot >/dev/null || die "gnuplot is not installed" "make deps"
work=$(mktemp -d)
cleanup() { rm -rf "$work"; }

awk -v dir="$dir" -v work="$work" -v scenarios="$TOP/bench/scenarios" \
	-f "$TOP/bench/data.awk" -f "$TOP/bench/plots.awk" || exit 1

# Only what has data is there afterwards: an old plot would be taken for a new one
for name in core-by-function programs flows entries devices design-{A,B,C,D}; do
	rm -f "$dir/$name.svg"
	[ -e "$work/$name.gp" ] || continue
	gnuplot "$work/$name.gp" >"$work/$name.svg" 2>"$work/log" ||
		die "gnuplot cannot draw $name: $(grep -m1 . "$work/log")" "make deps"
	cp "$work/$name.svg" "$dir/$name.svg" || die "cannot write to $dir" "make bench, with enough space"
done
