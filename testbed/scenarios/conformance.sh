# shellcheck shell=dash
# group: one
# order: 60
# limit: 240
# pes: 2, 3 and 4 PEs
# proves: the backend keeps the whole contract of symmetric memory

# Percent of the suite's rounds; an emulated machine has no time for all.
rounds=100

run() {
  for n in 2 3 4; do
    began=$(now)
    succeeds "$SHMRUN" -n "$n" /testbed/bin/conformance --backend "$BACKEND" --rounds "$rounds" --timeout 60 --heap 32MiB
    echo "$n PEs: $(seconds_since "$began") s"
  done
}
