#!/bin/bash
# Runs an MPI program on several hosts that this machine pretends to be.
#
#   run_on_hosts.sh [--hosts N] [--ranks-per-host R] [--rate RATE [--burst SIZE]] [--once]
#                   PROGRAM ARGUMENT...
#
# With --once the program runs on the first host alone, for programs that call mpirun themselves,
# and finds the words that name the hosts to mpirun in RUBATO_HOST_WORDS.
#
# Open MPI takes the hosts of virtual_hosts.sh for machines: it starts its daemons through an agent
# and speaks TCP between them, and ranks of different hosts do not share memory. --rate (100mbit,
# 1gbit) narrows each host's link; one that was idle lets 256 KB pass at once, or --burst (32kb).
# What this cannot show: different clocks, processors or files.
#
# Everything lives in namespaces of this process and vanishes with it, however it ends. The exit
# status is mpirun's, or 77 (for CTest: skipped) with a line that says what is missing: root,
# iproute2 and the right to make namespaces are needed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source "$here/virtual_hosts.sh"

hosts=2 ranks_per_host=1 rate='' burst='' once=''
while [[ ${1:-} == --* ]]; do
  case $1 in
    --hosts) hosts=$2 ;;
    --ranks-per-host) ranks_per_host=$2 ;;
    --rate) rate=$2 ;;
    --burst) burst=$2 ;;
    --once)
      once=yes
      shift
      continue
      ;;
    *)
      echo "run_on_hosts.sh: unknown option $1" >&2
      exit 64
      ;;
  esac
  shift 2
done
if [ -n "$burst" ] && [ -z "$rate" ]; then
  echo 'run_on_hosts.sh: --burst without --rate' >&2
  exit 64
fi
if [ $# = 0 ]; then
  echo 'run_on_hosts.sh: no program given' >&2
  exit 64
fi

host_list() {
  local i list=
  for ((i = 0; i < hosts; i++)); do list+=,host$i:$ranks_per_host; done
  echo "${list#,}"
}

on_first_host() {
  use_tcp_between_hosts
  export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$here/launch_agent.sh
  export OMPI_MCA_oob_tcp_if_include=$network.0/24
  "$here/launch_agent.sh" host0 exec "$@"
}

launch() {
  local words="--oversubscribe --bind-to none --host $(host_list)"
  if [ -n "$once" ]; then
    RUBATO_HOST_WORDS=$words on_first_host "${@@Q}"
  else
    on_first_host mpirun "$words" -n $((hosts * ranks_per_host)) "${@@Q}"
  fi
}

if [ "${RUBATO_INSIDE_HOSTS:-}" = 1 ]; then
  unset RUBATO_INSIDE_HOSTS
  export RUBATO_TEST_HOSTS=$hosts # what a test may expect
  use_own_temporary_directory
  number_processes_at_random
  name_hosts
  connect_hosts
  launch "$@"
else
  check_requirements mpirun ${rate:+tc}
  RUBATO_INSIDE_HOSTS=1 exec unshare --mount --net --pid --mount-proc --fork --kill-child \
    "$0" --hosts "$hosts" --ranks-per-host "$ranks_per_host" ${rate:+--rate "$rate"} \
    ${burst:+--burst "$burst"} ${once:+--once} "$@"
fi
