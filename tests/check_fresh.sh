#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check in a bare Debian: debootstrap, git and make, and what the project installs by itself.
#
# usage: check_fresh.sh [DIRECTORY]
#
# The committed tree is checked, not the working tree.  DIRECTORY (default: build-fresh) holds the
# chroot and is removed at the end.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source-path=SCRIPTDIR
. "$top/tests/bare_debian.sh"

bare_debian "${1:-$top/build-fresh}" git,make,ca-certificates
mkdir "$place/tact"
git -C "$top" archive HEAD | tar -x -C "$place/tact"
in_bare_debian make -C /tact check
