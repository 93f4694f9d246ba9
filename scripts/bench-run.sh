#!/usr/bin/env bash
# bench-run.sh KIND KERNEL SCENARIO...: boot a kernel of the bench under the
# counting plugin, and keep what each scenario gives in
# build/bench/rows/KIND/KERNEL/SCENARIO.
#   KIND  count (instructions), cache (modelled misses, slower), again and cagain
#         (the same, for the comparison of two runs), each (count, iterations of string
#         instructions one by one)
# A row file: the key of all that it depends on; "status packets skbs ns" or
# "failed reason"; and "function instructions calls l1i l1d l2" in the whole run.
# Only what is not there yet is run; what was finished before an interruption
# is kept.
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/bench-lib.sh"

kind=$1 kernel=$2
shift 2
rows=$BUILD/bench/rows/$kind/$kernel
name=$(flavour_of "$kernel")
out=$BUILD/run/bench-$kernel-$kind
mkdir -p "$rows"
cleanup() { [ ! -s "$out/phases" ] || collect || true; }

# Finished scenarios of the console, with their two phases of the plugin's file
collect() {
	local s
	awk -v dir="$rows" '
		function put(s) { print body[s] > (dir "/." s); close(dir "/." s) }
		FNR == NR && $2 ~ /^(ok|invalid)$/ && $4 ~ /^phase=/ {
			p = substr($4, 7); at[p] = $1; at[p + 2] = $1; sign[p] = -1; sign[p + 2] = 1
			skbs = substr($5, 6); ns = substr($6, 4)
			line[$1] = $2 " " $3 " " skbs " " ns; next }
		FNR == NR && $2 == "failed" && $1 !~ /^\[/ { sub(/ failed /, "\t"); n = split($0, f, "\t")
			gsub(/,/, ";", f[2]); body[f[1]] = "failed " f[2]; put(f[1]); next }
		FNR == NR { next }
		$1 == "phase" || $1 == "end" { p = $2; if ($1 == "end") whole = 1; next }
		(p in at) { s = at[p]; key = s SUBSEP $1; fn[key]
			for (i = 2; i <= 6; i++) v[key, i] += sign[p] * $i
			if (sign[p] > 0) seen[s] }
		END {
			for (s in line) if (s in seen) body[s] = line[s]
			for (key in fn) { split(key, k, SUBSEP); s = k[1]
				if (!(s in seen) || (v[key, 2] == 0 && v[key, 3] == 0)) continue
				body[s] = body[s] "\n" k[2]
				for (i = 2; i <= 6; i++) body[s] = body[s] " " v[key, i] }
			for (s in line) if (s in seen) put(s)
		}' "$out/console" "$out/phases"
	for s in "$rows"/.[a-zA-Z]*; do
		[ -e "$s" ] || continue
		s=${s##*/.}
		{ row_key "$kind" "$kernel" "$s"; cat "$rows/.$s"; } >"$rows/.new"
		mv "$rows/.new" "$rows/$s"
		rm -f "$rows/.$s"
	done
	rm -f "$out/phases"
}

todo() {
	local s
	for s in "$@"; do
		[ "$(head -n1 "$rows/$s" 2>/dev/null)" = "$(row_key "$kind" "$kernel" "$s")" ] || echo "$s"
	done
}

rm -f "$rows"/.[a-z]*
# what failed is tried again
for s in "$@"; do
	[ "$(sed -n '2s/^failed.*/failed/p' "$rows/$s" 2>/dev/null)" != failed ] || rm "$rows/$s"
done
mapfile -t left < <(todo "$@")
while [ ${#left[@]} -gt 0 ]; do
	n=$COUNT_PACKETS per=15 args=
	case $kind in
	cache | cagain) n=$CACHE_PACKETS per=40 args=,cache=on,$CACHE_MODEL ;;
	each) args=,rep=each ;;
	esac
	before=${#left[@]}
	rc=0
	RUN_NAME=${out##*/} LOGLEVEL=1 \
	PLUGIN="$BUILD/bench/plugin.so,symbols=$BUILD/$name/System.map,out=$out/phases$args" APPEND=$BENCH_APPEND \
		background "$TOP/scripts/boot.sh" "$name" vm/bench $((180 + per * before)) \
		-n "$n" -b "$BATCH" -s "$SIZE" -i "$MODERATION" "${left[@]}" >"$BUILD/log/$name-$kind.log" 2>&1
	reap || rc=$?
	if ! grep -qa '^xdp-bulk guest: Linux' "$out/console" 2>/dev/null; then
		why=$(grep -ahm1 'plugin' "$out/console" "$BUILD/log/$name-$kind.log" 2>/dev/null) ||
			why=$(tail -n1 "$BUILD/log/$name-$kind.log")
		die "the guest did not start with kernel $kernel: $why" \
			"make bench" "$BUILD/log/$name-$kind.log"
	fi
	grep -a '^environment ' "$out/console" >"$BUILD/bench/environment-$kernel" || true
	mapfile -t ran < <(awk '$2 ~ /^(ok|invalid|failed)$/ { print $1 }' "$out/console")
	collect
	mapfile -t left < <(todo "${left[@]}")
	# the guest died in one: the next boot goes on behind it
	if [ ${#left[@]} -gt 0 ]; then
		printf 'failed the guest died in it (status %s) or its time was up\n' "$rc" >"$rows/.failed"
		{ row_key "$kind" "$kernel" "${left[0]}"; cat "$rows/.failed"; } >"$rows/${left[0]}"
		rm -f "$rows/.failed"
		mapfile -t left < <(todo "${left[@]}")
		[ ${#ran[@]} -gt 0 ] || [ ${#left[@]} -lt "$before" ] || die "nothing runs on kernel $kernel" "make bench" "$BUILD/log/$name-$kind.log"
	fi
done
