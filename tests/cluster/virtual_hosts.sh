# Several hosts that this machine pretends to be; sourced by run_on_hosts.sh and run_on_slurm.sh.
#
# A host is a network namespace with an address and a name of its own (host0, host1, ...), and all
# hang on one bridge. The functions read $hosts, their number, $rate, that of each link, or empty,
# and $burst, how many bytes a link that was idle lets pass at once, or empty for many. They change
# mounts and network, so they are called in namespaces made for them, and all vanishes with the
# process, however it ends.
readonly network=10.83.0 # of the virtual hosts; invisible outside

skip() {
  echo "skipped: several hosts on one machine need $*"
  exit 77
}

# check_requirements COMMAND...: skips where these, root or namespaces are missing.
check_requirements() {
  local tool
  [ "$(id -u)" = 0 ] || skip 'root'
  for tool in ip unshare mount "$@"; do
    command -v "$tool" >/dev/null || skip "the command $tool"
  done
  unshare --mount --net --uts --pid --fork true 2>/dev/null ||
    skip 'the right to make namespaces, outside a chroot'
  unshare --net ip link add bridge0 type bridge 2>/dev/null || skip 'a kernel with network bridges'
}

address() { echo "$network.$(($1 + 1))"; }

# Open MPI names a job, and its files in the temporary directory, by host and process number: two
# that begin at once in namespaces of their own would have the same, and remove each other's.
number_processes_at_random() {
  # not every kernel has it
  echo $((300 + RANDOM % 30000)) 2>/dev/null >/proc/sys/kernel/ns_last_pid || true
}

# Open MPI keeps one directory per host name there, which a job makes if it is missing and removes
# if it is empty: of two jobs at once, one may stumble over what the other does.
use_own_temporary_directory() {
  TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/hosts.XXXXXX")
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
}

# The mounts are seen by this process and its children alone. All of /etc is replaced by a copy:
# where there is no /etc/hosts, there is nothing to mount a new one over.
name_hosts() {
  local i
  mkdir -p /run/netns
  mount -t tmpfs tmpfs /run/netns
  mount -t tmpfs tmpfs /mnt
  cp -a /etc /mnt/etc
  echo '127.0.0.1 localhost' >/mnt/etc/hosts
  for ((i = 0; i < hosts; i++)); do echo "$(address "$i") host$i" >>/mnt/etc/hosts; done
  mount --bind /mnt/etc /etc
}

connect_hosts() {
  local i
  ip link set lo up
  ip link add bridge0 type bridge
  ip link set bridge0 up
  for ((i = 0; i < hosts; i++)); do connect_host "$i"; done
}

# A short burst would cut what the kernel passes on as one into frames of 1500 bytes, at the cost of
# the cores that the ranks compute on: such links have long frames.
connect_host() {
  local host=host$1 frame=1500
  [ -z "${burst:-}" ] || frame=9000
  ip netns add "$host"
  ip link add "port$1" mtu "$frame" type veth peer name eth0 mtu "$frame" netns "$host"
  ip link set "port$1" master bridge0 up
  ip -n "$host" address add "$(address "$1")/24" dev eth0
  ip -n "$host" link set lo up
  ip -n "$host" link set eth0 up
  if [ -n "$rate" ]; then
    local limit=(tbf rate "$rate" burst "${burst:-256kb}" latency 50ms)
    tc -n "$host" qdisc add dev eth0 root "${limit[@]}"
    tc qdisc add dev "port$1" root "${limit[@]}"
  fi
}

# Ranks of different hosts speak TCP, and on few cores they must not wait at full speed.
use_tcp_between_hosts() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_btl_tcp_if_include=$network.0/24
}
