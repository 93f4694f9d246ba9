# shellcheck shell=bash
# Common to all scripts: sourced first, with the script's own name in $0.
#   BUILD  where everything is made (default: build/)
#   CACHE  what only saves time: the base package, ccache, check results
#   LINUX  another base: a git tree or a tarball (default: the one in base.lock)
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(realpath -m "${BUILD:-$TOP/build}")
CACHE=$(realpath -m "${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/xdp-bulk}")
LINUX=${LINUX:-}
JOBS=${JOBS:-$(nproc)}
# shellcheck disable=SC2034 # of the scripts that source this
TREE=$BUILD/linux
export LC_ALL=C
# The distribution's tools before any other of the same name
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# Variables of our own make are not for those that the scripts start
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

say() { printf '%s\n' "$*"; }

# die WHAT [MEND [LOG]]: one line that says what is wrong, what mends it, and
# where the log is.
die() {
	local line="error: $1"
	[ -n "${2:-}" ] && line+="; try: $2"
	[ -n "${3:-}" ] && line+=" (log: ${3#"$PWD"/})"
	printf '%s\n' "$line" >&2
	exit 1
}

# Children get their own process group, so that Ctrl-C reaches the script
# alone, which ends them and cleans up.
child=
cleanup() { :; }	# a script may redefine it
on_exit() {
	local rc=$?
	trap - EXIT INT TERM HUP
	if [ -n "$child" ]; then
		kill -TERM -- "-$child" 2>/dev/null || true
		wait "$child" 2>/dev/null || true
	fi
	cleanup
	exit "$rc"
}
case $TOP$BUILD$CACHE in
*[[:space:]:,]*) die "a path has a blank, colon or comma in it: $TOP, $BUILD, $CACHE" "a clone, BUILD= and CACHE= elsewhere" ;;
esac
trap on_exit EXIT
set -E
trap 'echo "error: ${BASH_SOURCE[0]##*/}:$LINENO: failed: $BASH_COMMAND" >&2; exit 1' ERR
trap 'echo "interrupted" >&2; exit 130' INT
trap 'exit 143' TERM HUP

# background CMD...: start it in a process group of its own, as $child
background() {
	set -m
	"$@" &
	child=$!
	set +m
}

# reap: wait for $child and return its status
reap() {
	local rc=0
	wait "$child" || rc=$?
	child=
	return "$rc"
}

# logged LOG WHAT MEND CMD...: run it with its output in LOG; on failure, one
# line with the first error that the log holds.
logged() {
	local log=$1 what=$2 mend=$3
	shift 3
	mkdir -p "$(dirname "$log")"
	background "$@" >"$log" 2>&1 </dev/null
	reap || die "$what$(first_error "$log")" "$mend" "$log"
}

first_error() {
	local line
	line=$(grep -m1 -aiE '(^|[^a-z_])(fatal|error|E):|No space left|undefined reference' "$1" ||
	       tail -n1 "$1") || true
	[ -n "$line" ] && printf ': %.200s' "$line"
	return 0
}

# need_space GIB: before a long step, not in the middle of it
need_space() {
	local free
	mkdir -p "$BUILD" || die "cannot create $BUILD" "BUILD=<a directory you can write to>"
	free=$(df -Pk "$BUILD" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$free" -ge "$1" ] ||
		die "$BUILD has $free GiB free, this step needs $1" "make clean, or BUILD=<a directory with more space>"
}

# One run at a time in a build directory; scripts that call each other share it.
lock() {
	[ "${XDP_BULK_LOCK:-}" = "$BUILD" ] && return
	mkdir -p "$BUILD" || die "cannot create $BUILD" "BUILD=<a directory you can write to>"
	[ -w "$BUILD" ] || die "cannot write to $BUILD" "BUILD=<a directory you can write to>"
	exec {lock_fd}>"$BUILD/.lock"
	flock -n "$lock_fd" || die "another run uses $BUILD" "again when it has ended"
	export XDP_BULK_LOCK=$BUILD
}

# script NAME ARG...: run another script, which says itself what went wrong
script() {
	XDP_BULK_NESTED=1 "$TOP/scripts/$1.sh" "${@:2}" || exit $?
}

# stamped VALUE FILE: is FILE there and does it hold VALUE?
stamped() { [ -e "$2" ] && [ "$(cat "$2")" = "$1" ]; }

# base_lock KEY: a value of base.lock
base_lock() {
	local value
	value=$(sed -n "s/^$1=//p" "$TOP/base.lock")
	[ -n "$value" ] || die "base.lock has no $1" "git checkout base.lock"
	printf '%s\n' "$value"
}

series() { find "$TOP/series" -mindepth 1 -maxdepth 1 -type d -name '[0-9][0-9]-*' | sort; }

# patches DIR: its patches in order, without the cover letter
patches() { find "$1" -maxdepth 1 -name '[0-9]*.patch' ! -name '0000-*' | sort; }

# What the queue is made of, as one hash: the base and every patch.
queue_hash() {
	{
		printf '%s\n' "$LINUX"
		cat "$TOP/base.lock"
		for d in $(series); do
			printf '%s\n' "${d##*/}"
			for p in $(patches "$d"); do
				printf '%s\n' "${p##*/}"
				cat "$p"
			done
		done
	} | sha256sum | cut -c1-16
}

# git without the user's configuration, so that patches come out alike on
# every machine
ngit() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_TERMINAL_PROMPT=0 \
		git -c core.abbrev=12 -c advice.detachedHead=false -c gc.auto=0 \
		-c user.name="$(author_name)" -c user.email="$(author_email)" \
		-c core.autocrlf=false -c core.quotePath=true "$@"
}

author_name() { git -C "$TOP" config user.name || echo xdp-bulk; }
author_email() { git -C "$TOP" config user.email || echo xdp-bulk@localhost; }

# progress LOG EXPECTED WHAT: count the objects in a kernel build's log while
# $child runs, with an estimate of what is left
progress() {
	local log=$1 expected=$2 what=$3 start=$SECONDS shown=-30 n left
	while kill -0 "$child" 2>/dev/null; do
		sleep 1
		n=$(grep -acE '^  (CC|AS|CLNG-BPF|TEST-OBJ|EXT-OBJ) ' "$log" || true)
		[ "$n" -ge "$expected" ] && expected=$((n + 1))
		left=estimating
		[ "$n" -lt 20 ] || left=$(((SECONDS - start) * (expected - n) / n))
		[ "$left" = estimating ] || left="about $((left / 60)):$(printf %02d $((left % 60))) left"
		if [ -t 1 ]; then
			printf '\r%s: %d of %d objects, %s  ' "$what" "$n" "$expected" "$left"
		elif [ $((SECONDS - shown)) -ge 30 ] && [ $((SECONDS - start)) -ge 5 ]; then
			shown=$SECONDS
			printf '%s: %d of %d objects, %s\n' "$what" "$n" "$expected" "$left"
		fi
	done
	[ -t 1 ] && printf '\r\033[K'
	return 0
}
