#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Unpacks the sources of Zydis and jansson as Debian has them, which are compiled for the page without
# a server.
#
# usage: get_sources.sh DIR
#
# The system's lists of packages stay as they are: this has its own, with sources.
set -eu

dir=$1
mkdir -p "$dir/apt/lists/partial"
dir=$(cd "$dir" && pwd)
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
echo "deb-src http://deb.debian.org/debian ${release:-stable} main" > "$dir/apt/sources.list"

apt() {
	apt-get -qq -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt" \
		-o APT::Sandbox::User=root "$@"
}

fail() {
	echo "get_sources.sh: the sources of $1 cannot be had; that takes apt-get and Debian's servers" >&2
	exit 1
}

apt update || fail 'Zydis and jansson'
cd "$dir"
for package in zydis jansson; do
	rm -rf "$package"
	mkdir "$package"
	apt source --download-only "$package" || fail "$package"
	tar -xf "$package"_*.orig.tar.* -C "$package" --strip-components=1
done
touch complete
