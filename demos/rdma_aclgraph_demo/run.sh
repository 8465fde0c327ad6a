#!/usr/bin/env bash
# Runs rdma_aclgraph_demo as PEs on this host, waits for all of them, and fails if one failed.
set -uo pipefail

usage() {
  cat <<'TEXT'
Usage: run.sh [-n PES] [--backend NAME] [--port PORT] [-- OPTIONS OF THE DEMO]
  -n PES          how many PEs, default 2
  --backend NAME  loopback (default) or another of this build
  --port PORT     the rendezvous' port on 127.0.0.1, default 8899
TEXT
}

n=2 port=8899
options=() features=()
while [ $# -gt 0 ]; do
  case $1 in
    -n | --port | --backend) [ $# -ge 2 ] || { echo "run.sh: $1 needs a value" >&2; usage >&2; exit 1; } ;;
  esac
  case $1 in
    -n) n=$2; shift 2 ;;
    --port) port=$2; shift 2 ;;
    --backend) options+=(--backend "$2"); features=(--features "$2"); shift 2 ;;
    -h | --help) usage; exit 0 ;;
    --) shift; options+=("$@"); break ;;
    *) echo "run.sh: unknown argument $1" >&2; usage >&2; exit 1 ;;
  esac
done
[[ $n =~ ^[1-9][0-9]{0,4}$ ]] || { echo "run.sh: -n takes a number from 1, not '$n'" >&2; exit 1; }
[[ $port =~ ^[1-9][0-9]{0,4}$ ]] && [ "$port" -le 65535 ] ||
  { echo "run.sh: --port takes a number from 1 to 65535, not '$port'" >&2; exit 1; }

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
cargo build --quiet --release -p demos --bin rdma_aclgraph_demo ${features[@]+"${features[@]}"} || exit 1
demo=${CARGO_TARGET_DIR:-target}/release/rdma_aclgraph_demo

pids=()
# The PEs end first, and then this as who started it expects.
ended_by() { kill "${pids[@]}" 2>/dev/null; wait; exit "$((128 + $1))"; }
trap 'ended_by 1' HUP
trap 'ended_by 2' INT
trap 'ended_by 15' TERM
for ((pe = 0; pe < n; pe++)); do
  "$demo" "${options[@]}" "$n" "$pe" "tcp://127.0.0.1:$port" "$n" 0 0 &
  pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do
  wait "$pid" || failed=$?
  echo "wait $pid finished"
done
exit "$failed"
