#!/bin/bash
# Runs a program on the login host of a Slurm cluster that this machine pretends to have.
#
#   run_on_slurm.sh [--nodes N] PROGRAM ARGUMENT...
#
# The hosts are those of virtual_hosts.sh: host0 has the controller and the program, host1 to hostN
# (default 2) compute, on four processors each. /mnt is a folder that all of them share, empty at
# first, $RUBATO_SLURM_LOGS the folder of Slurm's own logs. Everything vanishes with this process.
#
# The exit status is the program's, or 77 (for CTest: skipped) with a line that says what is
# missing: root, the right to make namespaces, and the packages iproute2, slurm-wlm and munge.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source "$here/virtual_hosts.sh"

readonly work=/mnt/slurm
nodes=2 rate=
if [ "${1:-}" = --nodes ]; then
  nodes=$2
  shift 2
fi
if [ $# = 0 ]; then
  echo 'run_on_slurm.sh: no program given' >&2
  exit 64
fi
hosts=$((nodes + 1))

# The network alone, not `ip netns exec`: that hides /sys/fs/cgroup, without which slurmd ends.
on_host() { # on_host HOST WORD...
  nsenter --net="/run/netns/$1" unshare --uts -- /bin/bash -c "hostname $1; exec ${*:2}"
}

configure() {
  local i
  mkdir -p $work/state /etc/slurm
  for ((i = 1; i <= nodes; i++)); do mkdir $work/spool.host$i $work/tmp.host$i; done
  sed -e "s#@WORK@#$work#; s#@NODES@#$nodes#" "$here/slurm.conf.in" >/etc/slurm/slurm.conf
  (umask 077 && mkdir $work/munge && head --bytes=1024 /dev/urandom >$work/munge/key)
}

# --force: as root, whose socket lies where others might write.
start_munge() {
  on_host host0 munged --force --key-file $work/munge/key --seed-file $work/munge/seed \
    --pid-file $work/munge/pid --log-file $work/munged.log --socket $work/munge.socket
}

start_slurm() {
  local i
  on_host host0 slurmctld -D >$work/slurmctld.out 2>&1 &
  for ((i = 1; i <= nodes; i++)); do
    on_host host$i slurmd -D -N host$i >$work/slurmd.host$i.out 2>&1 &
  done
}

wait_for_nodes() {
  local tries idle
  for ((tries = 0; tries < 150; tries++)); do
    idle=$(on_host host0 sinfo --noheader --states=idle --format=%D 2>/dev/null) || true
    if [ "$idle" = "$nodes" ]; then return; fi
    sleep 0.2
  done
  echo 'run_on_slurm.sh: the nodes have not come up in 30 s; the ends of the logs:' >&2
  tail --lines=20 $work/*.log $work/*.out >&2
  exit 71
}

if [ "${RUBATO_INSIDE_SLURM:-}" = 1 ]; then
  unset RUBATO_INSIDE_SLURM
  number_processes_at_random
  name_hosts
  connect_hosts
  configure
  start_munge
  start_slurm
  wait_for_nodes
  use_tcp_between_hosts
  export RUBATO_SLURM_LOGS=$work
  on_host host0 "${@@Q}"
else
  check_requirements nsenter munged slurmctld slurmd sbatch srun
  RUBATO_INSIDE_SLURM=1 exec unshare --mount --net --pid --mount-proc --fork --kill-child \
    "$0" --nodes "$nodes" "$@"
fi
