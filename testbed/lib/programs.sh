# shellcheck shell=bash
# The programs of the workspace that the scenarios run.

programs=(shmrun conformance rdma_aclgraph_demo perf shmem-doctor)
programs_features=demos/roce,demos/xscale,demos/hns1825,benches/roce

programs_build() {
  command -v cargo >/dev/null || {
    echo "soft-roce: cargo is missing; install Rust, or build elsewhere and give --bin-dir DIR" >&2
    exit 1
  }
  echo "building the programs"
  (cd "$workspace" && cargo build --quiet --release --locked -p demos -p benches --features "$programs_features") ||
    { echo "soft-roce: the build failed" >&2; exit 1; }
}

# Tests, under their plain names: those of transport-roce, which need a device, so that here is where they really run; and that of the
# simulation, for which a machine is another machine.
programs_build_tests() { # DIR
  local built name file
  echo "building the tests"
  built=$(cd "$workspace" && cargo test --locked -p transport-roce --no-run 2>&1 &&
    cargo test --locked -p transport-loopback --test sim --no-run 2>&1) || { echo "$built" >&2; exit 1; }
  rm -rf "$1"
  mkdir -p "$1"
  # Lines such as: Executable tests/ends.rs (target/debug/deps/ends-0123456789abcdef)
  sed -n 's/^ *Executable .*(\(.*\))$/\1/p' <<<"$built" | while read -r file; do
    name=$(basename "$file")
    # What debuggers need would be nine tenths of the image, which lies in the machine's memory.
    (cd "$workspace" && strip -o "$1/${name%-*}" "$file")
  done
}

# The folder as a full path, once it is seen to hold programs.
programs_dir() { # DIR
  local name
  [ -x "$1/shmrun" ] || { echo "soft-roce: no shmrun in $1; build first, or give --bin-dir DIR" >&2; exit 1; }
  for name in "${programs[@]}"; do
    [ -x "$1/$name" ] || echo "soft-roce: $1 has no $name; what needs it will fail" >&2
  done
  (cd -- "$1" && pwd)
}
