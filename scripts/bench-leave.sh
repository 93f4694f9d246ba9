#!/usr/bin/env bash
# bench-leave.sh: what it costs to delete a device, or a network namespace, while
# frames of it wait in a cpumap ring, on stock and patched. Milliseconds in the
# guest; each case in a guest of its own, as the stock kernel may not survive it.
. "$(dirname "$0")/lib.sh"

# what goes away, the state of its ring, and the mode of its XDP program
cases=(device-empty-native device-slow-native device-starved-native
	device-empty-generic device-slow-generic device-starved-generic
	netns-empty-native netns-slow-native)
read -ra kernels <<<"${KERNELS:-stock patched}"
lock
for k in "${kernels[@]}"; do
	case $k in
	stock | patched | debug) script kernel "$k" ;;
	*) die "KERNELS names $k" "some of: stock patched debug" ;;
	esac
done
export XDP_BULK_NOTED=1
script tools

out=$BUILD/leave
log=$BUILD/log/leave.log
build() {
	cd "$TOP/vm" &&
	"$BUILD/tools/bpftool" btf dump file "$BUILD/${kernels[0]}/vmlinux" format c >"$out/vmlinux.h" &&
	clang-19 -g -O2 --target=bpf -mcpu=v3 -Wall -Werror -Wno-missing-declarations -I"$out" -I"$BUILD/libbpf/include" \
		-c leave.bpf.c -o "$out/leave.bpf.o" &&
	gcc -O2 -Wall -Werror -I"$BUILD/libbpf/include" -I"$BUILD/uapi" map-entry.c \
		-o "$out/map-entry" "$BUILD/libbpf/libbpf.a" -lelf -lz
}
mkdir -p "$out"
logged "$log" "the programs of vm/leave do not build" "make bench-leave" build

say "bench-leave: ${#cases[@]} cases on ${#kernels[@]} kernels, about $((${#cases[@]} * ${#kernels[@]} * 12 / 60 + 1)) minutes"
printf '%-24s' 'ms, three times' >"$out/table"
printf ' %20s' "${kernels[@]}" >>"$out/table"
echo >>"$out/table"
failed=
for c in "${cases[@]}"; do
	printf '%-24s' "$c" >>"$out/table"
	for k in "${kernels[@]}"; do
		RUN_NAME=leave-$k "$TOP/scripts/boot.sh" "$k" vm/leave 120 "$c" >"$log" 2>&1 || true
		ms=$(sed -n 's/^leave: \([0-9][0-9]*\)$/\1/p' "$log" | xargs)
		if [ "$(wc -w <<<"$ms")" != 3 ]; then
			if grep -qaE 'Kernel panic|Oops' "$log"; then
				ms+="${ms:+ }panic"
			else
				ms+="${ms:+ }failed" failed+=" $c on $k,"
				cp "$log" "$out/$c-$k.log"
			fi
		fi
		printf ' %20s' "$ms" >>"$out/table"
	done
	echo >>"$out/table"
	say "$(tail -n1 "$out/table")"
done
say
cat "$out/table"
[ -z "$failed" ] || die "no result for${failed%,}" "make bench-leave" "$out"
