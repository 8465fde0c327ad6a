# shellcheck shell=dash
# group: one
# order: 66
# limit: 60
# pes: 2 to 5 PEs, simulated
# proves: the same seed gives the same run of the simulation, bit for bit, on another machine than the one that tests it otherwise

run() {
  # What the runs must come to stands in the test itself.
  succeeds /testbed/tests/sim --exact determinism::the_same_seed_gives_the_same_runs_bit_for_bit
  cat /proc/cpuinfo | grep -m 1 'model name'
}
