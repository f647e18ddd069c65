#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check in a bare Debian: debootstrap, git and make, and what the project installs by itself.
#
# usage: check_fresh.sh [DIRECTORY]
#
# The committed tree is checked, not the working tree.  DIRECTORY (default: build-fresh) holds the
# chroot and is removed at the end.  Needs root, debootstrap and Debian's mirror as this machine
# has it.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
place=${1:-$top/build-fresh}

fail() {
	echo "check_fresh.sh: $1" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || fail 'debootstrap and chroot need root'
command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
[ ! -e "$place" ] || fail "$place exists: remove it first"
# The first mirror of this machine's own distribution.
# shellcheck disable=SC2016,SC2046
set -- $(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | head -n 1)
[ $# = 2 ] || fail 'apt-get knows no mirror'
uri=$1
codename=$2

clean_up() {
	umount "$place/proc" 2>/dev/null || true
	umount "$place/dev/pts" 2>/dev/null || true
	umount "$place/dev" 2>/dev/null || true
	rm -rf --one-file-system "$place"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

mkdir -p "$place"
debootstrap --variant=minbase --include=git,make,ca-certificates "$codename" "$place" "$uri" >"$place.log" ||
	fail "debootstrap failed: $place.log"
rm "$place.log"
cp -a /etc/apt/sources.list* "$place/etc/apt/" 2>/dev/null || true
cp /etc/resolv.conf "$place/etc/"
mount -t proc proc "$place/proc"
mount --bind /dev "$place/dev"
# Terminals, for tests of what is shown on one; private, so that it stays in there.
mount --make-private "$place/dev"
mount --bind /dev/pts "$place/dev/pts"
mkdir "$place/tact"
git -C "$top" archive HEAD | tar -x -C "$place/tact"
# As a job does it: no terminal, no environment, SIGINT ignored.
(
	trap '' INT
	exec chroot "$place" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		make -C /tact check </dev/null
)
