# shellcheck shell=dash
# group: one
# order: 80
# limit: 120
# pes: 2 PEs
# proves: a put makes one system call, the one by which Soft-RoCE's plug-in rings its doorbell, and nothing else does any

# System calls of PE 0 in a run of so many puts.
calls() { # ROUNDS
  count=$1
  for pe in 0 1; do
    trace=''
    [ "$pe" = 1 ] || trace="strace -f -c -o counts.$count"
    # shellcheck disable=SC2086 # words, or nothing
    SHMEM_N_PES=2 SHMEM_PE=$pe SHMEM_UID_SESSION_ID=127.0.0.1:8899 $trace /testbed/bin/perf --backend "$BACKEND" \
      --heap 32MiB --rounds "$count" --repeat 1 put:8 >"out.$pe" 2>&1 &
    eval "pid$pe=$!"
  done
  # shellcheck disable=SC2154 # set by eval
  wait "$pid0" || { cat out.0; fail "PE 0 failed"; }
  # shellcheck disable=SC2154
  wait "$pid1" || { cat out.1; fail "PE 1 failed"; }
  cat "counts.$count"
}

# Calls of a kind in a run; strace's table ends with the name and has the number third or fourth from the left.
calls_of() { # ROUNDS NAME
  awk -v name="$2" '$NF == name { n = $4 } END { print n + 0 }' "counts.$1"
}

run() {
  few=1000 many=3000
  calls $few
  calls $many
  puts=$((many - few))
  for name in write total; do
    more=$(($(calls_of $many $name) - $(calls_of $few $name)))
    echo "$name: $more more for $puts more puts"
    # Waiting for room may yield now and then; a system call for each put would double this.
    [ "$more" -ge $((puts * 99 / 100)) ] || fail "$more '$name' calls for $puts puts: that is not what was to be counted"
    [ "$more" -le $((puts * 110 / 100)) ] || fail "$more '$name' calls for $puts puts"
  done
}
