# shellcheck shell=dash
# group: one
# order: 65
# limit: 400
# pes: 1 to 8 PEs, as threads
# proves: the tests of transport-roce that need a device: verbs, ends, wraps, limits, no allocation

run() {
  export ROCE_TEST_DEVICE=rxe_0
  found=''
  for test in /testbed/tests/*; do
    [ -x "$test" ] && [ "${test##*/}" != sim ] || continue
    found=yes
    began=$(now)
    # Of the library's own tests only some need a device. One test at a time: each is a job of several PEs, which would wait for
    # the others' processor.
    only=''
    [ "${test##*/}" != transport_roce ] || only=verbs::
    # shellcheck disable=SC2086 # nothing, or one word
    succeeds "$test" --test-threads 1 $only
    echo "${test##*/}: $(seconds_since "$began") s"
  done
  [ -n "$found" ] || fail "there are no tests; build them, or run without --no-build"
}
