#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Makes sure that what a step needs is installed: setup.sh build | check | web
# Says what it installs and why, with sudo when not root; silent when nothing is missing.
set -eu

packages=''
why=''

# need TEST PACKAGE REASON
need() {
	if ! sh -c "$1" >/dev/null 2>&1; then
		packages="$packages $2"
		why="$why
  $2: $3"
	fi
}

header() { # header FILE PACKAGE REASON
	need "test -e /usr/include/$1 || ls /usr/include/*/$1" "$2" "$3"
}

need 'command -v gcc || command -v clang' gcc 'compiles the C code'
need 'test -e /usr/include/stdio.h' libc6-dev 'headers of the C library'
need 'command -v as && command -v ar' binutils 'assembles text input, makes the library'
need 'command -v pkg-config' pkg-config 'how programs find the library'
header Zydis/Zydis.h libzydis-dev 'decodes x86 instructions'
header elfutils/libdw.h libdw-dev 'reads ELF and DWARF'
header libelf.h libelf-dev 'reads ELF'
header sqlite3.h libsqlite3-dev 'stores blocks and measurements'
header zstd.h libzstd-dev 'compresses traces'
header jansson.h libjansson-dev 'reads stored results'
case ${1:-build} in
check)
	header cmocka.h libcmocka-dev 'runs the unit tests'
	need 'command -v python3' python3 'drives the command-line tests'
	need 'ls /usr/lib/*/libdnnl.so.[23] /usr/lib*/libdnnl.so.[23]' libdnnl-dev 'products of matrices, for tact tune'
	need 'command -v qemu-x86_64' qemu-user 'runs the programs that tests collect blocks of'
	;;
web)
	need 'command -v python3' python3 'drives the tests'
	need 'command -v chromium || command -v chromium-browser' chromium 'opens pages'
	;;
esac

[ -n "$packages" ] || exit 0

echo "Missing on this machine:$why"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "Please install these with your system's package manager (the names are Debian's)." >&2
	exit 1
fi
sudo=''
if [ "$(id -u)" != 0 ]; then
	sudo=sudo
	if ! command -v sudo >/dev/null 2>&1; then
		echo "Not root and no sudo: please run: apt-get install$packages" >&2
		exit 1
	fi
fi
echo "Installing:$packages"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq >/dev/null || true
# shellcheck disable=SC2086
$sudo apt-get install -y -qq --no-install-recommends $packages >/dev/null
