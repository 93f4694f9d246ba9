#!/usr/bin/env bash
# export.sh DIR: each series as it would be sent, in DIR/NN-topic: numbered
# patches with trailers, cover letter with shortlog and diffstat, recipients.
# Nothing is sent.
#   SIGNOFF="Name <mail>"    add Signed-off-by; yours to give, see the base's
#                            Documentation/process/submitting-patches.rst
#   ASSISTED_BY="LLM tools"  instead of the default; empty for none
#   PUBLIC=1                 name public lists for a series marked X-Security too
# Headers of a cover letter that are read here: X-Tree, X-Depends, X-Security.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/queue.sh"
lock

out=${1:-}
[ -n "$out" ] || die "no directory to export to" "make export OUT=DIR"
case ${SIGNOFF:-} in
'' | *[![:space:]]*' <'*@*'>') ;;
*) die "SIGNOFF=$SIGNOFF is no \"Name <mail>\"" "make export SIGNOFF=\"Name <mail>\"" ;;
esac
script deps
script tree

new=$BUILD/export.new
cleanup() { rm -rf "$new"; drop_worktree "$BUILD/apply"; }
rm -rf "$new"
mkdir -p "$new" "$BUILD/log"
three_way=()
[ -z "$LINUX" ] || three_way=(--3way)
apply_queue "$BUILD/apply" "${three_way[@]}"

header() { sed -n "1,/^\$/s/^$1: //p" "$2" | head -n1; }

# with_trailers COMMIT PARENT: the same commit with the trailers, on PARENT
with_trailers() {
	local trailers=()
	[ -z "${ASSISTED_BY-LLM coccinelle}" ] ||
		trailers+=(--trailer "Assisted-by: ${ASSISTED_BY-LLM coccinelle}")
	[ -z "${SIGNOFF:-}" ] || trailers+=(--trailer "Signed-off-by: $SIGNOFF")
	git -C "$TREE" log -1 --format=%B "$1" | ngit interpret-trailers "${trailers[@]}" |
		GIT_AUTHOR_NAME=$(git -C "$TREE" log -1 --format=%an "$1") \
		GIT_AUTHOR_EMAIL=$(git -C "$TREE" log -1 --format=%ae "$1") \
		GIT_AUTHOR_DATE=$(git -C "$TREE" log -1 --format=%aI "$1") \
		ngit -C "$TREE" commit-tree -p "$2" "$1^{tree}"
}

recipients() { # DIR KIND: maintainers or lists of its patches
	local only=(--nol)
	[ "$2" = maintainers ] || only=(--nom --nor)
	# git's history would name more people; the packaged base has none
	(cd "$TREE" && find "$1" -name '*.patch' ! -name '0000-*' | sort | xargs scripts/get_maintainer.pl \
		--no-git --no-git-fallback --no-rolestats --no-n "${only[@]}" 2>/dev/null) | sort -u
}

export_series() { # NAME FIRST^ LAST
	local name=$1 cover=$TOP/series/$1/0000-cover-letter.patch dir=$new/$1 tree depends security
	local commit parent=$2 to=() lists=() sender=() h mail
	[ -e "$cover" ] || die "series/$name has no cover letter" "write series/$name/0000-cover-letter.patch"
	for h in X-Tree X-Depends X-Security; do
		[ -n "$(header $h "$cover")" ] ||
			die "the cover letter of series/$name has no $h" "docs/changing-a-patch.md says what it is"
	done
	tree=$(header X-Tree "$cover") depends=$(header X-Depends "$cover") security=$(header X-Security "$cover")
	mkdir -p "$dir"
	for commit in $(git -C "$TREE" rev-list --reverse "$2..$3"); do
		parent=$(with_trailers "$commit" "$parent")
	done
	# the letter comes from whoever sends it
	if [ -n "${SIGNOFF:-}" ]; then
		mail=${SIGNOFF##*<}
		sender=(-c "user.name=${SIGNOFF% <*}" -c "user.email=${mail%>}")
	fi
	ngit -C "$TREE" "${sender[@]}" format-patch -q -n --subject-prefix="PATCH ${tree:-bpf-next}" --no-signature \
		--cover-letter -o "$dir" "$2..$parent"
	# the hand-written letter into git's, which has shortlog and diffstat
	awk -v cover="$cover" '
		/\*\*\* SUBJECT HERE \*\*\*/ {
			while ((getline line < cover) > 0 && line != "")
				if (line ~ /^Subject: /) { sub(/^Subject: (\[[^]]*\] )?/, "", line); subject = line }
			sub(/\*\*\* SUBJECT HERE \*\*\*/, subject) }
		/\*\*\* BLURB HERE \*\*\*/ {
			text = ""
			while ((getline line < cover) > 0) { if (line == "-- ") break; text = text line "\n" }
			sub(/\n+$/, "", text); print text; next }
		{ print }' "$dir/0000-cover-letter.patch" >"$dir/.cover"
	mv "$dir/.cover" "$dir/0000-cover-letter.patch"

	mapfile -t to < <(recipients "$dir" maintainers)
	mapfile -t lists < <(recipients "$dir" lists)
	[ ${#to[@]} -gt 0 ] && [ ${#lists[@]} -gt 0 ] ||
		die "get_maintainer names nobody for series/$name" \
		    "scripts/get_maintainer.pl in build/linux, on the patches of series/$name"
	{
		printf 'To: %s\n' "${to[@]}"
		[ "${security:-no}" != no ] && [ -z "${PUBLIC:-}" ] || printf 'Cc: %s\n' "${lists[@]}"
	} >"$dir/recipients"

	say
	say "$name: $(find "$dir" -name '*.patch' ! -name '0000-*' | wc -l) patches for ${tree:-bpf-next}; depends on: ${depends:-nothing}"
	sed 's/^/  /' "$dir/recipients"
	if [ "${security:-no}" != no ]; then
		say "  This series is marked X-Security: $security"
		if [ -z "${PUBLIC:-}" ]; then
			say "  No public list is among the recipients; PUBLIC=1 adds: ${lists[*]}"
		fi
		say "  Read Documentation/process/security-bugs.rst of the base before you send it anywhere."
	fi
	case "${SIGNOFF:-}" in
	'' | *"<$(git -C "$TREE" log -1 --format=%ae "$3")>"*) ;;
	*) say "  The author is $(git -C "$TREE" log -1 --format='%an <%ae>' "$3"): docs/submitting.md, \"The author\"" ;;
	esac
	[ -n "${SIGNOFF:-}" ] || say "  No Signed-off-by yet: make export SIGNOFF=\"Name <mail>\""
	dry_run "$dir"
}

dry_run() {
	local log=$BUILD/log/send-email.log to
	if ! [ -x "$(git --exec-path)/git-send-email" ]; then
		say "  git send-email is not installed (package git-email): no dry run"
		return
	fi
	mapfile -t to < <(sed -n 's/^To: .*<\(.*\)>$/--to=\1/p; s/^To: \([^<]*\)$/--to=\1/p; s/^Cc: /--cc=/p' \
		"$1/recipients")
	if (cd "$TREE" && GIT_CONFIG_GLOBAL=/dev/null git send-email --dry-run --quiet --confirm=never --no-signed-off-by-cc \
		--suppress-cc=all --from "${SIGNOFF:-nobody <nobody@localhost>}" --smtp-server=/bin/true \
		"${to[@]}" \
		"$1"/*.patch) >"$log" 2>&1 </dev/null; then
		say "  git send-email --dry-run: would send $(find "$1" -name '*.patch' | wc -l) mails"
	elif grep -q "module is not here\|Can't locate" "$log"; then
		say "  git send-email cannot run here$(first_error "$log"): no dry run; try: apt-get install libmailtools-perl"
	else
		die "git send-email --dry-run fails$(first_error "$log")" "the patches in $1" "$log"
	fi
}

name=
while read -r commit subject; do
	case $subject in
	'series '[0-9][0-9]-*)
		[ -z "$name" ] || export_series "$name" "$from" "$commit^"
		name=${subject#series } from=$commit ;;
	esac
done < <(git -C "$TREE" log --reverse --format='%H %s' "stock..$applied")
[ -z "$name" ] || export_series "$name" "$from" "$applied"

mkdir -p "$out" || die "cannot create $out" "make export OUT=<a directory you can write to>"
for d in "$new"/*/; do
	rm -rf "${out:?}/$(basename "$d")"
	mv "$d" "$out/"
done
say
say "export: $out. Documentation/process/coding-assistants.rst of the base says what the trailers mean and who signs."
