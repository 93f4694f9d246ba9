#!/usr/bin/env bash
# tree.sh: make build/linux, the base with the queue applied.
#   branch stock    the base, one commit (or the HEAD of LINUX=)
#   branch patched  stock, and for each series an empty commit "series NN-topic"
#                   that starts it, followed by its patches
# Patches are applied in a work tree aside, so that a failure or Ctrl-C leaves
# build/linux as it was.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"
lock

new=$BUILD/linux.new
cleanup() { rm -rf "$new" "$new.deb"; drop_worktree "$BUILD/apply"; }

base_id() {
	if [ -z "$LINUX" ]; then
		base_lock sha256
	elif [ -f "$LINUX" ]; then
		sha256sum "$LINUX" | cut -d' ' -f1
	else
		git -C "$LINUX" rev-parse 'HEAD^{commit}'
	fi
}

# commit_base MESSAGE: $new becomes a repository with one commit, always the
# same one for the same content
commit_base() {
	say "tree: reading the source into git, about a minute"
	logged "$BUILD/log/tree.log" "cannot read the source into git" "make tree" \
		git_commit_all "$new" "$1"
}

git_commit_all() {
	ngit init -q -b stock "$1"
	ngit -C "$1" add -f -A
	GIT_AUTHOR_DATE="@0 +0000" GIT_COMMITTER_DATE="@0 +0000" \
	GIT_AUTHOR_NAME=base GIT_AUTHOR_EMAIL='' GIT_COMMITTER_NAME=base GIT_COMMITTER_EMAIL='' \
		ngit -C "$1" commit -q -m "$2"
}

import_package() {
	local deb
	deb=$("$TOP/scripts/fetch.sh" base) || exit $?
	say "tree: unpacking $(base_lock package) $(base_lock version)"
	logged "$BUILD/log/tree.log" "cannot unpack $deb" "make tree, with enough space" \
		dpkg-deb -x "$deb" "$new.deb"
	logged "$BUILD/log/tree.log" "cannot unpack $deb" "make tree, with enough space" \
		tar -xf "$new.deb/usr/src/$(base_lock package).tar.xz" -C "$new" --strip-components=1
	rm -rf "$new.deb"
	commit_base "Linux $(base_lock kernel), $(base_lock package) $(base_lock version)"
	local tree
	tree=$(git -C "$new" rev-parse 'HEAD^{tree}')
	[ "$tree" = "$(base_lock tree)" ] ||
		die "the unpacked source has tree id $tree, base.lock says $(base_lock tree)" \
		    "git checkout base.lock; or tree=$tree in it, if this is the base you want"
}

import_linux() {
	if [ -f "$LINUX" ]; then
		logged "$BUILD/log/tree.log" "cannot unpack LINUX=$LINUX" "LINUX=<git tree or tarball>" \
			tar -xf "$LINUX" -C "$new" --strip-components=1
		commit_base "${LINUX##*/}"
		return
	fi
	local gitdir
	gitdir=$(git -C "$LINUX" rev-parse --path-format=absolute --git-path shallow)
	ngit init -q -b stock "$new"
	printf '%s\n' "$(git -C "$LINUX" rev-parse --path-format=absolute --git-path objects)" \
		>"$new/.git/objects/info/alternates"
	[ ! -e "$gitdir" ] || cp "$gitdir" "$new/.git/shallow"
	say "tree: checking out LINUX=$LINUX"
	ngit -C "$new" reset -q --hard "$(base_id)"
}

import_base() {
	rm -rf "$new" "$new.deb"
	mkdir -p "$new"
	if [ -z "$LINUX" ]; then import_package; else import_linux; fi
	[ -f "$new/kernel/bpf/devmap.c" ] || die "LINUX=$LINUX is no Linux source" "LINUX=<git tree or tarball>"
	git -C "$new" config gc.auto 0
	git -C "$new" config core.untrackedCache true
	git -C "$new" config user.name "$(author_name)"
	git -C "$new" config user.email "$(author_email)"
	# all that was made from the former base goes; its objects would look newer
	# than the new sources
	rm -rf "$BUILD/linux-stock" "$BUILD/linux-bench" "$BUILD"/tree.* "$BUILD/selftests" "$BUILD/check" "$TREE"
	mv "$new" "$TREE"
	base_id >"$BUILD/tree.base"
}

# Another base takes the queue if the files that it touches are the same
# there, or if git can merge because the base has the blobs.
check_other_base() {
	local file blob three_way=
	while read -r file blob; do
		[ "$blob" != 0000000000000000000000000000000000000000 ] || continue
		[ "$(git -C "$TREE" rev-parse -q --verify "stock:$file" || true)" = "$blob" ] && continue
		git -C "$TREE" cat-file -e "$blob" 2>/dev/null ||
			die "LINUX=$LINUX has another $file than the queue was made for, and not the blob that a merge needs" \
			    "the base in base.lock (no LINUX=), or a git tree that holds $(base_lock kernel)"
		three_way=--3way
	done < <(preimages)
	printf '%s\n' "$three_way"
}

if [ -n "$LINUX" ]; then
	[ -e "$LINUX" ] || die "LINUX=$LINUX does not exist" "LINUX=<git tree or tarball>"
	LINUX=$(realpath "$LINUX")
	[ -f "$LINUX" ] || why=$(git -C "$LINUX" rev-parse --verify 'HEAD^{commit}' 2>&1) ||
		die "LINUX=$LINUX is neither a tarball nor a git tree with a commit: $(echo "$why" | head -n1)" \
		    "LINUX=<git tree or tarball>"
fi

if [ -d "$TREE/.git" ]; then
	check_not_busy
	if ! stamped "$(base_id)" "$BUILD/tree.base"; then
		if [ -z "${FORCE:-}" ] && own_work; then
			die "build/linux has another base, and work that is not in series/: $wip" \
			    "BUILD=<another directory>, or save it and make tree FORCE=1"
		fi
		import=1
	fi
else
	import=1
fi
if [ -n "${import:-}" ]; then
	need_space 8
	import_base
fi

hash=$(queue_hash)
if ! stamped "$hash" "$BUILD/tree.stamp"; then
	if [ -e "$BUILD/tree.stamp" ] && [ -z "${FORCE:-}" ] && work_in_progress; then
		die "series/ has changed, and build/linux has work that is not in it: $wip" \
		    "git -C build/linux commit -a; git -C build/linux branch keep; make tree FORCE=1"
	fi
	three_way=
	[ -z "$LINUX" ] || three_way=$(check_other_base) || exit $?
	apply_queue "$BUILD/apply" ${three_way:+"$three_way"}
	rm -f "$BUILD/tree.stamp"
	ngit -C "$TREE" checkout -q -f -B patched "$applied"
	if [ -z "$LINUX" ]; then
		tree=$(git -C "$TREE" rev-parse 'patched^{tree}')
		[ "$tree" = "$(base_lock patched)" ] ||
			say "tree: note: base.lock expects another tree id of the patched source; make refresh mends it"
	fi
	git -C "$TREE" rev-parse patched >"$BUILD/tree.applied"
	printf '%s\n' "$hash" >"$BUILD/tree.stamp"
	say "tree: build/linux has the base and $(for d in $(series); do patches "$d"; done | wc -l) patches, branches stock and patched"
elif [ -z "${XDP_BULK_NOTED:-}" ] && work_in_progress; then
	say "tree: note: build/linux has work that is not in series/ yet: $wip"
fi

# The stock kernel is built from a work tree of its own.
if ! [ -e "$BUILD/linux-stock/.git" ] ||
   [ "$(git -C "$BUILD/linux-stock" rev-parse HEAD 2>/dev/null)" != "$(git -C "$TREE" rev-parse stock)" ] ||
   ! [ -e "$BUILD/tree.stock" ]; then
	rm -f "$BUILD/tree.stock"
	drop_worktree "$BUILD/linux-stock"
	logged "$BUILD/log/tree.log" "cannot check out the base" "make tree, with enough space" \
		ngit -C "$TREE" worktree add -q --detach "$BUILD/linux-stock" stock
	touch "$BUILD/tree.stock"
fi
[ -n "${XDP_BULK_NESTED:-}" ] || say "tree: build/linux is up to date, on branch $(git -C "$TREE" branch --show-current)"
