#!/usr/bin/env bash
# kernel.sh FLAVOUR: build build/FLAVOUR/bzImage (and System.map, vmlinux,
# config) from build/linux, for stock from build/linux-stock.
#   bench-VARIANT, tiny-VARIANT, uml-VARIANT, vm-VARIANT: for the bench, from
#   build/linux-bench, which moves from one variant to the next; VARIANT is
#   stock, patched, or a baseline. uml goes to build/uml/VARIANT/linux; vm is for
#   the selftests on a baseline.
# The object directory lies right below the source: all paths are then
# relative, and ccache serves one flavour with the objects of another.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"

flavour=${1:-patched}
case $flavour in
stock) src=$BUILD/linux-stock fragments=(vm) ;;
patched) src=$TREE fragments=(vm) ;;
debug | rt) src=$TREE fragments=(vm "$flavour") ;;
bench-* | tiny-*) src=$BUILD/linux-bench fragments=(vm "${flavour%%-*}") ;;
uml-*) src=$BUILD/linux-bench fragments=(uml) ;;
vm-*) src=$BUILD/linux-bench fragments=(vm) ;;
*) die "FLAVOUR=$flavour is none of stock, patched, debug, rt" "the same with FLAVOUR=patched" ;;
esac
lock
script deps
script tree
export XDP_BULK_NOTED=1
case $flavour in
stock) ;;
bench-* | tiny-* | uml-* | vm-*)
	variant=${flavour#*-}
	uml=
	[ "${flavour%%-*}" != uml ] || uml=$TOP/bench/uml.patch
	variant_commit "$variant" ${uml:+"$uml"} ;;
*) check_on_patched ;;
esac

obj=$src/.obj-${flavour%%-*}
out=$BUILD/$flavour
arch=x86 image=arch/x86/boot/bzImage
cflags=()
case $flavour in
uml-*)
	arch=um image=linux out=$BUILD/uml/$variant
	# um's large code model makes each call an indirect one; and where a loop
	# begins in a cache line shall not depend on what comes before it
	cflags=("KCFLAGS=-mcmodel=small -falign-functions=64 -falign-loops=32") ;;
esac
log=$BUILD/log/kernel-$flavour.log
mkdir -p "$out" "$BUILD/log"

kmake() {
	CCACHE_DIR=$CACHE/ccache CCACHE_BASEDIR=$src CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=8G \
	KBUILD_BUILD_USER=xdp KBUILD_BUILD_HOST=bulk KBUILD_BUILD_VERSION=1 \
	KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		make -C "$src" ARCH="$arch" O="${obj##*/}" CC='ccache gcc' LOCALVERSION="-${flavour%%-*}" "${cflags[@]}" "$@"
}

# Everything that decides what comes out
state=$({
	if [ -n "${variant:-}" ]; then
		git -C "$TREE" rev-parse "$commit^{tree}"
	else
		git -C "$src" rev-parse 'HEAD^{tree}'
		git -C "$src" diff HEAD
		# new files, which the base's .gitignore hides
		git -C "$src" ls-files -z -o -x '.obj-*' '*.[chS]' '*Makefile' '*Kconfig*' '*Kbuild' |
			(cd "$src" && xargs -0 -r cat)
	fi
	for f in "${fragments[@]}"; do cat "$TOP/config/$f"; done
	cat "$TOP/scripts/kernel.sh"
	gcc --version; pahole --version
} | sha256sum | cut -c1-16)
if stamped "$state" "$out/stamp" && [ -e "$out/${image##*/}" ] && [ -e "$out/System.map" ]; then
	exit 0
fi
rm -f "$out/stamp"
need_space 4
[ -z "${variant:-}" ] || move_bench

configure() {
	kmake -s tinyconfig
	(cd "$src" && for f in "${fragments[@]}"; do
		scripts/kconfig/merge_config.sh -m -O "$obj" "$obj/.config" "$TOP/config/$f"
	done)
}

# A line of a fragment that the .config does not have was dropped by Kconfig;
# a later fragment overrules an earlier one
check_config() {
	local line
	while read -r line; do
		case $line in
		*=n)
			! grep -q "^${line%=n}=" "$obj/.config" ;;
		CONFIG_*)
			grep -qxF "$line" "$obj/.config" ;;
		esac || die "config/ (${fragments[*]}) asks for $line, and Kconfig does not give it" \
			"scripts/config in build/linux to see what it depends on" "$obj/.config"
	done < <(awk -F= '/^CONFIG_/ { line[$1] = $0 } END { for (s in line) print line[s] }' \
		"${fragments[@]/#/$TOP/config/}")
}

mkdir -p "$obj"
cfg=$(cat "${fragments[@]/#/$TOP/config/}" | sha256sum | cut -c1-16)
if ! stamped "$cfg" "$obj/config.stamp"; then
	logged "$log" "cannot configure the kernel" "make kernel FLAVOUR=$flavour" configure
	printf '%s\n' "$cfg" >"$obj/config.stamp"
fi
logged "$log" "cannot configure the kernel" "make kernel FLAVOUR=$flavour" kmake -s olddefconfig
check_config

expected=$(awk -v f="${flavour%%-*}" '$1 == f { print $2 }' "$TOP/config/objects")
start=$SECONDS
say "kernel: building $flavour, ${expected:-about 1100} objects"
background kmake -j"$JOBS" "${image##*/}" >"$log" 2>&1 </dev/null
progress "$log" "${expected:-1100}" "kernel $flavour"
reap || die "the $flavour kernel does not build$(first_error "$log")" "make kernel FLAVOUR=$flavour" "$log"

for f in "$image" System.map .config; do
	cp "$obj/$f" "$out/.new"
	mv "$out/.new" "$out/$(basename "${f/.config/config}")"
done
# the bench's object directories move on to the next variant
[ "${obj##*/}" != ".obj-$flavour" ] || ln -sf "$obj/vmlinux" "$out/vmlinux"
if [ -n "${variant:-}" ]; then
	printf '%s\n' "$plain" >"$out/tree"
	# what the bench must know as the core's
	for f in devmap cpumap; do
		nm "$obj/kernel/bpf/$f.o" | awk -v f="$f" '$2 ~ /[tT]/ && $3 !~ /^__pfx_/ { sub(/\..*/, "", $3); print f, $3 }'
	done | sort -u >"$out/core"
fi
printf '%s\n' "$state" >"$out/stamp"
say "kernel: ${out#"$TOP"/}/${image##*/} made in $(((SECONDS - start) / 60)):$(printf %02d $(((SECONDS - start) % 60)))," \
    "$(grep -acE '^  (CC|AS) ' "$log" || true) objects compiled"
