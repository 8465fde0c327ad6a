# shellcheck shell=bash
# Installs what a bare Debian lacks.

# What is looked for (a command or a file), and the Debian package that has it.
packages_wanted=(
  qemu-system-x86_64=qemu-system-x86
  busybox=busybox-static
  cpio=cpio
  modprobe=kmod
  ip=iproute2
  tc=iproute2
  rdma=iproute2
  flock=util-linux
  ibv_devinfo=ibverbs-utils
  /etc/libibverbs.d/rxe.driver=ibverbs-providers
  ib_write_lat=perftest
  strace=strace
  strip=binutils
  cc=gcc
  /usr/include/stdio.h=libc6-dev
)

packages_missing() {
  local pair
  for pair in "${packages_wanted[@]}"; do
    if [[ $pair == /* ]]; then [ -e "${pair%%=*}" ]; else command -v "${pair%%=*}" >/dev/null; fi || echo "${pair#*=}"
  done | sort -u | paste -sd ' '
}

# Runs apt-get as root; its output is shown only if it fails.
packages_apt() {
  local as_root=() output
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  output=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" 2>&1 </dev/null) ||
    { echo "$output" >&2; echo "soft-roce: apt-get $* failed" >&2; return 1; }
}

packages_may_install() {
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

packages_need() {
  local missing
  [ "$(uname -sm)" = 'Linux x86_64' ] || { echo "soft-roce: this runs on Linux on x86-64 only" >&2; exit 1; }
  missing=$(packages_missing)
  [ -n "$missing" ] || return 0
  packages_may_install || {
    echo "soft-roce: these packages are missing: $missing" >&2
    echo "soft-roce: as root: apt-get install --no-install-recommends $missing" >&2
    exit 1
  }
  echo "installing $missing"
  packages_apt update
  # shellcheck disable=SC2086 # a list of words
  packages_apt install -y --no-install-recommends $missing
  missing=$(packages_missing)
  [ -z "$missing" ] || { echo "soft-roce: installed, but still not found: what is in $missing" >&2; exit 1; }
}
