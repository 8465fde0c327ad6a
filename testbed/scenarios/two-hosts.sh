# shellcheck shell=dash
# group: two
# order: 10
# limit: 60
# pes: 4 PEs on each of two hosts
# proves: the reference's six arguments on two hosts, rendezvous and data on different links

run() {
  start_pes 8 4 $((HOST * 4))
  all_succeed 50
}
