#!/usr/bin/env bash
# bench-docs.sh DIR [PAGE]: refills docs/results.md, or PAGE, from the bench run in DIR. Only what
# stands between "<!-- generated NAME -->" and "<!-- end NAME -->" is changed; the
# names are those of the report's sections (bench/report.awk).
. "$(dirname "$0")/lib.sh"

dir=${1:-}
[ -n "$dir" ] || die "no results were named" "scripts/bench-docs.sh bench/results"
doc=${2:-$TOP/docs/results.md}
[ -r "$doc" ] || die "no docs/results.md" "git checkout docs/results.md"
work=$(mktemp -d)
cleanup() { rm -rf "$work"; }

names=$(awk '
	function bad(what) { print "error: docs/results.md:" NR ": " what "; try: mend it by hand" >"/dev/stderr"; wrong = 1; exit 1 }
	/^<!-- generated / { if (name != "") bad("no end of " name); name = $3; if (seen[name]++) bad(name " a second time"); print name }
	/^<!-- end / { if ($3 != name) bad("end of " $3 " without its beginning"); name = "" }
	END { if (!wrong && name != "") bad("no end of " name) }' "$doc") || exit 1
for name in $names; do
	awk -v dir="$dir" -v section="$name" -v md=1 -v scenarios="$TOP/bench/scenarios" \
		-f "$TOP/bench/data.awk" -f "$TOP/bench/report.awk" >"$work/$name" || exit 1
done
awk -v work="$work" '
	/^<!-- end / { inside = 0 }
	!inside { print }
	/^<!-- generated / {
		inside = 1
		print ""
		while ((getline line < (work "/" $3)) > 0)
			print line
	}' "$doc" >"$work/.new"
cmp -s "$work/.new" "$doc" || cp "$work/.new" "$doc" || die "cannot write docs/results.md" "make bench-report"
