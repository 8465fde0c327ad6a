# shellcheck shell=dash
# group: two
# order: 20
# limit: 150
# pes: 2 PEs on each of two hosts
# proves: nothing is lost or doubled when 2 % of the packets are, both ways

run() {
  succeeds tc qdisc add dev rdma0 root netem loss 2% limit 10000
  # 16 KiB a PE: messages of several packets, so that they are lost at the start, in the middle and at the end.
  start_pes 4 2 $((HOST * 2)) --loops 20 --elements 4096
  wait_ended 80
  # With several queue pairs to the peer, a lost packet lets one overtake the other: fences must hold all the same.
  (
    export SHMEM_N_PES=2 SHMEM_PE="$HOST" SHMEM_UID_SESSION_ID=10.1.0.1:8898 SHMEM_ROCE_QPS=4
    succeeds /testbed/bin/conformance --backend "$BACKEND" --case fence --case order --rounds 30 --heap 32MiB --timeout 60
  )
  tc -s qdisc show dev rdma0
  dropped=$(tc -s qdisc show dev rdma0 | sed -n 's/.*dropped \([0-9]*\).*/\1/p' | head -n 1)
  all_succeed 1
  [ "$dropped" -gt 0 ] || fail "no packet was lost, so nothing is proven"
}
