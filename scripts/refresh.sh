#!/usr/bin/env bash
# refresh.sh: write the commits of build/linux, branch patched, back to
# series/. Cover letters stay as they are. Replaces a series as a whole or not
# at all.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"
lock

[ -z "$LINUX" ] || die "the queue is kept against the base in base.lock" "make refresh without LINUX="
[ -d "$TREE/.git" ] || die "there is no build/linux" "make tree"
stamped "$(base_lock sha256)" "$BUILD/tree.base" ||
	die "build/linux has another base than base.lock" "make tree, without LINUX="
check_not_busy
check_on_patched
[ -z "$(git -C "$TREE" status --porcelain --untracked-files=no | head -n1)" ] ||
	die "build/linux has uncommitted changes" "git -C build/linux commit, then make refresh"
[ -z "$(git -C "$TREE" rev-list --min-parents=2 -n1 stock..patched)" ] ||
	die "branch patched has a merge" "git -C build/linux rebase stock"
for c in $(git -C "$TREE" rev-list stock..patched); do
	git -C "$TREE" diff-tree --quiet "$c^" "$c" || continue
	case $(git -C "$TREE" log -1 --format=%s "$c") in
	'series '[0-9][0-9]-*) ;;
	*) die "commit $(git -C "$TREE" log -1 --format='%h (\"%s\")' "$c") in build/linux changes nothing" \
		"git -C build/linux rebase -i stock, and drop it" ;;
	esac
done
if ! stamped "$(queue_hash)" "$BUILD/tree.stamp" && [ -z "${FORCE:-}" ]; then
	die "series/ has changed since build/linux was made from it" \
	    "git diff series/ to see how; make tree takes it, make refresh FORCE=1 overwrites it"
fi

# Beside series/, so that moving is a rename; "series/.x" is no series
new=$TOP/series/.new
old=$TOP/series/.old
cleanup() {
	local d
	for d in "$old"/*; do
		[ ! -d "$d" ] || [ -e "$TOP/series/${d##*/}" ] || mv "$d" "$TOP/series/"
	done
	rm -rf "$new" "$old"
}
cleanup
mkdir -p "$new" "$old"
write_queue "$new" patched
for d in "$new"/*/; do
	d=${d%/}
	dest=$TOP/series/${d##*/}
	[ ! -e "$dest/0000-cover-letter.patch" ] || cp -p "$dest/0000-cover-letter.patch" "$d/"
	if ! diff -rq "$d" "$dest" >/dev/null 2>&1; then
		say "refresh: series/${d##*/}: $(patches "$d" | wc -l) patches"
		[ ! -e "$dest" ] || mv "$dest" "$old/"
		mv "$d" "$dest"
	fi
done
subjects=$(git -C "$TREE" log --format=%s stock..patched)
for d in $(series); do
	grep -qxF "$(marker "$d")" <<<"$subjects" ||
		say "refresh: note: branch patched has no commit \"$(marker "$d")\"; series/${d##*/} is left alone"
done
tree=$(git -C "$TREE" rev-parse 'patched^{tree}')
sed -i "s/^patched=.*/patched=$tree/" "$TOP/base.lock"
git -C "$TREE" rev-parse patched >"$BUILD/tree.applied"
queue_hash >"$BUILD/tree.stamp"
say "refresh: series/ holds what build/linux has, tree id ${tree:0:12}"
