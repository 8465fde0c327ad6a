# shellcheck shell=dash
# group: one
# order: 90
# limit: 240
# pes: 2 and 8 PEs
# proves: how fast puts and collectives are beside perftest in the same boot (a missed goal is shown, not a failure)

times=3

# Port 18515 (4853), state 0A: listening.
perftest_listens() {
  grep -qiE ':4853 [0-9A-F]+:0000 0A' /proc/net/tcp /proc/net/tcp6
}

# A server and a client of perftest; the client's output is kept.
perftest() { # FILE PROGRAM OPTION...
  into=$1
  shift
  echo "+ $*"
  "$@" -d rxe_0 -x 1 -F >server 2>&1 &
  server=$!
  within 10 perftest_listens || fail "$1: the server does not listen"
  timeout -s KILL 40 "$@" -d rxe_0 -x 1 -F 10.0.0.1 >"$into" 2>&1 || { cat server "$into"; fail "$* failed"; }
  wait "$server" || { cat server; fail "$*: the server failed"; }
  grep '^ *[0-9#]' "$into"
}

# How many rounds take about 2 s. On a busy host one may take a hundred times longer than on an idle one.
lat_rounds() { # from a short run's average, half of a round in us
  awk '$1 == 8 { n = 1000000 / $6; print int(n < 500 ? 500 : n > 100000 ? 100000 : n) }' lat.try
}
bw_rounds() { # from a short run's average, MiB/s
  awk '$1 == 65536 { n = 2 * 16 * $4; print int(n < 100 ? 100 : n > 20000 ? 20000 : n) }' bw.try
}

both_rounds() { # from a short run's rate of both sides, millions a second
  awk '$1 == 64 { n = 1000000 * $5; print int(n < 500 ? 500 : n > 100000 ? 100000 : n) }' both.try
}

# Values of WORK and BYTES in the output of all runs called NAME.
ours() { # NAME WORK BYTES
  awk -v work="$2" -v bytes="$3" '$1 == work && $2 == bytes { print $4 }' "$1".*
}

# PES PEs do WORK... as PE 0 prints it.
perf() { # FILE PES OPTION... WORK...
  into=$1 pes=$2
  shift 2
  echo "+ perf, $pes PEs: $*"
  "$SHMRUN" -n "$pes" --no-prefix --timeout 40 /testbed/bin/perf --backend "$BACKEND" --heap 64MiB --typical "$@" \
    >"$into" 2>errors || { cat "$into" errors; fail "perf failed"; }
  cat "$into"
}

median() {
  sort -n | awk '{ v[NR] = $1 } END { if (!NR) exit 1; print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# A row of the table. GOAL is `<=RATIO`, `>=RATIO` or `-`.
row() { # WORK PEER OURS UNIT GOAL
  awk -v work="$1" -v peer="$2" -v ours="$3" -v unit="$4" -v goal="$5" 'BEGIN {
    ratio = ours / peer; limit = substr(goal, 3) + 0; word = ""
    if (goal ~ /^<=/) word = ratio <= limit ? "met" : "missed"
    if (goal ~ /^>=/) word = ratio >= limit ? "met" : "missed"
    printf "%-24s %10.2f %10.2f %-5s %6.2f  %-6s %s\n", work, peer, ours, unit, ratio, goal, word
  }'
}

run() {
  for i in $(seq $times); do
    perftest lat.try ib_write_lat -s 8 -n 500
    perftest "lat.$i" ib_write_lat -s 8 -n "$(lat_rounds)"
    perftest bw.try ib_write_bw -s 65536 -n 200
    perftest "bw.$i" ib_write_bw -s 65536 -n "$(bw_rounds)"
    # Both send, each one message at a time: what an AllGather of two cannot do without.
    perftest both.try ib_write_bw -b -s 64 -t 1 -n 200
    perftest "both.$i" ib_write_bw -b -s 64 -t 1 -n "$(both_rounds)"
    perf "two.$i" 2 ping-pong:8 stream:65536 barrier all-gather:64
    for algorithm in textbook auto; do
      perf "$algorithm.$i" 8 --seconds 0.6 --algorithm "$algorithm" all-gather:64
    done
  done

  # ib_write_lat: typical time, half of a round trip. ib_write_bw counts 2^20 bytes as a MB, we count 10^6.
  lat=$(awk '$1 == 8 { print $5 }' lat.[0-9]* | median) || fail "ib_write_lat printed no number"
  bw=$(awk '$1 == 65536 { print $4 * 1.048576 }' bw.[0-9]* | median) || fail "ib_write_bw printed no number"
  both=$(awk '$1 == 64 { print 2 / $5 }' both.[0-9]* | median) || fail "ib_write_bw -b printed no number"
  put=$(ours two ping-pong 8 | median) || fail "perf printed no ping-pong"
  stream=$(ours two stream 65536 | median) || fail "perf printed no stream"
  barrier=$(ours two barrier 0 | median) || fail "perf printed no barrier"
  gather=$(ours two all-gather 64 | median) || fail "perf printed no all-gather"
  textbook=$(ours textbook all-gather 64 | median) || fail "perf printed no all-gather"
  auto=$(ours auto all-gather 64 | median) || fail "perf printed no all-gather"
  {
    printf '%-24s %10s %10s %-5s %6s  %s\n' work peer ours unit ratio goal
    row "put 8 B, ping-pong" "$lat" "$put" us '<=1.05'
    row "put 64 KiB, stream" "$bw" "$stream" MB/s '>=0.95'
    row "barrier, 2 PEs" "$lat" "$barrier" us -
    row "AllGather 64 B, 2 PEs" "$lat" "$gather" us '<=1.30'
    row "the same" "$both" "$gather" us -
    row "AllGather 64 B, 8 PEs" "$textbook" "$auto" us '<=0.33'
    echo "(peer: ib_write_lat -s 8 typical, ib_write_bw -s 65536 average; of 8 PEs the textbook AllGather; medians of"
    echo "$times runs in turn)"
  } >"$LOGS/table"
  cat "$LOGS/table"
}
