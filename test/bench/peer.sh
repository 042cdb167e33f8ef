#!/usr/bin/env bash
# Runs another node autoscaler's scheduler beside `dovetail plan`, in one run, on
# one core, over the same pods and the same catalogue, and prints both.
#
#   test/bench/peer.sh [-n PODS] [-r RUNS] [-s] [-d] [-g] [-k "KIND …"] [-o FOLDER]
#
#   -n PODS    how many pods of each kind (5000)
#   -r RUNS    runs of dovetail, of which the median counts (3); the peer runs once
#   -s         no spot
#   -d         with a DaemonSet
#   -g         also the recorded pods with GPUs, which take the peer half a minute
#   -k KINDS   which kinds (all seven, and openb: recorded pods, on demand)
#   -o FOLDER  keep inputs and outputs there, and take up what is there already
#
# The peer is a Go program with generators in Python that stands in shared/peer
# beside this repository, or under $DOVETAIL_SHARED. Where it is not, nothing is
# done. It is built once, outside of the tree.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
shared=${DOVETAIL_SHARED:-$root/../shared}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/dovetail

pods=5000 runs=3 gpus=0 kinds="generic zonespread hostspread zoneaffinity antiaffinity diverse deployments openb" out=""
options=()
while getopts "n:r:sdgk:o:h" flag; do
  case $flag in
    n) pods=$OPTARG ;;
    r) runs=$OPTARG ;;
    s) options+=(--no-spot) ;;
    d) options+=(--daemonset) ;;
    g) gpus=1 ;;
    k) kinds=$OPTARG ;;
    o) out=$OPTARG ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
done
[[ $gpus == 1 ]] && kinds="$kinds openb-gpu"

if [[ ! -f $shared/peer/main.go ]]; then
  echo "no peer at $shared/peer: nothing to compare with" >&2
  exit 0
fi

# pinned runs a command on one core, as far as the machine allows it.
pinned() {
  if command -v taskset >/dev/null; then
    GOMAXPROCS=1 taskset -c "$(($(nproc) - 1))" "$@"
  else
    GOMAXPROCS=1 "$@"
  fi
}

# build_peer builds the peer of these sources once, in a copy of its folder.
build_peer() {
  local key scratch
  key=$(cat "$shared"/peer/*.go "$shared"/peer/go.{mod,sum} | cksum | tr ' ' -)
  peer=$cache/peer-schedule-$key
  [[ -x $peer ]] && return
  echo "building the peer, which takes some minutes" >&2
  mkdir -p "$cache"
  scratch=$(mktemp -d)
  cp -R "$shared/peer/." "$scratch"
  (cd "$scratch" && chmod -R u+w . && go build -o "$peer.part" .)
  mv "$peer.part" "$peer"
  rm -rf "$scratch"
}

# input writes the pods of a kind and their catalogue.
input() {
  local kind=$1 to=$2
  case $kind in
    openb | openb-gpu)
      local filter=(--no-gpu) list="$out/$kind.pods.json" from=$out/catalog.json
      [[ $kind == openb-gpu ]] && filter=() && from=$out/catalog-gpu.json
      python3 "$shared/peer/openb.py" "$shared/data/workloads/openb_pod_list_default.csv" ${filter[@]+"${filter[@]}"} >"$list"
      python3 "$shared/peer/gen.py" x 0 --podlist "$list" --catalog "$from" --no-spot >"$to"
      ;;
    *) python3 "$shared/peer/gen.py" "$kind" "$pods" --catalog "$out/catalog.json" ${options[@]+"${options[@]}"} >"$to" ;;
  esac
}

build_peer
if [[ -z $out ]]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"
dovetail=$out/dovetail
(cd "$root" && go build -o "$dovetail" ./cmd/dovetail)
python3 "$shared/peer/catalog.py" >"$out/catalog.json"
python3 "$shared/peer/catalog.py" --gpu >"$out/catalog-gpu.json"

for kind in $kinds; do
  w=$out/$kind.w.json
  [[ -s $w ]] || input "$kind" "$w"
  if [[ ! -s $out/$kind.peer.json ]]; then
    echo "$kind: the peer" >&2
    pinned "$peer" -workers 1 -list-pods=false -f "$w" >"$out/$kind.peer.part"
    mv "$out/$kind.peer.part" "$out/$kind.peer.json"
  fi
  echo "$kind: dovetail" >&2
  for ((i = 1; i <= runs; i++)); do
    pinned "$dovetail" plan -f "$w" -o json >"$out/$kind.ours.$i.json" 2>"$out/$kind.ours.log" || {
      cat "$out/$kind.ours.log" >&2
      exit 1
    }
  done
done
# shellcheck disable=SC2086
python3 "$here/compare.py" "$out" "$runs" $kinds
