# shellcheck shell=bash
# Plug-ins of NICs for the scenarios to load: good ones, and one for each way in which they can be bad.

plug_ins_place=/opt/nic-test

# Each has a folder of its own, because the names are those of the vendors.
plug_ins_make() { # ROOT
  local to=$1$plug_ins_place source=$testbed/plug-ins scratch=$1.plug-ins
  mkdir -p "$scratch" "$to"/{lib,extend,extend-linked,lacks-library,abi57,needs-abi57}

  # The library of Ascend's driver package that extend plug-ins register with, and two plug-ins: one finds it only if the
  # program has loaded it, the other asks the system's loader for it.
  plug_ins_cc -Wl,-soname,libibv_extend.so.4 -o "$to/lib/libibv_extend.so.4" "$source/ibv_extend.c"
  ln -s libibv_extend.so.4 "$to/lib/libibv_extend.so"
  plug_ins_cc -o "$to/extend/libxscale_nda.so" "$source/extend_plug_in.c"
  plug_ins_cc -o "$to/extend-linked/libxscale_nda.so" "$source/extend_plug_in.c" -L"$to/lib" -libv_extend

  # Linked with a library that stays here.
  plug_ins_cc -Wl,-soname,libvendor_missing.so.1 -o "$scratch/libvendor_missing.so" "$source/vendor_missing.c"
  plug_ins_cc -o "$to/lacks-library/libxscale_nda.so" "$source/lacks_library.c" -L"$scratch" -lvendor_missing

  # The provider of another rdma-core: by its name only, and by what it needs of libibverbs.
  cp "$image_plugin" "$to/abi57/libhrn5-rdmav57.so"
  LC_ALL=C sed 's/IBVERBS_PRIVATE_34/IBVERBS_PRIVATE_57/g; s/verbs_register_driver_34/verbs_register_driver_57/g' \
    "$image_plugin" >"$to/needs-abi57/libhrn5-rdmav34.so"
  chmod -R u=rwX,go=rX "$to"
  rm -rf "$scratch"
}

plug_ins_cc() {
  cc -std=c11 -Wall -Wextra -Werror -O1 -fPIC -shared "$@" || { echo "soft-roce: a plug-in of the tests was not built" >&2; exit 1; }
}
