# shellcheck shell=dash
# group: one
# order: 30
# limit: 60
# pes: 2 PEs
# proves: a GID index that does not exist is refused with the list of those that do; a link-local one unless it is allowed

run() {
  export SHMEM_GID_INDEX=200
  refused 20 "$SHMRUN" -n 2 "$DEMO" --backend "$BACKEND" --heap 8MiB
  says said '\<200\>'
  says said '10\.0\.0\.1|ffff:0?a00:0?1'
  says said 'fe80:'

  export SHMEM_GID_INDEX=0
  refused 20 "$SHMRUN" -n 2 "$DEMO" --backend "$BACKEND" --heap 8MiB
  says said '[Ll]ink-local'
  says said SHMEM_GID_ALLOW

  # Asked for, it is taken: within one link it works.
  export SHMEM_GID_ALLOW=link-local
  succeeds "$SHMRUN" -n 2 "$DEMO" --backend "$BACKEND" --heap 8MiB
}
