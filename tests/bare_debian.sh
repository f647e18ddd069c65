# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For scripts: a bare Debian in a folder, as debootstrap makes it.  Needs root, debootstrap and
# Debian's mirror as this machine has it.  The folder is removed when the script ends.

fail() {
	echo "${0##*/}: $1" >&2
	exit 1
}

# bare_debian PLACE PACKAGES: makes it, with these packages (a,b,c) beside the essential ones.
bare_debian() {
	place=$1
	packages=$2
	[ "$(id -u)" = 0 ] || fail 'debootstrap and chroot need root'
	command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
	[ ! -e "$place" ] || fail "$place exists: remove it first"
	# The first mirror of this machine's own distribution.
	# shellcheck disable=SC2016,SC2046
	set -- $(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | head -n 1)
	[ $# = 2 ] || fail 'apt-get knows no mirror'
	trap remove_bare_debian EXIT
	trap 'exit 130' INT TERM
	mkdir -p "$place"
	debootstrap --variant=minbase --include="$packages" "$2" "$place" "$1" >"$place.log" ||
		fail "debootstrap failed: $place.log"
	rm "$place.log"
	cp -a /etc/apt/sources.list* "$place/etc/apt/" 2>/dev/null || true
	cp /etc/resolv.conf "$place/etc/"
	# It is thrown away: nothing has to survive a power cut.
	echo force-unsafe-io >"$place/etc/dpkg/dpkg.cfg.d/unsafe-io"
	mount -t proc proc "$place/proc"
	mount --bind /dev "$place/dev"
	# Terminals, for tests of what is shown on one; private, so that it stays in there.
	mount --make-private "$place/dev"
	mount --bind /dev/pts "$place/dev/pts"
}

remove_bare_debian() {
	umount "$place/proc" 2>/dev/null || true
	umount "$place/dev/pts" 2>/dev/null || true
	umount "$place/dev" 2>/dev/null || true
	rm -rf --one-file-system "$place"
}

# in_bare_debian COMMAND...: as a job runs it: no terminal, no environment, SIGINT ignored.
in_bare_debian() {
	(
		trap '' INT
		exec chroot "$place" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@" </dev/null
	)
}
