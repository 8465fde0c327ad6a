# shellcheck shell=dash
# group: one
# order: 25
# limit: 60
# pes: 2 PEs
# proves: on machines with hccn_tool the NIC is that of the PE's NPU; what the tool finds wrong ends the job with its meaning

# A tool that answers as Ascend's does: NPU 4 and 5 have an address each, their network is as the file `health` says.
make_tool() {
  mkdir -p tools
  cat >tools/hccn_tool <<'T'
#!/bin/sh
case "$*" in
  "-i 4 -ip -g" | "-i 5 -ip -g") echo "ipaddr:$(cat "${0%/*}/address")"; echo "netmask:255.255.255.0" ;;
  *-net_health*) echo "net health status: $(cat "${0%/*}/health")" ;;
  *-link*) echo "link status: UP" ;;
  *) echo "unknown NPU"; exit 1 ;;
esac
T
  chmod +x tools/hccn_tool
  export PATH="$PWD/tools:$PATH"
}

# Two PEs whose NPUs are 4 and 5.
start() {
  started=''
  for pe in 0 1; do
    (
      code=0
      "$DEMO" 2 "$pe" tcp://127.0.0.1:8899 2 0 4 --backend "$BACKEND" --heap 8MiB --timeout 20 -v >"npu.$pe" 2>&1 || code=$?
      echo "$code" >"npu.code.$pe"
    ) &
  done
  wait
  cat npu.0
}

run() {
  make_tool
  export SHMEM_NIC=npu
  echo 10.0.0.1 >tools/address
  echo Success >tools/health
  start
  [ "$(cat npu.code.0 npu.code.1 | tr -d '\n')" = 00 ] || fail "the job failed"
  says npu.0 'NPU 4'
  says npu.1 'NPU 5'

  echo Unreachable >tools/health
  start
  [ "$(cat npu.code.0 npu.code.1 | tr -d '\n')" = 11 ] || fail "bad health was no error"
  says npu.0 'net health status Unreachable'

  echo Success >tools/health
  echo 192.168.9.10 >tools/address
  start
  [ "$(cat npu.code.0 npu.code.1 | tr -d '\n')" = 11 ] || fail "an address on no device was no error"
  says npu.0 'no verbs device of this host has 192.168.9.10'
  says npu.0 HCCP
}
