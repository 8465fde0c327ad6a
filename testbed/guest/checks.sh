# shellcheck shell=dash
# What scenarios find out, and how they fail.

# Ends the scenario; the reason is what the terminal shows.
fail() { # REASON
  echo "$*" >/tmp/reason
  echo "FAIL: $*"
  exit 1
}

# Shows a command, runs it, and fails if it does.
succeeds() { # COMMAND...
  echo "+ $*"
  "$@" || fail "code $? of: $*"
}

# Runs a command that must fail by itself, within SECONDS; its output is kept in `said`, and shown.
refused() { # SECONDS COMMAND...
  seconds=$1
  shift
  echo "+ $*"
  code=0
  timeout -s KILL "$seconds" "$@" >said 2>&1 || code=$?
  cat said
  case $code in
    0) fail "should have failed: $*" ;;
    137) fail "did not fail within $seconds s: $*" ;;
    126 | 127) fail "did not start: $*" ;;
  esac
}

# Fails unless FILE has a line that matches the pattern.
says() { # FILE PATTERN
  grep -qE -- "$2" "$1" || fail "no '$2' in what ${1##*/} says"
}

# Fails unless FILE has TEXT, word for word.
says_text() { # FILE TEXT
  grep -qF -- "$2" "$1" || fail "${1##*/} does not say: $2"
}

# Bytes that a text names with a number and a unit, one a line: `8 MiB` and `8192KiB` both give 8388608.
bytes_named() { # FILE
  grep -oiE '[0-9]+(\.[0-9]+)? ?(bytes|byte|KiB|MiB|GiB|K|M|G|B|kB)?' "$1" | awk '
    { n = $0 + 0; unit = tolower($0); gsub(/[0-9. ]/, "", unit) }
    unit ~ /^k/ { n *= 1024 } unit ~ /^m/ { n *= 1048576 } unit ~ /^g/ { n *= 1073741824 }
    { printf "%.0f\n", n }'
}

# Whether a text names a number of bytes between the two.
names_bytes() { # FILE LOW HIGH
  bytes_named "$1" | awk -v low="$2" -v high="$3" '$1 >= low && $1 <= high { found = 1 } END { exit !found }'
}
