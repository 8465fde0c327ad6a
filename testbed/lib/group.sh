# shellcheck shell=bash
# Runs the scenarios of a group in its machines, and reports each as it ends.
#
# A machine and the host talk through the folder `shared` (9p): the host puts the plan there, the machine its logs, and
# last a file `status` for each scenario: `ok SECONDS` or `FAIL SECONDS REASON`.

group_run() { # GROUP FOLDER NAME...
  local group=$1 folder=$2 hosts=(0) name limit total=120 margin why
  shift 2
  [ "$group" = one ] || hosts=(0 1)
  mkdir -p "$folder/shared"
  for name in "$@"; do
    limit=$(scenario_field "$name" limit)
    total=$((total + limit + 90))
    echo "$name $limit"
  done >"$folder/shared/plan"

  # From within the folder: the path of a socket has room for 107 bytes only.
  cd "$folder" || exit 1
  machine_start_group "$group" "$total"
  # The machines end a scenario at its limit by themselves. The margin is for one that hangs, and at first for the boot.
  margin=180
  while [ $# -gt 0 ]; do
    group_wait "$1" $(($(scenario_field "$1" limit) + margin)) "${hosts[@]}" || break
    group_report "$1" "$folder/shared" "${hosts[@]}"
    margin=90
    shift
  done
  why="a machine hangs"
  machine_all_run || why="a machine ended before it did"
  for name in "$@"; do
    # Only the first was running; the others have nothing to show.
    if [ "$name" = "$1" ]; then report_fail "$name" "$why" "$(group_log_of "$name" "$folder")"; else report_fail "$name" "not run"; fi
  done
  if [ $# -eq 0 ]; then machine_let_end; else machine_stop_all; fi
  cd "$workspace" || exit 1
}

# What may say why NAME has not reported.
group_log_of() { # NAME FOLDER
  local log=$2/shared/$1.0/log
  [ -s "$log" ] || log=$2/console.0
  [ -s "$log" ] || log=$2/qemu.0
  echo "$log"
}

group_done() { # NAME HOST...
  local name=$1 host
  shift
  for host in "$@"; do
    [ -e "shared/$name.$host/status" ] || return 1
  done
}

# Returns once all machines have reported NAME; fails if one ends before, or after SECONDS.
group_wait() { # NAME SECONDS HOST...
  local name=$1 end=$((SECONDS + $2))
  shift 2
  until group_done "$name" "$@"; do
    # Seen in this order, so that a machine's last report is not missed.
    machine_all_run || { group_done "$name" "$@"; return; }
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

group_report() { # NAME SHARED HOST...
  local name=$1 shared=$2 host word took reason longest=0
  shift 2
  for host in "$@"; do
    read -r word took reason <"$shared/$name.$host/status"
    if [ "$word" != ok ]; then
      [ $# -eq 1 ] || reason="host $host: $reason"
      report_fail "$name" "$reason ($took s)" "$shared/$name.$host/log"
      return
    fi
    longest=$(printf '%s\n' "$longest" "$took" | sort -n | tail -1)
  done
  report_ok "$name" "$longest"
  # A scenario that measures leaves a table.
  [ ! -e "$shared/$name.0/table" ] || { cat "$shared/$name.0/table"; echo "table: $shared/$name.0/table"; }
}
