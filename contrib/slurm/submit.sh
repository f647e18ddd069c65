#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Measures a list of blocks on a Slurm cluster: an array of shards, and a merge after it.  The same
# again goes on where jobs ended: a shard that is finished takes its task some seconds.
#
# usage: submit.sh BLOCKS FOLDER [SHARDS [SBATCH-OPTIONS...]]
#
# SHARDS is 16 if it is not given; it must stay the same for a folder.  The result is FOLDER/blocks.db.
# Prints the numbers of both jobs.
set -eu

[ $# -ge 2 ] || {
	echo "usage: submit.sh BLOCKS FOLDER [SHARDS [SBATCH-OPTIONS...]]" >&2
	exit 2
}
here=$(dirname "$(realpath "$0")")
TACT_BLOCKS=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
shards=${3:-16}
shift 2
[ $# = 0 ] || shift
TACT_SHARDS=$folder/shards
TACT_STORE=$folder/blocks.db
export TACT_BLOCKS TACT_SHARDS TACT_STORE

if [ -e "$folder/n_shards" ] && [ "$(cat "$folder/n_shards")" != "$shards" ]; then
	echo "submit.sh: $folder has $(cat "$folder/n_shards") shards: say the same number again" >&2
	exit 2
fi
echo "$shards" > "$folder/n_shards"
array=$(sbatch --parsable --export=ALL --array="0-$((shards - 1))" --output="$folder/shard_%a.log" "$@" "$here/measure.sbatch")
merge=$(sbatch --parsable --export=ALL --dependency="afterok:$array" --output="$folder/merge.log" "$@" "$here/merge.sbatch")
echo "array $array, merge $merge"
