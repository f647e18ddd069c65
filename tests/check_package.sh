#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Debian packages: built twice and compared, looked at by lintian, and installed in a bare Debian that
# has nothing else.
#
# usage: check_package.sh [DIRECTORY]
#
# The committed tree is packed, not the working tree.  DIRECTORY (default: build-package) holds the
# chroots and is removed at the end; the packages stay in DIRECTORY.debs.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
where=${1:-$top/build-package}
debs=$where.debs
# shellcheck source-path=SCRIPTDIR
. "$top/tests/bare_debian.sh"

# install_packages NAME...: by apt-get, because debootstrap does not know what a package provides.
install_packages() {
	in_bare_debian sh -ec 'apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@" >/dev/null' \
		install "$@"
}

commit=$(git -C "$top" rev-parse HEAD) # others may be made meanwhile

# build NAME: the packages of the committed tree, built in /NAME, into $debs/NAME
build() {
	mkdir -p "$place/$1/tact" "$debs/$1"
	git -C "$top" archive "$commit" | tar -x -C "$place/$1/tact"
	in_bare_debian sh -ec "cd /$1/tact && dpkg-buildpackage -b -us -uc -j$(nproc)" \
		>"$debs/$1.log" 2>&1 || fail "the build failed: $debs/$1.log"
	cp "$place/$1"/*.deb "$place/$1"/*.changes "$debs/$1"
}

rm -rf "$debs"
mkdir -p "$debs"
bare_debian "$where" ca-certificates
git -C "$top" archive "$commit" debian | tar -x -C "$place"
install_packages build-essential lintian
in_bare_debian sh -ec 'cd / && apt-get build-dep -qq -y --no-install-recommends ./ >/dev/null'
build one
build two
for deb in "$debs"/one/*.deb; do
	cmp "$deb" "$debs/two/${deb##*/}" || fail "${deb##*/} is another one in the second build"
done
echo "ok   built twice, the same byte by byte: $(find "$debs/one" -name '*.deb' | wc -l) packages"
# As root, lintian says that it had rather not be.
said=$(in_bare_debian sh -c 'lintian /one/*.changes 2>&1' | grep -v 'root privileges' || true)
[ -z "$said" ] || fail "lintian: $said"
echo 'ok   lintian has nothing to say'
remove_bare_debian

bare_debian "$where" ca-certificates
install_packages man-db bash-completion fish
mkdir "$place/debs"
cp "$debs"/one/*.deb "$place/debs"
rm -f "$place"/debs/*-dbgsym_*.deb
in_bare_debian sh -ec 'apt-get install -qq -y /debs/*.deb >/dev/null'
[ "$(in_bare_debian tact predict -q -a SKL --tp-only -x 4801d8)" = 1.00 ] || fail 'tact predict'
in_bare_debian tact doctor >/dev/null || [ $? -lt 2 ] || fail 'tact doctor'
in_bare_debian sh -c 'man tact-predict | grep -q "tact predict"' || fail 'man tact-predict'
in_bare_debian sh -c 'man tact_predict | grep -q "struct tact_block"' || fail 'man tact_predict'
[ "$(in_bare_debian tact predict -q -a cortex-a57 --tp-only -x 20000191)" = 0.50 ] ||
	fail 'tact predict -a cortex-a57: the module for models of LLVM'
# shellcheck disable=SC2016
[ "$(in_bare_debian bash -c '. /usr/share/bash-completion/completions/tact
	COMP_WORDS=(tact predict --form) COMP_CWORD=2
	_tact
	echo "${COMPREPLY[*]}"')" = --format ] || fail 'completion of bash'
[ "$(in_bare_debian fish -c 'complete -C "tact predict --form"' | cut -f1)" = --format ] ||
	fail 'completion of fish'
[ "$(in_bare_debian python3 -c 'import tact; print(tact.predict("4801d8", "SKL").cycles[0])')" = 1.0 ] ||
	fail 'import tact'
in_bare_debian apt-get remove -qq -y tact >/dev/null
[ ! -e "$place/usr/bin/tact" ] || fail 'tact is there after its removal'
echo 'ok   installed, tried and removed in a bare Debian'
