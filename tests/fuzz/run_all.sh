#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs all fuzz targets for some time, and says how many executions of each there were.
#
#   run_all.sh CORPUS WORK CORES MINUTES PROGRAM... [-- TARGET...]
#
# PROGRAM is tests/fuzz/all of a build, with libFuzzer or with our driver; several take turns.  CORPUS
# has a folder for each target.  What is found on the way is kept below WORK: inputs that reach new
# code in corpus/TARGET, for the next time; inputs that failed in findings/, with what was said;
# log, a line for each slice of time: target, program, seed, executions, seconds, exit status.
# Exits with 1 if there is a finding.
set -eu

# ---- one slice, as xargs starts it: TARGET:ROUND:PROGRAM ----
if [ "${1-}" = --slice ]; then
	corpus=$2 work=$3 seconds=$4
	target=${5%%:*} rest=${5#*:}
	round=${rest%%:*} program=${rest#*:}
	own=$work/corpus/$target said=$work/said.$$ finding=$work/findings/$target-$round-$$
	mkdir -p "$own"
	export TACT_FUZZ="$target" UBSAN_OPTIONS=print_stacktrace=1 \
		ASAN_OPTIONS=detect_stack_use_after_return=0:allocator_may_return_null=1:max_allocation_size_mb=4096
	start=$(date +%s) status=0 most=65536
	# Long blocks are slow, and say little that short ones do not; our driver joins seeds to long ones.
	case $target in block | pipeline | mca) most=160 ;; esac
	if "$program" -help=1 2>&1 < /dev/null | grep -q "Usage:"; then
		# By rare features is too slow where an input has thousands: most of the time would go there.
		"$program" -entropic=0 -max_total_time="$seconds" -timeout=120 -rss_limit_mb=6000 -seed="$((round + 1))" \
			-print_final_stats=1 -verbosity=0 -max_len="$most" -artifact_prefix="$finding-" \
			"$own" "$corpus/$target" > "$said" 2>&1 < /dev/null || status=$?
		n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$said" | tail -1)
	else
		"$program" --seconds "$seconds" --seed "$round" --keep "$finding-input" "$own" "$corpus/$target" \
			> "$said" 2>&1 < /dev/null || status=$?
		n=$(sed -n 's/.*: \([0-9]*\) files, \([0-9]*\) mutations.*/\1 \2/p' "$said" | awk '{print $1 + $2}')
		[ -s "$finding-input" ] || rm -f "$finding-input"
	fi
	if [ "$status" -ne 0 ]; then
		tail -c 20000 "$said" > "$finding-said"
	fi
	build=$(echo "$program" | sed 's|/tests/fuzz/all$||; s|/all$||; s|.*/||')
	echo "$target $build $round ${n:-0} $(($(date +%s) - start)) $status" >> "$work/log"
	rm -f "$said"
	exit 0
fi

[ $# -ge 5 ] || { sed -n '3,15s/^# \{0,1\}//p' "$0"; exit 2; }
corpus=$1 work=$2 cores=$3 minutes=$4
shift 4
programs='' targets=''
while [ $# -gt 0 ] && [ "$1" != -- ]; do programs="$programs $1"; shift; done
[ $# -gt 0 ] && shift
targets=$*
[ -n "$targets" ] || targets=$(ls "$corpus")
mkdir -p "$work/findings" "$work/corpus"
rm -f "$work/log"
n_targets=$(echo "$targets" | wc -w) n_programs=$(echo "$programs" | wc -w)

# Slices of equal length, so that each target has the same time; at least one round.
total=$(awk "BEGIN {print int($minutes * 60 * $cores)}")
slices=$((n_targets * n_programs))
rounds=$((total / (slices * 20)))
[ "$rounds" -ge 1 ] || rounds=1
seconds=$((total / (slices * rounds)))
[ "$seconds" -ge 1 ] || seconds=1
for round in $(seq "$rounds"); do
	for program in $programs; do
		for target in $targets; do echo "$target:$round:$program"; done
	done
done | xargs -P "$cores" -n 1 sh "$0" --slice "$corpus" "$work" "$seconds"

# ---- what came of it ----
awk '{n[$1] += $4; s[$1] += $5; bad[$1] += $6 != 0; all += $4; time += $5; findings += $6 != 0}
	END {
		printf "%-10s %14s %9s %9s %9s\n", "target", "executions", "seconds", "a second", "findings"
		for (t in n)
			printf "%-10s %14.0f %9d %9.0f %9d\n", t, n[t], s[t], n[t] / (s[t] ? s[t] : 1), bad[t] | "sort"
		close("sort")
		printf "%-10s %14.0f %9d %9.0f %9d\n", "all", all, time, all / (time ? time : 1), findings
	}' "$work/log" | tee "$work/summary"
! awk '$6 != 0 {found = 1} END {exit !found}' "$work/log"
