#!/bin/bash
# The main job in a few seconds: train the handwritten digits while the batch size grows, on two
# ranks; then again on one and on three, and compare the results bit for bit; then once more, killed
# on the way and resumed on other ranks.
#
#   examples/demo.sh [RUBATO]        RUBATO: the command, default build/release/app/rubato
set -euo pipefail
cd "$(dirname "$0")/.."
rubato=${1:-build/release/app/rubato}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # Open MPI asks for this
fi
export OMPI_MCA_rmaps_base_oversubscribe=1  # more ranks than cores are fine here

run=(train --data digits --model mlp:128 --trace examples/traces/growing.csv --trace-end repeat-last
  --epochs 12 --rule adascale --lr 0.05)

train_on() {
  mpirun -q -n "$1" --bind-to none "$rubato" "${run[@]}" --out "$runs/$1"
}

echo
echo "\$ mpirun -n 2 rubato ${run[*]}"
train_on 2
echo
echo "The same run on 1 and on 3 ranks; the digests of the whole training state:"
train_on 1 >"$runs/1.txt"
train_on 3 >"$runs/3.txt"
last=$(cd "$runs/2/checkpoints" && ls ckpt-*.h5 | sort -V | tail -n 1)
for ranks in 1 2 3; do
  digest=$("$rubato" checkpoint digest "$runs/$ranks/checkpoints/$last")
  printf '  on %d  %s\n' "$ranks" "${digest%% *}"
  digests+=("${digest%% *}")
done
if [ "${digests[0]}" != "${digests[1]}" ] || [ "${digests[1]}" != "${digests[2]}" ]; then
  echo "They differ: that is a bug." >&2
  exit 70
fi
echo "Equal: ranks change the speed, never the result."

echo
prove=(prove --kills 2 --ranks 1,3,2 --straight-ranks 2 --seed 5)
echo "And killed half-way, twice, and resumed on other ranks:"
echo "\$ rubato ${prove[*]} -- ${run[*]:1}"
"$rubato" "${prove[@]}" -- "${run[@]:1}"
