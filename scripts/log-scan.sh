#!/usr/bin/env bash
# log-scan.sh FLAVOUR: one test line that says whether the last run's console,
# and kmemleak's report if there is one, are clean. A log that cannot be read
# is not clean.
. "$(dirname "$0")/lib.sh"

out=$BUILD/run/$1
console=$out/console
patterns=$(mktemp)
cleanup() { rm -f "$patterns"; }
grep -v '^#' "$TOP/vm/log-scan" >"$patterns"
if ! grep -qa 'Linux version' "$console" 2>/dev/null; then
	echo "not ok - kernel log: no console of a run to scan; log: ${console#"$PWD"/}"
	exit 1
fi
# the debug kernel looks for leaks; a report that is missing is not a clean one
if grep -q '^CONFIG_DEBUG_KMEMLEAK=y' "$BUILD/$1/config" && [ ! -e "$out/kmemleak" ]; then
	echo "not ok - kernel log: kmemleak made no report; log: ${console#"$PWD"/}"
	exit 1
fi
found=$(cat "$console" "$out"/kmemleak 2>/dev/null | grep -aE -f "$patterns" || true)
if [ -n "$found" ]; then
	echo "not ok - kernel log: $(echo "$found" | wc -l) lines of trouble, the first: $(echo "$found" | head -n1); log: ${console#"$PWD"/}"
	exit 1
fi
echo "ok - kernel log is clean"
