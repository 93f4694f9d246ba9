#!/usr/bin/env bash
# fetch.sh base            print the path of the base's package, verified; download it
#                          first if the cache does not hold it
# fetch.sh source PKG DIR  download the newest source of a package into DIR
# The archive's address is the one that apt on this machine already uses, with
# a state of its own beside apt's; packages are verified by the distribution's
# key.
. "$(dirname "$0")/lib.sh"

log=$BUILD/log/fetch.log
mkdir -p "$BUILD/log" "$CACHE" || die "cannot create $CACHE" "CACHE=<a directory you can write to>"
no_network="again when the package archive can be reached, or with LINUX=<git tree or tarball>"

# private_apt TYPE SUITE...: a state for apt with these suites alone
private_apt() {
	local type=$1 codename site keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	shift
	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016
	site=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 2>/dev/null |
		awk -v r="$codename" '$2 == r { print $1; exit }')
	[ -n "$site" ] && [ -e "$keyring" ] ||
		die "apt on this machine has no Debian archive" "LINUX=<git tree or tarball>"
	state=$(mktemp -d "$CACHE/apt.XXXXXX")
	cleanup() { rm -rf "$state"; }
	mkdir -p "$state"/{lists/partial,cache/archives/partial,parts,down}
	printf "$type [signed-by=$keyring] $site %s main\n" "$@" >"$state/sources.list"
	cat >"$state/apt.conf" <<-EOF
		Dir::State::lists "$state/lists";
		Dir::Cache "$state/cache";
		Dir::Etc::sourcelist "$state/sources.list";
		Dir::Etc::sourceparts "$state/parts";
		Dir::Etc::preferencesparts "$state/parts";
		APT::Sandbox::User "root";
		Acquire::Retries "2";
	EOF
	export APT_CONFIG=$state/apt.conf
	logged "$log" "cannot read $* from the package archive" "$no_network" \
		apt-get update -o APT::Update::Error-Mode=any
	cd "$state/down"
}

fetch_base() {
	local package version suite sha256 deb got
	package=$(base_lock package)
	version=$(base_lock version)
	suite=$(base_lock suite)
	sha256=$(base_lock sha256)
	deb=$CACHE/base/${package}_${version}_all.deb

	good() { printf '%s  %s\n' "$sha256" "$1" | sha256sum -c --status -; }

	if [ -e "$deb" ] && ! good "$deb"; then
		say "fetch: $deb has a wrong checksum, fetching it again" >&2
		rm -f "$deb"
	fi
	if [ ! -e "$deb" ]; then
		need_space 2
		say "fetch: $package $version, 160 MiB" >&2
		private_apt deb "$suite"
		apt-cache madison "$package" 2>/dev/null | awk -F' *[|] *' '{ print $2 }' |
			grep -qxF "$version" ||
			die "$package $version is no longer offered by $suite" \
			    "LINUX=<git tree or tarball>, or put the package there yourself: $deb"
		logged "$log" "cannot download $package $version" "$no_network" \
			apt-get download "$package=$version"
		got=$(find "$state/down" -name '*.deb')
		good "$got" ||
			die "$package $version has another checksum than base.lock says" \
			    "LINUX=<git tree or tarball>; do not use the package before you know why"
		mkdir -p "$CACHE/base"
		mv "$got" "$deb"
	fi
	printf '%s\n' "$deb"
}

fetch_source() {
	say "fetch: the newest source of $1" >&2
	private_apt deb-src testing sid
	logged "$log" "cannot download the source of $1" "$no_network" \
		apt-get source --download-only --tar-only "$1"
	mkdir -p "$2"
	find "$state/down" -name '*.orig.tar.*' -exec mv {} "$2" \;
}

case $1 in
base) fetch_base ;;
source) fetch_source "$2" "$3" ;;
esac
