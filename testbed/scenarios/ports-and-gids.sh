# shellcheck shell=dash
# group: one
# order: 32
# limit: 90
# pes: 1 and 17 PEs
# proves: a port that is down, a NIC without IP address and too many PEs on one NIC are refused, by the job and by the doctor

run() {
  unset SHMEM_NIC IBV_EXTEND_DRIVERS
  nic_add xscale_0

  ip link set xs0 down
  within 5 port_is_down || fail "the port did not go down"
  both_refuse xscale 'no port is an active Ethernet port: xscale_0:1 (DOWN, Ethernet'
  (
    export SHMEM_NIC=xscale_0
    both_refuse xscale 'xscale_0 port 1 (named by environment SHMEM_NIC) is DOWN, not ACTIVE'
  )
  ip link set xs0 up

  # Its link-local address stays.
  ip -4 addr flush dev xs0
  within 5 no_gid_of_address || fail "the GID did not go"
  both_refuse xscale 'xscale_0 port 1 has no GID that is RoCE v2 and routable; it has: '
  ip addr add 10.2.0.1/24 dev xs0
  within 5 nic_has_gid xscale_0 || fail "the GID did not come back"

  refused 60 "$SHMRUN" -n 17 "$DEMO" --backend xscale --heap 64KiB
  says said '17 PEs'
  says said '\<16\>'
  doctor 0 --backend xscale
}

port_is_down() {
  grep -q DOWN /sys/class/infiniband/xscale_0/ports/1/state
}

no_gid_of_address() {
  ! nic_has_gid xscale_0
}
