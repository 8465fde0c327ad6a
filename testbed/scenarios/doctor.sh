# shellcheck shell=dash
# group: one
# order: 33
# limit: 120
# pes: 1 PE
# proves: shmem-doctor: valid JSON, exit codes, every answer of hccn_tool by its meaning, and what another user may not

run() {
  unset IBV_EXTEND_DRIVERS
  codes_and_json
  npu_network
  other_user
}

# Codes 0 and 1, with text or JSON, and 2.
codes_and_json() {
  doctor 0 --backend "$BACKEND"
  says found '^  ok .*rxe_0'
  doctor 0
  says found "$BACKEND"
  doctor 0 --backend "$BACKEND" --json
  json_is_valid found || fail "that is not valid JSON"
  says found '^  "level": "(ok|warn)",$'
  # The one that is not there; roce's own troubles are none for it.
  doctor 1 --backend xscale --json
  json_is_valid found || fail "that is not valid JSON"
  says found '^  "level": "fail",$'
  says found '"fail": [1-9]'
  failures_of found >failures
  says failures 'XSCALE NIC'
  doctor 1 --backend xscale
  while read -r failure; do says_text found "$failure"; done <failures

  doctor 2 --backend nonsense
  says complaint nonsense
  doctor 2 --bogus
  doctor 2 --backend "$BACKEND" --pes many
}

# A tool that has a folder of answers for each NPU.
make_tool() {
  mkdir tools
  cat >tools/hccn_tool <<'T'
#!/bin/sh
# hccn_tool -i NPU -WHAT -g
answers=${0%/*}/$2
cat "$answers/${3#-}" || exit 1
exit "$(cat "$answers/code")"
T
  chmod +x tools/hccn_tool
  for npu in $(seq 0 8); do
    : >"/dev/davinci$npu" # by which a host shows that it has this NPU
    mkdir "tools/$npu"
    all_well "$npu"
  done
}

all_well() { # NPU
  printf 'ipaddr:10.0.0.1\nnetmask:255.255.255.0\n' >"tools/$1/ip"
  echo 'net health status: Success' >"tools/$1/net_health"
  echo 'link status: UP' >"tools/$1/link"
  echo 0 >"tools/$1/code"
}

# The doctor finds this of an NPU.
npu() { # LEVEL NPU TEXT
  grep -E "^  $1 +NPU $2: " found >line || fail "the doctor finds no $1 at NPU $2"
  says_text line "$3"
}

# The nine outcomes of the NPU's own check: the code is the NPU's number here.
health_of() { # NPU
  sed -n "$(($1 + 1))p" <<'H'
Success
Socket fail
Receive timeout
Unreachable
Time exceeded
Fault
Init
Thread error
Detect ip set
H
}

npu_network() {
  make_tool
  export SHMEM_NIC=npu
  usual_path=$PATH PATH="$PWD/tools:$PATH"
  doctor 0 --backend "$BACKEND" --npu 0
  npu ok 4 '10.0.0.1, netmask 255.255.255.0, its link is not down, net health Success: '

  for by in code words; do
    for npu in $(seq 0 8); do
      status=$npu
      [ "$by" = code ] || status=$(health_of "$npu")
      echo "net health status: $status" >"tools/$npu/net_health"
    done
    doctor 1 --backend "$BACKEND" --npu 0
    npu ok 0 'net health Success: '
    for npu in 6 8; do npu warn "$npu" "net health $(health_of "$npu"): "; done
    for npu in 1 2 3 4 5 7; do npu fail "$npu" "net health status $(health_of "$npu"), that is, "; done
  done

  for npu in $(seq 0 8); do all_well "$npu"; done
  echo 'net health status: 9' >tools/1/net_health
  echo 'link status: DOWN' >tools/2/link
  : >tools/3/ip
  echo 'no such luck' >tools/4/ip
  printf 'ipaddr:192.168.9.10\nnetmask:255.255.255.0\n' >tools/5/ip
  echo 3 >tools/6/code
  rm tools/7/link # an old tool; that is held against nobody
  doctor 1 --backend "$BACKEND" --npu 0
  npu fail 1 'net health status: 9'
  npu fail 2 "the link of NPU 2's NIC (10.0.0.1) is down"
  npu fail 3 'the NIC of NPU 3 has no IP address; set one: hccn_tool -i 3 -ip -s'
  npu fail 4 'no such luck'
  says_text line 'is not understood'
  says_text found "no verbs device of this host has 192.168.9.10, the address of NPU 5's NIC"
  npu fail 6 'exit status: 3'
  npu ok 7 'net health Success: '

  chmod -x tools/hccn_tool
  doctor 1 --backend "$BACKEND" --npu 0
  says_text found 'hccn_tool cannot be run: Permission denied'
  PATH=$usual_path
  rm /dev/davinci*
  export SHMEM_NIC=rxe_0
}

other_user() {
  (
    # Debian's default; root may lock what it likes.
    ulimit -l 8192
    # The job counts what it puts into the heap by itself, too.
    both_refuse_user "$BACKEND" 'this process may lock 8 MiB (RLIMIT_MEMLOCK), but a heap of ' '--heap 64MiB'
    names_bytes said 67108864 70000000 || fail "the 64 MiB that are needed are not named"
  )
  uverbs=$(uverbs_of rxe_0)
  trap 'chmod 666 /dev/infiniband/*' EXIT
  chmod 600 "$uverbs"
  both_refuse_user "$BACKEND" "$uverbs (rxe_0) cannot be opened for reading and writing: Permission denied" '--heap 1MiB'
}
