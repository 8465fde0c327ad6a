# shellcheck shell=dash
# group: two
# order: 20
# limit: 90
# pes: 2 PEs on each of two hosts
# proves: nothing is lost or doubled when 2 % of the packets are, both ways

run() {
  succeeds tc qdisc add dev rdma0 root netem loss 2% limit 10000
  # 16 KiB a PE: messages of several packets, so that they are lost at the start, in the middle and at the end.
  start_pes 4 2 $((HOST * 2)) --loops 20 --elements 4096
  wait_ended 80
  tc -s qdisc show dev rdma0
  dropped=$(tc -s qdisc show dev rdma0 | sed -n 's/.*dropped \([0-9]*\).*/\1/p' | head -n 1)
  all_succeed 1
  [ "$dropped" -gt 0 ] || fail "no packet was lost, so nothing is proven"
}
