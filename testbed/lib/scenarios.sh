# shellcheck shell=bash
# Which scenarios there are. Each is a file whose header says all that the host must know:
#   # group: one | two      which machines it runs on
#   # order: N              where it stands within its group; default 50
#   # limit: SECONDS        after this it has failed
#   # pes: WHAT             how many PEs, for people
#   # proves: WHAT          for people

scenario_field() { # NAME FIELD
  sed -n "s/^# $2: *//p" "$testbed/scenarios/$1.sh" | head -1
}

# All names in the order in which they run.
scenario_names() {
  local file name order
  for file in "$testbed"/scenarios/*.sh; do
    name=$(basename "$file" .sh)
    order=$(scenario_field "$name" order)
    echo "$(scenario_field "$name" group) ${order:-50} $name"
  done | sort -k1,1 -k2,2n -k3,3 | awk '{ print $3 }' | paste -sd ' '
}

scenario_list() {
  local name
  for name in $(scenario_names); do
    printf '%-12s %s, %s: %s\n' "$name" "$(scenario_field "$name" group)" \
      "$(scenario_field "$name" pes)" "$(scenario_field "$name" proves)"
  done
}

# The names asked for, each once, in the order in which they run.
scenario_choose() { # NAME...
  local all name
  all=$(scenario_names)
  for name in "$@"; do
    [ "$name" = all ] && { echo "$all"; return; }
    [[ " $all " == *" $name "* ]] || { echo "soft-roce: no scenario '$name'; there are: all $all" >&2; return 1; }
  done
  for name in $all; do
    [[ " $* " != *" $name "* ]] || echo "$name"
  done | paste -sd ' '
}

scenario_of_group() { # GROUP NAMES
  local name
  for name in $2; do
    [ "$(scenario_field "$name" group)" != "$1" ] || echo "$name"
  done
}
