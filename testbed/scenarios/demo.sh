# shellcheck shell=dash
# group: one
# order: 10
# limit: 60
# pes: 2 PEs
# proves: the reference job runs over RoCE, and finds the device and its GID by itself; its AllGather is the environment's

run() {
  unset SHMEM_NIC
  succeeds "$SHMRUN" -n 2 "$DEMO" --backend "$BACKEND" --heap 32MiB
  export SHMEM_ALLGATHER=ring
  succeeds "$SHMRUN" -n 2 "$DEMO" --backend "$BACKEND" --heap 32MiB --dot graph.dot
  says_text graph.dot 'all_gather ring'
}
