#!/usr/bin/env bash
# tools.sh: user space that belongs to the base: build/libbpf (libbpf.a and
# include/), build/uapi (linux/*.h), and build/tools with bpftool, xdp-monitor
# and xdp-trafficgen where the distribution's are too old.
. "$(dirname "$0")/lib.sh"
lock

log=$BUILD/log/tools.log
tools=$BUILD/tools
mkdir -p "$tools" "$BUILD/log"
# bpftool's own programs are compiled against the patched kernel's types
script kernel patched
state=$({ git -C "$TREE" rev-parse HEAD:tools/lib/bpf HEAD:tools/include HEAD:tools/bpf HEAD:include/uapi
	  git -C "$TREE" diff HEAD -- tools/lib/bpf tools/include tools/bpf include/uapi
	  cat "$TOP/scripts/tools.sh"; } | sha256sum | cut -c1-16)
stamped "$state" "$tools/stamp" && exit 0
rm -f "$tools/stamp"
start=$SECONDS
say "tools: building libbpf and xdp-tools, about a minute"

new=$BUILD/tools.new
cleanup() { rm -rf "$new"; }
rm -rf "$new"
mkdir -p "$new"/obj/{libbpf,bpftool}

build_libbpf() {
	make -s -C "$TREE/tools/lib/bpf" -j"$JOBS" CC='ccache gcc' EXTRA_CFLAGS='-g -O2 -fPIC' OUTPUT="$new/obj/libbpf/" \
		prefix="$new/libbpf" libdir="$new/libbpf" includedir="$new/libbpf/include" install &&
	rm -f "$new"/libbpf/libbpf.so* &&
	sed -i -e "s,$new/libbpf,$BUILD/libbpf,g" -e 's/-lbpf$/-lbpf -lelf -lz/' \
		"$new/libbpf/pkgconfig/libbpf.pc" &&
	make -s -C "$TREE" O=.obj-patched headers_install INSTALL_HDR_PATH="$new/headers" &&
	make -s -C "$TREE/tools/bpf/bpftool" -j"$JOBS" CC='ccache gcc' HOSTCC='ccache gcc' \
		SKIP_LLVM=1 SKIP_LIBBFD=1 SKIP_CRYPTO=1 OUTPUT="$new/obj/bpftool/" \
		CLANG=clang-19 LLVM_STRIP=llvm-strip-19 VMLINUX_BTF="$BUILD/patched/vmlinux"
}
export CCACHE_DIR=$CACHE/ccache
logged "$log" "libbpf does not build" "make demo" build_libbpf
rm -rf "$BUILD/libbpf" "$BUILD/uapi"
mv "$new/libbpf" "$BUILD/libbpf"
mv "$new/headers/include" "$BUILD/uapi"
# Debian 12's bpftool 7.1 cannot attach the tracepoint programs of an object:
# "expected no more arguments ... got: 'autoattach'"
cp "$new/obj/bpftool/bpftool" "$tools/bpftool"

# Debian 12's xdp-tools attach to the tracepoint xdp_redirect_map_err, which
# this kernel no longer has, and stop with "failed to find kernel BTF type ID".
# Newer sources of the same package are in the distribution; they verify like
# any package, and are built against the base's libbpf.
too_old() {
	grep -q xdp_redirect_map_err "$(command -v xdp-monitor)" &&
		! grep -qa btf_trace_xdp_redirect_map_err "$BUILD/patched/vmlinux"
}
rm -f "$tools/xdp-monitor" "$tools/xdp-trafficgen"
if too_old; then
	src=$CACHE/xdp-tools
	[ -n "$(find "$src" -name 'xdp-tools_*.orig.tar.*' 2>/dev/null)" ] ||
		script fetch source xdp-tools "$src"
	mkdir "$new/xdp-tools"
	logged "$log" "cannot unpack the source of xdp-tools" "rm -r $src; make demo" \
		tar -xf "$(find "$src" -name 'xdp-tools_*.orig.tar.*' | sort -V | tail -n1)" \
		-C "$new/xdp-tools" --strip-components=1
	build_xdp_tools() (
		cd "$new/xdp-tools" || exit
		export PKG_CONFIG_PATH=$BUILD/libbpf/pkgconfig
		export BPFTOOL=$tools/bpftool CLANG=clang-19 LLC=llc-19
		./configure && make -j"$JOBS" libxdp && make -j"$JOBS" xdp-monitor xdp-trafficgen
	)
	logged "$log" "xdp-tools do not build" "make demo" build_xdp_tools
	cp "$new/xdp-tools/xdp-monitor/xdp-monitor" "$new/xdp-tools/xdp-trafficgen/xdp-trafficgen" \
		"$tools/"
fi
printf '%s\n' "$state" >"$tools/stamp"
say "tools: build/libbpf and build/tools made in $((SECONDS - start)) s"
