#!/usr/bin/env bash
# test.sh FLAVOUR [GLOB]: build what is needed, and run the selftests in the
# guest. GLOB selects by TEST or TEST/SUBTEST.
. "$(dirname "$0")/lib.sh"

flavour=${1:-patched} glob=${2:-}
lock
# The files of vm/tests, and the tests that each holds
list_files() { sed 's/#.*//' "$TOP/vm/tests" | xargs -n1; }
list_tests() {
	sed -nE 's/^void (serial_)?test_([A-Za-z0-9_]+)\((void)?\).*/\2/p' \
		"$TREE/tools/testing/selftests/bpf/prog_tests/$1.c"
}

script deps
script tree
export XDP_BULK_NOTED=1

# Which tests, before anything is built
tests=()
sub=
case $glob in */*) sub=/${glob#*/} ;; esac
for f in $(list_files); do
	[ -e "$TREE/tools/testing/selftests/bpf/prog_tests/$f.c" ] ||
		die "vm/tests names $f, and build/linux has no prog_tests/$f.c" "vm/tests, or make tree"
	[ -n "$(list_tests "$f")" ] || die "prog_tests/$f.c of vm/tests has no test_* function" "vm/tests"
	for t in $(list_tests "$f"); do
		# shellcheck disable=SC2254
		case $t in ${glob%%/*}) tests+=("$t$sub") ;; esac
		[ -n "$glob" ] || tests+=("$t")
	done
done
# On stock, tests that crash it run at the end, each in a guest of its own
crashes=()
if [ "$flavour" = stock ]; then
	all=("${tests[@]}") tests=()
	for t in "${all[@]}"; do
		n=${#crashes[@]}
		while IFS=$'\t' read -r full _; do
			# shellcheck disable=SC2254
			case $full in $t | $t/*) crashes+=("$full") ;; esac
		done < <(grep "^${t%%/*}/" "$TOP/vm/crash-stock" || true)
		[ "$n" != ${#crashes[@]} ] || tests+=("$t")
	done
fi
if [ "$flavour" = stock ] && [ -z "$glob" ]; then
	while read -r t; do
		case " ${tests[*]} " in
		*" $t "*) ;;
		*) die "vm/expect-stock names $t, and vm/tests does not run it" "vm/expect-stock" ;;
		esac
	done < <(awk -F '[\t/]' '/^[a-z].*\t/ { print $1 }' "$TOP/vm/expect-stock" | sort -u)
fi
if [ $((${#tests[@]} + ${#crashes[@]})) = 0 ]; then
	die "T=$glob matches none of the tests: $(for f in $(list_files); do list_tests "$f"; done | xargs)" \
	    "make test T=xdp_devmap_mixed"
fi

script kernel "$flavour"
script selftests

limit=900
case $flavour in debug | rt) limit=3300 ;; esac
rc=0
"$TOP/scripts/boot.sh" "$flavour" vm/selftests $limit "${tests[@]}" | grep --line-buffered -v '^\[' || rc=${PIPESTATUS[0]}

console=$BUILD/run/$flavour/console
totals=$(sed -n 's/^guest: \([0-9]* passed, [0-9]* failed, [0-9]* skipped\)$/\1/p' "$console" 2>/dev/null | tail -n1)
read -r passed _ failed _ skipped _ <<<"${totals:-0 passed, 0 failed, 0 skipped}"
if [ -z "$totals" ] || [ "$rc" = 125 ]; then
	failed=$((failed + 1))
	echo "not ok - the guest reported no result: panic, hang or time-out; try: make test KVM=0; log: ${console#"$PWD"/}"
elif [ ${#tests[@]} != 0 ] && [ "$passed" = 0 ] && [ "$failed" = "$(grep -ac '^    not ok .* # no such test$' "$console")" ]; then
	die "T=$glob matches no subtest of ${tests[*]%%/*}" "make test T='${glob%%/*}'"
elif { [ "$rc" = 0 ] && [ "$failed" != 0 ]; } || { [ "$rc" != 0 ] && [ "$failed" = 0 ]; }; then
	failed=$((failed + 1))
	echo "not ok - the guest's status $rc contradicts its result; log: ${console#"$PWD"/}"
fi
if "$TOP/scripts/log-scan.sh" "$flavour"; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
fi
# The console must show the recorded signature, and the guest must not finish
for t in "${crashes[@]}"; do
	sign=$(awk -F '\t' -v t="$t" '$1 == t { print $2 }' "$TOP/vm/crash-stock")
	RUN_NAME=stock-crash "$TOP/scripts/boot.sh" stock vm/selftests 120 "$t" >/dev/null 2>&1 || true
	if grep -qaE "$sign" "$BUILD/run/stock-crash/console" &&
	   ! grep -qa '^guest: [0-9]* passed' "$BUILD/run/stock-crash/console"; then
		passed=$((passed + 1))
		echo "ok - $t # crashed as expected"
	else
		failed=$((failed + 1))
		echo "not ok - $t # did not crash as vm/crash-stock says; log: $BUILD/run/stock-crash/console"
	fi
done
expected=$(grep -ac '^    ok .* # failed as expected$' "$console" || true)
[ "$expected" = 0 ] || echo "# $expected of the passed failed, as vm/expect-stock says they must"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit 1
