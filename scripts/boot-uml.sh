#!/usr/bin/env bash
# boot-uml.sh [-i] VARIANT RUN SECONDS [ARG...]: run build/uml/VARIANT/linux, a
# kernel that is a process of the host, and in it the file RUN (in the
# repository), ended after SECONDS at the latest.
# The console goes to stdout and to build/run/uml-VARIANT/console; what the
# guest wrote is in build/run/uml-VARIANT. Exit: the guest's status, or 125 if
# the guest did not report one.
#   -i       stdin and stdout are RUN's; the console, with RUN's stderr, goes to
#            the file only. Text, in lines of up to 4,095 bytes without ^D.
#   PIN=0    run all of it on these CPUs of the host (taskset's list)
#   NCPUS=2  CPUs of the guest
#   MEM=1024 its memory in MiB, from /dev/shm if that has as much
# Two variants can run at the same time; one variant cannot run twice.
. "$(dirname "$0")/lib.sh"

stdin=
if [ "${1:-}" = -i ]; then
	stdin=1
	shift
fi
[ $# -ge 3 ] || die "boot-uml.sh wants VARIANT RUN SECONDS"
variant=$1 run=$2 limit=$3
shift 3
image=$BUILD/uml/$variant/linux
out=$BUILD/run/uml-$variant
mem=${MEM:-1024}
rm -rf "$out"	# no result of a former run
[ -e "$image" ] || die "there is no build/uml/$variant/linux" "scripts/kernel.sh uml-$variant"
[[ $limit =~ ^[1-9][0-9]*$ ]] || die "SECONDS=$limit is no number of seconds"
mkdir -p "$out/uml"
[ -z "$stdin" ] || : >"$out/stdin"

# The guest's memory is an unlinked file; on a disk it would be written back
tmpdir=/dev/shm
free=$(df -Pm $tmpdir 2>/dev/null | awk 'NR == 2 { print $4 }') || true
[ "${free:-0}" -ge "$mem" ] && [ -w $tmpdir ] || tmpdir=$out/uml

# The guest runs a copy, named by its path in the repository
{
	echo '#!/bin/bash'
	printf 'export FLAVOUR=%q\n' "uml-$variant"
	printf 'exec %q' "/run/xdp-bulk/repo/$run"
	[ $# -eq 0 ] || printf ' %q' "$@"
	echo
} >"$out/run"
chmod +x "$out/run"

# More than one CPU needs seccomp instead of ptrace. A console on one fd reads
# from a pipe that it can only write, so never; UML's own "null" does not open.
uml=("$image" "mem=${mem}M" seccomp=on "ncpus=${NCPUS:-2}" "uml_dir=$out/uml/" umid=guest
	root=none rootfstype=hostfs rootflags=/ ro "init=$TOP/vm/init-uml" panic=-1 noreboot
	"loglevel=${LOGLEVEL:-7}" con=none con0=fd:1 "xdp_out=$out" "xdp_repo=$TOP" "xdp_build=$BUILD")
[ -z "$stdin" ] || uml+=(con1=fd:3 con2=fd:4)
# shellcheck disable=SC2206 # words
uml+=(${APPEND:-})
[ -z "${PIN:-}" ] || uml=(taskset -c "$PIN" "${uml[@]}")

# UML leads a session of its own, named by its pid, and its helpers are in it
left_over() {
	local sid
	sid=$(cat "$out/uml/sid" 2>/dev/null) || return 0
	ps -o pid=,stat=,comm= -s "$sid" | awk '$2 !~ /^Z/ && $3 ~ /^(linux|uml-userspace)/ { print $1 }' || true
}
cleanup() {
	local pid pids
	for _ in {1..50}; do
		pids=$(left_over)
		[ -n "$pids" ] || break
		for pid in $pids; do kill -KILL "$pid" 2>/dev/null || true; done
		sleep 0.05
	done
	rm -rf "$out/uml" "$out/stdin"
}

guest() {
	# shellcheck disable=SC2016 # of the inner shell
	TMPDIR=$tmpdir timeout --foreground -s KILL "$limit" \
		bash -c 'echo $$ >"$1" && shift && exec "$@"' bash "$out/uml/sid" "${uml[@]}" 2>&1
}
# Standard input, and ^D at its end; after the guest has set its terminal up
feed() {
	while [ -e "$out/stdin" ]; do sleep 0.05; done
	exec cat - <(printf '\004\004')
}
# Pipes of our own: UML makes them non-blocking, and files it cannot poll
console() {
	local rc=0 in_pid out_pid
	if [ -z "$stdin" ]; then
		guest </dev/null | sed -u 's/\r//g' | tee "$out/console" || rc=${PIPESTATUS[0]}
		return "$rc"
	fi
	mkfifo "$out/uml/in"
	exec {hold}<>"$out/uml/in"	# never at its end
	exec {from}<"$out/uml/in"
	feed <&0 >&"$hold" {from}<&- &
	in_pid=$!
	exec {to}> >(exec cat)
	out_pid=$!
	guest 3<&"$from" 4>&"$to" </dev/null {from}<&- {to}>&- {hold}>&- |
		sed -u 's/\r//g' >"$out/console" || rc=${PIPESTATUS[0]}
	kill "$in_pid" 2>/dev/null || true
	exec {to}>&-
	wait "$out_pid" || true
	return "$rc"
}
rc=0
background console
reap || rc=$?
case $rc in
137) echo "boot-uml: the guest was ended after $limit seconds" >&2 ;;
esac
if ! grep -qa '^xdp-bulk guest: done, status [0-9]*$' "$out/console" || [ ! -s "$out/status" ]; then
	exit 125
fi
exit "$(cat "$out/status")"
