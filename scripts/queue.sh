# shellcheck shell=bash
# The patch queue as commits: applying it, and what state build/linux is in.
# Sourced after lib.sh.

marker() { printf 'series %s' "${1##*/}"; }

# A commit or change in build/linux that series/ does not have: names it in
# $wip.
work_in_progress() {
	wip=
	local tip applied
	tip=$(git -C "$TREE" rev-parse -q --verify patched || true)
	applied=$(cat "$BUILD/tree.applied" 2>/dev/null || true)
	if [ -n "$applied" ] && [ "$tip" != "$applied" ]; then
		wip="branch patched has moved"
	elif [ -n "$(git -C "$TREE" status --porcelain --untracked-files=no | head -n1)" ]; then
		wip="uncommitted changes"
	fi
	[ -n "$wip" ]
}

# The same, and branches of your own: what would go with build/linux itself
own_work() {
	work_in_progress && return 0
	wip=$(git -C "$TREE" branch --no-merged patched --format='%(refname:short)' | xargs)
	[ -n "$wip" ] || return 1
	wip="branches of your own: $wip"
}

# git in the middle of something, or on another branch
check_not_busy() {
	local d
	for d in rebase-apply rebase-merge; do
		[ ! -d "$TREE/.git/$d" ] ||
			die "a rebase or am is half done in build/linux" \
			    "git -C build/linux rebase --continue, or --abort (git am: git -C build/linux am --abort)"
	done
	[ ! -e "$TREE/.git/MERGE_HEAD" ] || die "a merge is half done in build/linux" "git -C build/linux merge --abort"
	[ ! -e "$TREE/.git/index.lock" ] || pgrep -x git >/dev/null || rm -f "$TREE/.git/index.lock"
}

check_on_patched() {
	[ "$(git -C "$TREE" symbolic-ref -q --short HEAD || true)" = patched ] ||
		die "build/linux is not on branch patched" "git -C build/linux switch patched"
}

# Files that the queue touches; with the blob that each has in the base
touched() {
	local d p
	for d in $(series); do for p in $(patches "$d"); do cat "$p"; done; done |
		sed -n 's,^diff --git a/.* b/,,p' | sort -u
}

preimages() {
	local d p
	for d in $(series); do for p in $(patches "$d"); do cat "$p"; done; done |
		awk '/^diff --git / { sub(/^diff --git a\/.* b\//, ""); file = $0 }
		     /^index [0-9a-f]+\.\./ && file != "" {
			split($2, blob, /\.\./)
			if (!(file in seen)) print file, blob[1]
			seen[file] = 1; file = "" }'
}

drop_worktree() {
	[ -d "$TREE/.git" ] || { rm -rf "$1"; return 0; }
	git -C "$TREE" worktree remove --force "$1" 2>/dev/null || true
	rm -rf "$1"
	git -C "$TREE" worktree prune
}

# apply_queue DIR [--3way]: apply all series to stock in a sparse work tree
# DIR, and remove it again. $applied is the resulting commit.
apply_queue() {
	local dir=$1 d p log=$BUILD/log/apply.log
	shift
	mkdir -p "$BUILD/log"
	drop_worktree "$dir"
	ngit -C "$TREE" worktree add -q --no-checkout --detach "$dir" stock
	touched | sed 's,^,/,' | ngit -C "$dir" sparse-checkout set --no-cone --stdin
	ngit -C "$dir" checkout -q
	for d in $(series); do
		GIT_AUTHOR_DATE="@0 +0000" GIT_COMMITTER_DATE="@0 +0000" \
			ngit -C "$dir" commit -q --allow-empty -m "$(marker "$d")"
		for p in $(patches "$d"); do
			ngit -C "$dir" am -q --committer-date-is-author-date "$@" "$p" >"$log" 2>&1 </dev/null ||
				die "${p#"$TOP"/} does not apply$(first_error "$log")" \
				    "docs/changing-a-patch.md says how to rebase it" "$log"
		done
	done
	applied=$(git -C "$dir" rev-parse HEAD)
	drop_worktree "$dir"
}

# write_queue DIR COMMIT: the patches of stock..COMMIT as DIR/NN-topic/*.patch
write_queue() {
	local dir=$1 tip=$2 commit subject name='' from=''
	while read -r commit subject; do
		case $subject in
		'series '[0-9][0-9]-*)
			[ -z "$name" ] || format_series "$dir/$name" "$from" "$commit^"
			name=${subject#series } from=$commit ;;
		*)
			[ -n "$name" ] || die "commit $commit in build/linux comes before the first series" \
				"git -C build/linux rebase -i stock, and move it behind a \"series NN-topic\" commit" ;;
		esac
	done < <(git -C "$TREE" log --reverse --format='%H %s' "stock..$tip")
	[ -z "$name" ] || format_series "$dir/$name" "$from" "$tip"
}

format_series() {
	mkdir -p "$1"
	ngit -C "$TREE" format-patch -q --zero-commit --no-signature -N --full-index \
		-o "$1" "$2..$3"
}

# The baselines of baseline/, by name: A.patch is A
baselines() { find "$TOP/baseline" -maxdepth 1 -name '*.patch' -printf '%f\n' | sed 's/\.patch$//' | sort; }

# variant_commit VARIANT [PATCH]: a kernel for the bench as $commit: stock, patched (with
# what is not committed yet) or a baseline. All share net/bpf/test_run.c, which
# generates the load: the patched one. PATCH goes on top of each; $plain is the
# tree without it.
variant_commit() {
	local variant=$1 index=$BUILD/bench.index id blob
	rm -f "$index"
	blob=$(git -C "$TREE" hash-object -w "$TREE/net/bpf/test_run.c")
	vgit() { GIT_INDEX_FILE=$index ngit -C "$TREE" "$@"; }
	case $variant in
	patched)
		check_on_patched
		vgit read-tree patched
		vgit add -u ;;
	stock | [A-Za-z]*)
		vgit read-tree stock
		if [ "$variant" != stock ]; then
			[ -e "$TOP/baseline/$variant.patch" ] ||
				die "there is no baseline/$variant.patch" "one of: stock patched $(baselines | xargs)"
			vgit apply --cached "$TOP/baseline/$variant.patch" >"$BUILD/log/apply.log" 2>&1 ||
				die "baseline/$variant.patch does not apply$(first_error "$BUILD/log/apply.log")" \
				    "docs/measuring.md" "$BUILD/log/apply.log"
		fi
		vgit update-index --cacheinfo "100644,$blob,net/bpf/test_run.c" ;;
	*) die "there is no kernel $variant" "one of: stock patched $(baselines | xargs)" ;;
	esac
	# shellcheck disable=SC2034 # of those that source this
	plain=$(vgit write-tree)
	if [ -n "${2:-}" ]; then
		vgit apply --cached "$2" >"$BUILD/log/apply.log" 2>&1 ||
			die "${2#"$TOP"/} does not apply to $variant$(first_error "$BUILD/log/apply.log")" \
			    "docs/measuring.md" "$BUILD/log/apply.log"
	fi
	id=$(vgit write-tree)
	rm -f "$index"
	commit=$(GIT_AUTHOR_DATE="@0 +0000" GIT_COMMITTER_DATE="@0 +0000" \
		ngit -C "$TREE" commit-tree -m "bench $variant" "$id")
}

# move_bench: check out $commit in build/linux-bench; only the files that differ
# get a new time, so that little is compiled anew
move_bench() {
	local dir=$BUILD/linux-bench
	if ! git -C "$dir" rev-parse -q HEAD >/dev/null 2>&1 || [ ! -e "$dir/.git" ]; then
		drop_worktree "$dir"
		logged "$BUILD/log/tree.log" "cannot check out the bench's source" "make bench, with enough space" \
			ngit -C "$TREE" worktree add -q --detach "$dir" "$commit"
	fi
	rm -f "$(git -C "$dir" rev-parse --git-path index.lock)"
	ngit -C "$dir" checkout -q -f --detach "$commit"
}
