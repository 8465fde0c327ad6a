# shellcheck shell=dash
# group: one
# order: 50
# limit: 90
# pes: 4 PEs
# proves: when a PE is killed, every other ends with code 1 within 10 s and names it

run() {
  # By hand, not by shmrun: its own messages about a PE's fate would hide what the PEs say.
  start_pes 4 4 0 --loops 1000000 --timeout 60
  wait_joined 30
  sleep 2
  killed=$(now)
  kill -9 "$(cat pid.2)"
  wait_ended 10
  echo "all ended $(seconds_since "$killed") s after the kill"
  for pe in 0 1 3; do
    [ "$(cat "code.$pe")" = 1 ] || fail "PE $pe ended with code $(cat "code.$pe"), not 1"
    says "$LOGS/pe$pe.log" 'PE 2'
    says "$LOGS/pe$pe.log" "^\[FAILED\] .* pe $pe\$"
  done
}
