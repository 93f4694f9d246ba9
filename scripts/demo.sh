#!/usr/bin/env bash
# demo.sh FLAVOUR: build, boot, and redirect real traffic through the kernel.
# patched: exit 0 if every frame is accounted for, and each ran its own program.
# stock: exit 0 if the defect that patch 1 mends shows itself.
. "$(dirname "$0")/lib.sh"

flavour=${1:-patched}
lock
started=$SECONDS
script kernel "$flavour"
export XDP_BULK_NOTED=1
script tools

out=$BUILD/demo
log=$BUILD/log/demo.log
build() {
	cd "$TOP/vm" &&
	"$BUILD/tools/bpftool" btf dump file "$BUILD/$flavour/vmlinux" format c \
		>"$out/vmlinux.h" &&
	clang-19 -g -O2 --target=bpf -mcpu=v3 -Wall -Werror -Wno-missing-declarations -I"$out" -I"$BUILD/libbpf/include" \
		-c demo.bpf.c -o "$out/demo.bpf.o" &&
	gcc -O2 -Wall -Werror -I"$BUILD/libbpf/include" -I"$BUILD/uapi" map-entry.c \
		-o "$out/map-entry" "$BUILD/libbpf/libbpf.a" -lelf -lz
}
mkdir -p "$out"
logged "$log" "the demo's programs do not build" "make demo" build

rc=0
"$TOP/scripts/boot.sh" "$flavour" vm/demo 240 | sed -u -n '/^\[/!p' || rc=${PIPESTATUS[0]}
[ "$rc" != 125 ] || die "the guest reported no result: panic, hang or time-out" \
	"make demo" "$BUILD/run/$flavour/console"
if ! "$TOP/scripts/log-scan.sh" "$flavour"; then
	rc=1
fi
# the guest's verdict last
[ "$rc" = 0 ] || say "demo: failed"
say "demo: $((SECONDS - started)) s; $(sed -n 's/^verdict: //p' "$BUILD/run/$flavour/console")"
exit "$rc"
