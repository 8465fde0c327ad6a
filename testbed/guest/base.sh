# shellcheck shell=dash
# What init and the scenarios share.

# busybox's shell would take its own applets.
ip() { /bin/ip "$@"; }
tc() { /bin/tc "$@"; }

# Hundredths of a second since the boot.
now() { cut -d ' ' -f 1 /proc/uptime | tr -d .; }

seconds_since() { # NOW
  awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", (b - a) / 100 }'
}

# Waits until COMMAND succeeds; fails after SECONDS.
within() { # SECONDS COMMAND...
  within_end=$(($(now) + $1 * 100))
  shift
  until "$@"; do
    [ "$(now)" -lt "$within_end" ] || return 1
    sleep 0.1
  done
}

# Keeps two machines in step: returns once both have come to POINT. One machine has nobody to wait for.
together() { # POINT SECONDS
  [ "$GROUP" = two ] || return 0
  mkdir -p /shared/points
  : >"/shared/points/$1.$HOST"
  within "$2" [ -e "/shared/points/$1.$((1 - HOST))" ] || {
    echo "the other machine did not come to '$1' within $2 s" >/tmp/reason
    return 1
  }
}
