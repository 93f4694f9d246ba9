#!/usr/bin/env bash
# check.sh: all that can be checked without booting: the queue, each patch,
# our scripts. What cannot run here is named, and never counts as passed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"
lock
script tree

work=$BUILD/check
src=$work/src
results=$CACHE/check
mkdir -p "$work" "$results" "$BUILD/log"
cleanup() { drop_worktree "$work/apply"; }
passed=0 failed=0 not_run=0

ok() { passed=$((passed + 1)); say "ok - $*"; }
bad() { # WHAT MEND [DETAILS-FILE]
	failed=$((failed + 1))
	say "not ok - $1; try: $2"
	[ -z "${3:-}" ] || sed 's/^/#   /' "$3" | head -n 20
}
skip() { not_run=$((not_run + 1)); say "not run - $*"; }
name() { printf '%s' "${1#"$TOP"/series/}"; }

# The files of the base that a commit changes
changed() { git -C "$TREE" diff-tree --no-commit-id --name-only -r --diff-filter=AM "$1"; }

check_numbering() {
	local d p n want subject trouble=$work/numbering
	: >"$trouble"
	for d in $(series); do
		n=0
		[ -e "$d/0000-cover-letter.patch" ] || echo "$(name "$d"): no 0000-cover-letter.patch" >>"$trouble"
		for p in $(patches "$d"); do
			n=$((n + 1))
			want=$(printf %04d $n)
			case ${p##*/} in "$want"-*) ;; *) echo "$(name "$p"): should be number $want" >>"$trouble" ;; esac
			! grep -qi '^signed-off-by:' "$p" ||
				echo "$(name "$p"): has a Signed-off-by, which only the submitter can give" >>"$trouble"
			subject=$(git mailinfo -k /dev/null /dev/null <"$p" 2>/dev/null |
				sed -n 's/^Subject: \(\[[^]]*\] \)\{0,1\}//p')
			[ ${#subject} -le 75 ] || echo "$(name "$p"): subject of ${#subject} characters, at most 75" >>"$trouble"
		done
		[ $n -le 15 ] || echo "$(name "$d"): $n patches, at most 15" >>"$trouble"
	done
	if [ -s "$trouble" ]; then
		bad "series: numbers, subjects, cover letters" "docs/changing-a-patch.md" "$trouble"
	else
		ok "series: numbers, subjects, cover letters"
	fi
}

# Apply the files as they are, write the commits back, compare. Sets $applied.
check_round_trip() {
	rm -rf "$work/queue"
	apply_queue "$work/apply" ${LINUX:+--3way}
	write_queue "$work/queue" "$applied"
	local d
	for d in $(series); do
		[ ! -e "$d/0000-cover-letter.patch" ] || cp "$d/0000-cover-letter.patch" "$work/queue/${d##*/}/"
	done
	if diff -r "$TOP/series" "$work/queue" >"$work/round-trip" 2>&1; then
		ok "series: apply and refresh leave no difference"
	else
		bad "series: apply and refresh leave a difference" "make refresh" "$work/round-trip"
	fi

	local tree
	tree=$(git -C "$TREE" rev-parse 'stock^{tree}')
	if [ -n "$LINUX" ]; then
		skip "tree ids: LINUX= is another base than base.lock"
		return
	fi
	if [ "$tree" = "$(base_lock tree)" ]; then
		ok "tree id of the base: ${tree:0:12}"
	else
		bad "tree id of the base is $tree" "git checkout base.lock; make clean"
	fi
	tree=$(git -C "$TREE" rev-parse "$applied^{tree}")
	if [ "$tree" = "$(base_lock patched)" ]; then
		ok "tree id of the patched source: ${tree:0:12}"
	else
		bad "tree id of the patched source is $tree, base.lock says $(base_lock patched)" "make refresh"
	fi
}

# Messages of checkpatch that are left out, with the reason:
#   NO_SIGN_OFF / "Missing Signed-off-by": the submitter adds it on export
#   UNKNOWN_COMMIT_ID: the base has no history to look a Fixes: tag up in
#   FILE_PATH_CHANGES: asks whether MAINTAINERS covers a new file; get_maintainer
#       answers that below, for each. A file that the base has without a
#       maintainer is named: its cover letter says who reviews it.
#   SPACE_BEFORE_TAB, in patches of uapi/linux/bpf.h: its comments are the source of
#       the manual page of the helpers, and are laid out like that
check_patch() {
	local p=$1 f new out=$work/checkpatch unowned='' orphans=''
	local ignore=NO_AUTHOR_SIGN_OFF,MISSING_SIGN_OFF,UNKNOWN_COMMIT_ID,FILE_PATH_CHANGES
	! grep -q '^+++ b/include/uapi/linux/bpf.h' "$p" || ignore+=,SPACE_BEFORE_TAB
	(cd "$TREE" && scripts/checkpatch.pl --strict --no-summary --terse --show-types \
		--ignore "$ignore" \
		"$p") >"$out" 2>&1 || true
	if grep -qE 'Traceback|No module named' "$out"; then
		skip "checkpatch $(name "$p"): $(grep -m1 'No module' "$out"); make deps"
		return
	fi
	while read -r new f; do
		(cd "$TREE" && scripts/get_maintainer.pl --no-git --no-git-fallback --nol --nor -f "$f" 2>/dev/null) </dev/null |
			grep -q '(maintainer:\|(supporter:' && continue
		if [ "$new" = new ]; then unowned+=" $f"; else orphans+=" $f"; fi
	done < <(awk '/^--- / { old = $2 }
		/^\+\+\+ b\// { print old == "/dev/null" ? "new" : "old", substr($2, 3) }' "$p")
	[ -z "$orphans" ] || say "# the base names no maintainer for$orphans"
	[ -z "$unowned" ] || echo "no maintainer for$unowned" >>"$out"
	if [ -s "$out" ]; then
		bad "checkpatch --strict $(name "$p")" "docs/changing-a-patch.md" "$out"
	else
		ok "checkpatch --strict $(name "$p")"
	fi
}

# --- compilers, on a work tree of its own that is moved along the queue

# Users of a changed header that are built in its place
header_users="kernel/bpf/devmap.c kernel/bpf/cpumap.c net/core/filter.c net/core/xdp.c
	net/core/dev.c net/bpf/test_run.c drivers/net/veth.c drivers/net/tun.c"

to_build() { # COMMIT: .c files of the kernel itself
	local f
	for f in $(changed "$1"); do
		case $f in
		tools/* | samples/* | Documentation/* | scripts/*) ;;
		*.c) echo "$f" ;;
		*.h) echo "$header_users" ;;
		esac
	done | xargs -n1 | sort -u
}

move_to() {
	if ! git -C "$src" rev-parse -q HEAD >/dev/null 2>&1 || [ ! -e "$src/.git" ]; then
		drop_worktree "$src"
		logged "$BUILD/log/check.log" "cannot check out the source" "make check, with enough space" \
			ngit -C "$TREE" worktree add -q --detach "$src" "$1"
	fi
	ngit -C "$src" checkout -q -f --detach "$1"
	# what is compiled is cached as this commit's
	[ "$(git -C "$src" rev-parse HEAD)" = "$(git -C "$TREE" rev-parse "$1")" ] ||
		die "cannot check out $1 in build/check/src" "rm -r $src; make check"
}

kmake() { # COMPILER TARGET...
	local cc=$1
	shift
	case $cc in
	gcc) set -- CC='ccache gcc' "$@" ;;
	clang) set -- LLVM=-19 CC='ccache clang-19' "$@" ;;
	esac
	CCACHE_DIR=$CACHE/ccache CCACHE_BASEDIR=$src CCACHE_NOHASHDIR=1 \
		make -s -C "$src" O=".obj-$cc" -j"$JOBS" "$@"
}

configure() {
	kmake "$1" tinyconfig &&
	(cd "$src" && scripts/kconfig/merge_config.sh -m -O ".obj-$1" ".obj-$1/.config" "$TOP/config/vm") &&
	kmake "$1" olddefconfig &&
	kmake "$1" prepare
}

compiler_id() {
	case $1 in
	gcc) gcc --version ;;
	clang) clang-19 --version ;;
	esac
}

# prepare COMPILER: a configured object directory for the commit checked out. Only
# what Kconfig reads asks for another configuration; make does the rest.
prepare() {
	local state
	state=$({ git -C "$src" ls-files -s '*Kconfig*'; cat "$TOP/config/vm"; compiler_id "$1"; } |
		sha256sum | cut -c1-16)
	stamped "$state" "$src/.obj-$1/check.stamp" && return 0
	say "# configuring for $1" >&2
	logged "$BUILD/log/check-$1.log" "cannot configure the kernel for $1" "make check" configure "$1"
	printf '%s\n' "$state" >"$src/.obj-$1/check.stamp"
}

# warnings COMPILER COMMIT FILE...: what W=1 says, without line numbers; cached
warnings() {
	local cc=$1 commit=$2 key log=$BUILD/log/check-$1.log
	shift 2
	key=$({ git -C "$TREE" rev-parse "$commit^{tree}"; cat "$TOP/config/vm"; compiler_id "$cc"; echo "$@"; } |
		sha256sum | cut -c1-24)-$cc
	if [ ! -e "$results/$key" ]; then
		move_to "$commit" || exit $?
		prepare "$cc" || exit $?
		(cd "$src/.obj-$cc" && rm -f "${@/%.c/.o}")
		# all of them, one after the other's errors too
		if ! kmake "$cc" -k -Otarget W=1 "${@/%.c/.o}" >"$log" 2>&1; then
			cat "$log"
			return 1
		fi
		{ grep -E 'warning:|error:' "$log" || true; } | sed -E 's/:[0-9]+(:[0-9]+)?:/:/' |
			sort >"$work/warnings" || die "cannot write to $work" "make check, with enough space"
		mv "$work/warnings" "$results/$key" || die "cannot write to $results" "CACHE=<another directory>"
	fi
	cat "$results/$key"
}

# check_build COMMIT PATCH: both compilers after the patch; before it, which takes as
# long again, only if there is something to compare
check_build() {
	local commit=$1 p=$2 f cc files old=()
	files=$(to_build "$commit")
	[ -n "$files" ] || return 0
	for f in $files; do
		! git -C "$TREE" cat-file -e "$commit^:$f" 2>/dev/null || old+=("$f")
	done
	for cc in gcc clang; do
		# shellcheck disable=SC2086
		if ! warnings "$cc" "$commit" $files >"$work/after-$cc"; then
			bad "$cc W=1 $(name "$p"): does not compile" "docs/changing-a-patch.md" "$work/after-$cc"
			continue
		fi
		: >"$work/before-$cc"
		if [ -s "$work/after-$cc" ] && [ ${#old[@]} -ne 0 ]; then
			warnings "$cc" "$commit^" "${old[@]}" >"$work/before-$cc"
		fi
		comm -13 "$work/before-$cc" "$work/after-$cc" >"$work/new-warnings"
		if [ -s "$work/new-warnings" ]; then
			bad "$cc W=1 $(name "$p")" "docs/changing-a-patch.md" "$work/new-warnings"
		else
			ok "$cc W=1 $(name "$p"): $(echo "$files" | xargs)"
		fi
	done
}

# report TOOL COMMIT FILE: what sparse or kernel-doc says; cached by content
report() {
	local tool=$1 commit=$2 file=$3 key
	key=$tool-$(git -C "$TREE" rev-parse "$commit:$file")
	if [ ! -e "$results/$key" ]; then
		move_to "$commit" || exit $?
		: >"$work/unrun"
		case $tool in
		sparse)
			prepare gcc
			rm -f "$src/.obj-gcc/${file%.c}.o"
			(kmake gcc C=2 "${file%.c}.o" 2>&1 || true) |
				sed -E 's/:[0-9]+(:[0-9]+)?:/:/' | sort >"$work/report" ;;
		kernel-doc)
			(cd "$src" && scripts/kernel-doc -none -Wall "$file" 2>&1 || true) |
				sed -E 's/:[0-9]+//' | sort >"$work/report"
			! grep -q Traceback "$work/report" || echo kernel-doc >>"$work/unrun" ;;
		esac
		mv "$work/unrun" "$results/$key.unrun"
		mv "$work/report" "$results/$key"
	fi
	sort -u "$results/$key.unrun" "$work/unrun-$tool" 2>/dev/null >"$work/unrun-new" || true
	mv "$work/unrun-new" "$work/unrun-$tool"
	cat "$results/$key"
}

# side_of SIDE COMMIT FILE: the functions that a commit touches, as they are after it
# (SIDE +) or were before (SIDE -); all of net/core/filter.c takes minutes
side_of() {
	git -C "$TREE" diff -W --no-color --no-ext-diff "$2^" "$2" -- "$3" | awk -v side="$1" '
		/^@@/ { on = 1; print ""; next }
		on && (/^ / || substr($0, 1, 1) == side) { print substr($0, 2) }'
}

cocci_key() { echo "cocci-$(sha256sum <"$1" | cut -c1-24)"; }

# What the kernel's coccinelle scripts say of all that is not in the cache yet, each
# script once for all of it: most of its time is its start
run_coccicheck() { # COMMIT...
	local dir=$work/cocci c f side slice key n scripts
	rm -rf "$dir"
	mkdir -p "$dir/in" "$dir/out"
	for c in "$@"; do
		for f in $(changed "$c"); do
			case $f in *.[ch]) ;; *) continue ;; esac
			slice=$dir/slice.${f##*.}
			for side in - +; do
				side_of "$side" "$c" "$f" >"$slice"
				key=$(cocci_key "$slice")
				[ -e "$results/$key" ] || cp "$slice" "$dir/in/$key.${f##*.}"
			done
		done
	done
	n=$(find "$dir/in" -type f | wc -l)
	[ "$n" != 0 ] || return 0
	scripts=$(cd "$TREE" && find scripts/coccinelle -name '*.cocci' | sort | xargs grep -l 'virtual report')
	say "# coccicheck: $(echo "$scripts" | wc -l) scripts, $n pieces of code, about $((1 + n / 60)) minutes" >&2
	# shellcheck disable=SC2016
	(cd "$TREE" && echo "$scripts" | xargs -P "$JOBS" -I{} sh -c '
		timeout 900 spatch --very-quiet --no-show-diff -D report --no-includes \
			--include-headers --cocci-file "$1" --dir "$2/in" >"$2/out/${1##*/}" 2>/dev/null ||
			echo "${1##*/}" >>"$2/unrun"
		' sh {} "$dir")
	touch "$dir/unrun"
	for f in "$dir"/in/*; do
		key=${f##*/}
		key=${key%.*}
		{ grep -hF "$f" "$dir"/out/* || true; } | sed -E "s,$f,FILE,g; s/:[0-9-]+//g" | sort >"$dir/report"
		cp "$dir/unrun" "$results/$key.unrun"
		mv "$dir/report" "$results/$key"
	done
}

# coccicheck SIDE COMMIT FILE: what run_coccicheck has found
coccicheck() {
	local file=$3 slice=$work/side.${3##*.} key
	side_of "$1" "$2" "$file" >"$slice"
	key=$(cocci_key "$slice")
	sort -u "$results/$key.unrun" "$work/unrun-coccicheck" 2>/dev/null >"$work/unrun-new" || true
	mv "$work/unrun-new" "$work/unrun-coccicheck"
	# Some scripts name lines in their text too. What they propose instead of
	# something are functions of the kernel, which a selftest does not have.
	sed -E "s,^FILE,$file,; s/\b(lines?) [0-9]+/\1 N/g; \,^tools/.*opportunity for ,d" "$results/$key" | sort
}

check_report() { # TOOL COMMIT PATCH
	local tool=$1 commit=$2 p=$3 f files=''
	: >"$work/new-report"
	for f in $(changed "$commit"); do
		case $f in
		tools/*) [ "$tool" != sparse ] || continue ;;
		*.c) ;;
		*.h) [ "$tool" != sparse ] || continue ;;
		*) continue ;;
		esac
		case $f in *.[ch]) ;; *) continue ;; esac
		files+=" $f"
		if [ "$tool" = coccicheck ]; then
			coccicheck - "$commit" "$f" >"$work/before"
			coccicheck + "$commit" "$f" >"$work/after"
			comm -13 "$work/before" "$work/after" >>"$work/new-report"
			continue
		fi
		report "$tool" "$commit" "$f" >"$work/after"
		if git -C "$TREE" cat-file -e "$commit^:$f" 2>/dev/null; then
			report "$tool" "$commit^" "$f" >"$work/before"
		else
			: >"$work/before"
		fi
		comm -13 "$work/before" "$work/after" >>"$work/new-report"
	done
	[ -n "$files" ] || return 0
	if [ -s "$work/new-report" ]; then
		bad "$tool $(name "$p")" "docs/changing-a-patch.md" "$work/new-report"
	else
		ok "$tool $(name "$p")"
	fi
}

# The kernel's build asks the same, and switches a sparse that is too old off
sparse_works() { [ "$(cd "$TREE" && sh scripts/checker-valid.sh sparse 2>/dev/null)" = 1 ]; }

check_scripts() {
	local files
	files=$(cd "$TOP" && git ls-files -co --exclude-standard | while read -r f; do
		[ -f "$f" ] || continue
		case $f in
		*.sh | .ci/run) echo "$f" ;;
		*) head -n1 "$f" | grep -qa '^#!.*sh' && echo "$f" ;;
		esac || true
	done)
	# shellcheck disable=SC2086
	if (cd "$TOP" && shellcheck -x -P scripts $files) >"$work/shellcheck" 2>&1; then
		ok "shellcheck: $(echo "$files" | wc -w) scripts"
	else
		bad "shellcheck" "shellcheck -x -P scripts FILE" "$work/shellcheck"
	fi
}

same_plots() {
	local f
	for f in "$TOP"/bench/results/*.svg; do cmp "$f" "$1/${f##*/}" || return 1; done
}

# The plugin compiles; page and plots are what the committed results give
check_bench() {
	local dir=$work/bench
	rm -rf "$dir"
	mkdir -p "$dir"
	if gcc -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fvisibility=hidden -fPIC -shared \
		"$TOP/bench/plugin.c" -o "$dir/plugin.so" >"$dir/log" 2>&1; then
		ok "bench: the plugin compiles without warnings"
	else
		bad "bench: plugin.c" "gcc -Wall -Wextra -fPIC -shared bench/plugin.c" "$dir/log"
	fi
	if [ ! -e "$TOP/bench/results/counts.csv" ]; then
		skip "bench: no results are committed; make bench, make bench-save"
		return
	fi
	cp "$TOP"/bench/results/* "$TOP/docs/results.md" "$dir/"
	rm -f "$dir"/*.svg
	if "$TOP/scripts/bench-plots.sh" "$dir" >"$dir/log" 2>&1 &&
	   "$TOP/scripts/bench-docs.sh" "$dir" "$dir/results.md" >>"$dir/log" 2>&1 &&
	   diff -q "$dir/results.md" "$TOP/docs/results.md" >>"$dir/log" 2>&1 &&
	   same_plots "$dir" >>"$dir/log" 2>&1; then
		ok "bench: docs/results.md and the plots are what bench/results gives"
	else
		bad "bench: docs/results.md or the plots are not what bench/results gives" "make bench-report" "$dir/log"
	fi
}

# Public text names no package archive and no path of this machine
check_text() {
	local hosts h
	: >"$work/text"
	# shellcheck disable=SC2016
	hosts=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | sed -n 's,^[a-z]*://\([^/]*\).*,\1,p' | sort -u)
	if ! git -C "$TOP" rev-parse -q --git-dir >/dev/null 2>&1; then
		skip "text: $TOP is no git repository"
		return
	fi
	for h in $hosts; do
		(cd "$TOP" && git grep -lF -- "$h") >>"$work/text" || true
	done
	(cd "$TOP" && git grep -lF -- "$TOP/") >>"$work/text" || true
	if [ -s "$work/text" ]; then
		bad "text: names a package archive or a path of this machine" "git grep" "$work/text"
	else
		ok "text: no package archive, no path of this machine"
	fi
}

# check_examples DOCUMENT TEST: what the document's Examples show, the selftest runs,
# word for word
check_examples() {
	local doc=$1 t=tools/testing/selftests/bpf
	git -C "$TREE" show "$applied:$t/progs/test_$2.c" "$applied:$t/prog_tests/$2.c" 2>/dev/null |
		tr -s '[:space:]' ' ' >"$work/test-code"
	git -C "$TREE" show "$applied:$doc" | awk '
		/^Examples$/ { on = 1 }
		on && /^[^ ]/ { if (code != "") print code; code = ""; block = 0 }
		block && NF { $1 = $1; code = code (code == "" ? "" : " ") $0 }
		on && /^\.\. code-block:: c$/ { block = 1 }
		END { if (code != "") print code }' >"$work/examples"
	: >"$work/not-run"
	while read -r code; do
		grep -qF -- "$code" "$work/test-code" || printf '%.60s...\n' "$code" >>"$work/not-run"
	done <"$work/examples"
	if [ ! -s "$work/examples" ]; then
		bad "examples of $doc: none found" "scripts/check.sh, check_examples"
	elif [ -s "$work/not-run" ]; then
		bad "examples of $doc: not in the selftest $2" "the same text in both" "$work/not-run"
	else
		ok "examples of $doc: $(wc -l <"$work/examples"), all in the selftest $2"
	fi
}

rm -f "$work"/unrun*
command -v spatch >/dev/null || die "spatch is missing" "make deps"
check_numbering
check_scripts
check_text
check_bench
check_round_trip
check_examples Documentation/bpf/map_devmap.rst xdp_devmap_doc
n=0
commits=$(git -C "$TREE" rev-list --reverse "stock..$applied")
# shellcheck disable=SC2086
run_coccicheck $commits
all=$(for d in $(series); do patches "$d"; done)
total=$(echo "$all" | wc -w)
for c in $commits; do
	[ -n "$(git -C "$TREE" diff-tree --no-commit-id --name-only -r "$c")" ] || continue
	n=$((n + 1))
	p=$(echo "$all" | sed -n "${n}p")
	say "# patch $n of $total: $(name "$p")"
	check_patch "$p"
	check_build "$c" "$p"
	check_report coccicheck "$c" "$p"
	check_report kernel-doc "$c" "$p"
	! sparse_works || check_report sparse "$c" "$p"
done
for t in coccicheck kernel-doc; do
	[ ! -s "$work/unrun-$t" ] || skip "$t, of its scripts: $(xargs <"$work/unrun-$t") (some need an OCaml compiler)"
done
sparse_works || skip "sparse: this version ($(sparse --version 2>/dev/null)) does not know __typeof_unqual__, the kernel's build would switch it off"
skip "ids in Fixes: tags (checkpatch UNKNOWN_COMMIT_ID): the base has no history; cover letters say where each was confirmed"
say "$passed passed, $failed failed, $not_run not run"
[ "$failed" = 0 ] || exit 1
