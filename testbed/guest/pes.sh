# shellcheck shell=dash
# Starts PEs by hand, with the reference's six arguments, and waits for them.

DEMO=/testbed/bin/rdma_aclgraph_demo
SHMRUN=/testbed/bin/shmrun
started=''

# Starts PE of a job on the rendezvous of the group. FIRST is the first PE of this machine, HERE how many it has.
start_pe() { # N_PES PE HERE FIRST [OPTION...]
  n_pes=$1 pe=$2 here=$3 first=$4
  shift 4
  address=127.0.0.1
  [ "$GROUP" = one ] || address=10.1.0.1
  started="$started $pe"
  (
    code=0
    # The demo takes over the shell whose number is written down: `kill` must meet the PE itself.
    # shellcheck disable=SC2016 # for the inner shell
    sh -c 'echo $$ >"$0"; exec "$@"' "pid.$pe" "$DEMO" "$n_pes" "$pe" "tcp://$address:8899" "$here" "$first" 0 \
      --backend "$BACKEND" --heap 32MiB "$@" >"$LOGS/pe$pe.log" 2>&1 || code=$?
    echo "$code" >"code.$pe"
  ) &
}

# Starts HERE PEs from FIRST on.
start_pes() { # N_PES HERE FIRST [OPTION...]
  all=$1 count=$2 from=$3
  shift 3
  for pe_here in $(seq "$from" $((from + count - 1))); do
    start_pe "$all" "$pe_here" "$count" "$from" "$@"
  done
}

# Returns once all PEs of this machine are in the job.
wait_joined() { # SECONDS
  for pe in $started; do
    within "$1" joined_or_ended "$pe" || fail "PE $pe did not join within $1 s"
    [ ! -s "code.$pe" ] || fail "PE $pe ended at the start: $(error_of "$pe")"
  done
}

joined_or_ended() { # PE
  [ -s "code.$1" ] || grep -q "^relative pe=$1 " "$LOGS/pe$1.log"
}

# The line in which a PE says what went wrong.
error_of() { # PE
  grep -v '^\[' "$LOGS/pe$1.log" | tail -n 1
}

# Returns once all PEs of this machine have ended; their codes are in code.N.
wait_ended() { # SECONDS
  wait_until=$(($(now) + $1 * 100))
  for pe in $started; do
    until [ -s "code.$pe" ]; do
      [ "$(now)" -lt "$wait_until" ] || { where_it_is "$pe"; fail "PE $pe did not end within $1 s"; }
      sleep 0.1
    done
    echo "PE $pe ended with code $(cat "code.$pe")"
  done
}

# What each thread of a PE waits for, in the kernel.
where_it_is() { # PE
  for task in /proc/"$(cat "pid.$1")"/task/*; do
    echo "$(cat "$task/comm"): $(grep '^State' "$task/status"), in $(cat "$task/wchan")"
    cat "$task/stack" 2>/dev/null
  done
}

# All PEs of this machine end well within SECONDS.
all_succeed() { # SECONDS
  wait_ended "$1"
  for pe in $started; do
    [ "$(cat "code.$pe")" = 0 ] || fail "PE $pe: code $(cat "code.$pe"): $(error_of "$pe")"
    says "$LOGS/pe$pe.log" "^\[SUCCESS\] demo run success in relative pe $pe\$"
  done
}
