# shellcheck shell=dash
# What the scenarios of the two backends for Ascend950's NICs have in common.

# Makes NIC, whose provider is in FILE and nowhere else; without IBV_EXTEND_DRIVERS neither job nor doctor knows it, with it
# BACKEND works.
works_by_plug_in() { # BACKEND NIC FILE
  backend=$1 nic=$2 file=$3
  unset SHMEM_NIC IBV_EXTEND_DRIVERS
  nic_add "$nic"
  provider_as_vendors

  both_refuse "$backend" "the kernel has $nic, but no provider of libibverbs drives it, and IBV_EXTEND_DRIVERS is not set"
  said_by_the_job "$backend"

  export IBV_EXTEND_DRIVERS="$file"
  for n in 2 8; do
    code=0
    echo "+ $n PEs with IBV_EXTEND_DRIVERS=$file"
    "$SHMRUN" -n "$n" "$DEMO" --backend "$backend" --heap 8MiB -v >"job.$n" 2>&1 || code=$?
    cat "job.$n"
    [ "$code" = 0 ] || fail "the job of $n PEs ended with code $code"
    says_text "job.$n" "$nic"
    says_text "job.$n" "$file"
    [ "$(grep -c '\[SUCCESS\]' "job.$n")" = "$n" ] || fail "not all of $n PEs succeeded"
  done
  doctor 0 --backend "$backend"
  says_text found "$file"
  succeeds "$SHMRUN" -n 2 /testbed/bin/conformance --backend "$backend" --rounds 3 --timeout 60 --heap 32MiB
}
