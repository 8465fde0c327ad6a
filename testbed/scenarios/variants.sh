# shellcheck shell=dash
# group: one
# order: 70
# limit: 200
# pes: 3 and 5 PEs
# proves: the contract holds with every setting of the queue pairs, and with connections made on first use

suite() { # PES ROUNDS
  began=$(now)
  succeeds "$SHMRUN" -n "$1" /testbed/bin/conformance --backend "$BACKEND" --rounds "$2" --timeout 60 --heap 32MiB
  echo "took $(seconds_since "$began") s"
}

run() {
  (
    export SHMEM_ROCE_QPS=4
    suite 3 30
  )
  (
    # So small that every burst has to wait for room.
    export SHMEM_ROCE_QUEUE_DEPTH=16 SHMEM_ROCE_SIGNAL_EVERY=8
    suite 3 30
  )
  (
    export SHMEM_ROCE_CONNECT=first-use SHMEM_ROCE_QPS=2
    suite 5 15
    # A capture connects what its replays need.
    succeeds "$SHMRUN" -n 7 "$DEMO" --backend "$BACKEND" --heap 8MiB
  )
}
