#!/usr/bin/env bash
# deps.sh: install the distribution's packages that everything here needs.
. "$(dirname "$0")/lib.sh"

packages=(
	# build
	gcc make flex bison bc libc6-dev libelf-dev libssl-dev pahole ccache git rsync
	xz-utils perl python3 pkg-config debian-archive-keyring
	# BPF programs and test_progs
	clang-19 llvm-19 lld-19 libcap-dev zlib1g-dev
	# guest: QEMU, and the tools that run in it
	qemu-system-x86 iproute2 bpftool xdp-tools ethtool iputils-ping busybox-static iperf3
	kmod procps tcpdump libpcap-dev m4
	# make bench-report
	gnuplot-nox
	# make check
	sparse coccinelle shellcheck python3-ply python3-git
)

missing() {
	{ dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true; } |
		awk '$2 == "installed" { print $1 }' | sort -u >"$have"
	printf '%s\n' "${packages[@]}" | sort -u | comm -23 - "$have"
}

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
	die "unsupported host $(uname -s) $(uname -m)" "an x86_64 Linux host"
command -v dpkg-query >/dev/null ||
	die "unsupported host: no dpkg" "a Debian 12 machine or container"

have=$(mktemp)
cleanup() { rm -f "$have"; }
need=$(missing)
[ -n "$need" ] || exit 0

# shellcheck disable=SC1091
. /etc/os-release
case "${ID:-} ${ID_LIKE:-}" in
*debian*) ;;
*) die "unsupported host ${PRETTY_NAME:-unknown}" "a Debian 12 machine or container" ;;
esac

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null ||
		die "packages are missing: $(echo "$need" | tr '\n' ' ')" \
		    "as root: apt-get install $(echo "$need" | tr '\n' ' ')"
	as_root=(sudo)
	sudo -v || die "sudo refused, and packages are missing" "make deps, as root"
fi

log=$BUILD/log/deps.log
say "deps: installing $(echo "$need" | wc -l) packages, about a minute"
mkdir -p "$BUILD/log"
if [ -n "$(dpkg --audit 2>/dev/null)" ]; then
	logged "$log" "an interrupted installation cannot be finished" "as root: dpkg --configure -a" \
		"${as_root[@]}" dpkg --configure -a
fi
logged "$log" "apt-get update failed" "make deps, when the package archive can be reached" \
	"${as_root[@]}" apt-get update
# shellcheck disable=SC2086
logged "$log" "apt-get install failed" "what the log says, then make deps" \
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
	apt-get install -y --no-install-recommends $need
need=$(missing)
[ -z "$need" ] ||
	die "still missing after installation: $(echo "$need" | tr '\n' ' ')" "make deps" "$log"
