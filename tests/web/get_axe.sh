#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Gets axe-core, which finds what keeps people from using a page, from npm.
#
# usage: get_axe.sh DIR     prints the path of its script; fails without npm, or without a network
set -eu

dir=$1
script=$dir/node_modules/axe-core/axe.min.js
if [ ! -e "$script" ]; then
	mkdir -p "$dir"
	npm install --silent --no-audit --no-fund --no-save --prefix "$dir" axe-core@4 >/dev/null 2>&1
fi
test -e "$script"
echo "$script"
