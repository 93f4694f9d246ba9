#!/usr/bin/env bash
# kernel.sh FLAVOUR: build build/FLAVOUR/bzImage (and System.map, vmlinux,
# config) from build/linux, for stock from build/linux-stock.
# The object directory lies right below the source: all paths are then
# relative, and ccache serves one flavour with the objects of another.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"

flavour=${1:-patched}
case $flavour in
stock) src=$BUILD/linux-stock fragments=(vm) ;;
patched) src=$TREE fragments=(vm) ;;
debug) src=$TREE fragments=(vm debug) ;;
*) die "FLAVOUR=$flavour is none of stock, patched, debug" "the same with FLAVOUR=patched" ;;
esac
lock
script deps
script tree
export XDP_BULK_NOTED=1
if [ "$flavour" != stock ]; then
	check_on_patched
fi

obj=$src/.obj-$flavour
out=$BUILD/$flavour
log=$BUILD/log/kernel-$flavour.log
mkdir -p "$obj" "$out" "$BUILD/log"

kmake() {
	CCACHE_DIR=$CACHE/ccache CCACHE_BASEDIR=$src CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=8G \
	KBUILD_BUILD_USER=xdp KBUILD_BUILD_HOST=bulk KBUILD_BUILD_VERSION=1 \
	KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		make -C "$src" O="${obj##*/}" CC='ccache gcc' LOCALVERSION="-$flavour" "$@"
}

# Everything that decides what comes out
state=$({
	git -C "$src" rev-parse 'HEAD^{tree}'
	git -C "$src" diff HEAD
	# new files, which the base's .gitignore hides
	git -C "$src" ls-files -z -o -x '.obj-*' '*.[chS]' '*Makefile' '*Kconfig*' '*Kbuild' |
		(cd "$src" && xargs -0 -r cat)
	for f in "${fragments[@]}"; do cat "$TOP/config/$f"; done
	cat "$TOP/scripts/kernel.sh"
	gcc --version; pahole --version
} | sha256sum | cut -c1-16)
if stamped "$state" "$out/stamp" && [ -e "$out/bzImage" ] && [ -e "$out/vmlinux" ]; then
	exit 0
fi
rm -f "$out/stamp"
need_space 4

configure() {
	kmake -s tinyconfig
	(cd "$src" && for f in "${fragments[@]}"; do
		scripts/kconfig/merge_config.sh -m -O "$obj" "$obj/.config" "$TOP/config/$f"
	done)
}

# A line of a fragment that the .config does not have was dropped by Kconfig
check_config() {
	local f line
	for f in "${fragments[@]}"; do
		while read -r line; do
			case $line in
			*=n)
				! grep -q "^${line%=n}=" "$obj/.config" ;;
			CONFIG_*)
				grep -qxF "$line" "$obj/.config" ;;
			esac || die "config/$f asks for $line, and Kconfig does not give it" \
				"scripts/config in build/linux to see what it depends on" "$obj/.config"
		done < <(cat "$TOP/config/$f")
	done
}

cfg=$(cat "${fragments[@]/#/$TOP/config/}" | sha256sum | cut -c1-16)
if ! stamped "$cfg" "$obj/config.stamp"; then
	logged "$log" "cannot configure the kernel" "make kernel FLAVOUR=$flavour" configure
	printf '%s\n' "$cfg" >"$obj/config.stamp"
fi
logged "$log" "cannot configure the kernel" "make kernel FLAVOUR=$flavour" kmake -s olddefconfig
check_config

expected=$(awk -v f="$flavour" '$1 == f { print $2 }' "$TOP/config/objects")
start=$SECONDS
say "kernel: building $flavour, ${expected:-about 1100} objects"
background kmake -j"$JOBS" bzImage >"$log" 2>&1 </dev/null
progress "$log" "${expected:-1100}" "kernel $flavour"
reap || die "the $flavour kernel does not build$(first_error "$log")" "make kernel FLAVOUR=$flavour" "$log"

for f in arch/x86/boot/bzImage System.map .config; do
	cp "$obj/$f" "$out/.new"
	mv "$out/.new" "$out/$(basename "${f/.config/config}")"
done
ln -sf "$obj/vmlinux" "$out/vmlinux"
printf '%s\n' "$state" >"$out/stamp"
say "kernel: build/$flavour/bzImage made in $(((SECONDS - start) / 60)):$(printf %02d $(((SECONDS - start) % 60)))," \
    "$(grep -acE '^  (CC|AS) ' "$log" || true) objects compiled"
