# shellcheck shell=dash
# NICs and provider plug-ins that are called as those of the Ascend950 are, made of Soft-RoCE.

PLUG_INS=/opt/nic-test                                          # what lib/plug_ins.sh made
PROVIDER=/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so # Soft-RoCE's own
DRIVER=/etc/libibverbs.d/rxe.driver
vendor_kept=/opt/nic.kept # where these two are while they are away

# The network device of a NIC, and its /24.
nic_net() { # NAME
  case $1 in
    xscale_0) echo xs 10.2.0 ;;
    hrn5_1) echo hr 10.3.0 ;;
    *) echo "no such NIC: $1" >&2; return 1 ;;
  esac
}

# Makes a Soft-RoCE device of this name, on a link of its own: a network device takes one only.
nic_add() { # NAME
  # shellcheck disable=SC2046 # two words
  nic_made "$1" $(nic_net "$1")
}

nic_made() { # NAME LINK NET
  modprobe veth
  ip link add "${2}0" type veth peer name "${2}1"
  ip addr add "$3.1/24" dev "${2}0"
  ip link set "${2}0" up
  ip link set "${2}1" up
  rdma link add "$1" type rxe netdev "${2}0"
  within 5 uverbs_of "$1" >/dev/null || { echo "$1 has no file in /dev/infiniband" >&2; return 1; }
  chmod 666 /dev/infiniband/*
  within 10 nic_has_gid "$1" || { echo "$1 got no GID of its address" >&2; return 1; }
}

# The file by which programs use a NIC.
uverbs_of() { # NAME
  for uverbs in /sys/class/infiniband_verbs/uverbs*; do
    [ "$(cat "$uverbs/ibdev" 2>/dev/null)" = "$1" ] || continue
    uverbs=/dev/infiniband/${uverbs##*/}
    [ -e "$uverbs" ] && echo "$uverbs"
    return
  done
  return 1
}

nic_has_gid() { # NAME
  grep -q ffff "/sys/class/infiniband/$1/ports/1/gids/1"
}

nic_gone() { # NAME
  [ ! -e "/sys/class/infiniband/$1" ]
}

# Takes a NIC away with its link. The kernel waits until nobody has it open, and cannot be interrupted meanwhile.
nic_remove() { # NAME
  rdma link delete "$1" &
  within 20 nic_gone "$1" || { echo "$1 is still in use" >&2; return 1; }
  # shellcheck disable=SC2046 # two words
  set -- $(nic_net "$1")
  ip link delete "${1}0"
}

# From here on libibverbs does not find Soft-RoCE's provider by itself.
provider_take_away() {
  mkdir -p "$vendor_kept"
  mv "$PROVIDER" "$DRIVER" "$vendor_kept/"
}

provider_put_back() {
  [ ! -e "$vendor_kept/${PROVIDER##*/}" ] || mv "$vendor_kept/${PROVIDER##*/}" "$PROVIDER"
  [ ! -e "$vendor_kept/${DRIVER##*/}" ] || mv "$vendor_kept/${DRIVER##*/}" "$DRIVER"
}

# The provider, wherever it is now.
provider_file() {
  if [ -e "$PROVIDER" ]; then echo "$PROVIDER"; else echo "$vendor_kept/${PROVIDER##*/}"; fi
}

# The provider is where the vendors' packages could have put theirs, and nowhere else.
provider_as_vendors() {
  [ -e "$vendor_kept" ] || provider_take_away
  mkdir -p /opt/nic
  cp "$(provider_file)" /opt/nic/libxscale_nda.so
  cp "$(provider_file)" /opt/nic/libhrn5-rdmav34.so
}

# Puts all right again, whatever a scenario did or whenever it was killed.
vendor_reset() {
  provider_put_back
  rm -rf /opt/nic "$vendor_kept" /dev/davinci*
  chmod 666 /dev/infiniband/*
  for nic in xscale_0 hrn5_1; do
    nic_gone "$nic" || nic_remove "$nic"
  done
  for link in xs0 hr0; do
    [ ! -e "/sys/class/net/$link" ] || ip link delete "$link"
  done
}
