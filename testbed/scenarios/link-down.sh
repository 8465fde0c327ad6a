# shellcheck shell=dash
# group: two
# order: 90
# limit: 120
# pes: 2 PEs on each of two hosts
# proves: when the data link goes down, every PE ends in time and names a peer and the completion status

run() {
  start_pes 4 2 $((HOST * 2)) --loops 1000000 --timeout 20
  wait_joined 30
  sleep 3
  down=$(now)
  [ "$HOST" = 0 ] || ip link set rdma0 down
  for pe in $started; do
    within 25 grep -q '^rdma_aclgraph_demo: ' "$LOGS/pe$pe.log" || { where_it_is "$pe"; fail "PE $pe says nothing within 25 s"; }
    echo "PE $pe has said why $(seconds_since "$down") s after the link"
  done
  # Now and then Soft-RoCE keeps a queue pair of a link that is down for 10 s and more (in __rxe_cleanup), and so the process.
  wait_ended 60
  for pe in $started; do
    [ "$(cat "code.$pe")" = 1 ] || fail "PE $pe ended with code $(cat "code.$pe"), not 1"
    says "$LOGS/pe$pe.log" 'completion status'
    # Its own number does not count.
    sed "s/PE $pe\>//g" "$LOGS/pe$pe.log" >others
    grep -qE 'PE [0-9]' others || fail "PE $pe names no peer"
  done
}
