#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Unpacks Debian packages of another machine into a directory, a sysroot for tact trace -L.
#
# usage: sysroots.sh [--suite NAME] arm64|riscv64 DIR [PACKAGE...]
#
# PACKAGE: default is gzip, xz-utils, zstd, sqlite3, python3-minimal, perl-base, coreutils, bash and
# dash.  What they depend on comes with them; so does libc6-dbg, which has functions and lines of the C
# library.
#
# The mirror is the one of this machine's apt.  --suite: the release, default that of this machine,
# and trixie for riscv64 where it is older (the first release that has this machine).
# Only downloads: apt has its state, its cache and its list of installed packages below DIR/.apt, and
# this machine's stay as they are.  Nothing of the packages is executed.
set -eu

fail() {
	echo "sysroots.sh: $*" >&2
	exit 1
}

usage() {
	sed -n 's/^# usage: /usage: /p' "$0" >&2
	exit 2
}

suite=''
while [ $# -gt 0 ]; do
	case $1 in
	--suite)
		[ $# -gt 1 ] || usage
		suite=$2
		shift
		;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
[ $# -ge 2 ] || usage
machine=$1 root=$2
shift 2
[ $# -gt 0 ] || set -- gzip xz-utils zstd sqlite3 python3-minimal perl-base coreutils bash dash
case $machine in
arm64 | riscv64) ;;
*) fail "'$machine' is neither arm64 nor riscv64" ;;
esac
command -v apt-get >/dev/null || fail 'this needs apt-get, which Debian has'

# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || fail "apt has no mirror of Debian, or no lists yet: run 'apt-get update' first"
if [ -z "$suite" ]; then
	suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	case $machine$suite in
	riscv64bullseye | riscv64bookworm) suite=trixie ;;
	esac
fi

mkdir -p "$root/.apt/lists/partial" "$root/.apt/archives/partial"
root=$(cd "$root" && pwd)
own=$root/.apt
: >"$own/status"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keys ] || fail "there is no $keys: it is in the package debian-archive-keyring"
echo "deb [signed-by=$keys] $mirror $suite main" >"$own/sources.list"
cat >"$own/apt.conf" <<END
Dir::Etc "$own";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourcelist "$own/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$own";
Dir::State::status "$own/status";
Dir::Cache "$own";
APT::Architecture "$machine";
APT::Architectures "$machine";
APT::Sandbox::User "";
APT::Install-Recommends "false";
Acquire::Languages "none";
END
export APT_CONFIG="$own/apt.conf"
apt-get update -qq
apt-get install -qq --download-only "$@" libc6 libc6-dbg >/dev/null

# Where packages have /bin and /lib, and where they rely on /usr, both names lead to one directory.
mkdir -p "$root/usr"
for d in bin sbin lib; do
	mkdir -p "$root/usr/$d"
	[ -e "$root/$d" ] || ln -s "usr/$d" "$root/$d"
done
for package in "$own"/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" |
		tar -x -C "$root" --keep-directory-symlink --no-same-owner --exclude='./usr/share/doc' --exclude='./dev'
done
echo "$root: $(find "$own/archives" -name '*.deb' | wc -l) packages of $suite, $machine"
