# shellcheck shell=dash
# group: one
# order: 28
# limit: 150
# pes: 1 and 2 PEs
# proves: every way in which IBV_EXTEND_DRIVERS and what it names can be wrong is said word for word, by job and doctor

good=/opt/nic/libxscale_nda.so

# With this value of the variable, BACKEND refuses, and says TEXT.
wrong() { # VALUE TEXT [BACKEND]
  export IBV_EXTEND_DRIVERS="$1"
  both_refuse "${3:-xscale}" "$2"
}

# With this value backend xscale works.
right() { # VALUE
  export IBV_EXTEND_DRIVERS="$1"
  echo "== IBV_EXTEND_DRIVERS=$1"
  succeeds "$SHMRUN" -n 2 "$DEMO" --backend xscale --heap 1MiB
  doctor 0 --backend xscale
}

run() {
  unset SHMEM_NIC LD_LIBRARY_PATH
  nic_add xscale_0
  provider_as_vendors

  entries
  files
  needs
  extend_plug_ins
  other_users
}

# What is written in the variable.
entries() {
  wrong /opt/nic/libhrn5-rdmav34.so "IBV_EXTEND_DRIVERS names /opt/nic/libhrn5-rdmav34.so, the plug-in of backend hns1825, but \
backend xscale was asked for, whose plug-in is libxscale_nda.so. Choose --backend hns1825"
  wrong "$good" "IBV_EXTEND_DRIVERS names $good, the plug-in of backend xscale, but backend hns1825 was asked for, whose plug-in is \
libhrn5-rdmav34.so. Choose --backend xscale" hns1825

  # 128 characters are allowed, 129 are not.
  folder=$PWD/$(head -c 128 /dev/zero | tr '\0' x)
  folder=$(echo "$folder" | head -c $((128 - 17)))
  mkdir "$folder" "${folder}x"
  cp "$good" "$folder/"
  cp "$good" "${folder}x/"
  right "$folder/libxscale_nda.so"
  wrong "${folder}x/libxscale_nda.so" "the entry \"${folder}x/libxscale_nda.so\" of IBV_EXTEND_DRIVERS has 129 characters, but \
only 128 are allowed"

  wrong /opt/nic/../nic/libxscale_nda.so 'the entry "/opt/nic/../nic/libxscale_nda.so" of IBV_EXTEND_DRIVERS has ".." in it'
  mkdir near
  cp "$good" near/
  wrong near/libxscale_nda.so "the entry \"near/libxscale_nda.so\" of IBV_EXTEND_DRIVERS is a relative path; only a full path, \
which begins with \"/\", or a bare name without \"/\" is allowed. From here the full path is $PWD/near/libxscale_nda.so"
  wrong libxscale_nda.so "the entry \"libxscale_nda.so\" of IBV_EXTEND_DRIVERS is the name of a file without its \
directory, and a bare name has no dots; write the full path, like /usr/lib64/libxscale_nda.so, or the bare name xscale_nda"
  wrong " $good" "the entry \" $good\" of IBV_EXTEND_DRIVERS "
  wrong 'xscale nda' 'the entry "xscale nda" of IBV_EXTEND_DRIVERS has " " in it'

  wrong xscale_nda 'IBV_EXTEND_DRIVERS names xscale_nda, that is libxscale_nda.so, which is in none of the usual directories'
  export LD_LIBRARY_PATH=/opt/nic
  right xscale_nda
  unset LD_LIBRARY_PATH
}

# What the file is.
files() {
  wrong /opt/gone/libxscale_nda.so "IBV_EXTEND_DRIVERS names /opt/gone/libxscale_nda.so, which does not exist; correct the path, \
or install the NIC's driver package"
  mkdir cut text folder folder/libxscale_nda.so
  head -c 20000 "$good" >cut/libxscale_nda.so
  wrong "$PWD/cut/libxscale_nda.so" "$PWD/cut/libxscale_nda.so is cut off: it has 20000 bytes, but by its headers it needs "
  echo 'the plug-in is on the other disk' >text/libxscale_nda.so
  wrong "$PWD/text/libxscale_nda.so" "$PWD/text/libxscale_nda.so is no shared object: it is text (\"the plug-in is on the other disk\")"
  wrong "$PWD/folder/libxscale_nda.so" "$PWD/folder/libxscale_nda.so is a directory, not a file"
}

# What the file needs.
needs() {
  wrong "$PLUG_INS/abi57/libhrn5-rdmav57.so" "$PLUG_INS/abi57/libhrn5-rdmav57.so is for libibverbs with the private ABI 57, but the \
installed one (" hns1825
  says_text said 'has 34: its name ends in -rdmav57.so, while it needs symbols of the version IBVERBS_PRIVATE_34'
  wrong "$PLUG_INS/needs-abi57/libhrn5-rdmav34.so" "$PLUG_INS/needs-abi57/libhrn5-rdmav34.so is for libibverbs with the private ABI \
57, but the installed one (" hns1825
  says_text said 'has 34: its name ends in -rdmav34.so, while it needs symbols of the version IBVERBS_PRIVATE_57'
  wrong "$PLUG_INS/lacks-library/libxscale_nda.so" "$PLUG_INS/lacks-library/libxscale_nda.so cannot be loaded: libvendor_missing.so.1, \
which it or a library of its own needs, cannot be opened (No such file or directory)"
}

# Plug-ins that add to an ordinary provider, by the library of Ascend's driver package.
extend_plug_ins() {
  cp "$good" /opt/nic/libxscale-rdmav34.so
  for linked in extend extend-linked; do
    file=$PLUG_INS/$linked/libxscale_nda.so
    wrong "$file" "$file is an extend plug-in, which needs libibv_extend.so, but there is none (looked in "
  done
  export LD_LIBRARY_PATH="$PLUG_INS/lib"
  wrong "$file" "$file was loaded, but registered no device: the kernel has xscale_0, which no provider of libibverbs drives. It \
is an extend plug-in, which adds to an ordinary provider: install that too (libxscale-rdmavNN.so"
  right "$PLUG_INS/extend/libxscale_nda.so:/opt/nic/libxscale-rdmav34.so"
  right "/opt/nic/libxscale-rdmav34.so;$PLUG_INS/extend-linked/libxscale_nda.so"
  # As the vendors' documents have it: the provider is where libibverbs looks.
  provider_put_back
  right "$file"
  provider_take_away
  unset LD_LIBRARY_PATH
}

# Who may not.
other_users() {
  mkdir closed
  cp "$good" closed/
  chmod 755 . closed
  chmod 600 closed/libxscale_nda.so
  export IBV_EXTEND_DRIVERS="$PWD/closed/libxscale_nda.so"
  both_refuse_user xscale "$IBV_EXTEND_DRIVERS cannot be read: Permission denied" "--heap 1MiB"
  chmod 700 closed
  both_refuse_user xscale "$IBV_EXTEND_DRIVERS cannot be reached: Permission denied" "--heap 1MiB"

  # With the rights of another user, the variable counts for nothing.
  export IBV_EXTEND_DRIVERS="$good"
  cp "$DEMO" demo
  cp "$DOCTOR" shmem-doctor
  chmod 4755 demo shmem-doctor
  ignored='IBV_EXTEND_DRIVERS is ignored, because this program runs with more rights than the user who started it'
  refused 20 su user -c "exec ./demo 1 0 tcp://127.0.0.1:8899 1 0 0 --backend xscale --heap 1MiB"
  says_text said "$ignored"
  refused 20 su user -c "exec ./shmem-doctor --backend xscale"
  says_text said "$ignored"
}
