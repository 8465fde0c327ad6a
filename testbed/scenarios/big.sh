# shellcheck shell=dash
# group: one
# order: 40
# limit: 120
# pes: 2 PEs
# proves: puts of 64 MiB arrive whole; a user with a small RLIMIT_MEMLOCK is told the limit and what is needed

run() {
  succeeds "$SHMRUN" -n 2 "$DEMO" --backend "$BACKEND" --elements 16777216 --loops 1 --heap 400MiB --timeout 60

  # Root may pin what it likes, so this is another user, with Debian's default limit of 8 MiB.
  ulimit -l 8192
  chmod 777 .
  echo "exec $SHMRUN -n 2 $DEMO --backend $BACKEND --heap 64MiB" >small.sh
  refused 15 su user -c 'sh small.sh'
  says said RLIMIT_MEMLOCK
  names_bytes said 8388608 8388608 || fail "the limit of 8 MiB is not named"
  # A little more than the heap may be pinned.
  names_bytes said 67108864 100663296 || fail "the 64 MiB that are needed are not named"
}
