#!/usr/bin/env bash
# selftests.sh: build test_progs, with the tests in vm/tests and no others,
# from build/linux as it is, into build/selftests/out.
# The whole of test_progs needs a newer LLVM and ten times as long; so a copy
# of the tools is made that holds just the wanted tests and their programs.
. "$(dirname "$0")/lib.sh"
lock
# vmlinux.h is made of the patched kernel's types
script kernel patched

work=$BUILD/selftests
src=$work/src
out=$work/out
log=$BUILD/log/selftests.log
bpf=tools/testing/selftests/bpf
mkdir -p "$src" "$out" "$BUILD/log"

tests=$(sed 's/#.*//' "$TOP/vm/tests" | xargs)
for t in $tests; do
	[ -e "$TREE/$bpf/prog_tests/$t.c" ] ||
		die "vm/tests names $t, and build/linux has no prog_tests/$t.c" "vm/tests, or make tree"
done

# BPF objects that a test includes as a skeleton or opens by name
wanted_progs() {
	local t
	for t in $tests; do
		grep -hoE '[A-Za-z0-9_]+\.(skel\.h|bpf\.o)' "$TREE/$bpf/prog_tests/$t.c" || true
	done | sed -E 's/\.(skel\.h|bpf\.o)$//' | sort -u
}

{
	for t in $tests; do echo "+ /$bpf/prog_tests/$t.c"; done
	wanted_progs | sed "s,.*,+ /$bpf/progs/&.c,"
	cat <<-EOF
		+ /$bpf/prog_tests/*.h
		- /$bpf/prog_tests/*
		+ /$bpf/progs/*.h
		- /$bpf/progs/*
		+ /$bpf/
		+ /$bpf/**
		+ /tools/testing/selftests/*.h
		+ /tools/testing/selftests/*.mk
		- /tools/testing/selftests/*
		+ /tools/testing/selftests/
		- /tools/testing/*
		+ /tools/
		+ /tools/arch/***
		+ /tools/build/***
		+ /tools/bpf/***
		+ /tools/include/***
		+ /tools/lib/***
		+ /tools/scripts/***
		+ /tools/testing/
		- /tools/*
		+ /scripts/***
		+ /kernel/
		+ /kernel/bpf/
		+ /kernel/bpf/disasm.[ch]
		+ /include/
		+ /include/uapi/***
		- *
	EOF
} >"$work/filter"
sync_sources() {
	rsync -a --delete --prune-empty-dirs --filter="merge $work/filter" "$TREE/" "$src/"
}
logged "$log" "cannot copy the selftests' sources" "make test, with enough space" sync_sources

# libarena wants a newer clang; no wanted test uses it
mkdir -p "$src/$bpf/libarena" "$out"/tools/build/{libbpf,bpftool,host}
touch "$src/$bpf/libarena/libarena.skel.h"

build() {
	# shellcheck disable=SC2086
	CCACHE_DIR=$CACHE/ccache make -C "$src/$bpf" -j"$JOBS" \
		-o libarena/libarena.skel.h CC='ccache gcc' HOSTCC='ccache gcc' \
		SKIP_LLVM=1 BPF_STRICT_BUILD=0 CLANG=clang-19 LLC=llc-19 LLVM_STRIP=llvm-strip-19 \
		LLVM_CONFIG=llvm-config-19 LSKELS= LSKELS_SIGNED= LSKELS_EXTRA= LINKED_SKELS= \
		LINKED_BPF_OBJS= LINKED_BPF_SRCS= TEST_KMODS= TEST_KMOD_TARGETS= \
		VMLINUX_BTF="$BUILD/patched/vmlinux" O="$TREE/.obj-patched" OUTPUT="$out" \
		"$out/test_progs"
}

state=$({ cat "$work/filter" "$BUILD/patched/stamp" "$TOP/scripts/selftests.sh"
	  cd "$src" && find tools scripts -type f -print0 | sort -z | xargs -0 cat; } |
	sha256sum | cut -c1-16)
if stamped "$state" "$work/stamp" && [ -x "$out/test_progs" ]; then
	exit 0
fi
say "selftests: building test_progs with $(echo "$tests" | wc -w) of the tests"
start=$SECONDS
background build >"$log" 2>&1 </dev/null
progress "$log" 110 selftests
reap || die "test_progs does not build$(first_error "$log")" "make test" "$log"
# permissive builds skip what does not compile; what was asked for must be there
for t in $tests; do
	[ -e "$out/$t.test.o" ] ||
		die "prog_tests/$t.c does not compile$(first_error "$log")" "docs/changing-a-patch.md" "$log"
done
for p in $(wanted_progs); do
	[ ! -e "$TREE/$bpf/progs/$p.c" ] || [ -e "$out/$p.bpf.o" ] ||
		die "progs/$p.c does not compile$(first_error "$log")" "docs/changing-a-patch.md" "$log"
done
printf '%s\n' "$state" >"$work/stamp"
say "selftests: build/selftests/out/test_progs made in $((SECONDS - start)) s"
