#!/usr/bin/env bash
# clean.sh: remove build/, unless build/linux holds work that series/ has not.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"
lock

if [ -z "${FORCE:-}" ] && [ -d "$TREE/.git" ] && [ -e "$BUILD/tree.applied" ] && work_in_progress; then
	die "build/linux has work that is not in series/: $wip" "make refresh, or make clean FORCE=1"
fi
find "$BUILD" -mindepth 1 -maxdepth 1 ! -name .lock -exec rm -rf {} +
say "clean: $BUILD is empty; the cache in $CACHE is left"
