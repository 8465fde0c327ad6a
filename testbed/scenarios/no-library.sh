# shellcheck shell=dash
# group: one
# order: 35
# limit: 60
# pes: 2 PEs
# proves: the same program runs where there is no libibverbs, and says so only when it is asked for RoCE

run() {
  libraries=$(find /lib /usr/lib -name 'libibverbs.so*')
  [ -n "$libraries" ] || fail "there is no libibverbs to take away"
  mkdir away
  for library in $libraries; do mv "$library" "away/$(echo "$library" | tr / _)"; done
  # Whatever comes of it, the next scenario needs them.
  trap 'for library in $libraries; do mv "away/$(echo "$library" | tr / _)" "$library"; done' EXIT
  succeeds "$SHMRUN" -n 2 "$DEMO" --heap 8MiB
  refused 20 "$SHMRUN" -n 2 "$DEMO" --backend roce --heap 8MiB
  says said 'libibverbs\.so\.1 cannot be loaded'
  says said 'ibverbs-providers'
}
