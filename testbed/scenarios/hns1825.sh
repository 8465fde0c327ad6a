# shellcheck shell=dash
# group: one
# order: 27
# limit: 120
# pes: 2 and 8 PEs
# proves: the same for hrn5_1 and backend hns1825; PEs behind one of its ports are told of the switch's port bridge

run() {
  works_by_plug_in hns1825 hrn5_1 /opt/nic/libhrn5-rdmav34.so
  says job.2 'port bridge'
}
