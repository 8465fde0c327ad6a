# shellcheck shell=dash
# group: one
# order: 26
# limit: 120
# pes: 2 and 8 PEs
# proves: a NIC called xscale_0, whose provider only IBV_EXTEND_DRIVERS names: backend xscale works, and says what is missing without

run() {
  works_by_plug_in xscale xscale_0 /opt/nic/libxscale_nda.so
}
