#!/usr/bin/env bash
# clean.sh: remove build/, unless build/linux holds work that series/ has not.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"
lock

if [ -z "${FORCE:-}" ] && [ -d "$TREE/.git" ] && [ -e "$BUILD/tree.applied" ] && own_work; then
	die "build/linux has work that is not in series/: $wip" "make refresh, or make clean FORCE=1"
fi
# by name, since BUILD may be a directory with other things in it
cd "$BUILD"
rm -rf linux linux-stock linux.new linux.new.deb tree.* apply check demo export export.new log run \
	selftests tools tools.new libbpf uapi uml stock patched debug rt bench bench-* bench.index \
	linux-bench tiny-* vm-*
say "clean: $BUILD has nothing of ours; the cache in $CACHE is left"
