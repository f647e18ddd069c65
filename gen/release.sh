#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A release: checks that the versions agree and that nothing is uncommitted, runs what CI runs, and
# writes the source archive, the Python package, the bill of materials and checksums.
#
# usage: release.sh [--no-ci] [DIRECTORY]     (default: build-release)
#
# The same commit gives the same archive.  Nothing is tagged or sent: the last lines say how.
set -eu

ci=true
if [ "${1:-}" = --no-ci ]; then
	ci=false
	shift
fi
cd "$(dirname "$0")/.."
out=${1:-build-release}

fail() {
	echo "release.sh: $1" >&2
	exit 1
}

version=$(sed -n 's/^#define TACT_VERSION_[A-Z]* \([0-9]*\)/\1/p' include/tact/version.h | paste -sd.)
packaged=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
[ "$packaged" = "$version" ] || fail "include/tact/version.h has $version, debian/changelog $packaged"
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version'"
[ -z "$(git status --porcelain)" ] || fail 'there are uncommitted changes'
if $ci; then
	make ci
fi
make build
mkdir -p "$out"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
git archive --prefix="tact-$version/" HEAD | gzip -9n >"$out/tact-$version.tar.gz"
# Python's source archive has the name of the whole one.
TACT_BUILD=build python3 python/tact_build.py "$out/python"
python3 gen/sbom.py build >"$out/tact-$version.spdx.json"
(cd "$out" && sha256sum -- *.tar.gz *.json python/* >SHA256SUMS)
cat "$out/SHA256SUMS"
echo "Next: git tag -s v$version; make check-package"
