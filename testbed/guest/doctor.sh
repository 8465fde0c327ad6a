# shellcheck shell=dash
# What shmem-doctor finds, and whether a job says the same.

DOCTOR=/testbed/bin/shmem-doctor

# Runs the doctor, who must end with CODE. What it found is kept in `found`, what else it says in `complaint`.
doctor() { # CODE OPTION...
  wanted=$1
  shift
  echo "+ shmem-doctor $*"
  code=0
  timeout -s KILL 40 "$DOCTOR" "$@" >found 2>complaint || code=$?
  cat found complaint
  [ "$code" = "$wanted" ] || fail "shmem-doctor $*: code $code, not $wanted"
}

# Job and doctor refuse both, and say TEXT, word for word. The machine has a processor for each.
both_refuse() { # BACKEND TEXT
  echo "== $2"
  (doctor 1 --backend "$1" && says_text found "$2") >examined 2>&1 &
  examination=$!
  # One PE: what it says does not depend on how many there are.
  refused 20 "$SHMRUN" -n 1 "$DEMO" --backend "$1" --heap 1MiB
  says_text said "$2"
  code=0
  wait "$examination" || code=$?
  cat examined
  [ "$code" = 0 ] || exit 1 # it has said why
}

# The same as another user.
both_refuse_user() { # BACKEND TEXT [OPTION]
  echo "== $2"
  refused 20 su user -c "exec $DOCTOR --backend $1 ${3:-}"
  says_text said "$2"
  refused 20 su user -c "exec $SHMRUN -n 1 $DEMO --backend $1 ${3:-}"
  says_text said "$2"
}

# The text of each failure in what `shmem-doctor --json` printed, one a line.
failures_of() { # FILE
  awk '
    failed && /^ *"what": / {
      sub(/^ *"what": "/, ""); sub(/",$/, ""); gsub(/\\"/, "\""); gsub(/\\\\/, "\\"); print
    }
    { failed = /^ *"level": "fail",$/ }' "$1"
}

# Takes a document apart from within: each list and object without others in it becomes a value, until one value is left.
json_is_valid() { # FILE
  awk '
    { gsub(/\\./, ""); gsub(/"[^"]*"/, "s"); gsub(/-?[0-9][0-9.eE+-]*|true|false|null/, "v"); gsub(/[ \t]/, ""); all = all $0 }
    END {
      while (gsub(/\[([sv](,[sv])*)?\]|\{(s:[sv](,s:[sv])*)?\}/, "v", all)) {}
      exit all != "v"
    }' "$1"
}

# What the doctor finds to fail first is what the job has just said in `said`.
said_by_the_job() { # BACKEND
  doctor 1 --backend "$1" --json
  failures_of found >failures
  read -r failure <failures || fail "the doctor names no failure"
  says_text said "$failure"
}
