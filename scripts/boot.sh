#!/usr/bin/env bash
# boot.sh FLAVOUR RUN SECONDS [ARG...]: boot build/FLAVOUR/bzImage and run the
# file RUN (in the repository) in the guest, ended after SECONDS at the latest.
# SECONDS 0: an interactive shell, without a limit.
# The console goes to stdout and to build/run/FLAVOUR/console; what the guest
# wrote is in build/run/FLAVOUR. Exit: the guest's status, or 125 if the guest
# did not report one.
#   KVM=0  do not use KVM even where it works
#   PLUGIN=FILE.so,ARG=VALUE,...  for the bench: one CPU of a named model, each
#          instruction one nanosecond, and what the plugin counts
. "$(dirname "$0")/lib.sh"

flavour=$1 run=$2 limit=$3
shift 3
image=$BUILD/$flavour/bzImage
out=$BUILD/run/${RUN_NAME:-$flavour}
rm -rf "$out"	# no result of a former run
[ -e "$image" ] || die "there is no build/$flavour/bzImage" "make kernel FLAVOUR=$flavour"
command -v qemu-system-x86_64 >/dev/null || die "qemu-system-x86_64 is missing" "make deps"
mkdir -p "$out"

# /dev/kvm may be there and not work: ask QEMU
# QEMU 7.2's multi-threaded TCG gets patched kernel text wrong. Its TSC is the
# host's; the guest cannot always calibrate it, and pktgen needs a fine clock.
accel=(-accel "tcg,thread=single" -cpu max)
clock=tsc=reliable
cpufreq=/sys/devices/system/cpu/cpu0/cpufreq
if [ ! -d $cpufreq ]; then
	clock+=" tsc_early_khz=$(awk '/^cpu MHz/ { printf "%d", $4 * 1000; exit }' /proc/cpuinfo)"
elif [ -r $cpufreq/base_frequency ]; then
	clock+=" tsc_early_khz=$(cat $cpufreq/base_frequency)"
fi
kvm_works() {
	[ "${KVM:-}" != 0 ] && [ -w /dev/kvm ] &&
		(echo quit | timeout 10 qemu-system-x86_64 -accel kvm -cpu host -M microvm \
			-nodefaults -display none -monitor stdio -S) >/dev/null 2>&1
}
smp=2,sockets=2,cores=1,threads=1
if [ -n "${PLUGIN:-}" ]; then
	accel=(-accel "tcg,thread=single" -icount "shift=0,sleep=off" -cpu "$BENCH_CPU,check=off" -plugin "$PLUGIN")
	clock="tsc=reliable tsc_early_khz=1000000 nokaslr"
	smp=1
elif kvm_works; then
	accel=(-accel kvm -cpu host)
	clock=
fi

# The guest runs a copy, named by its path in the repository
{
	echo '#!/bin/bash'
	printf 'export FLAVOUR=%q\n' "$flavour"
	printf 'exec %q' "/run/xdp-bulk/repo/$run"
	[ $# -eq 0 ] || printf ' %q' "$@"
	echo
} >"$out/run"
chmod +x "$out/run"
share() { # TAG PATH [OPTION]
	printf '%s\n' -fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap${3:-}" \
		-device "virtio-9p-device,fsdev=$1,mount_tag=$1"
}
mapfile -t shares < <(share root / ,readonly=on; share repo "$TOP" ,readonly=on
	share build "$BUILD" ,readonly=on; share out "$out")

qemu=(qemu-system-x86_64 "${accel[@]}"
	-M "microvm,acpi=off,pit=on,pic=on,rtc=on" -smp "$smp"
	-m "${MEM:-2048}" -nodefaults -no-user-config -no-reboot -display none
	-kernel "$image" -device virtio-rng-device "${shares[@]}"
	-append "console=ttyS0 root=root rootfstype=9p rootflags=trans=virtio,version=9p2000.L,msize=512000,cache=loose ro init=$TOP/vm/init panic=-1 reboot=t $clock loglevel=${LOGLEVEL:-7} ${APPEND:-}")

if [ "$limit" = 0 ]; then
	: >"$out/interactive"
	old=$(stty -g 2>/dev/null || true)
	cleanup() { [ -z "$old" ] || stty "$old"; }
	[ -z "$old" ] || stty raw -echo
	printf 'Ctrl-A x ends QEMU, should the guest hang\r\n'
	"${qemu[@]}" -serial mon:stdio || true
	exit 0
fi

console() {
	timeout --foreground -k 5 "$limit" "${qemu[@]}" -serial stdio </dev/null 2>&1 | sed -u 's/\r//g' | tee "$out/console"
	return "${PIPESTATUS[0]}"
}
rc=0
background console
reap || rc=$?
case $rc in
124 | 137) echo "boot: the guest was ended after $limit seconds" >&2 ;;
esac
if ! grep -qa '^xdp-bulk guest: done, status [0-9]*$' "$out/console" || [ ! -s "$out/status" ]; then
	exit 125
fi
exit "$(cat "$out/status")"
