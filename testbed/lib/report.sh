# shellcheck shell=bash
# What the terminal shows.

passed=0 failed=0

report_ok() { # NAME SECONDS
  passed=$((passed + 1))
  echo "ok   $1 ($2 s)"
}

report_fail() { # NAME REASON [LOG]
  failed=$((failed + 1))
  echo "FAIL $1: $2"
  [ ! -s "${3:-}" ] || tail -n 25 "$3" | sed 's/^/     | /'
}

# The last line, and the exit code of the run.
report_end() { # LOGS
  [ "$failed" -eq 0 ] || echo "logs: $1"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
