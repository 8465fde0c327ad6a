# shellcheck shell=bash
# The machines' kernel, and the archive that is their whole file system.
#
# What comes from Debian is cached, under a hash of its content. The programs and scenarios of this checkout are added in
# every run: they are small, and a run must not see those of another.

image_tools=(busybox ibv_devinfo rdma ip tc ib_write_lat ib_write_bw strace)
image_plugin=/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so
image_driver=/etc/libibverbs.d/rxe.driver
# crc32_generic is asked for by name: rdma_rxe needs it, but does not say so.
image_modules=(rdma_rxe ib_uverbs rdma_ucm crc32_generic veth virtio_pci virtio_net sch_netem 9p 9pnet_virtio)

# The libraries that programs load. A static program has none, and ldd then fails.
image_libraries() { # FILE...
  local file
  for file in "$@"; do
    { ldd "$file" 2>/dev/null || true; } | grep -oE '/[^ ]+' || true
  done | sort -u
}

# Copies what stdin lists into ROOT, to the same places.
image_copy() { # ROOT
  local file
  while read -r file; do
    mkdir -p "$1$(dirname "$file")"
    cp -L "$file" "$1$file"
  done
}

# Not compressed: to unpack would cost the emulated machine more than to read.
image_archive() { # ROOT: the archive goes to stdout
  (cd "$1" && find . -mindepth 1 | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet)
}

# Name and version of the newest kernel package, as name=version.
image_kernel_package() {
  local name version
  name=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-\)/\1/p' | head -1)
  [ -n "$name" ] || return 1
  version=$(apt-cache show --no-all-versions "$name" | sed -n 's/^Version: //p')
  echo "$name=$version"
}

# Downloads and unpacks the kernel into DIR. A kernel on disk is enough; nothing is installed.
image_kernel() { # PACKAGE DIR
  local work=$2.tmp
  [ ! -d "$2" ] || return 0
  echo "downloading ${1%%=*}"
  rm -rf "$work"
  mkdir "$work"
  (cd "$work" && apt-get download -q -o APT::Sandbox::User=root "$1" >log 2>&1) ||
    { cat "$work/log" >&2; echo "soft-roce: could not download $1; as root: apt-get update" >&2; exit 1; }
  dpkg -x "$work"/*.deb "$work/unpacked"
  mv -T "$work/unpacked" "$2"
  rm -rf "$work"
}

# The modules that Soft-RoCE and the machines need, with all that they depend on.
image_copy_modules() { # KERNEL ROOT
  local version module into
  version=$(basename "$1"/lib/modules/*)
  into=$2/lib/modules/$version
  mkdir -p "$into"
  cp "$1/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$into/"
  depmod -b "$1" "$version"
  for module in "${image_modules[@]}"; do
    modprobe -d "$1" -S "$version" --show-depends "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
  done | sort -u | sed 's|.*/lib/modules/|/lib/modules/|' | while read -r module; do
    mkdir -p "$2$(dirname "$module")"
    cp "$1$module" "$2$module"
  done
  depmod -b "$2" "$version"
}

# Debian's part of the file system, as one archive.
image_base() { # KERNEL ARCHIVE TOOL...
  local kernel=$1 archive=$2 root=$2.tmp applet
  shift 2
  rm -rf "$root" "$archive.part"
  mkdir -p "$root"/{bin,etc,proc,sys,dev,tmp,root,shared}
  image_copy_modules "$kernel" "$root"
  { image_libraries "$@" "$image_plugin"; echo "$image_plugin"; echo "$image_driver"; } | image_copy "$root"
  cp -L "$@" "$root/bin/"
  ln -s bin "$root/sbin" # the kernel itself calls /sbin/modprobe, for netem
  for applet in $(busybox --list); do
    [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
  done
  image_archive "$root" >"$archive.part"
  mv "$archive.part" "$archive"
  rm -rf "$root"
}

# Makes what the machines boot from: $image_linux in the cache, $image_initrd in SCRATCH.
image_make() { # BIN_DIR SCRATCH
  local cache package kernel base tool
  local -a tools=()
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/soft-roce-testbed
  mkdir -p "$cache"
  for tool in "${image_tools[@]}"; do tools+=("$(command -v "$tool")"); done
  package=$(image_kernel_package) || {
    packages_may_install || { echo "soft-roce: apt knows no linux-image-amd64; as root: apt-get update" >&2; exit 1; }
    packages_apt update
    package=$(image_kernel_package)
  }
  kernel=$cache/${package//[^A-Za-z0-9.+~-]/_}
  base=$cache/base-$(image_base_key "$package" "${tools[@]}").cpio

  # One run at a time makes them; whoever comes second finds them.
  exec {image_lock}>"$cache/lock"
  flock "$image_lock"
  image_kernel "$package" "$kernel"
  [ -s "$base" ] || image_base "$kernel" "$base" "${tools[@]}"
  exec {image_lock}>&-

  image_linux=$(echo "$kernel"/boot/vmlinuz-*)
  image_initrd=$2/initrd
  { cat "$base"; image_checkout "$1" "$2/root"; } >"$image_initrd"
}

image_base_key() { # PACKAGE TOOL...
  local package=$1
  shift
  mapfile -t libraries < <(image_libraries "$@" "$image_plugin")
  { echo "$package"; cat "$testbed/lib/image.sh" "$@" "$image_plugin" "$image_driver" "${libraries[@]}"; } |
    sha256sum | cut -c 1-16
}

# The checkout's part of the file system; the archive goes to stdout.
image_checkout() { # BIN_DIR ROOT
  local program
  mkdir -p "$2/testbed/bin"
  for program in "${programs[@]}"; do
    [ ! -x "$1/$program" ] || cp "$1/$program" "$2/testbed/bin/"
  done
  mkdir "$2/testbed/tests"
  if [ -d "$tests_dir" ]; then cp "$tests_dir"/* "$2/testbed/tests/"; fi
  plug_ins_make "$2"
  image_libraries "$2"/testbed/bin/* "$2"/testbed/tests/* | image_copy "$2"
  cp -r "$testbed/guest" "$testbed/scenarios" "$2/testbed/"
  ln -s testbed/guest/init "$2/init"
  image_archive "$2"
}
