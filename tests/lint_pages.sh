#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The sources of the pages: scripts by eslint, HTML by tidy, and that nothing is asked of another host.
# And the scripts of the extension for editors.
set -eu
cd "$(dirname "$0")/../web"
# Debian's modules, also for a node that is not Debian's; the usual format needs modules that are not
# always installed with it.
export NODE_PATH=/usr/share/nodejs:/usr/lib/nodejs
eslint --no-color --format unix ./*.js
(cd .. && eslint --no-color --format unix -c contrib/vscode/.eslintrc.json --no-eslintrc contrib/vscode/*.js tests/vscode/*.js)
for page in *.html; do
	# A warning is a failure.
	tidy -quiet -errors --drop-empty-elements no --mute-id yes "$page"
done
if grep -nE '(https?:)?//[a-z]|@import|url\(' ./*.html ./*.css ./*.js; then
	echo 'lint_pages.sh: a page may ask for nothing from elsewhere' >&2
	exit 1
fi
