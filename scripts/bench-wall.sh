#!/usr/bin/env bash
# bench-wall.sh SCENARIO...: wall-clock time in user-mode Linux, stock and
# patched in turn: both are up, and now the one, now the other runs first. Of a
# pair, each side is the fastest of RUNS short runs, which is what the machine's
# other work disturbs least. build/bench/rows/wall/SCENARIO: the key of all that it depends
# on, then "pair kernel ns-per-packet", or "failed reason".
#   PAIRS=11 RUNS=20
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/queue.sh"
. "$TOP/scripts/bench-lib.sh"

pairs=$PAIRS
[ "$pairs" -ge 11 ] || die "PAIRS=$pairs is too few for an interval" "PAIRS=11 or more"
run_ns=15000000	# of one run, about
lock
rows=$BUILD/bench/rows/wall
mkdir -p "$rows"
for v in stock patched; do script kernel "uml-$v"; done

# user-mode Linux has no tracepoints to count what a ring drops
no_ring() { ! parameters "$1" | grep -q overflow=1; }
todo=()
for s in "$@"; do
	no_ring "$s" || continue
	# what failed is tried again
	[ "$(sed -n '2s/^failed.*/failed/p' "$rows/$s" 2>/dev/null)" != failed ] || rm "$rows/$s"
	[ "$(head -n1 "$rows/$s" 2>/dev/null)" = "$(wall_key "$s")" ] || todo+=("$s")
done
[ ${#todo[@]} -gt 0 ] || exit 0
say "bench: wall clock of ${#todo[@]} scenarios in user-mode Linux, $pairs pairs each, about $(((${#todo[@]} * (pairs * RUNS * 4 + 200) / 6000) + 1)) minutes"

declare -A in=() out=() pid=()
work=$(mktemp -d)
cleanup() {
	local v
	for v in "${!pid[@]}"; do kill -TERM -- "-${pid[$v]}" 2>/dev/null || true; done
	for v in "${!pid[@]}"; do wait "${pid[$v]}" 2>/dev/null || true; done
	rm -rf "$work" "$rows"/.[a-z]*
}
start_uml() {
	local v=$1 fd
	mkfifo "$work/$v.in" "$work/$v.out"
	set -m
	LOGLEVEL=1 "$TOP/scripts/boot-uml.sh" -i "$v" vm/bench-wall $((120 + 60 * ${#todo[@]})) \
		-b "$BATCH" -s "$SIZE" -i "$MODERATION" <"$work/$v.in" >"$work/$v.out" 2>"$BUILD/log/bench-uml-$v.log" &
	pid[$v]=$!
	set +m
	exec {fd}>"$work/$v.in"
	in[$v]=$fd
	exec {fd}<"$work/$v.out"
	out[$v]=$fd
}
stop_uml() {
	local v fd
	for v in "${!pid[@]}"; do
		fd=${in[$v]}
		exec {fd}>&-
		fd=${out[$v]}
		exec {fd}<&-
		kill -TERM -- "-${pid[$v]}" 2>/dev/null || true
		wait "${pid[$v]}" 2>/dev/null || true
	done
	rm -f "$work"/*
	pid=()
}
tell() { printf '%s\n' "$2" >&"${in[$1]}"; }
# hear VARIANT WORD: the next line, as the fields of $answer, if its second is WORD
hear() {
	local v=$1 line
	answer=()
	if ! read -r -t 90 -u "${out[$v]}" line; then
		reason="$v does not answer"
		dead=1
		return 1
	fi
	read -ra answer <<<"$line"
	case ${answer[1]:-} in
	"$2" | invalid) return 0 ;;
	failed) reason="$v: ${answer[*]:2}" ;;
	*) reason="$v says: $line" ;;
	esac
	return 1
}
# run_one VARIANT PACKETS: nanoseconds of the run in $ns
run_one() {
	tell "$1" "run $2"
	hear "$1" ok || return 1
	ns=${answer[5]#ns=}
}

scenario() {
	local s=$1 v n p r runs order
	local -A least
	reason=
	for v in stock patched; do tell $v "$s"; done
	for v in stock patched; do hear $v ready || return 1; done
	run_one stock 4096 || return 1
	# pktgen's end is seen only ten times a second
	runs=$RUNS
	case $s in napi-*) runs=$(((RUNS + 3) / 4)) ;; esac
	n=$((run_ns * RUNS / runs / (ns / 4096 + 1)))
	n=$((n / 64 * 64))
	[ $n -ge 1024 ] || n=1024
	[ $n -le 512000 ] || n=512000
	for v in stock patched; do run_one $v $n || return 1; done
	for ((p = 1; p <= pairs; p++)); do
		least=([stock]=0 [patched]=0)
		for ((r = 0; r < runs; r++)); do
			order='stock patched'
			[ $(((p + r) % 2)) = 1 ] || order='patched stock'
			for v in $order; do
				run_one "$v" $n || return 1
				[ "${least[$v]}" -gt 0 ] && [ "${least[$v]}" -le "$ns" ] || least[$v]=$ns
			done
		done
		for v in stock patched; do
			awk -v p="$p" -v k="$v" -v ns="${least[$v]}" -v n="$n" 'BEGIN { printf "%d %s %.3f\n", p, k, ns / n }' >>"$rows/.new"
		done
	done
}

boot_both() {
	local v
	for v in stock patched; do start_uml $v; done
	for v in stock patched; do
		hear $v ready || return 1
	done
	dead=
}

# Where user-mode Linux does not start: QEMU's time, the bench's kernels in turn,
# of a pair now the one first, now the other. All scenarios in a boot.
in_qemu() {
	local p v s order
	say "bench: user-mode Linux does not start here ($reason); the wall clock is QEMU's: $((2 * pairs)) boots"
	echo "wall clock: QEMU's (TCG), since user-mode Linux does not start; $pairs interleaved pairs stock and patched" \
		>"$BUILD/bench/environment-wall"
	for s in "${todo[@]}"; do wall_key "$s" >"$rows/.$s"; done
	for ((p = 1; p <= pairs; p++)); do
		order='stock patched'
		[ $((p % 2)) = 1 ] || order='patched stock'
		for v in $order; do
			RUN_NAME=bench-wall-$v LOGLEVEL=1 KVM=0 background "$TOP/scripts/boot.sh" "bench-$v" vm/bench \
				$((120 + 10 * ${#todo[@]})) -n 16384 -b "$BATCH" -s "$SIZE" -i "$MODERATION" "${todo[@]}" \
				>"$BUILD/log/bench-wall-$v.log" 2>&1
			reap || true
			for s in "${todo[@]}"; do
				! grep -q '^failed' "$rows/.$s" || continue
				awk -v s="$s" -v p="$p" -v v="$v" -v b="$BATCH" '
					$1 == s && $2 ~ /^(ok|invalid)$/ { print p, v, substr($6, 4) / ($3 + b); n++ }
					END { exit !n }' "$BUILD/run/bench-wall-$v/console" >>"$rows/.$s" ||
					{ wall_key "$s"; echo "failed no time on $v in QEMU"; } >"$rows/.$s"
			done
		done
		say "bench: wall clock: $p of $pairs pairs"
	done
	for s in "${todo[@]}"; do
		! grep -q '^failed' "$rows/.$s" || failed=1
		mv "$rows/.$s" "$rows/$s"
	done
}

dead=
reason=
failed=0
if ! boot_both; then
	stop_uml
	in_qemu
	exit $failed
fi
{
	echo "wall clock: user-mode Linux, seccomp mode, BPF interpreter, $pairs interleaved pairs stock and patched, each the fastest of $RUNS runs of about $((run_ns / 1000000)) ms"
	echo "wall clock host: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1), $(nproc) CPUs"
} >"$BUILD/bench/environment-wall"
begin=$SECONDS shown=$SECONDS n=0
for s in "${todo[@]}"; do
	wall_key "$s" >"$rows/.new"
	if ! scenario "$s"; then
		# the reason instead of half the pairs
		{ wall_key "$s"; echo "failed $reason"; } >"$rows/.new"
		say "bench: wall clock of $s: $reason"
		failed=1
	fi
	mv "$rows/.new" "$rows/$s"
	if [ -n "$reason" ]; then
		stop_uml
		boot_both || die "user-mode Linux does not start again: $reason" "make bench" "$BUILD/log/bench-uml-stock.log"
	else
		for v in stock patched; do tell $v end; hear $v over || true; done
		[ -z "$dead" ] || { stop_uml; boot_both || die "user-mode Linux does not start again: $reason" "make bench"; }
	fi
	n=$((n + 1))
	if [ $((SECONDS - shown)) -ge 30 ]; then
		shown=$SECONDS
		say "bench: wall clock: $n of ${#todo[@]} scenarios, about $(((SECONDS - begin) * (${#todo[@]} - n) / n / 60 + 1)) minutes left"
	fi
done
stop_uml
exit $failed
