# shellcheck shell=dash
# Links and the Soft-RoCE device of this machine.

network_up() {
  ip link set lo up
  for module in crc32_generic rdma_rxe ib_uverbs rdma_ucm; do modprobe $module; done
  case $GROUP in
    one)
      modprobe veth
      ip link add rdma0 type veth peer name rdma1
      ip addr add 10.0.0.1/24 dev rdma0
      ip link set rdma0 up
      ip link set rdma1 up # else rdma0, and with it the port, stays down
      ;;
    two)
      modprobe virtio_net
      within 10 network_named 0c ctl0 10.1.0
      within 10 network_named 0d rdma0 10.0.0
      ;;
  esac
  rdma link add rxe_0 type rxe netdev rdma0
  # The programs may run as another user than root.
  within 5 [ -e /dev/infiniband/uverbs0 ]
  chmod 666 /dev/infiniband/*
  within 10 network_has_gid
}

# Gives the link whose address has BYTE its name and its IP address.
network_named() { # BYTE NAME NET
  for link in /sys/class/net/*; do
    case $(cat "$link/address") in
      *:"$1":*)
        ip link set "${link##*/}" name "$2"
        ip addr add "$3.$((HOST + 1))/24" dev "$2"
        ip link set "$2" up
        return
        ;;
    esac
  done
  return 1
}

# GID 1 comes a moment after the address.
network_has_gid() {
  grep -q ffff /sys/class/infiniband/rxe_0/ports/1/gids/1
}

# Undoes what a scenario did to the data link.
network_reset() {
  tc qdisc del dev rdma0 root 2>/dev/null
  ip link set rdma0 up
}
