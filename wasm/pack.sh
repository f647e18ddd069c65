#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Makes the part of a page that computes: a script, and the library for it.
#
# usage: pack.sh SCRIPT.js LIBRARY.wasm > FRAGMENT.html
set -eu

if grep -qi '</script' "$1"; then
	echo 'pack.sh: the script would end its element' >&2
	exit 1
fi
echo '<script>'
cat "$1"
echo '</script>'
echo "<script type='application/octet-stream' id='library'>"
gzip -9 -n -c "$2" | base64 -w 0
echo '</script>'
