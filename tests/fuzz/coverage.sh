#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which lines of the library fuzzing reaches.
#
#   coverage.sh PROGRAM WORK SECONDS CORPUS...
#
# PROGRAM is tests/fuzz/all of a build by clang with -fprofile-instr-generate -fcoverage-mapping.  Each target
# runs over its folders of CORPUS and, for SECONDS, over mutations of these.  WORK gets coverage.txt, by
# module and by file, and lines.txt.gz, the sources with how often each line ran.
set -eu
[ $# -ge 4 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 2; }
program=$1 work=$2 seconds=$3
shift 3
profiles=$work/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
for path in "$1"/*; do
	target=$(basename "$path")
	folders=''
	for corpus; do [ ! -d "$corpus/$target" ] || folders="$folders $corpus/$target"; done
	# A part of a folder at a time: what fails takes only its own profile along.
	# shellcheck disable=SC2016,SC2086
	find $folders -type f | sort | xargs -n 20 sh -c '
		program=$1 target=$2 profiles=$3
		shift 3
		TACT_FUZZ=$target LLVM_PROFILE_FILE=$profiles/$target-$$.raw "$program" --seconds 0.01 "$@" \
			> /dev/null 2> "$profiles/said" < /dev/null || {
			echo "coverage: $target: $(tail -1 "$profiles/said")"; exit 0; }' \
		sh "$program" "$target" "$profiles"
	# shellcheck disable=SC2086
	TACT_FUZZ=$target LLVM_PROFILE_FILE=$profiles/$target.raw "$program" --seconds "$seconds" $folders \
		> /dev/null 2> "$profiles/said" < /dev/null || echo "coverage: $target: $(tail -1 "$profiles/said")"
done
llvm-profdata merge -sparse -o "$work/profile" "$profiles"/*.raw
rm -rf "$profiles"
# shellcheck disable=SC2046
llvm-cov report "$program" -instr-profile="$work/profile" $(ls -d lib/*/) 2> /dev/null > "$work/files.txt"
# shellcheck disable=SC2046
llvm-cov show "$program" -instr-profile="$work/profile" $(ls -d lib/*/) 2> /dev/null | gzip > "$work/lines.txt.gz"
# Columns 8 and 9: lines, and those that were missed.
awk '$8 ~ /^[0-9]+$/ && $1 ~ /\// {split($1, p, "/"); lines[p[1]] += $8; missed[p[1]] += $9}
	$1 == "TOTAL" {all = $8; all_missed = $9}
	END {
		printf "%-12s %8s %8s %8s\n", "module", "lines", "missed", "reached"
		for (m in lines)
			printf "%-12s %8d %8d %7.1f%%\n", m, lines[m], missed[m], 100 - 100 * missed[m] / lines[m] | "sort"
		close("sort")
		printf "%-12s %8d %8d %7.1f%%\n", "lib", all, all_missed, 100 - 100 * all_missed / all
	}' "$work/files.txt" > "$work/coverage.txt"
cat "$work/files.txt" >> "$work/coverage.txt"
rm -f "$work/files.txt"
sed -n '/^lib /p' "$work/coverage.txt"
