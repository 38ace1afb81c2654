#!/bin/bash
# Runs an MPI program on several hosts that this machine pretends to be.
#
#   run_on_hosts.sh [--hosts N] [--ranks-per-host R] [--rate RATE] PROGRAM ARGUMENT...
#
# A host is a network namespace with an address and a host name of its own (host0, host1, ...), and
# all hang on one bridge. Open MPI takes them for machines: it starts its daemons through an agent
# and speaks TCP between them, and ranks of different hosts do not share memory. --rate (100mbit,
# 1gbit) narrows each host's link. What this cannot show: different clocks, processors or files.
#
# Everything lives in namespaces of this process and vanishes with it, however it ends. The exit
# status is mpirun's, or 77 (for CTest: skipped) with a line that says what is missing: root,
# iproute2 and the right to make namespaces are needed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
readonly network=10.83.0 # of the virtual hosts; invisible outside

hosts=2 ranks_per_host=1 rate=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --hosts) hosts=$2 ;;
    --ranks-per-host) ranks_per_host=$2 ;;
    --rate) rate=$2 ;;
    *)
      echo "run_on_hosts.sh: unknown option $1" >&2
      exit 64
      ;;
  esac
  shift 2
done
if [ $# = 0 ]; then
  echo 'run_on_hosts.sh: no program given' >&2
  exit 64
fi

skip() {
  echo "skipped: several hosts on one machine need $*"
  exit 77
}

check_requirements() {
  local tool
  [ "$(id -u)" = 0 ] || skip 'root'
  for tool in ip unshare mount mpirun; do
    command -v "$tool" >/dev/null || skip "the command $tool"
  done
  [ -z "$rate" ] || command -v tc >/dev/null || skip 'the command tc'
  unshare --mount --net --uts --pid --fork true 2>/dev/null ||
    skip 'the right to make namespaces, outside a chroot'
  unshare --net ip link add bridge0 type bridge 2>/dev/null || skip 'a kernel with network bridges'
}

address() { echo "$network.$(($1 + 1))"; }

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

connect_host() {
  local host=host$1
  ip netns add "$host"
  ip link add "port$1" type veth peer name eth0 netns "$host"
  ip link set "port$1" master bridge0 up
  ip -n "$host" address add "$(address "$1")/24" dev eth0
  ip -n "$host" link set lo up
  ip -n "$host" link set eth0 up
  if [ -n "$rate" ]; then
    tc -n "$host" qdisc add dev eth0 root tbf rate "$rate" burst 256kb latency 50ms
    tc qdisc add dev "port$1" root tbf rate "$rate" burst 256kb latency 50ms
  fi
}

host_list() {
  local i list=
  for ((i = 0; i < hosts; i++)); do list+=,host$i:$ranks_per_host; done
  echo "${list#,}"
}

launch() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$here/launch_agent.sh
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_btl_tcp_if_include=$network.0/24 OMPI_MCA_oob_tcp_if_include=$network.0/24
  "$here/launch_agent.sh" host0 exec mpirun --oversubscribe --bind-to none \
    --host "$(host_list)" -n $((hosts * ranks_per_host)) "${@@Q}"
}

if [ "${RUBATO_INSIDE_HOSTS:-}" = 1 ]; then
  unset RUBATO_INSIDE_HOSTS
  export RUBATO_TEST_HOSTS=$hosts # what a test may expect
  name_hosts
  connect_hosts
  launch "$@"
else
  check_requirements
  RUBATO_INSIDE_HOSTS=1 exec unshare --mount --net --pid --mount-proc --fork --kill-child \
    "$0" --hosts "$hosts" --ranks-per-host "$ranks_per_host" ${rate:+--rate "$rate"} "$@"
fi
