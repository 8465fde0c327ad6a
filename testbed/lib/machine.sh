# shellcheck shell=bash
# Boots and ends machines.

machine_pids=()

# Starts one machine in the group's folder; its process id is the last of machine_pids.
machine_start() { # GROUP HOST SECONDS [QEMU OPTION...]
  local group=$1 host=$2 seconds=$3
  shift 3
  # KVM is not everywhere, and numbers should not depend on whether it is there; TESTBED_ACCEL=kvm asks for it.
  # `timeout` is the last resort: even if this script is killed, the machine ends.
  timeout -k 5 "$seconds" qemu-system-x86_64 -accel "${TESTBED_ACCEL:-tcg,thread=multi}" -cpu max -smp 2 \
    -nodefaults -no-user-config -display none -no-reboot -serial "file:console.$host" \
    -kernel "$image_linux" -initrd "$image_initrd" \
    -append "console=ttyS0 panic=-1 quiet mitigations=off GROUP=$group HOST=$host BACKEND=${TESTBED_BACKEND:-roce}" \
    -virtfs local,path=shared,mount_tag=shared,security_model=none,multidevs=remap \
    "$@" >"qemu.$host" 2>&1 </dev/null &
  machine_pids+=($!)
}

# shellcheck disable=SC2046 # machine_link gives words
machine_start_group() { # GROUP SECONDS
  local link tries=0
  case $1 in
    one) machine_start one 0 "$2" -m 4096 ;;
    two)
      # Two links: `ctl` for the rendezvous, `rdma` for the data. Unix sockets: TCP's would add 22 ms to a message.
      machine_start two 0 "$2" -m 2048 $(machine_link ctl on 0) $(machine_link rdma on 0)
      for link in ctl rdma; do
        until [ -S "$link.sock" ]; do
          tries=$((tries + 1))
          [ "$tries" -le 100 ] || { echo "soft-roce: the first machine does not start:" >&2; cat qemu.0 >&2; exit 1; }
          sleep 0.1
        done
      done
      machine_start two 1 "$2" -m 2048 $(machine_link ctl off 1) $(machine_link rdma off 1)
      ;;
  esac
}

# QEMU's options for one end of a link. The machine knows the link by the address: the fifth byte is c (ctl) or d (rdma).
machine_link() { # NAME SERVER HOST
  local byte=0c
  [ "$1" = ctl ] || byte=0d
  echo "-netdev stream,id=$1,server=$2,addr.type=unix,addr.path=$1.sock"
  echo "-device virtio-net-pci,netdev=$1,romfile=,mac=52:54:00:00:$byte:0$3"
}

machine_stop_all() {
  [ "${#machine_pids[@]}" -eq 0 ] || kill "${machine_pids[@]}" 2>/dev/null || true
  [ "${#machine_pids[@]}" -eq 0 ] || wait "${machine_pids[@]}" 2>/dev/null || true
  machine_pids=()
}

machine_all_run() {
  local pid
  for pid in "${machine_pids[@]}"; do
    kill -0 "$pid" 2>/dev/null || return 1
  done
}

# The machines power off by themselves once their plan is done; what still runs after that is ended.
machine_let_end() {
  local pid tries=0
  for pid in "${machine_pids[@]}"; do
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do
      tries=$((tries + 1))
      sleep 0.1
    done
  done
  machine_stop_all
}
