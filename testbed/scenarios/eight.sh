# shellcheck shell=dash
# group: one
# order: 20
# limit: 90
# pes: 8 PEs
# proves: the reference job on 8 PEs of one host, started with the six arguments

run() {
  start_pes 8 8 0
  all_succeed 80
}
