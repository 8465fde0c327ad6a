# shellcheck shell=dash
# group: two
# order: 30
# limit: 120
# pes: a doctor on each of two hosts
# proves: shmem-doctor --peer: writes arrive both ways; a dead data link and another backend over there are said in time

run() {
  other=10.1.0.$((2 - HOST))

  doctor 0 --backend "$BACKEND" --peer "$other"
  says found '^  ok +8 B, 4 KiB and 64 KiB arrive whole, both ways$'

  # Each names what it was asked for.
  together peer.differ 60
  began=$(now)
  if [ "$HOST" = 0 ]; then
    doctor 1 --backend "$BACKEND" --peer "$other"
  else
    nic_add xscale_0
    doctor 1 --backend xscale --device xscale_0 --peer "$other"
  fi
  echo "took $(seconds_since "$began") s"
  says found "$BACKEND"
  says found xscale

  # As a switch that takes packets and passes none on.
  together peer.loss 60
  tc qdisc add dev rdma0 root netem loss 100%
  refused_in 10
  says found 'completion status'
  tc qdisc del dev rdma0 root

  together peer.link 60
  [ "$HOST" = 0 ] || ip link set rdma0 down
  together peer.down 10
  refused_in 5
}

# The doctor does not find the peer, and says so well in time.
refused_in() { # SECONDS
  began=$(now)
  doctor 1 --backend "$BACKEND" --peer "$other" --timeout "$1"
  echo "took $(seconds_since "$began") s"
  says found '^  fail '
  [ "$(now)" -lt $((began + $1 * 200 + 1000)) ] || fail "the doctor took longer than twice $1 s"
}
