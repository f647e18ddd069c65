#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Unpacks what tact needs of Debian for another machine into a folder, for a compiler that makes
# code for it and for QEMU.  Nothing is installed, and this system's list of machines stays as it
# is: apt gets a configuration, lists and a cache of its own, which go away in the end.
#
# usage: make_sysroot.sh [--kernel] MACHINE FOLDER      (MACHINE: aarch64)
#
# --kernel: Debian's kernel for it instead, as FOLDER/boot/vmlinuz-VERSION.
set -eu

kernel=false
if [ "${1:-}" = --kernel ]; then
	kernel=true
	shift
fi
machine=$(echo "${1:?usage: make_sysroot.sh MACHINE FOLDER}" | sed s/aarch64/arm64/)
folder=${2:?usage: make_sysroot.sh MACHINE FOLDER}
# The module for LLVM's models is compiled with this machine's headers: only the library is needed.
# shellcheck disable=SC2012 # names of folders that a package makes
llvm=$(ls -d /usr/lib/llvm-22 /usr/lib/llvm-19 2>/dev/null | head -n 1 | sed 's/.*-//')
packages="libzydis-dev libdw-dev libelf-dev libiberty-dev libsqlite3-dev libzstd-dev libjansson-dev
	libcmocka-dev"
case $llvm in
22) packages="$packages libllvm22" ;;
19) packages="$packages libllvm19" ;;
esac

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
: > "$work/status"
cat > "$work/apt.conf" <<END
APT::Architecture "$machine";
APT::Architectures { "$machine"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "$work";
Dir::State::Lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
END
export APT_CONFIG="$work/apt.conf"
apt-get update -qq 2>/dev/null || true # sources without this machine are no matter
if $kernel; then
	cd "$work/cache/archives"
	apt-get download -qq "$(apt-cache depends "linux-image-$machine" |
		sed -n 's/.*Depends: *//p' | head -n 1)"
	dpkg-deb --fsys-tarfile ./*.deb | tar -x -C "$folder" --no-same-owner --wildcards './boot/vmlinuz*'
	exit 0
fi
# shellcheck disable=SC2086
apt-get install -qq -y --download-only $packages >/dev/null

for package in "$work"/cache/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" |
		tar -x -C "$folder" --no-same-owner --exclude='./usr/share/*' --exclude='./etc/*' \
			--exclude='./usr/lib/*/perl*' --exclude='./usr/lib/*/gconv'
done
date -u +%F > "$folder/complete"
